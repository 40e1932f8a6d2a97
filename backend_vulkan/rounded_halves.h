// Conversions to FLOAT16 by the device's own instructions, where it can be told how they round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend_vulkan/vulkan.h"

namespace dimple::vulkan {

// Whether modules may ask the device to round to nearest even and to keep denormals where it converts to FLOAT16.
bool roundsHalves(const VkPhysicalDeviceFloatControlsProperties& controls);

// A kernel's module that asks for it, and has the constant ROUNDED_HALVES set. Returns a module without the constant
// unchanged.
std::vector<uint32_t> withRoundedHalves(std::span<const uint32_t> module);

}  // namespace dimple::vulkan
