// What a VkResult means to the caller.
#pragma once

#include <string>
#include <string_view>

#include "backend_vulkan/vulkan.h"
#include "core/result.h"

namespace dimple::vulkan {

// "vkCreateBuffer failed with VK_ERROR_OUT_OF_DEVICE_MEMORY (-2)."
Error fault(std::string_view call, VkResult result);

// What a call of Vulkan answered. It is true, or has an error, like a Status: every result but VK_SUCCESS is one.
class [[nodiscard]] Outcome {
 public:
  // `call`: a literal.
  Outcome(const char* call, VkResult result) : call_(call), result_(result) {}

  explicit operator bool() const { return result_ == VK_SUCCESS; }
  bool is(VkResult result) const { return result_ == result; }
  Error error() const { return fault(call_, result_); }
  // The same of a call that says what it was about: " of 16 bytes".
  Error error(std::string_view about) const { return fault(std::string(call_).append(about), result_); }

 private:
  const char* call_;
  VkResult result_;
};

}  // namespace dimple::vulkan
