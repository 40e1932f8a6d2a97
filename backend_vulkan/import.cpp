// Buffers in memory that another Vulkan device exported, and semaphores of it.
#include "backend_vulkan/device.h"
#include "backend_vulkan/memory.h"
#include "backend_vulkan/semaphore.h"
#include "core/text.h"

#include <algorithm>

#ifndef _WIN32
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace dimple::vulkan {
namespace {

Error cannotImport(std::string_view why) {
  return {ErrorCode::Unsupported, cat("The device cannot import memory by file descriptors: ", why, ".")};
}

Error cannotImportSemaphores(std::string_view why) {
  return {ErrorCode::Unsupported, cat("The device cannot import semaphores by file descriptors: ", why, ".")};
}

#ifndef _WIN32

Error notOpen(int file) { return invalid(cat("file has value (", file, "), which is not an open file descriptor.")); }

constexpr VkExternalSemaphoreHandleTypeFlagBits kSemaphoreFile = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
constexpr VkSemaphoreTypeCreateInfo kTimeline{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                              VK_SEMAPHORE_TYPE_TIMELINE, 0};

constexpr VkExternalMemoryHandleTypeFlagBits kFile = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

// Returns a descriptor of the same file. It belongs to Vulkan once the memory is imported.
class OwnFile {
 public:
  explicit OwnFile(int file) : file_(file), copy_(fcntl(file, F_DUPFD_CLOEXEC, 0)) {}
  ~OwnFile() {
    // Some drivers also close it when they fail.
    struct stat given {};
    struct stat own {};
    if (copy_ >= 0 && fstat(file_, &given) == 0 && fstat(copy_, &own) == 0 && given.st_dev == own.st_dev &&
        given.st_ino == own.st_ino)
      close(copy_);
  }
  OwnFile(const OwnFile&) = delete;

  int get() const { return copy_; }
  void release() { copy_ = -1; }

 private:
  const int file_;
  int copy_;
};

#endif

}  // namespace

Status Buffer::checkImport(const Device& device, VkBufferUsageFlags usage) {
#ifdef _WIN32
  static_cast<void>(device);
  static_cast<void>(usage);
  return cannotImport("Windows does not support it");
#else
  // Null where the extension is not enabled.
  if (!device.instanceFunctions().getDeviceProcAddr(device.handles().device, "vkGetMemoryFdKHR"))
    return cannotImport("it lacks VK_KHR_external_memory_fd, or the extension is not enabled");
  const VkPhysicalDeviceExternalBufferInfo info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO, nullptr, 0,
                                                usage, kFile};
  VkExternalBufferProperties properties{};
  properties.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES;
  device.instanceFunctions().getPhysicalDeviceExternalBufferProperties(device.handles().physicalDevice, &info,
                                                                       &properties);
  const VkExternalMemoryFeatureFlags features = properties.externalMemoryProperties.externalMemoryFeatures;
  if (!(features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT))
    return cannotImport("its buffers cannot lie in such memory");
  if (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT)
    return cannotImport("its buffers need dedicated allocations");
  return {};
#endif
}

Result<std::unique_ptr<Buffer>> Buffer::import(const Device& device, int file, uint64_t bytes,
                                               VkBufferUsageFlags usage) {
#ifdef _WIN32
  static_cast<void>(device);
  static_cast<void>(file);
  static_cast<void>(bytes);
  static_cast<void>(usage);
  return cannotImport("Windows does not support it");
#else
  std::unique_ptr<Buffer> buffer(new Buffer(device, bytes));
  const VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr, kFile};
  const auto needs = buffer->make(usage, &external);
  if (!needs) return needs.error();
  if (needs->size > bytes)
    return invalid(cat("sizeInBytes has value (", bytes, "), expected a multiple of ", needs->alignment, "."));
  const auto type = device.memoryType(needs->memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  if (!type) return cannotImport("its buffers cannot lie in device-local memory");
  OwnFile own(file);
  if (own.get() < 0) return notOpen(file);
  const VkImportMemoryFdInfoKHR import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, nullptr, kFile, own.get()};
  const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &import, bytes, *type};
  const auto& vk = device.vk();
  VkDeviceMemory memory = VK_NULL_HANDLE;
  const Outcome outcome = vk.vkAllocateMemory(device.handles().device, &info, nullptr, &memory);
  if (outcome.is(VK_ERROR_INVALID_EXTERNAL_HANDLE))
    return invalid(cat("file has value (", file, "), expected memory of ", bytes, " bytes that Vulkan exported."));
  if (!outcome) return outcome.error(" for memory that is imported");
  own.release();
  buffer->memory_ = Handle<VkDeviceMemory>(device.handles().device, memory, vk.vkFreeMemory);
  TRY(vk.vkBindBufferMemory(device.handles().device, buffer->handle(), memory, 0));
  return buffer;
#endif
}

Status Semaphore::checkImport(const Device& device) {
#ifdef _WIN32
  static_cast<void>(device);
  return cannotImportSemaphores("Windows does not support it");
#else
  // Null where the extension is not enabled.
  if (!device.instanceFunctions().getDeviceProcAddr(device.handles().device, "vkImportSemaphoreFdKHR"))
    return cannotImportSemaphores("it lacks VK_KHR_external_semaphore_fd, or the extension is not enabled");
  const VkPhysicalDeviceExternalSemaphoreInfo info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
                                                   &kTimeline, kSemaphoreFile};
  VkExternalSemaphoreProperties properties{};
  properties.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES;
  device.instanceFunctions().getPhysicalDeviceExternalSemaphoreProperties(device.handles().physicalDevice, &info,
                                                                          &properties);
  if (!(properties.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT))
    return cannotImportSemaphores("its timeline semaphores cannot be imported");
  return {};
#endif
}

Result<std::unique_ptr<Semaphore>> Semaphore::import(const Device& device, int file) {
#ifdef _WIN32
  static_cast<void>(device);
  static_cast<void>(file);
  return cannotImportSemaphores("Windows does not support it");
#else
  const VkDevice handle = device.handles().device;
  Function<PFN_vkImportSemaphoreFdKHR> import{"vkImportSemaphoreFdKHR"};
  import.load(device.instanceFunctions().getDeviceProcAddr(handle, import.name()));
  VkPhysicalDeviceTimelineSemaphoreProperties timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &timeline;
  device.instanceFunctions().getPhysicalDeviceProperties2(device.handles().physicalDevice, &properties);
  const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &kTimeline, 0};
  auto made = create(handle, info, device.vk().vkCreateSemaphore, device.vk().vkDestroySemaphore);
  if (!made) return made.error();
  OwnFile own(file);
  if (own.get() < 0) return notOpen(file);
  const VkImportSemaphoreFdInfoKHR given{
      VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR, nullptr, made->get(), 0, kSemaphoreFile, own.get()};
  const Outcome outcome = import(handle, &given);
  const auto wrong = [&](std::string_view rest) {
    return invalid(cat("file has value (", file, "), expected a timeline semaphore that Vulkan exported", rest));
  };
  if (outcome.is(VK_ERROR_INVALID_EXTERNAL_HANDLE)) return wrong(".");
  // NVIDIA's driver gives this answer for such a file, and from then on for every file.
  if (outcome.is(VK_ERROR_INITIALIZATION_FAILED))
    return wrong("; or the driver was given a wrong file before, and can import no more in this process.");
  if (!outcome) return outcome.error();
  own.release();
  return std::unique_ptr<Semaphore>(
      new Semaphore(device, std::move(*made), timeline.maxTimelineSemaphoreValueDifference));
#endif
}

Semaphore::~Semaphore() {
  if (used_ && !device_.settle()) semaphore_.release();
}

void Semaphore::setUsed(uint64_t signalled) {
  used_ = true;
  signalled_ = std::max(signalled_, signalled);
}

Result<uint64_t> Semaphore::value() const {
  uint64_t reached = 0;
  TRY(device_.vk().vkGetSemaphoreCounterValue(device_.handles().device, handle(), &reached));
  return reached;
}

Status Semaphore::checkAhead(uint64_t value, uint64_t reached) const {
  if (value > reached && value - reached > mostAhead_)
    return invalid(cat("value has value (", value, "), expected at most ", mostAhead_, " more than ", reached,
                       ", which the semaphore has reached."));
  return {};
}

Status Semaphore::checkWait(uint64_t value) const {
  const auto reached = this->value();
  return reached ? checkAhead(value, *reached) : Status(reached.error());
}

Status Semaphore::checkSignal(uint64_t value) const {
  const auto reached = this->value();
  if (!reached) return reached.error();
  if (const uint64_t last = std::max(signalled_, *reached); value <= last)
    return invalid(cat("value has value (", value, "), expected more than ", last,
                       ", which the semaphore has reached or will reach."));
  return checkAhead(value, *reached);
}

}  // namespace dimple::vulkan
