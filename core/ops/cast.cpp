// CAST.
#include "kernels/interfaces/cast.h"

#include "core/ops/chain.h"
#include "core/ops/copy.h"
#include "core/ops/elementwise.h"
#include "core/ops/table.h"
#include "kernels/interfaces/cast_vectors.h"

namespace dimple {
namespace {

std::vector<MovedPart> partsOfCast(const Operation& op) {
  if (op.input(0).type != op.output().type) return {};
  return {wholePart(op)};
}

Status planCast(const Operation& op, PlanBuilder& builder) {
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  if (x.type == y.type) return planParts(op, builder);
  const auto call = [&](const ElementPart& part) -> KernelCall {
    using kernels::CastVectors;
    if (part.packed || part.blocks)
      return CastVectors{.form = part.packed ? CastVectors::Form::Rows : CastVectors::Form::Turned,
                         .push = {.walk = part.walk,
                                  .xStep = part.packed ? 0 : part.blocks->steps[0],
                                  .yStep = part.packed ? 0 : part.blocks->steps[1]},
                         .spec = {.from = typeWord(x.type), .to = typeWord(y.type)},
                         .x = part.buffers[0],
                         .y = part.buffers[1]};
    return kernels::Cast{.type = builder.typedElement(y.type),
                         .push = {.walk = part.walk},
                         .spec = {.source = x.type},
                         .x = part.buffers[0],
                         .y = part.buffers[1]};
  };
  const bool hasVectors = bitWidth(x.type) >= 8 && bitWidth(y.type) >= 8;
  return planElements(
      op, builder, {0}, hasVectors ? convertedElements(builder.target(), {x.type}, y.type) : 0, call,
      {.orRows = true, .orBlocks = hasVectors && bitWidth(x.type) <= 32 && bitWidth(y.type) <= 32, .whole = true});
}

constexpr TypeHistory kCastTypes{
    {k1_0, kFloats | kInts8 | kInt16 | kUInt16, 4, 4}, {k3_0, kNumbers, 4, 4}, {k3_1, kNumbers}, {k4_1, kAllTypes}};

constexpr TensorRule kCastRules[] = {{kCastTypes}, {kCastTypes, sameSizes(0)}};

constexpr OpSchema kCastSchemas[] = {
    DIMPLE_ROW(CAST, kUnaryFields, .rules = kCastRules, .plan = planCast, .parts = partsOfCast),
};

}  // namespace

std::span<const OpSchema> castSchemas() { return kCastSchemas; }

std::vector<ElementStep> castSteps(const Operation& op) {
  if (op.schema().plan != planCast) return {};
  return {{.kind = StepKind::Cast, .from = op.input(0).type, .to = op.output().type}};
}

}  // namespace dimple
