#include <algorithm>
#include <bit>
#include <vector>

#include "core/ops/families.h"
#include "core/text.h"

namespace dimple {
namespace {

std::vector<const OpSchema*> collectSchemas() {
  std::vector<const OpSchema*> all;
  for (const auto family : {DIMPLE_FAMILIES})
    for (const OpSchema& schema : family) all.push_back(&schema);
  return all;
}

}  // namespace

std::span<const OpSchema* const> allSchemas() {
  static const std::vector<const OpSchema*> all = collectSchemas();
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
  if (name == "SCATTER") name = "SCATTER_ELEMENTS";  // the header's older name of it
  const auto all = allSchemas();
  const auto found = std::ranges::find(all, name, &OpSchema::name);
  return found == all.end() ? nullptr : *found;
}

const Field* findField(const OpSchema& schema, FieldType type, Role role) {
  const auto found =
      std::ranges::find_if(schema.fields, [&](const Field& field) { return field.type == type && field.role == role; });
  return found == schema.fields.end() ? nullptr : &*found;
}

const Field* findField(const OpSchema& schema, std::string_view name) {
  const auto found = std::ranges::find(schema.fields, name, &Field::name);
  return found == schema.fields.end() ? nullptr : &*found;
}

std::string tensorName(const Field& field, size_t element) {
  return field.type == FieldType::Tensor ? std::string(field.name) : cat(field.name, "[", element, "]");
}

std::string tensorName(const OpSchema& schema, Role role, size_t index, size_t count) {
  const auto isOfRole = [&](const Field& field) { return field.role == role && isTensor(field); };
  // There is at most one array. The tensors beyond one per field belong to it.
  const size_t length = count + 1 - static_cast<size_t>(std::ranges::count_if(schema.fields, isOfRole));
  for (const Field& field : schema.fields) {
    if (!isOfRole(field)) continue;
    const size_t tensors = field.type == FieldType::TensorArray ? length : 1;
    if (index < tensors) return tensorName(field, index);
    index -= tensors;
  }
  return {};
}

const TensorRule* mainRule(const OpSchema& schema) {
  const TensorRule* main = nullptr;
  const TensorRule* next = schema.rules.data();
  bool isArray = false;
  for (const Field& field : schema.fields) {
    if (!isTensor(field)) continue;
    const TensorRule& rule = *next++;
    // An array of tensors has types of its own only where they differ among themselves.
    const bool better = !main || (isArray && field.type == FieldType::Tensor) ||
                        (isArray == (field.type == FieldType::TensorArray) &&
                         std::popcount(rule.types()) > std::popcount(main->types()));
    if (!better) continue;
    main = &rule;
    isArray = field.type == FieldType::TensorArray;
  }
  return main;
}

}  // namespace dimple
