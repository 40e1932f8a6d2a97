// Memory for DXC, which asks for many small blocks: Wine's heap has one lock for all threads, and gives pages back that
// the next kernel needs again. Compiling takes a quarter less of the processors with it.
#pragma once

#include <windows.h>
// Needs windows.h before it.
#include <objidl.h>

#include <array>
#include <bit>
#include <cstring>

#include "dxc_api.h"

namespace dxc {

// Of one thread. Blocks that are freed serve later requests of their size; nothing is given back to the system.
class MemoryPool final : public IMalloc {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(const IID& id, void** object) override {
    *object = IsEqualGUID(id, kMallocInterface) || IsEqualGUID(id, kUnknownInterface) ? this : nullptr;
    return *object ? S_OK : E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 1; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }

  void* STDMETHODCALLTYPE Alloc(SIZE_T bytes) override {
    if (bytes > kMost) return nullptr;
    const unsigned kind = kindOf(bytes);
    Block* block = free_[kind];
    if (block) {
      free_[kind] = block->next;
    } else {
      block = fresh(sizeof(Block) + sizeOf(kind));
      if (!block) return nullptr;
      block->kind = kind;
    }
    return block + 1;
  }

  void* STDMETHODCALLTYPE Realloc(void* old, SIZE_T bytes) override {
    if (old && bytes == 0) {
      Free(old);
      return nullptr;
    }
    if (old && bytes <= GetSize(old)) return old;
    void* const memory = Alloc(bytes);
    if (memory && old) {
      std::memcpy(memory, old, GetSize(old));
      Free(old);
    }
    return memory;
  }

  void STDMETHODCALLTYPE Free(void* memory) override {
    if (!memory) return;
    Block* const block = static_cast<Block*>(memory) - 1;
    block->next = free_[block->kind];
    free_[block->kind] = block;
  }

  SIZE_T STDMETHODCALLTYPE GetSize(void* memory) override {
    return memory ? sizeOf((static_cast<Block*>(memory) - 1)->kind) : 0;
  }
  int STDMETHODCALLTYPE DidAlloc(void*) override { return -1; }  // it does not know
  void STDMETHODCALLTYPE HeapMinimize() override {}

 private:
  // What stands before each block.
  struct alignas(16) Block {
    Block* next;
    unsigned kind;
  };

  static constexpr SIZE_T kMost = SIZE_T{1} << 40;
  static constexpr SIZE_T kChunkBytes = SIZE_T{1} << 22;

  // Kinds are multiples of 16 bytes up to 64, and from there four sizes for each power of two.
  static SIZE_T sizeOf(unsigned kind) {
    return kind < 4 ? 16 * (SIZE_T{kind} + 1) : (SIZE_T{16} << (kind / 4 - 1)) * (5 + kind % 4);
  }
  static unsigned kindOf(SIZE_T bytes) {
    if (bytes <= 64) return bytes == 0 ? 0 : unsigned((bytes - 1) / 16);
    const unsigned shift = unsigned(std::bit_width(bytes - 1)) - 3;  // of the four sizes up to the next power of two
    return (shift - 3) * 4 + unsigned((bytes - 1) >> shift) - 4;
  }

  Block* fresh(SIZE_T bytes) {
    const bool isOwn = bytes > kChunkBytes / 4;
    if (!isOwn && bytes <= left_) return take(bytes);
    void* const memory = VirtualAlloc(nullptr, isOwn ? bytes : kChunkBytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (isOwn || !memory) return static_cast<Block*>(memory);
    at_ = static_cast<char*>(memory);
    left_ = kChunkBytes;
    return take(bytes);
  }
  Block* take(SIZE_T bytes) {
    char* const block = at_;
    at_ += bytes;
    left_ -= bytes;
    return reinterpret_cast<Block*>(block);
  }

  std::array<Block*, 140> free_{};  // of kMost bytes and less
  char* at_ = nullptr;
  SIZE_T left_ = 0;
};

}  // namespace dxc
