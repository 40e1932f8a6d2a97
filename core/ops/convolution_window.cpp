#include "core/ops/convolution_window.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/checked.h"

namespace dimple {
namespace {

// a * b + c, or the largest number if that is less.
uint64_t saturatingSum(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t product = 0;
  uint64_t sum = 0;
  if (!checkedMultiply(a, b, product) || !checkedAdd(product, c, sum)) return std::numeric_limits<uint64_t>::max();
  return sum;
}

uint32_t leastOf(uint64_t a, uint64_t b) { return static_cast<uint32_t>(std::min(a, b)); }

// Places of a dimension: the first one, and the distance between them.
uint32_t placesFrom(uint32_t first, uint32_t stride, uint32_t size) {
  return size > first ? (size - first - 1) / stride + 1 : 0;
}

// The elements of the window that a place of the padded output meets: every `step`-th from the first one on.
struct Met {
  uint32_t first, step, count;
};
Met elementsAt(const ConvolutionWindow::Dimension& s, uint64_t padded) {
  const uint32_t step = s.stride / std::gcd(s.stride, s.dilation);
  const uint32_t end = std::min(step, s.window);
  uint32_t first = 0;
  while (first < end && uint64_t{first} * s.dilation % s.stride != padded % s.stride) ++first;
  return {first, step, first < end ? placesFrom(first, step, s.window) : 0};
}

// Takes every stride-th place of the output from `first` on. The forward window begins with the last element that these
// places meet.
void takePlaces(ConvolutionWindow::Dimension& s, uint32_t first, Walk& matrices) {
  const uint64_t padded = uint64_t{first} + s.padding;
  const Met met = elementsAt(s, padded);
  const auto spacing = s.dilation / std::gcd(s.stride, s.dilation);
  const int64_t begin =
      (static_cast<int64_t>(padded) - int64_t{met.first} * s.dilation) / s.stride - (int64_t{met.count} - 1) * spacing;
  matrices.base[3] += first * s.outputStride;
  s.outputStride *= s.stride;
  s.size = placesFrom(first, s.stride, s.size);
  s.outputs = s.results = placesFrom(first, s.stride, s.results);
  s.stride = 1;
  s.dilation = spacing;
  s.padding = begin < 0 ? static_cast<uint32_t>(-begin) : 0;
  if (met.count == 0 || s.results == 0 || begin >= int64_t{s.input}) {
    s.elements = s.window = s.padding = 0;
    return;
  }
  s.elements = s.window = met.count;
  if (begin > 0) {
    matrices.base[1] += static_cast<uint32_t>(begin) * s.inputStride;
    s.input -= static_cast<uint32_t>(begin);
  }
  matrices.base[0] += (met.first + (met.count - 1) * met.step) * s.filterStride;
  s.filterStride *= 0 - met.step;
  leaveOutUnreached(s, false);
}

}  // namespace

bool leaveOutUnreached(ConvolutionWindow::Dimension& s, bool backward) {
  constexpr uint64_t kLimit = uint64_t{1} << 32;
  if (!backward) {
    const uint64_t reached = uint64_t{s.padding} + s.input;
    if (s.stride != 0) s.outputs = leastOf(s.outputs, (reached - 1) / s.stride + 1);
    if (s.dilation != 0) s.window = leastOf(s.window, (reached - 1) / s.dilation + 1);
    return saturatingSum(s.outputs - 1, s.stride, uint64_t{s.window - 1} * s.dilation) < kLimit;
  }
  const uint64_t farthest = uint64_t{s.outputs} - 1 + s.padding;
  if (saturatingSum(s.input - 1, s.stride, uint64_t{s.window - 1} * s.dilation) < s.padding) {
    s.window = 0;
    return true;
  }
  if (s.dilation != 0) s.window = leastOf(s.window, farthest / s.dilation + 1);
  return farthest < kLimit;
}

bool isPacked(const ConvolutionWindow& window, uint32_t channels) {
  uint32_t taps = 1;
  for (const ConvolutionWindow::Dimension& dimension : window.dimensions) {
    if (dimension.window != 1 && dimension.filterStride != taps) return false;
    taps *= dimension.window;
  }
  return channels == 1 || window.strides.filterChannel == taps;
}

std::vector<ConvolutionPart> forwardParts(const Product& product, const ConvolutionWindow& window) {
  if (!window.backward || window.distant || window.taps == 0) return {};
  uint64_t count = 1;
  uint32_t images = product.columns;
  for (const ConvolutionWindow::Dimension& s : window.dimensions) {
    count *= std::min(s.stride, s.size);
    images /= s.size;
    constexpr uint32_t kMostParts = 64;
    if (count > kMostParts) return {};
  }
  // An additional dispatch takes as long as this many products. A single dispatch also computes the products with
  // zeros.
  constexpr uint64_t kFewSums = 1 << 22;
  if (count > 1 && product.multiplyAdds() < count * kFewSums) return {};

  std::vector<ConvolutionPart> parts;
  for (uint32_t i = 0; i < count; ++i) {
    ConvolutionPart& part = parts.emplace_back(ConvolutionPart{product, window});
    part.window.backward = false;
    part.window.taps = 1;
    part.product.columns = images;
    uint32_t rest = i;
    for (ConvolutionWindow::Dimension& s : part.window.dimensions) {
      const uint32_t phases = std::min(s.stride, s.size);
      takePlaces(s, rest % phases, part.product.matrices);
      rest /= phases;
      part.product.columns *= s.size;
      part.window.taps *= s.window;
    }
    const uint32_t channels = product.depth / window.taps;
    part.product.depth = channels * part.window.taps;
    part.product.a.column = isPacked(part.window, channels) ? 1 : 0;
  }
  return parts;
}

}  // namespace dimple
