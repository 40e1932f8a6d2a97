// Every method of DirectML's objects with each of its allocations failing, on a device that executes nothing.
#include <array>
#include <deque>
#include <optional>

#include <wrl/client.h>

#include "api/device.h"
#include "core/schema/desc_text.h"
#include "tests/boundary/step_names.h"
#include "tests/core/descriptions.h"
#include "tests/core/graph_builder.h"
#include "tests/null/null_device.h"

using Microsoft::WRL::ComPtr;

namespace dimple::testing {
namespace objects {
namespace {

// A description that outlives all scenes.
DML_OPERATOR_DESC described(std::string_view line) {
  static std::deque<OwnedDesc> kept;
  auto parsed = parseCase(line);
  if (!parsed) FAIL(std::string(line), ": ", parsed.error().text);
  return kept.emplace_back(std::move(parsed->desc)).desc();
}

const DML_OPERATOR_DESC& gemm() {
  static const DML_OPERATOR_DESC desc = described(
      "GEMM ATensor=f32[1,1,2,8] BTensor=f32[1,1,8,8]! CTensor=f32[1,1,2,8]{0,0,0,1}! OutputTensor=f32[1,1,2,8] "
      "TransA=NONE TransB=NONE Alpha=1 Beta=1 FusedActivation=RELU");
  return desc;
}
// Operators of a graph, behind the product.
const std::array<DML_OPERATOR_DESC, 4>& following() {
  static const std::array<DML_OPERATOR_DESC, 4> descs = {
      described("ELEMENT_WISE_ADD ATensor=f32[1,1,2,8] BTensor=f32[1,1,2,8] OutputTensor=f32[1,1,2,8]"),
      described("ACTIVATION_RELU InputTensor=f32[1,1,2,8] OutputTensor=f32[1,1,2,8]"),
      described("SPLIT InputTensor=f32[2,8] OutputTensors=(f32[1,8],f32[1,8]) Axis=0"),
      described("JOIN InputTensors=(f32[1,8],f32[1,8]) OutputTensor=f32[2,8] Axis=0")};
  return descs;
}

alignas(16) char memory;
ID3D12Resource* const kResource = reinterpret_cast<ID3D12Resource*>(&memory);
ID3D12CommandList* const kList = reinterpret_cast<ID3D12CommandList*>(&memory);
const DML_BUFFER_BINDING kWhole{kResource, 0, 1 << 20};
const DML_BINDING_DESC kBound{DML_BINDING_TYPE_BUFFER, &kWhole};
const DML_BINDING_DESC kInputs[] = {kBound, {}, {}};
const DML_BUFFER_BINDING kOwned[] = {{}, kWhole, kWhole};
const DML_BUFFER_ARRAY_BINDING kOwnedArray{3, kOwned};
const DML_BINDING_DESC kOwnedInputs{DML_BINDING_TYPE_BUFFER_ARRAY, &kOwnedArray};
const DML_BUFFER_BINDING kSmall{kResource, 0, 4};
const DML_BINDING_DESC kTooSmall[] = {{DML_BINDING_TYPE_BUFFER, &kSmall}, {}, {}};
constexpr GUID kGuid = {0x01234567, 0x89ab, 0xcdef, {1, 2, 3, 4, 5, 6, 7, 8}};
constexpr const WCHAR* kName = L"a name that is too long for a short string";

struct Scene {
  Heard heard;
  ComPtr<IDMLDevice> device;
  ComPtr<IDMLDevice1> device1;
  ComPtr<IDMLOperator> op;
  std::array<ComPtr<IDMLOperator>, 4> following;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLOperatorInitializer> initializer;
  ComPtr<IDMLCommandRecorder> recorder;
  ComPtr<IDMLBindingTable> table;
  std::array<DML_OPERATOR_GRAPH_NODE_DESC, 5> nodes{};
  std::optional<GraphBuilder> graph;
  DML_GRAPH_DESC graphDesc{};

  HRESULT removedReason() { return device ? device->GetDeviceRemovedReason() : S_OK; }
  void remove() {
    api::Live<api::Device>::find(device.Get())->removeDevice(DXGI_ERROR_DEVICE_HUNG, "The test removed it.");
  }
  DML_BINDING_TABLE_DESC tableDesc() const {
    if (initializer) return {initializer.Get(), {1}, {1}, 64};
    return {compiled.Get(), {1}, {1}, 64};
  }
};

void withDevice(Scene& s) {
  s.device = createNullDevice(DML_CREATE_DEVICE_FLAG_DEBUG);
  need(s.device.As(&s.device1));
  api::Live<api::Device>::find(s.device.Get())->setCallback(Heard::hear, &s.heard);
}
void withOperator(Scene& s) {
  withDevice(s);
  need(s.device->CreateOperator(&gemm(), IID_PPV_ARGS(&s.op)));
}
void withCompiled(Scene& s) {
  withOperator(s);
  need(s.device->CompileOperator(s.op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&s.compiled)));
}
void withRecorder(Scene& s) {
  withDevice(s);
  need(s.device->CreateCommandRecorder(IID_PPV_ARGS(&s.recorder)));
}
void withInitializer(Scene& s) {
  withCompiled(s);
  IDMLCompiledOperator* const operators[] = {s.compiled.Get()};
  need(s.device->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&s.initializer)));
}
HRESULT createTable(Scene& s) {
  const DML_BINDING_TABLE_DESC desc = s.tableDesc();
  return s.device->CreateBindingTable(&desc, IID_PPV_ARGS(s.table.ReleaseAndGetAddressOf()));
}
void withTable(Scene& s) {
  withCompiled(s);
  need(createTable(s));
}
void withInitializerTable(Scene& s) {
  withInitializer(s);
  need(createTable(s));
}
// All bound, and a recorder.
void toRecord(Scene& s) {
  withTable(s);
  need(s.device->CreateCommandRecorder(IID_PPV_ARGS(&s.recorder)));
  s.table->BindInputs(3, kInputs);
  s.table->BindOutputs(1, &kBound);
  s.table->BindPersistentResource(&kBound);
  if (dimpleGetBindingProperties(s.compiled.Get()).TemporaryResourceSize) s.table->BindTemporaryResource(&kBound);
}
void toInitialize(Scene& s) {
  withInitializerTable(s);
  need(s.device->CreateCommandRecorder(IID_PPV_ARGS(&s.recorder)));
  s.table->BindInputs(1, &kOwnedInputs);
  s.table->BindOutputs(1, &kBound);
  s.table->BindTemporaryResource(&kBound);
}
// A product with owned weights, a sum with a constant, and elements that are moved.
void withGraph(Scene& s) {
  static constexpr float kConstant[16] = {1, 2, 3};
  withOperator(s);
  s.nodes[0] = {s.op.Get(), "product"};
  for (size_t i = 0; i < s.following.size(); ++i) {
    need(s.device->CreateOperator(&following()[i], IID_PPV_ARGS(&s.following[i])));
    s.nodes[i + 1] = {s.following[i].Get(), nullptr};
  }
  s.graph.emplace();
  for (const auto& node : s.nodes) s.graph->node(DML_GRAPH_NODE_TYPE_OPERATOR, &node);
  const UINT constant = s.graph->constant(kConstant, sizeof kConstant);
  for (UINT i = 0; i < 3; ++i) s.graph->input(i, 0, i);
  s.graph->edge(0, 1, 0);
  s.graph->edge(constant, 1, 1);
  for (UINT node = 1; node < 3; ++node) s.graph->edge(node, node + 1);
  s.graph->edge(3, 4, 1, 0);
  s.graph->edge(3, 4, 0, 1);
  s.graph->output(4, 0);
  s.graphDesc = s.graph->desc();
}

HRESULT compileGraph(Scene& s) {
  return s.device1->CompileGraph(&s.graphDesc, DML_EXECUTION_FLAG_NONE,
                                 IID_PPV_ARGS(s.compiled.ReleaseAndGetAddressOf()));
}
HRESULT resetInitializer(Scene& s) {
  IDMLCompiledOperator* const operators[] = {s.compiled.Get(), s.compiled.Get()};
  return s.initializer->Reset(2, operators);
}
HRESULT resetTable(Scene& s) {
  const DML_BINDING_TABLE_DESC desc = s.tableDesc();
  return s.table->Reset(&desc);
}
HRESULT levels(Scene& s, UINT count) {
  constexpr DML_FEATURE_LEVEL kLevels[] = {DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_6_4};
  const DML_FEATURE_QUERY_FEATURE_LEVELS query{count, kLevels};
  DML_FEATURE_DATA_FEATURE_LEVELS support{};
  return s.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query, &query, sizeof support, &support);
}
HRESULT setData(Scene& s) { return s.op->SetPrivateData(kGuid, sizeof kGuid, &kGuid); }
HRESULT getData(Scene& s) {
  GUID data;
  UINT size = sizeof data;
  return s.op->GetPrivateData(kGuid, &size, &data);
}
HRESULT pageables(Scene& s, bool evict) {
  IDMLPageable* const objects[] = {s.compiled.Get()};
  return evict ? s.device->Evict(1, objects) : s.device->MakeResident(1, objects);
}

using NullStep = Step<Scene>;

const NullStep kNullSteps[] = {
    {"IDMLDevice::CheckFeatureSupport", withDevice, [](Scene& s) { return levels(s, 2); }},
    {"IDMLDevice::CheckFeatureSupport, refused", withDevice, [](Scene& s) { return levels(s, 0); },
     DXGI_ERROR_UNSUPPORTED},
    {"IDMLDevice::CheckFeatureSupport, of the wrong size", withDevice,
     [](Scene& s) { return s.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, 1, nullptr, 1, nullptr); },
     E_INVALIDARG},
    {"IDMLDevice::CreateOperator", withDevice,
     [](Scene& s) { return s.device->CreateOperator(&gemm(), IID_PPV_ARGS(s.op.ReleaseAndGetAddressOf())); }},
    {"IDMLDevice::CreateOperator, refused", withDevice,
     [](Scene& s) {
       const DML_OPERATOR_DESC desc{gemm().Type, nullptr};
       return s.device->CreateOperator(&desc, IID_PPV_ARGS(s.op.ReleaseAndGetAddressOf()));
     },
     E_INVALIDARG},
    {"IDMLDevice::CompileOperator", withOperator,
     [](Scene& s) {
       return s.device->CompileOperator(s.op.Get(), DML_EXECUTION_FLAG_NONE,
                                        IID_PPV_ARGS(s.compiled.ReleaseAndGetAddressOf()));
     }},
    {"IDMLDevice1::CompileGraph", withGraph, compileGraph},
    {"IDMLDevice::CreateOperatorInitializer", withCompiled,
     [](Scene& s) {
       IDMLCompiledOperator* const operators[] = {s.compiled.Get(), s.compiled.Get()};
       return s.device->CreateOperatorInitializer(2, operators, IID_PPV_ARGS(s.initializer.ReleaseAndGetAddressOf()));
     }},
    {"IDMLDevice::CreateCommandRecorder", withDevice,
     [](Scene& s) { return s.device->CreateCommandRecorder(IID_PPV_ARGS(s.recorder.ReleaseAndGetAddressOf())); }},
    {"IDMLDevice::CreateBindingTable", withCompiled, createTable},
    {"IDMLDevice::CreateBindingTable, of an initializer", withInitializer, createTable},
    {"IDMLDevice::Evict", withCompiled, [](Scene& s) { return pageables(s, true); }},
    {"IDMLDevice::Evict, refused", withDevice, [](Scene& s) { return s.device->Evict(1, nullptr); }, E_INVALIDARG},
    {"IDMLDevice::MakeResident", withCompiled, [](Scene& s) { return pageables(s, false); }},
    {"IDMLDevice::GetDeviceRemovedReason", withDevice, [](Scene& s) { return s.removedReason(); }, S_OK,
     Answers::Nothing},
    {"IDMLDevice::GetParentDevice", withDevice,
     [](Scene& s) {
       void* parent = nullptr;
       return s.device->GetParentDevice(__uuidof(IUnknown), &parent);
     },
     E_NOINTERFACE, Answers::Always},
    {"IDMLDebugDevice::SetMuteDebugOutput", withDevice,
     [](Scene& s) {
       ComPtr<IDMLDebugDevice> debug;
       const HRESULT result = s.device.As(&debug);
       if (SUCCEEDED(result)) debug->SetMuteDebugOutput(TRUE);
       return result;
     },
     S_OK, Answers::Always},

    {"IDMLObject::SetPrivateData", withOperator, setData, S_OK, Answers::Always},
    {"IDMLObject::GetPrivateData",
     [](Scene& s) {
       withOperator(s);
       need(setData(s));
     },
     getData, S_OK, Answers::Always},
    {"IDMLObject::SetPrivateDataInterface", withOperator,
     [](Scene& s) { return s.op->SetPrivateDataInterface(kGuid, s.device.Get()); }, S_OK, Answers::Always},
    {"IDMLObject::SetName", withOperator, [](Scene& s) { return s.op->SetName(kName); }, S_OK, Answers::Always},
    {"IDMLObject::SetName, of a device", withDevice, [](Scene& s) { return s.device->SetName(kName); }, S_OK,
     Answers::Always},
    {"IDMLDeviceChild::GetDevice", withOperator,
     [](Scene& s) {
       ComPtr<IDMLDevice> device;
       return s.op->GetDevice(IID_PPV_ARGS(&device));
     },
     S_OK, Answers::Always},
    {"IDMLDispatchable::GetBindingProperties", withInitializer,
     [](Scene& s) {
       dimpleGetBindingProperties(s.initializer.Get());
       return dimpleGetBindingProperties(s.compiled.Get()).RequiredDescriptorCount ? S_OK : E_FAIL;
     },
     S_OK, Answers::Always},
    {"IDMLOperatorInitializer::Reset", withInitializer, resetInitializer, S_OK, Answers::Always},

    {"IDMLBindingTable::Reset", withTable, resetTable},
    {"IDMLBindingTable::Reset, of an initializer", withInitializerTable, resetTable},
    {"IDMLBindingTable::BindInputs", withTable,
     [](Scene& s) {
       s.table->BindInputs(3, kInputs);
       return s.removedReason();
     },
     S_OK, Answers::Nothing},
    {"IDMLBindingTable::BindInputs, misused", withTable,
     [](Scene& s) {
       s.table->BindInputs(3, kTooSmall);
       return s.removedReason();
     },
     DXGI_ERROR_DEVICE_REMOVED, Answers::Nothing},
    {"IDMLBindingTable::BindInputs, of an initializer", withInitializerTable,
     [](Scene& s) {
       s.table->BindInputs(1, &kOwnedInputs);
       return s.removedReason();
     },
     S_OK, Answers::Nothing},
    {"IDMLBindingTable::BindOutputs",
     [](Scene& s) {
       withTable(s);
       s.table->BindInputs(3, kInputs);
     },
     [](Scene& s) {
       s.table->BindOutputs(1, &kBound);  // which overlaps an input
       return s.removedReason();
     },
     S_OK, Answers::Nothing},
    {"IDMLBindingTable::BindOutputs, of an initializer", withInitializerTable,
     [](Scene& s) {
       s.table->BindOutputs(1, &kBound);
       return s.removedReason();
     },
     S_OK, Answers::Nothing},
    {"IDMLBindingTable::BindTemporaryResource", withInitializerTable,
     [](Scene& s) {
       s.table->BindTemporaryResource(&kBound);
       return s.removedReason();
     },
     S_OK, Answers::Nothing},
    {"IDMLBindingTable::BindPersistentResource", withTable,
     [](Scene& s) {
       s.table->BindPersistentResource(&kBound);
       return s.removedReason();
     },
     S_OK, Answers::Nothing},
    {"IDMLBindingTable::BindPersistentResource, of an initializer", withInitializerTable,
     [](Scene& s) {
       s.table->BindPersistentResource(&kBound);
       return s.removedReason();
     },
     DXGI_ERROR_DEVICE_REMOVED, Answers::Nothing},
    {"IDMLCommandRecorder::RecordDispatch",
     [](Scene& s) {
       toRecord(s);
       need(s.compiled->SetName(kName));
     },
     [](Scene& s) {
       s.recorder->RecordDispatch(kList, s.compiled.Get(), s.table.Get());
       return s.removedReason();
     },
     S_OK, Answers::Nothing},
    {"IDMLCommandRecorder::RecordDispatch, of an initializer", toInitialize,
     [](Scene& s) {
       s.recorder->RecordDispatch(kList, s.initializer.Get(), s.table.Get());
       return s.removedReason();
     },
     S_OK, Answers::Nothing},
    {"IDMLCommandRecorder::RecordDispatch, misused", withRecorder,
     [](Scene& s) {
       s.recorder->RecordDispatch(kList, nullptr, nullptr);
       return s.removedReason();
     },
     DXGI_ERROR_DEVICE_REMOVED, Answers::Nothing},

    {"IUnknown::Release, of all objects", toInitialize,
     [](Scene& s) {
       s.table.Reset();
       s.initializer.Reset();
       s.compiled.Reset();
       s.op.Reset();
       s.recorder.Reset();
       s.device1.Reset();
       s.device.Reset();
       return S_OK;
     },
     S_OK, Answers::Success},
};

}  // namespace

TEST_CASE("boundary: every allocation of DirectML's methods fails") {
  size_t allocations = 0;
  for (const NullStep& step : kNullSteps) allocations += failEach(step);
  CHECK(allocations > 1000);
}

TEST_CASE("boundary: on a removed device DirectML's methods say so or do nothing") {
  for (const NullStep& step : kNullSteps) runRemoved(step);
}

TEST_CASE("boundary: every allocation of creating and compiling operators fails") {
  static DML_OPERATOR_DESC desc;
  const NullStep create{"IDMLDevice::CreateOperator", withDevice, [](Scene& s) {
                          return s.device->CreateOperator(&desc, IID_PPV_ARGS(s.op.ReleaseAndGetAddressOf()));
                        }};
  const NullStep compile{"IDMLDevice::CompileOperator",
                         [](Scene& s) {
                           withDevice(s);
                           need(s.device->CreateOperator(&desc, IID_PPV_ARGS(&s.op)));
                         },
                         [](Scene& s) {
                           return s.device->CompileOperator(s.op.Get(), DML_EXECUTION_FLAG_NONE,
                                                            IID_PPV_ARGS(s.compiled.ReleaseAndGetAddressOf()));
                         }};
  const auto lines = writtenDescriptions();
  for (size_t i = 0; i < lines.size(); i += everyAllocation() ? 1 : 8) {
    desc = described(lines[i]);
    CAPTURE(lines[i]);
    failEach(create);
    failEach(compile);
  }
}

}  // namespace objects

std::vector<std::string_view> nullStepNames() {
  std::vector<std::string_view> names;
  for (const objects::NullStep& step : objects::kNullSteps) names.push_back(step.name);
  return names;
}

}  // namespace dimple::testing
