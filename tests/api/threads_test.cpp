// Threads that meet. The thread sanitizer looks at them on lavapipe (device_thread_tests).
#include <atomic>
#include <filesystem>
#include <latch>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/api/cycle.h"
#include "tests/gpu_test.h"

namespace dimple::testing {
namespace {

// The file of a pipeline cache, which no other process has.
struct CacheFile {
  CacheFile() = default;
  ~CacheFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  CacheFile(const CacheFile&) = delete;

  const std::string path =
      (std::filesystem::temp_directory_path() / ("dimple-threads-" + std::to_string(std::random_device()()))).string();
};

// Two devices write the same cache, and two more begin with it; four threads share each, and its heap.
GPU_TEST_CASE("long runs: threads share devices, a heap of each and the file of a cache") {
  // Lavapipe keeps the types of all kernels of a process behind locks that the thread sanitizer does not see: here one
  // thread makes them, before there are others.
  ComPtr<ID3D12DescriptorHeap> first;
  REQUIRE(gpu.context().CreateDescriptorHeap(kCycleDescriptors, &first) == S_OK);
  REQUIRE(Cycle{gpu.device(), gpu.context(), *first.Get(), 0}.run(64, 1) == S_OK);

  const CacheFile cache;
  constexpr UINT kThreads = 8, kDevices = 2, kRange = 2 * kCycleDescriptors;
  for (int opened = 0; opened < 2; ++opened) {
    std::unique_ptr<Gpu> gpus[kDevices];
    ComPtr<ID3D12DescriptorHeap> heaps[kDevices];
    for (UINT d = 0; d < kDevices; ++d) {
      std::string error;
      GpuOptions options = gpuOptions();
      options.pipelineCachePath = cache.path;
      gpus[d] = Gpu::open(options, error);
      REQUIRE_MESSAGE(gpus[d], error);
      REQUIRE(gpus[d]->context().CreateDescriptorHeap(kThreads * kRange, &heaps[d]) == S_OK);
    }
    std::atomic<size_t> failed = 0;
    std::latch start(kThreads);
    std::vector<std::thread> threads;
    for (UINT t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        const UINT d = t % kDevices;
        start.arrive_and_wait();
        for (UINT i = 0; i < (isLong() ? 200u : 10u); ++i) {
          // Other descriptors than before, so that the heap makes sets all the time.
          const UINT descriptor = t * kRange + i % (kRange - kCycleDescriptors + 1);
          const Cycle cycle{gpus[d]->device(), gpus[d]->context(), *heaps[d].Get(), descriptor};
          failed += FAILED(cycle.run((i * 37 + t) % 300 + 1, static_cast<float>(t)));
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(failed == 0);
    for (const auto& own : gpus)
      for (const std::string& message : own->takeMessages()) FAIL_CHECK(message);
  }
}

}  // namespace
}  // namespace dimple::testing
