// What two back ends computed, element by element.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/data_type.h"

namespace dimple::tool {

// Units in the last place count representable values between the two, for integers all that there are. A NaN differs
// from a number by infinity, and from another NaN not at all.
struct Difference {
  size_t elements = 0;
  size_t differing = 0;  // a zero of the other sign counts
  double ulp = 0;        // the largest one
  double absolute = 0;   // the largest one, wherever it is
  // Where `ulp` is: coordinates, and both elements. Empty if nothing differs.
  std::vector<uint32_t> coordinates;
  std::string first, second;
};

// Both memories begin where the tensor does.
Difference compareTensors(const DML_BUFFER_TENSOR_DESC& tensor, const std::byte* first, const std::byte* second);

}  // namespace dimple::tool
