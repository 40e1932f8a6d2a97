// A DirectML device that executes nothing: the API and core without a driver.
#pragma once

#include <dimple.h>

#include <wrl/client.h>

#include <string>
#include <vector>

#include "core/caps.h"

namespace dimple::testing {

// All features, unless `caps` says otherwise. Any non-null pointer is a buffer or a command list of it.
Microsoft::WRL::ComPtr<IDMLDevice> createNullDevice(const Caps& caps,
                                                    DML_CREATE_DEVICE_FLAGS flags = DML_CREATE_DEVICE_FLAG_NONE);
Microsoft::WRL::ComPtr<IDMLDevice> createNullDevice(DML_CREATE_DEVICE_FLAGS flags = DML_CREATE_DEVICE_FLAG_NONE);

// Appends the texts of the device's messages to `heard`, which must outlive the device.
void hearMessages(IDMLDevice& device, std::vector<std::string>& heard);

}  // namespace dimple::testing
