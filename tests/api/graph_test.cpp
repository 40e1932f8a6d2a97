// CompileGraph: its refusals, and graphs as their users bind and replay them.
#include <array>

#include "tests/api/fixture.h"
#include "tests/core/graph_builder.h"
#include "tests/left_out.h"

using namespace dimple::testing;

namespace {

constexpr const char* kAddOwned = "ELEMENT_WISE_ADD ATensor=f32[4] BTensor=f32[4]! OutputTensor=f32[4]";
constexpr const char* kRelu = "ACTIVATION_RELU InputTensor=f32[4] OutputTensor=f32[4]";
constexpr const char* kMultiply = "ELEMENT_WISE_MULTIPLY ATensor=f32[4] BTensor=f32[4] OutputTensor=f32[4]";
constexpr std::array<float, 4> kTen{10, 10, 10, 10};

ComPtr<IDMLDevice1> device1(const Fixture& f) {
  ComPtr<IDMLDevice1> device;
  REQUIRE(f.device->QueryInterface(IID_PPV_ARGS(&device)) == S_OK);
  return device;
}

// relu(x + w) * 10, where DML owns w (graph input 2). Input 1 and output 0 lead nowhere; output 2 is x + w.
ComPtr<IDMLCompiledOperator> compileModel(const Fixture& f, DML_EXECUTION_FLAGS flags) {
  GraphBuilder graph;
  const auto add = f.create(kAddOwned);
  const auto relu = f.create(kRelu);
  const auto multiply = f.create(kMultiply);
  graph.op(kMultiply, "times ten", multiply.Get());
  graph.op(kAddOwned, "sum", add.Get());
  graph.op(kRelu, nullptr, relu.Get());
  graph.constant(kTen.data(), sizeof kTen, "ten");
  graph.input(0, 1, 0);
  graph.input(2, 1, 1);
  graph.edge(1, 2);
  graph.edge(2, 0, 0);
  graph.edge(3, 0, 1);
  graph.output(0, 1);
  graph.output(1, 2);
  const DML_GRAPH_DESC desc = graph.desc();
  ComPtr<IDMLCompiledOperator> compiled;
  REQUIRE(device1(f)->CompileGraph(&desc, flags, IID_PPV_ARGS(&compiled)) == S_OK);
  return compiled;
}

// Initializes the model with w in a persistent resource of its own.
ComPtr<ID3D12Resource> initialize(Fixture& f, const ComPtr<IDMLCompiledOperator>& graph,
                                  const ComPtr<ID3D12DescriptorHeap>& heap, UINT descriptor) {
  const auto persistent = f.buffer(dimpleGetBindingProperties(graph.Get()).PersistentResourceSize);
  const auto initializer = f.initializer(graph.Get());
  const auto table = f.table(initializer.Get(), heap, descriptor);
  const auto weights = f.buffer({-100, 1, 2, 3});
  const DML_BUFFER_BINDING owned[] = {{nullptr, 0, 0}, {nullptr, 0, 0}, {weights.Get(), 0, 16}};
  const DML_BUFFER_ARRAY_BINDING array{3, owned};
  const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  table->BindInputs(1, &desc);
  bindOutputs(table, {persistent.Get()});
  f.run(initializer.Get(), table);
  return persistent;
}

}  // namespace

GPU_TEST_CASE("a graph recorded with only the persistent resource bound runs with what is bound later") {
  Fixture f;
  const auto graph = compileModel(f, DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
  const auto properties = dimpleGetBindingProperties(graph.Get());
  REQUIRE(properties.PersistentResourceSize >= 32);
  const auto heap = f.heap(64);
  const auto persistent = initialize(f, graph, heap, 32);
  const auto table = f.table(graph.Get(), heap);
  Bindings keep({persistent.Get()});
  table->BindPersistentResource(keep.descs());
  const auto list = f.list();
  f.recorder->RecordDispatch(list.Get(), graph.Get(), table.Get());
  REQUIRE(list->Close() == S_OK);
  for (int i = 0; i < 5; ++i) {
    const auto input = f.buffer({float(i), 2, 3, 4});
    const auto output = f.buffer(16);
    const auto sum = f.buffer(16);
    const auto temporary = f.buffer(std::max<UINT64>(4, properties.TemporaryResourceSize));
    bindInputs(table, {input.Get(), nullptr, nullptr});
    bindOutputs(table, {nullptr, output.Get(), sum.Get()});
    if (properties.TemporaryResourceSize) {
      Bindings scratch({temporary.Get()});
      table->BindTemporaryResource(scratch.descs());
    }
    f.execute(list);
    CHECK(f.read(output, 4) == std::vector<float>{0, 30, 50, 70});
    CHECK(f.read(sum, 4) == std::vector<float>{float(i) - 100, 3, 5, 7});
  }
}

GPU_TEST_CASE("graphs: inputs and outputs that lead nowhere may be bound" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  Fixture f;
  const auto graph = compileModel(f, DML_EXECUTION_FLAG_NONE);
  const auto properties = dimpleGetBindingProperties(graph.Get());
  const auto heap = f.heap(64);
  const auto persistent = initialize(f, graph, heap, 32);
  const auto table = f.table(graph.Get(), heap);
  const auto input = f.buffer({1, 2, 3, 4});
  const auto any = f.buffer(16);
  const auto output = f.buffer(16);
  const auto sum = f.buffer(16);
  bindInputs(table, {input.Get(), any.Get(), nullptr});
  bindOutputs(table, {any.Get(), output.Get(), sum.Get()});
  Bindings keep({persistent.Get()});
  table->BindPersistentResource(keep.descs());
  const auto temporary = f.buffer(std::max<UINT64>(4, properties.TemporaryResourceSize));
  Bindings scratch({temporary.Get()});
  if (properties.TemporaryResourceSize) table->BindTemporaryResource(scratch.descs());
  f.run(graph.Get(), table);
  CHECK(f.read(output, 4) == std::vector<float>{0, 30, 50, 70});
  CHECK(f.device->GetDeviceRemovedReason() == S_OK);
}

// x + abs(-w) of a constant w, which takes temporary memory to initialize.
ComPtr<IDMLCompiledOperator> compileOfConstant(const Fixture& f, const std::array<float, 4>& constant) {
  constexpr const char* kNegate = "ELEMENT_WISE_NEGATE InputTensor=f32[4] OutputTensor=f32[4]";
  constexpr const char* kAbs = "ELEMENT_WISE_ABS InputTensor=f32[4] OutputTensor=f32[4]";
  GraphBuilder graph;
  const auto negate = f.create(kNegate);
  const auto abs = f.create(kAbs);
  const auto add = f.create(kAddLine);
  graph.constant(constant.data(), sizeof constant);
  graph.op(kNegate, nullptr, negate.Get());
  graph.op(kAbs, nullptr, abs.Get());
  graph.op(std::string(kAddLine), nullptr, add.Get());
  graph.edge(0, 1);
  graph.edge(1, 2);
  graph.edge(2, 3, 1);
  graph.input(0, 3, 0);
  graph.output(3, 0);
  const DML_GRAPH_DESC desc = graph.desc();
  ComPtr<IDMLCompiledOperator> compiled;
  REQUIRE(device1(f)->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)) == S_OK);
  return compiled;
}

GPU_TEST_CASE("graphs: an initializer gives each of its graphs temporary memory of its own") {
  Fixture f;
  const ComPtr<IDMLCompiledOperator> graphs[] = {compileOfConstant(f, {1, 2, 3, 4}),
                                                 compileOfConstant(f, {-10, 20, -30, 40})};
  IDMLCompiledOperator* const both[] = {graphs[0].Get(), graphs[1].Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  REQUIRE(f.device->CreateOperatorInitializer(2, both, IID_PPV_ARGS(&initializer)) == S_OK);
  const auto properties = dimpleGetBindingProperties(initializer.Get());
  REQUIRE(properties.TemporaryResourceSize == 512);
  CHECK(properties.PersistentResourceSize == 0);
  const auto heap = f.heap(64);
  const auto table = f.table(initializer.Get(), heap);
  const auto persistent0 = f.buffer(dimpleGetBindingProperties(both[0]).PersistentResourceSize);
  const auto persistent1 = f.buffer(dimpleGetBindingProperties(both[1]).PersistentResourceSize);
  const auto temporary = f.buffer(512);
  bindOutputs(table, {persistent0.Get(), persistent1.Get()});
  Bindings scratch({temporary.Get()});
  table->BindTemporaryResource(scratch.descs());
  f.run(initializer.Get(), table);
  const auto input = f.buffer({1, 1, 1, 1});
  for (const size_t g : {0, 1}) {
    const auto output = f.buffer(16);
    const auto execution = f.table(both[g], heap, 32);
    bindInputs(execution, {input.Get()});
    bindOutputs(execution, {output.Get()});
    Bindings keep({(g ? persistent1 : persistent0).Get()});
    execution->BindPersistentResource(keep.descs());
    f.run(both[g], execution);
    CHECK(f.read(output, 4) == (g ? std::vector<float>{11, 21, 31, 41} : std::vector<float>{2, 3, 4, 5}));
  }

  const auto refusal = [&] {
    const auto messages = f.gpu->takeMessages();
    REQUIRE(messages.size() == 1);
    return messages[0];
  };
  SUBCASE("too little of it is misuse") {
    scratch.buffer(0).SizeInBytes = 511;
    table->BindTemporaryResource(scratch.descs());
    CHECK(refusal() ==
          "BindTemporaryResource: binding has SizeInBytes (511), expected at least 512 for the temporary resource.");
  }
  SUBCASE("none of it is misuse") {
    table->BindTemporaryResource(nullptr);
    const auto list = f.list();
    f.recorder->RecordDispatch(list.Get(), initializer.Get(), table.Get());
    CHECK(refusal() ==
          "RecordDispatch: the temporary resource is not bound, and the operator was compiled without "
          "DESCRIPTORS_VOLATILE.");
  }
}

GPU_TEST_CASE("graphs: CompileGraph refuses with E_INVALIDARG and a sentence") {
  Fixture f;
  Fixture other;
  const auto device = device1(f);
  const auto add = f.create(kAddLine);
  const auto foreign = other.create(kAddLine);
  const auto compile = [&](IDMLOperator* op, DML_EXECUTION_FLAGS flags, void** ppv) {
    GraphBuilder graph;
    graph.op(kAddLine, "sum", op);
    graph.input(0, 0, 0);
    graph.input(1, 0, 1);
    graph.output(0, 0);
    const DML_GRAPH_DESC desc = graph.desc();
    return device->CompileGraph(&desc, flags, __uuidof(IDMLCompiledOperator), ppv);
  };
  const auto refused = [](HRESULT result, const char* text) {
    CHECK(result == E_INVALIDARG);
    CHECK(std::string(dimpleGetLastMessage()) == text);
  };
  ComPtr<IDMLCompiledOperator> compiled;
  const auto ppv = [&] { return reinterpret_cast<void**>(compiled.ReleaseAndGetAddressOf()); };
  CHECK(compile(add.Get(), DML_EXECUTION_FLAG_NONE, ppv()) == S_OK);
  CHECK(compile(add.Get(), DML_EXECUTION_FLAG_NONE, nullptr) == S_OK);
  refused(compile(foreign.Get(), DML_EXECUTION_FLAG_NONE, ppv()), "Nodes[0]: Operator belongs to another device.");
  CHECK(!compiled);
  // A number that is no object of anyone's.
  refused(compile(reinterpret_cast<IDMLOperator*>(size_t{1}), DML_EXECUTION_FLAG_NONE, ppv()),
          "Nodes[0]: Operator is not a live Dimple operator.");
  refused(compile(add.Get(), outside<DML_EXECUTION_FLAGS>(8), ppv()),
          "flags has value (8), expected a set of DML_EXECUTION_FLAGS.");
  refused(device->CompileGraph(nullptr, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), ppv()),
          "desc is null, expected a DML_GRAPH_DESC.");
}
