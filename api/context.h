// Ready-made contexts, one class a back end.
#pragma once

#include <dimple.h>

#include "core/result.h"

namespace dimple::api {

HRESULT createVulkanContext(const DimpleContextDesc& desc, REFIID riid, void** ppv);
HRESULT createD3D12Context(const DimpleContextDesc& desc, REFIID riid, void** ppv);

// The adapter of this index; NotFound past the last one.
Result<DimpleAdapterDesc> describeVulkanAdapter(UINT index);
Result<DimpleAdapterDesc> describeD3D12Adapter(UINT index);

// A refusal before there is a device to report it: to the description's callback.
HRESULT refuseContext(const DimpleContextDesc& desc, const Error& error);

}  // namespace dimple::api
