// Operators that move elements without changing them.
#include <algorithm>
#include <array>
#include <functional>
#include <type_traits>
#include <vector>

#include "core/ops/checks.h"
#include "core/ops/copy.h"
#include "core/ops/elementwise.h"
#include "core/ops/moves.h"
#include "core/ops/shared_kernels.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/copy.h"
#include "kernels/interfaces/pad.h"
#include "kernels/interfaces/reverse.h"
#include "kernels/interfaces/value_scale.h"

namespace dimple {
namespace {

// ---- SLICE, SLICE1, SLICE_GRAD --------------------------------------------------------------------------------------

Status checkSlice(const Operation& op) {
  const auto& desc = op.as<DML_SLICE_OPERATOR_DESC>();
  const Tensor& x = op.input(0);
  TRY(checkDimensionCount("DimensionCount", desc.DimensionCount, "InputTensor", x));
  TRY(checkSizes("OutputTensor", op.output(), std::span(desc.Sizes, x.rank)));
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

// The checks that SLICE1 and its gradient share. `tensor` is the tensor that has the window.
template <class Desc>
Status checkWindow(const Desc& desc, std::string_view name, const Tensor& tensor) {
  TRY(checkDimensionCount("DimensionCount", desc.DimensionCount, name, tensor));
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

// The output may hold fewer elements than the stride reaches. At a stride of -2^31, DirectML also accepts more
// elements.
Status checkSlice1(const Operation& op) {
  const auto& desc = op.as<DML_SLICE1_OPERATOR_DESC>();
  const Tensor& y = op.output();
  TRY(checkWindow(desc, "InputTensor", op.input(0)));
  for (uint32_t d = 0; d < y.rank; ++d) {
    const uint64_t size = desc.InputWindowSizes[d];
    if (size == 0) return invalid(cat("InputWindowSizes[", d, "] has value (0), expected at least 1."));
    const uint64_t most = 1 + (size - 1) / magnitude(desc.InputWindowStrides[d]);
    TRY(checkSizeAtMost("OutputTensor", y, d, most, ", the elements that the window's stride reaches"));
  }
  return {};
}

// The gradient's elements go to InputWindowOffsets + i * stride, or InputWindowOffsets + InputWindowSizes - 1 - i *
// |stride| if it is negative. DirectML accepts more elements than the window has, and windows of size 0, as long as
// |stride| steps up from the offset stay inside the tensor. Here, steps down must stay inside the tensor, too.
Status checkSliceGrad(const Operation& op) {
  const auto& desc = op.as<DML_SLICE_GRAD_OPERATOR_DESC>();
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  TRY(checkWindow(desc, "OutputGradientTensor", y));
  for (uint32_t d = 0; d < y.rank; ++d) {
    const uint64_t first = desc.InputWindowOffsets[d];
    const uint64_t end = first + desc.InputWindowSizes[d];
    const uint64_t step = magnitude(desc.InputWindowStrides[d]);
    uint64_t most = first < y.sizes[d] ? 1 + (y.sizes[d] - 1 - first) / step : 0;
    if (desc.InputWindowStrides[d] < 0) most = std::min(most, end == 0 ? 0 : 1 + (end - 1) / step);
    TRY(checkSizeAtMost("InputGradientTensor", x, d, most,
                        ", the steps of the window's stride inside OutputGradientTensor"));
  }
  return {};
}

// The first coordinate of a window in a dimension and the distance to the next, modulo 2^32. A negative stride starts
// at the window's last element.
template <class Desc>
std::array<uint32_t, 2> windowSteps(const Desc& desc, uint32_t d) {
  if constexpr (requires { desc.Offsets; }) {
    return {desc.Offsets[d], desc.Strides[d]};
  } else {
    const INT stride = desc.InputWindowStrides[d];
    return {desc.InputWindowOffsets[d] + (stride < 0 ? desc.InputWindowSizes[d] - 1 : 0),
            static_cast<uint32_t>(stride)};
  }
}

template <class Desc>
std::vector<MovedPart> partsOfSlice(const Operation& op) {
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  Walk walk;
  for (uint32_t d = 0; d < y.rank; ++d) {
    const auto [first, step] = windowSteps(op.as<Desc>(), d);
    walk.addDimension(y.sizes[d], {x.strides[d] * step, y.strides[d]});
    walk.base[0] += x.strides[d] * first;
  }
  return {{0, 0, walk}};
}

// ---- JOIN, SPLIT ----------------------------------------------------------------------------------------------------

// `parts` divide `whole` along the axis and agree with it in all other dimensions.
Status checkParts(UINT axis, std::string_view wholeName, const Tensor& whole, std::string_view partsName,
                  std::span<const Tensor> parts) {
  TRY(checkAtMost("Axis", axis, whole.rank - 1));
  uint64_t sum = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    TRY(checkSizesBut(cat(partsName, "[", i, "]"), parts[i], whole, axis, parts[i].sizes[axis]));
    sum += parts[i].sizes[axis];
  }
  return checkSize(wholeName, whole, axis, sum, cat(", the sum of those of ", partsName));
}

Status checkJoin(const Operation& op) {
  return checkParts(op.as<DML_JOIN_OPERATOR_DESC>().Axis, "OutputTensor", op.output(), "InputTensors", op.inputs());
}

Status checkSplit(const Operation& op) {
  return checkParts(op.as<DML_SPLIT_OPERATOR_DESC>().Axis, "InputTensor", op.input(0), "OutputTensors", op.outputs());
}

// Plans JOIN, whose inputs are the parts of its output, and SPLIT, whose outputs are the parts of its input.
template <class Desc>
std::vector<MovedPart> partsOnAxis(const Operation& op) {
  constexpr bool kJoins = std::is_same_v<Desc, DML_JOIN_OPERATOR_DESC>;
  const UINT axis = op.as<Desc>().Axis;
  const Tensor& whole = kJoins ? op.output() : op.input(0);
  std::vector<MovedPart> parts;
  uint32_t start = 0;
  for (const Tensor& part : kJoins ? op.inputs() : op.outputs()) {
    const auto i = static_cast<uint32_t>(parts.size());
    Walk walk = kJoins ? makeWalk(part.sizeSpan(), {&part, &whole}) : makeWalk(part.sizeSpan(), {&whole, &part});
    walk.base[kJoins ? 1 : 0] = start * whole.strides[axis];
    parts.push_back({kJoins ? i : 0, kJoins ? 0 : i, walk});
    start += part.sizes[axis];
  }
  return parts;
}

// ---- PADDING, PADDING1 ----------------------------------------------------------------------------------------------

// Paddings are signed in effect: values from 2^31 on remove elements, like the negative paddings of ONNX that ONNX
// Runtime passes on. No mode limits them by the input's sizes.
template <class Desc>
Status checkPadding(const Operation& op) {
  const auto& desc = op.as<Desc>();
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  TRY(checkDimensionCount("DimensionCount", desc.DimensionCount, "InputTensor", x));
  for (uint32_t d = 0; d < x.rank; ++d) {
    const int64_t expected =
        int64_t{x.sizes[d]} + static_cast<int32_t>(desc.StartPadding[d]) + static_cast<int32_t>(desc.EndPadding[d]);
    if (y.sizes[d] != expected)
      return invalid(
          cat(wrongSize("OutputTensor", y, d), expected, ", that of InputTensor with StartPadding and EndPadding."));
  }
  if constexpr (requires { desc.PaddingValueDataType; })
    return checkValueType("PaddingValueDataType", desc.PaddingValueDataType, "InputTensor", x);
  return {};
}

// A dimension as the kernel `pad` takes it.
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

// Turns dimensions, the innermost last, into those of vectors of `number` elements, where everything that is shown
// begins with one.
bool toVectors(std::vector<PadDimension>& dimensions, uint32_t mode, uint32_t number) {
  if (dimensions.empty()) return false;
  const PadDimension& innermost = dimensions.back();
  const bool movesVectors = mode == DML_PADDING_MODE_CONSTANT || mode == DML_PADDING_MODE_WRAP || innermost.isPlain();
  if (!movesVectors || innermost.outputStride != 1 || innermost.inputStride != 1) return false;
  if ((innermost.outputSize | innermost.inputSize | innermost.start) % number != 0) return false;
  for (size_t d = 0; d + 1 < dimensions.size(); ++d)
    if ((dimensions[d].outputStride | dimensions[d].inputStride) % number != 0) return false;
  for (PadDimension& dimension : dimensions) {
    dimension.outputStride /= number;
    dimension.inputStride /= number;
  }
  PadDimension& vectors = dimensions.back();
  vectors.outputStride = vectors.inputStride = 1;
  vectors.outputSize /= number;
  vectors.inputSize /= number;
  vectors.start = static_cast<uint32_t>(static_cast<int32_t>(vectors.start) / static_cast<int32_t>(number));
  return true;
}

// Whether the output lies in runs of `number` elements, of which none has more than two lines.
bool inRuns(const std::vector<PadDimension>& dimensions, uint32_t number) {
  if (dimensions.empty() || dimensions.back().outputSize < number) return false;
  uint64_t dense = 1;
  for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
    if (d->outputStride != dense) return false;
    dense *= d->outputSize;
  }
  return dense % number == 0;
}

Status planPad(const Operation& op, PlanBuilder& builder, uint32_t mode, std::span<const uint32_t> starts,
               const FillPattern& value) {
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
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
  const uint32_t number = vectorElements(x.type);
  const bool vectors = toVectors(dimensions, mode, number);
  const bool runs = !vectors && byteWidth(x.type) <= 4 && areManyRuns(builder.target(), y.elements, number) &&
                    inRuns(dimensions, number);
  const uint64_t items = vectors ? y.elements / number : y.elements;
  std::vector<uint32_t> parameters(dimensions.empty() ? 4 : 0);  // a block is never empty
  for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
    appendDivisor(parameters, d->outputSize);
    parameters.insert(parameters.end(), {d->outputStride, d->inputStride, d->start, d->inputSize});
    appendDivisor(parameters, padPeriod(mode, d->inputSize));
  }
  const auto rank = static_cast<uint32_t>(dimensions.size());
  using Form = kernels::Pad::Form;
  return builder.addItems(
      kernels::Pad{.form = vectors ? Form::Vectors
                           : runs  ? Form::Runs
                                   : Form::Strided,
                   .type = vectors ? KernelType::B32
                           : runs  ? builder.sizedElement(x.type).type
                                   : builder.sizedElement(x.type),
                   .push = {.count = static_cast<uint32_t>(items), .rank = rank, .low = value[0], .high = value[1]},
                   .spec = {.mode = mode, .rank = constantOnGpus(builder.target(), rank)},
                   .x = builder.input(0),
                   .y = builder.output()},
      runs ? items / number : items, builder.parameters(parameters), 1);
}

template <class Desc>
Status planPadding(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<Desc>();
  return planPad(op, builder, static_cast<uint32_t>(desc.PaddingMode),
                 std::span(desc.StartPadding, desc.DimensionCount), fillPattern(op.input(0).type, desc.PaddingValue));
}

// Elements around the window get no gradient.
Status planSliceGrad(const Operation& op, PlanBuilder& builder) {
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  const auto& desc = op.as<DML_SLICE_GRAD_OPERATOR_DESC>();
  if (std::all_of(desc.InputWindowStrides, desc.InputWindowStrides + x.rank, [](INT stride) { return stride == 1; }))
    return planPad(op, builder, DML_PADDING_MODE_CONSTANT, {desc.InputWindowOffsets, x.rank}, {});
  TRY(addFill(builder, y.type, makeWalk(y.sizeSpan(), {&y}), {}, builder.output()));
  Walk walk;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const auto [first, step] = windowSteps(desc, d);
    walk.addDimension(x.sizes[d], {x.strides[d], y.strides[d] * step});
    walk.base[1] += y.strides[d] * first;
  }
  return addCopy(builder, x.type, walk, builder.input(0), builder.output());
}

// ---- VALUE_SCALE_2D, TILE, REVERSE_SUBSEQUENCES ---------------------------------------------------------------------

Status checkValueScale2D(const Operation& op) {
  const UINT count = op.as<DML_VALUE_SCALE_2D_OPERATOR_DESC>().ChannelCount;
  if (count != 1 && count != 3) return invalid(cat("ChannelCount has value (", count, "), expected 1 or 3."));
  return checkSize("InputTensor", op.input(0), 1, count);
}

Status planValueScale2D(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<DML_VALUE_SCALE_2D_OPERATOR_DESC>();
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  Walk walk = makeWalk(y.sizeSpan(), {&x, &y});
  walk.strides[1][2] = 1;
  walk.coalesceBy(1);
  std::array<float, 3> bias{};
  std::copy_n(desc.Bias, desc.ChannelCount, bias.begin());
  const auto vectors = walk.inVectors(vectorElements(y.type), 0b011);
  const Walk& steps = vectors ? *vectors : walk;
  using Form = kernels::ValueScale::Form;
  return builder.addWalk(steps, kernels::ValueScale{.form = vectors ? Form::Vectors : Form::Strided,
                                                    .type = vectors ? kernelType(y.type) : builder.typedElement(y.type),
                                                    .push = {.walk = walkWords(steps),
                                                             .scale = floatBits(desc.Scale),
                                                             .bias0 = floatBits(bias[0]),
                                                             .bias1 = floatBits(bias[1]),
                                                             .bias2 = floatBits(bias[2])},
                                                    .x = builder.input(0),
                                                    .y = builder.output()});
}

Status checkTile(const Operation& op) {
  const auto& desc = op.as<DML_TILE_OPERATOR_DESC>();
  const Tensor& x = op.input(0);
  TRY(checkDimensionCount("RepeatsCount", desc.RepeatsCount, "InputTensor", x));
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (desc.Repeats[d] == 0) return invalid(cat("Repeats[", d, "] has value (0), expected at least 1."));
    TRY(checkSize("OutputTensor", op.output(), d, uint64_t{x.sizes[d]} * desc.Repeats[d]));
  }
  return {};
}

// A walk (operands: input, output) through lines of the input, of which all repetitions follow each other, so that each
// is read from memory once. Returns no value if lines are short or do not lie in vectors.
std::optional<Walk> repeatedLines(const Operation& op) {
  const auto& desc = op.as<DML_TILE_OPERATOR_DESC>();
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  const uint32_t number = vectorElements(x.type);
  constexpr uint64_t kLeast = 64;  // vectors of a line
  Walk walk;
  uint32_t line = 1;
  uint32_t inner = x.rank;  // the dimensions from here on are a line
  while (inner > 0 && line < kLeast * number && (inner == x.rank || desc.Repeats[inner] == 1)) {
    const uint32_t d = inner - 1;
    if (x.sizes[d] != 1 && (x.strides[d] != line || y.strides[d] != line)) break;
    line *= x.sizes[d];
    inner = d;
  }
  if (inner > 0 && line < kLeast * number) return {};
  for (uint32_t d = 0; d < inner; ++d)
    if (x.sizes[d] != 1) walk.addDimension(x.sizes[d], {x.strides[d], y.strides[d]});
  for (uint32_t d = 0; d < x.rank; ++d)
    if (desc.Repeats[d] != 1 && walk.rank < kMaxWalkRank)
      walk.addDimension(desc.Repeats[d], {0, y.strides[d] * x.sizes[d]});
  if (walk.rank == kMaxWalkRank) return {};
  walk.addDimension(line, {1, 1});
  return walk.inVectors(number, 0b11);
}

// Describes padding with nothing before the elements and copies behind them.
Status planTile(const Operation& op, PlanBuilder& builder) {
  if (const auto lines = repeatedLines(op))
    return builder.addWalk(*lines, kernels::Copy{.form = kernels::Copy::Form::Vectors,
                                                 .type = KernelType::B32,
                                                 .push = {.walk = walkWords(*lines)},
                                                 .spec = {},
                                                 .x = builder.input(0),
                                                 .y = builder.output()});
  constexpr std::array<uint32_t, kMaxRank> kStarts{};
  return planPad(op, builder, DML_PADDING_MODE_WRAP, kStarts, {});
}

Status checkReverseSubsequences(const Operation& op) {
  const UINT axis = op.as<DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC>().Axis;
  const Tensor& x = op.input(0);
  TRY(checkAtMost("Axis", axis, x.rank - 1));
  return checkSizesBut("SequenceLengthsTensor", op.input(1), x, axis, 1);
}

Status planReverseSubsequences(const Operation& op, PlanBuilder& builder) {
  const UINT axis = op.as<DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC>().Axis;
  const Tensor& x = op.input(0);
  const Tensor& lengths = op.input(1);
  const Tensor& y = op.output();
  Walk walk = makeWalk(y.sizeSpan(), {&x, &lengths, &y});
  walk.strides[axis] = {0, 0, y.strides[axis], 1};
  const uint32_t number = vectorElements(x.type);
  walk.coalesceBy(2);
  const Moves moves =
      movesOf(builder, {.vectors = x.strides[axis] % number == 0 ? 0b0101u : 0, .rows = 0b1100}, walk, x.type, 2);
  return builder.addItems(
      kernels::Reverse{
          .form = formOf<kernels::Reverse>(moves.unit),
          .type = moves.type,
          .push = {.walk = walkWords(moves.walk),
                   .indexKind = indexKind(lengths.type),
                   .axisSize = x.sizes[axis],
                   .axisStride = moves.unit == MoveUnit::Vector ? x.strides[axis] / number : x.strides[axis]},
          .x = builder.input(0),
          .indices = builder.input(1),
          .y = builder.output()},
      moves.items, builder.parameters(moves.walk), 1);
}

// ---- SPACE_TO_DEPTH, DEPTH_TO_SPACE ---------------------------------------------------------------------------------

// The depth holds in channels what the space holds in blocks of height and width.
bool isToDepth(const Operation& op) {
  return op.schema().type == DML_OPERATOR_SPACE_TO_DEPTH || op.schema().type == DML_OPERATOR_SPACE_TO_DEPTH1;
}

template <class Desc>
Status checkBlocks(const Operation& op) {
  const UINT block = op.as<Desc>().BlockSize;
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  TRY(checkAtLeast("BlockSize", block, 1));
  const uint64_t area = uint64_t{block} * block;
  const auto checkDivisible = [&](uint32_t d, uint64_t divisor) -> Status {
    if (x.sizes[d] % divisor == 0) return {};
    return invalid(cat(wrongSize("InputTensor", x, d), "a multiple of ", divisor, "."));
  };
  TRY(checkSize("OutputTensor", y, 0, x.sizes[0]));
  if (!isToDepth(op)) {
    TRY(checkDivisible(1, area));
    TRY(checkSize("OutputTensor", y, 1, x.sizes[1] / area));
    TRY(checkSize("OutputTensor", y, 2, uint64_t{x.sizes[2]} * block));
    return checkSize("OutputTensor", y, 3, uint64_t{x.sizes[3]} * block);
  }
  for (const uint32_t d : {2u, 3u}) {
    TRY(checkDivisible(d, block));
    TRY(checkSize("OutputTensor", y, d, x.sizes[d] / block));
  }
  // Height and width are multiples of the block, so that this product fits.
  return checkSize("OutputTensor", y, 1, x.sizes[1] * area);
}

// Channels of the depth are made of the row in a block, the column in it and the channel; in COLUMN_ROW_DEPTH the
// channel comes first.
template <class Desc>
Status planBlocks(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<Desc>();
  bool channelFirst = false;
  if constexpr (requires { desc.Order; }) channelFirst = desc.Order == DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH;
  const bool toDepth = isToDepth(op);
  const Tensor& space = toDepth ? op.input(0) : op.output();
  const Tensor& depth = toDepth ? op.output() : op.input(0);
  const uint32_t block = desc.BlockSize;
  const uint32_t channels = space.sizes[1];
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
  return addCopy(builder, space.type, walk, builder.input(0), builder.output());
}

// ---- tables ---------------------------------------------------------------------------------------------------------

#define DIMPLE_WINDOW                                                                      \
  DIMPLE_UINT(DimensionCount), DIMPLE_UINT_ARRAY(2, InputWindowOffsets, InputWindowSizes), \
      DIMPLE_INT_ARRAY(2, InputWindowStrides)

DIMPLE_FIELDS(kSliceFields, DIMPLE_IN_AND_OUT, DIMPLE_UINT(DimensionCount),
              DIMPLE_UINT_ARRAY(2, Offsets, Sizes, Strides));
DIMPLE_FIELDS(kSplitFields, DIMPLE_INPUT(InputTensor), DIMPLE_UINT(OutputCount), DIMPLE_OUTPUT_ARRAY(1, OutputTensors),
              DIMPLE_UINT(Axis));
DIMPLE_FIELDS(kJoinFields, DIMPLE_UINT(InputCount), DIMPLE_INPUT_ARRAY(0, InputTensors), DIMPLE_OUTPUT(OutputTensor),
              DIMPLE_UINT(Axis));
DIMPLE_FIELDS(kPaddingFields, DIMPLE_IN_AND_OUT, DIMPLE_ENUM(PaddingMode, kPaddingModes), DIMPLE_FLOAT(PaddingValue),
              DIMPLE_UINT(DimensionCount), DIMPLE_UINT_ARRAY(4, StartPadding, EndPadding));
DIMPLE_FIELDS(kValueScale2DFields, DIMPLE_IN_AND_OUT, DIMPLE_FLOAT(Scale), DIMPLE_UINT(ChannelCount),
              DIMPLE_FLOAT_ARRAY(3, Bias));
DIMPLE_FIELDS(kSpaceToDepthFields, DIMPLE_IN_AND_OUT, DIMPLE_UINT(BlockSize));
DIMPLE_FIELDS(kTileFields, DIMPLE_IN_AND_OUT, DIMPLE_UINT(RepeatsCount), DIMPLE_UINT_ARRAY(2, Repeats));
DIMPLE_FIELDS(kReverseSubsequencesFields, DIMPLE_INPUT(InputTensor, SequenceLengthsTensor), DIMPLE_OUTPUT(OutputTensor),
              DIMPLE_UINT(Axis));
DIMPLE_FIELDS(kSlice1Fields, DIMPLE_IN_AND_OUT, DIMPLE_WINDOW);
DIMPLE_FIELDS(kDepthToSpace1Fields, DIMPLE_IN_AND_OUT, DIMPLE_UINT(BlockSize), DIMPLE_ENUM(Order, kDepthSpaceOrders));
DIMPLE_FIELDS(kSliceGradFields, DIMPLE_INPUT(InputGradientTensor), DIMPLE_OUTPUT(OutputGradientTensor), DIMPLE_WINDOW);
DIMPLE_FIELDS(kPadding1Fields, DIMPLE_IN_AND_OUT, DIMPLE_ENUM(PaddingMode, kPaddingModes),
              DIMPLE_ENUM(PaddingValueDataType, kTensorDataTypes), DIMPLE_SCALAR(PaddingValue),
              DIMPLE_UINT(DimensionCount), DIMPLE_UINT_ARRAY(5, StartPadding, EndPadding));

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
// The page does not list FLOAT64, which DirectML 1.15.4 takes.
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

// Rows of operators that move parts.
#define DIMPLE_PARTS_ROW(NAME, FIELDS, RULES, CHECK, PARTS)                   \
  DIMPLE_ROW(NAME, FIELDS, .rules = RULES, .check = CHECK, .plan = planParts, \
             .parts = PARTS<DML_##NAME##_OPERATOR_DESC>)

constexpr OpSchema kMovementSchemas[] = {
    DIMPLE_PARTS_ROW(SLICE, kSliceFields, kInAndOutRules<kSliceTypes>, checkSlice, partsOfSlice),
    DIMPLE_PARTS_ROW(SPLIT, kSplitFields, kInAndOutRules<kSplitTypes>, checkSplit, partsOnAxis),
    DIMPLE_PARTS_ROW(JOIN, kJoinFields, kJoinRules, checkJoin, partsOnAxis),
    DIMPLE_DESC_ROW(PADDING, kPaddingFields, kInAndOutRules<kPaddingTypes>, checkPadding, planPadding),
    DIMPLE_ROW(VALUE_SCALE_2D, kValueScale2DFields, .rules = kValueScale2DRules, .check = checkValueScale2D,
               .plan = planValueScale2D),
    DIMPLE_DESC_ROW(SPACE_TO_DEPTH, kSpaceToDepthFields, kSpaceToDepthRules, checkBlocks, planBlocks),
    DIMPLE_DESC_ROW(DEPTH_TO_SPACE, kSpaceToDepthFields, kSpaceToDepthRules, checkBlocks, planBlocks),
    DIMPLE_ROW(TILE, kTileFields, .rules = kInAndOutRules<kTileTypes>, .check = checkTile, .plan = planTile),
    DIMPLE_ROW(REVERSE_SUBSEQUENCES, kReverseSubsequencesFields, .rules = kReverseSubsequencesRules,
               .check = checkReverseSubsequences, .plan = planReverseSubsequences),
    DIMPLE_PARTS_ROW(SLICE1, kSlice1Fields, kInAndOutRules<kSlice1Types>, checkSlice1, partsOfSlice),
    DIMPLE_DESC_ROW(DEPTH_TO_SPACE1, kDepthToSpace1Fields, kDepthToSpace1Rules, checkBlocks, planBlocks),
    DIMPLE_DESC_ROW(SPACE_TO_DEPTH1, kDepthToSpace1Fields, kDepthToSpace1Rules, checkBlocks, planBlocks),
    DIMPLE_ROW(SLICE_GRAD, kSliceGradFields, .rules = kInAndOutRules<kSliceGradTypes>, .check = checkSliceGrad,
               .plan = planSliceGrad),
    DIMPLE_DESC_ROW(PADDING1, kPadding1Fields, kInAndOutRules<kPadding1Types>, checkPadding, planPadding),
};

}  // namespace

std::span<const OpSchema> movementSchemas() { return kMovementSchemas; }

}  // namespace dimple
