// Random numbers that are the same with every compiler and standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace dimple::testing {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // SplitMix64.
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // 0 .. n - 1; the bias of the modulus does not matter here.
  uint64_t below(uint64_t n) { return next() % n; }
  // Both ends included.
  int64_t range(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
  }
  uint32_t size(uint32_t low, uint32_t high) { return static_cast<uint32_t>(range(low, high)); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }

  template <class Items>
  const auto& pick(const Items& items) {
    return std::data(items)[below(std::size(items))];
  }
  template <class T>
  void shuffle(std::span<T> items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t state_;
};

// FNV-1a, for seeds made of names.
constexpr uint64_t hashOf(std::string_view text, uint64_t start = 0xcbf29ce484222325u) {
  for (char c : text) start = (start ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return start;
}

}  // namespace dimple::testing
