#include "clients/dimple/rules.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/text.h"

namespace dimple::tool {
namespace {

std::string levelText(DML_FEATURE_LEVEL level) {
  const auto value = static_cast<uint32_t>(level);
  return cat(value >> 12, ".", value >> 8 & 0xf);
}

// Sets that have a name are written by it; the page begins with the names.
struct NamedSet {
  TypeSet types;
  std::string_view name;
  std::string_view meaning;
};
constexpr NamedSet kNamedSets[] = {
    {kAllTypes, "all", "numbers and f64"},
    {kNumbers, "numbers", "f32, f16 and the integers of 8 to 64 bits"},
    {kUpTo32, "up to 32 bits", "f32, f16 and the integers of 8 to 32 bits"},
};

std::string typesText(TypeSet types) {
  for (const NamedSet& set : kNamedSets)
    if (set.types == types) return std::string(set.name);
  std::string out;
  for (uint32_t i = 1; i < kTensorDataTypes.names.size(); ++i)
    if (types >> i & 1) out += cat(out.empty() ? "" : " ", shortTypeName(static_cast<DataType>(i)));
  return out;
}

std::string rankText(const TypeRow& row) {
  return row.minRank == row.maxRank ? std::to_string(row.minRank) : cat(row.minRank, "-", row.maxRank);
}

std::string historyText(const TypeHistory& history) {
  std::string out;
  for (auto row = history.rows().rbegin(); row != history.rows().rend(); ++row)
    out +=
        cat(out.empty() ? "" : "<br>", levelText(row->since), ": ", typesText(row->types), ", rank ", rankText(*row));
  return out;
}

// "type, sizes of ATensor"
std::string relationText(const Relation& relation, const std::vector<std::string_view>& names) {
  std::map<int8_t, std::string> byTensor;
  const auto add = [&](int8_t index, std::string_view what) {
    if (index >= 0) byTensor[index] += cat(byTensor[index].empty() ? "" : ", ", what);
  };
  add(relation.type, "type");
  if (relation.rank != relation.sizes) add(relation.rank, "rank");
  add(relation.sizes, "sizes");
  std::string out;
  for (const auto& [index, what] : byTensor)
    out += cat(out.empty() ? "" : "; ", what, " of ", names[static_cast<size_t>(index)]);
  return out;
}

std::string roleText(const Field& field) {
  return cat(field.optional ? "optional " : "", field.role == Role::Input ? "input" : "output",
             field.type == FieldType::TensorArray ? "s" : "");
}

std::string_view typeText(const Field& field) {
  switch (field.type) {
    case FieldType::UInt:
      return "UINT";
    case FieldType::Int:
      return "INT";
    case FieldType::Float:
      return "FLOAT";
    case FieldType::Bool:
      return "BOOL";
    case FieldType::UIntArray:
      return "UINT array";
    case FieldType::IntArray:
      return "INT array";
    case FieldType::FloatArray:
      return "FLOAT array";
    case FieldType::ScaleBias:
      return "DML_SCALE_BIAS";
    case FieldType::Scalar:
      return "DML_SCALAR_UNION";
    case FieldType::Size2D:
      return "DML_SIZE_2D";
    case FieldType::Operator:
      return "activation";
    case FieldType::OperatorArray:
      return "activations";
    case FieldType::Enum:
    case FieldType::Tensor:
    case FieldType::TensorArray:
      break;
  }
  return "";
}

std::string attributeText(const Field& field) {
  std::string out = cat("`", field.name, "` ");
  if (field.type == FieldType::Enum && field.values != &kTensorDataTypes) {
    std::string names;
    for (const auto name : field.values->names) names += cat(names.empty() ? "" : ", ", name);
    out += cat("(", names, ")");
  } else {
    out += field.type == FieldType::Enum ? "(a data type)" : cat("(", typeText(field), ")");
  }
  return field.optional ? out + ", optional" : out;
}

}  // namespace

std::string rulesText(const OpSchema& schema) {
  std::vector<std::string_view> names;
  std::string attributes;
  for (const Field& field : schema.fields)
    if (isTensor(field))
      names.push_back(field.name);
    else
      attributes += cat(attributes.empty() ? "" : "; ", attributeText(field));
  auto since = schema.rules.front().history.rows().front().since;
  for (const TensorRule& rule : schema.rules) since = std::min(since, rule.history.rows().front().since);

  std::string out = cat("## ", schema.name, "\n\nSince ", levelText(since), ".",
                        schema.inPlace ? " An output may be bound to an input of the same layout." : "",
                        schema.fusable ? " May be fused." : "",
                        "\n\n| tensor | | from level: data types, rank | like |\n|---|---|---|---|\n");
  size_t index = 0;
  for (const Field& field : schema.fields) {
    if (!isTensor(field)) continue;
    const TensorRule& rule = schema.rules[index++];
    out += cat("| ", field.name, " | ", roleText(field), " | ", historyText(rule.history), " | ",
               relationText(rule.as, names), " |\n");
  }
  if (!attributes.empty()) out += cat("\nAttributes: ", attributes, ".\n");
  return out;
}

std::string allRulesText() {
  std::string out =
      "# Operators\n\n"
      "This page lists what CreateOperator checks by table: the data types and ranks of each tensor from a feature\n"
      "level on, and how a tensor must match another. The newest row applies, whatever feature level a device was\n"
      "created with. The rules on sizes and on values of attributes are in `core/ops/`; each refusal says which\n"
      "rule was broken.\n\n"
      "The page is the output of `dimple ops --rules`. Data types are f32, f16, f64, i8 to i64 and u8 to u64;\n";
  bool first = true;
  for (const NamedSet& set : kNamedSets) {
    out += cat(first ? "" : "; ", "*", set.name, "* stands for ", set.meaning);
    first = false;
  }
  out += ".\n";
  for (const OpSchema* schema : allSchemas()) out += cat("\n", rulesText(*schema));
  return out;
}

}  // namespace dimple::tool
