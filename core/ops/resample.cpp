// Resampling of images and its gradients.
#include "core/element_text.h"
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

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

// ---- tables ---------------------------------------------------------------------------------------------------------

template <class S>
constexpr Field kUpsample2DFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                       DIMPLE_ATTRIBUTE(S, ScaleSize, Size2D),
                                       DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes)};
template <class S>
constexpr Field kResampleFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                     DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                     DIMPLE_ATTRIBUTE(S, ScaleCount, UInt), DIMPLE_ARRAY(S, Scales, FloatArray, 3)};
template <class S>
constexpr Field kResample1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                      DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                      DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                      DIMPLE_ARRAY(S, Scales, FloatArray, 3),
                                      DIMPLE_ARRAY(S, InputPixelOffsets, FloatArray, 3),
                                      DIMPLE_ARRAY(S, OutputPixelOffsets, FloatArray, 3)};
template <class S>
constexpr Field kResampleGradFields[] = {DIMPLE_INPUT(S, InputGradientTensor),
                                         DIMPLE_OUTPUT(S, OutputGradientTensor),
                                         DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                         DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                         DIMPLE_ARRAY(S, Scales, FloatArray, 3),
                                         DIMPLE_ARRAY(S, InputPixelOffsets, FloatArray, 3),
                                         DIMPLE_ARRAY(S, OutputPixelOffsets, FloatArray, 3)};
template <class S>
constexpr Field kResample2Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                      DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                      DIMPLE_ENUM(S, RoundingDirection, kAxisDirections),
                                      DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                      DIMPLE_ARRAY(S, Scales, FloatArray, 4),
                                      DIMPLE_ARRAY(S, InputPixelOffsets, FloatArray, 4),
                                      DIMPLE_ARRAY(S, OutputPixelOffsets, FloatArray, 4)};
template <class S>
constexpr Field kResampleGrad1Fields[] = {DIMPLE_INPUT(S, InputGradientTensor),
                                          DIMPLE_OUTPUT(S, OutputGradientTensor),
                                          DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                          DIMPLE_ENUM(S, RoundingDirection, kAxisDirections),
                                          DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                          DIMPLE_ARRAY(S, Scales, FloatArray, 4),
                                          DIMPLE_ARRAY(S, InputPixelOffsets, FloatArray, 4),
                                          DIMPLE_ARRAY(S, OutputPixelOffsets, FloatArray, 4)};
template <class S>
constexpr Field kResample3Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                      DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ENUM(S, InterpolationMode, kInterpolationModes),
                                      DIMPLE_ENUM(S, RoundingDirection, kAxisDirections),
                                      DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                      DIMPLE_ARRAY(S, Scales, FloatArray, 4),
                                      DIMPLE_ARRAY(S, InputPixelOffsets, FloatArray, 4),
                                      DIMPLE_ARRAY(S, OutputPixelOffsets, FloatArray, 4),
                                      DIMPLE_ATTRIBUTE(S, Antialiased, Bool)};

constexpr TypeHistory kUpsample2DTypes{{k1_0, kFloats, 4, 5}};
constexpr TypeHistory kResampleTypes{{k2_0, kFloats, 4, 4}, {k5_1, kFloats, 1, 4}, {k6_2, kFloats | kInts8, 1, 4}};
constexpr TypeHistory kResample1Types{{k2_1, kFloats, 4, 4}, {k5_1, kFloats, 1, 4}, {k6_2, kFloats | kInts8, 1, 4}};
constexpr TypeHistory kResampleGradTypes{{k3_0, kFloats, 4, 4}, {k5_1, kFloats, 1, 4}};
constexpr TypeHistory kResample2Types{{k5_1, kFloats, 1, 4}, {k6_2, kFloats | kInts8, 1, 4}};
constexpr TypeHistory kResampleGrad1Types{{k5_1, kFloats, 1, 4}};
constexpr TypeHistory kResample3Types{{k6_4, kFloats | kInts8, 1, 4}};

constexpr TensorRule kUpsample2DRules[] = {{kUpsample2DTypes}, {kUpsample2DTypes, sameTypeAndRank(0)}};
constexpr TensorRule kResampleRules[] = {{kResampleTypes}, {kResampleTypes, sameTypeAndRank(0)}};
constexpr TensorRule kResample1Rules[] = {{kResample1Types}, {kResample1Types, sameTypeAndRank(0)}};
constexpr TensorRule kResampleGradRules[] = {{kResampleGradTypes}, {kResampleGradTypes, sameTypeAndRank(0)}};
constexpr TensorRule kResample2Rules[] = {{kResample2Types}, {kResample2Types, sameTypeAndRank(0)}};
constexpr TensorRule kResampleGrad1Rules[] = {{kResampleGrad1Types}, {kResampleGrad1Types, sameTypeAndRank(0)}};
constexpr TensorRule kResample3Rules[] = {{kResample3Types}, {kResample3Types, sameTypeAndRank(0)}};

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(UPSAMPLE_2D, kUpsample2DFields, kUpsample2DRules, false, false, checkUpsample, nullptr),
    DIMPLE_ROW(RESAMPLE, kResampleFields, kResampleRules, false, false, checkResample, nullptr),
    DIMPLE_ROW(RESAMPLE1, kResample1Fields, kResample1Rules, false, false,
               checkResampleWithOffsets<DML_RESAMPLE1_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(RESAMPLE_GRAD, kResampleGradFields, kResampleGradRules, false, false,
               checkResampleWithOffsets<DML_RESAMPLE_GRAD_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(RESAMPLE2, kResample2Fields, kResample2Rules, false, false,
               checkResampleWithOffsets<DML_RESAMPLE2_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(RESAMPLE_GRAD1, kResampleGrad1Fields, kResampleGrad1Rules, false, false,
               checkResampleWithOffsets<DML_RESAMPLE_GRAD1_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(RESAMPLE3, kResample3Fields, kResample3Rules, false, false,
               checkResampleWithOffsets<DML_RESAMPLE3_OPERATOR_DESC>, nullptr),
};

}  // namespace

std::span<const OpSchema> resampleSchemas() { return kSchemas; }

}  // namespace dimple
