#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/matching.h"
#include "core/ops/shared_kernels.h"
#include "core/text.h"

namespace dimple {
namespace {

// Returns CLIP for a CLIP1 of floats without ScaleBias, and the activation for TANH, both of which operators may fuse.
// Returns other operators unchanged.
Operation asFused(const Operation& op) {
  if (op.schema().type == DML_OPERATOR_ELEMENT_WISE_TANH && !op.as<DML_ELEMENT_WISE_TANH_OPERATOR_DESC>().ScaleBias) {
    auto tanh = Operation::make(DML_OPERATOR_ACTIVATION_TANH, DML_ACTIVATION_TANH_OPERATOR_DESC{}, {op.input(0)},
                                {op.output()});
    if (tanh) return std::move(*tanh);
  }
  return asClip(op);
}

// A product has few subgroups at a time, for which GELU takes longer than a pass of its own over many results.
bool takesLong(const Operation& made, DML_OPERATOR_TYPE activation, const Target& target) {
  constexpr uint64_t kMany = uint64_t{1} << 19;
  if (made.schema().type != DML_OPERATOR_GEMM && made.schema().type != DML_OPERATOR_CONVOLUTION) return false;
  return (activation == DML_OPERATOR_ACTIVATION_GELU && made.output().elements >= kMany) ||
         activatesApart(target, activation);
}

// Makes one operation of two. Returns false if no such operation exists.
bool fuse(Node& first, const Node& second, const Target& target) {
  const Operation& made = *first.op;
  if (made.outputs().size() != 1 || second.op->outputs().size() != 1) return false;
  const Tensor& output = second.op->output();
  if (!sameLayout(made.output(), second.op->input(0)) || output.type != made.output().type ||
      !sameSizes(output, made.output()))
    return false;
  const Operation activation = asFused(*second.op);
  if (takesLong(made, activation.schema().type, target)) return false;
  Operation fused = made;
  if (!fused.fuse(activation)) return false;
  fused.setTensor(Role::Output, 0, output);
  if (!fused.check()) return false;
  first.setOperation(std::move(fused));
  first.name = cat(first.name, " with ", second.name);
  first.label = cat(first.label, " with ", second.label);
  return true;
}

}  // namespace

void passes::fuseActivations(Graph& graph, const Target& target) {
  for (auto next = graph.nodes().begin(); next != graph.nodes().end();) {
    Node& node = *next++;
    if (!node.op || node.inputs().size() != 1) continue;
    Node* producer = node.inputs()[0].producer();
    if (!producer || !producer->op || readersOf(*producer) != 1 || !fuse(*producer, node, target)) continue;
    graph.replaceAllUses(node.outputs()[0], producer->outputs()[0]);
    graph.erase(node);
  }
}

}  // namespace dimple
