// Objects of Vulkan that destroy themselves.
#pragma once

#include <utility>

#include "backend_vulkan/functions.h"

namespace dimple::vulkan {

// An object of a device, or none.
template <class T>
class Handle {
 public:
  using Destroy = Function<void(VKAPI_PTR*)(VkDevice, T, const VkAllocationCallbacks*)>;

  Handle() = default;
  Handle(VkDevice device, T object, const Destroy& destroy) : device_(device), object_(object), destroy_(destroy) {}
  ~Handle() {
    if (object_) destroy_(device_, object_, nullptr);
  }
  Handle(Handle&& other) noexcept { swap(other); }
  Handle& operator=(Handle&& other) noexcept {
    Handle moved(std::move(other));
    swap(moved);
    return *this;
  }

  T get() const { return object_; }
  explicit operator bool() const { return object_ != VK_NULL_HANDLE; }
  // Leaves the object to the caller.
  T release() { return std::exchange(object_, T{VK_NULL_HANDLE}); }

 private:
  void swap(Handle& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(object_, other.object_);
    std::swap(destroy_, other.destroy_);
  }

  VkDevice device_ = VK_NULL_HANDLE;
  T object_ = VK_NULL_HANDLE;
  Destroy destroy_{""};
};

// Creates an object. What a failed call puts in its place is undefined, and never looked at.
template <class T, class Info>
Result<Handle<T>> create(
    VkDevice device, const Info& info,
    const Function<VkResult(VKAPI_PTR*)(VkDevice, const Info*, const VkAllocationCallbacks*, T*)>& create,
    const Function<void(VKAPI_PTR*)(VkDevice, T, const VkAllocationCallbacks*)>& destroy) {
  T object = VK_NULL_HANDLE;
  TRY(create(device, &info, nullptr, &object));
  return Handle<T>(device, object, destroy);
}

}  // namespace dimple::vulkan
