// What rewrites of graphs have in common.
#include "core/graph_fuse.h"

namespace dimple {

std::vector<uint32_t> topologicalOrder(const Graph& graph) {
  std::vector<uint32_t> waitsFor(graph.nodes.size());
  std::vector<std::vector<uint32_t>> consumers(graph.nodes.size());
  for (uint32_t n = 0; n < graph.nodes.size(); ++n)
    for (const GraphSource& source : graph.nodes[n].inputs)
      if (source.kind == GraphSource::Kind::Node) {
        ++waitsFor[n];
        consumers[source.index].push_back(n);
      }
  std::vector<uint32_t> order;
  for (uint32_t n = 0; n < waitsFor.size(); ++n)
    if (waitsFor[n] == 0) order.push_back(n);
  for (size_t at = 0; at < order.size(); ++at)
    for (const uint32_t next : consumers[order[at]])
      if (--waitsFor[next] == 0) order.push_back(next);
  return order;
}

void removeNodes(Graph& graph, const std::vector<bool>& removed) {
  std::vector<uint32_t> places;
  uint32_t kept = 0;
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) places.push_back(removed[n] ? UINT32_MAX : kept++);
  const auto move = [&](GraphSource& source) {
    if (source.kind == GraphSource::Kind::Node) source.index = places[source.index];
  };
  std::vector<GraphNode> remaining;
  for (uint32_t n = 0; n < places.size(); ++n) {
    if (removed[n]) continue;
    for (GraphSource& source : graph.nodes[n].inputs) move(source);
    for (GraphSource& target : graph.nodes[n].targets) move(target);
    remaining.push_back(std::move(graph.nodes[n]));
  }
  for (GraphSource& source : graph.outputs) move(source);
  graph.nodes = std::move(remaining);
}

}  // namespace dimple
