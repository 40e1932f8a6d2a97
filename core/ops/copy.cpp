#include "core/ops/copy.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/checked.h"
#include "core/element_text.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr uint32_t kFrom = 0;
constexpr uint32_t kTo = 1;
constexpr uint32_t kBoth = 1u << kFrom | 1u << kTo;

// The part of `range` that an operand touches, from the last offset before it that can be bound. Moves the walk's base
// to match. A walk backwards is left as it is.
BufferRange touched(BufferRange range, Walk& walk, uint32_t operand, uint32_t elementBytes, const Caps& caps) {
  uint64_t elements = 1;
  for (uint32_t d = 0; d < walk.rank; ++d) {
    if (walk.strides[d][operand] > INT32_MAX) return range;
    elements += uint64_t{walk.sizes[d] - 1} * walk.strides[d][operand];
  }
  const uint64_t start = uint64_t{walk.base[operand]} * elementBytes;
  const uint64_t bound = start / caps.bufferOffsetAlignment * caps.bufferOffsetAlignment;
  walk.base[operand] = static_cast<uint32_t>((start - bound) / elementBytes);
  range.offset += bound;
  range.bytes = alignUp((walk.base[operand] + elements) * elementBytes, 4);
  return range;
}

}  // namespace

Status addCopy(PlanBuilder& builder, DataType type, Walk walk, const BufferRange& from, const BufferRange& to) {
  walk.sortBy(kTo);
  walk.coalesce();
  const BufferRange source = touched(from, walk, kFrom, byteWidth(type), builder.caps());
  const BufferRange target = touched(to, walk, kTo, byteWidth(type), builder.caps());
  const uint64_t count = walk.count();
  if (walk.isPacked(kBoth)) {
    const uint64_t bytes = count * byteWidth(type);
    return builder.addItems("copy_packed", divideUp(bytes, 16), {static_cast<uint32_t>(bytes)}, {source, target}, 0);
  }
  return builder.addItems(sizedKernel("copy", type, builder.caps()), count, {static_cast<uint32_t>(count), walk.rank},
                          {source, target}, builder.parameters(walk));
}

FillPattern fillPattern(DataType type, const DML_SCALAR_UNION& value) {
  FillPattern pattern{};
  for (uint32_t at = 0; at < sizeof pattern; at += byteWidth(type))
    std::memcpy(reinterpret_cast<std::byte*>(pattern.data()) + at, value.Bytes, byteWidth(type));
  return pattern;
}

FillPattern fillPattern(DataType type, float value) {
  DML_SCALAR_UNION scalar{};
  const double whole = std::isnan(value) ? 0.0 : std::trunc(static_cast<double>(value));
  // The first value above the range.
  const double end = std::ldexp(1.0, static_cast<int>(bitWidth(type) - isSigned(type)));
  if (type == DML_TENSOR_DATA_TYPE_FLOAT32)
    scalar.Float32 = value;
  else if (type == DML_TENSOR_DATA_TYPE_FLOAT16)
    scalar.UInt16 = halfBits(static_cast<double>(value));
  else if (type == DML_TENSOR_DATA_TYPE_FLOAT64)
    scalar.Float64 = static_cast<double>(value);
  else if (whole >= end)
    scalar.UInt64 = ~uint64_t{0} >> (64 - bitWidth(type) + isSigned(type));
  else if (whole < 0)
    scalar.Int64 = isSigned(type) ? static_cast<int64_t>(std::max(whole, -end)) : 0;
  else
    scalar.UInt64 = static_cast<uint64_t>(whole);
  return fillPattern(type, scalar);
}

Status addFill(PlanBuilder& builder, DataType type, Walk walk, const FillPattern& pattern, const BufferRange& to) {
  walk.sortBy(0);
  walk.coalesce();
  const uint64_t count = walk.count();
  if (walk.isPacked(1u << 0)) {
    const uint64_t bytes = count * byteWidth(type);
    return builder.addItems("fill_packed", divideUp(bytes, 16), {static_cast<uint32_t>(bytes), pattern[0], pattern[1]},
                            {to}, 0);
  }
  return builder.addItems(sizedKernel("fill", type, builder.caps()), count,
                          {static_cast<uint32_t>(count), walk.rank, pattern[0], pattern[1]}, {to},
                          builder.parameters(walk));
}

Status keepInput(Plan& plan, uint32_t inputIndex, const Tensor& tensor, const Caps& caps) {
  const uint64_t bytes = alignUp(tensor.extent * byteWidth(tensor.type), 4);
  const uint64_t offset = plan.persistentBytes;
  plan.persistentBytes = alignUp(offset + bytes, DML_PERSISTENT_BUFFER_ALIGNMENT);
  for (Dispatch& dispatch : plan.execution)
    for (BufferRange& range : dispatch.buffers)
      if (range.kind == SlotKind::Input && range.index == inputIndex) {
        range.kind = SlotKind::Persistent;
        range.index = 0;
        range.offset += offset;
      }

  const uint64_t groups = divideUp(divideUp(bytes, 16), kGroupSize);
  const auto folded = foldGroups(groups, caps);
  if (!folded)
    return Error{ErrorCode::Unsupported, cat("An input of ", bytes, " bytes is too large for this device to keep.")};
  Dispatch copy;
  copy.kernel = "copy_packed";
  copy.groups = *folded;
  copy.groupSize = kGroupSize;
  copy.push = {(*folded)[0], (*folded)[0] * (*folded)[1], static_cast<uint32_t>(groups), static_cast<uint32_t>(bytes)};
  copy.buffers = {{SlotKind::Input, inputIndex, 0, bytes, false}, {SlotKind::Persistent, 0, offset, bytes, true}};
  plan.initialization.push_back(std::move(copy));
  return {};
}

}  // namespace dimple
