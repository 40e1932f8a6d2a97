// Plans for devices whose subgroups multiply matrices. No device is involved.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "tests/core/matrix_caps.h"
#include "tests/core/planned.h"

using namespace dimple;
using namespace dimple::testing;

namespace {

Caps matrixCaps() {
  Caps caps = capsOfMatrices();
  caps.workLimit = kDiscreteWorkLimit;
  return caps;
}

}  // namespace

TEST_CASE("of a device's shapes of matrices, the preferred first, the one with the most multiplications is taken") {
  using Shapes = std::vector<MatrixShape>;
  const auto best = [](const Shapes& shapes, const Shapes& preferred = {}) {
    return shapeText(bestShape(shapes, preferred));
  };
  CHECK(best({}) == "0x0x0");
  CHECK(best({{8, 8, 8}}) == "8x8x8");
  CHECK(best({{16, 8, 8}, {16, 8, 16}, {16, 16, 16}}) == "16x16x16");
  CHECK(best({{16, 8, 32}, {16, 16, 16}}) == "16x16x16");
  CHECK(best({{8, 16, 16}, {16, 8, 16}}) == "8x16x16");
  CHECK(best({{16, 16, 16}, {8, 8, 16}, {16, 8, 16}}, {{8, 8, 16}, {16, 8, 16}}) == "16x8x16");
  CHECK(best({{16, 8, 8}, {16, 8, 16}}, {{16, 16, 16}}) == "16x8x16");  // none of those preferred is offered
  CHECK(isUsable({8, 16, 16}, kMaxHalfDepth));
  CHECK_FALSE(isUsable({8, 16, 32}, kMaxHalfDepth));
  CHECK(isUsable({8, 16, 32}, kMaxIntegerDepth));
  for (const MatrixShape& shape : {MatrixShape{}, {32, 8, 16}, {16, 4, 16}, {16, 8, 24}, {16, 8, 64}})
    CHECK_FALSE(isUsable(shape, kMaxIntegerDepth));
}

TEST_CASE("large FLOAT16 products take matrices of subgroups, in tiles that fit their number") {
  const auto tileOf = [](std::string_view line, const Target& caps) {
    const auto plan = planned(line, caps);
    REQUIRE(plan);
    const Dispatch& dispatch = plan->execution[0];
    return cat(kernelName(dispatch.kernel), " ", specOf(dispatch, 3), "x", specOf(dispatch, 4), " ", dispatch.groups[0],
               " ", plan->execution.size());
  };
  constexpr auto kLarge = "GEMM ATensor=f16[4096,4096] BTensor=f16[4096,4096] OutputTensor=f16[4096,4096] Alpha=1";
  CHECK(tileOf(kLarge, matrixCaps()) == "gemm_cooperative_ahead_native.f16 128x256 512 1");
  constexpr auto kTurned =
      "GEMM ATensor=f16[4096,4096] BTensor=f16[4096,4096] TransB=TRANSPOSE OutputTensor=f16[4096,4096] Alpha=1";
  constexpr auto kMiddle = "GEMM ATensor=f16[1024,1024] BTensor=f16[1024,1024] OutputTensor=f16[1024,1024] Alpha=1";
  CHECK(tileOf(kMiddle, matrixCaps()) == "gemm_cooperative_native.f16 128x64 128 1");
  // B along the depth, and as many invocations as its tiles want.
  const auto invocationsOf = [](std::string_view line) {
    const Plan plan = planOf(line, matrixCaps());
    return std::pair(plan.execution[0].groupSize, specOf(plan.execution[0], 16));
  };
  CHECK(tileOf(kTurned, matrixCaps()) == "gemm_cooperative_ahead_native.f16 128x128 1024 1");
  CHECK(invocationsOf(kTurned) == std::pair(128u, 128u));
  CHECK(invocationsOf(kLarge) == std::pair(256u, 256u));
  CHECK(invocationsOf(kMiddle) == std::pair(256u, 0u));
  // Those of which much of a tile would be idle, and one whose rows are not in vectors.
  constexpr auto kNarrow = "GEMM ATensor=f16[16384,512] BTensor=f16[512,128] OutputTensor=f16[16384,128] Alpha=1";
  CHECK(tileOf(kNarrow, matrixCaps()) == "gemm_cooperative_ahead_native.f16 128x128 128 1");
  constexpr auto kThree = "GEMM ATensor=f16[8192,512] BTensor=f16[512,384] OutputTensor=f16[8192,384] Alpha=1";
  CHECK(tileOf(kThree, matrixCaps()) == "gemm_cooperative_ahead_native.f16 128x128 192 1");
  constexpr auto kOdd = "GEMM ATensor=f16[4096,4095] BTensor=f16[4095,4096] OutputTensor=f16[4096,4096] Alpha=1";
  CHECK(tileOf(kOdd, matrixCaps()) == "gemm_cooperative_native.f16 128x128 1024 1");
  // Slices of the depth, and their sum.
  constexpr auto kDown = "GEMM ATensor=f16[512,14336] BTensor=f16[14336,4096] OutputTensor=f16[512,4096] Alpha=1";
  CHECK(tileOf(kDown, matrixCaps()) == "gemm_cooperative_ahead_native.f16 128x256 256 2");
  constexpr auto kDownTurned =
      "GEMM ATensor=f16[512,14336] BTensor=f16[4096,14336] TransB=TRANSPOSE OutputTensor=f16[512,4096] Alpha=1";
  CHECK(tileOf(kDownTurned, matrixCaps()) == "gemm_cooperative_ahead_native.f16 128x128 256 2");
  constexpr auto kDeep = "GEMM ATensor=f16[64,4096] BTensor=f16[4096,64] OutputTensor=f16[64,64] Alpha=1";
  CHECK(tileOf(kDeep, matrixCaps()) == "gemm_cooperative_split_native.f16 16x16 16 1");
  constexpr auto kDeepOdd = "GEMM ATensor=f16[64,4095] BTensor=f16[4095,64] OutputTensor=f16[64,64] Alpha=1";
  CHECK(tileOf(kDeepOdd, matrixCaps()) == "gemm_cooperative_native.f16 64x64 22 2");

  SUBCASE("a device without them") {
    Caps caps = matrixCaps();
    caps.matrices = {};
    CHECK(kernelName(planned(kLarge, caps)->execution[0].kernel) == "gemm_large_tile_native.f16");
  }
  SUBCASE("one whose subgroups are large") {
    Caps caps = matrixCaps();
    caps.subgroupSize = 64;
    CHECK(tileOf(kLarge, caps) == "gemm_cooperative_native.f16 128x128 1024 1");
  }
  SUBCASE("one with little shared memory") {
    Caps caps = matrixCaps();
    caps.sharedBytes = 32768;
    CHECK(tileOf(kLarge, caps) == "gemm_cooperative_ahead_native.f16 128x256 512 1");
    CHECK(tileOf(kTurned, caps) == "gemm_cooperative_ahead_native.f16 128x128 1024 1");
    caps.sharedBytes = 20480;
    CHECK(tileOf(kLarge, caps) == "gemm_cooperative_ahead_native.f16 128x128 1024 1");
    CHECK(tileOf(kOdd, caps) == "gemm_cooperative_native.f16 64x64 4096 1");
    caps.sharedBytes = 16384;
    CHECK(kernelName(planned(kLarge, caps)->execution[0].kernel) == "gemm_native.f16");
  }
  SUBCASE("FLOAT32 only if half precision is allowed") {
    constexpr auto kWide = "GEMM ATensor=f32[4096,4096] BTensor=f32[4096,4096] OutputTensor=f32[4096,4096] Alpha=1";
    CHECK(kernelName(planned(kWide, matrixCaps())->execution[0].kernel) == "gemm_large_tile.f32");
    CHECK(tileOf(kWide, {matrixCaps(), {}, true}) == "gemm_cooperative.f32 128x128 1024 1");
  }
}

TEST_CASE("sums that are rounded before anything follows leave matrices as FLOAT16") {
  constexpr uint32_t kFromHalves = 512;
  constexpr uint32_t kUnscaled = 2048;
  constexpr uint32_t kSameLines = 4096;
  const auto stepsOf = [](std::string_view rest) {
    const Plan plan = planOf(cat("GEMM ATensor=f16[4096,4096] BTensor=f16[4096,4096] ", rest), matrixCaps());
    REQUIRE(kernelName(plan.execution[0].kernel) == "gemm_cooperative_ahead_native.f16");
    return specOf(plan.execution[0], 0);
  };
  constexpr auto kPlain = "OutputTensor=f16[4096,4096] Alpha=1";
  CHECK(stepsOf(kPlain) == (kFromHalves | kUnscaled | kSameLines));
  CHECK(stepsOf("OutputTensor=f16[4096,4096] Alpha=0.5") == (kFromHalves | kSameLines));
  CHECK(stepsOf(cat(kPlain, " FusedActivation=RELU")) == (kFromHalves | kUnscaled | kSameLines));
  // Other functions take numbers that are not rounded, and C is added before.
  CHECK(stepsOf(cat(kPlain, " FusedActivation=SIGMOID")) == 0);
  CHECK(stepsOf(cat("CTensor=f16[4096,4096] Beta=1 ", kPlain)) == 0);
  // Rows that begin between vectors of eight.
  CHECK(stepsOf("OutputTensor=f16[4096,4096]{4100,1} Alpha=1") == 0);
}

TEST_CASE("subgroups share the depth of FLOAT16 products with few tiles") {
  const auto tileOf = [](uint32_t rows, uint32_t columns, uint32_t depth, const Caps& caps,
                         std::string_view more = "") {
    const bool turned = !more.empty();
    const auto plan =
        planned(cat("GEMM ATensor=f16[", rows, ",", depth, "] BTensor=f16[", turned ? columns : depth, ",",
                    turned ? depth : columns, "]", more, " OutputTensor=f16[", rows, ",", columns, "] Alpha=1"),
                caps);
    REQUIRE(plan);
    const Dispatch& d = plan->execution[0];
    return cat(kernelName(d.kernel), " ", specOf(d, 3), "x", specOf(d, 4), "x", specOf(d, 5), " shares=", specOf(d, 13),
               " across=", specOf(d, 6), " ", d.groups[0], " ", plan->execution.size());
  };
  const auto split = [](std::string_view rest) { return cat("gemm_cooperative_split_native.f16 ", rest); };
  const auto isSplit = [](std::string_view text) { return text.starts_with("gemm_cooperative_split"); };
  const Caps caps = matrixCaps();
  CHECK(tileOf(512, 512, 512, caps) == split("32x64x16 shares=8 across=1 128 1"));
  CHECK_FALSE(isSplit(tileOf(512, 520, 512, caps)));
  CHECK(tileOf(256, 256, 128, caps) == split("32x64x16 shares=8 across=1 32 1"));
  CHECK_FALSE(isSplit(tileOf(256, 256, 120, caps)));
  CHECK_FALSE(isSplit(tileOf(250, 255, 512, caps)));
  // Smaller tiles where those are few, and slices of them where sums are long.
  CHECK(tileOf(256, 512, 2040, caps) == split("16x64x32 shares=8 across=1 128 1"));
  CHECK(tileOf(256, 256, 4096, caps) == split("16x32x32 shares=8 across=1 128 1"));
  CHECK(tileOf(128, 256, 8184, caps) == split("16x16x32 shares=8 across=1 128 1"));
  CHECK(tileOf(128, 128, 8184, caps) == split("16x16x32 shares=8 across=1 64 1"));
  CHECK(tileOf(128, 128, 8192, caps) == split("16x16x32 shares=8 across=1 128 2"));
  CHECK(tileOf(256, 640, 4096, caps) == split("32x64x16 shares=8 across=1 80 1"));
  // As many rows as a matrix has.
  CHECK(tileOf(16, 1000, 2048, caps) == split("16x16x32 shares=8 across=1 63 1"));
  CHECK(tileOf(16, 2048, 2048, caps, " TransB=TRANSPOSE") == split("16x16x32 shares=8 across=1 128 1"));
  CHECK_FALSE(isSplit(tileOf(16, 2056, 2048, caps)));
  CHECK_FALSE(isSplit(tileOf(8, 1000, 2048, caps)));
  CHECK(isSplit(tileOf(16, 512, 1024, caps)));
  CHECK_FALSE(isSplit(tileOf(16, 496, 1024, caps)));
  CHECK_FALSE(isSplit(tileOf(16, 512, 1016, caps)));

  // Rows of sums, or parts that both lie along the depth.
  Caps other = caps;
  other.sharedBytes = 36864;
  CHECK(isSplit(tileOf(512, 512, 512, other, " TransB=TRANSPOSE")));
  other.sharedBytes = 36863;
  CHECK_FALSE(isSplit(tileOf(512, 512, 512, other, " TransB=TRANSPOSE")));
  CHECK(isSplit(tileOf(512, 512, 512, other)));
  other.sharedBytes = 34815;
  CHECK_FALSE(isSplit(tileOf(512, 512, 512, other)));
  // Smaller matrices and subgroups, several of which have the same share, and less of the depth at a time.
  other.sharedBytes = 32768;
  other.matrices = {8, 8, 8};
  other.subgroupSize = 8;
  CHECK(tileOf(512, 512, 512, other) == split("32x64x8 shares=8 across=4 128 1"));
  other = caps;
  other.matrices = {8, 16, 16};
  other.subgroupSize = 16;
  CHECK(tileOf(512, 512, 512, other) == split("32x64x16 shares=8 across=2 128 1"));
  other.subgroupSize = 64;
  CHECK_FALSE(isSplit(tileOf(512, 512, 512, other)));
}

TEST_CASE("FLOAT16 attention takes matrices of subgroups, and as many keys at a time as its heads leave room for") {
  const auto lineOf = [](uint32_t queries, uint32_t channels, std::string_view more = "",
                         std::string_view type = "f16") {
    const std::string keys = cat(type, "[1,300,", 4 * channels, "]");
    const std::string tokens = cat(type, "[1,", queries, ",", 4 * channels, "]");
    return cat("MULTIHEAD_ATTENTION QueryTensor=", tokens, " KeyTensor=", keys, " ValueTensor=", keys,
               " OutputTensor=", tokens, " Scale=0.125 HeadCount=4", more);
  };
  const auto kernelOf = [&](const std::string& line, const Caps& caps) {
    const auto plan = planned(line, caps);
    REQUIRE(plan);
    const Dispatch& d = plan->execution[0];
    return cat(kernelName(d.kernel), " ", d.groups[0], " channels=", specOf(d, 3), " keys=", specOf(d, 5),
               " reads=", specOf(d, 10), " plain=", specOf(d, 12), " places=", specOf(d, 13));
  };
  const auto refused = [&](const std::string& line, const Caps& caps) {
    const auto plan = planned(line, caps);
    REQUIRE(plan);
    CHECK(kernelName(plan->execution[0].kernel) != "attention_cooperative_native.f16");
    return passedOverText(*plan);
  };
  constexpr std::string_view kKernel = "attention_cooperative_native.f16 ";
  CHECK(kernelOf(lineOf(300, 128), matrixCaps()) == cat(kKernel, "12 channels=128 keys=64 reads=31 plain=1 places=1"));
  CHECK(kernelOf(lineOf(128, 64), matrixCaps()) == cat(kKernel, "4 channels=64 keys=32 reads=31 plain=1 places=1"));
  CHECK(kernelOf(lineOf(129, 20), matrixCaps()) == cat(kKernel, "8 channels=32 keys=32 reads=0 plain=1 places=1"));
  CHECK(kernelOf(lineOf(9, 256), matrixCaps()) == cat(kKernel, "4 channels=256 keys=32 reads=31 plain=1 places=1"));
  CHECK(kernelOf(lineOf(300, 128, " MaskTensor=i32[1,1] MaskType=KEY_SEQUENCE_LENGTH"), matrixCaps()) ==
        cat(kKernel, "12 channels=128 keys=64 reads=31 plain=0 places=1"));
  // Weights stay in registers where the scale is positive.
  std::string negative = lineOf(300, 128);
  negative.replace(negative.find("Scale=0.125"), 11, "Scale=-0.5");
  CHECK(kernelOf(negative, matrixCaps()) == cat(kKernel, "12 channels=128 keys=64 reads=31 plain=1 places=0"));
  constexpr std::string_view kMany =
      "  not attention_step: It has several queries.\n  not attention_split: It has many queries.\n";
  constexpr std::string_view kSmall =
      "  not attention_narrow_tile: It has too few large tiles to keep the device busy.\n"
      "  not attention_large_tile: It has too few large tiles to keep the device busy.\n";
  CHECK(refused(lineOf(7, 18), matrixCaps()) ==
        "  not attention_step: It has several queries.\n  not attention_split: Its channels are not in vectors.\n"
        "  not attention_cooperative: It has few queries.\n"
        "  not attention_narrow_tile: It has few queries.\n  not attention_large_tile: It has few queries.\n"
        "  not attention_vector_tile: It has few queries.\n  not attention_tile: It has few queries.\n");
  CHECK(refused(lineOf(300, 264), matrixCaps()) ==
        cat(kMany, "  not attention_cooperative: Its heads have many channels.\n", kSmall));
  CHECK(refused(lineOf(300, 64, "", "f32"), matrixCaps()) ==
        cat(kMany, "  not attention_cooperative: Its elements are not FLOAT16.\n", kSmall));

  Caps caps = matrixCaps();
  caps.sharedBytes = 32768;
  CHECK(kernelOf(lineOf(300, 128), caps) == cat(kKernel, "12 channels=128 keys=32 reads=31 plain=1 places=1"));
  caps.sharedBytes = 16384;
  std::string tooLittle(kMany);
  for (const char* kernel : {"cooperative", "narrow_tile", "large_tile", "vector_tile", "tile"})
    tooLittle += cat("  not attention_", kernel, ": The device has too little shared memory.\n");
  CHECK(refused(lineOf(300, 128), caps) == tooLittle);
  caps = matrixCaps();
  caps.matrixHalves = false;
  CHECK(refused(lineOf(300, 64), caps) ==
        cat(kMany, "  not attention_cooperative: The device's subgroups cannot hold FLOAT16 sums.\n", kSmall));
  CHECK(refused(lineOf(300, 64), {}) ==
        cat(kMany, "  not attention_cooperative: The device's subgroups do not multiply matrices.\n", kSmall));
  // Subgroups of eight with matrices of eight: 256 queries.
  caps = matrixCaps();
  caps.subgroupSize = 8;
  caps.matrices = {8, 8, 8};
  CHECK(kernelOf(lineOf(300, 24), caps) == cat(kKernel, "8 channels=24 keys=32 reads=31 plain=1 places=1"));
  caps.subgroupSize = 32;
  CHECK(kernelOf(lineOf(300, 136), caps) == cat(kKernel, "20 channels=144 keys=32 reads=15 plain=1 places=1"));
  caps.matrices = {8, 16, 16};
  CHECK(kernelOf(lineOf(300, 24), caps) == cat(kKernel, "20 channels=32 keys=32 reads=15 plain=1 places=1"));
  // In subgroups of 64 with eight rows an invocation holds less than the kernel knows places of.
  caps.subgroupSize = 64;
  CHECK(kernelOf(lineOf(300, 24), caps) == cat(kKernel, "40 channels=32 keys=32 reads=15 plain=1 places=0"));
  caps.matrices = {16, 16, 16};
  CHECK(kernelOf(lineOf(300, 24), caps) == cat(kKernel, "20 channels=32 keys=32 reads=15 plain=1 places=1"));
  caps.matrices = {8, 8, 16};
  CHECK(refused(lineOf(300, 64), caps) ==
        cat(kMany,
            "  not attention_cooperative: The device's matrices are not as wide as the depth of their factors.\n",
            kSmall));
}

TEST_CASE(
    "attention in FLOAT32 takes the largest tiles that keep the device busy, and splits few queries along the keys") {
  Caps caps;
  caps.workLimit = kDiscreteWorkLimit;
  const auto planOf = [&](uint32_t queries, uint32_t keys, uint32_t heads, uint32_t channels, std::string_view rest) {
    const auto tensor = [&](uint32_t positions) { return cat("f32[1,", positions, ",", heads * channels, "]"); };
    auto plan = planned(
        cat("MULTIHEAD_ATTENTION QueryTensor=", tensor(queries), " KeyTensor=", tensor(keys),
            " ValueTensor=", tensor(keys), " OutputTensor=", tensor(queries), " Scale=0.125 HeadCount=", heads, rest),
        caps);
    REQUIRE(plan);
    return std::move(*plan);
  };
  const auto kernelsOf = [&](uint32_t queries, uint32_t keys, uint32_t heads, uint32_t channels) {
    std::string names;
    for (const Dispatch& d : planOf(queries, keys, heads, channels, "").execution)
      names += cat(kernelName(d.kernel), " ", d.groups[0], " ");
    return names;
  };
  CHECK(kernelsOf(2048, 2048, 32, 128) == "attention_large_tile.f32 512 ");
  CHECK(kernelsOf(2048, 2048, 32, 64) == "attention_narrow_tile.f32 512 ");
  CHECK(kernelsOf(64, 2048, 200, 64) == "attention_vector_tile.f32 200 ");
  CHECK(kernelsOf(129, 100, 4, 64) == "attention_vector_tile.f32 12 ");
  CHECK(kernelsOf(129, 100, 200, 30) == "attention_tile.f32 600 ");
  CHECK(kernelsOf(8, 257, 4, 64) == "attention_split.f32 8 attention_combine.f32 32 ");
  CHECK(kernelsOf(7, 256, 4, 64) == "attention.f32 28 ");

  // Tiles know whether their scores are scaled products, and whether besides they are whole.
  const auto known = [&](uint32_t queries, uint32_t keys, uint32_t channels, std::string_view rest = "") {
    return specOf(planOf(queries, keys, 32, channels, rest).execution.back(), 0);
  };
  constexpr uint32_t kPlain = 1;
  constexpr uint32_t kWhole = 2;
  CHECK(known(2048, 2048, 128) == kWhole);
  CHECK(known(2048, 2048, 64) == kWhole);
  CHECK(known(2048, 2048, 256) == kWhole);
  CHECK(known(2048, 2048, 192) == kPlain);
  CHECK(known(2048, 2048, 48) == kPlain);
  CHECK(known(2000, 2048, 128) == kPlain);
  CHECK(known(2048, 2000, 128) == kPlain);
  CHECK(known(2048, 2048, 128, " MaskTensor=i32[1,1] MaskType=KEY_SEQUENCE_LENGTH") == 0);
  CHECK(known(2048, 2048, 128, " BiasTensor=f32[12288]") == 0);
  CHECK(known(2048, 2048, 128, " RelativePositionBiasTensor=f32[1,32,2048,2048]") == 0);
}

TEST_CASE("matrices of subgroups read vectors where eight elements lie side by side") {
  const auto reads = [](std::string_view line) {
    const auto plan = planned(line, matrixCaps());
    REQUIRE(plan);
    return std::pair(specOf(plan->execution[0], 14), specOf(plan->execution[0], 15));
  };
  constexpr uint32_t kVectors = 1;
  constexpr uint32_t kAcross = 2;
  CHECK(reads("GEMM ATensor=f16[64,64] BTensor=f16[64,64] OutputTensor=f16[64,64] Alpha=1") ==
        std::pair(kVectors, kVectors | kAcross));
  CHECK(reads("GEMM ATensor=f16[64,64] BTensor=f16[64,64] OutputTensor=f16[64,64] TransA=TRANSPOSE TransB=TRANSPOSE "
              "Alpha=1") == std::pair(kVectors | kAcross, kVectors));
  CHECK(reads("GEMM ATensor=f16[64,60] BTensor=f16[60,60] OutputTensor=f16[64,60] Alpha=1") == std::pair(0u, kAcross));
}

TEST_CASE("products of 8-bit integers take matrices of subgroups where the device has such") {
  Caps caps = matrixCaps();
  caps.integerMatrices = {16, 16, 32};
  const auto kernelOf = [](std::string_view line, const Caps& with) {
    const auto plan = planned(line, with);
    REQUIRE_MESSAGE(plan, plan.error().text);
    const Dispatch& dispatch = plan->execution[0];
    return cat(kernelName(dispatch.kernel), " ", specOf(dispatch, 3), "x", specOf(dispatch, 4), " reads ",
               specOf(dispatch, 14), " ", specOf(dispatch, 15), " in ", specOf(dispatch, 8), "x", specOf(dispatch, 10));
  };
  constexpr auto kLine = "MATRIX_MULTIPLY_INTEGER ATensor=i8[64,64] BTensor=u8[64,64] OutputTensor=i32[64,64]";
  CHECK(kernelOf(kLine, caps) == "integer_gemm_cooperative_ahead.i32 32x64 reads 1 3 in 16x32");
  CHECK(kernelOf(kLine, matrixCaps()) == "integer_gemm_tile.i32 0x0 reads 0 0 in 0x0");
  // Look-ahead, where operands come in vectors and tiles are many.
  constexpr auto kLarge =
      "MATRIX_MULTIPLY_INTEGER ATensor=i8[4096,4096] BTensor=u8[4096,4096] OutputTensor=i32[4096,4096]";
  CHECK(kernelOf(kLarge, caps) == "integer_gemm_cooperative_ahead.i32 128x256 reads 1 3 in 16x32");
  CHECK(kernelOf("MATRIX_MULTIPLY_INTEGER ATensor=i8[1024,1024] BTensor=i8[1024,1024]{1,1024} "
                 "OutputTensor=i32[1024,1024]",
                 caps) == "integer_gemm_cooperative_ahead.i32 64x64 reads 1 1 in 16x32");
  Caps without = caps;
  without.features &= ~static_cast<uint32_t>(Feature::DotProduct);
  CHECK(kernelOf(kLarge, without) == "integer_gemm_cooperative.i32 128x128 reads 1 3 in 16x32");
  without = caps;
  without.sharedBytes = 32768;
  CHECK(kernelOf(kLarge, without) == "integer_gemm_cooperative_ahead.i32 64x64 reads 1 3 in 16x32");
  CHECK(kernelOf("MATRIX_MULTIPLY_INTEGER ATensor=i8[2048,64]{1,2048} BTensor=i8[64,2048]{1,64} "
                 "OutputTensor=i32[2048,2048]",
                 caps) == "integer_gemm_cooperative.i32 128x128 reads 3 1 in 16x32");
  CHECK(kernelOf("MATRIX_MULTIPLY_INTEGER ATensor=i8[64,60] BTensor=u8[60,66] OutputTensor=i32[64,66]", caps) ==
        "integer_gemm_cooperative.i32 64x64 reads 0 2 in 16x32");
  const auto reasons = [&](std::string_view line) {
    const auto plan = planned(line, caps);
    REQUIRE_MESSAGE(plan, plan.error().text);
    return passedOverText(*plan);
  };
  CHECK(reasons("MATRIX_MULTIPLY_INTEGER_TO_FLOAT ATensor=i16[64,64] AScaleTensor=f32[1] BTensor=i8[64,64] "
                "BScaleTensor=f32[1] OutputTensor=f32[64,64]")
            .find("Its operands do not have 8 bits.") != std::string::npos);
  CHECK(reasons("MATRIX_MULTIPLY_INTEGER_TO_FLOAT ATensor=u8[64,32769] AScaleTensor=f32[1] BTensor=i8[32769,64] "
                "BScaleTensor=f32[1] OutputTensor=f32[64,64]")
            .find("Its sums may exceed 32 bits.") != std::string::npos);
  CHECK(reasons("MATRIX_MULTIPLY_INTEGER_TO_FLOAT ATensor=u8[64,32768] AScaleTensor=f32[1] BTensor=i8[32768,64] "
                "BScaleTensor=f32[1] OutputTensor=f32[64,64]")
            .find("Its sums may exceed") == std::string::npos);
}

TEST_CASE("parts of a backward convolution wait for the copy that one of them reads") {
  const Plan plan = planOf(
      "CONVOLUTION InputTensor=f16[16,64,64,64]{262144,1,4096,64} FilterTensor=f16[64,64,11,11]! "
      "OutputTensor=f16[16,64,128,128] Mode=CROSS_CORRELATION Direction=BACKWARD Strides=[2,2] Dilations=[1,1] "
      "StartPadding=[5,5] EndPadding=[5,5] OutputPadding=[0,0] GroupCount=1",
      matrixCaps());
  const auto copies = [](const Dispatch& dispatch) { return kernelName(dispatch.kernel).starts_with("channels_last"); };
  const auto product = std::ranges::find_if_not(plan.execution, copies);
  REQUIRE(product != plan.execution.begin());
  CHECK(product->barrierBefore);
}

TEST_CASE("filters of the elements of a backward window are kept as they are") {
  const auto persistentBytes = [](std::string_view sizes, std::string_view more) {
    return planOf(cat("CONVOLUTION InputTensor=f16[1,16,16,16] FilterTensor=f16[16,16,", sizes, "]! OutputTensor=f16",
                      more, " Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] GroupCount=1"),
                  matrixCaps())
        .persistentBytes;
  };
  CHECK(persistentBytes("1,1", "[1,16,16,16]{4096,1,256,16} Direction=FORWARD Strides=[1,1]") == 16 * 16 * 2);
  CHECK(persistentBytes("2,2", "[1,16,32,32]{16384,1,512,16} Direction=BACKWARD Strides=[2,2]") == 4 * 16 * 16 * 2);
}

TEST_CASE("sums that are rounded first stay in registers where it is known which invocations hold them") {
  Caps caps = capsOfMatrices();
  Options options;
  const auto stepsOf = [&](std::string_view line) {
    return specOf(planOf(line, Target(caps, options)).execution.back(), 0);
  };
  constexpr uint32_t kFromHalves = 512 | 2048 | 4096;  // alpha is 1, and all lines have the same channels
  constexpr uint32_t kInRegisters = 1024;
  const std::string product = "GEMM ATensor=f16[4096,1024] BTensor=f16[1024,4096] OutputTensor=f16[4096,4096] Alpha=1";
  const std::string windows =
      "CONVOLUTION InputTensor=f16[16,128,28,28]{100352,1,3584,128} FilterTensor=f16[128,128,3,3]! "
      "OutputTensor=f16[16,128,28,28]{100352,1,3584,128} Mode=CROSS_CORRELATION Strides=[1,1] Dilations=[1,1] "
      "StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1";
  for (const std::string& line : {product, windows}) {
    CAPTURE(line);
    caps.knownPlaces = false;
    CHECK(stepsOf(line) == kFromHalves);
    caps.knownPlaces = true;
    CHECK(stepsOf(line) == (kFromHalves | kInRegisters));
    options.places = false;
    CHECK(stepsOf(line) == kFromHalves);
    options.places = true;
    caps.subgroupSize = 64;
    CHECK((stepsOf(line) & kInRegisters) == 0);
    caps.subgroupSize = 32;
  }
  // C is added before anything rounds, and columns that are no multiple of eight do not begin with vectors.
  CHECK(stepsOf("GEMM ATensor=f16[4096,1024] BTensor=f16[1024,4096] CTensor=f16[4096,4096] "
                "OutputTensor=f16[4096,4096] Alpha=1 Beta=1") == 0);
  CHECK(stepsOf("GEMM ATensor=f16[4096,1024] BTensor=f16[1024,4096] OutputTensor=f16[4096,4096]{4100,1} Alpha=1") == 0);
}

TEST_CASE("places of results that lie evenly are counted by one stride") {
  // The strides of the output, of 16 pictures of 28 x 28 places.
  const auto rowsFirst = [](std::string_view strides, std::string_view padding = "OutputPadding=[0,0]") {
    const Plan plan = planOf(
        cat("CONVOLUTION InputTensor=f16[16,128,28,28]{100352,1,3584,128} "
            "FilterTensor=f16[128,128,3,3]! OutputTensor=f16[16,128,28,28]{",
            strides, "} Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] ", padding, " GroupCount=1"),
        capsOfMatrices());
    const Dispatch& d = plan.execution.back();
    return cat(kernelName(d.kernel), " ", specOf(d, 18));
  };
  const std::string kernel = "convolution_cooperative_ahead_native.f16 ";
  CHECK(rowsFirst("100352,1,3584,128") == cat(kernel, 3));
  CHECK(rowsFirst("114688,1,4096,128") == cat(kernel, 2));  // there is room behind each line
  CHECK(rowsFirst("131072,1,3584,128") == cat(kernel, 2));  // and behind each picture
  CHECK(rowsFirst("100352,1,128,3584") == cat(kernel, 2));  // columns follow each other
  CHECK(rowsFirst("100352,1,3584,128", "OutputPadding=[1,1]") == cat(kernel, 2));
}
