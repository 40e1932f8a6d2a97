// Plans of convolutions of FLOAT32 in large tiles. No device is involved.
#include <doctest/doctest.h>

#include "core/text.h"
#include "tests/core/planned.h"

using namespace dimple;
using namespace dimple::testing;

namespace {

// 2-D, of square pictures and windows.
struct Case {
  uint32_t batch, channels, side, filters, window, stride;
  std::string_view owned = "!";
  uint32_t groups = 1;
  std::string_view layout{};
};

std::string lineOf(const Case& c) {
  const uint32_t padding = c.window / 2;
  const uint32_t to = (c.side + 2 * padding - c.window) / c.stride + 1;
  return cat("CONVOLUTION InputTensor=f32[", c.batch, ",", c.channels, ",", c.side, ",", c.side, "] FilterTensor=f32[",
             c.filters, ",", c.channels / c.groups, ",", c.window, ",", c.window, "]", c.layout, c.owned,
             " OutputTensor=f32[", c.batch, ",", c.filters, ",", to, ",", to,
             "] Mode=CROSS_CORRELATION Direction=FORWARD Strides=[", c.stride, ",", c.stride,
             "] Dilations=[1,1] StartPadding=[", padding, ",", padding, "] EndPadding=[", padding, ",", padding,
             "] OutputPadding=[0,0] GroupCount=", c.groups);
}

Caps capsOfAnyWorkgroup() {
  Caps caps;
  caps.maxInvocations = 1024;
  return caps;
}

std::vector<std::string> kernelsOf(const Case& c, const Caps& caps = capsOfAnyWorkgroup()) {
  std::vector<std::string> names;
  for (const Dispatch& dispatch : planOf(lineOf(c), caps).execution) names.emplace_back(kernelName(dispatch.kernel));
  return names;
}

using Names = std::vector<std::string>;
constexpr const char* kLarge = "convolution_large_tile.f32";
constexpr const char* kNarrow = "convolution_narrow_tile.f32";

}  // namespace

TEST_CASE("windows with a stride are gathered in large tiles, whose filters lie side by side") {
  const Plan plan = planOf(lineOf({16, 128, 56, 254, 3, 2}), capsOfAnyWorkgroup());
  REQUIRE(plan.initialization.size() == 1);
  CHECK(kernelName(plan.initialization[0].kernel) == "transpose.b32");
  CHECK(plan.persistentBytes == 128 * 9 * 256 * 4);
  REQUIRE(plan.execution.size() == 1);
  CHECK(kernelName(plan.execution[0].kernel) == kLarge);
  CHECK(plan.execution[0].groups[0] == 2 * 98);
  CHECK(plan.execution[0].buffers[0].kind == SlotKind::Persistent);
  // Few tiles have slices of the depth.
  CHECK(kernelsOf({16, 256, 28, 256, 3, 2}) == Names{kLarge, "convolution_combine.f32"});
}

TEST_CASE("few filters take narrow tiles") {
  CHECK(kernelsOf({16, 3, 224, 64, 7, 2}) == Names{kNarrow});
  CHECK(kernelsOf({16, 3, 224, 96, 7, 2}) == Names{kLarge});
  CHECK(kernelsOf({16, 3, 224, 192, 7, 2}) == Names{kNarrow});
  CHECK(kernelsOf({8, 3, 224, 320, 7, 2}) == Names{kLarge});
  CHECK(kernelsOf({16, 3, 224, 32, 7, 2}) == Names{"convolution_tile.f32"});
  // Whether workgroups of other kernels may be of several sizes or not.
  CHECK(kernelsOf({16, 3, 224, 64, 7, 2}, Caps{}) == Names{kNarrow});
}

TEST_CASE("results of large tiles are stored in fours where places follow each other so") {
  constexpr uint32_t kDirections = 12, kFours = 32;
  const auto fours = [](const Case& c) {
    const Plan plan = planOf(lineOf(c), capsOfAnyWorkgroup());
    return (specOf(plan.execution[0], kDirections) & kFours) != 0;
  };
  CHECK(fours({16, 128, 56, 128, 3, 2}));
  CHECK(!fours({16, 129, 26, 640, 3, 2}));  // 13 x 13 places
  CHECK(fours({16, 512, 14, 512, 3, 2}));   // 7 x 7, in parts, of 784 columns
}

TEST_CASE("windows of one element are gathered where places lie in no vectors, and with strides") {
  CHECK(kernelsOf({16, 2048, 7, 512, 1, 1}) == Names{kLarge, "convolution_combine.f32"});
  CHECK(kernelsOf({16, 512, 7, 2048, 1, 1}) == Names{kLarge});
  CHECK(kernelsOf({16, 256, 56, 512, 1, 2}) == Names{kLarge});
  CHECK(kernelsOf({1, 160, 7, 320, 1, 1}) == Names{"convolution_split_small_tile.f32"});
  CHECK(kernelsOf({16, 256, 14, 1024, 1, 1}) == Names{"gemm_large_tile.f32"});
}

TEST_CASE("windows that are not gathered in large tiles say why") {
  const auto reasonOf = [](const Case& c, Caps caps = capsOfAnyWorkgroup()) -> std::string {
    for (const PassedOver& passed : planOf(lineOf(c), caps).passedOver)
      if (passed.kernel == "convolution_large_tile" && passed.tile[0] == 0) return std::string(passed.reason);
    return {};
  };
  CHECK(reasonOf({16, 16, 100, 32, 3, 2}) == "It has few filters.");
  CHECK(reasonOf({1, 512, 11, 500, 7, 2}) == "It has few places.");
  CHECK(reasonOf({1, 32, 27, 128, 1, 2}) == "It has few tiles.");
  CHECK(reasonOf({16, 1, 100, 64, 2, 2}) == "Its sums are short.");
  CHECK(reasonOf({16, 3, 100, 64, 16, 2}) == "Its window has many elements.");
  CHECK(reasonOf({1, 64, 56, 64, 3, 2}) == "Few tiles share the depth in one dispatch.");
  CHECK(reasonOf({1, 30, 20, 128, 5, 1, ""}) == "DML does not own its filters, and they serve few places.");
  CHECK(reasonOf({1, 30, 20, 128, 5, 1}).empty());
  Caps small = capsOfAnyWorkgroup();
  small.sharedBytes = 16 * 1024;
  CHECK(reasonOf({16, 128, 56, 128, 3, 2}, small) == "The device has too little shared memory for a tile.");
}
