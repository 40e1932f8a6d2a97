// Cumulative sums and products.
#include <algorithm>
#include <optional>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
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

// The walk over rows of kernels/scan/scan_vectors.comp. Shorter rows leave most of a workgroup idle.
std::optional<Walk> scansInVectors(const Scan& scan, const Tensor& x, const Tensor& y, const Walk& kept) {
  const uint32_t number = vectorElements(x.type);
  const uint32_t elements = x.sizes[scan.axis];
  if (scan.backward || byteWidth(x.type) > 4 || x.strides[scan.axis] != 1 || y.strides[scan.axis] != 1 ||
      elements % number != 0 || elements < number * kGroupSize / 2)
    return {};
  return kept.betweenVectors(number, 0b11);
}

Status planScan(const Operation& op, PlanBuilder& builder) {
  enum Stage : uint32_t { Only, Totals, ScanTotals, FromTotals };
  const Scan scan = scanOf(op);
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  const uint32_t mask = 1u << scan.axis;
  const Walk kept = split(makeWalk(x.sizeSpan(), {&x, &y}), mask).kept.coalesceBy(0);
  const auto rows = static_cast<uint32_t>(kept.count());
  const uint32_t elements = x.sizes[scan.axis];
  using Form = kernels::Scan::Form;
  // Sums and products wrap alike whether integers are signed or not.
  const KernelType type = x.type == DML_TENSOR_DATA_TYPE_INT32 ? KernelType::U32 : kernelType(x.type);
  const auto vectors = scansInVectors(scan, x, y, kept);
  const uint32_t number = vectors ? vectorElements(x.type) : 1;
  if (!vectors) builder.passOver({"scan_vectors", "Its rows are not in vectors, short, or scanned backwards."});
  const uint32_t parameters = builder.parameters(vectors ? *vectors : kept);

  const auto addStage = [&](Stage stage, const Spread& spread, uint32_t count, const BufferRange& totals) {
    const bool usesVectors = vectors && stage != ScanTotals;
    const uint64_t tasks = uint64_t{rows} * spread.chunks;
    // A stage that does not touch a tensor is bound the totals in its place.
    const bool reads = stage != ScanTotals;
    const bool writes = stage == Only || stage == FromTotals;
    const auto ofTotals = writes ? kernels::WriteBuffer::unwritten(totals) : kernels::WriteBuffer(totals);
    kernels::Scan call{.form = usesVectors ? Form::Vectors : Form::Strided,
                       .type = type,
                       .push = {.rows = rows,
                                .elements = usesVectors ? count / number : count,
                                .chunks = spread.chunks,
                                .chunkLength = usesVectors ? spread.perChunk / number : spread.perChunk,
                                .keptRank = kept.rank,
                                .xStep = x.strides[scan.axis],
                                .yStep = y.strides[scan.axis],
                                .backward = scan.backward,
                                .exclusive = scan.exclusive,
                                .none = 0},
                       .spec = {.function = op.schema().type, .stage = stage},
                       .x = reads ? builder.input(0) : totals,
                       .y = writes ? kernels::WriteBuffer(builder.output()) : ofTotals,
                       .totals = ofTotals};
    if (!usesVectors) call.spec.row = spread.row;
    return builder.add(call, taskGroups(tasks, spread.row), parameters, Work(rows) * count);
  };
  Spread spread = spreadOf(rows, elements, vectors || areDense(x, mask));
  if (vectors) {
    spread.perChunk = static_cast<uint32_t>(alignUp(spread.perChunk, number));
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
