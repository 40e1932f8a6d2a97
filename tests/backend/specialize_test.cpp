// Modules without the code that specialization constants rule out. That what is left computes the same, and that the
// validation layers accept it, shows in every operator's cases.
#include "backend_vulkan/specialize.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "kernels/kernel_table.h"

namespace dimple::vulkan {
namespace {

using Words = std::vector<uint32_t>;

size_t count(const Words& module, uint16_t op) {
  size_t found = 0;
  for (size_t at = 5; at < module.size(); at += module[at] >> 16)
    if ((module[at] & 0xffff) == op) ++found;
  return found;
}

// Labels that branches and merge instructions name, and labels that there are.
std::pair<std::set<uint32_t>, std::set<uint32_t>> labelsOf(const Words& module) {
  std::set<uint32_t> named, defined;
  for (size_t at = 5; at < module.size(); at += module[at] >> 16) {
    const uint32_t* i = &module[at];
    const size_t words = i[0] >> 16;
    switch (i[0] & 0xffff) {
      case 248:
        defined.insert(i[1]);
        break;  // OpLabel
      case 246:
        named.insert({i[1], i[2]});
        break;   // OpLoopMerge
      case 247:  // OpSelectionMerge
      case 249:
        named.insert(i[1]);
        break;  // OpBranch
      case 250:
        named.insert({i[2], i[3]});
        break;   // OpBranchConditional
      case 251:  // OpSwitch
        for (size_t w = 2; w < words; w += 2) named.insert(i[w]);
        break;
      default:
        break;
    }
  }
  return {named, defined};
}

TEST_CASE("specialize: of every kernel and value, labels that are named exist, and nothing is left to do") {
  size_t shorter = 0;
  for (const KernelInfo& kernel : kernelTable()) {
    size_t most = 1;
    for (const KernelSpec& spec : kernel.specs) most = std::max(most, spec.values.size());
    for (size_t n = 0; n < most; ++n) {
      std::vector<Specialization> values;
      for (const KernelSpec& spec : kernel.specs)
        if (!spec.values.empty()) values.push_back({spec.id, spec.values[n % spec.values.size()]});
      INFO(kernel.name, ", value ", n);
      const Words module = specialize(kernel.spirv, values);
      const auto [named, defined] = labelsOf(module);
      CHECK(std::includes(defined.begin(), defined.end(), named.begin(), named.end()));
      CHECK(module.size() <= kernel.spirv.size());
      CHECK(specialize(module, values) == module);
      if (module.size() < kernel.spirv.size()) ++shorter;
    }
  }
  CHECK(shorter > 500);
}

TEST_CASE("specialize: one function of many is left") {
  const KernelInfo* kernel = findKernel(*kernelNamed("binary_packed.f32"));
  REQUIRE(kernel);
  const Words whole(kernel->spirv.begin(), kernel->spirv.end());
  std::set<Words> modules;
  constexpr uint16_t kFunctionEnd = 56;
  for (const uint32_t value : kernel->specs[0].values) {
    const Words module = specialize(whole, std::vector<Specialization>{{kernel->specs[0].id, value}});
    CHECK(module.size() * 2 < whole.size());
    CHECK(count(module, kFunctionEnd) < count(whole, kFunctionEnd));
    modules.insert(module);
  }
  CHECK(modules.size() == kernel->specs[0].values.size());
}

TEST_CASE("specialize: damaged modules are returned as they are") {
  const KernelInfo* kernel = findKernel(*kernelNamed("binary_packed.f32"));
  REQUIRE(kernel);
  const std::vector<Specialization> values{{kernel->specs[0].id, kernel->specs[0].values[0]}};
  const Words whole(kernel->spirv.begin(), kernel->spirv.end());
  for (size_t words = 0; words < whole.size(); words += 1 + words / 50) {
    const Words cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(words));
    CHECK(specialize(cut, values) == cut);
  }
  // Any word may be wrong; what comes out does not matter then, as long as something does.
  for (size_t at = 5; at < whole.size(); ++at) {
    if (at > 2000 && at % 7 != 0) continue;
    Words wrong = whole;
    wrong[at] ^= 0x10003;
    CHECK(!specialize(wrong, values).empty());
  }
}

}  // namespace
}  // namespace dimple::vulkan
