// Products with weights that are dequantized read the integers.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/ops/weight_product.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

// What makes an input as its reader sees it, of a type of operator; at initialization, too.
const Node* madeBy(const Node& reader, uint32_t input, DML_OPERATOR_TYPE type) {
  const Place& from = reader.inputs()[input];
  const Node* node = from.producer();
  const bool fits =
      node && from.offset == 0 && typeOf(*node) == type && sameLayout(node->op->output(), reader.op->input(input));
  return fits ? node : nullptr;
}

// The DEQUANTIZE of B, maybe behind a CAST to FLOAT32; null: there is none.
const Node* dequantizerOf(const Node& gemm) {
  const Node* reader = &gemm;
  uint32_t input = kWeightsInput;
  if (const Node* cast = madeBy(gemm, input, DML_OPERATOR_CAST)) {
    if (!isCast(*cast, DML_TENSOR_DATA_TYPE_FLOAT16, gemm.op->input(input).type)) return nullptr;
    reader = cast;
    input = 0;
  }
  return madeBy(*reader, input, DML_OPERATOR_DEQUANTIZE);
}

// One matrix of a tensor that has the same for all batches; no value: it has others.
std::optional<Tensor> oneMatrix(Tensor tensor) {
  for (uint32_t d = 0; d + 2 < tensor.rank; ++d) {
    if (tensor.sizes[d] > 1 && tensor.strides[d] != 0) return {};
    tensor.sizes[d] = 1;
  }
  return asGiven(tensor);
}

// Dequantizes one matrix where a product reads the same for all batches.
void dequantizeOnce(Node& gemm) {
  Node* dequantizer = gemm.inputs()[kWeightsInput].producer();
  if (!dequantizer || typeOf(*dequantizer) != DML_OPERATOR_DEQUANTIZE || readersOf(*dequantizer) != 1 ||
      madeBy(gemm, kWeightsInput, DML_OPERATOR_DEQUANTIZE) == nullptr)
    return;
  const Operation& op = *dequantizer->op;
  std::vector<Tensor> inputs;
  for (const Tensor& tensor : op.inputs()) {
    const auto one = tensor.present() ? oneMatrix(tensor) : Tensor();
    if (!one) return;
    inputs.push_back(*one);
  }
  const Tensor& made = op.output();
  std::vector<uint32_t> sizes(made.sizes.begin(), made.sizes.begin() + made.rank);
  std::fill(sizes.begin(), sizes.end() - 2, 1u);
  const Tensor once = asGiven(packedTensor(made.type, sizes));
  if (once.elements == made.elements) return;
  auto dequantize = Operation::make(op.schema().type, op.as<DML_DEQUANTIZE_OPERATOR_DESC>(), std::move(inputs), {once});
  Operation product = *gemm.op;
  std::vector<uint32_t> strides(once.strides.begin(), once.strides.begin() + once.rank);
  std::fill(strides.begin(), strides.end() - 2, 0u);
  if (!dequantize || !product.setStrides(Role::Input, kWeightsInput, strides)) return;
  dequantizer->setOperation(std::move(*dequantize));
  gemm.setOperation(std::move(product));
}

// Whether the product reads the integers now.
bool replace(Graph& graph, Node& gemm, const Target& target) {
  const Node* dequantizer = dequantizerOf(gemm);
  if (!dequantizer) return false;
  const Operation& op = *dequantizer->op;
  // Vectors of 16 bytes are read of the integers, words of the others.
  for (const Place& from : dequantizer->inputs())
    if (from.offset % 16 != 0) return false;
  const bool hasZeroPoint = op.inputs().size() > 2 && op.input(2).present();
  auto made = weightProduct(*gemm.op, {op.input(0), op.input(1), hasZeroPoint ? op.input(2) : Tensor()}, target);
  if (!made) return false;
  Node& node = graph.add(cat(dequantizer->name, " with ", gemm.name), cat(dequantizer->label, " with ", gemm.label),
                         std::make_shared<const Operation>(std::move(*made)), &gemm);
  const auto inputs = static_cast<uint32_t>(gemm.inputs().size());
  for (uint32_t i = 0; i < inputs; ++i)
    if (i != kWeightsInput && gemm.inputs()[i].value) graph.connect(node, i, gemm.inputs()[i]);
  graph.connect(node, kWeightsInput, dequantizer->inputs()[0]);
  for (uint32_t i = 1; i <= (hasZeroPoint ? 2u : 1u); ++i)
    graph.connect(node, inputs + i - 1, dequantizer->inputs()[i]);
  graph.replaceAllUses(gemm.outputs()[0], node.outputs()[0]);
  graph.erase(gemm);
  return true;
}

}  // namespace

void passes::readIntegers(Graph& graph, const Target& target) {
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (typeOf(node) == DML_OPERATOR_GEMM && !node.runsAtInitialization) found.push_back(&node);
  for (Node* node : found)
    if (!replace(graph, *node, target)) dequantizeOnce(*node);
}

}  // namespace dimple
