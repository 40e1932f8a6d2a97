#include "tools/kernelgen/spirv.h"

#include <algorithm>
#include <map>

#include "kernels/kernel_table.h"

namespace kernelgen {

namespace {

using dimple::KernelFeature;

enum Op : uint32_t {
  OpSourceContinued = 2,
  OpSource = 3,
  OpSourceExtension = 4,
  OpName = 5,
  OpMemberName = 6,
  OpString = 7,
  OpLine = 8,
  OpExtInstImport = 11,
  OpExtInst = 12,
  OpCapability = 17,
  OpTypeFloat = 22,
  OpTypeVector = 23,
  OpDecorate = 71,
  OpNoLine = 317,
  OpModuleProcessed = 330,
};

constexpr uint32_t kDecorationBuiltIn = 11;

struct Capability {
  uint32_t number;
  const char* name;
  uint32_t features;                   // 0: every Vulkan 1.2 device has it
  const char* hlslObstacle = nullptr;  // where SPIRV-Cross neither refuses it nor writes ??? for it
};

constexpr uint32_t bit(KernelFeature feature) { return uint32_t(feature); }

constexpr Capability kCapabilities[] = {
    {0, "Matrix", 0},
    {1, "Shader", 0},
    {9, "Float16", bit(KernelFeature::Float16)},
    {10, "Float64", bit(KernelFeature::Float64)},
    {11, "Int64", bit(KernelFeature::Int64)},
    {12, "Int64Atomics", bit(KernelFeature::Int64Atomics), "64-bit atomics"},
    {22, "Int16", bit(KernelFeature::Int16)},
    {39, "Int8", bit(KernelFeature::Int8)},
    {61, "GroupNonUniform", bit(KernelFeature::SubgroupBasic)},
    {62, "GroupNonUniformVote", bit(KernelFeature::SubgroupVote)},
    {63, "GroupNonUniformArithmetic", bit(KernelFeature::SubgroupArithmetic)},
    {64, "GroupNonUniformBallot", bit(KernelFeature::SubgroupBallot)},
    {65, "GroupNonUniformShuffle", bit(KernelFeature::SubgroupShuffle)},
    {66, "GroupNonUniformShuffleRelative", bit(KernelFeature::SubgroupShuffleRelative)},
    {67, "GroupNonUniformClustered", bit(KernelFeature::SubgroupClustered)},
    {68, "GroupNonUniformQuad", bit(KernelFeature::SubgroupQuad)},
    {4433, "StorageBuffer16BitAccess", bit(KernelFeature::Storage16)},
    {4434, "UniformAndStorageBuffer16BitAccess", bit(KernelFeature::Storage16)},
    {4435, "StoragePushConstant16", bit(KernelFeature::Push16)},
    {4448, "StorageBuffer8BitAccess", bit(KernelFeature::Storage8)},
    {4449, "UniformAndStorageBuffer8BitAccess", bit(KernelFeature::Storage8)},
    {4450, "StoragePushConstant8", bit(KernelFeature::Push8)},
    {4464, "DenormPreserve", bit(KernelFeature::DenormPreserve)},
    {4466, "SignedZeroInfNanPreserve", bit(KernelFeature::SignedZeroInfNanPreserve)},
    {4467, "RoundingModeRTE", bit(KernelFeature::RoundingModeRte)},
    {5345, "VulkanMemoryModel", bit(KernelFeature::MemoryModel)},
    {5346, "VulkanMemoryModelDeviceScope", bit(KernelFeature::MemoryModelDeviceScope)},
    {6016, "DotProductInputAll", bit(KernelFeature::DotProduct), "integer dot products"},
    {6017, "DotProductInput4x8Bit", bit(KernelFeature::DotProduct), "integer dot products"},
    {6018, "DotProductInput4x8BitPacked", bit(KernelFeature::DotProduct), "integer dot products"},
    {6019, "DotProduct", bit(KernelFeature::DotProduct), "integer dot products"},
    {6022, "CooperativeMatrixKHR", bit(KernelFeature::CooperativeMatrix), "cooperative matrices"},
};

// Instructions of GLSL.std.450 that DXC computes in float, or not at all, when their type is double: all but these.
bool isWrongInDouble(uint32_t instruction) {
  constexpr uint32_t kAbs = 4, kMin = 37, kMax = 40, kClamp = 43, kNMin = 79, kNMax = 80, kNClamp = 81;
  for (const uint32_t right : {kAbs, kMin, kMax, kClamp, kNMin, kNMax, kNClamp})
    if (instruction == right) return false;
  return true;
}

void noteOnce(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

}  // namespace

ModuleFacts inspectModule(std::span<const uint32_t> words) {
  ModuleFacts facts;
  std::map<uint32_t, bool> isDouble;  // by type
  uint32_t standardImport = 0;
  forEachInstruction(words, [&](uint32_t op, std::span<const uint32_t> operands) {
    switch (op) {
      case OpCapability: {
        const auto known = std::ranges::find(kCapabilities, operands[1], &Capability::number);
        if (known == std::end(kCapabilities)) {
          facts.unknownCapabilities.push_back(std::to_string(operands[1]));
          break;
        }
        facts.features |= known->features;
        if (known->hlslObstacle) noteOnce(facts.notPortable, known->hlslObstacle);
        break;
      }
      case OpExtInstImport:
        standardImport = operands[1];
        break;
      case OpTypeFloat:
        isDouble[operands[1]] = operands[2] == 64;
        break;
      case OpTypeVector:
        isDouble[operands[1]] = isDouble[operands[2]];
        break;
      case OpExtInst:
        if (operands[3] == standardImport && isDouble[operands[1]] && isWrongInDouble(operands[4]))
          noteOnce(facts.notPortable,
                   "a mathematical function in double (GLSL.std.450 instruction " + std::to_string(operands[4]) + ")");
        break;
      case OpDecorate:
        if (operands[2] == kDecorationBuiltIn && (operands[3] == 38 || operands[3] == 40))
          noteOnce(facts.notPortable, operands[3] == 38 ? "gl_NumSubgroups" : "gl_SubgroupID");
        break;
      default:
        break;
    }
  });
  return facts;
}

std::vector<uint32_t> stripModule(std::span<const uint32_t> words) {
  std::vector<uint32_t> result(words.begin(), words.begin() + std::min<ptrdiff_t>(kHeaderWords, std::ssize(words)));
  forEachInstruction(words, [&](uint32_t op, std::span<const uint32_t> instruction) {
    switch (op) {
      case OpSourceContinued:
      case OpSource:
      case OpSourceExtension:
      case OpName:
      case OpMemberName:
      case OpString:
      case OpLine:
      case OpNoLine:
      case OpModuleProcessed:
        break;
      default:
        result.insert(result.end(), instruction.begin(), instruction.end());
    }
  });
  return result;
}

}  // namespace kernelgen
