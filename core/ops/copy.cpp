#include "core/ops/copy.h"

#include "core/checked.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr uint32_t kFrom = 0;
constexpr uint32_t kTo = 1;
constexpr uint32_t kBoth = 1u << kFrom | 1u << kTo;

}  // namespace

Status addCopy(PlanBuilder& builder, DataType type, Walk walk, const BufferRange& from, const BufferRange& to,
               bool exclusive) {
  walk.sortBy(kTo);
  walk.coalesce();
  const uint64_t count = walk.count();
  const uint64_t bytes = count * byteWidth(type);

  // Both ends may start inside their buffers where a binding can start there.
  const Caps& caps = builder.caps();
  const auto startOf = [&](uint32_t operand) { return uint64_t{walk.base[operand]} * byteWidth(type); };
  const auto bindable = [&](uint32_t operand) { return startOf(operand) % caps.bufferOffsetAlignment == 0; };
  const bool wholeWords = bytes % 4 == 0;
  if (bindable(kFrom) && bindable(kTo) && (wholeWords || exclusive)) {
    Walk rebased = walk;
    rebased.base = {};
    if (rebased.isPacked(kBoth)) {
      BufferRange source = from;
      BufferRange target = to;
      source.offset += startOf(kFrom);
      target.offset += startOf(kTo);
      source.bytes = target.bytes = alignUp(bytes, 4);
      return builder.addItems("copy_packed", divideUp(bytes, 16), {static_cast<uint32_t>(bytes)}, {source, target}, 0);
    }
  }
  return builder.addItems(sizedKernel("copy", type, caps), count, {static_cast<uint32_t>(count), walk.rank}, {from, to},
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
