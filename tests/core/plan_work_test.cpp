// Dispatches that take more work than a device does at once. No device is involved.
#include <doctest/doctest.h>

#include "tests/core/planned.h"

using namespace dimple;
using namespace dimple::testing;

namespace {

Result<Plan> planOfWork(std::string_view line, uint64_t workLimit,
                        std::array<uint32_t, 3> maxGroups = Caps{}.maxGroups) {
  Caps caps;
  caps.workLimit = workLimit;
  caps.maxGroups = maxGroups;
  return planned(line, caps);
}

constexpr auto kLargeProduct = "GEMM ATensor=f32[512,64] BTensor=f32[64,256] OutputTensor=f32[512,256] Alpha=1";
constexpr uint64_t kProductWork = uint64_t{512} * 256 * 64;

// Push words that every dispatch begins with.
constexpr size_t kEnd = 2;
constexpr size_t kFirst = 3;

// Whether parts follow each other without gaps, from the first group to the last, and cover what they say.
void checkParts(std::span<const Dispatch> parts, uint32_t groups) {
  uint32_t end = 0;
  for (const Dispatch& part : parts) {
    CHECK(part.push[kFirst] == end);
    CHECK(part.push[kEnd] > end);
    end = part.push[kEnd];
    CHECK(part.push[0] == part.groups[0]);
    CHECK(part.push[1] == part.groups[0] * part.groups[1]);
    CHECK(part.groups[0] * part.groups[1] * part.groups[2] >= end - part.push[kFirst]);
    CHECK(part.continues == (&part != &parts.front()));
    CHECK_FALSE(part.barrierBefore);
  }
  CHECK(end == groups);
}

}  // namespace

TEST_CASE("a product within the limit is one dispatch") {
  const auto plan = planOfWork(kLargeProduct, kProductWork);
  REQUIRE(plan);
  REQUIRE(plan->execution.size() == 1);
  checkParts(plan->execution, 64);
}

TEST_CASE("a product beyond the limit comes in parts that wait for nothing") {
  const auto plan = planOfWork(kLargeProduct, kProductWork - 1);
  REQUIRE(plan);
  REQUIRE(plan->execution.size() == 2);
  CHECK(plan->execution[0].groups[0] == 63);
  checkParts(plan->execution, 64);
  CHECK(Plan::descriptorCount(plan->execution) == plan->execution[0].buffers.size());
  const auto quarters = planOfWork(kLargeProduct, kProductWork / 4);
  REQUIRE(quarters);
  CHECK(quarters->execution.size() == 4);
  checkParts(quarters->execution, 64);
  for (const Dispatch& part : quarters->execution) CHECK(part.groups[0] == 16);
}

TEST_CASE("a workgroup is the least part") {
  const auto plan = planOfWork(kLargeProduct, 1);
  REQUIRE(plan);
  CHECK(plan->execution.size() == 64);
  checkParts(plan->execution, 64);
}

TEST_CASE("parts fold where a dimension holds few workgroups") {
  const auto plan = planOfWork(kLargeProduct, kProductWork / 3, {4, 4, 8});
  REQUIRE(plan);
  REQUIRE(plan->execution.size() == 4);
  CHECK(plan->execution[0].groups == std::array{4u, 3u, 2u});
  checkParts(plan->execution, 64);
}

TEST_CASE("what follows a product waits for its last part") {
  // Slices of the depth, and what combines them.
  const auto plan =
      planOfWork("GEMM ATensor=f32[64,4096] BTensor=f32[4096,64] OutputTensor=f32[64,64] Alpha=1", 1 << 20);
  REQUIRE(plan);
  REQUIRE(plan->execution.size() == 17);
  checkParts(std::span(plan->execution).first(16), 32);
  CHECK(kernelName(plan->execution[16].kernel) == "gemm_combine.f32");
  CHECK(Plan::descriptorCount(plan->execution) ==
        plan->execution[0].buffers.size() + plan->execution[16].buffers.size());
  CHECK(plan->execution[16].barrierBefore);
  CHECK_FALSE(plan->execution[16].continues);
}

TEST_CASE("convolutions, products of integers and attention come in parts too") {
  for (const char* line :
       {"CONVOLUTION InputTensor=f32[1,64,16,16] FilterTensor=f32[64,64,3,3] OutputTensor=f32[1,64,16,16] "
        "Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1",
        "CONVOLUTION_INTEGER InputTensor=i8[1,64,16,16] FilterTensor=i8[64,64,3,3] OutputTensor=i32[1,64,14,14] "
        "DimensionCount=2 Strides=[1,1] Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] GroupCount=1",
        "MATRIX_MULTIPLY_INTEGER ATensor=i8[256,64] BTensor=i8[64,256] OutputTensor=i32[256,256]",
        "GEMM ATensor=f32[1,512] BTensor=f32[512,4096] OutputTensor=f32[1,4096] Alpha=1",
        "GEMM ATensor=f32[4096,4] BTensor=f32[4,64] OutputTensor=f32[4096,64] Alpha=1",
        "MULTIHEAD_ATTENTION QueryTensor=f32[1,128,256] KeyTensor=f32[1,128,256] ValueTensor=f32[1,128,256] "
        "OutputTensor=f32[1,128,256] Scale=1 HeadCount=4"}) {
    CAPTURE(line);
    const auto plan = planOfWork(line, 1 << 16);
    REQUIRE_MESSAGE(plan, plan.error().text);
    size_t parts = 0;
    for (const Dispatch& dispatch : plan->execution) parts += dispatch.continues ? 1 : 0;
    CHECK(parts > 1);
  }
}

TEST_CASE("what would take too many parts is refused with the limit") {
  constexpr auto kLine =
      "GEMM ATensor=f32[65536,32768]{0,0} BTensor=f32[32768,8192]{0,0} OutputTensor=f32[65536,8192] Alpha=1";
  const auto plan = planOfWork(kLine, 1 << 27);
  REQUIRE_FALSE(plan);
  CHECK(plan.error().text == "GEMM takes more than 65536 dispatches of 134217728 multiply-adds, this device's limit.");
  CHECK(planOfWork(kLine, 1 << 28));
}

TEST_CASE("what attributes make long comes in parts, or is refused") {
  struct Row {
    const char* line;
    double steps;  // elements that are read at least, counted from what the operator's page says
  };
  // Broadcast tensors, so that the memory of the device is no reason.
  const Row rows[] = {
      {"AVERAGE_POOLING InputTensor=f32[1,1,2048,2048] OutputTensor=f32[1,1,1025,1025] Strides=[1,1] "
       "WindowSize=[1024,1024] StartPadding=[0,0] EndPadding=[0,0] IncludePadding=0",
       1025.0 * 1025 * 1024 * 1024},
      {"MAX_POOLING2 InputTensor=f32[1,1,2048,2048] OutputTensor=f32[1,1,1025,1025] Strides=[1,1] "
       "WindowSize=[1024,1024] StartPadding=[0,0] EndPadding=[0,0] Dilations=[1,1]",
       1025.0 * 1025 * 1024 * 1024},
      {"MAX_POOLING_GRAD InputTensor=f32[1,1,2048,2048] InputGradientTensor=f32[1,1,1025,1025] "
       "OutputGradientTensor=f32[1,1,2048,2048] Strides=[1,1] WindowSize=[1024,1024] StartPadding=[0,0] "
       "EndPadding=[0,0] Dilations=[1,1]",
       1025.0 * 1025 * 1024 * 1024},
      {"QUANTIZED_LINEAR_AVERAGE_POOLING InputTensor=u8[1,1,2048,2048] InputScaleTensor=f32[1,1,1,1] "
       "OutputScaleTensor=f32[1,1,1,1] OutputTensor=u8[1,1,1025,1025] Strides=[1,1] WindowSize=[1024,1024] "
       "StartPadding=[0,0] EndPadding=[0,0] Dilations=[1,1] IncludePadding=0",
       1025.0 * 1025 * 1024 * 1024},
      {"ROI_POOLING InputTensor=f32[1,1,8192,8192] ROITensor=f32[1,1,1000,5] OutputTensor=f32[1000,1,1,1] "
       "SpatialScale=1 PooledSize=[1,1]",
       1000.0 * 8192 * 8192},
      {"ROI_ALIGN1 InputTensor=f32[1,3,8,12] ROITensor=f32[100,4] BatchIndicesTensor=u32[100] "
       "OutputTensor=f32[100,3,2,4] ReductionFunction=AVERAGE InterpolationMode=LINEAR SpatialScaleX=1 SpatialScaleY=1 "
       "InputPixelOffset=0 OutputPixelOffset=0 AlignRegionsToCorners=0 OutOfBoundsInputValue=0 "
       "MinimumSamplesPerOutput=65535 MaximumSamplesPerOutput=65535",
       100.0 * 3 * 2 * 4 * 16384 * 16384},
      {"LOCAL_RESPONSE_NORMALIZATION InputTensor=f32[1,65536,32,32] OutputTensor=f32[1,65536,32,32] CrossChannel=1 "
       "LocalSize=65535 Alpha=1 Beta=1 Bias=1",
       65536.0 * 32 * 32 * 65535},
      {"RESAMPLE_GRAD InputGradientTensor=f32[1,1,16384,16384] OutputGradientTensor=f32[1,1,2,2] "
       "InterpolationMode=LINEAR Scales=[1,1,8192,8192] InputPixelOffsets=[0.5,0.5,0.5,0.5] "
       "OutputPixelOffsets=[-0.5,-0.5,-0.5,-0.5]",
       16384.0 * 16384},
      {"FOLD InputTensor=f32[1,8192,8193] OutputTensor=f32[1,1,16384] WindowSizes=[8192] Strides=[1] Dilations=[1] "
       "StartPadding=[0] EndPadding=[0]",
       8192.0 * 8193},
      {"RNN InputTensor=f32[1,64,256,8192] WeightTensor=f32[1,1,8192,8192] RecurrenceTensor=f32[1,1,8192,8192] "
       "OutputSequenceTensor=f32[64,1,256,8192] ActivationDescs=(TANH) Direction=FORWARD",
       2.0 * 64 * 256 * 8192 * 8192},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    constexpr uint64_t kLimit = uint64_t{1} << 32;
    const auto plan = planOfWork(row.line, kLimit);
    REQUIRE_MESSAGE(plan, plan.error().text);
    double work = 0;
    for (const Dispatch& dispatch : plan->execution) {
      const uint64_t groups = dispatch.push[kEnd] - dispatch.push[kFirst];
      CHECK((dispatch.work <= static_cast<double>(kLimit) || groups == 1));
      CHECK(dispatch.work <= kMaxGroupWork.multiplyAdds() * static_cast<double>(groups));
      work += dispatch.work;
    }
    CHECK(work >= row.steps);
  }
}

TEST_CASE("what takes a workgroup too long is refused, and what takes too many dispatches") {
  const auto pooling = planOfWork(
      "AVERAGE_POOLING InputTensor=f32[1,1,8192,8192] OutputTensor=f32[1,1,4098,4098] Strides=[1,1] "
      "WindowSize=[4095,4095] StartPadding=[0,0] EndPadding=[0,0] IncludePadding=0",
      kWorkLimit);
  REQUIRE_FALSE(pooling);
  CHECK(pooling.error().code == ErrorCode::Unsupported);
  CHECK(pooling.error().text ==
        "AVERAGE_POOLING takes more than 65536 dispatches of 8589934592 multiply-adds, this device's limit.");
  const auto size = planOfWork(
      "LOCAL_RESPONSE_NORMALIZATION InputTensor=f32[1,67108864,1,1] OutputTensor=f32[1,67108864,1,1] CrossChannel=1 "
      "LocalSize=4294967295 Alpha=1 Beta=1 Bias=1",
      kWorkLimit);
  REQUIRE_FALSE(size);
  CHECK(size.error().code == ErrorCode::Unsupported);
  CHECK(size.error().text ==
        "LOCAL_RESPONSE_NORMALIZATION takes 137438953472 multiply-adds a workgroup, expected at most 68719476736.");
}

TEST_CASE("regions whose samples 32 bits cannot number are refused") {
  const auto plan = planned(
      "ROI_ALIGN InputTensor=f32[1,1,8,12] ROITensor=f32[1,4] BatchIndicesTensor=u32[1] OutputTensor=f32[1,1,1,300000] "
      "ReductionFunction=AVERAGE InterpolationMode=LINEAR SpatialScaleX=1 SpatialScaleY=1 OutOfBoundsInputValue=0 "
      "MinimumSamplesPerOutput=1 MaximumSamplesPerOutput=4294967295");
  REQUIRE_FALSE(plan);
  CHECK(plan.error().text ==
        "OutputTensor has Sizes[3] (300000), expected at most 262143 with MaximumSamplesPerOutput (4294967295).");
}

TEST_CASE("tensors of more elements than kernels count are refused") {
  const auto plan = planned(
      "RNN InputTensor=f32[1,1,1,4294967295]{0,0,0,0} WeightTensor=f32[1,1,1,4294967295]{0,0,0,0} "
      "RecurrenceTensor=f32[1,1,1,1] OutputSingleTensor=f32[1,1,1,1] ActivationDescs=(TANH)");
  REQUIRE_FALSE(plan);
  CHECK(plan.error().code == ErrorCode::Unsupported);
  CHECK(plan.error().text ==
        "InputTensor has 4294967295 elements, expected at most 4294901760, which kernels can count.");
  CHECK(
      planned("RNN InputTensor=f32[1,1,1,4294901760]{0,0,0,0} WeightTensor=f32[1,1,1,4294901760]{0,0,0,0} "
              "RecurrenceTensor=f32[1,1,1,1] OutputSingleTensor=f32[1,1,1,1] ActivationDescs=(TANH)"));
}
