// CAST.
#include "core/ops/chain.h"
#include "core/ops/copy.h"
#include "core/ops/families.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

std::vector<MovedPart> partsOfCast(const OpView& view) {
  if (view.input(0).type != view.output().type) return {};
  return {wholePart(view)};
}

Result<Plan> planCast(const OpView& view, const Caps& caps) {
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  if (x.type == y.type) return planParts<partsOfCast>(view, caps);
  PlanBuilder builder(view, caps);
  const Tensor* operands[] = {&x, &y};
  Walk walk = makeWalk(y.sizeSpan(), operands);
  walk.sortBy(1);
  walk.coalesce();
  const WalkOperand ranges[] = {builder.inputOperand(0), builder.outputOperand()};
  const auto add = [&](const Walk& part, const std::vector<BufferRange>& buffers) {
    const uint64_t count = part.count();
    return builder.addItems(typedKernel("cast", y.type, caps), count, {static_cast<uint32_t>(count), part.rank},
                            buffers, builder.parameters(part), {{0, static_cast<uint32_t>(x.type)}});
  };
  if (auto error = builder.addWindows(walk, ranges, add)) return *error;
  return builder.finish();
}

template <class S>
constexpr Field kCastFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor)};

constexpr TypeHistory kCastTypes{
    {k1_0, kFloats | kInts8 | kInt16 | kUInt16, 4, 4}, {k3_0, kNumbers, 4, 4}, {k3_1, kNumbers}, {k4_1, kAllTypes}};

constexpr TensorRule kCastRules[] = {{kCastTypes}, {kCastTypes, sameSizes(0)}};

constexpr OpSchema kCastSchemas[] = {
    DIMPLE_ROW(CAST, kCastFields, kCastRules, false, false, nullptr, planCast, {}, partsOfCast),
};

}  // namespace

std::span<const OpSchema> castSchemas() { return kCastSchemas; }

std::vector<ElementStep> castSteps(const OpView& view) {
  if (view.schema().plan != planCast) return {};
  return {{.kind = StepKind::Cast, .from = view.input(0).type, .to = view.output().type}};
}

}  // namespace dimple
