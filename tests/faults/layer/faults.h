// What the layer offers beside Vulkan: exported functions, for a program that opens the library itself, and environment
// variables for programs that know nothing of it:
//
//   DIMPLE_FAULTS="vkQueueSubmit 3 VK_ERROR_DEVICE_LOST"   what dimpleFaultsArm would be called with
//   DIMPLE_FAULTS_REPORT=FILE                              the report, written when the process ends
#pragma once

#include <cstdint>

extern "C" {

// From now on: the `call`-th call of `function` answers `result` and does nothing. After VK_ERROR_DEVICE_LOST every
// later call on that device answers it, too; with a "+" behind the result, every later call of anything does, until the
// next call of this function. Counts begin anew; a null function leaves all calls alone. False for a
// function or a result that the layer does not know.
bool dimpleFaultsArm(const char* function, uint32_t call, const char* result);

// Lines, valid until the next call:
//   reached NAME COUNT   how often a function was called since it was armed
//   live OBJECT COUNT    objects that were created and not destroyed, of all time
//   injected             the armed call was made
//   misuse SENTENCE      what no program may do, such as destroying an object twice
const char* dimpleFaultsReport();

using DimpleFaultsArm = bool (*)(const char*, uint32_t, const char*);
using DimpleFaultsReport = const char* (*)();
}
