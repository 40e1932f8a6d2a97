// A Vulkan instance, device and queue that Dimple opens itself, for programs that own no Vulkan.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

#include "backend_vulkan/device.h"
#include "backend_vulkan/handle.h"
#include "backend_vulkan/instance.h"
#include "backend_vulkan/semaphore.h"

namespace dimple::vulkan {

struct OpenOptions {
  const uint8_t* uuid = nullptr;  // 16 bytes
  std::string name;               // a part of the adapter's name, any case; empty: any
  uint32_t index = 0;             // used without uuid and name
  bool validation = false;
  bool robustBufferAccess = false;
  Options options;
  std::string pipelineCachePath;
  Instance::Listener validationMessage;
  Device::Warn warn;
};

class OpenedDevice {
 public:
  static Result<std::unique_ptr<OpenedDevice>> open(const OpenOptions& options);
  ~OpenedDevice();
  OpenedDevice(const OpenedDevice&) = delete;
  OpenedDevice& operator=(const OpenedDevice&) = delete;

  Device& device() { return *device_; }
  const AdapterInfo& adapter() const { return adapter_; }
  Result<Handle<VkCommandPool>> createCommandPool();

  // Submits to the queue; the value to wait for.
  Result<uint64_t> submit(VkCommandBuffer commands);
  // In the order of submissions: what comes later begins when the semaphore has the value; the semaphore gets it when
  // all that came before is done.
  Status waitFor(Semaphore& semaphore, uint64_t value);
  Status signal(Semaphore& semaphore, uint64_t value);
  // Refuses a value that was not submitted.
  Status wait(uint64_t value);
  // Whether a value is known to be reached.
  bool done(uint64_t value);
  // Waits for everything that was submitted; on a lost device nothing executes. False if that could not be found out:
  // what may be in use has to be left alone.
  bool settle();
  // Records with `record`, submits and waits.
  Status runOnce(const std::function<void(VkCommandBuffer)>& record);

 private:
  struct DestroyDevice {
    PFN_vkDestroyDevice function;
    void operator()(VkDevice device) const { function(device, nullptr); }
  };

  OpenedDevice() = default;
  Status choose(const OpenOptions& options);
  Status createDevice(const OpenOptions& options);
  Status createQueue();
  // With the mutex, or alone.
  bool idle();
  // With the mutex. Null: no commands. `wait`, `signal`: a semaphore beside the queue's own, or null, and its value.
  Result<uint64_t> submit(VkCommandBuffer commands, VkSemaphore wait, VkSemaphore signal, uint64_t value);

  // In the order in which they are made; the last goes first.
  std::unique_ptr<Instance> instance_;
  DeviceHandles handles_;
  AdapterInfo adapter_;
  std::unique_ptr<std::remove_pointer_t<VkDevice>, DestroyDevice> logicalDevice_;
  std::unique_ptr<Device> device_;
  VkQueue queue_ = VK_NULL_HANDLE;
  Handle<VkSemaphore> timeline_;
  Handle<VkCommandPool> ownPool_;
  std::mutex mutex_;  // queue, pool and values
  uint64_t lastValue_ = 0;
  uint64_t doneValue_ = 0;
};

}  // namespace dimple::vulkan
