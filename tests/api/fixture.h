// What tests of the API share: a validated device, operators from case lines, buffers of floats.
#pragma once

#include <dimple.h>
#include <doctest/doctest.h>
#include <wrl/client.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema/desc_text.h"
#include "tests/gpu_test.h"

namespace dimple::testing {

constexpr std::string_view kAddLine = "ELEMENT_WISE_ADD ATensor=f32[4] BTensor=f32[4] OutputTensor=f32[4]";

// While it lives, devices of libvkd3d are opened whose descriptor heaps are cheap: theirs take 0.7 s each on lavapipe,
// unless the descriptors go into Vulkan's at execution. For tests that make many heaps and execute nothing.
class CheapHeaps {
 public:
#ifdef _WIN32
  CheapHeaps() {}
#else
  CheapHeaps() {
    if (const char* value = std::getenv(kVariable)) before_ = value;
    setenv(kVariable, "virtual_heaps", 1);
  }
  ~CheapHeaps() {
    if (before_) {
      setenv(kVariable, before_->c_str(), 1);
    } else {
      unsetenv(kVariable);
    }
  }
#endif
  CheapHeaps(const CheapHeaps&) = delete;

 private:
  static constexpr const char* kVariable = "VKD3D_CONFIG";
  std::optional<std::string> before_;
};

// A value that an enumeration does not have.
template <class E>
E outside(uint32_t value) {
  E result;
  std::memcpy(&result, &value, sizeof value);
  return result;
}

class Fixture {
 public:
  explicit Fixture(const std::string& chosen = "", DimpleContextFlags flags = DIMPLE_CONTEXT_FLAG_NONE) {
    std::string error;
    GpuOptions options = gpuOptions(chosen);
    options.flags |= flags;
    gpu = Gpu::open(options, error);
    REQUIRE_MESSAGE(gpu, error);
    device = &gpu->device();
    context = &gpu->context();
    REQUIRE(SUCCEEDED(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder))));
  }
  // Validation must be silent; a test that provokes a message takes it first.
  ~Fixture() {
    for (const auto& message : gpu->takeMessages()) CHECK_MESSAGE(message.empty(), message);
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  ComPtr<IDMLOperator> create(std::string_view line) const {
    auto parsed = parseCase(line);
    REQUIRE(parsed);
    const DML_OPERATOR_DESC desc = parsed->desc.desc();
    ComPtr<IDMLOperator> op;
    REQUIRE(device->CreateOperator(&desc, IID_PPV_ARGS(&op)) == S_OK);
    return op;
  }
  ComPtr<IDMLCompiledOperator> compile(std::string_view line,
                                       DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE) const {
    ComPtr<IDMLCompiledOperator> compiled;
    REQUIRE(device->CompileOperator(create(line).Get(), flags, IID_PPV_ARGS(&compiled)) == S_OK);
    return compiled;
  }
  ComPtr<IDMLOperatorInitializer> initializer(IDMLCompiledOperator* op) const {
    ComPtr<IDMLOperatorInitializer> made;
    REQUIRE(device->CreateOperatorInitializer(1, &op, IID_PPV_ARGS(&made)) == S_OK);
    return made;
  }
  ComPtr<ID3D12Resource> buffer(UINT64 bytes) const {
    ComPtr<ID3D12Resource> made;
    REQUIRE(context->CreateBuffer(bytes, &made) == S_OK);
    return made;
  }
  ComPtr<ID3D12Resource> buffer(const std::vector<float>& values) const {
    auto made = buffer(values.size() * sizeof(float));
    REQUIRE(context->Upload(made.Get(), 0, values.data(), values.size() * sizeof(float)) == S_OK);
    return made;
  }
  std::vector<float> read(const ComPtr<ID3D12Resource>& from, size_t count) const {
    std::vector<float> values(count);
    REQUIRE(context->Download(from.Get(), 0, values.data(), count * sizeof(float)) == S_OK);
    return values;
  }
  // Lists opened after it use it.
  ComPtr<ID3D12DescriptorHeap> heap(UINT count) {
    REQUIRE(context->CreateDescriptorHeap(count, heap_.ReleaseAndGetAddressOf()) == S_OK);
    return heap_;
  }
  DML_BINDING_TABLE_DESC tableDesc(IDMLDispatchable* dispatchable, const ComPtr<ID3D12DescriptorHeap>& heap, UINT first,
                                   UINT count) const {
    auto cpu = dimpleGetCPUStart(heap.Get());
    auto gpuStart = dimpleGetGPUStart(heap.Get());
    cpu.ptr += SIZE_T{first} * context->GetDescriptorIncrement();
    gpuStart.ptr += UINT64{first} * context->GetDescriptorIncrement();
    return {dispatchable, cpu, gpuStart, count};
  }
  ComPtr<IDMLBindingTable> table(IDMLDispatchable* dispatchable, const ComPtr<ID3D12DescriptorHeap>& heap,
                                 UINT first = 0) const {
    const auto desc =
        tableDesc(dispatchable, heap, first, dimpleGetBindingProperties(dispatchable).RequiredDescriptorCount);
    ComPtr<IDMLBindingTable> made;
    REQUIRE(device->CreateBindingTable(&desc, IID_PPV_ARGS(&made)) == S_OK);
    return made;
  }
  ComPtr<ID3D12GraphicsCommandList> list() const {
    ComPtr<ID3D12GraphicsCommandList> made;
    REQUIRE(context->CreateCommandList(&made) == S_OK);
    if (ID3D12DescriptorHeap* heap = heap_.Get()) made->SetDescriptorHeaps(1, &heap);
    return made;
  }
  void execute(const ComPtr<ID3D12GraphicsCommandList>& closed) const {
    UINT64 fence = 0;
    REQUIRE(context->Execute(closed.Get(), &fence) == S_OK);
    REQUIRE(context->Wait(fence) == S_OK);
  }
  // Records one dispatch in a list of its own and executes it.
  void run(IDMLDispatchable* dispatchable, const ComPtr<IDMLBindingTable>& bindings) const {
    auto commands = list();
    recorder->RecordDispatch(commands.Get(), dispatchable, bindings.Get());
    REQUIRE(commands->Close() == S_OK);
    execute(commands);
  }

  std::unique_ptr<Gpu> gpu;
  IDMLDevice* device = nullptr;
  IDimpleContext* context = nullptr;
  ComPtr<IDMLCommandRecorder> recorder;

 private:
  ComPtr<ID3D12DescriptorHeap> heap_;
};

// Bindings of whole buffers; null ones are NONE.
class Bindings {
 public:
  explicit Bindings(const std::vector<ID3D12Resource*>& resources)
      : buffers_(resources.size()), descs_(resources.size()) {
    for (size_t i = 0; i < resources.size(); ++i) {
      if (!resources[i]) continue;
      buffers_[i] = {resources[i], 0, dimpleGetDesc(resources[i]).Width};
      descs_[i] = {DML_BINDING_TYPE_BUFFER, &buffers_[i]};
    }
  }
  UINT count() const { return static_cast<UINT>(descs_.size()); }
  DML_BUFFER_BINDING& buffer(size_t i) { return buffers_[i]; }
  DML_BINDING_DESC* descs() { return descs_.data(); }

 private:
  std::vector<DML_BUFFER_BINDING> buffers_;
  std::vector<DML_BINDING_DESC> descs_;
};

inline void bindInputs(const ComPtr<IDMLBindingTable>& table, const std::vector<ID3D12Resource*>& resources) {
  Bindings bindings(resources);
  table->BindInputs(bindings.count(), bindings.descs());
}
inline void bindOutputs(const ComPtr<IDMLBindingTable>& table, const std::vector<ID3D12Resource*>& resources) {
  Bindings bindings(resources);
  table->BindOutputs(bindings.count(), bindings.descs());
}

}  // namespace dimple::testing
