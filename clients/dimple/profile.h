// Times of kernels, gathered from the context.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "clients/dimple/device.h"

namespace dimple::tool {

struct KernelTime {
  std::string kernel;
  double begin;  // in nanoseconds, from that of the first kernel of the device
  double nanoseconds;
};

// The kernels that executed since the last call, in order.
std::vector<KernelTime> readProfile(const Device& device);

// Prints one row per kernel, the most expensive first.
void printProfile(const std::vector<KernelTime>& times);

}  // namespace dimple::tool
