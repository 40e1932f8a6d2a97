// Operators that move dequantized integers, or select the greatest of them, take the integers themselves if their
// results are quantized again with the same scale and zero point.
#include <cfloat>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/graph/passes/retyped.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

// The constants by which a node quantizes or dequantizes all elements.
struct SharedScale {
  DataType integers, floats;
  float scale;
  uint32_t zero;

  bool operator==(const SharedScale&) const = default;

  // Whether what is dequantized is quantized to the same integer, and greater integers are greater numbers: rounding a
  // product with 255 moves a quotient by less than a half.
  bool isExact() const {
    const bool isHalf = floats == DML_TENSOR_DATA_TYPE_FLOAT16;
    return scale >= (isHalf ? 0x1p-14f : FLT_MIN) && scale <= (isHalf ? 65504.0f : FLT_MAX) / 256;
  }
};

std::optional<SharedScale> sharedScaleOf(const Node& node) {
  const bool isBack = dequantizes(node);
  if (!isBack && !quantizes(node)) return {};
  const Operation& op = *node.op;
  const Tensor& integers = isBack ? op.input(0) : op.output();
  const Tensor& floats = isBack ? op.output() : op.input(0);
  const auto scale = floatAt(node, 1);
  if (!isByte(integers.type) || op.input(1).type != floats.type || !scale) return {};
  // If the zero point of an unsigned type is absent, QUANTIZE and DEQUANTIZE use 128.
  const bool hasMiddle = typeOf(node) == DML_OPERATOR_QUANTIZE || typeOf(node) == DML_OPERATOR_DEQUANTIZE;
  std::optional<uint32_t> zero = hasMiddle && integers.type == DML_TENSOR_DATA_TYPE_UINT8 ? 128 : 0;
  if (op.inputs().size() > 2 && op.input(2).present()) zero = numberOf(node.inputs()[2], op.input(2));
  if (!zero) return {};
  return SharedScale{integers.type, floats.type, *scale, *zero};
}

// Whether results are elements, or say where they are, chosen by place or order.
bool choosesIntegers(const Node& node) {
  switch (typeOf(node)) {
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
      return choosesElements(typeOf(node));
  }
}

// A node that quantizes what another dequantizes in the same way, seen with other strides, becomes a copy.
void copyIntegers(Graph& graph, Node& quantizer) {
  Node* dequantizer = quantizer.inputs()[0].producer();
  if (!dequantizer || !dequantizer->op || quantizer.inputs()[0].offset != 0 || !dequantizes(*dequantizer) ||
      !keepsPlaces(*dequantizer))
    return;
  const auto by = sharedScaleOf(*dequantizer);
  if (!by || !by->isExact() || sharedScaleOf(quantizer) != by) return;
  auto copy = Operation::make(DML_OPERATOR_ELEMENT_WISE_IDENTITY, DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC{},
                              {ofTypeOf(quantizer.op->input(0), dequantizer->op->input(0))}, {quantizer.op->output()});
  if (!copy) return;
  Node& node =
      graph.add(cat(dequantizer->name, " with ", quantizer.name), cat(dequantizer->label, " with ", quantizer.label),
                std::make_shared<const Operation>(std::move(*copy)), &quantizer);
  graph.connect(node, 0, dequantizer->inputs()[0]);
  graph.replaceAllUses(quantizer.outputs()[0], node.outputs()[0]);
  graph.erase(quantizer);
  if (!isRead(*dequantizer)) graph.erase(*dequantizer);
}

}  // namespace

void passes::useIntegers(Graph& graph, const Target& target) {
  std::vector<Node*> quantizers;
  for (Node& node : graph.nodes())
    if (node.op && !node.runsAtInitialization && quantizes(node)) quantizers.push_back(&node);
  for (Node* node : quantizers) copyIntegers(graph, *node);
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (!node.runsAtInitialization && choosesIntegers(node)) found.push_back(&node);
  for (Node* node : found) {
    const Node* first = node->inputs()[0].producer();
    const auto by = first && first->op ? sharedScaleOf(*first) : std::nullopt;
    if (!by || !by->isExact()) continue;
    const auto isSame = [&](const Node& other) { return keepsPlaces(other) && sharedScaleOf(other) == by; };
    const Conversions conversions{by->floats, by->integers,
                                  [&](const Node& other) { return dequantizes(other) && isSame(other); },
                                  [&](const Node& other) { return quantizes(other) && isSame(other); }};
    retype(graph, *node, conversions, target);
  }
}

}  // namespace dimple
