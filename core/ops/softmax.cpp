// SOFTMAX, LOG_SOFTMAX and HARDMAX.
#include "core/ops/softmax.h"

#include <memory>
#include <optional>
#include <utility>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/shared_kernels.h"
#include "core/ops/table.h"
#include "core/ops/vector_rows.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/softmax.h"

namespace dimple {

namespace {

constexpr uint32_t kColumnVectors = 32;  // that a workgroup of kernels/softmax/columns.comp takes

// The walks of that kernel, of rows that lie side by side in vectors. Returns no value if they do not lie so, if they
// do not fill a workgroup, or if an invocation would have much to add up.
std::optional<std::pair<Walk, Walk>> columnWalks(DataType type, const Walk& kept, const Walk& reduced,
                                                 const Caps& caps) {
  constexpr uint32_t kBoth = 0b11;
  constexpr uint32_t kSharedBytes = 20 * 1024;
  if (caps.sharedBytes < kSharedBytes) return {};
  constexpr uint32_t kMostElements = 2048;
  const uint32_t number = vectorElements(type);
  const auto vectors = kept.inVectors(number, kBoth);
  if (!vectors || vectors->count() < kColumnVectors || reduced.rank > 1 || reduced.count() > kMostElements) return {};
  const auto along = reduced.betweenVectors(number, kBoth);
  if (!along) return {};
  return std::pair(*vectors, *along);
}

// Walks through the rows and through their elements (operands: input, output).
SplitWalk walksOf(const Tensor& x, const Tensor& y, uint32_t axisMask) {
  SplitWalk walks = split(makeWalk(x.sizeSpan(), {&x, &y}), axisMask);
  walks.kept.coalesceBy(0);
  walks.reduced.coalesce();
  return walks;
}

Status addRows(PlanBuilder& builder, kernels::Softmax& call, const VectorRows& chosen, uint32_t rows,
               uint32_t parameters, Work work) {
  if (chosen.saysInvocations()) call.spec.invocations = chosen.invocations;
  if (chosen.reads == RowReads::HeldShort) call.spec.rowLanes = chosen.lanes;
  return builder.add(call, divideUp(rows, chosen.rowsOfGroup()), parameters, work);
}

}  // namespace

Status addSoftmax(PlanBuilder& builder, DML_OPERATOR_TYPE function, const Tensor& x, const Tensor& y, uint32_t axisMask,
                  const BufferRange& from, const BufferRange& to) {
  using Form = kernels::Softmax::Form;
  // Below this length, a workgroup's reduction trees cost more than they save.
  constexpr uint64_t kRowElements = 64;
  const auto [kept, reduced] = walksOf(x, y, axisMask);
  const auto rows = static_cast<uint32_t>(kept.count());
  const auto length = static_cast<uint32_t>(reduced.count());
  const Work work = Work(rows) * length;
  const uint32_t parameters = builder.parameters(kept, reduced);
  kernels::Softmax call{.form = Form::Strided,
                        .type = builder.typedElement(x.type),
                        .push = {.rows = rows, .elements = length, .split = {kept.rank, reduced.rank, kept.vectors()}},
                        .spec = {.function = function},
                        .x = from,
                        .y = to};
  const VectorRows chosen = chooseVectorRows(x.type, kept, reduced, builder.target());
  if (function == DML_OPERATOR_ACTIVATION_HARDMAX) {
    if (chosen.reads != RowReads::None) {
      call.type = kernelType(x.type);
      call.form = Form::HardRows;
      return builder.add(call, rows, parameters, work);
    }
    builder.passOver({"softmax_hard_rows", chosen.refusal});
  } else {
    if (chosen.reads != RowReads::None) {
      call.type = kernelType(x.type);
      call.form = formOf<Form>(chosen.reads);
      return addRows(builder, call, chosen, rows, parameters, work);
    }
    builder.passOver({"softmax_rows", chosen.refusal});
    if (const auto columns = columnWalks(x.type, kept, reduced, builder.target().caps)) {
      const auto& [across, along] = *columns;
      const auto vectors = static_cast<uint32_t>(across.count());
      call.form = Form::Columns;
      call.type = kernelType(x.type);
      call.push.rows = vectors;
      call.push.split = {across.rank, along.rank, across.vectors()};
      return builder.add(call, divideUp(vectors, kColumnVectors), builder.parameters(across, along), work);
    }
  }
  // Where rows fill a CPU's vectors, an invocation each needs no barriers.
  constexpr uint32_t kManyRows = 64;
  const bool row = length >= kRowElements && !(sharesKernels(builder.target()) && rows >= kManyRows);
  constexpr uint32_t kCached = 16;  // of kernels/softmax/softmax.comp
  call.spec.row = row;
  call.spec.cached = row && length <= kCached * kGroupSize && function != DML_OPERATOR_ACTIVATION_HARDMAX;
  return builder.add(call, taskGroups(rows, row), parameters, work);
}

namespace {

// The operators without Axes reduce the rows of one matrix.
Status checkMatrix(const Operation& op) { return checkLeadingOnes("InputTensor", op.input(0), 2); }

Status checkSoftmax1(const Operation& op) {
  const auto& desc = op.as<DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC>();
  return checkAxes({desc.Axes, desc.AxisCount}, op.input(0).rank);
}

static_assert(sizeof(DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC) == sizeof(DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC) &&
              sizeof(DML_ACTIVATION_HARDMAX1_OPERATOR_DESC) == sizeof(DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC));

// What the kernel computes.
DML_OPERATOR_TYPE functionOf(const Operation& op) {
  switch (op.schema().type) {
    case DML_OPERATOR_ACTIVATION_HARDMAX:
    case DML_OPERATOR_ACTIVATION_HARDMAX1:
      return DML_OPERATOR_ACTIVATION_HARDMAX;
    case DML_OPERATOR_ACTIVATION_LOG_SOFTMAX:
    case DML_OPERATOR_ACTIVATION_LOG_SOFTMAX1:
      return DML_OPERATOR_ACTIVATION_LOG_SOFTMAX;
    default:
      return DML_OPERATOR_ACTIVATION_SOFTMAX;
  }
}

// The dimensions of a row: those of the attribute Axes, or of the rows of one matrix.
uint32_t axesOf(const Operation& op) {
  if (!findField(op.schema(), "Axes")) return 1u << (op.input(0).rank - 1);
  const auto& desc = op.as<DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC>();
  return axisMask({desc.Axes, desc.AxisCount});
}

Status planSoftmax(const Operation& op, PlanBuilder& builder) {
  return addSoftmax(builder, functionOf(op), op.input(0), op.output(), axesOf(op), builder.input(0), builder.output());
}

// The operator of softmaxWithCasts().
struct CastSoftmax {
  DML_OPERATOR_TYPE function;
  uint32_t axes;
};

Status planCastSoftmax(const Operation& op, PlanBuilder& builder) {
  constexpr DataType kType = DML_TENSOR_DATA_TYPE_FLOAT32;
  const auto& [function, axes] = op.as<CastSoftmax>();
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  const auto [kept, reduced] = walksOf(x, y, axes);
  const VectorRows chosen = chooseVectorRows(kType, kept, reduced, builder.target());
  if (!mayCast(chosen, builder.target().caps)) return noCasts();
  const auto rows = static_cast<uint32_t>(kept.count());
  kernels::Softmax call{.form = castFormOf<kernels::Softmax::Form>(chosen.reads),
                        .type = kernelType(kType),
                        .push = {.rows = rows,
                                 .elements = static_cast<uint32_t>(reduced.count()),
                                 .split = {kept.rank, reduced.rank, kept.vectors()}},
                        .spec = {.function = function},
                        .x = builder.input(0),
                        .y = builder.output()};
  call.spec.xHalves = x.type != kType;
  call.spec.yHalves = y.type != kType;
  return addRows(builder, call, chosen, rows, builder.parameters(kept, reduced), Work(x.elements));
}

constexpr OpSchema kCastSoftmax = schemaOfPasses("SOFTMAX", planCastSoftmax);

DIMPLE_FIELDS(kSoftmax1Fields, DIMPLE_IN_AND_OUT, DIMPLE_AXES(2));

constexpr TypeHistory kHardmaxTypes{{k1_0, kFloats, 4, 4}, {k2_0, kFloats, 4, 5}, {k3_0, kFloats}};
constexpr TypeHistory kSoftmax1Types{{k5_1, kFloats}};

// Rows of the operators without Axes, and with them.
#define DIMPLE_MATRIX_ROW(NAME) \
  DIMPLE_ROW(NAME, kUnaryFields, .rules = kUnaryRules<kHardmaxTypes>, .check = checkMatrix, .plan = planSoftmax)
#define DIMPLE_AXES_ROW(NAME) \
  DIMPLE_ROW(NAME, kSoftmax1Fields, .rules = kUnaryRules<kSoftmax1Types>, .check = checkSoftmax1, .plan = planSoftmax)

constexpr OpSchema kSoftmaxSchemas[] = {
    DIMPLE_MATRIX_ROW(ACTIVATION_HARDMAX),    DIMPLE_MATRIX_ROW(ACTIVATION_LOG_SOFTMAX),
    DIMPLE_MATRIX_ROW(ACTIVATION_SOFTMAX),    DIMPLE_AXES_ROW(ACTIVATION_SOFTMAX1),
    DIMPLE_AXES_ROW(ACTIVATION_LOG_SOFTMAX1), DIMPLE_AXES_ROW(ACTIVATION_HARDMAX1),
};

}  // namespace

std::optional<Operation> softmaxWithCasts(const Operation& op, const Tensor& input, const Tensor& output) {
  if (op.schema().plan != planSoftmax || functionOf(op) == DML_OPERATOR_ACTIVATION_HARDMAX) return {};
  return Operation(kCastSoftmax, std::make_shared<const CastSoftmax>(CastSoftmax{functionOf(op), axesOf(op)}), {input},
                   {output}, {{op.inputName(0)}, {op.outputName(0)}});
}

std::span<const OpSchema> softmaxSchemas() { return kSoftmaxSchemas; }

}  // namespace dimple
