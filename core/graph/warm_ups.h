// Dispatches that bring the code of a graph's pipelines to the caches.
#pragma once

#include <cstddef>
#include <span>

#include "core/plan/plan.h"

namespace dimple {

struct Target;

// Adds warm-ups to an execution whose barriers are derived. A warm-up is one workgroup of a later dispatch, the first
// of its pipeline. It takes bytes of the persistent resource for what that dispatch reads of other nodes, and writes
// temporary memory that nothing reads. A network whose weights and tensors do not fit in the caches finds none of its
// code there when it runs again, and each of its pipelines would wait for it. `numbersOnly` are the dispatches for
// which this is safe (OpSchema::numbersOnly), in order.
//
// Without estimates, every such dispatch gets a warm-up, on every device. With them, devices that gain (Caps::coldCode)
// get them for graphs of many pipelines that move more than the caches hold: if workgroups mostly run all at once,
// before the first dispatch. Otherwise those get one whose workgroups are brief (Dispatch::brief), or have little to do
// anyway and run beside products that could be brief: one to three barriers earlier, before the last dispatches there
// that take long enough.
void addWarmUps(Plan& plan, std::span<const size_t> numbersOnly, const Target& target);

}  // namespace dimple
