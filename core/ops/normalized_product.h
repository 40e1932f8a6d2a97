// Products whose rows are normalized on the way (kernels/matrix/normalized.comp).
#pragma once

#include <optional>

#include "core/operation.h"
#include "core/ops/weight_product.h"

namespace dimple {

struct Target;

// Whether an operator normalizes rows of FLOAT16 that lie one behind the other, as LayerNormalization does.
bool normalizesRows(const Operation& op);

// How such an operator does it, if without a mean and a bias.
std::optional<RowNormalization> meanSquareOf(const Operation& op);

// The product that a GEMM is whose A is what such an operator makes. Its inputs are what is normalized, B, C, and the
// operator's scale and bias. With `keepsRows` a second output is what the operator makes. No value: no kernel does
// that, or it would take longer.
std::optional<Operation> normalizedProduct(const Operation& normalization, const Operation& gemm, bool keepsRows,
                                           const Target& target);

}  // namespace dimple
