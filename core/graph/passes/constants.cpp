#include "core/graph/graph.h"
#include "core/graph/pass.h"

namespace dimple {
namespace {

// Bytes by which what a node makes may exceed what it takes: persistent memory is held as long as the graph lives.
constexpr uint64_t kMaxGrowth = 16 << 20;

uint64_t totalBytes(std::span<const Tensor> tensors) {
  uint64_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += tensor.totalBytes;
  return bytes;
}

}  // namespace

// No operator has a state of its own, random generators included: what one makes depends on what it takes alone.
void passes::foldConstants(Graph& graph, const Target&) {
  for (Node* node : graph.order()) {
    node->runsAtInitialization =
        !node->op || totalBytes(node->op->outputs()) <= totalBytes(node->op->inputs()) + kMaxGrowth;
    for (const Place& from : node->inputs())
      if (from.value) node->runsAtInitialization &= graph.isKnown(*from.value);
  }
}

}  // namespace dimple
