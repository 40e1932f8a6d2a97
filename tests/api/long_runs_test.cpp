// What only shows after a while: memory that grows. DIMPLE_TEST_LONG=1: 100 contexts and 10,000 cycles instead of a
// few.
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#ifdef __GLIBC__
#include <malloc.h>
#include <unistd.h>
#endif

#include "tests/api/cycle.h"
#include "tests/gpu_test.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

// Bytes that the process holds; 0 where it cannot be asked.
size_t residentBytes() {
#ifdef __GLIBC__
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
#else
  return 0;
#endif
}

// Calls step() `count` times. From the first half to the second, memory may grow by `allowed` bytes: what allocators
// keep in pieces, which does not grow with the number of steps.
template <class Step>
void checkFlat(const char* what, size_t count, size_t allowed, Step step) {
  for (size_t i = 0; i < count / 2; ++i) step();
  const size_t before = residentBytes();
  for (size_t i = count / 2; i < count; ++i) step();
  const size_t after = residentBytes();
  std::printf("long runs: %zu %s, %zu KiB before the second half, %zu KiB after it\n", count, what, before >> 10,
              after >> 10);
  // Sanitizers keep what was freed.
#ifdef DIMPLE_SANITIZED
  static_cast<void>(allowed);
#else
  CHECK(after <= before + allowed);
#endif
}

// A device without the validation layers, which keep what they have seen.
std::unique_ptr<Gpu> openPlain() {
  std::string error;
  GpuOptions options = gpuOptions();
  options.flags &= ~DIMPLE_CONTEXT_FLAG_VALIDATION;
  auto opened = Gpu::open(options, error);
  REQUIRE_MESSAGE(opened, error);
  return opened;
}

GPU_TEST_CASE("long runs: operators come and go in the same memory" *
              leftOut(Run::QuickD3d12, "it takes seconds on libvkd3d")) {
  const auto own = openPlain();
  ComPtr<ID3D12DescriptorHeap> heap;
  REQUIRE(own->context().CreateDescriptorHeap(kCycleDescriptors, &heap) == S_OK);
  const Cycle cycle{own->device(), own->context(), *heap.Get(), 0};
  size_t failed = 0;
  UINT size = 0;
  checkFlat("cycles", isLong() ? 10000 : 400, size_t{2} << 20,
            [&] { failed += FAILED(cycle.run(++size % 100 + 1, 2)); });
  CHECK(failed == 0);
}

GPU_TEST_CASE("long runs: contexts come and go in the same memory" *
              leftOut(Run::QuickD3d12, "libvkd3d takes a second for a device")) {
  size_t failed = 0;
  checkFlat("contexts", isLong() ? 100 : 8, size_t{16} << 20, [&] {
    const auto own = openPlain();
    ComPtr<ID3D12DescriptorHeap> heap;
    REQUIRE(own->context().CreateDescriptorHeap(kCycleDescriptors, &heap) == S_OK);
    const Cycle cycle{own->device(), own->context(), *heap.Get(), 0};
    failed += FAILED(cycle.run(64, 3));
    failed += !own->takeMessages().empty();
  });
  CHECK(failed == 0);
}

}  // namespace
}  // namespace dimple::testing
