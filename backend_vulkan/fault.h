// What a VkResult means to the caller.
#pragma once

#include <string_view>

#include "backend_vulkan/vulkan.h"
#include "core/result.h"

namespace dimple::vulkan {

// "vkCreateBuffer failed with VK_ERROR_OUT_OF_DEVICE_MEMORY (-2)."
Error fault(std::string_view call, VkResult result);

}  // namespace dimple::vulkan
