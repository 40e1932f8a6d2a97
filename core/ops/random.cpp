// RANDOM_GENERATOR.
#include "core/checked.h"
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

Status checkRandom(const OpView& view) {
  const Tensor& state = view.input(0);
  if (auto error = checkLeadingOnes("InputStateTensor", state, 1)) return error;
  return checkSize("InputStateTensor", state, state.rank - 1, 6);
}

Result<Plan> planRandom(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& state = view.input(0);
  const Tensor& y = view.output(0);
  const Tensor& newState = view.output(1);
  const Tensor* const operands[] = {&y};
  Walk walk = makeWalk(y.sizeSpan(), operands);
  walk.coalesce();
  const uint64_t count = walk.count();
  const uint64_t blocks = divideUp(count, 4);
  // Without a new state its binding repeats the output, which is not touched through it.
  BufferRange stateTarget = builder.output(newState.present() ? 1 : 0);
  stateTarget.writes = newState.present();
  if (auto error = builder.addItems(
          "philox", blocks,
          {static_cast<uint32_t>(count), static_cast<uint32_t>(blocks), walk.rank, state.strides[state.rank - 1],
           newState.present() ? newState.strides[newState.rank - 1] : 0, newState.present()},
          {builder.input(0), builder.output(0), stateTarget}, builder.parameters(walk)))
    return *error;
  return builder.finish();
}

template <class S>
constexpr Field kRandomGeneratorFields[] = {DIMPLE_INPUT(S, InputStateTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                            DIMPLE_OPTIONAL_OUTPUT(S, OutputStateTensor),
                                            DIMPLE_ENUM(S, Type, kRandomGeneratorTypes)};

constexpr TypeHistory kRandomGeneratorTypes{{k3_0, kUInt32, 4, 4}, {k4_0, kUInt32}};

constexpr TensorRule kRandomGeneratorRules[] = {
    {kRandomGeneratorTypes}, {kRandomGeneratorTypes}, {kRandomGeneratorTypes, sameSizes(0)}};

constexpr OpSchema kRandomSchemas[] = {
    DIMPLE_ROW(RANDOM_GENERATOR, kRandomGeneratorFields, kRandomGeneratorRules, false, false, checkRandom, planRandom),
};

}  // namespace

std::span<const OpSchema> randomSchemas() { return kRandomSchemas; }

}  // namespace dimple
