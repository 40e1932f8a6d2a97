// Operators that move elements without changing them: FILL_VALUE_CONSTANT, SLICE, SLICE1, JOIN, GATHER, SCATTER_ND.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/checked.h"
#include "core/ops/copy.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/plan_builder.h"
#include "core/text.h"

namespace dimple {
namespace {

Error invalid(std::string text) { return {ErrorCode::InvalidArgument, std::move(text)}; }

Status checkValue(std::string_view name, uint64_t value, uint64_t most) {
  if (value <= most) return {};
  return invalid(cat(name, " has value (", value, "), expected at most ", most, "."));
}

Status checkSizes(std::string_view name, const Tensor& tensor, std::span<const uint32_t> expected) {
  if (std::ranges::equal(tensor.sizeSpan(), expected)) return {};
  return invalid(cat(name, " has Sizes (", listText(tensor.sizeSpan()), "), expected ", listText(expected), "."));
}

// ---- FILL_VALUE_CONSTANT --------------------------------------------------------------------------------------------

using FillDesc = DML_FILL_VALUE_CONSTANT_OPERATOR_DESC;

Status checkFill(const OpView& view) {
  const auto type = view.as<FillDesc>().ValueDataType;
  if (type == view.output().type) return {};
  return invalid(cat("ValueDataType has value (", dataTypeName(type), "), expected that of OutputTensor (",
                     dataTypeName(view.output().type), ")."));
}

Result<Plan> planFill(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Tensor& y = view.output();
  const uint32_t bytes = byteWidth(y.type);
  // The value's bytes, repeated to 64 bits.
  std::array<uint32_t, 2> pattern{};
  for (uint32_t at = 0; at < sizeof pattern; at += bytes)
    std::memcpy(reinterpret_cast<std::byte*>(pattern.data()) + at, view.as<FillDesc>().Value.Bytes, bytes);
  const Tensor* operands[] = {&y};
  Walk walk = makeWalk(y.sizeSpan(), operands);
  walk.sortBy(0);
  walk.coalesce();
  const uint64_t total = y.elements * bytes;
  const Status error =
      walk.isPacked(0b1)
          ? builder.addItems("fill_packed", divideUp(total, 16), {static_cast<uint32_t>(total), pattern[0], pattern[1]},
                             {builder.output()}, 0)
          : builder.addItems(sizedKernel("fill", y.type, caps), y.elements,
                             {static_cast<uint32_t>(y.elements), walk.rank, pattern[0], pattern[1]}, {builder.output()},
                             builder.parameters(walk));
  if (error) return *error;
  return builder.finish();
}

// ---- SLICE, SLICE1 --------------------------------------------------------------------------------------------------

Status checkSlice(const OpView& view) {
  const auto& desc = view.as<DML_SLICE_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  if (desc.DimensionCount != x.rank)
    return invalid(
        cat("DimensionCount has value (", desc.DimensionCount, "), expected that of InputTensor (", x.rank, ")."));
  if (auto error = checkSizes("OutputTensor", view.output(), std::span(desc.Sizes, x.rank))) return error;
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (desc.Strides[d] == 0) return invalid(cat("Strides[", d, "] has value (0), expected at least 1."));
    const uint64_t last = desc.Offsets[d] + uint64_t{desc.Sizes[d] - 1} * desc.Strides[d];
    if (last >= x.sizes[d])
      return invalid(cat("Offsets[", d, "] (", desc.Offsets[d], "), Sizes[", d, "] (", desc.Sizes[d], ") and Strides[",
                         d, "] (", desc.Strides[d], ") reach element ", last, ", outside InputTensor's ", x.sizes[d],
                         "."));
  }
  return {};
}

uint64_t magnitude(int32_t value) { return static_cast<uint64_t>(std::abs(int64_t{value})); }

Status checkSlice1(const OpView& view) {
  const auto& desc = view.as<DML_SLICE1_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  if (desc.DimensionCount != x.rank)
    return invalid(
        cat("DimensionCount has value (", desc.DimensionCount, "), expected that of InputTensor (", x.rank, ")."));
  for (uint32_t d = 0; d < x.rank; ++d) {
    const uint64_t size = desc.InputWindowSizes[d];
    const uint64_t end = desc.InputWindowOffsets[d] + size;
    if (size == 0) return invalid(cat("InputWindowSizes[", d, "] has value (0), expected at least 1."));
    if (desc.InputWindowStrides[d] == 0)
      return invalid(cat("InputWindowStrides[", d, "] has value (0), expected a positive or negative stride."));
    if (end > x.sizes[d])
      return invalid(cat("InputWindowOffsets[", d, "] (", desc.InputWindowOffsets[d], ") and InputWindowSizes[", d,
                         "] (", size, ") reach ", end, ", outside InputTensor's ", x.sizes[d], "."));
    const uint64_t most = 1 + (size - 1) / magnitude(desc.InputWindowStrides[d]);
    if (y.sizes[d] > most)
      return invalid(cat("OutputTensor has Sizes[", d, "] (", y.sizes[d], "), expected at most ", most,
                         ", the elements that the window's stride reaches."));
  }
  return {};
}

// `offset` and `step` give, for each dimension, the first input coordinate and the distance to the next.
template <class Offset, class Step>
Result<Plan> planWindow(const OpView& view, const Caps& caps, Offset offset, Step step) {
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  Walk walk;
  for (uint32_t d = 0; d < y.rank; ++d) {
    // Modulo 2^32, so that negative steps come out.
    walk.addDimension(y.sizes[d], {x.strides[d] * static_cast<uint32_t>(step(d)), y.strides[d]});
    walk.base[0] += x.strides[d] * static_cast<uint32_t>(offset(d));
  }
  if (auto error = addCopy(builder, x.type, walk, builder.input(0), builder.output())) return *error;
  return builder.finish();
}

Result<Plan> planSlice(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_SLICE_OPERATOR_DESC>();
  return planWindow(
      view, caps, [&](uint32_t d) { return desc.Offsets[d]; }, [&](uint32_t d) { return desc.Strides[d]; });
}

// A negative stride starts at the window's last element.
Result<Plan> planSlice1(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_SLICE1_OPERATOR_DESC>();
  return planWindow(
      view, caps,
      [&](uint32_t d) {
        return desc.InputWindowOffsets[d] + (desc.InputWindowStrides[d] < 0 ? desc.InputWindowSizes[d] - 1 : 0);
      },
      [&](uint32_t d) { return desc.InputWindowStrides[d]; });
}

// ---- JOIN -----------------------------------------------------------------------------------------------------------

Status checkJoin(const OpView& view) {
  const UINT axis = view.as<DML_JOIN_OPERATOR_DESC>().Axis;
  const Tensor& y = view.output();
  if (auto error = checkValue("Axis", axis, y.rank - 1)) return error;
  uint64_t sum = 0;
  for (size_t i = 0; i < view.inputs().size(); ++i) {
    auto expected = y.sizes;
    expected[axis] = view.input(i).sizes[axis];
    if (auto error = checkSizes(view.inputName(i), view.input(i), std::span(expected).first(y.rank))) return error;
    sum += view.input(i).sizes[axis];
  }
  if (sum == y.sizes[axis]) return {};
  return invalid(cat("OutputTensor has Sizes[", axis, "] (", y.sizes[axis], "), expected ", sum,
                     ", the sum of those of InputTensors."));
}

Result<Plan> planJoin(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const UINT axis = view.as<DML_JOIN_OPERATOR_DESC>().Axis;
  const Tensor& y = view.output();
  uint32_t start = 0;
  for (size_t i = 0; i < view.inputs().size(); ++i) {
    const Tensor& x = view.input(i);
    const Tensor* operands[] = {&x, &y};
    Walk walk = makeWalk(x.sizeSpan(), operands);
    walk.base[1] = start * y.strides[axis];
    if (auto error = addCopy(builder, x.type, walk, builder.input(i), builder.output())) return *error;
    start += x.sizes[axis];
  }
  return builder.finish();
}

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

Status checkGather(const OpView& view) {
  const auto& desc = view.as<DML_GATHER_OPERATOR_DESC>();
  const uint32_t rank = view.input(0).rank;
  if (auto error = checkValue("Axis", desc.Axis, rank - 1)) return error;
  if (auto error = checkValue("IndexDimensions", desc.IndexDimensions, rank)) return error;
  std::vector<uint32_t> expected;
  for (const auto& dimension : gatherDimensions(view)) expected.push_back(dimension.size);
  return checkSizes("OutputTensor", view.output(), expected);
}

Result<Plan> planGather(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const UINT axis = view.as<DML_GATHER_OPERATOR_DESC>().Axis;
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  const auto dimensions = gatherDimensions(view);
  Walk walk;
  for (uint32_t d = 0; d < y.rank; ++d)
    walk.addDimension(y.sizes[d], {dimensions[d].inputStride, dimensions[d].indexStride, y.strides[d]});
  walk.sortBy(2);
  walk.coalesce();
  if (auto error = builder.addItems(
          sizedKernel("gather", x.type, caps), y.elements,
          {static_cast<uint32_t>(y.elements), walk.rank, indexKind(view.input(1).type), x.sizes[axis], x.strides[axis]},
          {builder.input(0), builder.input(1), builder.output()}, builder.parameters(walk)))
    return *error;
  return builder.finish();
}

// ---- SCATTER_ND -----------------------------------------------------------------------------------------------------

Status checkScatterNd(const OpView& view) {
  const auto& desc = view.as<DML_SCATTER_ND_OPERATOR_DESC>();
  const Tensor& x = view.input(0);
  const Tensor& indices = view.input(1);
  const Tensor& updates = view.input(2);
  const auto checkCount = [](std::string_view name, UINT count, std::string_view tensorName,
                             const Tensor& tensor) -> Status {
    if (count < 1 || count > tensor.rank)
      return invalid(
          cat(name, " has value (", count, "), outside 1..", tensor.rank, ", the DimensionCount of ", tensorName, "."));
    for (uint32_t d = 0; d + count < tensor.rank; ++d)
      if (tensor.sizes[d] != 1)
        return invalid(cat(tensorName, " has Sizes[", d, "] (", tensor.sizes[d], "), expected 1 before its last ",
                           count, " dimensions (", name, ")."));
    return {};
  };
  if (auto error = checkCount("InputDimensionCount", desc.InputDimensionCount, "InputTensor", x)) return error;
  if (auto error = checkCount("IndicesDimensionCount", desc.IndicesDimensionCount, "IndicesTensor", indices))
    return error;
  const uint32_t tuple = indices.sizes[indices.rank - 1];
  if (tuple > desc.InputDimensionCount)
    return invalid(cat("IndicesTensor has Sizes[", indices.rank - 1, "] (", tuple, "), expected at most ",
                       desc.InputDimensionCount, " coordinates (InputDimensionCount)."));
  std::vector<uint32_t> expected(indices.sizes.begin() + (indices.rank - desc.IndicesDimensionCount),
                                 indices.sizes.begin() + (indices.rank - 1));
  expected.insert(expected.end(), x.sizes.begin() + (x.rank - desc.InputDimensionCount + tuple),
                  x.sizes.begin() + x.rank);
  if (expected.size() < updates.rank) expected.insert(expected.begin(), updates.rank - expected.size(), 1);
  return checkSizes("UpdatesTensor", updates, expected);
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
  for (uint32_t k = 0; k < tuple; ++k)
    parameters.insert(parameters.end(), {x.sizes[firstIndexed + k], y.strides[firstIndexed + k], 0, 0});
  if (auto error =
          builder.addItems(sizedKernel("scatter_nd", x.type, caps), updates.elements,
                           {static_cast<uint32_t>(updates.elements), walk.rank, indexKind(indices.type), tuple,
                            indices.strides[indices.rank - 1], tupleAt},
                           {builder.input(2), builder.input(1), builder.output()}, builder.parameters(parameters)))
    return *error;
  return builder.finish();
}

// ---- tables ---------------------------------------------------------------------------------------------------------

using SliceDesc = DML_SLICE_OPERATOR_DESC;
using Slice1Desc = DML_SLICE1_OPERATOR_DESC;
using JoinDesc = DML_JOIN_OPERATOR_DESC;
using GatherDesc = DML_GATHER_OPERATOR_DESC;
using ScatterNdDesc = DML_SCATTER_ND_OPERATOR_DESC;

constexpr Field kFillFields[] = {DIMPLE_OUTPUT(FillDesc, OutputTensor),
                                 DIMPLE_ENUM(FillDesc, ValueDataType, kTensorDataTypes),
                                 DIMPLE_ATTRIBUTE(FillDesc, Value, Scalar)};
constexpr Field kSliceFields[] = {DIMPLE_INPUT(SliceDesc, InputTensor),
                                  DIMPLE_OUTPUT(SliceDesc, OutputTensor),
                                  DIMPLE_ATTRIBUTE(SliceDesc, DimensionCount, UInt),
                                  DIMPLE_ARRAY(SliceDesc, Offsets, UIntArray, 2),
                                  DIMPLE_ARRAY(SliceDesc, Sizes, UIntArray, 2),
                                  DIMPLE_ARRAY(SliceDesc, Strides, UIntArray, 2)};
constexpr Field kSlice1Fields[] = {DIMPLE_INPUT(Slice1Desc, InputTensor),
                                   DIMPLE_OUTPUT(Slice1Desc, OutputTensor),
                                   DIMPLE_ATTRIBUTE(Slice1Desc, DimensionCount, UInt),
                                   DIMPLE_ARRAY(Slice1Desc, InputWindowOffsets, UIntArray, 2),
                                   DIMPLE_ARRAY(Slice1Desc, InputWindowSizes, UIntArray, 2),
                                   DIMPLE_ARRAY(Slice1Desc, InputWindowStrides, IntArray, 2)};
constexpr Field kJoinFields[] = {DIMPLE_ATTRIBUTE(JoinDesc, InputCount, UInt),
                                 DIMPLE_INPUT_ARRAY(JoinDesc, InputTensors, 0), DIMPLE_OUTPUT(JoinDesc, OutputTensor),
                                 DIMPLE_ATTRIBUTE(JoinDesc, Axis, UInt)};
constexpr Field kGatherFields[] = {DIMPLE_INPUT(GatherDesc, InputTensor), DIMPLE_INPUT(GatherDesc, IndicesTensor),
                                   DIMPLE_OUTPUT(GatherDesc, OutputTensor), DIMPLE_ATTRIBUTE(GatherDesc, Axis, UInt),
                                   DIMPLE_ATTRIBUTE(GatherDesc, IndexDimensions, UInt)};
constexpr Field kScatterNdFields[] = {DIMPLE_INPUT(ScatterNdDesc, InputTensor),
                                      DIMPLE_INPUT(ScatterNdDesc, IndicesTensor),
                                      DIMPLE_INPUT(ScatterNdDesc, UpdatesTensor),
                                      DIMPLE_OUTPUT(ScatterNdDesc, OutputTensor),
                                      DIMPLE_ATTRIBUTE(ScatterNdDesc, InputDimensionCount, UInt),
                                      DIMPLE_ATTRIBUTE(ScatterNdDesc, IndicesDimensionCount, UInt)};

constexpr TensorRule kFillRules[] = {{kAllTypes}};
constexpr TensorRule kMoveRules[] = {{kAllTypes}, {kAllTypes, 1, 8, 0, 0}};
constexpr TensorRule kJoinRules[] = {{kAllTypes, 1, 8, 0, 0}, {kAllTypes, 1, 8, 0, 0}};
constexpr TensorRule kGatherRules[] = {{kAllTypes}, {kIndices, 1, 8, -1, 0}, {kAllTypes, 1, 8, 0, 0}};
// The tensors of indices and updates may have a DimensionCount of their own.
constexpr TensorRule kScatterNdRules[] = {{kAllTypes}, {kIndices}, {kAllTypes, 1, 8, 0}, {kAllTypes, 1, 8, 0, 0, 0}};
constexpr Level kFillLevels[] = {{DML_FEATURE_LEVEL_4_1, kFillRules}};
constexpr Level kMoveLevels[] = {{DML_FEATURE_LEVEL_4_1, kMoveRules}};
constexpr Level kJoinLevels[] = {{DML_FEATURE_LEVEL_4_1, kJoinRules}};
constexpr Level kGatherLevels[] = {{DML_FEATURE_LEVEL_4_1, kGatherRules}};
constexpr Level kScatterNdLevels[] = {{DML_FEATURE_LEVEL_4_1, kScatterNdRules}};

constexpr OpSchema kSchemas[] = {
    {DML_OPERATOR_FILL_VALUE_CONSTANT, "FILL_VALUE_CONSTANT", sizeof(FillDesc), kFillFields, kFillLevels, true, false,
     checkFill, planFill},
    {DML_OPERATOR_SLICE, "SLICE", sizeof(SliceDesc), kSliceFields, kMoveLevels, false, false, checkSlice, planSlice},
    {DML_OPERATOR_SLICE1, "SLICE1", sizeof(Slice1Desc), kSlice1Fields, kMoveLevels, false, false, checkSlice1,
     planSlice1},
    {DML_OPERATOR_JOIN, "JOIN", sizeof(JoinDesc), kJoinFields, kJoinLevels, false, false, checkJoin, planJoin},
    {DML_OPERATOR_GATHER, "GATHER", sizeof(GatherDesc), kGatherFields, kGatherLevels, false, false, checkGather,
     planGather},
    {DML_OPERATOR_SCATTER_ND, "SCATTER_ND", sizeof(ScatterNdDesc), kScatterNdFields, kScatterNdLevels, false, false,
     checkScatterNd, planScatterNd},
};

}  // namespace

std::span<const OpSchema> movementSchemas() { return kSchemas; }

}  // namespace dimple
