// Cumulative sums and products.
#include <algorithm>

#include "core/ops/checks.h"
#include "core/ops/spread.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/scan.h"

namespace dimple {
namespace {

// What both operators have in common.
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

Status planScan(const Operation& op, PlanBuilder& builder) {
  enum Stage : uint32_t { Only, Totals, ScanTotals, FromTotals };
  const Scan scan = scanOf(op);
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  const uint32_t mask = 1u << scan.axis;
  const Walk kept = split(makeWalk(x.sizeSpan(), {&x, &y}), mask).kept.coalesceBy(0);
  const auto rows = static_cast<uint32_t>(kept.count());
  const uint32_t elements = x.sizes[scan.axis];
  const uint32_t parameters = builder.parameters(kept);

  const auto addStage = [&](Stage stage, const Spread& spread, uint32_t count, const BufferRange& totals) {
    const uint64_t tasks = uint64_t{rows} * spread.chunks;
    // A stage that does not touch a tensor is bound the totals in its place.
    const bool reads = stage != ScanTotals;
    const bool writes = stage == Only || stage == FromTotals;
    const auto ofTotals = writes ? kernels::WriteBuffer::unwritten(totals) : kernels::WriteBuffer(totals);
    return builder.add(kernels::Scan{.type = kernelType(x.type),
                                     .push = {.rows = rows,
                                              .elements = count,
                                              .chunks = spread.chunks,
                                              .chunkLength = spread.perChunk,
                                              .keptRank = kept.rank,
                                              .xStep = x.strides[scan.axis],
                                              .yStep = y.strides[scan.axis],
                                              .backward = scan.backward,
                                              .exclusive = scan.exclusive,
                                              .none = 0},
                                     .spec = {.function = op.schema().type, .row = spread.row, .stage = stage},
                                     .x = reads ? builder.input(0) : totals,
                                     .y = writes ? kernels::WriteBuffer(builder.output()) : ofTotals,
                                     .totals = ofTotals},
                       taskGroups(tasks, spread.row), parameters, Work(rows) * count);
  };
  const Spread spread = spreadOf(rows, elements, areDense(x, mask));
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
