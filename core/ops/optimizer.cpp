// ADAM_OPTIMIZER.
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

Status checkAdam(const OpView& view) {
  const Tensor& step = view.input(4);
  for (uint32_t d = 0; d < step.rank; ++d)
    if (auto error = checkSize("TrainingStepTensor", step, d, 1)) return error;
  return {};
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

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(ADAM_OPTIMIZER, kAdamOptimizerFields, kAdamOptimizerRules, true, false, checkAdam, nullptr),
};

}  // namespace

std::span<const OpSchema> optimizerSchemas() { return kSchemas; }

}  // namespace dimple
