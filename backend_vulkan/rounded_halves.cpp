#include "backend_vulkan/rounded_halves.h"

#include "backend_vulkan/spirv_code.h"
#include "kernels/kernel_id.h"

namespace dimple::vulkan {
namespace {

using namespace spirv;

// Execution modes and capabilities, of SPIR-V 1.4 and later.
constexpr uint32_t kDenormPreserve = 4459;
constexpr uint32_t kRoundingModeRte = 4462;
constexpr uint32_t kCapabilityDenormPreserve = 4464;
constexpr uint32_t kCapabilityRoundingModeRte = 4467;

void append(std::vector<uint32_t>& module, uint16_t op, std::initializer_list<uint32_t> operands) {
  module.push_back(headOf(op, operands.size() + 1));
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
  append(module, OpCapability, {kCapabilityDenormPreserve});
  append(module, OpCapability, {kCapabilityRoundingModeRte});
  uint32_t constant = 0;
  for (size_t at = kHeaderWords; at < words.size();) {
    const size_t count = words[at] >> 16;
    if (count == 0 || count > words.size() - at) return {words.begin(), words.end()};
    const Instruction i = words.subspan(at, count);
    at += count;
    const uint16_t op = opOf(i);
    module.insert(module.end(), i.begin(), i.end());
    if (op == OpEntryPoint) {
      append(module, OpExecutionMode, {i[2], kDenormPreserve, 16});
      append(module, OpExecutionMode, {i[2], kRoundingModeRte, 16});
    } else if (op == OpDecorate && count == 4 && i[2] == kSpecId && i[3] == kRoundedHalvesId) {
      constant = i[1];
    } else if (op == OpSpecConstant && constant != 0 && i[2] == constant) {
      module.back() = 1;
    }
  }
  return constant != 0 ? module : std::vector<uint32_t>(words.begin(), words.end());
}

}  // namespace dimple::vulkan
