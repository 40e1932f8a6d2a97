// Ready-made contexts, one class a back end.
#pragma once

#include <dimple.h>

#include "api/device.h"
#include "core/result.h"

namespace dimple::api {

HRESULT createVulkanContext(const DimpleContextDesc& desc, REFIID riid, void** ppv);
HRESULT createD3D12Context(const DimpleContextDesc& desc, REFIID riid, void** ppv);

// The adapter of this index; NotFound past the last one.
Result<DimpleAdapterDesc> describeVulkanAdapter(UINT index);
Result<DimpleAdapterDesc> describeD3D12Adapter(UINT index);

// Refuses a transfer that does not fit its buffer of `size` bytes; S_FALSE if there is nothing to transfer.
HRESULT checkTransfer(Device& device, const char* what, UINT64 size, UINT64 offset, const void* data, UINT64 bytes);

// A refusal before there is a device to report it: to the description's callback.
HRESULT refuseContext(const DimpleContextDesc& desc, const Error& error);

}  // namespace dimple::api
