// CAST.
#include "core/ops/copy.h"
#include "core/ops/families.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

Result<Plan> planCast(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  const Tensor* operands[] = {&x, &y};
  Walk walk = makeWalk(y.sizeSpan(), operands);
  if (x.type == y.type) {
    if (auto error = addCopy(builder, x.type, walk, builder.input(0), builder.output())) return *error;
    return builder.finish();
  }
  walk.sortBy(1);
  walk.coalesce();
  if (auto error = builder.addItems(
          typedKernel("cast", y.type, caps), y.elements, {static_cast<uint32_t>(y.elements), walk.rank},
          {builder.input(0), builder.output()}, builder.parameters(walk), {{0, static_cast<uint32_t>(x.type)}}))
    return *error;
  return builder.finish();
}

template <class S>
constexpr Field kCastFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor)};

constexpr TypeHistory kCastTypes{
    {k1_0, kFloats | kInts8 | kInt16 | kUInt16, 4, 4}, {k3_0, kNumbers, 4, 4}, {k3_1, kNumbers}, {k4_1, kAllTypes}};

constexpr TensorRule kCastRules[] = {{kCastTypes}, {kCastTypes, sameSizes(0)}};

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(CAST, kCastFields, kCastRules, false, false, nullptr, planCast),
};

}  // namespace

std::span<const OpSchema> castSchemas() { return kSchemas; }

}  // namespace dimple
