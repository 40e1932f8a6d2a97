// REDUCE with all its functions, ARGMIN and ARGMAX.
#include <algorithm>
#include <limits>
#include <span>

#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/spread.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

// What REDUCE, ARGMIN and ARGMAX have in common.
struct Reduction {
  DML_REDUCE_FUNCTION function;
  std::span<const UINT> axes;
  bool preferLast;  // of equal elements
};

bool isArg(DML_REDUCE_FUNCTION function) {
  return function == DML_REDUCE_FUNCTION_ARGMIN || function == DML_REDUCE_FUNCTION_ARGMAX;
}

Reduction reductionOf(const OpView& view) {
  const auto arg = [](const auto& desc, DML_REDUCE_FUNCTION function) {
    return Reduction{function, {desc.Axes, desc.AxisCount}, desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING};
  };
  switch (view.schema().type) {
    case DML_OPERATOR_ARGMIN:
      return arg(view.as<DML_ARGMIN_OPERATOR_DESC>(), DML_REDUCE_FUNCTION_ARGMIN);
    case DML_OPERATOR_ARGMAX:
      return arg(view.as<DML_ARGMAX_OPERATOR_DESC>(), DML_REDUCE_FUNCTION_ARGMAX);
    default: {
      const auto& desc = view.as<DML_REDUCE_OPERATOR_DESC>();
      return {desc.Function, {desc.Axes, desc.AxisCount}, false};
    }
  }
}

// The input types of each function.
TypeSet functionTypes(DML_REDUCE_FUNCTION function) {
  switch (function) {
    case DML_REDUCE_FUNCTION_AVERAGE:
    case DML_REDUCE_FUNCTION_L2:
    case DML_REDUCE_FUNCTION_LOG_SUM:
    case DML_REDUCE_FUNCTION_LOG_SUM_EXP:
      return kFloats;
    case DML_REDUCE_FUNCTION_L1:
    case DML_REDUCE_FUNCTION_MULTIPLY:
    case DML_REDUCE_FUNCTION_SUM:
    case DML_REDUCE_FUNCTION_SUM_SQUARE:
      return kFloats | kIndices;
    case DML_REDUCE_FUNCTION_ARGMIN:
    case DML_REDUCE_FUNCTION_ARGMAX:
    case DML_REDUCE_FUNCTION_MAX:
    case DML_REDUCE_FUNCTION_MIN:
      return kNumbers;
  }
  return 0;
}

// Axes are a set: any order, duplicates ignored, possibly empty.
uint32_t axisMask(std::span<const UINT> axes) {
  uint32_t mask = 0;
  for (const UINT axis : axes) mask |= 1u << axis;
  return mask;
}

Status checkReduction(const OpView& view) {
  const Reduction reduction = reductionOf(view);
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  if (auto error = checkAxes(reduction.axes, x.rank)) return error;
  const uint32_t mask = axisMask(reduction.axes);
  for (uint32_t d = 0; d < x.rank; ++d) {
    const uint32_t expected = mask >> d & 1 ? 1 : x.sizes[d];
    if (y.sizes[d] != expected)
      return invalid(cat("OutputTensor has Sizes[", d, "] (", y.sizes[d], "), expected ", expected,
                         mask >> d & 1 ? ", since Axes has that dimension." : ", that of InputTensor."));
  }
  if (!(functionTypes(reduction.function) & typeBit(x.type)))
    return invalid(cat("InputTensor has DataType (", dataTypeName(x.type), "), which Function ",
                       kReduceFunctions.names[static_cast<size_t>(reduction.function)], " does not take."));
  if (isArg(reduction.function) ? !(kIndices & typeBit(y.type)) : x.type != y.type)
    return invalid(cat("OutputTensor has DataType (", dataTypeName(y.type), "), expected ",
                       isArg(reduction.function) ? "UINT32, INT32, UINT64 or INT64" : dataTypeName(x.type), "."));
  return {};
}

// The partial results of each output: how many there are, which of them a stage starts with and from which element, and
// whether it reads or writes them.
struct Partials {
  uint32_t count = 0;
  uint32_t first = 0;
  uint32_t firstIndex = 0;
  bool read = false;
  bool written = false;
};

// Parts of a walk that follow one another in its order, each spanning at most `most` elements of operand 0.
void appendConsecutiveParts(std::vector<Walk>& parts, const Walk& walk, uint64_t most) {
  uint32_t d = 0;
  while (d < walk.rank && walk.sizes[d] == 1) ++d;
  if (d == walk.rank || spanOf(walk, 0) <= most) {
    parts.push_back(walk);
    return;
  }
  Walk first = walk;
  Walk second = walk;
  first.sizes[d] = walk.sizes[d] / 2;
  second.sizes[d] -= first.sizes[d];
  second.base[0] += first.sizes[d] * walk.strides[d][0];
  appendConsecutiveParts(parts, first, most);
  appendConsecutiveParts(parts, second, most);
}

Result<Plan> planReduction(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const Reduction reduction = reductionOf(view);
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  const uint32_t mask = axisMask(reduction.axes);
  Walk kept;
  Walk reduced;
  uint32_t smallestKept = std::numeric_limits<uint32_t>::max();
  uint32_t smallestReduced = smallestKept;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const bool isReduced = (mask >> d & 1) != 0;
    if (isReduced)
      reduced.addDimension(x.sizes[d], {x.strides[d]});
    else
      kept.addDimension(x.sizes[d], {x.strides[d], y.strides[d]});
    auto& smallest = isReduced ? smallestReduced : smallestKept;
    if (x.sizes[d] > 1) smallest = std::min(smallest, x.strides[d]);
  }
  kept.sortBy(0);
  kept.coalesce();
  // The order of elements matters to their indices alone.
  if (!isArg(reduction.function)) reduced.sortBy(0);
  reduced.coalesce();
  const auto elements = static_cast<uint32_t>(reduced.count());
  const bool arg = isArg(reduction.function);
  const bool dense = smallestReduced <= smallestKept;

  // Of `part` of the kept dimensions, a stage of the reduction of `inside`.
  const auto addStage = [&](const Walk& part, const Walk& inside, const Spread& spread, const Partials& partials,
                            BufferRange from, const BufferRange& to) {
    from.writes = false;
    std::vector<uint32_t> words;
    appendWalk(words, part);
    const auto reducedAt = static_cast<uint32_t>(words.size() / 4);
    appendWalk(words, inside);
    const auto outputs = static_cast<uint32_t>(part.count());
    const uint64_t tasks = uint64_t{outputs} * spread.chunks;
    const std::vector<uint32_t> push{outputs,
                                     partials.read ? partials.count : static_cast<uint32_t>(inside.count()),
                                     spread.chunks,
                                     spread.perChunk,
                                     part.rank,
                                     inside.rank,
                                     reducedAt,
                                     reduction.preferLast,
                                     arg ? byteWidth(y.type) / 4 : 0,
                                     elements,
                                     partials.count,
                                     partials.first,
                                     partials.firstIndex};
    return builder.add(
        cat("reduce.", shortTypeName(x.type)), taskGroups(tasks, spread.row), push, {from, to},
        builder.parameters(words),
        {{0, static_cast<uint32_t>(reduction.function)}, {1, spread.row}, {2, partials.read}, {3, partials.written}});
  };
  const auto finish = [&](const Walk& part, uint32_t count, const BufferRange& partials, const BufferRange& to) {
    Spread spread = spreadOf(part.count(), count, true);
    spread.chunks = 1;
    spread.perChunk = count;
    return addStage(part, Walk{}, spread, {.count = count, .read = true}, partials, to);
  };
  // A partial result is a value and its companion, each as wide as the kernel's accumulator.
  const uint64_t partialBytes = byteWidth(x.type) == 8 ? 16 : 8;

  if (spanOf(reduced, 0) <= mostBound(x.type, caps)) {
    const WalkOperand ranges[] = {builder.inputOperand(0, spanOf(reduced, 0) - 1), builder.outputOperand()};
    const auto add = [&](const Walk& part, const std::vector<BufferRange>& buffers) -> Status {
      const Spread spread = spreadOf(part.count(), elements, dense);
      if (spread.chunks == 1) return addStage(part, reduced, spread, {.count = 1}, buffers[0], buffers[1]);
      const BufferRange partials = builder.allocateTemporary(part.count() * spread.chunks * partialBytes);
      if (auto error = addStage(part, reduced, spread, {.count = spread.chunks, .written = true}, buffers[0], partials))
        return error;
      return finish(part, spread.chunks, partials, buffers[1]);
    };
    if (auto error = builder.addWindows(kept, ranges, add)) return *error;
    return builder.finish();
  }

  // What one output is made of cannot be bound at once: each part of it gives partial results of all outputs.
  std::vector<Walk> parts;
  appendConsecutiveParts(parts, reduced, mostBound(x.type, caps) / 2);
  std::vector<Spread> spreads;
  Partials partials{.written = true};
  for (const Walk& inside : parts) {
    spreads.push_back(spreadOf(kept.count(), inside.count(), dense));
    partials.count += spreads.back().chunks;
  }
  const BufferRange temporary = builder.allocateTemporary(kept.count() * partials.count * partialBytes);
  for (size_t i = 0; i < parts.size(); ++i) {
    Walk outside = kept;
    outside.base[0] = parts[i].base[0];
    const WalkOperand ranges[] = {builder.inputOperand(0, spanOf(parts[i], 0) - 1)};
    Walk inside = parts[i];
    inside.base[0] = 0;
    // Outputs are not split: their numbers are those of the partial results.
    const auto add = [&](const Walk& part, const std::vector<BufferRange>& buffers) -> Status {
      if (part.count() == kept.count()) return addStage(part, inside, spreads[i], partials, buffers[0], temporary);
      return Error{ErrorCode::Unsupported,
                   cat(view.inputName(0), " spans ", builder.input(0).bytes, " bytes, but this device binds at most ",
                       caps.maxBufferRange, " bytes to a kernel.")};
    };
    if (auto error = builder.addWindows(outside, ranges, add)) return *error;
    partials.first += spreads[i].chunks;
    partials.firstIndex += static_cast<uint32_t>(inside.count());
  }
  if (auto error = finish(kept, partials.count, temporary, builder.output())) return *error;
  return builder.finish();
}

template <class S>
constexpr Field kReduceFields[] = {DIMPLE_ENUM(S, Function, kReduceFunctions), DIMPLE_INPUT(S, InputTensor),
                                   DIMPLE_OUTPUT(S, OutputTensor), DIMPLE_ATTRIBUTE(S, AxisCount, UInt),
                                   DIMPLE_ARRAY(S, Axes, UIntArray, 3)};
template <class S>
constexpr Field kArgminFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                   DIMPLE_ATTRIBUTE(S, AxisCount, UInt), DIMPLE_ARRAY(S, Axes, UIntArray, 2),
                                   DIMPLE_ENUM(S, AxisDirection, kAxisDirections)};

// The union over all functions; functionTypes() has them one by one.
constexpr TypeHistory kReduceTypes{{k1_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32}, {k4_1, kNumbers}};
constexpr TypeHistory kReduceOutputTypes{
    {k1_0, kFloats | kUInt32, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32 | kInts64}, {k5_0, kNumbers}};
constexpr TypeHistory kArgminTypes{{k3_0, kUpTo32}, {k4_1, kNumbers}};
constexpr TypeHistory kArgminOutputTypes{{k3_0, kIndices}};

constexpr TensorRule kReduceRules[] = {{kReduceTypes}, {kReduceOutputTypes, sameRank(0)}};
constexpr TensorRule kArgminRules[] = {{kArgminTypes}, {kArgminOutputTypes, sameRank(0)}};

constexpr OpSchema kReduceSchemas[] = {
    DIMPLE_ROW(REDUCE, kReduceFields, kReduceRules, false, false, checkReduction, planReduction),
    DIMPLE_ROW(ARGMIN, kArgminFields, kArgminRules, false, false, checkReduction, planReduction),
    DIMPLE_ROW(ARGMAX, kArgminFields, kArgminRules, false, false, checkReduction, planReduction),
};

}  // namespace

std::span<const OpSchema> reduceSchemas() { return kReduceSchemas; }

}  // namespace dimple
