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

constexpr auto kLargeProduct = "GEMM ATensor=f32[512,64] BTensor=f32[64,512] OutputTensor=f32[512,512] Alpha=1";
constexpr uint64_t kProductWork = uint64_t{512} * 512 * 64;

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
