// Normalization and its gradients.
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

// Each input after the first `count` may be broadcast to the first.
Status checkParameters(const OpView& view, size_t count) {
  for (size_t i = count; i < view.inputs().size(); ++i)
    if (auto error = checkBroadcast(view.inputName(i), view.input(i), view.inputName(0), view.input(0))) return error;
  return {};
}

Status checkNormalization(const OpView& view) { return checkParameters(view, 1); }
Status checkNormalizationGrad(const OpView& view) { return checkParameters(view, 2); }

// FusedAddTensor has relations of its own.
Status checkTraining(const OpView& view) {
  return checkBroadcast("ScaleTensor", view.input(1), "InputTensor", view.input(0));
}

template <class S>
Status checkLocalResponse(const OpView& view) {
  return checkAtLeast("LocalSize", view.as<S>().LocalSize, 1);
}

Status checkLp(const OpView& view) {
  const auto& desc = view.as<DML_LP_NORMALIZATION_OPERATOR_DESC>();
  if (auto error = checkAtMost("Axis", desc.Axis, view.input(0).rank - 1)) return error;
  if (desc.P != 1 && desc.P != 2) return invalid(cat("P has value (", desc.P, "), expected 1 or 2."));
  return {};
}

template <class S>
Status checkMeanVariance(const OpView& view) {
  const auto& desc = view.as<S>();
  if (auto error = checkAxes({desc.Axes, desc.AxisCount}, view.input(0).rank)) return error;
  return checkParameters(view, 1);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

template <class S>
constexpr Field kBatchNormalizationFields[] = {DIMPLE_INPUT(S, InputTensor),
                                               DIMPLE_INPUT(S, MeanTensor),
                                               DIMPLE_INPUT(S, VarianceTensor),
                                               DIMPLE_INPUT(S, ScaleTensor),
                                               DIMPLE_INPUT(S, BiasTensor),
                                               DIMPLE_OUTPUT(S, OutputTensor),
                                               DIMPLE_ATTRIBUTE(S, Spatial, Bool),
                                               DIMPLE_ATTRIBUTE(S, Epsilon, Float),
                                               DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kMeanVarianceNormalizationFields[] = {DIMPLE_INPUT(S, InputTensor),
                                                      DIMPLE_OPTIONAL_INPUT(S, ScaleTensor),
                                                      DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                                      DIMPLE_OUTPUT(S, OutputTensor),
                                                      DIMPLE_ATTRIBUTE(S, CrossChannel, Bool),
                                                      DIMPLE_ATTRIBUTE(S, NormalizeVariance, Bool),
                                                      DIMPLE_ATTRIBUTE(S, Epsilon, Float),
                                                      DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kLocalResponseNormalizationFields[] = {
    DIMPLE_INPUT(S, InputTensor),         DIMPLE_OUTPUT(S, OutputTensor),    DIMPLE_ATTRIBUTE(S, CrossChannel, Bool),
    DIMPLE_ATTRIBUTE(S, LocalSize, UInt), DIMPLE_ATTRIBUTE(S, Alpha, Float), DIMPLE_ATTRIBUTE(S, Beta, Float),
    DIMPLE_ATTRIBUTE(S, Bias, Float)};
template <class S>
constexpr Field kLpNormalizationFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                            DIMPLE_ATTRIBUTE(S, Axis, UInt), DIMPLE_ATTRIBUTE(S, Epsilon, Float),
                                            DIMPLE_ATTRIBUTE(S, P, UInt)};
template <class S>
constexpr Field kMeanVarianceNormalization1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, ScaleTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                                       DIMPLE_OUTPUT(S, OutputTensor),
                                                       DIMPLE_ATTRIBUTE(S, AxisCount, UInt),
                                                       DIMPLE_ARRAY(S, Axes, UIntArray, 4),
                                                       DIMPLE_ATTRIBUTE(S, NormalizeVariance, Bool),
                                                       DIMPLE_ATTRIBUTE(S, Epsilon, Float),
                                                       DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kLocalResponseNormalizationGradFields[] = {
    DIMPLE_INPUT(S, InputTensor),           DIMPLE_INPUT(S, InputGradientTensor),
    DIMPLE_OUTPUT(S, OutputGradientTensor), DIMPLE_ATTRIBUTE(S, CrossChannel, Bool),
    DIMPLE_ATTRIBUTE(S, LocalSize, UInt),   DIMPLE_ATTRIBUTE(S, Alpha, Float),
    DIMPLE_ATTRIBUTE(S, Beta, Float),       DIMPLE_ATTRIBUTE(S, Bias, Float)};
template <class S>
constexpr Field kBatchNormalizationGradFields[] = {DIMPLE_INPUT(S, InputTensor),
                                                   DIMPLE_INPUT(S, InputGradientTensor),
                                                   DIMPLE_INPUT(S, MeanTensor),
                                                   DIMPLE_INPUT(S, VarianceTensor),
                                                   DIMPLE_INPUT(S, ScaleTensor),
                                                   DIMPLE_OUTPUT(S, OutputGradientTensor),
                                                   DIMPLE_OUTPUT(S, OutputScaleGradientTensor),
                                                   DIMPLE_OUTPUT(S, OutputBiasGradientTensor),
                                                   DIMPLE_ATTRIBUTE(S, Epsilon, Float)};
template <class S>
constexpr Field kBatchNormalizationTrainingFields[] = {DIMPLE_INPUT(S, InputTensor),
                                                       DIMPLE_INPUT(S, ScaleTensor),
                                                       DIMPLE_INPUT(S, BiasTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, FusedAddTensor),
                                                       DIMPLE_OUTPUT(S, OutputTensor),
                                                       DIMPLE_OUTPUT(S, OutputMeanTensor),
                                                       DIMPLE_OUTPUT(S, OutputVarianceTensor),
                                                       DIMPLE_ATTRIBUTE(S, Epsilon, Float),
                                                       DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kMeanVarianceNormalization2Fields[] = {
    DIMPLE_INPUT(S, InputTensor),         DIMPLE_OPTIONAL_INPUT(S, ScaleTensor),
    DIMPLE_OPTIONAL_INPUT(S, BiasTensor), DIMPLE_OUTPUT(S, OutputTensor),
    DIMPLE_ATTRIBUTE(S, AxisCount, UInt), DIMPLE_ARRAY(S, Axes, UIntArray, 4),
    DIMPLE_ATTRIBUTE(S, UseMean, Bool),   DIMPLE_ATTRIBUTE(S, UseVariance, Bool),
    DIMPLE_ATTRIBUTE(S, Epsilon, Float),  DIMPLE_OPTIONAL(S, FusedActivation, Operator)};

constexpr TypeHistory kBatchNormalizationTypes{{k1_0, kFloats, 4, 4}, {k3_1, kFloats}};
constexpr TypeHistory kMeanVarianceNormalizationTypes{{k1_0, kFloats, 4, 4}};
constexpr TypeHistory kMeanVarianceNormalization1Types{{k2_1, kFloats, 4, 4}, {k3_1, kFloats}};
constexpr TypeHistory kLocalResponseNormalizationGradTypes{{k3_1, kFloats, 4, 4}};
constexpr TypeHistory kBatchNormalizationGradTypes{{k3_1, kFloats}};
constexpr TypeHistory kBatchNormalizationTrainingTypes{{k4_1, kFloats}};
constexpr TypeHistory kMeanVarianceNormalization2Types{{k6_3, kFloats}};

constexpr TensorRule kBatchNormalizationRules[] = {{kBatchNormalizationTypes},
                                                   {kBatchNormalizationTypes, sameTypeAndRank(0)},
                                                   {kBatchNormalizationTypes, sameTypeAndRank(0)},
                                                   {kBatchNormalizationTypes, sameTypeAndRank(0)},
                                                   {kBatchNormalizationTypes, sameTypeAndRank(0)},
                                                   {kBatchNormalizationTypes, like(0)}};
constexpr TensorRule kMeanVarianceNormalizationRules[] = {{kMeanVarianceNormalizationTypes},
                                                          {kMeanVarianceNormalizationTypes, sameType(0)},
                                                          {kMeanVarianceNormalizationTypes, sameType(0)},
                                                          {kMeanVarianceNormalizationTypes, {0, -1, 0}}};
constexpr TensorRule kLocalResponseNormalizationRules[] = {{kMeanVarianceNormalizationTypes},
                                                           {kMeanVarianceNormalizationTypes, {0, -1, 0}}};
constexpr TensorRule kLpNormalizationRules[] = {{kBatchNormalizationTypes}, {kBatchNormalizationTypes, like(0)}};
constexpr TensorRule kMeanVarianceNormalization1Rules[] = {{kMeanVarianceNormalization1Types},
                                                           {kMeanVarianceNormalization1Types, sameTypeAndRank(0)},
                                                           {kMeanVarianceNormalization1Types, sameTypeAndRank(0)},
                                                           {kMeanVarianceNormalization1Types, like(0)}};
constexpr TensorRule kLocalResponseNormalizationGradRules[] = {{kLocalResponseNormalizationGradTypes},
                                                               {kLocalResponseNormalizationGradTypes, {0, -1, 0}},
                                                               {kLocalResponseNormalizationGradTypes, {0, -1, 0}}};
constexpr TensorRule kBatchNormalizationGradRules[] = {{kBatchNormalizationGradTypes},
                                                       {kBatchNormalizationGradTypes, like(0)},
                                                       {kBatchNormalizationGradTypes, sameTypeAndRank(0)},
                                                       {kBatchNormalizationGradTypes, like(2)},
                                                       {kBatchNormalizationGradTypes, like(2)},
                                                       {kBatchNormalizationGradTypes, like(0)},
                                                       {kBatchNormalizationGradTypes, like(2)},
                                                       {kBatchNormalizationGradTypes, like(2)}};
constexpr TensorRule kBatchNormalizationTrainingRules[] = {
    {kBatchNormalizationTrainingTypes},          {kBatchNormalizationTrainingTypes, sameTypeAndRank(0)},
    {kBatchNormalizationTrainingTypes, like(1)}, {kBatchNormalizationTrainingTypes, like(0)},
    {kBatchNormalizationTrainingTypes, like(0)}, {kBatchNormalizationTrainingTypes, like(1)},
    {kBatchNormalizationTrainingTypes, like(1)}};
constexpr TensorRule kBatchNormalizationTrainingGradRules[] = {{kBatchNormalizationTrainingTypes},
                                                               {kBatchNormalizationTrainingTypes, like(0)},
                                                               {kBatchNormalizationTrainingTypes, sameTypeAndRank(0)},
                                                               {kBatchNormalizationTrainingTypes, like(2)},
                                                               {kBatchNormalizationTrainingTypes, like(2)},
                                                               {kBatchNormalizationTrainingTypes, like(0)},
                                                               {kBatchNormalizationTrainingTypes, like(2)},
                                                               {kBatchNormalizationTrainingTypes, like(2)}};
constexpr TensorRule kMeanVarianceNormalization2Rules[] = {{kMeanVarianceNormalization2Types},
                                                           {kMeanVarianceNormalization2Types, sameTypeAndRank(0)},
                                                           {kMeanVarianceNormalization2Types, sameTypeAndRank(0)},
                                                           {kMeanVarianceNormalization2Types, like(0)}};

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(BATCH_NORMALIZATION, kBatchNormalizationFields, kBatchNormalizationRules, false, false,
               checkNormalization, nullptr),
    DIMPLE_ROW(MEAN_VARIANCE_NORMALIZATION, kMeanVarianceNormalizationFields, kMeanVarianceNormalizationRules, false,
               false, checkNormalization, nullptr),
    DIMPLE_ROW(LOCAL_RESPONSE_NORMALIZATION, kLocalResponseNormalizationFields, kLocalResponseNormalizationRules, false,
               false, checkLocalResponse<DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(LP_NORMALIZATION, kLpNormalizationFields, kLpNormalizationRules, false, false, checkLp, nullptr),
    DIMPLE_ROW(MEAN_VARIANCE_NORMALIZATION1, kMeanVarianceNormalization1Fields, kMeanVarianceNormalization1Rules, false,
               false, checkMeanVariance<DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(LOCAL_RESPONSE_NORMALIZATION_GRAD, kLocalResponseNormalizationGradFields,
               kLocalResponseNormalizationGradRules, false, false,
               checkLocalResponse<DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(BATCH_NORMALIZATION_GRAD, kBatchNormalizationGradFields, kBatchNormalizationGradRules, false, false,
               checkNormalizationGrad, nullptr),
    DIMPLE_ROW(BATCH_NORMALIZATION_TRAINING, kBatchNormalizationTrainingFields, kBatchNormalizationTrainingRules, false,
               false, checkTraining, nullptr),
    DIMPLE_ROW(BATCH_NORMALIZATION_TRAINING_GRAD, kBatchNormalizationGradFields, kBatchNormalizationTrainingGradRules,
               false, false, checkNormalizationGrad, nullptr),
    DIMPLE_ROW(MEAN_VARIANCE_NORMALIZATION2, kMeanVarianceNormalization2Fields, kMeanVarianceNormalization2Rules, false,
               false, checkMeanVariance<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>, nullptr),
};

}  // namespace

std::span<const OpSchema> normalizationSchemas() { return kSchemas; }

}  // namespace dimple
