// Convolutions, floating-point and quantized.
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

// Batches and channels. The page gives the spatial sizes of the output by formulas; DirectML takes any, and so elements
// of the window that lie outside of the padded input count as 0.
Status checkChannels(const OpView& view, const Tensor& filter, uint64_t groups, bool backward) {
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  if (groups == 0) return invalid("GroupCount has value (0), expected at least 1.");
  const uint64_t channels = x.sizes[1];
  const uint64_t filters = y.sizes[1];
  for (const uint64_t divided : {channels, filters})
    if (divided % groups != 0)
      return invalid(cat("GroupCount has value (", groups, "), expected a divisor of ", divided, ", the channels of ",
                         divided == channels ? "InputTensor." : "OutputTensor."));
  if (auto error = checkSize("OutputTensor", y, 0, x.sizes[0])) return error;
  if (auto error = checkSize("FilterTensor", filter, 0, backward ? channels : filters)) return error;
  return checkSize("FilterTensor", filter, 1, (backward ? filters : channels) / groups);
}

// A tensor of one element for each channel, or of a single one where that is an alternative.
Status checkPerChannel(const OpView& view, size_t input, uint32_t channels, bool orOne) {
  const Tensor& tensor = view.input(input);
  if (!tensor.present() || (orOne && tensor.elements == 1)) return {};
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (auto error = checkSize(view.inputName(input), tensor, d, d == 1 ? channels : 1)) return error;
  return {};
}

Status checkConvolution(const OpView& view) {
  const auto& desc = view.as<DML_CONVOLUTION_OPERATOR_DESC>();
  const bool backward = desc.Direction == DML_CONVOLUTION_DIRECTION_BACKWARD;
  const Tensor& y = view.output();
  if (auto error = checkChannels(view, view.input(1), desc.GroupCount, backward)) return error;
  if (desc.DimensionCount + uint64_t{2} != y.rank)
    return invalid(cat("DimensionCount has value (", desc.DimensionCount, "), expected ", y.rank - 2,
                       ", the dimensions of InputTensor after the first two."));
  if (auto error = checkPerChannel(view, 2, y.sizes[1], false)) return error;
  for (uint32_t d = 0; d < desc.DimensionCount; ++d) {
    if (backward && desc.Strides[d] == 0)
      return invalid(
          cat("Strides[", d, "] has value (0), expected at least 1 for DML_CONVOLUTION_DIRECTION_BACKWARD."));
    if (auto error = checkAtMost(cat("OutputPadding[", d, "]"), desc.OutputPadding[d], y.sizes[d + 2] - 1))
      return error;
  }
  return {};
}

// The integer convolutions take tensors of different DimensionCount, missing trailing sizes being 1, although the pages
// want one DimensionCount. Sizes for which there are no strides and padding must be 1 too.
Status checkTrailingOnes(std::string_view name, const Tensor& tensor, UINT spatialCount) {
  for (uint32_t d = 2; d < tensor.rank; ++d)
    if (d - 2 >= spatialCount && tensor.sizes[d] != 1)
      return invalid(cat(name, " has Sizes[", d, "] (", tensor.sizes[d],
                         "), expected 1 after as many spatial dimensions as "
                         "DimensionCount (",
                         spatialCount, ")."));
  return {};
}

Status checkIntegerConvolution(const OpView& view, size_t filter, UINT spatialCount, UINT groups) {
  if (auto error = checkChannels(view, view.input(filter), groups, false)) return error;
  if (auto error = checkTrailingOnes("InputTensor", view.input(0), spatialCount)) return error;
  if (auto error = checkTrailingOnes("FilterTensor", view.input(filter), spatialCount)) return error;
  return checkTrailingOnes("OutputTensor", view.output(), spatialCount);
}

Status checkConvolutionInteger(const OpView& view) {
  const auto& desc = view.as<DML_CONVOLUTION_INTEGER_OPERATOR_DESC>();
  if (auto error = checkIntegerConvolution(view, 2, desc.DimensionCount, desc.GroupCount)) return error;
  if (view.input(1).present())
    if (auto error = checkOneElement(view.inputName(1), view.input(1))) return error;
  return checkPerChannel(view, 3, view.output().sizes[1], true);
}

Status checkQuantizedLinearConvolution(const OpView& view) {
  const auto& desc = view.as<DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC>();
  if (auto error = checkIntegerConvolution(view, 3, desc.DimensionCount, desc.GroupCount)) return error;
  for (const size_t i : {size_t{1}, size_t{7}})
    if (auto error = checkOneElement(view.inputName(i), view.input(i))) return error;
  if (auto error = checkPerChannel(view, 4, view.output().sizes[1], true)) return error;
  return checkPerChannel(view, 6, view.output().sizes[1], false);
}

constexpr DML_OPERATOR_TYPE kAlsoFusedByConvolution[] = {DML_OPERATOR_ELEMENT_WISE_CLIP};

template <class S>
constexpr Field kConvolutionFields[] = {DIMPLE_INPUT(S, InputTensor),
                                        DIMPLE_INPUT(S, FilterTensor),
                                        DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                        DIMPLE_OUTPUT(S, OutputTensor),
                                        DIMPLE_ENUM(S, Mode, kConvolutionModes),
                                        DIMPLE_ENUM(S, Direction, kConvolutionDirections),
                                        DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                        DIMPLE_ARRAY(S, Strides, UIntArray, 6),
                                        DIMPLE_ARRAY(S, Dilations, UIntArray, 6),
                                        DIMPLE_ARRAY(S, StartPadding, UIntArray, 6),
                                        DIMPLE_ARRAY(S, EndPadding, UIntArray, 6),
                                        DIMPLE_ARRAY(S, OutputPadding, UIntArray, 6),
                                        DIMPLE_ATTRIBUTE(S, GroupCount, UInt),
                                        DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kConvolutionIntegerFields[] = {DIMPLE_INPUT(S, InputTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, InputZeroPointTensor),
                                               DIMPLE_INPUT(S, FilterTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, FilterZeroPointTensor),
                                               DIMPLE_OUTPUT(S, OutputTensor),
                                               DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                               DIMPLE_ARRAY(S, Strides, UIntArray, 5),
                                               DIMPLE_ARRAY(S, Dilations, UIntArray, 5),
                                               DIMPLE_ARRAY(S, StartPadding, UIntArray, 5),
                                               DIMPLE_ARRAY(S, EndPadding, UIntArray, 5),
                                               DIMPLE_ATTRIBUTE(S, GroupCount, UInt)};
template <class S>
constexpr Field kQuantizedLinearConvolutionFields[] = {DIMPLE_INPUT(S, InputTensor),
                                                       DIMPLE_INPUT(S, InputScaleTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, InputZeroPointTensor),
                                                       DIMPLE_INPUT(S, FilterTensor),
                                                       DIMPLE_INPUT(S, FilterScaleTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, FilterZeroPointTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                                       DIMPLE_INPUT(S, OutputScaleTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, OutputZeroPointTensor),
                                                       DIMPLE_OUTPUT(S, OutputTensor),
                                                       DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                                       DIMPLE_ARRAY(S, Strides, UIntArray, 10),
                                                       DIMPLE_ARRAY(S, Dilations, UIntArray, 10),
                                                       DIMPLE_ARRAY(S, StartPadding, UIntArray, 10),
                                                       DIMPLE_ARRAY(S, EndPadding, UIntArray, 10),
                                                       DIMPLE_ATTRIBUTE(S, GroupCount, UInt)};

constexpr TypeHistory kConvolutionTypes{{k1_0, kFloats, 4, 5}, {k4_0, kFloats, 3, 5}};
constexpr TypeHistory kConvolutionIntegerTypes{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 3, 4}};
constexpr TypeHistory kConvolutionIntegerInputZeroPointTypes{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 1, 4}};
constexpr TypeHistory kConvolutionIntegerOutputTypes{{k2_1, kInt32, 4, 4}, {k4_0, kInt32, 3, 4}};
constexpr TypeHistory kQuantizedLinearConvolutionInputScaleTypes{{k2_1, kFloat32, 4, 4}, {k4_0, kFloat32, 1, 4}};

constexpr TensorRule kConvolutionRules[] = {{kConvolutionTypes},
                                            {kConvolutionTypes, sameTypeAndRank(0)},
                                            {kConvolutionTypes, sameTypeAndRank(0)},
                                            {kConvolutionTypes, sameTypeAndRank(0)}};
constexpr TensorRule kConvolutionIntegerRules[] = {{kConvolutionIntegerTypes},
                                                   {kConvolutionIntegerInputZeroPointTypes, sameType(0)},
                                                   {kConvolutionIntegerTypes},
                                                   {kConvolutionIntegerInputZeroPointTypes, sameType(2)},
                                                   {kConvolutionIntegerOutputTypes}};
constexpr TensorRule kQuantizedLinearConvolutionRules[] = {
    {kConvolutionIntegerTypes},
    {kQuantizedLinearConvolutionInputScaleTypes},
    {kConvolutionIntegerInputZeroPointTypes, {0, 1, 1}},
    {kConvolutionIntegerTypes},
    {{{k2_1, kFloat32, 4, 4}, {k4_0, kFloat32, 3, 4}, {k5_2, kFloat32, 1, 4}}},
    {kConvolutionIntegerInputZeroPointTypes, {3, 4, 4}},
    {kConvolutionIntegerOutputTypes},
    {kQuantizedLinearConvolutionInputScaleTypes},
    {kConvolutionIntegerInputZeroPointTypes, sameSizes(7)},
    {kConvolutionIntegerTypes, sameType(8)}};

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(CONVOLUTION, kConvolutionFields, kConvolutionRules, false, false, checkConvolution, nullptr,
               kAlsoFusedByConvolution),
    DIMPLE_ROW(CONVOLUTION_INTEGER, kConvolutionIntegerFields, kConvolutionIntegerRules, false, false,
               checkConvolutionInteger, nullptr),
    DIMPLE_ROW(QUANTIZED_LINEAR_CONVOLUTION, kQuantizedLinearConvolutionFields, kQuantizedLinearConvolutionRules, false,
               false, checkQuantizedLinearConvolution, nullptr),
};

}  // namespace

std::span<const OpSchema> convolutionSchemas() { return kSchemas; }

}  // namespace dimple
