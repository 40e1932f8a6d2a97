#include "clients/dimple/roofline_table.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <sstream>

#include "clients/dimple/model.h"
#include "clients/files/failure.h"
#include "core/schema/desc_text.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

using Values = std::map<std::string, uint64_t, std::less<>>;

[[noreturn]] void refuse(std::string_view line, std::string_view what) {
  throw RunError(cat("The row \"", line, "\" ", what));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, std::string_view by) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; (at = text.find(by)) != text.npos; text.remove_prefix(at + by.size()))
    parts.push_back(trimmed(text.substr(0, at)));
  parts.push_back(trimmed(text));
  return parts;
}

// The value of an expression of whole numbers.
class Expression {
 public:
  Expression(std::string_view text, const Values& values) : text_(text), values_(values) {}

  uint64_t value() {
    const uint64_t result = sum();
    if (at_ != text_.size()) refuse(text_, "is not an expression.");
    return result;
  }

 private:
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  uint64_t sum() {
    uint64_t result = product();
    for (;;)
      if (take('+'))
        result += product();
      else if (take('-'))
        result -= product();
      else
        return result;
  }
  uint64_t product() {
    uint64_t result = single();
    for (;;)
      if (take('*'))
        result *= single();
      else if (take('/'))
        result /= single();
      else
        return result;
  }
  uint64_t single() {
    if (take('(')) {
      const uint64_t result = sum();
      if (!take(')')) refuse(text_, "lacks a parenthesis.");
      return result;
    }
    const size_t first = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(first, at_ - first);
    if (const auto number = parseNumber<uint64_t>(word)) return *number;
    const auto found = values_.find(word);
    if (found == values_.end()) refuse(text_, cat("has \"", word, "\", which is not a size."));
    return found->second;
  }

  std::string_view text_;
  const Values& values_;
  size_t at_ = 0;
};

// Puts values in the place of $NAME and $(...).
std::string filledIn(std::string_view text, DataType type, const Values& values) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '$') {
      out += text[at];
      continue;
    }
    size_t end = at + 1;
    if (text[end] == '(') {
      int open = 0;
      do open += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
      while (++end < text.size() && open > 0);
    } else {
      ++end;
    }
    const std::string_view name = text.substr(at + 1, end - at - 1);
    if (name == "T")
      out += shortTypeName(type);
    else if (name == "D")
      out += dataTypeName(type);
    else
      out += std::to_string(Expression(name, values).value());
    at = end - 1;
  }
  return out;
}

// A line of the table in its parts.
struct Template {
  std::vector<std::string_view> operators, types;
  struct Size {
    std::string_view name;
    uint64_t large = 0;
    std::optional<uint64_t> small = {};
  };
  std::vector<Size> sizes;
  std::string_view fields;
};

Template parsed(std::string_view line) {
  const auto parts = split(line, " : ");
  if (parts.size() != 4) refuse(line, "does not have four parts.");
  Template made{split(parts[0], " "), split(parts[1], " "), {}, parts[3]};
  for (const std::string_view text : split(parts[2], " ")) {
    const auto name = split(text, "=");
    const auto values = split(name.back(), "/");
    const auto large = parseNumber<uint64_t>(values[0]);
    if (name.size() != 2 || !large) refuse(line, cat("has \"", text, "\", which is not a size."));
    made.sizes.push_back({name[0], *large, values.size() > 1 ? parseNumber<uint64_t>(values[1]) : std::nullopt});
  }
  return made;
}

DataType typeOf(std::string_view name) {
  for (uint32_t i = 1; i < kTensorDataTypes.names.size(); ++i)
    if (shortTypeName(static_cast<DataType>(i)) == name) return static_cast<DataType>(i);
  throw RunError(cat("\"", name, "\" is not a data type."));
}

Values sizesOf(const Template& from, DataType type, bool small, uint64_t scale) {
  Values values;
  for (const auto& size : from.sizes) {
    const uint64_t least = size.small.value_or(1);
    uint64_t large = std::max(least, size.large / scale);
    if (size.name == "R" && large > least) large = std::max<uint64_t>(least, large * 32 / bitWidth(type));
    values.emplace(size.name, small ? least : large);
  }
  values.emplace("W", std::max<uint64_t>(1, bitWidth(type) / 8));
  return values;
}

// Bytes of the elements that a tensor addresses: those along a stride of 0 are one.
uint64_t touched(const DML_BUFFER_TENSOR_DESC& tensor) {
  uint64_t elements = 1;
  for (UINT d = 0; d < tensor.DimensionCount; ++d)
    if (!tensor.Strides || tensor.Strides[d]) elements *= tensor.Sizes[d];
  return (elements * bitWidth(tensor.DataType) + 7) / 8;
}

RooflineRow makeRow(std::string line, std::string_view op, DataType type, bool small) {
  auto read = parseCase(line);
  if (!read) refuse(line, cat("is wrong: ", read.error().text));
  RooflineRow row{formatCase(read->desc.desc()), std::string(op), {}, small, type, std::move(read->desc)};
  for (const BindPoint& point : bindPoints(row.desc))
    for (const auto* tensor : point.tensors)
      if (tensor) row.bytes += touched(*tensor);
  const Values none;
  for (const auto& [key, value] : read->extras) {
    const auto whole = [&, &text = value] { return Expression(text, none).value(); };
    if (key == "note")
      row.note = value;
    else if (key == "bytes")
      row.bytes = whole();
    else if (key == "ops")
      row.operations = whole();
    else if (key == "steps")
      row.steps = whole();
    else if (key == "passes")
      row.passes = parseNumber<double>(value).value_or(1);
    else if (const auto input = parseNumber<uint32_t>(std::string_view(key).substr(std::min<size_t>(2, key.size())));
             key.starts_with("in") && input)
      row.contents[*input] = value;
    else
      refuse(line, cat("has \"", key, "\", which is not a key."));
  }
  return row;
}

void addRows(std::string_view line, uint64_t scale, std::string_view only, std::set<std::string>& known,
             std::vector<RooflineRow>& rows) {
  const Template from = parsed(line);
  const bool hasSmall = std::ranges::any_of(from.sizes, [](const auto& size) { return size.small.has_value(); });
  for (const std::string_view op : from.operators)
    for (const std::string_view typeName : from.types)
      for (const bool small : {false, true}) {
        if (small && !hasSmall) continue;
        const DataType type = typeOf(typeName);
        const std::string text = filledIn(from.fields, type, sizesOf(from, type, small, scale));
        RooflineRow row = makeRow(cat(op, " ", text), op, type, small);
        if (row.name().find(only) == std::string::npos || !known.insert(row.line).second) continue;
        rows.push_back(std::move(row));
      }
}

}  // namespace

std::string RooflineRow::shape() const {
  std::string out(shortTypeName(type));
  std::string last;
  bool hasInput = false;
  for (const BindPoint& point : bindPoints(desc)) {
    if (point.role != Role::Input && hasInput) break;
    for (const auto* tensor : point.tensors) {
      if (!tensor) continue;
      std::string text = formatTensor(*tensor);
      text.erase(0, text.find('['));
      if (text != last) out += cat(" ", text);
      last = text;
      hasInput = true;
    }
  }
  return out;
}

std::string RooflineRow::name() const { return cat(op, " ", shape(), note.empty() ? "" : " ", note); }

std::vector<RooflineRow> rooflineRows(uint64_t scale, std::string_view only) {
  std::vector<RooflineRow> rows;
  std::set<std::string> known;
  for (const std::string_view family : rooflineTable())
    for (const std::string_view line : split(family, "\n"))
      if (!line.empty()) addRows(line, scale, only, known, rows);
  return rows;
}

}  // namespace dimple::tool
