// The functions of Vulkan that Dimple calls. A VkResult comes as an Outcome, which cannot be overlooked.
#pragma once

#include <type_traits>
#include <vector>

#include "backend_vulkan/fault.h"
#include "backend_vulkan/vulkan.h"
#include "core/result.h"

namespace dimple::vulkan {

template <class Pointer>
class Function;
template <class R, class... Arguments>
class Function<R(VKAPI_PTR*)(Arguments...)> {
 public:
  // `name`: a literal.
  explicit Function(const char* name) : name_(name) {}

  const char* name() const { return name_; }
  void load(PFN_vkVoidFunction function) { pointer_ = reinterpret_cast<Pointer>(function); }
  explicit operator bool() const { return pointer_ != nullptr; }
  auto operator()(Arguments... arguments) const {
    if constexpr (std::is_same_v<R, VkResult>)
      return Outcome(name_, pointer_(arguments...));
    else
      return pointer_(arguments...);
  }

 private:
  using Pointer = R(VKAPI_PTR*)(Arguments...);
  const char* name_;
  Pointer pointer_ = nullptr;
};

#define DIMPLE_DEVICE_FUNCTIONS(X) \
  X(AllocateCommandBuffers)        \
  X(AllocateDescriptorSets)        \
  X(AllocateMemory)                \
  X(BeginCommandBuffer)            \
  X(BindBufferMemory)              \
  X(CmdBindDescriptorSets)         \
  X(CmdBindPipeline)               \
  X(CmdCopyBuffer)                 \
  X(CmdDispatch)                   \
  X(CmdPipelineBarrier)            \
  X(CmdPushConstants)              \
  X(CmdWriteTimestamp)             \
  X(CreateBuffer)                  \
  X(CreateCommandPool)             \
  X(CreateComputePipelines)        \
  X(CreateDescriptorPool)          \
  X(CreateDescriptorSetLayout)     \
  X(CreatePipelineCache)           \
  X(CreatePipelineLayout)          \
  X(CreateQueryPool)               \
  X(CreateSemaphore)               \
  X(CreateShaderModule)            \
  X(DestroyBuffer)                 \
  X(DestroyCommandPool)            \
  X(DestroyDescriptorPool)         \
  X(DestroyDescriptorSetLayout)    \
  X(DestroyPipeline)               \
  X(DestroyPipelineCache)          \
  X(DestroyPipelineLayout)         \
  X(DestroyQueryPool)              \
  X(DestroySemaphore)              \
  X(DestroyShaderModule)           \
  X(DeviceWaitIdle)                \
  X(EndCommandBuffer)              \
  X(FreeCommandBuffers)            \
  X(FreeMemory)                    \
  X(GetBufferMemoryRequirements)   \
  X(GetDeviceQueue)                \
  X(GetPipelineCacheData)          \
  X(GetQueryPoolResults)           \
  X(GetSemaphoreCounterValue)      \
  X(MapMemory)                     \
  X(QueueSubmit)                   \
  X(ResetQueryPool)                \
  X(UpdateDescriptorSets)          \
  X(WaitSemaphores)

// Of one device, without the loader's way there.
struct DeviceFunctions {
#define DIMPLE_MEMBER(name) Function<PFN_vk##name> vk##name{"vk" #name};
  DIMPLE_DEVICE_FUNCTIONS(DIMPLE_MEMBER)
#undef DIMPLE_MEMBER

  // Refuses a device that lacks one.
  Status load(PFN_vkGetDeviceProcAddr getDeviceProcAddr, VkDevice device);
};

// Of one instance, loaded from one vkGetInstanceProcAddr.
struct InstanceFunctions {
  PFN_vkGetInstanceProcAddr getInstanceProcAddr = nullptr;
  PFN_vkGetDeviceProcAddr getDeviceProcAddr = nullptr;
  Function<PFN_vkEnumeratePhysicalDevices> enumeratePhysicalDevices{"vkEnumeratePhysicalDevices"};
  Function<PFN_vkGetPhysicalDeviceProperties2> getPhysicalDeviceProperties2{"vkGetPhysicalDeviceProperties2"};
  Function<PFN_vkGetPhysicalDeviceFeatures2> getPhysicalDeviceFeatures2{"vkGetPhysicalDeviceFeatures2"};
  Function<PFN_vkGetPhysicalDeviceMemoryProperties> getPhysicalDeviceMemoryProperties{
      "vkGetPhysicalDeviceMemoryProperties"};
  Function<PFN_vkGetPhysicalDeviceQueueFamilyProperties> getPhysicalDeviceQueueFamilyProperties{
      "vkGetPhysicalDeviceQueueFamilyProperties"};
  Function<PFN_vkGetPhysicalDeviceExternalBufferProperties> getPhysicalDeviceExternalBufferProperties{
      "vkGetPhysicalDeviceExternalBufferProperties"};
  Function<PFN_vkGetPhysicalDeviceExternalSemaphoreProperties> getPhysicalDeviceExternalSemaphoreProperties{
      "vkGetPhysicalDeviceExternalSemaphoreProperties"};
  Function<PFN_vkEnumerateDeviceExtensionProperties> enumerateDeviceExtensionProperties{
      "vkEnumerateDeviceExtensionProperties"};
  Function<PFN_vkCreateDevice> createDevice{"vkCreateDevice"};
  // Null without VK_KHR_cooperative_matrix.
  Function<PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR> getPhysicalDeviceCooperativeMatrixProperties{
      "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"};
  // Null without VK_EXT_debug_utils, like those below.
  Function<PFN_vkCreateDebugUtilsMessengerEXT> createDebugUtilsMessenger{"vkCreateDebugUtilsMessengerEXT"};
  Function<PFN_vkDestroyDebugUtilsMessengerEXT> destroyDebugUtilsMessenger{"vkDestroyDebugUtilsMessengerEXT"};
  Function<PFN_vkCmdBeginDebugUtilsLabelEXT> cmdBeginDebugUtilsLabel{"vkCmdBeginDebugUtilsLabelEXT"};
  Function<PFN_vkCmdEndDebugUtilsLabelEXT> cmdEndDebugUtilsLabel{"vkCmdEndDebugUtilsLabelEXT"};
};

Result<InstanceFunctions> loadInstanceFunctions(PFN_vkGetInstanceProcAddr getInstanceProcAddr, VkInstance instance);

// The list that a function of Vulkan gives to callers that first ask for its length, which may grow meanwhile. `empty`
// is what its elements are before the call.
template <class T, class Call>
Result<std::vector<T>> enumerate(Call call, const T& empty = {}) {
  constexpr bool kCannotFail = std::is_void_v<std::invoke_result_t<Call, uint32_t*, T*>>;
  constexpr int kAttempts = 8;
  for (int attempt = 1;; ++attempt) {
    uint32_t count = 0;
    std::vector<T> all;
    if constexpr (kCannotFail) {
      call(&count, static_cast<T*>(nullptr));
      all.assign(count, empty);
      call(&count, all.data());
    } else {
      TRY(call(&count, static_cast<T*>(nullptr)));
      all.assign(count, empty);
      const Outcome outcome = call(&count, all.data());
      if (outcome.is(VK_INCOMPLETE) && attempt < kAttempts) continue;
      TRY(outcome);
    }
    if (count < all.size()) all.resize(count);
    return all;
  }
}

}  // namespace dimple::vulkan
