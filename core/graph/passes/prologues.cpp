// Normalizations of rows become part of the products that read them.
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/ops/normalized_product.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

// Whether an input is there when a graph begins to execute, so that a node that reads it may come earlier.
bool isThereAtStart(const Node& node, uint32_t input) {
  if (input >= node.inputs().size() || !node.inputs()[input].value) return true;
  const Node* const producer = node.inputs()[input].producer();
  return !producer || !producer->op || producer->runsAtInitialization;
}

void fuseNormalization(Graph& graph, Node& normalization, const Target& target) {
  Value& rows = normalization.outputs()[0];
  Node* product = nullptr;
  for (const Value::Use& use : rows.uses)
    if (typeOf(*use.node) == DML_OPERATOR_GEMM && use.input == 0) {
      // Each would normalize the rows again.
      if (product) return;
      product = use.node;
    }
  if (!product || product->runsAtInitialization || product->inputs()[0].offset != 0) return;
  if (!isThereAtStart(*product, kWeightsInput) || !isThereAtStart(*product, kBiasInput)) return;
  const bool keepsRows = rows.uses.size() > 1 || !rows.graphOutputs.empty();
  auto op = normalizedProduct(*normalization.op, *product->op, keepsRows, target);
  if (!op) return;
  Node& made =
      graph.add(cat(normalization.name, " with ", product->name), cat(normalization.label, " with ", product->label),
                std::make_shared<const Operation>(std::move(*op)), &normalization);
  const std::pair<Node*, uint32_t> inputs[] = {
      {&normalization, 0}, {product, kWeightsInput}, {product, kBiasInput}, {&normalization, 1}, {&normalization, 2}};
  for (uint32_t i = 0; i < std::size(inputs); ++i)
    if (const auto& [node, input] = inputs[i]; input < node->inputs().size() && node->inputs()[input].value)
      graph.connect(made, i, node->inputs()[input]);
  graph.replaceAllUses(product->outputs()[0], made.outputs()[0]);
  graph.erase(*product);
  if (keepsRows) graph.replaceAllUses(rows, made.outputs()[1]);
  graph.erase(normalization);
}

}  // namespace

void passes::normalizeInProducts(Graph& graph, const Target& target) {
  if (!target.caps.matrices) return;
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (node.op && !node.runsAtInitialization && node.targets.empty() && normalizesRows(*node.op))
      found.push_back(&node);
  for (Node* node : found) fuseNormalization(graph, *node, target);
}

}  // namespace dimple
