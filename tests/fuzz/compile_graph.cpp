// Compiles and initializes whatever graph the bytes describe, on a device that executes nothing, and checks its plan.
#include <deque>

#include "core/compile.h"
#include "core/schema/desc_text.h"
#include "tests/conformance/plan_check.h"
#include "tests/null/hostile_graph.h"
#include "tests/null/null_device.h"

using Microsoft::WRL::ComPtr;
using namespace dimple;
using namespace dimple::testing;

namespace {

struct Operators {
  Operators() {
    for (const std::string_view line : linesOfGraphs()) {
      descs.push_back(std::move(parseCase(line)->desc));
      const DML_OPERATOR_DESC desc = descs.back().desc();
      operations.push_back(std::make_shared<const Operation>(*Operation::parse(desc)));
      if (FAILED(device->CreateOperator(&desc, IID_PPV_ARGS(&handles.emplace_back())))) __builtin_trap();
      operators.push_back({handles.back().Get(), operations.back()});
    }
  }
  const ComPtr<IDMLDevice> device = createNullDevice();
  std::deque<OwnedDesc> descs;
  std::deque<std::shared_ptr<const Operation>> operations;
  std::deque<ComPtr<IDMLOperator>> handles;
  std::vector<GraphOperator> operators;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Operators all;
  const HostileGraph graph({data, size}, all.operators);
  ComPtr<IDMLDevice1> device;
  if (FAILED(all.device->QueryInterface(IID_PPV_ARGS(&device)))) __builtin_trap();
  ComPtr<IDMLCompiledOperator> compiled;
  if (FAILED(device->CompileGraph(&graph.desc(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)))) return 0;
  IDMLCompiledOperator* const operators[] = {compiled.Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  if (FAILED(device->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)))) __builtin_trap();
  const auto find = [](UINT, IDMLOperator* op) -> Result<std::shared_ptr<const Operation>> {
    for (const GraphOperator& one : all.operators)
      if (one.op == op) return one.operation;
    return invalid("Operator is none of these.");
  };
  const auto planned = compileGraph(graph.desc(), find, {});
  if (!planned || !firstUnwritten(planned->plan).empty()) __builtin_trap();
  return 0;
}
