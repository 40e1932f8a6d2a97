#include "api/dispatchable.h"

#include "core/text.h"

namespace dimple::api {

CompiledOperator::CompiledOperator(Device& device, Operator* op, Compiled compiled, DML_EXECUTION_FLAGS flags,
                                   std::unique_ptr<Executable> initialization, std::unique_ptr<Executable> execution)
    : DeviceChild(device),
      operator_(op),
      compiled_(std::move(compiled)),
      flags_(flags),
      initialization_(std::move(initialization)),
      execution_(std::move(execution)),
      initializationDescriptors_(plan().initialization),
      executionDescriptors_(plan().execution) {}
CompiledOperator::~CompiledOperator() = default;

DML_BINDING_PROPERTIES CompiledOperator::bindingProperties() const {
  return {executionDescriptors_.count(), plan().temporaryBytes, plan().persistentBytes};
}
DIMPLE_DEFINE_BINDING_PROPERTIES(CompiledOperator)

std::string CompiledOperator::label() {
  const std::string name = privateData_.name();
  return name.empty() ? compiled_.name : cat(name, " (", compiled_.name, ")");
}

Initializer::~Initializer() = default;

DML_BINDING_PROPERTIES Initializer::bindingProperties() const {
  UINT count = 0;
  UINT64 temporary = 0;
  for (const auto& op : operators_) {
    count += op->initializationDescriptors().count();
    temporary += op->plan().initializationBytes;
  }
  return {count, temporary, 0};
}
DIMPLE_DEFINE_BINDING_PROPERTIES(Initializer)

HRESULT Initializer::Reset(UINT operatorCount, IDMLCompiledOperator* const* operators) {
  return guarded(*this, "Reset", [&] { return reset(operatorCount, operators); });
}

HRESULT Initializer::reset(UINT operatorCount, IDMLCompiledOperator* const* operators) {
  if (operatorCount != 0 && !operators)
    return device().refuse(E_INVALIDARG, cat("operators is null, expected ", operatorCount, " compiled operators."));
  std::vector<ComPtr<CompiledOperator>> next;
  uint64_t descriptors = 0;
  for (UINT i = 0; i < operatorCount; ++i) {
    auto op = Live<CompiledOperator>::find(operators[i]);
    if (!op) return device().refuse(E_INVALIDARG, cat("operators[", i, "] is not a live compiled Dimple operator."));
    if (&op->device() != &device())
      return device().refuse(E_INVALIDARG, cat("operators[", i, "] belongs to another device."));
    descriptors += op->initializationDescriptors().count();
    next.push_back(std::move(op));
  }
  if (descriptors > UINT32_MAX)
    return device().refuse(E_INVALIDARG, cat("operators take ", descriptors,
                                             " descriptors to initialize, expected at "
                                             "most ",
                                             UINT32_MAX, "."));
  operators_ = std::move(next);
  return S_OK;
}

}  // namespace dimple::api
