// Interfaces, reference counts, private data, device children, feature queries.
#include <functional>
#include <thread>

#include "tests/api/fixture.h"

using namespace dimple::testing;

namespace {

template <class T>
bool answers(IUnknown* object) {
  ComPtr<T> other;
  const bool yes = object->QueryInterface(__uuidof(T), reinterpret_cast<void**>(other.GetAddressOf())) == S_OK;
  CHECK(yes == (other.Get() != nullptr));
  return yes;
}

ULONG references(IUnknown* object) {
  object->AddRef();
  return object->Release();
}

void STDMETHODCALLTYPE ignoreProfile(void*, const char*, double) {}
void STDMETHODCALLTYPE ignoreTimeline(void*, const char*, double, double) {}

// WKPDID_D3DDebugObjectNameW
constexpr GUID kNameGuid = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};
constexpr GUID kSomeGuid = {0x01234567, 0x89ab, 0xcdef, {1, 2, 3, 4, 5, 6, 7, 8}};

}  // namespace

GPU_TEST_CASE("objects answer the interfaces they derive from and no others") {
  Fixture f;
  CHECK(answers<IUnknown>(f.device));
  CHECK(answers<IDMLObject>(f.device));
  CHECK(answers<IDMLDevice>(f.device));
  CHECK(answers<IDMLDevice1>(f.device));
  CHECK(answers<IDMLDebugDevice>(f.device));
  CHECK_FALSE(answers<IDMLDeviceChild>(f.device));
  const auto op = f.create(kAddLine);
  CHECK(answers<IDMLObject>(op.Get()));
  CHECK(answers<IDMLDeviceChild>(op.Get()));
  CHECK(answers<IDMLOperator>(op.Get()));
  CHECK_FALSE(answers<IDMLDispatchable>(op.Get()));
  const auto compiled = f.compile(kAddLine);
  CHECK(answers<IDMLCompiledOperator>(compiled.Get()));
  CHECK(answers<IDMLDispatchable>(compiled.Get()));
  CHECK(answers<IDMLPageable>(compiled.Get()));
  CHECK_FALSE(answers<IDMLOperator>(compiled.Get()));
  const auto initializer = f.initializer(compiled.Get());
  CHECK(answers<IDMLOperatorInitializer>(initializer.Get()));
  CHECK(answers<IDMLDispatchable>(initializer.Get()));
  CHECK_FALSE(answers<IDMLCompiledOperator>(initializer.Get()));
  CHECK(answers<IDMLCommandRecorder>(f.recorder.Get()));
  CHECK(answers<ID3D12Resource>(f.buffer(16).Get()));
  CHECK(answers<ID3D12Object>(f.buffer(16).Get()));
  CHECK(answers<ID3D12GraphicsCommandList>(f.list().Get()));
  CHECK(op->QueryInterface(__uuidof(IDMLOperator), nullptr) == E_POINTER);
  void* none = &f;
  CHECK(f.device->CreateCommandRecorder(__uuidof(IDMLDevice), &none) == E_NOINTERFACE);
  CHECK(none == nullptr);
}

TEST_CASE("a device answers IDMLDebugDevice with its own identity") {
  DimpleContextDesc desc{};
  desc.DeviceFlags = DML_CREATE_DEVICE_FLAG_DEBUG;
  ComPtr<IDimpleContext> context;
  REQUIRE(dimpleCreateContext(&desc, IID_PPV_ARGS(&context)) == S_OK);
  ComPtr<IDMLDevice> device;
  REQUIRE(context->GetDevice(IID_PPV_ARGS(&device)) == S_OK);
  ComPtr<IDMLDebugDevice> debug;
  REQUIRE(device->QueryInterface(IID_PPV_ARGS(&debug)) == S_OK);
  debug->SetMuteDebugOutput(TRUE);
  CHECK(device->CreateOperator(nullptr, __uuidof(IDMLOperator), nullptr) == E_INVALIDARG);
  ComPtr<IUnknown> one, other;
  REQUIRE(device->QueryInterface(IID_PPV_ARGS(&one)) == S_OK);
  REQUIRE(debug->QueryInterface(IID_PPV_ARGS(&other)) == S_OK);
  CHECK(one.Get() == other.Get());
}

GPU_TEST_CASE("creating with a null result pointer only checks") {
  Fixture f;
  auto parsed = dimple::parseCase(kAddLine);
  const DML_OPERATOR_DESC desc = parsed->desc.desc();
  CHECK(f.device->CreateOperator(&desc, __uuidof(IDMLOperator), nullptr) == S_OK);
  CHECK(f.device->CompileOperator(f.create(kAddLine).Get(), DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator),
                                  nullptr) == S_OK);
}

GPU_TEST_CASE("children keep the device, and graphs of objects free completely") {
  Fixture f;
  const ULONG before = references(f.device);
  {
    const auto op = f.create(kAddLine);
    const auto compiled = f.compile(kAddLine);
    CHECK(references(f.device) > before);
    CHECK(references(op.Get()) == 1);
    ComPtr<IDMLCompiledOperator> own;
    REQUIRE(f.device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&own)) == S_OK);
    CHECK(references(op.Get()) == 2);
    own.Reset();
    CHECK(references(op.Get()) == 1);
    const auto initializer = f.initializer(compiled.Get());
    CHECK(references(compiled.Get()) == 2);
    ComPtr<IDMLDevice> device;
    CHECK(compiled->GetDevice(IID_PPV_ARGS(&device)) == S_OK);
    CHECK(device.Get() == f.device);
    REQUIRE(initializer->Reset(0, nullptr) == S_OK);
    CHECK(references(compiled.Get()) == 1);
  }
  CHECK(references(f.device) == before);
}

GPU_TEST_CASE("an operator outlives its description, its device pointer and its context") {
  ComPtr<IDMLCompiledOperator> compiled;
  {
    Fixture f;
    compiled = f.compile(kAddLine);
  }
  CHECK(dimpleGetBindingProperties(compiled.Get()).RequiredDescriptorCount == 3);
}

#ifdef _WIN32
// What a program compiled by MSVC does, spelled out: the result's address follows `this`, and comes back.
GPU_TEST_CASE("GetBindingProperties has the calling convention of MSVC") {
  Fixture f;
  const auto compiled = f.compile(kAddLine);
  const auto initializer = f.initializer(compiled.Get());
  using Method = DML_BINDING_PROPERTIES*(STDMETHODCALLTYPE*)(void*, DML_BINDING_PROPERTIES*);
  for (const auto& [dispatchable, count] :
       {std::pair<IDMLDispatchable*, UINT>{compiled.Get(), 3u}, {initializer.Get(), 0u}}) {
    constexpr int kSlot = 8;
    DML_BINDING_PROPERTIES properties{~0u, ~0ull, ~0ull};
    CHECK((*reinterpret_cast<Method**>(dispatchable))[kSlot](dispatchable, &properties) == &properties);
    CHECK(properties.RequiredDescriptorCount == count);
    CHECK(properties.TemporaryResourceSize == 0);
    CHECK(properties.PersistentResourceSize == 0);
  }
}
#endif

GPU_TEST_CASE("contents go to a buffer and back, however many") {
  Fixture fixture;
  for (const size_t count : {size_t{3}, size_t{9} << 20}) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 8191);
    CHECK(fixture.read(fixture.buffer(values), count) == values);
  }
  // A part in the middle.
  const auto buffer = fixture.buffer(std::vector<float>{1, 2, 3, 4});
  const float other = 9;
  CHECK(fixture.context->Upload(buffer.Get(), 8, &other, 4) == S_OK);
  CHECK(fixture.read(buffer, 4) == std::vector<float>{1, 2, 9, 4});
}

GPU_TEST_CASE("Wait refuses a value that Execute never answered") {
  Fixture f;
  CHECK(f.context->Wait(0) == S_OK);
  CHECK(f.context->Wait(1) == E_INVALIDARG);
  CHECK(std::string(dimpleGetLastMessage()) ==
        "fence has value (1), expected a value that Execute returned, of which the highest is 0.");
  const auto list = f.list();
  REQUIRE(list->Close() == S_OK);
  UINT64 fence = 0;
  REQUIRE(f.context->Execute(list.Get(), &fence) == S_OK);
  CHECK(f.context->Wait(fence) == S_OK);
  CHECK(f.context->Wait(~UINT64{0}) == E_INVALIDARG);
  CHECK(f.device->GetDeviceRemovedReason() == S_OK);
}

GPU_TEST_CASE("a removed device's context refuses, and says why the device was removed") {
  Fixture f;
  const auto buffer = f.buffer(16);
  const auto list = f.list();
  f.recorder->RecordDispatch(nullptr, nullptr, nullptr);
  REQUIRE(f.device->GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_REMOVED);
  f.gpu->takeMessages();
  ComPtr<ID3D12Resource> other;
  ComPtr<ID3D12DescriptorHeap> heap;
  ComPtr<ID3D12GraphicsCommandList> another;
  float value = 0;
  const std::vector<std::function<HRESULT()>> calls{
      [&] { return f.context->CreateBuffer(16, &other); },
      [&] { return f.context->CreateDescriptorHeap(1, &heap); },
      [&] { return f.context->CreateCommandList(&another); },
      [&] { return f.context->ResetCommandList(list.Get()); },
      [&] { return f.context->Upload(buffer.Get(), 0, &value, sizeof value); },
      [&] { return f.context->Download(buffer.Get(), 0, &value, sizeof value); },
      [&] { return f.context->Execute(list.Get(), nullptr); },
      [&] { return f.context->Wait(0); },
      [&] { return f.context->SetProfiling(TRUE); },
      [&] { return f.context->ReadProfile(ignoreProfile, nullptr); },
      [&] { return f.context->ReadTimeline(ignoreTimeline, nullptr); }};
  for (const auto& call : calls) {
    CHECK(call() == DXGI_ERROR_DEVICE_REMOVED);
    CHECK(std::string(dimpleGetLastMessage()).starts_with("The device was removed: RecordDispatch: commandList is "));
  }
  CHECK(f.gpu->takeMessages().empty());
}

GPU_TEST_CASE("private data") {
  Fixture f;
  const auto op = f.create(kAddLine);
  UINT size = 0;
  CHECK(op->GetPrivateData(kSomeGuid, &size, nullptr) == DXGI_ERROR_NOT_FOUND);
  const int value = 42;
  REQUIRE(op->SetPrivateData(kSomeGuid, sizeof value, &value) == S_OK);
  CHECK(op->GetPrivateData(kSomeGuid, &size, nullptr) == S_OK);
  CHECK(size == sizeof value);
  int out = 0;
  size = 1;
  CHECK(op->GetPrivateData(kSomeGuid, &size, &out) == DXGI_ERROR_MORE_DATA);
  CHECK(size == sizeof value);
  CHECK(op->GetPrivateData(kSomeGuid, &size, &out) == S_OK);
  CHECK(out == 42);
  CHECK(op->GetPrivateData(kSomeGuid, nullptr, nullptr) == E_INVALIDARG);
  // Null removes it, whatever the size; once it is gone there is nothing to remove.
  REQUIRE(op->SetPrivateData(kSomeGuid, 4, nullptr) == S_OK);
  CHECK(op->GetPrivateData(kSomeGuid, &size, &out) == DXGI_ERROR_NOT_FOUND);
  CHECK(op->SetPrivateData(kSomeGuid, 0, nullptr) == S_FALSE);

  const auto held = f.create(kAddLine);
  REQUIRE(op->SetPrivateDataInterface(kSomeGuid, held.Get()) == S_OK);
  CHECK(references(held.Get()) == 2);
  IUnknown* got = nullptr;
  size = sizeof got;
  REQUIRE(op->GetPrivateData(kSomeGuid, &size, &got) == S_OK);
  CHECK(got == static_cast<IUnknown*>(held.Get()));
  got->Release();
  REQUIRE(op->SetPrivateDataInterface(kSomeGuid, nullptr) == S_OK);
  CHECK(references(held.Get()) == 1);
  CHECK(op->SetPrivateDataInterface(kSomeGuid, nullptr) == S_FALSE);
  CHECK(op->SetName(L"sum") == S_OK);
  // DirectML keeps a name to itself; Direct3D keeps it as data.
  CHECK(op->GetPrivateData(kNameGuid, &size, nullptr) == DXGI_ERROR_NOT_FOUND);
  CHECK(op->SetName(nullptr) == S_OK);
  if (currentBackend() != DIMPLE_BACKEND_VULKAN) return;
  const auto buffer = f.buffer(16);
  CHECK(buffer->SetName(L"sum") == S_OK);
  CHECK(buffer->GetPrivateData(kNameGuid, &size, nullptr) == S_OK);
  CHECK(size == 4 * sizeof(WCHAR));
}

GPU_TEST_CASE("feature queries") {
  Fixture f;
  for (uint32_t type = 0; type < 20; ++type) {
    const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query{outside<DML_TENSOR_DATA_TYPE>(type)};
    DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT support{};
    CHECK(f.device->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof query, &query, sizeof support,
                                        &support) == S_OK);
    CHECK((support.IsSupported != FALSE) == (type >= 1 && type <= 13));
  }
  const DML_FEATURE_LEVEL levels[] = {DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_6_4, DML_FEATURE_LEVEL_5_0,
                                      outside<DML_FEATURE_LEVEL>(0x6500)};
  DML_FEATURE_QUERY_FEATURE_LEVELS query{4, levels};
  DML_FEATURE_DATA_FEATURE_LEVELS support{};
  CHECK(f.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query, &query, sizeof support, &support) ==
        S_OK);
  CHECK(support.MaxSupportedFeatureLevel == DML_FEATURE_LEVEL_6_4);
  query = {1, levels + 3};
  CHECK(f.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query, &query, sizeof support, &support) ==
        DXGI_ERROR_UNSUPPORTED);
  CHECK(support.MaxSupportedFeatureLevel == DML_FEATURE_LEVEL{});
  query = {0, nullptr};
  CHECK(f.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query, &query, sizeof support, &support) ==
        DXGI_ERROR_UNSUPPORTED);
  CHECK(f.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, 1, &query, sizeof support, &support) == E_INVALIDARG);
  CHECK(f.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query, &query, 1, &support) == E_INVALIDARG);
  // Larger structures are those of a later version.
  query = {2, levels};
  CHECK(f.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query + 8, &query, sizeof support + 8,
                                      &support) == S_OK);
  CHECK(support.MaxSupportedFeatureLevel == DML_FEATURE_LEVEL_6_4);
  CHECK(f.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query, nullptr, sizeof support, &support) ==
        E_INVALIDARG);
  CHECK(f.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query, &query, sizeof support, nullptr) ==
        E_INVALIDARG);
  CHECK(f.device->CheckFeatureSupport(outside<DML_FEATURE>(7), sizeof query, &query, sizeof support, &support) ==
        DXGI_ERROR_UNSUPPORTED);
}

GPU_TEST_CASE("refusals reach the callback and the thread's last message") {
  Fixture f;
  struct Heard {
    HRESULT code = S_OK;
    std::string text;
    static void STDMETHODCALLTYPE hear(void* context, DimpleMessageSeverity, HRESULT code, const char* text) {
      *static_cast<Heard*>(context) = {code, text};
    }
  } heard;
  REQUIRE(dimpleSetMessageCallback(f.device, Heard::hear, &heard) == S_OK);
  CHECK(f.device->CreateOperator(nullptr, __uuidof(IDMLOperator), nullptr) == E_INVALIDARG);
  CHECK(heard.code == E_INVALIDARG);
  CHECK(heard.text == "desc is null, expected a DML_OPERATOR_DESC.");
  CHECK(dimpleGetLastMessage() == heard.text);
  std::thread([] { CHECK(std::string(dimpleGetLastMessage()).empty()); }).join();
  REQUIRE(dimpleSetMessageCallback(f.device, nullptr, nullptr) == S_OK);
}

TEST_CASE("foreign and foreign-device objects are refused, not touched") {
  Fixture f;
  Fixture other;
  // Memory that is no COM object at all.
  alignas(16) char junk[64] = {};
  ComPtr<IDMLCompiledOperator> compiled;
  CHECK(f.device->CompileOperator(reinterpret_cast<IDMLOperator*>(junk), DML_EXECUTION_FLAG_NONE,
                                  IID_PPV_ARGS(&compiled)) == E_INVALIDARG);
  CHECK(f.device->CompileOperator(nullptr, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)) == E_INVALIDARG);
  IDMLOperator* const released = f.create(kAddLine).Get();
  CHECK(f.device->CompileOperator(released, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)) == E_INVALIDARG);
  CHECK(f.device->CompileOperator(other.create(kAddLine).Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)) ==
        E_INVALIDARG);
  CHECK(std::string(dimpleGetLastMessage()) == "op belongs to another device.");
  CHECK(f.device->CompileOperator(f.create(kAddLine).Get(), outside<DML_EXECUTION_FLAGS>(8), IID_PPV_ARGS(&compiled)) ==
        E_INVALIDARG);
  ComPtr<IDMLOperatorInitializer> initializer;
  IDMLCompiledOperator* operators[] = {reinterpret_cast<IDMLCompiledOperator*>(junk)};
  CHECK(f.device->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)) == E_INVALIDARG);
  CHECK(f.device->CreateOperatorInitializer(1, nullptr, IID_PPV_ARGS(&initializer)) == E_INVALIDARG);
  const auto foreign = other.compile(kAddLine);
  operators[0] = foreign.Get();
  CHECK(f.device->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)) == E_INVALIDARG);
  CHECK(dimpleSetMessageCallback(reinterpret_cast<IDMLDevice*>(junk), nullptr, nullptr) == E_INVALIDARG);
  IDMLPageable* pageables[] = {foreign.Get()};
  CHECK(f.device->Evict(1, pageables) == E_INVALIDARG);
  CHECK(other.device->Evict(1, pageables) == S_OK);
  CHECK(other.device->MakeResident(1, pageables) == S_OK);
  CHECK(f.device->Evict(0, nullptr) == E_INVALIDARG);
}

TEST_CASE("over Vulkan there is no device of Direct3D 12") {
  Fixture f;
  void* out = nullptr;
  CHECK(f.device->GetParentDevice(__uuidof(IUnknown), &out) == E_NOINTERFACE);
}

GPU_TEST_CASE("a device is free-threaded") {
  Fixture f;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&f, t] {
      for (int i = 0; i < 25; ++i) {
        const auto n = std::to_string(1 + (t * 25 + i) % 50);
        f.compile("ELEMENT_WISE_ADD ATensor=f32[" + n + "] BTensor=f32[" + n + "]{0} OutputTensor=f32[" + n + "]");
      }
    });
  for (auto& thread : threads) thread.join();
}
