#include "tests/conformance/generators/view_cases.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/operation.h"
#include "core/text.h"
#include "tests/conformance/oracle/oracle.h"

namespace dimple::testing {
namespace {

using Sizes = std::vector<uint32_t>;

std::string list(const Sizes& values) {
  std::string out = "[";
  for (const uint32_t value : values) out += cat(out.size() == 1 ? "" : ",", value);
  return out + "]";
}

std::string text(std::string_view type, const Sizes& sizes) { return cat(type, list(sizes)); }

std::string text(std::string_view type, const Sizes& sizes, const Sizes& strides) {
  std::string braced = list(strides);
  braced.front() = '{';
  braced.back() = '}';
  return text(type, sizes) + braced;
}

struct Described {
  std::string type;
  Sizes sizes;
  uint64_t bytes = 0;  // of an element
};

std::optional<Described> describe(const DML_BUFFER_TENSOR_DESC& tensor) {
  if (oracle::elementBits(tensor.DataType) < 8) return {};
  Described d{std::string(shortTypeName(tensor.DataType)),
              {tensor.Sizes, tensor.Sizes + tensor.DimensionCount},
              oracle::elementBits(tensor.DataType) / 8};
  uint64_t packed = 1;
  for (size_t at = d.sizes.size(); at-- > 0; packed *= d.sizes[at])
    if (tensor.Strides && d.sizes[at] > 1 && tensor.Strides[at] != packed) return {};
  return d;
}

uint64_t bytesOf(const Described& d, const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), d.bytes, std::multiplies<>());
}

// Strides of a packed tensor whose dimensions lie in another order.
Sizes turnedStrides(Random& random, const Sizes& sizes) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  random.shuffle(std::span(order));
  Sizes strides(sizes.size());
  uint32_t stride = 1;
  for (const size_t d : order) {
    strides[d] = stride;
    stride *= sizes[d];
  }
  return strides;
}

std::optional<TestCase> parse(const std::string& line) {
  auto test = parseTestCase(line);
  if (!test || !Operation::parse(test->desc.desc())) return {};
  return std::move(*test);
}

// Two or three sizes whose sum is `size`, or only that.
Sizes divide(Random& random, uint32_t size) {
  Sizes parts;
  for (uint32_t left = std::min(size, random.size(2, 3)); left > 1; --left) {
    parts.push_back(random.size(1, size - left + 1));
    size -= parts.back();
  }
  parts.push_back(size);
  return parts;
}

std::string partsText(const Described& d, size_t axis, const Sizes& parts) {
  std::string out;
  Sizes sizes = d.sizes;
  for (const uint32_t part : parts) {
    sizes[axis] = part;
    out += cat(out.empty() ? "(" : ",", text(d.type, sizes));
  }
  return out + ")";
}

std::string joinLine(const Described& d, size_t axis, const Sizes& parts) {
  Sizes whole = d.sizes;
  whole[axis] = std::accumulate(parts.begin(), parts.end(), 0u);
  return cat("JOIN InputTensors=", partsText(d, axis, parts), " OutputTensor=", text(d.type, whole), " Axis=", axis);
}

std::string splitLine(const Described& d, size_t axis, const Sizes& parts) {
  Sizes whole = d.sizes;
  whole[axis] = std::accumulate(parts.begin(), parts.end(), 0u);
  return cat("SPLIT InputTensor=", text(d.type, whole), " OutputTensors=", partsText(d, axis, parts), " Axis=", axis);
}

// A number of elements along a dimension before or behind others: often such that these begin where a device can bind.
uint32_t elementsBeside(Random& random, uint32_t size) {
  return random.chance(0.7) ? size * random.size(1, 2) : random.size(1, 4);
}

}  // namespace

std::optional<ViewCase> viewInto(Random& random, const DML_BUFFER_TENSOR_DESC& tensor, uint64_t most) {
  const auto d = describe(tensor);
  if (!d) return {};
  const auto axis = static_cast<size_t>(random.chance(0.5) ? 0 : random.below(d->sizes.size()));
  const uint32_t size = d->sizes[axis];
  const auto made = [](std::optional<TestCase> test, size_t output = 0) -> std::optional<ViewCase> {
    if (!test) return {};
    return ViewCase{std::move(*test), output};
  };
  Sizes whole = d->sizes;
  switch (random.below(4)) {
    case 0: {
      Sizes parts{size, elementsBeside(random, size)};
      const bool second = random.chance(0.6);
      if (second) std::swap(parts[0], parts[1]);
      if (bytesOf(*d, d->sizes) / size * (parts[0] + parts[1]) > most) return {};
      return made(parse(splitLine(*d, axis, parts)), second);
    }
    case 1: {
      const uint32_t step = random.chance(0.8) ? 1 : 2;
      const uint32_t before = elementsBeside(random, size);
      whole[axis] = before + size * step;
      if (bytesOf(*d, whole) > most) return {};
      Sizes offsets(whole.size()), window = d->sizes, steps(whole.size(), 1);
      offsets[axis] = before;
      window[axis] = size * step;
      steps[axis] = step;
      return made(parse(cat("SLICE1 InputTensor=", text(d->type, whole), " OutputTensor=", text(d->type, d->sizes),
                            " InputWindowOffsets=", list(offsets), " InputWindowSizes=", list(window),
                            " InputWindowStrides=", list(steps))));
    }
    case 2:
      return made(parse(joinLine(*d, axis, divide(random, size))));
    default:
      return made(parse(cat("ELEMENT_WISE_IDENTITY InputTensor=", text(d->type, whole, turnedStrides(random, whole)),
                            " OutputTensor=", text(d->type, whole))));
  }
}

std::optional<TestCase> viewOf(Random& random, const DML_BUFFER_TENSOR_DESC& tensor, uint64_t most) {
  const auto d = describe(tensor);
  if (!d) return {};
  const auto axis = static_cast<size_t>(random.chance(0.5) ? 0 : random.below(d->sizes.size()));
  const uint32_t size = d->sizes[axis];
  switch (random.below(3)) {
    case 0: {
      const uint32_t other = elementsBeside(random, size);
      if (bytesOf(*d, d->sizes) / size * (size + other) > most) return {};
      return parse(joinLine(*d, axis, {size, other}));
    }
    case 1:
      return size > 1 ? parse(splitLine(*d, axis, divide(random, size))) : std::nullopt;
    default:
      return parse(cat("ELEMENT_WISE_IDENTITY InputTensor=", text(d->type, d->sizes),
                       " OutputTensor=", text(d->type, d->sizes, turnedStrides(random, d->sizes))));
  }
}

std::optional<TestCase> sameElements(const DML_BUFFER_TENSOR_DESC& tensor) {
  const std::string same = formatTensor(tensor);
  return parse(cat("ELEMENT_WISE_BIT_AND ATensor=", same, " BTensor=", same, " OutputTensor=", same));
}

}  // namespace dimple::testing
