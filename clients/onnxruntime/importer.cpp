#include "clients/onnxruntime/importer.h"

#include <cstdint>

#include "clients/onnx/text.h"
#include "clients/onnxruntime/streams.h"

namespace dimple::ort {

using onnx::cat;

namespace {

// Of any device, what buffers are bound at multiples of at most.
constexpr size_t kOffsetAlignment = 256;

Importer& importerOf(OrtExternalResourceImporterImpl* self) { return *static_cast<Importer*>(self); }

int fileOf(void* nativeHandle) { return static_cast<int>(reinterpret_cast<intptr_t>(nativeHandle)); }

struct ImportedMemory : OrtExternalMemoryHandle {
  ImportedMemory(const Importer& importer, const OrtExternalMemoryDescriptor& given)
      : OrtExternalMemoryHandle{}, device(importer.adapter.device()) {
    version = ORT_API_VERSION;
    ep_device = &importer.epDevice;
    descriptor = given;
    Release = [](OrtExternalMemoryHandle* self) noexcept { delete static_cast<ImportedMemory*>(self); };
    address = device.heap().lend(device.import(fileOf(given.native_handle), given.size_bytes), given.size_bytes);
  }
  ~ImportedMemory() { device.heap().takeBack(address); }
  ImportedMemory(const ImportedMemory&) = delete;

  Device& device;
  void* address = nullptr;
};

struct ImportedSemaphore : OrtExternalSemaphoreHandle {
  ImportedSemaphore(const Importer& importer, const OrtExternalSemaphoreDescriptor& given)
      : OrtExternalSemaphoreHandle{},
        device(importer.adapter.device()),
        semaphore(device.importSemaphore(fileOf(given.native_handle))) {
    version = ORT_API_VERSION;
    ep_device = &importer.epDevice;
    descriptor = given;
    Release = [](OrtExternalSemaphoreHandle* self) noexcept { delete static_cast<ImportedSemaphore*>(self); };
  }

  Device& device;
  const onnx::ComPtr<ID3D12Fence> semaphore;
};

// What the device answers; false where there is none.
bool imports(const OrtExternalResourceImporterImpl* self, bool (Device::*can)() const) noexcept {
  try {
    return (static_cast<const Importer*>(self)->adapter.device().*can)();
  } catch (...) {
    return false;
  }
}

bool ORT_API_CALL canImportMemory(const OrtExternalResourceImporterImpl* self,
                                  OrtExternalMemoryHandleType type) noexcept {
  return type == ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD && imports(self, &Device::canImport);
}

OrtStatus* ORT_API_CALL importMemory(OrtExternalResourceImporterImpl* self, const OrtExternalMemoryDescriptor* given,
                                     OrtExternalMemoryHandle** made) noexcept {
  *made = nullptr;
  return guarded([&] {
    if (given->handle_type != ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD)
      throw StatusError(ORT_NOT_IMPLEMENTED,
                        "Dimple's execution provider imports Vulkan memory only by file descriptors "
                        "(ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD).");
    if (given->offset_bytes >= given->size_bytes)
      throw StatusError(ORT_INVALID_ARGUMENT, cat("Memory is imported from byte ", given->offset_bytes, " on, but has ",
                                                  given->size_bytes, " bytes."));
    *made = new ImportedMemory(importerOf(self), *given);
  });
}

void ORT_API_CALL releaseMemory(OrtExternalResourceImporterImpl*, OrtExternalMemoryHandle* memory) noexcept {
  delete static_cast<ImportedMemory*>(memory);
}

OrtStatus* ORT_API_CALL createTensor(OrtExternalResourceImporterImpl* self, const OrtExternalMemoryHandle* memory,
                                     const OrtExternalTensorDescriptor* tensor, OrtValue** made) noexcept {
  *made = nullptr;
  return guarded([&] {
    const auto& imported = *static_cast<const ImportedMemory*>(memory);
    const OrtExternalMemoryDescriptor& given = imported.descriptor;
    if (tensor->offset_bytes >= given.size_bytes - given.offset_bytes)
      throw StatusError(ORT_INVALID_ARGUMENT,
                        cat("A tensor begins at byte ", tensor->offset_bytes,
                            " of imported memory, expected less than ", given.size_bytes - given.offset_bytes, "."));
    const size_t offset = given.offset_bytes + tensor->offset_bytes;
    if (offset % kOffsetAlignment != 0)
      throw StatusError(ORT_INVALID_ARGUMENT,
                        cat("A tensor begins at byte ", offset, " of imported memory, expected a multiple of ",
                            kOffsetAlignment, "."));
    // ONNX Runtime refuses a tensor that is larger than what is left.
    check(runtime().api->CreateTensorWithDataAsOrtValue(
        &importerOf(self).memory, static_cast<std::byte*>(imported.address) + offset, given.size_bytes - offset,
        tensor->shape, tensor->rank, tensor->element_type, made));
  });
}

bool ORT_API_CALL canImportSemaphore(const OrtExternalResourceImporterImpl* self,
                                     OrtExternalSemaphoreType type) noexcept {
  return type == ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD && imports(self, &Device::canImportSemaphores);
}

OrtStatus* ORT_API_CALL importSemaphore(OrtExternalResourceImporterImpl* self,
                                        const OrtExternalSemaphoreDescriptor* given,
                                        OrtExternalSemaphoreHandle** made) noexcept {
  *made = nullptr;
  return guarded([&] {
    if (given->type != ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD)
      throw StatusError(ORT_NOT_IMPLEMENTED,
                        "Dimple's execution provider imports Vulkan timeline semaphores only by file descriptors "
                        "(ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD).");
    *made = new ImportedSemaphore(importerOf(self), *given);
  });
}

void ORT_API_CALL releaseSemaphore(OrtExternalResourceImporterImpl*, OrtExternalSemaphoreHandle* semaphore) noexcept {
  delete static_cast<ImportedSemaphore*>(semaphore);
}

using UseSemaphore = void (Device::*)(ID3D12Fence&, UINT64) const;

template <UseSemaphore use>
OrtStatus* ORT_API_CALL onStream(OrtExternalResourceImporterImpl*, OrtExternalSemaphoreHandle* semaphore,
                                 OrtSyncStream* given, uint64_t value) noexcept {
  return guarded([&] {
    const auto& imported = *static_cast<ImportedSemaphore*>(semaphore);
    const Stream* const stream = Stream::of(given);
    if (!stream || &stream->device != &imported.device)
      throw StatusError(ORT_INVALID_ARGUMENT, "A semaphore is used in a stream of a device that did not import it.");
    (imported.device.*use)(*imported.semaphore.Get(), value);
  });
}

void ORT_API_CALL releaseImporter(OrtExternalResourceImporterImpl* self) noexcept { delete &importerOf(self); }

}  // namespace

Importer::Importer(const OrtEpDevice& importerDevice, Adapter& importerAdapter, const OrtMemoryInfo& memoryInfo)
    : OrtExternalResourceImporterImpl{}, epDevice(importerDevice), adapter(importerAdapter), memory(memoryInfo) {
  ort_version_supported = ORT_API_VERSION;
  CanImportMemory = canImportMemory;
  ImportMemory = importMemory;
  ReleaseMemory = releaseMemory;
  CreateTensorFromMemory = createTensor;
  CanImportSemaphore = canImportSemaphore;
  ImportSemaphore = importSemaphore;
  ReleaseSemaphore = releaseSemaphore;
  WaitSemaphore = onStream<&Device::waitFor>;
  SignalSemaphore = onStream<&Device::signal>;
  Release = releaseImporter;
}

}  // namespace dimple::ort
