// Binding tables and recording: bindings are read at execution, ranges of heaps are reused, misuse removes the device.
#include <cstring>
#include <functional>

#include "tests/api/fixture.h"
#include "tests/left_out.h"

using namespace dimple::testing;

namespace {

const std::vector<float> kA{1, 2, 3, 4};
const std::vector<float> kB{10, 20, 30, 40};
const std::vector<float> kSum{11, 22, 33, 44};

}  // namespace

GPU_TEST_CASE("work recorded with only the persistent resource bound runs with what is bound later, many times") {
  Fixture f;
  const auto op = f.compile("ELEMENT_WISE_ADD ATensor=f32[4] BTensor=f32[4]! OutputTensor=f32[4]",
                            DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
  const auto properties = dimpleGetBindingProperties(op.Get());
  REQUIRE(properties.PersistentResourceSize >= 16);
  const auto persistent = f.buffer(properties.PersistentResourceSize);
  const auto initializer = f.initializer(op.Get());
  const auto heap = f.heap(16);
  {
    const auto table = f.table(initializer.Get(), heap, 8);
    const auto weights = f.buffer(kB);
    const DML_BUFFER_BINDING owned[] = {{nullptr, 0, 0}, {weights.Get(), 0, 16}};
    const DML_BUFFER_ARRAY_BINDING array{2, owned};
    const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
    table->BindInputs(1, &desc);
    bindOutputs(table, {persistent.Get()});
    f.run(initializer.Get(), table);
  }

  const auto table = f.table(op.Get(), heap);
  Bindings keep({persistent.Get()});
  table->BindPersistentResource(keep.descs());
  const auto list = f.list();
  f.recorder->RecordDispatch(list.Get(), op.Get(), table.Get());
  REQUIRE(list->Close() == S_OK);
  for (int i = 0; i < 3; ++i) {
    const auto input = f.buffer({float(i), 2, 3, 4});
    const auto output = f.buffer(16);
    bindInputs(table, {input.Get(), nullptr});
    bindOutputs(table, {output.Get()});
    f.execute(list);
    CHECK(f.read(output, 4) == std::vector<float>{10.0f + float(i), 22, 33, 44});
  }
  // Through a new table over the same range, too.
  const auto second = f.table(op.Get(), heap);
  const auto input = f.buffer(kA);
  const auto output = f.buffer(16);
  bindInputs(second, {input.Get(), nullptr});
  bindOutputs(second, {output.Get()});
  second->BindPersistentResource(keep.descs());
  f.execute(list);
  CHECK(f.read(output, 4) == kSum);
  CHECK(f.device->GetDeviceRemovedReason() == S_OK);
}

GPU_TEST_CASE("a binding table may be released or reset right after recording") {
  Fixture f;
  const auto op = f.compile(kAddLine);
  const auto heap = f.heap(6);
  const auto a = f.buffer(kA);
  const auto b = f.buffer(kB);
  const auto first = f.buffer(16);
  const auto second = f.buffer(16);
  const auto list = f.list();
  {
    auto table = f.table(op.Get(), heap);
    bindInputs(table, {a.Get(), b.Get()});
    bindOutputs(table, {first.Get()});
    f.recorder->RecordDispatch(list.Get(), op.Get(), table.Get());
    const auto desc = f.tableDesc(op.Get(), heap, 3, 3);
    REQUIRE(table->Reset(&desc) == S_OK);
    bindInputs(table, {b.Get(), b.Get()});
    bindOutputs(table, {second.Get()});
    f.recorder->RecordDispatch(list.Get(), op.Get(), table.Get());
  }
  REQUIRE(list->Close() == S_OK);
  f.execute(list);
  CHECK(f.read(first, 4) == kSum);
  CHECK(f.read(second, 4) == std::vector<float>{20, 40, 60, 80});
}

GPU_TEST_CASE("a range of a heap serves other operators once the work is done") {
  Fixture f;
  const auto heap = f.heap(3);
  const auto a = f.buffer(kA);
  const auto b = f.buffer(kB);
  for (int i = 0; i < 3; ++i) {
    const auto add = f.compile(kAddLine);
    const auto sum = f.buffer(16);
    auto table = f.table(add.Get(), heap);
    bindInputs(table, {a.Get(), b.Get()});
    bindOutputs(table, {sum.Get()});
    f.run(add.Get(), table);
    CHECK(f.read(sum, 4) == kSum);
    const auto negate = f.compile("ELEMENT_WISE_NEGATE InputTensor=f32[4] OutputTensor=f32[4]");
    const auto negated = f.buffer(16);
    table = f.table(negate.Get(), heap, 1);
    bindInputs(table, {sum.Get()});
    bindOutputs(table, {negated.Get()});
    f.run(negate.Get(), table);
    CHECK(f.read(negated, 4) == std::vector<float>{-11, -22, -33, -44});
  }
}

TEST_CASE("a device without update-after-bind refuses volatile descriptors and works without") {
  Fixture f("update-after-bind=0");
  ComPtr<IDMLCompiledOperator> compiled;
  CHECK(f.device->CompileOperator(f.create(kAddLine).Get(), DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE,
                                  IID_PPV_ARGS(&compiled)) == DXGI_ERROR_UNSUPPORTED);
  CHECK(std::string(dimpleGetLastMessage()).find("descriptorBindingStorageBufferUpdateAfterBind") != std::string::npos);
  const auto op = f.compile(kAddLine);
  const auto heap = f.heap(3);
  const auto a = f.buffer(kA);
  const auto b = f.buffer(kB);
  for (int i = 0; i < 2; ++i) {
    const auto sum = f.buffer(16);
    const auto table = f.table(op.Get(), heap);
    bindInputs(table, {a.Get(), b.Get()});
    bindOutputs(table, {sum.Get()});
    f.run(op.Get(), table);
    CHECK(f.read(sum, 4) == kSum);
  }
}

TEST_CASE("operators run with robust buffer access") {
  Fixture f("", DIMPLE_CONTEXT_FLAG_ROBUST_BUFFER_ACCESS);
  const auto op = f.compile(kAddLine);
  const auto heap = f.heap(3);
  const auto table = f.table(op.Get(), heap);
  const auto a = f.buffer(kA);
  const auto b = f.buffer(kB);
  const auto sum = f.buffer(16);
  bindInputs(table, {a.Get(), b.Get()});
  bindOutputs(table, {sum.Get()});
  f.run(op.Get(), table);
  CHECK(f.read(sum, 4) == kSum);
}

GPU_TEST_CASE("in-place operators may write over an input of the same layout") {
  Fixture f;
  const auto op = f.compile(kAddLine);
  const auto a = f.buffer(kA);
  const auto b = f.buffer(kB);
  const auto heap = f.heap(3);
  const auto table = f.table(op.Get(), heap);
  bindInputs(table, {a.Get(), b.Get()});
  bindOutputs(table, {a.Get()});
  f.run(op.Get(), table);
  CHECK(f.read(a, 4) == kSum);
}

GPU_TEST_CASE("binding through a table whose heap is gone touches no freed memory") {
  const CheapHeaps cheapHeaps;
  Fixture f;
  const auto op = f.compile(kAddLine);
  const auto table = f.table(op.Get(), f.heap(3));
  const auto a = f.buffer(kA);
  bindInputs(table, {a.Get(), a.Get()});
}

GPU_TEST_CASE("binding tables are checked when they are made") {
  const CheapHeaps cheapHeaps;
  Fixture f;
  const auto op = f.compile(kAddLine);
  const auto heap = f.heap(4);
  ComPtr<IDMLBindingTable> table;
  const auto make = [&](const DML_BINDING_TABLE_DESC& desc) {
    return f.device->CreateBindingTable(&desc, IID_PPV_ARGS(&table));
  };
  CHECK(make(f.tableDesc(op.Get(), heap, 0, 2)) == E_INVALIDARG);
  CHECK(std::string(dimpleGetLastMessage()) ==
        "SizeInDescriptors has value (2), expected at least 3 (RequiredDescriptorCount).");
  // Direct3D 12 does not tell which heap a handle is of, nor how large that is.
  if (currentBackend() == DIMPLE_BACKEND_VULKAN) {
    CHECK(make(f.tableDesc(op.Get(), heap, 2, 3)) == E_INVALIDARG);
    CHECK(make(f.tableDesc(op.Get(), heap, 4, 3)) == E_INVALIDARG);
    auto apart = f.tableDesc(op.Get(), heap, 0, 3);
    apart.GPUDescriptorHandle.ptr += f.context->GetDescriptorIncrement();
    CHECK(make(apart) == E_INVALIDARG);
    auto between = f.tableDesc(op.Get(), heap, 0, 3);
    between.CPUDescriptorHandle.ptr += 1;
    between.GPUDescriptorHandle.ptr += 1;
    CHECK(make(between) == E_INVALIDARG);
  }
  CHECK(make(f.tableDesc(nullptr, heap, 0, 3)) == E_INVALIDARG);
  auto desc = f.tableDesc(op.Get(), heap, 0, 3);
  desc.CPUDescriptorHandle.ptr = 0;
  CHECK(make(desc) == E_INVALIDARG);
  desc = f.tableDesc(op.Get(), heap, 0, 3);
  desc.GPUDescriptorHandle.ptr = 0;
  CHECK(make(desc) == E_INVALIDARG);
  CHECK(make(f.tableDesc(op.Get(), heap, 1, 3)) == S_OK);
  CHECK(table->Reset(nullptr) == S_OK);
  CHECK(f.device->CreateBindingTable(nullptr, IID_PPV_ARGS(&table)) == S_OK);
  // An initializer with nothing to do needs no descriptors and no handles.
  const auto initializer = f.initializer(op.Get());
  CHECK(make({initializer.Get(), {0}, {0}, 0}) == S_OK);
  CHECK(f.device->GetDeviceRemovedReason() == S_OK);
}

// Each of these removes the device. What removes, and what does not, is as in Microsoft's DirectML 1.15.4, except that
// null arguments which crash there remove the device here.
GPU_TEST_CASE("misuse of methods that return nothing removes the device" *
              leftOut(Run::QuickD3d12, "each of its dozens of devices compiles its kernel anew")) {
  struct Misuse {
    const char* name;
    std::function<void(Fixture&, const ComPtr<IDMLCompiledOperator>&, const ComPtr<IDMLBindingTable>&)> act;
    bool wrappersOnly = false;  // what only objects of our own can tell
  };
  alignas(16) static char junk[64] = {};
  const auto bindOne = [](const auto& change) {
    return [change](Fixture& f, const auto&, const auto& table) {
      const auto a = f.buffer(64);
      Bindings bindings({a.Get(), a.Get()});
      change(bindings);
      table->BindInputs(bindings.count(), bindings.descs());
    };
  };
  const std::vector<Misuse> all{
      {"offset 4", bindOne([](Bindings& b) { b.buffer(0).Offset = 4; })},
      {"too small", bindOne([](Bindings& b) { b.buffer(0).SizeInBytes = 12; })},
      {"outside the buffer", bindOne([](Bindings& b) { b.buffer(1).Offset = 16; })},
      {"offset near 2^64", bindOne([](Bindings& b) { b.buffer(1).Offset = ~UINT64{15}; })},
      {"NONE for a required input", bindOne([](Bindings& b) { b.descs()[0].Type = DML_BINDING_TYPE_NONE; })},
      {"a null resource", bindOne([](Bindings& b) { b.buffer(0).Buffer = nullptr; })},
      {"a null Desc", bindOne([](Bindings& b) { b.descs()[1].Desc = nullptr; })},
      {"a BUFFER_ARRAY at execution", bindOne([](Bindings& b) { b.descs()[0].Type = DML_BINDING_TYPE_BUFFER_ARRAY; })},
      {"a pointer that is no buffer",
       bindOne([](Bindings& b) { b.buffer(0).Buffer = reinterpret_cast<ID3D12Resource*>(junk); }), true},
      {"one input of two", [](Fixture& f, const auto&, const auto& table) { bindInputs(table, {f.buffer(16).Get()}); }},
      {"two outputs of one",
       [](Fixture& f, const auto&, const auto& table) {
         const auto a = f.buffer(16);
         bindOutputs(table, {a.Get(), a.Get()});
       }},
      {"inputs without an array", [](Fixture&, const auto&, const auto& table) { table->BindInputs(2, nullptr); }},
      {"a temporary resource where none is needed",
       [](Fixture& f, const auto&, const auto& table) {
         const auto a = f.buffer(256);
         Bindings b({a.Get()});
         table->BindTemporaryResource(b.descs());
       }},
      {"nothing bound", [](Fixture& f, const auto& op,
                           const auto& table) { f.recorder->RecordDispatch(f.list().Get(), op.Get(), table.Get()); }},
      {"inputs unbound again",
       [](Fixture& f, const auto& op, const auto& table) {
         const auto a = f.buffer(16);
         bindInputs(table, {a.Get(), a.Get()});
         bindOutputs(table, {a.Get()});
         table->BindInputs(0, nullptr);
         f.recorder->RecordDispatch(f.list().Get(), op.Get(), table.Get());
       }},
      {"a null command list", [](Fixture& f, const auto& op,
                                 const auto& table) { f.recorder->RecordDispatch(nullptr, op.Get(), table.Get()); }},
      {"a foreign command list",
       [](Fixture& f, const auto& op, const auto& table) {
         f.recorder->RecordDispatch(reinterpret_cast<ID3D12CommandList*>(junk), op.Get(), table.Get());
       },
       true},
      {"a closed command list",
       [](Fixture& f, const auto& op, const auto& table) {
         const auto list = f.list();
         REQUIRE(list->Close() == S_OK);
         f.recorder->RecordDispatch(list.Get(), op.Get(), table.Get());
       },
       true},
      {"a null dispatchable",
       [](Fixture& f, const auto&, const auto& table) {
         f.recorder->RecordDispatch(f.list().Get(), nullptr, table.Get());
       }},
      {"a null binding table",
       [](Fixture& f, const auto& op, const auto&) { f.recorder->RecordDispatch(f.list().Get(), op.Get(), nullptr); }},
      {"another dispatchable than the table's",
       [](Fixture& f, const auto&, const auto& table) {
         f.recorder->RecordDispatch(f.list().Get(), f.compile(kAddLine).Get(), table.Get());
       }},
      {"an empty table",
       [](Fixture&, const auto&, const auto& table) {
         REQUIRE(table->Reset(nullptr) == S_OK);
         table->BindInputs(0, nullptr);
       }},
  };
  const CheapHeaps cheapHeaps;
  for (const auto& misuse : all) {
    if (misuse.wrappersOnly && currentBackend() != DIMPLE_BACKEND_VULKAN) continue;
    CAPTURE(misuse.name);
    Fixture f;
    const auto op = f.compile(kAddLine);
    const auto heap = f.heap(3);
    const auto table = f.table(op.Get(), heap);
    const auto initializer = f.initializer(op.Get());
    misuse.act(f, op, table);
    CHECK(f.device->GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_REMOVED);
    const auto messages = f.gpu->takeMessages();
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].ends_with('.'));

    // From now on nothing happens and every HRESULT says why, but for what needs nothing of the device.
    CHECK(initializer->Reset(0, nullptr) == S_OK);
    f.recorder->RecordDispatch(nullptr, nullptr, nullptr);
    table->BindInputs(7, nullptr);
    CHECK(table->Reset(nullptr) == DXGI_ERROR_DEVICE_REMOVED);
    CHECK(f.device->CreateOperator(nullptr, __uuidof(IDMLOperator), nullptr) == DXGI_ERROR_DEVICE_REMOVED);
    CHECK(f.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, 0, nullptr, 0, nullptr) ==
          DXGI_ERROR_DEVICE_REMOVED);
    CHECK(dimpleGetBindingProperties(op.Get()).RequiredDescriptorCount == 3);
    CHECK(f.gpu->takeMessages().empty());
  }
}

GPU_TEST_CASE("what DirectML lets pass does not remove the device") {
  const CheapHeaps cheapHeaps;
  Fixture f;
  const auto op = f.compile(kAddLine);
  const auto heap = f.heap(8);
  const auto table = f.table(op.Get(), heap);
  const auto large = f.buffer(64);
  table->BindInputs(0, nullptr);
  table->BindTemporaryResource(nullptr);
  const DML_BINDING_DESC none{DML_BINDING_TYPE_NONE, nullptr};
  table->BindTemporaryResource(&none);
  table->BindPersistentResource(&none);
  bindOutputs(table, {large.Get()});
  Bindings odd({large.Get(), large.Get()});
  odd.buffer(0).SizeInBytes = 25;
  table->BindInputs(2, odd.descs());
  const auto initializer = f.initializer(op.Get());
  const auto initTable = f.table(initializer.Get(), heap, 3);
  const auto list = f.list();
  f.recorder->RecordDispatch(list.Get(), initializer.Get(), initTable.Get());
  initTable->BindInputs(1, &none);
  initTable->BindOutputs(1, &none);
  const DML_BUFFER_BINDING absent[] = {{nullptr, 0, 0}, {nullptr, 0, 0}};
  const DML_BUFFER_ARRAY_BINDING array{2, absent};
  const DML_BINDING_DESC arrayDesc{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  initTable->BindInputs(1, &arrayDesc);
  f.recorder->RecordDispatch(list.Get(), initializer.Get(), initTable.Get());
  f.recorder->RecordDispatch(list.Get(), op.Get(), table.Get());
  CHECK(f.device->GetDeviceRemovedReason() == S_OK);
  REQUIRE(list->Close() == S_OK);
}

GPU_TEST_CASE("initializers check what they are given") {
  const CheapHeaps cheapHeaps;
  const auto provoke = [](const auto& bind) {
    Fixture f;
    const auto op = f.compile("ELEMENT_WISE_ADD ATensor=f32[4]! BTensor=f32[4] OutputTensor=f32[4]");
    const auto initializer = f.initializer(op.Get());
    const auto heap = f.heap(8);
    const auto table = f.table(initializer.Get(), heap);
    bind(f, table);
    const auto messages = f.gpu->takeMessages();
    CHECK(f.device->GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_REMOVED);
    return messages.empty() ? std::string() : messages[0];
  };
  CHECK(provoke([](Fixture& f, const auto& table) {
          const auto a = f.buffer(16);
          const DML_BUFFER_BINDING one[] = {{a.Get(), 0, 16}};
          const DML_BUFFER_ARRAY_BINDING array{1, one};
          const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
          table->BindInputs(1, &desc);
        }).find("BindingCount (1), expected 2") != std::string::npos);
  CHECK(provoke([](Fixture& f, const auto& table) {
          const auto a = f.buffer(16);
          const DML_BUFFER_BINDING both[] = {{a.Get(), 0, 16}, {a.Get(), 0, 16}};
          const DML_BUFFER_ARRAY_BINDING array{2, both};
          const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
          table->BindInputs(1, &desc);
        }).find("expected none for BTensor") != std::string::npos);
  CHECK(provoke([](Fixture& f, const auto& table) {
          const auto a = f.buffer(512);
          Bindings b({a.Get()});
          b.buffer(0).Offset = 16;
          b.buffer(0).SizeInBytes = 256;
          table->BindOutputs(1, b.descs());
        }).find("expected a multiple of 256") != std::string::npos);
}

TEST_CASE("an operator without inputs is initialized with an empty array") {
  Fixture f;
  const auto op = f.compile("FILL_VALUE_CONSTANT OutputTensor=f32[4] ValueDataType=FLOAT32 Value=3");
  const auto initializer = f.initializer(op.Get());
  const auto heap = f.heap(1);
  const auto table = f.table(initializer.Get(), heap);
  const DML_BUFFER_ARRAY_BINDING array{0, nullptr};
  const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  table->BindInputs(1, &desc);
  CHECK(f.device->GetDeviceRemovedReason() == S_OK);
}

TEST_CASE("a lost queue removes the device and says so") {
  Fixture f;
  CHECK(dimpleNotifyDeviceLost(f.device, -4) == S_OK);
  CHECK(f.device->GetDeviceRemovedReason() == DXGI_ERROR_DEVICE_HUNG);
  CHECK(f.device->CreateOperator(nullptr, __uuidof(IDMLOperator), nullptr) == DXGI_ERROR_DEVICE_REMOVED);
  CHECK(f.gpu->takeMessages().size() == 1);
}
