// What an HRESULT of Direct3D 12 means to the caller.
#pragma once

#include <string_view>

#include "backend_d3d12/d3d12.h"
#include "core/result.h"

namespace dimple::d3d12 {

// "CreateCommittedResource failed with E_OUTOFMEMORY (8007000E)."
Error fault(std::string_view call, HRESULT result);

}  // namespace dimple::d3d12
