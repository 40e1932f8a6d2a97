#include "core/schema/desc_text.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/schema/element_text.h"
#include "core/tensor.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr std::string_view kActivationPrefix = "ACTIVATION_";

Error unexpected(std::string_view field, std::string_view text, std::string_view expected) {
  return invalid(cat(field, " is \"", text, "\", expected ", expected, "."));
}

// The number in an enumeration's memory, which may be none of its enumerators.
template <class Enum>
uint32_t rawValue(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(uint32_t));
  uint32_t number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Splits at separators outside of brackets. No value if the brackets do not match.
template <class IsSeparator>
std::optional<std::vector<std::string_view>> split(std::string_view text, IsSeparator isSeparator) {
  std::vector<std::string_view> parts;
  std::string open;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') open += c == '(' ? ")" : c == '[' ? "]" : "}";
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) return {};
      open.pop_back();
    }
    if (open.empty() && isSeparator(c)) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  if (!open.empty()) return {};
  parts.push_back(text.substr(start));
  return parts;
}

// The elements of a list in the given brackets; "[]" has none.
std::optional<std::vector<std::string_view>> splitList(std::string_view text, char open, char close) {
  if (text.size() < 2 || text.front() != open || text.back() != close) return {};
  text = text.substr(1, text.size() - 2);
  if (text.empty()) return std::vector<std::string_view>{};
  return split(text, [](char c) { return c == ','; });
}

template <class T>
std::optional<std::vector<T>> parseList(std::string_view text, char open, char close) {
  const auto parts = splitList(text, open, close);
  if (!parts) return {};
  std::vector<T> values;
  for (const auto part : *parts) {
    const auto value = parseNumber<T>(part);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

std::optional<DataType> parseDataType(std::string_view text) {
  if (text.starts_with("#")) {
    const auto number = parseNumber<uint32_t>(text.substr(1));
    return number ? std::optional(static_cast<DataType>(*number)) : std::nullopt;
  }
  for (size_t i = 1; i < kTensorDataTypes.names.size(); ++i)
    if (const auto type = static_cast<DataType>(i); shortTypeName(type) == text && !text.empty()) return type;
  return {};
}

Status parseTensorInto(OwnedDesc& owner, std::string_view field, std::string_view text, DML_TENSOR_DESC& target) {
  const auto bracket = std::min(text.find('['), text.size());
  const auto type = parseDataType(text.substr(0, bracket));
  if (!type) return invalid(cat(field, " is \"", text, "\", which does not begin with a data type such as f32 or u8."));
  std::string_view rest = text.substr(bracket);
  const auto closed = std::min(rest.find(']'), rest.size() - !rest.empty());
  const auto sizes = parseList<uint32_t>(rest.substr(0, closed + !rest.empty()), '[', ']');
  if (!sizes) return unexpected(field, text, "sizes such as [2,3] after the data type");
  rest.remove_prefix(closed + 1);

  std::optional<std::vector<uint32_t>> strides;
  std::optional<uint64_t> total;
  uint32_t alignment = 0;
  uint32_t flags = DML_TENSOR_FLAG_NONE;
  while (!rest.empty()) {
    const auto end = rest.front() == '{' ? std::min(rest.find('}'), rest.size() - 1) + 1
                                         : std::min(rest.find_first_of("{@%!", 1), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end);
    if (part.front() == '{') {
      strides = parseList<uint32_t>(part, '{', '}');
      if (!strides || strides->size() != sizes->size())
        return unexpected(field, text, cat("as many strides in braces as sizes (", sizes->size(), ")"));
    } else if (part.front() == '@') {
      total = parseNumber<uint64_t>(part.substr(1));
      if (!total) return unexpected(field, text, "a number of bytes after @");
    } else if (part.front() == '%') {
      const auto value = parseNumber<uint32_t>(part.substr(1));
      if (!value) return unexpected(field, text, "a number of bytes after %");
      alignment = *value;
    } else if (part == "!") {
      flags = DML_TENSOR_FLAG_OWNED_BY_DML;
    } else if (const auto value = parseNumber<uint32_t>(part.substr(1)); part.front() == '!' && value) {
      flags = *value;
    } else {
      return unexpected(field, text, "only {strides}, @bytes, %alignment and ! after the sizes");
    }
  }
  owner.setTensor(target, *type, *sizes, strides.value_or(std::vector<uint32_t>{}), 0, DML_TENSOR_FLAG_NONE, alignment);
  // The description was made above, in memory of the owner. A total of 0 is a value like any other here.
  auto& buffer = *const_cast<DML_BUFFER_TENSOR_DESC*>(static_cast<const DML_BUFFER_TENSOR_DESC*>(target.Desc));
  if (total) buffer.TotalTensorSizeInBytes = *total;
  std::memcpy(&buffer.Flags, &flags, sizeof flags);
  return {};
}

std::optional<uint32_t> parseEnum(const EnumTable& table, std::string_view text) {
  if (const auto number = parseNumber<uint32_t>(text)) return number;
  if (text.starts_with(table.prefix)) text.remove_prefix(table.prefix.size());
  const auto found = std::find(table.names.begin(), table.names.end(), text);
  if (found == table.names.end() || text.empty()) return {};
  return static_cast<uint32_t>(found - table.names.begin());
}

std::string namesText(const EnumTable& table) {
  std::string out;
  for (const auto name : table.names)
    if (!name.empty()) out += cat(out.empty() ? "" : ", ", name);
  return out;
}

const OpSchema* findActivation(std::string_view name) {
  const OpSchema* schema = findSchema(cat(kActivationPrefix, name));
  return schema ? schema : findSchema(name);
}

// The data type of a scalar union, which the nearest field before it states.
const Field* typeFieldOf(const OpSchema& schema, const Field& scalar) {
  for (const Field* field = &scalar; field-- != schema.fields.data();)
    if (field->type == FieldType::Enum && field->values == &kTensorDataTypes) return field;
  return nullptr;
}

DataType scalarType(const OpSchema& schema, const Field& scalar, const std::byte* root) {
  const Field* field = typeFieldOf(schema, scalar);
  if (!field) return DML_TENSOR_DATA_TYPE_UNKNOWN;
  return static_cast<DataType>(rawValue(*reinterpret_cast<const DataType*>(root + field->offset)));
}

template <class T>
std::string arrayText(const T* values, size_t count, std::string_view open, std::string_view close) {
  std::string out(open);
  for (size_t i = 0; i < count; ++i) {
    if (i) out += ",";
    if constexpr (std::is_floating_point_v<T>)
      out += numberText(values[i]);
    else
      out += std::to_string(values[i]);
  }
  return out + std::string(close);
}

// ---- formatting -----------------------------------------------------------------------------------------------------

std::string formatFields(const OpSchema& schema, const void* desc, std::string_view separator);

std::string formatActivation(const DML_OPERATOR_DESC& desc) {
  const OpSchema* schema = findSchema(desc.Type);
  if (!schema) return cat("#", rawValue(desc.Type));
  std::string_view name = schema->name;
  if (name.starts_with(kActivationPrefix)) name.remove_prefix(kActivationPrefix.size());
  const std::string fields = formatFields(*schema, desc.Desc, ",");
  return fields.empty() ? std::string(name) : cat(name, "(", fields, ")");
}

std::string tensorText(const DML_TENSOR_DESC& tensor) {
  return formatTensor(*static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor.Desc));
}

// The fields of a description as text. No value: the field is null, or a count that its array tells.
class FieldFormatter {
 public:
  FieldFormatter(const OpSchema& schema, const void* desc)
      : schema_(schema), root_(static_cast<const std::byte*>(desc)) {}

  std::optional<std::string> format(const Field& field) const {
    switch (field.type) {
      case FieldType::Tensor:
        return pointed<DML_TENSOR_DESC>(field, tensorText);
      case FieldType::TensorArray:
        return pointed<DML_TENSOR_DESC>(field, tensorText, countOf(field));
      case FieldType::Operator:
        return pointed<DML_OPERATOR_DESC>(field, formatActivation);
      case FieldType::OperatorArray:
        return pointed<DML_OPERATOR_DESC>(field, formatActivation, countOf(field));
      case FieldType::UIntArray:
        return array<UINT>(field);
      case FieldType::IntArray:
        return array<INT>(field);
      case FieldType::FloatArray:
        return array<FLOAT>(field);
      case FieldType::ScaleBias:
        return pointed<DML_SCALE_BIAS>(field, [](const auto& value) {
          return cat("[", numberText(value.Scale), ",", numberText(value.Bias), "]");
        });
      default:
        return isCount(field) ? std::nullopt : std::optional(formatNumber(field));
    }
  }

 private:
  template <class T>
  const T& slot(const Field& field) const {
    return *reinterpret_cast<const T*>(root_ + field.offset);
  }
  size_t countOf(const Field& field) const { return slot<UINT>(schema_.fields[static_cast<size_t>(field.countField)]); }

  // Whether the field is the count of an array that is not null.
  bool isCount(const Field& field) const {
    const auto index = &field - schema_.fields.data();
    return std::ranges::any_of(
        schema_.fields, [&](const Field& f) { return f.countField == index && slot<const void*>(f) != nullptr; });
  }

  // The text of what a pointer points to, in parentheses if it is an array of `count` elements.
  template <class T, class Format>
  std::optional<std::string> pointed(const Field& field, Format text, std::optional<size_t> count = {}) const {
    const T* values = slot<const T*>(field);
    if (!values) return {};
    if (!count) return text(*values);
    std::string out = "(";
    for (size_t i = 0; i < *count; ++i) out += cat(i ? "," : "", text(values[i]));
    return out + ")";
  }
  template <class T>
  std::optional<std::string> array(const Field& field) const {
    const T* values = slot<const T*>(field);
    return values ? std::optional(arrayText(values, countOf(field), "[", "]")) : std::nullopt;
  }

  std::string formatNumber(const Field& field) const {
    switch (field.type) {
      case FieldType::Size2D:
        return cat("[", slot<DML_SIZE_2D>(field).Width, ",", slot<DML_SIZE_2D>(field).Height, "]");
      case FieldType::Float:
        return numberText(slot<FLOAT>(field));
      case FieldType::Enum: {
        const auto value = slot<uint32_t>(field);
        const auto& names = field.values->names;
        return value < names.size() && !names[value].empty() ? std::string(names[value]) : std::to_string(value);
      }
      case FieldType::Scalar:
        return elementText(scalarType(schema_, field, root_), root_ + field.offset);
      case FieldType::UInt:
        return std::to_string(slot<UINT>(field));
      default:
        return std::to_string(slot<INT>(field));
    }
  }

  const OpSchema& schema_;
  const std::byte* root_;
};

std::string formatFields(const OpSchema& schema, const void* desc, std::string_view separator) {
  std::string out;
  for (const Field& field : schema.fields)
    if (const auto text = FieldFormatter(schema, desc).format(field))
      out += cat(out.empty() ? "" : separator, field.name, "=", *text);
  return out;
}

}  // namespace

// ---- setting --------------------------------------------------------------------------------------------------------

FieldSetter::FieldSetter(OwnedDesc& owner, const OpSchema& schema, void* desc, bool isFused)
    : owner_(owner),
      schema_(schema),
      root_(static_cast<std::byte*>(desc)),
      given_(schema.fields.size()),
      countedBy_(schema.fields.size()),
      isFused_(isFused) {}

Status FieldSetter::set(std::string_view name, std::string_view text) {
  const Field* found = findField(schema_, name);
  if (!found) {
    std::string names;
    for (const Field& field : schema_.fields) names += cat(names.empty() ? "" : ", ", field.name);
    return invalid(cat(schema_.name, " has no field ", name, "; its fields are ", names, "."));
  }
  const auto index = static_cast<size_t>(found - schema_.fields.data());
  if (given_[index]) return invalid(cat(name, " is given twice."));
  given_[index] = true;
  return setValue(*found, text);
}

Status FieldSetter::setValue(const Field& field, std::string_view text) {
  switch (field.type) {
    case FieldType::Tensor:
      return parseTensorInto(owner_, field.name, text, allocateAt<DML_TENSOR_DESC>(field));
    case FieldType::TensorArray:
      return setTensorArray(field, text);
    case FieldType::Operator:
      return setOperator(field.name, text, allocateAt<DML_OPERATOR_DESC>(field));
    case FieldType::OperatorArray:
      return setOperatorArray(field, text);
    case FieldType::Size2D:
      return setPair(field, text, "two integers, [width,height]", slot<DML_SIZE_2D>(field));
    case FieldType::ScaleBias:
      return setPair(field, text, "two numbers, [scale,bias]", allocateAt<DML_SCALE_BIAS>(field));
    case FieldType::UInt:
      return setUInt(field, text);
    case FieldType::Int:
      return setNumber<INT>(field, text, "an integer from -2147483648 to 2147483647");
    case FieldType::Bool:
      return setNumber<BOOL>(field, text, "0 or 1");
    case FieldType::Float:
      return setNumber<FLOAT>(field, text, "a number in the range of FLOAT");
    case FieldType::Enum: {
      const auto value = parseEnum(*field.values, text);
      if (!value) return unexpected(field.name, text, cat("one of ", namesText(*field.values)));
      slot<uint32_t>(field) = *value;
      return {};
    }
    case FieldType::UIntArray:
      return setArray<UINT>(field, text, "integers such as [0,1]");
    case FieldType::IntArray:
      return setArray<INT>(field, text, "integers such as [0,-1]");
    case FieldType::FloatArray:
      return setArray<FLOAT>(field, text, "numbers such as [0.5,1]");
    case FieldType::Scalar:
      scalars_.emplace_back(&field, text);
      return {};
  }
  return {};
}

template <class T>
Status FieldSetter::setNumber(const Field& field, std::string_view text, std::string_view expected) {
  const auto value = parseNumber<T>(text);
  if (!value) return unexpected(field.name, text, expected);
  slot<T>(field) = *value;
  return {};
}

template <class Pair>
Status FieldSetter::setPair(const Field& field, std::string_view text, std::string_view expected, Pair& target) {
  auto& [first, second] = target;
  const auto values = parseList<std::remove_cvref_t<decltype(first)>>(text, '[', ']');
  if (!values || values->size() != 2) return unexpected(field.name, text, expected);
  first = (*values)[0];
  second = (*values)[1];
  return {};
}

Status FieldSetter::setUInt(const Field& field, std::string_view text) {
  const auto value = parseNumber<uint32_t>(text);
  if (!value) return unexpected(field.name, text, "an integer from 0 to 4294967295");
  const Field* array = countedBy_[static_cast<size_t>(&field - schema_.fields.data())];
  if (array && slot<UINT>(field) != *value)
    return invalid(cat(field.name, " is ", *value, ", but ", array->name, " has ", slot<UINT>(field), " elements."));
  slot<UINT>(field) = *value;
  return {};
}

Status FieldSetter::setCount(const Field& array, size_t count) {
  const auto index = static_cast<size_t>(array.countField);
  const Field& field = schema_.fields[index];
  const Field*& countedBy = countedBy_[index];
  UINT& value = slot<UINT>(field);
  if ((countedBy || given_[index]) && value != count)
    return invalid(countedBy ? cat(array.name, " has ", count, " elements, but ", countedBy->name, " has ", value, ".")
                             : cat(array.name, " has ", count, " elements, but ", field.name, " is ", value, "."));
  countedBy = &array;
  value = static_cast<UINT>(count);
  return {};
}

template <class T>
Status FieldSetter::setArray(const Field& field, std::string_view text, std::string_view expected) {
  const auto values = parseList<T>(text, '[', ']');
  if (!values) return unexpected(field.name, text, expected);
  slot<const T*>(field) = owner_.store(std::span<const T>(*values));
  return field.countField < 0 ? Status{} : setCount(field, values->size());
}

Status FieldSetter::setTensorArray(const Field& field, std::string_view text) {
  const auto parts = splitList(text, '(', ')');
  if (!parts) return unexpected(field.name, text, "tensors such as (f32[2],f32[3])");
  auto* tensors = owner_.allocate<DML_TENSOR_DESC>(parts->size());
  for (size_t i = 0; i < parts->size(); ++i)
    TRY(parseTensorInto(owner_, cat(field.name, "[", i, "]"), (*parts)[i], tensors[i]));
  slot<const DML_TENSOR_DESC*>(field) = tensors;
  return field.countField < 0 ? Status{} : setCount(field, parts->size());
}

Status FieldSetter::setOperator(std::string_view field, std::string_view text, DML_OPERATOR_DESC& target) {
  const auto paren = std::min(text.find('('), text.size());
  const OpSchema* schema = findActivation(text.substr(0, paren));
  if (!schema) return invalid(cat(field, " names no operator (", text.substr(0, paren), ")."));
  auto* desc = owner_.allocate<std::byte>(schema->descBytes);
  FieldSetter setter(owner_, *schema, desc, true);
  if (paren != text.size()) {
    const auto parts = splitList(text.substr(paren), '(', ')');
    if (!parts) return unexpected(field, text, "fields such as (Alpha=0.1) after the name");
    for (const auto part : *parts) {
      const auto equals = part.find('=');
      if (equals == part.npos) return unexpected(field, text, "fields such as (Alpha=0.1) after the name");
      auto status = setter.set(part.substr(0, equals), part.substr(equals + 1));
      if (!status) status.error().text = cat(field, ": ", status.error().text);
      TRY(status);
    }
  }
  TRY(setter.finish());
  for (const std::string& name : setter.missing()) missing_.push_back(cat(name, " of ", field));
  target = {schema->type, desc};
  return {};
}

Status FieldSetter::setOperatorArray(const Field& field, std::string_view text) {
  const auto parts = splitList(text, '(', ')');
  if (!parts) return unexpected(field.name, text, "operators such as (RELU,TANH)");
  auto* operators = owner_.allocate<DML_OPERATOR_DESC>(parts->size());
  for (size_t i = 0; i < parts->size(); ++i) TRY(setOperator(cat(field.name, "[", i, "]"), (*parts)[i], operators[i]));
  slot<const DML_OPERATOR_DESC*>(field) = operators;
  return field.countField < 0 ? Status{} : setCount(field, parts->size());
}

Status FieldSetter::finish() {
  for (const auto& [field, text] : scalars_) {
    const DataType type = scalarType(schema_, *field, root_);
    const auto element = parseElement(type, text);
    if (!element) return unexpected(field->name, text, cat("a value of data type ", dataTypeName(type)));
    slot<DML_SCALAR_UNION>(*field) = *element;
  }
  for (size_t i = 0; i < schema_.fields.size(); ++i) {
    const Field& field = schema_.fields[i];
    const bool isCount =
        std::ranges::any_of(schema_.fields, [&](const Field& f) { return f.countField == static_cast<int>(i); });
    if (!given_[i] && !field.optional && !isCount && !(isFused_ && isTensor(field))) missing_.emplace_back(field.name);
  }
  return {};
}

// ---- lines ----------------------------------------------------------------------------------------------------------

Result<CaseText> parseCase(std::string_view line) {
  const auto parts = split(line, isSpace);
  if (!parts) return invalid("The brackets of the line do not match.");
  auto part = parts->begin();
  while (part != parts->end() && part->empty()) ++part;
  if (part == parts->end()) return invalid("The line is empty, expected the name of an operator.");
  const OpSchema* schema = findSchema(*part);
  if (!schema) return invalid(cat("There is no operator ", *part, "."));

  CaseText result{OwnedDesc(*schema), {}, {}};
  FieldSetter setter(result.desc, *schema, const_cast<void*>(result.desc.desc().Desc));
  while (++part != parts->end()) {
    if (part->empty()) continue;
    const auto equals = part->find('=');
    if (equals == part->npos || equals == 0) return invalid(cat("\"", *part, "\" is not of the form Key=value."));
    const std::string_view key = part->substr(0, equals);
    const std::string_view value = part->substr(equals + 1);
    if (key.front() >= 'a' && key.front() <= 'z') {
      if (!result.extras.emplace(key, value).second) return invalid(cat(key, " is given twice."));
    } else {
      TRY(setter.set(key, value));
    }
  }
  TRY(setter.finish());
  result.missing = setter.missing();
  return result;
}

std::string formatTensor(const DML_BUFFER_TENSOR_DESC& tensor) {
  const auto type = static_cast<DataType>(rawValue(tensor.DataType));
  const std::string_view name = shortTypeName(type);
  std::string out = name.empty() ? cat("#", static_cast<uint32_t>(type)) : std::string(name);
  out += arrayText(tensor.Sizes, tensor.DimensionCount, "[", "]");
  if (tensor.Strides) out += arrayText(tensor.Strides, tensor.DimensionCount, "{", "}");
  const std::span sizes(tensor.Sizes, tensor.DimensionCount);
  const std::span strides(tensor.Strides, tensor.Strides ? tensor.DimensionCount : 0);
  if (tensor.TotalTensorSizeInBytes != impliedBytes(type, sizes, strides).value_or(0))
    out += cat("@", tensor.TotalTensorSizeInBytes);
  if (tensor.GuaranteedBaseOffsetAlignment) out += cat("%", tensor.GuaranteedBaseOffsetAlignment);
  const uint32_t flags = rawValue(tensor.Flags);
  if (flags) out += flags == DML_TENSOR_FLAG_OWNED_BY_DML ? std::string("!") : cat("!", flags);
  return out;
}

std::string formatCase(const DML_OPERATOR_DESC& desc) {
  const OpSchema& schema = *findSchema(desc.Type);
  const std::string fields = formatFields(schema, desc.Desc, " ");
  return fields.empty() ? std::string(schema.name) : cat(schema.name, " ", fields);
}

}  // namespace dimple
