// Graphs made of random bytes, on a device that executes nothing.
#include "tests/null/hostile_graph.h"

#include <doctest.h>

#include <algorithm>
#include <iterator>

#include "core/compile.h"
#include "core/graph/pass.h"
#include "core/plan/plan.h"
#include "tests/conformance/plan_check.h"
#include "tests/conformance/random.h"
#include "tests/core/matrix_caps.h"

using Microsoft::WRL::ComPtr;

namespace dimple::testing {
namespace {

constexpr size_t kAllGraphs = 6000;
// Instrumented code is ten times slower; the fuzzer gives it other graphs.
#ifdef DIMPLE_SANITIZED
constexpr size_t kGraphs = kAllGraphs / 10;
constexpr size_t kPassStep = 20;
#else
constexpr size_t kGraphs = kAllGraphs;
constexpr size_t kPassStep = 2;  // each pass alone, and each left out, of every so many-th graph
#endif

TEST_CASE("null: hostile graphs are refused with a sentence, or planned so that nothing unwritten is read") {
  const GraphOperators operators;
  IDMLDevice& device = operators.device();
  const auto find = [&](UINT, IDMLOperator* op) { return operators.find(op); };
  ComPtr<IDMLDevice1> device1;
  REQUIRE(device.QueryInterface(IID_PPV_ARGS(&device1)) == S_OK);
  std::vector<std::string> heard;
  hearMessages(device, heard);
  Random random(1);
  size_t accepted = 0;
  Caps caps = capsOfAllMatrices();  // for which layouts of FLOAT16 change, and integers are multiplied
  caps.fixesParameters = true;      // for which short chains gain
  std::vector<size_t> rewritten(allPasses().size());
  for (size_t i = 0; i < kGraphs; ++i) {
    std::vector<uint8_t> bytes(1 + random.below(200));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
    const HostileGraph graph(bytes, operators.all());
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
    const auto planWith = [&](uint32_t passes) {
      Options options;
      options.withoutPasses = ~passes;
      const auto planned = dimple::compileGraph(graph.desc(), find, {caps, options});
      REQUIRE_MESSAGE(planned, planned.error().text);
      return planned->plan;
    };
    if (i % kPassStep == 0) {
      const std::string none = planText(planWith(0));
      const std::string all = planText(planWith(~0u));
      for (size_t pass = 0; pass < rewritten.size(); ++pass) {
        const uint32_t bit = 1u << pass;
        rewritten[pass] += planText(planWith(bit)) != none || planText(planWith(~bit)) != all;
      }
    }
    const std::string unwritten = firstUnwritten(planWith(~0u), kRowPadding);
    CHECK_MESSAGE(unwritten.empty(), unwritten);
  }
  CHECK(accepted * 10 > kGraphs * 3);
  CHECK(accepted * 10 < kGraphs * 9);
  if (kGraphs < kAllGraphs) return;
  // The graphs are of use as far as every pass has something to rewrite in them, but for those that look for numbers,
  // which random bytes do not give, caches and neighbours, whose many nodes they do not connect, and prologues, whose
  // products have more columns.
  constexpr std::string_view kOthers[] = {"patterns", "integers", "caches", "neighbours", "prologues"};
  for (size_t pass = 0; pass < rewritten.size(); ++pass)
    if (const std::string_view name = allPasses()[pass].name; std::ranges::find(kOthers, name) == std::end(kOthers))
      CHECK_MESSAGE(rewritten[pass] >= 5, name);
}

}  // namespace
}  // namespace dimple::testing
