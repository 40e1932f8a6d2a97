// Regions of interest.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "core/schema/element_text.h"
#include "kernels/interfaces/roi_align.h"
#include "kernels/interfaces/roi_align_argmax.h"
#include "kernels/interfaces/roi_align_grad.h"
#include "kernels/interfaces/roi_align_grad_regions.h"
#include "kernels/interfaces/roi_pooling.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

// The last `sizes` of a tensor; those before them are 1. The tensor has at least as many dimensions.
Status checkTrailingSizes(std::string_view name, const Tensor& tensor, std::initializer_list<uint32_t> sizes) {
  std::array<uint32_t, kMaxRank> expected;
  expected.fill(1);
  std::ranges::copy(sizes, expected.begin() + static_cast<std::ptrdiff_t>(tensor.rank - sizes.size()));
  return checkSizes(name, tensor, std::span(expected).first(tensor.rank));
}

Status checkRoiPooling(const Operation& op) {
  const auto& desc = op.as<DML_ROI_POOLING_OPERATOR_DESC>();
  const Tensor& y = op.output();
  TRY(checkTrailingSizes("ROITensor", op.input(1), {y.sizes[0], 5}));
  const uint32_t expected[] = {y.sizes[0], op.input(0).sizes[1], desc.PooledSize.Height, desc.PooledSize.Width};
  return checkSizes("OutputTensor", y, expected);
}

// The attributes of the ROI_ALIGN operators. The first operator lacks some of these fields.
struct RoiSampling {
  DML_REDUCE_FUNCTION function;
  bool linear;
  FLOAT scaleX, scaleY;
  UINT minimumSamples, maximumSamples;
  FLOAT inputOffset = 0.5F;
  FLOAT outputOffset = -0.5F;
  FLOAT outside = 0;
  bool toCorners = false;

  bool isMaximum() const { return function == DML_REDUCE_FUNCTION_MAX; }
};

template <class S>
RoiSampling samplingOf(const Operation& op) {
  const auto& desc = op.as<S>();
  RoiSampling sampling{.function = desc.ReductionFunction,
                       .linear = desc.InterpolationMode == DML_INTERPOLATION_MODE_LINEAR,
                       .scaleX = desc.SpatialScaleX,
                       .scaleY = desc.SpatialScaleY,
                       .minimumSamples = desc.MinimumSamplesPerOutput,
                       .maximumSamples = desc.MaximumSamplesPerOutput};
  if constexpr (requires { desc.InputPixelOffset; }) {
    sampling.inputOffset = desc.InputPixelOffset;
    sampling.outputOffset = desc.OutputPixelOffset;
    sampling.toCorners = desc.AlignRegionsToCorners != 0;
  }
  if constexpr (requires { desc.OutOfBoundsInputValue; }) sampling.outside = desc.OutOfBoundsInputValue;
  return sampling;
}

// `cropped` is the tensor with one crop per region.
Status checkSampling(const RoiSampling& sampling, const Tensor& cropped, const Tensor& rois,
                     const Tensor& batchIndices) {
  if (sampling.function != DML_REDUCE_FUNCTION_AVERAGE && sampling.function != DML_REDUCE_FUNCTION_MAX)
    return invalid(
        cat("ReductionFunction has value (", kReduceFunctions.names[sampling.function], "), expected AVERAGE or MAX."));
  // DirectML takes NaN.
  for (const auto& [name, scale] : {std::pair{"SpatialScaleX", sampling.scaleX}, {"SpatialScaleY", sampling.scaleY}})
    if (scale < 0 || std::isinf(scale))
      return invalid(cat(name, " has value (", numberText(scale), "), expected a finite number of at least 0."));
  TRY(checkAtLeast("MinimumSamplesPerOutput", sampling.minimumSamples, 1));
  if (sampling.maximumSamples < sampling.minimumSamples)
    return invalid(cat("MaximumSamplesPerOutput has value (", sampling.maximumSamples,
                       "), expected at least MinimumSamplesPerOutput (", sampling.minimumSamples, ")."));
  TRY(checkTrailingSizes("ROITensor", rois, {cropped.sizes[0], 4}));
  return checkTrailingSizes("BatchIndicesTensor", batchIndices, {cropped.sizes[0]});
}

template <class S>
Status checkRoiAlign(const Operation& op) {
  TRY(checkSize("OutputTensor", op.output(), 1, op.input(0).sizes[1]));
  return checkSampling(samplingOf<S>(op), op.output(), op.input(1), op.input(2));
}

Status checkRoiAlignGrad(const Operation& op) {
  const RoiSampling sampling = samplingOf<DML_ROI_ALIGN_GRAD_OPERATOR_DESC>(op);
  const Tensor& x = op.input(0);
  const Tensor& gradient = op.input(1);
  const bool regions = op.output(1).present();
  if (!op.output(0).present() && !regions)
    return invalid("OutputGradientTensor is null, expected a tensor, since OutputROIGradientTensor is null too.");
  if (!x.present() && (regions || sampling.isMaximum()))
    return invalid(cat("InputTensor is null, expected a tensor for ",
                       regions ? "OutputROIGradientTensor" : "ReductionFunction MAX", "."));
  for (const Tensor* whole : {&x, &op.output(0)})
    if (whole->present()) TRY(checkSize("InputGradientTensor", gradient, 1, whole->sizes[1]));
  return checkSampling(sampling, gradient, op.input(2), op.input(3));
}

// ---- plans ----------------------------------------------------------------------------------------------------------

constexpr uint32_t kMaxSamples = 16384;  // kMostSamples of kernels/roi/align.glsl, of an axis
constexpr double kRegionElements = 256;  // that an output element may depend on, worth a workgroup

// Strides and sizes.
void append(std::vector<uint32_t>& words, const Tensor& tensor) {
  words.insert(words.end(), tensor.strides.begin(), tensor.strides.begin() + 4);
  words.insert(words.end(), tensor.sizes.begin(), tensor.sizes.begin() + 4);
}

void appendDivisors(std::vector<uint32_t>& words, const Tensor& tensor) {
  for (uint32_t d = 1; d < 4; ++d) appendDivisor(words, tensor.sizes[d]);
}

// Strides of a tensor's last two dimensions.
std::array<uint32_t, 2> lastStrides(const Tensor& tensor) {
  return {tensor.strides[tensor.rank - 2], tensor.strides[tensor.rank - 1]};
}

Status planRoiPooling(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<DML_ROI_POOLING_OPERATOR_DESC>();
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  std::vector<uint32_t> words;
  append(words, x);
  append(words, y);
  const auto regionStrides = lastStrides(op.input(1));
  words.insert(words.end(), {regionStrides[0], regionStrides[1], 0, 0});
  appendDivisors(words, y);
  const auto count = static_cast<uint32_t>(y.elements);
  const double elementsOfCrop =
      static_cast<double>(uint64_t{x.sizes[2]} * x.sizes[3]) / static_cast<double>(uint64_t{y.sizes[2]} * y.sizes[3]);
  const bool row = elementsOfCrop >= kRegionElements;
  return builder.add(kernels::RoiPooling{.type = builder.typedElement(x.type),
                                         .push = {.count = count, .scale = floatBits(desc.SpatialScale)},
                                         .spec = {.row = row},
                                         .x = builder.input(0),
                                         .regions = builder.input(1),
                                         .y = builder.output()},
                     taskGroups(count, row), builder.parameters(words),
                     kLookup * count * std::max(1.0, elementsOfCrop));
}

// The parameters of kernels/roi/align.glsl. `imageGradient` and `regionGradient` may be absent.
std::vector<uint32_t> alignParameters(const RoiSampling& sampling, const Tensor& image, const Tensor& crop,
                                      const Tensor& regions, const Tensor& batchIndices,
                                      const Tensor& imageGradient = {}, const Tensor& regionGradient = {}) {
  std::vector<uint32_t> words;
  append(words, image);
  append(words, crop);
  const auto regionStrides = lastStrides(regions);
  words.insert(words.end(),
               {regionStrides[0], regionStrides[1], batchIndices.strides[batchIndices.rank - 1],
                indexKind(batchIndices.type), floatBits(sampling.scaleX), floatBits(sampling.scaleY),
                floatBits(sampling.inputOffset), floatBits(sampling.outputOffset), floatBits(sampling.outside),
                sampling.minimumSamples, sampling.maximumSamples, sampling.toCorners});
  appendDivisors(words, crop);
  words.insert(words.end(), imageGradient.strides.begin(), imageGradient.strides.begin() + 4);
  const auto gradientStrides = regionGradient.present() ? lastStrides(regionGradient) : std::array<uint32_t, 2>{};
  words.insert(words.end(), {gradientStrides[0], gradientStrides[1], 0, 0});
  appendDivisors(words, image);
  return words;
}

// Returns the average number of samples that an element of a crop takes, for a region as large as the image.
double samplesOf(const RoiSampling& sampling, const Tensor& image, const Tensor& crop) {
  const auto perAxis = [&](uint32_t d) {
    const uint64_t pixels = std::min(divideUp(image.sizes[d], crop.sizes[d]), uint64_t{sampling.maximumSamples});
    return static_cast<double>(std::min<uint64_t>(std::max<uint64_t>(pixels, sampling.minimumSamples), kMaxSamples));
  };
  return perAxis(2) * perAxis(3);
}

// Kernels number the samples of an axis in 32 bits.
Status checkSampleNumbers(std::string_view name, const RoiSampling& sampling, const Tensor& crop) {
  const uint32_t most = UINT32_MAX / std::min(sampling.maximumSamples, kMaxSamples);
  for (uint32_t d = 2; d < 4; ++d)
    if (crop.sizes[d] > most)
      return Error{ErrorCode::Unsupported, cat(name, " has Sizes[", d, "] (", crop.sizes[d], "), expected at most ",
                                               most, " with MaximumSamplesPerOutput (", sampling.maximumSamples, ").")};
  return {};
}

// Each sample reads four elements.
Work workOf(const RoiSampling& sampling, const Tensor& image, const Tensor& crop) {
  return kLookup * 4 * crop.elements * samplesOf(sampling, image, crop);
}

// Whether an output element may take samples enough for a workgroup.
bool takesRow(const RoiSampling& sampling, const Tensor& image, const Tensor& crop) {
  return samplesOf(sampling, image, crop) >= kRegionElements;
}

template <class S>
Status planRoiAlign(const Operation& op, PlanBuilder& builder) {
  const RoiSampling sampling = samplingOf<S>(op);
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  TRY(checkSampleNumbers("OutputTensor", sampling, y));
  const auto parameters = builder.parameters(alignParameters(sampling, x, y, op.input(1), op.input(2)));
  const auto count = static_cast<uint32_t>(y.elements);
  const bool row = takesRow(sampling, x, y);
  return builder.add(kernels::RoiAlign{.type = builder.typedElement(x.type),
                                       .push = {.count = count},
                                       .spec = {.linear = sampling.linear, .maximum = sampling.isMaximum(), .row = row},
                                       .x = builder.input(0),
                                       .regions = builder.input(1),
                                       .indices = builder.input(2),
                                       .y = builder.output()},
                     taskGroups(count, row), parameters, workOf(sampling, x, y));
}

// The sample of each crop's elements that is its maximum.
Result<BufferRange> addMaxima(PlanBuilder& builder, const RoiSampling& sampling, const Tensor& image,
                              uint32_t parameters) {
  const Tensor& crop = builder.op().input(1);
  const uint64_t bytes = crop.elements * 4;
  TRY(builder.checkBindable(bytes, cat("InputGradientTensor needs ", bytes, " bytes for its samples")));
  const BufferRange samples = builder.allocateTemporary(bytes);
  const auto count = static_cast<uint32_t>(crop.elements);
  const bool row = takesRow(sampling, image, crop);
  TRY(builder.add(kernels::RoiAlignArgmax{.type = kernelType(crop.type),
                                          .push = {.count = count},
                                          .spec = {.linear = sampling.linear, .maximum = true, .row = row},
                                          .x = builder.input(0),
                                          .regions = builder.input(2),
                                          .indices = builder.input(3),
                                          .samples = samples},
                  taskGroups(count, row), parameters, workOf(sampling, image, crop)));
  return samples;
}

Status planRoiAlignGrad(const Operation& op, PlanBuilder& builder) {
  const RoiSampling sampling = samplingOf<DML_ROI_ALIGN_GRAD_OPERATOR_DESC>(op);
  const bool maximum = sampling.isMaximum();
  const Tensor& crop = op.input(1);
  TRY(checkSampleNumbers("InputGradientTensor", sampling, crop));
  const Tensor& regions = op.input(2);
  const Tensor& imageGradient = op.output(0);
  const Tensor& regionGradient = op.output(1);
  const Tensor& image = op.input(0).present() ? op.input(0) : imageGradient;
  const auto parameters =
      builder.parameters(alignParameters(sampling, image, crop, regions, op.input(3), imageGradient, regionGradient));

  // The sample of each output element that is its maximum got all of the gradient. The others need no such buffer, and
  // another one is bound in its place.
  BufferRange samples = builder.input(3);
  if (maximum) {
    auto maxima = addMaxima(builder, sampling, image, parameters);
    if (!maxima) return maxima.error();
    samples = *maxima;
  }
  if (imageGradient.present()) {
    constexpr uint32_t kRowRegions = 64;  // worth a workgroup
    const auto count = static_cast<uint32_t>(imageGradient.elements);
    const bool row = crop.sizes[0] >= kRowRegions;
    TRY(builder.add(kernels::RoiAlignGrad{.type = builder.typedElement(crop.type),
                                          .push = {.count = count},
                                          .spec = {.linear = sampling.linear, .maximum = maximum, .row = row},
                                          .gradient = builder.input(1),
                                          .regions = builder.input(2),
                                          .indices = builder.input(3),
                                          .samples = samples,
                                          .y = builder.output(0)},
                    taskGroups(count, row), parameters, workOf(sampling, image, crop)));
  }
  if (regionGradient.present()) {
    // The nearest neighbour does not vary with the place except where it jumps.
    const uint32_t elements = sampling.linear ? static_cast<uint32_t>(crop.elements / crop.sizes[0]) : 0;
    TRY(builder.add(kernels::RoiAlignGradRegions{.type = builder.typedElement(crop.type),
                                                 .push = {.elements = elements},
                                                 .spec = {.maximum = maximum},
                                                 .x = builder.input(0),
                                                 .gradient = builder.input(1),
                                                 .regions = builder.input(2),
                                                 .indices = builder.input(3),
                                                 .samples = samples,
                                                 .y = builder.output(1)},
                    crop.sizes[0], parameters, workOf(sampling, image, crop)));
  }
  return {};
}

// ---- tables ---------------------------------------------------------------------------------------------------------

DIMPLE_FIELDS(kRoiPoolingFields, DIMPLE_INPUT(InputTensor, ROITensor), DIMPLE_OUTPUT(OutputTensor),
              DIMPLE_FLOAT(SpatialScale), DIMPLE_ATTRIBUTE(Size2D, PooledSize));

#define DIMPLE_ROI_TENSORS DIMPLE_INPUT(InputTensor, ROITensor, BatchIndicesTensor), DIMPLE_OUTPUT(OutputTensor)
#define DIMPLE_ROI_SAMPLING                                                                              \
  DIMPLE_ENUM(ReductionFunction, kReduceFunctions), DIMPLE_ENUM(InterpolationMode, kInterpolationModes), \
      DIMPLE_FLOAT(SpatialScaleX, SpatialScaleY)
#define DIMPLE_ROI_SAMPLE_COUNTS DIMPLE_UINT(MinimumSamplesPerOutput, MaximumSamplesPerOutput)

DIMPLE_FIELDS(kRoiAlignFields, DIMPLE_ROI_TENSORS, DIMPLE_ROI_SAMPLING, DIMPLE_FLOAT(OutOfBoundsInputValue),
              DIMPLE_ROI_SAMPLE_COUNTS);
DIMPLE_FIELDS(kRoiAlign1Fields, DIMPLE_ROI_TENSORS, DIMPLE_ROI_SAMPLING,
              DIMPLE_FLOAT(InputPixelOffset, OutputPixelOffset, OutOfBoundsInputValue), DIMPLE_ROI_SAMPLE_COUNTS,
              DIMPLE_BOOL(AlignRegionsToCorners));
DIMPLE_FIELDS(kRoiAlignGradFields, DIMPLE_OPTIONAL_INPUT(InputTensor),
              DIMPLE_INPUT(InputGradientTensor, ROITensor, BatchIndicesTensor),
              DIMPLE_OPTIONAL_OUTPUT(OutputGradientTensor, OutputROIGradientTensor), DIMPLE_ROI_SAMPLING,
              DIMPLE_FLOAT(InputPixelOffset, OutputPixelOffset), DIMPLE_ROI_SAMPLE_COUNTS,
              DIMPLE_BOOL(AlignRegionsToCorners));

constexpr TypeHistory kRoiPoolingTypes{{k1_0, kFloats, 4, 4}};
constexpr TypeHistory kRoiAlignGradTypes{{k4_1, kFloats, 4, 4}};
constexpr TypeHistory kRoiAlignGradROITypes{{k4_1, kFloats, 2, 4}};

constexpr TensorRule kRoiPoolingRules[] = {
    {kRoiPoolingTypes}, {kRoiPoolingTypes, sameType(0)}, {kRoiPoolingTypes, sameType(0)}};
template <DML_FEATURE_LEVEL since>
constexpr TensorRule kRoiAlignRules[] = {{{{since, kFloats, 4, 4}}},
                                         {{{since, kFloats, 2, 4}}, sameType(0)},
                                         {{{since, kUInt32, 1, 4}, {k5_0, kUnsignedIndices, 1, 4}}},
                                         {{{since, kFloats, 4, 4}}, sameType(0)}};
constexpr TensorRule kRoiAlignGradRules[] = {
    {kRoiAlignGradTypes},      {kRoiAlignGradTypes, sameType(0)}, {kRoiAlignGradROITypes, sameType(1)},
    {{{k4_1, kUInt32, 1, 4}}}, {kRoiAlignGradTypes, {1, -1, 0}},  {kRoiAlignGradROITypes, like(2)}};

constexpr OpSchema kRoiSchemas[] = {
    DIMPLE_ROW(ROI_POOLING, kRoiPoolingFields, .rules = kRoiPoolingRules, .check = checkRoiPooling,
               .plan = planRoiPooling),
    DIMPLE_DESC_ROW(ROI_ALIGN, kRoiAlignFields, kRoiAlignRules<k3_0>, checkRoiAlign, planRoiAlign),
    DIMPLE_DESC_ROW(ROI_ALIGN1, kRoiAlign1Fields, kRoiAlignRules<k4_0>, checkRoiAlign, planRoiAlign),
    DIMPLE_ROW(ROI_ALIGN_GRAD, kRoiAlignGradFields, .rules = kRoiAlignGradRules, .check = checkRoiAlignGrad,
               .plan = planRoiAlignGrad),
};

}  // namespace

std::span<const OpSchema> roiSchemas() { return kRoiSchemas; }

}  // namespace dimple
