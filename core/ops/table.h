// The notation of the schema tables in the family files.
#pragma once

#include "core/schema/op_schema.h"

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

}  // namespace dimple

// A row of a family's table: operator, fields (a template over the description structure) and what else OpSchema says,
// by designated initializers.
#define DIMPLE_ROW(NAME, FIELDS, ...)                                                            \
  ::dimple::OpSchema {                                                                           \
    .type = DML_OPERATOR_##NAME, .name = #NAME, .descBytes = sizeof(DML_##NAME##_OPERATOR_DESC), \
    .fields = FIELDS<DML_##NAME##_OPERATOR_DESC>, __VA_ARGS__                                    \
  }

// Fields of the structure S. `count` is the index of the field that holds an array's length.
#define DIMPLE_FIELD(S, f, role, type, ...) \
  ::dimple::Field { #f, ::dimple::Role::role, ::dimple::FieldType::type, offsetof(S, f) __VA_OPT__(, ) __VA_ARGS__ }
#define DIMPLE_INPUT(S, f) DIMPLE_FIELD(S, f, Input, Tensor)
#define DIMPLE_OUTPUT(S, f) DIMPLE_FIELD(S, f, Output, Tensor)
#define DIMPLE_IN_AND_OUT(S) DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor)
#define DIMPLE_OPTIONAL_INPUT(S, f) DIMPLE_FIELD(S, f, Input, Tensor, true)
#define DIMPLE_OPTIONAL_OUTPUT(S, f) DIMPLE_FIELD(S, f, Output, Tensor, true)
#define DIMPLE_INPUT_ARRAY(S, f, count) DIMPLE_FIELD(S, f, Input, TensorArray, false, count)
#define DIMPLE_OUTPUT_ARRAY(S, f, count) DIMPLE_FIELD(S, f, Output, TensorArray, false, count)
#define DIMPLE_ATTRIBUTE(S, f, type) DIMPLE_FIELD(S, f, Attribute, type)
#define DIMPLE_OPTIONAL(S, f, type) DIMPLE_FIELD(S, f, Attribute, type, true)
#define DIMPLE_ARRAY(S, f, type, count) DIMPLE_FIELD(S, f, Attribute, type, false, count)
#define DIMPLE_FLOAT(S, f) DIMPLE_ATTRIBUTE(S, f, Float)
#define DIMPLE_UINT(S, f) DIMPLE_ATTRIBUTE(S, f, UInt)
#define DIMPLE_BOOL(S, f) DIMPLE_ATTRIBUTE(S, f, Bool)
#define DIMPLE_ENUM(S, f, table) DIMPLE_FIELD(S, f, Attribute, Enum, false, -1, &table)

// The same for several fields of S that follow one another: M(S, f) for each, twelve at most.
#define DIMPLE_EACH(M, S, f, ...) M(S, f) __VA_OPT__(, DIMPLE_EACH_11(M, S, __VA_ARGS__))
#define DIMPLE_EACH_11(M, S, f, ...) M(S, f) __VA_OPT__(, DIMPLE_EACH_10(M, S, __VA_ARGS__))
#define DIMPLE_EACH_10(M, S, f, ...) M(S, f) __VA_OPT__(, DIMPLE_EACH_9(M, S, __VA_ARGS__))
#define DIMPLE_EACH_9(M, S, f, ...) M(S, f) __VA_OPT__(, DIMPLE_EACH_8(M, S, __VA_ARGS__))
#define DIMPLE_EACH_8(M, S, f, ...) M(S, f) __VA_OPT__(, DIMPLE_EACH_7(M, S, __VA_ARGS__))
#define DIMPLE_EACH_7(M, S, f, ...) M(S, f) __VA_OPT__(, DIMPLE_EACH_6(M, S, __VA_ARGS__))
#define DIMPLE_EACH_6(M, S, f, ...) M(S, f) __VA_OPT__(, DIMPLE_EACH_5(M, S, __VA_ARGS__))
#define DIMPLE_EACH_5(M, S, f, ...) M(S, f) __VA_OPT__(, DIMPLE_EACH_4(M, S, __VA_ARGS__))
#define DIMPLE_EACH_4(M, S, f, ...) M(S, f) __VA_OPT__(, DIMPLE_EACH_3(M, S, __VA_ARGS__))
#define DIMPLE_EACH_3(M, S, f, ...) M(S, f) __VA_OPT__(, DIMPLE_EACH_2(M, S, __VA_ARGS__))
#define DIMPLE_EACH_2(M, S, f, ...) M(S, f) __VA_OPT__(, DIMPLE_EACH_1(M, S, __VA_ARGS__))
#define DIMPLE_EACH_1(M, S, f) M(S, f)
#define DIMPLE_INPUTS(S, ...) DIMPLE_EACH(DIMPLE_INPUT, S, __VA_ARGS__)
#define DIMPLE_OUTPUTS(S, ...) DIMPLE_EACH(DIMPLE_OUTPUT, S, __VA_ARGS__)
#define DIMPLE_OPTIONAL_INPUTS(S, ...) DIMPLE_EACH(DIMPLE_OPTIONAL_INPUT, S, __VA_ARGS__)
#define DIMPLE_OPTIONAL_OUTPUTS(S, ...) DIMPLE_EACH(DIMPLE_OPTIONAL_OUTPUT, S, __VA_ARGS__)
#define DIMPLE_FLOATS(S, ...) DIMPLE_EACH(DIMPLE_FLOAT, S, __VA_ARGS__)
#define DIMPLE_UINTS(S, ...) DIMPLE_EACH(DIMPLE_UINT, S, __VA_ARGS__)
#define DIMPLE_BOOLS(S, ...) DIMPLE_EACH(DIMPLE_BOOL, S, __VA_ARGS__)

namespace dimple {

// Of operators that make one tensor of another, without attributes.
template <class S>
inline constexpr Field kUnaryFields[] = {DIMPLE_IN_AND_OUT(S)};

}  // namespace dimple
