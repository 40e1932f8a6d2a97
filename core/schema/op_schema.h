// What a table can say about an operator. Every generic consumer (validation, deep copy, text, feature queries, the
// JSON runner, generated documentation) reads this and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data_type.h"
#include "core/directml.h"
#include "core/result.h"

namespace dimple {

class Operation;
class PlanBuilder;
struct MovedPart;

enum class Role : uint8_t { Input, Output, Attribute };

enum class FieldType : uint8_t {
  Tensor,         // const DML_TENSOR_DESC*
  TensorArray,    // const DML_TENSOR_DESC*, countField elements
  Operator,       // const DML_OPERATOR_DESC*: a fused activation
  OperatorArray,  // const DML_OPERATOR_DESC*, countField elements: fused activations
  UInt,           // UINT
  Int,            // INT
  Float,          // FLOAT
  Bool,           // BOOL
  Enum,           // an enumeration; `values` lists its enumerators, numbered from 0
  UIntArray,      // const UINT*, countField elements
  IntArray,       // const INT*
  FloatArray,     // const FLOAT*
  ScaleBias,      // const DML_SCALE_BIAS*
  Scalar,         // DML_SCALAR_UNION, of the data type that the nearest Enum field before it names
  Size2D,         // DML_SIZE_2D
};

// The enumerators of one DirectML enumeration without their common prefix, in order of value from 0.
struct EnumTable {
  std::string_view prefix;  // "DML_REDUCE_FUNCTION_"
  std::vector<std::string_view> names;
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

// The value of a field of a description, as its type T.
template <class T>
const T& fieldValue(const void* desc, const Field& field) {
  return *reinterpret_cast<const T*>(static_cast<const std::byte*>(desc) + field.offset);
}

// What one tensor may be, from a feature level on.
struct TypeRow {
  DML_FEATURE_LEVEL since;
  TypeSet types;
  uint8_t minRank = 1;
  uint8_t maxRank = 8;
};

// The rows of one tensor, oldest first. A device of feature level 6.4 always applies the newest; the others are kept
// for the documentation.
class TypeHistory {
 public:
  constexpr TypeHistory(std::initializer_list<TypeRow> rows) {
    for (const TypeRow& row : rows) rows_[count_++] = row;
  }
  constexpr std::span<const TypeRow> rows() const { return {rows_, count_}; }
  constexpr const TypeRow& newest() const { return rows_[count_ - 1]; }

 private:
  TypeRow rows_[6]{};
  size_t count_ = 0;
};

// How a tensor must match others: indices of rules, -1 for none. Absent tensors constrain nothing.
struct Relation {
  int8_t type = -1;   // same DataType
  int8_t rank = -1;   // same DimensionCount
  int8_t sizes = -1;  // same DimensionCount and Sizes
};

// Rules of one tensor field, in the order of the tensor fields.
struct TensorRule {
  TypeHistory history;
  Relation as{};
  bool ownable = true;  // an input may be OWNED_BY_DML

  constexpr TypeSet types() const { return history.newest().types; }
  constexpr uint32_t minRank() const { return history.newest().minRank; }
  constexpr uint32_t maxRank() const { return history.newest().maxRank; }
};

struct OpSchema {
  DML_OPERATOR_TYPE type;
  std::string_view name;  // without DML_OPERATOR_
  uint32_t descBytes;     // sizeof the description structure
  std::span<const Field> fields;
  std::span<const TensorRule> rules;
  bool inPlace = false;                         // an output may alias an input of identical layout
  bool fusable = false;                         // may be a FusedActivation of any operator that has one
  Status (*check)(const Operation&) = nullptr;  // checks what the table cannot express
  // Adds the operation's dispatches. Null: descriptions are checked, but the operator cannot be compiled.
  Status (*plan)(const Operation&, PlanBuilder&) = nullptr;
  // The operators that its FusedActivation may be, besides the fusable ones.
  std::span<const DML_OPERATOR_TYPE> alsoFuses{};
  // For an operator that only moves elements: where they go. Empty if a description does more than that.
  std::vector<MovedPart> (*parts)(const Operation&) = nullptr;
  // It reads a matrix whose columns lie side by side as fast as one whose rows do.
  bool readsColumns = false;
  // What it reads are numbers, none of which says where else it reads or writes, or how often. Not said of all
  // operators for which it holds.
  bool numbersOnly = false;
};

// The number of elements of an array of a description.
inline UINT countOf(const OpSchema& schema, const void* desc, const Field& array) {
  return fieldValue<UINT>(desc, schema.fields[static_cast<size_t>(array.countField)]);
}

// All schemas, one family after another.
std::span<const OpSchema* const> allSchemas();

const OpSchema* findSchema(DML_OPERATOR_TYPE type);

// By name, with or without "DML_OPERATOR_".
const OpSchema* findSchema(std::string_view name);

// The first field of a type; null: there is none.
const Field* findField(const OpSchema& schema, FieldType type, Role role = Role::Attribute);
// By name; null: there is none.
const Field* findField(const OpSchema& schema, std::string_view name);

constexpr bool isTensor(const Field& field) {
  return field.type == FieldType::Tensor || field.type == FieldType::TensorArray;
}
// The name of a tensor field, for an operator with `count` tensors of a role: "ATensor", "InputTensors[3]".
std::string tensorName(const Field& field, size_t element);
std::string tensorName(const OpSchema& schema, Role role, size_t index, size_t count);

// The rule of the main tensor: the first one whose rule allows the most data types, such as the values of a gather and
// not its indices. Arrays of tensors come after single tensors. Null for a schema without tensors.
const TensorRule* mainRule(const OpSchema& schema);

// Enumerations that attributes use.
extern const EnumTable kTensorDataTypes;
extern const EnumTable kReduceFunctions;
extern const EnumTable kAxisDirections;
extern const EnumTable kMatrixTransforms;
extern const EnumTable kConvolutionModes;
extern const EnumTable kConvolutionDirections;
extern const EnumTable kPaddingModes;
extern const EnumTable kInterpolationModes;
extern const EnumTable kRecurrentNetworkDirections;
extern const EnumTable kRoundingModes;
extern const EnumTable kIsInfinityModes;
extern const EnumTable kDepthSpaceOrders;
extern const EnumTable kRandomGeneratorTypes;
extern const EnumTable kMultiheadAttentionMaskTypes;
extern const EnumTable kQuantizationTypes;

}  // namespace dimple
