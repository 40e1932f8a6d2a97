// Modules without the code that specialization constants rule out. That what is left computes the same, and that the
// validation layers accept it, shows in every operator's cases.
#include "backend_vulkan/specialize.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "backend_vulkan/rounded_halves.h"
#include "backend_vulkan/spirv_code.h"
#include "core/directml.h"
#include "kernels/kernel_code.h"
#include "tests/left_out.h"

namespace dimple::vulkan {
namespace {

using Words = std::vector<uint32_t>;

// Of the words that are damaged one by one, those that a run takes.
#ifdef DIMPLE_SANITIZED
constexpr size_t kWordStep = 5;
#else
constexpr size_t kWordStep = 1;
#endif

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

// IDs that instructions of functions or annotations name and none defines.
std::set<uint32_t> undefinedIds(const Words& module) {
  spirv::ModuleCode code;
  REQUIRE(code.read(module));
  std::set<uint32_t> named, defined, undefined;
  const auto take = [&](spirv::Instruction i) {
    defined.insert(spirv::resultOf(i));
    spirv::forEachId(i, [&](size_t w) { named.insert(i[w]); });
  };
  for (const spirv::Instruction i : code.globals)
    if (spirv::annotates(spirv::opOf(i)))
      named.insert(i[1]);
    else
      for (size_t w = 1; w < std::min<size_t>(i.size(), 3); ++w) defined.insert(i[w]);
  for (const spirv::FunctionCode& function : code.functions) {
    for (const spirv::Instruction i : function.head) take(i);
    for (const spirv::Block& block : function.blocks) {
      defined.insert(block.label);
      for (const spirv::Instruction i : block.body) take(i);
      if (!block.merge.empty()) take(block.merge);
      take(block.terminator);
    }
  }
  std::ranges::set_difference(named, defined, std::inserter(undefined, undefined.end()));
  return undefined;
}

TEST_CASE("specialize: of every kernel, what is named exists, and inlined calls make it little longer") {
  // About as many values of each kernel, other ones of the next.
  const size_t wanted = isRun(Run::Sanitized) ? 1 : 8;
  size_t shorter = 0;
  size_t kernels = 0;
  for (const KernelInfo& kernel : kernelTable()) {
    const Words whole = unpackSpirv(kernel);
    size_t most = 1;
    for (const KernelSpec& spec : kernel.specs) most = std::max(most, spec.values.size());
    const size_t step = std::max<size_t>(most / wanted, 1);
    for (size_t n = kernels++ % step; n < most; n += step) {
      std::vector<Specialization> values;
      for (const KernelSpec& spec : kernel.specs)
        if (!spec.values.empty()) values.push_back({spec.id, spec.values[n % spec.values.size()]});
      INFO(kernel.name, ", value ", n);
      const Words module = specialize(whole, values);
      const auto [named, defined] = labelsOf(module);
      CHECK(std::includes(defined.begin(), defined.end(), named.begin(), named.end()));
      CHECK(module.size() <= whole.size() * 2);
      CHECK(undefinedIds(module).empty());
      if (module.size() < whole.size()) ++shorter;
    }
  }
  CHECK(shorter > 500);
}

TEST_CASE("specialize: one function of many is left") {
  const KernelInfo* kernel = findKernel(*kernelNamed("binary_packed.f32"));
  REQUIRE(kernel);
  const Words whole = unpackSpirv(*kernel);
  std::set<Words> modules;
  constexpr uint16_t kFunctionEnd = 56;
  for (const uint32_t value : kernel->specs[0].values) {
    const Words module = specialize(whole, std::vector<Specialization>{{kernel->specs[0].id, value}});
    CHECK(module.size() * 2 < whole.size());
    CHECK(count(module, kFunctionEnd) < count(whole, kFunctionEnd));
    modules.insert(module);
  }
  // Some have two names: ELEMENT_WISE_ADD and ADD1, for example.
  CHECK(modules.size() + 2 == kernel->specs[0].values.size());
}

TEST_CASE("specialize: an activation that a constant chooses leaves no other in the module") {
  const KernelInfo* kernel = findKernel(*kernelNamed("gemm_few_rows_latency.f32"));
  REQUIRE(kernel);
  CHECK(kernel->pruned);
  const Words whole = unpackSpirv(*kernel);
  const auto fused = std::ranges::find(kernel->specs, "FUSED", &KernelSpec::name);
  REQUIRE(fused != kernel->specs.end());
  for (const uint32_t activation : fused->values)
    CHECK(specialize(whole, std::vector<Specialization>{{fused->id, activation}}).size() * 2 < whole.size());
}

// The words of the parameter block that say what chain.comp does: x * x, then the larger of that and itself, of
// FLOAT32.
Words squareAndMaximum() {
  constexpr uint32_t kFloat = (5 | 8 | 16) << 12 | (5 | 8 | 16) << 17;
  Words fixed(44);
  fixed[0] = fixed[6] = 5 | 8 | 16;  // the input and the output, in vectors
  fixed[8] = 5 << 12 | 8 << 22;      // load the input
  fixed[9] = DML_OPERATOR_ELEMENT_WISE_MULTIPLY | 3 << 8 | kFloat;
  fixed[10] = DML_OPERATOR_ELEMENT_WISE_MAX | 3 << 8 | kFloat | 1u << 29;  // store it
  fixed[40] = 1;
  fixed[42] = 1;
  return fixed;
}

TEST_CASE("specialize: an interpreter becomes its program") {
  const KernelInfo* kernel = findKernel(*kernelNamed("chain"));
  REQUIRE(kernel);
  const Words whole = unpackSpirv(*kernel);
  const Words program = specialize(whole, {}, squareAndMaximum());
  CHECK(program.size() * 20 < whole.size());
  constexpr uint16_t kSwitch = 251, kLoop = 246, kMultiply = 133;
  CHECK(count(program, kSwitch) == 0);
  CHECK(count(program, kLoop) == 0);
  CHECK(count(program, kMultiply) == 4);
  // Calls are what they execute, but for those of a function that returns in several places, and nothing is left that
  // nobody uses.
  constexpr uint16_t kFunctionEnd = 56, kFunctionCall = 57, kConstant = 43;
  CHECK(count(program, kFunctionEnd) == 2);
  CHECK(count(program, kFunctionCall) == 4);
  CHECK(count(program, kConstant) * 8 < count(whole, kConstant));
  const auto [named, defined] = labelsOf(program);
  CHECK(std::includes(defined.begin(), defined.end(), named.begin(), named.end()));
  // No ID is defined twice, and the header's bound holds them all.
  CHECK(*defined.rbegin() < program[3]);
  // Any word may be wrong.
  for (size_t at = 5; at < whole.size(); at += 97 * kWordStep) {
    Words wrong = whole;
    wrong[at] ^= 0x10003;
    CHECK(!specialize(wrong, {}, squareAndMaximum()).empty());
  }
}

TEST_CASE("rounded halves: modules that convert to FLOAT16 ask for the rounding, others stay as they are") {
  constexpr uint16_t kCapability = 17, kExecutionMode = 16;
  size_t changed = 0;
  for (const KernelInfo& kernel : kernelTable()) {
    const Words whole = unpackSpirv(kernel);
    const Words rounded = withRoundedHalves(whole);
    if (rounded == whole) continue;
    ++changed;
    CHECK(rounded.size() == whole.size() + 12);
    CHECK(count(rounded, kCapability) == count(whole, kCapability) + 2);
    CHECK(count(rounded, kExecutionMode) == count(whole, kExecutionMode) + 2);
  }
  CHECK(changed > 50);
}

TEST_CASE("specialize: damaged modules are returned as they are") {
  const KernelInfo* kernel = findKernel(*kernelNamed("binary_packed.f32"));
  REQUIRE(kernel);
  const std::vector<Specialization> values{{kernel->specs[0].id, kernel->specs[0].values[0]}};
  const Words whole = unpackSpirv(*kernel);
  for (size_t words = 0; words < whole.size(); words += 1 + words / 50) {
    const Words cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(words));
    CHECK(specialize(cut, values) == cut);
  }
  // Any word may be wrong; what comes out does not matter then, as long as something does.
  for (size_t at = 5; at < whole.size(); at += (at > 2000 ? 7 : 1) * kWordStep) {
    Words wrong = whole;
    wrong[at] ^= 0x10003;
    CHECK(!specialize(wrong, values).empty());
  }
}

}  // namespace
}  // namespace dimple::vulkan
