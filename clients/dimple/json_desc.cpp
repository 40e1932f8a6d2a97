#include "clients/dimple/json_desc.h"

#include <algorithm>

#include "clients/dimple/line.h"
#include "clients/dimple/suggest.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

// Each value is put into the spelling of case lines, which core reads.
using TextOf = std::string (*)(const JsonValue&);

std::string listOf(const JsonValue& field, TextOf text, std::string_view open, std::string_view close) {
  std::string out(open);
  for (size_t i = 0; i < field.array().size(); ++i) out += cat(i ? "," : "", text(field.element(i)));
  return out + std::string(close);
}

std::string numberOf(const JsonValue& field) {
  const Json& value = field.value();
  if (value.is_number()) return value.dump();
  if (!value.is_string()) field.fail("is not a number.");
  std::string text = value.get<std::string>();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text != "nan" && text != "inf" && text != "-inf")
    field.fail("is neither a number nor \"nan\", \"inf\" or \"-inf\".");
  return text;
}

std::string tensorOf(const JsonValue& field) {
  if (field.object().has("Desc")) field.allowOnly({"Type", "Desc"});
  const JsonValue desc = field.has("Desc") ? field.member("Desc") : field;
  desc.allowOnly({"Type", "DataType", "Flags", "DimensionCount", "Sizes", "Strides", "TotalTensorSizeInBytes",
                  "GuaranteedBaseOffsetAlignment"});
  if (field.has("Type")) {
    const auto type = field.member("Type").string();
    if (type != "BUFFER" && type != "DML_TENSOR_TYPE_BUFFER")
      field.member("Type").fail("is not a tensor type, expected DML_TENSOR_TYPE_BUFFER.");
  }
  const auto sizes = desc.member("Sizes").integers();
  std::string out(shortTypeName(readDataType(desc.member("DataType"))));
  if (out.empty()) out = "#0";
  out += listOf(desc.member("Sizes"), numberOf, "[", "]");
  if (desc.has("DimensionCount") && desc.member("DimensionCount").integer() != sizes.size())
    desc.member("DimensionCount").fail(cat("is not the number of Sizes (", sizes.size(), ")."));
  if (desc.has("Strides") && !desc.member("Strides").value().is_null()) {
    if (desc.member("Strides").integers().size() != sizes.size())
      desc.member("Strides").fail(cat("does not have as many elements as Sizes (", sizes.size(), ")."));
    out += listOf(desc.member("Strides"), numberOf, "{", "}");
  }
  // As in DxDispatch, 0 stands for the size that sizes and strides imply.
  if (desc.has("TotalTensorSizeInBytes"))
    if (const uint64_t total = desc.member("TotalTensorSizeInBytes").integer()) out += cat("@", total);
  if (desc.has("GuaranteedBaseOffsetAlignment"))
    out += cat("%", desc.member("GuaranteedBaseOffsetAlignment").integer(UINT32_MAX));
  if (desc.has("Flags"))
    if (const uint32_t flags = readFlags(desc.member("Flags"), "DML_TENSOR_FLAG_", {"OWNED_BY_DML"}))
      out += cat("!", flags);
  return out;
}

std::string operatorOf(const JsonValue& field);

std::string textOf(const Field& schemaField, const JsonValue& field) {
  switch (schemaField.type) {
    case FieldType::Tensor:
      return tensorOf(field);
    case FieldType::TensorArray:
      return listOf(field, tensorOf, "(", ")");
    case FieldType::Operator:
      return operatorOf(field);
    case FieldType::OperatorArray:
      return listOf(field, operatorOf, "(", ")");
    case FieldType::Size2D:
      if (field.value().is_array()) return listOf(field, numberOf, "[", "]");
      field.object().allowOnly({"Width", "Height"});
      return cat("[", numberOf(field.member("Width")), ",", numberOf(field.member("Height")), "]");
    case FieldType::UIntArray:
    case FieldType::IntArray:
    case FieldType::FloatArray:
      return listOf(field, numberOf, "[", "]");
    case FieldType::Enum:
      return field.value().is_number() ? numberOf(field) : field.string();
    case FieldType::Bool:
      return field.value().is_boolean() ? (field.value().get<bool>() ? "1" : "0") : numberOf(field);
    case FieldType::ScaleBias:
      if (field.value().is_array()) return listOf(field, numberOf, "[", "]");
      field.object().allowOnly({"Scale", "Bias"});
      return cat("[", numberOf(field.member("Scale")), ",", numberOf(field.member("Bias")), "]");
    case FieldType::UInt:
    case FieldType::Int:
    case FieldType::Float:
    case FieldType::Scalar:
      return numberOf(field);
  }
  return {};
}

bool isCount(const OpSchema& schema, const Field& field) {
  const auto index = &field - schema.fields.data();
  return std::any_of(schema.fields.begin(), schema.fields.end(), [&](const Field& f) { return f.countField == index; });
}

// Calls set(field of the schema, field of the JSON object) for each that is given, after checking names and presence.
template <class Set>
void eachField(const OpSchema& schema, const JsonValue& desc, bool fused, Set set) {
  desc.eachMember([&](const std::string& name, const JsonValue& member) {
    // The type of an operator whose fields stand beside it.
    if (name == "Type" && !findField(schema, name)) return;
    const Field* field = findField(schema, name);
    if (!field) {
      std::vector<std::string> names;
      names.reserve(schema.fields.size());
      for (const Field& f : schema.fields) names.emplace_back(f.name);
      member.fail(cat("is not a field of ", schema.name, candidatesText(name, names)));
    }
    if (!member.value().is_null()) set(*field, member);
  });
  for (const Field& field : schema.fields) {
    const bool isTensor = field.role != Role::Attribute;
    if (field.optional || isCount(schema, field) || (fused && isTensor)) continue;
    if (!desc.has(std::string(field.name))) desc.fail(cat("has no ", field.name, ", which ", schema.name, " needs."));
  }
}

const OpSchema& schemaOf(const JsonValue& type, std::string_view prefix) {
  const std::string name = type.string();
  const OpSchema* schema = findSchema(name);
  if (!schema) schema = findSchema(cat(prefix, name));
  if (!schema) {
    constexpr std::string_view kPrefix = "DML_OPERATOR_";
    const std::string_view given(name);
    const std::string_view bare = given.starts_with(kPrefix) ? given.substr(kPrefix.size()) : given;
    type.fail(cat("is \"", name, "\", which is not an operator", candidatesText(bare, operatorNames()),
                  " dimple ops lists the operators."));
  }
  return *schema;
}

// {"Type": "ACTIVATION_ELU", "Desc": {"Alpha": 0.5}} or {"Type": "ACTIVATION_ELU", "Alpha": 0.5}
std::string operatorOf(const JsonValue& field) {
  const OpSchema& schema = schemaOf(field.object().member("Type"), "ACTIVATION_");
  std::string fields;
  const auto add = [&](const Field& schemaField, const JsonValue& member) {
    fields += cat(fields.empty() ? "" : ",", schemaField.name, "=", textOf(schemaField, member));
  };
  if (field.has("Desc")) {
    field.allowOnly({"Type", "Desc"});
    eachField(schema, field.member("Desc"), true, add);
  } else {
    eachField(schema, field, true, add);
  }
  return cat(schema.name, "(", fields, ")");
}

}  // namespace

OwnedDesc readOperator(const JsonValue& object) {
  const OpSchema& schema = schemaOf(object.member(object.object().has("Type") ? "Type" : "type"), "");
  const JsonValue desc = object.member(object.has("Desc") ? "Desc" : "desc");
  OwnedDesc owned(schema);
  FieldSetter setter(owned, schema, const_cast<void*>(owned.desc().Desc));
  eachField(schema, desc, false, [&](const Field& schemaField, const JsonValue& member) {
    if (const auto status = setter.set(schemaField.name, textOf(schemaField, member)); !status)
      member.fail(cat("is wrong: ", status.error().text));
  });
  if (const auto status = setter.finish(); !status) desc.fail(cat("is wrong: ", status.error().text));
  return owned;
}

DataType readDataType(const JsonValue& field) {
  std::string name = field.string();
  std::string_view text = name;
  if (text.starts_with(kTensorDataTypes.prefix)) text.remove_prefix(kTensorDataTypes.prefix.size());
  const auto& names = kTensorDataTypes.names;
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    field.fail(cat("is \"", name, "\", which is not a data type",
                   candidatesText(text, std::vector<std::string>(names.begin() + 1, names.end()))));
  return static_cast<DataType>(found - names.begin());
}

uint32_t readFlags(const JsonValue& field, std::string_view prefix, std::initializer_list<std::string_view> names) {
  if (field.value().is_array()) {
    uint32_t flags = 0;
    for (size_t i = 0; i < field.size(); ++i) flags |= readFlags(field.element(i), prefix, names);
    return flags;
  }
  const std::string given = field.string();
  std::string_view text = given;
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  if (text == "NONE") return 0;
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    std::string known = "NONE";
    for (const auto name : names) known += cat(", ", name);
    field.fail(cat("is \"", given, "\", expected one or more of ", known, "."));
  }
  return 1u << (found - names.begin());
}

}  // namespace dimple::tool
