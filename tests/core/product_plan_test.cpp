// Plans of products whose weights DML owns, and of convolutions of few filters. No device is involved.
#include <doctest/doctest.h>

#include "core/text.h"
#include "tests/conformance/options_text.h"
#include "tests/core/matrix_caps.h"
#include "tests/core/planned.h"

using namespace dimple;
using namespace dimple::testing;

namespace {

// 32 rows, a depth of 64.
Plan planOfGemm(std::string_view b, uint32_t columns, std::string_view type = "f32") {
  return planOf(cat("GEMM Alpha=1 ATensor=", type, "[1,1,32,64] BTensor=", type, b, " OutputTensor=", type, "[1,1,32,",
                    columns, "]"));
}

// On a device of matrices, one behind the other.
std::string executedKernels(const std::string& line) {
  std::string names;
  for (const Dispatch& dispatch : planOf(line, capsOfMatrices()).execution)
    names += cat(kernelName(dispatch.kernel), " ");
  return names;
}

// Words of the push block of kernels/matrix/direct.comp.
constexpr size_t kGroupsFirst = 10;
constexpr size_t kSliceBits = 12;

}  // namespace

TEST_CASE("B that DML owns is kept as it is where it is read in vectors") {
  const Plan plan = planOfGemm("[1,1,64,40]!", 40);
  REQUIRE(plan.initialization.size() == 1);
  CHECK(kernelName(plan.initialization[0].kernel) == "copy_packed");
  CHECK(kernelName(plan.execution[0].kernel) == "gemm_vector_tile.f32");
}

TEST_CASE("B that DML owns is copied along the depth where its rows are no vectors") {
  const Plan plan = planOfGemm("[1,1,64,41]!", 41);
  REQUIRE(plan.initialization.size() == 1);
  CHECK(kernelName(plan.initialization[0].kernel) == "transpose.b32");
  CHECK(plan.persistentBytes == 64 * 41 * 4);
  REQUIRE(plan.execution.size() == 1);
  CHECK(kernelName(plan.execution[0].kernel) == "gemm_vector_tile.f32");
  CHECK(plan.execution[0].buffers[1].kind == SlotKind::Persistent);

  const Plan every = planOfGemm("[1,1,64,41]", 41);
  CHECK(every.initialization.empty());
  CHECK(kernelName(every.execution[0].kernel) == "gemm_tile.f32");
}

TEST_CASE("B that DML owns is packed where it has gaps") {
  const Plan plan = planOfGemm("[1,1,64,40]{0,0,41,1}!", 40);
  REQUIRE(plan.initialization.size() == 1);
  CHECK(kernelName(plan.initialization[0].kernel) == "copy.b32");
  CHECK(plan.persistentBytes == 64 * 40 * 4);
  CHECK(kernelName(plan.execution[0].kernel) == "gemm_vector_tile.f32");
}

TEST_CASE("B that DML owns is kept as it is where no layout of it is read in vectors") {
  const Plan plan = planOf("GEMM Alpha=1 ATensor=f32[1,1,32,63] BTensor=f32[1,1,63,41]! OutputTensor=f32[1,1,32,41]");
  REQUIRE(plan.initialization.size() == 1);
  CHECK(kernelName(plan.initialization[0].kernel) == "copy_packed");
  CHECK(kernelName(plan.execution[0].kernel) == "gemm_tile.f32");
}

TEST_CASE("matrices of B that several products share are kept once") {
  const Plan plan =
      planOf("GEMM Alpha=1 ATensor=f32[3,2,32,64] BTensor=f32[3,2,64,41]{0,2624,41,1}! OutputTensor=f32[3,2,32,41]");
  CHECK(plan.persistentBytes == 2 * 64 * 41 * 4);
}

TEST_CASE("vectors of FLOAT16 are of eight elements") {
  CHECK(kernelName(planOfGemm("[1,1,64,44]!", 44, "f16").initialization[0].kernel) != "copy_packed");
  CHECK(kernelName(planOfGemm("[1,1,64,48]!", 48, "f16").initialization[0].kernel) == "copy_packed");
}

TEST_CASE("large tiles know how they read and store, and whether there is one matrix of whole parts") {
  constexpr uint32_t kAAlong = 4, kBAlong = 8, kFours = 32, kWhole = 64, kUnrolled = 128;
  Caps caps;
  caps.fixesParameters = true;
  const auto directionsOf = [&](std::string_view a, std::string_view b, std::string_view y,
                                std::string_view more = "") {
    const Plan plan = planOf(cat("GEMM ATensor=f32", a, " BTensor=f32", b, " OutputTensor=f32", y, " Alpha=1", more),
                             {caps, optionsWithout("estimates")});
    CHECK(kernelName(plan.execution[0].kernel) == "gemm_large_tile.f32");
    const uint32_t directions = specOf(plan.execution[0], 12);
    CHECK((directions & kUnrolled) == (caps.isProcessor ? 0 : kUnrolled));
    return directions & ~kUnrolled;
  };
  CHECK(directionsOf("[2048,64]", "[64,2048]", "[2048,2048]") == (kAAlong | kFours | kWhole));
  CHECK(directionsOf("[2048,16]", "[16,2048]", "[2048,2048]") == (kAAlong | kFours | kWhole));
  CHECK(directionsOf("[64,2048]", "[64,2048]", "[2048,2048]", " TransA=TRANSPOSE") == (kFours | kWhole));
  CHECK(directionsOf("[2048,64]", "[2048,64]", "[2048,2048]{2052,1}",
                     " TransB=TRANSPOSE CTensor=f32[2048,2048]{0,1}") == (kAAlong | kBAlong | kFours | kWhole));
  CHECK(directionsOf("[2048,72]", "[72,2048]", "[2048,2048]") == (kAAlong | kFours));
  CHECK(directionsOf("[2,2048,64]", "[2,64,2048]", "[2,2048,2048]") == (kAAlong | kFours));
  CHECK(directionsOf("[2048,64]", "[64,2048]", "[2048,2048]{2051,1}") == kAAlong);
  CHECK(directionsOf("[1024,2048]", "[2048,1024]", "[1024,1024]") == (kAAlong | kFours));  // in slices
  caps.isProcessor = true;
  CHECK(directionsOf("[2048,64]", "[64,2048]", "[2048,2048]") == (kAAlong | kFours | kWhole));
}

TEST_CASE("a transposed B of many rows and columns is copied where pipelines are not made for it") {
  Caps caps;
  const auto plan = [&](std::string_view a, std::string_view b, std::string_view y, std::string_view type = "f32") {
    return planOf(
        cat("GEMM ATensor=", type, a, " BTensor=", type, b, " OutputTensor=", type, y, " TransB=TRANSPOSE Alpha=1"),
        caps);
  };
  const auto copies = [&](auto... tensors) { return plan(tensors...).execution.size() == 2; };
  CHECK(copies("[1024,64]", "[2048,64]", "[1024,2048]"));
  CHECK(copies("[3,1024,64]", "[3,2048,64]", "[3,1024,2048]"));
  CHECK(plan("[1024,64]", "[2048,64]", "[1024,2048]").temporaryBytes == 4 * 2048 * 64);
  // The same at initialization.
  CHECK(plan("[1024,64]", "[2048,64]!", "[1024,2048]").initialization.size() == 1);
  CHECK(plan("[1024,64]", "[2048,64]!", "[1024,2048]").execution.size() == 1);
  CHECK(plan("[1024,64]", "[2048,64]!", "[1024,2048]").persistentBytes == 4 * 2048 * 64);
  CHECK_FALSE(copies("[1023,64]", "[4096,64]", "[1023,4096]"));
  CHECK_FALSE(copies("[1024,64]", "[1920,64]", "[1024,1920]"));  // few tiles
  CHECK_FALSE(copies("[1024,64]", "[2050,64]", "[1024,2050]"));
  CHECK_FALSE(copies("[1024,64]", "[2048,64]{1,2048}", "[1024,2048]"));  // has its rows side by side
  CHECK_FALSE(copies("[1024,64]", "[2048,64]", "[1024,2048]{1,1024}"));
  CHECK_FALSE(copies("[1024,64]", "[2048,64]", "[1024,2048]", "f16"));
  caps.isProcessor = true;
  CHECK_FALSE(copies("[1024,64]", "[2048,64]", "[1024,2048]"));
  caps = {};
  caps.fixesParameters = true;
  CHECK_FALSE(copies("[1024,64]", "[2048,64]", "[1024,2048]"));
}

TEST_CASE("few rows of FLOAT32 with few weights take the kernel that compiles fast") {
  Caps caps;
  caps.maxInvocations = 1024;
  // Rows and columns, the depth, matrices.
  const auto first = [&](uint32_t rows, uint32_t columns, uint32_t depth, uint32_t matrices = 1) {
    return planOf(cat("GEMM Alpha=1 ATensor=f32[", matrices, ",", rows, ",", depth, "] BTensor=f32[", matrices, ",",
                      depth, ",", columns, "] OutputTensor=f32[", matrices, ",", rows, ",", columns, "]"),
                  caps)
        .execution[0];
  };
  const auto kernel = [&](auto... sizes) { return std::string(kernelName(first(sizes...).kernel)); };
  CHECK(kernel(16, 512, 512) == "gemm_few_rows_latency.f32");
  CHECK(kernel(3, 512, 512) == "gemm_few_rows_latency.f32");
  CHECK(kernel(2, 512, 512) == "gemm_few_rows_vector.f32");
  CHECK(kernel(16, 516, 512) == "gemm_few_rows_vector.f32");
  CHECK(kernel(17, 512, 512) != "gemm_few_rows_latency.f32");
  // Few short sums, too.
  CHECK(kernel(16, 16, 16, 4) == "gemm_few_rows_latency.f32");
  CHECK(kernel(16, 16, 16, 64) == "gemm_few_rows_latency.f32");
  CHECK(kernel(16, 16, 16, 65) == "gemm_vector_tile.f32");
  CHECK(kernel(16, 16, 12, 4) == "gemm_vector_tile.f32");
  // Each invocation takes one step of four of short sums.
  constexpr size_t kSlices = 15;
  const auto slices = [&](auto... sizes) { return first(sizes...).push.at(kSlices); };
  CHECK(slices(16, 64, 16) == 3);
  CHECK(slices(16, 64, 64) == 4);
  CHECK(slices(16, 64, 68) == 5);
  CHECK(slices(16, 64, 256) == 6);
  caps.maxInvocations = 0;
  CHECK(kernel(16, 512, 512) == "gemm_few_rows_vector.f32");
  CHECK(kernel(16, 16, 16, 4) == "gemm_vector_tile.f32");
}

TEST_CASE("B of 8-bit integers that DML owns is copied where matrices of subgroups read it in vectors") {
  Caps caps;
  caps.matrices = {16, 16, 16};
  caps.integerMatrices = {16, 16, 32};
  caps.subgroupSize = 32;
  caps.sharedBytes = 48 * 1024;
  const auto line = [](uint32_t depth, uint32_t columns) {
    return cat("MATRIX_MULTIPLY_INTEGER ATensor=u8[64,", depth, "] BTensor=i8[", depth, ",", columns,
               "]! OutputTensor=i32[64,", columns, "]");
  };
  CHECK(kernelName(planOf(line(64, 64), caps).initialization[0].kernel) == "copy_packed");
  const Plan packed = planOf(line(64, 63), caps);
  CHECK(kernelName(packed.initialization[0].kernel) == "transpose.b8");
  CHECK(specOf(packed.execution[0], 15) == 1);  // vectors along the depth
  CHECK(kernelName(planOf(line(60, 63), caps).initialization[0].kernel) == "copy_packed");
  CHECK(kernelName(planOf(line(64, 63)).initialization[0].kernel) ==
        "copy_packed");  // kernels that read single elements
}

TEST_CASE("integer windows of one element are products of matrices, but for those of groups") {
  Caps caps;
  caps.features = ~0u;
  caps.integerMatrices = {16, 16, 32};
  caps.subgroupSize = 32;
  caps.sharedBytes = 48 * 1024;
  const auto kernelOf = [&](uint32_t window, uint32_t padding, uint32_t groups, uint32_t stride) {
    const uint32_t size = (56 + 2 * padding - window) / stride + 1;
    const Plan plan = planOf(cat("CONVOLUTION_INTEGER InputTensor=u8[16,256,56,56] FilterTensor=i8[64,", 256 / groups,
                                 ",", window, ",", window, "] OutputTensor=i32[16,64,", size, ",", size, "] Strides=[",
                                 stride, ",", stride, "] Dilations=[1,1] StartPadding=[", padding, ",", padding,
                                 "] EndPadding=[", padding, ",", padding, "] GroupCount=", groups),
                             caps);
    CHECK(plan.execution.size() == 1);
    return kernelName(plan.execution[0].kernel);
  };
  CHECK(kernelOf(1, 0, 1, 1) == "integer_gemm_cooperative_ahead.i32");
  for (const std::string_view name : {kernelOf(1, 0, 2, 1), kernelOf(1, 0, 1, 2), kernelOf(1, 1, 1, 1)})
    CHECK(name == "integer_convolution_cooperative.i32");
}

TEST_CASE("integer windows are read in vectors of channels, between zero points") {
  Caps caps;
  caps.features = ~0u;
  caps.integerMatrices = {16, 16, 32};
  caps.subgroupSize = 32;
  caps.sharedBytes = 48 * 1024;
  const auto line = [](uint32_t channels, uint32_t filters, std::string_view more, uint32_t side = 14,
                       uint32_t groups = 1) {
    return cat("CONVOLUTION_INTEGER InputTensor=u8[16,", channels, ",", side, ",", side, "] FilterTensor=i8[", filters,
               ",", channels / groups, ",3,3]", more, " OutputTensor=i32[16,", filters, ",", side, ",", side,
               "] Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] GroupCount=", groups);
  };
  const auto kernelsOf = [&](const std::string& text) {
    std::string names;
    for (const Dispatch& dispatch : planOf(text, caps).execution) names += cat(kernelName(dispatch.kernel), " ");
    return names;
  };
  const Plan plan = planOf(line(256, 256, "! InputZeroPointTensor=u8[1]"), caps);
  REQUIRE(plan.execution.size() == 2);
  const Dispatch& copy = plan.execution[0];
  CHECK(kernelName(copy.kernel) == "channels_last_native.b8");
  CHECK(copy.push[4] == 16 * 16 * 16 * 256 / 16);
  CHECK(copy.push[6] == 1);  // a zero point
  const Dispatch& product = plan.execution[1];
  CHECK(kernelName(product.kernel) == "integer_convolution_cooperative_ahead.i32");
  CHECK(specOf(product, 3) == 64);
  CHECK(specOf(product, 4) == 128);
  CHECK(specOf(product, 5) == 64);
  CHECK(specOf(product, 12) == 2);      // the sums of rows that the zero point of columns takes
  CHECK((product.push[10] & 64) != 0);  // 196 places, in fours
  CHECK(plan.initialization.size() == 1);
  const Plan odd = planOf(line(256, 256, "!", 15), caps);
  CHECK(odd.execution[0].push[6] == 0);
  CHECK((odd.execution[1].push[10] & 64) == 0);
  // Filters that are not owned are copied first, if they serve many places.
  CHECK(kernelsOf(line(48, 64, "")) ==
        "copy_native.b8 channels_last_native.b8 integer_convolution_cooperative_ahead.i32 ");
  CHECK(kernelsOf(line(64, 64, "", 5)) == "integer_convolution_cooperative.i32 ");
  CHECK(kernelsOf(line(64, 128, "!", 14, 2)).ends_with("integer_convolution_cooperative_ahead.i32 "));
  // Channels in no vectors, few filters, less shared memory, no dot products.
  CHECK(kernelsOf(line(40, 64, "!")) == "integer_convolution_cooperative.i32 ");
  CHECK(kernelsOf(line(64, 16, "!")) == "integer_convolution_cooperative.i32 ");
  caps.sharedBytes = 20 * 1024;
  CHECK(specOf(planOf(line(256, 256, "!"), caps).execution[1], 3) == 32);
  caps.features &= ~static_cast<uint32_t>(Feature::DotProduct);
  const Plan without = planOf(line(64, 64, "!"), caps);
  CHECK(kernelName(without.execution[0].kernel) == "integer_convolution_cooperative.i32");
  CHECK(passedOverText(without).find("The device has no integer dot products.") != std::string::npos);
}

TEST_CASE("filters that DML owns are packed in the order of the depth") {
  // 3 x 3 x channels x filters.
  const Plan plan = planOf(convolutionLine("f32[1,8,9,9]", "f32[40,8,3,3]{1,40,960,320}!", "f32[1,40,9,9]", 1));
  REQUIRE(plan.initialization.size() == 1);
  CHECK(kernelName(plan.initialization[0].kernel) == "copy.b32");
  CHECK(kernelName(plan.execution[0].kernel) == "convolution_split_tile.f32");
  CHECK(plan.execution[0].buffers[0].kind == SlotKind::Persistent);
  // Backward, packed filters are packed by channels and not by filters.
  const Plan backward = planOf(convolutionLine("f32[1,8,9,9]", "f32[8,40,3,3]!", "f32[1,40,9,9]", 1, "BACKWARD"));
  REQUIRE(backward.initialization.size() == 1);
  CHECK(kernelName(backward.initialization[0].kernel) == "copy.b32");
  CHECK(kernelName(
            planOf(convolutionLine("f32[1,8,9,9]", "f32[40,8,3,3]!", "f32[1,40,9,9]", 1)).initialization[0].kernel) ==
        "copy_packed");
}

TEST_CASE("convolutions of few filters a group are computed directly") {
  const auto plannedBy = [](const std::string& line) { return planOf(line).execution[0]; };
  const Dispatch depthwise = plannedBy(convolutionLine("f32[1,64,56,56]", "f32[64,1,3,3]", "f32[1,64,56,56]", 64));
  CHECK(kernelName(depthwise.kernel) == "convolution_direct.f32");
  CHECK(specOf(depthwise, 3) == 1);
  CHECK(specOf(depthwise, 4) == 3);
  CHECK(specOf(depthwise, 5) == 1);
  CHECK(depthwise.push[kGroupsFirst] == 0);
  CHECK(depthwise.push[kSliceBits] == 0);

  const Dispatch last = plannedBy(convolutionLine("f32[1,64,56,56]{0,1,3584,64}", "f32[64,1,3,3]",
                                                  "f32[1,64,28,28]{0,1,1792,64}", 64, "FORWARD", 2));
  CHECK(kernelName(last.kernel) == "convolution_direct.f32");
  CHECK(specOf(last, 5) == 2);
  CHECK(last.push[kGroupsFirst] == 1);

  const Dispatch toThree = plannedBy(convolutionLine("f32[1,64,56,56]", "f32[3,64,3,3]", "f32[1,3,56,56]", 1));
  CHECK(kernelName(toThree.kernel) == "convolution_direct.f32");
  CHECK(specOf(toThree, 3) == 4);
  CHECK(toThree.push[kSliceBits] == 4);  // 4 of 64 channels a slice

  const auto kernelOf = [&](const std::string& line) { return kernelName(plannedBy(line).kernel); };
  CHECK(kernelOf(convolutionLine("f32[1,64,28,28]", "f32[31,64,3,3]", "f32[1,31,28,28]", 1, "FORWARD", 1)) !=
        "convolution_tile.f32");
  CHECK(kernelOf(convolutionLine("f32[1,63,9,9]", "f32[32,63,3,3]", "f32[1,32,9,9]", 1)) == "convolution_tile.f32");
  CHECK(kernelOf(convolutionLine("f32[1,64,9,9]", "f32[64,16,3,3]", "f32[1,16,9,9]", 1, "BACKWARD")) ==
        "convolution_direct.f32");
  CHECK(kernelOf(convolutionLine("f32[1,64,9,9]", "f32[64,1,3,3]", "f32[1,64,9,9]", 64, "BACKWARD")) ==
        "convolution_direct.f32");
  CHECK(kernelOf(convolutionLine("f32[1,64,9,1]", "f32[64,1,3,1]", "f32[1,64,9,3]", 64)) == "convolution_direct.f32");
  CHECK(kernelOf(convolutionLine("f32[1,64,9,2]", "f32[64,1,3,4]", "f32[1,64,9,1]", 64)) == "convolution.f32");
}

TEST_CASE("windows of 3 x 3 whose channels lie side by side are read from patches") {
  const Caps caps = capsOfMatrices();
  const auto line = [](uint32_t batch, uint32_t channels, uint32_t size, uint32_t filters) {
    return convolutionLine(cat("f16[", batch, ",", channels, ",", size, ",", size, "]{", channels * size * size, ",1,",
                               channels * size, ",", channels, "}"),
                           cat("f16[", filters, ",", channels, ",3,3]!"),
                           cat("f16[", batch, ",", filters, ",", size, ",", size, "]{", filters * size * size, ",1,",
                               filters * size, ",", filters, "}"),
                           1);
  };
  const std::string patch = "convolution_cooperative_patch_native.f16 ";
  const Plan plan = planOf(line(16, 256, 14, 256), caps);
  REQUIRE(plan.execution.size() == 1);
  const Dispatch& product = plan.execution[0];
  CHECK(cat(kernelName(product.kernel), " ") == patch);
  CHECK(specOf(product, 4) == 112);
  CHECK(product.groups[0] == 2 * 16 * 4);  // two tiles are the 14 lines of 16
  CHECK(plan.persistentBytes == 256 * 256 * 9 * 2);
  const Dispatch small = planOf(line(16, 512, 7, 512), caps).execution.front();
  CHECK(cat(kernelName(small.kernel), " ") == patch);
  CHECK(specOf(small, 4) == 64);
  CHECK(small.groups[0] == 16 * 8);
  // Few tiles; wide pictures; filters and channels that do not come in tiles and chunks.
  for (const std::string& other :
       {line(1, 256, 14, 256), line(16, 64, 56, 64), line(16, 256, 14, 272), line(16, 288, 14, 256)})
    CHECK(executedKernels(other).find(patch) == std::string::npos);
}

TEST_CASE("windows of few channels are read in vectors of their lines") {
  const Caps caps = capsOfMatrices();
  const std::string padded = "few_channels_native.b16 convolution_cooperative_ahead_native.f16 ";
  const auto everySecond = [](std::string_view input, std::string_view filter, std::string_view output) {
    return convolutionLine(input, filter, output, 1, "FORWARD", 2);
  };
  const Plan plan = planOf(everySecond("f16[16,3,224,224]", "f16[64,3,7,7]!", "f16[16,64,110,110]"), caps);
  REQUIRE(plan.execution.size() == 2);
  REQUIRE(plan.initialization.size() == 1);
  CHECK(kernelName(plan.initialization[0].kernel) == "few_channels_native.b16");
  CHECK(plan.persistentBytes == 64 * 7 * 32 * 2);
  const Dispatch& product = plan.execution[1];
  CHECK(kernelName(product.kernel) == "convolution_cooperative_ahead_native.f16");
  CHECK(product.push[6] == 7 * 32);
  CHECK(specOf(product, 15) == 9);
  CHECK(product.push[14] == 0);  // its workgroups do not all run at once
  // Filters that are not owned; places next to each other, of eight channels each.
  CHECK(executedKernels(everySecond("f16[16,3,224,224]", "f16[64,3,7,7]", "f16[16,64,110,110]")) ==
        "few_channels_native.b16 " + padded);
  CHECK(executedKernels(convolutionLine("f16[1,3,224,224]", "f16[32,3,5,5]!", "f16[1,32,222,222]", 1)) == padded);
  // Few places; small windows; a single channel, most of which would be zeros; eight channels; groups; FLOAT32.
  CHECK(executedKernels(everySecond("f16[1,3,56,56]", "f16[64,3,7,7]!", "f16[1,64,26,26]")) ==
        "convolution_cooperative_native.f16 ");
  CHECK(executedKernels(convolutionLine("f16[1,3,224,224]", "f16[32,3,3,3]!", "f16[1,32,224,224]", 1)) ==
        "convolution_cooperative_native.f16 ");
  CHECK(executedKernels(convolutionLine("f16[1,1,224,224]", "f16[32,1,9,9]!", "f16[1,32,218,218]", 1)) ==
        "convolution_cooperative_native.f16 ");
  CHECK(executedKernels(convolutionLine("f16[1,8,224,224]", "f16[64,8,3,3]!", "f16[1,64,224,224]", 1)) ==
        "channels_last_native.b16 convolution_cooperative_vectors_native.f16 ");
  CHECK(executedKernels(convolutionLine("f16[1,6,224,224]", "f16[64,3,5,5]!", "f16[1,64,222,222]", 2)) ==
        "convolution_cooperative_native.f16 ");
  CHECK(executedKernels(everySecond("f32[16,3,224,224]", "f32[64,3,7,7]!", "f32[16,64,110,110]"))
            .starts_with("convolution_narrow_tile.f32 "));
}

TEST_CASE("windows of FLOAT16 with many tiles are read in vectors of channels") {
  const Caps caps = capsOfMatrices();
  const Plan plan = planOf(convolutionLine("f16[16,256,14,14]", "f16[256,256,3,3]!", "f16[16,256,14,14]", 1), caps);
  REQUIRE(plan.execution.size() == 2);
  CHECK(kernelName(plan.execution[0].kernel) == "channels_last_native.b16");
  CHECK(kernelName(plan.execution[1].kernel) == "convolution_cooperative_ahead_native.f16");
  CHECK(specOf(plan.execution[1], 4) == 64);
  constexpr size_t kFlags = 14;
  constexpr uint32_t kBringsWeights = 512;
  CHECK((plan.execution[1].push[kFlags] & kBringsWeights) != 0);
  // Slices, where larger tiles are few.
  const Plan deep = planOf(convolutionLine("f16[16,512,7,7]", "f16[512,512,3,3]!", "f16[16,512,7,7]", 1), caps);
  REQUIRE(deep.execution.size() == 3);
  CHECK(specOf(deep.execution[1], 4) == 128);
  CHECK(deep.execution[1].push[8] == 4);
  // Few tiles, and filters that are owned or not; few filters; channels that are no multiple of a part's steps, or of
  // eight.
  const Plan few = planOf(convolutionLine("f16[1,256,14,14]", "f16[256,256,3,3]!", "f16[1,256,14,14]", 1), caps);
  REQUIRE(few.execution.size() == 1);
  CHECK(kernelName(few.execution[0].kernel) == "convolution_cooperative_gathered_native.f16");
  CHECK(few.execution[0].groups[0] == 112);
  CHECK(executedKernels(convolutionLine("f16[1,512,7,7]", "f16[512,512,3,3]!", "f16[1,512,7,7]", 1)) ==
        "convolution_cooperative_gathered_native.f16 ");
  CHECK(executedKernels(convolutionLine("f16[1,64,56,56]", "f16[64,64,3,3]!", "f16[1,64,56,56]", 1))
            .starts_with("convolution_cooperative_native.f16 "));
  CHECK(executedKernels(convolutionLine("f16[1,264,14,14]", "f16[256,264,3,3]!", "f16[1,256,14,14]", 1)) ==
        "convolution_cooperative_native.f16 convolution_combine_native.f16 ");
  CHECK(executedKernels(convolutionLine("f16[1,256,14,14]", "f16[256,256,3,3]", "f16[1,256,14,14]", 1)) ==
        "convolution_cooperative_native.f16 convolution_combine_native.f16 ");
  CHECK(executedKernels(convolutionLine("f16[16,256,14,14]", "f16[256,16,3,3]!", "f16[16,256,14,14]", 16))
            .starts_with("convolution_cooperative_native.f16 "));
  CHECK(executedKernels(convolutionLine("f16[16,40,28,28]", "f16[64,40,3,3]!", "f16[16,64,28,28]", 1)) ==
        "channels_last_native.b16 convolution_cooperative_vectors_native.f16 ");
  CHECK(executedKernels(convolutionLine("f16[16,36,28,28]", "f16[64,36,3,3]!", "f16[16,64,28,28]", 1)) ==
        "convolution_cooperative_native.f16 ");

  const auto everySecond = [&](uint32_t window, uint32_t to) {
    return planOf(cat("CONVOLUTION InputTensor=f16[16,128,28,28] FilterTensor=f16[128,64,", window, ",", window,
                      "]! OutputTensor=f16[16,64,", to, ",", to,
                      "] Mode=CROSS_CORRELATION Direction=BACKWARD Strides=[2,2] Dilations=[1,1] StartPadding=[1,1] "
                      "EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1"),
                  caps);
  };
  const Plan backward = everySecond(4, 56);
  REQUIRE(backward.execution.size() == 8);
  CHECK(kernelName(backward.execution[7].kernel) == "convolution_cooperative_ahead_native.f16");
  CHECK(specOf(backward.execution[7], 4) == 64);
  CHECK(specOf(backward.execution[7], 5) == 32);
  CHECK(backward.execution[7].continues);
  for (size_t i = 0; i < 4; ++i) CHECK_FALSE(backward.execution[i].barrierBefore);
  // The places of one element of the window are computed last: they read no copy, and so wait for none.
  const Plan uneven = everySecond(3, 55);
  REQUIRE(uneven.execution.size() == 7);
  for (size_t i = 0; i < 3; ++i) CHECK(kernelName(uneven.execution[i].kernel).starts_with("channels_last"));
  CHECK(uneven.execution[3].barrierBefore);
  for (size_t i = 4; i < 7; ++i) CHECK(uneven.execution[i].continues);
  CHECK_FALSE(kernelName(uneven.execution[6].kernel).ends_with("ahead_native.f16"));
  // A window of one element is a product of matrices as they lie.
  const Plan pointwise = planOf(
      "CONVOLUTION InputTensor=f16[16,256,56,56] FilterTensor=f16[64,256,1,1]! OutputTensor=f16[16,64,56,56] "
      "Mode=CROSS_CORRELATION Strides=[1,1] Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] "
      "GroupCount=1",
      caps);
  REQUIRE(pointwise.execution.size() == 1);
  CHECK(kernelName(pointwise.execution[0].kernel) == "gemm_cooperative_native.f16");
  CHECK(specOf(pointwise.execution[0], 4) == 256);
}

TEST_CASE("large backward convolutions are forward ones of every second place, side by side") {
  const Plan plan = planOf(
      "CONVOLUTION InputTensor=f32[16,64,28,28] FilterTensor=f32[64,32,4,4]! OutputTensor=f32[16,32,56,56] "
      "Mode=CROSS_CORRELATION Direction=BACKWARD Strides=[2,2] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] "
      "OutputPadding=[0,0] GroupCount=1");
  REQUIRE(plan.execution.size() == 4);
  for (const Dispatch& dispatch : plan.execution) {
    CHECK(kernelName(dispatch.kernel) == "convolution_tile.f32");
    CHECK(specOf(dispatch, 2) == 0);
    CHECK(dispatch.push[5] == 16 * 28 * 28);  // rows, columns, depth
    CHECK(dispatch.push[6] == 64 * 2 * 2);
    CHECK(dispatch.continues == (&dispatch != &plan.execution.front()));
  }
  CHECK(plan.initialization.size() == 4);
}

TEST_CASE("backward windows that lie side by side are products of matrices") {
  const auto line = [](uint32_t side, uint32_t window, uint32_t stride, uint32_t padding, uint32_t to) {
    return cat("CONVOLUTION InputTensor=f32[1,32,", side, ",", side, "] FilterTensor=f32[32,24,", window, ",", window,
               "] OutputTensor=f32[1,24,", to, ",", to, "] Mode=CROSS_CORRELATION Direction=BACKWARD Strides=[", stride,
               ",", stride, "] Dilations=[1,1] StartPadding=[", padding, ",", padding,
               "] EndPadding=[0,0] OutputPadding=[0,0] GroupCount=1");
  };
  const Plan plan = planOf(line(20, 2, 2, 0, 40));
  REQUIRE(plan.execution.size() == 1);
  CHECK(kernelName(plan.execution[0].kernel) == "gemm_tile.f32");
  CHECK(plan.execution[0].push[4] == 24);  // rows, columns, depth
  CHECK(plan.execution[0].push[5] == 20);
  CHECK(plan.execution[0].push[6] == 32);
  // Windows that overlap, have gaps between or begin outside; lines that are short.
  for (const std::string& other : {line(20, 3, 2, 0, 41), line(20, 2, 3, 0, 59), line(20, 2, 2, 1, 40),
                                   line(20, 2, 2, 0, 39), line(12, 2, 2, 0, 24)})
    CHECK(kernelName(planOf(other).execution[0].kernel) == "convolution_tile.f32");
}

TEST_CASE("the parts of a workgroup share the depth where tiles are few") {
  const auto line = [](uint32_t rows, uint32_t columns, uint32_t depth) {
    return cat("GEMM Alpha=1 ATensor=f32[", rows, ",", depth, "] BTensor=f32[", depth, ",", columns,
               "] OutputTensor=f32[", rows, ",", columns, "]");
  };
  const Plan plan = planOf(line(512, 512, 512));
  REQUIRE(plan.execution.size() == 1);
  CHECK(kernelName(plan.execution[0].kernel) == "gemm_split_tile.f32");
  CHECK(plan.execution[0].groups[0] == 8 * 16);
  for (const std::string& other : {line(64, 64, 64), line(256, 288, 256), line(768, 768, 768), line(512, 512, 2048)})
    CHECK(kernelName(planOf(other).execution[0].kernel) == "gemm_split_tile.f32");
  // Many tiles, long sums of few tiles and of very few, fewer steps than parts take at a time, tiles that are mostly
  // idle, elements that are in no vectors.
  for (const std::string& other : {line(1024, 1024, 512), line(512, 512, 2052), line(256, 288, 260), line(512, 512, 60),
                                   line(32, 512, 512), line(512, 16, 512), line(511, 510, 509)})
    CHECK(kernelName(planOf(other).execution[0].kernel) != "gemm_split_tile.f32");
  // Of few products tiles are small.
  const Plan few = planOf(line(64, 196, 384));
  REQUIRE(few.execution.size() == 1);
  CHECK(kernelName(few.execution[0].kernel) == "gemm_split_small_tile.f32");
  CHECK(few.execution[0].groups[0] == 4 * 13);
  for (const std::string& other : {line(64, 196, 124), line(64, 196, 1024), line(256, 272, 384)})
    CHECK(kernelName(planOf(other).execution[0].kernel) != "gemm_split_small_tile.f32");
  Caps small;
  small.sharedBytes = 28 * 1024;
  CHECK(kernelName(planOf(line(512, 512, 512), small).execution[0].kernel) == "gemm_vector_tile.f32");
}

TEST_CASE("a convolution of few tiles is one dispatch") {
  // One that does not share enough for transforms in one dispatch, too.
  Caps caps;
  caps.sharedBytes = 31 * 1024;
  const Plan plan = planOf(convolutionLine("f32[1,64,56,56]", "f32[64,64,3,3]!", "f32[1,64,56,56]", 1), caps);
  REQUIRE(plan.execution.size() == 1);
  CHECK(kernelName(plan.execution[0].kernel) == "convolution_split_tile.f32");
  CHECK(plan.execution[0].groups[0] == 131);
  REQUIRE(plan.passedOver.size() > 4);
  CHECK(plan.passedOver[4].kernel == "winograd_output_2");
  CHECK(plan.passedOver[4].reason == "Few tiles share the depth in one dispatch.");
  const auto kernelOf = [](const std::string& line) { return kernelName(planOf(line).execution[0].kernel); };
  CHECK(kernelOf(convolutionLine("f32[1,64,56,56]", "f32[64,64,3,3]", "f32[1,64,28,28]", 1, "FORWARD", 2)) ==
        "convolution_split_tile.f32");
  CHECK(kernelOf(convolutionLine("f16[1,64,56,56]", "f16[64,64,3,3]", "f16[1,64,28,28]", 1, "FORWARD", 2)) ==
        "convolution_tile.f16");
  // Very few tiles have slices of the depth, too.
  const Plan sliced = planOf(convolutionLine("f32[1,256,14,14]", "f32[256,256,3,3]", "f32[1,256,14,14]", 1));
  REQUIRE(sliced.execution.size() == 2);
  CHECK(kernelName(sliced.execution[0].kernel) == "convolution_split_tile.f32");
  CHECK(sliced.execution[0].groups[0] == 4 * 9 * 6);
  CHECK(kernelOf(convolutionLine("f32[1,64,64,64]", "f32[64,64,3,3]!", "f32[1,64,64,64]", 1)) ==
        "winograd_fused_small.f32");
  CHECK(kernelOf(convolutionLine("f32[16,64,56,56]", "f32[64,64,3,3]", "f32[16,64,56,56]", 1)) ==
        "winograd_filter_2.f32");
  // Long sums of more tiles than are sliced.
  CHECK(kernelOf(convolutionLine("f32[1,64,9,9]", "f32[32,64,3,3]", "f32[1,32,9,9]", 1)) ==
        "convolution_split_small_tile.f32");
  CHECK(kernelOf(convolutionLine("f32[8,512,7,7]", "f32[512,512,3,3]", "f32[8,512,7,7]", 1)) !=
        "convolution_split_tile.f32");
  // Channels that make no vectors of filters, few steps, a window of many elements, filters that lie apart.
  for (const std::string& other :
       {convolutionLine("f32[1,65,20,20]", "f32[64,65,3,3]", "f32[1,64,20,20]", 1),
        convolutionLine("f32[1,4,20,20]", "f32[64,4,3,3]", "f32[1,64,20,20]", 1),
        convolutionLine("f32[1,16,20,20]", "f32[64,16,6,6]", "f32[1,64,17,17]", 1),
        convolutionLine("f32[1,64,20,20]", "f32[64,64,3,3]{1,64,12288,4096}", "f32[1,64,20,20]", 1)})
    CHECK(kernelOf(other) == "convolution_tile.f32");
}
