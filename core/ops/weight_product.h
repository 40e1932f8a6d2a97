// Products with weights of 4 or 8 bits that are dequantized on the way (kernels/matrix/weight_rows.comp).
#pragma once

#include <optional>
#include <vector>

#include "core/operation.h"

namespace dimple {

struct Target;

// The weights of a product: the integers as B, {..., N, K}, and scales and maybe zero points, of the same rank, that
// serve blocks of them.
struct Weights {
  Tensor integers;
  Tensor scale;
  Tensor zeroPoint;  // not present(): the middle of an unsigned type, 0 of a signed one
};

// The product that a GEMM is whose B is made of these weights. Its inputs are the GEMM's with the integers in the place
// of B, and behind them the scales and the zero points. No value: no kernel does that.
std::optional<Operation> weightProduct(const Operation& gemm, const Weights& weights, const Target& target);

}  // namespace dimple
