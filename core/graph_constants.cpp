#include <algorithm>

#include "core/graph_fuse.h"

namespace dimple {
namespace {

// Bytes by which what a node makes may exceed what it takes: persistent memory is held as long as the graph lives.
constexpr uint64_t kMostGrowth = 16 << 20;

uint64_t totalBytes(std::span<const Tensor> tensors) {
  uint64_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += tensor.totalBytes;
  return bytes;
}

}  // namespace

// No operator has a state of its own, random generators included: what one makes depends on what it takes alone.
void foldConstants(Graph& graph) {
  for (const uint32_t n : topologicalOrder(graph)) {
    GraphNode& node = graph.nodes[n];
    node.once = !node.op || totalBytes(node.op->outputs()) <= totalBytes(node.op->inputs()) + kMostGrowth;
    for (const GraphSource& source : node.inputs) {
      if (source.kind == GraphSource::Kind::Node) node.once &= graph.nodes[source.index].once;
      if (source.kind == GraphSource::Kind::GraphInput) node.once &= graph.inputSlots[source.index].ownedByDml;
    }
  }
}

}  // namespace dimple
