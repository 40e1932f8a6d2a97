#include "tools/kernelgen/enums.h"

#include <algorithm>
#include <regex>

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

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace

Enums Enums::parse(std::string_view header) {
  const std::string text = withoutCommentsAndDirectives(header);
  const std::regex declaration(R"(\benum\s+(DML_\w+)\s*\{([^}]*)\})");
  Enums enums;
  for (std::sregex_iterator match(text.begin(), text.end(), declaration), end; match != end; ++match) {
    const std::string body = (*match)[2];
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
        size_t used = 0;
        if (const Enumerator* other = enums.find(value)) {
          next = other->value;
        } else {
          unsigned long number = 0;
          try {
            number = std::stoul(value, &used, 0);
          } catch (const std::logic_error&) {
          }
          if (used != value.size())
            throw Error("The enumerator " + name + " of DirectML.h has a value that is not understood: " + value + ".");
          next = uint32_t(number);
        }
      }
      enums.all_.push_back({name, next++});
    }
  }
  if (enums.all_.empty()) throw Error("DirectML.h has no enumerators.");
  return enums;
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
  static const std::regex token(R"(\bswitch\s*\(|\{|\}|\bcase\s*\(\s*(\d+)\s*\+\s*0\s*\*\s*7710001\s*\)\s*:)");
  const std::string text(preprocessed);
  OperatorCases cases;
  std::vector<std::string> open;  // for every open brace, what its switch is over, or what an outer one is over
  std::string upcoming;           // of a switch whose brace follows
  for (std::sregex_iterator match(text.begin(), text.end(), token), end; match != end; ++match) {
    const std::string word = match->str();
    if (word == "{") {
      open.push_back(!upcoming.empty() ? upcoming : open.empty() ? "" : open.back());
      upcoming.clear();
    } else if (word == "}") {
      if (!open.empty()) open.pop_back();
    } else if (word.starts_with("switch")) {
      int depth = 1;
      for (size_t at = size_t(match->position() + match->length()); at < text.size(); ++at) {
        depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
        if (depth == 0) break;
        if (text[at] != ' ' && text[at] != '\n') upcoming += text[at];
      }
    } else if (!open.empty()) {
      cases[open.back()].insert(uint32_t(std::stoul((*match)[1])));
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
