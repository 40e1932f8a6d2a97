// Graphs made of random bytes, on a device that executes nothing.
#include "tests/null/hostile_graph.h"

#include <doctest.h>

#include "core/compile.h"
#include "core/graph/pass.h"
#include "core/schema/desc_text.h"
#include "tests/conformance/plan_check.h"
#include "tests/conformance/random.h"
#include "tests/null/null_device.h"

using Microsoft::WRL::ComPtr;

namespace dimple::testing {
namespace {

TEST_CASE("null: hostile graphs are refused with a sentence, or planned so that nothing unwritten is read") {
  const auto device = createNullDevice();
  std::deque<OwnedDesc> descs;
  std::deque<ComPtr<IDMLOperator>> handles;
  std::vector<GraphOperator> operators;
  for (const std::string_view line : linesOfGraphs()) {
    auto parsed = parseCase(line);
    REQUIRE_MESSAGE(parsed, parsed.error().text);
    descs.push_back(std::move(parsed->desc));
    auto view = Operation::parse(descs.back().desc());
    REQUIRE_MESSAGE(view, view.error().text);
    const DML_OPERATOR_DESC desc = descs.back().desc();
    REQUIRE(device->CreateOperator(&desc, IID_PPV_ARGS(&handles.emplace_back())) == S_OK);
    operators.push_back({handles.back().Get(), std::make_shared<const Operation>(std::move(*view))});
  }
  const auto find = [&](UINT, IDMLOperator* op) -> Result<std::shared_ptr<const Operation>> {
    for (const GraphOperator& one : operators)
      if (one.op == op) return one.operation;
    return invalid("Operator is no live operator of Dimple.");
  };
  ComPtr<IDMLDevice1> device1;
  REQUIRE(device->QueryInterface(IID_PPV_ARGS(&device1)) == S_OK);
  std::vector<std::string> heard;
  hearMessages(*device.Get(), heard);
  Random random(1);
  size_t accepted = 0;
  size_t rewrittenOnes = 0;
  for (int i = 0; i < 5000; ++i) {
    std::vector<uint8_t> bytes(1 + random.below(200));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
    const HostileGraph graph(bytes, operators);
    heard.clear();
    ComPtr<IDMLCompiledOperator> compiled;
    const HRESULT result = device1->CompileGraph(&graph.desc(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled));
    auto read = parseGraph(graph.desc(), find);
    REQUIRE((result == S_OK) == bool(read));
    if (!read) {
      CHECK(result == E_INVALIDARG);
      CHECK(heard == std::vector<std::string>{read.error().text});
      continue;
    }
    ++accepted;
    const size_t nodes = read->nodes().size();
    runPasses(*read, {});
    rewrittenOnes += read->nodes().size() != nodes;
    const auto planned = dimple::compileGraph(graph.desc(), find, {});
    REQUIRE_MESSAGE(planned, planned.error().text);
    const std::string unwritten = firstUnwritten(planned->plan);
    CHECK_MESSAGE(unwritten.empty(), unwritten);
  }
  CHECK(accepted > 1500);
  CHECK(accepted < 4500);
  CHECK(rewrittenOnes > 100);
}

}  // namespace
}  // namespace dimple::testing
