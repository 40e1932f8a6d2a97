// Attention of FLOAT32 between CASTs from and to FLOAT16, whose cache of keys and values is the caller's, becomes
// attention of FLOAT16, which appends to that cache in place.
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/matching.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"

namespace dimple {
namespace {

constexpr uint32_t kCacheLengths = 11;  // the input PastSequenceLengthsTensor; those before are floats, or a mask

bool appends(const Node& node) {
  return typeOf(node) == DML_OPERATOR_MULTIHEAD_ATTENTION1 && !node.runsAtInitialization &&
         node.op->input(kCacheLengths).present() && node.op->output().type == DML_TENSOR_DATA_TYPE_FLOAT32;
}

// The CAST from FLOAT16 that makes an input as the node sees it. Others may read what it makes, too.
const Node* castBefore(const Node& node, uint32_t input) {
  const Node* cast = producerAt(node, input, DML_OPERATOR_CAST);
  const bool fits = cast && cast->op->input(0).type == DML_TENSOR_DATA_TYPE_FLOAT16 &&
                    sameLayout(cast->op->output(), node.op->input(input));
  return fits ? cast : nullptr;
}

// The CAST to FLOAT16 that alone reads an output as the node makes it.
Node* castBehind(const Node& node, uint32_t output) {
  const Value& value = node.outputs()[output];
  if (!value.graphOutputs.empty() || value.uses.size() != 1) return nullptr;
  Node* cast = value.uses[0].node;
  const bool fits = typeOf(*cast) == DML_OPERATOR_CAST && cast->inputs()[0].offset == 0 &&
                    cast->op->output().type == DML_TENSOR_DATA_TYPE_FLOAT16 &&
                    sameLayout(node.op->output(output), cast->op->input(0));
  return fits ? cast : nullptr;
}

void halve(Graph& graph, Node& node, const Target& target) {
  const Operation& op = *node.op;
  std::vector<Tensor> inputs(op.inputs().begin(), op.inputs().end());
  std::vector<Tensor> outputs(op.outputs().begin(), op.outputs().end());
  std::vector<const Node*> before(inputs.size());
  std::array<Node*, 3> behind{};
  for (uint32_t i = 0; i < kCacheLengths; ++i) {
    if (!inputs[i].present()) continue;
    before[i] = castBefore(node, i);
    if (!before[i]) return;
    inputs[i] = before[i]->op->input(0);
  }
  for (uint32_t o = 0; o < behind.size(); ++o) {
    behind[o] = castBehind(node, o);
    if (!behind[o]) return;
    outputs[o] = behind[o]->op->output();
  }
  auto halved = Operation::make(op.schema().type, op.as<DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC>(), std::move(inputs),
                                std::move(outputs));
  if (!halved || !planOperator(*halved, target)) return;
  node.setOperation(std::move(*halved));
  for (uint32_t i = 0; i < before.size(); ++i)
    if (before[i]) graph.connect(node, i, before[i]->inputs()[0]);
  for (uint32_t o = 0; o < behind.size(); ++o) {
    graph.replaceAllUses(behind[o]->outputs()[0], node.outputs()[o]);
    graph.erase(*behind[o]);
  }
}

}  // namespace

void passes::keepCaches(Graph& graph, const Target& target) {
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (appends(node)) found.push_back(&node);
  for (Node* node : found) halve(graph, *node, target);
}

}  // namespace dimple
