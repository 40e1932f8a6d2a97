// TOP_K.
#include <algorithm>
#include <array>
#include <bit>

#include "core/checked.h"
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

Status checkTopK(const OpView& view, UINT axis, UINT k) {
  const Tensor& x = view.input(0);
  if (auto error = checkAtMost("Axis", axis, x.rank - 1)) return error;
  if (k < 1 || k > x.sizes[axis])
    return invalid(cat("K has value (", k, "), outside 1..", x.sizes[axis], ", the elements of InputTensor on Axis."));
  auto expected = x.sizes;
  expected[axis] = k;
  for (size_t i = 0; i < view.outputs().size(); ++i)
    if (auto error = checkSizes(view.outputName(i), view.output(i), std::span(expected).first(x.rank))) return error;
  return {};
}

Status checkTopK(const OpView& view) {
  const auto& desc = view.as<DML_TOP_K_OPERATOR_DESC>();
  return checkTopK(view, desc.Axis, desc.K);
}

Status checkTopK1(const OpView& view) {
  const auto& desc = view.as<DML_TOP_K1_OPERATOR_DESC>();
  return checkTopK(view, desc.Axis, desc.K);
}

// Blocks of a row are sorted in a workgroup each, of which only the first k elements go on; pairs of runs are merged
// until one is left.
Result<Plan> planTopK(const OpView& view, const Caps& caps, UINT axis, UINT k, bool largest) {
  constexpr uint32_t kBlock = 1024;  // slots of a workgroup
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor& values = view.output(0);
  const Tensor& indices = view.output(1);
  Walk rowsWalk;
  for (uint32_t d = 0; d < x.rank; ++d)
    if (d != axis) rowsWalk.addDimension(x.sizes[d], {x.strides[d], values.strides[d], indices.strides[d]});
  rowsWalk.coalesce();
  const auto rows = static_cast<uint32_t>(rowsWalk.count());
  const uint32_t parameters = builder.parameters(rowsWalk);
  const uint32_t elements = x.sizes[axis];
  const uint32_t width = std::bit_ceil(std::min(kBlock, elements));
  const uint32_t indexWords = byteWidth(indices.type) / 4;
  const uint32_t kind = typeBit(x.type) & kFloats ? 2 : isSigned(x.type);
  const uint64_t pairBytes = byteWidth(x.type) == 8 ? 12 : 8;

  auto runs = static_cast<uint32_t>(divideUp(elements, width));
  uint32_t runLength = width;
  uint32_t kept = std::min(width, k);
  const bool onlyBlocks = runs == 1;
  BufferRange from, to;
  if (!onlyBlocks) {
    // The pairs of every other level share memory; those of the last are the outputs.
    std::array<uint64_t, 2> bytes{};
    uint64_t length = width;
    for (uint64_t level = 0, r = runs; r > 1; r = divideUp(r, 2), length *= 2, ++level)
      bytes[level % 2] = std::max(bytes[level % 2], rows * r * std::min<uint64_t>(length, k) * pairBytes);
    if (const uint64_t most = std::max(bytes[0], bytes[1]); most > caps.maxBufferRange)
      return Error{ErrorCode::Unsupported,
                   cat(view.schema().name, " needs ", most, " bytes to sort, but this device binds at most ",
                       caps.maxBufferRange, " bytes to a kernel.")};
    from = builder.allocateTemporary(bytes[0]);
    to = builder.allocateTemporary(std::max<uint64_t>(bytes[1], 4));
  }
  const uint64_t blocks = uint64_t{rows} * runs;
  const BufferRange valueTarget = onlyBlocks ? builder.output(0) : from;
  const BufferRange indexTarget = onlyBlocks ? builder.output(1) : from;
  if (auto error = builder.add(sizedKernel("top_k_sort", x.type, caps), divideUp(blocks, kBlock / width),
                               {static_cast<uint32_t>(blocks), runs, width, kept, elements, rowsWalk.rank,
                                x.strides[axis], values.strides[axis], indices.strides[axis], indexWords, largest},
                               {builder.input(0), valueTarget, indexTarget}, parameters, {{0, kind}, {1, !onlyBlocks}}))
    return *error;
  while (runs > 1) {
    const bool last = runs == 2;
    const uint32_t keptAfter = std::min(last ? k : 2 * runLength, k);
    const uint64_t items = uint64_t{rows} * runs * kept;
    from.writes = false;
    to.writes = true;
    if (auto error =
            builder.addItems(sizedKernel("top_k_merge", x.type, caps), items,
                             {static_cast<uint32_t>(items), runs, runLength, kept, keptAfter, elements, rowsWalk.rank,
                              x.strides[axis], values.strides[axis], indices.strides[axis], indexWords},
                             {from, builder.input(0), last ? builder.output(0) : to, last ? builder.output(1) : to},
                             parameters, {{0, !last}}))
      return *error;
    std::swap(from, to);
    runs = static_cast<uint32_t>(divideUp(runs, 2));
    runLength *= 2;
    kept = keptAfter;
  }
  return builder.finish();
}

Result<Plan> planTopK(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_TOP_K_OPERATOR_DESC>();
  return planTopK(view, caps, desc.Axis, desc.K, true);
}

Result<Plan> planTopK1(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_TOP_K1_OPERATOR_DESC>();
  return planTopK(view, caps, desc.Axis, desc.K, desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING);
}

template <class S>
constexpr Field kTopKFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputValueTensor),
                                 DIMPLE_OUTPUT(S, OutputIndexTensor), DIMPLE_ATTRIBUTE(S, Axis, UInt),
                                 DIMPLE_ATTRIBUTE(S, K, UInt)};
template <class S>
constexpr Field kTopK1Fields[] = {DIMPLE_INPUT(S, InputTensor),        DIMPLE_OUTPUT(S, OutputValueTensor),
                                  DIMPLE_OUTPUT(S, OutputIndexTensor), DIMPLE_ATTRIBUTE(S, Axis, UInt),
                                  DIMPLE_ATTRIBUTE(S, K, UInt),        DIMPLE_ENUM(S, AxisDirection, kAxisDirections)};

constexpr TypeHistory kTopKTypes{{k2_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_1, kUpTo32}, {k5_0, kNumbers}};
constexpr TypeHistory kTopK1Types{{k2_1, kUpTo32, 4, 4}, {k3_1, kUpTo32}, {k5_0, kNumbers}};

constexpr TensorRule kTopKRules[] = {{kTopKTypes},
                                     {kTopKTypes, sameTypeAndRank(0)},
                                     {{{k2_0, kUInt32, 4, 4}, {k3_1, kUInt32}, {k5_0, kUnsignedIndices}}, sameRank(0)}};
constexpr TensorRule kTopK1Rules[] = {
    {kTopK1Types},
    {kTopK1Types, sameTypeAndRank(0)},
    {{{k2_1, kUInt32, 4, 4}, {k3_1, kUInt32}, {k5_0, kUnsignedIndices}}, sameRank(0)}};

constexpr OpSchema kSortSchemas[] = {
    DIMPLE_ROW(TOP_K, kTopKFields, kTopKRules, false, false, checkTopK, planTopK),
    DIMPLE_ROW(TOP_K1, kTopK1Fields, kTopK1Rules, false, false, checkTopK1, planTopK1),
};

}  // namespace

std::span<const OpSchema> sortSchemas() { return kSortSchemas; }

}  // namespace dimple
