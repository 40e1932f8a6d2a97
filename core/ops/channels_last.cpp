#include "core/ops/channels_last.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "core/checked.h"
#include "core/ops/copy.h"
#include "core/ops/patch_kernels.h"
#include "core/ops/product_kernels.h"
#include "kernels/interfaces/channels_last.h"
#include "kernels/interfaces/few_channels.h"

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

constexpr const char* kTooLarge = "Its copies are larger than a kernel may bind.";

uint64_t mostElements(const PlanBuilder& builder, DataType type) {
  return std::min(builder.target().caps.maxBufferRange, uint64_t{1} << 30) / byteWidth(type);
}

const char* refusesFilters(PlanBuilder& builder, size_t filterInput, const ConvolutionPart& part,
                           const Copies& copies) {
  if (copies.filterElements > mostElements(builder, copies.filter)) return kTooLarge;
  constexpr uint32_t kManyColumns = 512;
  if (!builder.op().input(filterInput).ownedByDml && part.product.columns < kManyColumns)
    return "DML does not own its filters, and they serve few places.";
  return nullptr;
}

const char* refuses(PlanBuilder& builder, size_t filterInput, const ConvolutionPart& part, const Copies& copies) {
  if (copies.inputElements > mostElements(builder, copies.input)) return kTooLarge;
  // The windows lie far apart, or the padding is wide.
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

// `zero` is the value that surrounds the pictures.
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

// Describes a line of a window of few channels as one element.
struct Line {
  uint32_t channels;     // of a place
  uint32_t channelBits;  // of a place in the copies, zeros included
  uint64_t belonging;    // channels of its places
  uint64_t all;          // with those of places behind it, which fill up parts of the depth
  uint64_t places;       // of a line of the input's copy
};

Line lineOf(const ConvolutionPart& part) {
  constexpr uint32_t kVector = 8;
  constexpr uint32_t kPart = 32;  // of the depth, of the least tile for such windows
  const ConvolutionWindow::Dimension& s = part.window.dimensions[0];
  Line line{};
  line.channels = part.product.depth / part.window.taps;
  // A window begins with a vector.
  const uint32_t multiple = kVector >> std::min(std::countr_zero(s.stride), 3);
  line.channelBits = std::bit_width(std::max(multiple, line.channels) - 1);
  line.belonging = uint64_t{s.window} << line.channelBits;
  line.all = alignUp(line.belonging, kPart);
  const uint64_t reached = uint64_t{s.size - 1} * s.stride + (line.all >> line.channelBits);
  line.places = alignUp(reached, kVector >> line.channelBits);
  return line;
}

// Describes copies with more channels, whose lines include the places that fill up the depth.
Copies copiesOf(const ConvolutionPart& part, const Line& line) {
  Copies copies = copiesOf(part);
  copies.sizes[0] = line.places;
  copies.inputElements = uint64_t{copies.images} << line.channelBits;
  for (const uint64_t size : copies.sizes) copies.inputElements = saturatingProduct(copies.inputElements, size);
  const uint64_t lines = uint64_t{part.product.rows} * (part.window.taps / part.window.dimensions[0].window);
  copies.filterElements = saturatingProduct(lines, line.all);
  return copies;
}

const char* refusesPadding(PlanBuilder& builder, size_t filterInput, const ConvolutionPart& part) {
  const auto& [p, window] = part;
  if (const char* reason = refusesFewChannels({p, builder.target(), &window})) return reason;
  const Line line = lineOf(part);
  constexpr uint32_t kMostSteps = 5;  // for one that there is
  if (line.all > uint64_t{line.channels} * window.dimensions[0].window * kMostSteps)
    return "Most of its depth would be zeros.";
  return refuses(builder, filterInput, part, copiesOf(part, line));
}

// Describes what a copy of few channels reads: pictures, or filters, each of which counts as a picture.
struct FewChannels {
  uint32_t batch, channel, first;  // strides, and an element
  std::array<uint64_t, kSpatial> sizes;
  std::array<std::array<uint32_t, 3>, kSpatial> from;  // size, padding before, stride
};

Status addFewChannels(PlanBuilder& builder, const FewChannels& copy, const Line& line, uint64_t elements,
                      const BufferRange& from, const BufferRange& to) {
  constexpr uint32_t kVector = 8;
  std::vector<uint32_t> words;
  appendDivisor(words, static_cast<uint32_t>((copy.sizes[0] << line.channelBits) / kVector));
  words.insert(words.end(), {copy.batch, copy.channel, copy.first, 0});
  for (uint32_t d = 0; d < kSpatial; ++d) {
    appendDivisor(words, static_cast<uint32_t>(copy.sizes[d]));
    words.insert(words.end(), {copy.from[d][0], copy.from[d][1], copy.from[d][2], 0});
  }
  return builder.addItems(kernels::FewChannels{.type = builder.sizedElement(builder.op().input(0).type),
                                               .push = {.count = static_cast<uint32_t>(elements / kVector),
                                                        .channels = line.channels,
                                                        .channelBits = line.channelBits},
                                               .x = from,
                                               .y = to},
                          elements / kVector, builder.parameters(words), kVector);
}

// From here on, windows are read in copies whose innermost places are `stride` elements apart, and which have no
// padding.
void readCopies(ConvolutionPart& part, const Copies& copies, uint32_t stride) {
  ConvolutionWindow& window = part.window;
  for (uint32_t d = 0; d < kSpatial; ++d) {
    ConvolutionWindow::Dimension& s = window.dimensions[d];
    s.inputStride = stride;
    s.padding = 0;
    stride *= static_cast<uint32_t>(copies.sizes[d]);
  }
  window.strides.filter = part.product.depth;
  window.strides.inputChannel = 1;
  window.strides.inputBatch = stride;
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
  readCopies(part, copies, copies.groups * copies.channels);
  return true;
}

Result<bool> orderFilters(PlanBuilder& builder, size_t filterInput, ConvolutionPart& part) {
  auto& [p, window] = part;
  const char* reason = p.depth == 0 ? "It has no sums." : refusesGathering({p, builder.target(), &window});
  if (!reason && !builder.op().input(filterInput).ownedByDml) reason = "DML does not own its filters.";
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

Result<bool> readPatches(PlanBuilder& builder, size_t filterInput, ConvolutionPart& part) {
  auto& [p, window] = part;
  const char* reason = p.depth == 0 ? "It has no sums." : refusesPatches({p, builder.target(), &window});
  Copies copies{};
  if (!reason) {
    copies = copiesOf(part);
    reason = refusesFilters(builder, filterInput, part, copies);
  }
  if (reason) {
    // Plans are compared by what they pass over, and windows of one element are products in some and not in others.
    if (window.taps != 1) builder.passOver({"convolution_cooperative_patch", reason});
    return false;
  }
  const MatrixShape& shape = builder.target().caps.matrices;
  const uint32_t ofMatrix = shape.rows * shape.depth;
  const uint32_t channel = window.strides.filterChannel;
  Walk walk;
  walk.base[0] = p.matrices.base[0];
  walk.addDimension(p.rows / shape.rows, {p.a.row * shape.rows, p.depth * shape.rows});
  walk.addDimension(copies.channels / shape.depth, {channel * shape.depth, window.taps * ofMatrix});
  walk.addDimension(window.dimensions[1].window,
                    {window.dimensions[1].filterStride, window.dimensions[0].window * ofMatrix});
  walk.addDimension(window.dimensions[0].window, {window.dimensions[0].filterStride, ofMatrix});
  walk.addDimension(shape.rows, {p.a.row, shape.depth});
  walk.addDimension(shape.depth, {channel, 1});
  const auto filters = builder.prepare(
      filterInput, copies.filterElements * byteWidth(copies.filter),
      [&](const BufferRange& from, const BufferRange& to) { return addCopy(builder, copies.filter, walk, from, to); });
  if (!filters) return filters.error();
  takeFilters(part, *filters, copies);
  p.b = {1, 0};
  window.edges = true;
  window.patches = true;
  return true;
}

Result<bool> padChannels(PlanBuilder& builder, size_t filterInput, ConvolutionPart& part) {
  auto& [p, window] = part;
  if (const char* reason = refusesPadding(builder, filterInput, part)) {
    builder.passOver({"few_channels", reason});
    return false;
  }
  const Line line = lineOf(part);
  const Copies copies = copiesOf(part, line);
  FewChannels ofFilters{p.a.row, window.strides.filterChannel, p.matrices.base[0], {line.all >> line.channelBits}, {}};
  FewChannels ofInput{window.strides.inputBatch, window.strides.inputChannel, p.matrices.base[1], copies.sizes, {}};
  for (uint32_t d = 0; d < kSpatial; ++d) {
    const ConvolutionWindow::Dimension& s = window.dimensions[d];
    if (d != 0) ofFilters.sizes[d] = s.window;
    ofFilters.from[d] = {s.window, 0, s.filterStride};
    ofInput.from[d] = {s.input, s.padding, s.inputStride};
  }
  const auto filters = builder.prepare(
      filterInput, copies.filterElements * byteWidth(p.type), [&](const BufferRange& from, const BufferRange& to) {
        return addFewChannels(builder, ofFilters, line, copies.filterElements, from, to);
      });
  if (!filters) return filters.error();
  BufferRange input = builder.allocateTemporary(copies.inputElements * byteWidth(p.type));
  TRY(addFewChannels(builder, ofInput, line, copies.inputElements, p.from[1], input));
  input.writes = false;

  p.depth = static_cast<uint32_t>(copies.filterElements / p.rows);
  p.from[0] = *filters;
  p.from[1] = input;
  p.a = {p.depth, 1};
  p.b = {1, 0};
  p.matrices.base[0] = p.matrices.base[1] = 0;
  window.taps /= window.dimensions[0].window;
  window.channelsLast = static_cast<uint32_t>(line.all);
  window.channelsOfLine = static_cast<uint32_t>(line.belonging);
  ConvolutionWindow::Dimension& innermost = window.dimensions[0];
  innermost.window = innermost.elements = 1;
  readCopies(part, copies, 1u << line.channelBits);
  return true;
}

}  // namespace dimple
