#include "clients/dimple/json_file.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "clients/dimple/suggest.h"
#include "clients/file_reason.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

constexpr size_t kMaxDepth = 100;

size_t endOfString(std::string_view text, size_t start) {
  size_t i = start + 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

void blank(std::string& text, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    if (text[i] != '\n') text[i] = ' ';
}

// Overwrites comments and trailing commas with spaces.
void toPlainJson(std::string& text) {
  size_t comma = text.npos;  // the last character that is not white space, if it is a comma
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = endOfString(text, i);
      comma = text.npos;
    } else if (text.compare(i, 2, "//") == 0) {
      const size_t end = std::min(text.find('\n', i), text.size());
      blank(text, i, end);
      i = end;
    } else if (text.compare(i, 2, "/*") == 0) {
      const size_t found = text.find("*/", i + 2);
      const size_t end = found == text.npos ? text.size() : found + 2;
      blank(text, i, end);
      i = end;
    } else {
      if ((c == '}' || c == ']') && comma != text.npos) text[comma] = ' ';
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') comma = c == ',' ? i : text.npos;
      ++i;
    }
  }
}

size_t depthOf(std::string_view text) {
  size_t depth = 0;
  size_t deepest = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      i = endOfString(text, i) - 1;
    else if (text[i] == '{' || text[i] == '[')
      deepest = std::max(deepest, ++depth);
    else if ((text[i] == '}' || text[i] == ']') && depth)
      --depth;
  }
  return deepest;
}

size_t lineAt(std::string_view text, size_t position) {
  return 1 + static_cast<size_t>(std::count(
                 text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size())), '\n'));
}

// Returns the position of a name that its object has already, or npos if there is none. The text must be valid JSON.
size_t findRepeatedName(std::string_view text) {
  std::vector<std::set<std::string>> names;  // of the objects and arrays that are open
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' || text[i] == '[') names.emplace_back();
    if (text[i] == '}' || text[i] == ']') names.pop_back();
    if (text[i] != '"') continue;
    const size_t end = endOfString(text, i);
    const size_t next = text.find_first_not_of(" \t\r\n", end);
    if (next != text.npos && text[next] == ':' && !names.back().insert(Json::parse(text.substr(i, end - i))).second)
      return i;
    i = end - 1;
  }
  return text.npos;
}

// Walks over text that is known to be JSON, without names that are repeated.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Moves to the value that the steps lead to, or as far as they lead.
  size_t find(const std::vector<std::string>& way) {
    skipSpace();
    for (const std::string& step : way) {
      const size_t here = position_;
      if (!(text_[position_] == '{' ? enterMember(step) : text_[position_] == '[' && enterElement(std::stoul(step)))) {
        position_ = here;
        break;
      }
    }
    return position_;
  }

 private:
  void skipSpace() { position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size() - 1); }

  void skipValue() {
    size_t depth = 0;
    do {
      const char c = text_[position_];
      if (c == '"') {
        position_ = endOfString(text_, position_);
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') {
        if (depth == 0) return;
        --depth;
      }
      ++position_;
    } while (position_ < text_.size() && (depth || text_.substr(position_, 1).find_first_of(",}]") == text_.npos));
  }

  bool enterMember(const std::string& name) {
    ++position_;
    for (skipSpace(); text_[position_] == '"'; skipSpace()) {
      const size_t key = position_;
      position_ = endOfString(text_, position_);
      const bool found = Json::parse(text_.substr(key, position_ - key)) == name;
      skipSpace();
      ++position_;  // the colon
      skipSpace();
      if (found) return true;
      skipValue();
      skipSpace();
      if (text_[position_] == ',') ++position_;
    }
    return false;
  }

  bool enterElement(size_t index) {
    ++position_;
    skipSpace();
    for (size_t i = 0; i < index; ++i) {
      skipValue();
      skipSpace();
      if (text_[position_] != ',') return false;
      ++position_;
      skipSpace();
    }
    return true;
  }

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace

JsonFile::JsonFile(const std::filesystem::path& path) : path_(path) {
  if (const std::string reason = whyUnreadable(path); !reason.empty())
    throw InputError(cat(path.string(), " cannot be read: ", reason, "."));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!(content << file.rdbuf())) throw InputError(cat(path.string(), " cannot be read: it is empty."));
  text_ = content.str();
  parse();
}

JsonFile::JsonFile(std::string name, std::string text) : path_(std::move(name)), text_(std::move(text)) { parse(); }

void JsonFile::parse() {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.replace(0, 3, "   ");
  // The parser would take it for the end.
  if (const size_t at = text_.find('\0'); at != text_.npos)
    throw InputError(cat(path_.string(), ":", lineAt(text_, at), ": This is not JSON: it has a NUL character."));
  toPlainJson(text_);
  if (depthOf(text_) > kMaxDepth)
    throw InputError(cat(path_.string(), " is nested deeper than ", kMaxDepth, " levels."));
  try {
    root_ = Json::parse(text_);
  } catch (const Json::parse_error& error) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error ..."
    std::string_view what = error.what();
    if (const auto colon = what.find(": "); colon != what.npos) what.remove_prefix(colon + 2);
    throw InputError(
        cat(path_.string(), ":", lineAt(text_, error.byte ? error.byte - 1 : 0), ": This is not JSON: ", what, "."));
  } catch (const Json::out_of_range& error) {
    // "... number overflow parsing '1e999'"
    std::string_view number = error.what();
    number.remove_prefix(std::min(number.find('\'') + 1, number.size()));
    number = number.substr(0, number.find('\''));
    throw InputError(
        cat(path_.string(), ":", lineAt(text_, text_.find(number)), ": The number ", number, " is out of range."));
  }
  if (const size_t at = findRepeatedName(text_); at != text_.npos)
    throw InputError(cat(path_.string(), ":", lineAt(text_, at), ": The object has another member named ",
                         std::string_view(text_).substr(at, endOfString(text_, at) - at), ", expected one."));
}

size_t JsonFile::lineOf(const std::vector<std::string>& way) const { return lineAt(text_, Scanner(text_).find(way)); }

std::string JsonValue::place() const {
  std::vector<std::string> way;
  std::string name;
  for (const JsonValue* field = this; field->parent_; field = field->parent_) {
    const bool isIndex = field->parent_->value_->is_array();
    name = cat(isIndex ? "[" : field->parent_->parent_ ? "." : "", field->step_, isIndex ? "]" : "", name);
    way.insert(way.begin(), field->step_);
  }
  return cat(file_->path().string(), ":", file_->lineOf(way), ": ", name.empty() ? "The file" : name);
}

void JsonValue::fail(std::string_view sentence) const { throw InputError(cat(place(), " ", sentence)); }

const JsonValue& JsonValue::object() const {
  if (!value_->is_object()) fail("is not an object.");
  return *this;
}

const JsonValue& JsonValue::array() const {
  if (!value_->is_array()) fail("is not an array.");
  return *this;
}

std::string JsonValue::string() const {
  if (!value_->is_string()) fail("is not a string.");
  return value_->get<std::string>();
}

bool JsonValue::boolean() const {
  if (!value_->is_boolean()) fail("is neither true nor false.");
  return value_->get<bool>();
}

uint64_t JsonValue::integer(uint64_t max) const {
  if (!value_->is_number_unsigned() || value_->get<uint64_t>() > max)
    fail(cat("is ", value_->dump(), ", expected an integer from 0 to ", max, "."));
  return value_->get<uint64_t>();
}

double JsonValue::number() const {
  if (!value_->is_number()) fail(cat("is ", value_->dump(), ", expected a number."));
  return value_->get<double>();
}

std::vector<uint32_t> JsonValue::integers() const {
  std::vector<uint32_t> values;
  for (size_t i = 0; i < array().size(); ++i) values.push_back(static_cast<uint32_t>(element(i).integer(UINT32_MAX)));
  return values;
}

JsonValue JsonValue::member(const std::string& name) const& {
  const auto found = object().value_->find(name);
  if (found == value_->end()) fail(cat("has no member ", name, "."));
  return {*this, *found, name};
}

void JsonValue::allowOnly(std::initializer_list<std::string_view> names) const {
  eachMember([&](const std::string& name, const JsonValue& member) {
    if (name.starts_with("$") || std::find(names.begin(), names.end(), name) != names.end()) return;
    member.fail(cat("is not known here", candidatesText(name, std::vector<std::string>(names.begin(), names.end()))));
  });
}

}  // namespace dimple::tool
