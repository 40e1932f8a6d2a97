// Regions of interest.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "core/checked.h"
#include "core/element_text.h"
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

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

Status checkRoiPooling(const OpView& view) {
  const auto& desc = view.as<DML_ROI_POOLING_OPERATOR_DESC>();
  const Tensor& y = view.output();
  if (auto error = checkTrailingSizes("ROITensor", view.input(1), {y.sizes[0], 5})) return error;
  const uint32_t expected[] = {y.sizes[0], view.input(0).sizes[1], desc.PooledSize.Height, desc.PooledSize.Width};
  return checkSizes("OutputTensor", y, expected);
}

// What the ROI_ALIGN operators have in common.
struct RoiAlign {
  DML_REDUCE_FUNCTION function;
  FLOAT scaleX, scaleY;
  UINT minimumSamples, maximumSamples;
};

template <class S>
RoiAlign roiAlignOf(const OpView& view) {
  const auto& desc = view.as<S>();
  return {desc.ReductionFunction, desc.SpatialScaleX, desc.SpatialScaleY, desc.MinimumSamplesPerOutput,
          desc.MaximumSamplesPerOutput};
}

// `cropped` is the tensor of a crop a region.
Status checkRoiAlignment(const RoiAlign& align, const Tensor& cropped, const Tensor& rois, const Tensor& batchIndices) {
  if (align.function != DML_REDUCE_FUNCTION_AVERAGE && align.function != DML_REDUCE_FUNCTION_MAX)
    return invalid(
        cat("ReductionFunction has value (", kReduceFunctions.names[align.function], "), expected AVERAGE or MAX."));
  // DirectML takes NaN.
  if (align.scaleX < 0 || std::isinf(align.scaleX))
    return invalid(
        cat("SpatialScaleX has value (", numberText(align.scaleX), "), expected a finite number of at least 0."));
  if (align.scaleY < 0 || std::isinf(align.scaleY))
    return invalid(
        cat("SpatialScaleY has value (", numberText(align.scaleY), "), expected a finite number of at least 0."));
  if (auto error = checkAtLeast("MinimumSamplesPerOutput", align.minimumSamples, 1)) return error;
  if (align.maximumSamples < align.minimumSamples)
    return invalid(cat("MaximumSamplesPerOutput has value (", align.maximumSamples,
                       "), expected at least MinimumSamplesPerOutput (", align.minimumSamples, ")."));
  if (auto error = checkTrailingSizes("ROITensor", rois, {cropped.sizes[0], 4})) return error;
  return checkTrailingSizes("BatchIndicesTensor", batchIndices, {cropped.sizes[0]});
}

template <class S>
Status checkRoiAlign(const OpView& view) {
  if (auto error = checkSize("OutputTensor", view.output(), 1, view.input(0).sizes[1])) return error;
  return checkRoiAlignment(roiAlignOf<S>(view), view.output(), view.input(1), view.input(2));
}

Status checkRoiAlignGrad(const OpView& view) {
  const RoiAlign align = roiAlignOf<DML_ROI_ALIGN_GRAD_OPERATOR_DESC>(view);
  const Tensor& x = view.input(0);
  const Tensor& gradient = view.input(1);
  const bool regions = view.output(1).present();
  if (!view.output(0).present() && !regions)
    return invalid("OutputGradientTensor is null, expected a tensor, since OutputROIGradientTensor is null too.");
  if (!x.present() && (regions || align.function == DML_REDUCE_FUNCTION_MAX))
    return invalid(cat("InputTensor is null, expected a tensor for ",
                       regions ? "OutputROIGradientTensor" : "ReductionFunction MAX", "."));
  for (const Tensor* whole : {&x, &view.output(0)})
    if (whole->present())
      if (auto error = checkSize("InputGradientTensor", gradient, 1, whole->sizes[1])) return error;
  return checkRoiAlignment(align, gradient, view.input(2), view.input(3));
}

// ---- plans ----------------------------------------------------------------------------------------------------------

constexpr uint64_t kRegionElements = 256;  // that an output element may depend on, worth a workgroup

void append(std::vector<uint32_t>& words, const std::array<uint32_t, kMaxRank>& values) {
  words.insert(words.end(), values.begin(), values.begin() + 4);
}

void appendDivisors(std::vector<uint32_t>& words, const Tensor& tensor) {
  for (uint32_t d = 1; d < 4; ++d) appendDivisor(words, tensor.sizes[d]);
}

// Strides of a tensor's last two dimensions.
std::array<uint32_t, 2> lastStrides(const Tensor& tensor) {
  return {tensor.strides[tensor.rank - 2], tensor.strides[tensor.rank - 1]};
}

Result<Plan> planRoiPooling(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_ROI_POOLING_OPERATOR_DESC>();
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  std::vector<uint32_t> words;
  append(words, x.strides);
  append(words, x.sizes);
  append(words, y.strides);
  append(words, y.sizes);
  const auto regionStrides = lastStrides(view.input(1));
  words.insert(words.end(), {regionStrides[0], regionStrides[1], 0, 0});
  appendDivisors(words, y);
  const auto count = static_cast<uint32_t>(y.elements);
  const bool row = uint64_t{x.sizes[2]} * x.sizes[3] / (uint64_t{y.sizes[2]} * y.sizes[3]) >= kRegionElements;
  if (auto error = builder.add(
          typedKernel("roi_pooling", x.type, caps), taskGroups(count, row), {count, floatBits(desc.SpatialScale)},
          {builder.input(0), builder.input(1), builder.output()}, builder.parameters(words), {{0, row}}))
    return *error;
  return builder.finish();
}

// The attributes that ROI_ALIGN has no fields for.
struct RoiSampling {
  RoiAlign align;
  bool linear;
  FLOAT inputOffset = 0.5F;
  FLOAT outputOffset = -0.5F;
  FLOAT outside = 0;
  bool toCorners = false;
};

template <class S>
RoiSampling roiSamplingOf(const OpView& view) {
  const auto& desc = view.as<S>();
  RoiSampling sampling{roiAlignOf<S>(view), desc.InterpolationMode == DML_INTERPOLATION_MODE_LINEAR};
  if constexpr (requires { desc.InputPixelOffset; }) {
    sampling.inputOffset = desc.InputPixelOffset;
    sampling.outputOffset = desc.OutputPixelOffset;
    sampling.toCorners = desc.AlignRegionsToCorners != 0;
  }
  if constexpr (requires { desc.OutOfBoundsInputValue; }) sampling.outside = desc.OutOfBoundsInputValue;
  return sampling;
}

// The parameters of kernels/roi/align.glsl. `imageGradient` and `regionGradient` may be absent.
std::vector<uint32_t> alignParameters(const RoiSampling& sampling, const Tensor& image, const Tensor& crop,
                                      const Tensor& regions, const Tensor& batchIndices, const Tensor& imageGradient,
                                      const Tensor& regionGradient) {
  std::vector<uint32_t> words;
  append(words, image.strides);
  append(words, image.sizes);
  append(words, crop.strides);
  append(words, crop.sizes);
  const auto regionStrides = lastStrides(regions);
  words.insert(words.end(),
               {regionStrides[0], regionStrides[1], batchIndices.strides[batchIndices.rank - 1],
                indexKind(batchIndices.type), floatBits(sampling.align.scaleX), floatBits(sampling.align.scaleY),
                floatBits(sampling.inputOffset), floatBits(sampling.outputOffset), floatBits(sampling.outside),
                sampling.align.minimumSamples, sampling.align.maximumSamples, sampling.toCorners});
  appendDivisors(words, crop);
  append(words, imageGradient.strides);
  const auto gradientStrides = regionGradient.present() ? lastStrides(regionGradient) : std::array<uint32_t, 2>{};
  words.insert(words.end(), {gradientStrides[0], gradientStrides[1], 0, 0});
  appendDivisors(words, image);
  return words;
}

// Whether an output element may take samples enough for a workgroup.
bool takesRow(const RoiSampling& sampling, const Tensor& image, const Tensor& crop) {
  const auto perAxis = [&](uint32_t d) {
    const uint64_t pixels = std::min(divideUp(image.sizes[d], crop.sizes[d]), uint64_t{sampling.align.maximumSamples});
    return std::max(pixels, uint64_t{sampling.align.minimumSamples});
  };
  return perAxis(2) >= kRegionElements || perAxis(3) >= kRegionElements || perAxis(2) * perAxis(3) >= kRegionElements;
}

template <class S>
Result<Plan> planRoiAlign(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const RoiSampling sampling = roiSamplingOf<S>(view);
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  const auto parameters =
      builder.parameters(alignParameters(sampling, x, y, view.input(1), view.input(2), Tensor{}, Tensor{}));
  const auto count = static_cast<uint32_t>(y.elements);
  const bool row = takesRow(sampling, x, y);
  if (auto error =
          builder.add(typedKernel("roi_align", x.type, caps), taskGroups(count, row), {count},
                      {builder.input(0), builder.input(1), builder.input(2), builder.output()}, parameters,
                      {{0, sampling.linear}, {1, sampling.align.function == DML_REDUCE_FUNCTION_MAX}, {2, row}}))
    return *error;
  return builder.finish();
}

Result<Plan> planRoiAlignGrad(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const RoiSampling sampling = roiSamplingOf<DML_ROI_ALIGN_GRAD_OPERATOR_DESC>(view);
  const bool maximum = sampling.align.function == DML_REDUCE_FUNCTION_MAX;
  const Tensor& crop = view.input(1);
  const Tensor& regions = view.input(2);
  const Tensor& imageGradient = view.output(0);
  const Tensor& regionGradient = view.output(1);
  const Tensor& image = view.input(0).present() ? view.input(0) : imageGradient;
  const auto parameters =
      builder.parameters(alignParameters(sampling, image, crop, regions, view.input(3), imageGradient, regionGradient));

  // The sample of each output element that is its maximum got all of the gradient. Others need no such buffer; they are
  // bound another in its place.
  BufferRange samples = builder.input(3);
  if (maximum) {
    const uint64_t bytes = crop.elements * 4;
    if (bytes > caps.maxBufferRange)
      return Error{ErrorCode::Unsupported, cat("InputGradientTensor needs ", bytes,
                                               " bytes for its samples, but this "
                                               "device binds at most ",
                                               caps.maxBufferRange, " bytes to a kernel.")};
    samples = builder.allocateTemporary(bytes);
    const auto count = static_cast<uint32_t>(crop.elements);
    const bool row = takesRow(sampling, image, crop);
    if (auto error = builder.add(cat("roi_align_argmax.", shortTypeName(crop.type)), taskGroups(count, row), {count},
                                 {builder.input(0), builder.input(2), builder.input(3), samples}, parameters,
                                 {{0, sampling.linear}, {1, 1}, {2, row}}))
      return *error;
    samples.writes = false;
  }
  if (imageGradient.present()) {
    constexpr uint32_t kRowRegions = 64;  // worth a workgroup
    const auto count = static_cast<uint32_t>(imageGradient.elements);
    const bool row = crop.sizes[0] >= kRowRegions;
    if (auto error = builder.add(typedKernel("roi_align_grad", crop.type, caps), taskGroups(count, row), {count},
                                 {builder.input(1), builder.input(2), builder.input(3), samples, builder.output(0)},
                                 parameters, {{0, sampling.linear}, {1, maximum}, {2, row}}))
      return *error;
  }
  if (regionGradient.present()) {
    // Nearest neighbours do not change with a place, but where they jump.
    const uint32_t elements = sampling.linear ? static_cast<uint32_t>(crop.elements / crop.sizes[0]) : 0;
    if (auto error = builder.add(
            typedKernel("roi_align_grad_regions", crop.type, caps), crop.sizes[0], {elements},
            {builder.input(0), builder.input(1), builder.input(2), builder.input(3), samples, builder.output(1)},
            parameters, {{0, maximum}}))
      return *error;
  }
  return builder.finish();
}

// ---- tables ---------------------------------------------------------------------------------------------------------

template <class S>
constexpr Field kRoiPoolingFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, ROITensor),
                                       DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ATTRIBUTE(S, SpatialScale, Float),
                                       DIMPLE_ATTRIBUTE(S, PooledSize, Size2D)};

#define DIMPLE_ROI_SAMPLING(S)                                                                                 \
  DIMPLE_ENUM(S, ReductionFunction, kReduceFunctions), DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes), \
      DIMPLE_ATTRIBUTE(S, SpatialScaleX, Float), DIMPLE_ATTRIBUTE(S, SpatialScaleY, Float)
#define DIMPLE_ROI_OFFSETS(S) \
  DIMPLE_ATTRIBUTE(S, InputPixelOffset, Float), DIMPLE_ATTRIBUTE(S, OutputPixelOffset, Float)
#define DIMPLE_ROI_SAMPLE_COUNTS(S) \
  DIMPLE_ATTRIBUTE(S, MinimumSamplesPerOutput, UInt), DIMPLE_ATTRIBUTE(S, MaximumSamplesPerOutput, UInt)

template <class S>
constexpr Field kRoiAlignFields[] = {
    DIMPLE_INPUT(S, InputTensor),   DIMPLE_INPUT(S, ROITensor), DIMPLE_INPUT(S, BatchIndicesTensor),
    DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ROI_SAMPLING(S),     DIMPLE_ATTRIBUTE(S, OutOfBoundsInputValue, Float),
    DIMPLE_ROI_SAMPLE_COUNTS(S)};
template <class S>
constexpr Field kRoiAlign1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                      DIMPLE_INPUT(S, ROITensor),
                                      DIMPLE_INPUT(S, BatchIndicesTensor),
                                      DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ROI_SAMPLING(S),
                                      DIMPLE_ROI_OFFSETS(S),
                                      DIMPLE_ATTRIBUTE(S, OutOfBoundsInputValue, Float),
                                      DIMPLE_ROI_SAMPLE_COUNTS(S),
                                      DIMPLE_ATTRIBUTE(S, AlignRegionsToCorners, Bool)};
template <class S>
constexpr Field kRoiAlignGradFields[] = {DIMPLE_OPTIONAL_INPUT(S, InputTensor),
                                         DIMPLE_INPUT(S, InputGradientTensor),
                                         DIMPLE_INPUT(S, ROITensor),
                                         DIMPLE_INPUT(S, BatchIndicesTensor),
                                         DIMPLE_OPTIONAL_OUTPUT(S, OutputGradientTensor),
                                         DIMPLE_OPTIONAL_OUTPUT(S, OutputROIGradientTensor),
                                         DIMPLE_ROI_SAMPLING(S),
                                         DIMPLE_ROI_OFFSETS(S),
                                         DIMPLE_ROI_SAMPLE_COUNTS(S),
                                         DIMPLE_ATTRIBUTE(S, AlignRegionsToCorners, Bool)};

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
    DIMPLE_ROW(ROI_POOLING, kRoiPoolingFields, kRoiPoolingRules, false, false, checkRoiPooling, planRoiPooling),
    DIMPLE_ROW(ROI_ALIGN, kRoiAlignFields, kRoiAlignRules<k3_0>, false, false,
               checkRoiAlign<DML_ROI_ALIGN_OPERATOR_DESC>, planRoiAlign<DML_ROI_ALIGN_OPERATOR_DESC>),
    DIMPLE_ROW(ROI_ALIGN1, kRoiAlign1Fields, kRoiAlignRules<k4_0>, false, false,
               checkRoiAlign<DML_ROI_ALIGN1_OPERATOR_DESC>, planRoiAlign<DML_ROI_ALIGN1_OPERATOR_DESC>),
    DIMPLE_ROW(ROI_ALIGN_GRAD, kRoiAlignGradFields, kRoiAlignGradRules, false, false, checkRoiAlignGrad,
               planRoiAlignGrad),
};

}  // namespace

std::span<const OpSchema> roiSchemas() { return kRoiSchemas; }

}  // namespace dimple
