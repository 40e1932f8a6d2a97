// Operators that fill tensors with values.
#include <algorithm>

#include "core/ops/checks.h"
#include "core/ops/copy.h"
#include "core/ops/moves.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/band.h"
#include "kernels/interfaces/sequence.h"

namespace dimple {
namespace {

template <class Desc>
Status checkValue(const Operation& op) {
  return checkValueType("ValueDataType", op.as<Desc>().ValueDataType, "OutputTensor", op.output());
}

// ---- FILL_VALUE_CONSTANT, FILL_VALUE_SEQUENCE -----------------------------------------------------------------------

Status planFill(const Operation& op, PlanBuilder& builder) {
  const Tensor& y = op.output();
  const auto& desc = op.as<DML_FILL_VALUE_CONSTANT_OPERATOR_DESC>();
  return addFill(builder, y.type, makeWalk(y.sizeSpan(), {&y}), fillPattern(y.type, desc.Value), builder.output());
}

Status planFillSequence(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC>();
  const Tensor& y = op.output();
  const FillPattern start = fillPattern(y.type, desc.ValueStart);
  const FillPattern delta = fillPattern(y.type, desc.ValueDelta);
  Walk walk = makeWalk(y.sizeSpan(), {&y});
  uint32_t position = 1;
  for (uint32_t d = y.rank; d-- > 0; position *= y.sizes[d]) walk.strides[d][1] = position;
  walk.coalesce();
  const KernelType type = y.type == DML_TENSOR_DATA_TYPE_INT32 ? KernelType::U32 : kernelType(y.type);
  const bool hasRuns = type == KernelType::F32 || type == KernelType::F16 || type == KernelType::U32;
  const Moves moves = movesOf(builder, {.runs = hasRuns}, walk, y.type, 0);
  const bool runs = moves.unit == MoveUnit::Run;
  return builder.addItems(kernels::Sequence{.form = formOf<kernels::Sequence>(moves.unit),
                                            .type = runs ? KernelElement(type) : builder.typedElement(y.type),
                                            .push = {.walk = walkWords(moves.walk),
                                                     .startLow = start[0],
                                                     .startHigh = start[1],
                                                     .deltaLow = delta[0],
                                                     .deltaHigh = delta[1]},
                                            .y = builder.output()},
                          moves.items, builder.parameters(moves.walk), runs ? vectorElements(y.type) : 1);
}

// ---- DIAGONAL_MATRIX, DIAGONAL_MATRIX1 ------------------------------------------------------------------------------

Status planDiagonalMatrix(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<DML_DIAGONAL_MATRIX_OPERATOR_DESC>();
  const Tensor& y = op.output();
  TRY(addFill(builder, y.type, makeWalk(y.sizeSpan(), {&y}), {}, builder.output()));

  const uint32_t row = y.rank - 2;
  const uint32_t column = y.rank - 1;
  const int64_t first = std::max<int64_t>(0, -int64_t{desc.Offset});  // row of the diagonal's first element
  const int64_t end = std::min<int64_t>(y.sizes[row], y.sizes[column] - int64_t{desc.Offset});
  if (first >= end) return {};
  Walk diagonal = makeWalk(y.sizeSpan().first(row), {&y});
  diagonal.addDimension(static_cast<uint32_t>(end - first), {y.strides[row] + y.strides[column]});
  diagonal.base[0] =
      static_cast<uint32_t>(first) * y.strides[row] + static_cast<uint32_t>(first + desc.Offset) * y.strides[column];
  return addFill(builder, y.type, diagonal, fillPattern(y.type, desc.Value), builder.output());
}

// Stores a value on the diagonals of the output from `begin` to before `end`.
Status addBand(PlanBuilder& builder, const FillPattern& value, int64_t begin, int64_t end) {
  const Tensor& y = builder.op().output();
  const uint32_t row = y.rank - 2;
  const uint32_t column = y.rank - 1;
  begin = std::max(begin, 1 - int64_t{y.sizes[row]});
  end = std::min(end, int64_t{y.sizes[column]});
  if (begin >= end) return {};
  Walk walk = makeWalk(y.sizeSpan().first(column), {&y});
  walk.strides[row][1] = 1;
  walk.addDimension(static_cast<uint32_t>(std::min(end - begin, int64_t{y.sizes[column]})), {0, 0, 1});
  walk.coalesce();
  return builder.addWalk(walk, kernels::Band{.type = builder.sizedElement(y.type),
                                             .push = {.walk = walkWords(walk),
                                                      .low = value[0],
                                                      .high = value[1],
                                                      .begin = static_cast<uint32_t>(begin),
                                                      .end = static_cast<uint32_t>(end),
                                                      .columns = y.sizes[column],
                                                      .columnStep = y.strides[column]},
                                             .y = builder.output()});
}

Status planDiagonalMatrix1(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<DML_DIAGONAL_MATRIX1_OPERATOR_DESC>();
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  TRY(x.present() ? addCopy(builder, y.type, makeWalk(y.sizeSpan(), {&x, &y}), builder.input(0), builder.output())
                  : addFill(builder, y.type, makeWalk(y.sizeSpan(), {&y}), {}, builder.output()));

  constexpr int32_t kFirst = INT32_MIN;
  constexpr int32_t kEnd = INT32_MAX;
  const FillPattern value = fillPattern(y.type, desc.Value);
  // If begin and end are in reverse order, this means all diagonals except those from end to begin.
  if (desc.DiagonalFillBegin <= desc.DiagonalFillEnd)
    return addBand(builder, value, desc.DiagonalFillBegin, desc.DiagonalFillEnd);
  TRY(addBand(builder, value, kFirst, desc.DiagonalFillEnd));
  return addBand(builder, value, desc.DiagonalFillBegin, kEnd);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

DIMPLE_FIELDS(kDiagonalMatrixFields, DIMPLE_OUTPUT(OutputTensor), DIMPLE_INT(Offset), DIMPLE_FLOAT(Value));
DIMPLE_FIELDS(kFillValueConstantFields, DIMPLE_OUTPUT(OutputTensor), DIMPLE_ENUM(ValueDataType, kTensorDataTypes),
              DIMPLE_SCALAR(Value));
DIMPLE_FIELDS(kFillValueSequenceFields, DIMPLE_OUTPUT(OutputTensor), DIMPLE_ENUM(ValueDataType, kTensorDataTypes),
              DIMPLE_SCALAR(ValueStart, ValueDelta));
DIMPLE_FIELDS(kDiagonalMatrix1Fields, DIMPLE_OPTIONAL_INPUT(InputTensor), DIMPLE_OUTPUT(OutputTensor),
              DIMPLE_ENUM(ValueDataType, kTensorDataTypes), DIMPLE_SCALAR(Value),
              DIMPLE_INT(DiagonalFillBegin, DiagonalFillEnd));

constexpr TypeHistory kDiagonalMatrix1Types{{k5_1, kAllTypes, 2, 4}};

constexpr TensorRule kDiagonalMatrixRules[] = {
    {{{k2_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k4_0, kUpTo32, 2, 4}, {k5_1, kAllTypes, 2, 4}}}};
constexpr TensorRule kFillValueConstantRules[] = {{{{k2_1, kUpTo32, 4, 4}, {k4_0, kUpTo32}, {k4_1, kAllTypes}}}};
constexpr TensorRule kFillValueSequenceRules[] = {{{{k2_1, kUpTo32, 4, 4}, {k4_0, kUpTo32}, {k5_0, kNumbers}}}};

constexpr OpSchema kFillSchemas[] = {
    DIMPLE_ROW(DIAGONAL_MATRIX, kDiagonalMatrixFields, .rules = kDiagonalMatrixRules, .plan = planDiagonalMatrix),
    DIMPLE_ROW(FILL_VALUE_CONSTANT, kFillValueConstantFields, .rules = kFillValueConstantRules, .inPlace = true,
               .check = checkValue<DML_FILL_VALUE_CONSTANT_OPERATOR_DESC>, .plan = planFill),
    DIMPLE_ROW(FILL_VALUE_SEQUENCE, kFillValueSequenceFields, .rules = kFillValueSequenceRules, .inPlace = true,
               .check = checkValue<DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC>, .plan = planFillSequence),
    DIMPLE_ROW(DIAGONAL_MATRIX1, kDiagonalMatrix1Fields, .rules = kUnaryRules<kDiagonalMatrix1Types>,
               .check = checkValue<DML_DIAGONAL_MATRIX1_OPERATOR_DESC>, .plan = planDiagonalMatrix1),
};

}  // namespace

std::span<const OpSchema> fillSchemas() { return kFillSchemas; }

}  // namespace dimple
