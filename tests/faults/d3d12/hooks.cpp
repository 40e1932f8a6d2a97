// Stands before the methods of libvkd3d's objects, by their tables of methods, and before the two functions that Dimple
// calls, by the linker's --wrap.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "tests/faults/d3d12/state.h"

extern "C" {
HRESULT WINAPI realCreateDevice(IUnknown* adapter, D3D_FEATURE_LEVEL minimum, REFIID riid, void** device,
                                int apiVersion) asm("__real_D3D12CreateDeviceVKD3D");
HRESULT WINAPI wrappedCreateDevice(IUnknown* adapter, D3D_FEATURE_LEVEL minimum, REFIID riid, void** device,
                                   int apiVersion) asm("__wrap_D3D12CreateDeviceVKD3D");
HRESULT WINAPI realSerialize(const D3D12_ROOT_SIGNATURE_DESC* desc, D3D_ROOT_SIGNATURE_VERSION version, ID3DBlob** blob,
                             ID3DBlob** message) asm("__real_D3D12SerializeRootSignature");
HRESULT WINAPI wrappedSerialize(const D3D12_ROOT_SIGNATURE_DESC* desc, D3D_ROOT_SIGNATURE_VERSION version,
                                ID3DBlob** blob, ID3DBlob** message) asm("__wrap_D3D12SerializeRootSignature");
}

namespace dimple::faults {
namespace {

using d3d12::ComPtr;

// An argument is an integer or a pointer, all of which are passed as words.
template <size_t>
using Word = uint64_t;
template <size_t... kIndex>
using Function = uint64_t(WINAPI*)(void* self, Word<kIndex>... words);

// What libvkd3d's tables hold.
std::array<void*, static_cast<size_t>(Call::Count)> realMethods;
std::array<void*, static_cast<size_t>(Object::Count)> realReleases;
void* realExecute = nullptr;
void* realCompleted = nullptr;

// What libvkd3d calls itself, and what the injector calls, is left alone.
thread_local bool inside = false;
class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

// What the device has begun ends before it is lost: that device is a real one.
void loseDevice() {
  const Inside guard;
  State& state = State::get();
  for (void* const device : state.live(Object::ID3D12Device))
    for (void* const queue : state.live(Object::ID3D12CommandQueue)) {
      ComPtr<ID3D12Fence> fence;
      if (SUCCEEDED(static_cast<ID3D12Device*>(device)->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence))) &&
          SUCCEEDED(static_cast<ID3D12CommandQueue*>(queue)->Signal(fence.Get(), 1)))
        static_cast<void>(fence->SetEventOnCompletion(1, nullptr));
    }
  state.lose();
}

// What a call answers instead of doing anything; S_OK: nothing.
HRESULT enter(Call call) {
  bool loses = false;
  const HRESULT result = State::get().enter(call, loses);
  if (loses) loseDevice();
  return result;
}

void watch(Object object, void* pointer);

// What a call that succeeded or failed says about the program's work.
template <Call kCall, class... Words>
void note(void* self, HRESULT result, Words... words) {
  State& state = State::get();
  const std::array<uint64_t, sizeof...(Words) + 1> given{words..., 0};
  if constexpr (kCall == Call::ID3D12GraphicsCommandList_Close || kCall == Call::ID3D12GraphicsCommandList_Reset)
    state.recorded(self, SUCCEEDED(result));
  if (FAILED(result)) return;
  if constexpr (kCall == Call::ID3D12CommandQueue_Signal) state.signalled(given[1]);
  if constexpr (kCall == Call::ID3D12Fence_SetEventOnCompletion)
    if (given[1] == 0) state.reached(given[0]);
  if constexpr (kCall == Call::ID3D12Resource_Map) state.mapped(self);
}

// kMakes: Object::Count for nothing.
template <Call kCall, Object kMakes, size_t... kIndex>
uint64_t WINAPI answer(void* self, Word<kIndex>... words) {
  const auto real = reinterpret_cast<Function<kIndex...>>(realMethods[static_cast<size_t>(kCall)]);
  if (inside) return real(self, words...);
  HRESULT result = enter(kCall);
  if (SUCCEEDED(result)) {
    const Inside guard;
    result = static_cast<HRESULT>(real(self, words...));
  }
  if constexpr (kMakes != Object::Count) {
    const std::array<uint64_t, sizeof...(kIndex)> given{words...};
    if (SUCCEEDED(result) && given.back() != 0) watch(kMakes, *reinterpret_cast<void**>(given.back()));
  }
  note<kCall>(self, result, words...);
  return static_cast<uint32_t>(result);
}

template <Object kObject>
ULONG WINAPI release(void* self) {
  State& state = State::get();
  const bool executing = state.executing();
  using Release = ULONG(WINAPI*)(void*);
  const ULONG left = reinterpret_cast<Release>(realReleases[static_cast<size_t>(kObject)])(self);
  if (left == 0) state.destroyed(kObject, self, executing);
  return left;
}

void WINAPI execute(void* self, UINT count, ID3D12CommandList* const* lists) {
  State& state = State::get();
  if (state.lost()) return;
  state.executed({lists, lists + count});
  using Execute = void(WINAPI*)(void*, UINT, ID3D12CommandList* const*);
  reinterpret_cast<Execute>(realExecute)(self, count, lists);
}

// As of a device that is done no sooner than it has to be: the calls of a scenario are always the same.
UINT64 WINAPI completed(void* self) {
  State& state = State::get();
  if (state.lost()) return UINT64_MAX;
  using Completed = UINT64(WINAPI*)(void*);
  const UINT64 value = reinterpret_cast<Completed>(realCompleted)(self);
  return inside ? value : std::min<UINT64>(value, state.waited());
}

template <Call kCall, Object kMakes, size_t... kIndex>
void* hookOf(std::index_sequence<kIndex...>) {
  return reinterpret_cast<void*>(&answer<kCall, kMakes, kIndex...>);
}

// Where a virtual method stands, as GCC and clang point at it.
template <class Method>
size_t slotOf(Method method) {
  uintptr_t word = 0;
  std::memcpy(&word, &method, sizeof word);
  return (word - 1) / sizeof(void*);
}

void replace(void** slot, void* hook, void*& real) {
  if (*slot == hook) return;
  real = *slot;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(slot) / page * page;
  mprotect(reinterpret_cast<void*>(begin), 2 * page, PROT_READ | PROT_WRITE);
  *slot = hook;
}

// Replaces the methods of a class, and lists one of its objects.
void watch(Object object, void* pointer) {
  void** const table = *static_cast<void***>(pointer);
#define DIMPLE_RELEASE(type)                                                                     \
  if (object == Object::type)                                                                    \
    replace(table + slotOf(&IUnknown::Release), reinterpret_cast<void*>(&release<Object::type>), \
            realReleases[static_cast<size_t>(object)]);
  DIMPLE_D3D12_CLASSES(DIMPLE_RELEASE)
#undef DIMPLE_RELEASE
#define DIMPLE_HOOK(type, method, words, makes)                                              \
  if (object == Object::type)                                                                \
    replace(table + slotOf(&type::method),                                                   \
            hookOf<Call::type##_##method, Object::makes>(std::make_index_sequence<words>()), \
            realMethods[static_cast<size_t>(Call::type##_##method)]);
#define DIMPLE_HOOK_ANSWER(type, method, words) DIMPLE_HOOK(type, method, words, Count)
  DIMPLE_D3D12_METHODS(DIMPLE_HOOK, DIMPLE_HOOK_ANSWER, DIMPLE_HOOK_ANSWER)
#undef DIMPLE_HOOK_ANSWER
#undef DIMPLE_HOOK
  if (object == Object::ID3D12CommandQueue)
    replace(table + slotOf(&ID3D12CommandQueue::ExecuteCommandLists), reinterpret_cast<void*>(&execute), realExecute);
  if (object == Object::ID3D12Fence)
    replace(table + slotOf(&ID3D12Fence::GetCompletedValue), reinterpret_cast<void*>(&completed), realCompleted);
  State::get().created(object, pointer);
}

}  // namespace
}  // namespace dimple::faults

using namespace dimple::faults;

HRESULT WINAPI wrappedCreateDevice(IUnknown* adapter, D3D_FEATURE_LEVEL minimum, REFIID riid, void** device,
                                   int apiVersion) {
  if (const HRESULT injected = enter(Call::CreateDevice); FAILED(injected)) return injected;
  const Inside guard;
  const HRESULT result = realCreateDevice(adapter, minimum, riid, device, apiVersion);
  if (SUCCEEDED(result)) watch(Object::ID3D12Device, *device);
  return result;
}

HRESULT WINAPI wrappedSerialize(const D3D12_ROOT_SIGNATURE_DESC* desc, D3D_ROOT_SIGNATURE_VERSION version,
                                ID3DBlob** blob, ID3DBlob** message) {
  if (const HRESULT injected = enter(Call::SerializeRootSignature); FAILED(injected)) return injected;
  const HRESULT result = realSerialize(desc, version, blob, message);
  if (SUCCEEDED(result)) watch(Object::ID3DBlob, *blob);
  return result;
}
