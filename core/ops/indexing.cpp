// Operators that read coordinates from tensors, or return them.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/copy.h"
#include "core/ops/elementwise.h"
#include "core/ops/moves.h"
#include "core/ops/shared_kernels.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/gather.h"
#include "kernels/interfaces/gather_nd.h"
#include "kernels/interfaces/nonzero.h"
#include "kernels/interfaces/one_hot.h"
#include "kernels/interfaces/scan.h"
#include "kernels/interfaces/scatter_nd.h"
#include "kernels/interfaces/scatter_rows.h"

namespace dimple {
namespace {

// ---- GATHER ---------------------------------------------------------------------------------------------------------

// What the steps along an output dimension of GATHER go through.
struct GatherDimension {
  uint32_t size;
  uint32_t inputStride;
  uint32_t indexStride;
};

// The dimensions before the axis, those of the indices, those after the axis; aligned right in `rank` dimensions, with
// excess ones dropped and missing ones of size 1.
std::vector<GatherDimension> gatherDimensions(const Operation& op) {
  const auto& desc = op.as<DML_GATHER_OPERATOR_DESC>();
  const Tensor& x = op.input(0);
  const Tensor& indices = op.input(1);
  std::vector<GatherDimension> all;
  for (uint32_t d = 0; d < desc.Axis; ++d) all.push_back({x.sizes[d], x.strides[d], 0});
  for (uint32_t d = indices.rank - desc.IndexDimensions; d < indices.rank; ++d)
    all.push_back({indices.sizes[d], 0, indices.strides[d]});
  for (uint32_t d = desc.Axis + 1; d < x.rank; ++d) all.push_back({x.sizes[d], x.strides[d], 0});
  if (all.size() > x.rank) all.erase(all.begin(), all.end() - x.rank);
  all.insert(all.begin(), x.rank - all.size(), {1, 0, 0});
  return all;
}

// Dimensions before the last IndexDimensions of the indices, and before the output's gathered dimensions, must have
// size 1. DirectML 1.15.4 takes some other sizes there, which mean nothing, and ends the process at more.
Status checkGather(const Operation& op) {
  const auto& desc = op.as<DML_GATHER_OPERATOR_DESC>();
  const uint32_t rank = op.input(0).rank;
  TRY(checkAtMost("Axis", desc.Axis, rank - 1));
  TRY(checkAtMost("IndexDimensions", desc.IndexDimensions, rank));
  TRY(checkLeadingOnes("IndicesTensor", op.input(1), desc.IndexDimensions, "IndexDimensions"));
  std::vector<uint32_t> expected;
  for (const auto& dimension : gatherDimensions(op)) expected.push_back(dimension.size);
  return checkSizes("OutputTensor", op.output(), expected);
}

// Adds the dispatches that gather along an axis of the input. Walk operands: input without that axis, indices, output.
Status addGather(PlanBuilder& builder, Walk walk, UINT axis) {
  const Tensor& x = builder.op().input(0);
  // An axis that cannot be bound at once is bound in windows.
  const uint32_t size = x.sizes[axis];
  const uint64_t stride = std::max(x.strides[axis], 1u);
  const uint64_t most = builder.maxBoundElements(x.type);
  const auto window = static_cast<uint32_t>(x.extent <= most ? size : std::clamp<uint64_t>(most / 2 / stride, 1, size));
  // A part of a row of the input is moved in vectors where every row begins with one.
  const VectorUse use{.elements = vectorElements(x.type),
                      .operands = x.strides[axis] % vectorElements(x.type) == 0 ? 1u << 0 | 1u << 2 : 0,
                      .orRuns = byteWidth(x.type) <= 4 && window == size};
  for (uint32_t first = 0; first < size; first += std::min(window, size - first)) {
    const uint32_t count = std::min(window, size - first);
    walk.base[0] = first * x.strides[axis];
    const WalkOperand ranges[] = {builder.inputOperand(0, (count - uint64_t{1}) * x.strides[axis]),
                                  builder.inputOperand(1), builder.outputOperand()};
    const auto call = [&](const ElementPart& part) -> KernelCall {
      using Form = kernels::Gather::Form;
      kernels::Gather gather{.form = part.vectors ? Form::Vectors
                                     : part.runs  ? Form::Runs
                                                  : Form::Strided,
                             .type = part.vectors ? KernelType::B32
                                     : part.runs  ? builder.sizedElement(x.type).type
                                                  : builder.sizedElement(x.type),
                             .push = {.walk = part.walk,
                                      .indexKind = indexKind(builder.op().input(1).type),
                                      .axisSize = size,
                                      .axisStride = part.vectors ? x.strides[axis] / use.elements : x.strides[axis],
                                      .first = first,
                                      .window = count},
                             .spec = {},
                             .x = part.buffers[0],
                             .indices = part.buffers[1],
                             .y = part.buffers[2]};
      if (part.runs) gather.spec.rank = constantOnGpus(builder.target(), part.walk.rank);
      return gather;
    };
    TRY(addElements(builder, walk, ranges, 0, call, use));
  }
  return {};
}

Status planGather(const Operation& op, PlanBuilder& builder) {
  const Tensor& y = op.output();
  const auto dimensions = gatherDimensions(op);
  Walk walk;
  for (uint32_t d = 0; d < y.rank; ++d)
    walk.addDimension(y.sizes[d], {dimensions[d].inputStride, dimensions[d].indexStride, y.strides[d]});
  return addGather(builder, walk, op.as<DML_GATHER_OPERATOR_DESC>().Axis);
}

// ---- GATHER_ND, GATHER_ND1, SCATTER_ND ------------------------------------------------------------------------------

struct TupleCounts {
  UINT input, indices, batch;
};

template <class Desc>
TupleCounts tupleCounts(const Desc& desc) {
  TupleCounts counts{desc.InputDimensionCount, desc.IndicesDimensionCount, 0};
  if constexpr (requires { desc.BatchDimensionCount; }) counts.batch = desc.BatchDimensionCount;
  return counts;
}

// `slices` is the gathered output, or the updates to scatter. It has the sizes of the indices without their tuples,
// then those of the input dimensions that no tuple addresses, aligned right.
template <class Desc>
Status checkTuples(const Operation& op, std::string_view slicesName, const Tensor& slices) {
  const auto [inputCount, indicesCount, batchCount] = tupleCounts(op.as<Desc>());
  const Tensor& x = op.input(0);
  const Tensor& indices = op.input(1);
  const auto checkCount = [](std::string_view name, UINT count, std::string_view tensorName,
                             const Tensor& tensor) -> Status {
    if (count < 1 || count > tensor.rank)
      return invalid(
          cat(name, " has value (", count, "), outside 1..", tensor.rank, ", the DimensionCount of ", tensorName, "."));
    return checkLeadingOnes(tensorName, tensor, count, name);
  };
  TRY(checkCount("InputDimensionCount", inputCount, "InputTensor", x));
  TRY(checkCount("IndicesDimensionCount", indicesCount, "IndicesTensor", indices));
  TRY(checkAtMost("BatchDimensionCount", batchCount, std::min(inputCount, indicesCount) - 1));
  const auto inputSizes = x.sizeSpan().last(inputCount);
  const auto indicesSizes = indices.sizeSpan().last(indicesCount);
  // DirectML 1.15.4 does not compare them, but a larger number would be read from outside the input.
  for (uint32_t b = 0; b < batchCount; ++b)
    TRY(checkSizeAtMost("IndicesTensor", indices, indices.rank - indicesCount + b, inputSizes[b],
                        ", the batches of InputTensor"));
  const uint32_t tuple = indicesSizes.back();
  TRY(checkSizeAtMost("IndicesTensor", indices, indices.rank - 1, inputCount - batchCount,
                      cat(" coordinates (InputDimensionCount", batchCount ? " less BatchDimensionCount" : "", ")")));
  std::vector<uint32_t> expected(indicesSizes.begin(), indicesSizes.end() - 1);
  expected.insert(expected.end(), inputSizes.begin() + batchCount + tuple, inputSizes.end());
  if (expected.size() < slices.rank) expected.insert(expected.begin(), slices.rank - expected.size(), 1);
  return checkSizes(slicesName, slices, expected);
}

template <class Desc>
Status checkGatherNd(const Operation& op) {
  return checkTuples<Desc>(op, "OutputTensor", op.output());
}

Status checkScatterNd(const Operation& op) {
  const Tensor& indices = op.input(1);
  // No page says so, and SCATTER_ELEMENTS takes them.
  for (uint32_t d = 0; d < indices.rank; ++d)
    if (indices.sizes[d] != 1 && indices.strides[d] == 0)
      return invalid(cat("IndicesTensor has Strides[", d, "] (0) for Sizes[", d, "] (", indices.sizes[d],
                         "), expected indices without broadcast."));
  return checkTuples<DML_SCATTER_ND_OPERATOR_DESC>(op, "UpdatesTensor", op.input(2));
}

// Parameters of the kernels that follow tuples: a walk, and {size, stride} of each dimension that a tuple's coordinates
// are of, from `first` on; strides count vectors of `number` elements.
std::vector<uint32_t> tupleParameters(const Walk& walk, const Tensor& sized, const Tensor& strided, uint32_t first,
                                      uint32_t tuple, uint32_t number) {
  std::vector<uint32_t> words;
  appendWalk(words, walk);
  for (uint32_t d = first; d < first + tuple; ++d)
    words.insert(words.end(), {sized.sizes[d], strided.strides[d] / number, 0, 0});
  return words;
}

// Returns which operands of a walk through slices lie in vectors, if each tuple addresses whole vectors in `strided`.
uint32_t slicesInVectors(const Tensor& strided, uint32_t first, uint32_t tuple) {
  for (uint32_t d = first; d < first + tuple; ++d)
    if (strided.strides[d] % vectorElements(strided.type) != 0) return 0;
  return 1u << 0 | 1u << 2;
}

// A walk through slices. Operands: the tensor that tuples address, without its dimensions that they do; indices;
// slices.
Walk walkSlices(const TupleCounts& counts, const Tensor& addressed, const Tensor& indices, const Tensor& slices) {
  const uint32_t tuple = indices.sizes[indices.rank - 1];
  const uint32_t firstAddressed = addressed.rank - counts.input;
  const uint32_t firstIndices = indices.rank - counts.indices;
  const uint32_t ofIndices = counts.indices - 1;
  const uint32_t first = slices.rank - (ofIndices + counts.input - counts.batch - tuple);
  Walk walk;
  for (uint32_t d = first; d < slices.rank; ++d) {
    const uint32_t at = d - first;  // among the dimensions of the indices, then those of the slice
    uint32_t stride = 0;
    if (at < counts.batch)
      stride = addressed.strides[firstAddressed + at];
    else if (at >= ofIndices)
      stride = addressed.strides[firstAddressed + counts.batch + tuple + at - ofIndices];
    walk.addDimension(slices.sizes[d],
                      {stride, at < ofIndices ? indices.strides[firstIndices + at] : 0, slices.strides[d]});
  }
  return walk;
}

template <class Desc>
Status planGatherNd(const Operation& op, PlanBuilder& builder) {
  const TupleCounts counts = tupleCounts(op.as<Desc>());
  const Tensor& x = op.input(0);
  const Tensor& indices = op.input(1);
  const Tensor& y = op.output();
  const uint32_t tuple = indices.sizes[indices.rank - 1];
  const Walk walk = walkSlices(counts, x, indices, y).coalesceBy(2);
  const uint32_t first = x.rank - counts.input + counts.batch;
  const Moves moves = movesOf(builder, {.vectors = slicesInVectors(x, first, tuple)}, walk, x.type, 2);
  const uint32_t number = moves.unit == MoveUnit::Vector ? vectorElements(x.type) : 1;
  const auto parameters = tupleParameters(moves.walk, x, x, first, tuple, number);
  return builder.addItems(kernels::GatherNd{.form = formOf<kernels::GatherNd>(moves.unit),
                                            .type = moves.type,
                                            .push = {.walk = walkWords(moves.walk),
                                                     .indexKind = indexKind(indices.type),
                                                     .tupleSize = tuple,
                                                     .tupleStride = indices.strides[indices.rank - 1],
                                                     .tupleAt = moves.walk.vectors()},
                                            .x = builder.input(0),
                                            .indices = builder.input(1),
                                            .y = builder.output()},
                          moves.items, builder.parameters(parameters), tuple);
}

// Adds the dispatches that copy the input to the output and then store the updates where their tuples say. The tuples
// are coordinates of `tuple` dimensions of the input from `first` on, `tupleStride` apart. Walk operands: updates,
// indices, output without these dimensions.
Status addScatter(PlanBuilder& builder, Walk walk, uint32_t first, uint32_t tuple, uint32_t tupleStride) {
  const Operation& op = builder.op();
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  TRY(addCopy(builder, x.type, makeWalk(x.sizeSpan(), {&x, &y}), builder.input(0), builder.output()));

  walk.coalesce();
  const Moves moves = movesOf(builder, {.vectors = slicesInVectors(y, first, tuple)}, walk, x.type, 2);
  const uint32_t number = moves.unit == MoveUnit::Vector ? vectorElements(x.type) : 1;
  const auto parameters = tupleParameters(moves.walk, x, y, first, tuple, number);
  return builder.addItems(kernels::ScatterNd{.form = formOf<kernels::ScatterNd>(moves.unit),
                                             .type = moves.type,
                                             .push = {.walk = walkWords(moves.walk),
                                                      .indexKind = indexKind(op.input(1).type),
                                                      .tupleSize = tuple,
                                                      .tupleStride = tupleStride,
                                                      .tupleAt = moves.walk.vectors()},
                                             .x = builder.input(2),
                                             .indices = builder.input(1),
                                             .y = builder.output()},
                          moves.items, builder.parameters(parameters), tuple);
}

Status planScatterNd(const Operation& op, PlanBuilder& builder) {
  const TupleCounts counts = tupleCounts(op.as<DML_SCATTER_ND_OPERATOR_DESC>());
  const Tensor& indices = op.input(1);
  const uint32_t last = indices.rank - 1;
  Walk walk = walkSlices(counts, op.output(), indices, op.input(2));
  for (auto& strides : walk.strides) std::swap(strides[0], strides[2]);
  return addScatter(builder, walk, op.output().rank - counts.input, indices.sizes[last], indices.strides[last]);
}

// ---- GATHER_ELEMENTS, SCATTER_ELEMENTS, ONE_HOT ---------------------------------------------------------------------

Status checkGatherElements(const Operation& op) {
  const UINT axis = op.as<DML_GATHER_ELEMENTS_OPERATOR_DESC>().Axis;
  const Tensor& indices = op.input(1);
  TRY(checkAtMost("Axis", axis, indices.rank - 1));
  TRY(checkSizesBut("IndicesTensor", indices, op.input(0), axis, indices.sizes[axis]));
  return checkSizes("OutputTensor", op.output(), indices.sizeSpan());
}

Status checkScatterElements(const Operation& op) {
  const UINT axis = op.as<DML_SCATTER_ELEMENTS_OPERATOR_DESC>().Axis;
  const Tensor& x = op.input(0);
  const Tensor& indices = op.input(1);
  TRY(checkAtMost("Axis", axis, indices.rank - 1));
  TRY(checkSizesBut("IndicesTensor", indices, x, axis, std::min(indices.sizes[axis], x.sizes[axis])));
  return checkSizes("UpdatesTensor", op.input(2), indices.sizeSpan());
}

// ValuesTensor's first two elements are the values, whatever its shape.
Status checkOneHot(const Operation& op) {
  const UINT axis = op.as<DML_ONE_HOT_OPERATOR_DESC>().Axis;
  const Tensor& indices = op.input(0);
  const Tensor& values = op.input(1);
  const Tensor& y = op.output();
  TRY(checkAtMost("Axis", axis, indices.rank - 1));
  TRY(checkSize("IndicesTensor", indices, axis, 1));
  TRY(checkSizesBut("OutputTensor", y, indices, axis, y.sizes[axis]));
  if (values.elements >= 2) return {};
  return invalid(cat("ValuesTensor has Sizes (", listText(values.sizeSpan()), "), expected at least 2 elements."));
}

Status planGatherElements(const Operation& op, PlanBuilder& builder) {
  const UINT axis = op.as<DML_GATHER_ELEMENTS_OPERATOR_DESC>().Axis;
  const Tensor& y = op.output();
  Walk walk = makeWalk(y.sizeSpan(), {&op.input(0), &op.input(1), &y});
  walk.strides[axis][0] = 0;
  return addGather(builder, walk, axis);
}

// The walk over rows of kernels/movement/scatter_rows.comp (operands: input, indices, updates, output). If the updates
// are few compared with the copied elements, or if rows leave most of a workgroup idle, a separate copy is faster.
std::optional<Walk> scatteredRows(const Operation& op, UINT axis) {
  constexpr uint32_t kMostElements = 4096;
  constexpr uint32_t kFewestRows = 64;
  const Tensor& x = op.input(0);
  const Tensor& indices = op.input(1);
  const Tensor& y = op.output();
  const uint32_t elements = x.sizes[axis];
  const uint32_t number = vectorElements(x.type);
  if (byteWidth(x.type) > 4 || elements > kMostElements || elements < kGroupSize || elements % number != 0 ||
      y.strides[axis] != 1 || indices.sizes[axis] < elements / 16 || x.elements / elements < kFewestRows)
    return {};
  const Walk walk = makeWalk(x.sizeSpan(), {&x, &indices, &op.input(2), &y});
  return split(walk, 1u << axis).kept.coalesce().betweenVectors(number, 0b1000);
}

// A scatter of tuples with one coordinate.
Status planScatterElements(const Operation& op, PlanBuilder& builder) {
  const UINT axis = op.as<DML_SCATTER_ELEMENTS_OPERATOR_DESC>().Axis;
  const Tensor& updates = op.input(2);
  if (const auto rows = scatteredRows(op, axis)) {
    const Tensor& x = op.input(0);
    return builder.add(kernels::ScatterRows{.type = builder.sizedElement(x.type).type,
                                            .push = {.rank = rows->rank,
                                                     .elements = x.sizes[axis],
                                                     .xStep = x.strides[axis],
                                                     .updateCount = updates.sizes[axis],
                                                     .indexStep = op.input(1).strides[axis],
                                                     .updateStep = updates.strides[axis],
                                                     .indexKind = indexKind(op.input(1).type)},
                                            .x = builder.input(0),
                                            .indices = builder.input(1),
                                            .updates = builder.input(2),
                                            .y = builder.output()},
                       rows->count(), builder.parameters(*rows), x.elements + updates.elements);
  }
  builder.passOver({"scatter_rows", "Its rows are not in vectors or are long, or it has few updates."});
  Walk walk = makeWalk(updates.sizeSpan(), {&updates, &op.input(1), &op.output()});
  walk.strides[axis][2] = 0;
  return addScatter(builder, walk, axis, 1, 0);
}

Status planOneHot(const Operation& op, PlanBuilder& builder) {
  const UINT axis = op.as<DML_ONE_HOT_OPERATOR_DESC>().Axis;
  const Tensor& indices = op.input(0);
  const Tensor& values = op.input(1);
  const Tensor& y = op.output();
  Walk walk = makeWalk(y.sizeSpan(), {&indices, nullptr, &y});
  walk.strides[axis][1] = 1;
  walk.coalesceBy(2);
  uint32_t last = values.rank - 1;
  while (values.sizes[last] == 1) --last;
  const Moves moves = movesOf(builder, {.rows = 0b110, .runs = true}, walk, y.type, 2);
  return builder.addItems(kernels::OneHot{.form = formOf<kernels::OneHot>(moves.unit),
                                          .type = moves.type,
                                          .push = {.walk = walkWords(moves.walk),
                                                   .indexKind = indexKind(indices.type),
                                                   .axisSize = y.sizes[axis],
                                                   .onAt = values.strides[last]},
                                          .indices = builder.input(0),
                                          .values = builder.input(1),
                                          .y = builder.output()},
                          moves.items, builder.parameters(moves.walk), 1);
}

// ---- NONZERO_COORDINATES --------------------------------------------------------------------------------------------

Status checkNonzeroCoordinates(const Operation& op) {
  const Tensor& x = op.input(0);
  const Tensor& count = op.output(0);
  const Tensor& coordinates = op.output(1);
  TRY(checkLeadingOnes("OutputCountTensor", count, 0));
  TRY(checkLeadingOnes("OutputCoordinatesTensor", coordinates, 2));
  TRY(checkSize("OutputCoordinatesTensor", coordinates, coordinates.rank - 2, x.elements));
  // Coordinates of leading dimensions of size 1 may be left out.
  uint32_t least = x.rank;
  while (least > 1 && x.sizes[x.rank - least] == 1) --least;
  const uint32_t given = coordinates.sizes[coordinates.rank - 1];
  if (given >= least && given <= x.rank) return {};
  return invalid(cat("OutputCoordinatesTensor has Sizes[", coordinates.rank - 1, "] (", given, "), outside ", least,
                     "..", x.rank, ", the coordinates of an element of InputTensor."));
}

// Adds the dispatches that replace each count by the sum of those before it.
Status addCountScan(PlanBuilder& builder, const BufferRange& counts, uint32_t chunks, uint32_t parameters) {
  constexpr uint32_t kScanTotals = 2;
  return builder.add(
      kernels::Scan{.form = kernels::Scan::Form::Strided,
                    .type = KernelType::U32,
                    .push = {.rows = 1,
                             .elements = chunks,
                             .chunks = 1,
                             .chunkLength = chunks,
                             .keptRank = 0,
                             .xStep = 0,
                             .yStep = 0,
                             .backward = 0,
                             .exclusive = 1,
                             .none = 0},
                    .spec = {.function = DML_OPERATOR_CUMULATIVE_SUMMATION, .row = 1, .stage = kScanTotals},
                    .x = counts,
                    .y = counts,
                    .totals = counts},
      1, parameters, chunks);
}

Status planNonzeroCoordinates(const Operation& op, PlanBuilder& builder) {
  constexpr uint64_t kChunk = 2048;      // elements worth a workgroup
  constexpr uint64_t kMaxChunks = 4096;  // that one workgroup scans the counts of
  const Tensor& x = op.input(0);
  const Tensor& coordinates = op.output(1);
  const Walk full = makeWalk(x.sizeSpan(), {&x});
  const Walk walk = Walk(full).coalesce();
  const uint32_t parameters = builder.parameters(walk, full);
  const auto elements = static_cast<uint32_t>(walk.count());
  constexpr uint64_t kLargestVector = 16;  // in elements
  const auto perChunk =
      static_cast<uint32_t>(alignUp(std::max(kChunk, divideUp(elements, kMaxChunks)), kLargestVector));
  const auto chunks = static_cast<uint32_t>(divideUp(elements, perChunk));
  const uint32_t ones = 0xffffffffu >> (32 - bitWidth(x.type));
  const uint32_t mask = kFloats & typeBit(x.type) ? ones >> 1 : ones;
  const uint32_t last = coordinates.rank - 1;

  const BufferRange counts = builder.allocateTemporary(uint64_t{chunks} * 4);
  const auto addPass = [&](bool writes) {
    // The first pass has the counts bound in place of the outputs, which it does not touch.
    return builder.add(
        kernels::Nonzero{.type = builder.sizedElement(x.type).type,
                         .push = {.elements = elements,
                                  .chunkLength = perChunk,
                                  .rank = walk.rank,
                                  .fullAt = walk.vectors(),
                                  .fullRank = full.rank,
                                  .mask = mask,
                                  .packed = walk.isPacked(0b1),
                                  .columns = coordinates.sizes[last],
                                  .rowStep = coordinates.strides[last - 1],
                                  .columnStep = coordinates.strides[last]},
                         .spec = {.writes = writes},
                         .x = builder.input(0),
                         .counts = writes ? kernels::WriteBuffer::unwritten(counts) : kernels::WriteBuffer(counts),
                         .count = writes ? builder.output(0) : counts,
                         .coordinates = writes ? builder.output(1) : counts},
        chunks, parameters, elements);
  };
  TRY(addPass(false));
  TRY(addCountScan(builder, counts, chunks, parameters));
  return addPass(true);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

#define DIMPLE_GATHERED DIMPLE_INPUT(InputTensor, IndicesTensor), DIMPLE_OUTPUT(OutputTensor)
#define DIMPLE_TUPLES DIMPLE_UINT(InputDimensionCount, IndicesDimensionCount)

DIMPLE_FIELDS(kGatherFields, DIMPLE_GATHERED, DIMPLE_UINT(Axis, IndexDimensions));
DIMPLE_FIELDS(kScatterElementsFields, DIMPLE_INPUT(InputTensor, IndicesTensor, UpdatesTensor),
              DIMPLE_OUTPUT(OutputTensor), DIMPLE_UINT(Axis));
DIMPLE_FIELDS(kOneHotFields, DIMPLE_INPUT(IndicesTensor, ValuesTensor), DIMPLE_OUTPUT(OutputTensor), DIMPLE_UINT(Axis));
DIMPLE_FIELDS(kGatherElementsFields, DIMPLE_GATHERED, DIMPLE_UINT(Axis));
DIMPLE_FIELDS(kGatherNdFields, DIMPLE_GATHERED, DIMPLE_TUPLES);
DIMPLE_FIELDS(kScatterNdFields, DIMPLE_INPUT(InputTensor, IndicesTensor, UpdatesTensor), DIMPLE_OUTPUT(OutputTensor),
              DIMPLE_TUPLES);
DIMPLE_FIELDS(kNonzeroCoordinatesFields, DIMPLE_INPUT(InputTensor),
              DIMPLE_OUTPUT(OutputCountTensor, OutputCoordinatesTensor));
DIMPLE_FIELDS(kGatherNd1Fields, DIMPLE_GATHERED, DIMPLE_TUPLES, DIMPLE_UINT(BatchDimensionCount));

constexpr TypeHistory kGatherTypes{{k1_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32}, {k4_1, kAllTypes}};
constexpr TypeHistory kGatherIndicesTypes{{k1_0, kUInt32, 4, 4}, {k3_0, kIndices}};
constexpr TypeHistory kOneHotValuesTypes{
    {k2_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32}, {k4_1, kAllTypes}};
constexpr TypeHistory kGatherElementsTypes{{k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32}, {k4_1, kAllTypes}};
constexpr TypeHistory kGatherElementsIndicesTypes{{k2_1, kUInt32, 4, 4}, {k3_0, kIndices}};
constexpr TypeHistory kGatherNd1Types{{k3_0, kUpTo32}, {k4_1, kAllTypes}};

constexpr TensorRule kGatherRules[] = {
    {kGatherTypes}, {kGatherIndicesTypes, sameRank(0)}, {kGatherTypes, sameTypeAndRank(0)}};
constexpr TensorRule kScatterElementsRules[] = {
    {kGatherTypes}, {kGatherIndicesTypes, sameRank(0)}, {kGatherTypes, sameTypeAndRank(0)}, {kGatherTypes, like(0)}};
// The page requires one DimensionCount for all tensors. DirectML 1.15.4 takes any DimensionCount for ValuesTensor.
constexpr TensorRule kOneHotRules[] = {
    {{{k2_0, kUInt32, 4, 4}, {k3_0, kIndices}}}, {kOneHotValuesTypes}, {kOneHotValuesTypes, {1, 0, -1}}};
constexpr TensorRule kGatherElementsRules[] = {
    {kGatherElementsTypes}, {kGatherElementsIndicesTypes, sameRank(0)}, {kGatherElementsTypes, sameTypeAndRank(0)}};
// The tensors of indices and updates may have a DimensionCount of their own.
constexpr TensorRule kScatterNdRules[] = {{kGatherElementsTypes},
                                          {kGatherElementsIndicesTypes},
                                          {kGatherElementsTypes, sameType(0)},
                                          {kGatherElementsTypes, like(0)}};
// The page requires one DimensionCount for all tensors. DirectML 1.15.4 takes any DimensionCount for the outputs.
constexpr TensorRule kNonzeroCoordinatesRules[] = {{{{k3_0, kUpTo32, 4, 5}, {k4_0, kUpTo32}}},
                                                   {{{k3_0, kUInt32, 4, 5}, {k4_0, kUInt32}}},
                                                   {{{k3_0, kUInt32, 4, 5}, {k4_0, kUInt32, 2, 8}}}};
constexpr TensorRule kGatherNd1Rules[] = {
    {kGatherNd1Types}, {{{k3_0, kIndices}}, sameRank(0)}, {kGatherNd1Types, sameTypeAndRank(0)}};

constexpr OpSchema kIndexingSchemas[] = {
    DIMPLE_ROW(GATHER, kGatherFields, .rules = kGatherRules, .check = checkGather, .plan = planGather),
    DIMPLE_ROW(SCATTER_ELEMENTS, kScatterElementsFields, .rules = kScatterElementsRules, .check = checkScatterElements,
               .plan = planScatterElements),
    DIMPLE_ROW(ONE_HOT, kOneHotFields, .rules = kOneHotRules, .check = checkOneHot, .plan = planOneHot),
    DIMPLE_ROW(GATHER_ELEMENTS, kGatherElementsFields, .rules = kGatherElementsRules, .check = checkGatherElements,
               .plan = planGatherElements),
    DIMPLE_DESC_ROW(GATHER_ND, kGatherNdFields, kGatherElementsRules, checkGatherNd, planGatherNd),
    DIMPLE_ROW(SCATTER_ND, kScatterNdFields, .rules = kScatterNdRules, .check = checkScatterNd, .plan = planScatterNd),
    DIMPLE_ROW(NONZERO_COORDINATES, kNonzeroCoordinatesFields, .rules = kNonzeroCoordinatesRules,
               .check = checkNonzeroCoordinates, .plan = planNonzeroCoordinates),
    DIMPLE_DESC_ROW(GATHER_ND1, kGatherNd1Fields, kGatherNd1Rules, checkGatherNd, planGatherNd),
};

}  // namespace

std::span<const OpSchema> indexingSchemas() { return kIndexingSchemas; }

}  // namespace dimple
