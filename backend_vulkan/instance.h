// The Vulkan instance of Dimple's own, and the adapters that it finds.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "backend_vulkan/functions.h"

namespace dimple::vulkan {

struct AdapterInfo {
  std::string name;
  std::array<uint8_t, 16> uuid{};
  std::array<uint8_t, 8> luid{};
  bool luidValid = false;
  VkPhysicalDeviceProperties properties{};
  uint64_t deviceLocalBytes = 0;
};

// Describes the adapters of this machine.
Result<std::vector<AdapterInfo>> listAdapters();

class Instance {
 public:
  // Receives what the validation layers say.
  using Listener = std::function<void(const char*)>;

  // Without a listener the validation layers speak for themselves.
  static Result<std::unique_ptr<Instance>> create(bool validation, Listener listener);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  VkInstance handle() const { return handle_.get(); }
  const InstanceFunctions& functions() const { return functions_; }
  Result<std::vector<VkPhysicalDevice>> physicalDevices() const;
  AdapterInfo describe(VkPhysicalDevice physicalDevice) const;

 private:
  struct Destroy {
    PFN_vkDestroyInstance function;
    void operator()(VkInstance instance) const { function(instance, nullptr); }
  };
  explicit Instance(Listener listener) : listener_(std::move(listener)) {}
  Status listen();

  const Listener listener_;
  std::unique_ptr<std::remove_pointer_t<VkInstance>, Destroy> handle_;
  InstanceFunctions functions_;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

// Whether an extension is in a list.
bool lists(const std::vector<VkExtensionProperties>& all, std::string_view name);

}  // namespace dimple::vulkan
