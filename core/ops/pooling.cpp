// Pooling, its inverse and its gradients, in one file, since all describe their windows in the same way.
#include <algorithm>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/copy.h"
#include "core/ops/elementwise.h"
#include "core/ops/sliding_window.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/pool.h"
#include "kernels/interfaces/pool_grad.h"
#include "kernels/interfaces/pool_grad_lines.h"
#include "kernels/interfaces/pool_indices.h"
#include "kernels/interfaces/pool_vectors.h"
#include "kernels/interfaces/quantized_pool.h"
#include "kernels/interfaces/unpool.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

template <class S>
SlidingWindow windowOf(const Operation& op) {
  const auto& desc = op.as<S>();
  const UINT* dilations = nullptr;
  if constexpr (requires { desc.Dilations; }) dilations = desc.Dilations;
  return {"WindowSize", desc.DimensionCount, desc.WindowSize, desc.Strides,
          dilations,    desc.StartPadding,   desc.EndPadding};
}

// `pooled` has the batch and channels of `whole`.
Status checkPooled(UINT dimensionCount, std::string_view wholeName, const Tensor& whole, std::string_view pooledName,
                   const Tensor& pooled) {
  TRY(checkSpatialRank(dimensionCount, wholeName, whole));
  for (uint32_t d = 0; d < 2; ++d) TRY(checkSize(pooledName, pooled, d, whole.sizes[d]));
  return {};
}

// The pages give formulas for the spatial sizes of the output. DirectML 1.15.4 takes any sizes, which callers that
// round up need, and it takes zeros in WindowSize, Strides and Dilations. Kernels therefore meet windows without an
// element of the input, and coordinates that exceed 32 bits.
template <class S>
Status checkPooling(const Operation& op) {
  return checkPooled(op.as<S>().DimensionCount, "InputTensor", op.input(0), "OutputTensor", op.output());
}

// A stride of 0, which DirectML takes, would be a divisor: the windows over an element are found by division.
Status checkAveragePoolingGrad(const Operation& op) {
  const SlidingWindow window = windowOf<DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC>(op);
  TRY(checkPooled(window.dimensionCount, "OutputGradientTensor", op.output(), "InputGradientTensor", op.input(0)));
  for (uint32_t d = 0; d < window.dimensionCount; ++d) TRY(checkAtLeast(cat("Strides[", d, "]"), window.strides[d], 1));
  return {};
}

// This is the only pooling operator for which DirectML checks all sizes. A window that is larger than the padded input
// has one position.
Status checkMaxPoolingGrad(const Operation& op) {
  const SlidingWindow window = windowOf<DML_MAX_POOLING_GRAD_OPERATOR_DESC>(op);
  const Tensor& x = op.input(0);
  const Tensor& gradient = op.input(1);
  TRY(checkPooled(window.dimensionCount, "InputTensor", x, "InputGradientTensor", gradient));
  TRY(checkNoZeros(window));
  for (uint32_t d = 0; d < window.dimensionCount; ++d) {
    TRY(checkAtLeast(cat("Dilations[", d, "]"), window.dilations[d], 1));
    const uint64_t positions = std::max<uint64_t>(window.positions(d, x.sizes[d + 2]), 1);
    TRY(checkSize("InputGradientTensor", gradient, d + 2, positions));
  }
  return {};
}

// The tensor has one value, or one for each channel. DirectML also takes other sizes, but does not say what they mean.
Status checkQuantization(std::string_view name, const Tensor& tensor, uint32_t channels) {
  if (!tensor.present() || tensor.elements == 1) return {};
  if (tensor.elements == channels && std::ranges::count(tensor.sizeSpan(), channels) == 1) return {};
  return invalid(cat(name, " has Sizes (", listText(tensor.sizeSpan()), "), expected one element or ", channels,
                     ", one per channel."));
}

Status checkQuantizedAveragePooling(const Operation& op) {
  for (size_t i = 1; i < op.inputs().size(); ++i)
    TRY(checkQuantization(op.inputName(i), op.input(i), op.input(0).sizes[1]));
  return checkPooling<DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC>(op);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// Kernels see three spatial dimensions, the innermost first, then channels and the batch.
constexpr uint32_t kSpatial = 3;
constexpr uint32_t kDimensions = kSpatial + 2;

struct PooledDimension {
  uint32_t size = 1;
  uint32_t stride = 0;
};

PooledDimension dimensionOf(const Tensor& tensor, uint32_t d) {
  if (d >= kSpatial) return {tensor.sizes[kDimensions - 1 - d], tensor.strides[kDimensions - 1 - d]};
  if (d + 2 >= tensor.rank) return {};
  return {tensor.sizes[tensor.rank - 1 - d], tensor.strides[tensor.rank - 1 - d]};
}

// A sliding window as kernels take it.
struct KernelWindow {
  std::array<uint32_t, kSpatial> strides{1, 1, 1}, dilations{1, 1, 1}, sizes{1, 1, 1}, startPadding{};
  double elements = 1;  // those in the padding too
  double repeats = 1;   // how often a dilation of 0 meets each of them
};

KernelWindow kernelWindow(const SlidingWindow& window) {
  KernelWindow result;
  for (uint32_t d = 0; d < window.dimensionCount; ++d) {
    const uint32_t from = window.dimensionCount - 1 - d;
    result.strides[d] = window.strides[from];
    result.startPadding[d] = window.startPadding[from];
    result.sizes[d] = window.sizes[from];
    if (window.dilations) result.dilations[d] = window.dilations[from];
    if (result.dilations[d] == 0) {
      result.dilations[d] = 1;
      if (result.sizes[d] != 0) {
        result.repeats *= result.sizes[d];
        result.sizes[d] = 1;
      }
    }
    result.elements *= result.sizes[d];
  }
  return result;
}

// Steps of the row-major index of a tensor's elements.
std::array<uint32_t, kDimensions> indexSteps(const Tensor& tensor) {
  std::array<uint32_t, kDimensions> steps{};
  uint32_t step = 1;
  for (uint32_t d = 0; d < kDimensions; ++d) {
    steps[d] = step;
    step *= dimensionOf(tensor, d).size;
  }
  return steps;
}

// Uses one workgroup per output if many elements meet in few outputs.
bool wantsRow(uint64_t outputs, double elements) {
  constexpr uint64_t kManyOutputs = 64 * 1024;  // invocations that fill a device
  constexpr double kRowElements = 64;           // below, a workgroup's reduction tree costs more than it saves
  constexpr double kLongRow = 1024;             // above, an invocation takes too long
  return elements >= kLongRow || (elements >= kRowElements && outputs < kManyOutputs);
}

// Returns the most elements under a window, or 1 if there are none, since the output is written anyway.
double coveredElements(const KernelWindow& window, const Tensor& x) {
  double covered = 1;
  for (uint32_t d = 0; d < kSpatial; ++d) covered *= std::min(window.sizes[d], dimensionOf(x, d).size);
  return std::max(covered, 1.0);
}

// The parameters that kernels/pooling/pool.comp and quantized_pool.comp begin with. Absent tensors have no strides.
std::vector<uint32_t> windowParameters(const KernelWindow& window, const Tensor& x, const Tensor& y,
                                       const Tensor& indices) {
  const auto steps = indexSteps(x);
  std::vector<uint32_t> words;
  for (uint32_t d = 0; d < kDimensions; ++d) {
    const bool spatial = d < kSpatial;
    appendDivisor(words, dimensionOf(y, d).size);
    words.insert(words.end(), {spatial ? 0 : dimensionOf(x, d).stride, dimensionOf(y, d).stride,
                               dimensionOf(indices, d).stride, spatial ? 0 : steps[d]});
  }
  for (uint32_t d = 0; d < kSpatial; ++d) {
    const PooledDimension source = dimensionOf(x, d);
    words.insert(words.end(), {window.strides[d], window.dilations[d], window.sizes[d], window.startPadding[d]});
    words.insert(words.end(), {source.size, source.stride, steps[d], 0});
  }
  return words;
}

// The results of pooling.
struct Pooling {
  DML_OPERATOR_TYPE function;
  const KernelWindow& window;
  uint32_t power = 1;
  bool includesPadding = false;
};

// Whether elements along kernels' dimension `d` lie in vectors of `number`, and everything else begins with one.
bool liesInVectors(const Tensor& tensor, uint32_t d, uint32_t number) {
  const PooledDimension along = dimensionOf(tensor, d);
  if (along.stride != 1 || along.size % number != 0) return false;
  for (uint32_t other = 0; other < kDimensions; ++other)
    if (other != d && dimensionOf(tensor, other).size != 1 && dimensionOf(tensor, other).stride % number != 0)
      return false;
  return true;
}

struct VectorPooling {
  kernels::PoolVectors::Form form = kernels::PoolVectors::Form::Channels;
  const char* refusal = nullptr;
  uint32_t number = 0;  // of elements in a vector
};

VectorPooling chooseVectors(const Pooling& pooling, const Tensor& x, const Tensor& y) {
  using Form = kernels::PoolVectors::Form;
  constexpr uint32_t kLine = 0;
  constexpr uint32_t kChannels = kSpatial;
  const KernelWindow& window = pooling.window;
  const uint32_t number = vectorElements(x.type);
  if (bitWidth(x.type) > 32 || (!isFloat(x.type) && bitWidth(x.type) != 8))
    return {.refusal = "It takes only FLOAT32, FLOAT16 and 8-bit integers."};
  if (pooling.function == DML_OPERATOR_LP_POOLING && pooling.power != 1 && pooling.power != 2)
    return {.refusal = "It sums only magnitudes and squares."};
  if (wantsRow(y.elements, coveredElements(window, x))) return {.refusal = "Its windows are large."};
  if (liesInVectors(x, kChannels, number) && liesInVectors(y, kChannels, number))
    return {.form = Form::Channels, .number = number};
  const bool whole = liesInVectors(x, kLine, number) && liesInVectors(y, kLine, number);
  const bool half = bitWidth(x.type) < 32 && liesInVectors(x, kLine, number / 2) && liesInVectors(y, kLine, number / 2);
  if (!whole && !half) return {.refusal = "Neither lines nor channels are in vectors."};
  // Of kernels/pooling/pool_lines.comp.
  constexpr uint32_t kMost = 3;
  const auto isSmall = [&](uint32_t d) { return window.sizes[d] - 1 < kMost && window.startPadding[d] < kMost; };
  const bool isFlat = window.sizes[2] == 1 && window.strides[2] == 1 && window.startPadding[2] == 0 &&
                      dimensionOf(y, 2).size <= dimensionOf(x, 2).size;
  const bool steps = (window.strides[0] == 1 || window.strides[0] == 2) && window.startPadding[0] <= 1 &&
                     uint64_t{window.strides[1]} * dimensionOf(y, 1).size < INT32_MAX &&
                     uint64_t{window.strides[0]} * dimensionOf(y, 0).size < INT32_MAX;
  if (!isSmall(0) || !isSmall(1) || !isFlat || !steps || window.dilations[0] != 1 || window.dilations[1] != 1)
    return {.refusal = "It takes only small windows."};
  const bool halves = window.strides[0] != 1;
  if (!whole) return {.form = halves ? Form::HalfHalvedLines : Form::HalfLines, .number = number / 2};
  return {.form = halves ? Form::HalvedLines : Form::Lines, .number = number};
}

// The parameters of kernels/pooling/lines.glsl and pool_channels.comp.
std::vector<uint32_t> vectorParameters(const KernelWindow& window, const Tensor& x, const Tensor& y,
                                       const Tensor& indices, bool channels, uint32_t number) {
  constexpr uint32_t kIndexVector = 4;
  const auto steps = indexSteps(x);
  std::vector<uint32_t> words;
  const std::array<uint32_t, kDimensions> order =
      channels ? std::array<uint32_t, kDimensions>{3, 0, 1, 2, 4} : std::array<uint32_t, kDimensions>{0, 1, 2, 3, 4};
  for (uint32_t i = 0; i < kDimensions; ++i) {
    const uint32_t d = order[i];
    const PooledDimension from = dimensionOf(x, d), to = dimensionOf(y, d);
    const bool slides = channels ? d < kSpatial : d < 2;
    appendDivisor(words, i == 0 ? to.size / number : to.size);
    words.insert(words.end(),
                 {slides   ? 0
                  : i == 0 ? 1
                           : from.stride / number,
                  i == 0 ? 1 : to.stride / number,
                  dimensionOf(indices, d).stride * (i == 0 ? number : 1) / kIndexVector, slides ? 0 : steps[d]});
  }
  if (!channels) {
    words.insert(words.end(), {dimensionOf(x, 0).size, dimensionOf(x, 1).size, dimensionOf(x, 1).stride / number,
                               window.strides[1], window.startPadding[1], 0, 0, 0});
    return words;
  }
  for (uint32_t d = 0; d < kSpatial; ++d) {
    words.insert(words.end(), {window.strides[d], window.dilations[d], window.sizes[d], window.startPadding[d]});
    words.insert(words.end(), {dimensionOf(x, d).size, dimensionOf(x, d).stride / number, 0, 0});
  }
  return words;
}

kernels::SmallWindowSpecs smallWindow(const KernelWindow& window) {
  return {.width = window.sizes[0], .height = window.sizes[1], .padded = window.startPadding[0]};
}

// The binary logarithm of how many invocations share a window: several, if a device that would otherwise stand idle
// meets large windows.
uint32_t sliceBitsOf(uint64_t items, double elements, const Target& target) {
  constexpr uint32_t kMostBits = 4;
  constexpr double kFewest = 4;  // elements of a slice
  const uint64_t invocations = uint64_t{target.caps.workgroups} * kGroupSize;
  uint32_t bits = 0;
  while (bits < kMostBits && items << (bits + 1) <= invocations && elements / (2u << bits) >= kFewest) ++bits;
  return bits;
}

Status addVectorPooling(PlanBuilder& builder, const Pooling& pooling, const VectorPooling& chosen, const Tensor& y,
                        const BufferRange& values) {
  const Tensor& x = builder.op().input(0);
  const KernelWindow& window = pooling.window;
  const bool channels = chosen.form == kernels::PoolVectors::Form::Channels;
  const uint32_t number = chosen.number;
  const uint64_t items = y.elements / number;
  const double covered = coveredElements(window, x);
  std::optional<kernels::SmallWindowSpecs> small;
  if (!channels) small = smallWindow(window);
  const uint32_t sliceBits = channels ? sliceBitsOf(items, covered, builder.target()) : 0;
  const kernels::PoolVectors call{.form = chosen.form,
                                  .type = kernelType(x.type),
                                  .push = {.count = static_cast<uint32_t>(items),
                                           .power = pooling.power,
                                           .repeats = floatBits(window.repeats),
                                           .divisor = pooling.includesPadding ? floatBits(window.elements) : 0,
                                           .sliceBits = sliceBits},
                                  .spec = {.function = pooling.function, .smallWindow = small},
                                  .x = builder.input(0),
                                  .y = values};
  return builder.addItems(call, items << sliceBits,
                          builder.parameters(vectorParameters(window, x, y, {}, channels, number)),
                          kLookup * (covered / (1u << sliceBits)));
}

// Pools maxima and their indices.
VectorPooling chooseIndexVectors(const Pooling& pooling, const Tensor& x, const Tensor* y, const Tensor& indices) {
  if (!isFloat(x.type) || byteWidth(indices.type) != 4)
    return {.refusal = "It takes only FLOAT32 and FLOAT16, and gives only 32-bit indices."};
  VectorPooling chosen = chooseVectors(pooling, x, indices);
  if (!chosen.refusal && y) chosen = chooseVectors(pooling, x, *y);
  using Form = kernels::PoolVectors::Form;
  if (!chosen.refusal && chosen.form != Form::Lines && chosen.form != Form::HalvedLines)
    chosen.refusal = "It takes only lines in whole vectors.";
  return chosen;
}

Status addIndexPooling(PlanBuilder& builder, const KernelWindow& window, kernels::PoolVectors::Form form,
                       const Tensor& y, const BufferRange* values, const Tensor& indices, const BufferRange& where) {
  using Form = kernels::PoolIndices::Form;
  const Tensor& x = builder.op().input(0);
  const uint64_t items = y.elements / vectorElements(x.type);
  const kernels::PoolIndices call{.form = form == kernels::PoolVectors::Form::Lines ? Form::Lines : Form::HalvedLines,
                                  .type = kernelType(x.type),
                                  .push = {.count = static_cast<uint32_t>(items), .writesValue = values != nullptr},
                                  .spec = {.smallWindow = smallWindow(window)},
                                  .x = builder.input(0),
                                  .y = values ? kernels::WriteBuffer(*values) : kernels::WriteBuffer::unwritten(where),
                                  .indices = where};
  return builder.addItems(call, items,
                          builder.parameters(vectorParameters(window, x, y, indices, false, vectorElements(x.type))),
                          kLookup * coveredElements(window, x));
}

// One dispatch that writes values, indices or both. The range of one stands for the other if that is not wanted.
Status addPooling(PlanBuilder& builder, const Pooling& pooling, const Tensor& y, const BufferRange* values,
                  const Tensor& indices, const BufferRange* where) {
  const Tensor& x = builder.op().input(0);
  const VectorPooling chosen =
      where ? chooseIndexVectors(pooling, x, values ? &y : nullptr, indices) : chooseVectors(pooling, x, y);
  if (!chosen.refusal)
    return where ? addIndexPooling(builder, pooling.window, chosen.form, y, values, indices, *where)
                 : addVectorPooling(builder, pooling, chosen, y, *values);
  builder.passOver({where ? "pool_indices" : "pool_vectors", chosen.refusal});
  const bool row = wantsRow(y.elements, coveredElements(pooling.window, x));
  return builder.add(kernels::Pool{.type = builder.typedElement(x.type),
                                   .push = {.count = static_cast<uint32_t>(y.elements),
                                            .power = pooling.power,
                                            .repeats = floatBits(pooling.window.repeats),
                                            .divisor = pooling.includesPadding ? floatBits(pooling.window.elements) : 0,
                                            .indexWords = where ? byteWidth(indices.type) / 4 : 0,
                                            .writesValue = values != nullptr},
                                   .spec = {.function = pooling.function, .row = row},
                                   .x = builder.input(0),
                                   .y = values ? *values : *where,
                                   .indices = where ? *where : *values},
                     taskGroups(y.elements, row), builder.parameters(windowParameters(pooling.window, x, y, indices)),
                     kLookup * y.elements * coveredElements(pooling.window, x));
}

template <class S>
Status planPooling(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<S>();
  const KernelWindow window = kernelWindow(windowOf<S>(op));
  Pooling pooling{DML_OPERATOR_MAX_POOLING, window};
  if constexpr (requires { desc.P; }) {
    pooling.function = DML_OPERATOR_LP_POOLING;
    pooling.power = desc.P;
  } else if constexpr (requires { desc.IncludePadding; }) {
    pooling.function = DML_OPERATOR_AVERAGE_POOLING;
    pooling.includesPadding = desc.IncludePadding != 0;
  }
  const BufferRange values = builder.output();
  const Tensor indices = op.outputs().size() > 1 ? op.output(1) : Tensor{};
  const BufferRange where = indices.present() ? builder.output(1) : values;
  return addPooling(builder, pooling, op.output(), &values, indices, indices.present() ? &where : nullptr);
}

// Why kernels/pooling/pool_grad_lines.comp does not take windows.
const char* refusesGradLines(const KernelWindow& window, const Tensor& y, const Tensor& g) {
  constexpr uint32_t kMost = 3;
  if (!liesInVectors(y, 0, vectorElements(y.type))) return "Lines are not in vectors.";
  const bool isSmall = window.sizes[0] - 1 < kMost && window.sizes[1] - 1 < kMost && window.startPadding[0] <= 1 &&
                       window.startPadding[1] < kMost && window.dilations[0] == 1 && window.dilations[1] == 1;
  const bool isFlat = window.sizes[2] == 1 && window.strides[2] == 1 && window.startPadding[2] == 0 &&
                      dimensionOf(g, 2).size == dimensionOf(y, 2).size;
  const bool steps = (window.strides[0] == 1 || window.strides[0] == 2) && window.strides[1] < UINT16_MAX &&
                     dimensionOf(y, 0).size < INT32_MAX / 2 && dimensionOf(y, 1).size < INT32_MAX / 2 &&
                     dimensionOf(g, 0).size < INT32_MAX / 8 &&
                     uint64_t{window.strides[1]} * dimensionOf(g, 1).size < INT32_MAX / 2;
  return isSmall && isFlat && steps ? nullptr : "It takes only small windows.";
}

Status addGradLines(PlanBuilder& builder, DML_OPERATOR_TYPE function, const KernelWindow& window, const Tensor& g,
                    const BufferRange& gRange, const Tensor& indices, const BufferRange& where, bool padding) {
  using Form = kernels::PoolGradLines::Form;
  const Tensor& y = builder.op().output();
  const uint32_t number = vectorElements(y.type);
  const auto steps = indexSteps(y);
  std::vector<uint32_t> words;
  // Takes several planes of the batch or of channels, if that leaves enough invocations.
  const uint32_t along = dimensionOf(y, kSpatial + 1).size % 4 == 0 ? kSpatial + 1 : kSpatial;
  const bool many = dimensionOf(y, along).size % 4 == 0 && areManyRuns(builder.target(), y.elements / 4, number);
  const uint32_t planes = many ? 4 : 1;
  std::array<uint32_t, 4> planeSteps{};
  for (uint32_t d = 0; d < kDimensions; ++d) {
    const bool slides = d < 2;
    const PooledDimension to = dimensionOf(y, d);
    const std::array<uint32_t, 4> own{slides ? 0 : dimensionOf(g, d).stride, d == 0 ? 1 : to.stride / number,
                                      slides ? 0 : dimensionOf(indices, d).stride, d == 0 ? number : steps[d]};
    if (d == along) planeSteps = own;
    appendDivisor(words, to.size / (d == 0 ? number : d == along ? planes : 1));
    for (const uint32_t step : own) words.push_back(step * (d == along ? planes : 1));
  }
  words.insert(words.end(),
               {dimensionOf(y, 0).size, dimensionOf(y, 1).size, window.strides[1], window.startPadding[1]});
  words.insert(words.end(), {dimensionOf(g, 0).size, dimensionOf(g, 1).size, 0, 0});
  words.insert(words.end(), {dimensionOf(g, 0).stride, dimensionOf(g, 1).stride, dimensionOf(indices, 0).stride,
                             dimensionOf(indices, 1).stride});
  words.insert(words.end(), planeSteps.begin(), planeSteps.end());
  const uint64_t items = y.elements / number / planes;
  return builder.addItems(kernels::PoolGradLines{.form = window.strides[0] == 1 ? Form::Lines : Form::HalvedLines,
                                                 .type = kernelType(y.type),
                                                 .push = {.count = static_cast<uint32_t>(items),
                                                          .planes = planes,
                                                          .divisor = padding ? floatBits(window.elements) : 0},
                                                 .spec = {.function = function, .smallWindow = smallWindow(window)},
                                                 .g = gRange,
                                                 .indices = where,
                                                 .y = builder.output()},
                          items, builder.parameters(words), kLookup * window.elements * planes);
}

// Adds the dispatch that gives each element of the pooled tensor its share of gradients. `indices` says which element
// each window chose, if it chose one.
Status addPoolingGrad(PlanBuilder& builder, DML_OPERATOR_TYPE function, const KernelWindow& window, const Tensor& g,
                      const BufferRange& gRange, const Tensor& indices, const BufferRange& where, bool padding) {
  const Tensor& y = builder.op().output();
  if (const char* refusal = refusesGradLines(window, y, g)) {
    builder.passOver({"pool_grad_lines", refusal});
  } else {
    return addGradLines(builder, function, window, g, gRange, indices, where, padding);
  }
  const auto steps = indexSteps(y);
  std::vector<uint32_t> words;
  double windows = 1;  // over an element, at most
  for (uint32_t d = 0; d < kDimensions; ++d) {
    const bool spatial = d < kSpatial;
    appendDivisor(words, dimensionOf(y, d).size);
    words.insert(words.end(), {spatial ? 0 : dimensionOf(g, d).stride, dimensionOf(y, d).stride,
                               spatial ? 0 : dimensionOf(indices, d).stride, steps[d]});
  }
  for (uint32_t d = 0; d < kSpatial; ++d) {
    const uint64_t span = window.sizes[d] == 0 ? 0 : (window.sizes[d] - uint64_t{1}) * window.dilations[d] + 1;
    const PooledDimension gradient = dimensionOf(g, d);
    words.insert(words.end(), {window.strides[d], static_cast<uint32_t>(std::min<uint64_t>(span, UINT32_MAX)),
                               window.startPadding[d], gradient.size});
    words.insert(words.end(), {gradient.stride, dimensionOf(indices, d).stride, 0, 0});
    windows *= static_cast<double>(std::min<uint64_t>(gradient.size, divideUp(span, window.strides[d])));
  }
  windows = std::max(windows, 1.0);  // what no window meets is written all the same
  const bool row = wantsRow(y.elements, windows);
  return builder.add(kernels::PoolGrad{.type = builder.typedElement(y.type),
                                       .push = {.count = static_cast<uint32_t>(y.elements),
                                                .divisor = padding ? floatBits(window.elements) : 0},
                                       .spec = {.function = function, .row = row},
                                       .g = gRange,
                                       .indices = where,
                                       .y = builder.output()},
                     taskGroups(y.elements, row), builder.parameters(words), kLookup * y.elements * windows);
}

Status planAveragePoolingGrad(const Operation& op, PlanBuilder& builder) {
  using S = DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC;
  const KernelWindow window = kernelWindow(windowOf<S>(op));
  const BufferRange gradients = builder.input(0);
  return addPoolingGrad(builder, DML_OPERATOR_AVERAGE_POOLING_GRAD, window, op.input(0), gradients, {}, gradients,
                        op.as<S>().IncludePadding != 0);
}

// First finds the index of each window's maximum, then computes what each element gets from the windows that chose it.
Status planMaxPoolingGrad(const Operation& op, PlanBuilder& builder) {
  const Tensor& g = op.input(1);
  const KernelWindow window = kernelWindow(windowOf<DML_MAX_POOLING_GRAD_OPERATOR_DESC>(op));
  const Tensor indices = packedTensor(DML_TENSOR_DATA_TYPE_UINT32, g.sizeSpan());
  const uint64_t bytes = indices.elements * 4;
  TRY(builder.checkBindable(bytes, cat("InputGradientTensor has ", indices.elements, " elements"), "indices", 4));
  const BufferRange where = builder.allocateTemporary(bytes);
  TRY(addPooling(builder, {DML_OPERATOR_MAX_POOLING, window}, g, nullptr, indices, &where));
  return addPoolingGrad(builder, DML_OPERATOR_MAX_POOLING_GRAD, window, g, builder.input(1), indices, where, false);
}

Status planMaxUnpooling(const Operation& op, PlanBuilder& builder) {
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  Walk outputs = makeWalk(y.sizeSpan(), {&y});
  TRY(addFill(builder, y.type, outputs, {}, builder.output()));
  const Walk walk = makeWalk(x.sizeSpan(), {&x, &op.input(1)}).coalesce();
  outputs.coalesce();
  return builder.addItems(kernels::Unpool{.type = builder.sizedElement(x.type),
                                          .push = {.walk = walkWords(walk),
                                                   .outputs = static_cast<uint32_t>(y.elements),
                                                   .outputRank = outputs.rank,
                                                   .outputAt = walk.vectors(),
                                                   .indexKind = indexKind(op.input(1).type)},
                                          .x = builder.input(0),
                                          .indices = builder.input(1),
                                          .y = builder.output()},
                          x.elements, builder.parameters(walk, outputs), 1);
}

// The step from one channel's quantization to the next one's.
uint32_t channelStride(const Tensor& tensor) {
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (tensor.sizes[d] != 1) return tensor.strides[d];
  return 0;
}

Status planQuantizedAveragePooling(const Operation& op, PlanBuilder& builder) {
  using S = DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC;
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  const KernelWindow window = kernelWindow(windowOf<S>(op));
  std::vector<uint32_t> words = windowParameters(window, x, y, {});
  for (size_t i = 1; i < 5; ++i) words.push_back(channelStride(op.input(i)));
  const bool hasInputZero = op.input(2).present();
  const bool hasOutputZero = op.input(4).present();
  const bool row = wantsRow(y.elements, coveredElements(window, x));
  // The input stands for a zero point that is absent.
  return builder.add(
      kernels::QuantizedPool{.type = builder.typedElement(x.type),
                             .push = {.count = static_cast<uint32_t>(y.elements),
                                      .divisor = op.as<S>().IncludePadding ? floatBits(window.elements) : 0,
                                      .zeroPoints = (hasInputZero ? 1u : 0u) | (hasOutputZero ? 2u : 0u)},
                             .spec = {.row = row},
                             .x = builder.input(0),
                             .xScale = builder.input(1),
                             .xZero = builder.input(hasInputZero ? 2 : 0),
                             .yScale = builder.input(3),
                             .yZero = builder.input(hasOutputZero ? 4 : 0),
                             .y = builder.output()},
      taskGroups(y.elements, row), builder.parameters(words), kLookup * y.elements * coveredElements(window, x));
}

// ---- tables ---------------------------------------------------------------------------------------------------------

// `count` is the index of DimensionCount.
#define DIMPLE_POOL_WINDOW(count) \
  DIMPLE_UINT(DimensionCount), DIMPLE_UINT_ARRAY(count, Strides, WindowSize, StartPadding, EndPadding)
#define DIMPLE_DILATED_WINDOW(count) DIMPLE_POOL_WINDOW(count), DIMPLE_UINT_ARRAY(count, Dilations)
#define DIMPLE_IN_AND_INDICES DIMPLE_IN_AND_OUT, DIMPLE_OPTIONAL_OUTPUT(OutputIndicesTensor)

DIMPLE_FIELDS(kAveragePoolingFields, DIMPLE_IN_AND_OUT, DIMPLE_POOL_WINDOW(2), DIMPLE_BOOL(IncludePadding));
DIMPLE_FIELDS(kLpPoolingFields, DIMPLE_IN_AND_OUT, DIMPLE_POOL_WINDOW(2), DIMPLE_UINT(P));
DIMPLE_FIELDS(kMaxPoolingFields, DIMPLE_IN_AND_OUT, DIMPLE_POOL_WINDOW(2));
DIMPLE_FIELDS(kMaxPooling1Fields, DIMPLE_IN_AND_INDICES, DIMPLE_POOL_WINDOW(3));
DIMPLE_FIELDS(kMaxUnpoolingFields, DIMPLE_INPUT(InputTensor, IndicesTensor), DIMPLE_OUTPUT(OutputTensor));
DIMPLE_FIELDS(kMaxPooling2Fields, DIMPLE_IN_AND_INDICES, DIMPLE_DILATED_WINDOW(3));
DIMPLE_FIELDS(kAveragePoolingGradFields, DIMPLE_INPUT(InputGradientTensor), DIMPLE_OUTPUT(OutputGradientTensor),
              DIMPLE_POOL_WINDOW(2), DIMPLE_BOOL(IncludePadding));
DIMPLE_FIELDS(kMaxPoolingGradFields, DIMPLE_OF_GRADIENT, DIMPLE_DILATED_WINDOW(3));
DIMPLE_FIELDS(kLpPooling1Fields, DIMPLE_IN_AND_OUT, DIMPLE_DILATED_WINDOW(2), DIMPLE_UINT(P));
DIMPLE_FIELDS(kAveragePooling1Fields, DIMPLE_IN_AND_OUT, DIMPLE_DILATED_WINDOW(2), DIMPLE_BOOL(IncludePadding));
DIMPLE_FIELDS(kQuantizedPoolingFields, DIMPLE_QUANTIZED_INPUT(Input), DIMPLE_OUTPUT_QUANTIZATION,
              DIMPLE_OUTPUT(OutputTensor), DIMPLE_DILATED_WINDOW(6), DIMPLE_BOOL(IncludePadding));

constexpr TypeHistory kPoolingTypes{{k1_0, kFloats, 4, 5}};
template <DML_FEATURE_LEVEL since>
constexpr TypeHistory kMaxPoolingTypes{{since, kFloats, 4, 5}, {k3_0, kFloats | kInts8, 4, 5}, {k5_0, kNumbers, 4, 5}};
constexpr TypeHistory kUnpoolingTypes{{k3_0, kFloats, 4, 4}, {k5_0, kNumbers, 4, 4}};
constexpr TypeHistory kAverageGradTypes{{k3_0, kFloats, 4, 5}};
constexpr TypeHistory kMaxGradTypes{{k3_0, kFloats, 4, 4}, {k4_0, kFloats, 4, 5}};
constexpr TypeHistory kDilatedTypes{{k6_2, kFloats, 4, 5}};
constexpr TypeHistory kQuantizedTypes{{k6_2, kInts8, 4, 5}};
constexpr TypeHistory kPooledScaleTypes{{k6_2, kFloat32, 1, 5}};
constexpr TypeHistory kPooledZeroPointTypes{{k6_2, kInts8, 1, 5}};

template <DML_FEATURE_LEVEL since>
constexpr TensorRule kMaxPoolingIndicesRules[] = {
    {kMaxPoolingTypes<since>},
    {kMaxPoolingTypes<since>, sameTypeAndRank(0)},
    {{{since, kUInt32, 4, 5}, {k5_0, kUnsignedIndices, 4, 5}}, sameSizes(1)}};
constexpr TensorRule kUnpoolingRules[] = {{kUnpoolingTypes},
                                          {{{k3_0, kUInt32, 4, 4}, {k5_0, kUnsignedIndices, 4, 4}}, {-1, -1, 0}},
                                          {kUnpoolingTypes, sameType(0)}};
constexpr TensorRule kMaxGradRules[] = {{kMaxGradTypes}, {kMaxGradTypes, sameTypeAndRank(0)}, {kMaxGradTypes, like(0)}};
// The page allows the output another type, but DirectML 1.15.4 requires that of the input.
constexpr TensorRule kQuantizedPoolRules[] = {{kQuantizedTypes},
                                              {kPooledScaleTypes},
                                              {kPooledZeroPointTypes, {0, 1, 1}},
                                              {kPooledScaleTypes},
                                              {kPooledZeroPointTypes, {0, 3, 3}},
                                              {kQuantizedTypes, sameTypeAndRank(0)}};

constexpr OpSchema kPoolingSchemas[] = {
    DIMPLE_DESC_ROW(AVERAGE_POOLING, kAveragePoolingFields, kInAndOutRules<kPoolingTypes>, checkPooling, planPooling,
                    .numbersOnly = true),
    DIMPLE_DESC_ROW(LP_POOLING, kLpPoolingFields, kInAndOutRules<kPoolingTypes>, checkPooling, planPooling),
    DIMPLE_DESC_ROW(MAX_POOLING, kMaxPoolingFields, kInAndOutRules<kMaxPoolingTypes<k1_0>>, checkPooling, planPooling,
                    .numbersOnly = true),
    DIMPLE_DESC_ROW(MAX_POOLING1, kMaxPooling1Fields, kMaxPoolingIndicesRules<k2_0>, checkPooling, planPooling,
                    .numbersOnly = true),
    DIMPLE_ROW(MAX_UNPOOLING, kMaxUnpoolingFields, .rules = kUnpoolingRules, .plan = planMaxUnpooling),
    DIMPLE_DESC_ROW(MAX_POOLING2, kMaxPooling2Fields, kMaxPoolingIndicesRules<k2_1>, checkPooling, planPooling,
                    .numbersOnly = true),
    DIMPLE_ROW(AVERAGE_POOLING_GRAD, kAveragePoolingGradFields, .rules = kInAndOutRules<kAverageGradTypes>,
               .check = checkAveragePoolingGrad, .plan = planAveragePoolingGrad),
    DIMPLE_ROW(MAX_POOLING_GRAD, kMaxPoolingGradFields, .rules = kMaxGradRules, .check = checkMaxPoolingGrad,
               .plan = planMaxPoolingGrad),
    DIMPLE_DESC_ROW(LP_POOLING1, kLpPooling1Fields, kInAndOutRules<kDilatedTypes>, checkPooling, planPooling),
    DIMPLE_DESC_ROW(AVERAGE_POOLING1, kAveragePooling1Fields, kInAndOutRules<kDilatedTypes>, checkPooling, planPooling,
                    .numbersOnly = true),
    DIMPLE_ROW(QUANTIZED_LINEAR_AVERAGE_POOLING, kQuantizedPoolingFields, .rules = kQuantizedPoolRules,
               .check = checkQuantizedAveragePooling, .plan = planQuantizedAveragePooling),
};

}  // namespace

std::span<const OpSchema> poolingSchemas() { return kPoolingSchemas; }

}  // namespace dimple
