// What becomes an epilogue of the operator before it.
#include <doctest.h>

#include <algorithm>

#include "core/text.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

// Of 8 channels and 6 x 6 places.
std::string sixBySix(std::string_view more = "") {
  return cat(
      "CONVOLUTION InputTensor=f16[1,4,6,6] FilterTensor=f16[8,4,3,3]! OutputTensor=f16[1,8,6,6] Strides=[1,1] "
      "Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1 ",
      more);
}
constexpr const char* kNormalized =
    "BATCH_NORMALIZATION InputTensor=f16[1,8,6,6] MeanTensor=f16[1,8,1,1]! VarianceTensor=f16[1,8,1,1]! "
    "ScaleTensor=f16[1,8,1,1]! BiasTensor=f16[1,8,1,1]! OutputTensor=f16[1,8,6,6] Spatial=1 Epsilon=0.25";
constexpr const char* kMultiplied =
    "ELEMENT_WISE_MULTIPLY ATensor=f16[1,8,6,6] BTensor=f16[1,8,6,6]{0,1,0,0}! OutputTensor=f16[1,8,6,6]";
constexpr const char* kShifted =
    "ELEMENT_WISE_ADD ATensor=f16[1,8,6,6] BTensor=f16[1,8,6,6]{0,1,0,0}! OutputTensor=f16[1,8,6,6]";
constexpr const char* kSummed = "ELEMENT_WISE_ADD ATensor=f16[1,8,6,6] BTensor=f16[1,8,6,6] OutputTensor=f16[1,8,6,6]";
constexpr const char* kRelu = "ACTIVATION_RELU InputTensor=f16[1,8,6,6] OutputTensor=f16[1,8,6,6]";

// Each but the first takes what the one before it makes as its input 0; other inputs are the graph's.
GraphBuilder following(const std::vector<std::string>& lines) {
  GraphBuilder graph;
  UINT next = 0;
  for (UINT n = 0; n < lines.size(); ++n) {
    graph.op(lines[n], n ? "follower" : "first");
    const auto parsed = parseCase(lines[n]);
    const auto view = Operation::parse(parsed->desc.desc());
    for (UINT i = 0; i < view->inputs().size(); ++i) {
      if (n && i == 0)
        graph.edge(n - 1, n, i);
      else if (view->input(i).present())
        graph.input(next++, n, i);
    }
  }
  graph.output(static_cast<UINT>(lines.size() - 1), 0);
  return graph;
}

// The only operator that executes; none if there are several.
std::shared_ptr<const Operation> only(const GraphBuilder& graph, std::string_view without = "") {
  graph.rewrittenPlan(without);
  const Graph rewritten = graph.rewritten({Caps{}, optionsWithout(cat("chains,", without))});
  std::shared_ptr<const Operation> found;
  for (const Node& node : rewritten.nodes()) {
    if (!node.op || node.runsAtInitialization) continue;
    if (found) return nullptr;
    found = node.op;
  }
  return found;
}

uint32_t stepsOf(const std::vector<std::string>& lines) {
  const auto op = only(following(lines));
  return op ? op->epilogue().steps : 0;
}

// Of FLOAT16, whose factor is divided by the deviation at initialization.
constexpr uint32_t kNormalizes = kEpilogueMean | kEpilogueFactor | kEpilogueShift;

TEST_CASE("epilogues: a normalization, a sum and an activation follow a convolution") {
  const auto graph = following({sixBySix(), kNormalized, kSummed, kRelu});
  const auto op = only(graph);
  REQUIRE(op);
  CHECK(op->epilogue().steps == (kNormalizes | kEpilogueAddend));
  CHECK(op->epilogue().epsilon == 0.25f);
  CHECK(op->activation().type == DML_OPERATOR_ACTIVATION_RELU);
  CHECK(op->inputName(op->epilogue().channels) == "channels");
  CHECK(op->input(op->epilogue().channels).type == DML_TENSOR_DATA_TYPE_FLOAT32);
  CHECK(op->inputName(op->epilogue().addend) == "addend");
  CHECK(!only(graph, "epilogues"));
  CHECK(!only(graph, "constants"));
  const Plan plan = graph.rewrittenPlan().plan;
  REQUIRE(plan.execution.size() == 1);
  CHECK(plan.execution[0].label ==
        "first (CONVOLUTION) with follower (BATCH_NORMALIZATION) with follower (ELEMENT_WISE_ADD) with follower "
        "(ACTIVATION_RELU)");
  // Filter, and parameters of 8 channels.
  CHECK(plan.persistentBytes == 768 + 256);
}

TEST_CASE("epilogues: factors and shifts of each channel, and the activation of what follows") {
  CHECK(stepsOf({sixBySix(), kMultiplied}) == kEpilogueFactor);
  CHECK(stepsOf({sixBySix("BiasTensor=f16[1,8,1,1]"), kShifted}) == kEpilogueShift);
  CHECK(stepsOf({sixBySix(), kMultiplied, kShifted, kSummed}) ==
        (kEpilogueFactor | kEpilogueFactorRounded | kEpilogueShift | kEpilogueAddend));
  CHECK(stepsOf({sixBySix(), kNormalized, kMultiplied, kSummed}) ==
        (kNormalizes | kEpilogueLastFactor | kEpilogueAddend));
  CHECK(stepsOf({sixBySix("BiasTensor=f16[1,8,1,1]"), kShifted, kMultiplied}) ==
        (kEpilogueShift | kEpilogueLastFactor));
  const auto op = only(following({sixBySix(), cat(kNormalized, " FusedActivation=TANH")}));
  REQUIRE(op);
  CHECK(op->activation().type == DML_OPERATOR_ACTIVATION_TANH);
}

TEST_CASE("epilogues: a product takes what belongs to its columns, seen with other sizes") {
  CHECK(stepsOf({"GEMM ATensor=f16[1,1,36,16] BTensor=f16[1,1,16,8]! OutputTensor=f16[1,1,36,8] TransA=NONE "
                 "TransB=NONE Alpha=2 Beta=0",
                 "ELEMENT_WISE_MULTIPLY ATensor=f16[36,8] BTensor=f16[36,8]{0,1}! OutputTensor=f16[36,8]",
                 "ELEMENT_WISE_ADD ATensor=f16[2,18,8] BTensor=f16[2,18,8] OutputTensor=f16[2,18,8]"}) ==
        (kEpilogueFactor | kEpilogueAddend));
}

TEST_CASE("epilogues: scores are divided, and a mask at any strides is added as C") {
  constexpr const char* kScores =
      "GEMM ATensor=f16[2,4,16,8] BTensor=f16[2,4,8,16] OutputTensor=f16[2,4,16,16] TransA=NONE TransB=NONE Alpha=1 "
      "Beta=0";
  constexpr const char* kDivided =
      "ELEMENT_WISE_DIVIDE ATensor=f16[2,4,16,16] BTensor=f16[2,4,16,16]{0,0,0,0}! OutputTensor=f16[2,4,16,16]";
  constexpr const char* kMasked =
      "ELEMENT_WISE_ADD ATensor=f16[2,4,16,16] BTensor=f16[2,4,16,16]{16,0,0,1} OutputTensor=f16[2,4,16,16]";
  const auto op = only(following({kScores, kDivided, kMasked}));
  REQUIRE(op);
  CHECK(op->epilogue().steps == (kEpilogueFactor | kEpilogueDivides | kEpilogueAddend | kEpilogueAddsC));
  CHECK(op->input(2).strides[0] == 16);
  CHECK(op->input(2).strides[1] == 0);
  // Parameters of a channel are at C's places.
  CHECK(stepsOf({kScores,
                 "ELEMENT_WISE_MULTIPLY ATensor=f16[2,4,16,16] BTensor=f16[2,4,16,16]{0,0,0,1}! "
                 "OutputTensor=f16[2,4,16,16]",
                 kMasked}) == 0);
  // The softmax of a whole row follows in a dispatch of its own.
  CHECK(
      !only(following({"GEMM ATensor=f16[1,1,16,8] BTensor=f16[1,1,8,16] OutputTensor=f16[1,1,16,16] TransA=NONE "
                       "TransB=NONE Alpha=1 Beta=0",
                       "ELEMENT_WISE_ADD ATensor=f16[1,1,16,16] BTensor=f16[1,1,16,16] OutputTensor=f16[1,1,16,16]",
                       "ACTIVATION_SOFTMAX InputTensor=f16[1,1,16,16] OutputTensor=f16[1,1,16,16]"})));
}

TEST_CASE("epilogues: what is left alone") {
  REQUIRE(stepsOf({sixBySix(), kSummed}) == kEpilogueAddend);
  // Behind an activation, or behind a sum.
  CHECK(stepsOf({sixBySix("FusedActivation=RELU"), kSummed}) == 0);
  CHECK(stepsOf({sixBySix(), cat(kNormalized, " FusedActivation=RELU"), kSummed}) == 0);
  CHECK(stepsOf({sixBySix(), kSummed, kMultiplied}) == 0);
  CHECK(stepsOf({sixBySix(), kNormalized, kMultiplied, kMultiplied}) == 0);
  CHECK(stepsOf({sixBySix(), kNormalized, kShifted}) == 0);
  // Parameters that are not constant.
  CHECK(stepsOf({sixBySix(),
                 "ELEMENT_WISE_MULTIPLY ATensor=f16[1,8,6,6] BTensor=f16[1,8,6,6]{0,1,0,0} "
                 "OutputTensor=f16[1,8,6,6]"}) == 0);
  // An addend that lies otherwise.
  CHECK(stepsOf({sixBySix(),
                 "ELEMENT_WISE_ADD ATensor=f16[1,8,6,6] BTensor=f16[1,8,6,6]{0,36,1,6} "
                 "OutputTensor=f16[1,8,6,6]"}) == 0);
  // A bias whose elements lie apart.
  CHECK(stepsOf({sixBySix("BiasTensor=f16[1,8,1,1]{16,2,1,1}"), kMultiplied}) == 0);
  // A C of each row, and of all elements.
  for (const char* strides : {"{36,36,1,0}", "{0,0,0,0}"})
    CHECK(stepsOf({cat("GEMM ATensor=f16[1,1,36,16] BTensor=f16[1,1,16,8]! CTensor=f16[1,1,36,8]", strides,
                       " OutputTensor=f16[1,1,36,8] TransA=NONE TransB=NONE Alpha=1 Beta=1"),
                   "ELEMENT_WISE_MULTIPLY ATensor=f16[1,1,36,8] BTensor=f16[1,1,36,8]{0,0,0,1}! "
                   "OutputTensor=f16[1,1,36,8]"}) == 0);
  // A factor of each element.
  CHECK(stepsOf({sixBySix(),
                 "ELEMENT_WISE_MULTIPLY ATensor=f16[1,8,6,6] BTensor=f16[1,8,6,6]! "
                 "OutputTensor=f16[1,8,6,6]"}) == 0);
  GraphBuilder graph = following({sixBySix(), kSummed});
  graph.output(0, 1);
  CHECK(!only(graph));
}

TEST_CASE("epilogues: nothing is taken across an edge whose ends see other places") {
  const std::string gemm = "GEMM ATensor=f16[1,1,4,3] BTensor=f16[1,1,3,6] OutputTensor=f16[1,1,4,6] Alpha=1";
  const auto multiplied = [](std::string_view strides) {
    return cat("ELEMENT_WISE_MULTIPLY ATensor=f16[1,1,4,6] BTensor=f16[1,1,4,6]{0,0,0,1}! OutputTensor=f16[1,1,4,6]",
               strides);
  };
  const std::string sum = "ELEMENT_WISE_ADD ATensor=f16[1,1,4,6] BTensor=f16[1,1,4,6] OutputTensor=f16[1,1,4,6]";
  CHECK(only(following({gemm, multiplied(""), sum})));
  CHECK(!only(following({gemm, multiplied("{24,24,1,4}"), sum})));
}

}  // namespace
}  // namespace dimple::testing
