// Normalizations of rows become part of the products that read them.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/ops/normalized_product.h"
#include "core/ops/weight_product.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr uint32_t kFactorInput = 1, kShiftInput = 2;  // of a normalization

Node& addFused(Graph& graph, const Node& normalization, const Node& product, Operation op, Node& before) {
  return graph.add(cat(normalization.name, " with ", product.name), cat(normalization.label, " with ", product.label),
                   std::make_shared<const Operation>(std::move(op)), &before);
}

// Of a product with dequantized weights. Returns whether it normalizes the rows now.
bool fuseWithWeights(Graph& graph, Node& normalization, const Target& target) {
  Node* const product = onlyReader(normalization);
  if (!product || !product->op || product->runsAtInitialization) return false;
  const auto at = weightInputsOf(*product->op);
  if (!at || product->inputs()[0] != Place{&normalization.outputs()[0], 0}) return false;
  const auto rows = meanSquareOf(*normalization.op);
  const Tensor& a = product->op->input(0);
  const Tensor& x = normalization.op->input(0);
  const bool isWhole = isPacked(a) && a.elements == x.elements && a.sizes[a.rank - 1] == x.sizes[x.rank - 1];
  if (!rows || !isWhole) return false;
  // Vectors of 16 bytes are read.
  if (normalization.inputs()[0].offset % 16 != 0) return false;
  if (rows->factor.present() && normalization.inputs()[kFactorInput].offset % 16 != 0) return false;
  auto op = normalizedWeightProduct(*product->op, x.ownedByDml, *rows, target);
  if (!op) return false;
  Node& made = addFused(graph, normalization, *product, std::move(*op), *product);
  std::vector<Place> places(product->inputs().begin(), product->inputs().end());
  places[0] = normalization.inputs()[0];
  if (rows->factor.present())
    places.insert(places.begin() + static_cast<std::ptrdiff_t>(at->scale), normalization.inputs()[kFactorInput]);
  for (uint32_t i = 0; i < places.size(); ++i)
    if (places[i].value) graph.connect(made, i, places[i]);
  graph.replaceAllUses(product->outputs()[0], made.outputs()[0]);
  graph.erase(*product);
  graph.erase(normalization);
  return true;
}

// Whether an input is there when a graph begins to execute, so that a node that reads it may come earlier.
bool isThereAtStart(const Node& node, uint32_t input) {
  if (input >= node.inputs().size() || !node.inputs()[input].value) return true;
  const Node* const producer = node.inputs()[input].producer();
  return !producer || !producer->op || producer->runsAtInitialization;
}

// Of a GEMM, which stores the normalized rows, too, if others read them.
void fuseWithMatrices(Graph& graph, Node& normalization, const Target& target) {
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
  Node& made = addFused(graph, normalization, *product, std::move(*op), normalization);
  const std::pair<Node*, uint32_t> inputs[] = {{&normalization, 0},
                                               {product, kWeightsInput},
                                               {product, kBiasInput},
                                               {&normalization, kFactorInput},
                                               {&normalization, kShiftInput}};
  for (uint32_t i = 0; i < std::size(inputs); ++i)
    if (const auto& [node, input] = inputs[i]; input < node->inputs().size() && node->inputs()[input].value)
      graph.connect(made, i, node->inputs()[input]);
  graph.replaceAllUses(product->outputs()[0], made.outputs()[0]);
  graph.erase(*product);
  if (keepsRows) graph.replaceAllUses(rows, made.outputs()[1]);
  graph.erase(normalization);
}

}  // namespace

void passes::addPrologues(Graph& graph, const Target& target) {
  if (!target.caps.matrices) return;
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (node.op && !node.runsAtInitialization && node.targets.empty() && normalizesRows(*node.op))
      found.push_back(&node);
  for (Node* node : found)
    if (!fuseWithWeights(graph, *node, target)) fuseWithMatrices(graph, *node, target);
}

}  // namespace dimple
