// How reductions and scans are spread over a device.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/checked.h"
#include "core/tensor.h"

namespace dimple {

// How the elements of one reduction, or of one row of a scan, are spread.
struct Spread {
  bool row;           // a workgroup a task, else an invocation
  uint32_t chunks;    // tasks an output or row
  uint32_t perChunk;  // elements a task
};

// Whether elements that differ in the dimensions of a mask lie closer than those that differ in the others.
inline bool areDense(const Tensor& x, uint32_t mask) {
  std::array<uint32_t, 2> smallest{UINT32_MAX, UINT32_MAX};
  for (uint32_t d = 0; d < x.rank; ++d)
    if (x.sizes[d] > 1) smallest[mask >> d & 1] = std::min(smallest[mask >> d & 1], x.strides[d]);
  return smallest[1] <= smallest[0];
}

// Rows suit elements that lie beside each other, columns outputs that do. Chunks fill the device where outputs are few.
// Vectors of outputs keep as many loads under way in fewer invocations.
inline Spread spreadOf(uint64_t outputs, uint64_t elements, bool elementsAreDense, bool vectors = false) {
  constexpr uint64_t kRowElements = 64;          // below, a workgroup's tree costs more than it saves
  constexpr uint64_t kRowTasks = 2048;           // workgroups that fill a device
  constexpr uint64_t kColumnTasks = 512 * 1024;  // invocations that do
  constexpr uint64_t kVectorTasks = 128 * 1024;  // the same of vectors
  constexpr uint64_t kRowChunk = 8192;           // elements worth a workgroup
  constexpr uint64_t kColumnChunk = 128;         // elements worth an invocation
  const bool row = elementsAreDense && elements >= kRowElements;
  const uint64_t wanted = divideUp(elements, row ? kRowChunk : kColumnChunk);
  const uint64_t most = std::max<uint64_t>(1, (row ? kRowTasks : vectors ? kVectorTasks : kColumnTasks) / outputs);
  const uint64_t perChunk = divideUp(elements, std::min(wanted, most));
  return {row, static_cast<uint32_t>(divideUp(elements, perChunk)), static_cast<uint32_t>(perChunk)};
}

}  // namespace dimple
