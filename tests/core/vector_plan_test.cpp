// Plans of kernels that read and write vectors of 16 bytes.
#include <doctest.h>

#include <string>
#include <string_view>

#include "tests/conformance/options_text.h"
#include "tests/core/planned.h"

namespace {

using namespace dimple;
using dimple::testing::optionsWithout;
using dimple::testing::planned;
using dimple::testing::planOf;
using dimple::testing::specOf;

// The first kernel, and the invocations of its workgroups where they are chosen.
std::string firstKernel(std::string_view line, uint32_t maxInvocations = 1024) {
  Caps caps;
  caps.maxInvocations = maxInvocations;
  const auto plan = planned(line, caps);
  REQUIRE(plan);
  const Dispatch& first = plan->execution[0];
  std::string text(kernelName(first.kernel));
  for (const Specialization& chosen : first.specialization)
    if (chosen.id == kInvocationsId) text += " " + std::to_string(chosen.value);
  return text;
}

std::string softmaxKernel(std::string_view tensor, uint32_t maxInvocations = 1024) {
  return firstKernel(
      "ACTIVATION_SOFTMAX1 InputTensor=" + std::string(tensor) + " OutputTensor=" + std::string(tensor) + " Axes=[1]",
      maxInvocations);
}

TEST_CASE("vectors: the length of rows decides who holds them") {
  CHECK(softmaxKernel("f32[9,60]") == "softmax.f32");
  CHECK(softmaxKernel("f32[9,64]") == "softmax_short_rows.f32 32");
  CHECK(softmaxKernel("f32[9,508]") == "softmax_short_rows.f32 64");
  CHECK(softmaxKernel("f32[9,508]", 0) == "softmax.f32");
  CHECK(softmaxKernel("f32[9,512]") == "softmax_rows.f32");
  CHECK(softmaxKernel("f16[9,512]") == "softmax_short_rows.f16 64");
  CHECK(softmaxKernel("f16[9,1016]") == "softmax_short_rows.f16 128");
  CHECK(softmaxKernel("f16[9,1024]") == "softmax_rows.f16");
  CHECK(softmaxKernel("f32[9,4096]") == "softmax_rows.f32");
  CHECK(softmaxKernel("f32[9,4100]") == "softmax_wide_rows.f32 256");
  CHECK(softmaxKernel("f32[9,8196]") == "softmax_wide_rows.f32 512");
  CHECK(softmaxKernel("f32[9,32768]") == "softmax_wide_rows.f32 1024");
  CHECK(softmaxKernel("f32[9,32772]") == "softmax_long_rows.f32");
  CHECK(softmaxKernel("f32[9,4100]", 0) == "softmax_rows_of_512.f32 512");
  CHECK(softmaxKernel("f32[9,16388]", 0) == "softmax_rows_of_1024.f32 1024");
  CHECK(softmaxKernel("f32[9,32772]", 0) == "softmax_long_rows.f32");
  CHECK(softmaxKernel("f32[9,8196]", 256) == "softmax_long_rows.f32");
}

TEST_CASE("vectors: where short rows are many, a workgroup has several") {
  CHECK(softmaxKernel("f32[2047,64]") == "softmax_short_rows.f32 32");
  CHECK(softmaxKernel("f32[2048,64]") == "softmax_short_rows.f32 64");
  CHECK(softmaxKernel("f32[5000,64]") == "softmax_short_rows.f32 128");
  CHECK(softmaxKernel("f32[50000,64]") == "softmax_short_rows.f32 256");
  CHECK(softmaxKernel("f32[50000,508]") == "softmax_short_rows.f32 256");
  Caps caps;
  caps.maxInvocations = 1024;
  const auto plan = planned("ACTIVATION_SOFTMAX1 InputTensor=f32[50001,64] OutputTensor=f32[50001,64] Axes=[1]", caps);
  REQUIRE(plan);
  CHECK(plan->execution[0].groups[0] == 6251);
}

TEST_CASE("vectors: rows that do not begin with one are read in single elements") {
  CHECK(softmaxKernel("f32[9,1024]{1028,1}") == "softmax_rows.f32");
  CHECK(softmaxKernel("f32[9,1024]{1026,1}") == "softmax.f32");
  CHECK(softmaxKernel("f32[9,1024]{1,9}") == "softmax.f32");
  CHECK(softmaxKernel("f32[9,1026]") == "softmax.f32");
  CHECK(softmaxKernel("f16[9,1028]") == "softmax.f16");
}

TEST_CASE("vectors: rows that lie side by side are columns") {
  const auto kernel = [](std::string_view tensor, std::string_view axes) {
    return firstKernel("ACTIVATION_SOFTMAX1 InputTensor=" + std::string(tensor) +
                       " OutputTensor=" + std::string(tensor) + " Axes=[" + std::string(axes) + "]");
  };
  CHECK(kernel("f32[2,64,8,8]", "1") == "softmax_columns.f32");
  CHECK(kernel("f16[2,64,8,16]", "1") == "softmax_columns.f16");
  CHECK(kernel("f32[2,64,7,8]", "1") == "softmax.f32");  // few
  CHECK(kernel("f32[2,64,9,9]", "1") == "softmax.f32");  // not in vectors
  CHECK(kernel("f32[64,2,128]", "0,1") == "softmax_columns.f32");
  CHECK(kernel("f32[64,2,8,128]", "0,2") == "softmax.f32");
  CHECK(kernel("f32[2049,128]", "0") == "softmax.f32");
}

TEST_CASE("vectors: scale and bias lie along rows or are the same for them") {
  const auto kernel = [](std::string_view scale) {
    return firstKernel("MEAN_VARIANCE_NORMALIZATION1 InputTensor=f32[64,1024] ScaleTensor=" + std::string(scale) +
                       " OutputTensor=f32[64,1024] Axes=[1] NormalizeVariance=1 Epsilon=1");
  };
  CHECK(kernel("f32[1,1024]") == "normalize_rows.f32");
  CHECK(kernel("f32[64,1]") == "normalize_rows.f32");
  CHECK(kernel("f32[64,1024]{1028,1}") == "normalize_rows.f32");
  CHECK(kernel("f32[64,1024]{1026,1}") == "normalize_row.f32");
  CHECK(kernel("f32[1,1024]{1,2}") == "normalize_row.f32");
}

TEST_CASE("vectors: what is moved or normalized element by element") {
  CHECK(firstKernel("GATHER InputTensor=f32[9,8] IndicesTensor=u32[1,5] OutputTensor=f32[5,8] Axis=0 "
                    "IndexDimensions=1") == "gather_vectors.b32");
  CHECK(firstKernel("GATHER InputTensor=f16[9,12] IndicesTensor=u32[1,5] OutputTensor=f16[5,12] Axis=0 "
                    "IndexDimensions=1") == "gather.b16");
  CHECK(firstKernel("GATHER InputTensor=f32[9,8]{9,1} IndicesTensor=u32[1,5] OutputTensor=f32[5,8] Axis=0 "
                    "IndexDimensions=1") == "gather.b32");
  CHECK(firstKernel("ELEMENT_WISE_IDENTITY InputTensor=u8[9,16]{32,1} OutputTensor=u8[9,16]") == "copy_vectors.b32");
  CHECK(firstKernel("ELEMENT_WISE_IDENTITY InputTensor=u8[9,16]{24,1} OutputTensor=u8[9,16]") == "copy.b8");
  const auto batch = [](std::string_view x, std::string_view mean) {
    const std::string parameter = "f32[1,3,1,1]";
    return firstKernel("BATCH_NORMALIZATION InputTensor=" + std::string(x) + " MeanTensor=" + std::string(mean) +
                       " VarianceTensor=" + parameter + " ScaleTensor=" + parameter + " BiasTensor=" + parameter +
                       " OutputTensor=f32[2,3,4,4] Spatial=0 Epsilon=1");
  };
  CHECK(batch("f32[2,3,4,4]", "f32[1,3,1,1]") == "normalize_vectors.f32");
  CHECK(batch("f32[2,3,4,4]", "f32[1,3,4,4]") == "normalize_vectors.f32");
  CHECK(batch("f32[2,3,4,4]{48,16,1,4}", "f32[1,3,1,1]") == "normalize.f32");
  CHECK(batch("f32[2,3,4,4]{72,24,6,1}", "f32[1,3,1,1]") == "normalize.f32");
}

TEST_CASE("vectors: windows along lines or over channels") {
  const auto pool = [](std::string_view x, std::string_view y, std::string_view window) {
    return firstKernel("MAX_POOLING InputTensor=" + std::string(x) + " OutputTensor=" + std::string(y) + " " +
                       std::string(window) + " EndPadding=[0,0]");
  };
  constexpr std::string_view kThree = "Strides=[2,2] WindowSize=[3,3] StartPadding=[1,1]";
  CHECK(pool("f32[2,3,8,8]", "f32[2,3,4,4]", kThree) == "pool_vectors_halved_lines.f32");
  CHECK(pool("f16[2,3,8,16]", "f16[2,3,4,8]", kThree) == "pool_vectors_halved_lines.f16");
  CHECK(pool("f16[2,3,8,8]", "f16[2,3,4,4]", kThree) == "pool_vectors_half_halved_lines.f16");
  CHECK(pool("f16[2,3,8,12]", "f16[2,3,4,6]", kThree) == "pool.f16");
  CHECK(pool("f32[2,3,8,8]", "f32[2,3,8,8]", "Strides=[1,1] WindowSize=[3,3] StartPadding=[1,1]") ==
        "pool_vectors_lines.f32");
  CHECK(pool("f32[2,3,8,8]", "f32[2,3,8,8]", "Strides=[3,3] WindowSize=[3,3] StartPadding=[1,1]") == "pool.f32");
  CHECK(pool("f32[2,3,8,8]", "f32[2,3,8,8]", "Strides=[1,1] WindowSize=[3,4] StartPadding=[1,1]") == "pool.f32");
  CHECK(pool("f32[2,3,8,8]", "f32[2,3,8,8]", "Strides=[1,1] WindowSize=[3,3] StartPadding=[1,2]") == "pool.f32");
  CHECK(pool("i32[2,3,8,8]", "i32[2,3,4,4]", kThree) == "pool.i32");
  CHECK(pool("f32[2,4,7,7]{196,1,28,4}", "f32[2,4,3,3]{36,1,12,4}", kThree) == "pool_vectors_channels.f32");
  CHECK(pool("f32[2,4,7,7]{196,1,28,4}", "f32[2,4,3,3]", kThree) == "pool.f32");
}

TEST_CASE("vectors: lines at twice the scale") {
  const auto kernel = [](std::string_view x, std::string_view y, std::string_view scales,
                         std::string_view mode = "LINEAR") {
    return firstKernel("RESAMPLE InputTensor=" + std::string(x) + " OutputTensor=" + std::string(y) +
                       " InterpolationMode=" + std::string(mode) + " Scales=[" + std::string(scales) + "]");
  };
  CHECK(kernel("f32[2,3,5,4]", "f32[2,3,10,8]", "1,1,2,2") == "resample_doubled.f32");
  CHECK(kernel("f16[2,3,5,4]", "f16[2,3,15,8]", "1,1,3,2", "NEAREST_NEIGHBOR") == "resample_doubled.f16");
  CHECK(kernel("f16[2,3,5,6]", "f16[2,3,10,12]", "1,1,2,2") == "resample_linear.f16");
  CHECK(kernel("f32[2,3,5,4]", "f32[2,3,10,12]", "1,1,2,3") == "resample_linear.f32");
  CHECK(kernel("f32[2,3,5,8]", "f32[2,3,10,8]", "1,1,2,1") == "resample_linear.f32");
  CHECK(kernel("f32[2,3,5,4]", "f32[4,6,10,8]", "1,2,2,2") == "resample_linear.f32");
  CHECK(kernel("f32[2,3,5,4]", "f32[2,6,10,8]", "1,2,2,2", "NEAREST_NEIGHBOR") == "resample_doubled.f32");
  CHECK(kernel("f32[2,3,5,4]", "f32[2,3,10,8]{250,81,8,1}", "1,1,2,2") == "resample_linear.f32");
}

TEST_CASE("vectors: elements that are reduced, or outputs") {
  const auto kernel = [](std::string_view x, std::string_view y, std::string_view axes) {
    return firstKernel("REDUCE Function=SUM InputTensor=" + std::string(x) + " OutputTensor=" + std::string(y) +
                       " Axes=[" + std::string(axes) + "]");
  };
  CHECK(kernel("f32[9,512]", "f32[9,1]", "1") == "reduce_vectors.f32");
  CHECK(kernel("f32[9,508]", "f32[9,1]", "1") == "reduce_vectors.f32");
  CHECK(kernel("f32[9,507]", "f32[9,1]", "1") == "reduce.f32");
  CHECK(kernel("f16[9,1028]", "f16[9,1]", "1") == "reduce.f16");
  CHECK(kernel("f32[9,512]{514,1}", "f32[9,1]", "1") == "reduce.f32");
  CHECK(kernel("f32[9,3,512]{3072,1024,1}", "f32[1,3,1]", "0,2") == "reduce_vectors.f32");
  CHECK(kernel("f32[9,8]", "f32[1,8]", "0") == "reduce_vectors.f32");
  CHECK(kernel("f16[9,12]", "f16[1,12]", "0") == "reduce.f16");
  CHECK(kernel("f32[9,8]{9,1}", "f32[1,8]", "0") == "reduce.f32");
  CHECK(kernel("f32[9,8]", "f32[1,8]{16,2}", "0") == "reduce.f32");
  CHECK(kernel("i32[9,512]", "i32[9,1]", "1") == "reduce.i32");
}

TEST_CASE("vectors: many rows have fewer invocations each, which take four turns") {
  const auto lanes = [](uint32_t rows, uint32_t columns, const Options& options = {}) {
    const Plan plan = planOf(
        cat("REDUCE Function=MAX InputTensor=f32[", rows, ",", columns, "] OutputTensor=f32[", rows, ",1] Axes=[1]"),
        {{}, options});
    CHECK(kernelName(plan.execution[0].kernel) == "reduce_vectors.f32");
    constexpr uint32_t kRowLanes = 5;
    return specOf(plan.execution[0], kRowLanes);
  };
  CHECK(lanes(8192, 4096) == 64);
  CHECK(lanes(8191, 4096) == 256);
  CHECK(lanes(100000, 512) == 8);
  CHECK(lanes(100000, 12544) == 256);
  CHECK(lanes(9, 4096, optionsWithout("estimates")) == 64);
}

// ---- chains of one operator

std::string kernelsOf(std::string_view line, bool fixesParameters = true) {
  Caps caps;
  caps.features = ~0u;
  caps.fixesParameters = fixesParameters;
  std::string names;
  for (const Dispatch& dispatch : planOf(line, caps).execution) names += std::string(kernelName(dispatch.kernel)) + " ";
  return names;
}

std::string sum(std::string_view type, std::string_view a, std::string_view b, std::string_view y) {
  std::string line = "ELEMENT_WISE_ADD";
  for (const auto& [name, tensor] : {std::pair(" ATensor=", a), {" BTensor=", b}, {" OutputTensor=", y}})
    line += std::string(name) + std::string(type) + std::string(tensor);
  return line;
}

TEST_CASE("chains of one: rows in vectors that are not packed") {
  for (const std::string_view type : {"f32", "f16", "u8"}) {
    CAPTURE(type);
    const std::string packed = "binary_packed." + std::string(type) + " ";
    CHECK(kernelsOf(sum(type, "[512,256]", "[512,256]", "[512,256]")) == packed);
    CHECK(kernelsOf(sum(type, "[512,256]", "[512,256]{0,0}", "[512,256]")) == packed);
    for (const std::string_view b : {"[512,256]{0,1}", "[512,256]{1,0}", "[512,256]{272,1}", "[512,256]{1,512}"}) {
      CAPTURE(b);
      CHECK(kernelsOf(sum(type, "[512,256]", b, "[512,256]")) == "chain ");
      const bool turned = b == "[512,256]{1,512}";
      const std::string inVectors = (turned ? "binary_turned." : "binary_rows.") + std::string(type) + " ";
      CHECK(kernelsOf(sum(type, "[512,256]", b, "[512,256]"), false) ==
            (turned && type == "u8" ? "binary_native.u8 " : inVectors));
    }
    CHECK(kernelsOf(sum(type, "[512,256]", "[512,256]{0,1}", "[512,256]{272,1}")) == "chain ");
    // Rows that do not begin with vectors; results across rows; few elements.
    CHECK(kernelsOf(sum(type, "[512,255]", "[512,255]{0,1}", "[512,255]")) != "chain ");
    CHECK(kernelsOf(sum(type, "[512,256]", "[512,256]{257,1}", "[512,256]")) != "chain ");
    CHECK(kernelsOf(sum(type, "[8,64,256]", "[8,64,256]{2,4096,16}", "[8,64,256]")) != "chain ");
    CHECK(kernelsOf(sum(type, "[128,256]", "[128,256]{0,1}", "[128,256]")) != "chain ");
  }
}

TEST_CASE("chains of one: what has no kernel for packed tensors") {
  CHECK(kernelsOf("CAST InputTensor=f16[512,255] OutputTensor=u8[512,255]") == "chain ");
  CHECK(kernelsOf("ELEMENT_WISE_BIT_COUNT InputTensor=u8[512,255] OutputTensor=u8[512,255]") == "chain ");
  CHECK(kernelsOf("ELEMENT_WISE_IS_NAN InputTensor=f32[512,255] OutputTensor=u8[512,255]") == "predicate_packed.f32 ");
  CHECK(kernelsOf("CAST InputTensor=i64[512,255] OutputTensor=i32[512,255]") == "cast.i32 ");
  CHECK(kernelsOf("ELEMENT_WISE_POW InputTensor=f16[512,256] ExponentTensor=f16[512,256]{0,0} "
                  "OutputTensor=f16[512,256]") == "chain ");
  const auto quantize = [](std::string_view scale) {
    return "QUANTIZE InputTensor=f16[512,256] QuantizationType=SCALE QuantizationTensorCount=1 "
           "QuantizationTensors=(f16" +
           std::string(scale) + ") OutputTensor=u8[512,256]";
  };
  CHECK(kernelsOf(quantize("[512,8]")) == "chain ");
  CHECK(kernelsOf(quantize("[512,64]")) == "quantize.u32 ");  // scales of four elements
}

TEST_CASE("rows and blocks: what chains of one are for where a chain is interpreted") {
  const auto kernels = [](std::string_view line) { return kernelsOf(line, false); };
  CHECK(kernels("ELEMENT_WISE_EXP InputTensor=f32[9,8]{12,1} OutputTensor=f32[9,8]{16,1}") == "unary_rows.f32 ");
  CHECK(kernels("ELEMENT_WISE_EXP InputTensor=f32[9,8]{10,1} OutputTensor=f32[9,8]") == "unary.f32 ");
  CHECK(kernels("ELEMENT_WISE_EXP InputTensor=f32[9,8]{1,0} OutputTensor=f32[9,8]") == "unary.f32 ");
  CHECK(kernels("ELEMENT_WISE_EXP InputTensor=f16[9,8]{16,1} OutputTensor=f16[9,8]") == "unary_rows.f16 ");
  CHECK(kernels("ELEMENT_WISE_ADD ATensor=i32[9,8]{0,1} BTensor=i32[9,8] OutputTensor=i32[9,8]") == "binary_rows.i32 ");
  CHECK(kernels("ELEMENT_WISE_ABS InputTensor=i16[9,8]{16,1} OutputTensor=i16[9,8]") == "unary_rows.i16 ");
  CHECK(kernels("ELEMENT_WISE_ABS InputTensor=i8[9,8]{16,1} OutputTensor=i8[9,8]") == "unary_native.i8 ");
  CHECK(kernels("ELEMENT_WISE_ADD ATensor=i64[9,8]{0,1} BTensor=i64[9,8] OutputTensor=i64[9,8]") == "binary.i64 ");
  CHECK(kernels("ELEMENT_WISE_IF ConditionTensor=u8[9,8]{1,0} ATensor=f32[9,8]{0,1} BTensor=f32[9,8]{0,0} "
                "OutputTensor=f32[9,8]") == "select_rows.b32 ");
  CHECK(kernels("ELEMENT_WISE_POW InputTensor=f32[9,5] ExponentTensor=f32[9,5] OutputTensor=f32[9,5]") ==
        "pow_packed.f32 ");
  CHECK(kernels("ELEMENT_WISE_POW InputTensor=f32[9,5] ExponentTensor=i32[9,5] OutputTensor=f32[9,5]") == "pow.f32 ");
  // Casts and quantization take whole vectors alone.
  CHECK(kernels("CAST InputTensor=f32[9,8] OutputTensor=f16[9,8]") == "cast_vectors ");
  CHECK(kernels("CAST InputTensor=f32[9,5] OutputTensor=f16[9,5]") == "cast_native.f16 ");
  CHECK(kernels("CAST InputTensor=f32[9,8] OutputTensor=f64[9,8]") == "cast.f64 ");
  CHECK(kernels("CAST InputTensor=u8[8,12]{1,8} OutputTensor=f32[8,12]") == "cast_turned ");
  CHECK(kernels("ELEMENT_WISE_QUANTIZE_LINEAR InputTensor=f32[9,8] ScaleTensor=f32[9,8]{0,1} "
                "ZeroPointTensor=u8[9,8]{1,0} OutputTensor=u8[9,8]") == "quantize_vectors ");
  CHECK(kernels("ELEMENT_WISE_QUANTIZE_LINEAR InputTensor=f32[9,7] ScaleTensor=f32[9,7]{0,1} "
                "OutputTensor=u8[9,7]") == "quantize.u32 ");
  // Blocks consist of whole vectors.
  CHECK(kernels("ELEMENT_WISE_ABS InputTensor=f32[8,12]{1,8} OutputTensor=f32[8,12]") == "unary_turned.f32 ");
  CHECK(kernels("ELEMENT_WISE_ABS InputTensor=f16[8,12]{1,8} OutputTensor=f16[8,12]") == "unary_turned.f16 ");
  CHECK(kernels("ELEMENT_WISE_ABS InputTensor=f32[8,12]{1,10} OutputTensor=f32[8,12]") == "unary.f32 ");
  CHECK(kernels("ELEMENT_WISE_ABS InputTensor=f32[6,12]{1,8} OutputTensor=f32[6,12]") == "unary.f32 ");
  CHECK(kernels("ELEMENT_WISE_ABS InputTensor=f32[8,10]{1,8} OutputTensor=f32[8,10]") == "unary.f32 ");
  CHECK(kernels("ELEMENT_WISE_ABS InputTensor=f32[8,12]{2,16} OutputTensor=f32[8,12]") == "unary.f32 ");
  // Operands that lie along different dimensions.
  CHECK(kernels("ELEMENT_WISE_ADD ATensor=f32[4,8,12]{96,1,8} BTensor=f32[4,8,12]{1,4,32} OutputTensor=f32[4,8,12]") ==
        "binary.f32 ");
}

TEST_CASE("chains of one: tiles are as many as the rows and columns that they cover") {
  Caps caps;
  caps.fixesParameters = true;
  const auto groups = [&](const std::string& line) {
    const auto folded = planOf(line, caps).execution[0].groups;
    return folded[0] * folded[1] * folded[2];
  };
  CHECK(groups(sum("f32", "[96,1024]", "[96,1024]{1,96}", "[96,1024]")) == 3 * 32);
  CHECK(groups(sum("f32", "[97,1028]", "[97,1028]{1,97}", "[97,1028]")) == 4 * 33);
  CHECK(groups(sum("f16", "[3,96,1024]", "[3,96,1024]{98304,1,96}", "[3,96,1024]")) == 3 * 3 * 16);
}

TEST_CASE("runs: what is moved element by element to a dense tensor, where there are enough of them") {
  CHECK(firstKernel("SLICE InputTensor=f32[512,1024] OutputTensor=f32[512,512] Offsets=[0,0] Sizes=[512,512] "
                    "Strides=[1,2]") == "copy_runs.b32");
  CHECK(firstKernel("SLICE InputTensor=f32[512,1024] OutputTensor=f32[512,256] Offsets=[0,0] Sizes=[512,256] "
                    "Strides=[1,2]") == "copy_runs.b32");
  CHECK(firstKernel("SLICE InputTensor=f32[512,1024] OutputTensor=f32[512,255] Offsets=[0,0] Sizes=[512,255] "
                    "Strides=[1,2]") == "copy.b32");
  CHECK(firstKernel("SLICE InputTensor=f64[512,1024] OutputTensor=f64[512,512] Offsets=[0,0] Sizes=[512,512] "
                    "Strides=[1,2]") == "copy.b64");
  // A run would have elements of more than two planes.
  CHECK(firstKernel("SLICE InputTensor=u8[131072,5,5] OutputTensor=u8[131072,2,2] Offsets=[0,0,0] "
                    "Sizes=[131072,2,2] Strides=[1,2,2]") == "copy.b8");
  const auto pad = [](std::string_view x, std::string_view y) {
    return firstKernel("PADDING InputTensor=" + std::string(x) + " OutputTensor=" + std::string(y) +
                       " PaddingMode=EDGE PaddingValue=1 StartPadding=[0,1] EndPadding=[0,1]");
  };
  CHECK(pad("f16[1024,254]", "f16[1024,256]") == "pad_runs.b16");
  CHECK(pad("f16[65536,5]", "f16[65536,7]") == "pad.b16");
  CHECK(pad("f16[1024,254]", "f16[1024,256]{258,1}") == "pad.b16");
}

TEST_CASE("vectors: what is padded or repeated") {
  const auto pad = [](std::string_view x, std::string_view y, std::string_view mode, std::string_view padding) {
    return firstKernel("PADDING InputTensor=" + std::string(x) + " OutputTensor=" + std::string(y) +
                       " PaddingMode=" + std::string(mode) + " PaddingValue=1 " + std::string(padding));
  };
  CHECK(pad("f16[2,16]", "f16[3,32]", "CONSTANT", "StartPadding=[1,8] EndPadding=[0,8]") == "pad_vectors.b32");
  CHECK(pad("f16[2,16]", "f16[3,32]", "CONSTANT", "StartPadding=[1,4] EndPadding=[0,12]") == "pad.b16");
  CHECK(pad("f32[2,16]", "f32[3,32]", "EDGE", "StartPadding=[1,8] EndPadding=[0,8]") == "pad.b32");
  CHECK(pad("f32[2,16]", "f32[3,16]", "EDGE", "StartPadding=[1,0] EndPadding=[0,0]") == "pad_vectors.b32");
  CHECK(pad("f32[2,16]{18,1}", "f32[3,16]", "EDGE", "StartPadding=[1,0] EndPadding=[0,0]") == "pad.b32");
  CHECK(firstKernel("TILE InputTensor=f16[3,8] OutputTensor=f16[6,16] Repeats=[2,2]") == "pad_vectors.b32");
}

}  // namespace
