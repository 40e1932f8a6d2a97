#include "core/graph_cost.h"

#include <algorithm>

#include "core/ops/chain.h"
#include "core/plan.h"

namespace dimple {
namespace {

// Fitted to `dimple bench --only chain` on an H100, where they are at most a sixth off the chains that gain
// (docs/performance.md). What counts is how they compare, and that is much the same on other GPUs.
constexpr double kDispatch = 3000;  // ns, with its barrier
constexpr double kByte = 1.0 / 3;   // ps; 3 TB/s
constexpr double kInvocation = 4;   // ps, of a kernel for an operator; one that takes an element each is bound by it

// ps for an element of a chain.
constexpr double kChain = 1.2;
constexpr double kStep = 1;
constexpr double kLoad = 0.3;          // on top of its step
constexpr double kIndexed = 1.8;       // on top of its load, or for a store
constexpr double kFunction = 2;        // on top of its step
constexpr double kCostlyFunction = 4;  // on top of its step
constexpr double kNarrowed = 0.7;      // on top of its step

}  // namespace

double nodeNanoseconds(const Plan& plan, uint64_t bytes) {
  uint64_t invocations = 0;
  for (const Dispatch& dispatch : plan.execution)
    invocations += uint64_t{dispatch.groups[0]} * dispatch.groups[1] * dispatch.groups[2] * dispatch.groupSize;
  return kDispatch * static_cast<double>(plan.execution.size()) +
         std::max(kByte * static_cast<double>(bytes), kInvocation * static_cast<double>(invocations)) / 1000;
}

double chainNanoseconds(const Plan& plan, const OpView& view) {
  const Chain& chain = view.as<Chain>();
  const double element = kChain + kStep * static_cast<double>(chain.steps.size()) +
                         kLoad * static_cast<double>(chain.loads.size()) + kIndexed * indexedAccesses(view) +
                         kFunction * chain.functions + kCostlyFunction * chain.costlyFunctions +
                         kNarrowed * chain.narrowed;
  uint64_t bytes = 0;
  for (const Tensor& input : view.inputs()) bytes += input.totalBytes;
  for (const Tensor& output : view.outputs()) bytes += output.totalBytes;
  return kDispatch * static_cast<double>(plan.execution.size()) +
         std::max(kByte * static_cast<double>(bytes), element * static_cast<double>(view.output().elements)) / 1000;
}

}  // namespace dimple
