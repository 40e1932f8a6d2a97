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

}  // namespace dimple::onnx
