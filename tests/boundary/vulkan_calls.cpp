#include "tests/boundary/vulkan_calls.h"

#include <dimple.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>
#include <utility>

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

template <size_t N>
struct Name {
  constexpr Name(const char (&given)[N]) { std::copy(given, given + N, text); }
  char text[N];
};

// A watched function: the driver's, and what stands before it. It makes or destroys `kObjects` objects.
template <Name kName, size_t kObjects, class Function>
struct Watched;
template <Name kName, size_t kObjects, class Result, class... Arguments>
struct Watched<kName, kObjects, Result(VKAPI_PTR*)(Arguments...)> {
  static inline Result(VKAPI_PTR* real)(Arguments...) = nullptr;
  static VKAPI_ATTR Result VKAPI_CALL call(Arguments... arguments) {
    if constexpr (std::is_same_v<Result, VkResult>) {
      if (const VkResult result = injected(kName.text)) return result;
      const VkResult result = real(arguments...);
      if (result == VK_SUCCESS) live += kObjects;
      return result;
    } else {
      if (isObject(arguments...)) live -= kObjects;
      real(arguments...);
    }
  }
  // Whether what is destroyed, the last before the allocator, is not null.
  template <class Handle>
  static bool isObject(Handle handle, const VkAllocationCallbacks*) {
    return handle != VK_NULL_HANDLE;
  }
  template <class Owner, class Handle>
  static bool isObject(Owner, Handle handle, const VkAllocationCallbacks*) {
    return handle != VK_NULL_HANDLE;
  }
};

template <Name kName, size_t kObjects, class Function>
PFN_vkVoidFunction replace(PFN_vkVoidFunction real) {
  using Here = Watched<kName, kObjects, Function>;
  Here::real = reinterpret_cast<Function>(real);
  return reinterpret_cast<PFN_vkVoidFunction>(&Here::call);
}

#define DIMPLE_MAKES(function) \
  { #function, replace < #function, 1, PFN_##function> }
#define DIMPLE_CALLS(function) \
  { #function, replace < #function, 0, PFN_##function> }
constexpr std::pair<std::string_view, PFN_vkVoidFunction (*)(PFN_vkVoidFunction)> kWatched[] = {
    DIMPLE_MAKES(vkCreateInstance),
    DIMPLE_MAKES(vkCreateDevice),
    DIMPLE_MAKES(vkDestroyDevice),
    DIMPLE_MAKES(vkDestroyInstance),
    DIMPLE_MAKES(vkCreateBuffer),
    DIMPLE_MAKES(vkDestroyBuffer),
    DIMPLE_MAKES(vkAllocateMemory),
    DIMPLE_MAKES(vkFreeMemory),
    DIMPLE_MAKES(vkCreateCommandPool),
    DIMPLE_MAKES(vkDestroyCommandPool),
    DIMPLE_MAKES(vkCreateDescriptorPool),
    DIMPLE_MAKES(vkDestroyDescriptorPool),
    DIMPLE_MAKES(vkCreateDescriptorSetLayout),
    DIMPLE_MAKES(vkDestroyDescriptorSetLayout),
    DIMPLE_MAKES(vkCreatePipelineLayout),
    DIMPLE_MAKES(vkDestroyPipelineLayout),
    DIMPLE_MAKES(vkCreatePipelineCache),
    DIMPLE_MAKES(vkDestroyPipelineCache),
    DIMPLE_MAKES(vkCreateComputePipelines),
    DIMPLE_MAKES(vkDestroyPipeline),
    DIMPLE_MAKES(vkCreateShaderModule),
    DIMPLE_MAKES(vkDestroyShaderModule),
    DIMPLE_MAKES(vkCreateSemaphore),
    DIMPLE_MAKES(vkDestroySemaphore),
    DIMPLE_MAKES(vkCreateQueryPool),
    DIMPLE_MAKES(vkDestroyQueryPool),
    DIMPLE_CALLS(vkAllocateCommandBuffers),
    DIMPLE_CALLS(vkBeginCommandBuffer),
    DIMPLE_CALLS(vkEndCommandBuffer),
    DIMPLE_CALLS(vkQueueSubmit),
    DIMPLE_CALLS(vkWaitSemaphores),
    DIMPLE_CALLS(vkAllocateDescriptorSets),
    DIMPLE_CALLS(vkBindBufferMemory),
    DIMPLE_CALLS(vkMapMemory),
};

PFN_vkVoidFunction watched(std::string_view name, PFN_vkVoidFunction real) {
  for (const auto& [function, replace] : kWatched)
    if (function == name && real) return replace(real);
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

}  // namespace

void watchVulkan() {
  static const bool watching = [] {
    // Loads the loader, which happens once.
    DimpleAdapterDesc adapter{};
    if (FAILED(dimpleEnumerateAdapters(0, &adapter))) FAIL("There is no Vulkan device: ", dimpleGetLastMessage());
    loader = vkGetInstanceProcAddr;
    vkGetInstanceProcAddr = getInstanceProcAddr;
    vkCreateInstance = reinterpret_cast<PFN_vkCreateInstance>(
        replace<"vkCreateInstance", 1, PFN_vkCreateInstance>(reinterpret_cast<PFN_vkVoidFunction>(vkCreateInstance)));
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
