// Convolutions, floating-point and quantized.
#include <algorithm>
#include <limits>
#include <span>

#include "core/checked.h"
#include "core/operation.h"
#include "core/ops/checks.h"
#include "core/ops/copy.h"
#include "core/ops/families.h"
#include "core/ops/product.h"
#include "core/ops/table.h"
#include "core/ops/winograd.h"

namespace dimple {
namespace {

// Batches and channels. The page gives the spatial sizes of the output by formulas; DirectML takes any, and so elements
// of the window that lie outside of the padded input count as 0.
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

// The integer convolutions take tensors of different DimensionCount, missing trailing sizes being 1, although the pages
// want one DimensionCount. Sizes for which there are no strides and padding must be 1 too.
Status checkTrailingOnes(std::string_view name, const Tensor& tensor, UINT spatialCount) {
  for (uint32_t d = 2; d < tensor.rank; ++d)
    if (d - 2 >= spatialCount && tensor.sizes[d] != 1)
      return invalid(cat(name, " has Sizes[", d, "] (", tensor.sizes[d],
                         "), expected 1 after as many spatial dimensions as "
                         "DimensionCount (",
                         spatialCount, ")."));
  return {};
}

Status checkIntegerConvolution(const Operation& op, size_t filter, UINT spatialCount, UINT groups) {
  TRY(checkChannels(op, op.input(filter), groups, false));
  TRY(checkTrailingOnes("InputTensor", op.input(0), spatialCount));
  TRY(checkTrailingOnes("FilterTensor", op.input(filter), spatialCount));
  return checkTrailingOnes("OutputTensor", op.output(), spatialCount);
}

Status checkConvolutionInteger(const Operation& op) {
  const auto& desc = op.as<DML_CONVOLUTION_INTEGER_OPERATOR_DESC>();
  TRY(checkIntegerConvolution(op, 2, desc.DimensionCount, desc.GroupCount));
  if (op.input(1).present()) TRY(checkOneElement(op.inputName(1), op.input(1)));
  return checkPerChannel(op, 3, op.output().sizes[1], true);
}

Status checkQuantizedLinearConvolution(const Operation& op) {
  const auto& desc = op.as<DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC>();
  TRY(checkIntegerConvolution(op, 3, desc.DimensionCount, desc.GroupCount));
  for (const size_t i : {size_t{1}, size_t{7}}) TRY(checkOneElement(op.inputName(i), op.input(i)));
  TRY(checkPerChannel(op, 4, op.output().sizes[1], true));
  return checkPerChannel(op, 6, op.output().sizes[1], false);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// What the descriptions have in common. `filter` and `bias` are places among the inputs.
struct Convolution {
  size_t filter;
  std::optional<size_t> bias;
  bool backward = false;
  bool flipped = false;  // the window
  std::span<const UINT> strides, dilations, startPadding;
  std::span<const UINT> outputPadding = {};  // empty: none
  uint32_t groups;
};

constexpr uint32_t kMaxSpatial = std::tuple_size_v<decltype(ConvolutionWindow::dimensions)>;

// a * b + c, or the largest number if that is less.
uint64_t saturatingSum(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t product = 0;
  uint64_t sum = 0;
  if (!checkedMultiply(a, b, product) || !checkedAdd(product, c, sum)) return std::numeric_limits<uint64_t>::max();
  return sum;
}

uint32_t leastOf(uint64_t a, uint64_t b) { return static_cast<uint32_t>(std::min(a, b)); }

// False if offsets do not fit into 32 bits.
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

uint32_t sizeAt(const Tensor& tensor, uint32_t d) { return d < tensor.rank ? tensor.sizes[d] : 1; }
uint32_t strideAt(const Tensor& tensor, uint32_t d) { return sizeAt(tensor, d) > 1 ? tensor.strides[d] : 0; }

// The spatial dimension `i`, counted from the innermost. Those that the convolution does not have come last: they have
// one element.
Result<ConvolutionWindow::Dimension> windowDimension(const Operation& op, const Convolution& convolution, uint32_t i) {
  const Tensor& x = op.input(0);
  const Tensor& filter = op.input(convolution.filter);
  const Tensor& y = op.output();
  const auto spatial = std::min(kMaxSpatial, static_cast<uint32_t>(convolution.strides.size()));
  const bool given = i < spatial;
  const uint32_t d = given ? spatial - 1 - i : i;
  ConvolutionWindow::Dimension s;
  s.size = sizeAt(y, d + 2);
  s.elements = sizeAt(filter, d + 2);
  s.input = sizeAt(x, d + 2);
  s.results = s.size;
  if (given) {
    s.stride = convolution.strides[d];
    s.dilation = convolution.dilations[d];
    s.padding = convolution.startPadding[d];
    // Zeros behind the result of the convolution, its bias included.
    if (!convolution.outputPadding.empty()) s.results -= convolution.outputPadding[d];
  }
  s.outputs = s.results;
  s.window = s.elements;
  if (!leaveOutUnreached(s, convolution.backward))
    return Error{ErrorCode::Unsupported,
                 cat(op.schema().name, " has windows of dimension ", d, " that reach farther than 32 bits can say.")};
  s.inputStride = strideAt(x, d + 2);
  s.filterStride = convolution.flipped ? 0 - strideAt(filter, d + 2) : strideAt(filter, d + 2);
  s.outputStride = strideAt(y, d + 2);
  return s;
}

Result<ConvolutionWindow> windowOf(const Operation& op, const Convolution& convolution) {
  const Tensor& x = op.input(0);
  const Tensor& filter = op.input(convolution.filter);
  const Tensor& y = op.output();
  ConvolutionWindow window;
  window.backward = convolution.backward;
  for (uint32_t i = 0; i < kMaxSpatial; ++i) {
    auto dimension = windowDimension(op, convolution, i);
    if (!dimension) return dimension.error();
    constexpr uint32_t kFar = 1u << 30;
    window.distant = window.distant || dimension->padding > kFar || dimension->size > kFar;
    window.taps *= dimension->window;
    window.dimensions[i] = *dimension;
  }
  const bool hasBias = convolution.bias && op.input(*convolution.bias).present();
  window.strides = {.filter = strideAt(filter, convolution.backward ? 1 : 0),
                    .filterChannel = strideAt(filter, convolution.backward ? 0 : 1),
                    .inputChannel = strideAt(x, 1),
                    .inputBatch = strideAt(x, 0),
                    .bias = hasBias ? strideAt(op.input(*convolution.bias), 1) : 0,
                    .outputChannel = strideAt(y, 1),
                    .outputBatch = strideAt(y, 0)};
  return window;
}

// Whether a filter's elements lie side by side in the order of the depth.
bool isPacked(const ConvolutionWindow& window, uint32_t channels) {
  uint32_t taps = 1;
  for (const ConvolutionWindow::Dimension& dimension : window.dimensions) {
    if (dimension.window != 1 && dimension.filterStride != taps) return false;
    taps *= dimension.window;
  }
  return channels == 1 || window.strides.filterChannel == taps;
}

// The product that a convolution is: filters by windows of the input, for each group.
Product productOf(const PlanBuilder& builder, const Convolution& convolution, const ConvolutionWindow& window) {
  const Operation& op = builder.view();
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  const ConvolutionWindow::Strides& strides = window.strides;
  const uint32_t filters = y.sizes[1] / convolution.groups;
  const uint32_t channels = x.sizes[1] / convolution.groups;
  Product product;
  product.type = y.type;
  product.rows = filters;
  product.columns = y.sizes[0];
  product.depth = channels * window.taps;
  for (const ConvolutionWindow::Dimension& dimension : window.dimensions) {
    product.columns *= dimension.size;
    // Turned around, a window begins at its end.
    if (convolution.flipped) product.matrices.base[0] -= (dimension.elements - 1) * dimension.filterStride;
  }
  // Further dimensions have one element, and so they are all padding or none.
  for (size_t d = kMaxSpatial; d < convolution.strides.size(); ++d)
    if (convolution.startPadding[d] != 0) product.depth = 0;
  product.a = {strides.filter, isPacked(window, channels) ? 1u : 0u};

  const uint32_t filtersOfGroup = convolution.backward ? channels * strides.filterChannel : filters * strides.filter;
  product.matrices.addDimension(convolution.groups, {filtersOfGroup, channels * strides.inputChannel,
                                                     filters * strides.bias, filters * strides.outputChannel});
  product.matrices.coalesce();
  product.hasC = convolution.bias && op.input(*convolution.bias).present();
  product.from[0] = builder.input(convolution.filter);
  product.from[1] = builder.input(0);
  product.bytes[1] = x.ownedByDml ? 0 : x.totalBytes;
  product.from[2] = builder.input(product.hasC ? *convolution.bias : 0);
  product.to = builder.output();
  return product;
}

// Copies the filters at initialization, if DML owns them, so that a filter's elements lie side by side in the order of
// the depth, where they do not.
Status packOwnedFilters(PlanBuilder& builder, const Convolution& convolution, Product& product,
                        ConvolutionWindow& window) {
  const Tensor& filter = builder.view().input(convolution.filter);
  if (!filter.ownedByDml || product.a.column == 1 || product.depth == 0) return {};
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
      convolution.filter, elements * byteWidth(filter.type),
      [&](const BufferRange& from, const BufferRange& to) { return addCopy(builder, filter.type, walk, from, to); });
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
std::optional<Product> pointwiseProduct(const Operation& op, const Convolution& convolution, const Product& product,
                                        const ConvolutionWindow& window) {
  const Tensor& x = op.input(0);
  const Tensor& filter = op.input(convolution.filter);
  const Tensor& y = op.output();
  Walk places;
  for (uint32_t d = 0; d < convolution.strides.size(); ++d) {
    if (x.sizes[d + 2] != y.sizes[d + 2] || filter.sizes[d + 2] != 1) return std::nullopt;
    if (convolution.strides[d] != 1 || convolution.startPadding[d] != 0 || convolution.outputPadding[d] != 0)
      return std::nullopt;
    places.addDimension(x.sizes[d + 2], {x.strides[d + 2], y.strides[d + 2]});
  }
  places.coalesce();
  if (places.rank > 1) return std::nullopt;
  const ConvolutionWindow::Strides& strides = window.strides;
  Product pointwise = product;
  pointwise.columns = static_cast<uint32_t>(places.count());
  pointwise.a = {strides.filter, strides.filterChannel};
  pointwise.b = {strides.inputChannel, places.strides[0][0]};
  pointwise.c = {strides.bias, 0};
  pointwise.y = {strides.outputChannel, places.strides[0][1]};
  pointwise.matrices.addDimension(x.sizes[0], {0, strides.inputBatch, 0, strides.outputBatch});
  pointwise.matrices.coalesce();
  return pointwise;
}

// Backward windows that lie side by side meet no element twice: each of their elements is a product of matrices for
// each line of the input.
std::optional<Product> spreadProduct(const Operation& op, const Convolution& convolution, const Product& product,
                                     const ConvolutionWindow& window) {
  const Tensor& x = op.input(0);
  const Tensor& filter = op.input(convolution.filter);
  const Tensor& y = op.output();
  if (!convolution.backward || product.depth == 0) return std::nullopt;
  const ConvolutionWindow::Strides& strides = window.strides;
  Product spread = product;
  spread.depth = product.depth / window.taps;
  spread.a = {strides.filter, strides.filterChannel};
  spread.c = {strides.bias, 0};
  spread.matrices.addDimension(x.sizes[0], {0, strides.inputBatch, 0, strides.outputBatch});
  const auto innermost = static_cast<uint32_t>(convolution.strides.size() - 1);
  for (uint32_t d = 0; d <= innermost; ++d) {
    const uint32_t stride = convolution.strides[d];
    if (filter.sizes[d + 2] != stride || (stride > 1 && convolution.dilations[d] != 1)) return std::nullopt;
    if (convolution.startPadding[d] != 0 || convolution.outputPadding[d] != 0) return std::nullopt;
    if (uint64_t{x.sizes[d + 2]} * stride != y.sizes[d + 2]) return std::nullopt;
    const uint32_t ofPlaces = y.strides[d + 2] * stride;
    if (d < innermost) {
      spread.matrices.addDimension(x.sizes[d + 2], {0, x.strides[d + 2], 0, ofPlaces});
    } else {
      spread.columns = x.sizes[d + 2];
      spread.b = {strides.inputChannel, x.strides[d + 2]};
      spread.y = {strides.outputChannel, ofPlaces};
    }
    const uint32_t ofTaps = convolution.flipped ? 0 - filter.strides[d + 2] : filter.strides[d + 2];
    spread.matrices.addDimension(stride, {ofTaps, 0, 0, y.strides[d + 2]});
  }
  // Tiles of lines that are short would be idle.
  if (spread.rows >= 16 && spread.columns < 16) return std::nullopt;
  spread.matrices.coalesce();
  return spread;
}

Result<Plan> planConvolution(const Operation& op, const Target& target) {
  PlanBuilder builder(op, target);
  const auto& desc = op.as<DML_CONVOLUTION_OPERATOR_DESC>();
  const size_t count = desc.DimensionCount;
  const Convolution convolution{.filter = 1,
                                .bias = 2,
                                .backward = desc.Direction == DML_CONVOLUTION_DIRECTION_BACKWARD,
                                .flipped = desc.Mode == DML_CONVOLUTION_MODE_CONVOLUTION,
                                .strides = {desc.Strides, count},
                                .dilations = {desc.Dilations, count},
                                .startPadding = {desc.StartPadding, count},
                                .outputPadding = {desc.OutputPadding, count},
                                .groups = desc.GroupCount};
  auto window = windowOf(op, convolution);
  if (!window) return window.error();
  Product product = productOf(builder, convolution, *window);
  const FloatFinish finish{.activation = op.activation()};
  auto pointwise = pointwiseProduct(op, convolution, product, *window);
  if (!pointwise) pointwise = spreadProduct(op, convolution, product, *window);
  if (!pointwise) {
    const auto added = addWinograd(builder, finish);
    if (!added) return added.error();
    if (*added) return builder.finish();
    TRY(packOwnedFilters(builder, convolution, product, *window));
  }
  TRY(pointwise ? addFloatProduct(builder, *pointwise, finish) : addFloatProduct(builder, product, finish, &*window));
  return builder.finish();
}

// A tensor of one element, or of one a filter.
Quantization::Parameter parameterOf(const PlanBuilder& builder, size_t input) {
  const Tensor& tensor = builder.view().input(input);
  if (!tensor.present()) return {};
  return {builder.input(input), strideAt(tensor, 1)};
}

template <class Desc>
Result<Plan> planIntegers(const Operation& op, const Target& target, size_t filter, std::optional<size_t> bias,
                          Quantization (*quantizationOf)(const PlanBuilder&)) {
  PlanBuilder builder(op, target);
  const auto& desc = op.as<Desc>();
  const size_t count = desc.DimensionCount;
  const Convolution convolution{.filter = filter,
                                .bias = bias,
                                .strides = {desc.Strides, count},
                                .dilations = {desc.Dilations, count},
                                .startPadding = {desc.StartPadding, count},
                                .groups = desc.GroupCount};
  auto window = windowOf(op, convolution);
  if (!window) return window.error();
  Product product = productOf(builder, convolution, *window);
  TRY(packOwnedFilters(builder, convolution, product, *window));
  Quantization quantization = quantizationOf(builder);
  quantization.a = op.input(filter).type;
  quantization.b = op.input(0).type;
  TRY(addIntegerProduct(builder, product, quantization, &*window));
  return builder.finish();
}

Result<Plan> planConvolutionInteger(const Operation& op, const Target& target) {
  return planIntegers<DML_CONVOLUTION_INTEGER_OPERATOR_DESC>(op, target, 2, std::nullopt,
                                                             [](const PlanBuilder& builder) {
                                                               Quantization quantization;
                                                               quantization.zeroB = parameterOf(builder, 1);
                                                               quantization.zeroA = parameterOf(builder, 3);
                                                               return quantization;
                                                             });
}

Result<Plan> planQuantizedLinearConvolution(const Operation& op, const Target& target) {
  return planIntegers<DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC>(op, target, 3, 6, [](const PlanBuilder& builder) {
    Quantization quantization;
    quantization.scaleB = parameterOf(builder, 1);
    quantization.zeroB = parameterOf(builder, 2);
    quantization.scaleA = parameterOf(builder, 4);
    quantization.zeroA = parameterOf(builder, 5);
    quantization.scaleY = parameterOf(builder, 7);
    quantization.zeroY = parameterOf(builder, 8);
    quantization.c = DML_TENSOR_DATA_TYPE_INT32;
    quantization.scale = DML_TENSOR_DATA_TYPE_FLOAT32;
    return quantization;
  });
}

// ---- schemas --------------------------------------------------------------------------------------------------------

constexpr DML_OPERATOR_TYPE kAlsoFusedByConvolution[] = {DML_OPERATOR_ELEMENT_WISE_CLIP};

// `count` is the index of DimensionCount.
#define DIMPLE_CONVOLVED_DIMENSIONS(S, count)                                                        \
  DIMPLE_ATTRIBUTE(S, DimensionCount, UInt), DIMPLE_ARRAY(S, Strides, UIntArray, count),             \
      DIMPLE_ARRAY(S, Dilations, UIntArray, count), DIMPLE_ARRAY(S, StartPadding, UIntArray, count), \
      DIMPLE_ARRAY(S, EndPadding, UIntArray, count)

template <class S>
constexpr Field kConvolutionFields[] = {DIMPLE_INPUT(S, InputTensor),
                                        DIMPLE_INPUT(S, FilterTensor),
                                        DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                        DIMPLE_OUTPUT(S, OutputTensor),
                                        DIMPLE_ENUM(S, Mode, kConvolutionModes),
                                        DIMPLE_ENUM(S, Direction, kConvolutionDirections),
                                        DIMPLE_CONVOLVED_DIMENSIONS(S, 6),
                                        DIMPLE_ARRAY(S, OutputPadding, UIntArray, 6),
                                        DIMPLE_ATTRIBUTE(S, GroupCount, UInt),
                                        DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kConvolutionIntegerFields[] = {
    DIMPLE_INPUT(S, InputTensor),         DIMPLE_OPTIONAL_INPUT(S, InputZeroPointTensor),
    DIMPLE_INPUT(S, FilterTensor),        DIMPLE_OPTIONAL_INPUT(S, FilterZeroPointTensor),
    DIMPLE_OUTPUT(S, OutputTensor),       DIMPLE_CONVOLVED_DIMENSIONS(S, 5),
    DIMPLE_ATTRIBUTE(S, GroupCount, UInt)};
template <class S>
constexpr Field kQuantizedLinearConvolutionFields[] = {DIMPLE_INPUT(S, InputTensor),
                                                       DIMPLE_INPUT(S, InputScaleTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, InputZeroPointTensor),
                                                       DIMPLE_INPUT(S, FilterTensor),
                                                       DIMPLE_INPUT(S, FilterScaleTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, FilterZeroPointTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                                       DIMPLE_INPUT(S, OutputScaleTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, OutputZeroPointTensor),
                                                       DIMPLE_OUTPUT(S, OutputTensor),
                                                       DIMPLE_CONVOLVED_DIMENSIONS(S, 10),
                                                       DIMPLE_ATTRIBUTE(S, GroupCount, UInt)};

constexpr TypeHistory kConvolutionTypes{{k1_0, kFloats, 4, 5}, {k4_0, kFloats, 3, 5}};
constexpr TypeHistory kConvolutionIntegerTypes{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 3, 4}};
constexpr TypeHistory kConvolutionIntegerInputZeroPointTypes{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 1, 4}};
constexpr TypeHistory kConvolutionIntegerOutputTypes{{k2_1, kInt32, 4, 4}, {k4_0, kInt32, 3, 4}};
constexpr TypeHistory kQuantizedLinearConvolutionInputScaleTypes{{k2_1, kFloat32, 4, 4}, {k4_0, kFloat32, 1, 4}};

constexpr TensorRule kConvolutionRules[] = {{kConvolutionTypes},
                                            {kConvolutionTypes, sameTypeAndRank(0)},
                                            {kConvolutionTypes, sameTypeAndRank(0)},
                                            {kConvolutionTypes, sameTypeAndRank(0)}};
constexpr TensorRule kConvolutionIntegerRules[] = {{kConvolutionIntegerTypes},
                                                   {kConvolutionIntegerInputZeroPointTypes, sameType(0)},
                                                   {kConvolutionIntegerTypes},
                                                   {kConvolutionIntegerInputZeroPointTypes, sameType(2)},
                                                   {kConvolutionIntegerOutputTypes}};
constexpr TensorRule kQuantizedLinearConvolutionRules[] = {
    {kConvolutionIntegerTypes},
    {kQuantizedLinearConvolutionInputScaleTypes},
    {kConvolutionIntegerInputZeroPointTypes, {0, 1, 1}},
    {kConvolutionIntegerTypes},
    {{{k2_1, kFloat32, 4, 4}, {k4_0, kFloat32, 3, 4}, {k5_2, kFloat32, 1, 4}}},
    {kConvolutionIntegerInputZeroPointTypes, {3, 4, 4}},
    {kConvolutionIntegerOutputTypes},
    {kQuantizedLinearConvolutionInputScaleTypes},
    {kConvolutionIntegerInputZeroPointTypes, sameSizes(7)},
    {kConvolutionIntegerTypes, sameType(8)}};

constexpr OpSchema kConvolutionSchemas[] = {
    DIMPLE_ROW(CONVOLUTION, kConvolutionFields, .rules = kConvolutionRules, .check = checkConvolution,
               .plan = planConvolution, .alsoFuses = kAlsoFusedByConvolution),
    DIMPLE_ROW(CONVOLUTION_INTEGER, kConvolutionIntegerFields, .rules = kConvolutionIntegerRules,
               .check = checkConvolutionInteger, .plan = planConvolutionInteger),
    DIMPLE_ROW(QUANTIZED_LINEAR_CONVOLUTION, kQuantizedLinearConvolutionFields,
               .rules = kQuantizedLinearConvolutionRules, .check = checkQuantizedLinearConvolution,
               .plan = planQuantizedLinearConvolution),
};

}  // namespace

std::span<const OpSchema> convolutionSchemas() { return kConvolutionSchemas; }

}  // namespace dimple
