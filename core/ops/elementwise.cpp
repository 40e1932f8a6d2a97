// ELEMENT_WISE_* operators that compute each output element from the input elements at the same
// coordinates.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/checked.h"
#include "core/element_text.h"
#include "core/ops/chain.h"
#include "core/ops/checks.h"
#include "core/ops/copy.h"
#include "core/ops/elementwise.h"
#include "core/ops/families.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"
#include "core/text.h"

namespace dimple {
namespace {

// ---- unary ----------------------------------------------------------------------------------------------------------

const DML_SCALE_BIAS* scaleBias(const OpView& view) {
  const Field* field = findField(view.schema(), FieldType::ScaleBias);
  return field ? view.field<const DML_SCALE_BIAS*>(*field) : nullptr;
}

bool isIdentity(const DML_SCALE_BIAS* s) { return !s || (s->Scale == 1.0f && s->Bias == 0.0f); }

// A number in the representation of a tensor's type: integers are truncated and saturated, NaN becomes 0.
std::array<uint32_t, 2> wordsOf(double value, DataType type) {
  if (isFloat(type)) return {floatBits(value), 0};
  const uint32_t bits = bitWidth(type);
  const double low = isSigned(type) ? -std::ldexp(1.0, static_cast<int>(bits) - 1) : 0.0;
  const double high = std::ldexp(1.0, static_cast<int>(bits - isSigned(type)));  // first value above the range
  const double x = std::isnan(value) ? 0.0 : std::trunc(value);
  uint64_t word = 0;
  if (x >= high)
    word = isSigned(type) ? (uint64_t{1} << (bits - 1)) - 1 : ~uint64_t{0} >> (64 - bits);
  else if (x < 0)
    word = static_cast<uint64_t>(static_cast<int64_t>(std::max(x, low)));
  else
    word = static_cast<uint64_t>(x);
  return {static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)};
}

// The same of a value of that type.
std::array<uint32_t, 2> wordsOf(const DML_SCALAR_UNION& value, DataType type) {
  if (type == DML_TENSOR_DATA_TYPE_FLOAT16) return wordsOf(static_cast<double>(halfValue(value.UInt16)), type);
  if (byteWidth(type) == 4) return {value.UInt32, 0};
  if (byteWidth(type) == 8) return {static_cast<uint32_t>(value.UInt64), static_cast<uint32_t>(value.UInt64 >> 32)};
  const uint32_t unused = 32 - bitWidth(type);
  const uint32_t top = value.UInt32 << unused;
  return {isSigned(type) ? static_cast<uint32_t>(static_cast<int32_t>(top) >> unused) : top >> unused, 0};
}

// The operator's numbers and modes in order, two words each.
std::vector<uint32_t> attributeWords(const OpView& view) {
  const bool real = view.schema().type == DML_OPERATOR_ACTIVATION_SHRINK;
  const DataType type = real ? DML_TENSOR_DATA_TYPE_FLOAT32 : view.input(0).type;
  std::vector<uint32_t> words;
  for (const Field& field : view.schema().fields) {
    std::array<uint32_t, 2> pair{};
    // Scalars are of the tensor's type, whatever CLIP1 is told.
    if (field.values == &kTensorDataTypes) continue;
    if (field.type == FieldType::Float)
      pair = wordsOf(static_cast<double>(view.field<FLOAT>(field)), type);
    else if (field.type == FieldType::Scalar)
      pair = wordsOf(view.field<DML_SCALAR_UNION>(field), type);
    else if (field.type == FieldType::Enum)
      pair[0] = view.field<uint32_t>(field);
    else
      continue;
    words.insert(words.end(), pair.begin(), pair.end());
  }
  return words;
}

// Operators on bits run on unsigned integers of the width, whatever the data type.
DataType computeType(const OpView& view) {
  const DataType type = view.input(0).type;
  switch (view.schema().type) {
    case DML_OPERATOR_ELEMENT_WISE_BIT_AND:
    case DML_OPERATOR_ELEMENT_WISE_BIT_COUNT:
    case DML_OPERATOR_ELEMENT_WISE_BIT_NOT:
    case DML_OPERATOR_ELEMENT_WISE_BIT_OR:
    case DML_OPERATOR_ELEMENT_WISE_BIT_XOR:
      break;
    default:
      return type;
  }
  switch (byteWidth(type)) {
    case 1:
      return DML_TENSOR_DATA_TYPE_UINT8;
    case 2:
      return DML_TENSOR_DATA_TYPE_UINT16;
    case 4:
      return DML_TENSOR_DATA_TYPE_UINT32;
    default:
      return DML_TENSOR_DATA_TYPE_UINT64;
  }
}

}  // namespace

std::vector<MovedPart> partsOfIdentity(const OpView& view) {
  if (!isIdentity(scaleBias(view))) return {};
  return {wholePart(view)};
}

Result<Plan> planUnary(const OpView& view, const Caps& caps) {
  if (view.schema().type == DML_OPERATOR_ELEMENT_WISE_IDENTITY && !partsOfIdentity(view).empty())
    return planParts<partsOfIdentity>(view, caps);
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor* operands[] = {&x, &view.output()};
  Walk walk = makeWalk(x.sizeSpan(), operands);
  const DML_SCALE_BIAS* scale = scaleBias(view);
  const bool scales = !isIdentity(scale);

  walk.sortBy(1);
  walk.coalesce();
  const auto attributes = attributeWords(view);
  const DataType type = computeType(view);
  const WalkOperand ranges[] = {builder.inputOperand(0), builder.outputOperand()};
  const auto add = [&](const Walk& part, const std::vector<BufferRange>& buffers) {
    const uint64_t count = part.count();
    const bool packed = part.isPacked(0b11);
    std::vector<uint32_t> push{static_cast<uint32_t>(count), part.rank, scales, floatBits(scales ? scale->Scale : 1.0f),
                               floatBits(scales ? scale->Bias : 0.0f)};
    push.insert(push.end(), attributes.begin(), attributes.end());
    push.resize(9);
    return builder.addItems(packed ? cat("unary_packed.", shortTypeName(type)) : typedKernel("unary", type, caps),
                            packed ? divideUp(count * byteWidth(type), 16) : count, push, buffers,
                            packed ? 0 : builder.parameters(part), {{0, static_cast<uint32_t>(view.schema().type)}});
  };
  if (auto error = builder.addWindows(walk, ranges, add)) return *error;
  return builder.finish();
}

namespace {

// 64-bit types take no scale and bias but the identity.
Status checkScaleBias(const OpView& view) {
  const DML_SCALE_BIAS* scale = scaleBias(view);
  if (isIdentity(scale) || byteWidth(view.input(0).type) < 8) return {};
  return invalid(cat("ScaleBias has Scale (", std::to_string(scale->Scale), ") and Bias (", std::to_string(scale->Bias),
                     "), expected 1 and 0 for DataType ", dataTypeName(view.input(0).type), "."));
}

Status checkMinMaxType(const OpView& view) {
  return checkValueType("MinMaxDataType", view.as<DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC>().MinMaxDataType,
                        "InputTensor", view.input(0));
}

// The inputs that are one element, which do not keep the others from being packed.
uint32_t uniformOperands(const Walk& walk, uint32_t inputs) {
  uint32_t mask = 0;
  for (uint32_t k = 0; k < inputs; ++k)
    if (walk.isUniform(k) && walk.base[k] == 0) mask |= 1u << k;
  return mask;
}

// Invocations of kernels on vectors (kernels/common/vectors.glsl).
uint64_t vectorsOf(uint64_t count, DataType type) { return divideUp(count * bitWidth(type), 256); }

// ---- binary ---------------------------------------------------------------------------------------------------------

}  // namespace

Result<Plan> planBinary(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& a = view.input(0);
  const Tensor* operands[] = {&a, &view.input(1), &view.output()};
  Walk walk = makeWalk(a.sizeSpan(), operands);
  walk.sortBy(2);
  walk.coalesce();

  const Activation& activation = view.activation();
  const auto attributes =
      activation.type == DML_OPERATOR_INVALID
          ? attributeWords(view)
          : std::vector{floatBits(activation.parameters[0]), 0u, floatBits(activation.parameters[1]), 0u};
  const DataType type = computeType(view);
  const WalkOperand ranges[] = {builder.inputOperand(0), builder.inputOperand(1), builder.outputOperand()};
  const auto add = [&](const Walk& part, const std::vector<BufferRange>& buffers) {
    const uint64_t count = part.count();
    const uint32_t uniformMask = uniformOperands(part, 2);
    const bool packed = part.isPacked(0b111u & ~uniformMask);
    std::vector<uint32_t> push{static_cast<uint32_t>(count), part.rank, uniformMask};
    push.insert(push.end(), attributes.begin(), attributes.end());
    push.resize(7);
    return builder.addItems(
        packed ? cat("binary_packed.", shortTypeName(type)) : typedKernel("binary", type, caps),
        packed ? divideUp(count * byteWidth(type), 16) : count, push, buffers, packed ? 0 : builder.parameters(part),
        {{0, static_cast<uint32_t>(view.schema().type)}, {1, static_cast<uint32_t>(activation.type)}});
  };
  if (auto error = builder.addWindows(walk, ranges, add)) return *error;
  return builder.finish();
}

namespace {

// ---- POW ------------------------------------------------------------------------------------------------------------

Result<Plan> planPow(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& y = view.output();
  const Tensor* operands[] = {&view.input(0), &view.input(1), &y};
  Walk walk = makeWalk(y.sizeSpan(), operands);
  walk.sortBy(2);
  walk.coalesce();
  const DML_SCALE_BIAS* scale = scaleBias(view);
  const bool scales = !isIdentity(scale);
  const WalkOperand ranges[] = {builder.inputOperand(0), builder.inputOperand(1), builder.outputOperand()};
  const auto add = [&](const Walk& part, const std::vector<BufferRange>& buffers) {
    const uint64_t count = part.count();
    return builder.addItems(cat("pow.", shortTypeName(y.type)), count,
                            {static_cast<uint32_t>(count), part.rank, scales, floatBits(scales ? scale->Scale : 1.0f),
                             floatBits(scales ? scale->Bias : 0.0f)},
                            buffers, builder.parameters(part), {{0, static_cast<uint32_t>(view.input(1).type)}});
  };
  if (auto error = builder.addWindows(walk, ranges, add)) return *error;
  return builder.finish();
}

// ---- predicates -----------------------------------------------------------------------------------------------------

// What is asked of one element or of two, with answers of another type.
Result<Plan> planPredicate(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& y = view.output();
  // One operand is bound in both places.
  const size_t second = view.inputs().size() - 1;
  const Tensor* operands[] = {&view.input(0), &view.input(second), &y};
  Walk walk = makeWalk(y.sizeSpan(), operands);
  walk.sortBy(2);
  walk.coalesce();
  const Field* mode = findField(view.schema(), FieldType::Enum);
  const WalkOperand ranges[] = {builder.inputOperand(0), builder.inputOperand(second), builder.outputOperand()};
  const auto add = [&](const Walk& part, const std::vector<BufferRange>& buffers) {
    const uint64_t count = part.count();
    const DataType type = computeType(view);
    const uint32_t uniformMask = uniformOperands(part, 2);
    const bool packed = part.isPacked(0b111u & ~uniformMask);
    return builder.addItems(
        cat(packed ? "predicate_packed." : "predicate.", shortTypeName(type)), packed ? vectorsOf(count, type) : count,
        {static_cast<uint32_t>(count), packed ? uniformMask : part.rank, byteWidth(y.type),
         mode ? view.field<uint32_t>(*mode) : 0},
        buffers, packed ? 0 : builder.parameters(part), {{0, static_cast<uint32_t>(view.schema().type)}});
  };
  if (auto error = builder.addWindows(walk, ranges, add)) return *error;
  return builder.finish();
}

// ---- IF -------------------------------------------------------------------------------------------------------------

Result<Plan> planSelect(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& a = view.input(1);
  const Tensor* operands[] = {&view.input(0), &a, &view.input(2), &view.output()};
  Walk walk = makeWalk(a.sizeSpan(), operands);
  walk.sortBy(3);
  walk.coalesce();
  const WalkOperand ranges[] = {builder.inputOperand(0), builder.inputOperand(1), builder.inputOperand(2),
                                builder.outputOperand()};
  const auto add = [&](const Walk& part, const std::vector<BufferRange>& buffers) {
    const uint64_t count = part.count();
    const uint32_t uniformMask = uniformOperands(part, 3);
    const bool packed = part.isPacked(0b1111u & ~uniformMask);
    return builder.addItems(packed ? cat("select_packed.b", bitWidth(a.type)) : sizedKernel("select", a.type, caps),
                            packed ? vectorsOf(count, a.type) : count,
                            {static_cast<uint32_t>(count), packed ? uniformMask : part.rank}, buffers,
                            packed ? 0 : builder.parameters(part));
  };
  if (auto error = builder.addWindows(walk, ranges, add)) return *error;
  return builder.finish();
}

// ---- tables ---------------------------------------------------------------------------------------------------------

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
    DIMPLE_ROW(ELEMENT_WISE_IDENTITY, kScaledFields, kIdentityRules, true, false, checkScaleBias, planUnary, {},
               partsOfIdentity),
    DIMPLE_ROW(ELEMENT_WISE_ABS, kScaledFields, kAbsRules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ACOS, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ADD, kBinaryFields, kAddRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_ASIN, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ATAN, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_CEIL, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_CLIP, kClipFields, kClipRules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_COS, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_DIVIDE, kBinaryFields, kDivideRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_EXP, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_FLOOR, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_LOG, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_AND, kBinaryFields, kLogicalRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_EQUALS, kBinaryFields, kComparisonRules, false, false, nullptr, planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_GREATER_THAN, kBinaryFields, kComparisonRules, false, false, nullptr,
               planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_LESS_THAN, kBinaryFields, kComparisonRules, false, false, nullptr, planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_NOT, kUnaryFields, kLogicalUnaryRules, true, false, nullptr, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_OR, kBinaryFields, kLogicalRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_XOR, kBinaryFields, kLogicalRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_MAX, kBinaryFields, kMaxRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_MEAN, kBinaryFields, kMeanRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_MIN, kBinaryFields, kMaxRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_MULTIPLY, kBinaryFields, kAddRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_POW, kPowFields, kPowRules, true, false, checkScaleBias, planPow),
    DIMPLE_ROW(ELEMENT_WISE_CONSTANT_POW, kConstantPowFields, kFloatsSince1Rules, true, false, checkScaleBias,
               planUnary),
    DIMPLE_ROW(ELEMENT_WISE_RECIP, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_SIN, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_SQRT, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_SUBTRACT, kBinaryFields, kSubtractRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_TAN, kScaledFields, kFloatsSince1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_THRESHOLD, kThresholdFields, kThresholdRules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_SIGN, kUnaryFields, kSignRules, true, false, nullptr, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_IS_NAN, kUnaryFields, kIsNanRules, false, false, nullptr, planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_ERF, kScaledFields, kFloatsSince2Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_SINH, kScaledFields, kFloatsSince2Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_COSH, kScaledFields, kFloatsSince2Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_TANH, kScaledFields, kFloatsSince2Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ASINH, kScaledFields, kFloatsSince2Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ACOSH, kScaledFields, kFloatsSince2Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_ATANH, kScaledFields, kFloatsSince2Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_IF, kIfFields, kIfRules, false, false, nullptr, planSelect),
    DIMPLE_ROW(ELEMENT_WISE_ADD1, kAdd1Fields, kAdd1Rules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_SHIFT_LEFT, kBinaryFields, kBitShiftLeftRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_SHIFT_RIGHT, kBinaryFields, kBitShiftLeftRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_ROUND, kRoundFields, kRoundRules, true, false, nullptr, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_IS_INFINITY, kIsInfinityFields, kIsInfinityRules, true, false, nullptr, planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_MODULUS_TRUNCATE, kBinaryFields, kModulusTruncateRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_MODULUS_FLOOR, kBinaryFields, kModulusTruncateRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_AND, kBinaryFields, kBitAndRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_OR, kBinaryFields, kBitAndRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_XOR, kBinaryFields, kBitAndRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_NOT, kUnaryFields, kBitNotRules, true, false, nullptr, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_BIT_COUNT, kUnaryFields, kBitCountRules, false, false, nullptr, planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL, kBinaryFields, kLogicalGreaterThanOrEqualRules, false, false,
               nullptr, planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL, kBinaryFields, kLogicalGreaterThanOrEqualRules, false, false,
               nullptr, planPredicate),
    DIMPLE_ROW(ELEMENT_WISE_ATAN_YX, kBinaryFields, kAtanYxRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_CLIP_GRAD, kClipGradFields, kClipGradRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_DIFFERENCE_SQUARE, kBinaryFields, kDifferenceSquareRules, true, false, nullptr, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_CLIP1, kClip1Fields, kClip1Rules, true, false, checkScaleBias, planUnary),
    DIMPLE_ROW(ELEMENT_WISE_CLIP_GRAD1, kClipGrad1Fields, kClipGrad1Rules, true, false, checkMinMaxType, planBinary),
    DIMPLE_ROW(ELEMENT_WISE_NEGATE, kUnaryFields, kNegateRules, true, false, nullptr, planUnary),
};

}  // namespace

std::span<const OpSchema> elementwiseSchemas() { return kElementwiseSchemas; }

std::vector<ElementStep> elementwiseSteps(const OpView& view) {
  const auto plan = view.schema().plan;
  if (plan != planUnary && plan != planBinary && plan != planPredicate && plan != planSelect && plan != planPow)
    return {};
  const DML_OPERATOR_TYPE op = view.schema().type;
  const DataType type = computeType(view);
  const DataType result = view.output().type;
  // What a step leaves that another of the same operator goes on with: numbers that are not rounded to FLOAT16.
  const DataType between = isFloat(type) ? DML_TENSOR_DATA_TYPE_FLOAT32 : type;
  std::vector<ElementStep> steps;
  // The bits of FLOAT16 are not those that the kernel holds.
  if (isFloat(view.input(0).type) && !isFloat(type)) return steps;
  const DML_SCALE_BIAS* scale = scaleBias(view);
  if (isIdentity(scale)) scale = nullptr;
  auto attributes = attributeWords(view);
  attributes.resize(4);

  if (plan == planUnary) {
    if (scale)
      steps.push_back({.kind = StepKind::Scale,
                       .from = type,
                       .to = between,
                       .a = floatBits(scale->Scale),
                       .b = floatBits(scale->Bias)});
    steps.push_back(
        {.kind = StepKind::Unary, .op = op, .from = type, .to = result, .a = attributes[0], .b = attributes[2]});
  } else if (plan == planBinary) {
    const Activation& fused = view.activation();
    const bool fuses = fused.type != DML_OPERATOR_INVALID;
    steps.push_back({.kind = StepKind::Binary,
                     .op = op,
                     .from = type,
                     .to = fuses ? between : result,
                     .input = 1,
                     .a = attributes[0],
                     .b = attributes[2]});
    if (fuses)
      steps.push_back({.kind = StepKind::Unary,
                       .op = fused.type,
                       .from = between,
                       .to = result,
                       .a = floatBits(fused.parameters[0]),
                       .b = floatBits(fused.parameters[1])});
  } else if (plan == planPredicate) {
    const size_t second = view.inputs().size() - 1;
    steps.push_back({.kind = StepKind::Predicate, .op = op, .from = type, .to = result, .a = attributes[0]});
    if (second) steps.back().input = second;
  } else if (plan == planSelect) {
    // The condition is no value of the result's type, nor is what is chosen changed.
    constexpr DataType kAsItIs = DML_TENSOR_DATA_TYPE_UINT32;
    steps.push_back({.kind = StepKind::Condition, .to = kAsItIs});
    steps.push_back({.kind = StepKind::Load, .to = kAsItIs, .input = 1});
    steps.push_back({.kind = StepKind::Select, .to = kAsItIs, .input = 2});
  } else if (plan == planPow && isFloat(type) && isFloat(view.input(1).type) && !scale) {
    steps.push_back({.kind = StepKind::Power, .from = type, .to = result, .input = 1});
  }
  return steps;
}

}  // namespace dimple
