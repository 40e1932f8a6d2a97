// Plans as golden text, on the default limits and on made-up ones. No device is involved.
#include <doctest/doctest.h>

#include <map>
#include <utility>

#include "core/text.h"
#include "tests/conformance/random.h"
#include "tests/core/planned.h"

using namespace dimple;
using namespace dimple::testing;

namespace {

std::string textOf(std::string_view line, const Caps& caps = {}) {
  const auto plan = planned(line, caps);
  return plan ? planText(*plan) : plan.error().text;
}

}  // namespace

TEST_CASE("a packed ADD is one dispatch of 16 bytes an invocation") {
  CHECK(textOf("ELEMENT_WISE_ADD ATensor=f32[2,3] BTensor=f32[2,3] OutputTensor=f32[2,3]") ==
        "temporary 0 persistent 0 parameters 0\n"
        "execute\n"
        "  binary_packed.f32 spec0=4 spec1=0 groups=1x1x1 push=[1 1 1 0 6 0 0 0 0 0 0] parameters@0 input0:r+0/24 "
        "input1:r+0/24 output0:rw+0/24\n");
}

TEST_CASE("a broadcast scalar keeps ADD packed") {
  const auto plan = planned("ELEMENT_WISE_ADD ATensor=f32[64,3] BTensor=f32[64,3]{0,0} OutputTensor=f32[64,3]");
  REQUIRE(plan);
  CHECK(kernelName(plan->execution[0].kernel) == "binary_packed.f32");
  CHECK(plan->execution[0].push[6] == 2);
}

TEST_CASE("a broadcast row makes ADD walk two dimensions") {
  const auto plan = planned("ELEMENT_WISE_ADD ATensor=f32[64,3] BTensor=f32[64,3]{0,1} OutputTensor=f32[64,3]");
  REQUIRE(plan);
  CHECK(kernelName(plan->execution[0].kernel) == "binary.f32");
  // {base}, then the inner dimension {size, multiplier, shifts} {strides}, then the outer one.
  const std::vector<uint32_t> expected{0, 0, 0, 0, 3, 1431655766, 1, 1, 1, 1, 1, 0, 64, 1, 1, 5, 3, 0, 3, 0};
  REQUIRE(plan->parameters.size() >= expected.size());
  CHECK(std::vector<uint32_t>(plan->parameters.begin(), plan->parameters.begin() + 20) == expected);
  CHECK(plan->parameters.size() % 64 == 0);  // whole blocks of 256 bytes
}

TEST_CASE("narrow types take native storage where the device has it") {
  Caps caps;
  constexpr auto kLine = "ELEMENT_WISE_ADD ATensor=i8[4]{2} BTensor=i8[4]{2} OutputTensor=i8[4]{2}";
  CHECK(kernelName(planned(kLine, caps)->execution[0].kernel) == "binary.i8");
  caps.features = static_cast<uint32_t>(Feature::Storage8);
  CHECK(kernelName(planned(kLine, caps)->execution[0].kernel) == "binary_native.i8");
}

TEST_CASE("SCATTER_ND waits for its copy") {
  const auto plan = planned(
      "SCATTER_ND InputTensor=f32[8] IndicesTensor=u32[4,1] UpdatesTensor=f32[4] OutputTensor=f32[8] "
      "InputDimensionCount=1 IndicesDimensionCount=2");
  REQUIRE(plan);
  REQUIRE(plan->execution.size() == 2);
  CHECK_FALSE(plan->execution[0].barrierBefore);
  CHECK(plan->execution[1].barrierBefore);
}

TEST_CASE("the inputs of JOIN wait for each other only where they share a word") {
  const auto barriers = [](std::string_view line) {
    std::vector<bool> out;
    const auto plan = planned(line);
    REQUIRE(plan);
    for (const Dispatch& d : plan->execution) out.push_back(d.barrierBefore);
    return out;
  };
  using Bools = std::vector<bool>;
  CHECK(barriers("JOIN InputTensors=(f32[4,2],f32[8,2],f32[4,2]) OutputTensor=f32[16,2] Axis=0") ==
        Bools{false, false, false});
  // The second begins inside a word; the third inside what can be bound.
  CHECK(barriers("JOIN InputTensors=(u8[3],u8[5],u8[8]) OutputTensor=u8[16] Axis=0") == Bools{false, true, false});
  // Rows of the inputs alternate, at first with words between them, then without.
  CHECK(barriers("JOIN InputTensors=(f32[4,2],f32[4,6]) OutputTensor=f32[4,8] Axis=1") == Bools{false, false});
  CHECK(barriers("JOIN InputTensors=(f16[4,2],f16[4,6]) OutputTensor=f16[4,8] Axis=1") == Bools{false, false});
  CHECK(barriers("JOIN InputTensors=(f16[4,3],f16[4,5]) OutputTensor=f16[4,8] Axis=1") == Bools{false, true});
  CHECK(barriers("JOIN InputTensors=(f16[4,2],f16[4,5]) OutputTensor=f16[4,7] Axis=1") == Bools{false, true});
  // Joined in the middle, and into a tensor whose rows have gaps.
  CHECK(barriers("JOIN InputTensors=(f32[2,3,5],f32[2,1,5]) OutputTensor=f32[2,4,5] Axis=1") == Bools{false, false});
  CHECK(barriers("JOIN InputTensors=(f32[2,2,4],f32[2,2,4]) OutputTensor=f32[2,2,8]{20,10,1} Axis=2") ==
        Bools{false, false});
  Caps ranges;
  ranges.barriersByRows = false;
  CHECK(planned("JOIN InputTensors=(f32[4,2],f32[4,6]) OutputTensor=f32[4,8] Axis=1", ranges)
            ->execution[1]
            .barrierBefore);
}

TEST_CASE("a long reduction takes two stages") {
  const auto plan = planned("REDUCE Function=SUM InputTensor=f32[1048576] OutputTensor=f32[1] Axes=[0]");
  REQUIRE(plan);
  REQUIRE(plan->execution.size() == 2);
  CHECK(plan->execution[0].groups[0] == 128);
  CHECK(plan->execution[1].barrierBefore);
  CHECK(plan->temporaryBytes == 1024);
}

TEST_CASE("inputs owned by DML are copied at initialization and read from the persistent resource") {
  const auto plan = planned("ELEMENT_WISE_ADD ATensor=f32[6] BTensor=f32[6]! OutputTensor=f32[6]");
  REQUIRE(plan);
  CHECK(plan->persistentBytes == 256);
  REQUIRE(plan->initialization.size() == 1);
  CHECK(plan->initialization[0].buffers[0].kind == SlotKind::Input);
  CHECK(plan->initialization[0].buffers[0].index == 1);
  CHECK(plan->execution[0].buffers[1].kind == SlotKind::Persistent);
}

TEST_CASE("more workgroups than a dimension holds fold") {
  Caps caps;
  caps.maxGroups = {16, 16, 16};
  const auto plan = planned("ELEMENT_WISE_ADD ATensor=f32[100000] BTensor=f32[100000] OutputTensor=f32[100000]", caps);
  REQUIRE(plan);
  CHECK(plan->execution[0].groups == std::array{14u, 7u, 1u});
  caps.maxGroups = {4, 4, 4};
  CHECK(textOf("ELEMENT_WISE_ADD ATensor=f32[100000] BTensor=f32[100000] OutputTensor=f32[100000]", caps) ==
        "ELEMENT_WISE_ADD needs 98 workgroups, more than this device can dispatch.");
}

TEST_CASE("a tensor above the device's binding range comes in windows, or is refused with the limit") {
  Caps caps;
  caps.maxBufferRange = 1024;
  CHECK(textOf("TOP_K InputTensor=f32[300] OutputValueTensor=f32[5] OutputIndexTensor=u32[5] Axis=0 K=5", caps) ==
        "InputTensor spans 1200 bytes, but this device binds at most 1024 bytes to a kernel.");
  CHECK(
      textOf("ELEMENT_WISE_IDENTITY InputTensor=f32[300000] OutputTensor=f32[300000]", caps) ==
      "InputTensor spans 1200000 bytes, which takes more than 256 dispatches on this device, which binds at most 1024 "
      "bytes to a kernel.");
  // In the order that indices follow, neighbors lie far apart.
  CHECK(textOf("ARGMAX InputTensor=f32[1000,2]{1,1000} OutputTensor=u32[1,1] Axes=[0,1]", caps) ==
        "InputTensor spans 8000 bytes, which takes more than 256 dispatches on this device, which binds at most 1024 "
        "bytes to a kernel.");
  // Every byte of a tensor is bound by a dispatch, within the limit, and what is kept is kept in parts.
  for (const char* line :
       {"ELEMENT_WISE_ADD ATensor=f32[3,300]! BTensor=f32[3,300]{0,1} OutputTensor=f32[3,300]",
        "ELEMENT_WISE_IDENTITY InputTensor=f16[700,3]{1,700} OutputTensor=f16[700,3]",
        "ELEMENT_WISE_IF ConditionTensor=u8[2000] ATensor=i64[2000] BTensor=i64[2000]{0} OutputTensor=i64[2000]",
        "CAST InputTensor=u8[999] OutputTensor=f64[999]",
        "ACTIVATION_RELU InputTensor=f32[5000] OutputTensor=f32[5000]",
        "REDUCE Function=SUM InputTensor=f32[4001] OutputTensor=f32[1] Axes=[0]",
        "REDUCE Function=MAX InputTensor=f32[40,100] OutputTensor=f32[40,1] Axes=[1]",
        "ARGMAX InputTensor=i8[3000,3] OutputTensor=u32[1,3] Axes=[0]",
        "GATHER InputTensor=f32[50,20] IndicesTensor=u32[1,4] OutputTensor=f32[4,20] Axis=0 IndexDimensions=1",
        "DEQUANTIZE InputTensor=u4[32,200] QuantizationType=SCALE QuantizationTensors=(f32[32,4]) "
        "OutputTensor=f32[32,200]"}) {
    CAPTURE(line);
    const auto plan = planned(line, caps);
    REQUIRE_MESSAGE(plan, plan.error().text);
    CHECK(plan->execution.size() > 1);
    std::map<std::pair<SlotKind, uint32_t>, uint64_t> ends;
    for (const auto* dispatches : {&plan->initialization, &plan->execution})
      for (const Dispatch& dispatch : *dispatches)
        for (const BufferRange& range : dispatch.buffers) {
          CHECK(range.bytes <= 1024);
          CHECK(range.offset % caps.bufferOffsetAlignment == 0);
          uint64_t& end = ends[{range.kind, range.index}];
          end = std::max(end, range.offset + range.bytes);
        }
    const auto parsed = parseCase(line);
    const auto view = Operation::parse(parsed->desc.desc());
    for (uint32_t i = 0; i < view->inputs().size(); ++i)
      CHECK(ends[{SlotKind::Input, i}] == view->input(i).spannedBytes());
    CHECK(ends[{SlotKind::Output, 0}] == view->output().spannedBytes());
  }
}

TEST_CASE("offsets inside a binding respect the device's alignment") {
  constexpr auto kLine = "SLICE InputTensor=f32[64] OutputTensor=f32[32] Offsets=[32] Sizes=[32] Strides=[1]";
  CHECK(kernelName(planned(kLine)->execution[0].kernel) == "copy_packed");
  Caps caps;
  caps.bufferOffsetAlignment = 256;
  CHECK(kernelName(planned(kLine, caps)->execution[0].kernel) == "copy_vectors.b32");
}

TEST_CASE("barriers follow reads and writes of overlapping bytes") {
  const auto dispatch = [](std::vector<BufferRange> buffers) {
    Dispatch d;
    d.buffers = std::move(buffers);
    return d;
  };
  const auto barriers = [](std::vector<Dispatch> all, bool aliased = false) {
    deriveBarriers(all, aliased);
    std::vector<bool> out;
    for (const auto& d : all) out.push_back(d.barrierBefore);
    return out;
  };
  const BufferRange in{SlotKind::Input, 0, 0, 64, false};
  const BufferRange out{SlotKind::Output, 0, 0, 64, true};
  const BufferRange outNext{SlotKind::Output, 0, 64, 64, true};
  const BufferRange outRead{SlotKind::Output, 0, 0, 64, false};
  using Bools = std::vector<bool>;
  CHECK(barriers({dispatch({in, out}), dispatch({in, outNext})}) == Bools{false, false});
  CHECK(barriers({dispatch({in, out}), dispatch({in, out})}) == Bools{false, true});  // write after write
  CHECK(barriers({dispatch({out}), dispatch({outRead}), dispatch({outRead})}) == Bools{false, true, false});
  CHECK(barriers({dispatch({outRead}), dispatch({out})}) == Bools{false, true});  // write after read
  CHECK(barriers({dispatch({in}), dispatch({out})}) == Bools{false, false});
  CHECK(barriers({dispatch({in}), dispatch({out})}, true) == Bools{false, true});  // in place
  CHECK(barriers({dispatch({out}), dispatch({in})}) == Bools{false, false});
  CHECK(barriers({dispatch({out}), dispatch({in})}, true) == Bools{false, true});
  CHECK(barriers({dispatch({outRead}), dispatch({in})}, true) == Bools{false, false});

  // Every pair of ranges since the last barrier, one by one.
  testing::Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<Dispatch> all;
    for (size_t d = 0; d < 8; ++d) {
      all.emplace_back();
      for (size_t b = 0; b <= random.below(3); ++b) {
        const auto kind = static_cast<SlotKind>(random.below(3));
        all.back().buffers.push_back({kind, random.size(0, 1), random.below(12) * 16, 16 * random.size(1, 4),
                                      kind != SlotKind::Input && random.chance(0.4)});
      }
    }
    Bools expected;
    std::vector<BufferRange> since;
    for (const Dispatch& d : all) {
      const auto conflicts = [&](const BufferRange& now, const BufferRange& before) {
        return (now.writes || before.writes) && now.kind == before.kind && now.index == before.index &&
               now.offset < before.offset + before.bytes && before.offset < now.offset + now.bytes;
      };
      const bool waits = std::ranges::any_of(d.buffers, [&](const BufferRange& now) {
        return std::ranges::any_of(since, [&](const BufferRange& before) { return conflicts(now, before); });
      });
      if (waits) since.clear();
      since.insert(since.end(), d.buffers.begin(), d.buffers.end());
      expected.push_back(waits);
    }
    CHECK(barriers(all) == expected);
  }
}

TEST_CASE("rows are where elements lie") {
  const auto rows = [](std::vector<std::pair<uint64_t, uint32_t>> dimensions, uint64_t start, uint32_t bits) {
    const Rows r = rowsOf(std::move(dimensions), start, bits);
    return std::array<uint64_t, 3>{r.first, r.bytes, r.pitch};
  };
  using Three = std::array<uint64_t, 3>;
  CHECK(rows({{8, 4}, {1, 2}}, 0, 32) == Three{0, 8, 32});
  CHECK(rows({{1, 8}, {8, 4}}, 0, 32) == Three{0, 128, 0});
  CHECK(rows({{16, 3}, {8, 1}, {4, 2}, {1, 4}}, 64, 32) == Three{8, 32, 64});
  CHECK(rows({{0, 5}, {8, 4}, {1, 2}}, 32, 16) == Three{4, 4, 16});
  CHECK(rows({{8, 4}, {1, 3}}, 16, 16) == Three{0, 8, 16});  // a row begins and ends inside of words
  CHECK(rows({{7, 4}, {1, 2}}, 0, 16) == Three{0, 48, 0});   // rows begin at other bits of their words
  CHECK(rows({{8, 4}, {1, 4}}, 32, 4) == Three{4, 16, 0});   // rows meet in words
  CHECK(rows({{20, 2}, {8, 2}, {1, 2}}, 0, 32) == Three{0, 120, 0});
  CHECK(rows({{1u << 30, 3}, {1, 1u << 20}}, 0, 32) == Three{0, 0, 0});
}

TEST_CASE("no barrier between rows is left out that bytes need") {
  testing::Random random(2);
  for (int i = 0; i < 3000; ++i) {
    constexpr uint64_t kBytes = 256;
    std::vector<Dispatch> all;
    for (size_t d = 0; d < 8; ++d) {
      all.emplace_back();
      for (size_t b = 0; b <= random.below(2); ++b) {
        BufferRange range{SlotKind::Temporary, 0, random.below(8) * 16, 16 * random.size(1, 8), random.chance(0.6)};
        if (random.chance(0.8)) {
          range.rows.first = range.offset + 4 * random.below(6);
          range.rows.bytes = 4 * random.size(1, 4);
          range.rows.pitch = random.chance(0.8) ? 4 * random.size(5, 8) : 0;
        }
        all.back().buffers.push_back(range);
      }
    }
    deriveBarriers(all, false);
    std::vector<bool> read(kBytes), written(kBytes);
    for (const Dispatch& d : all) {
      if (d.barrierBefore) {
        read.assign(kBytes, false);
        written.assign(kBytes, false);
      }
      const auto eachByte = [&](const auto& visit) {
        for (const BufferRange& range : d.buffers)
          for (uint64_t at = range.offset; at < range.offset + range.bytes; ++at) {
            const Rows& rows = range.rows;
            const uint64_t behind = at - rows.first;
            const bool in = at >= rows.first && (rows.pitch ? behind % rows.pitch : behind) < rows.bytes;
            if (in || rows.bytes == 0) visit(at, range.writes);
          }
      };
      bool apart = true;
      eachByte([&](uint64_t at, bool writes) { apart &= !written[at] && !(writes && read[at]); });
      CHECK(apart);
      eachByte([&](uint64_t at, bool writes) {
        read[at] = true;
        if (writes) written[at] = true;
      });
    }
  }
}

TEST_CASE("a product takes the kernel that suits its shape and layout") {
  const auto kernel = [](std::string_view a, std::string_view b, std::string_view y, std::string_view more = "") {
    const auto plan = planned(cat("GEMM ATensor=", a, " BTensor=", b, " OutputTensor=", y, " Alpha=1 ", more));
    REQUIRE(plan);
    return std::string(kernelName(plan->execution[0].kernel));
  };
  CHECK(kernel("f32[4,8]", "f32[8,4]", "f32[4,4]") == "gemm.f32");
  CHECK(kernel("f32[3,64]", "f32[64,500]", "f32[3,500]") == "gemm_few_rows_vector.f32");
  CHECK(kernel("f32[3,64]", "f32[64,501]", "f32[3,501]") == "gemm_few_rows.f32");
  CHECK(kernel("f16[500,64]", "f16[64,3]", "f16[500,3]") == "gemm_few_rows.f16");
  CHECK(kernel("f16[3,64]", "f16[64,504]", "f16[3,504]") == "gemm_few_rows_wide.f16");
  CHECK(kernel("f16[3,64]", "f16[64,500]", "f16[3,500]") == "gemm_few_rows_vector.f16");
  CHECK(kernel("f16[3,60]", "f16[60,504]", "f16[3,504]") == "gemm_few_rows_vector.f16");
  CHECK(kernel("f32[16,64]", "f32[64,500]", "f32[16,500]") == "gemm_few_rows_vector.f32");
  CHECK(kernel("f16[17,64]", "f16[64,504]", "f16[17,504]") == "gemm_vector_tile.f16");
  CHECK(kernel("f32[50,30]", "f32[30,50]", "f32[50,50]") == "gemm_tile.f32");
  CHECK(kernel("f32[64,32]", "f32[32,64]", "f32[64,64]") == "gemm_vector_tile.f32");
  CHECK(kernel("f32[64,32]{33,1}", "f32[32,64]", "f32[64,64]") == "gemm_tile.f32");
  CHECK(kernel("f32[32,64]", "f32[64,32]", "f32[64,64]", "TransA=TRANSPOSE TransB=TRANSPOSE") ==
        "gemm_vector_tile.f32");
  CHECK(kernel("f16[2048,64]", "f16[64,2048]", "f16[2048,2048]") == "gemm_large_tile.f16");
}

TEST_CASE("a plan says which kernels were passed over, and why") {
  const auto plan = planned("GEMM ATensor=f32[50,30] BTensor=f32[30,50] OutputTensor=f32[50,50] Alpha=1");
  REQUIRE(plan);
  CHECK(passedOverText(*plan) ==
        "  not gemm_cooperative_split in tiles of 16 x 16: It has many rows.\n"
        "  not gemm_cooperative in tiles of 16 x 128: It has many rows.\n"
        "  not gemm_few_rows_wide: It has many rows.\n"
        "  not gemm_few_rows_vector: It has many rows.\n"
        "  not gemm_few_rows: It has many rows.\n"
        "  not gemm_cooperative_ahead in tiles of 128 x 64: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative_ahead in tiles of 64 x 128: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative_ahead in tiles of 128 x 128: B is not in vectors along the depth.\n"
        "  not gemm_cooperative_ahead in tiles of 128 x 256: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative_ahead in tiles of 128 x 128: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative in tiles of 128 x 128: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative_split in tiles of 32 x 64: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative_split in tiles of 16 x 64: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative_split in tiles of 16 x 32: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative_split in tiles of 16 x 16: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative_split in tiles of 16 x 32: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative_split in tiles of 32 x 64: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative_split in tiles of 32 x 64: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative in tiles of 128 x 64: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative in tiles of 64 x 256: Its elements are not FLOAT16.\n"
        "  not gemm_cooperative_ahead in tiles of 64 x 64: The device's subgroups do not multiply matrices.\n"
        "  not gemm_cooperative in tiles of 64 x 64: The device's subgroups do not multiply matrices.\n"
        "  not gemm_split_small_tile in tiles of 16 x 16: A is not in vectors of four.\n"
        "  not gemm_split_tile in tiles of 64 x 32: A is not in vectors of four.\n"
        "  not gemm_large_tile in tiles of 128 x 128: A is not in vectors of four.\n"
        "  not gemm_vector_tile in tiles of 64 x 64: A is not in vectors of four.\n");
  const auto rows = planned(
      "MEAN_VARIANCE_NORMALIZATION1 InputTensor=f32[9,50000] OutputTensor=f32[9,50000] Axes=[1] NormalizeVariance=1 "
      "Epsilon=1");
  REQUIRE(rows);
  CHECK(passedOverText(*rows) ==
        "  not normalize_rows: It has few rows.\n"
        "  not normalize_row: Its rows are longer than a workgroup holds.\n");
  const auto add = planned("ELEMENT_WISE_ADD ATensor=f32[3] BTensor=f32[3] OutputTensor=f32[3]");
  CHECK(passedOverText(*add).empty());
}

TEST_CASE("a fused softmax is a dispatch of its own, and FLOAT16 is rounded behind it") {
  constexpr auto kLine = "GEMM ATensor=f16[4,8] BTensor=f16[8,4] OutputTensor=f16[4,4] Alpha=1 FusedActivation=SOFTMAX";
  const auto plan = planned(kLine);
  REQUIRE(plan);
  REQUIRE(plan->execution.size() == 3);
  CHECK(kernelName(plan->execution[0].kernel) == "gemm.f16");
  CHECK(kernelName(plan->execution[1].kernel) == "softmax.f32");
  CHECK(plan->execution[1].barrierBefore);
  CHECK(kernelName(plan->execution[2].kernel) == "cast.f16");
  CHECK(plan->execution[2].barrierBefore);
}

TEST_CASE("a convolution whose windows reach beyond 32 bits is refused unless none of them counts") {
  const auto plan = [](std::string_view window) {
    return planned(cat("CONVOLUTION InputTensor=f32[1,1,4] FilterTensor=f32[1,1,2] OutputTensor=f32[1,1,3] ", window,
                       " EndPadding=[0] OutputPadding=[0] GroupCount=1"));
  };
  CHECK(plan("Strides=[4294967295] Dilations=[4294967295] StartPadding=[0]"));
  CHECK(plan("Strides=[1] Dilations=[1] StartPadding=[4294967295]"));
  CHECK_FALSE(plan("Strides=[4294967295] Dilations=[4294967295] StartPadding=[4294967295]"));
}

TEST_CASE("a convolution with a window of one element is a product of matrices where its places lie evenly") {
  const auto kernel = [](std::string_view x, std::string_view padding, std::string_view y) {
    const auto plan = planned(cat("CONVOLUTION InputTensor=", x, " FilterTensor=f32[32,16,1,1] OutputTensor=", y,
                                  " Strides=[1,1] Dilations=[1,1] StartPadding=[0,", padding, "] EndPadding=[0,0] ",
                                  "OutputPadding=[0,0] GroupCount=1"));
    REQUIRE(plan);
    return std::string(kernelName(plan->execution[0].kernel));
  };
  CHECK(kernel("f32[2,16,8,8]", "0", "f32[2,32,8,8]") == "gemm_vector_tile.f32");
  CHECK(kernel("f32[2,16,8,8]{1024,1,128,16}", "0", "f32[2,32,8,8]{2048,1,256,32}") == "gemm_vector_tile.f32");
  CHECK(kernel("f32[2,16,8,8]{1024,64,1,8}", "0", "f32[2,32,8,8]") == "convolution_tile.f32");
  CHECK(kernel("f32[2,16,8,8]", "1", "f32[2,32,8,9]") == "convolution_tile.f32");
}
