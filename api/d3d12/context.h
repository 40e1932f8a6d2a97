// Contexts over Direct3D 12 and the adapters that they open; both refuse in a build without that back end.
#pragma once

#include <dimple.h>

#include "core/result.h"

namespace dimple::api {

HRESULT createD3D12Context(const DimpleContextDesc& desc, REFIID riid, void** ppv);
// The adapter of this index; NotFound past the last one.
Result<DimpleAdapterDesc> describeD3D12Adapter(UINT index);

}  // namespace dimple::api
