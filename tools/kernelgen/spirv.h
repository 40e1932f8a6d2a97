// What is read from a SPIR-V module itself, where reflection through SPIRV-Cross does not tell it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kernelgen {

struct ModuleFacts {
  uint32_t features = 0;  // bits of dimple::KernelFeature
  std::vector<std::string> unknownCapabilities;
  std::vector<std::string> notPortable;  // what the module uses that HLSL cannot say or says wrongly
};

ModuleFacts inspectModule(std::span<const uint32_t> words);

// Without names, source text and line numbers.
std::vector<uint32_t> stripModule(std::span<const uint32_t> words);

}  // namespace kernelgen
