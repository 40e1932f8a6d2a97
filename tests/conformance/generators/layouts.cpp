#include "tests/conformance/generators/layouts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/tensor.h"
#include "core/text.h"

namespace dimple::testing {
namespace {

// Strides that give every coordinate an element of its own, dimensions nested in the given order (outermost first).
Sizes nestedStrides(Random& random, const Sizes& sizes, const std::vector<size_t>& order, uint32_t step,
                    uint32_t padding) {
  Sizes strides(sizes.size());
  uint32_t stride = step;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = order[i];
    // The stride of one element is free; it must not matter.
    strides[d] = sizes[d] == 1 && random.chance(0.5) ? random.size(0, 1000) : stride;
    stride *= sizes[d];
    if (padding != 0) stride += random.size(0, padding) * step;
  }
  return strides;
}

}  // namespace

uint64_t productOf(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), uint64_t{1}, [](uint64_t a, uint32_t b) { return a * b; });
}

uint64_t logUniform(Random& random, uint64_t largest) {
  const double value = std::exp(random.unit() * std::log(static_cast<double>(largest) + 1));
  return std::min(largest, static_cast<uint64_t>(value));
}

Sizes makeSizes(Random& random, size_t rank, uint64_t limit) {
  // The walk over many dimensions that all count, which a limit shared among them seldom leaves.
  if (rank > 4 && random.chance(0.2)) {
    Sizes sizes(rank);
    for (uint32_t& size : sizes) size = random.chance(0.7) ? 2 : 3;
    return sizes;
  }
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  random.shuffle(std::span(order));
  Sizes sizes(rank);
  uint64_t left = limit;
  for (size_t i = 0; i < rank; ++i) {
    // Twice the share of this dimension, so that its mean is the share.
    const double share = std::pow(static_cast<double>(left), 1.0 / static_cast<double>(rank - i));
    const auto largest = i + 1 == rank ? left : std::min(left, static_cast<uint64_t>(2 * share));
    const uint64_t size =
        random.chance(0.12) ? 1 : static_cast<uint64_t>(random.range(1, static_cast<int64_t>(largest)));
    sizes[order[i]] = static_cast<uint32_t>(size);
    left /= size;
  }
  return sizes;
}

TensorText makeTensor(Random& random, Side side, DataType type, Sizes sizes, Layout layout) {
  if (side == Side::Output) {
    if (layout == Layout::Broadcast) layout = Layout::Padded;
    if (layout == Layout::Uniform) layout = Layout::Gapped;
    if (layout == Layout::Sliding) layout = Layout::Permuted;
  }
  TensorText tensor{type, std::move(sizes)};
  std::vector<size_t> order(tensor.sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto shuffle = [&] { random.shuffle(std::span(order)); };
  switch (layout) {
    case Layout::Packed:
      break;
    case Layout::Explicit:
      tensor.strides = nestedStrides(random, tensor.sizes, order, 1, 0);
      break;
    case Layout::Slack: {
      constexpr uint32_t kAlignments[] = {0, 16, 32, 256, 1024};
      constexpr uint64_t kExtra[] = {1, 3, 4, 8, 12, 20, 64};
      tensor.totalBytes = impliedBytes(type, tensor.sizes, {}).value_or(0) + random.pick(kExtra);
      tensor.alignment = random.pick(kAlignments);
      break;
    }
    case Layout::Permuted:
      if (order.size() == 4 && random.chance(0.5))
        order = {0, 2, 3, 1};
      else
        shuffle();
      tensor.strides = nestedStrides(random, tensor.sizes, order, 1, 0);
      break;
    case Layout::Padded:
      if (random.chance(0.4)) shuffle();
      tensor.strides = nestedStrides(random, tensor.sizes, order, 1, 5);
      break;
    case Layout::Gapped:
      if (random.chance(0.3)) shuffle();
      tensor.strides = nestedStrides(random, tensor.sizes, order, random.size(2, 4), random.chance(0.5) ? 3 : 0);
      break;
    case Layout::Broadcast: {
      if (random.chance(0.3)) shuffle();
      std::vector<bool> kept(tensor.sizes.size());
      Sizes inner = tensor.sizes;
      for (size_t d = 0; d < inner.size(); ++d) {
        kept[d] = random.chance(0.5);
        if (!kept[d]) inner[d] = 1;
      }
      // One dimension that varies, so that not all broadcasts are uniform.
      const size_t last = random.below(inner.size());
      kept[last] = true;
      inner[last] = tensor.sizes[last];
      tensor.strides = nestedStrides(random, inner, order, 1, random.chance(0.3) ? 2 : 0);
      for (size_t d = 0; d < inner.size(); ++d)
        if (!kept[d]) tensor.strides[d] = 0;
      break;
    }
    case Layout::Uniform:
      tensor.strides.assign(tensor.sizes.size(), 0);
      break;
    case Layout::Sliding:
      for (size_t d = 0; d < order.size(); ++d) tensor.strides.push_back(random.size(d + 1 == order.size() ? 1 : 0, 9));
      break;
  }
  return tensor;
}

std::string TensorText::text() const {
  std::string out = cat(shortTypeName(type), bracketed(sizes));
  if (!strides.empty()) {
    std::string list = bracketed(strides);
    list.front() = '{';
    list.back() = '}';
    out += list;
  }
  if (totalBytes != 0) out += cat("@", totalBytes);
  if (alignment != 0) out += cat("%", alignment);
  if (owned) out += "!";
  return out;
}

}  // namespace dimple::testing
