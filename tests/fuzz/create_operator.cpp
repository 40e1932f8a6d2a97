// Creates, compiles and initializes whatever operator the bytes describe, on a device that executes nothing.
#include "tests/null/hostile.h"
#include "tests/null/null_device.h"

using Microsoft::WRL::ComPtr;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ComPtr<IDMLDevice> device = dimple::testing::createNullDevice();
  const auto owned = dimple::testing::hostileDescription({data, size});
  const DML_OPERATOR_DESC desc = owned.desc();
  ComPtr<IDMLOperator> op;
  if (FAILED(device->CreateOperator(&desc, IID_PPV_ARGS(&op)))) return 0;
  ComPtr<IDMLCompiledOperator> compiled;
  if (FAILED(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)))) return 0;
  IDMLCompiledOperator* const operators[] = {compiled.Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  if (FAILED(device->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)))) __builtin_trap();
  return 0;
}
