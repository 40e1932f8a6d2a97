// Memory that ONNX Runtime holds by addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "clients/onnx/segment.h"

namespace dimple::ort {

// Blocks of a device's memory, or of the host's that the device copies from and to. An address stands for a byte of a
// block, so that addresses within it may be computed; at one of the device's memory nothing can be read or written. Any
// thread may call it.
class Heap {
 public:
  enum class Kind { Device, Host };

  Heap(IDimpleContext& context, IDMLDevice& device, Kind kind) : context_(context), device_(device), kind_(kind) {}
  ~Heap();
  Heap(const Heap&) = delete;

  // Throws onnx::DeviceError.
  void* allocate(size_t bytes);
  // Work that was submitted before may still use it. Null is ignored.
  void free(void* address) noexcept;
  // Addresses for a buffer of so many bytes that somebody else made, until it is taken back.
  void* lend(onnx::ComPtr<ID3D12Resource> buffer, size_t bytes);
  void takeBack(void* address) noexcept;
  // The device reads or writes the block there until the context's fence has the value: nobody is given the block
  // before.
  void use(const void* address, UINT64 fence);
  // Until the device does not.
  void settle(const void* address) const;
  // Where an address lies. Throws StatusError if it is none of the heap's, or `bytes` from it on are not.
  onnx::BufferRange find(const void* address, size_t bytes) const;
  // Likewise, but no buffer then.
  onnx::BufferRange tryFind(const void* address, size_t bytes) const;

 private:
  struct Block {
    size_t bytes = 0;
    onnx::ComPtr<ID3D12Resource> buffer;
    void* memory = nullptr;  // of the host; null: addresses are reserved for it
    UINT64 fence = 0;        // that is reached when the device does not use it, where use() says so
  };
  using Blocks = std::map<uintptr_t, Block>;

  // Throws onnx::DeviceError.
  Block makeBlock(size_t bytes) const;
  // Puts a block in use, with the mutex.
  void* place(Block block);
  static void release(uintptr_t address, const Block& block);
  Blocks::const_iterator blockOf(uintptr_t address) const;
  // Those that are idle, and their addresses, until no more than `bytes` are left.
  void trim(uint64_t bytes);

  IDimpleContext& context_;
  IDMLDevice& device_;
  const Kind kind_;
  mutable std::mutex mutex_;
  Blocks blocks_;                          // by address, those in use
  std::multimap<size_t, uintptr_t> idle_;  // by size
  std::map<uintptr_t, Block> idleBlocks_;
  uint64_t idleBytes_ = 0;
  std::string failure_;  // the last allocation that failed
};

}  // namespace dimple::ort
