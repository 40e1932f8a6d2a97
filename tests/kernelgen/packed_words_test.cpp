// The form in which SPIR-V is compressed.
#include <doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/packed_words.h"

using namespace dimple;

namespace {

using Words = std::vector<uint32_t>;

// A header, and instructions like those of a module.
Words moduleOf(size_t instructions) {
  std::mt19937 engine(7);
  const auto random = [&](uint32_t end) { return static_cast<uint32_t>(engine() % end); };
  Words words{0x07230203u, 0x00010500u, 8u, 1000u, 0u};
  for (uint32_t i = 0; i < instructions; ++i) {
    const uint32_t length = 1 + random(6);
    words.push_back(length << 16 | random(400));
    for (uint32_t k = 1; k < length; ++k) words.push_back(k == 2 ? i : random(i + 1));
  }
  return words;
}

}  // namespace

TEST_CASE("packed words are unpacked as they were") {
  for (const Words& words : {Words{}, Words{0}, Words{0xffffffffu, 0x80000000u, 0x7fffffffu, 1, 0, 0, 0xffffffffu},
                             Words{1, 2, 3, 4, 5, 0x00050001u, 6}, moduleOf(0), moduleOf(1), moduleOf(5000)})
    CHECK(unpackWords(packWords(words)) == words);
}

TEST_CASE("packed words are fewer bytes") {
  const Words words = moduleOf(1000);
  CHECK(packWords(words).size() < words.size() * 5 / 2);
}

TEST_CASE("bytes that packWords did not make unpack, too") {
  const std::vector<uint8_t> endless(100, 0xff);
  CHECK(unpackWords(endless).empty());
  std::vector<uint8_t> ended = endless;
  ended.push_back(1);
  CHECK(unpackWords(ended).size() == 1);
}
