#include "backend_vulkan/opened_device.h"

#include <algorithm>
#include <cstring>

#include "backend_vulkan/fault.h"
#include "core/text.h"

namespace dimple::vulkan {
namespace {

Status loadLoader() {
  static const VkResult result = volkInitialize();
  if (result == VK_SUCCESS) return {};
  return Error{ErrorCode::Unsupported, "There is no Vulkan loader on this machine (libvulkan.so.1)."};
}

bool lists(const std::vector<VkExtensionProperties>& all, std::string_view name) {
  return std::any_of(all.begin(), all.end(), [&](const auto& e) { return name == e.extensionName; });
}

std::vector<VkExtensionProperties> instanceExtensions(const char* layer) {
  return enumerate<VkExtensionProperties>(
      [&](auto... list) { vkEnumerateInstanceExtensionProperties(layer, list...); });
}

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

bool validationInstalled() {
  const auto all = enumerate<VkLayerProperties>([](auto... list) { vkEnumerateInstanceLayerProperties(list...); });
  return std::any_of(all.begin(), all.end(),
                     [](const auto& l) { return std::string_view(l.layerName) == kValidationLayer; });
}

VKAPI_ATTR VkBool32 VKAPI_CALL onValidation(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                            const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  (*static_cast<std::function<void(const char*)>*>(user))(data->pMessage);
  return VK_FALSE;
}

AdapterInfo describe(const InstanceFunctions& functions, VkPhysicalDevice physicalDevice) {
  AdapterInfo info;
  VkPhysicalDeviceIDProperties id{};
  id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &id;
  functions.getPhysicalDeviceProperties2(physicalDevice, &properties);
  info.properties = properties.properties;
  info.name = properties.properties.deviceName;
  std::copy_n(id.deviceUUID, info.uuid.size(), info.uuid.begin());
  std::copy_n(id.deviceLUID, info.luid.size(), info.luid.begin());
  info.luidValid = id.deviceLUIDValid != VK_FALSE;
  VkPhysicalDeviceMemoryProperties memory{};
  functions.getPhysicalDeviceMemoryProperties(physicalDevice, &memory);
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      info.deviceLocalBytes += memory.memoryHeaps[i].size;
  return info;
}

std::vector<VkPhysicalDevice> physicalDevices(const InstanceFunctions& functions, VkInstance instance) {
  return enumerate<VkPhysicalDevice>([&](auto... list) { functions.enumeratePhysicalDevices(instance, list...); });
}

// The last instance of a process unloads the drivers, and some cannot be loaded any number of times: NVIDIA's fails
// after about thirty with VK_ERROR_INCOMPATIBLE_DRIVER. So one instance without layers stays until the process ends.
void keepDriversLoaded(VkInstanceCreateInfo info) {
  static const VkInstance kept = [&] {
    info.pNext = nullptr;
    info.enabledLayerCount = 0;
    info.enabledExtensionCount = 0;
    info.flags = 0;
    VkInstance instance = VK_NULL_HANDLE;
    vkCreateInstance(&info, nullptr, &instance);
    return instance;
  }();
  static_cast<void>(kept);
}

Result<VkInstance> makeInstance(bool validation, bool debugUtils, const void* next) {
  TRY(loadLoader());
  const VkApplicationInfo application{
      VK_STRUCTURE_TYPE_APPLICATION_INFO, nullptr, "dimple", 1, "dimple", 1, VK_API_VERSION_1_2};
  std::vector<const char*> extensions;
  VkInstanceCreateFlags flags = 0;
  // Drivers that are not fully conformant hide without it.
  if (lists(instanceExtensions(nullptr), VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
  }
  if (debugUtils) extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  const VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                  next,
                                  flags,
                                  &application,
                                  validation ? 1u : 0u,
                                  &kValidationLayer,
                                  static_cast<uint32_t>(extensions.size()),
                                  extensions.data()};
  keepDriversLoaded(info);
  VkInstance instance = VK_NULL_HANDLE;
  if (const VkResult r = vkCreateInstance(&info, nullptr, &instance)) return fault("vkCreateInstance", r);
  return instance;
}

// What Dimple can use of what a device has, and nothing else, in the form that vkCreateDevice takes.
class DeviceRequest {
 public:
  DeviceRequest(const InstanceFunctions& functions, VkPhysicalDevice physicalDevice, const OpenOptions& options)
      : functions_(functions),
        physicalDevice_(physicalDevice),
        available_(enumerate<VkExtensionProperties>(
            [&](auto... list) { functions.enumerateDeviceExtensionProperties(physicalDevice, nullptr, list...); })) {
    constexpr const char* kPortabilitySubset = "VK_KHR_portability_subset";
    if (lists(available_, kPortabilitySubset)) extensions_.push_back(kPortabilitySubset);
    useCore(options);
    useRobustness2();
    useMatrices();
  }
  // Its structures point at each other.
  DeviceRequest(const DeviceRequest&) = delete;
  DeviceRequest& operator=(const DeviceRequest&) = delete;

  const VkPhysicalDeviceFeatures2& features() const { return use_; }
  const std::vector<const char*>& extensions() const { return extensions_; }

 private:
  // Fills a chain of structures, and answers the features of Vulkan 1.0.
  VkPhysicalDeviceFeatures query(void* chain) const {
    VkPhysicalDeviceFeatures2 have{};
    have.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    have.pNext = chain;
    functions_.getPhysicalDeviceFeatures2(physicalDevice_, &have);
    return have.features;
  }

  void useCore(const OpenOptions& options) {
    VkPhysicalDeviceVulkan12Features have12{};
    have12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    VkPhysicalDeviceVulkan11Features have11{};
    have11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    have11.pNext = &have12;
    const VkPhysicalDeviceFeatures have = query(&have11);

    use12_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    use12_.timelineSemaphore = VK_TRUE;  // mandatory in Vulkan 1.2
    use12_.hostQueryReset = have12.hostQueryReset;
    // With the memory model the scope of atomics is a feature of its own.
    use12_.vulkanMemoryModel = have12.vulkanMemoryModel && have12.vulkanMemoryModelDeviceScope;
    use12_.vulkanMemoryModelDeviceScope = use12_.vulkanMemoryModel;
    use12_.shaderInt8 = have12.shaderInt8;
    use12_.shaderFloat16 = have12.shaderFloat16;
    use12_.storageBuffer8BitAccess = options.options.nativeStorage && have12.storageBuffer8BitAccess;
    use12_.storagePushConstant8 = have12.storagePushConstant8;
    if (options.options.updateAfterBind) {
      use12_.descriptorBindingStorageBufferUpdateAfterBind = have12.descriptorBindingStorageBufferUpdateAfterBind;
      use12_.descriptorBindingPartiallyBound = have12.descriptorBindingPartiallyBound;
    }
    use11_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    use11_.pNext = &use12_;
    use11_.storageBuffer16BitAccess = options.options.nativeStorage && have11.storageBuffer16BitAccess;
    use11_.storagePushConstant16 = have11.storagePushConstant16;
    use_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    use_.pNext = &use11_;
    use_.features.shaderInt16 = have.shaderInt16;
    use_.features.shaderInt64 = have.shaderInt64;
    use_.features.shaderFloat64 = have.shaderFloat64;
    use_.features.robustBufferAccess = options.robustBufferAccess && have.robustBufferAccess;
  }

  // The stricter robustness, where the device has it.
  void useRobustness2() {
    if (!use_.features.robustBufferAccess || !lists(available_, VK_EXT_ROBUSTNESS_2_EXTENSION_NAME)) return;
    robustness2_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
    query(&robustness2_);
    robustness2_.robustImageAccess2 = VK_FALSE;
    robustness2_.nullDescriptor = VK_FALSE;
    robustness2_.pNext = use_.pNext;
    use_.pNext = &robustness2_;
    extensions_.push_back(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME);
  }

  // Matrices that subgroups hold together; their kernels count on the size of a subgroup.
  void useMatrices() {
    if (!lists(available_, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME) ||
        !lists(available_, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME))
      return;
    subgroupSizes_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
    matrices_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR;
    matrices_.pNext = &subgroupSizes_;
    query(&matrices_);
    matrices_.cooperativeMatrixRobustBufferAccess = VK_FALSE;
    subgroupSizes_.pNext = use_.pNext;
    use_.pNext = &matrices_;
    extensions_.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    extensions_.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  }

  const InstanceFunctions& functions_;
  const VkPhysicalDevice physicalDevice_;
  const std::vector<VkExtensionProperties> available_;
  VkPhysicalDeviceFeatures2 use_{};
  VkPhysicalDeviceVulkan11Features use11_{};
  VkPhysicalDeviceVulkan12Features use12_{};
  VkPhysicalDeviceRobustness2FeaturesEXT robustness2_{};
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroupSizes_{};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices_{};
  std::vector<const char*> extensions_;
};

}  // namespace

Result<std::vector<AdapterInfo>> listAdapters() {
  auto instance = makeInstance(false, false, nullptr);
  if (!instance) return instance.error();
  auto functions = loadInstanceFunctions(vkGetInstanceProcAddr, *instance);
  if (!functions) return functions.error();
  std::vector<AdapterInfo> adapters;
  for (VkPhysicalDevice physicalDevice : physicalDevices(*functions, *instance))
    adapters.push_back(describe(*functions, physicalDevice));
  functions->destroyInstance(*instance, nullptr);
  return adapters;
}

Status OpenedDevice::createInstance(const OpenOptions& options) {
  TRY(loadLoader());
  if (options.validation && !validationInstalled())
    return Error{ErrorCode::Unsupported, cat("Validation was asked for, but ", kValidationLayer, " is not installed.")};
  const bool debugUtils =
      lists(instanceExtensions(nullptr), VK_EXT_DEBUG_UTILS_EXTENSION_NAME) ||
      (options.validation && lists(instanceExtensions(kValidationLayer), VK_EXT_DEBUG_UTILS_EXTENSION_NAME));
  constexpr VkValidationFeatureEnableEXT kEnabled[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  const VkValidationFeaturesEXT validation{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, nullptr, 1, kEnabled, 0, nullptr};
  auto instance = makeInstance(options.validation, debugUtils, options.validation ? &validation : nullptr);
  if (!instance) return instance.error();
  handles_.instance = *instance;
  auto functions = loadInstanceFunctions(vkGetInstanceProcAddr, *instance);
  if (!functions) return functions.error();
  functions_ = *functions;
  if (options.validation && validationMessage_ && functions_.createDebugUtilsMessenger) {
    VkDebugUtilsMessengerCreateInfoEXT info{};
    info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    info.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT;
    info.pfnUserCallback = onValidation;
    info.pUserData = &validationMessage_;
    if (const VkResult r = functions_.createDebugUtilsMessenger(handles_.instance, &info, nullptr, &messenger_))
      return fault("vkCreateDebugUtilsMessengerEXT", r);
  }
  return {};
}

Status OpenedDevice::choose(const OpenOptions& options) {
  const auto all = physicalDevices(functions_, handles_.instance);
  for (uint32_t i = 0; i < all.size(); ++i) {
    const AdapterInfo info = describe(functions_, all[i]);
    const bool matches = options.uuid            ? std::memcmp(options.uuid, info.uuid.data(), info.uuid.size()) == 0
                         : !options.name.empty() ? containsFolded(info.name, options.name)
                                                 : i == options.index;
    if (!matches) continue;
    if (info.properties.apiVersion < VK_API_VERSION_1_2)
      return Error{ErrorCode::Unsupported,
                   cat(info.name, " offers Vulkan ", VK_API_VERSION_MAJOR(info.properties.apiVersion), ".",
                       VK_API_VERSION_MINOR(info.properties.apiVersion), ", expected at least 1.2.")};
    handles_.physicalDevice = all[i];
    adapter_ = info;
    return {};
  }
  const std::string what = options.uuid            ? "the given UUID"
                           : !options.name.empty() ? cat("a name that contains \"", options.name, "\"")
                                                   : cat("index ", options.index);
  return Error{ErrorCode::NotFound, cat("No Vulkan device has ", what, "; this machine has ", all.size(), ".")};
}

Status OpenedDevice::createDevice(const OpenOptions& options) {
  const auto families = enumerate<VkQueueFamilyProperties>(
      [&](auto... list) { functions_.getPhysicalDeviceQueueFamilyProperties(handles_.physicalDevice, list...); });
  const auto compute =
      std::find_if(families.begin(), families.end(), [](const auto& f) { return f.queueFlags & VK_QUEUE_COMPUTE_BIT; });
  if (compute == families.end())
    return Error{ErrorCode::Unsupported, cat(adapter_.name, " has no queue family with compute.")};
  handles_.queueFamily = static_cast<uint32_t>(compute - families.begin());

  const DeviceRequest request(functions_, handles_.physicalDevice, options);
  constexpr float kPriority = 1.0f;
  const VkDeviceQueueCreateInfo queue{
      VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, handles_.queueFamily, 1, &kPriority};
  const VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                &request.features(),
                                0,
                                1,
                                &queue,
                                0,
                                nullptr,
                                static_cast<uint32_t>(request.extensions().size()),
                                request.extensions().data(),
                                nullptr};
  if (const VkResult r = functions_.createDevice(handles_.physicalDevice, &info, nullptr, &handles_.device))
    return fault("vkCreateDevice", r);
  auto device = Device::create(handles_, functions_, readFeatures(request.features()), options.pipelineCachePath,
                               options.options);
  if (!device) return device.error();
  device_ = std::move(*device);
  if (options.validation) device_->waitForRanges();  // synchronization validation sees ranges, not rows

  const auto& vk = device_->vk();
  vk.vkGetDeviceQueue(handles_.device, handles_.queueFamily, 0, &queue_);
  const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                       VK_SEMAPHORE_TYPE_TIMELINE, 0};
  const VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
  if (const VkResult r = vk.vkCreateSemaphore(handles_.device, &semaphore, nullptr, &timeline_))
    return fault("vkCreateSemaphore", r);
  ownPool_ = createCommandPool();
  return {};
}

Result<std::unique_ptr<OpenedDevice>> OpenedDevice::open(const OpenOptions& options) {
  std::unique_ptr<OpenedDevice> opened(new OpenedDevice);
  opened->validationMessage_ = options.validationMessage;
  TRY(opened->createInstance(options));
  TRY(opened->choose(options));
  TRY(opened->createDevice(options));
  return opened;
}

OpenedDevice::~OpenedDevice() {
  if (device_) {
    const auto& vk = device_->vk();
    vk.vkDeviceWaitIdle(handles_.device);
    vk.vkDestroyCommandPool(handles_.device, ownPool_, nullptr);
    vk.vkDestroySemaphore(handles_.device, timeline_, nullptr);
    const auto destroyDevice = vk.vkDestroyDevice;
    device_.reset();
    destroyDevice(handles_.device, nullptr);
  }
  if (messenger_) functions_.destroyDebugUtilsMessenger(handles_.instance, messenger_, nullptr);
  if (handles_.instance && functions_.destroyInstance) functions_.destroyInstance(handles_.instance, nullptr);
}

VkCommandPool OpenedDevice::createCommandPool() {
  const VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                     VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, handles_.queueFamily};
  VkCommandPool pool = VK_NULL_HANDLE;
  device_->vk().vkCreateCommandPool(handles_.device, &info, nullptr, &pool);
  return pool;
}

void OpenedDevice::destroyCommandPool(VkCommandPool pool) {
  device_->vk().vkDestroyCommandPool(handles_.device, pool, nullptr);
}

Result<uint64_t> OpenedDevice::submit(VkCommandBuffer commands) {
  std::lock_guard lock(mutex_);
  // Each submission waits for the one before, so that lists execute in order and see each other's writes.
  const uint64_t before = lastValue_;
  const uint64_t value = lastValue_ + 1;
  const VkTimelineSemaphoreSubmitInfo timeline{
      VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, 1, &before, 1, &value};
  constexpr VkPipelineStageFlags kStages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  const VkSubmitInfo submit{
      VK_STRUCTURE_TYPE_SUBMIT_INFO, &timeline, 1, &timeline_, &kStages, 1, &commands, 1, &timeline_};
  if (const VkResult r = device_->vk().vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE))
    return fault("vkQueueSubmit", r);
  lastValue_ = value;
  return value;
}

Status OpenedDevice::wait(uint64_t value) {
  const VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr, 0, 1, &timeline_, &value};
  if (const VkResult r = device_->vk().vkWaitSemaphores(handles_.device, &info, UINT64_MAX))
    return fault("vkWaitSemaphores", r);
  return {};
}

Status OpenedDevice::runOnce(const std::function<void(VkCommandBuffer)>& record) {
  const auto& vk = device_->vk();
  VkCommandBuffer commands = VK_NULL_HANDLE;
  {
    std::lock_guard lock(mutex_);
    const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, ownPool_,
                                               VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    if (const VkResult r = vk.vkAllocateCommandBuffers(handles_.device, &allocate, &commands))
      return fault("vkAllocateCommandBuffers", r);
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                         VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
    vk.vkBeginCommandBuffer(commands, &begin);
    record(commands);
    vk.vkEndCommandBuffer(commands);
  }
  const auto value = submit(commands);
  Status status = value ? wait(*value) : Status(value.error());
  std::lock_guard lock(mutex_);
  vk.vkFreeCommandBuffers(handles_.device, ownPool_, 1, &commands);
  return status;
}

}  // namespace dimple::vulkan
