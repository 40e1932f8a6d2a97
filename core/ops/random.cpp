// RANDOM_GENERATOR.
#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/philox.h"

namespace dimple {
namespace {

Status checkRandom(const Operation& op) {
  const Tensor& state = op.input(0);
  TRY(checkLeadingOnes("InputStateTensor", state, 1));
  return checkSize("InputStateTensor", state, state.rank - 1, 6);
}

Status planRandom(const Operation& op, PlanBuilder& builder) {
  const Tensor& state = op.input(0);
  const Tensor& y = op.output(0);
  const Tensor& newState = op.output(1);
  const Walk walk = makeWalk(y.sizeSpan(), {&y}).coalesce();
  const uint64_t count = walk.count();
  const uint64_t blocks = divideUp(count, 4);
  const bool hasNewState = newState.present();
  return builder.addItems(
      kernels::Philox{.push = {.count = static_cast<uint32_t>(count),
                               .blocks = static_cast<uint32_t>(blocks),
                               .rank = walk.rank,
                               .stateStep = state.strides[state.rank - 1],
                               .newStateStep = hasNewState ? newState.strides[newState.rank - 1] : 0,
                               .hasNewState = hasNewState},
                      .state = builder.input(0),
                      .y = builder.output(0),
                      // Without a new state, its binding repeats the output, which the kernel does not access through
                      // it.
                      .newState = hasNewState ? kernels::WriteBuffer(builder.output(1))
                                              : kernels::WriteBuffer::unwritten(builder.output(0))},
      blocks, builder.parameters(walk), 1);
}

DIMPLE_FIELDS(kRandomGeneratorFields, DIMPLE_INPUT(InputStateTensor), DIMPLE_OUTPUT(OutputTensor),
              DIMPLE_OPTIONAL_OUTPUT(OutputStateTensor), DIMPLE_ENUM(Type, kRandomGeneratorTypes));

constexpr TypeHistory kRandomGeneratorTypes{{k3_0, kUInt32, 4, 4}, {k4_0, kUInt32}};

constexpr TensorRule kRandomGeneratorRules[] = {
    {kRandomGeneratorTypes}, {kRandomGeneratorTypes}, {kRandomGeneratorTypes, sameSizes(0)}};

constexpr OpSchema kRandomSchemas[] = {
    DIMPLE_ROW(RANDOM_GENERATOR, kRandomGeneratorFields, .rules = kRandomGeneratorRules, .check = checkRandom,
               .plan = planRandom),
};

}  // namespace

std::span<const OpSchema> randomSchemas() { return kRandomSchemas; }

}  // namespace dimple
