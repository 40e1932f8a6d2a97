// Operators of FLOAT32 between CASTs from FLOAT16 and to it become operators of FLOAT16, which compute in FLOAT32 and
// round once.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr DataType kWide = DML_TENSOR_DATA_TYPE_FLOAT32;
constexpr DataType kNarrow = DML_TENSOR_DATA_TYPE_FLOAT16;

// Operators whose kernels read each element once or hold it, so that a CAST is a pass over memory of its own.
// Element-wise operators are left to chains, and rows to the pass `casts`, which keep the bits of their nodes.
bool gains(DML_OPERATOR_TYPE type) {
  switch (type) {
    case DML_OPERATOR_ARGMAX:
    case DML_OPERATOR_ARGMIN:
    case DML_OPERATOR_AVERAGE_POOLING:
    case DML_OPERATOR_AVERAGE_POOLING1:
    case DML_OPERATOR_BATCH_NORMALIZATION:
    case DML_OPERATOR_CONVOLUTION:
    case DML_OPERATOR_CUMULATIVE_PRODUCT:
    case DML_OPERATOR_CUMULATIVE_SUMMATION:
    case DML_OPERATOR_DEPTH_TO_SPACE:
    case DML_OPERATOR_DEPTH_TO_SPACE1:
    case DML_OPERATOR_GATHER:
    case DML_OPERATOR_GATHER_ELEMENTS:
    case DML_OPERATOR_GATHER_ND:
    case DML_OPERATOR_GATHER_ND1:
    case DML_OPERATOR_GEMM:
    case DML_OPERATOR_JOIN:
    case DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION:
    case DML_OPERATOR_LP_NORMALIZATION:
    case DML_OPERATOR_LP_POOLING:
    case DML_OPERATOR_LP_POOLING1:
    case DML_OPERATOR_MAX_POOLING:
    case DML_OPERATOR_MAX_POOLING1:
    case DML_OPERATOR_MAX_POOLING2:
    case DML_OPERATOR_PADDING:
    case DML_OPERATOR_REDUCE:
    case DML_OPERATOR_RESAMPLE:
    case DML_OPERATOR_RESAMPLE1:
    case DML_OPERATOR_RESAMPLE2:
    case DML_OPERATOR_RESAMPLE3:
    case DML_OPERATOR_REVERSE_SUBSEQUENCES:
    case DML_OPERATOR_ROI_ALIGN:
    case DML_OPERATOR_ROI_ALIGN1:
    case DML_OPERATOR_ROI_POOLING:
    case DML_OPERATOR_SLICE:
    case DML_OPERATOR_SLICE1:
    case DML_OPERATOR_SPACE_TO_DEPTH:
    case DML_OPERATOR_SPACE_TO_DEPTH1:
    case DML_OPERATOR_SPLIT:
    case DML_OPERATOR_TILE:
    case DML_OPERATOR_TOP_K:
    case DML_OPERATOR_TOP_K1:
    case DML_OPERATOR_UPSAMPLE_2D:
      return true;
    default:
      return false;
  }
}

class Halved {
 public:
  explicit Halved(Node& node) : node_(node), op_(*node.op) {}

  void replace(Graph& graph, const Target& target) {
    if (op_.epilogue().steps != 0 || !findBefore() || !findBehind()) return;
    if (!op_.check() || !planOperator(op_, target)) return;
    node_.setOperation(op_);
    for (const auto& [input, cast] : before_) {
      graph.connect(node_, input, cast->inputs()[0]);
      takeName(*cast, node_);
    }
    for (const auto& [output, cast] : behind_) {
      graph.replaceAllUses(cast->outputs()[0], node_.outputs()[output]);
      takeName(node_, *cast);
      graph.erase(*cast);
    }
    for (size_t i = 0; i < before_.size(); ++i) {
      Node* cast = before_[i].second;
      const auto isSame = [&](const auto& other) { return other.second == cast; };
      if (std::find_if(before_.begin(), before_.begin() + i, isSame) == before_.begin() + i && !isRead(*cast))
        graph.erase(*cast);
    }
  }

 private:
  void takeName(const Node& first, const Node& second) {
    node_.name = cat(first.name, " with ", second.name);
    node_.label = cat(first.label, " with ", second.label);
  }

  using Cast = std::pair<uint32_t, Node*>;  // of an input or an output

  // One CAST for each FLOAT32 that it takes.
  bool findBefore() {
    for (uint32_t i = 0; i < op_.inputs().size(); ++i) {
      if (!op_.input(i).present() || op_.input(i).type != kWide) continue;
      const Place& from = node_.inputs()[i];
      Node* cast = from.producer();
      if (!cast || from.offset != 0 || !isCast(*cast, kNarrow, kWide)) return false;
      before_.emplace_back(i, cast);
      op_.setTensor(Role::Input, i, ofTypeOf(op_.input(i), cast->op->input(0)));
    }
    return !before_.empty();
  }

  // One for each that it makes, which nothing else reads.
  bool findBehind() {
    for (uint32_t i = 0; i < op_.outputs().size(); ++i) {
      const Tensor& made = op_.output(i);
      const Value& value = node_.outputs()[i];
      if (!made.present() || made.type != kWide) continue;
      if (!value.isRead()) {
        Tensor halved = made;
        halved.type = kNarrow;
        op_.setTensor(Role::Output, i, asGiven(halved));
        continue;
      }
      if (!value.graphOutputs.empty() || value.uses.size() != 1) return false;
      Node* cast = value.uses[0].node;
      if (!isCast(*cast, kWide, kNarrow) || cast->inputs()[0].offset != 0 || !sameLayout(made, cast->op->input(0)))
        return false;
      behind_.emplace_back(i, cast);
      op_.setTensor(Role::Output, i, ofTypeOf(made, cast->op->output()));
    }
    return true;
  }

  Node& node_;
  Operation op_;
  std::vector<Cast> before_, behind_;
};

}  // namespace

void passes::useHalves(Graph& graph, const Target& target) {
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (!node.runsAtInitialization && gains(typeOf(node))) found.push_back(&node);
  for (Node* node : found) Halved(*node).replace(graph, target);
}

}  // namespace dimple
