// The driver whose calls fail: what fault_scenarios has to know of Vulkan's or Direct3D 12's. A program has one of
// them.
#pragma once

#include <dimple.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dimple::testing {

struct Fault {
  std::string scenario, function, result;
  uint32_t call = 0;
};

// Before anything else; false: it cannot be opened.
bool openDriver();
// As in layer/faults.h.
bool armDriver(const char* function, uint32_t call, const char* result);
std::string driverReport();

DimpleBackend driverBackend();
// The line of a report about an object that stays until the process ends; empty: none does.
std::string stayingObject();
// What the next device is to do; it is tried after every failure.
std::string nextScenario();
bool isLoss(const Fault& fault);
// Failures that need not show: there is another way, or nothing but time is lost.
bool mayRecover(const Fault& fault);
// What the program is told, unless the device is lost.
HRESULT expectedOf(const Fault& fault);
// One of which a refusal has to name, where a function failed.
std::vector<std::string> namesOf(const Fault& fault);

}  // namespace dimple::testing
