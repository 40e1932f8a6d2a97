#include "tools/kernelgen/enums.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <span>

#include "tools/kernelgen/error.h"

namespace kernelgen {

namespace {

constexpr std::string_view kOperatorPrefix = "DML_OPERATOR_";
// Any number that no kernel multiplies zero by.
constexpr std::string_view kTag = "0 * 7710001";

std::string withoutCommentsAndDirectives(std::string_view text) {
  std::string result;
  bool lineStart = true;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const bool comment = rest.starts_with("//");
    if (comment || (lineStart && rest.starts_with("#"))) {
      i = std::min(text.find('\n', i), text.size());
    } else if (rest.starts_with("/*")) {
      const size_t end = text.find("*/", i + 2);
      i = end == text.npos ? text.size() : end + 2;
    } else {
      const char c = text[i++];
      lineStart = c == '\n' || (lineStart && (c == ' ' || c == '\t'));
      result += c;
    }
  }
  return result;
}

bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Words and single characters of punctuation.
std::vector<std::string_view> tokenize(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (isWordCharacter(text[at]))
      while (end < text.size() && isWordCharacter(text[end])) ++end;
    if (std::isspace(static_cast<unsigned char>(text[at])) == 0) tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

// Decimal or 0x hexadecimal.
std::optional<uint32_t> parseNumber(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace

Enums Enums::parse(std::string_view header) {
  const std::string text = withoutCommentsAndDirectives(header);
  Enums enums;
  for (size_t at = 0; (at = text.find("enum", at)) != text.npos;) {
    const bool alone = at == 0 || !isWordCharacter(text[at - 1]);
    at += 4;
    const size_t open = text.find('{', at);
    const size_t close = std::min(text.find('}', at), text.size());
    if (!alone || open > close) continue;
    const std::string enumName = trimmed(text.substr(at, open - at));
    if (!enumName.starts_with("DML_") || !std::ranges::all_of(enumName, isWordCharacter)) continue;
    enums.addBody(text.substr(open + 1, close - open - 1));
    at = close;
  }
  if (enums.all_.empty()) throw Error("DirectML.h has no enumerators.");
  return enums;
}

void Enums::addBody(const std::string& body) {
  uint32_t next = 0;
  for (size_t position = 0; position < body.size();) {
    const size_t comma = std::min(body.find(',', position), body.size());
    const std::string item = trimmed(body.substr(position, comma - position));
    position = comma + 1;
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    const std::string name = trimmed(item.substr(0, equals));
    if (equals != item.npos) {
      const std::string value = trimmed(item.substr(equals + 1));
      const Enumerator* other = find(value);
      const std::optional<uint32_t> number = other ? other->value : parseNumber(value);
      if (!number)
        throw Error("The enumerator " + name + " of DirectML.h has a value that is not understood: " + value + ".");
      next = *number;
    }
    all_.push_back({name, next++});
  }
}

const Enumerator* Enums::find(std::string_view name) const {
  const auto found = std::ranges::find(all_, name, &Enumerator::name);
  return found == all_.end() ? nullptr : &*found;
}

std::string Enums::glsl() const {
  std::string text = "// Generated from DirectML.h.\n";
  for (const Enumerator& e : all_) text += "#define " + e.name + " " + std::to_string(e.value) + "\n";
  return text;
}

std::string Enums::taggedGlsl() const {
  std::string text;
  for (const Enumerator& e : all_) {
    const std::string value = std::to_string(e.value);
    const bool isOperator = e.name.starts_with(kOperatorPrefix);
    text += "#define " + e.name + " " + (isOperator ? "(" + value + " + " + std::string(kTag) + ")" : value) + "\n";
  }
  return text;
}

OperatorCases Enums::taggedOperatorCases(std::string_view preprocessed) {
  const std::vector<std::string_view> tokens = tokenize(preprocessed);
  const std::string tagText = "+" + std::string(kTag) + "):";
  const std::vector<std::string_view> tag = tokenize(tagText);
  OperatorCases cases;
  std::vector<std::string> open;  // for every open brace, what its switch is over, or what an outer one is over
  std::string upcoming;           // of a switch whose brace follows
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i];
    if (token == "{") {
      open.push_back(!upcoming.empty() ? upcoming : open.empty() ? "" : open.back());
      upcoming.clear();
    } else if (token == "}") {
      if (!open.empty()) open.pop_back();
    } else if (token == "switch") {
      int depth = 0;
      while (++i < tokens.size()) {
        if (tokens[i] == ")" && --depth == 0) break;
        if (depth > 0) upcoming += tokens[i];
        if (tokens[i] == "(") ++depth;
      }
    } else if (token == "case" && !open.empty() && i + 3 + tag.size() <= tokens.size() && tokens[i + 1] == "(" &&
               std::ranges::equal(tag, std::span(tokens).subspan(i + 3, tag.size()))) {
      if (const auto value = parseNumber(std::string(tokens[i + 2]))) cases[open.back()].insert(*value);
    }
  }
  return cases;
}

std::string Enums::check() const {
  std::string text =
      "// Generated from DirectML.h: the values that kernels are compiled with are the header's.\n"
      "#ifdef _WIN32\n#include <windows.h>\n#else\n#include <wsl/winadapter.h>\n#endif\n"
      "#include <directx/d3d12.h>\n\n#include <directx/DirectML.h>\n\n";
  for (const Enumerator& e : all_)
    text += "static_assert(static_cast<unsigned>(" + e.name + ") == " + std::to_string(e.value) + "u);\n";
  return text;
}

}  // namespace kernelgen
