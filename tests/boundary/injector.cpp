#include "tests/boundary/injector.h"

#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>
#include <unordered_set>

namespace dimple::testing {
namespace {

std::atomic<bool> tracking = false;
std::atomic<bool> counting = false;
std::atomic<size_t> counted = 0;
std::atomic<size_t> failing = 0;
std::atomic<bool> failed = false;

// Does not call what it helps to watch.
template <class T>
struct MallocAllocator {
  using value_type = T;
  MallocAllocator() = default;
  template <class U>
  MallocAllocator(const MallocAllocator<U>&) {}
  T* allocate(size_t count) { return static_cast<T*>(std::malloc(count * sizeof(T))); }
  void deallocate(T* memory, size_t) { std::free(memory); }
  bool operator==(const MallocAllocator&) const = default;
};

struct Blocks {
  std::mutex mutex;
  std::unordered_set<void*, std::hash<void*>, std::equal_to<>, MallocAllocator<void*>> live;
};

// Never destroyed: what is freed last is freed after all static objects.
Blocks& blocks() {
  alignas(Blocks) static std::byte memory[sizeof(Blocks)];
  static Blocks* const made = new (memory) Blocks;
  return *made;
}

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool contains(uintptr_t address) const { return address >= begin && address < end; }
};

// Where this program, which the library is a part of, and the run time libraries lie.
struct Modules {
  Range program;
  std::array<Range, 8> neutral{};
};

int addModule(dl_phdr_info* info, size_t, void* result) {
  auto& modules = *static_cast<Modules*>(result);
  Range range{UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    range.begin = std::min(range.begin, begin);
    range.end = std::max(range.end, begin + info->dlpi_phdr[i].p_memsz);
  }
  const std::string_view path = info->dlpi_name;
  if (path.empty() && modules.program.end == 0) modules.program = range;  // the program comes first
  constexpr std::string_view kNeutral[] = {"libstdc++.so", "libc.so",       "libgcc_s.so",
                                           "libm.so",      "libpthread.so", "ld-linux"};
  for (const std::string_view name : kNeutral)
    if (path.find(name) != std::string_view::npos)
      if (Range* free = std::find_if(modules.neutral.begin(), modules.neutral.end(), [](Range r) { return !r.end; });
          free != modules.neutral.end())
        *free = range;
  return 0;
}

const Modules& modules() {
  static const Modules found = [] {
    Modules all;
    dl_iterate_phdr(addModule, &all);
    return all;
  }();
  return found;
}

enum class Owner : uint8_t { Unknown, Library, Other };

Owner ownerOf(uintptr_t address) {
  if (modules().program.contains(address)) return Owner::Library;
  for (const Range& range : modules().neutral)
    if (range.contains(address)) return Owner::Unknown;
  return Owner::Other;
}

struct Walk {
  uintptr_t first;
  bool begun = false;
  Owner owner = Owner::Unknown;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  const uintptr_t address = _Unwind_GetIP(context);
  walk.begun |= address == walk.first;
  if (!walk.begun) return _URC_NO_REASON;
  walk.owner = ownerOf(address);
  return walk.owner == Owner::Unknown ? _URC_NO_REASON : _URC_END_OF_STACK;
}

bool isLibrary(void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  if (const Owner owner = ownerOf(address); owner != Owner::Unknown) return owner == Owner::Library;
  Walk walk{address};
  _Unwind_Backtrace(visit, &walk);
  return walk.owner == Owner::Library;
}

void* plain(size_t bytes, size_t alignment) {
  bytes = std::max<size_t>(bytes, 1);
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate(size_t bytes, size_t alignment, void* caller, bool mayFail) {
  const bool ours = tracking && isLibrary(caller);
  if (ours && mayFail && counting && ++counted == failing) {
    failed = true;
    throw std::bad_alloc();
  }
  void* memory = plain(bytes, alignment);
  if (!memory && mayFail) throw std::bad_alloc();
  if (ours && memory) {
    std::lock_guard lock(blocks().mutex);
    blocks().live.insert(memory);
  }
  return memory;
}

void release(void* memory) noexcept {
  if (!memory) return;
  {
    std::lock_guard lock(blocks().mutex);
    blocks().live.erase(memory);
  }
  std::free(memory);
}

}  // namespace

Tracking::Tracking() {
  modules();
  tracking = true;
}
Tracking::~Tracking() { tracking = false; }
size_t Tracking::live() {
  std::lock_guard lock(blocks().mutex);
  return blocks().live.size();
}

FailingAllocation::FailingAllocation(size_t number) {
  counted = 0;
  failing = number;
  failed = false;
  counting = true;
}
FailingAllocation::~FailingAllocation() { counting = false; }
bool FailingAllocation::reached() { return failed; }
size_t FailingAllocation::count() { return counted; }

}  // namespace dimple::testing

// ---- what the C++ library calls ----

using dimple::testing::allocate;
using dimple::testing::release;

#define DIMPLE_NEW(declaration, alignment, mayFail) \
  __attribute__((noinline)) declaration { return allocate(bytes, alignment, __builtin_return_address(0), mayFail); }

constexpr size_t kDefault = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
DIMPLE_NEW(void* operator new(size_t bytes), kDefault, true)
DIMPLE_NEW(void* operator new[](size_t bytes), kDefault, true)
DIMPLE_NEW(void* operator new(size_t bytes, std::align_val_t at), static_cast<size_t>(at), true)
DIMPLE_NEW(void* operator new[](size_t bytes, std::align_val_t at), static_cast<size_t>(at), true)
DIMPLE_NEW(void* operator new(size_t bytes, const std::nothrow_t&) noexcept, kDefault, false)
DIMPLE_NEW(void* operator new[](size_t bytes, const std::nothrow_t&) noexcept, kDefault, false)

void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }
