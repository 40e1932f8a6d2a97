// Resampling of images and its gradients.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/element_text.h"
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

Status checkUpsample(const OpView& view) {
  const DML_SIZE_2D scale = view.as<DML_UPSAMPLE_2D_OPERATOR_DESC>().ScaleSize;
  const Tensor& x = view.input(0);
  if (auto error = checkAtLeast("ScaleSize.Width", scale.Width, 1)) return error;
  if (auto error = checkAtLeast("ScaleSize.Height", scale.Height, 1)) return error;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const uint64_t factor = d + 1 == x.rank ? scale.Width : d + 2 == x.rank ? scale.Height : 1;
    if (auto error = checkSize("OutputTensor", view.output(), d, x.sizes[d] * factor)) return error;
  }
  return {};
}

// Sizes are free: an output that is not the scaled input is cropped, or repeats the input's edge. DirectML takes
// infinite scales.
Status checkScales(std::string_view countName, UINT count, const FLOAT* scales, const OpView& view) {
  if (count != view.input(0).rank)
    return invalid(cat(countName, " has value (", count, "), expected the DimensionCount of ", view.inputName(0), " (",
                       view.input(0).rank, ")."));
  for (UINT d = 0; d < count; ++d)
    if (!(scales[d] > 0))
      return invalid(cat("Scales[", d, "] has value (", numberText(scales[d]), "), expected more than 0."));
  return {};
}

Status checkResample(const OpView& view) {
  const auto& desc = view.as<DML_RESAMPLE_OPERATOR_DESC>();
  return checkScales("ScaleCount", desc.ScaleCount, desc.Scales, view);
}

template <class S>
Status checkResampleWithOffsets(const OpView& view) {
  const auto& desc = view.as<S>();
  return checkScales("DimensionCount", desc.DimensionCount, desc.Scales, view);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// What the operators have in common. The place of an output coordinate o in a dimension of the input is
// (o - outputOffset) / scale - inputOffset.
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

template <class S>
Resampling resamplingOf(const S& desc) {
  Resampling resampling;
  resampling.linear = desc.InterpolationMode == DML_INTERPOLATION_MODE_LINEAR;
  for (UINT d = 0; d < desc.DimensionCount; ++d)
    resampling.dimensions.push_back(
        {double{desc.Scales[d]}, double{desc.InputPixelOffsets[d]}, double{desc.OutputPixelOffsets[d]}});
  return resampling;
}

// The offsets of a gradient operator are named by its own input and output: InputPixelOffsets are those of
// InputGradientTensor, which is as large as the output of the operator that it is the gradient of.
template <class S>
Resampling gradientOf(const S& desc) {
  Resampling resampling = resamplingOf(desc);
  resampling.gradient = true;
  for (Resampling::Dimension& dimension : resampling.dimensions)
    std::swap(dimension.inputOffset, dimension.outputOffset);
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

// Within what fixedOf and floats take.
double bounded(double value) { return std::isnan(value) ? 0 : std::clamp(value, -0x1p60, 0x1p60); }

// A dimension whose places are not the coordinates themselves.
struct Axis {
  double step = 1;
  double start = 0;
  double stretch = 1;  // of the weights of linear interpolation
  uint32_t inputSize = 1, outputSize = 1;
  uint32_t inputStride = 0;
};

// The most input elements that an output element of a sum depends on.
double mostTerms(const Axis& axis, bool gradient) {
  if (!gradient) return std::min<double>(axis.inputSize, 2 * axis.stretch + 2);
  const double inner = 2 / axis.step + 2;
  const double before = (1 - axis.start) / axis.step + 1;
  const double behind = axis.inputSize - (axis.outputSize - 2.0 - axis.start) / axis.step;
  return std::clamp<double>(std::max({inner, before, behind}), 1, axis.inputSize);
}

constexpr uint32_t kCopied = 0xffffffff;

// Says of each dimension which of the axes it is, or kCopied. Axes are the innermost dimension's first in every layout,
// so that results are the same bits in all of them.
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

Result<Plan> planResampling(const OpView& view, const Caps& caps, const Resampling& resampling) {
  constexpr double kRowTerms = 128;  // worth a workgroup
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  std::vector<uint32_t> axisOf;
  const std::vector<Axis> axes = axesOf(resampling, x, y, axisOf);

  // Output dimensions, the one of the smallest stride first.
  std::vector<uint32_t> order(y.rank);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
    return y.strides[a] != y.strides[b] ? y.strides[a] < y.strides[b] : a > b;
  });
  std::vector<uint32_t> words;
  uint32_t rank = 0;
  for (const uint32_t d : order) {
    if (y.sizes[d] == 1 && axisOf[d] == kCopied) continue;
    appendDivisor(words, y.sizes[d]);
    words.insert(words.end(), {x.strides[d], y.strides[d], axisOf[d], 0});
    ++rank;
  }
  const auto axisAt = static_cast<uint32_t>(words.size() / 4);
  double terms = 1;
  bool stretched = false;
  for (const Axis& axis : axes) {
    const Fixed step = fixedOf(axis.step);
    const Fixed start = fixedOf(axis.start);
    words.insert(words.end(), {step.whole, step.fraction, step.rest, start.whole, start.fraction, floatBits(axis.step),
                               floatBits(axis.start), axis.inputSize, axis.inputStride, axis.outputSize,
                               floatBits(axis.stretch), floatBits(1 / axis.stretch)});
    terms *= mostTerms(axis, resampling.gradient);
    stretched = stretched || axis.stretch != 1;
  }
  const auto axisCount = static_cast<uint32_t>(axes.size());
  const uint32_t parameters = builder.parameters(words);
  const auto count = static_cast<uint32_t>(y.elements);
  const std::vector<uint32_t> push{count, rank, axisAt, resampling.roundUp};
  const std::vector<BufferRange> buffers{builder.input(0), builder.output()};
  Status error;
  if (resampling.gradient || stretched) {
    const uint32_t mode = !resampling.gradient ? 0 : resampling.linear ? 2 : 1;
    const bool row = terms >= kRowTerms;
    error = builder.add(typedKernel("resample_sum", x.type, caps), taskGroups(count, row), push, buffers, parameters,
                        {{0, mode}, {1, axisCount}, {2, row}});
  } else if (resampling.linear) {
    error = builder.addItems(typedKernel("resample_linear", x.type, caps), count, {count, rank, axisAt}, buffers,
                             parameters, {{0, axisCount}});
  } else {
    error = builder.addItems(sizedKernel("resample_nearest", x.type, caps), count, push, buffers, parameters,
                             {{0, axisCount}});
  }
  if (error) return *error;
  return builder.finish();
}

Result<Plan> planUpsample(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_UPSAMPLE_2D_OPERATOR_DESC>();
  Resampling resampling;
  resampling.linear = desc.InterpolationMode == DML_INTERPOLATION_MODE_LINEAR;
  resampling.dimensions.resize(view.input(0).rank);
  (resampling.dimensions.end() - 2)->scale = desc.ScaleSize.Height;
  resampling.dimensions.back().scale = desc.ScaleSize.Width;
  roundHalvesUp(resampling);
  return planResampling(view, caps, resampling);
}

Result<Plan> planResample(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_RESAMPLE_OPERATOR_DESC>();
  Resampling resampling;
  resampling.linear = desc.InterpolationMode == DML_INTERPOLATION_MODE_LINEAR;
  for (UINT d = 0; d < desc.ScaleCount; ++d) resampling.dimensions.push_back({double{desc.Scales[d]}});
  roundHalvesUp(resampling);
  return planResampling(view, caps, resampling);
}

Result<Plan> planResample1(const OpView& view, const Caps& caps) {
  Resampling resampling = resamplingOf(view.as<DML_RESAMPLE1_OPERATOR_DESC>());
  roundHalvesUp(resampling);
  return planResampling(view, caps, resampling);
}

template <class S>
Result<Plan> planResample2(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<S>();
  Resampling resampling = resamplingOf(desc);
  resampling.roundUp = desc.RoundingDirection == DML_AXIS_DIRECTION_INCREASING;
  if constexpr (requires { desc.Antialiased; }) resampling.antialiased = resampling.linear && desc.Antialiased;
  return planResampling(view, caps, resampling);
}

Result<Plan> planResampleGrad(const OpView& view, const Caps& caps) {
  Resampling resampling = gradientOf(view.as<DML_RESAMPLE_GRAD_OPERATOR_DESC>());
  roundHalvesUp(resampling);
  return planResampling(view, caps, resampling);
}

Result<Plan> planResampleGrad1(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_RESAMPLE_GRAD1_OPERATOR_DESC>();
  Resampling resampling = gradientOf(desc);
  resampling.roundUp = desc.RoundingDirection == DML_AXIS_DIRECTION_INCREASING;
  return planResampling(view, caps, resampling);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

// `count` is the index of DimensionCount.
#define DIMPLE_SCALES_WITH_OFFSETS(S, count)                                             \
  DIMPLE_ATTRIBUTE(S, DimensionCount, UInt), DIMPLE_ARRAY(S, Scales, FloatArray, count), \
      DIMPLE_ARRAY(S, InputPixelOffsets, FloatArray, count), DIMPLE_ARRAY(S, OutputPixelOffsets, FloatArray, count)
#define DIMPLE_ROUNDED_INTERPOLATION(S) \
  DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes), DIMPLE_ENUM(S, RoundingDirection, kAxisDirections)

template <class S>
constexpr Field kUpsample2DFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                       DIMPLE_ATTRIBUTE(S, ScaleSize, Size2D),
                                       DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes)};
template <class S>
constexpr Field kResampleFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                     DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                     DIMPLE_ATTRIBUTE(S, ScaleCount, UInt), DIMPLE_ARRAY(S, Scales, FloatArray, 3)};
template <class S>
constexpr Field kResample1Fields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                      DIMPLE_SCALES_WITH_OFFSETS(S, 3)};
template <class S>
constexpr Field kResampleGradFields[] = {DIMPLE_INPUT(S, InputGradientTensor), DIMPLE_OUTPUT(S, OutputGradientTensor),
                                         DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                         DIMPLE_SCALES_WITH_OFFSETS(S, 3)};
template <class S>
constexpr Field kResample2Fields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ROUNDED_INTERPOLATION(S), DIMPLE_SCALES_WITH_OFFSETS(S, 4)};
template <class S>
constexpr Field kResampleGrad1Fields[] = {DIMPLE_INPUT(S, InputGradientTensor), DIMPLE_OUTPUT(S, OutputGradientTensor),
                                          DIMPLE_ROUNDED_INTERPOLATION(S), DIMPLE_SCALES_WITH_OFFSETS(S, 4)};
template <class S>
constexpr Field kResample3Fields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ROUNDED_INTERPOLATION(S), DIMPLE_SCALES_WITH_OFFSETS(S, 4),
                                      DIMPLE_ATTRIBUTE(S, Antialiased, Bool)};

constexpr TypeHistory kUpsample2DTypes{{k1_0, kFloats, 4, 5}};
constexpr TypeHistory kResampleTypes{{k2_0, kFloats, 4, 4}, {k5_1, kFloats, 1, 4}, {k6_2, kFloats | kInts8, 1, 4}};
constexpr TypeHistory kResample1Types{{k2_1, kFloats, 4, 4}, {k5_1, kFloats, 1, 4}, {k6_2, kFloats | kInts8, 1, 4}};
constexpr TypeHistory kResampleGradTypes{{k3_0, kFloats, 4, 4}, {k5_1, kFloats, 1, 4}};
constexpr TypeHistory kResample2Types{{k5_1, kFloats, 1, 4}, {k6_2, kFloats | kInts8, 1, 4}};
constexpr TypeHistory kResampleGrad1Types{{k5_1, kFloats, 1, 4}};
constexpr TypeHistory kResample3Types{{k6_4, kFloats | kInts8, 1, 4}};

constexpr OpSchema kResampleSchemas[] = {
    DIMPLE_ROW(UPSAMPLE_2D, kUpsample2DFields, kInAndOutRules<kUpsample2DTypes>, false, false, checkUpsample,
               planUpsample),
    DIMPLE_ROW(RESAMPLE, kResampleFields, kInAndOutRules<kResampleTypes>, false, false, checkResample, planResample),
    DIMPLE_ROW(RESAMPLE1, kResample1Fields, kInAndOutRules<kResample1Types>, false, false,
               checkResampleWithOffsets<DML_RESAMPLE1_OPERATOR_DESC>, planResample1),
    DIMPLE_ROW(RESAMPLE_GRAD, kResampleGradFields, kInAndOutRules<kResampleGradTypes>, false, false,
               checkResampleWithOffsets<DML_RESAMPLE_GRAD_OPERATOR_DESC>, planResampleGrad),
    DIMPLE_ROW(RESAMPLE2, kResample2Fields, kInAndOutRules<kResample2Types>, false, false,
               checkResampleWithOffsets<DML_RESAMPLE2_OPERATOR_DESC>, planResample2<DML_RESAMPLE2_OPERATOR_DESC>),
    DIMPLE_ROW(RESAMPLE_GRAD1, kResampleGrad1Fields, kInAndOutRules<kResampleGrad1Types>, false, false,
               checkResampleWithOffsets<DML_RESAMPLE_GRAD1_OPERATOR_DESC>, planResampleGrad1),
    DIMPLE_ROW(RESAMPLE3, kResample3Fields, kInAndOutRules<kResample3Types>, false, false,
               checkResampleWithOffsets<DML_RESAMPLE3_OPERATOR_DESC>, planResample2<DML_RESAMPLE3_OPERATOR_DESC>),
};

}  // namespace

std::span<const OpSchema> resampleSchemas() { return kResampleSchemas; }

}  // namespace dimple
