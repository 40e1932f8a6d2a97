#include "backend_vulkan/replacement.h"

#include "core/text.h"

#ifdef DIMPLE_DEVELOPER

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace dimple::vulkan {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr size_t kFirstInstruction = 5;

// The parts of a module's interface that are compared.
struct Facts {
  bool computes = false;
  std::array<uint32_t, 3> workgroup{};
  std::set<uint32_t> bindings;  // of set 0
  std::set<uint32_t> specs;
  uint32_t lastPushOffset = 0;  // of the push block's members
  std::set<uint32_t> capabilities;
};

// Decorations by the id that they are about.
struct Decorations {
  std::map<uint32_t, uint32_t> set, binding;
  std::map<uint32_t, uint32_t> lastOffset;  // of a structure's members
};

// Returns false if the instructions do not fill the module.
bool readFacts(std::span<const uint32_t> module, Facts& facts) {
  constexpr uint32_t kGLCompute = 5, kLocalSize = 17, kPushConstant = 9;
  constexpr uint32_t kSpecId = 1, kBinding = 33, kDescriptorSet = 34, kOffset = 35;
  if (module.size() <= kFirstInstruction || module[0] != kSpirvMagic) return false;
  Decorations decorations;
  std::map<uint32_t, uint32_t> pointees;  // by type of a pointer to push words
  for (size_t at = kFirstInstruction; at < module.size();) {
    const uint32_t length = module[at] >> 16;
    if (length == 0 || length > module.size() - at) return false;
    const auto word = [&](uint32_t index) { return index < length ? module[at + index] : 0; };
    switch (module[at] & 0xffff) {
      case 15:  // OpEntryPoint
        facts.computes |= word(1) == kGLCompute;
        break;
      case 16:  // OpExecutionMode
        if (word(2) == kLocalSize) facts.workgroup = {word(3), word(4), word(5)};
        break;
      case 17:  // OpCapability
        facts.capabilities.insert(word(1));
        break;
      case 32:  // OpTypePointer
        if (word(2) == kPushConstant) pointees[word(1)] = word(3);
        break;
      case 71:  // OpDecorate
        if (word(2) == kSpecId) facts.specs.insert(word(3));
        if (word(2) == kBinding) decorations.binding[word(1)] = word(3);
        if (word(2) == kDescriptorSet) decorations.set[word(1)] = word(3);
        break;
      case 72:  // OpMemberDecorate
        if (word(3) == kOffset) {
          uint32_t& last = decorations.lastOffset[word(1)];
          last = std::max(last, word(4));
        }
        break;
      default:
        break;
    }
    at += length;
  }
  for (const auto& [variable, binding] : decorations.binding)
    if (decorations.set[variable] == 0) facts.bindings.insert(binding);
  for (const auto& [pointer, block] : pointees)
    facts.lastPushOffset = std::max(facts.lastPushOffset, decorations.lastOffset[block]);
  return true;
}

// The capability of a feature that not every device has, or 0 if none is required.
constexpr std::pair<uint32_t, Feature> kCapabilities[] = {
    {9, Feature::Float16}, {10, Feature::Float64}, {11, Feature::Int64}, {22, Feature::Int16}, {39, Feature::Int8}};

Status check(std::span<const uint32_t> words, const KernelInfo& kernel, const std::string& path, const Caps& caps) {
  const auto refuse = [&](std::string_view what) { return invalid(cat(path, " ", what, "."), SourceLine{}); };
  Facts given, embedded;
  if (!readFacts(words, given) || !given.computes) return refuse("is not a SPIR-V module with a compute kernel");
  if (!readFacts(unpackSpirv(kernel), embedded)) return refuse("replaces a module that cannot be read");
  if (given.workgroup != embedded.workgroup) return refuse(cat("has another workgroup size than ", kernel.name));
  if (!std::ranges::includes(embedded.bindings, given.bindings))
    return refuse(cat("has a binding that ", kernel.name, " does not have"));
  if (!std::ranges::includes(embedded.specs, given.specs))
    return refuse(cat("has a specialization constant that ", kernel.name, " does not have"));
  if (given.lastPushOffset > embedded.lastPushOffset) return refuse(cat("has more push words than ", kernel.name));
  for (const auto& [capability, feature] : kCapabilities)
    if (given.capabilities.contains(capability) && !caps.has(feature))
      return refuse(cat("needs ", featureName(feature), ", which this device lacks"));
  const std::string validate = cat("\"" DIMPLE_SPIRV_VAL "\" --target-env vulkan1.2 \"", path, "\"");
  if (std::system(validate.c_str()) != 0) return refuse("is not valid; " DIMPLE_SPIRV_VAL " says why");
  return {};
}

}  // namespace

Result<std::vector<uint32_t>> readReplacement(const KernelInfo& kernel, const std::string& folder, const Caps& caps) {
  std::vector<uint32_t> words;
  if (folder.empty()) return words;
  const std::string path = (std::filesystem::path(folder) / cat(kernel.name, ".spv")).string();
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return words;
  words.resize(static_cast<size_t>(file.tellg()) / sizeof(uint32_t));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * sizeof(uint32_t)));
  TRY(check(words, kernel, path, caps));
  return words;
}

}  // namespace dimple::vulkan

#else

namespace dimple::vulkan {

Result<std::vector<uint32_t>> readReplacement(const KernelInfo&, const std::string&, const Caps&) {
  return std::vector<uint32_t>{};
}

}  // namespace dimple::vulkan

#endif
