// The code of kernels, as back ends take it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "kernels/kernel_table.h"

namespace dimple {

std::vector<uint32_t> unpackSpirv(const KernelInfo& kernel);

// Empty where the build had no DXC.
std::vector<uint8_t> unpackDxil(const KernelModule& module);

// What a device is given where there is such a module.
struct ModuleChoice {
  bool isLong = false;
  bool convertsHalves = false;
};

// The module that has most of these values, given as ids and values, for literals, and no other; of a portable kernel.
template <class Constants>
const KernelModule& moduleFor(const KernelInfo& kernel, const Constants& constants, ModuleChoice choice) {
  const auto has = [&](const FixedConstant& fixed) {
    for (const auto& constant : constants)
      if (constant.id == fixed.id) return constant.value == fixed.value;
    return fixed.value == 0;
  };
  const KernelModule* best = &kernel.modules.front();
  const auto rank = [](const KernelModule& module) {
    return std::tuple(module.isLong, module.fixed.size(), module.convertsHalves);
  };
  const auto isFor = [&](const KernelModule& module) {
    return (choice.isLong || !module.isLong) && (choice.convertsHalves || !module.convertsHalves);
  };
  for (const KernelModule& module : kernel.modules)
    if (isFor(module) && rank(module) > rank(*best) && std::ranges::all_of(module.fixed, has)) best = &module;
  return *best;
}

}  // namespace dimple
