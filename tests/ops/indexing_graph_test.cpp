// GATHER and its relatives in graphs that know their indices.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema/desc_text.h"
#include "core/text.h"
#include "tests/conformance/graphs/graph_of_lines.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/conformance/options_text.h"
#include "tests/gpu_test.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

// Cases whose data and updates are FLOAT32.
constexpr std::string_view kLines[] = {
    "GATHER InputTensor=f32[6,10] IndicesTensor=u32[1,4] OutputTensor=f32[4,10] Axis=0 IndexDimensions=1 "
    "input1=[5,0,0,3]",
    "GATHER InputTensor=f32[6,10] IndicesTensor=i64[1,1] OutputTensor=f32[1,10] Axis=0 IndexDimensions=0 input1=[-2]",
    "GATHER InputTensor=f32[3,4,5] IndicesTensor=i32[1,1,1] OutputTensor=f32[3,1,5] Axis=1 IndexDimensions=1 "
    "input1=[3]",
    // One index that stands for all.
    "GATHER InputTensor=f32[6,10] IndicesTensor=i32[1,7]{0,0} OutputTensor=f32[6,7] Axis=1 IndexDimensions=1 "
    "input1=[-1]",
    // Some that are beyond the axis.
    "GATHER InputTensor=f32[6,10] IndicesTensor=i32[1,4] OutputTensor=f32[4,10] Axis=0 IndexDimensions=1 "
    "input1=[6,-7,2147483647,1]",
    "GATHER_ELEMENTS InputTensor=f32[6,10] IndicesTensor=i32[6,3] OutputTensor=f32[6,3] Axis=1 "
    "input1=[9,-1,0,3,3,3,-10]",
    "GATHER_ELEMENTS InputTensor=f32[6,10] IndicesTensor=u64[4,10]{20,2} OutputTensor=f32[4,10] Axis=0 "
    "input1=[5,0,2]",
    "GATHER_ND InputTensor=f32[6,10] IndicesTensor=u32[3,2] OutputTensor=f32[1,3] InputDimensionCount=2 "
    "IndicesDimensionCount=2 input1=[5,9,0,0,2,7]",
    "GATHER_ND1 InputTensor=f32[2,6,5] IndicesTensor=i32[2,3,1] OutputTensor=f32[2,3,5] InputDimensionCount=3 "
    "IndicesDimensionCount=3 BatchDimensionCount=1 input1=[5,-6,0,1,1,-1]",
    "SCATTER_ELEMENTS InputTensor=f32[6,10] IndicesTensor=i32[6,3] UpdatesTensor=f32[6,3] OutputTensor=f32[6,10] "
    "Axis=1 input1=[9,-2,0]",
    "SCATTER_ND InputTensor=f32[6,10] IndicesTensor=u32[3,1] UpdatesTensor=f32[3,10] OutputTensor=f32[6,10] "
    "InputDimensionCount=2 IndicesDimensionCount=2 input1=[5,0,2]",
    "ONE_HOT IndicesTensor=i32[6,1] ValuesTensor=f32[2] OutputTensor=f32[6,8] Axis=1 input0=[0,7,-1,8,3,3]",
};

enum class Known {
  Constant,  // indices are a constant
  Computed,  // a sum of constants
  Owned,     // an input that DML owns
  All        // and the data are constants, too
};

struct Indexed {
  GraphOfLines graph;
  size_t executing = 2;  // operators that do, when passes are done
  size_t once = 0;       // that execute at initialization
};

std::string unary(const DML_BUFFER_TENSOR_DESC& tensor, std::string_view name) {
  const std::string text = formatTensor(tensor);
  return cat("ELEMENT_WISE_", name, " InputTensor=", text, " OutputTensor=", text);
}

// Data are made in the graph, and what is gathered is read by another node.
Indexed indexed(std::string line, Known known) {
  const size_t at = line.find("IndicesTensor=");
  if (known == Known::Owned) line.insert(line.find(' ', at), "!");
  const auto test = parseTestCase(line);
  REQUIRE_MESSAGE(test, test.error().text);
  Indexed made;
  std::vector<GraphSource> inputs;
  const size_t indices = line.starts_with("ONE_HOT") ? 0 : 1;
  for (size_t i = 0; i < test->inputs.size(); ++i) {
    const std::string tensor = formatTensor(*test->inputs[i]);
    auto bytes = fillBytes(*test, i);
    if (i != indices) {
      const GraphSource data =
          known == Known::All ? made.graph.constant(std::move(bytes)) : made.graph.input(std::move(bytes));
      inputs.push_back(made.graph.node(unary(*test->inputs[i], "NEGATE"), {data}));
      ++(known == Known::All ? made.once : made.executing);
    } else if (known == Known::Owned) {
      inputs.push_back(made.graph.input(std::move(bytes), true));
    } else if (known == Known::Computed) {
      const std::vector<std::byte> zeros(bytes.size());
      inputs.push_back(
          made.graph.node(cat("ELEMENT_WISE_ADD ATensor=", tensor, " BTensor=", tensor, " OutputTensor=", tensor),
                          {made.graph.constant(std::move(bytes)), made.graph.constant(zeros)}));
      ++made.once;
    } else {
      inputs.push_back(made.graph.constant(std::move(bytes)));
    }
  }
  const GraphSource gathered = made.graph.node(line, std::move(inputs));
  made.graph.output(made.graph.node(unary(*test->outputs[0], "ABS"), {gathered}));
  if (known == Known::All) {
    made.executing = 0;
    made.once += 2;
  }
  return made;
}

GPU_TEST_CASE("graphs: gathers whose indices are known answer what they answer alone" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  StepMemory memory;
  for (const std::string_view line : kLines)
    for (const Known known : {Known::Constant, Known::Computed, Known::Owned, Known::All}) {
      // What is computed writes each element once.
      if (known == Known::Computed && line.find("{0,0}") != line.npos) continue;
      const Indexed made = indexed(std::string(line), known);
      const auto planned = planTestGraph(made.graph.graph(), {Caps{}, optionsWithout("chains")});
      REQUIRE_MESSAGE(planned, planned.error().text);
      const auto count = [&](bool once) {
        return static_cast<size_t>(std::ranges::count_if(planned->rewritten.nodes(), [&](const Node& node) {
          return node.op && node.runsAtInitialization == once;
        }));
      };
      CHECK_MESSAGE(count(false) == made.executing, line);
      CHECK_MESSAGE(count(true) == made.once, line);
      const std::string failure = compareWithNodes(gpu, memory, made.graph.graph(), compareElements);
      CHECK_MESSAGE(failure.empty(), failure);
    }
}

}  // namespace
}  // namespace dimple::testing
