// 64-bit arithmetic that detects overflow. Each function returns false and leaves `result` unspecified if it overflows.
#pragma once

#include <cstdint>

namespace dimple {

constexpr bool checkedAdd(uint64_t a, uint64_t b, uint64_t& result) {
  result = a + b;
  return result >= a;
}

constexpr bool checkedMultiply(uint64_t a, uint64_t b, uint64_t& result) {
  result = a * b;
  return b == 0 || result / b == a;
}

constexpr uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}
constexpr uint64_t divideUp(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

}  // namespace dimple
