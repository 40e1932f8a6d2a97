// Plans of convolutions of 3 x 3 windows by transforms. No device is involved.
#include <doctest/doctest.h>

#include "core/text.h"
#include "tests/core/planned.h"

using namespace dimple;
using namespace dimple::testing;

namespace {

constexpr std::string_view kWindow =
    " Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1";

// 64 channels to 64 filters.
std::string lineOf(std::string_view filter, std::string_view window = kWindow, std::string_view type = "f32") {
  return cat("CONVOLUTION InputTensor=", type, "[1,64,56,56] FilterTensor=", type, filter, " OutputTensor=", type,
             "[1,64,56,56]", window);
}

// A device whose workgroups share too little for one dispatch.
Caps littleShared() {
  Caps caps;
  caps.sharedBytes = 16 * 1024;
  return caps;
}

}  // namespace

TEST_CASE("few channels are transformed and summed in one dispatch") {
  const Plan plan = planOf(lineOf("[64,64,3,3]!"));
  REQUIRE(plan.execution.size() == 1);
  const Dispatch& fused = plan.execution[0];
  CHECK(kernelName(fused.kernel) == "winograd_fused_small.f32");
  // 784 tiles, 16 of 32 filters each.
  CHECK(fused.groups[0] == 49 * 2);
  CHECK(fused.buffers[1].kind == SlotKind::Persistent);
  // Filters of a channel more, which are loaded and not used.
  CHECK(fused.buffers[1].bytes == 16 * 64 * 64 * 4 + 64 * 4);
  CHECK(plan.temporaryBytes == 0);
  const auto kernelsOf = [](std::string_view batch, std::string_view channels, std::string_view filters) {
    const Plan other =
        planOf(cat("CONVOLUTION InputTensor=f32[", batch, ",", channels, ",56,56] FilterTensor=f32[", filters, ",",
                   channels, ",3,3]! OutputTensor=f32[", batch, ",", filters, ",56,56]", kWindow));
    return kernelName(other.execution[0].kernel);
  };
  CHECK(kernelsOf("16", "64", "64") == "winograd_fused_large.f32");
  CHECK(kernelsOf("16", "128", "33") == "winograd_fused_large.f32");
  CHECK(kernelsOf("2", "64", "17") == "winograd_fused_small.f32");
  CHECK(kernelsOf("16", "64", "16") == "winograd_fused_narrow.f32");
  // Many tiles of few filters.
  CHECK(kernelsOf("96", "64", "16") == "winograd_input_4.f32");
  CHECK(kernelsOf("16", "129", "64") == "winograd_input_4.f32");
  CHECK(kernelName(planOf(lineOf("[64,64,3,3]!"), littleShared()).execution[0].kernel) == "winograd_input_2.f32");
}

TEST_CASE("a filter owned by DML is transformed at initialization") {
  const Plan plan = planOf(lineOf("[64,64,3,3]!"), littleShared());
  REQUIRE(plan.initialization.size() == 2);
  const Dispatch& transform = plan.initialization[0];
  CHECK(kernelName(transform.kernel) == "winograd_filter_2.f32");
  CHECK(transform.buffers[0].kind == SlotKind::Input);
  CHECK(transform.buffers[0].index == 1);
  CHECK(transform.buffers[1].kind == SlotKind::Persistent);
  CHECK(transform.buffers[1].offset == 0);
  CHECK(transform.buffers[1].bytes == 16 * 64 * 64 * 4);
  // As it is it is kept for windows that are computed without transforms.
  CHECK(kernelName(plan.initialization[1].kernel) == "copy_packed");
  CHECK(plan.initialization[1].buffers[1].offset == 16 * 64 * 64 * 4);
  CHECK_FALSE(plan.initialization[1].barrierBefore);
  CHECK(plan.persistentBytes == (16 + 9) * 64 * 64 * 4);
  REQUIRE(plan.execution.size() == 3);
  CHECK(kernelName(plan.execution[0].kernel) == "winograd_input_2.f32");
  CHECK(plan.execution[1].buffers[0].kind == SlotKind::Persistent);
  CHECK(plan.execution[1].barrierBefore);
  CHECK(kernelName(plan.execution[2].kernel) == "winograd_output_2.f32");
  CHECK(plan.execution[2].barrierBefore);
}

TEST_CASE("any other filter is transformed at every execution, beside the input") {
  const Plan plan = planOf(lineOf("[64,64,3,3]"), littleShared());
  CHECK(plan.initialization.empty());
  CHECK(plan.persistentBytes == 0);
  REQUIRE(plan.execution.size() == 4);
  CHECK(kernelName(plan.execution[0].kernel) == "winograd_filter_2.f32");
  CHECK(plan.execution[0].buffers[1].kind == SlotKind::Temporary);
  CHECK(kernelName(plan.execution[1].kernel) == "winograd_input_2.f32");
  CHECK_FALSE(plan.execution[1].barrierBefore);
  CHECK(plan.execution[2].barrierBefore);
}

TEST_CASE("convolutions that are not transformed say why") {
  const auto why = [](const std::string& line, const Target& target = {}) {
    const Plan plan = planOf(line, target);
    CHECK(kernelName(plan.execution[0].kernel).find("winograd") == std::string_view::npos);
    REQUIRE(plan.passedOver.size() > 3);
    CHECK(plan.passedOver[3].kernel == "winograd_output_4");
    return std::string(plan.passedOver[3].reason);
  };
  const auto window = [](std::string_view strides, std::string_view dilations, std::string_view outputPadding,
                         int groups, std::string_view more = "") {
    return cat(" Strides=", strides, " Dilations=", dilations,
               " StartPadding=[1,1] EndPadding=[1,1] OutputPadding=", outputPadding, " GroupCount=", groups, more);
  };
  CHECK(why(lineOf("[64,64,3,3]", kWindow, "f16")) == "Its elements are not FLOAT32.");
  CHECK(why(lineOf("[64,64,3,5]")) == "Its window is not 3 x 3.");
  CHECK(why(lineOf("[64,32,3,3]", window("[1,1]", "[1,1]", "[0,0]", 2))) == "It has groups.");
  CHECK(why(lineOf("[64,64,3,3]", window("[1,2]", "[1,1]", "[0,0]", 1))) == "Its windows or their elements lie apart.");
  CHECK(why(lineOf("[64,64,3,3]", window("[1,1]", "[2,1]", "[0,0]", 1))) == "Its windows or their elements lie apart.");
  CHECK(why(lineOf("[64,64,3,3]", window("[1,1]", "[1,1]", "[0,3]", 1))) == "It has much padding, or OutputPadding.");
  CHECK(why(lineOf("[64,64,3,3]", window("[1,1]", "[1,1]", "[0,0]", 1, " Direction=BACKWARD"))) ==
        "It is a backward convolution.");
  Caps small = littleShared();
  small.maxBufferRange = 1 << 20;
  CHECK(why(lineOf("[64,64,3,3]"), small) == "Its transforms are larger than a kernel may bind.");
  // What the kernel reads ahead counts too.
  Caps bound;
  bound.maxBufferRange = 1 << 27;
  CHECK(
      planned("CONVOLUTION InputTensor=f32[1,128,16,16] FilterTensor=f32[16384,128,3,3]! "
              "OutputTensor=f32[1,16384,16,16] Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] "
              "OutputPadding=[0,0] GroupCount=1",
              bound));
  Caps matrices;
  matrices.features = ~0u;
  matrices.sharedBytes = 49152;
  matrices.subgroupSize = 32;
  matrices.matrices = {16, 16, 16};
  CHECK(why(lineOf("[64,64,3,3]"), {matrices, {}, true}) == "FLOAT32 may be rounded for matrices of subgroups.");
}
