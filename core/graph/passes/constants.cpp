#include "core/graph/graph.h"
#include "core/graph/pass.h"

namespace dimple {
namespace {

// The outputs of a node may exceed its inputs by this many bytes, since persistent memory is held for as long as the
// graph lives.
constexpr uint64_t kMaxGrowth = 16 << 20;

uint64_t totalBytes(std::span<const Tensor> tensors) {
  uint64_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += tensor.totalBytes;
  return bytes;
}

}  // namespace

// No operator has a state of its own, random generators included: its outputs depend on its inputs alone.
void passes::foldConstants(Graph& graph, const Target&) {
  for (Node* node : graph.order()) {
    node->runsAtInitialization =
        !node->op || totalBytes(node->op->outputs()) <= totalBytes(node->op->inputs()) + kMaxGrowth;
    for (const Place& from : node->inputs())
      if (from.value) node->runsAtInitialization &= graph.isKnown(*from.value);
  }
}

}  // namespace dimple
