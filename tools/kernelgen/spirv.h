// What is read from a SPIR-V module itself, where reflection through SPIRV-Cross does not tell it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/kernelgen/error.h"

namespace kernelgen {

struct ModuleFacts {
  uint32_t features = 0;  // bits of dimple::KernelFeature
  std::vector<std::string> unknownCapabilities;
  std::vector<std::string> notPortable;  // what the module uses that HLSL cannot say or says wrongly
};

constexpr size_t kHeaderWords = 5;

// Calls visit(operation, words of the instruction) for each instruction.
template <typename Visit>
void forEachInstruction(std::span<const uint32_t> words, Visit visit) {
  if (words.size() < kHeaderWords || words[0] != 0x07230203u) throw Error("A module is not SPIR-V.");
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t count = words[at] >> 16;
    if (count == 0 || at + count > words.size()) throw Error("A module of SPIR-V is cut off.");
    visit(words[at] & 0xffffu, words.subspan(at, count));
    at += count;
  }
}

ModuleFacts inspectModule(std::span<const uint32_t> words);

// Without names, source text and line numbers.
std::vector<uint32_t> stripModule(std::span<const uint32_t> words);

}  // namespace kernelgen
