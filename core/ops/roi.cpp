// Regions of interest.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "core/element_text.h"
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

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

// ---- tables ---------------------------------------------------------------------------------------------------------

template <class S>
constexpr Field kRoiPoolingFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, ROITensor),
                                       DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ATTRIBUTE(S, SpatialScale, Float),
                                       DIMPLE_ATTRIBUTE(S, PooledSize, Size2D)};
template <class S>
constexpr Field kRoiAlignFields[] = {DIMPLE_INPUT(S, InputTensor),
                                     DIMPLE_INPUT(S, ROITensor),
                                     DIMPLE_INPUT(S, BatchIndicesTensor),
                                     DIMPLE_OUTPUT(S, OutputTensor),
                                     DIMPLE_ENUM(S, ReductionFunction, kReduceFunctions),
                                     DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                     DIMPLE_ATTRIBUTE(S, SpatialScaleX, Float),
                                     DIMPLE_ATTRIBUTE(S, SpatialScaleY, Float),
                                     DIMPLE_ATTRIBUTE(S, OutOfBoundsInputValue, Float),
                                     DIMPLE_ATTRIBUTE(S, MinimumSamplesPerOutput, UInt),
                                     DIMPLE_ATTRIBUTE(S, MaximumSamplesPerOutput, UInt)};
template <class S>
constexpr Field kRoiAlign1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                      DIMPLE_INPUT(S, ROITensor),
                                      DIMPLE_INPUT(S, BatchIndicesTensor),
                                      DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ENUM(S, ReductionFunction, kReduceFunctions),
                                      DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                      DIMPLE_ATTRIBUTE(S, SpatialScaleX, Float),
                                      DIMPLE_ATTRIBUTE(S, SpatialScaleY, Float),
                                      DIMPLE_ATTRIBUTE(S, InputPixelOffset, Float),
                                      DIMPLE_ATTRIBUTE(S, OutputPixelOffset, Float),
                                      DIMPLE_ATTRIBUTE(S, OutOfBoundsInputValue, Float),
                                      DIMPLE_ATTRIBUTE(S, MinimumSamplesPerOutput, UInt),
                                      DIMPLE_ATTRIBUTE(S, MaximumSamplesPerOutput, UInt),
                                      DIMPLE_ATTRIBUTE(S, AlignRegionsToCorners, Bool)};
template <class S>
constexpr Field kRoiAlignGradFields[] = {DIMPLE_OPTIONAL_INPUT(S, InputTensor),
                                         DIMPLE_INPUT(S, InputGradientTensor),
                                         DIMPLE_INPUT(S, ROITensor),
                                         DIMPLE_INPUT(S, BatchIndicesTensor),
                                         DIMPLE_OPTIONAL_OUTPUT(S, OutputGradientTensor),
                                         DIMPLE_OPTIONAL_OUTPUT(S, OutputROIGradientTensor),
                                         DIMPLE_ENUM(S, ReductionFunction, kReduceFunctions),
                                         DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                         DIMPLE_ATTRIBUTE(S, SpatialScaleX, Float),
                                         DIMPLE_ATTRIBUTE(S, SpatialScaleY, Float),
                                         DIMPLE_ATTRIBUTE(S, InputPixelOffset, Float),
                                         DIMPLE_ATTRIBUTE(S, OutputPixelOffset, Float),
                                         DIMPLE_ATTRIBUTE(S, MinimumSamplesPerOutput, UInt),
                                         DIMPLE_ATTRIBUTE(S, MaximumSamplesPerOutput, UInt),
                                         DIMPLE_ATTRIBUTE(S, AlignRegionsToCorners, Bool)};

constexpr TypeHistory kRoiPoolingTypes{{k1_0, kFloats, 4, 4}};
constexpr TypeHistory kRoiAlignTypes{{k3_0, kFloats, 4, 4}};
constexpr TypeHistory kRoiAlign1Types{{k4_0, kFloats, 4, 4}};
constexpr TypeHistory kRoiAlignGradTypes{{k4_1, kFloats, 4, 4}};
constexpr TypeHistory kRoiAlignGradROITypes{{k4_1, kFloats, 2, 4}};

constexpr TensorRule kRoiPoolingRules[] = {
    {kRoiPoolingTypes}, {kRoiPoolingTypes, sameType(0)}, {kRoiPoolingTypes, sameType(0)}};
constexpr TensorRule kRoiAlignRules[] = {{kRoiAlignTypes},
                                         {{{k3_0, kFloats, 2, 4}}, sameType(0)},
                                         {{{k3_0, kUInt32, 1, 4}, {k5_0, kUnsignedIndices, 1, 4}}},
                                         {kRoiAlignTypes, sameType(0)}};
constexpr TensorRule kRoiAlign1Rules[] = {{kRoiAlign1Types},
                                          {{{k4_0, kFloats, 2, 4}}, sameType(0)},
                                          {{{k4_0, kUInt32, 1, 4}, {k5_0, kUnsignedIndices, 1, 4}}},
                                          {kRoiAlign1Types, sameType(0)}};
constexpr TensorRule kRoiAlignGradRules[] = {
    {kRoiAlignGradTypes},      {kRoiAlignGradTypes, sameType(0)}, {kRoiAlignGradROITypes, sameType(1)},
    {{{k4_1, kUInt32, 1, 4}}}, {kRoiAlignGradTypes, {1, -1, 0}},  {kRoiAlignGradROITypes, like(2)}};

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(ROI_POOLING, kRoiPoolingFields, kRoiPoolingRules, false, false, checkRoiPooling, nullptr),
    DIMPLE_ROW(ROI_ALIGN, kRoiAlignFields, kRoiAlignRules, false, false, checkRoiAlign<DML_ROI_ALIGN_OPERATOR_DESC>,
               nullptr),
    DIMPLE_ROW(ROI_ALIGN1, kRoiAlign1Fields, kRoiAlign1Rules, false, false, checkRoiAlign<DML_ROI_ALIGN1_OPERATOR_DESC>,
               nullptr),
    DIMPLE_ROW(ROI_ALIGN_GRAD, kRoiAlignGradFields, kRoiAlignGradRules, false, false, checkRoiAlignGrad, nullptr),
};

}  // namespace

std::span<const OpSchema> roiSchemas() { return kSchemas; }

}  // namespace dimple
