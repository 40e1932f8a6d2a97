// REDUCE with all its functions, ARGMIN and ARGMAX.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/spread.h"
#include "core/ops/table.h"
#include "core/ops/vector_rows.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/reduce.h"

namespace dimple {
namespace {

// The properties that REDUCE, ARGMIN and ARGMAX share.
struct Reduction {
  DML_REDUCE_FUNCTION function;
  std::span<const UINT> axes;
  bool preferLast;  // of equal elements
};

bool isArg(DML_REDUCE_FUNCTION function) {
  return function == DML_REDUCE_FUNCTION_ARGMIN || function == DML_REDUCE_FUNCTION_ARGMAX;
}

// What the operator of reductionWithCasts() reads.
struct CastReduction {
  DML_REDUCE_FUNCTION function;
  std::vector<UINT> axes;
};

Reduction reductionOf(const Operation& op) {
  const auto arg = [](const auto& desc, DML_REDUCE_FUNCTION function) {
    return Reduction{function, {desc.Axes, desc.AxisCount}, desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING};
  };
  const DML_OPERATOR_TYPE type = op.schema().type;
  if (type == DML_OPERATOR_INVALID) return {op.as<CastReduction>().function, op.as<CastReduction>().axes, false};
  if (type == DML_OPERATOR_ARGMIN) return arg(op.as<DML_ARGMIN_OPERATOR_DESC>(), DML_REDUCE_FUNCTION_ARGMIN);
  if (type == DML_OPERATOR_ARGMAX) return arg(op.as<DML_ARGMAX_OPERATOR_DESC>(), DML_REDUCE_FUNCTION_ARGMAX);
  const auto& desc = op.as<DML_REDUCE_OPERATOR_DESC>();
  return {desc.Function, {desc.Axes, desc.AxisCount}, false};
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

Status checkReduction(const Operation& op) {
  const Reduction reduction = reductionOf(op);
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  TRY(checkAxes(reduction.axes, x.rank));
  const uint32_t mask = axisMask(reduction.axes);
  for (uint32_t d = 0; d < x.rank; ++d) {
    const bool reduced = mask >> d & 1;
    TRY(checkSize("OutputTensor", y, d, reduced ? 1 : x.sizes[d],
                  reduced ? ", since Axes has that dimension" : ", that of InputTensor"));
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

// What a stage steps through.
struct Steps {
  Walk kept;
  Walk reduced;
  uint32_t number = 0;  // of elements in the vectors that it steps through; 0: it steps through elements
};

class ReductionPlan {
 public:
  explicit ReductionPlan(PlanBuilder& builder) : builder_(builder), reduction_(reductionOf(builder.op())) {}

  Status make() {
    const Tensor& x = input();
    const Tensor& y = builder_.op().output();
    const uint32_t mask = axisMask(reduction_.axes);
    auto [kept, reduced] = split(makeWalk(x.sizeSpan(), {&x, &y}), mask);
    kept_ = kept.coalesceBy(0);
    // The order of elements matters only for their indices.
    reduced_ = arg() ? reduced.coalesce() : reduced.coalesceBy(0);
    elements_ = static_cast<uint32_t>(reduced_.count());
    dense_ = areDense(x, mask);
    const uint64_t most = builder_.maxBoundElements(input().type);
    return spanOf(reduced_, 0) <= most ? addWhole() : addInParts(most);
  }

 private:
  const Tensor& input() const { return builder_.op().input(0); }
  bool arg() const { return isArg(reduction_.function); }
  bool castsResults() const { return !arg() && builder_.op().output().type != input().type; }

  // A partial result is a value and its companion, each as wide as the kernel's accumulator.
  uint64_t partialBytes() const { return byteWidth(input().type) == 8 ? 16 : 8; }

  Status addStage(const Steps& steps, const Spread& spread, const Partials& partials, const BufferRange& from,
                  const BufferRange& to) {
    using Form = kernels::Reduce::Form;
    const auto& [part, inside, number] = steps;
    const uint32_t indexBytes = arg() ? byteWidth(builder_.op().output().type) : 0;
    const uint32_t elements = partials.read ? partials.count : static_cast<uint32_t>(inside.count());
    const uint64_t tasks = part.count() * spread.chunks;
    const uint32_t lanes = spread.row ? lanesOf(tasks, std::min(spread.perChunk, elements)) : 1;
    kernels::Reduce call{.form = number != 0 ? Form::Vectors : Form::Strided,
                         .type = kernelType(input().type),
                         .push = {.outputs = static_cast<uint32_t>(part.count()),
                                  .elements = elements,
                                  .chunks = spread.chunks,
                                  .chunkLength = spread.perChunk,
                                  .split = {part.rank, inside.rank, part.vectors()},
                                  .preferLast = reduction_.preferLast,
                                  .indexWords = indexBytes / 4,
                                  .divisor = elements_,
                                  .partials = partials.count,
                                  .firstPartial = partials.first,
                                  .firstIndex = partials.firstIndex},
                         .spec = {.function = reduction_.function,
                                  .row = spread.row,
                                  .writesPartials = partials.written,
                                  .wideResults = castsResults(),
                                  .rowLanes = lanes},
                         .x = from,
                         .y = to};
    if (number == 0) call.spec.readsPartials = partials.read;
    return builder_.add(call, divideUp(tasks * lanes, kGroupSize), builder_.parameters(part, inside),
                        Work(part.count()) * (partials.read ? partials.count : inside.count()) * std::max(number, 1u));
  }

  // Invocations that share the elements or vectors of a task: as few as load all of them at once, so that short rows
  // share a workgroup; or as few as do so in four turns, if even then there are many workgroups, since what comes
  // before and after the loads is done once.
  uint32_t lanesOf(uint64_t tasks, uint32_t elements) const {
    constexpr uint32_t kLoads = 4, kTurns = 4;
    const auto lanes = [&](uint32_t loads) {
      return std::min(std::bit_ceil(static_cast<uint32_t>(divideUp(elements, loads))), kGroupSize);
    };
    const Target& target = builder_.target();
    const uint64_t many = target.options.estimates ? 8 * uint64_t{target.caps.workgroups} : 0;
    const uint32_t few = lanes(kLoads * kTurns);
    return tasks * few >= many * kGroupSize ? few : lanes(kLoads);
  }

  // The last stage, of `count` partial results of each output.
  Status addLast(const Walk& part, uint32_t count, const BufferRange& partials, const BufferRange& to) {
    Spread spread = spreadOf(part.count(), count, true);
    spread.chunks = 1;
    spread.perChunk = count;
    return addStage({part, Walk{}}, spread, {.count = count, .read = true}, partials, to);
  }

  // Steps through a part of the kept dimensions, in vectors along the reduced or the kept dimensions if either lies in
  // vectors.
  std::pair<Steps, Spread> stepsOf(const Walk& part) {
    constexpr uint32_t kInput = 0b01, kBoth = 0b11;
    const DataType type = input().type;
    const uint32_t number = vectorElements(type);
    const bool hasKernel = typeBit(type) & kFloats;
    const auto row = hasKernel && dense_ ? reduced_.inVectors(number, kInput) : std::nullopt;
    const auto rows = row ? part.betweenVectors(number, kInput) : std::nullopt;
    if (rows) {
      Spread spread = spreadOf(part.count(), elements_, true);
      spread.row = true;
      spread.perChunk = static_cast<uint32_t>(divideUp(spread.perChunk, number));
      spread.chunks = static_cast<uint32_t>(divideUp(row->count(), spread.perChunk));
      return {{*rows, *row, number}, spread};
    }
    const auto outputs = hasKernel && !dense_ ? part.inVectors(number, kBoth) : std::nullopt;
    const auto column = outputs ? reduced_.betweenVectors(number, kInput) : std::nullopt;
    if (column) return {{*outputs, *column, number}, spreadOf(outputs->count(), elements_, false, true)};
    builder_.passOver({"reduce_vectors", "Its elements are not in vectors, or it has few elements."});
    return {{part, reduced_}, spreadOf(part.count(), elements_, dense_)};
  }

  // Plans the case in which all elements of an output are bound at once.
  Status addWhole() {
    const WalkOperand ranges[] = {builder_.inputOperand(0, spanOf(reduced_, 0) - 1), builder_.outputOperand()};
    return builder_.addWindows(kept_, ranges, [&](const Walk& part, const std::vector<BufferRange>& buffers) -> Status {
      const auto [steps, spread] = stepsOf(part);
      if (spread.chunks == 1) return addStage(steps, spread, {.count = 1}, buffers[0], buffers[1]);
      const BufferRange partials = builder_.allocateTemporary(part.count() * spread.chunks * partialBytes());
      TRY(addStage(steps, spread, {.count = spread.chunks, .written = true}, buffers[0], partials));
      return addLast(part, spread.chunks, partials, buffers[1]);
    });
  }

  // Plans the case in which they are not, since they span more than `most` elements. Each part gives partial results of
  // all outputs.
  Status addInParts(uint64_t most) {
    std::vector<Walk> parts;
    TRY(appendConsecutiveParts(parts, reduced_, most / 2));
    std::vector<Spread> spreads;
    Partials partials{.written = true};
    for (const Walk& inside : parts) {
      spreads.push_back(spreadOf(kept_.count(), inside.count(), dense_));
      partials.count += spreads.back().chunks;
    }
    const BufferRange temporary = builder_.allocateTemporary(kept_.count() * partials.count * partialBytes());
    for (size_t i = 0; i < parts.size(); ++i) {
      TRY(addPart(parts[i], spreads[i], partials, temporary));
      partials.first += spreads[i].chunks;
      partials.firstIndex += static_cast<uint32_t>(parts[i].count());
    }
    return addLast(kept_, partials.count, temporary, builder_.output());
  }

  // Parts of a walk that follow one another in its order, each spanning at most `most` elements of operand 0.
  Status appendConsecutiveParts(std::vector<Walk>& parts, const Walk& walk, uint64_t most) {
    uint32_t d = 0;
    while (d < walk.rank && walk.sizes[d] == 1) ++d;
    if (d == walk.rank || spanOf(walk, 0) <= most) {
      if (parts.size() == kMaxParts) return builder_.tooManyParts(builder_.input(0));
      parts.push_back(walk);
      return {};
    }
    Walk first = walk;
    Walk second = walk;
    first.sizes[d] = walk.sizes[d] / 2;
    second.sizes[d] -= first.sizes[d];
    second.base[0] += first.sizes[d] * walk.strides[d][0];
    TRY(appendConsecutiveParts(parts, first, most));
    return appendConsecutiveParts(parts, second, most);
  }

  Status addPart(Walk inside, const Spread& spread, const Partials& partials, const BufferRange& to) {
    const WalkOperand ranges[] = {builder_.inputOperand(0, spanOf(inside, 0) - 1)};
    Walk outside = kept_;
    outside.base[0] = inside.base[0];
    inside.base[0] = 0;
    // Outputs are not split: their numbers are those of the partial results.
    return builder_.addWindows(
        outside, ranges, [&](const Walk& part, const std::vector<BufferRange>& buffers) -> Status {
          if (part.count() == kept_.count()) return addStage({part, inside}, spread, partials, buffers[0], to);
          return Error{ErrorCode::Unsupported, cat(builder_.op().inputName(0), " spans ", builder_.input(0).bytes,
                                                   " bytes, but this device binds at most ",
                                                   builder_.target().caps.maxBufferRange, " bytes to a kernel.")};
        });
  }

  PlanBuilder& builder_;
  const Reduction reduction_;
  Walk kept_;
  Walk reduced_;
  uint32_t elements_ = 0;  // that an output is made of
  bool dense_ = false;     // they lie closer than the outputs
};

Status planReduction(const Operation&, PlanBuilder& builder) { return ReductionPlan(builder).make(); }

DIMPLE_FIELDS(kReduceFields, DIMPLE_ENUM(Function, kReduceFunctions), DIMPLE_IN_AND_OUT, DIMPLE_AXES(3));
DIMPLE_FIELDS(kArgminFields, DIMPLE_IN_AND_OUT, DIMPLE_AXES(2), DIMPLE_ENUM(AxisDirection, kAxisDirections));

// The types of all functions together. functionTypes() has those of each function.
constexpr TypeHistory kReduceTypes{{k1_0, kFloats, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32}, {k4_1, kNumbers}};
constexpr TypeHistory kReduceOutputTypes{
    {k1_0, kFloats | kUInt32, 4, 4}, {k2_1, kUpTo32, 4, 4}, {k3_0, kUpTo32 | kInts64}, {k5_0, kNumbers}};
constexpr TypeHistory kArgminTypes{{k3_0, kUpTo32}, {k4_1, kNumbers}};
constexpr TypeHistory kArgminOutputTypes{{k3_0, kIndices}};

constexpr TensorRule kReduceRules[] = {{kReduceTypes}, {kReduceOutputTypes, sameRank(0)}};
constexpr TensorRule kArgminRules[] = {{kArgminTypes}, {kArgminOutputTypes, sameRank(0)}};

constexpr OpSchema kReduceSchemas[] = {
    DIMPLE_ROW(REDUCE, kReduceFields, .rules = kReduceRules, .check = checkReduction, .plan = planReduction),
    DIMPLE_ROW(ARGMIN, kArgminFields, .rules = kArgminRules, .check = checkReduction, .plan = planReduction),
    DIMPLE_ROW(ARGMAX, kArgminFields, .rules = kArgminRules, .check = checkReduction, .plan = planReduction),
};

constexpr OpSchema kCastReduction = schemaOfPasses("REDUCTION", planReduction);

}  // namespace

std::optional<Operation> reductionWithCasts(const Operation& op, const Tensor& input, const Tensor& output) {
  if (op.schema().type != DML_OPERATOR_REDUCE || input.type == op.input(0).type || output.type != op.output().type)
    return {};
  const Reduction reduction = reductionOf(op);
  CastReduction made{reduction.function, {reduction.axes.begin(), reduction.axes.end()}};
  return Operation(kCastReduction, std::make_shared<const CastReduction>(std::move(made)), {input}, {output},
                   {{op.inputName(0)}, {op.outputName(0)}});
}

std::span<const OpSchema> reduceSchemas() { return kReduceSchemas; }

}  // namespace dimple
