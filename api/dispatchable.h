// What a binding table binds and a recorder records: compiled operators and initializers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/device.h"
#include "api/dispatch_descriptors.h"
#include "core/compile.h"

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

class Operator final : public DeviceChild<IDMLOperator> {
 public:
  Operator(Device& device, Operation operation)
      : DeviceChild(device), operation_(std::make_shared<const Operation>(std::move(operation))) {}
  const std::shared_ptr<const Operation>& operation() const { return operation_; }

 private:
  ~Operator() override = default;
  const std::shared_ptr<const Operation> operation_;
  const Live<Operator> live_{this};
};

class CompiledOperator final : public DeviceChild<IDMLCompiledOperator, IDMLDispatchable, IDMLPageable> {
 public:
  // `op`, which it keeps alive as the original does, is null for a graph.
  CompiledOperator(Device& device, Operator* op, Compiled compiled, DML_EXECUTION_FLAGS flags,
                   std::unique_ptr<Executable> initialization, std::unique_ptr<Executable> execution);

  DML_BINDING_PROPERTIES bindingProperties() const;
  const Plan& plan() const { return compiled_.plan; }
  bool volatileDescriptors() const { return (flags_ & DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE) != 0; }
  const Executable& initialization() const { return *initialization_; }
  const Executable& execution() const { return *execution_; }
  const DispatchDescriptors& initializationDescriptors() const { return initializationDescriptors_; }
  const DispatchDescriptors& executionDescriptors() const { return executionDescriptors_; }
  const std::vector<BindingSlot>& inputs() const { return compiled_.inputs; }
  const std::vector<BindingSlot>& outputs() const { return compiled_.outputs; }
  const std::vector<BindingSlot>& ownedInputs() const { return compiled_.ownedInputs; }
  // Its name in messages and markers.
  std::string label();
  std::string slotName(Role role, size_t index) const { return compiled_.slotName(role, index); }
  bool mayAlias(size_t input, size_t output) const { return compiled_.mayAlias(input, output); }

 private:
  ~CompiledOperator() override;
  DIMPLE_DECLARE_BINDING_PROPERTIES(CompiledOperator)
  const ComPtr<Operator> operator_;
  const Compiled compiled_;
  const DML_EXECUTION_FLAGS flags_;
  const std::unique_ptr<Executable> initialization_, execution_;
  const DispatchDescriptors initializationDescriptors_, executionDescriptors_;
  const Live<CompiledOperator> live_{this};
};

class Initializer final : public DeviceChild<IDMLOperatorInitializer, IDMLDispatchable, IDMLPageable> {
 public:
  explicit Initializer(Device& device) : DeviceChild(device) {}

  DML_BINDING_PROPERTIES bindingProperties() const;
  // Also works when the device is removed, as in the original, since it does not need the device.
  HRESULT STDMETHODCALLTYPE Reset(UINT operatorCount, IDMLCompiledOperator* const* operators) override;
  // Does the same without a guard.
  HRESULT reset(UINT operatorCount, IDMLCompiledOperator* const* operators);

  const std::vector<ComPtr<CompiledOperator>>& operators() const { return operators_; }

 private:
  ~Initializer() override;
  DIMPLE_DECLARE_BINDING_PROPERTIES(Initializer)
  std::vector<ComPtr<CompiledOperator>> operators_;
  const Live<Initializer> live_{this};
};

}  // namespace dimple::api
