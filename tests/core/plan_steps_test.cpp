// Plans of operators that take steps, or some dimensions apart from others. No device is involved.
#include <doctest/doctest.h>

#include "core/text.h"
#include "tests/core/planned.h"

using namespace dimple;
using namespace dimple::testing;

namespace {}  // namespace

TEST_CASE("the steps of a GRU differ in push words only, and wait for each other") {
  const Plan plan = planOf(
      "GRU InputTensor=f32[1,5,3,7] WeightTensor=f32[1,1,12,7] RecurrenceTensor=f32[1,1,12,4] "
      "OutputSequenceTensor=f32[5,1,3,4] ActivationDescs=(SIGMOID,TANH) Direction=FORWARD");
  // The state, the weights of each, the projection, and two dispatches a step.
  REQUIRE(plan.execution.size() == 4 + 5 * 2);
  for (size_t i = 6; i < plan.execution.size(); ++i) {
    const Dispatch& dispatch = plan.execution[i];
    const Dispatch& before = plan.execution[i - 2];
    CHECK(dispatch.kernel == before.kernel);
    CHECK(dispatch.specialization[0].value == before.specialization[0].value);
    CHECK(dispatch.parameterOffset == before.parameterOffset);
    CHECK(dispatch.push[4] == before.push[4] + 1);
    CHECK(dispatch.barrierBefore);
  }
}

TEST_CASE("linear before reset makes a step of a GRU one dispatch") {
  const Plan plan = planOf(
      "GRU InputTensor=f32[1,5,3,7] WeightTensor=f32[1,1,12,7] RecurrenceTensor=f32[1,1,12,4] "
      "OutputSequenceTensor=f32[5,1,3,4] ActivationDescs=(SIGMOID,TANH) Direction=FORWARD LinearBeforeReset=1");
  CHECK(plan.execution.size() == 3 + 5);
}

TEST_CASE("few steps of a network take the weights as they are, and matrices bounded states alone") {
  Caps caps;
  caps.matrices = {16, 16, 16};
  caps.subgroupSize = 32;
  caps.features = ~0u;
  const auto stepOf = [&](uint32_t steps, std::string_view function) {
    const Plan plan = planOf(cat("RNN InputTensor=f16[1,", steps,
                                 ",3,7] WeightTensor=f16[1,1,4,7] "
                                 "RecurrenceTensor=f16[1,1,4,4] OutputSingleTensor=f16[1,1,3,4] ActivationDescs=(",
                                 function, ") Direction=FORWARD"),
                             caps);
    return kernelName(plan.execution.back().kernel);
  };
  CHECK(stepOf(3, "TANH") == "recurrent_step_native.f16");
  CHECK(stepOf(4, "TANH") == "recurrent_step_matrices_native.f16");
  CHECK(stepOf(4, "RELU") == "recurrent_step_tile_native.f16");
}

TEST_CASE("steps know that their tiles are whole, and that there are no lengths, peepholes, limits and couples") {
  const auto known = [](uint32_t batch, uint32_t units, std::string_view rest = "") {
    const Plan plan = planOf(cat("LSTM InputTensor=f32[1,4,", batch, ",8] WeightTensor=f32[1,1,", 4 * units,
                                 ",8] RecurrenceTensor=f32[1,1,", 4 * units, ",", units,
                                 "] OutputSequenceTensor=f32[4,1,", batch, ",", units, "] OutputSingleTensor=f32[1,1,",
                                 batch, ",", units, "] ActivationDescs=(SIGMOID,TANH,TANH) Direction=FORWARD ", rest));
    REQUIRE(kernelName(plan.execution.back().kernel) == "recurrent_step_tile.f32");
    return specOf(plan.execution.back(), 9);
  };
  // By the sequences of a tile: 16, 8 and 4.
  for (const auto& [batch, units] : {std::pair(16u, 128u), {32u, 512u}, {8u, 256u}, {4u, 512u}}) {
    CHECK(known(batch, units) == 1);
    CHECK(known(batch - 1, units) == 0);
    CHECK(known(batch, units - 4) == 0);
  }
  CHECK(known(12, 128) == 0);
  CHECK(known(20, 128) == 0);
  CHECK(known(32, 640) == 1);
  CHECK(known(32, 576) == 0);
  CHECK(known(16, 128, "SequenceLengthsTensor=u32[1,1,1,16]") == 0);
  CHECK(known(16, 128, "PeepholeTensor=f32[1,1,1,384]") == 0);
  CHECK(known(16, 128, "UseClipThreshold=1 ClipThreshold=2") == 0);
  CHECK(known(16, 128, "CoupleInputForget=1") == 0);
  // An LSTM has one direction besides, a GRU any number.
  const auto knownInBoth = [](std::string_view network, uint32_t rows, std::string_view functions) {
    const Plan plan = planOf(cat(network, " InputTensor=f32[1,4,16,8] WeightTensor=f32[1,2,", rows,
                                 ",8] RecurrenceTensor=f32[1,2,", rows, ",128] OutputSingleTensor=f32[1,2,16,128] ",
                                 "Direction=BIDIRECTIONAL ActivationDescs=(", functions, ",", functions, ")"));
    return specOf(plan.execution.back(), 9);
  };
  CHECK(knownInBoth("LSTM", 512, "SIGMOID,TANH,TANH") == 0);
  CHECK(knownInBoth("GRU", 384, "SIGMOID,TANH") == 1);
}

TEST_CASE("a network of more steps than a plan holds is refused with a sentence") {
  auto parsed = parseCase(
      "RNN InputTensor=f32[1,100000,1,1] WeightTensor=f32[1,1,1,1] RecurrenceTensor=f32[1,1,1,1] "
      "OutputSingleTensor=f32[1,1,1,1] ActivationDescs=(TANH) Direction=FORWARD");
  REQUIRE(parsed);
  const auto view = Operation::parse(parsed->desc.desc());
  REQUIRE(view);
  const auto plan = planOperator(*view, Caps{});
  REQUIRE_FALSE(plan);
  CHECK(plan.error().text == "InputTensor has Sizes[1] (100000), but RNN runs at most 65536 steps.");
}

TEST_CASE("resampling looks for places in the dimensions that are resampled only") {
  const Plan plan = planOf(
      "RESAMPLE InputTensor=f32[2,3,5,7] OutputTensor=f32[2,3,10,9] InterpolationMode=LINEAR Scales=[1,1,2,1.5]");
  REQUIRE(plan.execution.size() == 1);
  CHECK(kernelName(plan.execution[0].kernel) == "resample_linear.f32");
  CHECK(plan.execution[0].specialization[0].value == 2);
  // Another shape and scale are other parameters of the same pipeline.
  const Plan other = planOf(
      "RESAMPLE InputTensor=f32[4,1,9,9] OutputTensor=f32[4,1,3,70] InterpolationMode=LINEAR Scales=[1,1,0.3,7.7]");
  CHECK(other.execution[0].kernel == plan.execution[0].kernel);
  CHECK(other.execution[0].specialization[0].value == 2);
}

TEST_CASE("resampling takes its axes in the same order in every layout, and so rounds to the same bits") {
  const auto axesIn = [](std::string_view strides) {
    const Plan plan = planOf(std::string("UPSAMPLE_2D InputTensor=f32[4,1,2,2] OutputTensor=f32[4,1,4,6]")
                                 .append(strides)
                                 .append(" ScaleSize=[3,2] InterpolationMode=LINEAR"));
    const Dispatch& dispatch = plan.execution.at(0);  // four words of its grid, count, rank, where the axes begin
    const size_t first = dispatch.parameterOffset / 4 + 4 * dispatch.push.at(6);
    REQUIRE(plan.parameters.size() >= first + 24);
    return std::vector<uint32_t>(plan.parameters.begin() + static_cast<ptrdiff_t>(first),
                                 plan.parameters.begin() + static_cast<ptrdiff_t>(first + 24));
  };
  CHECK(axesIn("") == axesIn("{4,16,1,16}"));
}

TEST_CASE("antialiasing takes sums only where a scale is below a half") {
  constexpr std::string_view kRest =
      " InterpolationMode=LINEAR RoundingDirection=INCREASING InputPixelOffsets=[0.5] OutputPixelOffsets=[-0.5] "
      "Antialiased=1";
  const auto kernelOf = [&](const char* line) {
    return kernelName(planOf(std::string(line).append(kRest)).execution[0].kernel);
  };
  CHECK(kernelOf("RESAMPLE3 InputTensor=f32[8] OutputTensor=f32[4] Scales=[0.5]") == "resample_linear.f32");
  CHECK(kernelOf("RESAMPLE3 InputTensor=f32[8] OutputTensor=f32[3] Scales=[0.4]") == "resample_sum.f32");
}
