// Chains of element-wise nodes in one pass over memory.
#pragma once

namespace dimple {

struct Caps;
struct RewrittenGraph;

// Makes one node each of element-wise nodes that hand tensors to each other as they are. What no other node takes is
// not stored; nothing is computed twice; every result is rounded to its type as it is alone.
// `estimates`: only where that is expected to be faster (core/graph_cost.h).
void fuseChains(RewrittenGraph& rewritten, const Caps& caps, bool estimates);

}  // namespace dimple
