// ADAM_OPTIMIZER.
#include <cmath>

#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/adam.h"

namespace dimple {
namespace {

Status checkAdam(const Operation& op) {
  const Tensor& step = op.input(4);
  for (uint32_t d = 0; d < step.rank; ++d) TRY(checkSize("TrainingStepTensor", step, d, 1));
  return {};
}

Status planAdam(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<DML_ADAM_OPTIMIZER_OPERATOR_DESC>();
  const Tensor& x = op.input(0);
  Walk from = makeWalk(x.sizeSpan(), {&x, &op.input(1), &op.input(2), &op.input(3)});
  Walk to = makeWalk(x.sizeSpan(), {&op.output(0), &op.output(1), &op.output(2)});
  from.coalesce();
  to.coalesce();
  const double beta1 = double{desc.Beta1};
  const double beta2 = double{desc.Beta2};
  const uint32_t number = vectorElements(x.type);
  const auto fromVectors = from.inVectors(number, 0b1111);
  const auto toVectors = to.inVectors(number, 0b0111);
  const bool vectors = fromVectors && toVectors;
  if (vectors) {
    from = *fromVectors;
    to = *toVectors;
  }
  using Form = kernels::Adam::Form;
  return builder.addItems(
      kernels::Adam{.form = vectors ? Form::Vectors : Form::Strided,
                    .type = vectors ? KernelElement(kernelType(x.type)) : builder.typedElement(x.type),
                    .push = {.walk = walkWords(from),
                             .outputRank = to.rank,
                             .outputsAt = from.vectors(),
                             .rate = floatBits(desc.LearningRate),
                             .epsilon = floatBits(desc.Epsilon),
                             .beta1 = floatBits(beta1),
                             .rest1 = floatBits(1 - beta1),
                             .log1 = floatBits(std::log(std::fabs(beta1))),
                             .beta2 = floatBits(beta2),
                             .rest2 = floatBits(1 - beta2),
                             .log2 = floatBits(std::log(std::fabs(beta2)))},
                    .x = builder.input(0),
                    .first = builder.input(1),
                    .second = builder.input(2),
                    .gradient = builder.input(3),
                    .step = builder.input(4),
                    .newX = builder.output(0),
                    .newFirst = builder.output(1),
                    .newSecond = builder.output(2)},
      from.count(), builder.parameters(from, to), vectors ? number : 1);
}

DIMPLE_FIELDS(kAdamOptimizerFields,
              DIMPLE_INPUT(InputParametersTensor, InputFirstMomentTensor, InputSecondMomentTensor, GradientTensor,
                           TrainingStepTensor),
              DIMPLE_OUTPUT(OutputParametersTensor, OutputFirstMomentTensor, OutputSecondMomentTensor),
              DIMPLE_FLOAT(LearningRate, Beta1, Beta2, Epsilon));

// The page says that tensors have 4 dimensions, but DirectML 1.15.4 takes any number.
constexpr TypeHistory kAdamOptimizerTypes{{k3_0, kFloats}};

constexpr TensorRule kParameters{kAdamOptimizerTypes};
constexpr TensorRule kLikeThem{kAdamOptimizerTypes, like(0)};
constexpr TensorRule kStep{{{k3_0, kUInt32}}};
constexpr TensorRule kAdamOptimizerRules[] = {kParameters, kLikeThem, kLikeThem, kLikeThem,
                                              kStep,       kLikeThem, kLikeThem, kLikeThem};

constexpr OpSchema kOptimizerSchemas[] = {
    DIMPLE_ROW(ADAM_OPTIMIZER, kAdamOptimizerFields, .rules = kAdamOptimizerRules, .inPlace = true, .check = checkAdam,
               .plan = planAdam),
};

}  // namespace

std::span<const OpSchema> optimizerSchemas() { return kOptimizerSchemas; }

}  // namespace dimple
