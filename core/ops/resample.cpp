// Resampling of images and its gradients.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/shared_kernels.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "core/schema/element_text.h"
#include "kernels/interfaces/resample_doubled.h"
#include "kernels/interfaces/resample_linear.h"
#include "kernels/interfaces/resample_lines.h"
#include "kernels/interfaces/resample_nearest.h"
#include "kernels/interfaces/resample_sum.h"
#include "kernels/interfaces/resample_table.h"
#include "kernels/interfaces/resample_weighted.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

Status checkUpsample(const Operation& op) {
  const DML_SIZE_2D scale = op.as<DML_UPSAMPLE_2D_OPERATOR_DESC>().ScaleSize;
  const Tensor& x = op.input(0);
  TRY(checkAtLeast("ScaleSize.Width", scale.Width, 1));
  TRY(checkAtLeast("ScaleSize.Height", scale.Height, 1));
  for (uint32_t d = 0; d < x.rank; ++d) {
    const uint64_t factor = d + 1 == x.rank ? scale.Width : d + 2 == x.rank ? scale.Height : 1;
    TRY(checkSize("OutputTensor", op.output(), d, x.sizes[d] * factor));
  }
  return {};
}

// Any sizes are allowed: an output that is not the scaled input is cropped, or repeats the input's edge. DirectML takes
// infinite scales.
Status checkScales(std::string_view countName, UINT count, const FLOAT* scales, const Operation& op) {
  if (count != op.input(0).rank)
    return invalid(cat(countName, " has value (", count, "), expected the DimensionCount of ", op.inputName(0), " (",
                       op.input(0).rank, ")."));
  for (UINT d = 0; d < count; ++d)
    if (!(scales[d] > 0))
      return invalid(cat("Scales[", d, "] has value (", numberText(scales[d]), "), expected more than 0."));
  return {};
}

template <class S>
Status checkResample(const Operation& op) {
  const auto& desc = op.as<S>();
  if constexpr (requires { desc.ScaleCount; })
    return checkScales("ScaleCount", desc.ScaleCount, desc.Scales, op);
  else
    return checkScales("DimensionCount", desc.DimensionCount, desc.Scales, op);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// The properties that the operators share. The place of an output coordinate o in a dimension of the input is (o -
// outputOffset) / scale - inputOffset.
struct Resampling {
  bool linear = false;
  bool roundUp = false;  // nearest neighbours: the place is rounded up, not down
  bool antialiased = false;
  bool gradient = false;
  struct Dimension {
    double scale = 1;
    double inputOffset = 0.5;
    double outputOffset = -0.5;
  };
  std::vector<Dimension> dimensions = {};
};

// Without a rounding direction, halves are rounded up.
void roundHalvesUp(Resampling& resampling) {
  if (resampling.linear) return;
  for (Resampling::Dimension& dimension : resampling.dimensions) dimension.inputOffset -= 0.5;
}

// The offsets of a gradient operator are named by its own input and output: InputPixelOffsets are those of
// InputGradientTensor, which is as large as the output of the operator that it is the gradient of.
template <class S>
Resampling resamplingOf(const Operation& op) {
  const auto& desc = op.as<S>();
  Resampling resampling{.linear = desc.InterpolationMode == DML_INTERPOLATION_MODE_LINEAR};
  resampling.gradient = requires { desc.InputGradientTensor; };
  for (const FLOAT scale : std::span(desc.Scales, op.input(0).rank)) resampling.dimensions.push_back({double{scale}});
  if constexpr (requires { desc.InputPixelOffsets; })
    for (UINT d = 0; d < desc.DimensionCount; ++d) {
      Resampling::Dimension& dimension = resampling.dimensions[d];
      dimension.inputOffset = double{desc.InputPixelOffsets[d]};
      dimension.outputOffset = double{desc.OutputPixelOffsets[d]};
      if (resampling.gradient) std::swap(dimension.inputOffset, dimension.outputOffset);
    }
  if constexpr (requires { desc.Antialiased; }) resampling.antialiased = resampling.linear && desc.Antialiased;
  if constexpr (requires { desc.RoundingDirection; })
    resampling.roundUp = desc.RoundingDirection == DML_AXIS_DIRECTION_INCREASING;
  else
    roundHalvesUp(resampling);
  return resampling;
}

// A number in fixed point, modulo 2^32.
struct Fixed {
  uint32_t whole, fraction, rest;
};

Fixed fixedOf(double value) {
  // A difference to the next whole number may be too small for a double.
  const double below = std::floor(value);
  const double whole = value - below < 1 ? below : below + 1;
  const double scaled = std::max(0.0, value - whole) * 0x1p32;
  const auto fraction = static_cast<uint32_t>(scaled);
  return {static_cast<uint32_t>(static_cast<int64_t>(whole)), fraction,
          static_cast<uint32_t>((scaled - fraction) * 0x1p32)};
}

// The number stays within the range of fixedOf and of floats.
double bounded(double value) { return std::isnan(value) ? 0 : std::clamp(value, -0x1p60, 0x1p60); }

// A dimension whose places are not the coordinates themselves.
struct Axis {
  double step = 1;
  double start = 0;
  double stretch = 1;  // of the weights of linear interpolation
  uint32_t inputSize = 1, outputSize = 1;
  uint32_t inputStride = 0;
};

// The most input elements that an output element of a sum depends on. The only element of a gradient is at both edges,
// which everything beyond them belongs to.
double maxTerms(const Axis& axis, bool gradient) {
  if (gradient && axis.outputSize == 1) return axis.inputSize;
  if (!gradient) return std::min<double>(axis.inputSize, 2 * axis.stretch + 2);
  const double inner = 2 / axis.step + 2;
  const double before = (1 - axis.start) / axis.step + 1;
  const double behind = axis.inputSize - (axis.outputSize - 2.0 - axis.start) / axis.step;
  return std::clamp<double>(std::max({inner, before, behind}), 1, axis.inputSize);
}

constexpr uint32_t kCopied = 0xffffffff;

// Says of each dimension which of the axes it is, or kCopied. Axes are the innermost dimension's first in every layout.
std::vector<Axis> axesOf(const Resampling& resampling, const Tensor& x, const Tensor& y,
                         std::vector<uint32_t>& axisOf) {
  std::vector<Axis> axes;
  axisOf.assign(y.rank, kCopied);
  for (uint32_t d = y.rank; d-- > 0;) {
    const Resampling::Dimension& dimension = resampling.dimensions[d];
    Axis axis;
    axis.step = bounded(1 / dimension.scale);
    axis.start = bounded(-dimension.outputOffset * axis.step - dimension.inputOffset);
    axis.inputSize = x.sizes[d];
    axis.outputSize = y.sizes[d];
    axis.inputStride = x.strides[d];
    if (resampling.antialiased && dimension.scale < 0.5) axis.stretch = axis.step;
    const bool sameSizes = resampling.gradient ? x.sizes[d] == y.sizes[d] : x.sizes[d] >= y.sizes[d];
    const bool samePlaces = resampling.linear    ? axis.start == 0
                            : resampling.roundUp ? axis.start > -1 && axis.start <= 0
                                                 : axis.start >= 0 && axis.start <= 0.5;
    if (sameSizes && axis.step == 1 && samePlaces) continue;
    axisOf[d] = static_cast<uint32_t>(axes.size());
    axes.push_back(axis);
  }
  return axes;
}

// The parameters of kernels/resample/*.glsl, and those of them that go into push words.
struct Places {
  std::vector<uint32_t> words;
  uint32_t rank = 0;
  uint32_t axisAt = 0;
};

// Along a copied dimension, an invocation may take several planes, which have the same places.
struct Planes {
  uint32_t count = 1;
  uint32_t dimension = 0;
};

// Takes `most` planes along the largest stride, or half of them and so on down to four, if that leaves enough
// invocations.
Planes planesOf(const Target& target, const Tensor& y, std::span<const uint32_t> axisOf, uint32_t number,
                uint32_t most) {
  constexpr uint32_t kLeast = 4;
  for (uint32_t count = most; count >= kLeast; count /= 2) {
    Planes planes;
    for (uint32_t d = 0; d < y.rank; ++d) {
      if (axisOf[d] != kCopied || y.sizes[d] % count != 0) continue;
      if (planes.count == 1 || y.strides[d] > y.strides[planes.dimension]) planes = {count, d};
    }
    if (planes.count != 1 && areManyRuns(target, y.elements / count, number)) return planes;
  }
  return {};
}

// Output dimensions, the one of the smallest stride first, and then the axes. Of an output in vectors of `number`
// elements, its strides and the size of the first dimension are counted in vectors.
Places placesOf(const Tensor& x, const Tensor& y, std::span<const Axis> axes, std::span<const uint32_t> axisOf,
                uint32_t number = 1, const Planes& planes = {}) {
  std::vector<uint32_t> order(y.rank);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
    return y.strides[a] != y.strides[b] ? y.strides[a] < y.strides[b] : a > b;
  });
  Places places;
  std::vector<uint32_t>& words = places.words;
  for (const uint32_t d : order) {
    if (y.sizes[d] == 1 && axisOf[d] == kCopied) continue;
    const bool isFirst = places.rank == 0;
    const uint32_t together = d == planes.dimension ? planes.count : 1;
    appendDivisor(words, y.sizes[d] / (isFirst ? number * together : together));
    words.insert(words.end(),
                 {x.strides[d] * together, (isFirst ? y.strides[d] : y.strides[d] / number) * together, axisOf[d], 0});
    ++places.rank;
  }
  places.axisAt = static_cast<uint32_t>(words.size() / 4);
  for (const Axis& axis : axes) {
    const Fixed step = fixedOf(axis.step);
    const Fixed start = fixedOf(axis.start);
    words.insert(words.end(), {step.whole, step.fraction, step.rest, start.whole, start.fraction, floatBits(axis.step),
                               floatBits(axis.start), axis.inputSize, axis.inputStride, axis.outputSize,
                               floatBits(axis.stretch), floatBits(1 / axis.stretch)});
  }
  return places;
}

// Returns why kernels of lines in vectors cannot compute an output.
const char* refusalOfLines(const Resampling& resampling, const Tensor& y, std::span<const Axis> axes,
                           std::span<const uint32_t> axisOf) {
  const uint32_t number = vectorElements(y.type);
  const uint32_t last = y.rank - 1;
  if (axisOf[last] != 0) return "It resamples only lines.";
  if (resampling.linear && axes.size() > 2) return "It averages along at most two axes.";
  if (y.strides[last] != 1 || y.sizes[last] % number != 0) return "Its lines are not in vectors.";
  for (uint32_t d = 0; d < last; ++d) {
    const bool isListed = y.sizes[d] != 1 || axisOf[d] != kCopied;
    if (isListed && (y.strides[d] == 0 || y.strides[d] % number != 0)) return "Its lines are not in vectors.";
  }
  return nullptr;
}

Status addDoubled(PlanBuilder& builder, const Resampling& resampling, const Places& places, uint32_t axes,
                  const Planes& planes) {
  const Tensor& y = builder.op().output();
  const uint32_t number = vectorElements(y.type);
  const auto count = static_cast<uint32_t>(y.elements / number / planes.count);
  return builder.addItems(
      kernels::ResampleDoubled{
          .type = builder.typedElement(y.type),
          .push = {.count = count,
                   .rank = places.rank,
                   .axisAt = places.axisAt,
                   .roundUp = resampling.roundUp,
                   .planes = planes.count,
                   .inputStep = builder.op().input(0).strides[planes.dimension],
                   .outputStep = y.strides[planes.dimension] / number},
          .spec = {.linear = resampling.linear, .axes = axes, .rank = constantOnGpus(builder.target(), places.rank)},
          .x = builder.input(0),
          .y = builder.output()},
      count, builder.parameters(places.words), kLookup * number * planes.count);
}

Status addLines(PlanBuilder& builder, const Places& places, uint32_t axes) {
  const Tensor& y = builder.op().output();
  const uint32_t number = vectorElements(y.type);
  const auto count = static_cast<uint32_t>(y.elements / number);
  return builder.addItems(
      kernels::ResampleLines{.type = builder.typedElement(y.type),
                             .push = {.count = count, .rank = places.rank, .axisAt = places.axisAt},
                             .spec = {.axes = axes, .rank = constantOnGpus(builder.target(), places.rank)},
                             .x = builder.input(0),
                             .y = builder.output()},
      count, builder.parameters(places.words), kLookup * number);
}

// The number of words that the weights of a gradient's coordinate take along an axis.
uint64_t weightsPitch(const Axis& axis) { return static_cast<uint64_t>(maxTerms(axis, true)) + 4; }

// Why a gradient is not summed with weights of a table (kernels/resample/resample_weighted.comp).
const char* refusalOfWeighted(const Tensor& y, std::span<const Axis> axes) {
  constexpr uint64_t kMostTerms = 64;
  if (axes.empty() || axes.size() > 2) return "It sums along only one or two axes.";
  double terms = 1;
  uint64_t words = 0;
  for (const Axis& axis : axes) {
    terms *= maxTerms(axis, true);
    words += axis.outputSize * weightsPitch(axis);
  }
  if (terms > kMostTerms) return "Its sums are long.";
  return words > y.elements / 4 ? "It has many weights for its elements." : nullptr;
}

// A table of the weights of all coordinates on each axis, and sums with them.
Status addWeighted(PlanBuilder& builder, const Resampling& resampling, std::span<const Axis> axes,
                   std::span<const uint32_t> axisOf) {
  constexpr uint32_t kMostPlanes = 8;  // as in kernels/resample/resample_weighted.comp
  const Tensor& x = builder.op().input(0);
  const Tensor& y = builder.op().output();
  const Planes planes = planesOf(builder.target(), y, axisOf, 1, kMostPlanes);
  const Places places = placesOf(x, y, axes, axisOf, 1, planes);
  const auto count = static_cast<uint32_t>(y.elements / planes.count);
  std::array<uint32_t, 2> pitch{};
  std::array<uint32_t, 2> first{};
  uint32_t words = 0;
  for (size_t a = 0; a < axes.size(); ++a) {
    pitch[a] = static_cast<uint32_t>(weightsPitch(axes[a]));
    first[a] = words;
    words += axes[a].outputSize * pitch[a];
  }
  const BufferRange weights = builder.allocateTemporary(uint64_t{words} * 4);
  for (size_t a = 0; a < axes.size(); ++a) {
    const auto at = places.words.begin() + static_cast<std::ptrdiff_t>(4 * (places.axisAt + 3 * a));
    if (a != 0) builder.continueLast();
    TRY(builder.addItems(
        kernels::ResampleTable{
            .type = KernelType::F32,
            .push = {.count = axes[a].outputSize, .first = first[a], .pitch = pitch[a], .roundUp = resampling.roundUp},
            .spec = {.mode = resampling.linear ? 2u : 1u},
            .weights = weights},
        axes[a].outputSize, builder.parameters({at, at + 12}), kLookup * pitch[a]));
  }
  return builder.addItems(kernels::ResampleWeighted{.type = builder.typedElement(x.type),
                                                    .push = {.count = count,
                                                             .rank = places.rank,
                                                             .pitch0 = pitch[0],
                                                             .pitch1 = pitch[1],
                                                             .first1 = first[1],
                                                             .inputStep0 = axes[0].inputStride,
                                                             .inputStep1 = axes.back().inputStride,
                                                             .inputPlane = x.strides[planes.dimension],
                                                             .outputPlane = y.strides[planes.dimension]},
                                                    .spec = {.axes = static_cast<uint32_t>(axes.size()),
                                                             .rank = constantOnGpus(builder.target(), places.rank),
                                                             .planes = planes.count},
                                                    .x = builder.input(0),
                                                    .weights = weights,
                                                    .y = builder.output()},
                          count, builder.parameters(places.words),
                          kLookup * (pitch[0] * std::max(pitch[1], 1u)) * planes.count);
}

// Adds a kernel of lines in vectors where one computes the output, and says whether one does.
Result<bool> addInVectors(PlanBuilder& builder, const Resampling& resampling, std::span<const Axis> axes,
                          std::span<const uint32_t> axisOf) {
  const Tensor& x = builder.op().input(0);
  const Tensor& y = builder.op().output();
  const uint32_t number = vectorElements(x.type);
  const char* refusal = refusalOfLines(resampling, y, axes, axisOf);
  const bool doubles = !axes.empty() && axes[0].step == 0.5;
  const bool averages = resampling.linear && bitWidth(x.type) <= 32 && (isFloat(x.type) || bitWidth(x.type) == 8) &&
                        areManyRuns(builder.target(), y.elements, number);
  if (refusal || (!doubles && !averages)) {
    builder.passOver({"resample_doubled", refusal ? refusal : "It doubles only lines."});
    builder.passOver({"resample_lines", refusal ? refusal : "It takes only averages of many floats or bytes."});
    return false;
  }
  const Planes planes = doubles ? planesOf(builder.target(), y, axisOf, number, 4) : Planes{};
  const Places vectors = placesOf(x, y, axes, axisOf, number, planes);
  const auto axisCount = static_cast<uint32_t>(axes.size());
  TRY(doubles ? addDoubled(builder, resampling, vectors, axisCount, planes) : addLines(builder, vectors, axisCount));
  return true;
}

Status planResampling(const Operation& op, PlanBuilder& builder, const Resampling& resampling) {
  constexpr double kRowTerms = 128;  // worth a workgroup
  const Tensor& x = op.input(0);
  std::vector<uint32_t> axisOf;
  const std::vector<Axis> axes = axesOf(resampling, x, op.output(), axisOf);
  const auto axisCount = static_cast<uint32_t>(axes.size());
  const bool stretched = std::ranges::any_of(axes, [](const Axis& axis) { return axis.stretch != 1; });
  if (!resampling.gradient && !stretched) {
    const auto inVectors = addInVectors(builder, resampling, axes, axisOf);
    if (!inVectors) return inVectors.error();
    if (*inVectors) return {};
  }
  if (resampling.gradient) {
    const char* refusal = refusalOfWeighted(op.output(), axes);
    if (!refusal) return addWeighted(builder, resampling, axes, axisOf);
    builder.passOver({"resample_weighted", refusal});
  }
  const Places places = placesOf(x, op.output(), axes, axisOf);
  const uint32_t parameters = builder.parameters(places.words);
  const auto count = static_cast<uint32_t>(op.output().elements);
  if (resampling.gradient || stretched) {
    double terms = 1;
    for (const Axis& axis : axes) terms *= maxTerms(axis, resampling.gradient);
    const uint32_t mode = !resampling.gradient ? 0 : resampling.linear ? 2 : 1;
    const bool row = terms >= kRowTerms;
    TRY(builder.add(
        kernels::ResampleSum{
            .type = builder.typedElement(x.type),
            .push = {.count = count, .rank = places.rank, .axisAt = places.axisAt, .roundUp = resampling.roundUp},
            .spec = {.mode = mode, .axes = axisCount, .row = row},
            .x = builder.input(0),
            .y = builder.output()},
        taskGroups(count, row), parameters, kLookup * count * terms));
  } else if (resampling.linear) {
    TRY(builder.addItems(kernels::ResampleLinear{.type = builder.typedElement(x.type),
                                                 .push = {.count = count, .rank = places.rank, .axisAt = places.axisAt},
                                                 .spec = {.axes = axisCount},
                                                 .x = builder.input(0),
                                                 .y = builder.output()},
                         count, parameters, kLookup * (1u << axisCount)));
  } else {
    TRY(builder.addItems(
        kernels::ResampleNearest{
            .type = builder.sizedElement(x.type),
            .push = {.count = count, .rank = places.rank, .axisAt = places.axisAt, .roundUp = resampling.roundUp},
            .spec = {.axes = axisCount},
            .x = builder.input(0),
            .y = builder.output()},
        count, parameters, 1));
  }
  return {};
}

Status planUpsample(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<DML_UPSAMPLE_2D_OPERATOR_DESC>();
  Resampling resampling{.linear = desc.InterpolationMode == DML_INTERPOLATION_MODE_LINEAR};
  resampling.dimensions.resize(op.input(0).rank);
  (resampling.dimensions.end() - 2)->scale = desc.ScaleSize.Height;
  resampling.dimensions.back().scale = desc.ScaleSize.Width;
  roundHalvesUp(resampling);
  return planResampling(op, builder, resampling);
}

template <class S>
Status planResample(const Operation& op, PlanBuilder& builder) {
  return planResampling(op, builder, resamplingOf<S>(op));
}

// ---- tables ---------------------------------------------------------------------------------------------------------

// `count` is the index of DimensionCount.
#define DIMPLE_SCALES_WITH_OFFSETS(count) \
  DIMPLE_UINT(DimensionCount), DIMPLE_FLOAT_ARRAY(count, Scales, InputPixelOffsets, OutputPixelOffsets)
#define DIMPLE_ROUNDED_INTERPOLATION \
  DIMPLE_ENUM(InterpolationMode, kInterpolationModes), DIMPLE_ENUM(RoundingDirection, kAxisDirections)

#define DIMPLE_GRADIENTS DIMPLE_INPUT(InputGradientTensor), DIMPLE_OUTPUT(OutputGradientTensor)
#define DIMPLE_INTERPOLATION DIMPLE_ENUM(InterpolationMode, kInterpolationModes)

DIMPLE_FIELDS(kUpsample2DFields, DIMPLE_IN_AND_OUT, DIMPLE_ATTRIBUTE(Size2D, ScaleSize), DIMPLE_INTERPOLATION);
DIMPLE_FIELDS(kResampleFields, DIMPLE_IN_AND_OUT, DIMPLE_INTERPOLATION, DIMPLE_UINT(ScaleCount),
              DIMPLE_FLOAT_ARRAY(3, Scales));
DIMPLE_FIELDS(kResample1Fields, DIMPLE_IN_AND_OUT, DIMPLE_INTERPOLATION, DIMPLE_SCALES_WITH_OFFSETS(3));
DIMPLE_FIELDS(kResampleGradFields, DIMPLE_GRADIENTS, DIMPLE_INTERPOLATION, DIMPLE_SCALES_WITH_OFFSETS(3));
DIMPLE_FIELDS(kResample2Fields, DIMPLE_IN_AND_OUT, DIMPLE_ROUNDED_INTERPOLATION, DIMPLE_SCALES_WITH_OFFSETS(4));
DIMPLE_FIELDS(kResampleGrad1Fields, DIMPLE_GRADIENTS, DIMPLE_ROUNDED_INTERPOLATION, DIMPLE_SCALES_WITH_OFFSETS(4));
DIMPLE_FIELDS(kResample3Fields, DIMPLE_IN_AND_OUT, DIMPLE_ROUNDED_INTERPOLATION, DIMPLE_SCALES_WITH_OFFSETS(4),
              DIMPLE_BOOL(Antialiased));

constexpr TypeHistory kUpsample2DTypes{{k1_0, kFloats, 4, 5}};
constexpr TypeHistory kResampleTypes{{k2_0, kFloats, 4, 4}, {k5_1, kFloats, 1, 4}, {k6_2, kFloats | kInts8, 1, 4}};
constexpr TypeHistory kResample1Types{{k2_1, kFloats, 4, 4}, {k5_1, kFloats, 1, 4}, {k6_2, kFloats | kInts8, 1, 4}};
constexpr TypeHistory kResampleGradTypes{{k3_0, kFloats, 4, 4}, {k5_1, kFloats, 1, 4}};
constexpr TypeHistory kResample2Types{{k5_1, kFloats, 1, 4}, {k6_2, kFloats | kInts8, 1, 4}};
constexpr TypeHistory kResampleGrad1Types{{k5_1, kFloats, 1, 4}};
constexpr TypeHistory kResample3Types{{k6_4, kFloats | kInts8, 1, 4}};

constexpr OpSchema kResampleSchemas[] = {
    DIMPLE_ROW(UPSAMPLE_2D, kUpsample2DFields, .rules = kInAndOutRules<kUpsample2DTypes>, .check = checkUpsample,
               .plan = planUpsample),
    DIMPLE_DESC_ROW(RESAMPLE, kResampleFields, kInAndOutRules<kResampleTypes>, checkResample, planResample),
    DIMPLE_DESC_ROW(RESAMPLE1, kResample1Fields, kInAndOutRules<kResample1Types>, checkResample, planResample),
    DIMPLE_DESC_ROW(RESAMPLE_GRAD, kResampleGradFields, kInAndOutRules<kResampleGradTypes>, checkResample,
                    planResample),
    DIMPLE_DESC_ROW(RESAMPLE2, kResample2Fields, kInAndOutRules<kResample2Types>, checkResample, planResample),
    DIMPLE_DESC_ROW(RESAMPLE_GRAD1, kResampleGrad1Fields, kInAndOutRules<kResampleGrad1Types>, checkResample,
                    planResample),
    DIMPLE_DESC_ROW(RESAMPLE3, kResample3Fields, kInAndOutRules<kResample3Types>, checkResample, planResample),
};

}  // namespace

std::span<const OpSchema> resampleSchemas() { return kResampleSchemas; }

}  // namespace dimple
