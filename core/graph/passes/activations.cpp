#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/matching.h"
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
bool takesLong(const Operation& made, const Operation& activation) {
  constexpr uint64_t kMany = uint64_t{1} << 19;
  return activation.schema().type == DML_OPERATOR_ACTIVATION_GELU && made.output().elements >= kMany &&
         (made.schema().type == DML_OPERATOR_GEMM || made.schema().type == DML_OPERATOR_CONVOLUTION);
}

// Makes one operation of two. Returns false if no such operation exists.
bool fuse(Node& first, const Node& second) {
  const Operation& made = *first.op;
  const Operation& activation = *second.op;
  if (takesLong(made, activation)) return false;
  if (made.outputs().size() != 1 || activation.outputs().size() != 1) return false;
  if (!sameLayout(made.output(), activation.input(0)) || activation.output().type != made.output().type ||
      !sameSizes(activation.output(), made.output()))
    return false;
  Operation fused = made;
  if (!fused.fuse(asFused(activation))) return false;
  fused.setTensor(Role::Output, 0, activation.output());
  if (!fused.check()) return false;
  first.setOperation(std::move(fused));
  first.name = cat(first.name, " with ", second.name);
  first.label = cat(first.label, " with ", second.label);
  return true;
}

}  // namespace

void passes::fuseActivations(Graph& graph, const Target&) {
  for (auto next = graph.nodes().begin(); next != graph.nodes().end();) {
    Node& node = *next++;
    if (!node.op || node.inputs().size() != 1) continue;
    Node* producer = node.inputs()[0].producer();
    if (!producer || !producer->op || readersOf(*producer) != 1 || !fuse(*producer, node)) continue;
    graph.replaceAllUses(node.outputs()[0], producer->outputs()[0]);
    graph.erase(node);
  }
}

}  // namespace dimple
