// The functions of Vulkan that the layer looks at. Everything else of the layer is made of this table.
//
//   CALL(name)             answers a VkResult and makes nothing that has to be destroyed
//   CREATE(name, Object)   answers a VkResult and puts new objects where its last parameter points
//   DESTROY(name, Object)  takes the object as its second parameter
//
// INSTANCE_... are found at the instance, the others at the device. vkCreateInstance, vkCreateDevice and what destroys
// these are no part of it: a layer links itself in there.
#pragma once

#define DIMPLE_FAULT_FUNCTIONS(CALL, CREATE, DESTROY, INSTANCE_CALL, INSTANCE_CREATE, INSTANCE_DESTROY) \
  INSTANCE_CALL(EnumeratePhysicalDevices)                                                               \
  INSTANCE_CALL(EnumerateDeviceExtensionProperties)                                                     \
  INSTANCE_CALL(GetPhysicalDeviceCooperativeMatrixPropertiesKHR)                                        \
  INSTANCE_CREATE(CreateDebugUtilsMessengerEXT, DebugUtilsMessengerEXT)                                 \
  INSTANCE_DESTROY(DestroyDebugUtilsMessengerEXT, DebugUtilsMessengerEXT)                               \
  CREATE(AllocateMemory, DeviceMemory)                                                                  \
  DESTROY(FreeMemory, DeviceMemory)                                                                     \
  CREATE(CreateBuffer, Buffer)                                                                          \
  DESTROY(DestroyBuffer, Buffer)                                                                        \
  CREATE(CreateBufferView, BufferView)                                                                  \
  DESTROY(DestroyBufferView, BufferView)                                                                \
  CREATE(CreateCommandPool, CommandPool)                                                                \
  DESTROY(DestroyCommandPool, CommandPool)                                                              \
  CREATE(CreateComputePipelines, Pipeline)                                                              \
  DESTROY(DestroyPipeline, Pipeline)                                                                    \
  CREATE(CreateDescriptorPool, DescriptorPool)                                                          \
  DESTROY(DestroyDescriptorPool, DescriptorPool)                                                        \
  CREATE(CreateDescriptorSetLayout, DescriptorSetLayout)                                                \
  DESTROY(DestroyDescriptorSetLayout, DescriptorSetLayout)                                              \
  CREATE(CreateEvent, Event)                                                                            \
  DESTROY(DestroyEvent, Event)                                                                          \
  CREATE(CreateFence, Fence)                                                                            \
  DESTROY(DestroyFence, Fence)                                                                          \
  CREATE(CreatePipelineCache, PipelineCache)                                                            \
  DESTROY(DestroyPipelineCache, PipelineCache)                                                          \
  CREATE(CreatePipelineLayout, PipelineLayout)                                                          \
  DESTROY(DestroyPipelineLayout, PipelineLayout)                                                        \
  CREATE(CreateQueryPool, QueryPool)                                                                    \
  DESTROY(DestroyQueryPool, QueryPool)                                                                  \
  CREATE(CreateSemaphore, Semaphore)                                                                    \
  DESTROY(DestroySemaphore, Semaphore)                                                                  \
  CREATE(CreateShaderModule, ShaderModule)                                                              \
  DESTROY(DestroyShaderModule, ShaderModule)                                                            \
  CALL(AllocateCommandBuffers)                                                                          \
  CALL(AllocateDescriptorSets)                                                                          \
  CALL(BeginCommandBuffer)                                                                              \
  CALL(BindBufferMemory)                                                                                \
  CALL(BindBufferMemory2)                                                                               \
  CALL(DeviceWaitIdle)                                                                                  \
  CALL(EndCommandBuffer)                                                                                \
  CALL(FlushMappedMemoryRanges)                                                                         \
  CALL(GetPipelineCacheData)                                                                            \
  CALL(GetQueryPoolResults)                                                                             \
  CALL(GetSemaphoreCounterValue)                                                                        \
  CALL(InvalidateMappedMemoryRanges)                                                                    \
  CALL(MapMemory)                                                                                       \
  CALL(MergePipelineCaches)                                                                             \
  CALL(QueueSubmit)                                                                                     \
  CALL(QueueWaitIdle)                                                                                   \
  CALL(ResetCommandBuffer)                                                                              \
  CALL(ResetCommandPool)                                                                                \
  CALL(ResetDescriptorPool)                                                                             \
  CALL(ResetFences)                                                                                     \
  CALL(SignalSemaphore)                                                                                 \
  CALL(WaitForFences)                                                                                   \
  CALL(WaitSemaphores)
