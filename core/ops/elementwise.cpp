// ELEMENT_WISE_* operators that compute each output element from the input elements at the same coordinates.
#include "core/ops/elementwise.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/checked.h"
#include "core/ops/chain.h"
#include "core/ops/copy.h"
#include "core/ops/shared_kernels.h"
#include "core/plan/plan_builder.h"
#include "core/schema/element_text.h"
#include "kernels/interfaces/binary.h"
#include "kernels/interfaces/binary_turned.h"
#include "kernels/interfaces/pow.h"
#include "kernels/interfaces/pow_packed.h"
#include "kernels/interfaces/predicate.h"
#include "kernels/interfaces/predicate_packed.h"
#include "kernels/interfaces/select.h"
#include "kernels/interfaces/select_packed.h"
#include "kernels/interfaces/select_rows.h"
#include "kernels/interfaces/unary.h"
#include "kernels/interfaces/unary_turned.h"

namespace dimple {
namespace {

// A number in the representation of a tensor's type.
std::array<uint32_t, 2> wordsOf(double value, DataType type) {
  if (isFloat(type)) return {floatBits(value), 0};
  const uint64_t word = saturated(value, type);
  return {static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)};
}

// Returns the same for a value of that type.
std::array<uint32_t, 2> wordsOf(const DML_SCALAR_UNION& value, DataType type) {
  if (type == DML_TENSOR_DATA_TYPE_FLOAT16) return wordsOf(static_cast<double>(halfValue(value.UInt16)), type);
  if (byteWidth(type) == 4) return {value.UInt32, 0};
  if (byteWidth(type) == 8) return {static_cast<uint32_t>(value.UInt64), static_cast<uint32_t>(value.UInt64 >> 32)};
  const uint32_t unused = 32 - bitWidth(type);
  const uint32_t top = value.UInt32 << unused;
  return {isSigned(type) ? static_cast<uint32_t>(static_cast<int32_t>(top) >> unused) : top >> unused, 0};
}

// The operator's numbers and modes in order, two words each.
std::array<uint32_t, 4> attributeWords(const Operation& op) {
  const bool real = op.schema().type == DML_OPERATOR_ACTIVATION_SHRINK;
  const DataType type = real ? DML_TENSOR_DATA_TYPE_FLOAT32 : op.input(0).type;
  std::array<uint32_t, 4> words{};
  auto at = words.begin();
  for (const Field& field : op.schema().fields) {
    std::array<uint32_t, 2> pair{};
    // Scalars have the tensor's type, whatever type CLIP1 states.
    if (field.values == &kTensorDataTypes) continue;
    if (field.type == FieldType::Float)
      pair = wordsOf(static_cast<double>(op.field<FLOAT>(field)), type);
    else if (field.type == FieldType::Scalar)
      pair = wordsOf(op.field<DML_SCALAR_UNION>(field), type);
    else if (field.type == FieldType::Enum)
      pair[0] = op.field<uint32_t>(field);
    else
      continue;
    at = std::ranges::copy(pair, at).out;
  }
  return words;
}

// Bitwise operators run on unsigned integers of the same width, whatever the data type.
DataType computeType(const Operation& op) {
  const DataType type = op.input(0).type;
  switch (op.schema().type) {
    case DML_OPERATOR_ELEMENT_WISE_BIT_AND:
    case DML_OPERATOR_ELEMENT_WISE_BIT_COUNT:
    case DML_OPERATOR_ELEMENT_WISE_BIT_NOT:
    case DML_OPERATOR_ELEMENT_WISE_BIT_OR:
    case DML_OPERATOR_ELEMENT_WISE_BIT_XOR:
      return unsignedType(byteWidth(type));
    default:
      return type;
  }
}

// The kernel for a part, of families that have one for packed tensors and one for rows.
template <class Kernel>
typename Kernel::Form formOf(const ElementPart& part) {
  using Form = typename Kernel::Form;
  return part.rows ? Form::Rows : part.packed ? Form::Packed : Form::Strided;
}

// Rows of vectors of a part: the walk through them, and which inputs stand still along them.
struct VectorRowsOf {
  Walk walk;
  uint32_t standing = 0;
};

// No value if the output, or the only input, does not lie in them.
std::optional<VectorRowsOf> rowsOf(const Walk& part, uint32_t output, uint32_t number) {
  if (part.rank == 0) return {};
  const auto& inner = part.strides[part.rank - 1];
  uint32_t standing = 0;
  for (uint32_t k = 0; output > 1 && k < output; ++k)
    if (inner[k] == 0) standing |= 1u << k;
  const uint32_t moving = ((2u << output) - 1) & ~standing;
  if (const auto vectors = part.inVectors(number, moving)) return VectorRowsOf{*vectors, standing};
  return {};
}

// The same for kernels that include kernels/common/vectors.glsl, which take two of these.
uint32_t vectorPairElements(DataType type) { return 256 / bitWidth(type); }

}  // namespace

uint64_t saturated(double value, DataType type) {
  const double whole = std::isnan(value) ? 0.0 : std::trunc(value);
  // The first value above the range.
  const double end = std::ldexp(1.0, static_cast<int>(bitWidth(type) - isSigned(type)));
  if (whole >= end) return ~uint64_t{0} >> (64 - bitWidth(type) + isSigned(type));
  if (whole >= 0) return static_cast<uint64_t>(whole);
  return isSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(std::max(whole, -end))) : 0;
}

DataType unsignedType(uint32_t bytes) {
  return bytes == 1   ? DML_TENSOR_DATA_TYPE_UINT8
         : bytes == 2 ? DML_TENSOR_DATA_TYPE_UINT16
         : bytes == 4 ? DML_TENSOR_DATA_TYPE_UINT32
                      : DML_TENSOR_DATA_TYPE_UINT64;
}

bool areManyRuns(const Target& target, uint64_t elements, uint32_t number) {
  return elements / number >= uint64_t{target.caps.workgroups} * kGroupSize / 2;
}

bool takesRows(const Target& target) { return !target.caps.fixesParameters && !sharesKernels(target); }

bool takesBlocks(const Target& target, uint64_t elements) {
  if (!target.caps.fixesParameters) return takesRows(target);
  return !target.options.estimates || (!target.caps.isProcessor && areManyRuns(target, elements, kBlockElements));
}

uint32_t convertedElements(const Target& target, std::initializer_list<DataType> inputs, DataType output) {
  if (!takesRows(target)) return 0;
  const auto isNarrow = [](DataType type) { return bitWidth(type) < 8; };
  const auto isKnown = [](DataType type) { return bitWidth(type) <= 32; };
  if (!isKnown(output) || !std::ranges::all_of(inputs, isKnown)) return 0;
  return bitWidth(output) < 32 || std::ranges::any_of(inputs, isNarrow) ? 8 : 4;
}

Status addElements(PlanBuilder& builder, Walk walk, std::span<const WalkOperand> operands, uint32_t packedElements,
                   const ElementCall& call, VectorUse use) {
  const auto output = static_cast<uint32_t>(operands.size() - 1);
  const auto chain = SingleChain::of(builder.op(), builder.target());
  walk.coalesceBy(output);
  return builder.addWindows(walk, operands, [&](const Walk& part, const std::vector<BufferRange>& buffers) {
    const uint64_t count = part.count();
    uint32_t uniformMask = 0;
    for (uint32_t k = 0; output > 1 && k < output; ++k)
      if (part.isUniform(k) && part.base[k] == 0) uniformMask |= 1u << k;
    const bool packed = packedElements != 0 && part.isPacked(((2u << output) - 1) & ~uniformMask) &&
                        (!use.whole || count % packedElements == 0);
    const bool hasOthers = packedElements != 0 && !packed && takesRows(builder.target());
    const bool hasBlocks = use.orBlocks && !packed && takesBlocks(builder.target(), count);
    const auto blocks = hasBlocks ? blocksOf(part, output) : std::nullopt;
    if (chain && !packed && !blocks) {
      const char* refusal = chain->refuses(part, operands.size(), builder.target());
      if (!refusal) return chain->add(builder, part, buffers);
      builder.passOver({"chain", refusal});
    }
    const uint32_t rowElements = use.rowElements != 0 ? use.rowElements : packedElements;
    if (const auto rows = use.orRows && hasOthers ? rowsOf(part, output, rowElements) : std::nullopt)
      return builder.addItems(call({.walk = {static_cast<uint32_t>(count), rows->walk.rank},
                                    .uniformMask = rows->standing,
                                    .buffers = buffers,
                                    .packed = true,
                                    .rows = true}),
                              rows->walk.count(), builder.parameters(rows->walk), rowElements);
    if (blocks)
      return builder.addItems(call({.walk = walkWords(blocks->walk),
                                    .uniformMask = blocks->standing,
                                    .buffers = buffers,
                                    .blocks = *blocks}),
                              blocks->walk.count(), builder.parameters(blocks->walk), kBlockElements);
    const auto vectors = packed || use.elements == 0 ? std::nullopt : part.inVectors(use.elements, use.operands);
    if (vectors)
      return builder.addItems(
          call({.walk = walkWords(*vectors), .uniformMask = uniformMask, .buffers = buffers, .vectors = true}),
          vectors->count(), builder.parameters(*vectors), use.elements);
    const bool usesRuns = use.orRuns && !packed && areManyRuns(builder.target(), count, use.elements);
    const auto runs = usesRuns ? part.inRuns(use.elements, output) : std::nullopt;
    if (runs)
      return builder.addItems(
          call({.walk = walkWords(*runs), .uniformMask = uniformMask, .buffers = buffers, .runs = true}),
          count / use.elements, builder.parameters(*runs), use.elements);
    const kernels::WalkWords words{static_cast<uint32_t>(count), packed ? 0 : part.rank};
    return builder.addItems(call({.walk = words, .uniformMask = uniformMask, .buffers = buffers, .packed = packed}),
                            packed ? divideUp(count, packedElements) : count, packed ? 0 : builder.parameters(part),
                            packed ? packedElements : 1);
  });
}

Status planElements(const Operation& op, PlanBuilder& builder, std::initializer_list<size_t> inputs,
                    uint32_t packedElements, const ElementCall& call, VectorUse use) {
  std::vector<const Tensor*> tensors;
  std::vector<WalkOperand> operands;
  for (const size_t i : inputs) {
    tensors.push_back(&op.input(i));
    operands.push_back(builder.inputOperand(i));
  }
  tensors.push_back(&op.output());
  operands.push_back(builder.outputOperand());
  return addElements(builder, makeWalk(op.output().sizeSpan(), tensors), operands, packedElements, call, use);
}

const DML_SCALE_BIAS* scaleBias(const Operation& op) {
  const Field* field = findField(op.schema(), FieldType::ScaleBias);
  const DML_SCALE_BIAS* scale = field ? op.field<const DML_SCALE_BIAS*>(*field) : nullptr;
  return scale && (scale->Scale != 1.0f || scale->Bias != 0.0f) ? scale : nullptr;
}

std::vector<MovedPart> partsOfIdentity(const Operation& op) {
  if (scaleBias(op)) return {};
  return {wholePart(op)};
}

kernels::ScaleBiasWords scaleBiasWords(const Operation& op) {
  const DML_SCALE_BIAS* scale = scaleBias(op);
  return {scale != nullptr, floatBits(scale ? scale->Scale : 1.0f), floatBits(scale ? scale->Bias : 0.0f)};
}

Status planUnary(const Operation& op, PlanBuilder& builder) {
  using kernels::Unary;
  if (op.schema().type == DML_OPERATOR_ELEMENT_WISE_IDENTITY && !partsOfIdentity(op).empty())
    return planParts(op, builder);
  const auto attributes = attributeWords(op);
  const DataType type = computeType(op);
  const auto call = [&](const ElementPart& part) -> KernelCall {
    if (part.blocks)
      return kernels::UnaryTurned{.type = kernelType(type),
                                  .push = {.walk = part.walk,
                                           .xStep = part.blocks->steps[0],
                                           .yStep = part.blocks->steps[1],
                                           .scaleBias = scaleBiasWords(op),
                                           .attributes = {attributes[0], attributes[1], attributes[2], attributes[3]}},
                                  .spec = {.op = op.schema().type},
                                  .x = part.buffers[0],
                                  .y = part.buffers[1]};
    return Unary{.form = formOf<Unary>(part),
                 .type = part.packed ? kernelType(type) : builder.typedElement(type),
                 .push = {.walk = part.walk,
                          .scaleBias = scaleBiasWords(op),
                          .attributes = {attributes[0], attributes[1], attributes[2], attributes[3]}},
                 .spec = {.op = op.schema().type},
                 .x = part.buffers[0],
                 .y = part.buffers[1]};
  };
  return planElements(op, builder, {0}, vectorElements(type), call,
                      {.orRows = bitWidth(type) <= 32, .orBlocks = isFloat(type)});
}

Status activateOutput(const Operation& op, PlanBuilder& builder, const Activation& activation) {
  using kernels::Unary;
  const Tensor& y = op.output();
  const kernels::AttributesWords attributes{floatBits(activation.parameters[0]), 0, floatBits(activation.parameters[1]),
                                            0};
  return addElements(
      builder, makeWalk(y.sizeSpan(), {&y, &y}), std::array{builder.outputOperand(), builder.outputOperand()},
      vectorElements(y.type), [&](const ElementPart& part) {
        return Unary{.form = formOf<Unary>(part),
                     .type = part.packed ? kernelType(y.type) : builder.typedElement(y.type),
                     .push = {.walk = part.walk, .scaleBias = {0, floatBits(1.0f), 0}, .attributes = attributes},
                     .spec = {.op = activation.type},
                     .x = part.buffers[0],
                     .y = part.buffers[1]};
      });
}

Status planBinary(const Operation& op, PlanBuilder& builder) {
  using kernels::Binary;
  const Activation& fused = op.activation();
  const auto attributes = fused.type == DML_OPERATOR_INVALID
                              ? attributeWords(op)
                              : std::array{floatBits(fused.parameters[0]), 0u, floatBits(fused.parameters[1]), 0u};
  const DataType type = computeType(op);
  const auto call = [&](const ElementPart& part) -> KernelCall {
    if (part.blocks)
      return kernels::BinaryTurned{.type = kernelType(type),
                                   .push = {.walk = part.walk,
                                            .uniformMask = part.uniformMask,
                                            .turnedMask = part.blocks->turned,
                                            .aStep = part.blocks->steps[0],
                                            .bStep = part.blocks->steps[1],
                                            .yStep = part.blocks->steps[2],
                                            .attributes = {attributes[0], attributes[1], attributes[2], attributes[3]}},
                                   .spec = {.op = op.schema().type},
                                   .a = part.buffers[0],
                                   .b = part.buffers[1],
                                   .y = part.buffers[2]};
    return Binary{.form = formOf<Binary>(part),
                  .type = part.packed ? kernelType(type) : builder.typedElement(type),
                  .push = {.walk = part.walk,
                           .uniformMask = part.uniformMask,
                           .attributes = {attributes[0], attributes[1], attributes[2], attributes[3]}},
                  .spec = {.op = op.schema().type, .fused = fused.type},
                  .a = part.buffers[0],
                  .b = part.buffers[1],
                  .y = part.buffers[2]};
  };
  const bool isPlain = isFloat(type) && fused.type == DML_OPERATOR_INVALID;
  // Chains take less time for two operands.
  return planElements(op, builder, {0, 1}, vectorElements(type), call,
                      {.orRows = bitWidth(type) <= 32, .orBlocks = isPlain && takesRows(builder.target())});
}

Status planPow(const Operation& op, PlanBuilder& builder) {
  const DataType type = op.output().type;
  const auto call = [&](const ElementPart& part) -> KernelCall {
    if (part.packed)
      return kernels::PowPacked{
          .type = kernelType(type),
          .push = {.walk = part.walk, .uniformMask = part.uniformMask, .scaleBias = scaleBiasWords(op)},
          .x = part.buffers[0],
          .exponent = part.buffers[1],
          .y = part.buffers[2]};
    return kernels::Pow{.type = kernelType(type),
                        .push = {.walk = part.walk, .scaleBias = scaleBiasWords(op)},
                        .spec = {.exponent = op.input(1).type},
                        .x = part.buffers[0],
                        .exponent = part.buffers[1],
                        .y = part.buffers[2]};
  };
  const bool hasPacked = isFloat(type) && op.input(1).type == type && takesRows(builder.target());
  return planElements(op, builder, {0, 1}, hasPacked ? vectorElements(type) : 0, call, {.orRows = true});
}

template <class Kernel>
KernelCall predicateCall(const Operation& op, const typename Kernel::Push& push, const ElementPart& part) {
  return Kernel{.type = kernelType(computeType(op)),
                .push = push,
                .spec = {.op = op.schema().type},
                .a = part.buffers[0],
                .b = part.buffers[1],
                .y = part.buffers[2]};
}

Status planPredicate(const Operation& op, PlanBuilder& builder) {
  // One operand is bound in both places.
  const size_t second = op.inputs().size() - 1;
  const uint32_t mode = attributeWords(op)[0];
  const uint32_t outBytes = byteWidth(op.output().type);
  const DataType type = computeType(op);
  // The kernel for packed tensors stores single words of 4 answers, as many as it loads narrow elements.
  const bool asChain = bitWidth(type) < 32 && SingleChain::of(op, builder.target());
  return planElements(op, builder, {0, second}, asChain ? 0 : vectorPairElements(type), [&](const ElementPart& part) {
    return part.packed
               ? predicateCall<kernels::PredicatePacked>(op, {part.walk.count, part.uniformMask, outBytes, mode}, part)
               : predicateCall<kernels::Predicate>(op, {part.walk, outBytes, mode}, part);
  });
}

template <class Kernel>
KernelCall selectCall(decltype(Kernel::type) type, const typename Kernel::Push& push, const ElementPart& part) {
  return Kernel{.type = type,
                .push = push,
                .condition = part.buffers[0],
                .a = part.buffers[1],
                .b = part.buffers[2],
                .y = part.buffers[3]};
}

Status planSelect(const Operation& op, PlanBuilder& builder) {
  const DataType type = op.input(1).type;
  const KernelElement element = builder.sizedElement(type);
  const auto call = [&](const ElementPart& part) {
    return part.rows     ? selectCall<kernels::SelectRows>(element.type, {part.walk, part.uniformMask}, part)
           : part.packed ? selectCall<kernels::SelectPacked>(element.type, {part.walk.count, part.uniformMask}, part)
                         : selectCall<kernels::Select>(element, {part.walk}, part);
  };
  return planElements(op, builder, {0, 1, 2}, vectorPairElements(type), call,
                      {.orRows = bitWidth(type) == 16 || bitWidth(type) == 32, .rowElements = vectorElements(type)});
}

std::vector<ElementStep> elementwiseSteps(const Operation& op) {
  const auto plan = op.schema().plan;
  if (plan != planUnary && plan != planBinary && plan != planPredicate && plan != planSelect && plan != planPow)
    return {};
  const DML_OPERATOR_TYPE function = op.schema().type;
  const DataType type = computeType(op);
  const DataType result = op.output().type;
  // The type in which a step hands its result to another step of the same operator. Floats are not rounded to FLOAT16
  // there.
  const DataType between = isFloat(type) ? DML_TENSOR_DATA_TYPE_FLOAT32 : type;
  std::vector<ElementStep> steps;
  // The kernel does not hold the bits of a FLOAT16 element.
  if (isFloat(op.input(0).type) && !isFloat(type)) return steps;
  const DML_SCALE_BIAS* scale = scaleBias(op);
  const auto attributes = attributeWords(op);

  const auto add = [&](StepKind kind, DML_OPERATOR_TYPE is, DataType from, DataType to, uint32_t a, uint32_t b) {
    steps.push_back({.kind = kind, .op = is, .from = from, .to = to, .a = a, .b = b});
  };

  if (plan == planUnary) {
    if (scale)
      add(StepKind::Scale, DML_OPERATOR_INVALID, type, between, floatBits(scale->Scale), floatBits(scale->Bias));
    add(StepKind::Unary, function, type, result, attributes[0], attributes[2]);
  } else if (plan == planBinary) {
    const Activation& fused = op.activation();
    const bool fuses = fused.type != DML_OPERATOR_INVALID;
    add(StepKind::Binary, function, type, fuses ? between : result, attributes[0], attributes[2]);
    steps.back().input = 1;
    if (fuses)
      add(StepKind::Unary, fused.type, between, result, floatBits(fused.parameters[0]), floatBits(fused.parameters[1]));
  } else if (plan == planPredicate) {
    const size_t second = op.inputs().size() - 1;
    steps.push_back({.kind = StepKind::Predicate, .op = function, .from = type, .to = result, .a = attributes[0]});
    if (second) steps.back().input = second;
  } else if (plan == planSelect) {
    // The condition does not have the type of the result, and the selected value is not changed.
    constexpr DataType kAsItIs = DML_TENSOR_DATA_TYPE_UINT32;
    steps.push_back({.kind = StepKind::Condition, .to = kAsItIs});
    steps.push_back({.kind = StepKind::Load, .to = kAsItIs, .input = 1});
    steps.push_back({.kind = StepKind::Select, .to = kAsItIs, .input = 2});
  } else if (plan == planPow && isFloat(type) && isFloat(op.input(1).type) && !scale) {
    steps.push_back({.kind = StepKind::Power, .from = type, .to = result, .input = 1});
  }
  return steps;
}

}  // namespace dimple
