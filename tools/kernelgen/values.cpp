#include "tools/kernelgen/values.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <cstdlib>

namespace kernelgen {

uint32_t ValueParser::number(const std::string& word) const {
  if (const Enumerator* enumerator = enums_.find(word)) return enumerator->value;
  if (word.empty() || word.size() > 9 || !std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c); }))
    fail_("The value '" + word + "' is neither a number nor an enumerator of DirectML.h.");
  return uint32_t(std::stoul(word));
}

uint32_t ValueParser::bits(const std::string& word, const WordType& type) const {
  if (type.name == "f32") {
    char* end = nullptr;
    const float value = std::strtof(word.c_str(), &end);
    if (word.empty() || *end != '\0') fail_("The value '" + word + "' is not a number.");
    return std::bit_cast<uint32_t>(value);
  }
  if (type.name == "i32" && word.starts_with("-")) return 0u - number(word.substr(1));
  return number(word);
}

void ValueParser::addRange(const std::string& word, const WordType& type, std::set<uint32_t>& values) const {
  const size_t dots = word.find("..");
  if (dots == std::string::npos) {
    values.insert(bits(word, type));
    return;
  }
  const uint32_t first = number(word.substr(0, dots));
  const uint32_t last = number(word.substr(dots + 2));
  if (first > last || last - first > 8192) fail_("The range '" + word + "' is empty or too long.");
  for (uint32_t value = first; value <= last; ++value) values.insert(value);
}

std::string ValueParser::glsl(uint32_t bits, const WordType& type) {
  if (type.name == "f32") {
    char text[32];
    std::snprintf(text, sizeof text, "%.9e", double(std::bit_cast<float>(bits)));
    return text;
  }
  return type.name == "i32" ? std::to_string(int32_t(bits)) : std::to_string(bits) + "u";
}

}  // namespace kernelgen
