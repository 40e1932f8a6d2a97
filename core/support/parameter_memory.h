// Storage for parameter blocks, sub-allocated from mapped buffers of a back end, because devices limit the number of
// memory allocations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/caps.h"
#include "core/checked.h"
#include "core/result.h"

namespace dimple {

// Thread-safe. `Buffer` has bytes() and mapped().
template <class Buffer>
class ParameterMemory {
 public:
  // Makes a mapped buffer of as many bytes.
  using Create = std::function<Result<std::unique_ptr<Buffer>>(uint64_t bytes)>;

  struct Block {
    const Buffer* buffer = nullptr;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    size_t chunk = 0;
  };

  // Blocks start at multiples of `alignment`.
  ParameterMemory(uint32_t alignment, Create create) : alignment_(alignment), create_(std::move(create)) {}

  // A block that holds `words`, followed by kParameterBlockBytes that a kernel's whole block may span.
  Result<Block> store(std::span<const uint32_t> words) {
    const uint64_t bytes = alignUp(words.size_bytes() + kParameterBlockBytes, alignment_);
    std::lock_guard lock(mutex_);
    std::optional<Block> block;
    for (size_t i = 0; i < chunks_.size() && !block; ++i) block = take(i, bytes);
    if (!block) {
      auto buffer = create_(std::max(kChunkBytes, bytes));
      if (!buffer) return buffer.error();
      const uint64_t size = (*buffer)->bytes();
      chunks_.push_back({std::move(*buffer), {{0, size}}});
      block = take(chunks_.size() - 1, bytes);
    }
    std::byte* target = block->buffer->mapped() + block->offset;
    std::copy(words.begin(), words.end(), reinterpret_cast<uint32_t*>(target));
    std::memset(target + words.size_bytes(), 0, bytes - words.size_bytes());
    return *block;
  }

  void free(const Block& block) {
    std::lock_guard lock(mutex_);
    auto& holes = chunks_[block.chunk].holes;
    auto [hole, inserted] = holes.emplace(block.offset, block.bytes);
    if (const auto next = std::next(hole); next != holes.end() && hole->first + hole->second == next->first) {
      hole->second += next->second;
      holes.erase(next);
    }
    if (hole != holes.begin())
      if (const auto previous = std::prev(hole); previous->first + previous->second == hole->first) {
        previous->second += hole->second;
        holes.erase(hole);
      }
  }

 private:
  static constexpr uint64_t kChunkBytes = 256 * 1024;

  struct Chunk {
    std::unique_ptr<Buffer> buffer;
    std::map<uint64_t, uint64_t> holes;  // offset -> bytes
  };

  // The first hole that fits.
  std::optional<Block> take(size_t index, uint64_t bytes) {
    auto& holes = chunks_[index].holes;
    const auto hole = std::find_if(holes.begin(), holes.end(), [&](const auto& h) { return h.second >= bytes; });
    if (hole == holes.end()) return std::nullopt;
    const auto [offset, free] = *hole;
    holes.erase(hole);
    if (free > bytes) holes.emplace(offset + bytes, free - bytes);
    return Block{chunks_[index].buffer.get(), offset, bytes, index};
  }

  const uint32_t alignment_;
  const Create create_;
  std::mutex mutex_;
  std::vector<Chunk> chunks_;
};

}  // namespace dimple
