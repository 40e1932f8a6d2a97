// Storage for parameter blocks, sub-allocated from mapped buffers of a back end, because devices limit the number of
// memory allocations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/caps.h"
#include "core/checked.h"
#include "core/result.h"

namespace dimple {

// Thread-safe. `Buffer` has bytes() and mapped(). It must outlive its blocks.
template <class Buffer>
class ParameterMemory {
 public:
  // Makes a mapped buffer of this many bytes.
  using Create = std::function<Result<std::unique_ptr<Buffer>>(uint64_t bytes)>;

  // Owns its place, and gives it back without allocating memory.
  class Block {
   public:
    Block() = default;
    Block(Block&& other) noexcept { *this = std::move(other); }
    Block& operator=(Block&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(buffer_, other.buffer_);
      std::swap(offset_, other.offset_);
      std::swap(chunk_, other.chunk_);
      return *this;
    }
    ~Block() {
      if (owner_) owner_->free(chunk_, offset_);
    }

    const Buffer& buffer() const { return *buffer_; }
    uint64_t offset() const { return offset_; }

   private:
    friend class ParameterMemory;

    ParameterMemory* owner_ = nullptr;
    const Buffer* buffer_ = nullptr;
    uint64_t offset_ = 0;
    size_t chunk_ = 0;
  };

  // Blocks start at multiples of `alignment`.
  ParameterMemory(uint32_t alignment, Create create) : alignment_(alignment), create_(std::move(create)) {}

  // A block that holds `words`, followed by kParameterBlockBytes that a kernel's whole block may span.
  Result<Block> store(std::span<const uint32_t> words) {
    const uint64_t bytes = alignUp(words.size_bytes() + kParameterBlockBytes, alignment_);
    Block block;  // gives its place back outside the lock
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < chunks_.size() && !block.owner_; ++i) take(i, bytes, block);
    if (!block.owner_) {
      auto buffer = create_(std::max(kChunkBytes, bytes));
      if (!buffer) return buffer.error();
      chunks_.push_back({std::move(*buffer), {}});
      take(chunks_.size() - 1, bytes, block);
    }
    std::byte* target = block.buffer().mapped() + block.offset();
    std::copy(words.begin(), words.end(), reinterpret_cast<uint32_t*>(target));
    std::memset(target + words.size_bytes(), 0, bytes - words.size_bytes());
    return block;
  }

 private:
  static constexpr uint64_t kChunkBytes = 256 * 1024;

  struct Range {
    uint64_t offset;
    uint64_t bytes;
  };
  struct Chunk {
    std::unique_ptr<Buffer> buffer;
    std::vector<Range> used;  // in order
    uint64_t usedBytes = 0;
  };

  // The first gap that is large enough, if there is one.
  void take(size_t index, uint64_t bytes, Block& block) {
    Chunk& chunk = chunks_[index];
    if (chunk.buffer->bytes() - chunk.usedBytes < bytes) return;
    uint64_t offset = 0;
    auto next = chunk.used.begin();
    for (; next != chunk.used.end() && next->offset - offset < bytes; ++next) offset = next->offset + next->bytes;
    if (next == chunk.used.end() && chunk.buffer->bytes() - offset < bytes) return;
    chunk.used.insert(next, {offset, bytes});
    chunk.usedBytes += bytes;
    block.owner_ = this;
    block.buffer_ = chunk.buffer.get();
    block.offset_ = offset;
    block.chunk_ = index;
  }

  void free(size_t index, uint64_t offset) noexcept {
    std::lock_guard lock(mutex_);
    Chunk& chunk = chunks_[index];
    const auto range = std::lower_bound(chunk.used.begin(), chunk.used.end(), offset,
                                        [](const Range& r, uint64_t at) { return r.offset < at; });
    chunk.usedBytes -= range->bytes;
    chunk.used.erase(range);
  }

  const uint32_t alignment_;
  const Create create_;
  std::mutex mutex_;
  std::vector<Chunk> chunks_;
};

}  // namespace dimple
