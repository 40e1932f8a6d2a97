// What only a Direct3D 12 device can be asked.
#ifdef DIMPLE_WITH_D3D12

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backend_d3d12/d3d12.h"
#include "backend_d3d12/device.h"
#include "backend_d3d12/half_rounding.h"
#include "tests/api/fixture.h"
#include "tests/left_out.h"

using namespace dimple::testing;

namespace {

// A Direct3D 12 device of the test's own, with a DirectML device over it.
struct Direct3DProgram {
  Direct3DProgram() {
    const auto library = dimple::d3d12::loadLibrary();
    REQUIRE(library);
    REQUIRE(library->createDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)) == S_OK);
    REQUIRE(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)) == S_OK);
  }
  ComPtr<ID3D12Resource> buffer(UINT64 bytes, D3D12_HEAP_TYPE type, D3D12_RESOURCE_FLAGS flags) const {
    D3D12_HEAP_PROPERTIES properties{};
    properties.Type = type;
    if (type == D3D12_HEAP_TYPE_CUSTOM) {
      properties.CPUPageProperty = D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
      properties.MemoryPoolPreference = D3D12_MEMORY_POOL_L0;
    }
    D3D12_RESOURCE_DESC desc{};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    desc.Width = bytes;
    desc.Height = desc.DepthOrArraySize = desc.MipLevels = 1;
    desc.SampleDesc.Count = 1;
    desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    desc.Flags = flags;
    const auto state = type == D3D12_HEAP_TYPE_UPLOAD     ? D3D12_RESOURCE_STATE_GENERIC_READ
                       : type == D3D12_HEAP_TYPE_READBACK ? D3D12_RESOURCE_STATE_COPY_DEST
                                                          : D3D12_RESOURCE_STATE_COMMON;
    ComPtr<ID3D12Resource> made;
    REQUIRE(device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                            IID_PPV_ARGS(&made)) == S_OK);
    return made;
  }
  ComPtr<ID3D12GraphicsCommandList> list(D3D12_COMMAND_LIST_TYPE type) {
    REQUIRE(device->CreateCommandAllocator(type, IID_PPV_ARGS(allocator.ReleaseAndGetAddressOf())) == S_OK);
    ComPtr<ID3D12GraphicsCommandList> made;
    REQUIRE(device->CreateCommandList(0, type, allocator.Get(), nullptr, IID_PPV_ARGS(&made)) == S_OK);
    return made;
  }
  ComPtr<IDMLCompiledOperator> compile(std::string_view line) const {
    auto parsed = dimple::parseCase(line);
    REQUIRE(parsed);
    const DML_OPERATOR_DESC desc = parsed->desc.desc();
    ComPtr<IDMLOperator> op;
    REQUIRE(dml->CreateOperator(&desc, IID_PPV_ARGS(&op)) == S_OK);
    ComPtr<IDMLCompiledOperator> compiled;
    REQUIRE(dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)) == S_OK);
    return compiled;
  }
  ComPtr<IDMLBindingTable> table(IDMLDispatchable* dispatchable) {
    const UINT count = dimpleGetBindingProperties(dispatchable).RequiredDescriptorCount;
    const D3D12_DESCRIPTOR_HEAP_DESC heapDesc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, count,
                                              D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
    REQUIRE(device->CreateDescriptorHeap(&heapDesc, IID_PPV_ARGS(heap.ReleaseAndGetAddressOf())) == S_OK);
    const DML_BINDING_TABLE_DESC desc{dispatchable, dimpleGetCPUStart(heap.Get()), dimpleGetGPUStart(heap.Get()),
                                      count};
    ComPtr<IDMLBindingTable> made;
    REQUIRE(dml->CreateBindingTable(&desc, IID_PPV_ARGS(&made)) == S_OK);
    return made;
  }

  ComPtr<ID3D12Device> device;
  ComPtr<IDMLDevice> dml;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12DescriptorHeap> heap;
};

constexpr auto kUav = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
constexpr auto kNoFlags = D3D12_RESOURCE_FLAG_NONE;

// A device of which DMLCreateDevice may ask for its shader model, and nothing else: a table of functions in the order
// of d3d12.h's declarations instead of a class with all 44.
class OldDevice {
 public:
  // Knows shader models up to `newestKnown` and has 5.1. What is newer than it knows is an invalid argument.
  explicit OldDevice(D3D_SHADER_MODEL newestKnown) : newestKnown_(newestKnown) {
    functions_.fill(function(unexpected));
    table_ = functions_.data();
    functions_[0] = function(queryInterface);
    functions_[1] = function(addRef);
    functions_[2] = function(release);
    functions_[13] = function(checkFeatureSupport);
    functions_[15] = function(getDescriptorHandleIncrementSize);
  }
  OldDevice(const OldDevice&) = delete;

  ID3D12Device* get() { return reinterpret_cast<ID3D12Device*>(this); }
  ULONG references() const { return references_; }

 private:
  using Function = void(STDMETHODCALLTYPE*)();
  template <class F>
  static Function function(F* pointer) {
    return reinterpret_cast<Function>(pointer);
  }
  static void STDMETHODCALLTYPE unexpected() {
    std::fprintf(stderr, "DMLCreateDevice calls another method of a device without shader model 6.0.\n");
    std::abort();
  }
  static HRESULT STDMETHODCALLTYPE queryInterface(OldDevice*, REFIID, void** object) {
    *object = nullptr;
    return E_NOINTERFACE;
  }
  static ULONG STDMETHODCALLTYPE addRef(OldDevice* self) { return ++self->references_; }
  static ULONG STDMETHODCALLTYPE release(OldDevice* self) { return --self->references_; }
  static HRESULT STDMETHODCALLTYPE checkFeatureSupport(OldDevice* self, D3D12_FEATURE feature, void* data, UINT size) {
    auto& model = static_cast<D3D12_FEATURE_DATA_SHADER_MODEL*>(data)->HighestShaderModel;
    if (feature != D3D12_FEATURE_SHADER_MODEL || size != sizeof model || model > self->newestKnown_)
      return E_INVALIDARG;
    model = std::min(model, D3D_SHADER_MODEL_5_1);
    return S_OK;
  }
  static UINT STDMETHODCALLTYPE getDescriptorHandleIncrementSize(OldDevice*, D3D12_DESCRIPTOR_HEAP_TYPE) { return 32; }

  const Function* table_ = nullptr;  // first, where callers look for it
  std::array<Function, 44> functions_;
  const D3D_SHADER_MODEL newestKnown_;
  ULONG references_ = 1;
};

bool skipped() {
  const auto& backends = testedBackends();
  return gpuTestsSkipped() || std::find(backends.begin(), backends.end(), DIMPLE_BACKEND_D3D12) == backends.end();
}

}  // namespace

#define D3D12_TEST_CASE(name) TEST_CASE(doctest::skip(skipped()) * name)

D3D12_TEST_CASE("d3d12: creation checks its arguments") {
  Direct3DProgram program;
  constexpr auto kLevel7 = static_cast<DML_FEATURE_LEVEL>(0x7000);
  ComPtr<IDMLDevice> made;
  CHECK(DMLCreateDevice(nullptr, DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&made)) == E_INVALIDARG);
  DML_CREATE_DEVICE_FLAGS unknown;
  std::memset(&unknown, 0x40, sizeof unknown);
  CHECK(DMLCreateDevice(program.device.Get(), unknown, IID_PPV_ARGS(&made)) == E_INVALIDARG);
  CHECK(DMLCreateDevice1(program.device.Get(), DML_CREATE_DEVICE_FLAG_NONE, kLevel7, IID_PPV_ARGS(&made)) ==
        DXGI_ERROR_UNSUPPORTED);
  CHECK(DMLCreateDevice(program.device.Get(), DML_CREATE_DEVICE_FLAG_NONE, __uuidof(IDMLDevice), nullptr) == S_OK);
  REQUIRE(DMLCreateDevice1(program.device.Get(), DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_6_4,
                           IID_PPV_ARGS(&made)) == S_OK);
  ComPtr<ID3D12Device> parent;
  CHECK(made->GetParentDevice(IID_PPV_ARGS(&parent)) == S_OK);
  CHECK(parent.Get() == program.device.Get());
  ComPtr<ID3D12DescriptorHeap> heap;
  CHECK(dimpleCreateDescriptorHeap(made.Get(), 3, &heap) == E_INVALIDARG);
}

#ifndef _WIN32
TEST_CASE("d3d12: another library than libvkd3d has to have the functions") {
  const auto missing = dimple::d3d12::loadLibrary("/nowhere/d3d12.so");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == dimple::ErrorCode::NotFound);
  CHECK(
      missing.error().text.starts_with("DIMPLE_D3D12_LIBRARY has value (/nowhere/d3d12.so), which cannot be loaded: "));
  const auto unfit = dimple::d3d12::loadLibrary("libm.so.6");
  REQUIRE_FALSE(unfit);
  CHECK(unfit.error().text ==
        "DIMPLE_D3D12_LIBRARY has value (libm.so.6), expected a library with D3D12CreateDevice and "
        "D3D12SerializeRootSignature.");
}
#endif

TEST_CASE("d3d12: a device without shader model 6.0 is refused, by name") {
  for (const D3D_SHADER_MODEL newestKnown : {D3D_SHADER_MODEL_6_6, D3D_SHADER_MODEL_6_0, D3D_SHADER_MODEL_5_1}) {
    CAPTURE(static_cast<int>(newestKnown));
    OldDevice device(newestKnown);
    ComPtr<IDMLDevice> made;
    CHECK(DMLCreateDevice(device.get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&made)) == DXGI_ERROR_UNSUPPORTED);
    CHECK(made.Get() == nullptr);
    CHECK(std::string(dimpleGetLastMessage()) ==
          "The Direct3D 12 device has no shader model 6.0, which Dimple's kernels need.");
    CHECK(device.references() == 1);
  }
}

D3D12_TEST_CASE("d3d12: buffers that kernels cannot bind are misuse, with a sentence" *
                leftOut(Run::QuickD3d12, "each of its devices compiles its kernel anew")) {
  const CheapHeaps cheapHeaps;
  const auto bind = [](D3D12_HEAP_TYPE heap, D3D12_RESOURCE_FLAGS flags) {
    Direct3DProgram program;
    const auto op = program.compile("ELEMENT_WISE_NEGATE InputTensor=f32[4] OutputTensor=f32[4]");
    const auto table = program.table(op.Get());
    bindInputs(table, {program.buffer(64, heap, flags).Get()});
    return program.dml->GetDeviceRemovedReason() == S_OK ? std::string() : dimpleGetLastMessage();
  };
  CHECK(bind(D3D12_HEAP_TYPE_DEFAULT, kUav).empty());
  CHECK(bind(D3D12_HEAP_TYPE_CUSTOM, kUav).empty());
  CHECK(bind(D3D12_HEAP_TYPE_DEFAULT, kNoFlags).find("ALLOW_UNORDERED_ACCESS") != std::string::npos);
  CHECK(bind(D3D12_HEAP_TYPE_READBACK, kNoFlags).find("READBACK heap") != std::string::npos);
  CHECK(bind(D3D12_HEAP_TYPE_UPLOAD, kNoFlags).find("UPLOAD heap, which only inputs of an initializer") !=
        std::string::npos);
}

D3D12_TEST_CASE("d3d12: lists that cannot compute are misuse") {
  const CheapHeaps cheapHeaps;
  Direct3DProgram program;
  const auto op = program.compile("ELEMENT_WISE_NEGATE InputTensor=f32[4] OutputTensor=f32[4]");
  const auto table = program.table(op.Get());
  const auto buffer = program.buffer(64, D3D12_HEAP_TYPE_DEFAULT, kUav);
  bindInputs(table, {buffer.Get()});
  bindOutputs(table, {buffer.Get()});
  ComPtr<IDMLCommandRecorder> recorder;
  REQUIRE(program.dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)) == S_OK);
  const auto direct = program.list(D3D12_COMMAND_LIST_TYPE_DIRECT);
  ID3D12DescriptorHeap* heap = program.heap.Get();
  direct->SetDescriptorHeaps(1, &heap);
  recorder->RecordDispatch(direct.Get(), op.Get(), table.Get());
  CHECK(program.dml->GetDeviceRemovedReason() == S_OK);
  recorder->RecordDispatch(program.list(D3D12_COMMAND_LIST_TYPE_COPY).Get(), op.Get(), table.Get());
  CHECK(program.dml->GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_REMOVED);
  CHECK(std::string(dimpleGetLastMessage()).find("has type (3), expected DIRECT (0) or COMPUTE (2)") !=
        std::string::npos);
}

// An UPLOAD heap's buffer stays readable by the program alone, so initialization copies it first; recorded work needs
// neither the binding table nor a second recording of its own.
D3D12_TEST_CASE("d3d12: an initializer reads inputs in UPLOAD heaps") {
  Direct3DProgram program;
  const auto op = program.compile("ELEMENT_WISE_ADD ATensor=f32[4] BTensor=f32[4]! OutputTensor=f32[4]");
  IDMLCompiledOperator* const operators[] = {op.Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  REQUIRE(program.dml->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)) == S_OK);
  const auto weights = program.buffer(64, D3D12_HEAP_TYPE_UPLOAD, kNoFlags);
  const auto persistent =
      program.buffer(dimpleGetBindingProperties(op.Get()).PersistentResourceSize, D3D12_HEAP_TYPE_DEFAULT, kUav);
  const auto readback = program.buffer(16, D3D12_HEAP_TYPE_READBACK, kNoFlags);
  void* mapped = nullptr;
  REQUIRE(weights->Map(0, nullptr, &mapped) == S_OK);
  const float values[] = {0, 0, 0, 0, 1, 2, 3, 4};
  std::memcpy(mapped, values, sizeof values);
  weights->Unmap(0, nullptr);

  ComPtr<IDMLCommandRecorder> recorder;
  REQUIRE(program.dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)) == S_OK);
  const auto list = program.list(D3D12_COMMAND_LIST_TYPE_COMPUTE);
  {
    const auto table = program.table(initializer.Get());
    const DML_BUFFER_BINDING owned[] = {{nullptr, 0, 0}, {weights.Get(), 16, 16}};
    const DML_BUFFER_ARRAY_BINDING array{2, owned};
    const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
    table->BindInputs(1, &desc);
    bindOutputs(table, {persistent.Get()});
    ID3D12DescriptorHeap* heap = program.heap.Get();
    list->SetDescriptorHeaps(1, &heap);
    recorder->RecordDispatch(list.Get(), initializer.Get(), table.Get());
    recorder->RecordDispatch(list.Get(), initializer.Get(), table.Get());
  }
  D3D12_RESOURCE_BARRIER barrier{};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barrier.Transition = {persistent.Get(), 0, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE};
  list->ResourceBarrier(1, &barrier);
  list->CopyBufferRegion(readback.Get(), 0, persistent.Get(), 0, 16);
  REQUIRE(list->Close() == S_OK);

  ComPtr<ID3D12CommandQueue> queue;
  const D3D12_COMMAND_QUEUE_DESC queueDesc{D3D12_COMMAND_LIST_TYPE_COMPUTE, 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
  REQUIRE(program.device->CreateCommandQueue(&queueDesc, IID_PPV_ARGS(&queue)) == S_OK);
  ComPtr<ID3D12Fence> fence;
  REQUIRE(program.device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)) == S_OK);
  ID3D12CommandList* const lists[] = {list.Get()};
  queue->ExecuteCommandLists(1, lists);
  REQUIRE(queue->Signal(fence.Get(), 1) == S_OK);
  REQUIRE(fence->SetEventOnCompletion(1, nullptr) == S_OK);
  REQUIRE(readback->Map(0, nullptr, &mapped) == S_OK);
  CHECK(std::memcmp(mapped, values + 4, 16) == 0);
  readback->Unmap(0, nullptr);
  CHECK(program.dml->GetDeviceRemovedReason() == S_OK);
}

// A device without native 16-bit operations gets the module that converts by integers, which rounds as it should.
D3D12_TEST_CASE("d3d12: a look at the rounding of FLOAT16 finds it right") {
  const auto library = dimple::d3d12::loadLibrary();
  REQUIRE(library);
  ComPtr<ID3D12Device> device;
  REQUIRE(library->createDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)) == S_OK);
  for (const bool asksDevice : {false, true}) {
    dimple::Options options;
    options.roundedHalves = asksDevice;
    const auto backend = dimple::d3d12::Device::create(device.Get(), options);
    REQUIRE(backend);
    CHECK((asksDevice || !(*backend)->moduleChoice().convertsHalves));
    CHECK(dimple::d3d12::roundsHalves(**backend));
  }
}

#endif
