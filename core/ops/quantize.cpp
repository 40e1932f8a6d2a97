// Quantization of tensors.
#include <algorithm>
#include <array>

#include "core/checked.h"
#include "core/op_view.h"
#include "core/ops/chain.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

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

bool isPresent(const OpView& view, size_t input) { return input < view.inputs().size() && view.input(input).present(); }

// The zero point of QUANTIZE and DEQUANTIZE without one: the middle of an unsigned type.
uint32_t defaultZeroPoint(const OpView& view) {
  const DML_OPERATOR_TYPE op = view.schema().type;
  if (op != DML_OPERATOR_QUANTIZE && op != DML_OPERATOR_DEQUANTIZE) return 0;
  const DataType type = (op == DML_OPERATOR_QUANTIZE ? view.output() : view.input(0)).type;
  return type == DML_TENSOR_DATA_TYPE_UINT8 ? 128 : type == DML_TENSOR_DATA_TYPE_UINT4 ? 8 : 0;
}

// All operators of one tensor that is quantized or dequantized. Each element of the scales and zero points serves a
// block of elements, often of one.
Result<Plan> planQuantization(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor& scale = view.input(1);
  const Tensor& y = view.output();
  const size_t zeroPoint = isPresent(view, 2) ? 2 : 1;
  Walk walk;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const uint32_t blocks = scale.sizes[d];
    const uint32_t block = x.sizes[d] / blocks;
    walk.addDimension(blocks,
                      {x.strides[d] * block, scale.strides[d], view.input(zeroPoint).strides[d], y.strides[d] * block});
    walk.addDimension(block, {x.strides[d], 0, 0, y.strides[d]});
  }
  walk.sortBy(3);
  walk.coalesce();
  const WalkOperand ranges[] = {builder.inputOperand(0), builder.inputOperand(1), builder.inputOperand(zeroPoint),
                                builder.outputOperand()};
  const auto add = [&](const Walk& part, const std::vector<BufferRange>& buffers) {
    const uint64_t count = part.count();
    return builder.addItems("quantize.u32", count,
                            {static_cast<uint32_t>(count), part.rank, typeWord(x.type), typeWord(scale.type),
                             typeWord(y.type), zeroPoint == 2 ? 1 : defaultZeroPoint(view)},
                            buffers, builder.parameters(part), {{0, isFloat(y.type)}});
  };
  if (auto error = builder.addWindows(walk, ranges, add)) return *error;
  return builder.finish();
}

Result<Plan> planQuantizedAdd(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& a = view.input(0);
  const Tensor& b = view.input(3);
  const Tensor& y = view.output();
  const std::array<uint32_t, 3> types{typeWord(a.type), typeWord(b.type), typeWord(y.type)};
  std::vector<BufferRange> sources;
  uint32_t hasZeroPoint = 0;
  for (const uint32_t tensor : {0u, 1u, 2u}) {
    // The output has no values of its own among the inputs.
    const size_t scale = tensor == 2 ? 6 : 3 * tensor + 1;
    const bool has = view.input(scale + 1).present();
    hasZeroPoint |= (has ? 1u : 0u) << tensor;
    sources.push_back(builder.input(scale));
    sources.push_back(builder.input(scale + (has ? 1 : 0)));
  }
  BufferRange parameters = builder.allocateTemporary(3 * 2 * sizeof(float));
  sources.push_back(parameters);
  if (auto error = builder.add("quantization_parameters.u32", 1, {types[0], types[1], types[2], hasZeroPoint},
                               std::move(sources), 0))
    return *error;

  const Tensor* operands[] = {&a, &b, &y};
  Walk walk = makeWalk(y.sizeSpan(), operands);
  walk.sortBy(2);
  walk.coalesce();
  parameters.writes = false;
  if (auto error = builder.addItems(
          "quantized_add.u32", y.elements, {static_cast<uint32_t>(y.elements), walk.rank, types[0], types[1], types[2]},
          {builder.input(0), builder.input(3), parameters, builder.output()}, builder.parameters(walk)))
    return *error;
  return builder.finish();
}

// The range of the input, then the scale and zero point that spread it, then the quantization by them.
Result<Plan> planDynamicQuantization(const OpView& view, const Caps& caps) {
  constexpr uint64_t kGroups = 256;
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  const Tensor* operands[] = {&x, nullptr, nullptr, &y};
  Walk walk = makeWalk(x.sizeSpan(), operands);
  walk.sortBy(0);
  walk.coalesce();
  const auto count = static_cast<uint32_t>(x.elements);
  const auto perGroup = static_cast<uint32_t>(std::max(divideUp(x.elements, kGroups), uint64_t{8 * kGroupSize}));
  const auto groups = static_cast<uint32_t>(divideUp(x.elements, perGroup));
  const BufferRange ranges = builder.allocateTemporary(groups * 2 * sizeof(float));
  const std::vector<BufferRange> buffers{builder.input(0), ranges, builder.output(1), builder.output(2)};
  const uint32_t parameters = builder.parameters(walk);
  if (auto error = builder.add("dynamic_range.u32", groups, {count, walk.rank, perGroup, typeWord(x.type)}, buffers,
                               parameters, {{0, 0}}))
    return *error;
  if (auto error =
          builder.add("dynamic_range.u32", 1, {groups, 0, groups, typeWord(y.type)}, buffers, parameters, {{0, 1}}))
    return *error;
  BufferRange scale = builder.output(1);
  BufferRange zeroPoint = builder.output(2);
  scale.writes = zeroPoint.writes = false;
  if (auto error = builder.addItems(
          "quantize.u32", count,
          {count, walk.rank, typeWord(x.type), typeWord(DML_TENSOR_DATA_TYPE_FLOAT32), typeWord(y.type), 1},
          {builder.input(0), scale, zeroPoint, builder.output()}, parameters, {{0, 0}}))
    return *error;
  return builder.finish();
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

constexpr OpSchema kQuantizeSchemas[] = {
    DIMPLE_ROW(ELEMENT_WISE_QUANTIZE_LINEAR, kQuantizeLinearFields, kQuantizeLinearRules, false, false,
               checkQuantizeLinear, planQuantization),
    DIMPLE_ROW(ELEMENT_WISE_DEQUANTIZE_LINEAR, kQuantizeLinearFields, kDequantizeLinearRules, false, false, nullptr,
               planQuantization),
    DIMPLE_ROW(ELEMENT_WISE_QUANTIZED_LINEAR_ADD, kQuantizedLinearAddFields, kQuantizedLinearAddRules, false, false,
               checkQuantizedLinearAdd, planQuantizedAdd),
    DIMPLE_ROW(DYNAMIC_QUANTIZE_LINEAR, kDynamicQuantizeLinearFields, kDynamicQuantizeLinearRules, false, false,
               checkDynamicQuantizeLinear, planDynamicQuantization),
    DIMPLE_ROW(QUANTIZE, kQuantizeFields, kQuantizeRules, false, false, checkBlocks, planQuantization),
    DIMPLE_ROW(DEQUANTIZE, kQuantizeFields, kDequantizeRules, false, false, checkBlocks, planQuantization),
};

}  // namespace

std::span<const OpSchema> quantizeSchemas() { return kQuantizeSchemas; }

std::vector<ElementStep> quantizationSteps(const OpView& view) {
  if (view.schema().plan != planQuantization) return {};
  constexpr DataType kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;
  const DataType from = view.input(0).type;
  const DataType to = view.output().type;
  ElementStep withZeroPoint;
  if (isPresent(view, 2))
    withZeroPoint.input = 2;
  else
    withZeroPoint.number = defaultZeroPoint(view);
  std::vector<ElementStep> steps;
  if (isFloat(to)) {
    withZeroPoint.kind = StepKind::Difference;
    withZeroPoint.from = from;
    withZeroPoint.to = kFloat;
    steps.push_back(withZeroPoint);
    steps.push_back(
        {.kind = StepKind::Binary, .op = DML_OPERATOR_ELEMENT_WISE_MULTIPLY, .from = kFloat, .to = to, .input = 1});
  } else {
    if (!isFloat(from)) steps.push_back({.kind = StepKind::Cast, .from = from, .to = kFloat});
    steps.push_back(
        {.kind = StepKind::Binary, .op = DML_OPERATOR_ELEMENT_WISE_DIVIDE, .from = kFloat, .to = kFloat, .input = 1});
    withZeroPoint.kind = StepKind::Quantize;
    withZeroPoint.from = kFloat;
    withZeroPoint.to = to;
    steps.push_back(withZeroPoint);
  }
  return steps;
}

}  // namespace dimple
