// A Vulkan layer that gives VK_KHR_external_semaphore_fd to drivers without it, such as lavapipe: timeline semaphores
// of devices of one process share a value, since a thread carries it from each to the others.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/layer_link.h"

namespace dimple::testing {
namespace {

constexpr const char* kExtension = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;

struct Below {
  PFN_vkGetInstanceProcAddr instanceProc = nullptr;
  PFN_vkGetDeviceProcAddr deviceProc = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  // Of an instance, found when it is created: later the loader answers this layer's.
  PFN_vkEnumerateDeviceExtensionProperties enumerateExtensions = nullptr;
  PFN_vkGetPhysicalDeviceExternalSemaphoreProperties semaphoreProperties = nullptr;
  PFN_vkGetPhysicalDeviceProperties2 properties = nullptr;
  bool isEmulated = false;  // on a device: the layer has the extension for it

  // Null before the instance is made.
  template <class F>
  F get(const char* name) const {
    if (!instanceProc && !deviceProc) return nullptr;
    return reinterpret_cast<F>(device ? deviceProc(device, name) : instanceProc(instance, name));
  }
};

// What lies below, by the pointer that the loader puts first into what it dispatches by.
std::mutex belowMutex;
std::map<void*, Below>& belows() {
  static std::map<void*, Below> all;
  return all;
}
template <class Handle>
void* keyOf(Handle handle) {
  return *reinterpret_cast<void**>(handle);
}
template <class Handle>
Below below(Handle handle) {
  const std::lock_guard lock(belowMutex);
  return belows()[keyOf(handle)];
}

struct Member {
  Below device;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  size_t payload = 0;
};

// Semaphores that share payloads.
class Payloads {
 public:
  static Payloads& get() {
    static Payloads all;
    return all;
  }
  ~Payloads() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    if (carrier_.joinable()) carrier_.join();
  }

  // A descriptor of the semaphore's payload; -1: there is none.
  int share(const Below& device, VkSemaphore semaphore) {
    const std::lock_guard lock(mutex_);
    const int file = memfd_create("semaphore", MFD_CLOEXEC);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) return -1;
    add({device, semaphore, files_.emplace(std::pair(status.st_dev, status.st_ino), files_.size()).first->second});
    return file;
  }
  bool take(const Below& device, VkSemaphore semaphore, int file) {
    const std::lock_guard lock(mutex_);
    struct stat status {};
    if (fstat(file, &status) != 0) return false;
    const auto found = files_.find(std::pair(status.st_dev, status.st_ino));
    if (found == files_.end()) return false;
    add({device, semaphore, found->second});
    close(file);
    return true;
  }
  void remove(VkDevice device, VkSemaphore semaphore) {
    const std::lock_guard lock(mutex_);
    std::erase_if(members_,
                  [&](const Member& one) { return one.device.device == device && one.semaphore == semaphore; });
  }

 private:
  void add(const Member& member) {
    members_.push_back(member);
    if (!carrier_.joinable()) carrier_ = std::thread([this] { carryAlways(); });
  }

  void carryAlways() {
    for (;; std::this_thread::sleep_for(std::chrono::microseconds(200))) {
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
      carry();
    }
  }

  // Each gets the largest value of its payload.
  void carry() {
    std::vector<uint64_t> values;
    std::map<size_t, uint64_t> largest;
    for (const Member& one : members_) {
      uint64_t value = 0;
      one.device.get<PFN_vkGetSemaphoreCounterValue>("vkGetSemaphoreCounterValue")(one.device.device, one.semaphore,
                                                                                   &value);
      values.push_back(value);
      largest[one.payload] = std::max(largest[one.payload], value);
    }
    for (size_t i = 0; i < members_.size(); ++i) {
      const Member& one = members_[i];
      const VkSemaphoreSignalInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, one.semaphore,
                                       largest[one.payload]};
      if (values[i] < info.value) one.device.get<PFN_vkSignalSemaphore>("vkSignalSemaphore")(one.device.device, &info);
    }
  }

  std::mutex mutex_;
  bool stopped_ = false;
  std::map<std::pair<dev_t, ino_t>, size_t> files_;
  std::vector<Member> members_;
  std::thread carrier_;
};

bool hasExtension(const Below& instance, VkPhysicalDevice physicalDevice) {
  const auto list = instance.enumerateExtensions;
  uint32_t count = 0;
  list(physicalDevice, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> all(count);
  list(physicalDevice, nullptr, &count, all.data());
  return std::ranges::any_of(all, [](const auto& one) { return std::string_view(one.extensionName) == kExtension; });
}

VKAPI_ATTR VkResult VKAPI_CALL enumerateExtensions(VkPhysicalDevice physicalDevice, const char* layer, uint32_t* count,
                                                   VkExtensionProperties* properties) {
  const Below instance = below(physicalDevice);
  const auto list = instance.enumerateExtensions;
  if (layer || hasExtension(instance, physicalDevice)) return list(physicalDevice, layer, count, properties);
  const uint32_t room = *count;
  const VkResult result = list(physicalDevice, layer, count, properties);
  if (result != VK_SUCCESS) return result;
  if (properties && *count == room) return VK_INCOMPLETE;
  if (properties) {
    properties[*count] = {};
    std::strcpy(properties[*count].extensionName, kExtension);
    properties[*count].specVersion = VK_KHR_EXTERNAL_SEMAPHORE_FD_SPEC_VERSION;
  }
  ++*count;
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL semaphoreProperties(VkPhysicalDevice physicalDevice,
                                               const VkPhysicalDeviceExternalSemaphoreInfo* info,
                                               VkExternalSemaphoreProperties* properties) {
  const Below instance = below(physicalDevice);
  instance.semaphoreProperties(physicalDevice, info, properties);
  if (hasExtension(instance, physicalDevice) || info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT)
    return;
  properties->compatibleHandleTypes = properties->exportFromImportedHandleTypes = info->handleType;
  properties->externalSemaphoreFeatures =
      VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
}

// With the least that a device may have of what lavapipe does not limit.
VKAPI_ATTR void VKAPI_CALL deviceProperties(VkPhysicalDevice physicalDevice, VkPhysicalDeviceProperties2* properties) {
  constexpr uint64_t kLeastDifference = (uint64_t{1} << 31) - 1;
  below(physicalDevice).properties(physicalDevice, properties);
  for (auto* at = static_cast<VkBaseOutStructure*>(properties->pNext); at; at = at->pNext)
    if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES)
      reinterpret_cast<VkPhysicalDeviceTimelineSemaphoreProperties*>(at)->maxTimelineSemaphoreValueDifference =
          kLeastDifference;
}

// Without what the driver knows nothing of.
VKAPI_ATTR VkResult VKAPI_CALL createSemaphore(VkDevice device, const VkSemaphoreCreateInfo* info,
                                               const VkAllocationCallbacks* allocator, VkSemaphore* semaphore) {
  const Below own = below(device);
  VkSemaphoreCreateInfo inner = *info;
  VkSemaphoreTypeCreateInfo type{};
  if (own.isEmulated) {
    inner.pNext = nullptr;
    for (auto* at = static_cast<const VkBaseInStructure*>(info->pNext); at; at = at->pNext) {
      if (at->sType != VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO) continue;
      type = *reinterpret_cast<const VkSemaphoreTypeCreateInfo*>(at);
      type.pNext = nullptr;
      inner.pNext = &type;
    }
  }
  return own.get<PFN_vkCreateSemaphore>("vkCreateSemaphore")(device, &inner, allocator, semaphore);
}

VKAPI_ATTR void VKAPI_CALL destroySemaphore(VkDevice device, VkSemaphore semaphore,
                                            const VkAllocationCallbacks* allocator) {
  Payloads::get().remove(device, semaphore);
  below(device).get<PFN_vkDestroySemaphore>("vkDestroySemaphore")(device, semaphore, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL getFile(VkDevice device, const VkSemaphoreGetFdInfoKHR* info, int* file) {
  *file = Payloads::get().share(below(device), info->semaphore);
  return *file < 0 ? VK_ERROR_TOO_MANY_OBJECTS : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL importFile(VkDevice device, const VkImportSemaphoreFdInfoKHR* info) {
  return Payloads::get().take(below(device), info->semaphore, info->fd) ? VK_SUCCESS : VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

VKAPI_ATTR VkResult VKAPI_CALL createInstance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                                              VkInstance* instance) {
  auto* link = findLink<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  if (!link) return VK_ERROR_INITIALIZATION_FAILED;
  Below own;
  own.instanceProc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(own.instanceProc(VK_NULL_HANDLE, "vkCreateInstance"));
  const VkResult result = create(info, allocator, instance);
  if (result != VK_SUCCESS) return result;
  own.instance = *instance;
  own.properties = own.get<PFN_vkGetPhysicalDeviceProperties2>("vkGetPhysicalDeviceProperties2");
  own.enumerateExtensions = own.get<PFN_vkEnumerateDeviceExtensionProperties>("vkEnumerateDeviceExtensionProperties");
  own.semaphoreProperties =
      own.get<PFN_vkGetPhysicalDeviceExternalSemaphoreProperties>("vkGetPhysicalDeviceExternalSemaphoreProperties");
  const std::lock_guard lock(belowMutex);
  belows()[keyOf(*instance)] = own;
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL createDevice(VkPhysicalDevice physicalDevice, const VkDeviceCreateInfo* info,
                                            const VkAllocationCallbacks* allocator, VkDevice* device) {
  auto* link = findLink<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  if (!link) return VK_ERROR_INITIALIZATION_FAILED;
  const Below instance = below(physicalDevice);
  Below own;
  own.deviceProc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  const auto create = reinterpret_cast<PFN_vkCreateDevice>(
      link->u.pLayerInfo->pfnNextGetInstanceProcAddr(instance.instance, "vkCreateDevice"));
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  std::vector<const char*> extensions(info->ppEnabledExtensionNames,
                                      info->ppEnabledExtensionNames + info->enabledExtensionCount);
  if (!hasExtension(instance, physicalDevice))
    own.isEmulated = std::erase_if(extensions, [](std::string_view name) { return name == kExtension; }) > 0;
  VkDeviceCreateInfo inner = *info;
  inner.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  inner.ppEnabledExtensionNames = extensions.data();
  const VkResult result = create(physicalDevice, &inner, allocator, device);
  if (result != VK_SUCCESS) return result;
  own.device = *device;
  const std::lock_guard lock(belowMutex);
  belows()[keyOf(*device)] = own;
  return result;
}

PFN_vkVoidFunction VKAPI_CALL deviceProc(VkDevice device, const char* name);
PFN_vkVoidFunction VKAPI_CALL instanceProc(VkInstance instance, const char* name);

struct Entry {
  std::string_view name;
  PFN_vkVoidFunction function;
};

PFN_vkVoidFunction find(std::initializer_list<Entry> entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() ? nullptr : found->function;
}

template <class F>
PFN_vkVoidFunction plain(F function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

PFN_vkVoidFunction VKAPI_CALL instanceProc(VkInstance instance, const char* name) {
  const auto found = find({{"vkGetInstanceProcAddr", plain(instanceProc)},
                           {"vkGetDeviceProcAddr", plain(deviceProc)},
                           {"vkCreateInstance", plain(createInstance)},
                           {"vkCreateDevice", plain(createDevice)},
                           {"vkEnumerateDeviceExtensionProperties", plain(enumerateExtensions)},
                           {"vkGetPhysicalDeviceProperties2", plain(deviceProperties)},
                           {"vkGetPhysicalDeviceExternalSemaphoreProperties", plain(semaphoreProperties)}},
                          name);
  return found || !instance ? found : below(instance).get<PFN_vkVoidFunction>(name);
}

PFN_vkVoidFunction VKAPI_CALL deviceProc(VkDevice device, const char* name) {
  const Below own = below(device);
  if (own.isEmulated)
    if (const auto found = find({{"vkCreateSemaphore", plain(createSemaphore)},
                                 {"vkDestroySemaphore", plain(destroySemaphore)},
                                 {"vkGetSemaphoreFdKHR", plain(getFile)},
                                 {"vkImportSemaphoreFdKHR", plain(importFile)}},
                                name))
      return found;
  return own.get<PFN_vkVoidFunction>(name);
}

}  // namespace
}  // namespace dimple::testing

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* interface) {
  if (!interface || interface->loaderLayerInterfaceVersion < 2) return VK_ERROR_INITIALIZATION_FAILED;
  interface->loaderLayerInterfaceVersion = 2;
  interface->pfnGetInstanceProcAddr = dimple::testing::instanceProc;
  interface->pfnGetDeviceProcAddr = dimple::testing::deviceProc;
  interface->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
