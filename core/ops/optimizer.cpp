// ADAM_OPTIMIZER.
#include <cmath>
#include <vector>

#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

Status checkAdam(const OpView& view) {
  const Tensor& step = view.input(4);
  for (uint32_t d = 0; d < step.rank; ++d)
    if (auto error = checkSize("TrainingStepTensor", step, d, 1)) return error;
  return {};
}

Result<Plan> planAdam(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const auto& desc = view.as<DML_ADAM_OPTIMIZER_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  const Tensor* inputs[] = {&x, &view.input(1), &view.input(2), &view.input(3)};
  const Tensor* outputs[] = {&view.output(0), &view.output(1), &view.output(2)};
  Walk from = makeWalk(x.sizeSpan(), inputs);
  Walk to = makeWalk(x.sizeSpan(), outputs);
  from.coalesce();
  to.coalesce();
  std::vector<uint32_t> words;
  appendWalk(words, from);
  const auto outputsAt = static_cast<uint32_t>(words.size() / 4);
  appendWalk(words, to);
  const double beta1 = double{desc.Beta1};
  const double beta2 = double{desc.Beta2};
  const auto count = static_cast<uint32_t>(x.elements);
  std::vector<BufferRange> buffers;
  for (size_t i = 0; i < 5; ++i) buffers.push_back(builder.input(i));
  for (size_t i = 0; i < 3; ++i) buffers.push_back(builder.output(i));
  if (auto error = builder.addItems(
          typedKernel("adam", x.type, caps), count,
          {count, from.rank, to.rank, outputsAt, floatBits(double{desc.LearningRate}), floatBits(double{desc.Epsilon}),
           floatBits(beta1), floatBits(1 - beta1), floatBits(std::log(std::fabs(beta1))), floatBits(beta2),
           floatBits(1 - beta2), floatBits(std::log(std::fabs(beta2)))},
          std::move(buffers), builder.parameters(words)))
    return *error;
  return builder.finish();
}

template <class S>
constexpr Field kAdamOptimizerFields[] = {
    DIMPLE_INPUT(S, InputParametersTensor),    DIMPLE_INPUT(S, InputFirstMomentTensor),
    DIMPLE_INPUT(S, InputSecondMomentTensor),  DIMPLE_INPUT(S, GradientTensor),
    DIMPLE_INPUT(S, TrainingStepTensor),       DIMPLE_OUTPUT(S, OutputParametersTensor),
    DIMPLE_OUTPUT(S, OutputFirstMomentTensor), DIMPLE_OUTPUT(S, OutputSecondMomentTensor),
    DIMPLE_ATTRIBUTE(S, LearningRate, Float),  DIMPLE_ATTRIBUTE(S, Beta1, Float),
    DIMPLE_ATTRIBUTE(S, Beta2, Float),         DIMPLE_ATTRIBUTE(S, Epsilon, Float)};

// The page says 4 dimensions; DirectML 1.15.4 takes any number.
constexpr TypeHistory kAdamOptimizerTypes{{k3_0, kFloats}};

constexpr TensorRule kAdamOptimizerRules[] = {{kAdamOptimizerTypes},
                                              {kAdamOptimizerTypes, like(0)},
                                              {kAdamOptimizerTypes, like(0)},
                                              {kAdamOptimizerTypes, like(0)},
                                              {{{k3_0, kUInt32}}},
                                              {kAdamOptimizerTypes, like(0)},
                                              {kAdamOptimizerTypes, like(0)},
                                              {kAdamOptimizerTypes, like(0)}};

constexpr OpSchema kOptimizerSchemas[] = {
    DIMPLE_ROW(ADAM_OPTIMIZER, kAdamOptimizerFields, kAdamOptimizerRules, true, false, checkAdam, planAdam),
};

}  // namespace

std::span<const OpSchema> optimizerSchemas() { return kOptimizerSchemas; }

}  // namespace dimple
