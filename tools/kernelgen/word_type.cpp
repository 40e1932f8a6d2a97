#include "tools/kernelgen/word_type.h"

#include <algorithm>
#include <iterator>

namespace kernelgen {

namespace {

constexpr WordType kWordTypes[] = {
    {"u8", "uint8_t", "uint8_t", "", 1},
    {"i8", "int8_t", "int8_t", "", 1},
    {"u16", "uint16_t", "uint16_t", "uint16_t", 2},
    {"i16", "int16_t", "int16_t", "int16_t", 2},
    {"u32", "uint", "uint32_t", "uint", 4},
    {"i32", "int", "int32_t", "int", 4},
    {"f32", "float", "float", "float", 4},
    {"u64", "uint64_t", "uint64_t", "uint64_t", 8},
    {"i64", "int64_t", "int64_t", "int64_t", 8},
    {"f64", "double", "double", "double", 8},
};

}  // namespace

const WordType* findWordType(std::string_view name) {
  const auto found = std::ranges::find(kWordTypes, name, &WordType::name);
  return found == std::end(kWordTypes) ? nullptr : &*found;
}

const WordType* findGlslType(std::string_view glsl) {
  const auto found = std::ranges::find(kWordTypes, glsl, &WordType::glsl);
  return found == std::end(kWordTypes) ? nullptr : &*found;
}

std::string wordTypeNames() {
  std::string names;
  for (const WordType& type : kWordTypes) names.append(names.empty() ? "" : ", ").append(type.name);
  return names;
}

std::string elementGlsl(std::string_view name) {
  if (const WordType* type = findWordType(name)) return std::string(type->glsl);
  if (name.size() != 5 || name[3] != 'x' || name[4] < '2' || name[4] > '4') return {};
  const WordType* type = findWordType(name.substr(0, 3));
  if (!type || type->bytes != 4) return {};
  const std::string_view prefix = type->glsl == "uint" ? "uvec" : type->glsl == "int" ? "ivec" : "vec";
  return std::string(prefix) + name[4];
}

}  // namespace kernelgen
