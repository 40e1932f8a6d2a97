// What only shows after a while: memory that grows, and threads that meet. DIMPLE_TEST_LONG=1: 100 contexts and 10,000
// cycles instead of a few.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#ifdef __GLIBC__
#include <malloc.h>
#include <unistd.h>
#endif

#include "tests/api/fixture.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

bool isLong() { return std::getenv("DIMPLE_TEST_LONG") != nullptr; }

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

// What a program does with an operator, from its description to its numbers. The heap is the caller's.
struct Cycle {
  IDMLDevice& device;
  IDimpleContext& context;
  ID3D12DescriptorHeap& heap;
  UINT firstDescriptor;

  HRESULT run(UINT size, float addend) const {
    const UINT64 bytes = UINT64{size} * sizeof(float);
    const UINT64 apart = (bytes + 15) / 16 * 16;
    const DML_BUFFER_TENSOR_DESC buffer{
        DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 1, &size, nullptr, bytes, 0};
    const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &buffer};
    const DML_ELEMENT_WISE_ADD_OPERATOR_DESC add{&tensor, &tensor, &tensor};
    const DML_OPERATOR_DESC desc{DML_OPERATOR_ELEMENT_WISE_ADD, &add};
    ComPtr<IDMLOperator> op;
    ComPtr<IDMLCompiledOperator> compiled;
    ComPtr<IDMLBindingTable> table;
    ComPtr<IDMLCommandRecorder> recorder;
    ComPtr<ID3D12GraphicsCommandList> list;
    ComPtr<ID3D12Resource> memory;
    HRESULT result = device.CreateOperator(&desc, IID_PPV_ARGS(&op));
    if (SUCCEEDED(result)) result = device.CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled));
    if (SUCCEEDED(result)) result = context.CreateBuffer(3 * apart, &memory);
    std::vector<float> numbers(3 * apart / sizeof(float), addend);
    for (UINT i = 0; i < size; ++i) numbers[i] = static_cast<float>(i);
    if (SUCCEEDED(result)) result = context.Upload(memory.Get(), 0, numbers.data(), 3 * apart);
    if (FAILED(result)) return result;

    auto cpu = dimpleGetCPUStart(&heap);
    auto gpu = dimpleGetGPUStart(&heap);
    cpu.ptr += SIZE_T{firstDescriptor} * context.GetDescriptorIncrement();
    gpu.ptr += UINT64{firstDescriptor} * context.GetDescriptorIncrement();
    const UINT descriptors = dimpleGetBindingProperties(compiled.Get()).RequiredDescriptorCount;
    const DML_BINDING_TABLE_DESC tableDesc{compiled.Get(), cpu, gpu, descriptors};
    result = device.CreateBindingTable(&tableDesc, IID_PPV_ARGS(&table));
    if (SUCCEEDED(result)) result = device.CreateCommandRecorder(IID_PPV_ARGS(&recorder));
    if (SUCCEEDED(result)) result = context.CreateCommandList(&list);
    if (FAILED(result)) return result;
    const DML_BUFFER_BINDING ranges[] = {
        {memory.Get(), 0, bytes}, {memory.Get(), apart, bytes}, {memory.Get(), 2 * apart, bytes}};
    DML_BINDING_DESC bindings[3];
    for (size_t i = 0; i < 3; ++i) bindings[i] = {DML_BINDING_TYPE_BUFFER, &ranges[i]};
    table->BindInputs(2, bindings);
    table->BindOutputs(1, bindings + 2);
    ID3D12DescriptorHeap* const heaps[] = {&heap};
    list->SetDescriptorHeaps(1, heaps);
    recorder->RecordDispatch(list.Get(), compiled.Get(), table.Get());
    result = list->Close();
    UINT64 fence = 0;
    if (SUCCEEDED(result)) result = context.Execute(list.Get(), &fence);
    if (SUCCEEDED(result)) result = context.Wait(fence);
    if (SUCCEEDED(result)) result = context.Download(memory.Get(), 2 * apart, numbers.data(), bytes);
    if (FAILED(result)) return result;
    for (UINT i = 0; i < size; ++i)
      if (numbers[i] != static_cast<float>(i) + addend) return E_UNEXPECTED;
    return S_OK;
  }
};

constexpr UINT kDescriptors = 64;  // of a cycle

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
  REQUIRE(own->context().CreateDescriptorHeap(kDescriptors, &heap) == S_OK);
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
    REQUIRE(own->context().CreateDescriptorHeap(kDescriptors, &heap) == S_OK);
    const Cycle cycle{own->device(), own->context(), *heap.Get(), 0};
    failed += FAILED(cycle.run(64, 3));
    failed += !own->takeMessages().empty();
  });
  CHECK(failed == 0);
}

// Two devices write the same cache, and two more begin with it; four threads share each, and its heap.
GPU_TEST_CASE("long runs: threads share devices, a heap of each and the file of a cache") {
  const auto file = std::filesystem::temp_directory_path() / ("dimple-threads-" + std::string(gpu.backend()));
  std::filesystem::remove(file);
  constexpr UINT kThreads = 8, kDevices = 2;
  for (int opened = 0; opened < 2; ++opened) {
    std::unique_ptr<Gpu> gpus[kDevices];
    ComPtr<ID3D12DescriptorHeap> heaps[kDevices];
    for (UINT d = 0; d < kDevices; ++d) {
      std::string error;
      GpuOptions options = gpuOptions();
      options.pipelineCachePath = file.string();
      gpus[d] = Gpu::open(options, error);
      REQUIRE_MESSAGE(gpus[d], error);
      REQUIRE(gpus[d]->context().CreateDescriptorHeap(kThreads * kDescriptors, &heaps[d]) == S_OK);
    }
    std::atomic<size_t> failed = 0;
    std::vector<std::thread> threads;
    for (UINT t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        const UINT d = t % kDevices;
        const Cycle cycle{gpus[d]->device(), gpus[d]->context(), *heaps[d].Get(), t * kDescriptors};
        for (UINT i = 0; i < (isLong() ? 200u : 10u); ++i)
          failed += FAILED(cycle.run((i * 37 + t) % 300 + 1, static_cast<float>(t)));
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(failed == 0);
    for (const auto& own : gpus)
      for (const std::string& message : own->takeMessages()) FAIL_CHECK(message);
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace dimple::testing
