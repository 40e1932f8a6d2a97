#include "core/graph/graph.h"
#include "core/graph/pass.h"

namespace dimple {

void passes::removeUnread(Graph& graph, const Target&) {
  const auto order = graph.order();
  for (size_t at = order.size(); at-- > 0;)
    if (!isRead(*order[at])) graph.erase(*order[at]);
}

}  // namespace dimple
