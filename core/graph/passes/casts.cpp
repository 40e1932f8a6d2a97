// Normalizations and softmaxes of FLOAT32 read and store FLOAT16 in the place of CASTs before and behind them,
// reductions read it, and products of FLOAT16 store FLOAT32.
#include <optional>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/ops/vector_rows.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"

namespace dimple {
namespace {

constexpr DataType kSingle = DML_TENSOR_DATA_TYPE_FLOAT32;
constexpr DataType kHalf = DML_TENSOR_DATA_TYPE_FLOAT16;

// Operators that withCasts() may know.
bool mayHaveCasts(DML_OPERATOR_TYPE type) {
  switch (type) {
    case DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION:
    case DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1:
    case DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2:
    case DML_OPERATOR_ACTIVATION_SOFTMAX:
    case DML_OPERATOR_ACTIVATION_SOFTMAX1:
    case DML_OPERATOR_ACTIVATION_LOG_SOFTMAX:
    case DML_OPERATOR_ACTIVATION_LOG_SOFTMAX1:
    case DML_OPERATOR_REDUCE:
      return true;
    default:
      return false;
  }
}

// The product of what a node makes with a FLOAT16 factor of the same sizes.
Reader productOf(const Node& node) {
  const Reader next = readerOf(node);
  const bool isProduct = next.node && typeOf(*next.node) == DML_OPERATOR_ELEMENT_WISE_MULTIPLY &&
                         sameSizes(next.node->op->output(), node.op->output());
  return isProduct ? next : Reader{};
}

void fuse(Graph& graph, Node& node, const Target& target) {
  const Operation& op = *node.op;
  if (op.input(0).type != kSingle) return;
  Node* before = onlyProducerAt(node, 0, DML_OPERATOR_CAST);
  if (before && !isCast(*before, kHalf, kSingle)) before = nullptr;
  Node* behind = readerOf(node).node;
  if (behind && !isCast(*behind, kSingle, kHalf)) behind = nullptr;
  if (!before && !behind) return;
  const Tensor input = before ? ofTypeOf(op.input(0), before->op->input(0)) : op.input(0);
  std::vector<Taken> inputs{{before ? before : &node, 0}};
  for (uint32_t i = 1; i < op.inputs().size(); ++i) inputs.emplace_back(&node, i);
  std::vector<Node*> nodes;
  for (Node* found : {before, &node, behind})
    if (found) nodes.push_back(found);
  const auto replace = [&](std::optional<Operation> fused) {
    const bool isPlanned = fused && planOperator(*fused, target);
    if (isPlanned) replaceNodes(graph, nodes, std::move(*fused), inputs);
    return isPlanned;
  };
  if (const Reader product = behind ? productOf(*behind) : Reader{}; product.node && inputs.size() > 1) {
    const uint32_t factor = 1 - product.input;
    const Taken scale = std::exchange(inputs[1], Taken{product.node, factor});
    nodes.push_back(product.node);
    if (replace(withCasts(op, input, product.node->op->output(), product.node->op->input(factor)))) return;
    nodes.pop_back();
    inputs[1] = scale;
  }
  replace(withCasts(op, input, behind ? ofTypeOf(op.output(), behind->op->output()) : op.output()));
}

// A product of FLOAT16 stores the FLOAT32 of a CAST, if that takes no additional dispatch.
void widen(Graph& graph, Node& product, const Target& target) {
  const Operation& op = *product.op;
  Node* cast = readerOf(product).node;
  if (!cast || !isCast(*cast, kHalf, kSingle) || op.activation().type != DML_OPERATOR_INVALID ||
      op.epilogue().steps != 0)
    return;
  Operation wide = op;
  wide.setTensor(Role::Output, 0, ofTypeOf(op.output(), cast->op->output()));
  const auto before = planUnkept(op, target), after = planUnkept(wide, target);
  if (!before || !after || after->execution.size() > before->execution.size()) return;
  std::vector<Taken> inputs;
  for (uint32_t i = 0; i < op.inputs().size(); ++i) inputs.emplace_back(&product, i);
  replaceNodes(graph, {&product, cast}, std::move(wide), inputs);
}

}  // namespace

void passes::fuseCasts(Graph& graph, const Target& target) {
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (node.op && !node.runsAtInitialization && (mayHaveCasts(typeOf(node)) || typeOf(node) == DML_OPERATOR_GEMM))
      found.push_back(&node);
  for (Node* node : found)
    if (typeOf(*node) == DML_OPERATOR_GEMM)
      widen(graph, *node, target);
    else
      fuse(graph, *node, target);
}

}  // namespace dimple
