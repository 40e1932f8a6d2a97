// IDMLBindingTable: checks bindings and writes the descriptors of the dispatches that use them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/device.h"
#include "api/dispatchable.h"

namespace dimple::api {

class BindingTable final : public DeviceChild<IDMLBindingTable> {
 public:
  explicit BindingTable(Device& device) : DeviceChild(device) {}

  void STDMETHODCALLTYPE BindInputs(UINT count, const DML_BINDING_DESC* bindings) override;
  void STDMETHODCALLTYPE BindOutputs(UINT count, const DML_BINDING_DESC* bindings) override;
  void STDMETHODCALLTYPE BindTemporaryResource(const DML_BINDING_DESC* desc) override;
  void STDMETHODCALLTYPE BindPersistentResource(const DML_BINDING_DESC* desc) override;
  HRESULT STDMETHODCALLTYPE Reset(const DML_BINDING_TABLE_DESC* desc) override;
  // Does the same without a guard. If it refuses, the table is left without a dispatchable.
  HRESULT reset(const DML_BINDING_TABLE_DESC* desc);

  // What is bound to one compiled operator. It keeps the operator, which an initializer may drop.
  struct Part {
    ComPtr<CompiledOperator> op;
    const Executable* executable = nullptr;
    const DispatchDescriptors* descriptors = nullptr;
    std::unique_ptr<DescriptorSets> sets;             // null: there is no dispatch
    std::array<std::vector<bool>, kSlotKinds> bound;  // slots; those behind the last are not
  };

  const IUnknown* dispatchable() const { return dispatchable_.get(); }
  std::span<const Part> parts() const { return parts_; }
  // Says what must still be bound before work can execute; no value if nothing is missing.
  std::optional<std::string> unbound() const;

 private:
  struct Bound {
    NativeBuffer buffer;
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  // A place in the arguments of a method and the slot that is bound there, as messages name them.
  struct Place {
    const char* method;
    SlotKind kind;
    const CompiledOperator* op = nullptr;  // of an input or output
    size_t slot = 0;
    std::optional<UINT> binding{}, element{};

    std::string where() const;    // "BindInputs: bindings[1].Bindings[2]"
    std::string subject() const;  // "ATensor", "the temporary resource"
  };

  ~BindingTable() override = default;
  void misuse(const std::string& text);
  bool usable();
  // Runs the body of a method that binds.
  template <class Bind>
  void binding(const char* method, Bind bind);
  // Gives the descriptors of all parts their places in the caller's range.
  HRESULT describe(std::vector<Part>& parts, const DML_BINDING_TABLE_DESC& desc, UINT needed);
  // Reads one buffer binding for a slot; no value after misuse. A null buffer where none is needed gives handle 0.
  std::optional<Bound> readBuffer(const Place& place, const DML_BUFFER_BINDING& binding, const BindingSlot& slot,
                                  bool mayUpload = false);
  std::optional<Bound> readDesc(const Place& place, const DML_BINDING_DESC& binding, const BindingSlot& slot);
  void bindSlots(const char* method, SlotKind kind, UINT count, const DML_BINDING_DESC* bindings,
                 const std::vector<BindingSlot>& slots);
  void bindInitializerInputs(UINT count, const DML_BINDING_DESC* bindings);
  void bindOwned(UINT operatorIndex, const DML_BINDING_DESC& binding);
  void bindInitializerTemporary(const DML_BINDING_DESC* binding);
  void bindInitializerOutputs(UINT count, const DML_BINDING_DESC* bindings);
  void bindResource(const char* method, SlotKind kind, uint64_t needed, const DML_BINDING_DESC* binding);
  void unbind(SlotKind kind);
  // On a debug device: warns of outputs that overlap other tensors if the operator then has no defined result.
  void checkOverlaps();
  // Writes every descriptor of the part that refers to a slot of this kind; `slots` has what is bound to each of them.
  // A slot without a buffer keeps the one that it has.
  void write(Part& part, SlotKind kind, std::span<const Bound> slots);

  ComPtr<IUnknown> dispatchable_;
  bool initializing_ = false;
  std::vector<Part> parts_;
  std::vector<Bound> inputs_, outputs_;  // of an operator, on a debug device
  const Live<BindingTable> live_{this};
};

}  // namespace dimple::api
