#include "core/ops/channels_last.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/checked.h"
#include "core/ops/copy.h"
#include "core/ops/product_kernels.h"
#include "kernels/interfaces/channels_last.h"

namespace dimple {
namespace {

constexpr uint32_t kSpatial = std::tuple_size_v<decltype(ConvolutionWindow::dimensions)>;

uint64_t saturatingProduct(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return checkedMultiply(a, b, product) ? product : std::numeric_limits<uint64_t>::max();
}

// The copies of a convolution whose product is of `groups` pairs of matrices.
struct Copies {
  DataType input, filter;
  uint32_t groups, channels;  // channels of a group
  uint32_t images;
  std::array<uint64_t, kSpatial> sizes{};  // of the input's copy
  uint64_t inputElements, filterElements;
};

// What windows reach, the zeros around the input included.
Copies copiesOf(const ConvolutionPart& part, const Quantization* integers = nullptr) {
  const Product& p = part.product;
  Copies copies{};
  copies.input = integers ? integers->b : p.type;
  copies.filter = integers ? integers->a : p.type;
  copies.groups = static_cast<uint32_t>(p.matrices.count());
  copies.channels = p.depth / part.window.taps;
  copies.images = p.columns;
  copies.inputElements = uint64_t{copies.groups} * copies.channels;
  for (uint32_t d = 0; d < kSpatial; ++d) {
    const ConvolutionWindow::Dimension& s = part.window.dimensions[d];
    copies.images /= s.size;
    copies.sizes[d] = uint64_t{s.size - 1} * s.stride + uint64_t{s.window - 1} * s.dilation + 1;
    copies.inputElements = saturatingProduct(copies.inputElements, copies.sizes[d]);
  }
  copies.inputElements = saturatingProduct(copies.inputElements, copies.images);
  copies.filterElements = uint64_t{copies.groups} * p.rows * p.depth;
  return copies;
}

constexpr const char* kTooLarge = "Its copies are larger than what a kernel may bind.";

uint64_t mostElements(const PlanBuilder& builder, DataType type) {
  return std::min(builder.target().caps.maxBufferRange, uint64_t{1} << 30) / byteWidth(type);
}

const char* refusesFilters(PlanBuilder& builder, size_t filterInput, const ConvolutionPart& part,
                           const Copies& copies) {
  if (copies.filterElements > mostElements(builder, copies.filter)) return kTooLarge;
  constexpr uint32_t kManyColumns = 512;
  if (!builder.op().input(filterInput).ownedByDml && part.product.columns < kManyColumns)
    return "Its filters, which are not owned, serve few places.";
  return nullptr;
}

const char* refuses(PlanBuilder& builder, size_t filterInput, const ConvolutionPart& part, const Copies& copies) {
  if (copies.inputElements > mostElements(builder, copies.input)) return kTooLarge;
  // Windows far apart, or wide zeros.
  uint64_t input = uint64_t{copies.groups} * copies.channels * copies.images;
  for (const ConvolutionWindow::Dimension& s : part.window.dimensions) input *= s.input;
  constexpr uint64_t kMostGrowth = 4;
  if (copies.inputElements > input * kMostGrowth) return "It has much padding.";
  return refusesFilters(builder, filterInput, part, copies);
}

Result<BufferRange> copyFilters(PlanBuilder& builder, size_t filterInput, const ConvolutionPart& part,
                                const Copies& copies) {
  const Product& p = part.product;
  Walk walk;
  walk.base[0] = p.matrices.base[0];
  walk.addDimension(copies.groups, {p.matrices.strides[0][0], p.rows * p.depth});
  walk.addDimension(p.rows, {p.a.row, p.depth});
  uint32_t packed = p.depth;
  for (uint32_t d = kSpatial; d-- > 0;) {
    const ConvolutionWindow::Dimension& s = part.window.dimensions[d];
    packed /= s.window;
    walk.addDimension(s.window, {s.filterStride, packed});
  }
  walk.addDimension(copies.channels, {part.window.strides.filterChannel, 1});
  return builder.prepare(
      filterInput, copies.filterElements * byteWidth(copies.filter),
      [&](const BufferRange& from, const BufferRange& to) { return addCopy(builder, copies.filter, walk, from, to); });
}

// `zero`: what lies around pictures.
Result<BufferRange> copyInput(PlanBuilder& builder, const ConvolutionPart& part, const Copies& copies,
                              const std::optional<BufferRange>& zero) {
  const auto& strides = part.window.strides;
  const uint32_t vector = channelsVector(copies.input);
  std::vector<uint32_t> words;
  appendDivisor(words, copies.groups * copies.channels / vector);
  words.insert(words.end(), {strides.inputBatch, strides.inputChannel, part.product.matrices.base[1], 0});
  for (uint32_t d = 0; d < kSpatial; ++d) {
    const ConvolutionWindow::Dimension& s = part.window.dimensions[d];
    appendDivisor(words, static_cast<uint32_t>(copies.sizes[d]));
    words.insert(words.end(), {s.input, s.padding, s.inputStride, 0});
  }
  const uint64_t items = copies.inputElements / vector;
  BufferRange to = builder.allocateTemporary(copies.inputElements * byteWidth(copies.input));
  const BufferRange& from = part.product.from[1];
  const bool vectorsFirst = strides.inputChannel < part.window.dimensions[0].inputStride;
  TRY(builder.addItems(
      kernels::ChannelsLast{
          .type = builder.sizedElement(copies.input),
          .push = {.count = static_cast<uint32_t>(items), .vectorsFirst = vectorsFirst, .hasZero = zero.has_value()},
          .x = from,
          .zero = zero.value_or(from),
          .y = to},
      items, builder.parameters(words), vector));
  to.writes = false;
  return to;
}

// Makes a part's product read filters whose elements lie in the order of a depth that counts through channels first.
void takeFilters(ConvolutionPart& part, const BufferRange& filters, const Copies& copies) {
  auto& [p, window] = part;
  p.from[0] = filters;
  p.a = {p.depth, 1};
  p.matrices.base[0] = 0;
  p.matrices.strides[0][0] = p.rows * p.depth;
  window.channelsLast = copies.channels;
  window.strides.filter = p.depth;
}

}  // namespace

Result<bool> copyChannelsLast(PlanBuilder& builder, size_t filterInput, ConvolutionPart& part,
                              const Quantization* integers) {
  auto& [p, window] = part;
  const Request request{p, builder.target(), &window, integers};
  const char* reason = p.depth == 0 ? "It has no sums." : nullptr;
  const bool asItLies = !reason && !refusesChannelsAsTheyLie(request);
  if (!reason && !asItLies) reason = refusesChannelsLast(request);
  Copies copies{};
  if (!reason) {
    copies = copiesOf(part, integers);
    reason =
        asItLies ? refusesFilters(builder, filterInput, part, copies) : refuses(builder, filterInput, part, copies);
  }
  if (reason) {
    builder.passOver({integers ? "integer_convolution_cooperative_ahead" : "convolution_cooperative_vectors", reason});
    return false;
  }
  const auto filters = copyFilters(builder, filterInput, part, copies);
  if (!filters) return filters.error();
  if (asItLies) {
    takeFilters(part, *filters, copies);
    p.b = {1, 0};
    window.edges = true;
    return true;
  }
  const auto input = copyInput(builder, part, copies, integers ? integers->zeroB.range : std::nullopt);
  if (!input) return input.error();

  p.from[0] = *filters;
  p.from[1] = *input;
  p.a = {p.depth, 1};
  p.b = {1, 0};
  Walk matrices;
  matrices.base = {0, 0, p.matrices.base[2], p.matrices.base[3]};
  matrices.addDimension(copies.groups,
                        {p.rows * p.depth, copies.channels, p.matrices.strides[0][2], p.matrices.strides[0][3]});
  p.matrices = matrices.coalesce();
  window.channelsLast = copies.channels;
  auto stride = copies.groups * copies.channels;
  for (uint32_t d = 0; d < kSpatial; ++d) {
    ConvolutionWindow::Dimension& s = window.dimensions[d];
    s.inputStride = stride;
    s.padding = 0;
    stride *= static_cast<uint32_t>(copies.sizes[d]);
  }
  window.strides.filter = p.depth;
  window.strides.inputChannel = 1;
  window.strides.inputBatch = stride;
  return true;
}

Result<bool> orderFilters(PlanBuilder& builder, size_t filterInput, ConvolutionPart& part) {
  auto& [p, window] = part;
  const char* reason = p.depth == 0 ? "It has no sums." : refusesGathering({p, builder.target(), &window});
  if (!reason && !builder.op().input(filterInput).ownedByDml) reason = "Its filters are not owned.";
  Copies copies{};
  if (!reason) {
    copies = copiesOf(part);
    if (copies.filterElements > mostElements(builder, copies.filter)) reason = kTooLarge;
  }
  if (reason) {
    builder.passOver({"convolution_cooperative_gathered", reason});
    return false;
  }
  const auto filters = copyFilters(builder, filterInput, part, copies);
  if (!filters) return filters.error();
  takeFilters(part, *filters, copies);
  window.gathered = true;
  return true;
}

}  // namespace dimple
