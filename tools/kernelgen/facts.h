// What the cache keeps of a kernel beside its code, as text.
#pragma once

#include <cstdint>
#include <string>

#include "tools/kernelgen/enums.h"
#include "tools/kernelgen/reflect.h"

namespace kernelgen {

struct Facts {
  Interface interface;
  uint32_t features = 0;
  OperatorCases operatorCases;
  double cpuSeconds = 0;
};

std::string toText(const Facts& facts);

// Reads what toText wrote.
Facts parseFacts(const std::string& text);

}  // namespace kernelgen
