#include "core/ops/copy.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/checked.h"
#include "core/ops/elementwise.h"
#include "core/ops/moves.h"
#include "core/ops/shared_kernels.h"
#include "core/schema/element_text.h"
#include "core/text.h"
#include "kernels/interfaces/copy.h"
#include "kernels/interfaces/copy_lines.h"
#include "kernels/interfaces/copy_packed.h"
#include "kernels/interfaces/fill.h"
#include "kernels/interfaces/fill_packed.h"
#include "kernels/interfaces/transpose.h"

namespace dimple {
namespace {

constexpr uint32_t kFrom = 0;
constexpr uint32_t kTo = 1;
constexpr uint32_t kBoth = 1u << kFrom | 1u << kTo;

// The number of elements along each side of a tile of kernels/movement/transpose.comp.
constexpr uint32_t kTile = 32;

// The last dimension, which is dense in the destination, and the one that is dense in the source, if they differ and
// are worth tiles.
struct Transposition {
  uint32_t from;
  uint32_t to;
};
std::optional<Transposition> transposition(const Walk& walk) {
  if (walk.rank < 2) return {};
  const uint32_t to = walk.rank - 1;
  if (walk.strides[to][kTo] != 1 || walk.strides[to][kFrom] <= 1 || walk.sizes[to] < kTile / 2) return {};
  for (uint32_t d = 0; d < to; ++d)
    if (walk.strides[d][kFrom] == 1 && walk.sizes[d] >= kTile / 2) return Transposition{d, to};
  return {};
}

// Whether elements may be loaded and stored in words of several elements each.
bool movesWords(const Caps& caps, const Walk& walk, Transposition dense, uint32_t inWord) {
  if (inWord == 1 || caps.sharedBytes < kTile * inWord * (kTile + 1) * sizeof(uint32_t)) return false;
  for (const uint32_t k : {kFrom, kTo}) {
    if (walk.base[k] % inWord != 0 || walk.sizes[k == kFrom ? dense.from : dense.to] % inWord != 0) return false;
    for (uint32_t d = 0; d < walk.rank; ++d)
      if (walk.strides[d][k] % inWord != 0 && d != (k == kFrom ? dense.from : dense.to)) return false;
  }
  return true;
}

Status addTransposition(PlanBuilder& builder, DataType type, const Walk& walk, Transposition dense,
                        const std::vector<BufferRange>& ranges) {
  Walk others;
  others.base = walk.base;
  const uint32_t inWord = byteWidth(type) < 4 ? 4 / byteWidth(type) : 1;
  const bool words = movesWords(builder.target().caps, walk, dense, inWord);
  const uint32_t side = words ? kTile * inWord : kTile;
  uint64_t groups = divideUp(walk.sizes[dense.from], side) * divideUp(walk.sizes[dense.to], side);
  for (uint32_t d = 0; d < walk.rank; ++d) {
    if (d == dense.from || d == dense.to) continue;
    others.addDimension(walk.sizes[d], walk.strides[d]);
    groups *= walk.sizes[d];
  }
  using Form = kernels::Transpose::Form;
  return builder.add(
      kernels::Transpose{.form = words ? Form::Words : Form::Strided,
                         .type = words ? KernelElement(builder.sizedElement(type).type) : builder.sizedElement(type),
                         .push = {.rank = others.rank,
                                  .denseFrom = walk.sizes[dense.from],
                                  .strideTo = walk.strides[dense.from][kTo],
                                  .denseTo = walk.sizes[dense.to],
                                  .strideFrom = walk.strides[dense.to][kFrom]},
                         .x = ranges[kFrom],
                         .y = ranges[kTo]},
      groups, builder.parameters(others), walk.count());
}

// Whether lines that do not lie in vectors, and do not closely follow each other, are worth the time that their ends
// take.
bool copiesLines(const PlanBuilder& builder, DataType type, const Walk& walk) {
  const uint32_t number = vectorElements(type);
  if (walk.rank == 0 || byteWidth(type) > 4 || !areManyRuns(builder.target(), walk.count(), number)) return false;
  const uint32_t line = walk.rank - 1;
  return walk.strides[line][kTo] == 1 && walk.sizes[line] >= 4 * number && !walk.inVectors(number, kBoth) &&
         !walk.inRuns(number, kTo);
}

Status addLines(PlanBuilder& builder, DataType type, const Walk& walk, const std::vector<BufferRange>& ranges) {
  const uint32_t number = vectorElements(type);
  const uint32_t line = walk.rank - 1;
  Walk lines;
  lines.base = walk.base;
  bool aligned = true;  // all begin in the same place of a vector
  for (uint32_t d = 0; d < line; ++d) {
    lines.addDimension(walk.sizes[d], walk.strides[d]);
    aligned = aligned && walk.strides[d][kTo] % number == 0;
  }
  const uint64_t elements = walk.sizes[line];
  const uint64_t vectors = divideUp(elements + (aligned ? walk.base[kTo] % number : number - 1), number);
  const uint64_t items = lines.count() * vectors;
  return builder.addItems(kernels::CopyLines{.type = builder.sizedElement(type).type,
                                             .push = {.count = static_cast<uint32_t>(items),
                                                      .rank = lines.rank,
                                                      .lineElements = walk.sizes[line],
                                                      .lineVectors = static_cast<uint32_t>(vectors),
                                                      .inputStep = walk.strides[line][kFrom]},
                                             .x = ranges[kFrom],
                                             .y = ranges[kTo]},
                          items, builder.parameters(lines), number);
}

}  // namespace

Status addCopy(PlanBuilder& builder, DataType type, Walk walk, const BufferRange& from, const BufferRange& to) {
  walk.coalesceBy(kTo);
  const WalkOperand operands[] = {{from, bitWidth(type)}, {to, bitWidth(type)}};
  return builder.addWindows(walk, operands, [&](const Walk& part, const std::vector<BufferRange>& ranges) {
    const uint64_t count = part.count();
    if (part.isPacked(kBoth)) {
      const uint64_t bytes = count * byteWidth(type);
      return builder.addItems(
          kernels::CopyPacked{.push = {.bytes = static_cast<uint32_t>(bytes)}, .x = ranges[kFrom], .y = ranges[kTo]},
          divideUp(bytes, 16), 0, 1);
    }
    if (const auto dense = transposition(part)) return addTransposition(builder, type, part, *dense, ranges);
    if (copiesLines(builder, type, part)) return addLines(builder, type, part, ranges);
    const Moves moves = movesOf(builder, {.vectors = kBoth, .runs = true}, part, type, kTo);
    kernels::Copy call{.form = formOf<kernels::Copy>(moves.unit),
                       .type = moves.type,
                       .push = {.walk = walkWords(moves.walk)},
                       .spec = {},
                       .x = ranges[kFrom],
                       .y = ranges[kTo]};
    if (moves.unit == MoveUnit::Run) call.spec.rank = constantOnGpus(builder.target(), moves.walk.rank);
    return builder.addItems(call, moves.items, builder.parameters(moves.walk), 1);
  });
}

MovedPart wholePart(const Operation& op) {
  return {0, 0, makeWalk(op.output().sizeSpan(), {&op.input(0), &op.output()})};
}

Status planParts(const Operation& op, PlanBuilder& builder) {
  for (const MovedPart& part : op.schema().parts(op))
    TRY(addCopy(builder, op.input(part.input).type, part.walk, builder.input(part.input), builder.output(part.output)));
  return {};
}

FillPattern fillPattern(DataType type, const DML_SCALAR_UNION& value) {
  FillPattern pattern{};
  for (uint32_t at = 0; at < sizeof pattern; at += byteWidth(type))
    std::memcpy(reinterpret_cast<std::byte*>(pattern.data()) + at, value.Bytes, byteWidth(type));
  return pattern;
}

FillPattern fillPattern(DataType type, float value) {
  DML_SCALAR_UNION scalar{};
  if (type == DML_TENSOR_DATA_TYPE_FLOAT32)
    scalar.Float32 = value;
  else if (type == DML_TENSOR_DATA_TYPE_FLOAT16)
    scalar.UInt16 = halfBits(static_cast<double>(value));
  else if (type == DML_TENSOR_DATA_TYPE_FLOAT64)
    scalar.Float64 = static_cast<double>(value);
  else
    scalar.UInt64 = saturated(static_cast<double>(value), type);
  return fillPattern(type, scalar);
}

Status addFill(PlanBuilder& builder, DataType type, const Walk& walk, const FillPattern& pattern,
               const BufferRange& to) {
  const WalkOperand operands[] = {{to, bitWidth(type)}};
  const auto call = [&](const ElementPart& part) -> KernelCall {
    if (part.packed)
      return kernels::FillPacked{
          .push = {.bytes = part.walk.count * byteWidth(type), .low = pattern[0], .high = pattern[1]},
          .y = part.buffers[0]};
    return kernels::Fill{.form = part.vectors ? kernels::Fill::Form::Vectors : kernels::Fill::Form::Strided,
                         .type = part.vectors ? KernelElement(KernelType::B32) : builder.sizedElement(type),
                         .push = {.walk = part.walk, .low = pattern[0], .high = pattern[1]},
                         .y = part.buffers[0]};
  };
  return addElements(builder, walk, operands, vectorElements(type), call, {vectorElements(type), 1});
}

Status addWordCopy(std::vector<Dispatch>& dispatches, const BufferRange& from, const BufferRange& to,
                   const Target& target) {
  // Copies in parts that the device binds at once, each of which begins at a multiple of the alignment.
  const uint64_t most = target.caps.maxBufferRange / DML_PERSISTENT_BUFFER_ALIGNMENT * DML_PERSISTENT_BUFFER_ALIGNMENT;
  for (uint64_t at = 0; at < from.bytes; at += most) {
    const uint64_t part = std::min(from.bytes - at, most);
    const uint64_t groups = divideUp(divideUp(part, 16), kGroupSize);
    const auto folded = foldGroups(groups, target.caps);
    if (!folded)
      return Error{ErrorCode::Unsupported,
                   cat("A tensor of ", from.bytes, " bytes is too large for this device to copy.")};
    Dispatch copy;
    copy.kernel = {kernels::CopyPacked::kFamily};
    copy.groups = *folded;
    copy.groupSize = kGroupSize;
    copy.work = static_cast<double>(groups * kGroupSize);
    const auto head = gridWords(*folded, 0, groups);
    copy.push.assign(head.begin(), head.end());
    copy.push.push_back(static_cast<uint32_t>(part));
    copy.buffers = {{from.kind, from.index, from.offset + at, part, false},
                    {to.kind, to.index, to.offset + at, part, true}};
    dispatches.push_back(std::move(copy));
  }
  return {};
}

Status keepInput(Plan& plan, uint32_t inputIndex, const Tensor& tensor, const Target& target) {
  const uint64_t bytes = tensor.spannedBytes();
  const uint64_t offset = plan.persistentBytes;
  plan.persistentBytes = alignUp(offset + bytes, DML_PERSISTENT_BUFFER_ALIGNMENT);
  for (Dispatch& dispatch : plan.execution)
    for (BufferRange& range : dispatch.buffers)
      if (range.kind == SlotKind::Input && range.index == inputIndex) {
        range.kind = SlotKind::Persistent;
        range.index = 0;
        range.offset += offset;
      }

  return addWordCopy(plan.initialization, {SlotKind::Input, inputIndex, 0, bytes, false},
                     {SlotKind::Persistent, 0, offset, bytes, true}, target);
}

}  // namespace dimple
