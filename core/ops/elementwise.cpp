// ELEMENT_WISE_* and ACTIVATION_* operators that compute each output element from the input elements at the same
// coordinates.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/checked.h"
#include "core/ops/copy.h"
#include "core/ops/families.h"
#include "core/plan_builder.h"
#include "core/text.h"

namespace dimple {
namespace {

// ---- unary ----------------------------------------------------------------------------------------------------------

const Field* findField(const OpSchema& schema, FieldType type) {
  const auto found =
      std::find_if(schema.fields.begin(), schema.fields.end(), [&](const Field& f) { return f.type == type; });
  return found == schema.fields.end() ? nullptr : &*found;
}

const DML_SCALE_BIAS* scaleBias(const OpView& view) {
  const Field* field = findField(view.schema(), FieldType::ScaleBias);
  return field ? view.field<const DML_SCALE_BIAS*>(*field) : nullptr;
}

bool isIdentity(const DML_SCALE_BIAS* s) { return !s || (s->Scale == 1.0f && s->Bias == 0.0f); }

// A FLOAT attribute in the representation of the tensor's type: integers are truncated and saturated, NaN becomes 0.
std::array<uint32_t, 2> attributeWords(float value, DataType type) {
  if (isFloat(type)) return {std::bit_cast<uint32_t>(value), 0};
  const uint32_t bits = bitWidth(type);
  const double low = isSigned(type) ? -std::ldexp(1.0, static_cast<int>(bits) - 1) : 0.0;
  const double high = std::ldexp(1.0, static_cast<int>(bits - isSigned(type)));  // first value above the range
  const double x = std::isnan(value) ? 0.0 : std::trunc(static_cast<double>(value));
  uint64_t word = 0;
  if (x >= high)
    word = isSigned(type) ? (uint64_t{1} << (bits - 1)) - 1 : ~uint64_t{0} >> (64 - bits);
  else if (x < 0)
    word = static_cast<uint64_t>(static_cast<int64_t>(std::max(x, low)));
  else
    word = static_cast<uint64_t>(x);
  return {static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)};
}

Result<Plan> planUnary(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor* operands[] = {&x, &view.output()};
  Walk walk = makeWalk(x.sizeSpan(), operands);
  const DML_SCALE_BIAS* scale = scaleBias(view);
  const bool scales = !isIdentity(scale);

  if (view.schema().type == DML_OPERATOR_ELEMENT_WISE_IDENTITY && !scales) {
    if (auto error = addCopy(builder, x.type, walk, builder.input(0), builder.output())) return *error;
    return builder.finish();
  }

  walk.sortBy(1);
  walk.coalesce();
  const bool packed = walk.isPacked(0b11);
  std::vector<uint32_t> push{static_cast<uint32_t>(x.elements), walk.rank, scales,
                             std::bit_cast<uint32_t>(scales ? scale->Scale : 1.0f),
                             std::bit_cast<uint32_t>(scales ? scale->Bias : 0.0f)};
  for (const Field& field : view.schema().fields)
    if (field.type == FieldType::Float) {
      const auto words = attributeWords(view.field<FLOAT>(field), x.type);
      push.insert(push.end(), words.begin(), words.end());
    }
  push.resize(9);
  const std::vector<Specialization> specialization{{0, static_cast<uint32_t>(view.schema().type)}};
  const uint64_t items = packed ? divideUp(x.elements * byteWidth(x.type), 16) : x.elements;
  const std::string kernel = packed ? cat("unary_packed.", shortTypeName(x.type)) : typedKernel("unary", x.type, caps);
  if (auto error = builder.addItems(kernel, items, push, {builder.input(0), builder.output()},
                                    packed ? 0 : builder.parameters(walk), specialization))
    return *error;
  return builder.finish();
}

// 64-bit types take no scale and bias but the identity.
Status checkScaleBias(const OpView& view) {
  const DML_SCALE_BIAS* scale = scaleBias(view);
  if (isIdentity(scale) || byteWidth(view.input(0).type) < 8) return {};
  return Error{ErrorCode::InvalidArgument,
               cat("ScaleBias has Scale (", std::to_string(scale->Scale), ") and Bias (", std::to_string(scale->Bias),
                   "), expected 1 and 0 for DataType ", dataTypeName(view.input(0).type), ".")};
}

// ---- binary ---------------------------------------------------------------------------------------------------------

Result<Plan> planBinary(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& a = view.input(0);
  const Tensor* operands[] = {&a, &view.input(1), &view.output()};
  Walk walk = makeWalk(a.sizeSpan(), operands);
  walk.sortBy(2);
  walk.coalesce();

  // Operands that are one element do not keep the others from being packed.
  uint32_t uniformMask = 0;
  for (uint32_t k = 0; k < 2; ++k)
    if (walk.isUniform(k)) uniformMask |= 1u << k;
  const bool packed = walk.isPacked(0b111u & ~uniformMask);

  const Activation& activation = view.activation();
  const std::vector<uint32_t> push{static_cast<uint32_t>(a.elements), walk.rank, uniformMask,
                                   std::bit_cast<uint32_t>(activation.parameters[0]),
                                   std::bit_cast<uint32_t>(activation.parameters[1])};
  const std::vector<Specialization> specialization{{0, static_cast<uint32_t>(view.schema().type)},
                                                   {1, static_cast<uint32_t>(activation.type)}};
  const uint64_t items = packed ? divideUp(a.elements * byteWidth(a.type), 16) : a.elements;
  const std::string kernel =
      packed ? cat("binary_packed.", shortTypeName(a.type)) : typedKernel("binary", a.type, caps);
  if (auto error = builder.addItems(kernel, items, push, {builder.input(0), builder.input(1), builder.output()},
                                    packed ? 0 : builder.parameters(walk), specialization))
    return *error;
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
  if (auto error = builder.addItems(
          sizedKernel("select", a.type, caps), a.elements, {static_cast<uint32_t>(a.elements), walk.rank},
          {builder.input(0), builder.input(1), builder.input(2), builder.output()}, builder.parameters(walk)))
    return *error;
  return builder.finish();
}

// ---- tables ---------------------------------------------------------------------------------------------------------

constexpr TypeSet kSignedNumbers = kFloats | kSignedInts;
constexpr TypeSet kReluTypes = kFloats | kSigned8To32;

// {types of every tensor}: all tensors share type and sizes.
template <TypeSet types>
constexpr TensorRule kUnaryRules[] = {{types}, {types, 1, 8, 0, 0, 0}};
template <TypeSet types>
constexpr TensorRule kBinaryRules[] = {{types}, {types, 1, 8, 0, 0, 0}, {types, 1, 8, 0, 0, 0}};
constexpr TensorRule kIfRules[] = {
    {kUInt8}, {kAllTypes, 1, 8, -1, 0, 0}, {kAllTypes, 1, 8, 1, 0, 0}, {kAllTypes, 1, 8, 1, 0, 0}};

template <DML_FEATURE_LEVEL since, TypeSet types>
constexpr Level kUnaryLevels[] = {{since, kUnaryRules<types>}};
template <DML_FEATURE_LEVEL since, TypeSet types>
constexpr Level kBinaryLevels[] = {{since, kBinaryRules<types>}};
constexpr Level kIfLevels[] = {{DML_FEATURE_LEVEL_5_0, kIfRules}};

// Structures of one shape are told apart by their type alone.
template <class S>
constexpr Field kUnaryFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor)};
template <class S>
constexpr Field kScaledFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                   DIMPLE_OPTIONAL(S, ScaleBias, ScaleBias)};
template <class S>
constexpr Field kBinaryFields[] = {DIMPLE_INPUT(S, ATensor), DIMPLE_INPUT(S, BTensor), DIMPLE_OUTPUT(S, OutputTensor)};

using ClipDesc = DML_ELEMENT_WISE_CLIP_OPERATOR_DESC;
constexpr Field kClipFields[] = {DIMPLE_INPUT(ClipDesc, InputTensor), DIMPLE_OUTPUT(ClipDesc, OutputTensor),
                                 DIMPLE_OPTIONAL(ClipDesc, ScaleBias, ScaleBias),
                                 DIMPLE_ATTRIBUTE(ClipDesc, Min, Float), DIMPLE_ATTRIBUTE(ClipDesc, Max, Float)};
using Add1Desc = DML_ELEMENT_WISE_ADD1_OPERATOR_DESC;
constexpr Field kAdd1Fields[] = {DIMPLE_INPUT(Add1Desc, ATensor), DIMPLE_INPUT(Add1Desc, BTensor),
                                 DIMPLE_OUTPUT(Add1Desc, OutputTensor),
                                 DIMPLE_OPTIONAL(Add1Desc, FusedActivation, Operator)};
using IfDesc = DML_ELEMENT_WISE_IF_OPERATOR_DESC;
constexpr Field kIfFields[] = {DIMPLE_INPUT(IfDesc, ConditionTensor), DIMPLE_INPUT(IfDesc, ATensor),
                               DIMPLE_INPUT(IfDesc, BTensor), DIMPLE_OUTPUT(IfDesc, OutputTensor)};

// One line a function. The level is that of the newest row of data types.
#define UNARY(NAME, since, types)                                                                             \
  {                                                                                                           \
    DML_OPERATOR_##NAME, #NAME, sizeof(DML_##NAME##_OPERATOR_DESC), kUnaryFields<DML_##NAME##_OPERATOR_DESC>, \
        kUnaryLevels<DML_FEATURE_LEVEL_##since, types>, true, false, nullptr, planUnary                       \
  }
#define ACTIVATION(NAME, since, types)                                                                        \
  {                                                                                                           \
    DML_OPERATOR_##NAME, #NAME, sizeof(DML_##NAME##_OPERATOR_DESC), kUnaryFields<DML_##NAME##_OPERATOR_DESC>, \
        kUnaryLevels<DML_FEATURE_LEVEL_##since, types>, true, true, nullptr, planUnary                        \
  }
#define SCALED(NAME, since, types)                                                                             \
  {                                                                                                            \
    DML_OPERATOR_##NAME, #NAME, sizeof(DML_##NAME##_OPERATOR_DESC), kScaledFields<DML_##NAME##_OPERATOR_DESC>, \
        kUnaryLevels<DML_FEATURE_LEVEL_##since, types>, true, false, checkScaleBias, planUnary                 \
  }
#define BINARY(NAME, since, types)                                                                             \
  {                                                                                                            \
    DML_OPERATOR_##NAME, #NAME, sizeof(DML_##NAME##_OPERATOR_DESC), kBinaryFields<DML_##NAME##_OPERATOR_DESC>, \
        kBinaryLevels<DML_FEATURE_LEVEL_##since, types>, true, false, nullptr, planBinary                      \
  }

constexpr OpSchema kSchemas[] = {
    SCALED(ELEMENT_WISE_IDENTITY, 4_1, kAllTypes),
    SCALED(ELEMENT_WISE_ABS, 4_1, kSignedNumbers),
    SCALED(ELEMENT_WISE_EXP, 3_0, kFloats),
    SCALED(ELEMENT_WISE_RECIP, 3_0, kFloats),
    SCALED(ELEMENT_WISE_SQRT, 3_0, kFloats),
    SCALED(ELEMENT_WISE_SIN, 3_0, kFloats),
    SCALED(ELEMENT_WISE_COS, 3_0, kFloats),
    SCALED(ELEMENT_WISE_TANH, 3_0, kFloats),
    SCALED(ELEMENT_WISE_ERF, 3_0, kFloats),
    UNARY(ELEMENT_WISE_NEGATE, 5_0, kSignedNumbers),
    {DML_OPERATOR_ELEMENT_WISE_CLIP, "ELEMENT_WISE_CLIP", sizeof(ClipDesc), kClipFields,
     kUnaryLevels<DML_FEATURE_LEVEL_5_0, kNumbers>, true, false, checkScaleBias, planUnary},
    ACTIVATION(ACTIVATION_RELU, 5_1, kReluTypes),
    ACTIVATION(ACTIVATION_SIGMOID, 3_0, kFloats),
    BINARY(ELEMENT_WISE_ADD, 5_1, kNumbers),
    BINARY(ELEMENT_WISE_SUBTRACT, 5_1, kNumbers),
    BINARY(ELEMENT_WISE_MULTIPLY, 5_1, kNumbers),
    BINARY(ELEMENT_WISE_DIVIDE, 6_0, kNumbers),
    BINARY(ELEMENT_WISE_MAX, 5_0, kNumbers),
    BINARY(ELEMENT_WISE_MIN, 5_0, kNumbers),
    {DML_OPERATOR_ELEMENT_WISE_ADD1, "ELEMENT_WISE_ADD1", sizeof(Add1Desc), kAdd1Fields,
     kBinaryLevels<DML_FEATURE_LEVEL_3_0, kFloats>, true, false, nullptr, planBinary},
    {DML_OPERATOR_ELEMENT_WISE_IF, "ELEMENT_WISE_IF", sizeof(IfDesc), kIfFields, kIfLevels, false, false, nullptr,
     planSelect},
};

}  // namespace

std::span<const OpSchema> elementwiseSchemas() { return kSchemas; }

}  // namespace dimple
