// Contexts over Vulkan and the adapters that they open.
#pragma once

#include <dimple.h>

#include "core/result.h"

namespace dimple::api {

HRESULT createVulkanContext(const DimpleContextDesc& desc, REFIID riid, void** ppv);
// The adapter of this index; NotFound past the last one.
Result<DimpleAdapterDesc> describeVulkanAdapter(UINT index);

}  // namespace dimple::api
