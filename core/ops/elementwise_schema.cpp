// The table of ELEMENT_WISE_* operators.
#include "core/operation.h"
#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

// 64-bit types take no scale and bias other than the identity.
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

#define DIMPLE_SCALED DIMPLE_IN_AND_OUT, DIMPLE_SCALE_BIAS

DIMPLE_FIELDS(kScaledFields, DIMPLE_SCALED);
DIMPLE_FIELDS(kBinaryFields, DIMPLE_INPUT(ATensor, BTensor), DIMPLE_OUTPUT(OutputTensor));
DIMPLE_FIELDS(kClipFields, DIMPLE_SCALED, DIMPLE_FLOAT(Min, Max));
DIMPLE_FIELDS(kPowFields, DIMPLE_INPUT(InputTensor, ExponentTensor), DIMPLE_OUTPUT(OutputTensor), DIMPLE_SCALE_BIAS);
DIMPLE_FIELDS(kConstantPowFields, DIMPLE_SCALED, DIMPLE_FLOAT(Exponent));
DIMPLE_FIELDS(kThresholdFields, DIMPLE_SCALED, DIMPLE_FLOAT(Min));
DIMPLE_FIELDS(kIfFields, DIMPLE_INPUT(ConditionTensor, ATensor, BTensor), DIMPLE_OUTPUT(OutputTensor));
DIMPLE_FIELDS(kAdd1Fields, DIMPLE_INPUT(ATensor, BTensor), DIMPLE_OUTPUT(OutputTensor), DIMPLE_FUSED_ACTIVATION);
DIMPLE_FIELDS(kRoundFields, DIMPLE_IN_AND_OUT, DIMPLE_ENUM(RoundingMode, kRoundingModes));
DIMPLE_FIELDS(kIsInfinityFields, DIMPLE_IN_AND_OUT, DIMPLE_ENUM(InfinityMode, kIsInfinityModes));
DIMPLE_FIELDS(kClipGradFields, DIMPLE_OF_GRADIENT, DIMPLE_FLOAT(Min, Max));
DIMPLE_FIELDS(kClip1Fields, DIMPLE_SCALED, DIMPLE_ENUM(MinMaxDataType, kTensorDataTypes), DIMPLE_SCALAR(Min, Max));
DIMPLE_FIELDS(kClipGrad1Fields, DIMPLE_OF_GRADIENT, DIMPLE_ENUM(MinMaxDataType, kTensorDataTypes),
              DIMPLE_SCALAR(Min, Max));

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
constexpr TypeHistory kComparisonSince3Types{{k3_0, kUpTo32}, {k4_1, kNumbers}};
constexpr TypeHistory kAtanYxTypes{{k3_1, kFloats}};
constexpr TypeHistory kClipGradTypes{{k3_1, kUpTo32}, {k5_0, kNumbers}};
constexpr TypeHistory kDifferenceSquareTypes{{k3_1, kFloats | kInts32}};
constexpr TypeHistory kClip1Types{{k5_0, kNumbers}};
constexpr TypeHistory kNegateTypes{{k5_0, kSigned8To32 | kFloats | kInt64}};

constexpr TensorRule kComparisonRules[] = {
    {kLogicalEqualsTypes}, {kLogicalEqualsTypes, like(0)}, {kTruthTypes, sameSizes(0)}};
constexpr TensorRule kPowRules[] = {{kPowTypes}, {kPowTypes, sameSizes(0)}, {kPowTypes, like(0)}};
constexpr TensorRule kIsNanRules[] = {{kIsNanTypes},
                                      {{{k2_0, kUInt8 | kUInt32, 4, 4}, {k3_0, kUInt8 | kUInt32}}, sameSizes(0)}};
constexpr TensorRule kIfRules[] = {{{{k2_0, kUInt8, 4, 4}, {k3_0, kUInt8}}},
                                   {kIfATypes, sameSizes(0)},
                                   {kIfATypes, {1, 0, 0}},
                                   {kIfATypes, {1, 0, 0}}};
constexpr TensorRule kIsInfinityRules[] = {{kRoundTypes}, {{{k2_1, kUInt8, 4, 4}, {k3_0, kUInt8}}, sameSizes(0)}};
constexpr TensorRule kBitCountRules[] = {{kBitAndTypes}, {kBitCountOutputTypes, sameSizes(0)}};
constexpr TensorRule kComparisonSince3Rules[] = {
    {kComparisonSince3Types}, {kComparisonSince3Types, like(0)}, {kBitCountOutputTypes, sameSizes(0)}};

// Rows of functions of one tensor, with ScaleBias or without, and of two. TYPES are those of all tensors.
#define DIMPLE_SCALED_ROW(NAME, FIELDS, TYPES, ...)                                               \
  DIMPLE_ROW(NAME, FIELDS, .rules = kUnaryRules<TYPES>, .inPlace = true, .check = checkScaleBias, \
             .plan = planUnary __VA_OPT__(, ) __VA_ARGS__)
#define DIMPLE_UNARY_ROW(NAME, FIELDS, TYPES) \
  DIMPLE_ROW(NAME, FIELDS, .rules = kUnaryRules<TYPES>, .inPlace = true, .plan = planUnary)
#define DIMPLE_BINARY_ROW(NAME, FIELDS, TYPES) \
  DIMPLE_ROW(NAME, FIELDS, .rules = kBinaryRules<TYPES>, .inPlace = true, .plan = planBinary)

// Rows of consecutive operators without further attributes, and of comparisons.
#define DIMPLE_PLAIN_SCALED_ROW(TYPES, NAME) DIMPLE_SCALED_ROW(ELEMENT_WISE_##NAME, kScaledFields, TYPES)
#define DIMPLE_SCALED_ROWS(TYPES, ...) DIMPLE_EACH(DIMPLE_PLAIN_SCALED_ROW, TYPES, __VA_ARGS__)
#define DIMPLE_PLAIN_BINARY_ROW(TYPES, NAME) DIMPLE_BINARY_ROW(ELEMENT_WISE_##NAME, kBinaryFields, TYPES)
#define DIMPLE_BINARY_ROWS(TYPES, ...) DIMPLE_EACH(DIMPLE_PLAIN_BINARY_ROW, TYPES, __VA_ARGS__)
#define DIMPLE_COMPARISON_ROW(RULES, NAME) \
  DIMPLE_ROW(ELEMENT_WISE_##NAME, kBinaryFields, .rules = RULES, .plan = planPredicate)
#define DIMPLE_COMPARISON_ROWS(RULES, ...) DIMPLE_EACH(DIMPLE_COMPARISON_ROW, RULES, __VA_ARGS__)

constexpr OpSchema kElementwiseSchemas[] = {
    DIMPLE_SCALED_ROW(ELEMENT_WISE_IDENTITY, kScaledFields, kIdentityTypes, .parts = partsOfIdentity),
    DIMPLE_SCALED_ROWS(kAbsTypes, ABS),
    DIMPLE_SCALED_ROWS(kFloatsSince1, ACOS),
    DIMPLE_BINARY_ROWS(kAddTypes, ADD),
    DIMPLE_SCALED_ROWS(kFloatsSince1, ASIN, ATAN, CEIL),
    DIMPLE_SCALED_ROW(ELEMENT_WISE_CLIP, kClipFields, kClipTypes),
    DIMPLE_SCALED_ROWS(kFloatsSince1, COS),
    DIMPLE_BINARY_ROWS(kDivideTypes, DIVIDE),
    DIMPLE_SCALED_ROWS(kFloatsSince1, EXP, FLOOR, LOG),
    DIMPLE_BINARY_ROWS(kTruthTypes, LOGICAL_AND),
    DIMPLE_COMPARISON_ROWS(kComparisonRules, LOGICAL_EQUALS, LOGICAL_GREATER_THAN, LOGICAL_LESS_THAN),
    DIMPLE_UNARY_ROW(ELEMENT_WISE_LOGICAL_NOT, kUnaryFields, kTruthTypes),
    DIMPLE_BINARY_ROWS(kTruthTypes, LOGICAL_OR, LOGICAL_XOR),
    DIMPLE_BINARY_ROWS(kClipTypes, MAX),
    DIMPLE_BINARY_ROWS(kMeanTypes, MEAN),
    DIMPLE_BINARY_ROWS(kClipTypes, MIN),
    DIMPLE_BINARY_ROWS(kAddTypes, MULTIPLY),
    DIMPLE_ROW(ELEMENT_WISE_POW, kPowFields, .rules = kPowRules, .inPlace = true, .check = checkScaleBias,
               .plan = planPow),
    DIMPLE_SCALED_ROW(ELEMENT_WISE_CONSTANT_POW, kConstantPowFields, kFloatsSince1),
    DIMPLE_SCALED_ROWS(kFloatsSince1, RECIP, SIN, SQRT),
    DIMPLE_BINARY_ROWS(kSubtractTypes, SUBTRACT),
    DIMPLE_SCALED_ROWS(kFloatsSince1, TAN),
    DIMPLE_SCALED_ROW(ELEMENT_WISE_THRESHOLD, kThresholdFields, kThresholdTypes),
    DIMPLE_UNARY_ROW(ELEMENT_WISE_SIGN, kUnaryFields, kSignTypes),
    DIMPLE_ROW(ELEMENT_WISE_IS_NAN, kUnaryFields, .rules = kIsNanRules, .plan = planPredicate),
    DIMPLE_SCALED_ROWS(kIsNanTypes, ERF, SINH, COSH, TANH, ASINH, ACOSH, ATANH),
    DIMPLE_ROW(ELEMENT_WISE_IF, kIfFields, .rules = kIfRules, .plan = planSelect),
    DIMPLE_BINARY_ROW(ELEMENT_WISE_ADD1, kAdd1Fields, kAdd1Types),
    DIMPLE_BINARY_ROWS(kBitShiftLeftTypes, BIT_SHIFT_LEFT, BIT_SHIFT_RIGHT),
    DIMPLE_UNARY_ROW(ELEMENT_WISE_ROUND, kRoundFields, kRoundTypes),
    DIMPLE_ROW(ELEMENT_WISE_IS_INFINITY, kIsInfinityFields, .rules = kIsInfinityRules, .inPlace = true,
               .plan = planPredicate),
    DIMPLE_BINARY_ROWS(kModulusTruncateTypes, MODULUS_TRUNCATE, MODULUS_FLOOR),
    DIMPLE_BINARY_ROWS(kBitAndTypes, BIT_AND, BIT_OR, BIT_XOR),
    DIMPLE_UNARY_ROW(ELEMENT_WISE_BIT_NOT, kUnaryFields, kBitAndTypes),
    DIMPLE_ROW(ELEMENT_WISE_BIT_COUNT, kUnaryFields, .rules = kBitCountRules, .plan = planPredicate),
    DIMPLE_COMPARISON_ROWS(kComparisonSince3Rules, LOGICAL_GREATER_THAN_OR_EQUAL, LOGICAL_LESS_THAN_OR_EQUAL),
    DIMPLE_BINARY_ROWS(kAtanYxTypes, ATAN_YX),
    DIMPLE_BINARY_ROW(ELEMENT_WISE_CLIP_GRAD, kClipGradFields, kClipGradTypes),
    DIMPLE_BINARY_ROWS(kDifferenceSquareTypes, DIFFERENCE_SQUARE),
    DIMPLE_SCALED_ROW(ELEMENT_WISE_CLIP1, kClip1Fields, kClip1Types),
    DIMPLE_ROW(ELEMENT_WISE_CLIP_GRAD1, kClipGrad1Fields, .rules = kBinaryRules<kClip1Types>, .inPlace = true,
               .check = checkMinMaxType, .plan = planBinary),
    DIMPLE_UNARY_ROW(ELEMENT_WISE_NEGATE, kUnaryFields, kNegateTypes),
};

}  // namespace

std::span<const OpSchema> elementwiseSchemas() { return kElementwiseSchemas; }

}  // namespace dimple
