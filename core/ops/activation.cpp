// ACTIVATION_* operators on single elements.
#include "core/ops/elementwise.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

template <class S>
constexpr Field kAlphaFields[] = {DIMPLE_IN_AND_OUT(S), DIMPLE_ATTRIBUTE(S, Alpha, Float)};
template <class S>
constexpr Field kAlphaBetaFields[] = {DIMPLE_IN_AND_OUT(S), DIMPLE_ATTRIBUTE(S, Alpha, Float),
                                      DIMPLE_ATTRIBUTE(S, Beta, Float)};
template <class S>
constexpr Field kParameterizedReluFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, SlopeTensor),
                                              DIMPLE_OUTPUT(S, OutputTensor)};
template <class S>
constexpr Field kScaledEluFields[] = {DIMPLE_IN_AND_OUT(S), DIMPLE_ATTRIBUTE(S, Alpha, Float),
                                      DIMPLE_ATTRIBUTE(S, Gamma, Float)};
template <class S>
constexpr Field kSoftplusFields[] = {DIMPLE_IN_AND_OUT(S), DIMPLE_ATTRIBUTE(S, Steepness, Float)};
template <class S>
constexpr Field kShrinkFields[] = {DIMPLE_IN_AND_OUT(S), DIMPLE_ATTRIBUTE(S, Bias, Float),
                                   DIMPLE_ATTRIBUTE(S, Threshold, Float)};
template <class S>
constexpr Field kReluGradFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, InputGradientTensor),
                                     DIMPLE_OUTPUT(S, OutputGradientTensor)};
template <class S>
constexpr Field kSwishFields[] = {DIMPLE_IN_AND_OUT(S), DIMPLE_ATTRIBUTE(S, SigmoidInputScale, Float)};

constexpr TypeHistory kActivationTypes{{k1_0, kFloats, 4, 4}, {k2_0, kFloats, 4, 5}, {k3_0, kFloats}};
constexpr TypeHistory kParameterizedReluTypes{
    {k1_0, kFloats, 4, 4}, {k2_0, kFloats, 4, 5}, {k3_0, kFloats}, {k5_1, kSigned8To32 | kFloats}};
constexpr TypeHistory kShrinkTypes{{k2_0, kFloats, 4, 5}, {k3_0, kFloats}, {k5_1, kUpTo32}};
constexpr TypeHistory kCeluTypes{{k3_0, kFloats}};
constexpr TypeHistory kReluGradTypes{{k3_0, kFloats}, {k5_1, kSigned8To32 | kFloats}};
constexpr TypeHistory kGeluTypes{{k5_1, kFloats}};
constexpr TypeHistory kSwishTypes{{k6_2, kFloats}};

// Rows of functions of one tensor that other operators fuse. TYPES are those of both tensors.
#define DIMPLE_ACTIVATION_ROW(NAME, FIELDS, TYPES, ...)                                   \
  DIMPLE_ROW(NAME, FIELDS, .rules = kUnaryRules<TYPES>, .inPlace = true, .fusable = true, \
             .plan = planUnary __VA_OPT__(, ) __VA_ARGS__)

constexpr OpSchema kActivationSchemas[] = {
    DIMPLE_ACTIVATION_ROW(ACTIVATION_ELU, kAlphaFields, kActivationTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_HARD_SIGMOID, kAlphaBetaFields, kActivationTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_IDENTITY, kUnaryFields, kActivationTypes, .parts = partsOfIdentity),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_LEAKY_RELU, kAlphaFields, kActivationTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_LINEAR, kAlphaBetaFields, kActivationTypes),
    DIMPLE_ROW(ACTIVATION_PARAMETERIZED_RELU, kParameterizedReluFields, .rules = kBinaryRules<kParameterizedReluTypes>,
               .inPlace = true, .plan = planBinary),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_PARAMETRIC_SOFTPLUS, kAlphaBetaFields, kActivationTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_RELU, kUnaryFields, kParameterizedReluTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_SCALED_ELU, kScaledEluFields, kActivationTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_SCALED_TANH, kAlphaBetaFields, kActivationTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_SIGMOID, kUnaryFields, kActivationTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_SOFTPLUS, kSoftplusFields, kActivationTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_SOFTSIGN, kUnaryFields, kActivationTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_TANH, kUnaryFields, kActivationTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_THRESHOLDED_RELU, kAlphaFields, kActivationTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_SHRINK, kShrinkFields, kShrinkTypes),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_CELU, kAlphaFields, kCeluTypes),
    DIMPLE_ROW(ACTIVATION_RELU_GRAD, kReluGradFields, .rules = kBinaryRules<kReluGradTypes>, .plan = planBinary),
    DIMPLE_ACTIVATION_ROW(ACTIVATION_GELU, kUnaryFields, kGeluTypes),
    DIMPLE_ROW(ACTIVATION_SWISH, kSwishFields, .rules = kUnaryRules<kSwishTypes>, .fusable = true, .plan = planUnary),
    DIMPLE_ROW(ACTIVATION_HARD_SWISH, kAlphaBetaFields, .rules = kUnaryRules<kSwishTypes>, .fusable = true,
               .plan = planUnary),
};

}  // namespace

std::span<const OpSchema> activationSchemas() { return kActivationSchemas; }

}  // namespace dimple
