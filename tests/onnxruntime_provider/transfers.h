// What passes between the host's memory and the device's in this process. The test program stands between the provider
// and the library: it has a dimpleCreateContext of its own, which the dynamic linker finds first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dimple::testing {

struct Transfers {
  size_t uploads = 0;
  size_t downloads = 0;
  uint64_t bytes = 0;  // of both

  bool operator==(const Transfers&) const = default;
};

// Since the last call.
Transfers takeTransfers();

struct QueueCalls {
  size_t executions = 0;
  size_t waits = 0;         // for a list that was executed
  size_t waitsForLast = 0;  // of these, for the last one, after which the device has nothing to do

  bool operator==(const QueueCalls&) const = default;
};

// Since the last call.
QueueCalls takeQueueCalls();

// Bytes of the buffers that were made since the last call.
uint64_t takeBufferBytes();

}  // namespace dimple::testing
