// The table of ELEMENT_WISE_* operators.
#include "core/operation.h"
#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

// 64-bit types take no scale and bias but the identity.
Status checkScaleBias(const Operation& op) {
  const DML_SCALE_BIAS* scale = scaleBias(op);
  if (!scale || byteWidth(op.input(0).type) < 8) return {};
  return invalid(cat("ScaleBias has Scale (", std::to_string(scale->Scale), ") and Bias (", std::to_string(scale->Bias),
                     "), expected 1 and 0 for DataType ", dataTypeName(op.input(0).type), "."));
}

Status checkMinMaxType(const Operation& op) {
  return checkValueType("MinMaxDataType", op.as<DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC>().MinMaxDataType,
                        "InputTensor", op.input(0));
}

template <class S>
constexpr Field kScaledFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                   DIMPLE_OPTIONAL(S, ScaleBias, ScaleBias)};
template <class S>
constexpr Field kBinaryFields[] = {DIMPLE_INPUT(S, ATensor), DIMPLE_INPUT(S, BTensor), DIMPLE_OUTPUT(S, OutputTensor)};
template <class S>
constexpr Field kClipFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                 DIMPLE_OPTIONAL(S, ScaleBias, ScaleBias), DIMPLE_ATTRIBUTE(S, Min, Float),
                                 DIMPLE_ATTRIBUTE(S, Max, Float)};
template <class S>
constexpr Field kPowFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, ExponentTensor),
                                DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_OPTIONAL(S, ScaleBias, ScaleBias)};
template <class S>
constexpr Field kConstantPowFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                        DIMPLE_OPTIONAL(S, ScaleBias, ScaleBias), DIMPLE_ATTRIBUTE(S, Exponent, Float)};
template <class S>
constexpr Field kThresholdFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_OPTIONAL(S, ScaleBias, ScaleBias), DIMPLE_ATTRIBUTE(S, Min, Float)};
template <class S>
constexpr Field kIfFields[] = {DIMPLE_INPUT(S, ConditionTensor), DIMPLE_INPUT(S, ATensor), DIMPLE_INPUT(S, BTensor),
                               DIMPLE_OUTPUT(S, OutputTensor)};
template <class S>
constexpr Field kAdd1Fields[] = {DIMPLE_INPUT(S, ATensor), DIMPLE_INPUT(S, BTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                 DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kRoundFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                  DIMPLE_ENUM(S, RoundingMode, kRoundingModes)};
template <class S>
constexpr Field kIsInfinityFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                       DIMPLE_ENUM(S, InfinityMode, kIsInfinityModes)};
template <class S>
constexpr Field kClipGradFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, InputGradientTensor),
                                     DIMPLE_OUTPUT(S, OutputGradientTensor), DIMPLE_ATTRIBUTE(S, Min, Float),
                                     DIMPLE_ATTRIBUTE(S, Max, Float)};
template <class S>
constexpr Field kClip1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                  DIMPLE_OUTPUT(S, OutputTensor),
                                  DIMPLE_OPTIONAL(S, ScaleBias, ScaleBias),
                                  DIMPLE_ENUM(S, MinMaxDataType, kTensorDataTypes),
                                  DIMPLE_ATTRIBUTE(S, Min, Scalar),
                                  DIMPLE_ATTRIBUTE(S, Max, Scalar)};
template <class S>
constexpr Field kClipGrad1Fields[] = {
    DIMPLE_INPUT(S, InputTensor),           DIMPLE_INPUT(S, InputGradientTensor),
    DIMPLE_OUTPUT(S, OutputGradientTensor), DIMPLE_ENUM(S, MinMaxDataType, kTensorDataTypes),
    DIMPLE_ATTRIBUTE(S, Min, Scalar),       DIMPLE_ATTRIBUTE(S, Max, Scalar)};

constexpr TypeHistory kIdentityTypes{{k1_0, kFloats, 4, 5}, {k2_1, kUpTo32, 4, 5}, {k3_0, kUpTo32}, {k4_1, kAllTypes}};
constexpr TypeHistory kAbsTypes{{k1_0, kFloats, 4, 4},
                                {k2_1, kSigned8To32 | kFloats, 4, 4},
                                {k3_0, kSigned8To32 | kFloats},
                                {k4_1, kSigned8To32 | kFloats | kInt64}};
constexpr TypeHistory kFloatsSince1{{k1_0, kFloats, 4, 4}, {k3_0, kFloats}};
constexpr TypeHistory kAddTypes{{k1_0, kFloats, 4, 5},
                                {k2_1, kFloats | kInts32, 4, 5},
                                {k3_0, kFloats | kInts32},
                                {k4_1, kIndices | kFloats},
                                {k5_1, kNumbers}};
constexpr TypeHistory kClipTypes{{k1_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32}, {k5_0, kNumbers}};
constexpr TypeHistory kDivideTypes{{k1_0, kFloats, 4, 4},
                                   {k2_1, kFloats | kInts32, 4, 4},
                                   {k3_0, kFloats | kInts32},
                                   {k5_1, kUpTo32},
                                   {k6_0, kNumbers}};
constexpr TypeHistory kTruthTypes{{k1_0, kUInt32, 4, 4}, {k2_0, kUInt8 | kUInt32, 4, 4}, {k3_0, kUInt8 | kUInt32}};
constexpr TypeHistory kLogicalEqualsTypes{
    {k1_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32}, {k4_1, kNumbers}};
constexpr TypeHistory kMeanTypes{{k1_0, kFloats, 4, 4}, {k2_1, kFloats | kInts32, 4, 4}, {k3_0, kFloats | kInts32}};
constexpr TypeHistory kPowTypes{{k1_0, kFloats, 4, 4}, {k3_0, kUpTo32}};
constexpr TypeHistory kSubtractTypes{{k1_0, kFloats, 4, 4},
                                     {k2_1, kFloats | kInts32, 4, 4},
                                     {k3_0, kFloats | kInts32},
                                     {k4_1, kIndices | kFloats},
                                     {k5_1, kNumbers}};
constexpr TypeHistory kThresholdTypes{{k1_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32}};
constexpr TypeHistory kSignTypes{{k2_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32}, {k4_1, kNumbers}};
constexpr TypeHistory kIsNanTypes{{k2_0, kFloats, 4, 4}, {k3_0, kFloats}};
constexpr TypeHistory kIfATypes{{k2_0, kFloat16, 4, 4}, {k3_0, kUpTo32}, {k5_0, kAllTypes}};
constexpr TypeHistory kAdd1Types{{k2_0, kFloats, 4, 5}, {k3_0, kFloats}};
constexpr TypeHistory kBitShiftLeftTypes{{k2_1, kUnsigned8To32, 4, 4}, {k3_0, kUnsigned8To32}, {k4_1, kUnsigned}};
constexpr TypeHistory kRoundTypes{{k2_1, kFloats, 4, 4}, {k3_0, kFloats}};
constexpr TypeHistory kModulusTruncateTypes{{k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32}, {k6_0, kNumbers}};
constexpr TypeHistory kBitAndTypes{{k3_0, kUnsigned8To32}, {k4_1, kAllTypes}};
constexpr TypeHistory kBitCountOutputTypes{{k3_0, kUInt8 | kUInt32}};
constexpr TypeHistory kLogicalGreaterThanOrEqualTypes{{k3_0, kUpTo32}, {k4_1, kNumbers}};
constexpr TypeHistory kAtanYxTypes{{k3_1, kFloats}};
constexpr TypeHistory kClipGradTypes{{k3_1, kUpTo32}, {k5_0, kNumbers}};
constexpr TypeHistory kDifferenceSquareTypes{{k3_1, kFloats | kInts32}};
constexpr TypeHistory kClip1Types{{k5_0, kNumbers}};
constexpr TypeHistory kNegateTypes{{k5_0, kSigned8To32 | kFloats | kInt64}};

constexpr TensorRule kIdentityRules[] = {{kIdentityTypes}, {kIdentityTypes, like(0)}};
constexpr TensorRule kAbsRules[] = {{kAbsTypes}, {kAbsTypes, like(0)}};
constexpr TensorRule kFloatsSince1Rules[] = {{kFloatsSince1}, {kFloatsSince1, like(0)}};
constexpr TensorRule kAddRules[] = {{kAddTypes}, {kAddTypes, like(0)}, {kAddTypes, like(0)}};
constexpr TensorRule kClipRules[] = {{kClipTypes}, {kClipTypes, like(0)}};
constexpr TensorRule kDivideRules[] = {{kDivideTypes}, {kDivideTypes, like(0)}, {kDivideTypes, like(0)}};
constexpr TensorRule kLogicalRules[] = {{kTruthTypes}, {kTruthTypes, like(0)}, {kTruthTypes, like(0)}};
constexpr TensorRule kComparisonRules[] = {
    {kLogicalEqualsTypes}, {kLogicalEqualsTypes, like(0)}, {kTruthTypes, sameSizes(0)}};
constexpr TensorRule kLogicalUnaryRules[] = {{kTruthTypes}, {kTruthTypes, like(0)}};
constexpr TensorRule kMaxRules[] = {{kClipTypes}, {kClipTypes, like(0)}, {kClipTypes, like(0)}};
constexpr TensorRule kMeanRules[] = {{kMeanTypes}, {kMeanTypes, like(0)}, {kMeanTypes, like(0)}};
constexpr TensorRule kPowRules[] = {{kPowTypes}, {kPowTypes, sameSizes(0)}, {kPowTypes, like(0)}};
constexpr TensorRule kSubtractRules[] = {{kSubtractTypes}, {kSubtractTypes, like(0)}, {kSubtractTypes, like(0)}};
constexpr TensorRule kThresholdRules[] = {{kThresholdTypes}, {kThresholdTypes, like(0)}};
constexpr TensorRule kSignRules[] = {{kSignTypes}, {kSignTypes, like(0)}};
constexpr TensorRule kIsNanRules[] = {{kIsNanTypes},
                                      {{{k2_0, kUInt8 | kUInt32, 4, 4}, {k3_0, kUInt8 | kUInt32}}, sameSizes(0)}};
constexpr TensorRule kFloatsSince2Rules[] = {{kIsNanTypes}, {kIsNanTypes, like(0)}};
constexpr TensorRule kIfRules[] = {{{{k2_0, kUInt8, 4, 4}, {k3_0, kUInt8}}},
                                   {kIfATypes, sameSizes(0)},
                                   {kIfATypes, {1, 0, 0}},
                                   {kIfATypes, {1, 0, 0}}};
constexpr TensorRule kAdd1Rules[] = {{kAdd1Types}, {kAdd1Types, like(0)}, {kAdd1Types, like(0)}};
constexpr TensorRule kBitShiftLeftRules[] = {
    {kBitShiftLeftTypes}, {kBitShiftLeftTypes, like(0)}, {kBitShiftLeftTypes, like(0)}};
constexpr TensorRule kRoundRules[] = {{kRoundTypes}, {kRoundTypes, like(0)}};
constexpr TensorRule kIsInfinityRules[] = {{kRoundTypes}, {{{k2_1, kUInt8, 4, 4}, {k3_0, kUInt8}}, sameSizes(0)}};
constexpr TensorRule kModulusTruncateRules[] = {
    {kModulusTruncateTypes}, {kModulusTruncateTypes, like(0)}, {kModulusTruncateTypes, like(0)}};
constexpr TensorRule kBitAndRules[] = {{kBitAndTypes}, {kBitAndTypes, like(0)}, {kBitAndTypes, like(0)}};
constexpr TensorRule kBitNotRules[] = {{kBitAndTypes}, {kBitAndTypes, like(0)}};
constexpr TensorRule kBitCountRules[] = {{kBitAndTypes}, {kBitCountOutputTypes, sameSizes(0)}};
constexpr TensorRule kLogicalGreaterThanOrEqualRules[] = {{kLogicalGreaterThanOrEqualTypes},
                                                          {kLogicalGreaterThanOrEqualTypes, like(0)},
                                                          {kBitCountOutputTypes, sameSizes(0)}};
constexpr TensorRule kAtanYxRules[] = {{kAtanYxTypes}, {kAtanYxTypes, like(0)}, {kAtanYxTypes, like(0)}};
constexpr TensorRule kClipGradRules[] = {{kClipGradTypes}, {kClipGradTypes, like(0)}, {kClipGradTypes, like(0)}};
constexpr TensorRule kDifferenceSquareRules[] = {
    {kDifferenceSquareTypes}, {kDifferenceSquareTypes, like(0)}, {kDifferenceSquareTypes, like(0)}};
constexpr TensorRule kClip1Rules[] = {{kClip1Types}, {kClip1Types, like(0)}};
constexpr TensorRule kClipGrad1Rules[] = {{kClip1Types}, {kClip1Types, like(0)}, {kClip1Types, like(0)}};
constexpr TensorRule kNegateRules[] = {{kNegateTypes}, {kNegateTypes, like(0)}};

constexpr OpSchema kElementwiseSchemas[] = {
    DIMPLE_ROW(ELEMENT_WISE_IDENTITY, kScaledFields, .rules = kIdentityRules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary, .parts = partsOfIdentity),
    DIMPLE_ROW(ELEMENT_WISE_ABS, kScaledFields, .rules = kAbsRules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ACOS, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ADD, kBinaryFields, .rules = kAddRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_ASIN, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ATAN, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_CEIL, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_CLIP, kClipFields, .rules = kClipRules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_COS, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_DIVIDE, kBinaryFields, .rules = kDivideRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_EXP, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_FLOOR, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_LOG, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_AND, kBinaryFields, .rules = kLogicalRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_EQUALS, kBinaryFields, .rules = kComparisonRules, .plan = planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_GREATER_THAN, kBinaryFields, .rules = kComparisonRules, .plan = planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_LESS_THAN, kBinaryFields, .rules = kComparisonRules, .plan = planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_NOT, kUnaryFields, .rules = kLogicalUnaryRules, .inPlace = true, .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_OR, kBinaryFields, .rules = kLogicalRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_XOR, kBinaryFields, .rules = kLogicalRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_MAX, kBinaryFields, .rules = kMaxRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_MEAN, kBinaryFields, .rules = kMeanRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_MIN, kBinaryFields, .rules = kMaxRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_MULTIPLY, kBinaryFields, .rules = kAddRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_POW, kPowFields, .rules = kPowRules, .inPlace = true, .check = checkScaleBias,
               .plan = planPow),
    DIMPLE_ROW(ELEMENT_WISE_CONSTANT_POW, kConstantPowFields, .rules = kFloatsSince1Rules, .inPlace = true,
               .check = checkScaleBias, .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_RECIP, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_SIN, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_SQRT, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_SUBTRACT, kBinaryFields, .rules = kSubtractRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_TAN, kScaledFields, .rules = kFloatsSince1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_THRESHOLD, kThresholdFields, .rules = kThresholdRules, .inPlace = true,
               .check = checkScaleBias, .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_SIGN, kUnaryFields, .rules = kSignRules, .inPlace = true, .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_IS_NAN, kUnaryFields, .rules = kIsNanRules, .plan = planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_ERF, kScaledFields, .rules = kFloatsSince2Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_SINH, kScaledFields, .rules = kFloatsSince2Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_COSH, kScaledFields, .rules = kFloatsSince2Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_TANH, kScaledFields, .rules = kFloatsSince2Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ASINH, kScaledFields, .rules = kFloatsSince2Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ACOSH, kScaledFields, .rules = kFloatsSince2Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ATANH, kScaledFields, .rules = kFloatsSince2Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_IF, kIfFields, .rules = kIfRules, .plan = planSelect),
    DIMPLE_ROW(ELEMENT_WISE_ADD1, kAdd1Fields, .rules = kAdd1Rules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_SHIFT_LEFT, kBinaryFields, .rules = kBitShiftLeftRules, .inPlace = true,
               .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_SHIFT_RIGHT, kBinaryFields, .rules = kBitShiftLeftRules, .inPlace = true,
               .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_ROUND, kRoundFields, .rules = kRoundRules, .inPlace = true, .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_IS_INFINITY, kIsInfinityFields, .rules = kIsInfinityRules, .inPlace = true,
               .plan = planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_MODULUS_TRUNCATE, kBinaryFields, .rules = kModulusTruncateRules, .inPlace = true,
               .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_MODULUS_FLOOR, kBinaryFields, .rules = kModulusTruncateRules, .inPlace = true,
               .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_AND, kBinaryFields, .rules = kBitAndRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_OR, kBinaryFields, .rules = kBitAndRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_XOR, kBinaryFields, .rules = kBitAndRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_NOT, kUnaryFields, .rules = kBitNotRules, .inPlace = true, .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_COUNT, kUnaryFields, .rules = kBitCountRules, .plan = planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL, kBinaryFields, .rules = kLogicalGreaterThanOrEqualRules,
               .plan = planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL, kBinaryFields, .rules = kLogicalGreaterThanOrEqualRules,
               .plan = planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_ATAN_YX, kBinaryFields, .rules = kAtanYxRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_CLIP_GRAD, kClipGradFields, .rules = kClipGradRules, .inPlace = true, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_DIFFERENCE_SQUARE, kBinaryFields, .rules = kDifferenceSquareRules, .inPlace = true,
               .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_CLIP1, kClip1Fields, .rules = kClip1Rules, .inPlace = true, .check = checkScaleBias,
               .plan = planUnary),
    DIMPLE_ROW(ELEMENT_WISE_CLIP_GRAD1, kClipGrad1Fields, .rules = kClipGrad1Rules, .inPlace = true,
               .check = checkMinMaxType, .plan = planBinary),
    DIMPLE_ROW(ELEMENT_WISE_NEGATE, kUnaryFields, .rules = kNegateRules, .inPlace = true, .plan = planUnary),
};

}  // namespace

std::span<const OpSchema> elementwiseSchemas() { return kElementwiseSchemas; }

}  // namespace dimple
