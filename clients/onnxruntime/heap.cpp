#include "clients/onnxruntime/heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"
#include "clients/onnxruntime/device_call.h"
#include "clients/onnxruntime/runtime.h"

namespace dimple::ort {

using onnx::cat;

namespace {

constexpr size_t kAlignment = 256;
constexpr size_t kPage = 4096;
constexpr size_t kLarge = size_t{1} << 20;
// What is kept for later.
constexpr uint64_t kMostIdle = uint64_t{512} << 20;

// Few sizes, so that blocks can be used again.
size_t roundedSize(size_t bytes) {
  const size_t least = std::max(bytes, kAlignment);
  return least < kLarge ? std::bit_ceil(least) : (least + kLarge - 1) / kLarge * kLarge;
}

size_t mappedSize(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

void* reserve(size_t bytes) {
  void* address = mmap(nullptr, mappedSize(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  return address;
}

}  // namespace

Heap::~Heap() {
  for (const auto& [address, block] : blocks_) release(address, block);
  for (const auto& [address, block] : idleBlocks_) release(address, block);
}

void Heap::release(uintptr_t address, const Block& block) {
  if (!block.memory) munmap(reinterpret_cast<void*>(address), mappedSize(block.bytes));
}

Heap::Block Heap::makeBlock(size_t bytes) const {
  if (kind_ == Kind::Device) return {bytes, onnx::createBuffer(context_, bytes), nullptr, 0};
  Block block{bytes, nullptr, nullptr, 0};
  if (FAILED(dimpleCreateTransferBuffer(&device_, bytes, &block.buffer, &block.memory)))
    throw onnx::DeviceError(dimpleGetLastMessage());
  return block;
}

void* Heap::allocate(size_t bytes) {
  if (bytes > SIZE_MAX - kLarge) throw std::bad_alloc();
  const size_t size = roundedSize(bytes);
  std::unique_lock lock(mutex_);
  if (const auto found = idle_.lower_bound(size); found != idle_.end() && found->first <= size + size / 4) {
    auto block = idleBlocks_.extract(found->second);
    idle_.erase(found);
    idleBytes_ -= block.mapped().bytes;
    const UINT64 fence = std::exchange(block.mapped().fence, 0);
    void* const address = reinterpret_cast<void*>(blocks_.insert(std::move(block)).position->first);
    lock.unlock();
    // On a device that was removed nothing uses it.
    if (fence) static_cast<void>(context_.Wait(fence));
    return address;
  }
  Block block;
  try {
    block = makeBlock(size);
  } catch (const onnx::DeviceError&) {
    trim(0);
    try {
      block = makeBlock(size);
    } catch (const onnx::DeviceError& error) {
      failure_ = error.what();
      throw;
    }
  }
  return place(std::move(block));
}

void* Heap::place(Block block) {
  void* const address = block.memory ? block.memory : reserve(block.bytes);
  try {
    blocks_.emplace(reinterpret_cast<uintptr_t>(address), block);
  } catch (...) {
    release(reinterpret_cast<uintptr_t>(address), block);
    throw;
  }
  return address;
}

void* Heap::lend(onnx::ComPtr<ID3D12Resource> buffer, size_t bytes) {
  const std::lock_guard lock(mutex_);
  return place({bytes, std::move(buffer), nullptr, 0});
}

void Heap::takeBack(void* address) noexcept {
  const auto key = reinterpret_cast<uintptr_t>(address);
  Blocks::node_type block;
  const std::lock_guard lock(mutex_);
  block = blocks_.extract(key);
  if (block) release(key, block.mapped());
}

void Heap::free(void* address) noexcept {
  if (!address) return;
  const std::lock_guard lock(mutex_);
  try {
    const auto key = reinterpret_cast<uintptr_t>(address);
    auto block = blocks_.find(key);
    if (block == blocks_.end()) return;
    const size_t size = block->second.bytes;
    idle_.emplace(size, key);
    idleBlocks_.insert(blocks_.extract(block));
    idleBytes_ += size;
    trim(kMostIdle);
  } catch (...) {
    // It stays in use.
  }
}

void Heap::trim(uint64_t bytes) {
  if (idleBytes_ <= bytes) return;
  // What was submitted may use it.
  std::byte last{};
  const auto& any = idleBlocks_.begin()->second;
  if (FAILED(context_.Download(any.buffer.Get(), 0, &last, 1))) return;
  while (idleBytes_ > bytes) {
    const auto largest = std::prev(idle_.end());
    const auto block = idleBlocks_.find(largest->second);
    release(block->first, block->second);
    idleBytes_ -= block->second.bytes;
    idleBlocks_.erase(block);
    idle_.erase(largest);
  }
}

Heap::Blocks::const_iterator Heap::blockOf(uintptr_t address) const {
  auto found = blocks_.upper_bound(address);
  if (found == blocks_.begin()) return blocks_.end();
  --found;
  return address - found->first < found->second.bytes ? found : blocks_.end();
}

void Heap::use(const void* address, UINT64 fence) {
  const std::lock_guard lock(mutex_);
  const auto found = blockOf(reinterpret_cast<uintptr_t>(address));
  if (found == blocks_.end()) return;
  Block& block = blocks_.at(found->first);
  block.fence = std::max(block.fence, fence);
}

void Heap::settle(const void* address) const {
  UINT64 fence = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = blockOf(reinterpret_cast<uintptr_t>(address));
    if (found != blocks_.end()) fence = found->second.fence;
  }
  if (fence) checkDevice(context_.Wait(fence), "The device cannot be waited for");
}

onnx::BufferRange Heap::tryFind(const void* address, size_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto key = reinterpret_cast<uintptr_t>(address);
  const auto found = blockOf(key);
  if (found == blocks_.end() || bytes > found->second.bytes - (key - found->first)) return {};
  return {found->second.buffer, key - found->first};
}

onnx::BufferRange Heap::find(const void* address, size_t bytes) const {
  if (onnx::BufferRange range = tryFind(address, bytes); range.buffer) return range;
  const std::lock_guard lock(mutex_);
  if (blockOf(reinterpret_cast<uintptr_t>(address)) == blocks_.end())
    throw StatusError(ORT_EP_FAIL, address ? "A tensor does not lie in memory of Dimple's execution provider."
                                   : failure_.empty() ? "A tensor has no memory."
                                                      : cat("A tensor has no memory: ", failure_));
  throw StatusError(ORT_EP_FAIL, cat("A tensor of ", bytes, " bytes reaches over the end of its memory."));
}

}  // namespace dimple::ort
