// Pooling, its inverse and its gradients.
#include <algorithm>

#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/sliding_window.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

template <class S>
SlidingWindow windowOf(const OpView& view) {
  const auto& desc = view.as<S>();
  const UINT* dilations = nullptr;
  if constexpr (requires { desc.Dilations; }) dilations = desc.Dilations;
  return {"WindowSize", desc.DimensionCount, desc.WindowSize, desc.Strides,
          dilations,    desc.StartPadding,   desc.EndPadding};
}

// `pooled` has the batch and channels of `whole`.
Status checkPooled(UINT dimensionCount, std::string_view wholeName, const Tensor& whole, std::string_view pooledName,
                   const Tensor& pooled) {
  if (auto error = checkSpatialRank(dimensionCount, wholeName, whole)) return error;
  for (uint32_t d = 0; d < 2; ++d)
    if (auto error = checkSize(pooledName, pooled, d, whole.sizes[d])) return error;
  return {};
}

// The pages compute the spatial sizes of the output; DirectML 1.15.4 takes any, as callers that round up need, and
// zeros in WindowSize, Strides and Dilations. Kernels therefore meet windows without an element of the input, and
// coordinates that exceed 32 bits.
template <class S>
Status checkPooling(const OpView& view) {
  return checkPooled(view.as<S>().DimensionCount, "InputTensor", view.input(0), "OutputTensor", view.output());
}

// A stride of 0, which DirectML takes, would be a divisor: the windows over an element are found by division.
template <class S>
Status checkAveragePoolingGrad(const OpView& view) {
  const SlidingWindow window = windowOf<S>(view);
  if (auto error = checkPooled(window.dimensionCount, "OutputGradientTensor", view.output(), "InputGradientTensor",
                               view.input(0)))
    return error;
  for (uint32_t d = 0; d < window.dimensionCount; ++d)
    if (auto error = checkAtLeast(cat("Strides[", d, "]"), window.strides[d], 1)) return error;
  return {};
}

// The only pooling of which DirectML checks all sizes. A window that is larger than the padded input has one position.
template <class S>
Status checkMaxPoolingGrad(const OpView& view) {
  const SlidingWindow window = windowOf<S>(view);
  const Tensor& x = view.input(0);
  const Tensor& gradient = view.input(1);
  if (auto error = checkPooled(window.dimensionCount, "InputTensor", x, "InputGradientTensor", gradient)) return error;
  if (auto error = checkNoZeros(window)) return error;
  for (uint32_t d = 0; d < window.dimensionCount; ++d) {
    if (auto error = checkAtLeast(cat("Dilations[", d, "]"), window.dilations[d], 1)) return error;
    const uint64_t positions = std::max<uint64_t>(window.positions(d, x.sizes[d + 2]), 1);
    if (auto error = checkSize("InputGradientTensor", gradient, d + 2, positions)) return error;
  }
  return {};
}

// One value, or one for each channel. DirectML takes any sizes without saying what they mean.
Status checkQuantization(std::string_view name, const Tensor& tensor, uint32_t channels) {
  if (!tensor.present() || tensor.elements == 1) return {};
  if (tensor.elements == channels && std::ranges::count(tensor.sizeSpan(), channels) == 1) return {};
  return invalid(cat(name, " has Sizes (", listText(tensor.sizeSpan()), "), expected one element or ", channels,
                     ", one a channel."));
}

template <class S>
Status checkQuantizedAveragePooling(const OpView& view) {
  for (size_t i = 1; i < view.inputs().size(); ++i)
    if (auto error = checkQuantization(view.inputName(i), view.input(i), view.input(0).sizes[1])) return error;
  return checkPooling<S>(view);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

template <class S>
constexpr Field kAveragePoolingFields[] = {DIMPLE_INPUT(S, InputTensor),
                                           DIMPLE_OUTPUT(S, OutputTensor),
                                           DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                           DIMPLE_ARRAY(S, Strides, UIntArray, 2),
                                           DIMPLE_ARRAY(S, WindowSize, UIntArray, 2),
                                           DIMPLE_ARRAY(S, StartPadding, UIntArray, 2),
                                           DIMPLE_ARRAY(S, EndPadding, UIntArray, 2),
                                           DIMPLE_ATTRIBUTE(S, IncludePadding, Bool)};
template <class S>
constexpr Field kLpPoolingFields[] = {DIMPLE_INPUT(S, InputTensor),
                                      DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                      DIMPLE_ARRAY(S, Strides, UIntArray, 2),
                                      DIMPLE_ARRAY(S, WindowSize, UIntArray, 2),
                                      DIMPLE_ARRAY(S, StartPadding, UIntArray, 2),
                                      DIMPLE_ARRAY(S, EndPadding, UIntArray, 2),
                                      DIMPLE_ATTRIBUTE(S, P, UInt)};
template <class S>
constexpr Field kMaxPoolingFields[] = {DIMPLE_INPUT(S, InputTensor),
                                       DIMPLE_OUTPUT(S, OutputTensor),
                                       DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                       DIMPLE_ARRAY(S, Strides, UIntArray, 2),
                                       DIMPLE_ARRAY(S, WindowSize, UIntArray, 2),
                                       DIMPLE_ARRAY(S, StartPadding, UIntArray, 2),
                                       DIMPLE_ARRAY(S, EndPadding, UIntArray, 2)};
template <class S>
constexpr Field kMaxPooling1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                        DIMPLE_OUTPUT(S, OutputTensor),
                                        DIMPLE_OPTIONAL_OUTPUT(S, OutputIndicesTensor),
                                        DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                        DIMPLE_ARRAY(S, Strides, UIntArray, 3),
                                        DIMPLE_ARRAY(S, WindowSize, UIntArray, 3),
                                        DIMPLE_ARRAY(S, StartPadding, UIntArray, 3),
                                        DIMPLE_ARRAY(S, EndPadding, UIntArray, 3)};
template <class S>
constexpr Field kMaxUnpoolingFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, IndicesTensor),
                                         DIMPLE_OUTPUT(S, OutputTensor)};
template <class S>
constexpr Field kMaxPooling2Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                        DIMPLE_OUTPUT(S, OutputTensor),
                                        DIMPLE_OPTIONAL_OUTPUT(S, OutputIndicesTensor),
                                        DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                        DIMPLE_ARRAY(S, Strides, UIntArray, 3),
                                        DIMPLE_ARRAY(S, WindowSize, UIntArray, 3),
                                        DIMPLE_ARRAY(S, StartPadding, UIntArray, 3),
                                        DIMPLE_ARRAY(S, EndPadding, UIntArray, 3),
                                        DIMPLE_ARRAY(S, Dilations, UIntArray, 3)};
template <class S>
constexpr Field kAveragePoolingGradFields[] = {
    DIMPLE_INPUT(S, InputGradientTensor),      DIMPLE_OUTPUT(S, OutputGradientTensor),
    DIMPLE_ATTRIBUTE(S, DimensionCount, UInt), DIMPLE_ARRAY(S, Strides, UIntArray, 2),
    DIMPLE_ARRAY(S, WindowSize, UIntArray, 2), DIMPLE_ARRAY(S, StartPadding, UIntArray, 2),
    DIMPLE_ARRAY(S, EndPadding, UIntArray, 2), DIMPLE_ATTRIBUTE(S, IncludePadding, Bool)};
template <class S>
constexpr Field kMaxPoolingGradFields[] = {DIMPLE_INPUT(S, InputTensor),
                                           DIMPLE_INPUT(S, InputGradientTensor),
                                           DIMPLE_OUTPUT(S, OutputGradientTensor),
                                           DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                           DIMPLE_ARRAY(S, Strides, UIntArray, 3),
                                           DIMPLE_ARRAY(S, WindowSize, UIntArray, 3),
                                           DIMPLE_ARRAY(S, StartPadding, UIntArray, 3),
                                           DIMPLE_ARRAY(S, EndPadding, UIntArray, 3),
                                           DIMPLE_ARRAY(S, Dilations, UIntArray, 3)};
template <class S>
constexpr Field kLpPooling1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                       DIMPLE_OUTPUT(S, OutputTensor),
                                       DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                       DIMPLE_ARRAY(S, Strides, UIntArray, 2),
                                       DIMPLE_ARRAY(S, WindowSize, UIntArray, 2),
                                       DIMPLE_ARRAY(S, StartPadding, UIntArray, 2),
                                       DIMPLE_ARRAY(S, EndPadding, UIntArray, 2),
                                       DIMPLE_ARRAY(S, Dilations, UIntArray, 2),
                                       DIMPLE_ATTRIBUTE(S, P, UInt)};
template <class S>
constexpr Field kAveragePooling1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                            DIMPLE_OUTPUT(S, OutputTensor),
                                            DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                            DIMPLE_ARRAY(S, Strides, UIntArray, 2),
                                            DIMPLE_ARRAY(S, WindowSize, UIntArray, 2),
                                            DIMPLE_ARRAY(S, StartPadding, UIntArray, 2),
                                            DIMPLE_ARRAY(S, EndPadding, UIntArray, 2),
                                            DIMPLE_ARRAY(S, Dilations, UIntArray, 2),
                                            DIMPLE_ATTRIBUTE(S, IncludePadding, Bool)};
template <class S>
constexpr Field kQuantizedLinearAveragePoolingFields[] = {DIMPLE_INPUT(S, InputTensor),
                                                          DIMPLE_INPUT(S, InputScaleTensor),
                                                          DIMPLE_OPTIONAL_INPUT(S, InputZeroPointTensor),
                                                          DIMPLE_INPUT(S, OutputScaleTensor),
                                                          DIMPLE_OPTIONAL_INPUT(S, OutputZeroPointTensor),
                                                          DIMPLE_OUTPUT(S, OutputTensor),
                                                          DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                                          DIMPLE_ARRAY(S, Strides, UIntArray, 6),
                                                          DIMPLE_ARRAY(S, WindowSize, UIntArray, 6),
                                                          DIMPLE_ARRAY(S, StartPadding, UIntArray, 6),
                                                          DIMPLE_ARRAY(S, EndPadding, UIntArray, 6),
                                                          DIMPLE_ARRAY(S, Dilations, UIntArray, 6),
                                                          DIMPLE_ATTRIBUTE(S, IncludePadding, Bool)};

constexpr TypeHistory kAveragePoolingTypes{{k1_0, kFloats, 4, 5}};
constexpr TypeHistory kMaxPoolingTypes{{k1_0, kFloats, 4, 5}, {k3_0, kFloats | kInts8, 4, 5}, {k5_0, kNumbers, 4, 5}};
constexpr TypeHistory kMaxPooling1Types{{k2_0, kFloats, 4, 5}, {k3_0, kFloats | kInts8, 4, 5}, {k5_0, kNumbers, 4, 5}};
constexpr TypeHistory kMaxUnpoolingTypes{{k3_0, kFloats, 4, 4}, {k5_0, kNumbers, 4, 4}};
constexpr TypeHistory kMaxPooling2Types{{k2_1, kFloats, 4, 5}, {k3_0, kFloats | kInts8, 4, 5}, {k5_0, kNumbers, 4, 5}};
constexpr TypeHistory kAveragePoolingGradTypes{{k3_0, kFloats, 4, 5}};
constexpr TypeHistory kMaxPoolingGradTypes{{k3_0, kFloats, 4, 4}, {k4_0, kFloats, 4, 5}};
constexpr TypeHistory kLpPooling1Types{{k6_2, kFloats, 4, 5}};
constexpr TypeHistory kQuantizedLinearAveragePoolingTypes{{k6_2, kInts8, 4, 5}};
constexpr TypeHistory kQuantizedLinearAveragePoolingInputScaleTypes{{k6_2, kFloat32, 1, 5}};
constexpr TypeHistory kQuantizedLinearAveragePoolingInputZeroPointTypes{{k6_2, kInts8, 1, 5}};

constexpr TensorRule kAveragePoolingRules[] = {{kAveragePoolingTypes}, {kAveragePoolingTypes, sameTypeAndRank(0)}};
constexpr TensorRule kMaxPoolingRules[] = {{kMaxPoolingTypes}, {kMaxPoolingTypes, sameTypeAndRank(0)}};
constexpr TensorRule kMaxPooling1Rules[] = {{kMaxPooling1Types},
                                            {kMaxPooling1Types, sameTypeAndRank(0)},
                                            {{{k2_0, kUInt32, 4, 5}, {k5_0, kUnsignedIndices, 4, 5}}, sameSizes(1)}};
constexpr TensorRule kMaxUnpoolingRules[] = {{kMaxUnpoolingTypes},
                                             {{{k3_0, kUInt32, 4, 4}, {k5_0, kUnsignedIndices, 4, 4}}, {-1, -1, 0}},
                                             {kMaxUnpoolingTypes, sameType(0)}};
constexpr TensorRule kMaxPooling2Rules[] = {{kMaxPooling2Types},
                                            {kMaxPooling2Types, sameTypeAndRank(0)},
                                            {{{k2_1, kUInt32, 4, 5}, {k5_0, kUnsignedIndices, 4, 5}}, sameSizes(1)}};
constexpr TensorRule kAveragePoolingGradRules[] = {{kAveragePoolingGradTypes},
                                                   {kAveragePoolingGradTypes, sameTypeAndRank(0)}};
constexpr TensorRule kMaxPoolingGradRules[] = {
    {kMaxPoolingGradTypes}, {kMaxPoolingGradTypes, sameTypeAndRank(0)}, {kMaxPoolingGradTypes, like(0)}};
constexpr TensorRule kLpPooling1Rules[] = {{kLpPooling1Types}, {kLpPooling1Types, sameTypeAndRank(0)}};
// The page lets the output have a type of its own; DirectML 1.15.4 wants that of the input.
constexpr TensorRule kQuantizedLinearAveragePoolingRules[] = {
    {kQuantizedLinearAveragePoolingTypes},
    {kQuantizedLinearAveragePoolingInputScaleTypes},
    {kQuantizedLinearAveragePoolingInputZeroPointTypes, {0, 1, 1}},
    {kQuantizedLinearAveragePoolingInputScaleTypes},
    {kQuantizedLinearAveragePoolingInputZeroPointTypes, {0, 3, 3}},
    {kQuantizedLinearAveragePoolingTypes, sameTypeAndRank(0)}};

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(AVERAGE_POOLING, kAveragePoolingFields, kAveragePoolingRules, false, false,
               checkPooling<DML_AVERAGE_POOLING_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(LP_POOLING, kLpPoolingFields, kAveragePoolingRules, false, false,
               checkPooling<DML_LP_POOLING_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(MAX_POOLING, kMaxPoolingFields, kMaxPoolingRules, false, false,
               checkPooling<DML_MAX_POOLING_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(MAX_POOLING1, kMaxPooling1Fields, kMaxPooling1Rules, false, false,
               checkPooling<DML_MAX_POOLING1_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(MAX_UNPOOLING, kMaxUnpoolingFields, kMaxUnpoolingRules, false, false, nullptr, nullptr),
    DIMPLE_ROW(MAX_POOLING2, kMaxPooling2Fields, kMaxPooling2Rules, false, false,
               checkPooling<DML_MAX_POOLING2_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(AVERAGE_POOLING_GRAD, kAveragePoolingGradFields, kAveragePoolingGradRules, false, false,
               checkAveragePoolingGrad<DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(MAX_POOLING_GRAD, kMaxPoolingGradFields, kMaxPoolingGradRules, false, false,
               checkMaxPoolingGrad<DML_MAX_POOLING_GRAD_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(LP_POOLING1, kLpPooling1Fields, kLpPooling1Rules, false, false,
               checkPooling<DML_LP_POOLING1_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(AVERAGE_POOLING1, kAveragePooling1Fields, kLpPooling1Rules, false, false,
               checkPooling<DML_AVERAGE_POOLING1_OPERATOR_DESC>, nullptr),
    DIMPLE_ROW(QUANTIZED_LINEAR_AVERAGE_POOLING, kQuantizedLinearAveragePoolingFields,
               kQuantizedLinearAveragePoolingRules, false, false,
               checkQuantizedAveragePooling<DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC>, nullptr),
};

}  // namespace

std::span<const OpSchema> poolingSchemas() { return kSchemas; }

}  // namespace dimple
