// A made-up device for plans.
#pragma once

#include "core/caps.h"

namespace dimple::testing {

// Large, and its subgroups multiply matrices.
inline Caps capsOfMatrices() {
  Caps caps;
  caps.features = ~0u;
  caps.sharedBytes = 49152;
  caps.subgroupSize = 32;
  caps.matrices = {16, 16, 16};
  caps.matrixHalves = true;
  caps.fixesParameters = true;
  return caps;
}

// ... of 8-bit integers, too, in workgroups of any size.
inline Caps capsOfAllMatrices() {
  Caps caps = capsOfMatrices();
  caps.integerMatrices = {16, 16, 32};
  caps.maxInvocations = 1024;
  return caps;
}

}  // namespace dimple::testing
