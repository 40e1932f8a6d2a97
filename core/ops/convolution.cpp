// Convolutions, floating-point and quantized.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/checked.h"
#include "core/operation.h"
#include "core/ops/channels_last.h"
#include "core/ops/checks.h"
#include "core/ops/convolution_window.h"
#include "core/ops/copy.h"
#include "core/ops/elementwise.h"
#include "core/ops/product.h"
#include "core/ops/product_kernels.h"
#include "core/ops/shared_kernels.h"
#include "core/ops/table.h"
#include "core/ops/turned_windows.h"
#include "core/ops/winograd.h"

namespace dimple {
namespace {

// Checks batches and channels. The page gives formulas for the spatial sizes of the output, but DirectML takes any
// sizes. Elements of the window outside the padded input therefore count as 0.
Status checkChannels(const Operation& op, const Tensor& filter, uint64_t groups, bool backward) {
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  if (groups == 0) return invalid("GroupCount has value (0), expected at least 1.");
  const uint64_t channels = x.sizes[1];
  const uint64_t filters = y.sizes[1];
  for (const uint64_t divided : {channels, filters})
    if (divided % groups != 0)
      return invalid(cat("GroupCount has value (", groups, "), expected a divisor of ", divided, ", the channels of ",
                         divided == channels ? "InputTensor." : "OutputTensor."));
  TRY(checkSize("OutputTensor", y, 0, x.sizes[0]));
  TRY(checkSize("FilterTensor", filter, 0, backward ? channels : filters));
  return checkSize("FilterTensor", filter, 1, (backward ? filters : channels) / groups);
}

// A tensor of one element for each channel, or of a single one where that is an alternative.
Status checkPerChannel(const Operation& op, size_t input, uint32_t channels, bool orOne) {
  const Tensor& tensor = op.input(input);
  if (!tensor.present() || (orOne && tensor.elements == 1)) return {};
  for (uint32_t d = 0; d < tensor.rank; ++d) TRY(checkSize(op.inputName(input), tensor, d, d == 1 ? channels : 1));
  return {};
}

Status checkConvolution(const Operation& op) {
  const auto& desc = op.as<DML_CONVOLUTION_OPERATOR_DESC>();
  const bool backward = desc.Direction == DML_CONVOLUTION_DIRECTION_BACKWARD;
  const Tensor& y = op.output();
  TRY(checkChannels(op, op.input(1), desc.GroupCount, backward));
  if (desc.DimensionCount + uint64_t{2} != y.rank)
    return invalid(cat("DimensionCount has value (", desc.DimensionCount, "), expected ", y.rank - 2,
                       ", the dimensions of InputTensor after the first two."));
  TRY(checkPerChannel(op, 2, y.sizes[1], false));
  for (uint32_t d = 0; d < desc.DimensionCount; ++d) {
    if (backward && desc.Strides[d] == 0)
      return invalid(
          cat("Strides[", d, "] has value (0), expected at least 1 for DML_CONVOLUTION_DIRECTION_BACKWARD."));
    TRY(checkAtMost(cat("OutputPadding[", d, "]"), desc.OutputPadding[d], y.sizes[d + 2] - 1));
  }
  return {};
}

// The integer convolutions take tensors of different DimensionCount, with missing trailing sizes of 1, although the
// pages require one DimensionCount. Sizes for which there are no strides and padding must be 1 too.
Status checkTrailingOnes(std::string_view name, const Tensor& tensor, UINT spatialCount) {
  for (uint32_t d = 2; d < tensor.rank; ++d)
    if (d - 2 >= spatialCount && tensor.sizes[d] != 1)
      return invalid(cat(wrongSize(name, tensor, d), "1 after as many spatial dimensions as DimensionCount (",
                         spatialCount, ")."));
  return {};
}

Status checkIntegerConvolution(const Operation& op, size_t filter, UINT spatialCount, UINT groups) {
  TRY(checkChannels(op, op.input(filter), groups, false));
  TRY(checkTrailingOnes("InputTensor", op.input(0), spatialCount));
  TRY(checkTrailingOnes("FilterTensor", op.input(filter), spatialCount));
  return checkTrailingOnes("OutputTensor", op.output(), spatialCount);
}

Status checkInteger(const Operation& op) {
  const auto& desc = op.as<DML_CONVOLUTION_INTEGER_OPERATOR_DESC>();
  TRY(checkIntegerConvolution(op, 2, desc.DimensionCount, desc.GroupCount));
  if (op.input(1).present()) TRY(checkOneElement(op.inputName(1), op.input(1)));
  return checkPerChannel(op, 3, op.output().sizes[1], true);
}

Status checkQuantized(const Operation& op) {
  const auto& desc = op.as<DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC>();
  TRY(checkIntegerConvolution(op, 3, desc.DimensionCount, desc.GroupCount));
  for (const size_t i : {size_t{1}, size_t{7}}) TRY(checkOneElement(op.inputName(i), op.input(i)));
  TRY(checkPerChannel(op, 4, op.output().sizes[1], true));
  return checkPerChannel(op, 6, op.output().sizes[1], false);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// The fields that the descriptions have in common.
struct Convolution {
  const Tensor &x, &filter, &y;
  Tensor bias;                        // may be absent
  size_t filterInput, biasInput = 0;  // places among the inputs
  bool backward = false;
  bool flipped = false;  // the window
  std::span<const UINT> strides, dilations, startPadding;
  std::span<const UINT> outputPadding = {};  // empty: none
  uint32_t groups;
};

constexpr uint32_t kMaxSpatial = std::tuple_size_v<decltype(ConvolutionWindow::dimensions)>;

uint32_t sizeAt(const Tensor& tensor, uint32_t d) { return d < tensor.rank ? tensor.sizes[d] : 1; }
uint32_t strideAt(const Tensor& tensor, uint32_t d) { return sizeAt(tensor, d) > 1 ? tensor.strides[d] : 0; }

// The spatial dimension `i`, counted from the innermost. Dimensions that the convolution does not have come last, and
// have one element.
Result<ConvolutionWindow::Dimension> windowDimension(const Operation& op, const Convolution& c, uint32_t i) {
  const auto spatial = std::min(kMaxSpatial, static_cast<uint32_t>(c.strides.size()));
  const bool given = i < spatial;
  const uint32_t d = given ? spatial - 1 - i : i;
  ConvolutionWindow::Dimension s;
  s.size = sizeAt(c.y, d + 2);
  s.elements = sizeAt(c.filter, d + 2);
  s.input = sizeAt(c.x, d + 2);
  s.results = s.size;
  if (given) {
    s.stride = c.strides[d];
    s.dilation = c.dilations[d];
    s.padding = c.startPadding[d];
    // The number of zeros behind the result of the convolution, to which the bias is added, too.
    if (!c.outputPadding.empty()) s.results -= c.outputPadding[d];
  }
  s.outputs = s.results;
  s.window = s.elements;
  if (!leaveOutUnreached(s, c.backward))
    return Error{ErrorCode::Unsupported, cat(op.schema().name, " has windows of dimension ", d,
                                             " that reach farther than 32 bits can express.")};
  s.inputStride = strideAt(c.x, d + 2);
  s.filterStride = c.flipped ? 0 - strideAt(c.filter, d + 2) : strideAt(c.filter, d + 2);
  s.outputStride = strideAt(c.y, d + 2);
  return s;
}

Result<ConvolutionWindow> windowOf(const Operation& op, const Convolution& c) {
  ConvolutionWindow window;
  window.backward = c.backward;
  for (uint32_t i = 0; i < kMaxSpatial; ++i) {
    auto dimension = windowDimension(op, c, i);
    if (!dimension) return dimension.error();
    constexpr uint32_t kFar = 1u << 30;
    window.distant = window.distant || dimension->padding > kFar || dimension->size > kFar;
    window.taps *= dimension->window;
    window.dimensions[i] = *dimension;
  }
  window.strides = {.filter = strideAt(c.filter, c.backward ? 1 : 0),
                    .filterChannel = strideAt(c.filter, c.backward ? 0 : 1),
                    .inputChannel = strideAt(c.x, 1),
                    .inputBatch = strideAt(c.x, 0),
                    // Without a bias, its place holds the parameters of a channel.
                    .bias = !c.bias.present() && op.epilogue().channels != 0 ? 1 : strideAt(c.bias, 1),
                    .outputChannel = strideAt(c.y, 1),
                    .outputBatch = strideAt(c.y, 0)};
  return window;
}

// The product that a convolution is: filters by windows of the input, for each group.
Product productOf(const PlanBuilder& builder, const Convolution& c, const ConvolutionWindow& window) {
  const ConvolutionWindow::Strides& strides = window.strides;
  const uint32_t filters = c.y.sizes[1] / c.groups;
  const uint32_t channels = c.x.sizes[1] / c.groups;
  Product product;
  product.type = c.y.type;
  product.rows = filters;
  product.columns = c.y.sizes[0];
  product.depth = channels * window.taps;
  for (const ConvolutionWindow::Dimension& dimension : window.dimensions) {
    product.columns *= dimension.size;
    // A reversed window begins at its end.
    if (c.flipped) product.matrices.base[0] -= (dimension.elements - 1) * dimension.filterStride;
  }
  // Further dimensions have one element, so they consist of padding only, or of none.
  for (size_t d = kMaxSpatial; d < c.strides.size(); ++d)
    if (c.startPadding[d] != 0) product.depth = 0;
  product.a = {strides.filter, isPacked(window, channels) ? 1u : 0u};

  const uint32_t filtersOfGroup = c.backward ? channels * strides.filterChannel : filters * strides.filter;
  product.matrices.addDimension(c.groups, {filtersOfGroup, channels * strides.inputChannel, filters * strides.bias,
                                           filters * strides.outputChannel});
  product.matrices.coalesce();
  product.hasC = c.bias.present();
  product.from[0] = builder.input(c.filterInput);
  product.from[1] = builder.input(0);
  product.bytes[1] = c.x.ownedByDml ? 0 : c.x.totalBytes;
  product.from[2] = builder.input(product.hasC ? c.biasInput : 0);
  product.to = builder.output();
  return product;
}

// Copies the filters at initialization, if DML owns them, so that a filter's elements lie side by side in the order of
// the depth, where they do not.
Status packOwnedFilters(PlanBuilder& builder, const Convolution& c, Product& product, ConvolutionWindow& window) {
  if (!c.filter.ownedByDml || product.a.column == 1 || product.depth == 0) return {};
  const auto groups = static_cast<uint32_t>(product.matrices.count());
  const uint32_t channels = product.depth / window.taps;
  // Filters that are repeated by strides of 0 may be many.
  const uint64_t elements = uint64_t{groups} * product.rows * product.depth;
  if (elements > std::numeric_limits<uint32_t>::max()) return {};
  Walk walk;
  walk.base[0] = product.matrices.base[0];
  walk.addDimension(groups, {product.matrices.strides[0][0], product.rows * product.depth});
  walk.addDimension(product.rows, {product.a.row, product.depth});
  walk.addDimension(channels, {window.strides.filterChannel, window.taps});
  uint32_t packed = window.taps;
  for (uint32_t i = kMaxSpatial; i-- > 0;) {
    ConvolutionWindow::Dimension& dimension = window.dimensions[i];
    packed /= dimension.window;
    walk.addDimension(dimension.window, {dimension.filterStride, packed});
    dimension.filterStride = packed;
  }
  const auto range = builder.prepare(
      c.filterInput, elements * byteWidth(c.filter.type),
      [&](const BufferRange& from, const BufferRange& to) { return addCopy(builder, c.filter.type, walk, from, to); });
  if (!range) return range.error();
  product.from[0] = *range;
  product.a = {product.depth, 1};
  product.matrices.base[0] = 0;
  product.matrices.strides[0][0] = product.rows * product.depth;
  window.strides.filter = product.depth;
  window.strides.filterChannel = window.taps;
  return {};
}

// A window of one element at every place is a product of matrices as they lie, if all places lie evenly.
std::optional<Product> pointwiseProduct(const Convolution& c, const Product& product, const ConvolutionWindow& window) {
  Walk places;
  for (uint32_t d = 0; d < c.strides.size(); ++d) {
    if (sizeAt(c.x, d + 2) != sizeAt(c.y, d + 2) || sizeAt(c.filter, d + 2) != 1) return std::nullopt;
    if (c.strides[d] != 1 || c.startPadding[d] != 0) return std::nullopt;
    if (!c.outputPadding.empty() && c.outputPadding[d] != 0) return std::nullopt;
    places.addDimension(sizeAt(c.x, d + 2), {strideAt(c.x, d + 2), strideAt(c.y, d + 2)});
  }
  places.coalesce();
  if (places.rank > 1) return std::nullopt;
  const ConvolutionWindow::Strides& strides = window.strides;
  Product pointwise = product;
  pointwise.columns = static_cast<uint32_t>(places.count());
  // Where channels lie side by side, pictures follow each other as their places do.
  const auto follow = [&](uint32_t operand, uint32_t batch) {
    return places.rank == 1 && uint64_t{places.strides[0][operand]} * places.sizes[0] == batch;
  };
  const bool together = follow(0, window.strides.inputBatch) && follow(1, window.strides.outputBatch) &&
                        uint64_t{pointwise.columns} * c.x.sizes[0] <= UINT32_MAX;
  pointwise.a = {strides.filter, strides.filterChannel};
  pointwise.b = {strides.inputChannel, places.strides[0][0]};
  pointwise.c = {strides.bias, 0};
  pointwise.y = {strides.outputChannel, places.strides[0][1]};
  if (together)
    pointwise.columns *= c.x.sizes[0];
  else
    pointwise.matrices.addDimension(c.x.sizes[0], {0, strides.inputBatch, 0, strides.outputBatch});
  pointwise.matrices.coalesce();
  return pointwise;
}

// Whether windows of FLOAT32 are gathered although they already lie as matrices. This is so if each picture has so few
// places that most of a large tile would be idle, and if B would be read one element at a time anyway.
bool isGathered(PlanBuilder& builder, const Tensor& filters, const Product& pointwise, const Request& windows) {
  constexpr uint32_t kFewPlaces = 64;
  const bool gathers = !refusesTurnedWindows(windows) && !refusesTurnedFilters(filters, windows.product);
  if (gathers && pointwise.columns < kFewPlaces) return true;
  const bool inVectors = comesIn(kTileVector, pointwise.matrices, 1, columnsOfB(pointwise), depthOfB(pointwise)) ||
                         comesInPadded(kTileVector, pointwise, 1);
  if (inVectors || (!gathers && refusesSplitWindows(windows))) return false;
  // Notes the kernels of matrices that would be preferred if rows lay otherwise.
  static_cast<void>(chooseKernel(builder, {pointwise, builder.target()}));
  return true;
}

// Copies the filters of a product of places by filters, if DML owns them, so that neighbouring filters lie side by
// side, as results do: kernels of matrices read that faster than rows of the depth.
Status turnOwnedFilters(PlanBuilder& builder, const Convolution& c, Product& p) {
  constexpr uint32_t kVector = 8;
  if (!c.filter.ownedByDml || p.type != DML_TENSOR_DATA_TYPE_FLOAT16 || !builder.target().caps.matrices) return {};
  if (p.y.row != 1 || p.y.column == 1 || p.rows % kVector != 0 || p.depth == 0) return {};
  for (uint32_t d = 0; d < p.matrices.rank; ++d)
    if (p.matrices.strides[d][0] != 0) return {};  // filters of groups, or of elements of the window
  // Filters that are repeated by strides of 0 may be many.
  if (uint64_t{p.depth} * p.rows * byteWidth(p.type) > builder.target().caps.maxBufferRange) return {};
  Walk walk;
  walk.base[0] = p.matrices.base[0];
  walk.addDimension(p.depth, {p.a.column, p.rows});
  walk.addDimension(p.rows, {p.a.row, 1});
  const auto range = builder.prepare(
      c.filterInput, uint64_t{p.depth} * p.rows * byteWidth(p.type),
      [&](const BufferRange& from, const BufferRange& to) { return addCopy(builder, p.type, walk, from, to); });
  if (!range) return range.error();
  p.from[0] = *range;
  p.matrices.base[0] = 0;
  p.a = {1, p.rows};
  return {};
}

// Backward windows that lie side by side meet no element twice: each of their elements is a product of matrices for
// each line of the input.
std::optional<Product> spreadProduct(const Convolution& c, const Product& product, const ConvolutionWindow& window) {
  if (!c.backward || product.depth == 0) return std::nullopt;
  const ConvolutionWindow::Strides& strides = window.strides;
  Product spread = product;
  spread.depth = product.depth / window.taps;
  spread.a = {strides.filter, strides.filterChannel};
  spread.c = {strides.bias, 0};
  spread.matrices.addDimension(c.x.sizes[0], {0, strides.inputBatch, 0, strides.outputBatch});
  const auto innermost = static_cast<uint32_t>(c.strides.size() - 1);
  for (uint32_t d = 0; d <= innermost; ++d) {
    const uint32_t stride = c.strides[d];
    if (c.filter.sizes[d + 2] != stride || (stride > 1 && c.dilations[d] != 1)) return std::nullopt;
    if (c.startPadding[d] != 0 || c.outputPadding[d] != 0) return std::nullopt;
    if (uint64_t{c.x.sizes[d + 2]} * stride != c.y.sizes[d + 2]) return std::nullopt;
    const uint32_t ofPlaces = c.y.strides[d + 2] * stride;
    if (d < innermost) {
      spread.matrices.addDimension(c.x.sizes[d + 2], {0, c.x.strides[d + 2], 0, ofPlaces});
    } else {
      spread.columns = c.x.sizes[d + 2];
      spread.b = {strides.inputChannel, c.x.strides[d + 2]};
      spread.y = {strides.outputChannel, ofPlaces};
    }
    const uint32_t ofTaps = c.flipped ? 0 - c.filter.strides[d + 2] : c.filter.strides[d + 2];
    spread.matrices.addDimension(stride, {ofTaps, 0, 0, c.y.strides[d + 2]});
  }
  // With short lines, most of each tile would be idle.
  if (spread.rows >= 16 && spread.columns < 16) return std::nullopt;
  spread.matrices.coalesce();
  return spread;
}

template <class Desc>
Convolution convolutionOf(const Operation& op, size_t filter, size_t bias) {
  const Desc& desc = op.as<Desc>();
  const size_t count = desc.DimensionCount;
  Convolution convolution{.x = op.input(0),
                          .filter = op.input(filter),
                          .y = op.output(),
                          .bias = bias ? op.input(bias) : Tensor{},
                          .filterInput = filter,
                          .biasInput = bias,
                          .strides = {desc.Strides, count},
                          .dilations = {desc.Dilations, count},
                          .startPadding = {desc.StartPadding, count},
                          .groups = desc.GroupCount};
  if constexpr (requires { desc.Direction; }) {
    convolution.backward = desc.Direction == DML_CONVOLUTION_DIRECTION_BACKWARD;
    convolution.flipped = desc.Mode == DML_CONVOLUTION_MODE_CONVOLUTION;
    convolution.outputPadding = {desc.OutputPadding, count};
  }
  return convolution;
}

Status addConvolution(const Operation& op, PlanBuilder& builder, const FloatFinish& finish) {
  const Convolution convolution = convolutionOf<DML_CONVOLUTION_OPERATOR_DESC>(op, 1, 2);
  auto window = windowOf(op, convolution);
  if (!window) return window.error();
  Product product = productOf(builder, convolution, *window);
  auto pointwise = pointwiseProduct(convolution, product, *window);
  if (pointwise && isGathered(builder, convolution.filter, *pointwise, {product, builder.target(), &*window}))
    pointwise.reset();
  if (!pointwise) pointwise = spreadProduct(convolution, product, *window);
  if (pointwise) {
    ConvolutionPart part{*pointwise, windowOfMatrices(*pointwise)};
    const auto patches = readPatches(builder, convolution.filterInput, part);
    if (!patches) return patches.error();
    if (*patches) return addFloatProduct(builder, part.product, finish, &part.window);
  }
  if (pointwise) TRY(turnOwnedFilters(builder, convolution, *pointwise));
  if (pointwise) return addFloatProduct(builder, *pointwise, finish);
  const auto added = addWinograd(builder, {product, builder.target(), &*window}, finish);
  if (!added) return added.error();
  if (*added) return {};
  auto parts = forwardParts(product, *window);
  if (parts.empty()) parts.push_back({product, *window});
  // Copies come first, so that they wait for nothing.
  for (ConvolutionPart& part : parts) {
    const auto patches = readPatches(builder, convolution.filterInput, part);
    if (!patches) return patches.error();
    if (*patches) continue;
    const auto copied = copyChannelsLast(builder, convolution.filterInput, part);
    if (!copied) return copied.error();
    if (*copied) continue;
    const auto padded = padChannels(builder, convolution.filterInput, part);
    if (!padded) return padded.error();
    if (*padded) continue;
    const auto ordered = orderFilters(builder, convolution.filterInput, part);
    if (!ordered) return ordered.error();
    if (*ordered) continue;
    const auto turned = turnFilters(builder, convolution.filterInput, part);
    if (!turned) return turned.error();
    if (!*turned) TRY(packOwnedFilters(builder, convolution, part.product, part.window));
  }
  // The first product waits for the copies, and those that continue it wait for nothing: it must be one that reads a
  // copy, of the input if that is copied.
  const auto readsCopy = [](const ConvolutionPart& part) {
    return part.window.turned || (part.window.channelsLast != 0 && !part.window.gathered);
  };
  const auto readsInputsCopy = [&](const ConvolutionPart& part) { return readsCopy(part) && !part.window.edges; };
  std::stable_partition(parts.begin(), parts.end(), readsCopy);
  std::stable_partition(parts.begin(), parts.end(), readsInputsCopy);
  for (ConvolutionPart& part : parts) {
    part.window.continues = &part != &parts.front();
    TRY(addFloatProduct(builder, part.product, finish, &part.window));
  }
  return {};
}

Status planConvolution(const Operation& op, PlanBuilder& builder) {
  const Activation& activation = op.activation();
  const bool isApart =
      op.output().type == DML_TENSOR_DATA_TYPE_FLOAT32 && activatesApart(builder.target(), activation.type);
  TRY(addConvolution(op, builder, {.activation = isApart ? Activation{} : activation, .epilogue = op.epilogue()}));
  return isApart ? activateOutput(op, builder, activation) : Status{};
}

// A is the filter and B the input.
template <class Desc, size_t filter, IntegerPlaces described>
Status planIntegers(const Operation& op, PlanBuilder& builder) {
  const IntegerPlaces at = described.with(op.epilogue());
  const Convolution convolution = convolutionOf<Desc>(op, filter, at.c);
  auto window = windowOf(op, convolution);
  if (!window) return window.error();
  Product product = productOf(builder, convolution, *window);
  // A parameter is one element, or one element per filter.
  const auto stride = [](const Tensor& tensor) { return strideAt(tensor, 1); };
  Quantization quantization = quantizationOf(builder, filter, at, stride, stride);
  if (at.c && !op.epilogue().addend && !isFloat(op.output().type)) quantization.c = DML_TENSOR_DATA_TYPE_INT32;
  // All matrices of a product have the same parameters, but groups do not.
  if (convolution.groups == 1)
    if (const auto pointwise = pointwiseProduct(convolution, product, *window))
      return addIntegerProduct(builder, *pointwise, quantization);
  ConvolutionPart part{product, *window};
  const auto copied = copyChannelsLast(builder, filter, part, &quantization);
  if (!copied) return copied.error();
  if (!*copied) TRY(packOwnedFilters(builder, convolution, part.product, part.window));
  return addIntegerProduct(builder, part.product, quantization, &part.window);
}

constexpr IntegerPlaces kIntegers{.zeroA = 3, .zeroB = 1};
constexpr IntegerPlaces kQuantized{.zeroA = 5, .zeroB = 2, .scaleA = 4, .scaleB = 1, .scaleY = 7, .zeroY = 8, .c = 6};
constexpr IntegerPlaces kToFloats{.zeroA = 5, .zeroB = 2, .scaleA = 4, .scaleB = 1, .c = 6};

// ---- schemas --------------------------------------------------------------------------------------------------------

constexpr DML_OPERATOR_TYPE kAlsoFusedByConvolution[] = {DML_OPERATOR_ELEMENT_WISE_CLIP};

// `count` is the index of DimensionCount.
#define DIMPLE_CONVOLVED_DIMENSIONS(count) \
  DIMPLE_UINT(DimensionCount), DIMPLE_UINT_ARRAY(count, Strides, Dilations, StartPadding, EndPadding)

DIMPLE_FIELDS(kConvolutionFields, DIMPLE_INPUT(InputTensor, FilterTensor), DIMPLE_OPTIONAL_INPUT(BiasTensor),
              DIMPLE_OUTPUT(OutputTensor), DIMPLE_ENUM(Mode, kConvolutionModes),
              DIMPLE_ENUM(Direction, kConvolutionDirections), DIMPLE_CONVOLVED_DIMENSIONS(6),
              DIMPLE_UINT_ARRAY(6, OutputPadding), DIMPLE_UINT(GroupCount), DIMPLE_FUSED_ACTIVATION);
DIMPLE_FIELDS(kIntegerFields, DIMPLE_INPUT(InputTensor), DIMPLE_OPTIONAL_INPUT(InputZeroPointTensor),
              DIMPLE_INPUT(FilterTensor), DIMPLE_OPTIONAL_INPUT(FilterZeroPointTensor), DIMPLE_OUTPUT(OutputTensor),
              DIMPLE_CONVOLVED_DIMENSIONS(5), DIMPLE_UINT(GroupCount));
DIMPLE_FIELDS(kQuantizedFields, DIMPLE_QUANTIZED_INPUT(Input), DIMPLE_QUANTIZED_INPUT(Filter),
              DIMPLE_OPTIONAL_INPUT(BiasTensor), DIMPLE_OUTPUT_QUANTIZATION, DIMPLE_OUTPUT(OutputTensor),
              DIMPLE_CONVOLVED_DIMENSIONS(10), DIMPLE_UINT(GroupCount));

constexpr TypeHistory kFloatTypes{{k1_0, kFloats, 4, 5}, {k4_0, kFloats, 3, 5}};
constexpr TypeHistory kIntegerTypes{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 3, 4}};
constexpr TypeHistory kZeroPointTypes{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 1, 4}};
constexpr TypeHistory kSumTypes{{k2_1, kInt32, 4, 4}, {k4_0, kInt32, 3, 4}};
constexpr TypeHistory kScaleTypes{{k2_1, kFloat32, 4, 4}, {k4_0, kFloat32, 1, 4}};

constexpr TensorRule kFloatLikeInput{kFloatTypes, sameTypeAndRank(0)};
constexpr TensorRule kConvolutionRules[] = {{kFloatTypes}, kFloatLikeInput, kFloatLikeInput, kFloatLikeInput};
constexpr TensorRule kIntegerRules[] = {
    {kIntegerTypes}, {kZeroPointTypes, sameType(0)}, {kIntegerTypes}, {kZeroPointTypes, sameType(2)}, {kSumTypes}};
constexpr TensorRule kQuantizedRules[] = {{kIntegerTypes},
                                          {kScaleTypes},
                                          {kZeroPointTypes, {0, 1, 1}},
                                          {kIntegerTypes},
                                          {{{k2_1, kFloat32, 4, 4}, {k4_0, kFloat32, 3, 4}, {k5_2, kFloat32, 1, 4}}},
                                          {kZeroPointTypes, {3, 4, 4}},
                                          {kSumTypes},
                                          {kScaleTypes},
                                          {kZeroPointTypes, sameSizes(7)},
                                          {kIntegerTypes, sameType(8)}};

constexpr OpSchema kConvolutionSchemas[] = {
    DIMPLE_ROW(CONVOLUTION, kConvolutionFields, .rules = kConvolutionRules, .check = checkConvolution,
               .plan = planConvolution, .alsoFuses = kAlsoFusedByConvolution, .numbersOnly = true),
    DIMPLE_ROW(CONVOLUTION_INTEGER, kIntegerFields, .rules = kIntegerRules, .check = checkInteger,
               .plan = planIntegers<DML_CONVOLUTION_INTEGER_OPERATOR_DESC, 2, kIntegers>, .numbersOnly = true),
    DIMPLE_ROW(QUANTIZED_LINEAR_CONVOLUTION, kQuantizedFields, .rules = kQuantizedRules, .check = checkQuantized,
               .plan = planIntegers<DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, 3, kQuantized>,
               .numbersOnly = true),
};

constexpr OpSchema kConvolutionToFloats =
    schemaOfPasses("CONVOLUTION", planIntegers<DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, 3, kToFloats>);

// A description with the arrays that it points to.
struct OwnedQuantized {
  std::array<std::vector<UINT>, 4> arrays;
  DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC desc;
};

}  // namespace

Operation convolutionToFloats(const DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC& desc, std::vector<Tensor> inputs,
                              const Tensor& output) {
  auto owned = std::make_shared<OwnedQuantized>();
  owned->desc = desc;
  const std::array<const UINT**, 4> arrays{&owned->desc.Strides, &owned->desc.Dilations, &owned->desc.StartPadding,
                                           &owned->desc.EndPadding};
  for (size_t i = 0; i < arrays.size(); ++i) {
    owned->arrays[i].assign(*arrays[i], *arrays[i] + desc.DimensionCount);
    *arrays[i] = owned->arrays[i].data();
  }
  TensorNames names{{"InputTensor", "InputScaleTensor", "InputZeroPointTensor", "FilterTensor", "FilterScaleTensor",
                     "FilterZeroPointTensor", "BiasTensor"},
                    {"OutputTensor"}};
  return {kConvolutionToFloats,
          std::shared_ptr<const void>(owned, &owned->desc),
          std::move(inputs),
          {output},
          std::move(names)};
}

std::span<const OpSchema> convolutionSchemas() { return kConvolutionSchemas; }

}  // namespace dimple
