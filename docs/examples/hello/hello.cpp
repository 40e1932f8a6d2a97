// Adds two vectors with DirectML on the first Vulkan device.
#include <dimple.h>
#include <wrl/client.h>

#include <cstdio>
#include <cstdlib>

using Microsoft::WRL::ComPtr;

static void check(HRESULT result) {
  if (FAILED(result)) std::printf("%s\n", dimpleGetLastMessage()), std::exit(1);
}

int main() {
  ComPtr<IDimpleContext> context;
  ComPtr<IDMLDevice> device;
  check(dimpleCreateContext(nullptr, IID_PPV_ARGS(&context)));
  check(context->GetDevice(IID_PPV_ARGS(&device)));

  // Y = A + B, four floats each.
  const UINT sizes[] = {4};
  const DML_BUFFER_TENSOR_DESC buffer = {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 1, sizes, nullptr, 16, 0};
  const DML_TENSOR_DESC tensor = {DML_TENSOR_TYPE_BUFFER, &buffer};
  const DML_ELEMENT_WISE_ADD_OPERATOR_DESC add = {&tensor, &tensor, &tensor};
  const DML_OPERATOR_DESC desc = {DML_OPERATOR_ELEMENT_WISE_ADD, &add};
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  check(device->CreateOperator(&desc, IID_PPV_ARGS(&op)));
  check(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));

  // Every operator is initialized once before it runs. This one keeps nothing, so no buffer is bound for that.
  IDMLCompiledOperator* const operators[] = {compiled.Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  check(device->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)));
  const UINT initCount = dimpleGetBindingProperties(initializer.Get()).RequiredDescriptorCount;
  const UINT addCount = dimpleGetBindingProperties(compiled.Get()).RequiredDescriptorCount;
  ComPtr<ID3D12DescriptorHeap> initHeap, addHeap;
  check(context->CreateDescriptorHeap(initCount + 1, &initHeap));
  check(context->CreateDescriptorHeap(addCount + 1, &addHeap));
  const DML_BINDING_TABLE_DESC tables[] = {
      {initializer.Get(), dimpleGetCPUStart(initHeap.Get()), dimpleGetGPUStart(initHeap.Get()), initCount},
      {compiled.Get(), dimpleGetCPUStart(addHeap.Get()), dimpleGetGPUStart(addHeap.Get()), addCount}};
  ComPtr<IDMLBindingTable> initTable, addTable;
  check(device->CreateBindingTable(&tables[0], IID_PPV_ARGS(&initTable)));
  check(device->CreateBindingTable(&tables[1], IID_PPV_ARGS(&addTable)));

  const float values[2][4] = {{1, 2, 3, 4}, {10, 20, 30, 40}};
  ComPtr<ID3D12Resource> resources[3];
  DML_BUFFER_BINDING buffers[3];
  DML_BINDING_DESC bindings[3];
  for (int i = 0; i < 3; ++i) {
    check(context->CreateBuffer(16, &resources[i]));
    if (i < 2) check(context->Upload(resources[i].Get(), 0, values[i], 16));
    buffers[i] = {resources[i].Get(), 0, 16};
    bindings[i] = {DML_BINDING_TYPE_BUFFER, &buffers[i]};
  }
  addTable->BindInputs(2, bindings);
  addTable->BindOutputs(1, &bindings[2]);

  ComPtr<IDMLCommandRecorder> recorder;
  ComPtr<ID3D12GraphicsCommandList> list;
  check(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder)));
  check(context->CreateCommandList(&list));
  recorder->RecordDispatch(list.Get(), initializer.Get(), initTable.Get());
  recorder->RecordDispatch(list.Get(), compiled.Get(), addTable.Get());
  check(list->Close());
  UINT64 fence = 0;
  check(context->Execute(list.Get(), &fence));
  float sum[4] = {};
  check(context->Download(resources[2].Get(), 0, sum, sizeof sum));  // after all work submitted before

  std::printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
  return sum[0] == 11 && sum[3] == 44 ? 0 : 1;
}
