// What a table can say of an operator. Every generic consumer (validation, deep copy, text, feature queries, the JSON
// runner, generated documentation) reads this and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/data_type.h"
#include "core/directml.h"
#include "core/result.h"

namespace dimple {

class OpView;
struct Plan;
struct Caps;

enum class Role : uint8_t { Input, Output, Attribute };

enum class FieldType : uint8_t {
  Tensor,       // const DML_TENSOR_DESC*
  TensorArray,  // const DML_TENSOR_DESC*, countField elements
  Operator,     // const DML_OPERATOR_DESC*: a fused activation
  UInt,         // UINT
  Int,          // INT
  Float,        // FLOAT
  Bool,         // BOOL
  Enum,         // an enumeration; `values` lists its enumerators, numbered from 0
  UIntArray,    // const UINT*, countField elements
  IntArray,     // const INT*
  FloatArray,   // const FLOAT*
  ScaleBias,    // const DML_SCALE_BIAS*
  Scalar,       // DML_SCALAR_UNION, of the data type that the field before it names
};

// The enumerators of one DirectML enumeration without their common prefix, in order of value from 0.
struct EnumTable {
  std::string_view prefix;  // "DML_REDUCE_FUNCTION_"
  std::span<const std::string_view> names;
};

struct Field {
  std::string_view name;  // as in the header
  Role role;
  FieldType type;
  uint16_t offset;
  bool optional = false;
  int8_t countField = -1;  // index of the UINT field that holds an array's length
  const EnumTable* values = nullptr;
};

// Rules of one tensor field, in the order of the tensor fields.
struct TensorRule {
  TypeSet types;
  uint8_t minRank = 1;
  uint8_t maxRank = 8;
  int8_t sameTypeAs = -1;   // index of a rule whose tensor must have the same DataType
  int8_t sameRankAs = -1;   // ... DimensionCount
  int8_t sameSizesAs = -1;  // ... DimensionCount and Sizes
};

// The tensor rules from one feature level on. A device of feature level 6.4 always applies the newest row.
struct Level {
  DML_FEATURE_LEVEL since;
  std::span<const TensorRule> rules;
};

struct OpSchema {
  DML_OPERATOR_TYPE type;
  std::string_view name;  // without DML_OPERATOR_
  uint32_t descBytes;     // sizeof the description structure
  std::span<const Field> fields;
  std::span<const Level> levels;             // oldest first
  bool inPlace = false;                      // an output may alias an input of identical layout
  bool fusable = false;                      // may be a FusedActivation
  Status (*check)(const OpView&) = nullptr;  // what the table cannot say
  Result<Plan> (*plan)(const OpView&, const Caps&) = nullptr;

  std::span<const TensorRule> rules() const { return levels.back().rules; }
};

// All schemas, one family after another.
std::span<const OpSchema* const> allSchemas();

const OpSchema* findSchema(DML_OPERATOR_TYPE type);

// By name, with or without "DML_OPERATOR_".
const OpSchema* findSchema(std::string_view name);

// Rows of tables, to be used inside a family file.
#define DIMPLE_INPUT(S, f) \
  ::dimple::Field { #f, ::dimple::Role::Input, ::dimple::FieldType::Tensor, offsetof(S, f) }
#define DIMPLE_OUTPUT(S, f) \
  ::dimple::Field { #f, ::dimple::Role::Output, ::dimple::FieldType::Tensor, offsetof(S, f) }
#define DIMPLE_INPUT_ARRAY(S, f, count) \
  ::dimple::Field { #f, ::dimple::Role::Input, ::dimple::FieldType::TensorArray, offsetof(S, f), false, count }
#define DIMPLE_ATTRIBUTE(S, f, kind) \
  ::dimple::Field { #f, ::dimple::Role::Attribute, ::dimple::FieldType::kind, offsetof(S, f) }
#define DIMPLE_OPTIONAL(S, f, kind) \
  ::dimple::Field { #f, ::dimple::Role::Attribute, ::dimple::FieldType::kind, offsetof(S, f), true }
#define DIMPLE_ARRAY(S, f, kind, count) \
  ::dimple::Field { #f, ::dimple::Role::Attribute, ::dimple::FieldType::kind, offsetof(S, f), false, count }
#define DIMPLE_ENUM(S, f, table) \
  ::dimple::Field { #f, ::dimple::Role::Attribute, ::dimple::FieldType::Enum, offsetof(S, f), false, -1, &table }

// Enumerations that attributes use.
extern const EnumTable kTensorDataTypes;
extern const EnumTable kReduceFunctions;
extern const EnumTable kAxisDirections;

}  // namespace dimple
