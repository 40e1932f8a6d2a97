#include "api/binding_table.h"

#include "core/text.h"

namespace dimple::api {
namespace {

std::string_view bindingTypeName(DML_BINDING_TYPE type) {
  switch (type) {
    case DML_BINDING_TYPE_NONE:
      return "NONE";
    case DML_BINDING_TYPE_BUFFER:
      return "BUFFER";
    case DML_BINDING_TYPE_BUFFER_ARRAY:
      return "BUFFER_ARRAY";
  }
  return "unknown";
}

}  // namespace

void BindingTable::misuse(const std::string& text) { device().removeDevice(DXGI_ERROR_DEVICE_REMOVED, text); }

bool BindingTable::usable() {
  if (device().removed()) return false;
  if (!dispatchable_) {
    misuse("The binding table was reset to no dispatchable, expected Reset with a description first.");
    return false;
  }
  return true;
}

template <class Bind>
void BindingTable::binding(const char* method, Bind bind) {
  removing(device(), method, [&] {
    if (usable()) bind();
  });
}

std::string BindingTable::Place::where() const {
  std::string text = cat(method, ": ", binding ? "bindings" : "binding");
  if (binding) text += cat("[", *binding, "]");
  if (element) text += cat(".Bindings[", *element, "]");
  return text;
}

std::string BindingTable::Place::subject() const {
  switch (kind) {
    case SlotKind::Input:
      return op->slotName(Role::Input, slot);
    case SlotKind::Output:
      return op->slotName(Role::Output, slot);
    case SlotKind::Temporary:
      return "the temporary resource";
    case SlotKind::Persistent:
      return "the persistent resource";
  }
  return {};
}

HRESULT BindingTable::Reset(const DML_BINDING_TABLE_DESC* desc) {
  return guarded(*this, "Reset", [&] { return reset(desc); });
}

HRESULT BindingTable::reset(const DML_BINDING_TABLE_DESC* desc) {
  if (device().removed()) return device().refuseRemoved();
  parts_.clear();
  inputs_.clear();
  outputs_.clear();
  dispatchable_ = {};
  if (!desc) return S_OK;

  const auto op = Live<CompiledOperator>::find(desc->Dispatchable);
  const auto initializer = Live<Initializer>::find(desc->Dispatchable);
  if (!op && !initializer)
    return device().refuse(E_INVALIDARG, "Dispatchable is not a live compiled operator or initializer of Dimple.");
  if ((op ? &op->device() : &initializer->device()) != &device())
    return device().refuse(E_INVALIDARG, "Dispatchable belongs to another device.");
  const UINT needed = (op ? op->bindingProperties() : initializer->bindingProperties()).RequiredDescriptorCount;
  if (desc->SizeInDescriptors < needed)
    return device().refuse(E_INVALIDARG, cat("SizeInDescriptors has value (", desc->SizeInDescriptors,
                                             "), expected at least ", needed, " (RequiredDescriptorCount)."));
  std::vector<Part> parts;
  if (op) {
    parts.push_back({op, &op->execution(), &op->executionDescriptors(), {}, {}});
  } else {
    for (const auto& each : initializer->operators())
      parts.push_back({each, &each->initialization(), &each->initializationDescriptors(), {}, {}});
  }
  if (const HRESULT result = describe(parts, *desc, needed); FAILED(result)) return result;
  parts_ = std::move(parts);
  initializing_ = !op;
  dispatchable_ = op ? ComPtr<IUnknown>(static_cast<IDMLDispatchable*>(op.get()))
                     : ComPtr<IUnknown>(static_cast<IDMLDispatchable*>(initializer.get()));
  return S_OK;
}

HRESULT BindingTable::describe(std::vector<Part>& parts, const DML_BINDING_TABLE_DESC& desc, UINT needed) {
  if (needed == 0) return S_OK;
  auto range =
      device().native().descriptors(desc.CPUDescriptorHandle, desc.GPUDescriptorHandle, desc.SizeInDescriptors);
  if (!range) return device().refuse(range.error());
  for (Part& part : parts) {
    const uint32_t used = part.descriptors->count();
    if (used == 0) continue;
    auto sets = device().backend().describe(*part.executable, *range);
    if (!sets) return device().refuse(sets.error());
    part.sets = std::move(*sets);
    range->cpuStart += uint64_t{used} * range->increment;
    range->gpuStart += uint64_t{used} * range->increment;
    range->count -= used;
  }
  return S_OK;
}

std::optional<BindingTable::Bound> BindingTable::readBuffer(const Place& place, const DML_BUFFER_BINDING& binding,
                                                            const BindingSlot& slot, bool mayUpload) {
  const auto fail = [&](const auto&... text) -> std::optional<Bound> {
    misuse(cat(place.where(), text...));
    return std::nullopt;
  };
  if (!binding.Buffer) {
    if (slot.bytes == 0) return Bound{};
    return fail(" has a null Buffer, expected a buffer for ", place.subject(), ".");
  }
  if (slot.bytes == 0) return fail(" is a buffer, expected none for ", place.subject(), ".");
  auto native = device().native().buffer(binding.Buffer);
  if (!native) return fail(": ", native.error().text);
  if (native->upload && !mayUpload)
    return fail(": Buffer is in an UPLOAD heap, which only inputs of an initializer may be.");
  if (binding.Offset % slot.alignment != 0)
    return fail(" has Offset (", binding.Offset, "), expected a multiple of ", slot.alignment, ".");
  if (const uint32_t alignment = device().backend().caps().bufferOffsetAlignment; binding.Offset % alignment != 0)
    return fail(" has Offset (", binding.Offset, "), but this device binds buffers at multiples of ", alignment,
                " only.");
  if (binding.SizeInBytes < slot.bytes)
    return fail(" has SizeInBytes (", binding.SizeInBytes, "), expected at least ", slot.bytes, " for ",
                place.subject(), ".");
  if (binding.Offset > native->bytes || binding.SizeInBytes > native->bytes - binding.Offset)
    return fail(" has Offset (", binding.Offset, ") and SizeInBytes (", binding.SizeInBytes,
                "), outside its buffer of ", native->bytes, " bytes.");
  return Bound{*native, binding.Offset, binding.SizeInBytes};
}

std::optional<BindingTable::Bound> BindingTable::readDesc(const Place& place, const DML_BINDING_DESC& binding,
                                                          const BindingSlot& slot) {
  if (slot.unused) return Bound{};
  if (binding.Type == DML_BINDING_TYPE_NONE) {
    if (slot.bytes == 0) return Bound{};
    misuse(cat(place.where(), " has Type (NONE), expected BUFFER for ", place.subject(), "."));
    return std::nullopt;
  }
  if (binding.Type != DML_BINDING_TYPE_BUFFER || !binding.Desc) {
    misuse(cat(place.where(), " has Type (", bindingTypeName(binding.Type), binding.Desc ? "" : ", null Desc",
               "), expected BUFFER or NONE for ", place.subject(), "."));
    return std::nullopt;
  }
  return readBuffer(place, *static_cast<const DML_BUFFER_BINDING*>(binding.Desc), slot);
}

void BindingTable::write(Part& part, SlotKind kind, std::span<const Bound> slots) {
  std::vector<bool>& isBound = part.bound[static_cast<size_t>(kind)];
  isBound.resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].buffer.handle != 0) isBound[i] = true;
  const auto descriptors = part.descriptors->of(kind);
  std::vector<DescriptorWrite> writes;
  writes.reserve(descriptors.size());
  for (const auto& [dispatch, binding, slot, offset, bytes] : descriptors) {
    const Bound& bound = slots[slot];
    if (bound.buffer.handle != 0) writes.push_back({dispatch, binding, bound.buffer, bound.offset + offset, bytes});
  }
  if (writes.empty()) return;
  if (const auto status = part.sets->write(writes); !status) device().removeDevice(status.error());
}

void BindingTable::unbind(SlotKind kind) {
  for (Part& part : parts_) part.bound[static_cast<size_t>(kind)].clear();
}

void BindingTable::bindSlots(const char* method, SlotKind kind, UINT count, const DML_BINDING_DESC* bindings,
                             const std::vector<BindingSlot>& slots) {
  if (count == 0) {
    (kind == SlotKind::Input ? inputs_ : outputs_).clear();
    return unbind(kind);
  }
  if (count != slots.size() || !bindings)
    return misuse(cat(method, " has bindingCount (", count, "), expected ", slots.size(), "."));
  std::vector<Bound> bound;
  bound.reserve(count);
  for (UINT i = 0; i < count; ++i) {
    const auto one = readDesc({method, kind, parts_.front().op.get(), i, i}, bindings[i], slots[i]);
    if (!one) return;
    bound.push_back(*one);
  }
  write(parts_.front(), kind, bound);
  if (!device().debug()) return;
  (kind == SlotKind::Input ? inputs_ : outputs_) = std::move(bound);
  checkOverlaps();
}

void BindingTable::checkOverlaps() {
  const CompiledOperator& op = *parts_.front().op;
  const auto overlap = [](const Bound& a, uint64_t aBytes, const Bound& b, uint64_t bBytes) {
    return a.buffer.handle != 0 && a.buffer.handle == b.buffer.handle && a.offset < b.offset + bBytes &&
           b.offset < a.offset + aBytes;
  };
  const auto warn = [&](size_t output, std::string_view what, Role role, size_t other) {
    const std::string text =
        cat("BindOutputs: bindings[", output, "] (", op.slotName(Role::Output, output), ") overlaps that of ", what,
            " ", op.slotName(role, other), ", expected memory of its own.");
    device().report(DIMPLE_MESSAGE_WARNING, S_OK, text.c_str());
  };
  for (size_t o = 0; o < outputs_.size(); ++o) {
    const BindingSlot& slot = op.outputs()[o];
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const bool inPlace = op.mayAlias(i, o) && inputs_[i].offset == outputs_[o].offset;
      if (!inPlace && overlap(outputs_[o], slot.bytes, inputs_[i], op.inputs()[i].bytes))
        warn(o, "input", Role::Input, i);
    }
    for (size_t other = 0; other < o; ++other)
      if (overlap(outputs_[o], slot.bytes, outputs_[other], op.outputs()[other].bytes))
        warn(o, "output", Role::Output, other);
  }
}

void BindingTable::bindInitializerInputs(UINT count, const DML_BINDING_DESC* bindings) {
  if (count == 0) return unbind(SlotKind::Input);
  if (count != parts_.size() || !bindings)
    return misuse(cat("BindInputs has bindingCount (", count, "), expected ", parts_.size(),
                      ", the number of operators that the initializer initializes."));
  for (UINT i = 0; i < count && !device().removed(); ++i) bindOwned(i, bindings[i]);
}

void BindingTable::bindOwned(UINT operatorIndex, const DML_BINDING_DESC& binding) {
  Part& part = parts_[operatorIndex];
  const auto& slots = part.op->ownedInputs();
  Place place{"BindInputs", SlotKind::Input, part.op.get(), 0, operatorIndex};
  if (binding.Type == DML_BINDING_TYPE_NONE) {
    for (; place.slot < slots.size(); ++place.slot)
      if (slots[place.slot].bytes != 0)
        return misuse(cat(place.where(), " has Type (NONE), expected BUFFER_ARRAY with ", place.subject(), "."));
    return;
  }
  const auto* array = static_cast<const DML_BUFFER_ARRAY_BINDING*>(binding.Desc);
  if (binding.Type != DML_BINDING_TYPE_BUFFER_ARRAY || !array)
    return misuse(
        cat(place.where(), " has Type (", bindingTypeName(binding.Type), "), expected BUFFER_ARRAY or NONE."));
  if (array->BindingCount != slots.size() || (!array->Bindings && !slots.empty()))
    return misuse(cat(place.where(), " has BindingCount (", array->BindingCount, "), expected ", slots.size(), "."));
  std::vector<Bound> bound;
  bound.reserve(slots.size());
  for (UINT k = 0; k < array->BindingCount; ++k) {
    place.slot = k;
    place.element = k;
    const auto one = readBuffer(place, array->Bindings[k], slots[k], true);
    if (!one) return;
    bound.push_back(*one);
  }
  write(part, SlotKind::Input, bound);
}

void BindingTable::bindInitializerOutputs(UINT count, const DML_BINDING_DESC* bindings) {
  if (count == 0) return unbind(SlotKind::Persistent);
  if (count != parts_.size() || !bindings)
    return misuse(cat("BindOutputs has bindingCount (", count, "), expected ", parts_.size(),
                      ", the number of operators that the initializer initializes."));
  for (UINT i = 0; i < count; ++i) {
    const BindingSlot slot{parts_[i].op->plan().persistentBytes, DML_PERSISTENT_BUFFER_ALIGNMENT};
    const auto bound = readDesc({"BindOutputs", SlotKind::Persistent, nullptr, 0, i}, bindings[i], slot);
    if (!bound) return;
    write(parts_[i], SlotKind::Persistent, {&*bound, 1});
  }
}

// Operators are initialized without barriers between them, so that each has a part of its own.
void BindingTable::bindInitializerTemporary(const DML_BINDING_DESC* binding) {
  if (!binding || binding->Type == DML_BINDING_TYPE_NONE) return unbind(SlotKind::Temporary);
  BindingSlot slot{0, DML_TEMPORARY_BUFFER_ALIGNMENT};
  for (const Part& part : parts_) slot.bytes += part.op->plan().initializationBytes;
  if (slot.bytes == 0) return;  // whatever is bound
  auto bound = readDesc({"BindTemporaryResource", SlotKind::Temporary}, *binding, slot);
  if (!bound) return;
  for (Part& part : parts_) {
    write(part, SlotKind::Temporary, {&*bound, 1});
    bound->offset += part.op->plan().initializationBytes;
  }
}

void BindingTable::bindResource(const char* method, SlotKind kind, uint64_t needed, const DML_BINDING_DESC* binding) {
  if (!binding || binding->Type == DML_BINDING_TYPE_NONE) return unbind(kind);
  const BindingSlot slot{
      needed, kind == SlotKind::Temporary ? DML_TEMPORARY_BUFFER_ALIGNMENT : DML_PERSISTENT_BUFFER_ALIGNMENT};
  const auto bound = readDesc({method, kind}, *binding, slot);
  if (bound) write(parts_.front(), kind, {&*bound, 1});
}

void BindingTable::BindInputs(UINT count, const DML_BINDING_DESC* bindings) {
  binding("BindInputs", [&] {
    if (initializing_)
      bindInitializerInputs(count, bindings);
    else
      bindSlots("BindInputs", SlotKind::Input, count, bindings, parts_.front().op->inputs());
  });
}

void BindingTable::BindOutputs(UINT count, const DML_BINDING_DESC* bindings) {
  binding("BindOutputs", [&] {
    if (initializing_)
      bindInitializerOutputs(count, bindings);
    else
      bindSlots("BindOutputs", SlotKind::Output, count, bindings, parts_.front().op->outputs());
  });
}

void BindingTable::BindTemporaryResource(const DML_BINDING_DESC* desc) {
  binding("BindTemporaryResource", [&] {
    if (initializing_)
      bindInitializerTemporary(desc);
    else
      bindResource("BindTemporaryResource", SlotKind::Temporary, parts_.front().op->plan().temporaryBytes, desc);
  });
}

void BindingTable::BindPersistentResource(const DML_BINDING_DESC* desc) {
  binding("BindPersistentResource", [&] {
    if (!initializing_)
      bindResource("BindPersistentResource", SlotKind::Persistent, parts_.front().op->plan().persistentBytes, desc);
    else if (desc && desc->Type != DML_BINDING_TYPE_NONE)
      misuse(
          "BindPersistentResource binds a buffer to an initializer, which has none; its outputs are the persistent "
          "resources.");
  });
}

std::optional<std::string> BindingTable::unbound() const {
  static constexpr std::string_view kKinds[kSlotKinds] = {"input", "output", "the temporary resource",
                                                          "the persistent resource"};
  for (const Part& part : parts_)
    for (const SlotKind kind : {SlotKind::Input, SlotKind::Output, SlotKind::Temporary, SlotKind::Persistent}) {
      const auto index = static_cast<size_t>(kind);
      for (const auto& descriptor : part.descriptors->of(kind)) {
        const uint32_t slot = descriptor.slot;
        if (slot < part.bound[index].size() && part.bound[index][slot]) continue;
        return kind == SlotKind::Input || kind == SlotKind::Output ? cat(kKinds[index], " ", slot)
                                                                   : std::string(kKinds[index]);
      }
    }
  return std::nullopt;
}

}  // namespace dimple::api
