// Normalization and its gradients.
#include <array>
#include <limits>

#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/spread.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/normalize.h"
#include "kernels/interfaces/normalize_grad.h"
#include "kernels/interfaces/normalize_row.h"
#include "kernels/interfaces/row_results.h"
#include "kernels/interfaces/row_sums.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

// Each input after the first `count` may be broadcast to the first.
Status checkParameters(const Operation& op, size_t count) {
  for (size_t i = count; i < op.inputs().size(); ++i)
    TRY(checkBroadcast(op.inputName(i), op.input(i), op.inputName(0), op.input(0)));
  return {};
}

Status checkNormalization(const Operation& op) { return checkParameters(op, 1); }
Status checkNormalizationGrad(const Operation& op) { return checkParameters(op, 2); }

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
  return checkParameters(op, 1);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// Strides in elements of something that is broadcast: 0 where it has one element for many.
using Strides = std::array<uint32_t, kMaxRank>;

Strides broadcastStrides(const Tensor& tensor) {
  Strides strides{};
  for (uint32_t d = 0; d < tensor.rank; ++d) strides[d] = tensor.sizes[d] == 1 ? 0 : tensor.strides[d];
  return strides;
}

// The rows of a tensor: sets of elements that differ in the dimensions of a mask only. Each has a pair of sums.
struct Rows {
  uint32_t mask;
  uint32_t count = 1;
  uint32_t elements = 1;  // of each
  Strides pairs{};        // from one row's pair to the next one's
};

Rows rowsOf(const Tensor& x, uint32_t mask) {
  Rows rows{mask};
  for (uint32_t d = x.rank; d-- > 0;) {
    if (mask >> d & 1) {
      rows.elements *= x.sizes[d];
    } else {
      if (x.sizes[d] > 1) rows.pairs[d] = rows.count;
      rows.count *= x.sizes[d];
    }
  }
  return rows;
}

// The dimensions in which a tensor of parameters has one element for all.
uint32_t sharedDimensions(const Tensor& tensor) {
  uint32_t mask = 0;
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (tensor.sizes[d] == 1) mask |= 1u << d;
  return mask;
}

Result<BufferRange> allocatePairs(PlanBuilder& builder, uint64_t count) {
  if (count * 8 <= builder.target().caps.maxBufferRange) return builder.allocateTemporary(count * 8);
  return Error{ErrorCode::Unsupported, cat("InputTensor has ", count, " sums, but this device binds at most ",
                                           builder.target().caps.maxBufferRange / 8, " pairs to a kernel.")};
}

// What kernels/normalization/row_sums.comp sums.
enum class Sums : uint32_t { Moments, Squares, Magnitudes, Gradients };

// How kernels/normalization/row_sums.comp walks the rows and the elements of each.
struct RowWalks {
  Walk kept;
  Walk reduced;
  bool dense = false;  // elements of a row lie closer than rows
};

RowWalks rowWalks(const Operation& op, const Rows& rows, bool gradients) {
  const Tensor& x = op.input(0);
  const Strides gradient = gradients ? broadcastStrides(op.input(1)) : Strides{};
  const Strides mean = gradients ? broadcastStrides(op.input(2)) : Strides{};
  RowWalks walks;
  auto& [kept, reduced, dense] = walks;
  uint32_t smallestKept = std::numeric_limits<uint32_t>::max();
  uint32_t smallestReduced = smallestKept;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const bool isReduced = (rows.mask >> d & 1) != 0;
    (isReduced ? reduced : kept).addDimension(x.sizes[d], {x.strides[d], gradient[d], mean[d], rows.pairs[d]});
    auto& smallest = isReduced ? smallestReduced : smallestKept;
    if (x.sizes[d] > 1) smallest = std::min(smallest, x.strides[d]);
  }
  kept.sortBy(0);
  kept.coalesce();
  reduced.coalesce();
  dense = smallestReduced <= smallestKept;
  return walks;
}

// Adds the dispatches that make the pair of each row of input 0. Inputs 1 and 2 are the gradient and the mean, where
// gradients are summed.
Result<BufferRange> addRowSums(PlanBuilder& builder, const Rows& rows, Sums sums, float divisor) {
  enum Stage : uint32_t { Only, Parts, OfParts };
  const bool gradients = sums == Sums::Gradients;
  const RowWalks walks = rowWalks(builder.view(), rows, gradients);
  std::vector<uint32_t> words;
  appendWalk(words, walks.kept);
  const auto reducedAt = static_cast<uint32_t>(words.size() / 4);
  appendWalk(words, walks.reduced);
  const uint32_t parameters = builder.parameters(words);

  auto pairs = allocatePairs(builder, rows.count);
  if (!pairs) return pairs;
  const Spread spread = spreadOf(rows.count, rows.elements, walks.dense);
  const BufferRange input = builder.input(0);
  const auto add = [&](bool row, Stage stage, uint32_t elements, uint32_t parts, const BufferRange& from,
                       const BufferRange& to) {
    const uint64_t tasks = uint64_t{rows.count} * parts;
    return builder.add(kernels::RowSums{.type = kernelType(builder.view().input(0).type),
                                        .push = {.rows = rows.count,
                                                 .elements = elements,
                                                 .parts = parts,
                                                 .partLength = spread.perChunk,
                                                 .total = rows.elements,
                                                 .divisor = floatBits(divisor),
                                                 .keptRank = walks.kept.rank,
                                                 .reducedRank = walks.reduced.rank,
                                                 .reducedAt = reducedAt},
                                        .spec = {.function = static_cast<uint32_t>(sums), .row = row, .stage = stage},
                                        .x = input,
                                        .g = gradients ? builder.input(1) : input,
                                        .mean = gradients ? builder.input(2) : input,
                                        .parts = from,
                                        .result = to},
                       taskGroups(tasks, row), parameters);
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

// The inputs that take part, by their indices; 0, which is the input itself, for those that do not.
struct Operands {
  size_t mean = 0, variance = 0, scale = 0, bias = 0, addend = 0;
};

// Strides of an input that takes part.
Strides stridesOf(const Operation& op, size_t input) { return input ? broadcastStrides(op.input(input)) : Strides{}; }

// Parts of the formula, with those of the operands that take part.
uint32_t withOperands(uint32_t parts, const Operands& operands) {
  if (operands.scale) parts |= kScale;
  if (operands.bias) parts |= kBias;
  if (operands.addend) parts |= kAddend;
  return parts;
}

// Parameters of two walks, one behind the other.
struct TwoWalks {
  std::vector<uint32_t> words;
  uint32_t secondAt;

  TwoWalks(const Walk& first, const Walk& second) {
    appendWalk(words, first);
    secondAt = static_cast<uint32_t>(words.size() / 4);
    appendWalk(words, second);
  }
};

Status addNormalize(PlanBuilder& builder, DML_OPERATOR_TYPE function, uint32_t parts, const Operands& operands,
                    float epsilon, const Rows* rows, const BufferRange& pairs) {
  const Operation& op = builder.view();
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  const Strides addend = stridesOf(op, operands.addend);
  const Strides mean = stridesOf(op, operands.mean);
  const Strides variance = stridesOf(op, operands.variance);
  const Strides scale = stridesOf(op, operands.scale);
  const Strides bias = stridesOf(op, operands.bias);
  Walk walk;
  Walk second;
  for (uint32_t d = 0; d < x.rank; ++d) {
    walk.addDimension(x.sizes[d], {x.strides[d], y.strides[d], addend[d], rows ? rows->pairs[d] : 0});
    second.addDimension(x.sizes[d], {mean[d], variance[d], scale[d], bias[d]});
  }
  walk.coalesce();
  second.coalesce();
  const TwoWalks walks(walk, second);
  const Activation& activation = op.activation();
  return builder.addItems(kernels::Normalize{.type = typedElement(x.type, builder.target()),
                                             .push = {.count = static_cast<uint32_t>(x.elements),
                                                      .rank = walk.rank,
                                                      .secondRank = second.rank,
                                                      .secondAt = walks.secondAt,
                                                      .parts = withOperands(parts, operands),
                                                      .epsilon = floatBits(epsilon),
                                                      .alpha = floatBits(activation.parameters[0]),
                                                      .beta = floatBits(activation.parameters[1])},
                                             .spec = {.function = function, .fused = activation.type},
                                             .x = builder.input(0),
                                             .mean = builder.input(operands.mean),
                                             .variance = builder.input(operands.variance),
                                             .scale = builder.input(operands.scale),
                                             .bias = builder.input(operands.bias),
                                             .addend = builder.input(operands.addend),
                                             .pairs = pairs,
                                             .y = builder.output()},
                          x.elements, builder.parameters(walks.words));
}

Result<Plan> planBatchNormalization(const Operation& op, const Target& target) {
  PlanBuilder builder(op, target);
  const auto& desc = op.as<DML_BATCH_NORMALIZATION_OPERATOR_DESC>();
  TRY(addNormalize(builder, DML_OPERATOR_BATCH_NORMALIZATION, kMean | kVariance, {1, 2, 3, 4, 0}, desc.Epsilon, nullptr,
                   builder.input(0)));
  return builder.finish();
}

// Adds one dispatch for rows that a workgroup holds.
Status addNormalizeRows(PlanBuilder& builder, uint32_t parts, const Operands& operands, float epsilon,
                        const Rows& rows) {
  const Operation& op = builder.view();
  const Tensor& x = op.input(0);
  const Strides scale = stridesOf(op, operands.scale);
  const Strides bias = stridesOf(op, operands.bias);
  Walk kept;
  Walk reduced;
  for (uint32_t d = 0; d < x.rank; ++d)
    (rows.mask >> d & 1 ? reduced : kept)
        .addDimension(x.sizes[d], {x.strides[d], op.output().strides[d], scale[d], bias[d]});
  kept.coalesce();
  reduced.sortBy(0);
  reduced.coalesce();
  const TwoWalks walks(kept, reduced);
  const Activation& activation = op.activation();
  return builder.add(kernels::NormalizeRow{.type = typedElement(x.type, builder.target()),
                                           .push = {.elements = rows.elements,
                                                    .keptRank = kept.rank,
                                                    .reducedRank = reduced.rank,
                                                    .reducedAt = walks.secondAt,
                                                    .parts = withOperands(parts, operands),
                                                    .epsilon = floatBits(epsilon),
                                                    .alpha = floatBits(activation.parameters[0]),
                                                    .beta = floatBits(activation.parameters[1])},
                                           .spec = {.fused = activation.type},
                                           .x = builder.input(0),
                                           .scale = builder.input(operands.scale),
                                           .bias = builder.input(operands.bias),
                                           .y = builder.output()},
                     rows.count, builder.parameters(walks.words));
}

Result<Plan> planMoments(const Operation& op, const Target& target, uint32_t mask, bool useMean, bool useVariance,
                         float epsilon) {
  PlanBuilder builder(op, target);
  const Rows rows = rowsOf(op.input(0), mask);
  uint32_t parts = (useMean ? kMean : 0) | (useVariance ? kVariance : 0);
  const Operands operands{0, 0, op.input(1).present() ? size_t{1} : 0, op.input(2).present() ? size_t{2} : 0, 0};
  // Of kernels/normalization/normalize_row.comp; shorter rows leave most of a workgroup idle, and few rows of a device.
  constexpr uint32_t kMaxHeld = 16 * kGroupSize;
  constexpr uint32_t kFewestHeld = 64;
  constexpr uint32_t kFewestRows = 64;
  const bool held = rows.elements >= kFewestHeld && rows.elements <= kMaxHeld &&
                    (rows.count >= kFewestRows || rows.elements <= 4 * kGroupSize);
  BufferRange pairs = builder.input(0);
  if (parts != 0) {
    if (held) {
      TRY(addNormalizeRows(builder, parts, operands, epsilon, rows));
      return builder.finish();
    }
    builder.passOver({"normalize_row", rows.elements > kMaxHeld      ? "Its rows are longer than a workgroup holds."
                                       : rows.elements < kFewestHeld ? "Its rows are short."
                                                                     : "Its rows are few."});
    parts |= kPairs;
    auto sums = addRowSums(builder, rows, useMean ? Sums::Moments : Sums::Squares, static_cast<float>(rows.elements));
    if (!sums) return sums.error();
    pairs = *sums;
  }
  TRY(addNormalize(builder, DML_OPERATOR_BATCH_NORMALIZATION, parts, operands, epsilon, &rows, pairs));
  return builder.finish();
}

Result<Plan> planMeanVariance(const Operation& op, const Target& target) {
  const auto& desc = op.as<DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC>();
  return planMoments(op, target, desc.CrossChannel ? 0b1110 : 0b1100, true, desc.NormalizeVariance != 0, desc.Epsilon);
}

// Axes are a set.
template <class S>
Result<Plan> planMeanVarianceOfAxes(const Operation& op, const Target& target) {
  const auto& desc = op.as<S>();
  uint32_t mask = 0;
  for (UINT i = 0; i < desc.AxisCount; ++i) mask |= 1u << desc.Axes[i];
  if constexpr (requires { desc.UseMean; })
    return planMoments(op, target, mask, desc.UseMean != 0, desc.UseVariance != 0, desc.Epsilon);
  else
    return planMoments(op, target, mask, true, desc.NormalizeVariance != 0, desc.Epsilon);
}

Result<Plan> planLpNormalization(const Operation& op, const Target& target) {
  PlanBuilder builder(op, target);
  const auto& desc = op.as<DML_LP_NORMALIZATION_OPERATOR_DESC>();
  const Rows rows = rowsOf(op.input(0), 1u << desc.Axis);
  const auto pairs = addRowSums(builder, rows, desc.P == 1 ? Sums::Magnitudes : Sums::Squares, 1.0f);
  if (!pairs) return pairs.error();
  TRY(addNormalize(builder, DML_OPERATOR_LP_NORMALIZATION, desc.P == 1 ? 0 : kSquares, {}, desc.Epsilon, &rows,
                   *pairs));
  return builder.finish();
}

// Adds the dispatch that turns rows' pairs into two outputs of the sizes of the parameters.
Status addRowResults(PlanBuilder& builder, const Rows& rows, const BufferRange& pairs, size_t first, size_t variance,
                     float epsilon) {
  const Operation& op = builder.view();
  const Tensor& a = op.output(first);
  const Tensor& b = op.output(first + 1);
  const Strides spread = variance ? broadcastStrides(op.input(variance)) : Strides{};
  Walk walk;
  for (uint32_t d = 0; d < a.rank; ++d)
    walk.addDimension(a.sizes[d], {a.strides[d], b.strides[d], spread[d], rows.pairs[d]});
  walk.coalesce();
  return builder.addItems(
      kernels::RowResults{
          .type = typedElement(a.type, builder.target()),
          .push = {.count = static_cast<uint32_t>(a.elements), .rank = walk.rank, .epsilon = floatBits(epsilon)},
          .spec = {.function = op.schema().type},
          .pairs = pairs,
          .variance = builder.input(variance),
          .a = builder.output(first),
          .b = builder.output(first + 1)},
      a.elements, builder.parameters(walk));
}

Result<Plan> planTraining(const Operation& op, const Target& target) {
  PlanBuilder builder(op, target);
  const auto& desc = op.as<DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC>();
  const Rows rows = rowsOf(op.input(0), sharedDimensions(op.input(1)));
  const auto pairs = addRowSums(builder, rows, Sums::Moments, static_cast<float>(rows.elements));
  if (!pairs) return pairs.error();
  TRY(addRowResults(builder, rows, *pairs, 1, 0, desc.Epsilon));
  const Operands operands{0, 0, 1, 2, op.input(3).present() ? size_t{3} : 0};
  TRY(addNormalize(builder, DML_OPERATOR_BATCH_NORMALIZATION, kPairs | kMean | kVariance, operands, desc.Epsilon, &rows,
                   *pairs));
  return builder.finish();
}

template <class S>
Result<Plan> planNormalizationGrad(const Operation& op, const Target& target) {
  PlanBuilder builder(op, target);
  const float epsilon = op.as<S>().Epsilon;
  const Tensor& x = op.input(0);
  const Tensor& g = op.input(1);
  const Tensor& y = op.output();
  const Rows rows = rowsOf(x, sharedDimensions(op.input(2)));
  const auto pairs = addRowSums(builder, rows, Sums::Gradients, 1.0f);
  if (!pairs) return pairs.error();
  TRY(addRowResults(builder, rows, *pairs, 1, 3, epsilon));

  const Strides mean = broadcastStrides(op.input(2));
  const Strides variance = broadcastStrides(op.input(3));
  const Strides scale = broadcastStrides(op.input(4));
  Walk walk;
  Walk second;
  for (uint32_t d = 0; d < x.rank; ++d) {
    walk.addDimension(x.sizes[d], {x.strides[d], g.strides[d], y.strides[d], rows.pairs[d]});
    second.addDimension(x.sizes[d], {mean[d], variance[d], scale[d]});
  }
  walk.coalesce();
  second.coalesce();
  const TwoWalks walks(walk, second);
  TRY(builder.addItems(kernels::NormalizeGrad{.type = typedElement(x.type, target),
                                              .push = {.count = static_cast<uint32_t>(x.elements),
                                                       .rank = walk.rank,
                                                       .secondRank = second.rank,
                                                       .secondAt = walks.secondAt,
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
                       x.elements, builder.parameters(walks.words)));
  return builder.finish();
}

// ---- tables ---------------------------------------------------------------------------------------------------------

template <class S>
constexpr Field kBatchNormalizationFields[] = {DIMPLE_INPUT(S, InputTensor),
                                               DIMPLE_INPUT(S, MeanTensor),
                                               DIMPLE_INPUT(S, VarianceTensor),
                                               DIMPLE_INPUT(S, ScaleTensor),
                                               DIMPLE_INPUT(S, BiasTensor),
                                               DIMPLE_OUTPUT(S, OutputTensor),
                                               DIMPLE_ATTRIBUTE(S, Spatial, Bool),
                                               DIMPLE_ATTRIBUTE(S, Epsilon, Float),
                                               DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kMeanVarianceNormalizationFields[] = {DIMPLE_INPUT(S, InputTensor),
                                                      DIMPLE_OPTIONAL_INPUT(S, ScaleTensor),
                                                      DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                                      DIMPLE_OUTPUT(S, OutputTensor),
                                                      DIMPLE_ATTRIBUTE(S, CrossChannel, Bool),
                                                      DIMPLE_ATTRIBUTE(S, NormalizeVariance, Bool),
                                                      DIMPLE_ATTRIBUTE(S, Epsilon, Float),
                                                      DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kLpNormalizationFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                            DIMPLE_ATTRIBUTE(S, Axis, UInt), DIMPLE_ATTRIBUTE(S, Epsilon, Float),
                                            DIMPLE_ATTRIBUTE(S, P, UInt)};
template <class S>
constexpr Field kMeanVarianceNormalization1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, ScaleTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                                       DIMPLE_OUTPUT(S, OutputTensor),
                                                       DIMPLE_ATTRIBUTE(S, AxisCount, UInt),
                                                       DIMPLE_ARRAY(S, Axes, UIntArray, 4),
                                                       DIMPLE_ATTRIBUTE(S, NormalizeVariance, Bool),
                                                       DIMPLE_ATTRIBUTE(S, Epsilon, Float),
                                                       DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kBatchNormalizationGradFields[] = {DIMPLE_INPUT(S, InputTensor),
                                                   DIMPLE_INPUT(S, InputGradientTensor),
                                                   DIMPLE_INPUT(S, MeanTensor),
                                                   DIMPLE_INPUT(S, VarianceTensor),
                                                   DIMPLE_INPUT(S, ScaleTensor),
                                                   DIMPLE_OUTPUT(S, OutputGradientTensor),
                                                   DIMPLE_OUTPUT(S, OutputScaleGradientTensor),
                                                   DIMPLE_OUTPUT(S, OutputBiasGradientTensor),
                                                   DIMPLE_ATTRIBUTE(S, Epsilon, Float)};
template <class S>
constexpr Field kBatchNormalizationTrainingFields[] = {DIMPLE_INPUT(S, InputTensor),
                                                       DIMPLE_INPUT(S, ScaleTensor),
                                                       DIMPLE_INPUT(S, BiasTensor),
                                                       DIMPLE_OPTIONAL_INPUT(S, FusedAddTensor),
                                                       DIMPLE_OUTPUT(S, OutputTensor),
                                                       DIMPLE_OUTPUT(S, OutputMeanTensor),
                                                       DIMPLE_OUTPUT(S, OutputVarianceTensor),
                                                       DIMPLE_ATTRIBUTE(S, Epsilon, Float),
                                                       DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kMeanVarianceNormalization2Fields[] = {
    DIMPLE_INPUT(S, InputTensor),         DIMPLE_OPTIONAL_INPUT(S, ScaleTensor),
    DIMPLE_OPTIONAL_INPUT(S, BiasTensor), DIMPLE_OUTPUT(S, OutputTensor),
    DIMPLE_ATTRIBUTE(S, AxisCount, UInt), DIMPLE_ARRAY(S, Axes, UIntArray, 4),
    DIMPLE_ATTRIBUTE(S, UseMean, Bool),   DIMPLE_ATTRIBUTE(S, UseVariance, Bool),
    DIMPLE_ATTRIBUTE(S, Epsilon, Float),  DIMPLE_OPTIONAL(S, FusedActivation, Operator)};

constexpr TypeHistory kBatchNormalizationTypes{{k1_0, kFloats, 4, 4}, {k3_1, kFloats}};
constexpr TypeHistory kMeanVarianceNormalizationTypes{{k1_0, kFloats, 4, 4}};
constexpr TypeHistory kMeanVarianceNormalization1Types{{k2_1, kFloats, 4, 4}, {k3_1, kFloats}};
constexpr TypeHistory kBatchNormalizationGradTypes{{k3_1, kFloats}};
constexpr TypeHistory kBatchNormalizationTrainingTypes{{k4_1, kFloats}};
constexpr TypeHistory kMeanVarianceNormalization2Types{{k6_3, kFloats}};

constexpr TensorRule kBatchNormalizationRules[] = {{kBatchNormalizationTypes},
                                                   {kBatchNormalizationTypes, sameTypeAndRank(0)},
                                                   {kBatchNormalizationTypes, sameTypeAndRank(0)},
                                                   {kBatchNormalizationTypes, sameTypeAndRank(0)},
                                                   {kBatchNormalizationTypes, sameTypeAndRank(0)},
                                                   {kBatchNormalizationTypes, like(0)}};
constexpr TensorRule kMeanVarianceNormalizationRules[] = {{kMeanVarianceNormalizationTypes},
                                                          {kMeanVarianceNormalizationTypes, sameType(0)},
                                                          {kMeanVarianceNormalizationTypes, sameType(0)},
                                                          {kMeanVarianceNormalizationTypes, {0, -1, 0}}};
constexpr TensorRule kLpNormalizationRules[] = {{kBatchNormalizationTypes}, {kBatchNormalizationTypes, like(0)}};
constexpr TensorRule kMeanVarianceNormalization1Rules[] = {{kMeanVarianceNormalization1Types},
                                                           {kMeanVarianceNormalization1Types, sameTypeAndRank(0)},
                                                           {kMeanVarianceNormalization1Types, sameTypeAndRank(0)},
                                                           {kMeanVarianceNormalization1Types, like(0)}};
constexpr TensorRule kBatchNormalizationGradRules[] = {{kBatchNormalizationGradTypes},
                                                       {kBatchNormalizationGradTypes, like(0)},
                                                       {kBatchNormalizationGradTypes, sameTypeAndRank(0)},
                                                       {kBatchNormalizationGradTypes, like(2)},
                                                       {kBatchNormalizationGradTypes, like(2)},
                                                       {kBatchNormalizationGradTypes, like(0)},
                                                       {kBatchNormalizationGradTypes, like(2)},
                                                       {kBatchNormalizationGradTypes, like(2)}};
constexpr TensorRule kBatchNormalizationTrainingRules[] = {
    {kBatchNormalizationTrainingTypes},          {kBatchNormalizationTrainingTypes, sameTypeAndRank(0)},
    {kBatchNormalizationTrainingTypes, like(1)}, {kBatchNormalizationTrainingTypes, like(0)},
    {kBatchNormalizationTrainingTypes, like(0)}, {kBatchNormalizationTrainingTypes, like(1)},
    {kBatchNormalizationTrainingTypes, like(1)}};
constexpr TensorRule kBatchNormalizationTrainingGradRules[] = {{kBatchNormalizationTrainingTypes},
                                                               {kBatchNormalizationTrainingTypes, like(0)},
                                                               {kBatchNormalizationTrainingTypes, sameTypeAndRank(0)},
                                                               {kBatchNormalizationTrainingTypes, like(2)},
                                                               {kBatchNormalizationTrainingTypes, like(2)},
                                                               {kBatchNormalizationTrainingTypes, like(0)},
                                                               {kBatchNormalizationTrainingTypes, like(2)},
                                                               {kBatchNormalizationTrainingTypes, like(2)}};
constexpr TensorRule kMeanVarianceNormalization2Rules[] = {{kMeanVarianceNormalization2Types},
                                                           {kMeanVarianceNormalization2Types, sameTypeAndRank(0)},
                                                           {kMeanVarianceNormalization2Types, sameTypeAndRank(0)},
                                                           {kMeanVarianceNormalization2Types, like(0)}};

constexpr OpSchema kNormalizationSchemas[] = {
    DIMPLE_ROW(BATCH_NORMALIZATION, kBatchNormalizationFields, .rules = kBatchNormalizationRules,
               .check = checkNormalization, .plan = planBatchNormalization),
    DIMPLE_ROW(MEAN_VARIANCE_NORMALIZATION, kMeanVarianceNormalizationFields, .rules = kMeanVarianceNormalizationRules,
               .check = checkNormalization, .plan = planMeanVariance),
    DIMPLE_ROW(LP_NORMALIZATION, kLpNormalizationFields, .rules = kLpNormalizationRules, .check = checkLp,
               .plan = planLpNormalization),
    DIMPLE_ROW(MEAN_VARIANCE_NORMALIZATION1, kMeanVarianceNormalization1Fields,
               .rules = kMeanVarianceNormalization1Rules,
               .check = checkMeanVariance<DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC>,
               .plan = planMeanVarianceOfAxes<DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC>),
    DIMPLE_ROW(BATCH_NORMALIZATION_GRAD, kBatchNormalizationGradFields, .rules = kBatchNormalizationGradRules,
               .check = checkNormalizationGrad,
               .plan = planNormalizationGrad<DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC>),
    DIMPLE_ROW(BATCH_NORMALIZATION_TRAINING, kBatchNormalizationTrainingFields,
               .rules = kBatchNormalizationTrainingRules, .check = checkTraining, .plan = planTraining),
    DIMPLE_ROW(BATCH_NORMALIZATION_TRAINING_GRAD, kBatchNormalizationGradFields,
               .rules = kBatchNormalizationTrainingGradRules, .check = checkNormalizationGrad,
               .plan = planNormalizationGrad<DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC>),
    DIMPLE_ROW(MEAN_VARIANCE_NORMALIZATION2, kMeanVarianceNormalization2Fields,
               .rules = kMeanVarianceNormalization2Rules,
               .check = checkMeanVariance<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>,
               .plan = planMeanVarianceOfAxes<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>),
};

}  // namespace

std::span<const OpSchema> normalizationSchemas() { return kNormalizationSchemas; }

}  // namespace dimple
