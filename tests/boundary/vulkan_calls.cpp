#include "tests/boundary/vulkan_calls.h"

#include <dimple.h>
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace dimple::testing {
namespace {

PFN_vkGetInstanceProcAddr loader = nullptr;
PFN_vkGetDeviceProcAddr deviceLoader = nullptr;
std::atomic<size_t> live = 0;

char failingFunction[64] = {};
VkResult failingResult = VK_SUCCESS;

// What a function answers instead of doing anything; VK_SUCCESS: nothing.
VkResult injected(const char* function) {
  return std::strcmp(function, failingFunction) == 0 ? failingResult : VK_SUCCESS;
}

// A watched function: the driver's, and what stands before it. `kName` is in the scope of each.
template <class Tag, class Function>
struct Watched;
template <class Tag, class Result, class... Arguments>
struct Watched<Tag, Result(VKAPI_PTR*)(Arguments...)> {
  static inline Result(VKAPI_PTR* real)(Arguments...) = nullptr;
  static VKAPI_ATTR Result VKAPI_CALL call(Arguments... arguments) {
    if constexpr (std::is_same_v<Result, VkResult>) {
      if (const VkResult result = injected(Tag::kName)) return result;
      const VkResult result = real(arguments...);
      if (result == VK_SUCCESS) live += Tag::kMakes;
      return result;
    } else {
      real(arguments...);
      live -= Tag::kMakes != 0 && isObject(arguments...);
    }
  }
  // Whether what is destroyed is not null: the last handle given, before the allocator.
  template <class Handle>
  static bool isObject(Handle handle, const VkAllocationCallbacks*) {
    return handle != VK_NULL_HANDLE;
  }
  template <class Owner, class Handle>
  static bool isObject(Owner, Handle handle, const VkAllocationCallbacks*) {
    return handle != VK_NULL_HANDLE;
  }
};

struct Entry {
  PFN_vkVoidFunction (*replace)(PFN_vkVoidFunction real);
};

template <class Tag, class Function>
PFN_vkVoidFunction replace(PFN_vkVoidFunction real) {
  using Here = Watched<Tag, Function>;
  Here::real = reinterpret_cast<Function>(real);
  return reinterpret_cast<PFN_vkVoidFunction>(&Here::call);
}

// `makes`: how many objects a call makes or destroys.
#define DIMPLE_WATCH(name, makes)               \
  struct Tag##name {                            \
    static constexpr const char* kName = #name; \
    static constexpr size_t kMakes = makes;     \
  };
#define DIMPLE_WATCHED(X)                                                                                              \
  X(vkCreateDevice, 1)                                                                                                 \
  X(vkDestroyDevice, 1)                                                                                                \
  X(vkDestroyInstance, 1)                                                                                              \
  X(vkCreateBuffer, 1)                                                                                                 \
  X(vkDestroyBuffer, 1) X(vkAllocateMemory, 1) X(vkFreeMemory, 1) X(vkCreateCommandPool, 1) X(vkDestroyCommandPool, 1) \
      X(vkCreateDescriptorPool, 1) X(vkDestroyDescriptorPool, 1) X(vkCreateDescriptorSetLayout, 1)                     \
          X(vkDestroyDescriptorSetLayout, 1) X(vkCreatePipelineLayout, 1) X(vkDestroyPipelineLayout, 1)                \
              X(vkCreatePipelineCache, 1) X(vkDestroyPipelineCache, 1) X(vkCreateComputePipelines, 1)                  \
                  X(vkDestroyPipeline, 1) X(vkCreateShaderModule, 1) X(vkDestroyShaderModule, 1)                       \
                      X(vkCreateSemaphore, 1) X(vkDestroySemaphore, 1) X(vkCreateQueryPool, 1)                         \
                          X(vkDestroyQueryPool, 1) X(vkAllocateCommandBuffers, 0) X(vkBeginCommandBuffer, 0)           \
                              X(vkEndCommandBuffer, 0) X(vkQueueSubmit, 0) X(vkWaitSemaphores, 0)                      \
                                  X(vkAllocateDescriptorSets, 0) X(vkBindBufferMemory, 0) X(vkMapMemory, 0)
DIMPLE_WATCHED(DIMPLE_WATCH)

PFN_vkVoidFunction watched(const char* name, PFN_vkVoidFunction real) {
  if (!real) return nullptr;
#define DIMPLE_REPLACE(function, makes) \
  if (std::strcmp(name, #function) == 0) return replace<Tag##function, PFN_##function>(real);
  DIMPLE_WATCHED(DIMPLE_REPLACE)
  return real;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL getDeviceProcAddr(VkDevice device, const char* name) {
  return watched(name, deviceLoader(device, name));
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL getInstanceProcAddr(VkInstance instance, const char* name) {
  const PFN_vkVoidFunction real = loader(instance, name);
  if (std::strcmp(name, "vkGetDeviceProcAddr") == 0 && real) {
    deviceLoader = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(&getDeviceProcAddr);
  }
  return watched(name, real);
}

struct TagvkCreateInstance {
  static constexpr const char* kName = "vkCreateInstance";
  static constexpr size_t kMakes = 1;
};

}  // namespace

void watchVulkan() {
  static const bool watching = [] {
    // Loads the loader, which happens once.
    DimpleAdapterDesc adapter{};
    if (FAILED(dimpleEnumerateAdapters(0, &adapter))) FAIL("There is no Vulkan device: ", dimpleGetLastMessage());
    loader = vkGetInstanceProcAddr;
    vkGetInstanceProcAddr = getInstanceProcAddr;
    vkCreateInstance = reinterpret_cast<PFN_vkCreateInstance>(
        replace<TagvkCreateInstance, PFN_vkCreateInstance>(reinterpret_cast<PFN_vkVoidFunction>(vkCreateInstance)));
    return true;
  }();
  static_cast<void>(watching);
}

FailingCall::FailingCall(std::string_view function, VkResult result) {
  failingResult = result;
  failingFunction[function.copy(failingFunction, sizeof failingFunction - 1)] = 0;
}
FailingCall::~FailingCall() { failingFunction[0] = 0; }

size_t liveVulkanObjects() { return live; }

}  // namespace dimple::testing
