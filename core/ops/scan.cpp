// Cumulative sums and products.
#include <algorithm>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/spread.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/scan.h"

namespace dimple {
namespace {

// The properties that both operators share.
struct Scan {
  UINT axis;
  bool backward;
  bool exclusive;
};

Scan scanOf(const Operation& op) {
  if (op.schema().type == DML_OPERATOR_CUMULATIVE_PRODUCT) {
    const auto& desc = op.as<DML_CUMULATIVE_PRODUCT_OPERATOR_DESC>();
    return {desc.Axis, desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING, desc.HasExclusiveProduct != 0};
  }
  const auto& desc = op.as<DML_CUMULATIVE_SUMMATION_OPERATOR_DESC>();
  return {desc.Axis, desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING, desc.HasExclusiveSum != 0};
}

Status checkScan(const Operation& op) { return checkAtMost("Axis", scanOf(op).axis, op.input(0).rank - 1); }

// How rows are taken: vectors along a row, rows that lie side by side in vectors, or element by element.
struct ScanRows {
  kernels::Scan::Form form = kernels::Scan::Form::Strided;
  Walk walk;
  uint32_t number = 1;  // of elements in a vector
};

ScanRows scanRowsOf(const Scan& scan, const Tensor& x, const Tensor& y, const Walk& kept) {
  using Form = kernels::Scan::Form;
  constexpr uint32_t kBoth = 0b11;
  const uint32_t number = vectorElements(x.type);
  const uint32_t elements = x.sizes[scan.axis];
  const uint32_t xStep = x.strides[scan.axis];
  const uint32_t yStep = y.strides[scan.axis];
  if (byteWidth(x.type) > 4) return {Form::Strided, kept};
  // Shorter rows leave most of a workgroup idle.
  if (!scan.backward && xStep == 1 && yStep == 1 && elements % number == 0 && elements >= number * kGroupSize / 2)
    if (const auto rows = kept.betweenVectors(number, kBoth)) return {Form::Vectors, *rows, number};
  if ((xStep | yStep) % number == 0)
    if (const auto columns = kept.inVectors(number, kBoth)) return {Form::Columns, *columns, number};
  return {Form::Strided, kept};
}

Status planScan(const Operation& op, PlanBuilder& builder) {
  enum Stage : uint32_t { Only, Totals, ScanTotals, FromTotals };
  using Form = kernels::Scan::Form;
  const Scan scan = scanOf(op);
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  const uint32_t mask = 1u << scan.axis;
  const Walk kept = split(makeWalk(x.sizeSpan(), {&x, &y}), mask).kept.coalesceBy(0);
  const auto rows = static_cast<uint32_t>(kept.count());
  const uint32_t elements = x.sizes[scan.axis];
  // Sums and products wrap alike whether integers are signed or not.
  const KernelType type = x.type == DML_TENSOR_DATA_TYPE_INT32 ? KernelType::U32 : kernelType(x.type);
  const ScanRows taken = scanRowsOf(scan, x, y, kept);
  if (taken.form == Form::Strided) builder.passOver({"scan_vectors", "Its rows are not in vectors, or are short."});
  const auto tasksOf = static_cast<uint32_t>(taken.walk.count());
  const uint32_t along = taken.form == Form::Vectors ? taken.number : 1;   // elements of a step of a row
  const uint32_t across = taken.form == Form::Columns ? taken.number : 1;  // between rows
  const uint32_t parameters = builder.parameters(taken.walk);

  const auto addStage = [&](Stage stage, const Spread& spread, uint32_t count, const BufferRange& totals) {
    // If a stage does not access a tensor, the totals are bound in its place.
    const bool reads = stage != ScanTotals;
    const bool writes = stage == Only || stage == FromTotals;
    const auto ofTotals = writes ? kernels::WriteBuffer::unwritten(totals) : kernels::WriteBuffer(totals);
    kernels::Scan call{.form = reads ? taken.form : Form::Strided,
                       .type = type,
                       .push = {.rows = reads ? tasksOf : rows,
                                .elements = reads ? count / along : count,
                                .chunks = spread.chunks,
                                .chunkLength = reads ? spread.perChunk / along : spread.perChunk,
                                .keptRank = taken.walk.rank,
                                .xStep = x.strides[scan.axis] / across,
                                .yStep = y.strides[scan.axis] / across,
                                .backward = scan.backward,
                                .exclusive = scan.exclusive,
                                .none = 0},
                       .spec = {.function = op.schema().type, .stage = stage},
                       .x = reads ? builder.input(0) : totals,
                       .y = writes ? kernels::WriteBuffer(builder.output()) : ofTotals,
                       .totals = ofTotals};
    if (call.form == Form::Strided) call.spec.row = spread.row;
    const uint64_t tasks = uint64_t{reads ? tasksOf : rows} * spread.chunks;
    return builder.add(call, taskGroups(tasks, spread.row), parameters, Work(rows) * count);
  };
  const bool dense = taken.form == Form::Vectors || (taken.form == Form::Strided && areDense(x, mask));
  Spread spread = spreadOf(tasksOf, elements, dense, taken.form == Form::Columns);
  if (along != 1) {
    spread.perChunk = static_cast<uint32_t>(alignUp(spread.perChunk, along));
    spread.chunks = static_cast<uint32_t>(divideUp(elements, spread.perChunk));
  }
  if (spread.chunks == 1) return addStage(Only, spread, elements, builder.output());
  // A total is as wide as the kernel's accumulator.
  const BufferRange totals =
      builder.allocateTemporary(uint64_t{rows} * spread.chunks * std::max(4u, byteWidth(x.type)));
  TRY(addStage(Totals, spread, elements, totals));
  Spread ofTotals = spreadOf(rows, spread.chunks, true);
  ofTotals.chunks = 1;
  ofTotals.perChunk = spread.chunks;
  TRY(addStage(ScanTotals, ofTotals, spread.chunks, totals));
  return addStage(FromTotals, spread, elements, totals);
}

DIMPLE_FIELDS(kCumulativeSummationFields, DIMPLE_IN_AND_OUT, DIMPLE_UINT(Axis),
              DIMPLE_ENUM(AxisDirection, kAxisDirections), DIMPLE_BOOL(HasExclusiveSum));
DIMPLE_FIELDS(kCumulativeProductFields, DIMPLE_IN_AND_OUT, DIMPLE_UINT(Axis),
              DIMPLE_ENUM(AxisDirection, kAxisDirections), DIMPLE_BOOL(HasExclusiveProduct));

constexpr TypeHistory kCumulativeSummationTypes{
    {k2_1, kFloats | kInts32, 4, 4}, {k4_0, kFloats | kInts32}, {k5_0, kIndices | kFloats}};
constexpr TypeHistory kCumulativeProductTypes{
    {k3_1, kFloats | kInts32, 4, 4}, {k4_0, kFloats | kInts32}, {k5_0, kIndices | kFloats}};

constexpr OpSchema kScanSchemas[] = {
    DIMPLE_ROW(CUMULATIVE_SUMMATION, kCumulativeSummationFields, .rules = kUnaryRules<kCumulativeSummationTypes>,
               .inPlace = true, .check = checkScan, .plan = planScan),
    DIMPLE_ROW(CUMULATIVE_PRODUCT, kCumulativeProductFields, .rules = kUnaryRules<kCumulativeProductTypes>,
               .inPlace = true, .check = checkScan, .plan = planScan),
};

}  // namespace

std::span<const OpSchema> scanSchemas() { return kScanSchemas; }

}  // namespace dimple
