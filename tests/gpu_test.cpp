#include "tests/gpu_test.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>
#include <tuple>

#include "tests/silent_listener.h"

namespace dimple::testing {
namespace {

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

// By back end, options and number.
using OpenGpus = std::map<std::tuple<DimpleBackend, std::string, size_t>, std::unique_ptr<Gpu>>;
OpenGpus& openGpus() {
  static OpenGpus gpus;
  return gpus;
}

DimpleBackend runningBackend = DIMPLE_BACKEND_VULKAN;

// Closes the devices before static objects of the driver go.
struct CloseGpus : SilentListener {
  using SilentListener::SilentListener;
  void test_run_end(const doctest::TestRunStats&) override { openGpus().clear(); }
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

const std::vector<DimpleBackend>& testedBackends() {
  static const std::vector<DimpleBackend> backends = [] {
    std::vector<DimpleBackend> built{DIMPLE_BACKEND_VULKAN};
#ifdef DIMPLE_WITH_D3D12
    built.push_back(DIMPLE_BACKEND_D3D12);
#endif
    if (const char* only = environment("DIMPLE_TEST_BACKEND")) {
      std::erase_if(built, [only](DimpleBackend backend) { return backendName(backend) != only; });
      if (built.empty()) std::printf("DIMPLE_TEST_BACKEND is %s, which this build has not.\n", only);
    }
    return built;
  }();
  return backends;
}

DimpleBackend currentBackend() { return runningBackend; }

static GpuOptions optionsOf(DimpleBackend backend, const std::string& chosen) {
  GpuOptions options;
  options.backend = backend;
  options.options = chosen;
  if (backend != DIMPLE_BACKEND_VULKAN) return options;
  if (withValidation()) options.flags |= DIMPLE_CONTEXT_FLAG_VALIDATION;
  if (const char* name = environment("DIMPLE_TEST_ADAPTER")) options.adapterName = name;
  return options;
}

GpuOptions gpuOptions(const std::string& chosen) { return optionsOf(runningBackend, chosen); }

Gpu& sharedGpu(const std::string& chosen) { return sharedGpu(runningBackend, chosen); }

static Gpu& numberedGpu(DimpleBackend backend, const std::string& chosen, size_t number) {
  auto& gpu = openGpus()[{backend, chosen, number}];
  if (!gpu) {
    const GpuOptions options = optionsOf(backend, chosen);
    std::string error;
    gpu = Gpu::open(options, error);
    if (!gpu) FAIL("There is no device to run the GPU tests on: ", error);
    if (number == 0)
      std::printf("GPU tests run on %s (%s)%s.\n", gpu->adapter().c_str(), std::string(gpu->backend()).c_str(),
                  options.flags & DIMPLE_CONTEXT_FLAG_VALIDATION ? ", validated" : "");
  }
  return *gpu;
}

Gpu& sharedGpu(DimpleBackend backend, const std::string& chosen) { return numberedGpu(backend, chosen, 0); }

std::vector<Gpu*> sharedGpus(const std::string& chosen) {
  const size_t count = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 8);
  std::vector<Gpu*> gpus;
  for (size_t i = 0; i < count; ++i) gpus.push_back(&numberedGpu(runningBackend, chosen, i));
  return gpus;
}

void runGpuTest(GpuTest test) {
  CHECK_MESSAGE(!testedBackends().empty(), "There is no back end to run the GPU tests on.");
  for (const DimpleBackend backend : testedBackends()) {
    runningBackend = backend;
    INFO("on ", std::string(backendName(backend)));
    Gpu& gpu = sharedGpu();
    gpu.takeMessages();
    test(gpu);
    for (const auto& [key, opened] : openGpus()) {
      if (std::get<0>(key) != backend) continue;
      for (const std::string& message : opened->takeMessages()) FAIL_CHECK("A message was sent: ", message);
    }
  }
  runningBackend = DIMPLE_BACKEND_VULKAN;
}

}  // namespace dimple::testing
