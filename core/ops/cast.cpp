// CAST.
#include "core/ops/copy.h"
#include "core/ops/families.h"
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

using CastDesc = DML_CAST_OPERATOR_DESC;
constexpr Field kFields[] = {DIMPLE_INPUT(CastDesc, InputTensor), DIMPLE_OUTPUT(CastDesc, OutputTensor)};
constexpr TensorRule kRules[] = {{kAllTypes}, {kAllTypes, 1, 8, -1, 0, 0}};
constexpr Level kLevels[] = {{DML_FEATURE_LEVEL_4_1, kRules}};
constexpr OpSchema kSchemas[] = {
    {DML_OPERATOR_CAST, "CAST", sizeof(CastDesc), kFields, kLevels, false, false, nullptr, planCast},
};

}  // namespace

std::span<const OpSchema> castSchemas() { return kSchemas; }

}  // namespace dimple
