// Every method of contexts and every function of dimple.h with each of its allocations failing, and with calls of
// Vulkan that fail: on the first Vulkan device, or on Direct3D 12 with DIMPLE_TEST_BACKEND=d3d12.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <wrl/client.h>

#include "api/vulkan/objects.h"
#include "core/schema/desc_text.h"
#include "tests/boundary/step_names.h"
#include "tests/boundary/vulkan_calls.h"

using Microsoft::WRL::ComPtr;

namespace dimple::testing {
namespace contexts {
namespace {

constexpr UINT64 kBytes = 1024;
std::array<std::byte, kBytes> content;

const DML_OPERATOR_DESC& described() {
  static const auto parsed = parseCase("ELEMENT_WISE_ADD ATensor=f32[4] BTensor=f32[4]! OutputTensor=f32[4]");
  static const DML_OPERATOR_DESC desc = parsed->desc.desc();
  return desc;
}

bool noGpu() { return std::getenv("DIMPLE_TEST_NO_GPU") != nullptr; }

DimpleBackend testedBackend() {
  const char* chosen = std::getenv("DIMPLE_TEST_BACKEND");
  return chosen && std::string_view(chosen) == "d3d12" ? DIMPLE_BACKEND_D3D12 : DIMPLE_BACKEND_VULKAN;
}
bool noVulkan() { return noGpu() || testedBackend() != DIMPLE_BACKEND_VULKAN; }

struct ContextScene {
  Heard heard;
  ComPtr<IDimpleContext> context;
  ComPtr<IDMLDevice> device, second;
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLOperatorInitializer> initializer;
  ComPtr<IDMLBindingTable> table;
  ComPtr<IDMLCommandRecorder> recorder;
  ComPtr<ID3D12Resource> buffer;
  ComPtr<ID3D12DescriptorHeap> heap;
  ComPtr<ID3D12GraphicsCommandList> list;
  UINT64 fence = 0;

  HRESULT removedReason() { return device ? device->GetDeviceRemovedReason() : S_OK; }
  void remove() {
    if (device) need(dimpleNotifyDeviceLost(device.Get(), VK_ERROR_DEVICE_LOST));
  }
  DimpleContextDesc desc() {
    DimpleContextDesc given{};
    given.Backend = testedBackend();
    given.MessageCallback = Heard::hear;
    given.MessageContext = &heard;
    return given;
  }
};

HRESULT createContext(ContextScene& s) {
  const DimpleContextDesc desc = s.desc();
  return dimpleCreateContext(&desc, IID_PPV_ARGS(s.context.ReleaseAndGetAddressOf()));
}
HRESULT createBuffer(ContextScene& s) { return s.context->CreateBuffer(kBytes, s.buffer.ReleaseAndGetAddressOf()); }
HRESULT createHeap(ContextScene& s) { return s.context->CreateDescriptorHeap(16, s.heap.ReleaseAndGetAddressOf()); }
HRESULT createList(ContextScene& s) { return s.context->CreateCommandList(s.list.ReleaseAndGetAddressOf()); }
HRESULT compile(ContextScene& s) {
  return s.device->CompileOperator(s.op.Get(), DML_EXECUTION_FLAG_NONE,
                                   IID_PPV_ARGS(s.compiled.ReleaseAndGetAddressOf()));
}
HRESULT createTable(ContextScene& s) {
  const DML_BINDING_TABLE_DESC desc{s.initializer.Get(), dimpleGetCPUStart(s.heap.Get()),
                                    dimpleGetGPUStart(s.heap.Get()), 16};
  return s.device->CreateBindingTable(&desc, IID_PPV_ARGS(s.table.ReleaseAndGetAddressOf()));
}
HRESULT upload(ContextScene& s) { return s.context->Upload(s.buffer.Get(), 0, content.data(), kBytes); }
HRESULT download(ContextScene& s) { return s.context->Download(s.buffer.Get(), 0, content.data(), kBytes); }
HRESULT execute(ContextScene& s) { return s.context->Execute(s.list.Get(), &s.fence); }

void nothing(ContextScene&) {}
void withContext(ContextScene& s) {
  need(createContext(s));
  need(s.context->GetDevice(IID_PPV_ARGS(&s.device)));
}
void withBuffer(ContextScene& s) {
  withContext(s);
  need(createBuffer(s));
}
void withList(ContextScene& s) {
  withContext(s);
  need(createList(s));
}
void withClosedList(ContextScene& s) {
  withList(s);
  need(s.list->Close());
}
void withOperator(ContextScene& s) {
  withContext(s);
  need(s.device->CreateOperator(&described(), IID_PPV_ARGS(&s.op)));
}
void withInitializer(ContextScene& s) {
  withOperator(s);
  need(compile(s));
  need(createHeap(s));
  need(createBuffer(s));
  IDMLCompiledOperator* const operators[] = {s.compiled.Get()};
  need(s.device->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&s.initializer)));
}
void withTable(ContextScene& s) {
  withInitializer(s);
  need(createTable(s));
  need(createList(s));
  need(s.device->CreateCommandRecorder(IID_PPV_ARGS(&s.recorder)));
}
HRESULT bind(ContextScene& s) {
  const DML_BUFFER_BINDING owned[] = {{}, {s.buffer.Get(), 0, 256}};
  const DML_BUFFER_ARRAY_BINDING array{2, owned};
  const DML_BINDING_DESC inputs{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  s.table->BindInputs(1, &inputs);
  const DML_BUFFER_BINDING persistent{s.buffer.Get(), 256, 256};
  const DML_BINDING_DESC output{DML_BINDING_TYPE_BUFFER, &persistent};
  s.table->BindOutputs(1, &output);
  return s.removedReason();
}
HRESULT record(ContextScene& s) {
  s.recorder->RecordDispatch(s.list.Get(), s.initializer.Get(), s.table.Get());
  return s.removedReason();
}
HRESULT profile(ContextScene& s) { return s.context->SetProfiling(TRUE); }
void STDMETHODCALLTYPE ignoreProfile(void*, const char*, double) {}
HRESULT readProfile(ContextScene& s) { return s.context->ReadProfile(ignoreProfile, nullptr); }
void STDMETHODCALLTYPE ignoreTimeline(void*, const char*, double, double) {}
HRESULT readTimeline(ContextScene& s) { return s.context->ReadTimeline(ignoreTimeline, nullptr); }
void withTimes(ContextScene& s) {
  withTable(s);
  need(profile(s));
  need(bind(s));
  need(record(s));
  need(s.list->Close());
  need(execute(s));
  need(s.context->Wait(s.fence));
}

// Of the caller's, which are only kept.
VkBuffer const kBuffer = reinterpret_cast<VkBuffer>(uintptr_t{16});
VkCommandBuffer const kCommands = reinterpret_cast<VkCommandBuffer>(uintptr_t{16});

using ContextStep = Step<ContextScene>;

std::string& pipelineFile() {
  static std::string path = (std::filesystem::temp_directory_path() / "dimple_boundary_pipelines").string();
  return path;
}
void withPipelineFile(ContextScene& s) {
  DimpleContextDesc desc = s.desc();
  desc.PipelineCachePath = pipelineFile().c_str();
  need(dimpleCreateContext(&desc, IID_PPV_ARGS(&s.context)));
  need(s.context->GetDevice(IID_PPV_ARGS(&s.device)));
  need(s.device->CreateOperator(&described(), IID_PPV_ARGS(&s.op)));
  need(compile(s));
}

// A DirectML device over the Vulkan device of the context.
HRESULT createVulkanDevice(ContextScene& s) {
  const auto own = api::Live<api::Device>::find(s.device.Get());
  const auto& handles = static_cast<api::VulkanObjects&>(own->native()).shared()->handles();
  DimpleVulkanDeviceDesc desc{};
  desc.Instance = handles.instance;
  desc.PhysicalDevice = handles.physicalDevice;
  desc.Device = handles.device;
  desc.QueueFamilyIndex = handles.queueFamily;
  desc.GetInstanceProcAddr = reinterpret_cast<void*>(vkGetInstanceProcAddr);
  return dimpleCreateVulkanDevice(&desc, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_1_0,
                                  IID_PPV_ARGS(s.second.ReleaseAndGetAddressOf()));
}

const ContextStep kSteps[] = {
    {"dimpleGetVersion", nothing, [](ContextScene&) { return *dimpleGetVersion() ? S_OK : E_FAIL; }, S_OK,
     Answers::Always},
    {"dimpleGetLastMessage", nothing, [](ContextScene&) { return *dimpleGetLastMessage() ? E_FAIL : S_OK; }, S_OK,
     Answers::Always},
    {"dimpleEnumerateAdapters", nothing,
     [](ContextScene&) {
       DimpleAdapterDesc adapter;
       return dimpleEnumerateAdapters(0, &adapter);
     },
     S_OK, Answers::Always},
    {"dimpleEnumerateBackendAdapters", nothing,
     [](ContextScene&) {
       DimpleAdapterDesc adapter;
       return dimpleEnumerateBackendAdapters(testedBackend(), 1000, &adapter);
     },
     DXGI_ERROR_NOT_FOUND, Answers::Always},
    {"dimpleCreateContext", nothing, createContext, S_OK, Answers::Always},
    {"dimpleCreateContext, refused", nothing,
     [](ContextScene& s) {
       DimpleContextDesc desc = s.desc();
       desc.AdapterName = "no such device";
       return dimpleCreateContext(&desc, IID_PPV_ARGS(s.context.ReleaseAndGetAddressOf()));
     },
     DXGI_ERROR_NOT_FOUND, Answers::Always},
    {"dimpleCreateVulkanDevice", withContext, createVulkanDevice, S_OK, Answers::Always},
    {"dimpleSetMessageCallback", withContext,
     [](ContextScene& s) { return dimpleSetMessageCallback(s.device.Get(), Heard::hear, &s.heard); }, S_OK,
     Answers::Always},
    {"dimpleWrapBuffer", withContext,
     [](ContextScene& s) {
       return dimpleWrapBuffer(s.device.Get(), kBuffer, kBytes, s.buffer.ReleaseAndGetAddressOf());
     }},
    {"dimpleCreateTransferBuffer", withContext,
     [](ContextScene& s) {
       void* address = nullptr;
       return dimpleCreateTransferBuffer(s.device.Get(), kBytes, s.buffer.ReleaseAndGetAddressOf(), &address);
     }},
    {"dimpleImportBuffer, refused", withContext,
     [](ContextScene& s) { return dimpleImportBuffer(s.device.Get(), -1, kBytes, s.buffer.ReleaseAndGetAddressOf()); },
     E_INVALIDARG},
    // Lavapipe imports none.
    {"dimpleImportSemaphore, refused", withContext,
     [](ContextScene& s) {
       ComPtr<ID3D12Fence> semaphore;
       const HRESULT result = dimpleImportSemaphore(s.device.Get(), -1, &semaphore);
       return result == DXGI_ERROR_UNSUPPORTED ? E_INVALIDARG : result;
     },
     E_INVALIDARG},
    {"dimpleWaitSemaphore, refused", withContext,
     [](ContextScene& s) { return dimpleWaitSemaphore(s.device.Get(), nullptr, 1); }, E_INVALIDARG},
    {"dimpleSignalSemaphore, refused", withContext,
     [](ContextScene& s) { return dimpleSignalSemaphore(s.device.Get(), nullptr, 1); }, E_INVALIDARG},
    {"dimpleWrapCommandBuffer", withContext,
     [](ContextScene& s) {
       return dimpleWrapCommandBuffer(s.device.Get(), kCommands, s.list.ReleaseAndGetAddressOf());
     }},
    {"dimpleCreateDescriptorHeap", withContext,
     [](ContextScene& s) { return dimpleCreateDescriptorHeap(s.device.Get(), 4, s.heap.ReleaseAndGetAddressOf()); }},
    {"dimpleNotifyDeviceLost", withContext,
     [](ContextScene& s) {
       const HRESULT result = dimpleNotifyDeviceLost(s.device.Get(), VK_ERROR_DEVICE_LOST);
       return FAILED(result) ? result : s.removedReason();
     },
     DXGI_ERROR_DEVICE_HUNG, Answers::Nothing},

    {"IDimpleContext::GetDevice", withContext,
     [](ContextScene& s) { return s.context->GetDevice(IID_PPV_ARGS(s.device.ReleaseAndGetAddressOf())); }, S_OK,
     Answers::Always},
    {"IDimpleContext::GetAdapterDesc", withContext,
     [](ContextScene& s) {
       DimpleAdapterDesc adapter;
       return s.context->GetAdapterDesc(&adapter);
     },
     S_OK, Answers::Always},
    {"IDimpleContext::GetDescriptorIncrement", withContext,
     [](ContextScene& s) { return s.context->GetDescriptorIncrement() ? S_OK : E_FAIL; }, S_OK, Answers::Always},
    {"IDimpleContext::CreateBuffer", withContext, createBuffer},
    {"IDimpleContext::CreateDescriptorHeap", withContext, createHeap},
    {"IDimpleContext::Upload", withBuffer, upload},
    {"IDimpleContext::Download", withBuffer, download},
    {"IDimpleContext::Upload, refused", withBuffer,
     [](ContextScene& s) { return s.context->Upload(s.buffer.Get(), kBytes, content.data(), 1); }, E_INVALIDARG},
    {"IDimpleContext::CreateCommandList", withContext, createList},
    {"IDimpleContext::ResetCommandList", withClosedList,
     [](ContextScene& s) { return s.context->ResetCommandList(s.list.Get()); }},
    {"ID3D12GraphicsCommandList::Close", withList, [](ContextScene& s) { return s.list->Close(); }},
    {"ID3D12GraphicsCommandList::Reset", withClosedList,
     [](ContextScene& s) { return s.list->Reset(nullptr, nullptr); }},
    {"ID3D12GraphicsCommandList::CopyBufferRegion",
     [](ContextScene& s) {
       withBuffer(s);
       need(createList(s));
     },
     [](ContextScene& s) {
       s.list->CopyBufferRegion(s.buffer.Get(), 0, s.buffer.Get(), 512, 16);
       return s.removedReason();
     },
     S_OK, Answers::Nothing},
    {"ID3D12GraphicsCommandList::ResourceBarrier", withList,
     [](ContextScene& s) {
       const D3D12_RESOURCE_BARRIER barrier{};
       s.list->ResourceBarrier(1, &barrier);
       return s.removedReason();
     },
     S_OK, Answers::Nothing},
    {"ID3D12Object::SetName", withBuffer,
     [](ContextScene& s) { return s.buffer->SetName(L"a name that is too long for a short string"); }, S_OK,
     Answers::Always},
    {"IDimpleContext::Execute", withClosedList, execute},
    {"IDimpleContext::Wait",
     [](ContextScene& s) {
       withClosedList(s);
       need(execute(s));
     },
     [](ContextScene& s) { return s.context->Wait(s.fence); }},
    {"IDimpleContext::Wait, refused", withContext, [](ContextScene& s) { return s.context->Wait(1); }, E_INVALIDARG},
    {"IDimpleContext::GetCompileCounts", withContext,
     [](ContextScene& s) {
       UINT wanted = 1, compiled = 0;
       s.context->GetCompileCounts(&wanted, &compiled);
       return compiled == wanted ? S_OK : E_FAIL;
     },
     S_OK, Answers::Always},
    {"IDimpleContext::SetProfiling", withContext, profile},
    {"IDimpleContext::ReadProfile", withTimes, readProfile},
    {"IDimpleContext::ReadTimeline", withTimes, readTimeline},

    // What the back end does in methods of DirectML's objects.
    {"IDMLDevice::CompileOperator, on a device", withOperator, compile},
    {"IDMLDevice::CreateBindingTable, on a device", withInitializer, createTable},
    {"IDMLBindingTable::BindInputs and BindOutputs, on a device", withTable, bind, S_OK, Answers::Nothing},
    {"IDMLCommandRecorder::RecordDispatch, on a device",
     [](ContextScene& s) {
       withTable(s);
       need(bind(s));
     },
     record, S_OK, Answers::Nothing},
    {"IDMLCommandRecorder::RecordDispatch, with profiling",
     [](ContextScene& s) {
       withTable(s);
       need(profile(s));
       need(bind(s));
     },
     record, S_OK, Answers::Nothing},
    {"IUnknown::Release, of a context and its objects", withTable,
     [](ContextScene& s) {
       s.table.Reset();
       s.initializer.Reset();
       s.compiled.Reset();
       s.op.Reset();
       s.recorder.Reset();
       s.list.Reset();
       s.buffer.Reset();
       s.heap.Reset();
       s.device.Reset();
       s.context.Reset();
       return S_OK;
     },
     S_OK, Answers::Success},
    {"IUnknown::Release, of a context that keeps its pipelines in a file", withPipelineFile,
     [](ContextScene& s) {
       s.compiled.Reset();
       s.op.Reset();
       s.device.Reset();
       s.context.Reset();
       return S_OK;
     },
     S_OK, Answers::Success},
};

}  // namespace

// Over Direct3D 12 lists and buffers are its own, and there is nothing to wrap.
bool isTested(const ContextStep& step) {
  return testedBackend() == DIMPLE_BACKEND_VULKAN ||
         (!step.name.starts_with("ID3D12") && !step.name.starts_with("dimpleWrap") &&
          step.name != "dimpleCreateVulkanDevice" && step.name != "dimpleCreateTransferBuffer" &&
          step.name != "dimpleCreateDescriptorHeap");
}

TEST_CASE(doctest::skip(noGpu()) * "boundary: every allocation of contexts and exported functions fails") {
  watchVulkan();
  for (const ContextStep& step : kSteps) {
    if (!isTested(step)) continue;
    const size_t before = liveVulkanObjects();
    failEach(step, testedBackend() == DIMPLE_BACKEND_VULKAN ? 60 : 12);
    CAPTURE(std::string(step.name));
    CHECK(liveVulkanObjects() == before);
  }
  std::filesystem::remove(pipelineFile());
}

TEST_CASE(doctest::skip(noGpu()) * "boundary: on a removed device contexts and exported functions say so") {
  for (const ContextStep& step : kSteps)
    if (isTested(step)) runRemoved(step);
}

// A call of Vulkan that fails in a step, and whether the step works once the call does.
struct FailedCall {
  const char* call;
  const char* step;
};
constexpr FailedCall kFailedCalls[] = {
    {"vkCreateBuffer", "IDimpleContext::CreateBuffer"},
    {"vkAllocateMemory", "IDimpleContext::CreateBuffer"},
    {"vkAllocateMemory", "IDimpleContext::Upload"},
    {"vkQueueSubmit", "IDimpleContext::Upload"},
    {"vkWaitSemaphores", "IDimpleContext::Download"},
    {"vkCreateCommandPool", "IDimpleContext::CreateCommandList"},
    {"vkAllocateCommandBuffers", "IDimpleContext::CreateCommandList"},
    {"vkBeginCommandBuffer", "IDimpleContext::CreateCommandList"},
    {"vkBeginCommandBuffer", "IDimpleContext::ResetCommandList"},
    {"vkBeginCommandBuffer", "ID3D12GraphicsCommandList::Reset"},
    {"vkEndCommandBuffer", "ID3D12GraphicsCommandList::Close"},
    {"vkQueueSubmit", "IDimpleContext::Execute"},
    {"vkWaitSemaphores", "IDimpleContext::Wait"},
    {"vkCreateQueryPool", "IDimpleContext::SetProfiling"},
};

const ContextStep& stepOf(std::string_view name) {
  for (const ContextStep& step : kSteps)
    if (step.name == name) return step;
  FAIL("There is no step ", std::string(name));
  return kSteps[0];
}

TEST_CASE(doctest::skip(noVulkan()) * "boundary: what a context's call of Vulkan answers is what the method answers") {
  watchVulkan();
  for (const FailedCall& each : kFailedCalls) {
    CAPTURE(each.call);
    CAPTURE(each.step);
    const ContextStep& step = stepOf(each.step);
    for (const VkResult result : {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST}) {
      const bool lost = result == VK_ERROR_DEVICE_LOST;
      ContextScene scene;
      step.prepare(scene);
      {
        const FailingCall call(each.call, result);
        CHECK(step.run(scene) == (lost ? DXGI_ERROR_DEVICE_REMOVED : E_OUTOFMEMORY));
      }
      CHECK(std::string_view(dimpleGetLastMessage()).starts_with(each.call));
      CHECK(std::string_view(scene.heard.text) == dimpleGetLastMessage());
      CHECK(scene.heard.removals == (lost ? 1 : 0));
      CHECK(scene.removedReason() == (lost ? DXGI_ERROR_DEVICE_HUNG : S_OK));
      // A list whose Close failed is to be reset first.
      if (!lost && step.name != "ID3D12GraphicsCommandList::Close") CHECK(step.run(scene) == S_OK);
      if (lost) CHECK(step.run(scene) == DXGI_ERROR_DEVICE_REMOVED);
    }
  }
}

TEST_CASE(doctest::skip(noVulkan()) *
          "boundary: a list whose Close or reset failed is not executed until it is reset") {
  watchVulkan();
  ContextScene scene;
  withList(scene);
  {
    const FailingCall call("vkEndCommandBuffer", VK_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(scene.list->Close() == E_OUTOFMEMORY);
  }
  CHECK(execute(scene) == E_INVALIDARG);
  CHECK(std::string_view(dimpleGetLastMessage()).ends_with('.'));
  {
    const FailingCall call("vkBeginCommandBuffer", VK_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(scene.context->ResetCommandList(scene.list.Get()) == E_OUTOFMEMORY);
  }
  CHECK(execute(scene) == E_INVALIDARG);
  CHECK(scene.context->ResetCommandList(scene.list.Get()) == S_OK);
  CHECK(execute(scene) == E_INVALIDARG);
  CHECK(scene.list->Close() == S_OK);
  CHECK(execute(scene) == S_OK);
  CHECK(scene.context->Wait(scene.fence) == S_OK);
  CHECK(scene.removedReason() == S_OK);
}

}  // namespace contexts

std::vector<std::string_view> contextStepNames() {
  std::vector<std::string_view> names;
  for (const contexts::ContextStep& step : contexts::kSteps) names.push_back(step.name);
  return names;
}

}  // namespace dimple::testing
