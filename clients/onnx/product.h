// Products of matrices in the last two dimensions, over batches before them.
#pragma once

#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {

// How tensors of any rank become the two to four dimensions that DirectML multiplies.
struct Product {
  Value a;       // [batch.., rows, depth]
  Value b;       // [batch.., depth, columns]
  Sizes sizes;   // of the output as DirectML has it
  Sizes result;  // as ONNX has it
};

// By the rules of MatMul: vectors are rows on the left and columns on the right. Throws ModelError.
Product makeProduct(GraphBuilder& graph, const Value& a, const Value& b);

Value matrixProduct(GraphBuilder& graph, const Value& a, const Value& b, float alpha = 1);

// A matrix of integers, each of which stands for (integer - zeroPoint) * scale.
struct QuantizedOperand {
  Value value;
  std::optional<Value> scale, zeroPoint;
};
// A scale or zero point of a product: one number, or one for each row on the left and column on the right.
std::optional<Value> productParameter(const NodeContext& node, size_t index, bool ofRows);
// A product of floats, with a bias for each column.
Value quantizedProduct(GraphBuilder& graph, const QuantizedOperand& a, const QuantizedOperand& b,
                       const std::optional<Value>& bias, Type type);

}  // namespace dimple::onnx
