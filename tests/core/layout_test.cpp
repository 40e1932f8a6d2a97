#include "core/layout.h"

#include <doctest/doctest.h>

#include <random>

using namespace dimple;

namespace {

uint32_t divideAsKernelsDo(uint32_t n, const Divisor& d) {
  const auto t = static_cast<uint32_t>(uint64_t{n} * d.multiplier >> 32);
  return (t + ((n - t) >> d.shift1)) >> d.shift2;
}

}  // namespace

TEST_CASE("division by multipliers is exact for every 32-bit numerator") {
  std::mt19937 random(1);
  std::vector<uint32_t> values{0,   1,     2,     3,     5,          7,          255,        256,
                               641, 65535, 65536, 65537, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  for (int i = 0; i < 500; ++i) values.push_back(static_cast<uint32_t>(random()) >> (random() % 32));
  for (const uint32_t divisor : values) {
    if (divisor == 0) continue;
    const Divisor d = makeDivisor(divisor);
    for (const uint32_t n : values) REQUIRE(divideAsKernelsDo(n, d) == n / divisor);
  }
}

TEST_CASE("dimensions that every operand steps through evenly merge") {
  Walk walk;
  walk.addDimension(2, {12, 12, 0});
  walk.addDimension(1, {99, 7, 0});
  walk.addDimension(3, {4, 4, 0});
  walk.addDimension(4, {1, 1, 0});
  walk.coalesce();
  CHECK(walk.rank == 1);
  CHECK(walk.sizes[0] == 24);
  CHECK(walk.isPacked(0b011));
  CHECK(walk.isUniform(2));
}

TEST_CASE("a gap in one operand keeps its dimension") {
  Walk walk;
  walk.addDimension(2, {12, 16});
  walk.addDimension(3, {4, 4});
  walk.addDimension(4, {1, 1});
  walk.coalesce();
  CHECK(walk.rank == 2);
  CHECK(walk.sizes[0] == 2);
  CHECK(walk.sizes[1] == 12);
  CHECK_FALSE(walk.isPacked(0b01));
}

TEST_CASE("one element has rank 0 and is packed") {
  Walk walk;
  walk.addDimension(1, {5, 9});
  walk.coalesce();
  CHECK(walk.rank == 0);
  CHECK(walk.count() == 1);
  CHECK(walk.isPacked(0b11));
}

TEST_CASE("negative strides merge modulo 2^32") {
  Walk walk;
  walk.addDimension(3, {static_cast<uint32_t>(-4)});
  walk.addDimension(4, {static_cast<uint32_t>(-1)});
  walk.coalesce();
  CHECK(walk.rank == 1);
  CHECK(walk.strides[0][0] == 0xffffffffu);
}

TEST_CASE("permuted layouts become packed once sorted") {
  Walk walk;  // NHWC described as NCHW: {2, 3, 4, 5} with C innermost
  walk.addDimension(2, {60, 60});
  walk.addDimension(3, {1, 1});
  walk.addDimension(4, {15, 15});
  walk.addDimension(5, {3, 3});
  walk.sortBy(1);
  walk.coalesce();
  CHECK(walk.rank == 1);
  CHECK(walk.isPacked(0b11));
}

TEST_CASE("grids fold into the device's limits with few idle groups") {
  Caps caps;
  CHECK(foldGroups(1, caps) == std::array{1u, 1u, 1u});
  CHECK(foldGroups(65535, caps) == std::array{65535u, 1u, 1u});
  CHECK(foldGroups(65536, caps) == std::array{32768u, 2u, 1u});
  for (const uint64_t groups : {65537ull, 1ull << 24, (1ull << 24) + 1, 65535ull * 65535 + 1}) {
    const auto folded = foldGroups(groups, caps);
    REQUIRE(folded);
    const uint64_t all = uint64_t{(*folded)[0]} * (*folded)[1] * (*folded)[2];
    CHECK(all >= groups);
    CHECK(all - groups < 2 * 65536ull);
    for (const uint32_t n : *folded) CHECK(n <= 65535);
  }
  caps.maxGroups = {4, 3, 2};
  CHECK(foldGroups(24, caps) == std::array{4u, 3u, 2u});
  CHECK_FALSE(foldGroups(25, caps));
}

TEST_CASE("32 bits number all groups of a grid, idle ones too") {
  const Caps caps;
  CHECK(foldGroups(65535ull * 65535, caps));
  CHECK_FALSE(foldGroups(UINT32_MAX, caps));
  CHECK_FALSE(foldGroups(uint64_t{1} << 33, caps));
  const uint64_t groups = uint64_t{1} << 31;  // 32,769 rows of 65,535
  CHECK(foldGroups(groups, caps, groups - 65535));
  CHECK_FALSE(foldGroups(groups, caps, groups));
}
