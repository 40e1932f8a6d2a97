// The notation of the schema tables in the family files.
#pragma once

#include <string_view>

#include "core/ops/families.h"

namespace dimple {

// The schema of an operator that passes make, and no description says.
constexpr OpSchema schemaOfPasses(std::string_view name, Status (*plan)(const Operation&, PlanBuilder&)) {
  return {.type = DML_OPERATOR_INVALID, .name = name, .descBytes = 0, .fields = {}, .rules = {}, .plan = plan};
}

}  // namespace dimple

// A row of a family's table: operator, fields (a template over the description structure) and what else OpSchema says,
// by designated initializers.
#define DIMPLE_ROW(NAME, FIELDS, ...)                                                            \
  ::dimple::OpSchema {                                                                           \
    .type = DML_OPERATOR_##NAME, .name = #NAME, .descBytes = sizeof(DML_##NAME##_OPERATOR_DESC), \
    .fields = FIELDS<DML_##NAME##_OPERATOR_DESC>, __VA_ARGS__                                    \
  }

// The same where check and plan are templates over the description's structure.
#define DIMPLE_DESC_ROW(NAME, FIELDS, RULES, CHECK, PLAN, ...)                         \
  DIMPLE_ROW(NAME, FIELDS, .rules = RULES, .check = CHECK<DML_##NAME##_OPERATOR_DESC>, \
             .plan = PLAN<DML_##NAME##_OPERATOR_DESC> __VA_OPT__(, ) __VA_ARGS__)

// The fields of a description's structure S, as a template over it, so that structures with the same fields share them.
#define DIMPLE_FIELDS(NAME, ...) \
  template <class S>             \
  constexpr ::dimple::Field NAME[] = {__VA_ARGS__}

// What it lists.
#define DIMPLE_FIELD(f, role, type, ...) \
  ::dimple::Field { #f, ::dimple::Role::role, ::dimple::FieldType::type, offsetof(S, f) __VA_OPT__(, ) __VA_ARGS__ }
#define DIMPLE_TENSOR(role, f) DIMPLE_FIELD(f, role, Tensor)
#define DIMPLE_OPTIONAL_TENSOR(role, f) DIMPLE_FIELD(f, role, Tensor, true)
#define DIMPLE_ATTRIBUTE(type, f) DIMPLE_FIELD(f, Attribute, type)
#define DIMPLE_ONE_UINT_ARRAY(count, f) DIMPLE_FIELD(f, Attribute, UIntArray, false, count)
#define DIMPLE_ONE_FLOAT_ARRAY(count, f) DIMPLE_FIELD(f, Attribute, FloatArray, false, count)

// M(x, f) for each field, twelve at most.
#define DIMPLE_EACH(M, x, f, ...) M(x, f) __VA_OPT__(, DIMPLE_EACH_11(M, x, __VA_ARGS__))
#define DIMPLE_EACH_11(M, x, f, ...) M(x, f) __VA_OPT__(, DIMPLE_EACH_10(M, x, __VA_ARGS__))
#define DIMPLE_EACH_10(M, x, f, ...) M(x, f) __VA_OPT__(, DIMPLE_EACH_9(M, x, __VA_ARGS__))
#define DIMPLE_EACH_9(M, x, f, ...) M(x, f) __VA_OPT__(, DIMPLE_EACH_8(M, x, __VA_ARGS__))
#define DIMPLE_EACH_8(M, x, f, ...) M(x, f) __VA_OPT__(, DIMPLE_EACH_7(M, x, __VA_ARGS__))
#define DIMPLE_EACH_7(M, x, f, ...) M(x, f) __VA_OPT__(, DIMPLE_EACH_6(M, x, __VA_ARGS__))
#define DIMPLE_EACH_6(M, x, f, ...) M(x, f) __VA_OPT__(, DIMPLE_EACH_5(M, x, __VA_ARGS__))
#define DIMPLE_EACH_5(M, x, f, ...) M(x, f) __VA_OPT__(, DIMPLE_EACH_4(M, x, __VA_ARGS__))
#define DIMPLE_EACH_4(M, x, f, ...) M(x, f) __VA_OPT__(, DIMPLE_EACH_3(M, x, __VA_ARGS__))
#define DIMPLE_EACH_3(M, x, f, ...) M(x, f) __VA_OPT__(, DIMPLE_EACH_2(M, x, __VA_ARGS__))
#define DIMPLE_EACH_2(M, x, f, ...) M(x, f) __VA_OPT__(, DIMPLE_EACH_1(M, x, __VA_ARGS__))
#define DIMPLE_EACH_1(M, x, f) M(x, f)

// One field, or several of a kind that follow one another. `count` is the index of the field that holds an array's
// length.
#define DIMPLE_INPUT(...) DIMPLE_EACH(DIMPLE_TENSOR, Input, __VA_ARGS__)
#define DIMPLE_OUTPUT(...) DIMPLE_EACH(DIMPLE_TENSOR, Output, __VA_ARGS__)
#define DIMPLE_OPTIONAL_INPUT(...) DIMPLE_EACH(DIMPLE_OPTIONAL_TENSOR, Input, __VA_ARGS__)
#define DIMPLE_OPTIONAL_OUTPUT(...) DIMPLE_EACH(DIMPLE_OPTIONAL_TENSOR, Output, __VA_ARGS__)
#define DIMPLE_INPUT_ARRAY(count, f) DIMPLE_FIELD(f, Input, TensorArray, false, count)
#define DIMPLE_OUTPUT_ARRAY(count, f) DIMPLE_FIELD(f, Output, TensorArray, false, count)
#define DIMPLE_FLOAT(...) DIMPLE_EACH(DIMPLE_ATTRIBUTE, Float, __VA_ARGS__)
#define DIMPLE_UINT(...) DIMPLE_EACH(DIMPLE_ATTRIBUTE, UInt, __VA_ARGS__)
#define DIMPLE_INT(...) DIMPLE_EACH(DIMPLE_ATTRIBUTE, Int, __VA_ARGS__)
#define DIMPLE_BOOL(...) DIMPLE_EACH(DIMPLE_ATTRIBUTE, Bool, __VA_ARGS__)
#define DIMPLE_SCALAR(...) DIMPLE_EACH(DIMPLE_ATTRIBUTE, Scalar, __VA_ARGS__)
#define DIMPLE_UINT_ARRAY(count, ...) DIMPLE_EACH(DIMPLE_ONE_UINT_ARRAY, count, __VA_ARGS__)
#define DIMPLE_INT_ARRAY(count, f) DIMPLE_FIELD(f, Attribute, IntArray, false, count)
#define DIMPLE_FLOAT_ARRAY(count, ...) DIMPLE_EACH(DIMPLE_ONE_FLOAT_ARRAY, count, __VA_ARGS__)
#define DIMPLE_OPERATOR_ARRAY(count, f) DIMPLE_FIELD(f, Attribute, OperatorArray, false, count)
#define DIMPLE_ENUM(f, table) DIMPLE_FIELD(f, Attribute, Enum, false, -1, &table)

// Those that several families have.
#define DIMPLE_IN_AND_OUT DIMPLE_INPUT(InputTensor), DIMPLE_OUTPUT(OutputTensor)
#define DIMPLE_OF_GRADIENT DIMPLE_INPUT(InputTensor, InputGradientTensor), DIMPLE_OUTPUT(OutputGradientTensor)
#define DIMPLE_QUANTIZED_INPUT(name) \
  DIMPLE_INPUT(name##Tensor, name##ScaleTensor), DIMPLE_OPTIONAL_INPUT(name##ZeroPointTensor)
#define DIMPLE_OUTPUT_QUANTIZATION DIMPLE_INPUT(OutputScaleTensor), DIMPLE_OPTIONAL_INPUT(OutputZeroPointTensor)
#define DIMPLE_AXES(count) DIMPLE_UINT(AxisCount), DIMPLE_UINT_ARRAY(count, Axes)
#define DIMPLE_SCALE_BIAS DIMPLE_FIELD(ScaleBias, Attribute, ScaleBias, true)
#define DIMPLE_FUSED_ACTIVATION DIMPLE_FIELD(FusedActivation, Attribute, Operator, true)

namespace dimple {

// Feature levels of rows.
constexpr auto k1_0 = DML_FEATURE_LEVEL_1_0;
constexpr auto k2_0 = DML_FEATURE_LEVEL_2_0;
constexpr auto k2_1 = DML_FEATURE_LEVEL_2_1;
constexpr auto k3_0 = DML_FEATURE_LEVEL_3_0;
constexpr auto k3_1 = DML_FEATURE_LEVEL_3_1;
constexpr auto k4_0 = DML_FEATURE_LEVEL_4_0;
constexpr auto k4_1 = DML_FEATURE_LEVEL_4_1;
constexpr auto k5_0 = DML_FEATURE_LEVEL_5_0;
constexpr auto k5_1 = DML_FEATURE_LEVEL_5_1;
constexpr auto k5_2 = DML_FEATURE_LEVEL_5_2;
constexpr auto k6_0 = DML_FEATURE_LEVEL_6_0;
constexpr auto k6_1 = DML_FEATURE_LEVEL_6_1;
constexpr auto k6_2 = DML_FEATURE_LEVEL_6_2;
constexpr auto k6_3 = DML_FEATURE_LEVEL_6_3;
constexpr auto k6_4 = DML_FEATURE_LEVEL_6_4;

// Relations to the tensor of another rule.
constexpr Relation like(int8_t rule) { return {rule, rule, rule}; }
constexpr Relation sameType(int8_t rule) { return {rule, -1, -1}; }
constexpr Relation sameRank(int8_t rule) { return {-1, rule, -1}; }
constexpr Relation sameSizes(int8_t rule) { return {-1, rule, rule}; }
constexpr Relation sameTypeAndRank(int8_t rule) { return {rule, rule, -1}; }

// Rules of an input and an output of its type and rank; of one that is like it; of two inputs and an output like them.
template <const TypeHistory& types>
constexpr TensorRule kInAndOutRules[] = {{types}, {types, sameTypeAndRank(0)}};
template <const TypeHistory& types>
constexpr TensorRule kUnaryRules[] = {{types}, {types, like(0)}};
template <const TypeHistory& types>
constexpr TensorRule kBinaryRules[] = {{types}, {types, like(0)}, {types, like(0)}};

// Of operators that make one tensor of another, without attributes.
DIMPLE_FIELDS(kUnaryFields, DIMPLE_IN_AND_OUT);

}  // namespace dimple
