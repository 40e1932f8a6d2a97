// Tensors of indices, as kernels/common/index.glsl reads them.
#pragma once

#include "core/data_type.h"

namespace dimple {

// Bit 0: 64-bit elements; bit 1: signed.
constexpr uint32_t indexKind(DataType type) {
  const bool wide = type == DML_TENSOR_DATA_TYPE_INT64 || type == DML_TENSOR_DATA_TYPE_UINT64;
  return (wide ? 1u : 0u) | (isSigned(type) ? 2u : 0u);
}

}  // namespace dimple
