// IDMLCommandRecorder.
#pragma once

#include "api/device.h"

namespace dimple::api {

class CommandRecorder final : public DeviceChild<IDMLCommandRecorder> {
 public:
  explicit CommandRecorder(Device& device) : DeviceChild(device) {}
  void STDMETHODCALLTYPE RecordDispatch(ID3D12CommandList* commandList, IDMLDispatchable* dispatchable,
                                        IDMLBindingTable* bindings) override;

 private:
  void record(ID3D12CommandList* commandList, IDMLDispatchable* dispatchable, IDMLBindingTable* bindings);
};

}  // namespace dimple::api
