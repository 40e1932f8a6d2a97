// Visiting every coordinate of a tensor in row-major order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace oracle {

inline constexpr size_t kMaxRank = 8;

using Steps = std::array<int64_t, kMaxRank>;

inline uint64_t countOf(std::span<const uint32_t> sizes) {
  uint64_t count = 1;
  for (uint32_t size : sizes) count *= size;
  return count;
}

// How far a row-major index moves when each coordinate grows by one.
inline Steps packedSteps(std::span<const uint32_t> sizes) {
  Steps steps{};
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    steps[d] = step;
    step *= sizes[d];
  }
  return steps;
}

// Calls visit(positions), where positions[k] is the dot product of the coordinates with steps[k].
template <size_t N, class Visit>
void walk(std::span<const uint32_t> sizes, const std::array<Steps, N>& steps, Visit visit) {
  if (sizes.empty() || sizes.size() > kMaxRank) throw std::invalid_argument("A tensor has 1 to 8 dimensions.");
  if (countOf(sizes) == 0) return;
  std::array<uint32_t, kMaxRank> coordinates{};
  std::array<int64_t, N> positions{};
  const size_t last = sizes.size() - 1;
  for (;;) {
    std::array<int64_t, N> inner = positions;
    for (uint32_t i = 0; i < sizes[last]; ++i) {
      visit(static_cast<const std::array<int64_t, N>&>(inner));
      for (size_t k = 0; k < N; ++k) inner[k] += steps[k][last];
    }
    size_t d = last;
    for (;;) {
      if (d == 0) return;
      --d;
      for (size_t k = 0; k < N; ++k) positions[k] += steps[k][d];
      if (++coordinates[d] < sizes[d]) break;
      for (size_t k = 0; k < N; ++k) positions[k] -= steps[k][d] * static_cast<int64_t>(sizes[d]);
      coordinates[d] = 0;
    }
  }
}

}  // namespace oracle
