#include "tests/api/cycle.h"

#include <wrl/client.h>

#include <vector>

namespace dimple::testing {

using Microsoft::WRL::ComPtr;

HRESULT Cycle::run(UINT size, float addend) const {
  const UINT64 bytes = UINT64{size} * sizeof(float);
  const UINT64 apart = (bytes + 15) / 16 * 16;
  const DML_BUFFER_TENSOR_DESC buffer{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 1, &size, nullptr, bytes, 0};
  const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &buffer};
  const DML_ELEMENT_WISE_ADD_OPERATOR_DESC add{&tensor, &tensor, &tensor};
  const DML_OPERATOR_DESC desc{DML_OPERATOR_ELEMENT_WISE_ADD, &add};
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLBindingTable> table;
  ComPtr<IDMLCommandRecorder> recorder;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<ID3D12Resource> memory;
  HRESULT result = device.CreateOperator(&desc, IID_PPV_ARGS(&op));
  if (SUCCEEDED(result)) result = device.CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled));
  if (SUCCEEDED(result)) result = context.CreateBuffer(3 * apart, &memory);
  std::vector<float> numbers(3 * apart / sizeof(float), addend);
  for (UINT i = 0; i < size; ++i) numbers[i] = static_cast<float>(i);
  if (SUCCEEDED(result)) result = context.Upload(memory.Get(), 0, numbers.data(), 3 * apart);
  if (FAILED(result)) return result;

  auto cpu = dimpleGetCPUStart(&heap);
  auto gpu = dimpleGetGPUStart(&heap);
  cpu.ptr += SIZE_T{firstDescriptor} * context.GetDescriptorIncrement();
  gpu.ptr += UINT64{firstDescriptor} * context.GetDescriptorIncrement();
  const UINT descriptors = dimpleGetBindingProperties(compiled.Get()).RequiredDescriptorCount;
  const DML_BINDING_TABLE_DESC tableDesc{compiled.Get(), cpu, gpu, descriptors};
  result = device.CreateBindingTable(&tableDesc, IID_PPV_ARGS(&table));
  if (SUCCEEDED(result)) result = device.CreateCommandRecorder(IID_PPV_ARGS(&recorder));
  if (SUCCEEDED(result)) result = context.CreateCommandList(&list);
  if (FAILED(result)) return result;
  const DML_BUFFER_BINDING ranges[] = {
      {memory.Get(), 0, bytes}, {memory.Get(), apart, bytes}, {memory.Get(), 2 * apart, bytes}};
  DML_BINDING_DESC bindings[3];
  for (size_t i = 0; i < 3; ++i) bindings[i] = {DML_BINDING_TYPE_BUFFER, &ranges[i]};
  table->BindInputs(2, bindings);
  table->BindOutputs(1, bindings + 2);
  ID3D12DescriptorHeap* const heaps[] = {&heap};
  list->SetDescriptorHeaps(1, heaps);
  recorder->RecordDispatch(list.Get(), compiled.Get(), table.Get());
  result = list->Close();
  UINT64 fence = 0;
  if (SUCCEEDED(result)) result = context.Execute(list.Get(), &fence);
  if (SUCCEEDED(result)) result = context.Wait(fence);
  if (SUCCEEDED(result)) result = context.Download(memory.Get(), 2 * apart, numbers.data(), bytes);
  if (FAILED(result)) return result;
  for (UINT i = 0; i < size; ++i)
    if (numbers[i] != static_cast<float>(i) + addend) return E_UNEXPECTED;
  return S_OK;
}

}  // namespace dimple::testing
