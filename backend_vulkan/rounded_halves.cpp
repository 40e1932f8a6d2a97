#include "backend_vulkan/rounded_halves.h"

#include "kernels/kernel_id.h"

namespace dimple::vulkan {
namespace {

constexpr size_t kHeaderWords = 5;

// Of SPIR-V 1.4 and later.
enum : uint32_t {
  OpEntryPoint = 15,
  OpExecutionMode = 16,
  OpCapability = 17,
  OpSpecConstant = 50,
  OpDecorate = 71,
  SpecId = 1,
  DenormPreserve = 4459,
  RoundingModeRte = 4462,
  CapabilityDenormPreserve = 4464,
  CapabilityRoundingModeRte = 4467,
};

void append(std::vector<uint32_t>& module, uint32_t op, std::initializer_list<uint32_t> operands) {
  module.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  module.insert(module.end(), operands);
}

}  // namespace

bool roundsHalves(const VkPhysicalDeviceFloatControlsProperties& controls) {
  return controls.shaderRoundingModeRTEFloat16 && controls.shaderDenormPreserveFloat16 &&
         controls.roundingModeIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE &&
         controls.denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
}

std::vector<uint32_t> withRoundedHalves(std::span<const uint32_t> words) {
  std::vector<uint32_t> module(words.begin(), words.begin() + kHeaderWords);
  append(module, OpCapability, {CapabilityDenormPreserve});
  append(module, OpCapability, {CapabilityRoundingModeRte});
  uint32_t constant = 0;
  for (size_t at = kHeaderWords; at < words.size();) {
    const size_t count = words[at] >> 16;
    if (count == 0 || count > words.size() - at) return {words.begin(), words.end()};
    const std::span<const uint32_t> i = words.subspan(at, count);
    at += count;
    const uint32_t op = i[0] & 0xffff;
    module.insert(module.end(), i.begin(), i.end());
    if (op == OpEntryPoint) {
      append(module, OpExecutionMode, {i[2], DenormPreserve, 16});
      append(module, OpExecutionMode, {i[2], RoundingModeRte, 16});
    } else if (op == OpDecorate && count == 4 && i[2] == SpecId && i[3] == kRoundedHalvesId) {
      constant = i[1];
    } else if (op == OpSpecConstant && constant != 0 && i[2] == constant) {
      module.back() = 1;
    }
  }
  return constant != 0 ? module : std::vector<uint32_t>(words.begin(), words.end());
}

}  // namespace dimple::vulkan
