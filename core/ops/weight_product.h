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

// Where the inputs of such a product hold the weights.
struct WeightInputs {
  size_t integers = 1, scale = 0;
  size_t zeroPoint = 0;  // 0: there are none
};
// No value: another operation.
std::optional<WeightInputs> weightInputsOf(const Operation& op);

// Whether an operation is such a product that does nothing but multiply and scale sums: it has no C, epilogue or
// activation.
bool onlyMultiplies(const Operation& op);
// Whether two of them do the same with each of their columns.
bool multiplyAlike(const Operation& a, const Operation& b);
// The product with other columns. No value: no kernel does that.
std::optional<Operation> withWeights(const Operation& product, const Weights& weights, const Tensor& output,
                                     const Target& target);

// Of a product whose columns are two halves, gates and factors, the operation that makes gate * sigmoid(gate) * factor
// of each pair, with the roundings of these nodes; `gatesLast`: factors come first. No value: no kernel does that.
std::optional<Operation> gatedProduct(const Operation& product, bool gatesLast, const Tensor& output,
                                      const Target& target);

// Rows are divided by the root of the mean of their squares and epsilon.
struct RowNormalization {
  float epsilon = 0;
  Tensor factor{};  // that each step of the depth is multiplied by then, if present(): a row of FLOAT16, side by side
};

// The product that normalizes the rows of A itself, with the roundings of a node; its inputs are the product's, with
// other rows of the same layout for A, and the factor, if there is one, before the scales. No value: no kernel does
// that.
std::optional<Operation> normalizedWeightProduct(const Operation& product, bool rowsOwnedByDml,
                                                 const RowNormalization& rows, const Target& target);

}  // namespace dimple
