// TOP_K.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/top_k_merge.h"
#include "kernels/interfaces/top_k_select.h"
#include "kernels/interfaces/top_k_sort.h"

namespace dimple {
namespace {

template <class Desc>
Status checkTopK(const Operation& op) {
  const auto& desc = op.as<Desc>();
  const Tensor& x = op.input(0);
  TRY(checkAtMost("Axis", desc.Axis, x.rank - 1));
  if (desc.K < 1 || desc.K > x.sizes[desc.Axis])
    return invalid(
        cat("K has value (", desc.K, "), outside 1..", x.sizes[desc.Axis], ", the elements of InputTensor on Axis."));
  for (size_t i = 0; i < op.outputs().size(); ++i)
    TRY(checkSizesBut(op.outputName(i), op.output(i), x, desc.Axis, desc.K));
  return {};
}

struct SortedRows {
  uint32_t count;
  kernels::SortedRowsWords words;
  Walk walk;
  uint32_t parameters;  // where it is
  bool largest;         // come first
};

// How keys are made of a type's bits (kernels/sort/block.glsl).
uint32_t keyKind(DataType type) { return isFloat(type) ? 2u : isSigned(type) ? 1u : 0u; }

// Memory for the pairs of `runs` runs of each row, and for those of half as many; the pairs of every other level of
// merges share it, but those of the last are the outputs.
Result<std::array<BufferRange, 2>> allocatePairs(PlanBuilder& builder, uint64_t rows, uint64_t runs, uint64_t length,
                                                 uint64_t k) {
  const uint64_t pairBytes = byteWidth(builder.op().input(0).type) == 8 ? 12 : 8;
  std::array<uint64_t, 2> bytes{};
  for (uint32_t level = 0; runs > 1; runs = divideUp(runs, 2), length *= 2, ++level)
    bytes[level % 2] = std::max(bytes[level % 2], rows * runs * std::min(length, k) * pairBytes);
  const uint64_t most = std::max(bytes[0], bytes[1]);
  TRY(builder.checkBindable(most, cat(builder.op().schema().name, " needs ", most, " bytes to sort")));
  const BufferRange first = builder.allocateTemporary(bytes[0]);
  return std::array{first, builder.allocateTemporary(std::max<uint64_t>(bytes[1], 4))};
}

// Merges pairs of runs until one is left.
Status addMerges(PlanBuilder& builder, const SortedRows& rows, uint32_t runs, uint32_t runLength, uint32_t k,
                 std::array<BufferRange, 2> pairs) {
  uint32_t kept = std::min(runLength, k);
  while (runs > 1) {
    const bool last = runs == 2;
    const uint32_t keptAfter = std::min(last ? k : 2 * runLength, k);
    const uint64_t items = uint64_t{rows.count} * runs * kept;
    TRY(builder.addItems(kernels::TopKMerge{.type = builder.sizedElement(builder.op().input(0).type),
                                            .push = {.count = static_cast<uint32_t>(items),
                                                     .runs = runs,
                                                     .runLength = runLength,
                                                     .kept = kept,
                                                     .keptAfter = keptAfter,
                                                     .sortedRows = rows.words},
                                            .spec = {.toPairs = !last},
                                            .pairs = pairs[0],
                                            .x = builder.input(0),
                                            .values = last ? builder.output(0) : pairs[1],
                                            .words = last ? builder.output(1) : pairs[1]},
                         items, rows.parameters, std::bit_width(runLength)));
    std::swap(pairs[0], pairs[1]);
    runs = static_cast<uint32_t>(divideUp(runs, 2));
    runLength *= 2;
    kept = keptAfter;
  }
  return {};
}

// The limits of sort/top_k_select.comp: the elements of a block, and the most that it keeps of one.
constexpr uint32_t kSelectBlock = 4096;
constexpr uint32_t kSelectMost = 64;
constexpr uint32_t kSelectRowsMost = 16;  // of top_k_rows.comp

// The walk of that kernel.
std::optional<Walk> rowsInVectors(DataType type, const SortedRows& rows) {
  const uint32_t number = vectorElements(type);
  if (byteWidth(type) < 2 || rows.words.xStep != 1 || rows.words.elements % number != 0) return {};
  return rows.walk.betweenVectors(number, 0b1);
}

// Selects few of many elements: each block leaves its first k elements, and so do blocks of what these leave, until one
// block is left.
Status addSelections(PlanBuilder& builder, const SortedRows& rows, uint32_t k) {
  constexpr uint64_t kPairBytes = 8;
  constexpr uint32_t kSteps = 16;  // an element
  const DataType type = builder.op().input(0).type;
  std::array<BufferRange, 2> pairs{};
  if (rows.words.elements > kSelectBlock) {
    const auto pairsOf = [&](uint64_t elements) { return divideUp(elements, kSelectBlock) * k; };
    const uint64_t first = pairsOf(rows.words.elements);
    const uint64_t bytes = rows.count * first * kPairBytes;
    TRY(builder.checkBindable(bytes, cat(builder.op().schema().name, " needs ", bytes, " bytes to sort")));
    pairs = {builder.allocateTemporary(rows.count * pairsOf(first) * kPairBytes), builder.allocateTemporary(bytes)};
  }
  using Form = kernels::TopKSelect::Form;
  const auto inVectors = k <= kSelectRowsMost ? rowsInVectors(type, rows) : std::nullopt;
  if (!inVectors) builder.passOver({"top_k_select_rows", "Its rows are not in vectors, or it keeps many elements."});
  kernels::SortedRowsWords words = rows.words;
  for (bool fromPairs = false;; fromPairs = true) {
    const uint32_t elements = words.elements;
    const auto blocks = static_cast<uint32_t>(divideUp(elements, kSelectBlock));
    const bool last = blocks == 1;
    const bool usesVectors = inVectors && !fromPairs;
    kernels::TopKSelect call{.form = usesVectors ? Form::Rows : Form::Strided,
                             .type = builder.sizedElement(type).type,
                             .push = {.blocksPerRow = blocks, .kept = k, .sortedRows = words, .largest = rows.largest},
                             .spec = {.kind = keyKind(type), .toPairs = !last},
                             .x = builder.input(0),
                             .pairs = fromPairs ? pairs[0] : builder.input(0),
                             .values = last ? builder.output(0) : pairs[1],
                             .words = last ? builder.output(1) : pairs[1]};
    if (usesVectors)
      call.push.sortedRows.elements = elements / vectorElements(type);
    else
      call.spec.fromPairs = fromPairs;
    TRY(builder.add(call, uint64_t{rows.count} * blocks, usesVectors ? builder.parameters(*inVectors) : rows.parameters,
                    Work(rows.count) * elements * kSteps));
    if (last) return {};
    words.elements = blocks * k;
    std::swap(pairs[0], pairs[1]);
  }
}

// Blocks of a row are sorted in a workgroup each, of which only the first k elements go on; pairs of runs are merged
// until one is left.
template <class Desc>
Status planTopK(const Operation& op, PlanBuilder& builder) {
  constexpr uint32_t kBlock = 1024;    // slots of a workgroup
  constexpr uint32_t kSortSteps = 55;  // of a bitonic sort of them
  const auto& desc = op.as<Desc>();
  const UINT axis = desc.Axis;
  const UINT k = desc.K;
  bool largest = true;
  if constexpr (requires { desc.AxisDirection; }) largest = desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING;
  const Tensor& x = op.input(0);
  const Tensor& values = op.output(0);
  const Tensor& indices = op.output(1);
  const Walk walk = split(makeWalk(x.sizeSpan(), {&x, &values, &indices}), 1u << axis).kept.coalesce();
  const uint32_t elements = x.sizes[axis];
  const SortedRows rows{.count = static_cast<uint32_t>(walk.count()),
                        .words = {.elements = elements,
                                  .rank = walk.rank,
                                  .xStep = x.strides[axis],
                                  .valueStep = values.strides[axis],
                                  .indexStep = indices.strides[axis],
                                  .indexWords = byteWidth(indices.type) / 4},
                        .walk = walk,
                        .parameters = builder.parameters(walk),
                        .largest = largest};
  // For shorter rows, sorting blocks of them takes less time than a workgroup for each row.
  if (byteWidth(x.type) <= 4 && k <= kSelectMost && elements >= 2 * kGroupSize) return addSelections(builder, rows, k);
  const uint32_t width = std::bit_ceil(std::min(kBlock, elements));
  const auto runs = static_cast<uint32_t>(divideUp(elements, width));
  const bool onlyBlocks = runs == 1;
  std::array<BufferRange, 2> pairs{};
  if (!onlyBlocks) {
    const auto allocated = allocatePairs(builder, rows.count, runs, width, k);
    if (!allocated) return allocated.error();
    pairs = *allocated;
  }
  const uint64_t blocks = uint64_t{rows.count} * runs;
  TRY(builder.add(kernels::TopKSort{.type = builder.sizedElement(x.type),
                                    .push = {.blocks = static_cast<uint32_t>(blocks),
                                             .blocksPerRow = runs,
                                             .width = width,
                                             .kept = std::min(width, k),
                                             .sortedRows = rows.words,
                                             .largest = rows.largest},
                                    .spec = {.kind = keyKind(x.type), .toPairs = !onlyBlocks},
                                    .x = builder.input(0),
                                    .values = onlyBlocks ? builder.output(0) : pairs[0],
                                    .words = onlyBlocks ? builder.output(1) : pairs[0]},
                  divideUp(blocks, kBlock / width), rows.parameters, Work(blocks) * width * kSortSteps));
  return addMerges(builder, rows, runs, width, k, pairs);
}

DIMPLE_FIELDS(kTopKFields, DIMPLE_INPUT(InputTensor), DIMPLE_OUTPUT(OutputValueTensor, OutputIndexTensor),
              DIMPLE_UINT(Axis, K));
DIMPLE_FIELDS(kTopK1Fields, DIMPLE_INPUT(InputTensor), DIMPLE_OUTPUT(OutputValueTensor, OutputIndexTensor),
              DIMPLE_UINT(Axis, K), DIMPLE_ENUM(AxisDirection, kAxisDirections));

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
    DIMPLE_DESC_ROW(TOP_K, kTopKFields, kTopKRules, checkTopK, planTopK),
    DIMPLE_DESC_ROW(TOP_K1, kTopK1Fields, kTopK1Rules, checkTopK, planTopK),
};

}  // namespace

std::span<const OpSchema> sortSchemas() { return kSortSchemas; }

}  // namespace dimple
