// The steps of tests/boundary, by name.
#pragma once

#include <string_view>
#include <vector>

#include "tests/boundary/steps.h"

namespace dimple::testing {

// On a device that executes nothing, and on a context over Vulkan.
std::vector<std::string_view> nullStepNames();
std::vector<std::string_view> contextStepNames();

}  // namespace dimple::testing
