// What long runs repeat.
#pragma once

#include <dimple.h>

#include <cstdlib>

namespace dimple::testing {

inline bool isLong() { return std::getenv("DIMPLE_TEST_LONG") != nullptr; }

// What a program does with an operator, from its description to its numbers. The heap is the caller's.
struct Cycle {
  IDMLDevice& device;
  IDimpleContext& context;
  ID3D12DescriptorHeap& heap;
  UINT firstDescriptor;

  // E_UNEXPECTED if the numbers are not those expected.
  HRESULT run(UINT size, float addend) const;
};

constexpr UINT kCycleDescriptors = 64;

}  // namespace dimple::testing
