// The code of kernels, as back ends take it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/kernel_table.h"

namespace dimple {

std::vector<uint32_t> unpackSpirv(const KernelInfo& kernel);

// Empty where the build had no DXC.
std::vector<uint8_t> unpackDxil(const KernelModule& module);

// The module that has most of these values, given as ids and values, for literals, and no other; of a portable kernel.
// `mayBeLong`: a long one where there is one.
template <class Constants>
const KernelModule& moduleFor(const KernelInfo& kernel, const Constants& constants, bool mayBeLong) {
  const auto has = [&](const FixedConstant& fixed) {
    for (const auto& constant : constants)
      if (constant.id == fixed.id) return constant.value == fixed.value;
    return fixed.value == 0;
  };
  const KernelModule* best = &kernel.modules.front();
  const auto rank = [](const KernelModule& module) { return std::pair(module.isLong, module.fixed.size()); };
  for (const KernelModule& module : kernel.modules)
    if ((mayBeLong || !module.isLong) && rank(module) > rank(*best) && std::ranges::all_of(module.fixed, has))
      best = &module;
  return *best;
}

}  // namespace dimple
