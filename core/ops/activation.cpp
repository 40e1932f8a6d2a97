// ACTIVATION_* operators on single elements.
#include "core/ops/elementwise.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

template <class S>
constexpr Field kAlphaFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                  DIMPLE_ATTRIBUTE(S, Alpha, Float)};
template <class S>
constexpr Field kAlphaBetaFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ATTRIBUTE(S, Alpha, Float), DIMPLE_ATTRIBUTE(S, Beta, Float)};
template <class S>
constexpr Field kParameterizedReluFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, SlopeTensor),
                                              DIMPLE_OUTPUT(S, OutputTensor)};
template <class S>
constexpr Field kScaledEluFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ATTRIBUTE(S, Alpha, Float), DIMPLE_ATTRIBUTE(S, Gamma, Float)};
template <class S>
constexpr Field kSoftplusFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                     DIMPLE_ATTRIBUTE(S, Steepness, Float)};
template <class S>
constexpr Field kShrinkFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                   DIMPLE_ATTRIBUTE(S, Bias, Float), DIMPLE_ATTRIBUTE(S, Threshold, Float)};
template <class S>
constexpr Field kReluGradFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, InputGradientTensor),
                                     DIMPLE_OUTPUT(S, OutputGradientTensor)};
template <class S>
constexpr Field kSwishFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                  DIMPLE_ATTRIBUTE(S, SigmoidInputScale, Float)};

constexpr TypeHistory kActivationTypes{{k1_0, kFloats, 4, 4}, {k2_0, kFloats, 4, 5}, {k3_0, kFloats}};
constexpr TypeHistory kParameterizedReluTypes{
    {k1_0, kFloats, 4, 4}, {k2_0, kFloats, 4, 5}, {k3_0, kFloats}, {k5_1, kSigned8To32 | kFloats}};
constexpr TypeHistory kShrinkTypes{{k2_0, kFloats, 4, 5}, {k3_0, kFloats}, {k5_1, kUpTo32}};
constexpr TypeHistory kCeluTypes{{k3_0, kFloats}};
constexpr TypeHistory kReluGradTypes{{k3_0, kFloats}, {k5_1, kSigned8To32 | kFloats}};
constexpr TypeHistory kGeluTypes{{k5_1, kFloats}};
constexpr TypeHistory kSwishTypes{{k6_2, kFloats}};

constexpr TensorRule kActivationRules[] = {{kActivationTypes}, {kActivationTypes, like(0)}};
constexpr TensorRule kParameterizedReluRules[] = {
    {kParameterizedReluTypes}, {kParameterizedReluTypes, like(0)}, {kParameterizedReluTypes, like(0)}};
constexpr TensorRule kReluRules[] = {{kParameterizedReluTypes}, {kParameterizedReluTypes, like(0)}};
constexpr TensorRule kShrinkRules[] = {{kShrinkTypes}, {kShrinkTypes, like(0)}};
constexpr TensorRule kCeluRules[] = {{kCeluTypes}, {kCeluTypes, like(0)}};
constexpr TensorRule kReluGradRules[] = {{kReluGradTypes}, {kReluGradTypes, like(0)}, {kReluGradTypes, like(0)}};
constexpr TensorRule kGeluRules[] = {{kGeluTypes}, {kGeluTypes, like(0)}};
constexpr TensorRule kSwishRules[] = {{kSwishTypes}, {kSwishTypes, like(0)}};

constexpr OpSchema kActivationSchemas[] = {
    DIMPLE_ROW(ACTIVATION_ELU, kAlphaFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_HARD_SIGMOID, kAlphaBetaFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_IDENTITY, kUnaryFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary, .parts = partsOfIdentity),
    DIMPLE_ROW(ACTIVATION_LEAKY_RELU, kAlphaFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_LINEAR, kAlphaBetaFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_PARAMETERIZED_RELU, kParameterizedReluFields, .rules = kParameterizedReluRules,
               .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ACTIVATION_PARAMETRIC_SOFTPLUS, kAlphaBetaFields, .rules = kActivationRules, .inPlace = true,
               .fusable = true, .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_RELU, kUnaryFields, .rules = kReluRules, .inPlace = true, .fusable = true, .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_SCALED_ELU, kScaledEluFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_SCALED_TANH, kAlphaBetaFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_SIGMOID, kUnaryFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_SOFTPLUS, kSoftplusFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_SOFTSIGN, kUnaryFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_TANH, kUnaryFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_THRESHOLDED_RELU, kAlphaFields, .rules = kActivationRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_SHRINK, kShrinkFields, .rules = kShrinkRules, .inPlace = true, .fusable = true,
               .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_CELU, kAlphaFields, .rules = kCeluRules, .inPlace = true, .fusable = true, .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_RELU_GRAD, kReluGradFields, .rules = kReluGradRules, .plan = planBinary),
    DIMPLE_ROW(ACTIVATION_GELU, kUnaryFields, .rules = kGeluRules, .inPlace = true, .fusable = true, .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_SWISH, kSwishFields, .rules = kSwishRules, .fusable = true, .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_HARD_SWISH, kAlphaBetaFields, .rules = kSwishRules, .fusable = true, .plan = planUnary),
};

}  // namespace

std::span<const OpSchema> activationSchemas() { return kActivationSchemas; }

}  // namespace dimple
