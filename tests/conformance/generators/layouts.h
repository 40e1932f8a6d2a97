// Random tensor descriptions as text.
#pragma once

#include <string>
#include <vector>

#include "core/data_type.h"
#include "tests/conformance/random.h"

namespace dimple::testing {

using Sizes = std::vector<uint32_t>;

enum class Layout : uint8_t {
  Packed,     // no strides
  Explicit,   // packed strides, written out
  Slack,      // packed, with bytes behind the last element, and with a guaranteed alignment
  Permuted,   // the dimensions in another order: NHWC described as NCHW
  Padded,     // rows and planes with gaps between them, dimensions in another order now and then
  Gapped,     // gaps between neighbours too, as between the low words of 64-bit elements
  Broadcast,  // some dimensions of stride 0; Padded for outputs
  Uniform,    // every stride 0; Gapped for outputs
  Sliding,    // windows that overlap; Permuted for outputs
};
constexpr size_t kLayouts = 9;

struct TensorText {
  DataType type = DML_TENSOR_DATA_TYPE_UNKNOWN;
  Sizes sizes;
  Sizes strides = {};  // empty: packed
  uint64_t totalBytes = 0;
  uint32_t alignment = 0;
  bool owned = false;

  std::string text() const;
};

// Whether different coordinates have different elements, as those of an output must.
constexpr bool isInjective(Layout layout) { return layout < Layout::Broadcast; }

enum class Side : uint8_t { Input, Output };

TensorText makeTensor(Random& random, Side side, DataType type, Sizes sizes, Layout layout);

// `rank` sizes, some of them 1, with a product of at most `limit`; now and then, of many dimensions, all 2 or 3.
Sizes makeSizes(Random& random, size_t rank, uint64_t limit);

// 1 to `largest`, small numbers as often as large ones.
uint64_t logUniform(Random& random, uint64_t largest);

uint64_t productOf(const Sizes& sizes);

// "[1,2]"
template <class Items>
std::string bracketed(const Items& items) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ",";
    out += std::to_string(item);
  }
  return out + "]";
}

}  // namespace dimple::testing
