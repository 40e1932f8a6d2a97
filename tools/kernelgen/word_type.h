// The types of push words, specialization constants and elements of buffers, by their names in the manifest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelgen {

struct WordType {
  std::string_view name;  // "u32"
  std::string_view glsl;  // "uint"; also what SPIRV-Cross's reflection calls it
  std::string_view cpp;   // "uint32_t"
  std::string_view hlsl;  // "uint"; empty where HLSL has none
  uint32_t bytes;
};

// Null where there is no such type.
const WordType* findWordType(std::string_view name);
const WordType* findGlslType(std::string_view glsl);
// "u8, i8, ..."
std::string wordTypeNames();

// The GLSL type of a buffer's elements: that of a word type, or a vector as in "u32x4". Empty where there is none.
std::string elementGlsl(std::string_view name);

}  // namespace kernelgen
