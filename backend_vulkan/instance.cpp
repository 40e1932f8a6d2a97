#include "backend_vulkan/instance.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/text.h"

namespace dimple::vulkan {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

// The functions that exist before an instance.
struct LoaderFunctions {
  Function<PFN_vkCreateInstance> createInstance{"vkCreateInstance"};
  Function<PFN_vkEnumerateInstanceExtensionProperties> enumerateInstanceExtensionProperties{
      "vkEnumerateInstanceExtensionProperties"};
  Function<PFN_vkEnumerateInstanceLayerProperties> enumerateInstanceLayerProperties{
      "vkEnumerateInstanceLayerProperties"};
};

Result<LoaderFunctions> openLoader() {
  static const VkResult result = volkInitialize();
  if (result != VK_SUCCESS)
    return Error{ErrorCode::Unsupported, "There is no Vulkan loader on this machine (libvulkan.so.1)."};
  LoaderFunctions functions;
  const char* missing = nullptr;
  const auto load = [&](auto& function) {
    function.load(vkGetInstanceProcAddr(VK_NULL_HANDLE, function.name()));
    if (!function && !missing) missing = function.name();
  };
  load(functions.createInstance);
  load(functions.enumerateInstanceExtensionProperties);
  load(functions.enumerateInstanceLayerProperties);
  if (missing) return Error{ErrorCode::Unsupported, cat("The Vulkan loader has no ", missing, ".")};
  return functions;
}

Result<std::vector<VkExtensionProperties>> instanceExtensions(const LoaderFunctions& loader, const char* layer) {
  return enumerate<VkExtensionProperties>(
      [&](auto... list) { return loader.enumerateInstanceExtensionProperties(layer, list...); });
}

// Whether the layer is installed, and whether it brings messages.
Result<bool> validationBringsMessages(const LoaderFunctions& loader) {
  const auto layers =
      enumerate<VkLayerProperties>([&](auto... list) { return loader.enumerateInstanceLayerProperties(list...); });
  if (!layers) return layers.error();
  if (std::none_of(layers->begin(), layers->end(),
                   [](const auto& l) { return std::string_view(l.layerName) == kValidationLayer; }))
    return Error{ErrorCode::Unsupported, cat("Validation was asked for, but ", kValidationLayer, " is not installed.")};
  const auto extensions = instanceExtensions(loader, kValidationLayer);
  if (!extensions) return extensions.error();
  return lists(*extensions, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
}

VKAPI_ATTR VkBool32 VKAPI_CALL onValidation(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                            const VkDebugUtilsMessengerCallbackDataEXT* data, void* listener) {
  (*static_cast<const Instance::Listener*>(listener))(data->pMessage);
  return VK_FALSE;
}

// The last instance of a process unloads the drivers, and some cannot be loaded any number of times: NVIDIA's fails
// after about thirty with VK_ERROR_INCOMPATIBLE_DRIVER. One instance without layers therefore lives until the process
// ends.
void keepDriversLoaded(const LoaderFunctions& loader, VkInstanceCreateInfo info) {
  static std::mutex mutex;
  static bool kept = false;
  const std::lock_guard lock(mutex);
  if (kept) return;
  info.pNext = nullptr;
  info.enabledLayerCount = 0;
  info.enabledExtensionCount = 0;
  info.flags = 0;
  VkInstance instance = VK_NULL_HANDLE;
  kept = static_cast<bool>(loader.createInstance(&info, nullptr, &instance));
}

// The loader's error for a missing driver tells nothing to a person who has to install one.
Error withoutDriver() {
  return {
      ErrorCode::Unsupported,
      "There is no Vulkan driver (VK_ERROR_INCOMPATIBLE_DRIVER), expected an installed one, such as Mesa's lavapipe, "
      "which needs no GPU, or the path of a driver's manifest in VK_DRIVER_FILES, such as build/deps/lvp_icd.json, "
      "which "
      "tools/setup.sh in the source tree writes."};
}

}  // namespace

bool lists(const std::vector<VkExtensionProperties>& all, std::string_view name) {
  return std::any_of(all.begin(), all.end(), [&](const auto& e) { return name == e.extensionName; });
}

Result<std::unique_ptr<Instance>> Instance::create(bool validation, Listener listener) {
  const auto loader = openLoader();
  if (!loader) return loader.error();
  const auto available = instanceExtensions(*loader, nullptr);
  if (!available) return available.error();
  bool debugUtils = lists(*available, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  if (validation) {
    const auto brings = validationBringsMessages(*loader);
    if (!brings) return brings.error();
    debugUtils |= *brings;
  }

  const VkApplicationInfo application{
      VK_STRUCTURE_TYPE_APPLICATION_INFO, nullptr, "dimple", 1, "dimple", 1, VK_API_VERSION_1_2};
  std::vector<const char*> extensions;
  VkInstanceCreateFlags flags = 0;
  // Without this, the loader hides drivers that are not fully conformant.
  if (lists(*available, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
  }
  if (debugUtils) extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  constexpr VkValidationFeatureEnableEXT kEnabled[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  const VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, nullptr, 1, kEnabled, 0, nullptr};
  const VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                  validation ? &features : nullptr,
                                  flags,
                                  &application,
                                  validation ? 1u : 0u,
                                  &kValidationLayer,
                                  static_cast<uint32_t>(extensions.size()),
                                  extensions.data()};
  keepDriversLoaded(*loader, info);

  std::unique_ptr<Instance> instance(new Instance(std::move(listener)));
  VkInstance handle = VK_NULL_HANDLE;
  const Outcome created = loader->createInstance(&info, nullptr, &handle);
  if (created.is(VK_ERROR_INCOMPATIBLE_DRIVER)) return withoutDriver();
  TRY(created);
  const auto destroy = reinterpret_cast<PFN_vkDestroyInstance>(vkGetInstanceProcAddr(handle, "vkDestroyInstance"));
  if (!destroy) return Error{ErrorCode::Unsupported, "The Vulkan instance has no vkDestroyInstance."};
  instance->handle_ = {handle, Destroy{destroy}};
  auto functions = loadInstanceFunctions(vkGetInstanceProcAddr, handle);
  if (!functions) return functions.error();
  instance->functions_ = *functions;
  if (validation && instance->listener_) TRY(instance->listen());
  return instance;
}

Status Instance::listen() {
  if (!functions_.createDebugUtilsMessenger || !functions_.destroyDebugUtilsMessenger) return {};
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT;
  info.pfnUserCallback = onValidation;
  info.pUserData = const_cast<Listener*>(&listener_);
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  TRY(functions_.createDebugUtilsMessenger(handle(), &info, nullptr, &messenger));
  messenger_ = messenger;
  return {};
}

Instance::~Instance() {
  if (messenger_) functions_.destroyDebugUtilsMessenger(handle(), messenger_, nullptr);
}

Result<std::vector<VkPhysicalDevice>> Instance::physicalDevices() const {
  return enumerate<VkPhysicalDevice>(
      [&](auto... list) { return functions_.enumeratePhysicalDevices(handle(), list...); });
}

AdapterInfo Instance::describe(VkPhysicalDevice physicalDevice) const {
  AdapterInfo info;
  VkPhysicalDeviceIDProperties id{};
  id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &id;
  functions_.getPhysicalDeviceProperties2(physicalDevice, &properties);
  info.properties = properties.properties;
  info.name = properties.properties.deviceName;
  std::copy_n(id.deviceUUID, info.uuid.size(), info.uuid.begin());
  std::copy_n(id.deviceLUID, info.luid.size(), info.luid.begin());
  info.luidValid = id.deviceLUIDValid != VK_FALSE;
  VkPhysicalDeviceMemoryProperties memory{};
  functions_.getPhysicalDeviceMemoryProperties(physicalDevice, &memory);
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      info.deviceLocalBytes += memory.memoryHeaps[i].size;
  return info;
}

Result<std::vector<AdapterInfo>> listAdapters() {
  const auto instance = Instance::create(false, nullptr);
  if (!instance) return instance.error();
  const auto all = (*instance)->physicalDevices();
  if (!all) return all.error();
  std::vector<AdapterInfo> adapters;
  for (VkPhysicalDevice physicalDevice : *all) adapters.push_back((*instance)->describe(physicalDevice));
  return adapters;
}

}  // namespace dimple::vulkan
