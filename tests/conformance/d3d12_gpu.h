// The DirectML of a DLL, over Direct3D 12 as Windows has it, as the context that tests run on.
#pragma once

#ifdef _WIN32

#include <string>

#include "tests/conformance/gpu.h"

namespace dimple::testing {

// Null if there is no such DLL or device; `error` is then the reason, a sentence.
ComPtr<IDimpleContext> openDllContext(const std::string& path, std::string& error);

}  // namespace dimple::testing

#endif
