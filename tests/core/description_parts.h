// Descriptions as text, in parts that can be changed one by one.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"

namespace dimple::testing {

// A line taken apart: the operator's name, and its fields in order.
struct Description {
  std::string name;
  struct Part {
    std::string key;
    std::string value;
  };
  std::vector<Part> fields;

  static Description read(const std::string& line) {
    Description result;
    size_t at = line.find(' ');
    result.name = line.substr(0, at);
    while (at < line.size()) {
      const size_t start = at + 1;
      at = std::min(line.find(' ', start), line.size());
      const std::string part = line.substr(start, at - start);
      const size_t equals = part.find('=');
      if (equals != part.npos) result.fields.push_back({part.substr(0, equals), part.substr(equals + 1)});
    }
    return result;
  }

  std::string text() const {
    std::string line = name;
    for (const Part& part : fields) line += cat(" ", part.key, "=", part.value);
    return line;
  }
};

inline std::vector<std::string> splitAtCommas(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

inline std::string join(const std::vector<std::string>& parts, char open, char close) {
  std::string out(1, open);
  for (size_t i = 0; i < parts.size(); ++i) out += cat(i ? "," : "", parts[i]);
  return out + close;
}

// "f32[2,3]{3,1}!" in its parts.
struct TensorParts {
  std::string type;
  std::vector<std::string> sizes;
  std::string rest;

  static TensorParts read(const std::string& text) {
    const size_t open = text.find('[');
    const size_t close = text.find(']');
    return {text.substr(0, open), splitAtCommas(text.substr(open + 1, close - open - 1)), text.substr(close + 1)};
  }
  std::string text() const { return cat(type, join(sizes, '[', ']'), rest); }
};

}  // namespace dimple::testing
