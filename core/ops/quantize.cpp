// Quantization of tensors.
#include <algorithm>

#include "core/checked.h"
#include "core/ops/chain.h"
#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/dynamic_range.h"
#include "kernels/interfaces/quantization_parameters.h"
#include "kernels/interfaces/quantize.h"
#include "kernels/interfaces/quantize_vectors.h"
#include "kernels/interfaces/quantized_add.h"

namespace dimple {
namespace {

// INT32 has no scales of its own type.
Status checkQuantizeLinear(const Operation& op) {
  const Tensor& x = op.input(0);
  const Tensor& scale = op.input(1);
  if (x.type != DML_TENSOR_DATA_TYPE_INT32) return checkType("ScaleTensor", scale, x.type, "InputTensor");
  if (scale.type == DML_TENSOR_DATA_TYPE_FLOAT32) return {};
  return invalid(cat("ScaleTensor has DataType (", dataTypeName(scale.type), "), expected FLOAT32 for INT32."));
}

// Scales and zero points are those of whole tensors.
Status checkQuantizedLinearAdd(const Operation& op) {
  for (const size_t i : {1u, 2u, 4u, 5u, 6u, 7u})
    if (op.input(i).present()) TRY(checkOneElement(op.inputName(i), op.input(i)));
  return {};
}

Status checkDynamicQuantizeLinear(const Operation& op) {
  for (const size_t i : {size_t{1}, size_t{2}}) TRY(checkOneElement(op.outputName(i), op.output(i)));
  return {};
}

// QUANTIZE and DEQUANTIZE, whose descriptions agree. A scale and zero point serve a block of elements.
Status checkBlocks(const Operation& op) {
  const auto& desc = op.as<DML_QUANTIZE_OPERATOR_DESC>();
  const Tensor& x = op.input(0);
  const bool quantizes = op.schema().type == DML_OPERATOR_QUANTIZE;
  const auto expected = static_cast<uint32_t>(desc.QuantizationType);
  if (expected == DML_QUANTIZATION_TYPE_NONE)
    return invalid(cat("QuantizationType has value (NONE), expected SCALE or SCALE_ZERO_POINT."));
  if (desc.QuantizationTensorCount != expected)
    return invalid(cat("QuantizationTensorCount has value (", desc.QuantizationTensorCount, "), expected ", expected,
                       " for QuantizationType ", kQuantizationTypes.names[expected], "."));
  const Tensor& scale = op.input(1);
  TRY(checkType(op.inputName(1), scale, (quantizes ? x : op.output()).type,
                quantizes ? "InputTensor" : "OutputTensor"));
  for (uint32_t d = 0; d < x.rank; ++d)
    if (x.sizes[d] % scale.sizes[d] != 0)
      return invalid(cat(wrongSize(op.inputName(1), scale, d), "a divisor of that of InputTensor (", x.sizes[d], ")."));
  if (expected == 1) return {};
  const Tensor& zeroPoint = op.input(2);
  TRY(checkType(op.inputName(2), zeroPoint, (quantizes ? op.output() : x).type,
                quantizes ? "OutputTensor" : "InputTensor"));
  return checkSizes(op.inputName(2), zeroPoint, scale.sizeSpan());
}

bool isPresent(const Operation& op, size_t input) { return input < op.inputs().size() && op.input(input).present(); }

// Without a zero point, QUANTIZE and DEQUANTIZE use the middle of an unsigned type.
uint32_t defaultZeroPoint(const Operation& op) {
  const DML_OPERATOR_TYPE function = op.schema().type;
  if (function != DML_OPERATOR_QUANTIZE && function != DML_OPERATOR_DEQUANTIZE) return 0;
  const DataType type = (function == DML_OPERATOR_QUANTIZE ? op.output() : op.input(0)).type;
  return type == DML_TENSOR_DATA_TYPE_UINT8 ? 128 : type == DML_TENSOR_DATA_TYPE_UINT4 ? 8 : 0;
}

// SCALES of kernels/quantize/quantize_vectors.comp, for operands of which those in the mask stand still along rows.
uint32_t scalesOf(uint32_t uniformMask) {
  constexpr uint32_t kOneScale = 1, kScales = 2;
  constexpr uint32_t kScaleAndZeroPoint = 0b110;
  return uniformMask == kScaleAndZeroPoint ? kOneScale : uniformMask == 0 ? kScales : 0;
}

// What both kernels are told.
struct Quantization {
  DataType x;
  DataType scale;
  DataType y;
  uint32_t zeroAt;  // kernels/quantize/quantize.comp
};

// For a walk through x, scales, zero points and y.
Status addQuantization(PlanBuilder& builder, const Walk& walk, std::span<const WalkOperand> operands,
                       const Quantization& types) {
  const auto call = [&](const ElementPart& part) -> KernelCall {
    if (part.packed)
      return kernels::QuantizeVectors{
          .push = {.walk = part.walk,
                   .uniformMask = part.uniformMask,
                   .zeroAt = types.zeroAt,
                   .scaleType = typeWord(types.scale)},
          .spec = {.from = typeWord(types.x), .to = typeWord(types.y), .scales = scalesOf(part.uniformMask)},
          .x = part.buffers[0],
          .scale = part.buffers[1],
          .zeroPoint = part.buffers[2],
          .y = part.buffers[3]};
    return kernels::Quantize{.type = KernelType::U32,
                             .push = {.walk = part.walk,
                                      .xType = typeWord(types.x),
                                      .scaleType = typeWord(types.scale),
                                      .yType = typeWord(types.y),
                                      .zeroAt = types.zeroAt},
                             .spec = {.dequantizes = isFloat(types.y)},
                             .x = part.buffers[0],
                             .scale = part.buffers[1],
                             .zeroPoint = part.buffers[2],
                             .y = part.buffers[3]};
  };
  const uint32_t elements = convertedElements(builder.target(), {types.x, types.scale}, types.y);
  return addElements(builder, walk, operands, elements, call, {.orRows = true, .whole = true});
}

// All operators of one tensor that is quantized or dequantized. Each element of the scales and zero points serves a
// block of elements, often of one.
Status planQuantization(const Operation& op, PlanBuilder& builder) {
  const Tensor& x = op.input(0);
  const Tensor& scale = op.input(1);
  const Tensor& y = op.output();
  const size_t zeroPoint = isPresent(op, 2) ? 2 : 1;
  Walk walk;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const uint32_t blocks = scale.sizes[d];
    const uint32_t block = x.sizes[d] / blocks;
    walk.addDimension(blocks,
                      {x.strides[d] * block, scale.strides[d], op.input(zeroPoint).strides[d], y.strides[d] * block});
    walk.addDimension(block, {x.strides[d], 0, 0, y.strides[d]});
  }
  const WalkOperand operands[] = {builder.inputOperand(0), builder.inputOperand(1), builder.inputOperand(zeroPoint),
                                  builder.outputOperand()};
  return addQuantization(builder, walk, operands,
                         {x.type, scale.type, y.type, zeroPoint == 2 ? 1 : defaultZeroPoint(op)});
}

Status planQuantizedAdd(const Operation& op, PlanBuilder& builder) {
  const Tensor& a = op.input(0);
  const Tensor& b = op.input(3);
  const Tensor& y = op.output();
  uint32_t hasZeroPoint = 0;
  // The input of the scale is bound in place of an absent zero point.
  const auto zeroPoint = [&](size_t scale, uint32_t bit) {
    const bool has = op.input(scale + 1).present();
    if (has) hasZeroPoint |= 1u << bit;
    return builder.input(scale + (has ? 1 : 0));
  };
  const BufferRange aZeroPoint = zeroPoint(1, 0);
  const BufferRange bZeroPoint = zeroPoint(4, 1);
  const BufferRange yZeroPoint = zeroPoint(6, 2);
  const BufferRange parameters = builder.allocateTemporary(3 * 2 * sizeof(float));
  TRY(builder.add(kernels::QuantizationParameters{.type = KernelType::U32,
                                                  .push = {.aType = typeWord(a.type),
                                                           .bType = typeWord(b.type),
                                                           .yType = typeWord(y.type),
                                                           .hasZeroPoint = hasZeroPoint},
                                                  .aScale = builder.input(1),
                                                  .aZeroPoint = aZeroPoint,
                                                  .bScale = builder.input(4),
                                                  .bZeroPoint = bZeroPoint,
                                                  .yScale = builder.input(6),
                                                  .yZeroPoint = yZeroPoint,
                                                  .parametersOf = parameters},
                  1, 0, 1));

  const Walk walk = makeWalk(y.sizeSpan(), {&a, &b, &y}).coalesceBy(2);
  const auto vectors = walk.inVectors(vectorElements(y.type), 7);
  const Walk& steps = vectors ? *vectors : walk;
  using kernels::QuantizedAdd;
  return builder.addWalk(steps,
                         QuantizedAdd{.form = vectors ? QuantizedAdd::Form::Vectors : QuantizedAdd::Form::Strided,
                                      .type = KernelType::U32,
                                      .push = {.walk = walkWords(steps),
                                               .aType = typeWord(a.type),
                                               .bType = typeWord(b.type),
                                               .yType = typeWord(y.type)},
                                      .a = builder.input(0),
                                      .b = builder.input(3),
                                      .parametersOf = parameters,
                                      .y = builder.output()});
}

// The steps of a chain that quantize a number by operands 1 and 2.
ElementStep dividedByScale(DataType from) { return {.kind = StepKind::Quotient, .from = from, .input = 1}; }
ElementStep plusZeroPoint(DataType to) { return {.kind = StepKind::Quantize, .to = to, .input = 2}; }

// The range of the input, then the scale and zero point that spread it, then the quantization by them.
Status planDynamicQuantization(const Operation& op, PlanBuilder& builder) {
  constexpr uint64_t kGroups = 2048;
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  const Walk walk = makeWalk(x.sizeSpan(), {&x, nullptr, nullptr, &y}).coalesceBy(0);
  // The first pass reads vectors, or elements.
  const auto vectors = makeWalk(x.sizeSpan(), {&x}).coalesceBy(0).inVectors(vectorElements(x.type), 1);
  const uint64_t parts = vectors ? vectors->count() : x.elements;
  const auto perGroup =
      static_cast<uint32_t>(std::max(divideUp(parts, kGroups), uint64_t{(vectors ? 2 : 8) * kGroupSize}));
  const auto groups = static_cast<uint32_t>(divideUp(parts, perGroup));
  const BufferRange ranges = builder.allocateTemporary(groups * 2 * sizeof(float));
  const BufferRange scale = builder.output(1);
  const BufferRange zeroPoint = builder.output(2);
  const uint32_t parameters = builder.parameters(walk);
  const auto addRange = [&](uint32_t of, uint32_t rank, uint32_t each, DataType type, bool finishes) {
    using kernels::DynamicRange;
    const bool readsVectors = vectors && !finishes;
    return builder.add(
        DynamicRange{.form = readsVectors ? DynamicRange::Form::Vectors : DynamicRange::Form::Strided,
                     .type = KernelType::U32,
                     .push = {.walk = {.count = of, .rank = rank}, .perGroup = each, .type = typeWord(type)},
                     .spec = {.finishes = finishes},
                     .x = builder.input(0),
                     .ranges = ranges,
                     .scale = scale,
                     .zeroPoint = zeroPoint},
        divideUp(of, each), readsVectors ? builder.parameters(*vectors) : parameters, readsVectors ? x.elements : of);
  };
  TRY(addRange(static_cast<uint32_t>(parts), vectors ? vectors->rank : walk.rank, perGroup, x.type, false));
  TRY(addRange(groups, 0, groups, y.type, true));
  if (SingleChain::isWorthwhile(y, builder.target())) {
    const auto chain = SingleChain::of({dividedByScale(DML_TENSOR_DATA_TYPE_FLOAT32), plusZeroPoint(y.type)},
                                       {x.type, DML_TENSOR_DATA_TYPE_FLOAT32, y.type}, y.type);
    if (chain && !chain->refuses(walk, 4, builder.target()))
      return chain->add(builder, walk, {builder.input(0), scale, zeroPoint, builder.output()});
  }
  const WalkOperand operands[] = {
      builder.inputOperand(0), {scale, 32}, {zeroPoint, bitWidth(y.type)}, builder.outputOperand()};
  return addQuantization(builder, walk, operands, {x.type, DML_TENSOR_DATA_TYPE_FLOAT32, y.type, 1});
}

DIMPLE_FIELDS(kQuantizeLinearFields, DIMPLE_INPUT(InputTensor, ScaleTensor), DIMPLE_OPTIONAL_INPUT(ZeroPointTensor),
              DIMPLE_OUTPUT(OutputTensor));
DIMPLE_FIELDS(kQuantizedLinearAddFields, DIMPLE_QUANTIZED_INPUT(A), DIMPLE_QUANTIZED_INPUT(B),
              DIMPLE_OUTPUT_QUANTIZATION, DIMPLE_OUTPUT(OutputTensor));
DIMPLE_FIELDS(kDynamicQuantizeLinearFields, DIMPLE_IN_AND_OUT, DIMPLE_OUTPUT(OutputScaleTensor, OutputZeroPointTensor));
DIMPLE_FIELDS(kQuantizeFields, DIMPLE_INPUT(InputTensor), DIMPLE_ENUM(QuantizationType, kQuantizationTypes),
              DIMPLE_UINT(QuantizationTensorCount), DIMPLE_INPUT_ARRAY(2, QuantizationTensors),
              DIMPLE_OUTPUT(OutputTensor));

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
    DIMPLE_ROW(ELEMENT_WISE_QUANTIZE_LINEAR, kQuantizeLinearFields, .rules = kQuantizeLinearRules,
               .check = checkQuantizeLinear, .plan = planQuantization),
    DIMPLE_ROW(ELEMENT_WISE_DEQUANTIZE_LINEAR, kQuantizeLinearFields, .rules = kDequantizeLinearRules,
               .plan = planQuantization),
    DIMPLE_ROW(ELEMENT_WISE_QUANTIZED_LINEAR_ADD, kQuantizedLinearAddFields, .rules = kQuantizedLinearAddRules,
               .check = checkQuantizedLinearAdd, .plan = planQuantizedAdd),
    DIMPLE_ROW(DYNAMIC_QUANTIZE_LINEAR, kDynamicQuantizeLinearFields, .rules = kDynamicQuantizeLinearRules,
               .check = checkDynamicQuantizeLinear, .plan = planDynamicQuantization),
    DIMPLE_ROW(QUANTIZE, kQuantizeFields, .rules = kQuantizeRules, .check = checkBlocks, .plan = planQuantization),
    DIMPLE_ROW(DEQUANTIZE, kQuantizeFields, .rules = kDequantizeRules, .check = checkBlocks, .plan = planQuantization),
};

}  // namespace

std::span<const OpSchema> quantizeSchemas() { return kQuantizeSchemas; }

std::vector<ElementStep> quantizationSteps(const Operation& op) {
  if (op.schema().plan != planQuantization) return {};
  constexpr DataType kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;
  const DataType from = op.input(0).type;
  const DataType to = op.output().type;
  const bool dequantizes = isFloat(to);
  ElementStep withZeroPoint{.kind = dequantizes ? StepKind::Difference : StepKind::Quantize,
                            .from = dequantizes ? from : kFloat,
                            .to = dequantizes ? kFloat : to};
  if (isPresent(op, 2))
    withZeroPoint.input = 2;
  else
    withZeroPoint.number = defaultZeroPoint(op);
  if (dequantizes)
    return {withZeroPoint, {.kind = StepKind::Binary, .op = DML_OPERATOR_ELEMENT_WISE_MULTIPLY, .to = to, .input = 1}};
  if (isFloat(from)) return {dividedByScale(op.input(1).type == from ? from : kFloat), withZeroPoint};
  return {{.kind = StepKind::Cast, .from = from, .to = kFloat}, dividedByScale(kFloat), withZeroPoint};
}

}  // namespace dimple
