// Modules that replace embedded kernels, in builds for developers.
#pragma once

#include <string>
#include <vector>

#include "core/caps.h"
#include "core/result.h"
#include "kernels/kernel_table.h"

namespace dimple::vulkan {

// NAME.spv in a folder; empty where there is none, or the folder is "". Refused unless it is what the embedded module
// could be: valid SPIR-V whose workgroup, bindings, push words and specialization constants are the kernel's, of
// features that the device has.
Result<std::vector<uint32_t>> readReplacement(const KernelInfo& kernel, const std::string& folder, const Caps& caps);

}  // namespace dimple::vulkan
