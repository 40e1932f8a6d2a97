// IDMLBindingTable: checks bindings and writes the descriptors of the dispatches that use them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/device.h"
#include "api/dispatchable.h"

namespace dimple::api {

class BindingTable final : public DeviceChild<IDMLBindingTable> {
 public:
  explicit BindingTable(Device& device) : DeviceChild(device) {}

  void STDMETHODCALLTYPE BindInputs(UINT count, const DML_BINDING_DESC* bindings) override;
  void STDMETHODCALLTYPE BindOutputs(UINT count, const DML_BINDING_DESC* bindings) override;
  void STDMETHODCALLTYPE BindTemporaryResource(const DML_BINDING_DESC* binding) override;
  void STDMETHODCALLTYPE BindPersistentResource(const DML_BINDING_DESC* binding) override;
  HRESULT STDMETHODCALLTYPE Reset(const DML_BINDING_TABLE_DESC* desc) override;

  // One compiled operator's dispatches and their descriptors.
  struct Part {
    const CompiledOperator* op = nullptr;
    const Executable* executable = nullptr;
    std::span<const Dispatch> dispatches;
    std::unique_ptr<DescriptorSets> sets;
    std::vector<bool> written;  // one a descriptor, in order of dispatch and binding
  };

  const IUnknown* dispatchable() const { return dispatchable_.get(); }
  std::span<const Part> parts() const { return parts_; }
  // What is still to be bound before work can execute; no value if nothing is.
  std::optional<std::string> unbound() const;

 private:
  struct Bound {
    NativeBuffer buffer;
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };

  ~BindingTable() override = default;
  void misuse(const std::string& text);
  bool usable();
  void addPart(const CompiledOperator& op, const Executable& executable, std::span<const Dispatch> dispatches);
  // Reads one buffer binding for a slot; no value after misuse. A null buffer where none is needed gives handle 0.
  std::optional<Bound> readBuffer(const std::string& where, const DML_BUFFER_BINDING& binding, const BindingSlot& slot,
                                  bool mayUpload = false);
  std::optional<Bound> readDesc(const std::string& where, const DML_BINDING_DESC& binding, const BindingSlot& slot);
  void bindSlots(const char* what, SlotKind kind, UINT count, const DML_BINDING_DESC* bindings,
                 const std::vector<BindingSlot>& slots);
  void bindInitializerInputs(UINT count, const DML_BINDING_DESC* bindings);
  void bindInitializerTemporary(const DML_BINDING_DESC* binding);
  void bindInitializerOutputs(UINT count, const DML_BINDING_DESC* bindings);
  void bindResource(const char* what, SlotKind kind, uint64_t needed, const DML_BINDING_DESC* binding);
  void unbind(SlotKind kind);
  // On a debug device: warns of outputs that overlap other tensors where the operator has no defined result.
  void checkOverlaps();
  // Writes every descriptor of the part that refers to a slot of this kind; `slots` has what is bound to each of them.
  void write(Part& part, SlotKind kind, std::span<const Bound> slots);

  ComPtr<IUnknown> dispatchable_;
  bool initializing_ = false;
  std::vector<Part> parts_;
  std::vector<Bound> inputs_, outputs_;  // of an operator, on a debug device
  const Live<BindingTable> live_{this};
};

}  // namespace dimple::api
