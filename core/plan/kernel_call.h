// What the structures that kernelgen makes of the manifest (kernels/interfaces/) are built of, and what they become.
// None of their members has a default, so that one that is left out does not compile; but for constants that only some
// forms have, which ofForm() asks for.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <vector>

#include "core/plan/plan.h"
#include "kernels/kernel_id.h"

namespace dimple {

// A kernel with all that a plan gives it.
struct KernelCall {
  KernelId kernel;
  std::vector<uint32_t> push;  // words behind those of the grid
  std::vector<Specialization> specialization;
  std::vector<BufferRange> buffers;
  std::vector<uint32_t> fixed{};  // Dispatch::fixed
  std::vector<uint32_t> brief{};  // Dispatch::brief
};

namespace kernels {

template <class T>
class Required {
 public:
  constexpr Required(T value) : value_(value) {}
  constexpr operator T() const { return value_; }

 private:
  T value_;
};

// A push word or a specialization constant.
template <class T>
using Word = Required<T>;

// A specialization constant that some forms alone have. Those that have it have to be given it.
template <class T>
using FormWord = std::optional<Word<T>>;

// A buffer that the kernel declares read-only.
class ReadBuffer {
 public:
  ReadBuffer(const BufferRange& range) : range_(range) { range_.writes = false; }
  operator const BufferRange&() const { return range_; }

 private:
  BufferRange range_;
};

// A buffer that the kernel writes.
class WriteBuffer {
 public:
  WriteBuffer(const BufferRange& range) : range_(range) { range_.writes = true; }
  // One that this dispatch does not write, by its specialization or its push words.
  static WriteBuffer unwritten(const BufferRange& range) {
    WriteBuffer buffer(range);
    buffer.range_.writes = false;
    return buffer;
  }
  // One whose range says whether this dispatch may write it.
  static WriteBuffer asGiven(const BufferRange& range) { return range.writes ? WriteBuffer(range) : unwritten(range); }
  operator const BufferRange&() const { return range_; }

 private:
  BufferRange range_;
};

// A block's bytes as words, the last one filled up with zeros. Blocks have no gaps.
template <class Push>
std::vector<uint32_t> wordsOf(const Push& push, uint32_t bytes) {
  std::vector<uint32_t> words((bytes + 3) / 4);
  std::memcpy(words.data(), &push, bytes);
  return words;
}

template <class T>
Specialization specialization(uint32_t id, Word<T> value) {
  static_assert(sizeof(T) == 4);
  return {id, std::bit_cast<uint32_t>(static_cast<T>(value))};
}

template <class T>
std::optional<Specialization> specialization(uint32_t id, const FormWord<T>& value) {
  return value ? std::optional(specialization(id, *value)) : std::nullopt;
}

// The constants whose bits are set, each of which has to be given: it throws where one is not.
inline std::vector<Specialization> ofForm(uint32_t bits, std::initializer_list<std::optional<Specialization>> all) {
  std::vector<Specialization> has;
  for (const std::optional<Specialization>& one : all) {
    if (bits & 1) has.push_back(one.value());
    bits >>= 1;
  }
  return has;
}

}  // namespace kernels
}  // namespace dimple
