// What moves dequantized integers, or takes the greatest of them, takes the integers, where its results are quantized
// again by the same scale and zero point.
#include <cfloat>
#include <cmath>
#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/graph/passes/retyped.h"
#include "core/target.h"

namespace dimple {
namespace {

// How a node quantizes or dequantizes: by constants that all elements share.
struct Quantization {
  DataType integers, floats;
  float scale;
  uint32_t zero;

  bool operator==(const Quantization&) const = default;

  // Whether what is dequantized is quantized to the same integer, and greater integers are greater numbers: rounding a
  // product with 255 moves a quotient by less than a half.
  bool isExact() const {
    const bool isHalf = floats == DML_TENSOR_DATA_TYPE_FLOAT16;
    return scale >= (isHalf ? 0x1p-14f : FLT_MIN) && scale <= (isHalf ? 65504.0f : FLT_MAX) / 256;
  }
};

std::optional<Quantization> quantizationOf(const Node& node) {
  const bool isBack = dequantizes(node);
  if (!isBack && !quantizes(node)) return {};
  const Operation& op = *node.op;
  const Tensor& integers = isBack ? op.input(0) : op.output();
  const Tensor& floats = isBack ? op.output() : op.input(0);
  const auto scale = floatAt(node, 1);
  if (!isByte(integers.type) || op.input(1).type != floats.type || !scale || !keepsPlaces(node)) return {};
  // QUANTIZE and DEQUANTIZE have 128 for an unsigned zero point that is absent.
  const bool hasMiddle = typeOf(node) == DML_OPERATOR_QUANTIZE || typeOf(node) == DML_OPERATOR_DEQUANTIZE;
  std::optional<uint32_t> zero = hasMiddle && integers.type == DML_TENSOR_DATA_TYPE_UINT8 ? 128 : 0;
  if (op.inputs().size() > 2 && op.input(2).present()) zero = numberOf(node.inputs()[2], op.input(2));
  if (!zero) return {};
  return Quantization{integers.type, floats.type, *scale, *zero};
}

// Whether results are elements, chosen by places or by their order.
bool choosesElements(const Node& node) {
  switch (typeOf(node)) {
    case DML_OPERATOR_ARGMAX:
    case DML_OPERATOR_ARGMIN:
    case DML_OPERATOR_DEPTH_TO_SPACE:
    case DML_OPERATOR_DEPTH_TO_SPACE1:
    case DML_OPERATOR_GATHER:
    case DML_OPERATOR_GATHER_ELEMENTS:
    case DML_OPERATOR_GATHER_ND:
    case DML_OPERATOR_GATHER_ND1:
    case DML_OPERATOR_JOIN:
    case DML_OPERATOR_MAX_POOLING:
    case DML_OPERATOR_MAX_POOLING1:
    case DML_OPERATOR_MAX_POOLING2:
    case DML_OPERATOR_REVERSE_SUBSEQUENCES:
    case DML_OPERATOR_SLICE:
    case DML_OPERATOR_SLICE1:
    case DML_OPERATOR_SPACE_TO_DEPTH:
    case DML_OPERATOR_SPACE_TO_DEPTH1:
    case DML_OPERATOR_SPLIT:
    case DML_OPERATOR_TILE:
    case DML_OPERATOR_TOP_K:
    case DML_OPERATOR_TOP_K1:
      return true;
    case DML_OPERATOR_ELEMENT_WISE_IDENTITY:
      return !node.op->as<DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC>().ScaleBias;
    case DML_OPERATOR_REDUCE: {
      const auto function = node.op->as<DML_REDUCE_OPERATOR_DESC>().Function;
      return function == DML_REDUCE_FUNCTION_MAX || function == DML_REDUCE_FUNCTION_MIN;
    }
    case DML_OPERATOR_RESAMPLE:
    case DML_OPERATOR_RESAMPLE1:
    case DML_OPERATOR_RESAMPLE2: {
      const Field* mode = findField(node.op->schema(), "InterpolationMode");
      return node.op->field<DML_INTERPOLATION_MODE>(*mode) == DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR;
    }
    default:
      return false;
  }
}

}  // namespace

void passes::useIntegers(Graph& graph, const Target& target) {
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (!node.runsAtInitialization && choosesElements(node)) found.push_back(&node);
  for (Node* node : found) {
    const Node* first = node->inputs()[0].producer();
    const auto by = first && first->op ? quantizationOf(*first) : std::nullopt;
    if (!by || !by->isExact()) continue;
    const Conversions conversions{by->floats, by->integers,
                                  [&](const Node& other) { return dequantizes(other) && quantizationOf(other) == by; },
                                  [&](const Node& other) { return quantizes(other) && quantizationOf(other) == by; }};
    retype(graph, *node, conversions, target);
  }
}

}  // namespace dimple
