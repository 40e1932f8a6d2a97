#include "backend_vulkan/opened_device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "backend_vulkan/matrix_places.h"
#include "core/text.h"

namespace dimple::vulkan {
namespace {

// The features of a device that Dimple can use, and no others, in the form that vkCreateDevice takes.
class DeviceRequest {
 public:
  // `available`: the device's extensions.
  DeviceRequest(const InstanceFunctions& functions, VkPhysicalDevice physicalDevice,
                std::vector<VkExtensionProperties> available, const OpenOptions& options)
      : functions_(functions), physicalDevice_(physicalDevice), available_(std::move(available)) {
    constexpr const char* kPortabilitySubset = "VK_KHR_portability_subset";
    if (lists(available_, kPortabilitySubset)) extensions_.push_back(kPortabilitySubset);
    // For memory and semaphores that are imported.
    if (lists(available_, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME))
      extensions_.push_back(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    if (lists(available_, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME))
      extensions_.push_back(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
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
    // With the memory model, the scope of atomics is a separate feature.
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

  // Enables the stricter robustness, if the device has it.
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

  // Enables matrices that subgroups hold together. Their kernels depend on the size of a subgroup.
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
    if (lists(available_, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME)) useDotProducts();
  }

  void useDotProducts() {
    dotProducts_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES;
    query(&dotProducts_);
    dotProducts_.pNext = use_.pNext;
    use_.pNext = &dotProducts_;
    extensions_.push_back(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
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
  VkPhysicalDeviceShaderIntegerDotProductFeatures dotProducts_{};
  std::vector<const char*> extensions_;
};

}  // namespace

Status OpenedDevice::choose(const OpenOptions& options) {
  const auto listed = instance_->physicalDevices();
  if (!listed) return listed.error();
  const std::vector<VkPhysicalDevice>& all = *listed;
  for (uint32_t i = 0; i < all.size(); ++i) {
    const AdapterInfo info = instance_->describe(all[i]);
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
  const InstanceFunctions& functions = instance_->functions();
  const auto families = enumerate<VkQueueFamilyProperties>(
      [&](auto... list) { functions.getPhysicalDeviceQueueFamilyProperties(handles_.physicalDevice, list...); });
  if (!families) return families.error();
  const auto compute = std::find_if(families->begin(), families->end(),
                                    [](const auto& f) { return f.queueFlags & VK_QUEUE_COMPUTE_BIT; });
  if (compute == families->end())
    return Error{ErrorCode::Unsupported, cat(adapter_.name, " has no queue family with compute.")};
  handles_.queueFamily = static_cast<uint32_t>(compute - families->begin());
  auto available = enumerate<VkExtensionProperties>([&](auto... list) {
    return functions.enumerateDeviceExtensionProperties(handles_.physicalDevice, nullptr, list...);
  });
  if (!available) return available.error();

  const DeviceRequest request(functions, handles_.physicalDevice, std::move(*available), options);
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
  VkDevice made = VK_NULL_HANDLE;
  TRY(functions.createDevice(handles_.physicalDevice, &info, nullptr, &made));
  const auto destroy = reinterpret_cast<PFN_vkDestroyDevice>(functions.getDeviceProcAddr(made, "vkDestroyDevice"));
  if (!destroy) return Error{ErrorCode::Unsupported, "The Vulkan device has no vkDestroyDevice."};
  logicalDevice_ = {made, DestroyDevice{destroy}};
  handles_.device = made;
  auto device = Device::create(handles_, functions, readFeatures(request.features()), options.pipelineCachePath,
                               options.options, options.warn);
  if (!device) return device.error();
  device_ = std::move(*device);
  if (options.validation) device_->waitForRanges();  // synchronization validation sees ranges, not rows
  device_->setSettle([this] { return settle(); });
  device_->setQueue(this);
  return createQueue();
}

Status OpenedDevice::createQueue() {
  const auto& vk = device_->vk();
  vk.vkGetDeviceQueue(handles_.device, handles_.queueFamily, 0, &queue_);
  const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                       VK_SEMAPHORE_TYPE_TIMELINE, 0};
  const VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
  auto timeline = create(handles_.device, semaphore, vk.vkCreateSemaphore, vk.vkDestroySemaphore);
  if (!timeline) return timeline.error();
  timeline_ = std::move(*timeline);
  auto pool = createCommandPool();
  if (!pool) return pool.error();
  ownPool_ = std::move(*pool);
  return {};
}

Result<std::unique_ptr<OpenedDevice>> OpenedDevice::open(const OpenOptions& options) {
  std::unique_ptr<OpenedDevice> opened(new OpenedDevice);
  auto instance = Instance::create(options.validation, options.validationMessage);
  if (!instance) return instance.error();
  opened->instance_ = std::move(*instance);
  opened->handles_.instance = opened->instance_->handle();
  TRY(opened->choose(options));
  TRY(opened->createDevice(options));
  if (placesAreKnown(*opened)) opened->device_->trustPlaces();
  return opened;
}

OpenedDevice::~OpenedDevice() {
  // This waits for more than the submissions: a driver's threads may use the semaphore for a moment after they
  // signalled it.
  if (!device_ || idle()) return;
  // Leaking the memory is better than freeing what the device still uses.
  ownPool_.release();
  timeline_.release();
  static_cast<void>(device_.release());
  static_cast<void>(logicalDevice_.release());
  static_cast<void>(instance_.release());
}

Result<Handle<VkCommandPool>> OpenedDevice::createCommandPool() {
  const VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                     VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, handles_.queueFamily};
  const auto& vk = device_->vk();
  return create(handles_.device, info, vk.vkCreateCommandPool, vk.vkDestroyCommandPool);
}

Result<uint64_t> OpenedDevice::submit(VkCommandBuffer commands) {
  std::lock_guard lock(mutex_);
  return submit(commands, VK_NULL_HANDLE, VK_NULL_HANDLE, 0);
}

Result<uint64_t> OpenedDevice::submit(VkCommandBuffer commands, VkSemaphore wait, VkSemaphore signal, uint64_t value) {
  // Each submission waits for the one before, so that lists execute in order and see each other's writes.
  const uint64_t own = lastValue_ + 1;
  const uint64_t waitValues[] = {lastValue_, value};
  const uint64_t signalValues[] = {own, value};
  const VkSemaphore waits[] = {timeline_.get(), wait};
  const VkSemaphore signals[] = {timeline_.get(), signal};
  const uint32_t waitCount = wait ? 2 : 1;
  const uint32_t signalCount = signal ? 2 : 1;
  const VkTimelineSemaphoreSubmitInfo timeline{
      VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, waitCount, waitValues, signalCount, signalValues};
  constexpr VkPipelineStageFlags kStages[] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
  const VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO,
                          &timeline,
                          waitCount,
                          waits,
                          kStages,
                          commands ? 1u : 0u,
                          &commands,
                          signalCount,
                          signals};
  TRY(device_->vk().vkQueueSubmit(queue_, 1, &info, VK_NULL_HANDLE));
  lastValue_ = own;
  return own;
}

Status OpenedDevice::waitFor(Semaphore& semaphore, uint64_t value) {
  TRY(semaphore.checkWait(value));
  std::lock_guard lock(mutex_);
  TRY(submit(VK_NULL_HANDLE, semaphore.handle(), VK_NULL_HANDLE, value));
  semaphore.setUsed(0);
  return {};
}

Status OpenedDevice::signal(Semaphore& semaphore, uint64_t value) {
  std::lock_guard lock(mutex_);
  TRY(semaphore.checkSignal(value));
  TRY(submit(VK_NULL_HANDLE, VK_NULL_HANDLE, semaphore.handle(), value));
  semaphore.setUsed(value);
  return {};
}

Status OpenedDevice::wait(uint64_t value) {
  {
    std::lock_guard lock(mutex_);
    if (value > lastValue_)
      return invalid(
          cat("fence has value (", value, "), but only ", lastValue_, " lists and transfers were executed."));
  }
  const VkSemaphore semaphore = timeline_.get();
  const VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr, 0, 1, &semaphore, &value};
  TRY(device_->vk().vkWaitSemaphores(handles_.device, &info, UINT64_MAX));
  std::lock_guard lock(mutex_);
  doneValue_ = std::max(doneValue_, value);
  return {};
}

bool OpenedDevice::done(uint64_t value) {
  std::lock_guard lock(mutex_);
  return value <= doneValue_;
}

bool OpenedDevice::settle() {
  std::lock_guard lock(mutex_);
  return doneValue_ == lastValue_ || idle();
}

bool OpenedDevice::idle() {
  constexpr int kAttempts = 5;  // at what may lack memory for a moment
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const Outcome outcome = device_->vk().vkDeviceWaitIdle(handles_.device);
    if (!outcome && !outcome.is(VK_ERROR_DEVICE_LOST)) continue;
    doneValue_ = lastValue_;
    return true;
  }
  return false;
}

Status OpenedDevice::runOnce(const std::function<void(VkCommandBuffer)>& record) {
  const auto& vk = device_->vk();
  VkCommandBuffer commands = VK_NULL_HANDLE;
  const auto recorded = [&]() -> Status {
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                         VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
    TRY(vk.vkBeginCommandBuffer(commands, &begin));
    record(commands);
    TRY(vk.vkEndCommandBuffer(commands));
    return {};
  };
  std::unique_lock lock(mutex_);
  const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, ownPool_.get(),
                                             VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  TRY(vk.vkAllocateCommandBuffers(handles_.device, &allocate, &commands));
  Status status = recorded();
  lock.unlock();
  if (status) {
    const auto value = submit(commands);
    status = value ? wait(*value) : Status(value.error());
    // It counts as in use until it is known not to be, and is then freed with the pool.
    if (value && !status && !settle()) return status;
  }
  lock.lock();
  vk.vkFreeCommandBuffers(handles_.device, ownPool_.get(), 1, &commands);
  return status;
}

}  // namespace dimple::vulkan
