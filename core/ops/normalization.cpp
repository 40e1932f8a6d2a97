// Normalization and its gradients, in one file, since all reduce and scale the same rows.
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/shared_kernels.h"
#include "core/ops/spread.h"
#include "core/ops/table.h"
#include "core/ops/vector_rows.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/normalize.h"
#include "kernels/interfaces/normalize_grad.h"
#include "kernels/interfaces/normalize_row.h"
#include "kernels/interfaces/row_results.h"
#include "kernels/interfaces/row_sums.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

// Each input after the first `count` inputs may be broadcast to the first input.
template <size_t count>
Status checkParameters(const Operation& op) {
  for (size_t i = count; i < op.inputs().size(); ++i)
    TRY(checkBroadcast(op.inputName(i), op.input(i), op.inputName(0), op.input(0)));
  return {};
}

// FusedAddTensor has relations of its own.
Status checkTraining(const Operation& op) {
  return checkBroadcast("ScaleTensor", op.input(1), "InputTensor", op.input(0));
}

Status checkLp(const Operation& op) {
  const auto& desc = op.as<DML_LP_NORMALIZATION_OPERATOR_DESC>();
  TRY(checkAtMost("Axis", desc.Axis, op.input(0).rank - 1));
  if (desc.P != 1 && desc.P != 2) return invalid(cat("P has value (", desc.P, "), expected 1 or 2."));
  return {};
}

template <class S>
Status checkMeanVariance(const Operation& op) {
  const auto& desc = op.as<S>();
  TRY(checkAxes({desc.Axes, desc.AxisCount}, op.input(0).rank));
  return checkParameters<1>(op);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// The rows of a tensor: sets of elements that differ in the dimensions of a mask only. Each has a pair of sums.
struct Rows {
  uint32_t mask;
  uint32_t count;
  uint32_t elements;  // of each
  Tensor pairs;       // one element per row
};

Rows rowsOf(const Tensor& x, uint32_t mask) {
  auto sizes = x.sizes;
  for (uint32_t d = 0; d < x.rank; ++d)
    if (mask >> d & 1) sizes[d] = 1;
  const Tensor pairs = packedTensor(x.type, std::span(sizes).first(x.rank));
  return {mask, static_cast<uint32_t>(pairs.elements), static_cast<uint32_t>(x.elements / pairs.elements), pairs};
}

// The dimensions in which a tensor of parameters has one element for all.
uint32_t sharedDimensions(const Tensor& tensor) {
  uint32_t mask = 0;
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (tensor.sizes[d] == 1) mask |= 1u << d;
  return mask;
}

Result<BufferRange> allocatePairs(PlanBuilder& builder, uint64_t count) {
  TRY(builder.checkBindable(count * 8, cat("InputTensor has ", count, " sums"), "pairs", 8));
  return builder.allocateTemporary(count * 8);
}

// The modes of kernels/normalization/row_sums.comp.
enum class Sums : uint32_t { Moments, Squares, Magnitudes, Gradients };

// An input that takes part. 0, which is the input itself, stands for none.
const Tensor* partOf(const Operation& op, size_t input) { return input ? &op.input(input) : nullptr; }

// Vectors of a part of kernels/normalization/row_sums_vectors.comp.
constexpr uint32_t kPartVectors = 4 * kGroupSize;

// Returns the walks of that kernel, if the operands in the mask lie in vectors along rows that fill half a workgroup.
std::optional<SplitWalk> sumsInVectors(const SplitWalk& walks, const Rows& rows, uint32_t number, uint32_t operands) {
  if (rows.elements < number * kGroupSize / 2) return {};
  const auto reduced = walks.reduced.inVectors(number, operands);
  const auto kept = walks.kept.betweenVectors(number, operands);
  return reduced && kept ? std::optional(SplitWalk{*kept, *reduced}) : std::nullopt;
}

// Adds the dispatches that make the pair of each row of input 0. Inputs 1 and 2 are the gradient and the mean, where
// gradients are summed.
Result<BufferRange> addRowSums(PlanBuilder& builder, const Rows& rows, Sums sums, float divisor) {
  enum Stage : uint32_t { Only, Parts, OfParts };
  const Operation& op = builder.op();
  const Tensor& x = op.input(0);
  const size_t gradient = sums == Sums::Gradients ? 1 : 0;
  const size_t mean = sums == Sums::Gradients ? 2 : 0;
  const Walk walk = makeWalk(x.sizeSpan(), {&x, partOf(op, gradient), partOf(op, mean), &rows.pairs});
  SplitWalk walks = split(walk, rows.mask);
  walks.kept.coalesceBy(0);
  walks.reduced.coalesce();
  const uint32_t number = vectorElements(x.type);
  const auto vectors = sumsInVectors(walks, rows, number, gradient ? 0b11 : 0b01);
  if (!vectors) builder.passOver({"row_sums_vectors", "Its rows are not in vectors, or are short."});
  Spread spread = spreadOf(rows.count, rows.elements, areDense(x, rows.mask));
  if (vectors) {
    spread = {true, static_cast<uint32_t>(divideUp(rows.elements, kPartVectors * number)), kPartVectors * number};
    walks = *vectors;
  }
  const uint32_t parameters = builder.parameters(walks.kept, walks.reduced);

  auto pairs = allocatePairs(builder, rows.count);
  if (!pairs) return pairs;
  const BufferRange input = builder.input(0);
  const auto add = [&](bool row, Stage stage, uint32_t elements, uint32_t parts, const BufferRange& from,
                       const BufferRange& to) {
    using Form = kernels::RowSums::Form;
    const bool usesVectors = vectors && stage != OfParts;
    kernels::RowSums call{.form = usesVectors ? Form::Vectors : Form::Strided,
                          .type = kernelType(x.type),
                          .push = {.rows = rows.count,
                                   .elements = usesVectors ? elements / number : elements,
                                   .parts = parts,
                                   .partLength = spread.perChunk,
                                   .total = rows.elements,
                                   .divisor = floatBits(divisor),
                                   .split = {walks.kept.rank, walks.reduced.rank, walks.kept.vectors()}},
                          .spec = {.function = static_cast<uint32_t>(sums), .stage = stage},
                          .x = input,
                          .g = builder.input(gradient),
                          .mean = builder.input(mean),
                          .result = to,
                          .parts = from};
    if (!usesVectors) call.spec.row = row;
    return builder.add(call, taskGroups(uint64_t{rows.count} * parts, row), parameters, x.elements);
  };
  if (spread.chunks == 1) {
    TRY(add(spread.row, Only, rows.elements, 1, input, *pairs));
    return pairs;
  }
  auto parts = allocatePairs(builder, uint64_t{rows.count} * spread.chunks);
  if (!parts) return parts;
  TRY(add(spread.row, Parts, rows.elements, spread.chunks, input, *parts));
  TRY(add(spreadOf(rows.count, spread.chunks, true).row, OfParts, spread.chunks, 1, *parts, *pairs));
  return pairs;
}

// Parts of the formula of kernels/normalization/normalize.comp.
constexpr uint32_t kPairs = 1;  // mean and variance are those of the rows
constexpr uint32_t kScale = 2;
constexpr uint32_t kBias = 4;
constexpr uint32_t kAddend = 8;
constexpr uint32_t kMean = 16;
constexpr uint32_t kVariance = 32;
constexpr uint32_t kSquares = 64;
constexpr uint32_t kSumOfSquares = 256;  // of kernels/normalization/rows.glsl

// The indices of the inputs that take part. An input that does not take part has index 0, which is the input itself.
struct Operands {
  size_t mean = 0, variance = 0, scale = 0, bias = 0, addend = 0;
};

// Parts of the formula, with those of the operands that take part.
uint32_t withOperands(uint32_t parts, const Operands& operands) {
  if (operands.scale) parts |= kScale;
  if (operands.bias) parts |= kBias;
  if (operands.addend) parts |= kAddend;
  return parts;
}

// How kernels/normalization/normalize.comp walks: operands 0 to 3 are the input, the output, the addend and the pairs,
// the others are the mean, the variance, the scale and the bias.
struct NormalizeWalks {
  Walk first;
  Walk second;
  uint32_t along = 0;  // of walks through vectors, the parts that lie in vectors, too
  bool vectors = false;
};

// Walks through operands 0 to 3 and through the others.
std::pair<Walk, Walk> splitOperands(const Walk& all) {
  Walk first;
  Walk second;
  for (uint32_t d = 0; d < all.rank; ++d) {
    const auto& s = all.strides[d];
    first.addDimension(all.sizes[d], {s[0], s[1], s[2], s[3]});
    second.addDimension(all.sizes[d], {s[4], s[5], s[6], s[7]});
  }
  return {first.coalesce(), second.coalesce()};
}

NormalizeWalks normalizeWalks(const Operation& op, const Operands& operands, const Rows* rows) {
  const auto part = [&](size_t input) { return partOf(op, input); };
  const Tensor& x = op.input(0);
  Walk all =
      makeWalk(x.sizeSpan(), {&x, &op.output(), part(operands.addend), rows ? &rows->pairs : nullptr,
                              part(operands.mean), part(operands.variance), part(operands.scale), part(operands.bias)});
  all.coalesceBy(1);
  uint32_t moving = 0;
  for (uint32_t k = 0; all.rank != 0 && k < kMaxOperands; ++k)
    moving |= uint32_t{all.strides[all.rank - 1][k] != 0} << k;
  // All operands except the pairs and the parameters must lie in vectors.
  const uint32_t most = 0b11110111;
  const uint32_t least = 0b11 | uint32_t{operands.addend != 0} << 2;
  NormalizeWalks walks;
  const bool usable =
      op.schema().type != DML_OPERATOR_LP_NORMALIZATION && (moving & ~most) == 0 && (moving & least) == least;
  if (const auto vectors = usable ? all.inVectors(vectorElements(x.type), moving) : std::nullopt) {
    all = *vectors;
    walks.vectors = true;
    constexpr uint32_t kMeanAlong = 256;
    walks.along = (moving >> kIndexedOperands) * kMeanAlong;
  }
  std::tie(walks.first, walks.second) = splitOperands(all);
  return walks;
}

Status addNormalize(PlanBuilder& builder, uint32_t parts, const Operands& operands, float epsilon, const Rows* rows,
                    const BufferRange& pairs) {
  using Form = kernels::Normalize::Form;
  const Operation& op = builder.op();
  const bool isLp = op.schema().type == DML_OPERATOR_LP_NORMALIZATION;
  const Tensor& x = op.input(0);
  const NormalizeWalks walks = normalizeWalks(op, operands, rows);
  const Activation& activation = op.activation();
  const auto count = static_cast<uint32_t>(walks.first.count());
  kernels::Normalize call{.form = walks.vectors ? Form::Vectors : Form::Strided,
                          .type = walks.vectors ? KernelElement(kernelType(x.type)) : builder.typedElement(x.type),
                          .push = {.walk = {count, walks.first.rank},
                                   .secondRank = walks.second.rank,
                                   .secondAt = walks.first.vectors(),
                                   .epsilon = floatBits(epsilon),
                                   .alpha = floatBits(activation.parameters[0]),
                                   .beta = floatBits(activation.parameters[1])},
                          .spec = {.fused = activation.type, .parts = withOperands(parts, operands) | walks.along},
                          .x = builder.input(0),
                          .mean = builder.input(operands.mean),
                          .variance = builder.input(operands.variance),
                          .scale = builder.input(operands.scale),
                          .bias = builder.input(operands.bias),
                          .addend = builder.input(operands.addend),
                          .pairs = pairs,
                          .y = builder.output()};
  if (!walks.vectors) call.spec.function = isLp ? DML_OPERATOR_LP_NORMALIZATION : DML_OPERATOR_BATCH_NORMALIZATION;
  return builder.addItems(call, count, builder.parameters(walks.first, walks.second),
                          walks.vectors ? vectorElements(x.type) : 1);
}

Status planBatchNormalization(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<DML_BATCH_NORMALIZATION_OPERATOR_DESC>();
  return addNormalize(builder, kMean | kVariance, {1, 2, 3, 4, 0}, desc.Epsilon, nullptr, builder.input(0));
}

// Walks through the rows of input 0 and through their elements (operands: input, output, scale, bias).
SplitWalk rowWalks(const Operation& op, const Operands& operands, uint32_t mask) {
  const Tensor& x = op.input(0);
  const Walk walk = makeWalk(x.sizeSpan(), {&x, &op.output(), partOf(op, operands.scale), partOf(op, operands.bias)});
  SplitWalk walks = split(walk, mask);
  walks.kept.coalesce();
  walks.reduced.coalesceBy(0);
  return walks;
}

using RowForm = kernels::NormalizeRow::Form;

// The type in which rows are computed that are read or stored as FLOAT16.
constexpr DataType kCastRows = DML_TENSOR_DATA_TYPE_FLOAT32;
Status planCastMoments(const Operation& op, PlanBuilder& builder);

// Adds one dispatch with a workgroup for one row or for several. It goes through single elements if no vectors are
// chosen.
Status addNormalizeRows(PlanBuilder& builder, uint32_t parts, const Operands& operands, float epsilon, const Rows& rows,
                        const SplitWalk& walks, const VectorRows& chosen) {
  const Operation& op = builder.op();
  const Tensor& x = op.input(0);
  const auto& [kept, reduced] = walks;
  const Activation& activation = op.activation();
  const bool casts = op.schema().plan == planCastMoments;
  const RowForm form = casts                            ? castFormOf<RowForm>(chosen.reads)
                       : chosen.reads == RowReads::None ? RowForm::Strided
                                                        : formOf<RowForm>(chosen.reads);
  const DataType type = casts ? kCastRows : x.type;
  kernels::NormalizeRow call{
      .form = form,
      .type = form == RowForm::Strided ? builder.typedElement(type) : KernelElement(kernelType(type)),
      .push = {.rows = rows.count,
               .elements = rows.elements,
               .split = {kept.rank, reduced.rank, kept.vectors()},
               .epsilon = floatBits(epsilon),
               .alpha = floatBits(activation.parameters[0]),
               .beta = floatBits(activation.parameters[1])},
      .spec = {.fused = activation.type, .parts = withOperands(parts, operands)},
      .x = builder.input(0),
      .scale = builder.input(operands.scale),
      .bias = builder.input(operands.bias),
      .y = builder.output()};
  if (chosen.saysInvocations()) call.spec.invocations = chosen.invocations;
  if (chosen.reads == RowReads::HeldShort) call.spec.rowLanes = chosen.lanes;
  if (casts) {
    call.spec.xHalves = x.type != type;
    call.spec.yHalves = op.output().type != type;
    call.spec.factorHalves = operands.scale && op.input(operands.scale).type != type;
  }
  return builder.add(call, divideUp(rows.count, chosen.rowsOfGroup()), builder.parameters(kept, reduced), x.elements);
}

constexpr uint32_t kScaleAlong = 64;
constexpr uint32_t kBiasAlong = 128;

// Returns how scale and bias are read if they vary along rows, which must be in vectors, too. Returns no value if one
// of them does not lie in vectors.
std::optional<uint32_t> partsAlong(DataType type, const Operands& operands, const SplitWalk& walks) {
  uint32_t parts = 0;
  for (const auto& [input, operand, bit] :
       {std::tuple{operands.scale, 2u, kScaleAlong}, std::tuple{operands.bias, 3u, kBiasAlong}}) {
    if (!input || walks.reduced.isUniform(operand)) continue;
    if (!isInVectors(vectorElements(type), walks.kept, walks.reduced, operand)) return {};
    parts |= bit;
  }
  return parts;
}

// Few rows leave most of a device idle, which takes longer than a second dispatch where rows are long.
bool areFew(const Rows& rows) {
  constexpr uint32_t kFewestRows = 64;
  constexpr uint32_t kShortElements = 16384;
  return rows.count < kFewestRows && rows.elements > kShortElements;
}

// Which moments are taken, and of what.
struct Moments {
  uint32_t mask;
  bool useMean, useVariance;
  float epsilon;
};

uint32_t partsOf(const Moments& moments) {
  return (moments.useMean ? kMean : 0) | (moments.useVariance ? kVariance : 0);
}

// Scale and bias.
Operands operandsOf(const Operation& op) {
  return {0, 0, op.input(1).present() ? size_t{1} : 0, op.input(2).present() ? size_t{2} : 0, 0};
}

// Returns how rows of elements of a type are read, and which other parts of the formula vary along them.
std::pair<VectorRows, uint32_t> chooseRows(DataType type, const Operands& operands, const Rows& rows,
                                           const SplitWalk& walks, const Target& target) {
  VectorRows chosen = chooseVectorRows(type, walks.kept, walks.reduced, target);
  const auto along = partsAlong(type, operands, walks);
  // Half as many invocations load scale and bias half as often as they would beside a few elements of FLOAT16 each.
  constexpr uint32_t kHalf = kGroupSize / 2;
  if (chosen.reads == RowReads::Held && byteWidth(type) == 2 && target.caps.maxInvocations != 0 &&
      along == (kScaleAlong | kBiasAlong) && rows.elements <= kHeldWide * kHalf)
    chosen = {.reads = RowReads::HeldWide, .invocations = kHalf};
  if (chosen.reads != RowReads::None && areFew(rows)) chosen = {.refusal = "It has few rows."};
  if (chosen.reads != RowReads::None && !along) chosen = {.refusal = "Scale or bias is not in vectors."};
  return {chosen, along.value_or(0)};
}

Status planMoments(const Operation& op, PlanBuilder& builder, const Moments& moments) {
  const Rows rows = rowsOf(op.input(0), moments.mask);
  const uint32_t parts = partsOf(moments);
  const Operands operands = operandsOf(op);
  const float epsilon = moments.epsilon;
  if (parts == 0) return addNormalize(builder, parts, operands, epsilon, &rows, builder.input(0));

  const SplitWalk walks = rowWalks(op, operands, moments.mask);
  const auto [chosen, along] = chooseRows(op.input(0).type, operands, rows, walks, builder.target());
  if (chosen.reads != RowReads::None)
    return addNormalizeRows(builder, parts | along, operands, epsilon, rows, walks, chosen);
  builder.passOver({"normalize_rows", chosen.refusal});

  // The least row length of kernels/normalization/normalize_row.comp. Shorter rows leave most of a workgroup idle.
  constexpr uint32_t kMaxHeld = 16 * kGroupSize;
  constexpr uint32_t kFewestHeld = 64;
  const bool shares = sharesKernels(builder.target());
  if (rows.elements >= kFewestHeld && rows.elements <= kMaxHeld && !areFew(rows) && !shares)
    return addNormalizeRows(builder, parts, operands, epsilon, rows, walks, {});
  builder.passOver({"normalize_row", shares                        ? kSharesKernels
                                     : rows.elements > kMaxHeld    ? "Its rows are longer than a workgroup holds."
                                     : rows.elements < kFewestHeld ? "Its rows are short."
                                                                   : "It has few rows."});
  auto sums =
      addRowSums(builder, rows, moments.useMean ? Sums::Moments : Sums::Squares, static_cast<float>(rows.elements));
  if (!sums) return sums.error();
  return addNormalize(builder, parts | kPairs, operands, epsilon, &rows, *sums);
}

// The operator of normalizationWithCasts(), whose attributes are its moments.
Status planCastMoments(const Operation& op, PlanBuilder& builder) {
  const auto& moments = op.as<Moments>();
  const Caps& caps = builder.target().caps;
  const Rows rows = rowsOf(op.input(0), moments.mask);
  const Operands operands = operandsOf(op);
  const SplitWalk walks = rowWalks(op, operands, moments.mask);
  const auto [chosen, along] = chooseRows(kCastRows, operands, rows, walks, builder.target());
  if (!mayCast(chosen, caps)) return noCasts();
  // A factor of FLOAT16 is read in vectors.
  if (operands.scale && op.input(operands.scale).type != kCastRows && (along & kScaleAlong) == 0) return noCasts();
  return addNormalizeRows(builder, partsOf(moments) | along, operands, moments.epsilon, rows, walks, chosen);
}

template <class S>
Moments momentsOf(const Operation& op) {
  const auto& desc = op.as<S>();
  uint32_t mask = 0;
  if constexpr (requires { desc.CrossChannel; })
    mask = desc.CrossChannel ? 0b1110 : 0b1100;
  else
    mask = axisMask({desc.Axes, desc.AxisCount});
  if constexpr (requires { desc.UseMean; })
    return {mask, desc.UseMean != 0, desc.UseVariance != 0, desc.Epsilon};
  else
    return {mask, true, desc.NormalizeVariance != 0, desc.Epsilon};
}

template <class S>
Status planMeanVariance(const Operation& op, PlanBuilder& builder) {
  return planMoments(op, builder, momentsOf<S>(op));
}

std::optional<Moments> momentsOfAny(const Operation& op) {
  switch (op.schema().type) {
    case DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION:
      return momentsOf<DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC>(op);
    case DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1:
      return momentsOf<DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC>(op);
    case DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2:
      return momentsOf<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>(op);
    default:
      return {};
  }
}

Status planLp(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<DML_LP_NORMALIZATION_OPERATOR_DESC>();
  const Rows rows = rowsOf(op.input(0), 1u << desc.Axis);
  const SplitWalk walks = rowWalks(op, {}, rows.mask);
  const VectorRows chosen = chooseVectorRows(op.input(0).type, walks.kept, walks.reduced, builder.target());
  if (desc.P == 2 && chosen.reads != RowReads::None && !areFew(rows))
    return addNormalizeRows(builder, kVariance | kSumOfSquares, {}, desc.Epsilon, rows, walks, chosen);
  const auto pairs = addRowSums(builder, rows, desc.P == 1 ? Sums::Magnitudes : Sums::Squares, 1.0f);
  if (!pairs) return pairs.error();
  return addNormalize(builder, desc.P == 1 ? 0 : kSquares, {}, desc.Epsilon, &rows, *pairs);
}

// Adds the dispatch that turns rows' pairs into two outputs of the sizes of the parameters.
Status addRowResults(PlanBuilder& builder, const Rows& rows, const BufferRange& pairs, size_t first, size_t variance,
                     float epsilon) {
  const Operation& op = builder.op();
  const Tensor& a = op.output(first);
  const Tensor& b = op.output(first + 1);
  const Walk walk = makeWalk(a.sizeSpan(), {&a, &b, partOf(op, variance), &rows.pairs}).coalesce();
  return builder.addWalk(walk, kernels::RowResults{.type = builder.typedElement(a.type),
                                                   .push = {.walk = walkWords(walk), .epsilon = floatBits(epsilon)},
                                                   .spec = {.function = op.schema().type},
                                                   .pairs = pairs,
                                                   .variance = builder.input(variance),
                                                   .a = builder.output(first),
                                                   .b = builder.output(first + 1)});
}

Status planTraining(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC>();
  const Rows rows = rowsOf(op.input(0), sharedDimensions(op.input(1)));
  const auto pairs = addRowSums(builder, rows, Sums::Moments, static_cast<float>(rows.elements));
  if (!pairs) return pairs.error();
  TRY(addRowResults(builder, rows, *pairs, 1, 0, desc.Epsilon));
  const Operands operands{0, 0, 1, 2, op.input(3).present() ? size_t{3} : 0};
  return addNormalize(builder, kPairs | kMean | kVariance, operands, desc.Epsilon, &rows, *pairs);
}

template <class S>
Status planNormalizationGrad(const Operation& op, PlanBuilder& builder) {
  const float epsilon = op.as<S>().Epsilon;
  const Tensor& x = op.input(0);
  const Rows rows = rowsOf(x, sharedDimensions(op.input(2)));
  const auto pairs = addRowSums(builder, rows, Sums::Gradients, 1.0f);
  if (!pairs) return pairs.error();
  TRY(addRowResults(builder, rows, *pairs, 1, 3, epsilon));

  Walk all =
      makeWalk(x.sizeSpan(), {&x, &op.input(1), &op.output(), &rows.pairs, &op.input(2), &op.input(3), &op.input(4)})
          .coalesceBy(2);
  using Form = kernels::NormalizeGrad::Form;
  const auto vectors = all.inVectors(vectorElements(x.type), 0b111);
  if (vectors) all = *vectors;
  const auto [walk, second] = splitOperands(all);
  return builder.addItems(kernels::NormalizeGrad{.form = vectors ? Form::Vectors : Form::Strided,
                                                 .type = vectors ? kernelType(x.type) : builder.typedElement(x.type),
                                                 .push = {.walk = walkWords(walk),
                                                          .secondRank = second.rank,
                                                          .secondAt = walk.vectors(),
                                                          .epsilon = floatBits(epsilon),
                                                          .terms = rows.elements},
                                                 .spec = {.function = op.schema().type},
                                                 .x = builder.input(0),
                                                 .g = builder.input(1),
                                                 .mean = builder.input(2),
                                                 .variance = builder.input(3),
                                                 .scale = builder.input(4),
                                                 .pairs = *pairs,
                                                 .y = builder.output()},
                          walk.count(), builder.parameters(walk, second), vectors ? vectorElements(x.type) : 1);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

#define DIMPLE_EPSILON_AND_ACTIVATION DIMPLE_FLOAT(Epsilon), DIMPLE_FUSED_ACTIVATION
#define DIMPLE_MEAN_VARIANCE_TENSORS \
  DIMPLE_INPUT(InputTensor), DIMPLE_OPTIONAL_INPUT(ScaleTensor, BiasTensor), DIMPLE_OUTPUT(OutputTensor)

DIMPLE_FIELDS(kBatchFields, DIMPLE_INPUT(InputTensor, MeanTensor, VarianceTensor, ScaleTensor, BiasTensor),
              DIMPLE_OUTPUT(OutputTensor), DIMPLE_BOOL(Spatial), DIMPLE_EPSILON_AND_ACTIVATION);
DIMPLE_FIELDS(kMeanVarianceFields, DIMPLE_MEAN_VARIANCE_TENSORS, DIMPLE_BOOL(CrossChannel, NormalizeVariance),
              DIMPLE_EPSILON_AND_ACTIVATION);
DIMPLE_FIELDS(kLpFields, DIMPLE_IN_AND_OUT, DIMPLE_UINT(Axis), DIMPLE_FLOAT(Epsilon), DIMPLE_UINT(P));
DIMPLE_FIELDS(kMeanVariance1Fields, DIMPLE_MEAN_VARIANCE_TENSORS, DIMPLE_AXES(4), DIMPLE_BOOL(NormalizeVariance),
              DIMPLE_EPSILON_AND_ACTIVATION);
DIMPLE_FIELDS(kBatchGradFields, DIMPLE_INPUT(InputTensor, InputGradientTensor, MeanTensor, VarianceTensor, ScaleTensor),
              DIMPLE_OUTPUT(OutputGradientTensor, OutputScaleGradientTensor, OutputBiasGradientTensor),
              DIMPLE_FLOAT(Epsilon));
DIMPLE_FIELDS(kTrainingFields, DIMPLE_INPUT(InputTensor, ScaleTensor, BiasTensor),
              DIMPLE_OPTIONAL_INPUT(FusedAddTensor),
              DIMPLE_OUTPUT(OutputTensor, OutputMeanTensor, OutputVarianceTensor), DIMPLE_EPSILON_AND_ACTIVATION);
DIMPLE_FIELDS(kMeanVariance2Fields, DIMPLE_MEAN_VARIANCE_TENSORS, DIMPLE_AXES(4), DIMPLE_BOOL(UseMean, UseVariance),
              DIMPLE_EPSILON_AND_ACTIVATION);

constexpr TypeHistory kBatchTypes{{k1_0, kFloats, 4, 4}, {k3_1, kFloats}};
constexpr TypeHistory kMeanVarianceTypes{{k1_0, kFloats, 4, 4}};
constexpr TypeHistory kMeanVariance1Types{{k2_1, kFloats, 4, 4}, {k3_1, kFloats}};
constexpr TypeHistory kBatchGradTypes{{k3_1, kFloats}};
constexpr TypeHistory kTrainingTypes{{k4_1, kFloats}};
constexpr TypeHistory kMeanVariance2Types{{k6_3, kFloats}};

template <const TypeHistory& types>
constexpr TensorRule kParameter{types, sameTypeAndRank(0)};
template <const TypeHistory& types, int8_t rule>
constexpr TensorRule kLike{types, like(rule)};

constexpr TensorRule kBatchRules[] = {{kBatchTypes},           kParameter<kBatchTypes>, kParameter<kBatchTypes>,
                                      kParameter<kBatchTypes>, kParameter<kBatchTypes>, kLike<kBatchTypes, 0>};
constexpr TensorRule kMeanVarianceRules[] = {{kMeanVarianceTypes},
                                             {kMeanVarianceTypes, sameType(0)},
                                             {kMeanVarianceTypes, sameType(0)},
                                             {kMeanVarianceTypes, {0, -1, 0}}};
constexpr TensorRule kLpRules[] = {{kBatchTypes}, kLike<kBatchTypes, 0>};
template <const TypeHistory& types>
constexpr TensorRule kMeanVarianceOfAxesRules[] = {{types}, kParameter<types>, kParameter<types>, kLike<types, 0>};
template <const TypeHistory& types>
constexpr TensorRule kGradRules[] = {{types},         kLike<types, 0>, kParameter<types>, kLike<types, 2>,
                                     kLike<types, 2>, kLike<types, 0>, kLike<types, 2>,   kLike<types, 2>};
constexpr TensorRule kTrainingRules[] = {{kTrainingTypes},         kParameter<kTrainingTypes>, kLike<kTrainingTypes, 1>,
                                         kLike<kTrainingTypes, 0>, kLike<kTrainingTypes, 0>,   kLike<kTrainingTypes, 1>,
                                         kLike<kTrainingTypes, 1>};

#define DIMPLE_BATCH_GRAD_ROW(NAME, TYPES)                                                    \
  DIMPLE_ROW(NAME, kBatchGradFields, .rules = kGradRules<TYPES>, .check = checkParameters<2>, \
             .plan = planNormalizationGrad<DML_##NAME##_OPERATOR_DESC>)
constexpr OpSchema kNormalizationSchemas[] = {
    DIMPLE_ROW(BATCH_NORMALIZATION, kBatchFields, .rules = kBatchRules, .check = checkParameters<1>,
               .plan = planBatchNormalization),
    DIMPLE_ROW(MEAN_VARIANCE_NORMALIZATION, kMeanVarianceFields, .rules = kMeanVarianceRules,
               .check = checkParameters<1>, .plan = planMeanVariance<DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC>),
    DIMPLE_ROW(LP_NORMALIZATION, kLpFields, .rules = kLpRules, .check = checkLp, .plan = planLp),
    DIMPLE_DESC_ROW(MEAN_VARIANCE_NORMALIZATION1, kMeanVariance1Fields, kMeanVarianceOfAxesRules<kMeanVariance1Types>,
                    checkMeanVariance, planMeanVariance),
    DIMPLE_BATCH_GRAD_ROW(BATCH_NORMALIZATION_GRAD, kBatchGradTypes),
    DIMPLE_ROW(BATCH_NORMALIZATION_TRAINING, kTrainingFields, .rules = kTrainingRules, .check = checkTraining,
               .plan = planTraining),
    DIMPLE_BATCH_GRAD_ROW(BATCH_NORMALIZATION_TRAINING_GRAD, kTrainingTypes),
    DIMPLE_DESC_ROW(MEAN_VARIANCE_NORMALIZATION2, kMeanVariance2Fields, kMeanVarianceOfAxesRules<kMeanVariance2Types>,
                    checkMeanVariance, planMeanVariance),
};

constexpr OpSchema kCastNormalization = schemaOfPasses("NORMALIZATION", planCastMoments);

}  // namespace

std::optional<Operation> normalizationWithCasts(const Operation& op, const Tensor& input, const Tensor& output,
                                                const Tensor& factor) {
  const auto moments = momentsOfAny(op);
  if (!moments || partsOf(*moments) == 0) return {};
  const bool isPlain = !op.input(1).present() && !op.input(2).present() && op.activations().empty();
  if (factor.present() && !isPlain) return {};
  Operation made(kCastNormalization, std::make_shared<const Moments>(*moments),
                 {input, factor.present() ? factor : op.input(1), op.input(2)}, {output},
                 {{op.inputName(0), op.inputName(1), op.inputName(2)}, {op.outputName(0)}});
  made.setActivations(op.activations());
  return made;
}

std::span<const OpSchema> normalizationSchemas() { return kNormalizationSchemas; }

}  // namespace dimple
