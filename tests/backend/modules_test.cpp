// kernels/modules.txt: plans find the modules that are made of large kernels.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/plan/plan_builder.h"
#include "core/text.h"
#include "kernels/kernel_code.h"
#include "tests/conformance/case_plans.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

const KernelInfo& kernelNamedIn(std::string_view name) {
  const auto table = kernelTable();
  const auto found = std::ranges::find(table, name, &KernelInfo::name);
  REQUIRE_MESSAGE(found != table.end(), name);
  return *found;
}

bool isStructural(const KernelInfo& kernel, uint32_t id) {
  return std::ranges::find(kernel.specs, id, &KernelSpec::id)->structural;
}

// Whether a kernel has modules for a dispatch, as far as constants tell that leave the size of its code as it is, and
// the one that it gets does not have for literals what the others have.
bool lacksModule(const KernelInfo& kernel, const Dispatch& dispatch, bool convertsHalves) {
  const auto valueOf = [&](uint32_t id) {
    const auto given = std::ranges::find(dispatch.specialization, id, &Specialization::id);
    return given == dispatch.specialization.end() ? 0 : given->value;
  };
  const auto& taken = moduleFor(kernel, dispatch.specialization, {false, convertsHalves}).fixed;
  bool lacks = false;
  for (const KernelModule& module : kernel.modules) {
    if (module.isLong || (module.convertsHalves && !convertsHalves)) continue;
    const auto agrees = [&](const FixedConstant& fixed) {
      return isStructural(kernel, fixed.id) || valueOf(fixed.id) == fixed.value;
    };
    const auto isTaken = [&](const FixedConstant& fixed) {
      return std::ranges::find(taken, fixed.id, &FixedConstant::id) != taken.end();
    };
    if (std::ranges::all_of(module.fixed, agrees)) lacks |= !std::ranges::all_of(module.fixed, isTaken);
  }
  return lacks;
}

TEST_CASE("modules: of those that fix what a dispatch asks for, the one that fixes most is taken") {
  const KernelInfo& kernel = kernelNamedIn("convolution_direct.f32");
  const auto fixedFor = [&](std::vector<FixedConstant> constants) {
    std::string text;
    for (const FixedConstant& fixed : moduleFor(kernel, constants, {}).fixed)
      text += cat(fixed.id, "=", fixed.value, " ");
    return text;
  };
  // BACKWARD, FILTERS, WINDOW, STRIDE.
  CHECK(fixedFor({{5, 2}, {4, 3}, {3, 4}, {2, 0}}) == "2=0 3=4 4=3 5=2 ");
  CHECK(fixedFor({{5, 2}, {4, 3}, {3, 4}}) == "2=0 3=4 4=3 5=2 ");  // what is left out is 0
  CHECK(fixedFor({{2, 1}, {3, 4}, {4, 3}, {5, 2}}).empty());
  CHECK(fixedFor({{2, 0}, {3, 4}, {4, 0}, {5, 2}}).empty());
}

TEST_CASE("modules: only what is no processor gets long ones") {
  const KernelInfo& kernel = kernelNamedIn("gemm_large_tile.f32");
  REQUIRE(std::ranges::any_of(kernel.modules, &KernelModule::isLong));
  const std::vector<FixedConstant> constants;
  CHECK_FALSE(moduleFor(kernel, constants, {}).isLong);
  CHECK(moduleFor(kernel, constants, {.isLong = true}).isLong);
  const KernelInfo& other = kernelNamedIn("convolution_direct.f16");
  const std::vector<FixedConstant> fixed{{5, 2}, {4, 3}, {3, 4}, {2, 0}};
  CHECK(&moduleFor(other, fixed, {.isLong = true}) == &moduleFor(other, fixed, {}));
  // Long ones that have literals: KNOWN of attention, KIND, QUADS, USUAL and KNOWN of recurrent steps.
  const auto fixedOf = [](std::string_view name, const std::vector<FixedConstant>& asked) {
    const KernelModule& module = moduleFor(kernelNamedIn(name), asked, {.isLong = true, .convertsHalves = true});
    std::string text = module.isLong ? "long" : "short";
    for (const FixedConstant& one : module.fixed) text += cat(" ", one.id, "=", one.value);
    return text;
  };
  for (const std::string_view name : {"attention_large_tile.f32", "attention_narrow_tile_native.f16"}) {
    CHECK(fixedOf(name, {{0, 2}}) == "long 0=2");
    CHECK(fixedOf(name, {}) == "long 0=0");
  }
  CHECK(fixedOf("recurrent_step_tile.f32", {{0, 4}, {1, 4}, {6, 1}}) == "long 0=4 1=4 6=1 9=0");
  CHECK(fixedOf("recurrent_step_tile.f32", {{0, 4}, {1, 4}, {6, 1}, {9, 1}}) == "long 0=4 1=4 6=1 9=1");
  CHECK(fixedOf("recurrent_step_tile.f32", {{0, 4}, {1, 4}, {6, 0}}) == "short 0=4 6=0");
}

TEST_CASE("modules: devices that round to nearest even get modules that convert to FLOAT16 as they do") {
  const std::vector<FixedConstant> constants{{0, DML_OPERATOR_ACTIVATION_RELU}};
  const auto taken = [&](std::string_view name, ModuleChoice choice) -> const KernelModule& {
    return moduleFor(kernelNamedIn(name), constants, choice);
  };
  CHECK(taken("unary_packed.f16", {.convertsHalves = true}).convertsHalves);
  CHECK(taken("unary_packed.f16", {.convertsHalves = true}).fixed.size() == 1);
  CHECK_FALSE(taken("unary_packed.f16", {}).convertsHalves);
  // A kernel for 16-bit storage, which those devices have, stands in for this one.
  CHECK_FALSE(taken("unary.f16", {.convertsHalves = true}).convertsHalves);
  CHECK(std::ranges::all_of(kernelNamedIn("unary_native.f16").modules, &KernelModule::convertsHalves));
  // Nothing to convert.
  for (const KernelModule& module : kernelNamedIn("unary_packed.f32").modules) CHECK_FALSE(module.convertsHalves);
  CHECK(taken("look_at_halves.f16", {.convertsHalves = true}).convertsHalves);
}

TEST_CASE("modules: plans of all cases find a module of their own of each kernel that has some" *
          leftOut(Run::Sanitized, "core's tests run the same code")) {
  std::map<std::string, size_t> general;
  size_t found = 0;
  for (const bool native : {false, true}) {
    Caps caps;
    caps.features = native ? static_cast<uint32_t>(Feature::Storage16) | static_cast<uint32_t>(Feature::Int16) |
                                 static_cast<uint32_t>(Feature::Float16)
                           : 0;
    caps.workLimit = kDiscreteWorkLimit;
    const Target target(caps);
    forEachCasePlan([&](const TestCase&) { return target; },
                    [&](const Plan& plan) {
                      for (const auto* dispatches : {&plan.initialization, &plan.execution})
                        for (const Dispatch& dispatch : *dispatches) {
                          const KernelInfo* kernel = findKernel(dispatch.kernel);
                          REQUIRE(kernel);
                          if (kernel->modules.size() < 2) continue;
                          if (!lacksModule(*kernel, dispatch, native)) {
                            ++found;
                            continue;
                          }
                          std::string missing(kernel->name);
                          for (const Specialization& s : dispatch.specialization)
                            missing += cat(" ", s.id, "=", s.value);
                          ++general[missing];
                        }
                    });
  }
  for (const auto& [missing, count] : general)
    FAIL_CHECK("No module of its own: ", missing, ", ", count, " dispatches");
  CHECK(found > 10000);
}

}  // namespace
}  // namespace dimple::testing
