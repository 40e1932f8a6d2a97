// Replaces operator new in a fuzz target's program: what an input asks for beyond a bound is refused as on a machine
// without the memory; the sanitizer would end there.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

inline constexpr size_t kMaxBytes = size_t{64} << 20;

void* operator new(size_t bytes) {
  void* const memory = bytes > kMaxBytes ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes ? bytes : 1); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
