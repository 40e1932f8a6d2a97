// Attention of FLOAT32 between CASTs from and to FLOAT16, whose cache of keys and values is the caller's, becomes
// attention of FLOAT16, which appends to that cache in place.
#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/matching.h"
#include "core/graph/passes/retyped.h"
#include "core/target.h"

namespace dimple {
namespace {

constexpr uint32_t kCacheLengths = 11;  // the input PastSequenceLengthsTensor

bool appends(const Node& node) {
  return typeOf(node) == DML_OPERATOR_MULTIHEAD_ATTENTION1 && !node.runsAtInitialization &&
         node.op->input(kCacheLengths).present() && node.op->output().type == DML_TENSOR_DATA_TYPE_FLOAT32;
}

}  // namespace

void passes::keepCaches(Graph& graph, const Target& target) {
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (appends(node)) found.push_back(&node);
  for (Node* node : found) retype(graph, *node, halfCasts(), target);
}

}  // namespace dimple
