// The functions of dimple.h that work on a device.
#include "api/device.h"
#include "api/guard.h"
#include "api/vulkan_objects.h"
#include "core/text.h"

using namespace dimple;
using namespace dimple::api;

namespace {

HRESULT refuseEarly(HRESULT code, const std::string& text) {
  setLastMessage(text);
  return code;
}

HRESULT notOurs() { return refuseEarly(E_INVALIDARG, "device is no live device of Dimple."); }

// The Vulkan objects of a live device, or null for a device over another back end.
VulkanObjects* vulkanObjects(Device& device) { return dynamic_cast<VulkanObjects*>(&device.native()); }

HRESULT notVulkan(Device& device) {
  return device.refuse(E_INVALIDARG,
                       "device is no Vulkan device, expected one of dimpleCreateVulkanDevice or of a context.");
}

}  // namespace

DIMPLE_API const char* STDMETHODCALLTYPE dimpleGetVersion() { return DIMPLE_VERSION_STRING; }

DIMPLE_API const char* STDMETHODCALLTYPE dimpleGetLastMessage() { return lastMessage(); }

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleSetMessageCallback(IDMLDevice* device, DimpleMessageCallback callback,
                                                              void* context) {
  Device* own = Device::find(device);
  if (!own) return notOurs();
  own->setCallback(callback, context);
  return S_OK;
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateVulkanDevice(const DimpleVulkanDeviceDesc* desc,
                                                              DML_CREATE_DEVICE_FLAGS flags,
                                                              DML_FEATURE_LEVEL minimumFeatureLevel, REFIID riid,
                                                              void** ppv) {
  if (!ppv) return refuseEarly(E_POINTER, "ppv is null, expected where to put the device.");
  *ppv = nullptr;
  if (!desc || !desc->Instance || !desc->PhysicalDevice || !desc->Device)
    return refuseEarly(E_INVALIDARG, "desc has a null Instance, PhysicalDevice or Device.");
  if (auto error = checkCreation(flags, minimumFeatureLevel)) return refuseEarly(resultOf(error->code), error->text);
  auto getInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(desc->GetInstanceProcAddr);
  if (!getInstanceProcAddr) {
    if (volkInitialize() != VK_SUCCESS)
      return refuseEarly(DXGI_ERROR_UNSUPPORTED, "There is no Vulkan loader on this machine (libvulkan.so.1).");
    getInstanceProcAddr = vkGetInstanceProcAddr;
  }
  auto functions = vulkan::loadInstanceFunctions(getInstanceProcAddr, desc->Instance);
  if (!functions) return refuseEarly(resultOf(functions.error().code), functions.error().text);
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  functions->getPhysicalDeviceProperties2(desc->PhysicalDevice, &properties);
  if (properties.properties.apiVersion < VK_API_VERSION_1_2)
    return refuseEarly(DXGI_ERROR_UNSUPPORTED, cat(properties.properties.deviceName, " is older than Vulkan 1.2."));
  const auto enabled = desc->EnabledFeatures ? vulkan::readFeatures(*desc->EnabledFeatures) : vulkan::EnabledFeatures{};
  auto backend = vulkan::Device::create({desc->Instance, desc->PhysicalDevice, desc->Device, desc->QueueFamilyIndex},
                                        *functions, enabled, desc->PipelineCachePath ? desc->PipelineCachePath : "");
  if (!backend) return refuseEarly(resultOf(backend.error().code), backend.error().text);
  return handOut(static_cast<IDMLDevice1*>(new Device(
                     std::make_unique<VulkanObjects>(std::shared_ptr<vulkan::Device>(std::move(*backend))), flags)),
                 riid, ppv);
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleWrapBuffer(IDMLDevice* device, VkBuffer buffer, UINT64 sizeInBytes,
                                                      ID3D12Resource** resource) {
  if (!resource) return E_POINTER;
  *resource = nullptr;
  Device* own = Device::find(device);
  if (!own) return notOurs();
  VulkanObjects* objects = vulkanObjects(*own);
  if (!objects) return notVulkan(*own);
  if (!buffer || sizeInBytes == 0)
    return own->refuse(E_INVALIDARG, cat("buffer is null or sizeInBytes (", sizeInBytes, ") is 0."));
  *resource = new VulkanBuffer(objects->shared(), buffer, sizeInBytes);
  return S_OK;
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleWrapCommandBuffer(IDMLDevice* device, VkCommandBuffer commandBuffer,
                                                             ID3D12GraphicsCommandList** list) {
  if (!list) return E_POINTER;
  *list = nullptr;
  Device* own = Device::find(device);
  if (!own) return notOurs();
  VulkanObjects* objects = vulkanObjects(*own);
  if (!objects) return notVulkan(*own);
  if (!commandBuffer) return own->refuse(E_INVALIDARG, "commandBuffer is null, expected a VkCommandBuffer.");
  *list = new VulkanCommandList(objects->shared(), commandBuffer);
  return S_OK;
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateDescriptorHeap(IDMLDevice* device, UINT count,
                                                                ID3D12DescriptorHeap** heap) {
  if (!heap) return E_POINTER;
  *heap = nullptr;
  Device* own = Device::find(device);
  if (!own) return notOurs();
  VulkanObjects* objects = vulkanObjects(*own);
  if (!objects) return notVulkan(*own);
  if (count == 0) return own->refuse(E_INVALIDARG, "count has value (0), expected at least 1.");
  const HRESULT made = guarded([&] {
    *heap = new VulkanDescriptorHeap(objects->shared(), count);
    return S_OK;
  });
  return FAILED(made) ? own->refuse(made, cat("There is no memory for ", count, " descriptors.")) : made;
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleNotifyDeviceLost(IDMLDevice* device, INT32 result) {
  Device* own = Device::find(device);
  if (!own) return notOurs();
  own->removeDevice(DXGI_ERROR_DEVICE_HUNG, cat("The caller's queue failed with VkResult (", result, ")."));
  return S_OK;
}
