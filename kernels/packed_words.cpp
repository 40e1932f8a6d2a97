#include "kernels/packed_words.h"

#include <array>

namespace dimple {
namespace {

constexpr uint32_t kHeaderWords = 5;

// Expects of a module what it had before.
class Expectation {
 public:
  uint32_t next() const { return isFirst() ? 0 : last_[place()]; }
  void take(uint32_t word) {
    if (header_ != 0) {
      --header_;
    } else if (isFirst()) {
      instruction_ = word & 0xffffu;
      length_ = word >> 16;
      at_ = 1;
    } else {
      last_[place()] = word;
      ++at_;
    }
  }

 private:
  bool isFirst() const { return header_ != 0 || at_ >= length_; }
  // Which may be that of another word, too.
  size_t place() const { return (instruction_ * 31 + at_) % last_.size(); }

  uint32_t header_ = kHeaderWords;
  uint32_t instruction_ = 0, length_ = 0, at_ = 0;
  std::array<uint32_t, 4096> last_{};
};

constexpr uint32_t kMore = 0x80;  // bytes of the same number follow

}  // namespace

std::vector<uint8_t> packWords(std::span<const uint32_t> words) {
  std::vector<uint8_t> bytes;
  Expectation expectation;
  for (const uint32_t word : words) {
    const uint32_t difference = word - expectation.next();
    // The sign comes last, so that small differences are small numbers.
    uint32_t number = difference << 1 ^ (difference >> 31 != 0 ? ~0u : 0u);
    for (; number >= kMore; number >>= 7) bytes.push_back(static_cast<uint8_t>(number | kMore));
    bytes.push_back(static_cast<uint8_t>(number));
    expectation.take(word);
  }
  return bytes;
}

std::vector<uint32_t> unpackWords(std::span<const uint8_t> bytes) {
  std::vector<uint32_t> words;
  words.reserve(bytes.size());
  Expectation expectation;
  uint32_t number = 0;
  uint32_t shift = 0;
  for (const uint8_t byte : bytes) {
    if (shift < 32) number |= (byte & (kMore - 1)) << shift;
    shift += 7;
    if ((byte & kMore) != 0) continue;
    const uint32_t word = expectation.next() + (number >> 1 ^ ((number & 1) != 0 ? ~0u : 0u));
    words.push_back(word);
    expectation.take(word);
    number = shift = 0;
  }
  return words;
}

}  // namespace dimple
