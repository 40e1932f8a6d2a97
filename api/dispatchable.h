// What a binding table binds and a recorder records: compiled operators and initializers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/device.h"
#include "core/desc_copy.h"
#include "core/graph_plan.h"
#include "core/op_view.h"
#include "core/plan.h"

// How a class with bindingProperties() implements GetBindingProperties. MSVC passes the pointer to the result after
// `this`, g++ before it; where they differ, the method's slot gets a function of MSVC's convention. It must be declared
// behind the destructor: the first virtual function of a class that is not inline must be defined in C++.
#ifdef DIMPLE_RETURNS_BY_POINTER
#define DIMPLE_DECLARE_BINDING_PROPERTIES(Class)                                                      \
  DML_BINDING_PROPERTIES STDMETHODCALLTYPE GetBindingProperties() override __asm__("dimple" #Class    \
                                                                                   "BindingPropertie" \
                                                                                   "s");
#define DIMPLE_DEFINE_BINDING_PROPERTIES(Class)                                          \
  extern "C" DML_BINDING_PROPERTIES* STDMETHODCALLTYPE dimple##Class##BindingProperties( \
      IDMLDispatchable* self, DML_BINDING_PROPERTIES* result) {                          \
    *result = static_cast<Class*>(self)->bindingProperties();                            \
    return result;                                                                       \
  }
#else
#define DIMPLE_DECLARE_BINDING_PROPERTIES(Class) \
  DML_BINDING_PROPERTIES STDMETHODCALLTYPE GetBindingProperties() override;
#define DIMPLE_DEFINE_BINDING_PROPERTIES(Class) \
  DML_BINDING_PROPERTIES Class::GetBindingProperties() { return bindingProperties(); }
#endif

namespace dimple::api {

// One input or output that a binding table must bind.
struct TensorSlot {
  std::string name;
  uint64_t bytes = 0;  // TotalTensorSizeInBytes; 0: must be bound as NONE
  uint32_t alignment = 16;
  bool unused = false;  // nothing looks at it, whatever is bound
};

class Operator final : public DeviceChild<IDMLOperator> {
 public:
  // `desc` has passed validation.
  Operator(Device& device, const DML_OPERATOR_DESC& desc) : DeviceChild(device), desc_(desc) {}
  const OwnedDesc& desc() const { return desc_; }

 private:
  ~Operator() override = default;
  const OwnedDesc desc_;
  const Live<Operator> live_{this};
};

// What binding a compiled operator takes, in binding order.
struct OperatorSlots {
  std::vector<TensorSlot> inputs, outputs;  // at execution
  std::vector<TensorSlot> ownedInputs;      // at initialization: those owned by DML
  std::vector<bool> aliases;                // of each input with each output: the one may lie exactly on the other
};
OperatorSlots slotsOf(const OpView& view);
OperatorSlots slotsOf(const GraphPlan& graph);

class CompiledOperator final : public DeviceChild<IDMLCompiledOperator, IDMLDispatchable, IDMLPageable> {
 public:
  // `kind` names it in messages and markers where the caller gave no name.
  CompiledOperator(Device& device, std::string kind, OperatorSlots slots, Plan plan, DML_EXECUTION_FLAGS flags,
                   std::unique_ptr<Executable> initialization, std::unique_ptr<Executable> execution);

  DML_BINDING_PROPERTIES bindingProperties() const;
  const Plan& plan() const { return plan_; }
  bool volatileDescriptors() const { return (flags_ & DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE) != 0; }
  const Executable& initialization() const { return *initialization_; }
  const Executable& execution() const { return *execution_; }
  const std::vector<TensorSlot>& inputs() const { return slots_.inputs; }
  const std::vector<TensorSlot>& outputs() const { return slots_.outputs; }
  const std::vector<TensorSlot>& ownedInputs() const { return slots_.ownedInputs; }
  std::string label();
  bool mayAlias(size_t input, size_t output) const { return slots_.aliases[input * slots_.outputs.size() + output]; }

 private:
  ~CompiledOperator() override;
  DIMPLE_DECLARE_BINDING_PROPERTIES(CompiledOperator)
  const std::string kind_;
  const OperatorSlots slots_;
  const Plan plan_;
  const DML_EXECUTION_FLAGS flags_;
  const std::unique_ptr<Executable> initialization_, execution_;
  const Live<CompiledOperator> live_{this};
};

class Initializer final : public DeviceChild<IDMLOperatorInitializer, IDMLDispatchable, IDMLPageable> {
 public:
  explicit Initializer(Device& device) : DeviceChild(device) {}

  DML_BINDING_PROPERTIES bindingProperties() const;
  HRESULT STDMETHODCALLTYPE Reset(UINT operatorCount, IDMLCompiledOperator* const* operators) override;

  const std::vector<ComPtr<CompiledOperator>>& operators() const { return operators_; }

 private:
  ~Initializer() override;
  DIMPLE_DECLARE_BINDING_PROPERTIES(Initializer)
  std::vector<ComPtr<CompiledOperator>> operators_;
  const Live<Initializer> live_{this};
};

}  // namespace dimple::api
