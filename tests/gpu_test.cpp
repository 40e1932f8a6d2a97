#include "tests/gpu_test.h"

#include <cstdio>
#include <cstdlib>
#include <map>

namespace dimple::testing {
namespace {

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

std::map<DimpleContextFlags, std::unique_ptr<Gpu>>& openGpus() {
  static std::map<DimpleContextFlags, std::unique_ptr<Gpu>> gpus;
  return gpus;
}

// Closes the devices before static objects of the driver go.
struct CloseGpus : doctest::IReporter {
  explicit CloseGpus(const doctest::ContextOptions&) {}
  void test_run_end(const doctest::TestRunStats&) override { openGpus().clear(); }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("close_gpus", 1, CloseGpus);

}  // namespace

bool gpuTestsSkipped() {
  static const bool skipped = [] {
    const char* reason = environment("DIMPLE_TEST_NO_GPU");
    if (reason) std::printf("The GPU tests are skipped: %s\n", reason);
    return reason != nullptr;
  }();
  return skipped;
}

bool withValidation() {
  static const bool with = [] {
    const bool without = environment("DIMPLE_TEST_NO_VALIDATION") != nullptr;
    if (without) std::printf("The GPU tests run without the Vulkan validation layers (DIMPLE_TEST_NO_VALIDATION).\n");
    return !without;
  }();
  return with;
}

Gpu& sharedGpu(DimpleContextFlags flags) {
  auto& gpu = openGpus()[flags];
  if (!gpu) {
    GpuOptions options;
    options.flags = flags;
    if (withValidation()) options.flags |= DIMPLE_CONTEXT_FLAG_VALIDATION;
    if (const char* name = environment("DIMPLE_TEST_ADAPTER")) options.adapterName = name;
    std::string error;
    gpu = Gpu::open(options, error);
    if (!gpu) FAIL("There is no device to run the GPU tests on: ", error);
    std::printf("GPU tests run on %s (%s)%s.\n", gpu->adapter().c_str(), std::string(gpu->backend()).c_str(),
                withValidation() ? ", validated" : "");
  }
  return *gpu;
}

void runGpuTest(GpuTest test) {
  Gpu& gpu = sharedGpu();
  gpu.takeMessages();
  test(gpu);
  for (const std::string& message : gpu.takeMessages()) FAIL_CHECK("A message was sent: ", message);
}

}  // namespace dimple::testing
