// Compiles and initializes whatever graph the bytes describe, on a device that executes nothing, and checks its plan.
#include "core/compile.h"
#include "tests/conformance/plan_check.h"
#include "tests/null/hostile_graph.h"

using Microsoft::WRL::ComPtr;
using namespace dimple;
using namespace dimple::testing;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const GraphOperators operators;
  const HostileGraph graph({data, size}, operators.all());
  ComPtr<IDMLDevice1> device;
  if (FAILED(operators.device().QueryInterface(IID_PPV_ARGS(&device)))) __builtin_trap();
  ComPtr<IDMLCompiledOperator> compiled;
  if (FAILED(device->CompileGraph(&graph.desc(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)))) return 0;
  IDMLCompiledOperator* const all[] = {compiled.Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  if (FAILED(device->CreateOperatorInitializer(1, all, IID_PPV_ARGS(&initializer)))) __builtin_trap();
  const auto find = [](UINT, IDMLOperator* op) { return operators.find(op); };
  const auto planned = compileGraph(graph.desc(), find, {});
  if (!planned || !firstUnwritten(planned->plan, kRowPadding).empty()) __builtin_trap();
  return 0;
}
