#include "api/dispatchable.h"

#include "core/text.h"

namespace dimple::api {

OperatorSlots slotsOf(const OpView& view) {
  OperatorSlots slots;
  const auto slotOf = [](const std::string& name, const Tensor& tensor, bool bound) {
    return TensorSlot{name, bound && tensor.present() ? tensor.totalBytes : 0, tensor.baseAlignment};
  };
  for (size_t i = 0; i < view.inputs().size(); ++i) {
    slots.inputs.push_back(slotOf(view.inputName(i), view.input(i), !view.input(i).ownedByDml));
    slots.ownedInputs.push_back(slotOf(view.inputName(i), view.input(i), view.input(i).ownedByDml));
  }
  for (size_t o = 0; o < view.outputs().size(); ++o)
    slots.outputs.push_back(slotOf(view.outputName(o), view.output(o), true));
  for (size_t i = 0; i < view.inputs().size(); ++i)
    for (size_t o = 0; o < view.outputs().size(); ++o) slots.aliases.push_back(mayAlias(view, i, o));
  return slots;
}

OperatorSlots slotsOf(const GraphPlan& graph) {
  OperatorSlots slots;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphSlot& input = graph.inputs[i];
    const std::string name = cat("graph input ", i);
    slots.inputs.push_back({name, input.ownedByDml ? 0 : input.bytes, input.alignment, input.bytes == 0});
    slots.ownedInputs.push_back({name, input.ownedByDml ? input.bytes : 0, input.alignment});
  }
  for (size_t o = 0; o < graph.outputs.size(); ++o)
    slots.outputs.push_back(
        {cat("graph output ", o), graph.outputs[o].bytes, graph.outputs[o].alignment, graph.outputs[o].bytes == 0});
  slots.aliases.resize(slots.inputs.size() * slots.outputs.size());
  return slots;
}

CompiledOperator::CompiledOperator(Device& device, std::string kind, OperatorSlots slots, Plan plan,
                                   DML_EXECUTION_FLAGS flags, std::unique_ptr<Executable> initialization,
                                   std::unique_ptr<Executable> execution)
    : DeviceChild(device),
      kind_(std::move(kind)),
      slots_(std::move(slots)),
      plan_(std::move(plan)),
      flags_(flags),
      initialization_(std::move(initialization)),
      execution_(std::move(execution)) {}
CompiledOperator::~CompiledOperator() = default;

DML_BINDING_PROPERTIES CompiledOperator::bindingProperties() const {
  return {Plan::descriptorCount(plan_.execution), plan_.temporaryBytes, plan_.persistentBytes};
}
DIMPLE_DEFINE_BINDING_PROPERTIES(CompiledOperator)

std::string CompiledOperator::label() {
  const std::string name = privateData_.name();
  return name.empty() ? kind_ : cat(name, " (", kind_, ")");
}

Initializer::~Initializer() = default;

DML_BINDING_PROPERTIES Initializer::bindingProperties() const {
  UINT count = 0;
  UINT64 temporary = 0;
  for (const auto& op : operators_) {
    count += Plan::descriptorCount(op->plan().initialization);
    temporary += op->plan().initializationBytes;
  }
  return {count, temporary, 0};
}
DIMPLE_DEFINE_BINDING_PROPERTIES(Initializer)

HRESULT Initializer::Reset(UINT operatorCount, IDMLCompiledOperator* const* operators) {
  if (device().removed()) return DXGI_ERROR_DEVICE_REMOVED;
  if (operatorCount != 0 && !operators)
    return device().refuse(E_INVALIDARG, cat("operators is null, expected ", operatorCount, " compiled operators."));
  std::vector<ComPtr<CompiledOperator>> next;
  for (UINT i = 0; i < operatorCount; ++i) {
    CompiledOperator* op = Live<CompiledOperator>::find(operators[i]);
    if (!op) return device().refuse(E_INVALIDARG, cat("operators[", i, "] is no live compiled operator of Dimple."));
    if (&op->device() != &device())
      return device().refuse(E_INVALIDARG, cat("operators[", i, "] belongs to another device."));
    next.emplace_back(op);
  }
  operators_ = std::move(next);
  return S_OK;
}

}  // namespace dimple::api
