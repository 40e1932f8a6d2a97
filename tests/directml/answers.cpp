// A client of Direct3D 12 and DirectML.h alone that asks a DirectML.dll what programs look at beside operators: codes
// of refusals, sizes of structures, private data, reference counts, a removed device. Each question has a line
// `NAME: ANSWER`.
//
//   directml_answers DLL [FILE]
//
// With FILE, which holds the original's answers (tests/data/microsoft_answers.txt), it ends with 1 if any differs, or
// if a question is on one side only. A line `NAME: ANSWER # ours: OTHER; REASON` tells of an answer that is another on
// our DLL, which is known by its exports.
#include <dimple.h>
#include <wrl/client.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/text.h"
#include "tests/directml/answer_sheet.h"

using dimple::cat;
using dimple::answers::answer;
using dimple::answers::compare;
using dimple::answers::nameOf;
using Microsoft::WRL::ComPtr;

namespace {

// ---- the library under test

// An access violation in the library under test is an answer, too.
void* resumePoint[5];
bool guarding = false;
LONG WINAPI onException(EXCEPTION_POINTERS* pointers) {
  if (!guarding || pointers->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION)
    return EXCEPTION_CONTINUE_SEARCH;
  guarding = false;
  __builtin_longjmp(resumePoint, 1);
}

std::string codeOf(const std::function<HRESULT()>& call) {
  if (__builtin_setjmp(resumePoint) != 0) return "crashes";
  guarding = true;
  const HRESULT code = call();
  guarding = false;
  return nameOf(code);
}

void answerCode(const std::string& name, const std::function<HRESULT()>& call) { answer(name, codeOf(call)); }

ULONG references(IUnknown* object) {
  object->AddRef();
  return object->Release();
}

template <class Interface>
std::string has(IUnknown* object) {
  ComPtr<Interface> found;
  return nameOf(object->QueryInterface(__uuidof(Interface), reinterpret_cast<void**>(found.GetAddressOf())));
}

template <class E>
E outside(uint32_t value) {
  E result;
  std::memcpy(&result, &value, sizeof value);
  return result;
}

constexpr uint32_t kUntouched = 0x77777777;
std::string wordsOf(const uint32_t* words) {
  std::string text;
  for (int i = 0; i < 2; ++i) text += words[i] == kUntouched ? " untouched" : cat(" ", words[i]);
  return text;
}

void* const kPoison = reinterpret_cast<void*>(uintptr_t{0x5a5a5a5a});
const char* leftIn(const void* pointer) { return pointer == kPoison ? "as it was" : pointer ? "set" : "null"; }

// ---- devices

using CreateDml1 = HRESULT(WINAPI*)(ID3D12Device*, DML_CREATE_DEVICE_FLAGS, DML_FEATURE_LEVEL, REFIID, void**);
using CreateDml = HRESULT(WINAPI*)(ID3D12Device*, DML_CREATE_DEVICE_FLAGS, REFIID, void**);
CreateDml1 createDml1 = nullptr;
CreateDml createDml = nullptr;

template <class Function>
Function procedure(HMODULE library, const char* name) {
  return reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(library, name)));
}

ComPtr<ID3D12Device> openDevice() {
  using Create = HRESULT(WINAPI*)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**);
  static const auto create = procedure<Create>(LoadLibraryA("d3d12.dll"), "D3D12CreateDevice");
  ComPtr<ID3D12Device> device;
  if (!create || FAILED(create(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), &device))) {
    std::fprintf(stderr, "There is no Direct3D 12 device.\n");
    std::exit(2);
  }
  return device;
}

constexpr UINT kSizes[] = {1, 1, 1, 4};

// A DirectML device, and an operator of four elements in its stages.
struct Client {
  Client() : d3d12(openDevice()) {
    if (FAILED(createDml1(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_1_0, IID_PPV_ARGS(&dml)))) {
      std::fprintf(stderr, "There is no DirectML device.\n");
      std::exit(2);
    }
  }
  HRESULT createOperator(REFIID riid, void** ppv) const {
    const DML_BUFFER_TENSOR_DESC buffer{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, kSizes, nullptr, 16, 0};
    const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &buffer};
    const DML_ELEMENT_WISE_ABS_OPERATOR_DESC abs{&tensor, &tensor, nullptr};
    const DML_OPERATOR_DESC desc{DML_OPERATOR_ELEMENT_WISE_ABS, &abs};
    return dml->CreateOperator(&desc, riid, ppv);
  }
  void makeOperator() { createOperator(IID_PPV_ARGS(&op)); }
  void makeCompiled() {
    makeOperator();
    dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled));
  }
  void makeInitializer() {
    makeCompiled();
    IDMLCompiledOperator* const one = compiled.Get();
    dml->CreateOperatorInitializer(1, &one, IID_PPV_ARGS(&initializer));
  }
  DML_BINDING_TABLE_DESC tableDesc(IDMLDispatchable* dispatchable) {
    if (!heap) {
      const D3D12_DESCRIPTOR_HEAP_DESC desc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 16,
                                            D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
      d3d12->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap));
    }
    return {dispatchable, dimpleGetCPUStart(heap.Get()), dimpleGetGPUStart(heap.Get()), 16};
  }
  void makeTable() {
    const auto desc = tableDesc(compiled.Get());
    dml->CreateBindingTable(&desc, IID_PPV_ARGS(&table));
  }
  // A mistake in binding removes the device.
  void misuse() const {
    const DML_BINDING_DESC none{DML_BINDING_TYPE_NONE, nullptr};
    const std::array<DML_BINDING_DESC, 5> many{none, none, none, none, none};
    table->BindInputs(5, many.data());
  }

  ComPtr<ID3D12Device> d3d12;
  ComPtr<IDMLDevice> dml;
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLOperatorInitializer> initializer;
  ComPtr<ID3D12DescriptorHeap> heap;
  ComPtr<IDMLBindingTable> table;
};

// A graph of one node, the operator of `c`.
HRESULT compileGraph(const Client& c, IDMLOperator* op, REFIID riid, void** ppv) {
  ComPtr<IDMLDevice1> device;
  c.dml.As(&device);
  DML_OPERATOR_GRAPH_NODE_DESC node{op, nullptr};
  const DML_GRAPH_NODE_DESC nodes[] = {{DML_GRAPH_NODE_TYPE_OPERATOR, &node}};
  const DML_INPUT_GRAPH_EDGE_DESC input{0, 0, 0, nullptr};
  const DML_OUTPUT_GRAPH_EDGE_DESC output{0, 0, 0, nullptr};
  const DML_GRAPH_EDGE_DESC inputs[] = {{DML_GRAPH_EDGE_TYPE_INPUT, &input}};
  const DML_GRAPH_EDGE_DESC outputs[] = {{DML_GRAPH_EDGE_TYPE_OUTPUT, &output}};
  const DML_GRAPH_DESC desc{1, 1, 1, nodes, 1, inputs, 1, outputs, 0, nullptr};
  return device->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, riid, ppv);
}

// ---- questions

void askCreation() {
  const auto device = openDevice();
  const auto create = [&](DML_CREATE_DEVICE_FLAGS flags, uint32_t level, REFIID riid) {
    void* made = kPoison;
    const std::string code =
        codeOf([&] { return createDml1(device.Get(), flags, outside<DML_FEATURE_LEVEL>(level), riid, &made); });
    const std::string left = leftIn(made);
    if (left == "set") static_cast<IUnknown*>(made)->Release();
    return cat(code, ", ppv ", left);
  };
  const auto none = DML_CREATE_DEVICE_FLAG_NONE;
  answer("DMLCreateDevice1, IDMLDevice", create(none, 0x1000, __uuidof(IDMLDevice)));
  answer("DMLCreateDevice1, IDMLDevice1", create(none, 0x1000, __uuidof(IDMLDevice1)));
  answer("DMLCreateDevice1, IUnknown", create(none, 0x1000, __uuidof(IUnknown)));
  answer("DMLCreateDevice1, IDMLOperator", create(none, 0x1000, __uuidof(IDMLOperator)));
  answer("DMLCreateDevice1, IDMLDebugDevice", create(none, 0x1000, __uuidof(IDMLDebugDevice)));
  for (const auto& [name, level] : std::map<const char*, uint32_t>{
           {"0", 0}, {"1", 1}, {"0x1001", 0x1001}, {"6.4", 0x6400}, {"0x6401", 0x6401}, {"6.5", 0x6500}})
    answer(cat("DMLCreateDevice1, level ", name), create(none, level, __uuidof(IDMLDevice)));
  answer("DMLCreateDevice1, flags 1 (DEBUG)", create(DML_CREATE_DEVICE_FLAG_DEBUG, 0x1000, __uuidof(IDMLDevice)));
  answer("DMLCreateDevice1, flags 2", create(outside<DML_CREATE_DEVICE_FLAGS>(2), 0x1000, __uuidof(IDMLDevice)));
  const auto to = [&](ID3D12Device* over, DML_CREATE_DEVICE_FLAGS flags, DML_FEATURE_LEVEL level) {
    return [=] { return createDml1(over, flags, level, __uuidof(IDMLDevice), nullptr); };
  };
  answerCode("DMLCreateDevice1, null ppv", to(device.Get(), none, DML_FEATURE_LEVEL_1_0));
  answerCode("DMLCreateDevice1, null ppv, level 0x6500", to(device.Get(), none, outside<DML_FEATURE_LEVEL>(0x6500)));
  answerCode("DMLCreateDevice1, null ppv, flags 2",
             to(device.Get(), outside<DML_CREATE_DEVICE_FLAGS>(2), DML_FEATURE_LEVEL_1_0));
  answerCode("DMLCreateDevice1, null ppv, IDMLOperator",
             [&] { return createDml1(device.Get(), none, DML_FEATURE_LEVEL_1_0, __uuidof(IDMLOperator), nullptr); });
  answerCode("DMLCreateDevice1, null device and ppv", to(nullptr, none, DML_FEATURE_LEVEL_1_0));
  answerCode("DMLCreateDevice, null ppv", [&] { return createDml(device.Get(), none, __uuidof(IDMLDevice), nullptr); });
  void* made = kPoison;
  answerCode("DMLCreateDevice1, null device",
             [&] { return createDml1(nullptr, none, DML_FEATURE_LEVEL_1_0, __uuidof(IDMLDevice), &made); });
  answer("DMLCreateDevice1, null device, ppv", leftIn(made));
}

void askInterfaces() {
  Client c;
  answer("device, IDMLObject", has<IDMLObject>(c.dml.Get()));
  answer("device, IDMLDevice1", has<IDMLDevice1>(c.dml.Get()));
  answer("device, IDMLDeviceChild", has<IDMLDeviceChild>(c.dml.Get()));
  answer("device, ID3D12Device", has<ID3D12Device>(c.dml.Get()));
  answer("device without DEBUG, IDMLDebugDevice", has<IDMLDebugDevice>(c.dml.Get()));
  ComPtr<IDMLDebugDevice> debug;
  if (SUCCEEDED(c.dml.As(&debug))) {
    ComPtr<IUnknown> one, other;
    c.dml.As(&one);
    debug.As(&other);
    answer("IDMLDebugDevice, identity", one.Get() == other.Get() ? "the device's" : "its own");
    answerCode("IDMLDebugDevice, SetMuteDebugOutput", [&] {
      debug->SetMuteDebugOutput(TRUE);
      debug->SetMuteDebugOutput(FALSE);
      return S_OK;
    });
  }
  ComPtr<IDMLDevice> second;
  createDml1(c.d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_1_0, IID_PPV_ARGS(&second));
  answer("a second device over the same", second.Get() == c.dml.Get() ? "is the first" : "is another");
  ComPtr<ID3D12Device> parent;
  answerCode("GetParentDevice", [&] { return c.dml->GetParentDevice(IID_PPV_ARGS(&parent)); });
  answer("GetParentDevice, its device", parent.Get() == c.d3d12.Get() ? "that given" : "another");
  void* none = kPoison;
  answerCode("GetParentDevice, IDMLDevice", [&] { return c.dml->GetParentDevice(__uuidof(IDMLDevice), &none); });
  answer("GetParentDevice, IDMLDevice, ppv", leftIn(none));
  c.makeInitializer();
  answer("operator, IDMLDispatchable", has<IDMLDispatchable>(c.op.Get()));
  answer("operator, IDMLPageable", has<IDMLPageable>(c.op.Get()));
  answer("compiled operator, IDMLDispatchable", has<IDMLDispatchable>(c.compiled.Get()));
  answer("compiled operator, IDMLOperator", has<IDMLOperator>(c.compiled.Get()));
  answer("initializer, IDMLDispatchable", has<IDMLDispatchable>(c.initializer.Get()));
  answer("initializer, IDMLCompiledOperator", has<IDMLCompiledOperator>(c.initializer.Get()));
}

void askDataTypes(const Client& c) {
  using Query = DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT;
  using Support = DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT;
  struct {
    Query query{DML_TENSOR_DATA_TYPE_FLOAT32};
    uint32_t more[2]{};
  } query;
  uint32_t support[3];
  const auto ask = [&](const std::string& name, UINT querySize, const void* from, UINT supportSize, void* to) {
    std::fill(std::begin(support), std::end(support), kUntouched);
    const std::string code = codeOf([&] {
      return c.dml->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, querySize, from, supportSize, to);
    });
    answer(cat("TENSOR_DATA_TYPE_SUPPORT, ", name), cat(code, ",", wordsOf(support)));
  };
  ask("exact", sizeof(Query), &query, sizeof(Support), support);
  ask("query of 8 bytes", 8, &query, sizeof(Support), support);
  ask("query of 5 bytes", 5, &query, sizeof(Support), support);
  ask("query of 3 bytes", 3, &query, sizeof(Support), support);
  ask("query of 0 bytes", 0, &query, sizeof(Support), support);
  ask("support of 8 bytes", sizeof(Query), &query, 8, support);
  ask("support of 5 bytes", sizeof(Query), &query, 5, support);
  ask("support of 3 bytes", sizeof(Query), &query, 3, support);
  ask("both of 12 bytes", 12, &query, 12, support);
  ask("null query", sizeof(Query), nullptr, sizeof(Support), support);
  ask("null query of 0 bytes", 0, nullptr, sizeof(Support), support);
  ask("null support", sizeof(Query), &query, sizeof(Support), nullptr);
  for (uint32_t type = 0; type < 16; ++type) {
    query.query.DataType = outside<DML_TENSOR_DATA_TYPE>(type);
    ask(cat("type ", type), sizeof(Query), &query, sizeof(Support), support);
  }
}

void askLevels(const Client& c) {
  using Query = DML_FEATURE_QUERY_FEATURE_LEVELS;
  struct {
    Query query{};
    uint32_t more[2]{};
  } query;
  uint32_t support[3];
  const auto ask = [&](const std::string& name, const std::vector<uint32_t>& levels, UINT querySize = sizeof(Query),
                       UINT supportSize = sizeof(DML_FEATURE_DATA_FEATURE_LEVELS)) {
    std::vector<DML_FEATURE_LEVEL> requested;
    for (const uint32_t level : levels) requested.push_back(outside<DML_FEATURE_LEVEL>(level));
    query.query = {static_cast<UINT>(requested.size()), requested.data()};
    std::fill(std::begin(support), std::end(support), kUntouched);
    const std::string code = codeOf([&] {
      return c.dml->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, querySize, &query, supportSize, support);
    });
    answer(cat("FEATURE_LEVELS, ", name), cat(code, ",", wordsOf(support)));
  };
  ask("1.0", {0x1000});
  ask("5.0, 6.4, 1.0", {0x5000, 0x6400, 0x1000});
  ask("6.4, 6.5", {0x6400, 0x6500});
  ask("6.5", {0x6500});
  ask("6.5, 7.0", {0x6500, 0x7000});
  ask("0", {0});
  ask("1", {1});
  ask("0x1001", {0x1001});
  ask("0x6399", {0x6399});
  ask("0x3001, 2.0", {0x3001, 0x2000});
  ask("none", {});
  ask("query of 24 bytes", {0x5000}, 24);
  ask("query of 17 bytes", {0x5000}, 17);
  ask("query of 8 bytes", {0x5000}, 8);
  ask("support of 8 bytes", {0x5000}, sizeof(Query), 8);
  ask("support of 2 bytes", {0x5000}, sizeof(Query), 2);
  query.query = {1, nullptr};
  answerCode("FEATURE_LEVELS, null levels",
             [&] { return c.dml->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof(Query), &query, 4, support); });
}

void askFeatures() {
  const Client c;
  askDataTypes(c);
  askLevels(c);
  uint32_t support[2] = {kUntouched, kUntouched};
  const uint32_t query = 1;
  for (const uint32_t feature : {2u, 7u}) {
    const std::string code =
        codeOf([&] { return c.dml->CheckFeatureSupport(outside<DML_FEATURE>(feature), 4, &query, 4, support); });
    answer(cat("feature ", feature), cat(code, ",", wordsOf(support)));
  }
}

// WKPDID_D3DDebugObjectNameW and WKPDID_D3DDebugObjectName
constexpr GUID kNameW = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};
constexpr GUID kNameA = {0x429b8c22, 0x9188, 0x4b0c, {0x87, 0x42, 0xac, 0xb0, 0xbf, 0x85, 0xc2, 0x00}};
constexpr GUID kSome = {0x01234567, 0x89ab, 0xcdef, {1, 2, 3, 4, 5, 6, 7, 8}};

std::string privateData(IDMLObject* object, REFGUID guid, UINT size, bool withData = true) {
  std::array<unsigned char, 64> data{};
  data.fill(0x5a);
  UINT left = size;
  const std::string code =
      codeOf([&] { return object->GetPrivateData(guid, &left, withData ? data.data() : nullptr); });
  std::string text = cat(code, ", size ", left);
  size_t end = data.size();
  while (end != 0 && data[end - 1] == 0x5a) --end;
  if (end != 0) text += ", bytes";
  for (size_t i = 0; i < end; ++i) text += cat(" ", static_cast<unsigned>(data[i]));
  return text;
}

void askNames(IDMLObject* object, const std::string& of) {
  const auto show = [&](const std::string& when) { answer(cat(of, ", name ", when), privateData(object, kNameW, 64)); };
  show("at first");
  answerCode(cat(of, ", SetName"), [&] { return object->SetName(L"abc"); });
  show("after SetName");
  answer(cat(of, ", its name's size"), privateData(object, kNameW, 0, false));
  answer(cat(of, ", its name to 6 bytes"), privateData(object, kNameW, 6));
  answer(cat(of, ", its name as ANSI"), privateData(object, kNameA, 64));
  answerCode(cat(of, ", SetName to a shorter"), [&] { return object->SetName(L"x"); });
  show("after a shorter");
  answerCode(cat(of, ", SetName to an empty one"), [&] { return object->SetName(L""); });
  show("after an empty one");
}

void askPrivateData() {
  Client c;
  c.makeInitializer();
  askNames(c.dml.Get(), "device");
  askNames(c.op.Get(), "operator");
  askNames(c.compiled.Get(), "compiled operator");
  IDMLObject* const object = c.op.Get();
  const unsigned char bytes[4] = {1, 2, 3, 4};
  const auto set = [&](const std::string& name, UINT size, const void* data) {
    answerCode(cat("SetPrivateData, ", name), [&] { return object->SetPrivateData(kSome, size, data); });
    answer(cat("SetPrivateData, ", name, ", then"), privateData(object, kSome, 64));
  };
  set("null, nothing there", 0, nullptr);
  set("4 bytes", 4, bytes);
  answer("GetPrivateData to 3 bytes", privateData(object, kSome, 3));
  answer("GetPrivateData to null", privateData(object, kSome, 0, false));
  answer("GetPrivateData to null of 64 bytes", privateData(object, kSome, 64, false));
  answerCode("GetPrivateData, null size", [&] { return object->GetPrivateData(kSome, nullptr, nullptr); });
  set("0 bytes", 0, bytes);
  object->SetPrivateData(kSome, 4, bytes);
  set("null of 4 bytes", 4, nullptr);
  object->SetPrivateData(kSome, 4, bytes);
  set("null", 0, nullptr);
  Client other;
  other.makeOperator();
  const ULONG before = references(other.op.Get());
  answerCode("SetPrivateDataInterface", [&] { return object->SetPrivateDataInterface(kSome, other.op.Get()); });
  answer("SetPrivateDataInterface, references", cat(references(other.op.Get()) - before));
  IUnknown* got = nullptr;
  UINT size = sizeof got;
  answerCode("GetPrivateData, an interface", [&] { return object->GetPrivateData(kSome, &size, &got); });
  answer("GetPrivateData, an interface, then",
         cat("size ", size, ", references ", references(other.op.Get()) - before));
  if (got) got->Release();
  answerCode("SetPrivateDataInterface, null", [&] { return object->SetPrivateDataInterface(kSome, nullptr); });
  answer("SetPrivateDataInterface, null, references", cat(references(other.op.Get()) - before));
  answerCode("SetPrivateDataInterface, null, nothing there",
             [&] { return object->SetPrivateDataInterface(kSome, nullptr); });
}

void askReferences() {
  Client c;
  const auto show = [&](const std::string& when) {
    std::string text = cat("device ", references(c.dml.Get()));
    const auto add = [&](const char* name, IUnknown* object) {
      if (object) text += cat(", ", name, " ", references(object));
    };
    add("operator", c.op.Get());
    add("compiled", c.compiled.Get());
    add("initializer", c.initializer.Get());
    add("table", c.table.Get());
    answer(cat("references, ", when), text);
  };
  show("of a new device");
  c.makeOperator();
  show("with an operator");
  c.dml->CompileOperator(c.op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&c.compiled));
  show("with a compiled operator");
  IDMLCompiledOperator* const one = c.compiled.Get();
  c.dml->CreateOperatorInitializer(1, &one, IID_PPV_ARGS(&c.initializer));
  show("with an initializer");
  c.initializer->Reset(0, nullptr);
  show("with an initializer that was reset");
  IDMLCompiledOperator* const two[] = {one, one};
  c.initializer->Reset(2, two);
  show("with an initializer of the same twice");
  c.makeTable();
  show("with a binding table");
  const auto desc = c.tableDesc(c.initializer.Get());
  c.table->Reset(&desc);
  show("with a binding table of the initializer");
  c.table->Reset(nullptr);
  show("with a binding table of nothing");
  c.table.Reset();
  c.initializer.Reset();
  show("without table and initializer");
  c.op.Reset();
  show("without the operator");
  c.compiled.Reset();
  show("without the compiled operator");
  c.makeOperator();
  compileGraph(c, c.op.Get(), IID_PPV_ARGS(&c.compiled));
  show("with a compiled graph");
  c.op.Reset();
  c.compiled.Reset();
  ComPtr<IDMLCommandRecorder> recorder;
  c.dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder));
  show("with a command recorder");
  recorder.Reset();
  const ULONG with = references(c.d3d12.Get());
  c.dml.Reset();
  answer("references, of the Direct3D device, given back", references(c.d3d12.Get()) < with ? "some" : "none");
}

void askRefusals() {
  Client c;
  c.makeInitializer();
  answerCode("CompileOperator, flags 8", [&] {
    ComPtr<IDMLCompiledOperator> made;
    return c.dml->CompileOperator(c.op.Get(), outside<DML_EXECUTION_FLAGS>(8), IID_PPV_ARGS(&made));
  });
  answerCode("CompileOperator, null ppv", [&] {
    return c.dml->CompileOperator(c.op.Get(), DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), nullptr);
  });
  answerCode("CompileGraph, null ppv",
             [&] { return compileGraph(c, c.op.Get(), __uuidof(IDMLCompiledOperator), nullptr); });
  answerCode("Reset of an initializer, null operators", [&] { return c.initializer->Reset(1, nullptr); });
  answerCode("Reset of an initializer, a null operator", [&] {
    IDMLCompiledOperator* const none = nullptr;
    return c.initializer->Reset(1, &none);
  });
  answerCode("Evict, nothing", [&] { return c.dml->Evict(0, nullptr); });
  answerCode("MakeResident, nothing", [&] { return c.dml->MakeResident(0, nullptr); });
  answerCode("GetDeviceRemovedReason", [&] { return c.dml->GetDeviceRemovedReason(); });
}

// Last, since an original that crashed may have kept its locks.
void askNullResults() {
  Client c;
  c.makeInitializer();
  IDMLCompiledOperator* const one = c.compiled.Get();
  const auto desc = c.tableDesc(c.compiled.Get());
  answerCode("SetName, null", [&] { return c.op->SetName(nullptr); });
  answerCode("QueryInterface, null ppv", [&] { return c.dml->QueryInterface(__uuidof(IDMLDevice), nullptr); });
  answerCode("GetDevice, null ppv", [&] { return c.op->GetDevice(__uuidof(IDMLDevice), nullptr); });
  answerCode("GetParentDevice, null ppv", [&] { return c.dml->GetParentDevice(__uuidof(ID3D12Device), nullptr); });
  answerCode("CreateOperator, null ppv", [&] { return c.createOperator(__uuidof(IDMLOperator), nullptr); });
  answerCode("CreateOperatorInitializer, null ppv",
             [&] { return c.dml->CreateOperatorInitializer(1, &one, __uuidof(IDMLOperatorInitializer), nullptr); });
  answerCode("CreateCommandRecorder, null ppv",
             [&] { return c.dml->CreateCommandRecorder(__uuidof(IDMLCommandRecorder), nullptr); });
  answerCode("CreateBindingTable, null ppv",
             [&] { return c.dml->CreateBindingTable(&desc, __uuidof(IDMLBindingTable), nullptr); });
}

// Removed by misuse, since not every Direct3D 12 lets itself be removed.
void askRemoved() {
  Client c;
  c.makeInitializer();
  c.makeTable();
  c.misuse();
  const auto ask = [&](const std::string& name, const std::function<HRESULT()>& call) {
    answerCode(cat("removed device, ", name), call);
  };
  IDMLCompiledOperator* const one = c.compiled.Get();
  ask("GetDeviceRemovedReason", [&] { return c.dml->GetDeviceRemovedReason(); });
  ask("Reset of an initializer", [&] { return c.initializer->Reset(1, &one); });
  ask("Reset of an initializer to nothing", [&] { return c.initializer->Reset(0, nullptr); });
  ask("Reset of an initializer, null operators", [&] { return c.initializer->Reset(1, nullptr); });
  const auto desc = c.tableDesc(c.compiled.Get());
  ask("Reset of a table", [&] { return c.table->Reset(&desc); });
  ask("Reset of a table to nothing", [&] { return c.table->Reset(nullptr); });
  const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query{DML_TENSOR_DATA_TYPE_FLOAT32};
  DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT support{};
  ask("CheckFeatureSupport", [&] {
    return c.dml->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof query, &query, sizeof support,
                                      &support);
  });
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLOperatorInitializer> initializer;
  ComPtr<IDMLCommandRecorder> recorder;
  ComPtr<IDMLBindingTable> table;
  ComPtr<IUnknown> any;
  ask("CreateOperator", [&] { return c.createOperator(IID_PPV_ARGS(&op)); });
  ask("CompileOperator",
      [&] { return c.dml->CompileOperator(c.op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)); });
  ask("CreateOperatorInitializer",
      [&] { return c.dml->CreateOperatorInitializer(1, &one, IID_PPV_ARGS(&initializer)); });
  ask("CreateCommandRecorder", [&] { return c.dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)); });
  ask("CreateBindingTable", [&] { return c.dml->CreateBindingTable(&desc, IID_PPV_ARGS(&table)); });
  ask("GetParentDevice", [&] { return c.dml->GetParentDevice(IID_PPV_ARGS(&any)); });
  ask("GetDevice", [&] { return c.op->GetDevice(IID_PPV_ARGS(&any)); });
  ask("SetName", [&] { return c.dml->SetName(L"abc"); });
  ComPtr<IDMLDevice> other;
  ask("DMLCreateDevice1 over the same", [&] {
    return createDml1(c.d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_1_0, IID_PPV_ARGS(&other));
  });
  if (other.Get()) ask("GetDeviceRemovedReason of that", [&] { return other->GetDeviceRemovedReason(); });
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: directml_answers DLL [FILE]\n");
    return 2;
  }
  const HMODULE library = LoadLibraryA(arguments[1]);
  if (!library) {
    std::fprintf(stderr, "The library %s cannot be loaded.\n", arguments[1]);
    return 2;
  }
  createDml1 = procedure<CreateDml1>(library, "DMLCreateDevice1");
  createDml = procedure<CreateDml>(library, "DMLCreateDevice");
  AddVectoredExceptionHandler(1, onException);
  askCreation();
  askInterfaces();
  askFeatures();
  askPrivateData();
  askReferences();
  askRefusals();
  askRemoved();
  askNullResults();
  if (count < 3) return 0;
  return compare(arguments[2], GetProcAddress(library, "dimpleGetVersion") != nullptr) == 0 ? 0 : 1;
}
