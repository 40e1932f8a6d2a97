// A Vulkan layer that lets one call fail and counts objects. It lies above the validation layers, so that these see
// what the driver sees. What it knows of functions is the table in functions.h.
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <tuple>

#include "tests/faults/layer/state.h"
#include "tests/layer_link.h"

namespace dimple::faults {
namespace {

// What lies below, of one instance or device.
struct Chain {
  PFN_vkGetInstanceProcAddr instanceProc = nullptr;
  PFN_vkGetDeviceProcAddr deviceProc = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  std::atomic<bool> lost = false;
  // The intercepted functions, found when the instance or the device is created: later the loader answers this layer's.
  std::map<std::string_view, PFN_vkVoidFunction> functions;

  void resolve();
  // Null if there is none.
  PFN_vkVoidFunction next(std::string_view name) const {
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
  }
};

// By the pointer that the loader puts first into a handle that it dispatches by: that of a queue or a command buffer is
// its device's, that of a physical device its instance's.
class Chains {
 public:
  template <class Handle>
  static void* keyOf(Handle handle) {
    return *reinterpret_cast<void**>(handle);
  }
  template <class Handle>
  std::shared_ptr<Chain> find(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = byKey_.find(keyOf(handle));
    return found == byKey_.end() ? nullptr : found->second;
  }
  template <class Handle>
  void add(Handle handle, std::shared_ptr<Chain> chain) {
    const std::lock_guard lock(mutex_);
    byKey_[keyOf(handle)] = std::move(chain);
  }
  template <class Handle>
  std::shared_ptr<Chain> remove(Handle handle) {
    const std::lock_guard lock(mutex_);
    auto node = byKey_.extract(keyOf(handle));
    return node ? node.mapped() : nullptr;
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::shared_ptr<Chain>> byKey_;
};

Chains& chains() {
  static Chains all;
  return all;
}

// What a lost device was doing has come to an end, so that what the driver used may be freed.
void lose(Chain& chain) {
  if (chain.device && !chain.lost.exchange(true))
    reinterpret_cast<PFN_vkDeviceWaitIdle>(chain.next("vkDeviceWaitIdle"))(chain.device);
}

// The result that a call has to answer instead of being made.
VkResult failure(Function function, Chain& chain) {
  const VkResult result = State::get().enter(function);
  if (result == VK_ERROR_DEVICE_LOST) lose(chain);
  return chain.lost ? VK_ERROR_DEVICE_LOST : result;
}

template <class Handle>
uint64_t number(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}

// What a failed call left where a new handle was expected is undefined.
template <class Handle>
void spoil(Handle* handle) {
  *handle = std::bit_cast<Handle>(uint64_t{0x5bad5bad5bad5bad});
}

constexpr Object kNoObject = kObjectCount;

// An intercepted function. `name` is that of Vulkan.
template <auto name, Function function, Object object, class Pointer>
struct Call;
template <auto name, Function function, Object object, class Handle, class... Rest>
struct Call<name, function, object, VkResult(VKAPI_PTR*)(Handle, Rest...)> {
  static VKAPI_ATTR VkResult VKAPI_CALL call(Handle handle, Rest... rest) {
    const auto chain = chains().find(handle);
    if (!chain) {
      State::get().misuse(std::string(name()) + " was called on something that was destroyed.");
      return VK_ERROR_UNKNOWN;
    }
    const VkResult failed = failure(function, *chain);
    if constexpr (object != kNoObject) {
      auto* made = std::get<sizeof...(Rest) - 1>(std::tuple<Rest...>(rest...));
      if (failed) {
        spoil(made);
        if constexpr (object == kObjectPipeline) *made = VK_NULL_HANDLE;
        return failed;
      }
      const VkResult result = next(*chain)(handle, rest...);
      if (result == VK_SUCCESS) State::get().created(object, number(*made));
      return result;
    }
    return failed ? failed : next(*chain)(handle, rest...);
  }
  static auto next(const Chain& chain) {
    return reinterpret_cast<VkResult(VKAPI_PTR*)(Handle, Rest...)>(chain.next(name()));
  }
};

template <auto name, Object object, class Pointer>
struct Destruction;
template <auto name, Object object, class Handle, class Destroyed>
struct Destruction<name, object, void(VKAPI_PTR*)(Handle, Destroyed, const VkAllocationCallbacks*)> {
  static VKAPI_ATTR void VKAPI_CALL call(Handle handle, Destroyed destroyed, const VkAllocationCallbacks* allocator) {
    const auto chain = chains().find(handle);
    if (!chain) State::get().misuse(std::string(name()) + " was called on something that was destroyed.");
    if (!chain || !destroyed || !State::get().destroyed(object, number(destroyed))) return;
    reinterpret_cast<void(VKAPI_PTR*)(Handle, Destroyed, const VkAllocationCallbacks*)>(chain->next(name()))(
        handle, destroyed, allocator);
  }
};

VKAPI_ATTR VkResult VKAPI_CALL createInstance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                                              VkInstance* instance) {
  auto* link = testing::findLink<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  if (!link) return VK_ERROR_INITIALIZATION_FAILED;
  if (const VkResult failed = State::get().enter(kCreateInstance)) return failed;
  auto chain = std::make_shared<Chain>();
  chain->instanceProc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(chain->instanceProc(VK_NULL_HANDLE, "vkCreateInstance"));
  const VkResult result = create(info, allocator, instance);
  if (result != VK_SUCCESS) return result;
  chain->instance = *instance;
  chain->resolve();
  State::get().created(kObjectInstance, number(*instance));
  chains().add(*instance, std::move(chain));
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroyInstance(VkInstance instance, const VkAllocationCallbacks* allocator) {
  if (!instance || !State::get().destroyed(kObjectInstance, number(instance))) return;
  const auto chain = chains().remove(instance);
  reinterpret_cast<PFN_vkDestroyInstance>(chain->next("vkDestroyInstance"))(instance, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL createDevice(VkPhysicalDevice physicalDevice, const VkDeviceCreateInfo* info,
                                            const VkAllocationCallbacks* allocator, VkDevice* device) {
  auto* link = testing::findLink<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  const auto above = chains().find(physicalDevice);
  if (!link || !above) return VK_ERROR_INITIALIZATION_FAILED;
  if (const VkResult failed = State::get().enter(kCreateDevice)) {
    spoil(device);
    return failed;
  }
  auto chain = std::make_shared<Chain>();
  const auto instanceProc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  chain->deviceProc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateDevice>(instanceProc(above->instance, "vkCreateDevice"));
  const VkResult result = create(physicalDevice, info, allocator, device);
  if (result != VK_SUCCESS) return result;
  chain->device = *device;
  chain->resolve();
  State::get().created(kObjectDevice, number(*device));
  chains().add(*device, std::move(chain));
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroyDevice(VkDevice device, const VkAllocationCallbacks* allocator) {
  if (!device || !State::get().destroyed(kObjectDevice, number(device))) return;
  const auto destroy = reinterpret_cast<PFN_vkDestroyDevice>(chains().find(device)->next("vkDestroyDevice"));
  chains().remove(device);
  destroy(device, allocator);
}

struct Entry {
  std::string_view name;
  PFN_vkVoidFunction function;
  bool ofInstance;
};

PFN_vkVoidFunction VKAPI_CALL instanceProc(VkInstance instance, const char* name);
PFN_vkVoidFunction VKAPI_CALL deviceProc(VkDevice device, const char* name);

template <class F>
PFN_vkVoidFunction plain(F function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

std::span<const Entry> entries() {
#define DIMPLE_NAMED(name) [] { return "vk" #name; }
#define DIMPLE_CALL(name) {"vk" #name, plain(Call<DIMPLE_NAMED(name), k##name, kNoObject, PFN_vk##name>::call), false},
#define DIMPLE_CREATE(name, object) \
  {"vk" #name, plain(Call<DIMPLE_NAMED(name), k##name, kObject##object, PFN_vk##name>::call), false},
#define DIMPLE_DESTROY(name, object) \
  {"vk" #name, plain(Destruction<DIMPLE_NAMED(name), kObject##object, PFN_vk##name>::call), false},
#define DIMPLE_INSTANCE_CALL(name) \
  {"vk" #name, plain(Call<DIMPLE_NAMED(name), k##name, kNoObject, PFN_vk##name>::call), true},
#define DIMPLE_INSTANCE_CREATE(name, object) \
  {"vk" #name, plain(Call<DIMPLE_NAMED(name), k##name, kObject##object, PFN_vk##name>::call), true},
#define DIMPLE_INSTANCE_DESTROY(name, object) \
  {"vk" #name, plain(Destruction<DIMPLE_NAMED(name), kObject##object, PFN_vk##name>::call), true},
  static const Entry kEntries[] = {
      {"vkGetInstanceProcAddr", plain(instanceProc), true},
      {"vkCreateInstance", plain(createInstance), true},
      {"vkDestroyInstance", plain(destroyInstance), true},
      {"vkCreateDevice", plain(createDevice), true},
      {"vkGetDeviceProcAddr", plain(deviceProc), false},
      {"vkDestroyDevice", plain(destroyDevice), false},
      DIMPLE_FAULT_FUNCTIONS(DIMPLE_CALL, DIMPLE_CREATE, DIMPLE_DESTROY, DIMPLE_INSTANCE_CALL, DIMPLE_INSTANCE_CREATE,
                             DIMPLE_INSTANCE_DESTROY)};
  return kEntries;
}

const Entry* findEntry(std::string_view name) {
  for (const Entry& entry : entries())
    if (entry.name == name) return &entry;
  return nullptr;
}

void Chain::resolve() {
  for (const Entry& entry : entries()) {
    const char* name = entry.name.data();  // of a literal
    if (entry.ofInstance != (device == VK_NULL_HANDLE)) continue;
    if (const PFN_vkVoidFunction found = device ? deviceProc(device, name) : instanceProc(instance, name))
      functions[entry.name] = found;
  }
}

// A function that what lies below has not, this layer has not either.
PFN_vkVoidFunction VKAPI_CALL instanceProc(VkInstance instance, const char* name) {
  const Entry* entry = findEntry(name);
  // The loader asks for vkCreateInstance with the instance that is being created.
  const auto chain = instance ? chains().find(instance) : nullptr;
  if (!chain) return entry && entry->ofInstance ? entry->function : nullptr;
  if (entry && entry->ofInstance) return chain->next(name) ? entry->function : nullptr;
  const PFN_vkVoidFunction below = chain->instanceProc(instance, name);
  return entry && below ? entry->function : below;
}

PFN_vkVoidFunction VKAPI_CALL deviceProc(VkDevice device, const char* name) {
  const auto chain = chains().find(device);
  if (!chain) return nullptr;
  const Entry* entry = findEntry(name);
  if (entry && !entry->ofInstance) return chain->next(name) ? entry->function : nullptr;
  return chain->deviceProc(device, name);
}

}  // namespace
}  // namespace dimple::faults

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* interface) {
  if (!interface || interface->loaderLayerInterfaceVersion < 2) return VK_ERROR_INITIALIZATION_FAILED;
  interface->loaderLayerInterfaceVersion = 2;
  interface->pfnGetInstanceProcAddr = dimple::faults::instanceProc;
  interface->pfnGetDeviceProcAddr = dimple::faults::deviceProc;
  interface->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
