// Plans of products on CPUs, whose drivers compile slowly. No device is involved.
#include <doctest/doctest.h>

#include "core/text.h"
#include "tests/conformance/options_text.h"
#include "tests/core/matrix_caps.h"
#include "tests/core/planned.h"

using namespace dimple;
using namespace dimple::testing;

TEST_CASE("on a CPU products share kernels that compile fast, unless estimates are off") {
  Caps caps;
  caps.workgroups = kWorkgroupsOfProcessor;
  const auto kernels = [&](std::string_view line) {
    std::vector<std::string> names;
    for (const bool isProcessor : {false, true}) {
      caps.isProcessor = isProcessor;
      names.emplace_back(kernelName(planOf(line, caps).execution.back().kernel));
    }
    CHECK(kernelName(planOf(line, {caps, optionsWithout("estimates")}).execution.back().kernel) == names[0]);
    return cat(names[0], " -> ", names[1]);
  };
  CHECK(kernels("GEMM ATensor=f32[256,64] BTensor=f32[64,512] OutputTensor=f32[256,512] Alpha=1") ==
        "gemm_large_tile.f32 -> gemm_tile.f32");
  CHECK(kernels("GEMM ATensor=f32[64,256] BTensor=f32[256,64] OutputTensor=f32[64,64] Alpha=1") ==
        "gemm_split_tile.f32 -> gemm_combine.f32");
  CHECK(kernels("GEMM ATensor=f32[2,256] BTensor=f32[256,512] OutputTensor=f32[2,512] Alpha=1") ==
        "gemm_few_rows_vector.f32 -> gemm.f32");
  CHECK(kernels(convolutionLine("f32[1,64,14,14]", "f32[64,64,3,3]", "f32[1,64,14,14]", 1)) ==
        "winograd_fused_small.f32 -> winograd_fused_small.f32");
  CHECK(kernels(convolutionLine("f32[1,32,28,28]", "f32[64,32,3,3]", "f32[1,64,28,28]", 1)) ==
        "winograd_fused_large.f32 -> winograd_fused_small.f32");
  CHECK(kernels(convolutionLine("f32[1,64,56,56]", "f32[64,64,3,3]", "f32[1,64,56,56]", 1)) ==
        "winograd_fused_large.f32 -> winograd_fused_large.f32");
  CHECK(kernels(convolutionLine("f32[1,256,56,56]", "f32[256,256,3,3]", "f32[1,256,28,28]", 1, "FORWARD", 2)) ==
        "convolution_large_tile.f32 -> convolution_large_tile.f32");
  CHECK(kernels("ACTIVATION_SOFTMAX1 InputTensor=f32[1,8,128,128] OutputTensor=f32[1,8,128,128] Axes=[3]") ==
        "softmax.f32 -> softmax.f32");
  CHECK(kernels("MEAN_VARIANCE_NORMALIZATION1 InputTensor=f32[1,128,1,256] OutputTensor=f32[1,128,1,256] Axes=[3] "
                "NormalizeVariance=1 Epsilon=0.00001") == "normalize_row.f32 -> normalize_vectors.f32");
}

TEST_CASE("on a CPU with shuffles all products of FLOAT32 and forward convolutions are blocks of teams") {
  Caps caps;
  caps.workgroups = kWorkgroupsOfProcessor;
  caps.isProcessor = true;
  caps.features = static_cast<uint32_t>(Feature::SubgroupShuffle);
  const auto kernelOf = [&](std::string_view line) { return kernelName(planOf(line, caps).execution.back().kernel); };
  // 23 blocks of 16 x 32 on workgroups of a team each; 368 on workgroups of 23.
  const auto dispatchOf = [&](std::string_view rows, std::string_view columns) {
    const Plan plan = planOf(cat("GEMM ATensor=f32[", rows, ",64] BTensor=f32[64,", columns, "] OutputTensor=f32[",
                                 rows, ",", columns, "] Alpha=1"),
                             caps);
    REQUIRE(plan.execution.size() == 1);
    CHECK(kernelName(plan.execution[0].kernel) == "product_block.f32");
    return plan.execution[0].groups[0];
  };
  CHECK(dispatchOf("16", "736") == 23);
  CHECK(dispatchOf("17", "352") == 22);
  CHECK(dispatchOf("256", "736") == 16);
  CHECK(kernelOf("GEMM ATensor=f32[2,256] BTensor=f32[256,512] OutputTensor=f32[2,512] Alpha=1") ==
        "product_block.f32");
  for (const std::string_view size : {"14", "56"})
    CHECK(kernelOf(convolutionLine(cat("f32[1,64,", size, ",", size, "]"), "f32[64,64,3,3]",
                                   cat("f32[1,64,", size, ",", size, "]"), 1)) == "product_block.f32");
  CHECK(kernelOf(convolutionLine("f32[1,256,56,56]", "f32[256,256,3,3]", "f32[1,256,28,28]", 1, "FORWARD", 2)) ==
        "product_block.f32");
  CHECK(kernelOf(convolutionLine("f32[1,64,14,14]", "f32[64,1,3,3]", "f32[1,64,14,14]", 64)) == "product_block.f32");
  CHECK(kernelOf("GEMM ATensor=f16[64,64] BTensor=f16[64,64] OutputTensor=f16[64,64] Alpha=1") == "gemm_tile.f16");
  caps.isProcessor = false;
  CHECK(kernelOf("GEMM ATensor=f32[256,64] BTensor=f32[64,512] OutputTensor=f32[256,512] Alpha=1") ==
        "gemm_large_tile.f32");
}

TEST_CASE("on drivers that compile slowly an activation of much code is a dispatch behind the product") {
  Caps caps;
  caps.workgroups = kWorkgroupsOfProcessor;
  caps.isProcessor = true;
  caps.features = static_cast<uint32_t>(Feature::SubgroupShuffle);
  const auto kernels = [&](std::string_view line) {
    std::string names;
    for (const Dispatch& dispatch : planOf(line, caps).execution) {
      names += cat(names.empty() ? "" : dispatch.barrierBefore ? " -> " : ", ", kernelName(dispatch.kernel));
      if (kernelName(dispatch.kernel).starts_with("unary"))
        for (const BufferRange& range : dispatch.buffers) CHECK(range.kind == SlotKind::Output);
    }
    return names;
  };
  constexpr const char* kGemm = "GEMM ATensor=f32[64,64] BTensor=f32[64,64] Alpha=1 ";
  CHECK(kernels(cat(kGemm, "OutputTensor=f32[64,64] FusedActivation=LEAKY_RELU(Alpha=0.1)")) == "product_block.f32");
  CHECK(kernels(cat(kGemm, "OutputTensor=f32[64,64] FusedActivation=TANH")) == "product_block.f32 -> unary_packed.f32");
  CHECK(kernels(cat(kGemm, "OutputTensor=f32[64,64]{80,1} FusedActivation=GELU")) == "product_block.f32 -> unary.f32");
  const std::string windows = convolutionLine("f32[1,64,14,14]", "f32[64,64,3,3]", "f32[1,64,14,14]", 1);
  CHECK(kernels(cat(windows, " FusedActivation=RELU")) == "product_block.f32");
  CHECK(kernels(cat(windows, " FusedActivation=SIGMOID")) == "product_block.f32 -> unary_packed.f32");
}
