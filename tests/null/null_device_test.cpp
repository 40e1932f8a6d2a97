// The API without a driver: hostile descriptions, and threads.
#include "tests/null/null_device.h"

#include <doctest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "api/device.h"
#include "core/schema/desc_text.h"
#include "tests/conformance/random.h"
#include "tests/core/descriptions.h"
#include "tests/core/graph_builder.h"
#include "tests/null/hostile.h"

using Microsoft::WRL::ComPtr;

namespace dimple::testing {
namespace {

std::vector<uint8_t> randomBytes(Random& random) {
  std::vector<uint8_t> bytes(1 + random.below(300));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
  return bytes;
}

TEST_CASE("null: hostile descriptions are refused at once, and what is accepted compiles or says why not") {
  const auto device = createNullDevice();
  Random random(1);
  size_t created = 0;
  size_t compiled = 0;
  std::chrono::steady_clock::duration refusing{};
  size_t refused = 0;
  for (int i = 0; i < 50000; ++i) {
    const OwnedDesc owned = hostileDescription(randomBytes(random));
    const DML_OPERATOR_DESC desc = owned.desc();
    ComPtr<IDMLOperator> op;
    const auto start = std::chrono::steady_clock::now();
    const HRESULT result = device->CreateOperator(&desc, IID_PPV_ARGS(&op));
    if (FAILED(result)) {
      CHECK(result == E_INVALIDARG);
      refusing += std::chrono::steady_clock::now() - start;
      ++refused;
      continue;
    }
    ++created;
    ComPtr<IDMLCompiledOperator> made;
    const HRESULT compiling = device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&made));
    CHECK((compiling == S_OK || compiling == E_NOTIMPL || compiling == DXGI_ERROR_UNSUPPORTED));
    compiled += compiling == S_OK;
  }
  CHECK(created > 200);
  CHECK(compiled > 100);
  // On average, since a thread can be held up.
  CHECK(refusing / refused < std::chrono::milliseconds(1));
}

// A graph of one operator after itself where its output is as large as its first input, else of it alone.
HRESULT compileGraphOf(IDMLDevice& device, const std::string& line, IDMLOperator* op) {
  GraphBuilder graph;
  graph.op(line, "first", op);
  graph.op(line, "second", op);
  const auto parsed = parseCase(line);
  const auto view = Operation::parse(parsed->desc.desc());
  UINT graphInput = 0;
  UINT output = 0;
  while (!view->output(output).present()) ++output;
  for (const UINT node : {0u, 1u})
    for (UINT i = 0; i < view->inputs().size(); ++i) {
      if (!view->input(i).present()) continue;
      const bool follows = node == 1 && i == 0 && !view->input(i).ownedByDml &&
                           view->input(i).totalBytes == view->output(output).totalBytes;
      if (follows)
        graph.edge(0, 1, 0, output);
      else
        graph.input(graphInput++, node, i);
    }
  graph.output(0, 0, output);
  graph.output(1, 1, output);
  const DML_GRAPH_DESC desc = graph.desc();
  ComPtr<IDMLDevice1> device1;
  ComPtr<IDMLCompiledOperator> compiled;
  device.QueryInterface(IID_PPV_ARGS(&device1));
  return device1->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled));
}

TEST_CASE("null: threads create and compile on one device, operators and graphs") {
  const auto device = createNullDevice();
  std::vector<std::string> lines;
  for (const std::string& line : writtenDescriptions())
    if (findSchema(std::string_view(line).substr(0, line.find(' ')))->plan) lines.push_back(line);
  REQUIRE(lines.size() >= 30);
  std::atomic<size_t> failures = 0;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Random random(t);
      for (int i = 0; i < 200; ++i) {
        const std::string& line = lines[random.below(lines.size())];
        auto parsed = parseCase(line);
        const DML_OPERATOR_DESC desc = parsed->desc.desc();
        ComPtr<IDMLOperator> op;
        ComPtr<IDMLCompiledOperator> compiled;
        ComPtr<IDMLOperatorInitializer> initializer;
        failures += FAILED(device->CreateOperator(&desc, IID_PPV_ARGS(&op)));
        failures += FAILED(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
        IDMLCompiledOperator* const operators[] = {compiled.Get()};
        failures += FAILED(device->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)));
        failures += FAILED(compileGraphOf(*device.Get(), line, op.Get()));
        const OwnedDesc hostile = hostileDescription(randomBytes(random));
        const DML_OPERATOR_DESC other = hostile.desc();
        device->CreateOperator(&other, IID_PPV_ARGS(op.ReleaseAndGetAddressOf()));
        op.Reset();
        device->SetName(L"shared");
        failures += device->GetDeviceRemovedReason() != S_OK;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
}

ComPtr<IDMLCompiledOperator> compile(IDMLDevice& device, std::string_view line) {
  auto parsed = parseCase(line);
  REQUIRE(parsed);
  const DML_OPERATOR_DESC desc = parsed->desc.desc();
  ComPtr<IDMLOperator> op;
  REQUIRE(device.CreateOperator(&desc, IID_PPV_ARGS(&op)) == S_OK);
  ComPtr<IDMLCompiledOperator> compiled;
  REQUIRE(device.CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)) == S_OK);
  return compiled;
}

TEST_CASE("null: what a callback throws goes no further") {
  const auto device = createNullDevice();
  size_t calls = 0;
  const DimpleMessageCallback fail = [](void* context, DimpleMessageSeverity, HRESULT, const char*) {
    ++*static_cast<size_t*>(context);
    throw 1;
  };
  api::Live<api::Device>::find(device.Get())->setCallback(fail, &calls);
  CHECK(device->CreateOperator(nullptr, __uuidof(IDMLOperator), nullptr) == E_INVALIDARG);
  ComPtr<IDMLCommandRecorder> recorder;
  REQUIRE(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder)) == S_OK);
  recorder->RecordDispatch(nullptr, nullptr, nullptr);
  CHECK(device->GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_REMOVED);
  CHECK(calls == 2);
}

// What a program leaves to the end of its process.
ComPtr<IDMLCompiledOperator> leftToTheEnd;

TEST_CASE("null: objects are released while static objects are destroyed") {
  leftToTheEnd = compile(*createNullDevice().Get(), "ELEMENT_WISE_ABS InputTensor=f32[4] OutputTensor=f32[4]");
  leftToTheEnd->AddRef();
  CHECK(leftToTheEnd->Release() == 1);
}

TEST_CASE("null: a binding table keeps the operators of its initializer, which drops them") {
  const auto device = createNullDevice();
  auto op = compile(*device.Get(), "ELEMENT_WISE_ADD ATensor=f32[4] BTensor=f32[4]! OutputTensor=f32[4]");
  ComPtr<IDMLOperatorInitializer> initializer;
  ComPtr<IDMLBindingTable> table;
  ComPtr<IDMLCommandRecorder> recorder;
  REQUIRE(device->CreateOperatorInitializer(1, op.GetAddressOf(), IID_PPV_ARGS(&initializer)) == S_OK);
  const DML_BINDING_TABLE_DESC desc{initializer.Get(), {1}, {1}, 16};
  REQUIRE(device->CreateBindingTable(&desc, IID_PPV_ARGS(&table)) == S_OK);
  REQUIRE(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder)) == S_OK);
  REQUIRE(initializer->Reset(0, nullptr) == S_OK);
  op->AddRef();
  CHECK(op->Release() == 2);
  op.Reset();
  alignas(16) static char memory;
  const DML_BUFFER_BINDING whole{reinterpret_cast<ID3D12Resource*>(&memory), 0, 1 << 20};
  const DML_BINDING_DESC bound{DML_BINDING_TYPE_BUFFER, &whole};
  const DML_BUFFER_BINDING owned[] = {{}, whole};
  const DML_BUFFER_ARRAY_BINDING array{2, owned};
  const DML_BINDING_DESC inputs{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  table->BindInputs(1, &inputs);
  table->BindOutputs(1, &bound);
  recorder->RecordDispatch(reinterpret_cast<ID3D12CommandList*>(&memory), initializer.Get(), table.Get());
  CHECK(device->GetDeviceRemovedReason() == S_OK);
}

// What a debug device says of an operator whose tensors of 24 bytes lie at these offsets in one buffer.
std::vector<std::string> overlaps(std::string_view line, std::vector<UINT64> inputs, std::vector<UINT64> outputs,
                                  DML_CREATE_DEVICE_FLAGS flags = DML_CREATE_DEVICE_FLAG_DEBUG) {
  std::vector<std::string> heard;
  const auto device = createNullDevice(flags);
  hearMessages(*device.Get(), heard);
  const auto op = compile(*device.Get(), line);
  const DML_BINDING_TABLE_DESC desc{op.Get(), {1}, {1}, 16};
  ComPtr<IDMLBindingTable> table;
  REQUIRE(device->CreateBindingTable(&desc, IID_PPV_ARGS(&table)) == S_OK);
  alignas(16) static char memory;
  const auto bind = [&](const std::vector<UINT64>& offsets, auto method) {
    std::vector<DML_BUFFER_BINDING> buffers;
    for (const UINT64 offset : offsets) buffers.push_back({reinterpret_cast<ID3D12Resource*>(&memory), offset, 24});
    std::vector<DML_BINDING_DESC> bindings;
    for (const DML_BUFFER_BINDING& buffer : buffers) bindings.push_back({DML_BINDING_TYPE_BUFFER, &buffer});
    (table.Get()->*method)(static_cast<UINT>(bindings.size()), bindings.data());
  };
  bind(inputs, &IDMLBindingTable::BindInputs);
  bind(outputs, &IDMLBindingTable::BindOutputs);
  CHECK(device->GetDeviceRemovedReason() == S_OK);
  return heard;
}

TEST_CASE("null: a debug device warns of outputs that overlap") {
  constexpr std::string_view kAdd = "ELEMENT_WISE_ADD ATensor=f32[2,3] BTensor=f32[2,3] OutputTensor=f32[2,3]";
  constexpr std::string_view kTransposed =
      "ELEMENT_WISE_ADD ATensor=f32[2,3] BTensor=f32[2,3] OutputTensor=f32[2,3]{1,2}";
  CHECK(overlaps(kAdd, {0, 0}, {32}).empty());
  // In place: exactly on an input of the same layout.
  CHECK(overlaps(kAdd, {0, 32}, {32}).empty());
  CHECK(overlaps(kAdd, {0, 32}, {16}) ==
        std::vector<std::string>{
            "BindOutputs: bindings[0] (OutputTensor) overlaps that of input ATensor, expected memory of its own.",
            "BindOutputs: bindings[0] (OutputTensor) overlaps that of input BTensor, expected memory of its own."});
  CHECK(overlaps(kTransposed, {0, 32}, {32}).size() == 1);
  CHECK(overlaps(kTransposed, {0, 32}, {64}).empty());
  CHECK(overlaps(kAdd, {0, 32}, {16}, DML_CREATE_DEVICE_FLAG_NONE).empty());
  // Operators without in-place execution.
  CHECK(overlaps("SLICE InputTensor=f32[2,3] OutputTensor=f32[2,3] Offsets=[0,0] Sizes=[2,3] Strides=[1,1]", {0}, {0})
            .size() == 1);
}

// Bytes that the program has allocated; no value where nothing says so. Sanitizers, which have an allocator of their
// own, look for leaks by themselves.
std::optional<size_t> allocatedBytes() {
#if defined(__GLIBC__) && !defined(DIMPLE_SANITIZED)
  return mallinfo2().uordblks;
#else
  return {};
#endif
}

TEST_CASE("null: graphs that are compiled, initialized, recorded and released again and again keep no memory") {
  const auto device = createNullDevice();
  constexpr float kConstant[16] = {1, 2, 3};
  constexpr const char* kLines[] = {
      "ELEMENT_WISE_ABS InputTensor=f32[16] OutputTensor=f32[16]",
      "ELEMENT_WISE_ADD ATensor=f32[16] BTensor=f32[16] OutputTensor=f32[16]",
      "SPLIT InputTensor=f32[2,8] OutputTensors=(f32[1,8],f32[1,8]) Axis=0",
      "JOIN InputTensors=(f32[1,8],f32[1,8]) OutputTensor=f32[2,8] Axis=0",
      ("GEMM ATensor=f32[1,1,2,8] BTensor=f32[1,1,8,8]! OutputTensor=f32[1,1,2,8] TransA=NONE TransB=NONE Alpha=1 "
       "Beta=0"),
      "ELEMENT_WISE_ADD ATensor=f32[1,1,2,8] BTensor=f32[1,1,2,8]{0,0,0,1}! OutputTensor=f32[1,1,2,8]",
      "ACTIVATION_RELU InputTensor=f32[1,1,2,8] OutputTensor=f32[1,1,2,8]"};
  GraphBuilder graph;
  std::vector<ComPtr<IDMLOperator>> operators;
  for (const char* line : kLines) {
    const auto parsed = parseCase(line);
    const DML_OPERATOR_DESC desc = parsed->desc.desc();
    REQUIRE(device->CreateOperator(&desc, IID_PPV_ARGS(&operators.emplace_back())) == S_OK);
    graph.op(line, "node", operators.back().Get());
  }
  const UINT constant = graph.constant(kConstant, sizeof kConstant);
  graph.edge(constant, 0);
  graph.edge(0, 1, 0);
  graph.input(0, 1, 1);
  graph.edge(1, 2);
  graph.edge(2, 3, 0, 1);
  graph.edge(2, 3, 1, 0);
  graph.edge(3, 4);
  graph.input(1, 4, 1);
  graph.edge(4, 5);
  graph.input(2, 5, 1);
  graph.edge(5, 6);
  graph.output(6, 0);
  const DML_GRAPH_DESC desc = graph.desc();
  ComPtr<IDMLDevice1> device1;
  REQUIRE(device->QueryInterface(IID_PPV_ARGS(&device1)) == S_OK);
  ComPtr<IDMLCommandRecorder> recorder;
  REQUIRE(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder)) == S_OK);
  alignas(16) static char memory;
  auto* const resource = reinterpret_cast<ID3D12Resource*>(&memory);
  const DML_BUFFER_BINDING whole{resource, 0, 1 << 20};
  const DML_BINDING_DESC bound{DML_BINDING_TYPE_BUFFER, &whole};
  const DML_BUFFER_BINDING owned[] = {{}, whole, whole};
  const DML_BUFFER_ARRAY_BINDING array{3, owned};
  const DML_BINDING_DESC ownedDesc{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  const DML_BINDING_DESC inputs[] = {bound, {}, {}};
  const auto cycle = [&](bool half) {
    ComPtr<IDMLCompiledOperator> compiled;
    REQUIRE(device1->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)) == S_OK);
    if (half) return;
    IDMLCompiledOperator* const one[] = {compiled.Get()};
    ComPtr<IDMLOperatorInitializer> initializer;
    REQUIRE(device->CreateOperatorInitializer(1, one, IID_PPV_ARGS(&initializer)) == S_OK);
    ComPtr<IDMLBindingTable> table;
    DML_BINDING_TABLE_DESC tableDesc{initializer.Get(), {1}, {1}, 64};
    REQUIRE(device->CreateBindingTable(&tableDesc, IID_PPV_ARGS(&table)) == S_OK);
    table->BindInputs(1, &ownedDesc);
    table->BindOutputs(1, &bound);
    table->BindTemporaryResource(&bound);
    auto* const list = reinterpret_cast<ID3D12CommandList*>(&memory);
    recorder->RecordDispatch(list, initializer.Get(), table.Get());
    tableDesc.Dispatchable = compiled.Get();
    REQUIRE(table->Reset(&tableDesc) == S_OK);
    table->BindInputs(3, inputs);
    table->BindOutputs(1, &bound);
    if (dimpleGetBindingProperties(compiled.Get()).TemporaryResourceSize) table->BindTemporaryResource(&bound);
    table->BindPersistentResource(&bound);
    recorder->RecordDispatch(list, compiled.Get(), table.Get());
    REQUIRE(device->GetDeviceRemovedReason() == S_OK);
  };
  for (int i = 0; i < 100; ++i) cycle(i % 10 == 0);
  const auto before = allocatedBytes();
  const size_t cycles = before ? 10000 : 100;
  for (size_t i = 0; i < cycles; ++i) cycle(i % 10 == 0);
  // Not a byte a cycle.
  if (before) CHECK(*allocatedBytes() < *before + cycles);
}

TEST_CASE("null: data types that a device lacks are reported") {
  const Caps none;
  const auto device = createNullDevice(none);
  for (const auto type : {DML_TENSOR_DATA_TYPE_FLOAT64, DML_TENSOR_DATA_TYPE_INT64, DML_TENSOR_DATA_TYPE_UINT64,
                          DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16, DML_TENSOR_DATA_TYPE_INT8}) {
    const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query{type};
    DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT support{};
    REQUIRE(device->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof query, &query, sizeof support,
                                        &support) == S_OK);
    // Narrow types have kernels on 32-bit words.
    CHECK((support.IsSupported != FALSE) == (bitWidth(type) <= 32));
  }
}

TEST_CASE("null: every operator has a plan, and what is created is compiled") {
  const auto device = createNullDevice();
  std::vector<std::string> heard;
  hearMessages(*device.Get(), heard);
  for (const OpSchema* schema : allSchemas()) {
    const bool hasPlan = schema->plan != nullptr;
    CHECK_MESSAGE(hasPlan, std::string(schema->name));
  }
  for (const std::string& line : writtenDescriptions()) {
    CAPTURE(line);
    const auto parsed = parseCase(line);
    REQUIRE(parsed);
    const DML_OPERATOR_DESC desc = parsed->desc.desc();
    ComPtr<IDMLOperator> op;
    REQUIRE(device->CreateOperator(&desc, IID_PPV_ARGS(&op)) == S_OK);
    ComPtr<IDMLCompiledOperator> compiled;
    const HRESULT result = device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled));
    const std::string message = heard.empty() ? std::string() : heard.back();
    CHECK_MESSAGE(result == S_OK, message);
  }
}

}  // namespace
}  // namespace dimple::testing
