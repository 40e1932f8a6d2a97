// Vulkan through volk: no link to a loader, one function table a device.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#include <cstdint>
#include <vector>

namespace dimple::vulkan {

// The list that a function of Vulkan gives to callers that first ask for its length.
template <class T, class Call>
std::vector<T> enumerate(Call call) {
  uint32_t count = 0;
  call(&count, static_cast<T*>(nullptr));
  std::vector<T> all(count);
  call(&count, all.data());
  all.resize(count);
  return all;
}

}  // namespace dimple::vulkan
