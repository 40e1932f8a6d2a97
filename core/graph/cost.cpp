#include "core/graph/cost.h"

#include <algorithm>

#include "core/caps.h"
#include "core/ops/chain.h"
#include "core/plan/plan.h"

namespace dimple {
namespace {

constexpr CostModel kCompiler{
    .device = "a device on which chains have pipelines of their own",
    .source =
        "Fitted to `dimple bench --only chain` on an H100 (docs/performance.md); the ratios are much the same on "
        "other GPUs, and on llvmpipe, where chains take less time than their nodes, too.",
    .dispatch = 3000,
    .byte = 1.0 / 3,  // 3 TB/s
    .invocation = 4,
    .costlyFunction = 1.4,
    .costlyHalf = 0.6,
    .chain = 0.2,
    .step = 0.1,
    .load = 0.15,
    .indexed = 0.45,
    .function = 0.4,
    .narrowed = 0.15,
};

constexpr CostModel kInterpreter{
    .device = "a GPU on which chains are interpreted",
    .source =
        "Fitted to `dimple bench --only chain` on an H100, where they are at most a sixth off the large chains that "
        "gain, and to tensors of 64 x 64 to 1024 x 1024 elements, where every step takes its time whatever the number "
        "of elements (docs/performance.md); the ratios are much the same on other GPUs.",
    .dispatch = 3000,
    .byte = 1.0 / 3,  // 3 TB/s
    .invocation = 4,
    .costlyFunction = 4,
    .costlyHalf = 4,
    .chain = 1.2,
    .step = 1,
    .load = 0.3,
    .indexed = 1.8,
    .function = 2,
    .narrowed = 0.7,
    .stepLatency = 1600,
    .functionLatency = 4000,
};

constexpr CostModel kCentralProcessor{
    .device = "a CPU on which chains would be interpreted",
    .source =
        "Measured on llvmpipe: it executes every branch of the chains' kernel for all invocations of a vector, so "
        "that chains with functions take up to 40 times what their nodes take.",
    .chainsGain = false,
};

}  // namespace

const CostModel& costModelOf(const Caps& caps) {
  if (caps.fixesParameters) return kCompiler;
  return caps.isProcessor ? kCentralProcessor : kInterpreter;
}

double CostModel::picoseconds(const CostlyFunctions& costly) const {
  return costlyFunction * costly.floats + costlyHalf * costly.halves;
}

double CostModel::nodeNanoseconds(const Plan& plan, uint64_t bytes, uint64_t elements,
                                  const CostlyFunctions& costly) const {
  uint64_t invocations = 0;
  for (const Dispatch& d : plan.execution)
    invocations += uint64_t{d.groups[0]} * d.groups[1] * d.groups[2] * d.groupSize;
  return dispatch * static_cast<double>(plan.execution.size()) +
         std::max({byte * static_cast<double>(bytes), invocation * static_cast<double>(invocations),
                   picoseconds(costly) * static_cast<double>(elements)}) /
             1000;
}

double CostModel::chainNanoseconds(const Plan& plan, const Operation& op, uint32_t indexedAccesses) const {
  const Chain& program = op.as<Chain>();
  const double element = chain + step * static_cast<double>(program.steps.size()) +
                         load * static_cast<double>(program.loads.size()) + indexed * indexedAccesses +
                         function * program.functions + picoseconds(program.costly) + narrowed * program.narrowed;
  uint64_t bytes = 0;
  for (const Tensor& input : op.inputs()) bytes += input.totalBytes;
  for (const Tensor& output : op.outputs()) bytes += output.totalBytes;
  const CostlyFunctions& costly = program.costly;
  const double latency = stepLatency * static_cast<double>(program.steps.size()) +
                         functionLatency * (program.functions + costly.floats + costly.halves);
  return dispatch * static_cast<double>(plan.execution.size()) + latency +
         std::max(byte * static_cast<double>(bytes), element * static_cast<double>(op.output().elements)) / 1000;
}

}  // namespace dimple
