// Normalizations and softmaxes of FLOAT32 read and store FLOAT16 in the place of CASTs before and behind them, and
// reductions read it.
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/ops/vector_rows.h"
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

void fuse(Graph& graph, Node& node, const Target& target) {
  const Operation& op = *node.op;
  if (op.input(0).type != kSingle) return;
  Node* before = onlyProducerAt(node, 0, DML_OPERATOR_CAST);
  if (before && !isCast(*before, kHalf, kSingle)) before = nullptr;
  Node* behind = readerOf(node).node;
  if (behind && !isCast(*behind, kSingle, kHalf)) behind = nullptr;
  if (!before && !behind) return;
  auto fused = withCasts(op, before ? ofTypeOf(op.input(0), before->op->input(0)) : op.input(0),
                         behind ? ofTypeOf(op.output(), behind->op->output()) : op.output());
  if (!fused || !planOperator(*fused, target)) return;
  std::vector<Node*> nodes;
  std::vector<Taken> inputs{{before ? before : &node, 0}};
  for (uint32_t i = 1; i < op.inputs().size(); ++i) inputs.emplace_back(&node, i);
  for (Node* found : {before, &node, behind})
    if (found) nodes.push_back(found);
  replaceNodes(graph, nodes, std::move(*fused), inputs);
}

}  // namespace

void passes::fuseCasts(Graph& graph, const Target& target) {
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (node.op && !node.runsAtInitialization && mayHaveCasts(typeOf(node))) found.push_back(&node);
  for (Node* node : found) fuse(graph, *node, target);
}

}  // namespace dimple
