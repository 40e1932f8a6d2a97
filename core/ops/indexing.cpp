// Operators that take coordinates from tensors, or give them.
#include <algorithm>
#include <vector>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/copy.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

// ---- GATHER ---------------------------------------------------------------------------------------------------------

// What an output dimension of GATHER steps through.
struct GatherDimension {
  uint32_t size;
  uint32_t inputStride;
  uint32_t indexStride;
};

// The dimensions before the axis, those of the indices, those after the axis; aligned right in `rank` dimensions, with
// excess ones dropped and missing ones of size 1.
std::vector<GatherDimension> gatherDimensions(const OpView& view) {
  const auto& desc = view.as<DML_GATHER_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  const Tensor& indices = view.input(1);
  std::vector<GatherDimension> all;
  for (uint32_t d = 0; d < desc.Axis; ++d) all.push_back({x.sizes[d], x.strides[d], 0});
  for (uint32_t d = indices.rank - desc.IndexDimensions; d < indices.rank; ++d)
    all.push_back({indices.sizes[d], 0, indices.strides[d]});
  for (uint32_t d = desc.Axis + 1; d < x.rank; ++d) all.push_back({x.sizes[d], x.strides[d], 0});
  if (all.size() > x.rank) all.erase(all.begin(), all.end() - x.rank);
  all.insert(all.begin(), x.rank - all.size(), {1, 0, 0});
  return all;
}

// What lies before the last IndexDimensions of the indices and before the output's gathered dimensions must be of
// size 1. DirectML 1.15.4 takes some other sizes there, which mean nothing, and ends the process at more.
Status checkGather(const OpView& view) {
  const auto& desc = view.as<DML_GATHER_OPERATOR_DESC>();
  const uint32_t rank = view.input(0).rank;
  if (auto error = checkAtMost("Axis", desc.Axis, rank - 1)) return error;
  if (auto error = checkAtMost("IndexDimensions", desc.IndexDimensions, rank)) return error;
  if (auto error = checkLeadingOnes("IndicesTensor", view.input(1), desc.IndexDimensions, "IndexDimensions"))
    return error;
  std::vector<uint32_t> expected;
  for (const auto& dimension : gatherDimensions(view)) expected.push_back(dimension.size);
  return checkSizes("OutputTensor", view.output(), expected);
}

// Adds what gathers along an axis of the input. Walk operands: input without that axis, indices, output.
Status addGather(PlanBuilder& builder, Walk walk, UINT axis) {
  const Tensor& x = builder.view().input(0);
  const Caps& caps = builder.caps();
  walk.sortBy(2);
  walk.coalesce();
  // An axis that cannot be bound at once comes in windows.
  const uint32_t size = x.sizes[axis];
  const uint64_t stride = std::max(x.strides[axis], 1u);
  const uint64_t most = mostBound(x.type, caps);
  const auto window = static_cast<uint32_t>(x.extent <= most ? size : std::clamp<uint64_t>(most / 2 / stride, 1, size));
  for (uint32_t first = 0; first < size; first += std::min(window, size - first)) {
    const uint32_t count = std::min(window, size - first);
    walk.base[0] = first * x.strides[axis];
    const WalkOperand ranges[] = {builder.inputOperand(0, (count - uint64_t{1}) * x.strides[axis]),
                                  builder.inputOperand(1), builder.outputOperand()};
    const auto add = [&](const Walk& part, const std::vector<BufferRange>& buffers) {
      const auto items = static_cast<uint32_t>(part.count());
      return builder.addItems(
          sizedKernel("gather", x.type, caps), items,
          {items, part.rank, indexKind(builder.view().input(1).type), size, x.strides[axis], first, count}, buffers,
          builder.parameters(part));
    };
    if (auto error = builder.addWindows(walk, ranges, add)) return error;
  }
  return {};
}

Result<Plan> planGather(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& y = view.output();
  const auto dimensions = gatherDimensions(view);
  Walk walk;
  for (uint32_t d = 0; d < y.rank; ++d)
    walk.addDimension(y.sizes[d], {dimensions[d].inputStride, dimensions[d].indexStride, y.strides[d]});
  if (auto error = addGather(builder, walk, view.as<DML_GATHER_OPERATOR_DESC>().Axis)) return *error;
  return builder.finish();
}

// ---- GATHER_ND, GATHER_ND1, SCATTER_ND ------------------------------------------------------------------------------

// `slices` (the gathered output, or the updates to scatter) has the sizes of the indices but their tuples, then those
// of the input that no tuple addresses; aligned right.
Status checkTuples(const OpView& view, UINT inputCount, UINT indicesCount, UINT batchCount, std::string_view slicesName,
                   const Tensor& slices) {
  const Tensor& x = view.input(0);
  const Tensor& indices = view.input(1);
  const auto checkCount = [](std::string_view name, UINT count, std::string_view tensorName,
                             const Tensor& tensor) -> Status {
    if (count < 1 || count > tensor.rank)
      return invalid(
          cat(name, " has value (", count, "), outside 1..", tensor.rank, ", the DimensionCount of ", tensorName, "."));
    return checkLeadingOnes(tensorName, tensor, count, name);
  };
  if (auto error = checkCount("InputDimensionCount", inputCount, "InputTensor", x)) return error;
  if (auto error = checkCount("IndicesDimensionCount", indicesCount, "IndicesTensor", indices)) return error;
  if (auto error = checkAtMost("BatchDimensionCount", batchCount, std::min(inputCount, indicesCount) - 1)) return error;
  const auto inputSizes = x.sizeSpan().last(inputCount);
  const auto indicesSizes = indices.sizeSpan().last(indicesCount);
  // DirectML 1.15.4 does not compare them; more than the input has would be read outside of it.
  for (uint32_t b = 0; b < batchCount; ++b)
    if (indicesSizes[b] > inputSizes[b])
      return invalid(cat("IndicesTensor has Sizes[", indices.rank - indicesCount + b, "] (", indicesSizes[b],
                         "), expected at most ", inputSizes[b], ", the batches of InputTensor."));
  const uint32_t tuple = indicesSizes.back();
  if (tuple > inputCount - batchCount)
    return invalid(cat("IndicesTensor has Sizes[", indices.rank - 1, "] (", tuple, "), expected at most ",
                       inputCount - batchCount, " coordinates (InputDimensionCount",
                       batchCount ? " less BatchDimensionCount" : "", ")."));
  std::vector<uint32_t> expected(indicesSizes.begin(), indicesSizes.end() - 1);
  expected.insert(expected.end(), inputSizes.begin() + batchCount + tuple, inputSizes.end());
  if (expected.size() < slices.rank) expected.insert(expected.begin(), slices.rank - expected.size(), 1);
  return checkSizes(slicesName, slices, expected);
}

Status checkGatherNd(const OpView& view) {
  const auto& desc = view.as<DML_GATHER_ND_OPERATOR_DESC>();
  return checkTuples(view, desc.InputDimensionCount, desc.IndicesDimensionCount, 0, "OutputTensor", view.output());
}

Status checkGatherNd1(const OpView& view) {
  const auto& desc = view.as<DML_GATHER_ND1_OPERATOR_DESC>();
  return checkTuples(view, desc.InputDimensionCount, desc.IndicesDimensionCount, desc.BatchDimensionCount,
                     "OutputTensor", view.output());
}

Status checkScatterNd(const OpView& view) {
  const auto& desc = view.as<DML_SCATTER_ND_OPERATOR_DESC>();
  const Tensor& indices = view.input(1);
  // No page says so, and SCATTER_ELEMENTS takes them.
  for (uint32_t d = 0; d < indices.rank; ++d)
    if (indices.sizes[d] != 1 && indices.strides[d] == 0)
      return invalid(cat("IndicesTensor has Strides[", d, "] (0) for Sizes[", d, "] (", indices.sizes[d],
                         "), expected indices without broadcast."));
  return checkTuples(view, desc.InputDimensionCount, desc.IndicesDimensionCount, 0, "UpdatesTensor", view.input(2));
}

// A tuple's coordinates, for the kernels that follow them: {size, stride} of each dimension, from `first` on.
void appendTuple(std::vector<uint32_t>& parameters, const Tensor& tensor, uint32_t first, uint32_t tuple,
                 const Tensor& strided) {
  for (uint32_t k = 0; k < tuple; ++k)
    parameters.insert(parameters.end(), {tensor.sizes[first + k], strided.strides[first + k], 0, 0});
}

Result<Plan> planGatherTuples(const OpView& view, const Caps& caps, UINT inputCount, UINT indicesCount,
                              UINT batchCount) {
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor& indices = view.input(1);
  const Tensor& y = view.output();
  const uint32_t tuple = indices.sizes[indices.rank - 1];
  const uint32_t firstInput = x.rank - inputCount;
  const uint32_t firstIndices = indices.rank - indicesCount;
  const uint32_t sliceRank = inputCount - batchCount - tuple;
  const uint32_t firstOutput = y.rank - (indicesCount - 1 + sliceRank);
  Walk walk;
  for (uint32_t d = firstOutput; d < y.rank; ++d) {
    const uint32_t at = d - firstOutput;  // among the dimensions of the indices, then those of the slice
    uint32_t inputStride = 0;
    if (at < batchCount)
      inputStride = x.strides[firstInput + at];
    else if (at >= indicesCount - 1)
      inputStride = x.strides[firstInput + batchCount + tuple + at - (indicesCount - 1)];
    walk.addDimension(y.sizes[d],
                      {inputStride, at < indicesCount - 1 ? indices.strides[firstIndices + at] : 0, y.strides[d]});
  }
  walk.sortBy(2);
  walk.coalesce();
  std::vector<uint32_t> parameters;
  appendWalk(parameters, walk);
  const auto tupleAt = static_cast<uint32_t>(parameters.size() / 4);
  appendTuple(parameters, x, firstInput + batchCount, tuple, x);
  if (auto error =
          builder.addItems(sizedKernel("gather_nd", x.type, caps), y.elements,
                           {static_cast<uint32_t>(y.elements), walk.rank, indexKind(indices.type), tuple,
                            indices.strides[indices.rank - 1], tupleAt},
                           {builder.input(0), builder.input(1), builder.output()}, builder.parameters(parameters)))
    return *error;
  return builder.finish();
}

Result<Plan> planGatherNd(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_GATHER_ND_OPERATOR_DESC>();
  return planGatherTuples(view, caps, desc.InputDimensionCount, desc.IndicesDimensionCount, 0);
}

Result<Plan> planGatherNd1(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_GATHER_ND1_OPERATOR_DESC>();
  return planGatherTuples(view, caps, desc.InputDimensionCount, desc.IndicesDimensionCount, desc.BatchDimensionCount);
}

Result<Plan> planScatterNd(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const auto& desc = view.as<DML_SCATTER_ND_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  const Tensor& indices = view.input(1);
  const Tensor& updates = view.input(2);
  const Tensor& y = view.output();
  const Tensor* copied[] = {&x, &y};
  if (auto error = addCopy(builder, x.type, makeWalk(x.sizeSpan(), copied), builder.input(0), builder.output()))
    return *error;

  const uint32_t tuple = indices.sizes[indices.rank - 1];
  const uint32_t firstIndexed = x.rank - desc.InputDimensionCount;  // dimension that a tuple's first coordinate is of
  const uint32_t sliceRank = desc.InputDimensionCount - tuple;
  const uint32_t batchRank = desc.IndicesDimensionCount - 1;
  Walk walk;
  for (uint32_t d = 0; d < updates.rank; ++d) {
    const uint32_t fromRight = updates.rank - 1 - d;
    uint32_t indexStride = 0;
    uint32_t outputStride = 0;
    if (fromRight < sliceRank)
      outputStride = y.strides[x.rank - 1 - fromRight];
    else if (fromRight - sliceRank < batchRank)
      indexStride = indices.strides[indices.rank - 2 - (fromRight - sliceRank)];
    walk.addDimension(updates.sizes[d], {updates.strides[d], indexStride, outputStride});
  }
  walk.coalesce();
  std::vector<uint32_t> parameters;
  appendWalk(parameters, walk);
  const auto tupleAt = static_cast<uint32_t>(parameters.size() / 4);
  appendTuple(parameters, x, firstIndexed, tuple, y);
  if (auto error =
          builder.addItems(sizedKernel("scatter_nd", x.type, caps), updates.elements,
                           {static_cast<uint32_t>(updates.elements), walk.rank, indexKind(indices.type), tuple,
                            indices.strides[indices.rank - 1], tupleAt},
                           {builder.input(2), builder.input(1), builder.output()}, builder.parameters(parameters)))
    return *error;
  return builder.finish();
}

// ---- GATHER_ELEMENTS, SCATTER_ELEMENTS, ONE_HOT ---------------------------------------------------------------------

// Sizes of `tensor` with another one on the axis.
Status checkSizesBut(std::string_view name, const Tensor& tensor, const Tensor& like, UINT axis, uint32_t onAxis) {
  auto expected = like.sizes;
  expected[axis] = onAxis;
  return checkSizes(name, tensor, std::span(expected).first(like.rank));
}

Status checkGatherElements(const OpView& view) {
  const UINT axis = view.as<DML_GATHER_ELEMENTS_OPERATOR_DESC>().Axis;
  const Tensor& indices = view.input(1);
  if (auto error = checkAtMost("Axis", axis, indices.rank - 1)) return error;
  if (auto error = checkSizesBut("IndicesTensor", indices, view.input(0), axis, indices.sizes[axis])) return error;
  return checkSizes("OutputTensor", view.output(), indices.sizeSpan());
}

Status checkScatterElements(const OpView& view) {
  const UINT axis = view.as<DML_SCATTER_ELEMENTS_OPERATOR_DESC>().Axis;
  const Tensor& x = view.input(0);
  const Tensor& indices = view.input(1);
  if (auto error = checkAtMost("Axis", axis, indices.rank - 1)) return error;
  if (auto error = checkSizesBut("IndicesTensor", indices, x, axis, std::min(indices.sizes[axis], x.sizes[axis])))
    return error;
  return checkSizes("UpdatesTensor", view.input(2), indices.sizeSpan());
}

// ValuesTensor's first two elements are the values, whatever its shape.
Status checkOneHot(const OpView& view) {
  const UINT axis = view.as<DML_ONE_HOT_OPERATOR_DESC>().Axis;
  const Tensor& indices = view.input(0);
  const Tensor& values = view.input(1);
  const Tensor& y = view.output();
  if (auto error = checkAtMost("Axis", axis, indices.rank - 1)) return error;
  if (auto error = checkSize("IndicesTensor", indices, axis, 1)) return error;
  if (auto error = checkSizesBut("OutputTensor", y, indices, axis, y.sizes[axis])) return error;
  if (values.elements >= 2) return {};
  return invalid(cat("ValuesTensor has Sizes (", listText(values.sizeSpan()), "), expected at least 2 elements."));
}

Result<Plan> planGatherElements(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const UINT axis = view.as<DML_GATHER_ELEMENTS_OPERATOR_DESC>().Axis;
  const Tensor& y = view.output();
  const Tensor* operands[] = {&view.input(0), &view.input(1), &y};
  Walk walk = makeWalk(y.sizeSpan(), operands);
  walk.strides[axis][0] = 0;
  if (auto error = addGather(builder, walk, axis)) return *error;
  return builder.finish();
}

// A scatter of tuples with one coordinate.
Result<Plan> planScatterElements(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const UINT axis = view.as<DML_SCATTER_ELEMENTS_OPERATOR_DESC>().Axis;
  const Tensor& x = view.input(0);
  const Tensor& indices = view.input(1);
  const Tensor& updates = view.input(2);
  const Tensor& y = view.output();
  const Tensor* copied[] = {&x, &y};
  if (auto error = addCopy(builder, x.type, makeWalk(x.sizeSpan(), copied), builder.input(0), builder.output()))
    return *error;

  const Tensor* operands[] = {&updates, &indices, &y};
  Walk walk = makeWalk(updates.sizeSpan(), operands);
  walk.strides[axis][2] = 0;
  walk.coalesce();
  std::vector<uint32_t> parameters;
  appendWalk(parameters, walk);
  const auto tupleAt = static_cast<uint32_t>(parameters.size() / 4);
  appendTuple(parameters, x, axis, 1, y);
  if (auto error =
          builder.addItems(sizedKernel("scatter_nd", x.type, caps), updates.elements,
                           {static_cast<uint32_t>(updates.elements), walk.rank, indexKind(indices.type), 1, 0, tupleAt},
                           {builder.input(2), builder.input(1), builder.output()}, builder.parameters(parameters)))
    return *error;
  return builder.finish();
}

Result<Plan> planOneHot(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const UINT axis = view.as<DML_ONE_HOT_OPERATOR_DESC>().Axis;
  const Tensor& indices = view.input(0);
  const Tensor& values = view.input(1);
  const Tensor& y = view.output();
  const Tensor* operands[] = {&indices, nullptr, &y};
  Walk walk = makeWalk(y.sizeSpan(), operands);
  walk.strides[axis][0] = 0;
  walk.strides[axis][1] = 1;
  walk.sortBy(2);
  walk.coalesce();
  uint32_t last = values.rank - 1;
  while (values.sizes[last] == 1) --last;
  if (auto error = builder.addItems(
          sizedKernel("one_hot", y.type, caps), y.elements,
          {static_cast<uint32_t>(y.elements), walk.rank, indexKind(indices.type), y.sizes[axis], values.strides[last]},
          {builder.input(0), builder.input(1), builder.output()}, builder.parameters(walk)))
    return *error;
  return builder.finish();
}

// ---- NONZERO_COORDINATES --------------------------------------------------------------------------------------------

Status checkNonzeroCoordinates(const OpView& view) {
  const Tensor& x = view.input(0);
  const Tensor& count = view.output(0);
  const Tensor& coordinates = view.output(1);
  if (auto error = checkLeadingOnes("OutputCountTensor", count, 0)) return error;
  if (auto error = checkLeadingOnes("OutputCoordinatesTensor", coordinates, 2)) return error;
  if (auto error = checkSize("OutputCoordinatesTensor", coordinates, coordinates.rank - 2, x.elements)) return error;
  // Coordinates of leading dimensions of size 1 may be left out.
  uint32_t least = x.rank;
  while (least > 1 && x.sizes[x.rank - least] == 1) --least;
  const uint32_t given = coordinates.sizes[coordinates.rank - 1];
  if (given >= least && given <= x.rank) return {};
  return invalid(cat("OutputCoordinatesTensor has Sizes[", coordinates.rank - 1, "] (", given, "), outside ", least,
                     "..", x.rank, ", the coordinates of an element of InputTensor."));
}

Result<Plan> planNonzeroCoordinates(const OpView& view, const Caps& caps) {
  constexpr uint64_t kChunk = 2048;       // elements worth a workgroup
  constexpr uint64_t kMostChunks = 4096;  // that one workgroup scans the counts of
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor& coordinates = view.output(1);
  const Tensor* const operands[] = {&x};
  const Walk full = makeWalk(x.sizeSpan(), operands);
  Walk walk = full;
  walk.coalesce();
  std::vector<uint32_t> words;
  appendWalk(words, walk);
  const auto fullAt = static_cast<uint32_t>(words.size() / 4);
  appendWalk(words, full);
  const uint32_t parameters = builder.parameters(words);
  const auto elements = static_cast<uint32_t>(walk.count());
  const auto perChunk = static_cast<uint32_t>(std::max(kChunk, divideUp(elements, kMostChunks)));
  const auto chunks = static_cast<uint32_t>(divideUp(elements, perChunk));
  const uint32_t ones = 0xffffffffu >> (32 - bitWidth(x.type));
  const uint32_t mask = kFloats & typeBit(x.type) ? ones >> 1 : ones;
  const uint32_t last = coordinates.rank - 1;

  BufferRange counts = builder.allocateTemporary(uint64_t{chunks} * 4);
  const auto addPass = [&](bool writes) {
    counts.writes = !writes;
    return builder.add(
        cat("nonzero.b", bitWidth(x.type)), chunks,
        {elements, perChunk, walk.rank, fullAt, full.rank, mask, coordinates.sizes[last], coordinates.strides[last - 1],
         coordinates.strides[last]},
        {builder.input(0), counts, writes ? builder.output(0) : counts, writes ? builder.output(1) : counts},
        parameters, {{0, writes}});
  };
  if (auto error = addPass(false)) return *error;
  counts.writes = true;
  BufferRange counted = counts;
  counted.writes = false;
  constexpr uint32_t kScanTotals = 2;
  if (auto error = builder.add("scan.u32", 1, {1, chunks, 1, chunks, 0, 0, 0, 0, 1, 0}, {counted, counts, counts},
                               parameters, {{0, DML_OPERATOR_CUMULATIVE_SUMMATION}, {1, 1}, {2, kScanTotals}}))
    return *error;
  if (auto error = addPass(true)) return *error;
  return builder.finish();
}

// ---- tables ---------------------------------------------------------------------------------------------------------

template <class S>
constexpr Field kGatherFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, IndicesTensor),
                                   DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ATTRIBUTE(S, Axis, UInt),
                                   DIMPLE_ATTRIBUTE(S, IndexDimensions, UInt)};
template <class S>
constexpr Field kScatterElementsFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, IndicesTensor),
                                            DIMPLE_INPUT(S, UpdatesTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                            DIMPLE_ATTRIBUTE(S, Axis, UInt)};
template <class S>
constexpr Field kOneHotFields[] = {DIMPLE_INPUT(S, IndicesTensor), DIMPLE_INPUT(S, ValuesTensor),
                                   DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ATTRIBUTE(S, Axis, UInt)};
template <class S>
constexpr Field kGatherElementsFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, IndicesTensor),
                                           DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ATTRIBUTE(S, Axis, UInt)};
template <class S>
constexpr Field kGatherNdFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_INPUT(S, IndicesTensor),
                                     DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ATTRIBUTE(S, InputDimensionCount, UInt),
                                     DIMPLE_ATTRIBUTE(S, IndicesDimensionCount, UInt)};
template <class S>
constexpr Field kScatterNdFields[] = {DIMPLE_INPUT(S, InputTensor),
                                      DIMPLE_INPUT(S, IndicesTensor),
                                      DIMPLE_INPUT(S, UpdatesTensor),
                                      DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ATTRIBUTE(S, InputDimensionCount, UInt),
                                      DIMPLE_ATTRIBUTE(S, IndicesDimensionCount, UInt)};
template <class S>
constexpr Field kNonzeroCoordinatesFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputCountTensor),
                                               DIMPLE_OUTPUT(S, OutputCoordinatesTensor)};
template <class S>
constexpr Field kGatherNd1Fields[] = {DIMPLE_INPUT(S, InputTensor),
                                      DIMPLE_INPUT(S, IndicesTensor),
                                      DIMPLE_OUTPUT(S, OutputTensor),
                                      DIMPLE_ATTRIBUTE(S, InputDimensionCount, UInt),
                                      DIMPLE_ATTRIBUTE(S, IndicesDimensionCount, UInt),
                                      DIMPLE_ATTRIBUTE(S, BatchDimensionCount, UInt)};

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
// The page asks for one DimensionCount of all tensors; DirectML 1.15.4 takes any of ValuesTensor.
constexpr TensorRule kOneHotRules[] = {
    {{{k2_0, kUInt32, 4, 4}, {k3_0, kIndices}}}, {kOneHotValuesTypes}, {kOneHotValuesTypes, {1, 0, -1}}};
constexpr TensorRule kGatherElementsRules[] = {
    {kGatherElementsTypes}, {kGatherElementsIndicesTypes, sameRank(0)}, {kGatherElementsTypes, sameTypeAndRank(0)}};
// The tensors of indices and updates may have a DimensionCount of their own.
constexpr TensorRule kScatterNdRules[] = {{kGatherElementsTypes},
                                          {kGatherElementsIndicesTypes},
                                          {kGatherElementsTypes, sameType(0)},
                                          {kGatherElementsTypes, like(0)}};
// The page asks for one DimensionCount of all tensors; DirectML 1.15.4 takes any of the outputs.
constexpr TensorRule kNonzeroCoordinatesRules[] = {{{{k3_0, kUpTo32, 4, 5}, {k4_0, kUpTo32}}},
                                                   {{{k3_0, kUInt32, 4, 5}, {k4_0, kUInt32}}},
                                                   {{{k3_0, kUInt32, 4, 5}, {k4_0, kUInt32, 2, 8}}}};
constexpr TensorRule kGatherNd1Rules[] = {
    {kGatherNd1Types}, {{{k3_0, kIndices}}, sameRank(0)}, {kGatherNd1Types, sameTypeAndRank(0)}};

constexpr OpSchema kIndexingSchemas[] = {
    DIMPLE_ROW(GATHER, kGatherFields, kGatherRules, false, false, checkGather, planGather),
    DIMPLE_ROW(SCATTER_ELEMENTS, kScatterElementsFields, kScatterElementsRules, false, false, checkScatterElements,
               planScatterElements),
    DIMPLE_ROW(ONE_HOT, kOneHotFields, kOneHotRules, false, false, checkOneHot, planOneHot),
    DIMPLE_ROW(GATHER_ELEMENTS, kGatherElementsFields, kGatherElementsRules, false, false, checkGatherElements,
               planGatherElements),
    DIMPLE_ROW(GATHER_ND, kGatherNdFields, kGatherElementsRules, false, false, checkGatherNd, planGatherNd),
    DIMPLE_ROW(SCATTER_ND, kScatterNdFields, kScatterNdRules, false, false, checkScatterNd, planScatterNd),
    DIMPLE_ROW(NONZERO_COORDINATES, kNonzeroCoordinatesFields, kNonzeroCoordinatesRules, false, false,
               checkNonzeroCoordinates, planNonzeroCoordinates),
    DIMPLE_ROW(GATHER_ND1, kGatherNd1Fields, kGatherNd1Rules, false, false, checkGatherNd1, planGatherNd1),
};

}  // namespace

std::span<const OpSchema> indexingSchemas() { return kIndexingSchemas; }

}  // namespace dimple
