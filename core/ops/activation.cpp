// ACTIVATION_* operators on single elements.
#include "core/ops/elementwise.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

DIMPLE_FIELDS(kAlphaFields, DIMPLE_IN_AND_OUT, DIMPLE_FLOAT(Alpha));
DIMPLE_FIELDS(kAlphaBetaFields, DIMPLE_IN_AND_OUT, DIMPLE_FLOAT(Alpha, Beta));
DIMPLE_FIELDS(kParameterizedReluFields, DIMPLE_INPUT(InputTensor, SlopeTensor), DIMPLE_OUTPUT(OutputTensor));
DIMPLE_FIELDS(kScaledEluFields, DIMPLE_IN_AND_OUT, DIMPLE_FLOAT(Alpha, Gamma));
DIMPLE_FIELDS(kSoftplusFields, DIMPLE_IN_AND_OUT, DIMPLE_FLOAT(Steepness));
DIMPLE_FIELDS(kShrinkFields, DIMPLE_IN_AND_OUT, DIMPLE_FLOAT(Bias, Threshold));
DIMPLE_FIELDS(kReluGradFields, DIMPLE_OF_GRADIENT);
DIMPLE_FIELDS(kSwishFields, DIMPLE_IN_AND_OUT, DIMPLE_FLOAT(SigmoidInputScale));

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
