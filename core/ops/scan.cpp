// Cumulative sums and products.
#include <algorithm>
#include <limits>

#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/spread.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

// What both operators have in common.
struct Scan {
  UINT axis;
  bool backward;
  bool exclusive;
};

Scan scanOf(const OpView& view) {
  if (view.schema().type == DML_OPERATOR_CUMULATIVE_PRODUCT) {
    const auto& desc = view.as<DML_CUMULATIVE_PRODUCT_OPERATOR_DESC>();
    return {desc.Axis, desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING, desc.HasExclusiveProduct != 0};
  }
  const auto& desc = view.as<DML_CUMULATIVE_SUMMATION_OPERATOR_DESC>();
  return {desc.Axis, desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING, desc.HasExclusiveSum != 0};
}

Status checkScan(const OpView& view) { return checkAtMost("Axis", scanOf(view).axis, view.input(0).rank - 1); }

Result<Plan> planScan(const OpView& view, const Caps& caps) {
  enum Stage : uint32_t { Only, Totals, ScanTotals, FromTotals };
  PlanBuilder builder(view, caps);
  const Scan scan = scanOf(view);
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  Walk kept;
  uint32_t smallestKept = std::numeric_limits<uint32_t>::max();
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (d == scan.axis) continue;
    kept.addDimension(x.sizes[d], {x.strides[d], y.strides[d]});
    if (x.sizes[d] > 1) smallestKept = std::min(smallestKept, x.strides[d]);
  }
  kept.sortBy(0);
  kept.coalesce();
  const auto rows = static_cast<uint32_t>(kept.count());
  const uint32_t elements = x.sizes[scan.axis];
  const uint32_t parameters = builder.parameters(kept);

  const auto addStage = [&](Stage stage, const Spread& spread, uint32_t count, BufferRange totals) {
    const uint64_t tasks = uint64_t{rows} * spread.chunks;
    totals.writes = stage == Totals || stage == ScanTotals;
    // A stage that does not touch a tensor is bound the totals in its place.
    const bool reads = stage != ScanTotals;
    const bool writes = stage == Only || stage == FromTotals;
    BufferRange in = reads ? builder.input(0) : totals;
    in.writes = false;
    return builder.add(
        cat("scan.", shortTypeName(x.type)), taskGroups(tasks, spread.row),
        {rows, count, spread.chunks, spread.perChunk, kept.rank, x.strides[scan.axis], y.strides[scan.axis],
         scan.backward, scan.exclusive, 0},
        {in, writes ? builder.output() : totals, totals}, parameters,
        {{0, static_cast<uint32_t>(view.schema().type)}, {1, spread.row}, {2, static_cast<uint32_t>(stage)}});
  };
  const Spread spread = spreadOf(rows, elements, x.strides[scan.axis] <= smallestKept);
  if (spread.chunks == 1) {
    if (auto error = addStage(Only, spread, elements, builder.output())) return *error;
    return builder.finish();
  }
  // A total is as wide as the kernel's accumulator.
  const BufferRange totals =
      builder.allocateTemporary(uint64_t{rows} * spread.chunks * std::max(4u, byteWidth(x.type)));
  if (auto error = addStage(Totals, spread, elements, totals)) return *error;
  Spread ofTotals = spreadOf(rows, spread.chunks, true);
  ofTotals.chunks = 1;
  ofTotals.perChunk = spread.chunks;
  if (auto error = addStage(ScanTotals, ofTotals, spread.chunks, totals)) return *error;
  if (auto error = addStage(FromTotals, spread, elements, totals)) return *error;
  return builder.finish();
}

template <class S>
constexpr Field kCumulativeSummationFields[] = {
    DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ATTRIBUTE(S, Axis, UInt),
    DIMPLE_ENUM(S, AxisDirection, kAxisDirections), DIMPLE_ATTRIBUTE(S, HasExclusiveSum, Bool)};
template <class S>
constexpr Field kCumulativeProductFields[] = {
    DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ATTRIBUTE(S, Axis, UInt),
    DIMPLE_ENUM(S, AxisDirection, kAxisDirections), DIMPLE_ATTRIBUTE(S, HasExclusiveProduct, Bool)};

constexpr TypeHistory kCumulativeSummationTypes{
    {k2_1, kFloats | kInts32, 4, 4}, {k4_0, kFloats | kInts32}, {k5_0, kIndices | kFloats}};
constexpr TypeHistory kCumulativeProductTypes{
    {k3_1, kFloats | kInts32, 4, 4}, {k4_0, kFloats | kInts32}, {k5_0, kIndices | kFloats}};

constexpr TensorRule kCumulativeSummationRules[] = {{kCumulativeSummationTypes}, {kCumulativeSummationTypes, like(0)}};
constexpr TensorRule kCumulativeProductRules[] = {{kCumulativeProductTypes}, {kCumulativeProductTypes, like(0)}};

constexpr OpSchema kScanSchemas[] = {
    DIMPLE_ROW(CUMULATIVE_SUMMATION, kCumulativeSummationFields, kCumulativeSummationRules, true, false, checkScan,
               planScan),
    DIMPLE_ROW(CUMULATIVE_PRODUCT, kCumulativeProductFields, kCumulativeProductRules, true, false, checkScan, planScan),
};

}  // namespace

std::span<const OpSchema> scanSchemas() { return kScanSchemas; }

}  // namespace dimple
