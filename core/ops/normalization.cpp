// Normalization and its gradients.
#include <array>
#include <limits>

#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/spread.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

// Each input after the first `count` may be broadcast to the first.
Status checkParameters(const OpView& view, size_t count) {
  for (size_t i = count; i < view.inputs().size(); ++i)
    if (auto error = checkBroadcast(view.inputName(i), view.input(i), view.inputName(0), view.input(0))) return error;
  return {};
}

Status checkNormalization(const OpView& view) { return checkParameters(view, 1); }
Status checkNormalizationGrad(const OpView& view) { return checkParameters(view, 2); }

// FusedAddTensor has relations of its own.
Status checkTraining(const OpView& view) {
  return checkBroadcast("ScaleTensor", view.input(1), "InputTensor", view.input(0));
}

Status checkLp(const OpView& view) {
  const auto& desc = view.as<DML_LP_NORMALIZATION_OPERATOR_DESC>();
  if (auto error = checkAtMost("Axis", desc.Axis, view.input(0).rank - 1)) return error;
  if (desc.P != 1 && desc.P != 2) return invalid(cat("P has value (", desc.P, "), expected 1 or 2."));
  return {};
}

template <class S>
Status checkMeanVariance(const OpView& view) {
  const auto& desc = view.as<S>();
  if (auto error = checkAxes({desc.Axes, desc.AxisCount}, view.input(0).rank)) return error;
  return checkParameters(view, 1);
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
  if (count * 8 <= builder.caps().maxBufferRange) return builder.allocateTemporary(count * 8);
  return Error{ErrorCode::Unsupported, cat("InputTensor has ", count, " sums, but this device binds at most ",
                                           builder.caps().maxBufferRange / 8, " pairs to a kernel.")};
}

BufferRange readOnly(BufferRange range) {
  range.writes = false;
  return range;
}

// What kernels/normalization/row_sums.comp sums.
enum class Sums : uint32_t { Moments, Squares, Magnitudes, Gradients };

// Adds the dispatches that make the pair of each row of input 0. Inputs 1 and 2 are the gradient and the mean, where
// gradients are summed.
Result<BufferRange> addRowSums(PlanBuilder& builder, const Rows& rows, Sums sums, float divisor) {
  const Tensor& x = builder.view().input(0);
  const bool gradients = sums == Sums::Gradients;
  const Strides gradient = gradients ? broadcastStrides(builder.view().input(1)) : Strides{};
  const Strides mean = gradients ? broadcastStrides(builder.view().input(2)) : Strides{};
  Walk kept;
  Walk reduced;
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
  std::vector<uint32_t> words;
  appendWalk(words, kept);
  const auto reducedAt = static_cast<uint32_t>(words.size() / 4);
  appendWalk(words, reduced);
  const uint32_t parameters = builder.parameters(words);

  auto pairs = allocatePairs(builder, rows.count);
  if (!pairs) return pairs;
  const Spread spread = spreadOf(rows.count, rows.elements, smallestReduced <= smallestKept);
  const BufferRange input = builder.input(0);
  const auto add = [&](bool row, uint32_t stage, uint32_t elements, uint32_t parts, const BufferRange& from,
                       const BufferRange& to) {
    const uint64_t tasks = uint64_t{rows.count} * parts;
    return builder.add(cat("row_sums.", shortTypeName(x.type)), taskGroups(tasks, row),
                       {rows.count, elements, parts, spread.perChunk, rows.elements, floatBits(divisor), kept.rank,
                        reduced.rank, reducedAt},
                       {input, gradients ? builder.input(1) : input, gradients ? builder.input(2) : input, from, to},
                       parameters, {{0, static_cast<uint32_t>(sums)}, {1, row}, {2, stage}});
  };
  if (spread.chunks == 1) {
    if (auto error = add(spread.row, 0, rows.elements, 1, input, *pairs)) return *error;
    return pairs;
  }
  auto parts = allocatePairs(builder, uint64_t{rows.count} * spread.chunks);
  if (!parts) return parts;
  if (auto error = add(spread.row, 1, rows.elements, spread.chunks, input, *parts)) return *error;
  if (auto error = add(spreadOf(rows.count, spread.chunks, true).row, 2, spread.chunks, 1, readOnly(*parts), *pairs))
    return *error;
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
Strides stridesOf(const OpView& view, size_t input) { return input ? broadcastStrides(view.input(input)) : Strides{}; }

// Push words of both kernels that follow; the walks go to `words`, one behind the other.
std::vector<uint32_t> normalizeWords(const OpView& view, uint32_t count, const Walk& first, const Walk& second,
                                     uint32_t parts, const Operands& operands, float epsilon,
                                     std::vector<uint32_t>& words) {
  appendWalk(words, first);
  const auto secondAt = static_cast<uint32_t>(words.size() / 4);
  appendWalk(words, second);
  if (operands.scale) parts |= kScale;
  if (operands.bias) parts |= kBias;
  if (operands.addend) parts |= kAddend;
  const Activation& activation = view.activation();
  return {count,
          first.rank,
          second.rank,
          secondAt,
          parts,
          floatBits(epsilon),
          floatBits(activation.parameters[0]),
          floatBits(activation.parameters[1])};
}

Status addNormalize(PlanBuilder& builder, DML_OPERATOR_TYPE function, uint32_t parts, const Operands& operands,
                    float epsilon, const Rows* rows, const BufferRange& pairs) {
  const OpView& view = builder.view();
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  const Strides addend = stridesOf(view, operands.addend);
  const Strides mean = stridesOf(view, operands.mean);
  const Strides variance = stridesOf(view, operands.variance);
  const Strides scale = stridesOf(view, operands.scale);
  const Strides bias = stridesOf(view, operands.bias);
  Walk walk;
  Walk second;
  for (uint32_t d = 0; d < x.rank; ++d) {
    walk.addDimension(x.sizes[d], {x.strides[d], y.strides[d], addend[d], rows ? rows->pairs[d] : 0});
    second.addDimension(x.sizes[d], {mean[d], variance[d], scale[d], bias[d]});
  }
  walk.coalesce();
  second.coalesce();
  std::vector<uint32_t> words;
  const auto push =
      normalizeWords(view, static_cast<uint32_t>(x.elements), walk, second, parts, operands, epsilon, words);
  return builder.addItems(
      typedKernel("normalize", x.type, builder.caps()), x.elements, push,
      {builder.input(0), builder.input(operands.mean), builder.input(operands.variance), builder.input(operands.scale),
       builder.input(operands.bias), builder.input(operands.addend), readOnly(pairs), builder.output()},
      builder.parameters(words),
      {{0, static_cast<uint32_t>(function)}, {1, static_cast<uint32_t>(view.activation().type)}});
}

Result<Plan> planBatchNormalization(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const auto& desc = view.as<DML_BATCH_NORMALIZATION_OPERATOR_DESC>();
  if (auto error = addNormalize(builder, DML_OPERATOR_BATCH_NORMALIZATION, kMean | kVariance, {1, 2, 3, 4, 0},
                                desc.Epsilon, nullptr, builder.input(0)))
    return *error;
  return builder.finish();
}

// Adds one dispatch for rows that a workgroup holds.
Status addNormalizeRows(PlanBuilder& builder, uint32_t parts, const Operands& operands, float epsilon,
                        const Rows& rows) {
  const OpView& view = builder.view();
  const Tensor& x = view.input(0);
  const Strides scale = stridesOf(view, operands.scale);
  const Strides bias = stridesOf(view, operands.bias);
  Walk kept;
  Walk reduced;
  for (uint32_t d = 0; d < x.rank; ++d)
    (rows.mask >> d & 1 ? reduced : kept)
        .addDimension(x.sizes[d], {x.strides[d], view.output().strides[d], scale[d], bias[d]});
  kept.coalesce();
  reduced.sortBy(0);
  reduced.coalesce();
  std::vector<uint32_t> words;
  const auto push = normalizeWords(view, rows.elements, kept, reduced, parts, operands, epsilon, words);
  return builder.add(typedKernel("normalize_row", x.type, builder.caps()), rows.count, push,
                     {builder.input(0), builder.input(operands.scale), builder.input(operands.bias), builder.output()},
                     builder.parameters(words), {{1, static_cast<uint32_t>(view.activation().type)}});
}

Result<Plan> planMoments(const OpView& view, const Caps& caps, uint32_t mask, bool useMean, bool useVariance,
                         float epsilon) {
  PlanBuilder builder(view, caps);
  const Rows rows = rowsOf(view.input(0), mask);
  uint32_t parts = (useMean ? kMean : 0) | (useVariance ? kVariance : 0);
  const Operands operands{0, 0, view.input(1).present() ? size_t{1} : 0, view.input(2).present() ? size_t{2} : 0, 0};
  // Of kernels/normalization/normalize_row.comp; shorter rows leave most of a workgroup idle, and few rows of a device.
  constexpr uint32_t kMostHeld = 16 * kGroupSize;
  constexpr uint32_t kFewestHeld = 64;
  constexpr uint32_t kFewestRows = 64;
  const bool held = rows.elements >= kFewestHeld && rows.elements <= kMostHeld &&
                    (rows.count >= kFewestRows || rows.elements <= 4 * kGroupSize);
  BufferRange pairs = builder.input(0);
  if (parts != 0) {
    if (held) {
      if (auto error = addNormalizeRows(builder, parts, operands, epsilon, rows)) return *error;
      return builder.finish();
    }
    builder.passOver({"normalize_row", rows.elements > kMostHeld     ? "Its rows are longer than a workgroup holds."
                                       : rows.elements < kFewestHeld ? "Its rows are short."
                                                                     : "Its rows are few."});
    parts |= kPairs;
    auto sums = addRowSums(builder, rows, useMean ? Sums::Moments : Sums::Squares, static_cast<float>(rows.elements));
    if (!sums) return sums.error();
    pairs = *sums;
  }
  if (auto error = addNormalize(builder, DML_OPERATOR_BATCH_NORMALIZATION, parts, operands, epsilon, &rows, pairs))
    return *error;
  return builder.finish();
}

Result<Plan> planMeanVariance(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC>();
  return planMoments(view, caps, desc.CrossChannel ? 0b1110 : 0b1100, true, desc.NormalizeVariance != 0, desc.Epsilon);
}

// Axes are a set.
template <class S>
Result<Plan> planMeanVarianceOfAxes(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<S>();
  uint32_t mask = 0;
  for (UINT i = 0; i < desc.AxisCount; ++i) mask |= 1u << desc.Axes[i];
  if constexpr (requires { desc.UseMean; })
    return planMoments(view, caps, mask, desc.UseMean != 0, desc.UseVariance != 0, desc.Epsilon);
  else
    return planMoments(view, caps, mask, true, desc.NormalizeVariance != 0, desc.Epsilon);
}

Result<Plan> planLpNormalization(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const auto& desc = view.as<DML_LP_NORMALIZATION_OPERATOR_DESC>();
  const Rows rows = rowsOf(view.input(0), 1u << desc.Axis);
  const auto pairs = addRowSums(builder, rows, desc.P == 1 ? Sums::Magnitudes : Sums::Squares, 1.0f);
  if (!pairs) return pairs.error();
  if (auto error = addNormalize(builder, DML_OPERATOR_LP_NORMALIZATION, desc.P == 1 ? 0 : kSquares, {}, desc.Epsilon,
                                &rows, *pairs))
    return *error;
  return builder.finish();
}

// Adds the dispatch that turns rows' pairs into two outputs of the sizes of the parameters.
Status addRowResults(PlanBuilder& builder, const Rows& rows, const BufferRange& pairs, size_t first, size_t variance,
                     float epsilon) {
  const OpView& view = builder.view();
  const Tensor& a = view.output(first);
  const Tensor& b = view.output(first + 1);
  const Strides spread = variance ? broadcastStrides(view.input(variance)) : Strides{};
  Walk walk;
  for (uint32_t d = 0; d < a.rank; ++d)
    walk.addDimension(a.sizes[d], {a.strides[d], b.strides[d], spread[d], rows.pairs[d]});
  walk.coalesce();
  return builder.addItems(typedKernel("row_results", a.type, builder.caps()), a.elements,
                          {static_cast<uint32_t>(a.elements), walk.rank, floatBits(epsilon)},
                          {readOnly(pairs), builder.input(variance), builder.output(first), builder.output(first + 1)},
                          builder.parameters(walk), {{0, static_cast<uint32_t>(view.schema().type)}});
}

Result<Plan> planTraining(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const auto& desc = view.as<DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC>();
  const Rows rows = rowsOf(view.input(0), sharedDimensions(view.input(1)));
  const auto pairs = addRowSums(builder, rows, Sums::Moments, static_cast<float>(rows.elements));
  if (!pairs) return pairs.error();
  if (auto error = addRowResults(builder, rows, *pairs, 1, 0, desc.Epsilon)) return *error;
  const Operands operands{0, 0, 1, 2, view.input(3).present() ? size_t{3} : 0};
  if (auto error = addNormalize(builder, DML_OPERATOR_BATCH_NORMALIZATION, kPairs | kMean | kVariance, operands,
                                desc.Epsilon, &rows, *pairs))
    return *error;
  return builder.finish();
}

template <class S>
Result<Plan> planNormalizationGrad(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const float epsilon = view.as<S>().Epsilon;
  const Tensor& x = view.input(0);
  const Tensor& g = view.input(1);
  const Tensor& y = view.output();
  const Rows rows = rowsOf(x, sharedDimensions(view.input(2)));
  const auto pairs = addRowSums(builder, rows, Sums::Gradients, 1.0f);
  if (!pairs) return pairs.error();
  if (auto error = addRowResults(builder, rows, *pairs, 1, 3, epsilon)) return *error;

  const Strides mean = broadcastStrides(view.input(2));
  const Strides variance = broadcastStrides(view.input(3));
  const Strides scale = broadcastStrides(view.input(4));
  Walk walk;
  Walk second;
  for (uint32_t d = 0; d < x.rank; ++d) {
    walk.addDimension(x.sizes[d], {x.strides[d], g.strides[d], y.strides[d], rows.pairs[d]});
    second.addDimension(x.sizes[d], {mean[d], variance[d], scale[d]});
  }
  walk.coalesce();
  second.coalesce();
  std::vector<uint32_t> words;
  appendWalk(words, walk);
  const auto secondAt = static_cast<uint32_t>(words.size() / 4);
  appendWalk(words, second);
  if (auto error = builder.addItems(
          typedKernel("normalize_grad", x.type, caps), x.elements,
          {static_cast<uint32_t>(x.elements), walk.rank, second.rank, secondAt, floatBits(epsilon), rows.elements},
          {builder.input(0), builder.input(1), builder.input(2), builder.input(3), builder.input(4), readOnly(*pairs),
           builder.output()},
          builder.parameters(words), {{0, static_cast<uint32_t>(view.schema().type)}}))
    return *error;
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
    DIMPLE_ROW(BATCH_NORMALIZATION, kBatchNormalizationFields, kBatchNormalizationRules, false, false,
               checkNormalization, planBatchNormalization),
    DIMPLE_ROW(MEAN_VARIANCE_NORMALIZATION, kMeanVarianceNormalizationFields, kMeanVarianceNormalizationRules, false,
               false, checkNormalization, planMeanVariance),
    DIMPLE_ROW(LP_NORMALIZATION, kLpNormalizationFields, kLpNormalizationRules, false, false, checkLp,
               planLpNormalization),
    DIMPLE_ROW(MEAN_VARIANCE_NORMALIZATION1, kMeanVarianceNormalization1Fields, kMeanVarianceNormalization1Rules, false,
               false, checkMeanVariance<DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC>,
               planMeanVarianceOfAxes<DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC>),
    DIMPLE_ROW(BATCH_NORMALIZATION_GRAD, kBatchNormalizationGradFields, kBatchNormalizationGradRules, false, false,
               checkNormalizationGrad, planNormalizationGrad<DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC>),
    DIMPLE_ROW(BATCH_NORMALIZATION_TRAINING, kBatchNormalizationTrainingFields, kBatchNormalizationTrainingRules, false,
               false, checkTraining, planTraining),
    DIMPLE_ROW(BATCH_NORMALIZATION_TRAINING_GRAD, kBatchNormalizationGradFields, kBatchNormalizationTrainingGradRules,
               false, false, checkNormalizationGrad,
               planNormalizationGrad<DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC>),
    DIMPLE_ROW(MEAN_VARIANCE_NORMALIZATION2, kMeanVarianceNormalization2Fields, kMeanVarianceNormalization2Rules, false,
               false, checkMeanVariance<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>,
               planMeanVarianceOfAxes<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>),
};

}  // namespace

std::span<const OpSchema> normalizationSchemas() { return kNormalizationSchemas; }

}  // namespace dimple
