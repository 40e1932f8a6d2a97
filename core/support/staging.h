// Host-visible memory through which contents go to and from buffers.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>

#include "core/result.h"

namespace dimple {

// Memory for transfers in one direction. It is kept, because new memory costs more than many copies. Transfers use it
// one after another. `Buffer` is a back end's.
template <class Buffer>
class Staging {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{16} << 20;  // bytes; longer transfers come in parts

  // Calls `copy(staging, offset, bytes)` for each part of the transfer, after `create(bytes)` if the existing memory is
  // too small.
  template <class Create, class Copy>
  Status transfer(uint64_t bytes, Create create, Copy copy) {
    const std::lock_guard lock(mutex_);
    for (uint64_t done = 0; done < bytes;) {
      const uint64_t part = std::min(bytes - done, kMaxBytes);
      if (!buffer_ || buffer_->bytes() < part) {
        buffer_ = nullptr;
        auto made = create(std::bit_ceil(part));
        if (!made) return made.error();
        buffer_ = std::move(*made);
      }
      TRY(copy(*buffer_, done, part));
      done += part;
    }
    return {};
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace dimple
