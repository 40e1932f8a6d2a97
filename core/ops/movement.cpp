// Operators that move elements without changing them.
#include <algorithm>
#include <functional>
#include <vector>

#include "core/ops/checks.h"
#include "core/ops/copy.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

// ---- SLICE, SLICE1, SLICE_GRAD --------------------------------------------------------------------------------------

Status checkSlice(const OpView& view) {
  const auto& desc = view.as<DML_SLICE_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  if (auto error = checkDimensionCount("DimensionCount", desc.DimensionCount, "InputTensor", x)) return error;
  if (auto error = checkSizes("OutputTensor", view.output(), std::span(desc.Sizes, x.rank))) return error;
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (desc.Strides[d] == 0) return invalid(cat("Strides[", d, "] has value (0), expected at least 1."));
    const uint64_t last = desc.Offsets[d] + uint64_t{desc.Sizes[d] - 1} * desc.Strides[d];
    if (last >= x.sizes[d])
      return invalid(cat("Offsets[", d, "] (", desc.Offsets[d], "), Sizes[", d, "] (", desc.Sizes[d], ") and Strides[",
                         d, "] (", desc.Strides[d], ") reach element ", last, ", outside InputTensor's ", x.sizes[d],
                         "."));
  }
  return {};
}

uint64_t magnitude(int32_t value) { return static_cast<uint64_t>(std::abs(int64_t{value})); }

// What the windows of SLICE1 and its gradient have in common; `tensor` is the one that the window is of.
template <class Desc>
Status checkWindow(const Desc& desc, std::string_view name, const Tensor& tensor) {
  if (auto error = checkDimensionCount("DimensionCount", desc.DimensionCount, name, tensor)) return error;
  for (uint32_t d = 0; d < tensor.rank; ++d) {
    const uint64_t end = desc.InputWindowOffsets[d] + uint64_t{desc.InputWindowSizes[d]};
    if (desc.InputWindowStrides[d] == 0)
      return invalid(cat("InputWindowStrides[", d, "] has value (0), expected a positive or negative stride."));
    if (end > tensor.sizes[d])
      return invalid(cat("InputWindowOffsets[", d, "] (", desc.InputWindowOffsets[d], ") and InputWindowSizes[", d,
                         "] (", desc.InputWindowSizes[d], ") reach ", end, ", outside ", name, "'s ", tensor.sizes[d],
                         "."));
  }
  return {};
}

// The output may hold fewer elements than the stride reaches. DirectML takes more of them at a stride of -2^31.
Status checkSlice1(const OpView& view) {
  const auto& desc = view.as<DML_SLICE1_OPERATOR_DESC>();
  const Tensor& y = view.output();
  if (auto error = checkWindow(desc, "InputTensor", view.input(0))) return error;
  for (uint32_t d = 0; d < y.rank; ++d) {
    const uint64_t size = desc.InputWindowSizes[d];
    if (size == 0) return invalid(cat("InputWindowSizes[", d, "] has value (0), expected at least 1."));
    const uint64_t most = 1 + (size - 1) / magnitude(desc.InputWindowStrides[d]);
    if (y.sizes[d] > most)
      return invalid(cat("OutputTensor has Sizes[", d, "] (", y.sizes[d], "), expected at most ", most,
                         ", the elements that the window's stride reaches."));
  }
  return {};
}

// The gradient's elements go to InputWindowOffsets + i * stride, or InputWindowOffsets + InputWindowSizes - 1 - i *
// |stride| if it is negative. DirectML takes more of them than the window has, and windows of size 0, as long as
// |stride| steps up from the offset stay inside of the tensor; here those down must stay inside, too.
Status checkSliceGrad(const OpView& view) {
  const auto& desc = view.as<DML_SLICE_GRAD_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  if (auto error = checkWindow(desc, "OutputGradientTensor", y)) return error;
  for (uint32_t d = 0; d < y.rank; ++d) {
    const uint64_t first = desc.InputWindowOffsets[d];
    const uint64_t end = first + desc.InputWindowSizes[d];
    const uint64_t step = magnitude(desc.InputWindowStrides[d]);
    uint64_t most = first < y.sizes[d] ? 1 + (y.sizes[d] - 1 - first) / step : 0;
    if (desc.InputWindowStrides[d] < 0) most = std::min(most, end == 0 ? 0 : 1 + (end - 1) / step);
    if (x.sizes[d] > most)
      return invalid(cat("InputGradientTensor has Sizes[", d, "] (", x.sizes[d], "), expected at most ", most,
                         ", the steps of the window's stride inside OutputGradientTensor."));
  }
  return {};
}

// `offset` and `step` give, for each dimension, the first input coordinate and the distance to the next.
template <class Offset, class Step>
std::vector<MovedPart> partOfWindow(const OpView& view, Offset offset, Step step) {
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  Walk walk;
  for (uint32_t d = 0; d < y.rank; ++d) {
    // Modulo 2^32, so that negative steps come out.
    walk.addDimension(y.sizes[d], {x.strides[d] * static_cast<uint32_t>(step(d)), y.strides[d]});
    walk.base[0] += x.strides[d] * static_cast<uint32_t>(offset(d));
  }
  return {{0, 0, walk}};
}

std::vector<MovedPart> partsOfSlice(const OpView& view) {
  const auto& desc = view.as<DML_SLICE_OPERATOR_DESC>();
  return partOfWindow(
      view, [&](uint32_t d) { return desc.Offsets[d]; }, [&](uint32_t d) { return desc.Strides[d]; });
}

// A negative stride starts at the window's last element.
std::vector<MovedPart> partsOfSlice1(const OpView& view) {
  const auto& desc = view.as<DML_SLICE1_OPERATOR_DESC>();
  return partOfWindow(
      view,
      [&](uint32_t d) {
        return desc.InputWindowOffsets[d] + (desc.InputWindowStrides[d] < 0 ? desc.InputWindowSizes[d] - 1 : 0);
      },
      [&](uint32_t d) { return desc.InputWindowStrides[d]; });
}

Result<Plan> planSliceGrad(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const auto& desc = view.as<DML_SLICE_GRAD_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  const Tensor* filled[] = {&y};
  if (auto error = addFill(builder, y.type, makeWalk(y.sizeSpan(), filled), {}, builder.output())) return *error;
  Walk walk;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const auto stride = static_cast<uint32_t>(desc.InputWindowStrides[d]);
    const uint32_t last = desc.InputWindowStrides[d] < 0 ? desc.InputWindowSizes[d] - 1 : 0;
    walk.addDimension(x.sizes[d], {x.strides[d], y.strides[d] * stride});
    walk.base[1] += y.strides[d] * (desc.InputWindowOffsets[d] + last);
  }
  if (auto error = addCopy(builder, x.type, walk, builder.input(0), builder.output())) return *error;
  return builder.finish();
}

// ---- JOIN, SPLIT ----------------------------------------------------------------------------------------------------

// `parts` divide `whole` along the axis and agree with it in all other dimensions.
Status checkParts(UINT axis, std::string_view wholeName, const Tensor& whole, std::string_view partsName,
                  std::span<const Tensor> parts) {
  if (auto error = checkAtMost("Axis", axis, whole.rank - 1)) return error;
  uint64_t sum = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    auto expected = whole.sizes;
    expected[axis] = parts[i].sizes[axis];
    if (!std::ranges::equal(parts[i].sizeSpan(), std::span(expected).first(whole.rank)))
      return checkSizes(cat(partsName, "[", i, "]"), parts[i], std::span(expected).first(whole.rank));
    sum += parts[i].sizes[axis];
  }
  if (sum == whole.sizes[axis]) return {};
  return invalid(cat(wholeName, " has Sizes[", axis, "] (", whole.sizes[axis], "), expected ", sum,
                     ", the sum of those of ", partsName, "."));
}

Status checkJoin(const OpView& view) {
  return checkParts(view.as<DML_JOIN_OPERATOR_DESC>().Axis, "OutputTensor", view.output(), "InputTensors",
                    view.inputs());
}

Status checkSplit(const OpView& view) {
  return checkParts(view.as<DML_SPLIT_OPERATOR_DESC>().Axis, "InputTensor", view.input(0), "OutputTensors",
                    view.outputs());
}

std::vector<MovedPart> partsOfJoin(const OpView& view) {
  const UINT axis = view.as<DML_JOIN_OPERATOR_DESC>().Axis;
  const Tensor& y = view.output();
  std::vector<MovedPart> parts;
  uint32_t start = 0;
  for (uint32_t i = 0; i < view.inputs().size(); ++i) {
    const Tensor* operands[] = {&view.input(i), &y};
    parts.push_back({i, 0, makeWalk(view.input(i).sizeSpan(), operands)});
    parts.back().walk.base[1] = start * y.strides[axis];
    start += view.input(i).sizes[axis];
  }
  return parts;
}

std::vector<MovedPart> partsOfSplit(const OpView& view) {
  const UINT axis = view.as<DML_SPLIT_OPERATOR_DESC>().Axis;
  const Tensor& x = view.input(0);
  std::vector<MovedPart> parts;
  uint32_t start = 0;
  for (uint32_t o = 0; o < view.outputs().size(); ++o) {
    const Tensor* operands[] = {&x, &view.output(o)};
    parts.push_back({0, o, makeWalk(view.output(o).sizeSpan(), operands)});
    parts.back().walk.base[0] = start * x.strides[axis];
    start += view.output(o).sizes[axis];
  }
  return parts;
}

// ---- PADDING, PADDING1 ----------------------------------------------------------------------------------------------

// Paddings are signed in effect: values from 2^31 on take elements away, as the negative ones of ONNX that ONNX Runtime
// passes on. No mode limits them by the input's sizes.
template <class Desc>
Status checkPads(const Desc& desc, const Tensor& x, const Tensor& y) {
  if (auto error = checkDimensionCount("DimensionCount", desc.DimensionCount, "InputTensor", x)) return error;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const int64_t expected =
        int64_t{x.sizes[d]} + static_cast<int32_t>(desc.StartPadding[d]) + static_cast<int32_t>(desc.EndPadding[d]);
    if (y.sizes[d] != expected)
      return invalid(cat("OutputTensor has Sizes[", d, "] (", y.sizes[d], "), expected ", expected,
                         ", that of InputTensor with StartPadding and EndPadding."));
  }
  return {};
}

Status checkPadding(const OpView& view) {
  return checkPads(view.as<DML_PADDING_OPERATOR_DESC>(), view.input(0), view.output());
}

Status checkPadding1(const OpView& view) {
  const auto& desc = view.as<DML_PADDING1_OPERATOR_DESC>();
  if (auto error = checkPads(desc, view.input(0), view.output())) return error;
  return checkValueType("PaddingValueDataType", desc.PaddingValueDataType, "InputTensor", view.input(0));
}

// A dimension of what the kernel `pad` does.
struct PadDimension {
  uint32_t outputSize, outputStride, inputSize, inputStride, start;

  bool isPlain() const { return start == 0 && outputSize == inputSize; }
  bool continues(const PadDimension& outer) const {
    return isPlain() && outer.isPlain() && outer.outputStride == outputStride * outputSize &&
           outer.inputStride == inputStride * inputSize;
  }
};

// The distance after which a mode repeats itself. No padding reaches as far where it exceeds 32 bits.
uint32_t padPeriod(uint32_t mode, uint64_t size) {
  uint64_t period = 1;
  if (mode == DML_PADDING_MODE_REFLECTION) period = std::max<uint64_t>(1, 2 * (size - 1));
  if (mode == DML_PADDING_MODE_SYMMETRIC) period = 2 * size;
  if (mode == DML_PADDING_MODE_WRAP) period = size;
  return static_cast<uint32_t>(std::min<uint64_t>(period, UINT32_MAX));
}

Result<Plan> planPad(const OpView& view, const Caps& caps, uint32_t mode, std::span<const uint32_t> starts,
                     const FillPattern& value) {
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  std::vector<PadDimension> dimensions;
  for (uint32_t d = 0; d < y.rank; ++d)
    if (y.sizes[d] != 1 || starts[d] != 0)
      dimensions.push_back({y.sizes[d], y.strides[d], x.sizes[d], x.strides[d], starts[d]});
  std::ranges::stable_sort(dimensions, std::greater(), &PadDimension::outputStride);
  for (size_t d = 1; d < dimensions.size();) {
    if (!dimensions[d].continues(dimensions[d - 1])) {
      ++d;
      continue;
    }
    dimensions[d].outputSize *= dimensions[d - 1].outputSize;
    dimensions[d].inputSize *= dimensions[d - 1].inputSize;
    dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(d) - 1);
  }
  std::vector<uint32_t> parameters(dimensions.empty() ? 4 : 0);  // a block is never empty
  for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
    appendDivisor(parameters, d->outputSize);
    parameters.insert(parameters.end(), {d->outputStride, d->inputStride, d->start, d->inputSize});
    appendDivisor(parameters, padPeriod(mode, d->inputSize));
  }
  if (auto error = builder.addItems(
          sizedKernel("pad", x.type, caps), y.elements,
          {static_cast<uint32_t>(y.elements), static_cast<uint32_t>(dimensions.size()), value[0], value[1]},
          {builder.input(0), builder.output()}, builder.parameters(parameters), {{0, mode}}))
    return *error;
  return builder.finish();
}

template <class Desc>
Result<Plan> planPadding(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<Desc>();
  return planPad(view, caps, static_cast<uint32_t>(desc.PaddingMode), std::span(desc.StartPadding, desc.DimensionCount),
                 fillPattern(view.input(0).type, desc.PaddingValue));
}

// ---- VALUE_SCALE_2D, TILE, REVERSE_SUBSEQUENCES ---------------------------------------------------------------------

Status checkValueScale2D(const OpView& view) {
  const UINT count = view.as<DML_VALUE_SCALE_2D_OPERATOR_DESC>().ChannelCount;
  if (count != 1 && count != 3) return invalid(cat("ChannelCount has value (", count, "), expected 1 or 3."));
  return checkSize("InputTensor", view.input(0), 1, count);
}

Result<Plan> planValueScale2D(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const auto& desc = view.as<DML_VALUE_SCALE_2D_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  const Tensor* operands[] = {&x, &y};
  Walk walk = makeWalk(y.sizeSpan(), operands);
  walk.strides[1][2] = 1;
  walk.sortBy(1);
  walk.coalesce();
  std::vector<uint32_t> push{static_cast<uint32_t>(y.elements), walk.rank, floatBits(desc.Scale)};
  for (uint32_t c = 0; c < desc.ChannelCount; ++c) push.push_back(floatBits(desc.Bias[c]));
  push.resize(6);
  if (auto error = builder.addItems(typedKernel("value_scale", y.type, caps), y.elements, std::move(push),
                                    {builder.input(0), builder.output()}, builder.parameters(walk)))
    return *error;
  return builder.finish();
}

Status checkTile(const OpView& view) {
  const auto& desc = view.as<DML_TILE_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  if (auto error = checkDimensionCount("RepeatsCount", desc.RepeatsCount, "InputTensor", x)) return error;
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (desc.Repeats[d] == 0) return invalid(cat("Repeats[", d, "] has value (0), expected at least 1."));
    if (auto error = checkSize("OutputTensor", view.output(), d, uint64_t{x.sizes[d]} * desc.Repeats[d])) return error;
  }
  return {};
}

// Padding of nothing before and copies behind.
Result<Plan> planTile(const OpView& view, const Caps& caps) {
  constexpr std::array<uint32_t, kMaxRank> kStarts{};
  return planPad(view, caps, DML_PADDING_MODE_WRAP, kStarts, {});
}

Status checkReverseSubsequences(const OpView& view) {
  const UINT axis = view.as<DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC>().Axis;
  const Tensor& x = view.input(0);
  if (auto error = checkAtMost("Axis", axis, x.rank - 1)) return error;
  auto expected = x.sizes;
  expected[axis] = 1;
  return checkSizes("SequenceLengthsTensor", view.input(1), std::span(expected).first(x.rank));
}

Result<Plan> planReverseSubsequences(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const UINT axis = view.as<DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC>().Axis;
  const Tensor& x = view.input(0);
  const Tensor& lengths = view.input(1);
  const Tensor& y = view.output();
  const Tensor* operands[] = {&x, &lengths, &y};
  Walk walk = makeWalk(y.sizeSpan(), operands);
  walk.strides[axis] = {0, 0, y.strides[axis], 1};
  walk.sortBy(2);
  walk.coalesce();
  if (auto error = builder.addItems(
          sizedKernel("reverse", x.type, caps), y.elements,
          {static_cast<uint32_t>(y.elements), walk.rank, indexKind(lengths.type), x.sizes[axis], x.strides[axis]},
          {builder.input(0), builder.input(1), builder.output()}, builder.parameters(walk)))
    return *error;
  return builder.finish();
}

// ---- SPACE_TO_DEPTH, DEPTH_TO_SPACE ---------------------------------------------------------------------------------

// `space` has blocks of height and width where `depth` has channels.
Status checkBlocks(UINT block, std::string_view spaceName, const Tensor& space, std::string_view depthName,
                   const Tensor& depth, bool toDepth) {
  if (auto error = checkAtLeast("BlockSize", block, 1)) return error;
  const uint64_t area = uint64_t{block} * block;
  const auto checkDivisible = [](std::string_view name, const Tensor& tensor, uint32_t d, uint64_t divisor) -> Status {
    if (tensor.sizes[d] % divisor == 0) return {};
    return invalid(cat(name, " has Sizes[", d, "] (", tensor.sizes[d], "), expected a multiple of ", divisor, "."));
  };
  const std::string_view name = toDepth ? depthName : spaceName;
  const Tensor& output = toDepth ? depth : space;
  if (auto error = checkSize(name, output, 0, toDepth ? space.sizes[0] : depth.sizes[0])) return error;
  if (!toDepth) {
    if (auto error = checkDivisible(depthName, depth, 1, area)) return error;
    if (auto error = checkSize(name, output, 1, depth.sizes[1] / area)) return error;
    if (auto error = checkSize(name, output, 2, uint64_t{depth.sizes[2]} * block)) return error;
    return checkSize(name, output, 3, uint64_t{depth.sizes[3]} * block);
  }
  for (const uint32_t d : {2u, 3u}) {
    if (auto error = checkDivisible(spaceName, space, d, block)) return error;
    if (auto error = checkSize(name, output, d, space.sizes[d] / block)) return error;
  }
  // Height and width are multiples of the block, so that this product fits.
  return checkSize(name, output, 1, space.sizes[1] * area);
}

template <class Desc>
Status checkSpaceToDepth(const OpView& view) {
  return checkBlocks(view.as<Desc>().BlockSize, "InputTensor", view.input(0), "OutputTensor", view.output(), true);
}

template <class Desc>
Status checkDepthToSpace(const OpView& view) {
  return checkBlocks(view.as<Desc>().BlockSize, "OutputTensor", view.output(), "InputTensor", view.input(0), false);
}

// Channels of the depth are made of the row in a
// block, the column in it and the channel; in COLUMN_ROW_DEPTH the channel comes first.
Result<Plan> planBlocks(const OpView& view, const Caps& caps, uint32_t block, DML_DEPTH_SPACE_ORDER order,
                        bool toDepth) {
  PlanBuilder builder(view, caps);
  const Tensor& space = toDepth ? view.input(0) : view.output();
  const Tensor& depth = toDepth ? view.output() : view.input(0);
  const uint32_t channels = space.sizes[1];
  const bool channelFirst = order == DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH;
  const uint32_t column = depth.strides[1] * (channelFirst ? 1 : channels);
  const uint32_t channel = depth.strides[1] * (channelFirst ? block * block : 1);
  Walk walk;
  const auto add = [&](uint32_t size, uint32_t inSpace, uint32_t inDepth) {
    walk.addDimension(size, {toDepth ? inSpace : inDepth, toDepth ? inDepth : inSpace});
  };
  add(space.sizes[0], space.strides[0], depth.strides[0]);
  add(channels, space.strides[1], channel);
  add(depth.sizes[2], space.strides[2] * block, depth.strides[2]);
  add(block, space.strides[2], column * block);
  add(depth.sizes[3], space.strides[3] * block, depth.strides[3]);
  add(block, space.strides[3], column);
  if (auto error = addCopy(builder, space.type, walk, builder.input(0), builder.output())) return *error;
  return builder.finish();
}

template <class Desc, bool toDepth>
Result<Plan> planBlocks(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<Desc>();
  if constexpr (requires { desc.Order; })
    return planBlocks(view, caps, desc.BlockSize, desc.Order, toDepth);
  else
    return planBlocks(view, caps, desc.BlockSize, DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW, toDepth);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

template <class S>
constexpr Field kSliceFields[] = {DIMPLE_INPUT(S, InputTensor),
                                  DIMPLE_OUTPUT(S, OutputTensor),
                                  DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                  DIMPLE_ARRAY(S, Offsets, UIntArray, 2),
                                  DIMPLE_ARRAY(S, Sizes, UIntArray, 2),
                                  DIMPLE_ARRAY(S, Strides, UIntArray, 2)};
template <class S>
constexpr Field kSplitFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_ATTRIBUTE(S, OutputCount, UInt),
                                  DIMPLE_OUTPUT_ARRAY(S, OutputTensors, 1), DIMPLE_ATTRIBUTE(S, Axis, UInt)};
template <class S>
constexpr Field kJoinFields[] = {DIMPLE_ATTRIBUTE(S, InputCount, UInt), DIMPLE_INPUT_ARRAY(S, InputTensors, 0),
                                 DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ATTRIBUTE(S, Axis, UInt)};
template <class S>
constexpr Field kPaddingFields[] = {DIMPLE_INPUT(S, InputTensor),
                                    DIMPLE_OUTPUT(S, OutputTensor),
                                    DIMPLE_ENUM(S, PaddingMode, kPaddingModes),
                                    DIMPLE_ATTRIBUTE(S, PaddingValue, Float),
                                    DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                    DIMPLE_ARRAY(S, StartPadding, UIntArray, 4),
                                    DIMPLE_ARRAY(S, EndPadding, UIntArray, 4)};
template <class S>
constexpr Field kValueScale2DFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                         DIMPLE_ATTRIBUTE(S, Scale, Float), DIMPLE_ATTRIBUTE(S, ChannelCount, UInt),
                                         DIMPLE_ARRAY(S, Bias, FloatArray, 3)};
template <class S>
constexpr Field kSpaceToDepthFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                         DIMPLE_ATTRIBUTE(S, BlockSize, UInt)};
template <class S>
constexpr Field kTileFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                 DIMPLE_ATTRIBUTE(S, RepeatsCount, UInt), DIMPLE_ARRAY(S, Repeats, UIntArray, 2)};
template <class S>
constexpr Field kReverseSubsequencesFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, SequenceLengthsTensor),
                                                DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ATTRIBUTE(S, Axis, UInt)};
template <class S>
constexpr Field kSlice1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                   DIMPLE_OUTPUT(S, OutputTensor),
                                   DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                   DIMPLE_ARRAY(S, InputWindowOffsets, UIntArray, 2),
                                   DIMPLE_ARRAY(S, InputWindowSizes, UIntArray, 2),
                                   DIMPLE_ARRAY(S, InputWindowStrides, IntArray, 2)};
template <class S>
constexpr Field kDepthToSpace1Fields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                          DIMPLE_ATTRIBUTE(S, BlockSize, UInt),
                                          DIMPLE_ENUM(S, Order, kDepthSpaceOrders)};
template <class S>
constexpr Field kSliceGradFields[] = {DIMPLE_INPUT(S, InputGradientTensor),
                                      DIMPLE_OUTPUT(S, OutputGradientTensor),
                                      DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                      DIMPLE_ARRAY(S, InputWindowOffsets, UIntArray, 2),
                                      DIMPLE_ARRAY(S, InputWindowSizes, UIntArray, 2),
                                      DIMPLE_ARRAY(S, InputWindowStrides, IntArray, 2)};
template <class S>
constexpr Field kPadding1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                     DIMPLE_OUTPUT(S, OutputTensor),
                                     DIMPLE_ENUM(S, PaddingMode, kPaddingModes),
                                     DIMPLE_ENUM(S, PaddingValueDataType, kTensorDataTypes),
                                     DIMPLE_ATTRIBUTE(S, PaddingValue, Scalar),
                                     DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                     DIMPLE_ARRAY(S, StartPadding, UIntArray, 5),
                                     DIMPLE_ARRAY(S, EndPadding, UIntArray, 5)};

constexpr TypeHistory kSliceTypes{
    {k1_0, kFloats | kInts32 | kInt16 | kUInt16, 4, 5}, {k2_1, kUpTo32, 4, 5}, {k3_0, kUpTo32}, {k4_1, kAllTypes}};
constexpr TypeHistory kSplitTypes{
    {k1_0, kFloats | kInts32 | kInt16 | kUInt16, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32}, {k4_1, kAllTypes}};
constexpr TypeHistory kJoinTypes{{k1_0, kFloats | kInts32 | kInt16 | kUInt16, 4, 4},
                                 {k2_1, kUpTo32, 4, 4},
                                 {k3_0, kUpTo32, 4, 5},
                                 {k4_1, kAllTypes}};
constexpr TypeHistory kPaddingTypes{{k1_0, kFloats, 4, 5}, {k2_1, kUpTo32, 4, 5}, {k3_1, kUpTo32}, {k5_0, kAllTypes}};
constexpr TypeHistory kValueScale2DTypes{{k1_0, kFloats, 4, 4}};
constexpr TypeHistory kSpaceToDepthTypes{{k1_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k5_0, kAllTypes, 4, 4}};
// The page leaves out FLOAT64, which DirectML 1.15.4 takes.
constexpr TypeHistory kTileTypes{{k1_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_1, kUpTo32}, {k4_1, kAllTypes}};
constexpr TypeHistory kReverseSubsequencesTypes{{k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32, 4, 5}, {k5_0, kAllTypes}};
constexpr TypeHistory kSlice1Types{{k2_1, kUpTo32, 4, 5}, {k3_0, kUpTo32}, {k4_1, kAllTypes}};
constexpr TypeHistory kDepthToSpace1Types{{k2_1, kUpTo32, 4, 4}, {k5_0, kAllTypes, 4, 4}};
constexpr TypeHistory kSliceGradTypes{{k3_0, kUpTo32, 4, 5}, {k3_1, kUpTo32}, {k4_1, kAllTypes}};
constexpr TypeHistory kPadding1Types{{k5_0, kAllTypes}};

constexpr TensorRule kJoinRules[] = {{kJoinTypes, sameTypeAndRank(0)}, {kJoinTypes, sameTypeAndRank(0)}};
constexpr TensorRule kValueScale2DRules[] = {{kValueScale2DTypes}, {kValueScale2DTypes, {0, -1, 0}}};
constexpr TensorRule kSpaceToDepthRules[] = {{kSpaceToDepthTypes}, {kSpaceToDepthTypes, sameType(0)}};
constexpr TensorRule kReverseSubsequencesRules[] = {
    {kReverseSubsequencesTypes},
    {{{k2_1, kUInt32, 4, 4}, {k3_0, kUInt32, 4, 5}, {k5_0, kUnsignedIndices}}, sameRank(0)},
    {kReverseSubsequencesTypes, like(0)}};
constexpr TensorRule kDepthToSpace1Rules[] = {{kDepthToSpace1Types}, {kDepthToSpace1Types, sameType(0)}};

constexpr OpSchema kMovementSchemas[] = {
    DIMPLE_ROW(SLICE, kSliceFields, kInAndOutRules<kSliceTypes>, false, false, checkSlice, planParts<partsOfSlice>, {},
               partsOfSlice),
    DIMPLE_ROW(SPLIT, kSplitFields, kInAndOutRules<kSplitTypes>, false, false, checkSplit, planParts<partsOfSplit>, {},
               partsOfSplit),
    DIMPLE_ROW(JOIN, kJoinFields, kJoinRules, false, false, checkJoin, planParts<partsOfJoin>, {}, partsOfJoin),
    DIMPLE_ROW(PADDING, kPaddingFields, kInAndOutRules<kPaddingTypes>, false, false, checkPadding,
               planPadding<DML_PADDING_OPERATOR_DESC>),
    DIMPLE_ROW(VALUE_SCALE_2D, kValueScale2DFields, kValueScale2DRules, false, false, checkValueScale2D,
               planValueScale2D),
    DIMPLE_ROW(SPACE_TO_DEPTH, kSpaceToDepthFields, kSpaceToDepthRules, false, false,
               checkSpaceToDepth<DML_SPACE_TO_DEPTH_OPERATOR_DESC>, planBlocks<DML_SPACE_TO_DEPTH_OPERATOR_DESC, true>),
    DIMPLE_ROW(DEPTH_TO_SPACE, kSpaceToDepthFields, kSpaceToDepthRules, false, false,
               checkDepthToSpace<DML_DEPTH_TO_SPACE_OPERATOR_DESC>,
               planBlocks<DML_DEPTH_TO_SPACE_OPERATOR_DESC, false>),
    DIMPLE_ROW(TILE, kTileFields, kInAndOutRules<kTileTypes>, false, false, checkTile, planTile),
    DIMPLE_ROW(REVERSE_SUBSEQUENCES, kReverseSubsequencesFields, kReverseSubsequencesRules, false, false,
               checkReverseSubsequences, planReverseSubsequences),
    DIMPLE_ROW(SLICE1, kSlice1Fields, kInAndOutRules<kSlice1Types>, false, false, checkSlice1, planParts<partsOfSlice1>,
               {}, partsOfSlice1),
    DIMPLE_ROW(DEPTH_TO_SPACE1, kDepthToSpace1Fields, kDepthToSpace1Rules, false, false,
               checkDepthToSpace<DML_DEPTH_TO_SPACE1_OPERATOR_DESC>,
               planBlocks<DML_DEPTH_TO_SPACE1_OPERATOR_DESC, false>),
    DIMPLE_ROW(SPACE_TO_DEPTH1, kDepthToSpace1Fields, kDepthToSpace1Rules, false, false,
               checkSpaceToDepth<DML_SPACE_TO_DEPTH1_OPERATOR_DESC>,
               planBlocks<DML_SPACE_TO_DEPTH1_OPERATOR_DESC, true>),
    DIMPLE_ROW(SLICE_GRAD, kSliceGradFields, kInAndOutRules<kSliceGradTypes>, false, false, checkSliceGrad,
               planSliceGrad),
    DIMPLE_ROW(PADDING1, kPadding1Fields, kInAndOutRules<kPadding1Types>, false, false, checkPadding1,
               planPadding<DML_PADDING1_OPERATOR_DESC>),
};

}  // namespace

std::span<const OpSchema> movementSchemas() { return kMovementSchemas; }

}  // namespace dimple
