#include <algorithm>
#include <array>
#include <vector>

#include "core/op_schema.h"
#include "core/ops/families.h"

namespace dimple {
namespace {

std::vector<const OpSchema*> collect() {
  std::vector<const OpSchema*> all;
  for (const auto family : {elementwiseSchemas(), movementSchemas(), castSchemas(), reduceSchemas()})
    for (const OpSchema& schema : family) all.push_back(&schema);
  return all;
}

constexpr std::array<std::string_view, 14> kDataTypeNames{"UNKNOWN", "FLOAT32", "FLOAT16", "UINT32", "UINT16",
                                                          "UINT8",   "INT32",   "INT16",   "INT8",   "FLOAT64",
                                                          "UINT64",  "INT64",   "UINT4",   "INT4"};
constexpr std::array<std::string_view, 12> kReduceFunctionNames{
    "ARGMAX", "ARGMIN", "AVERAGE", "L1", "L2", "LOG_SUM", "LOG_SUM_EXP", "MAX", "MIN", "MULTIPLY", "SUM", "SUM_SQUARE"};
constexpr std::array<std::string_view, 2> kAxisDirectionNames{"INCREASING", "DECREASING"};

}  // namespace

const EnumTable kTensorDataTypes{"DML_TENSOR_DATA_TYPE_", kDataTypeNames};
const EnumTable kReduceFunctions{"DML_REDUCE_FUNCTION_", kReduceFunctionNames};
const EnumTable kAxisDirections{"DML_AXIS_DIRECTION_", kAxisDirectionNames};

std::span<const OpSchema* const> allSchemas() {
  static const std::vector<const OpSchema*> all = collect();
  return all;
}

const OpSchema* findSchema(DML_OPERATOR_TYPE type) {
  static const std::vector<const OpSchema*> byType = [] {
    std::vector<const OpSchema*> table(static_cast<size_t>(DML_OPERATOR_UNFOLD) + 1);
    for (const OpSchema* schema : allSchemas()) table[static_cast<size_t>(schema->type)] = schema;
    return table;
  }();
  const auto index = static_cast<size_t>(type);
  return index < byType.size() ? byType[index] : nullptr;
}

const OpSchema* findSchema(std::string_view name) {
  constexpr std::string_view kPrefix = "DML_OPERATOR_";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  const auto all = allSchemas();
  const auto found = std::find_if(all.begin(), all.end(), [&](const OpSchema* s) { return s->name == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace dimple
