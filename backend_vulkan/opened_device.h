// A Vulkan instance, device and queue that Dimple opens itself, for programs that own no Vulkan.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend_vulkan/device.h"

namespace dimple::vulkan {

struct AdapterInfo {
  std::string name;
  std::array<uint8_t, 16> uuid{};
  std::array<uint8_t, 8> luid{};
  bool luidValid = false;
  VkPhysicalDeviceProperties properties{};
  uint64_t deviceLocalBytes = 0;
};

struct OpenOptions {
  const uint8_t* uuid = nullptr;  // 16 bytes
  std::string name;               // a part of the adapter's name, any case; empty: any
  uint32_t index = 0;             // used without uuid and name
  bool validation = false;
  bool robustBufferAccess = false;
  Options options;
  std::string pipelineCachePath;
  std::function<void(const char*)> validationMessage;
};

// Describes the adapters of this machine.
Result<std::vector<AdapterInfo>> listAdapters();

class OpenedDevice {
 public:
  static Result<std::unique_ptr<OpenedDevice>> open(const OpenOptions& options);
  ~OpenedDevice();
  OpenedDevice(const OpenedDevice&) = delete;
  OpenedDevice& operator=(const OpenedDevice&) = delete;

  Device& device() { return *device_; }
  const AdapterInfo& adapter() const { return adapter_; }
  VkCommandPool createCommandPool();
  void destroyCommandPool(VkCommandPool pool);

  // Submits to the queue; the value to wait for.
  Result<uint64_t> submit(VkCommandBuffer commands);
  Status wait(uint64_t value);
  // Records with `record`, submits and waits.
  Status runOnce(const std::function<void(VkCommandBuffer)>& record);

 private:
  OpenedDevice() = default;
  Status createInstance(const OpenOptions& options);
  Status choose(const OpenOptions& options);
  Status createDevice(const OpenOptions& options);

  InstanceFunctions functions_;
  DeviceHandles handles_;
  AdapterInfo adapter_;
  std::function<void(const char*)> validationMessage_;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::unique_ptr<Device> device_;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  VkCommandPool ownPool_ = VK_NULL_HANDLE;
  std::mutex mutex_;  // queue, pool and value
  uint64_t lastValue_ = 0;
};

}  // namespace dimple::vulkan
