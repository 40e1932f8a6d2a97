// GPU_TEST_CASE: one body, run on every back end that this build has.
//
//   GPU_TEST_CASE("a device can add") { CHECK(gpu.device()....); }
//
// `gpu` (tests/conformance/gpu.h) is a device shared by all tests, on Vulkan with core and synchronization validation.
// What the layers say while the body runs fails the test. A device that cannot be had fails it too; environment
// variables ask for less, and say so on stdout:
//   DIMPLE_TEST_NO_GPU=reason     skip all GPU tests; they count as skipped
//   DIMPLE_TEST_NO_VALIDATION=1   run without the validation layers
//   DIMPLE_TEST_ADAPTER=name      the Vulkan device whose name contains this, not the first
//   DIMPLE_TEST_BACKEND=d3d12     this back end only
#pragma once

#include <doctest.h>

#include <string>
#include <vector>

#include "tests/conformance/gpu.h"

namespace dimple::testing {

bool gpuTestsSkipped();

// The back ends of this build, and the one that the running body is for; Vulkan outside a GPU_TEST_CASE.
const std::vector<DimpleBackend>& testedBackends();
DimpleBackend currentBackend();

// What a device of the current back end is opened with, validation included.
GpuOptions gpuOptions(const std::string& chosen = "");

// A device of the current back end that lives until the run ends, one for each text of options. Fails the running test
// case if there is none.
Gpu& sharedGpu(const std::string& chosen = "");
// That one and as many more as keep the machine's processors busy, for a thread each. Their messages are the caller's
// to take.
std::vector<Gpu*> sharedGpus(const std::string& chosen = "");
// For tests that look at several back ends at once.
Gpu& sharedGpu(DimpleBackend backend, const std::string& chosen);

// Whether validation messages are looked for; without DIMPLE_TEST_NO_VALIDATION they are.
bool withValidation();

using GpuTest = void (*)(Gpu&);
void runGpuTest(GpuTest test);

}  // namespace dimple::testing

#define DIMPLE_GPU_TEST_CASE(function, name)                                                                         \
  static void function([[maybe_unused]] ::dimple::testing::Gpu& gpu);                                                \
  TEST_CASE(doctest::skip(::dimple::testing::gpuTestsSkipped()) * name) { ::dimple::testing::runGpuTest(function); } \
  static void function([[maybe_unused]] ::dimple::testing::Gpu& gpu)
#define GPU_TEST_CASE(name) DIMPLE_GPU_TEST_CASE(DOCTEST_ANONYMOUS(gpuTest), name)
