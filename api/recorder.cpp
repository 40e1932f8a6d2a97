#include "api/recorder.h"

#include "api/binding_table.h"
#include "api/dispatchable.h"
#include "core/text.h"

namespace dimple::api {

void CommandRecorder::RecordDispatch(ID3D12CommandList* commandList, IDMLDispatchable* dispatchable,
                                     IDMLBindingTable* bindings) {
  removing(device(), "RecordDispatch", [&] {
    if (!device().removed()) record(commandList, dispatchable, bindings);
  });
}

void CommandRecorder::record(ID3D12CommandList* commandList, IDMLDispatchable* dispatchable,
                             IDMLBindingTable* bindings) {
  const auto misuse = [this](const std::string& text) { device().removeDevice(DXGI_ERROR_DEVICE_REMOVED, text); };
  const auto list = device().native().commandList(commandList);
  if (!list) return misuse(cat("RecordDispatch: ", list.error().text));
  const auto table = Live<BindingTable>::find(bindings);
  if (!table) return misuse("RecordDispatch: bindings is not a live Dimple binding table.");
  const auto op = Live<CompiledOperator>::find(dispatchable);
  if (!op && !Live<Initializer>::find(dispatchable))
    return misuse("RecordDispatch: dispatchable is not a live compiled operator or initializer of Dimple.");
  if (&table->device() != &device()) return misuse("RecordDispatch: bindings belongs to another device.");
  if (table->dispatchable() != static_cast<IUnknown*>(dispatchable))
    return misuse("RecordDispatch: bindings was created for another dispatchable.");
  if (!op || !op->volatileDescriptors())
    if (const auto missing = table->unbound())
      return misuse(cat("RecordDispatch: ", *missing,
                        " is not bound, and the operator was compiled without "
                        "DESCRIPTORS_VOLATILE."));
  for (const auto& part : table->parts())
    if (part.sets)
      device().backend().record(*list, *part.executable, *part.sets,
                                op ? op->label() : cat("initialize ", part.op->label()));
}

}  // namespace dimple::api
