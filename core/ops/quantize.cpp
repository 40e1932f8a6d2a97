// Quantization of tensors.
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

// INT32 has no scales of its own type.
Status checkQuantizeLinear(const OpView& view) {
  const Tensor& x = view.input(0);
  const Tensor& scale = view.input(1);
  if (x.type != DML_TENSOR_DATA_TYPE_INT32) return checkType("ScaleTensor", scale, x.type, "InputTensor");
  if (scale.type == DML_TENSOR_DATA_TYPE_FLOAT32) return {};
  return invalid(cat("ScaleTensor has DataType (", dataTypeName(scale.type), "), expected FLOAT32 for INT32."));
}

// Scales and zero points of whole tensors.
Status checkSingleParameters(const OpView& view, std::span<const size_t> inputs) {
  for (const size_t i : inputs)
    if (view.input(i).present())
      if (auto error = checkOneElement(view.inputName(i), view.input(i))) return error;
  return {};
}

Status checkQuantizedLinearAdd(const OpView& view) {
  constexpr size_t kParameters[] = {1, 2, 4, 5, 6, 7};
  return checkSingleParameters(view, kParameters);
}

Status checkDynamicQuantizeLinear(const OpView& view) {
  for (const size_t i : {size_t{1}, size_t{2}})
    if (auto error = checkOneElement(view.outputName(i), view.output(i))) return error;
  return {};
}

// QUANTIZE and DEQUANTIZE, whose descriptions agree. A scale and zero point serve a block of elements.
Status checkBlocks(const OpView& view) {
  const auto& desc = view.as<DML_QUANTIZE_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  const bool quantizes = view.schema().type == DML_OPERATOR_QUANTIZE;
  const auto expected = static_cast<uint32_t>(desc.QuantizationType);
  if (expected == DML_QUANTIZATION_TYPE_NONE)
    return invalid(cat("QuantizationType has value (NONE), expected SCALE or SCALE_ZERO_POINT."));
  if (desc.QuantizationTensorCount != expected)
    return invalid(cat("QuantizationTensorCount has value (", desc.QuantizationTensorCount, "), expected ", expected,
                       " for QuantizationType ", kQuantizationTypes.names[expected], "."));
  const Tensor& scale = view.input(1);
  if (auto error = checkType(view.inputName(1), scale, (quantizes ? x : view.output()).type,
                             quantizes ? "InputTensor" : "OutputTensor"))
    return error;
  for (uint32_t d = 0; d < x.rank; ++d)
    if (x.sizes[d] % scale.sizes[d] != 0)
      return invalid(cat(view.inputName(1), " has Sizes[", d, "] (", scale.sizes[d],
                         "), expected a divisor of that of InputTensor (", x.sizes[d], ")."));
  if (expected == 1) return {};
  const Tensor& zeroPoint = view.input(2);
  if (auto error = checkType(view.inputName(2), zeroPoint, (quantizes ? view.output() : x).type,
                             quantizes ? "OutputTensor" : "InputTensor"))
    return error;
  return checkSizes(view.inputName(2), zeroPoint, scale.sizeSpan());
}

template <class S>
constexpr Field kQuantizeLinearFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, ScaleTensor),
                                           DIMPLE_OPTIONAL_INPUT(S, ZeroPointTensor), DIMPLE_OUTPUT(S, OutputTensor)};
template <class S>
constexpr Field kQuantizedLinearAddFields[] = {DIMPLE_INPUT(S, ATensor),
                                               DIMPLE_INPUT(S, AScaleTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, AZeroPointTensor),
                                               DIMPLE_INPUT(S, BTensor),
                                               DIMPLE_INPUT(S, BScaleTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, BZeroPointTensor),
                                               DIMPLE_INPUT(S, OutputScaleTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, OutputZeroPointTensor),
                                               DIMPLE_OUTPUT(S, OutputTensor)};
template <class S>
constexpr Field kDynamicQuantizeLinearFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                                  DIMPLE_OUTPUT(S, OutputScaleTensor),
                                                  DIMPLE_OUTPUT(S, OutputZeroPointTensor)};
template <class S>
constexpr Field kQuantizeFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_ENUM(S, QuantizationType, kQuantizationTypes),
                                     DIMPLE_ATTRIBUTE(S, QuantizationTensorCount, UInt),
                                     DIMPLE_INPUT_ARRAY(S, QuantizationTensors, 2), DIMPLE_OUTPUT(S, OutputTensor)};

constexpr TypeHistory kQuantizeLinearScaleTypes{{k1_0, kFloat32, 4, 4}, {k3_0, kFloat32}, {k6_0, kFloats}};
constexpr TypeHistory kQuantizeLinearZeroPointTypes{{k1_0, kUInt8, 4, 4}, {k2_1, kInts8, 4, 4}, {k3_0, kInts8}};
constexpr TypeHistory kDequantizeLinearTypes{{k1_0, kUInt8, 4, 4}, {k2_1, kInts8To32, 4, 4}, {k3_0, kInts8To32}};
constexpr TypeHistory kQuantizedLinearAddTypes{{k4_0, kInts8}};
constexpr TypeHistory kQuantizedLinearAddAScaleTypes{{k4_0, kFloat32}};
constexpr TypeHistory kQuantizeTypes{{k6_3, kFloats}};
constexpr TypeHistory kQuantizeQuantizationTypes{{k6_3, kFloats | kInts8 | kInts4}};
constexpr TypeHistory kQuantizeOutputTypes{{k6_3, kInts8 | kInts4}};

constexpr TensorRule kQuantizeLinearRules[] = {
    {{{k1_0, kFloat32, 4, 4}, {k2_1, kFloat32 | kInt32, 4, 4}, {k3_0, kFloat32 | kInt32}, {k6_0, kFloats | kInt32}}},
    {kQuantizeLinearScaleTypes, sameSizes(0)},
    {kQuantizeLinearZeroPointTypes, sameSizes(0)},
    {kQuantizeLinearZeroPointTypes, {2, 0, 0}}};
constexpr TensorRule kDequantizeLinearRules[] = {{kDequantizeLinearTypes},
                                                 {kQuantizeLinearScaleTypes, sameSizes(0)},
                                                 {kDequantizeLinearTypes, like(0)},
                                                 {kQuantizeLinearScaleTypes, {1, 0, 0}}};
constexpr TensorRule kQuantizedLinearAddRules[] = {{kQuantizedLinearAddTypes},
                                                   {kQuantizedLinearAddAScaleTypes, sameRank(0)},
                                                   {kQuantizedLinearAddTypes, sameTypeAndRank(0)},
                                                   {kQuantizedLinearAddTypes, sameSizes(0)},
                                                   {kQuantizedLinearAddAScaleTypes, sameRank(0)},
                                                   {kQuantizedLinearAddTypes, {3, 0, -1}},
                                                   {kQuantizedLinearAddAScaleTypes, sameRank(0)},
                                                   {kQuantizedLinearAddTypes, sameRank(0)},
                                                   {kQuantizedLinearAddTypes, {7, 0, 0}}};
constexpr TensorRule kDynamicQuantizeLinearRules[] = {{{{k4_0, kFloats}}},
                                                      {kQuantizedLinearAddTypes, sameSizes(0)},
                                                      {kQuantizedLinearAddAScaleTypes, sameRank(0)},
                                                      {kQuantizedLinearAddTypes, {1, 0, -1}}};
constexpr TensorRule kQuantizeRules[] = {
    {kQuantizeTypes}, {kQuantizeQuantizationTypes, sameRank(0)}, {kQuantizeOutputTypes, sameSizes(0)}};
constexpr TensorRule kDequantizeRules[] = {
    {kQuantizeOutputTypes}, {kQuantizeQuantizationTypes, sameRank(0)}, {kQuantizeTypes, sameSizes(0)}};

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(ELEMENT_WISE_QUANTIZE_LINEAR, kQuantizeLinearFields, kQuantizeLinearRules, false, false,
               checkQuantizeLinear, nullptr),
    DIMPLE_ROW(ELEMENT_WISE_DEQUANTIZE_LINEAR, kQuantizeLinearFields, kDequantizeLinearRules, false, false, nullptr,
               nullptr),
    DIMPLE_ROW(ELEMENT_WISE_QUANTIZED_LINEAR_ADD, kQuantizedLinearAddFields, kQuantizedLinearAddRules, false, false,
               checkQuantizedLinearAdd, nullptr),
    DIMPLE_ROW(DYNAMIC_QUANTIZE_LINEAR, kDynamicQuantizeLinearFields, kDynamicQuantizeLinearRules, false, false,
               checkDynamicQuantizeLinear, nullptr),
    DIMPLE_ROW(QUANTIZE, kQuantizeFields, kQuantizeRules, false, false, checkBlocks, nullptr),
    DIMPLE_ROW(DEQUANTIZE, kQuantizeFields, kDequantizeRules, false, false, checkBlocks, nullptr),
};

}  // namespace

std::span<const OpSchema> quantizeSchemas() { return kSchemas; }

}  // namespace dimple
