// A context over the null device (tests/null/null_device.h): buffers hold what is uploaded, and nothing is computed.
#pragma once

#include <dimple.h>

#include <wrl/client.h>

namespace dimple::testing {

// Buffers of more than `maxBytes` are refused as out of memory.
Microsoft::WRL::ComPtr<IDimpleContext> createNullContext(UINT64 maxBytes);

}  // namespace dimple::testing
