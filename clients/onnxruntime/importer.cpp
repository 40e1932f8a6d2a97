#include "clients/onnxruntime/importer.h"

#include <cstdint>

#include "clients/onnx/text.h"

namespace dimple::ort {

using onnx::cat;

namespace {

// Of any device, what buffers are bound at multiples of at most.
constexpr size_t kOffsetAlignment = 256;

Importer& importerOf(OrtExternalResourceImporterImpl* self) { return *static_cast<Importer*>(self); }

struct ImportedMemory : OrtExternalMemoryHandle {
  ImportedMemory(const Importer& importer, const OrtExternalMemoryDescriptor& given)
      : OrtExternalMemoryHandle{}, device(importer.adapter.device()) {
    version = ORT_API_VERSION;
    ep_device = &importer.epDevice;
    descriptor = given;
    Release = [](OrtExternalMemoryHandle* self) noexcept { delete static_cast<ImportedMemory*>(self); };
    const auto file = static_cast<int>(reinterpret_cast<intptr_t>(given.native_handle));
    address = device.heap().lend(device.import(file, given.size_bytes), given.size_bytes);
  }
  ~ImportedMemory() { device.heap().takeBack(address); }
  ImportedMemory(const ImportedMemory&) = delete;

  Device& device;
  void* address = nullptr;
};

bool ORT_API_CALL canImportMemory(const OrtExternalResourceImporterImpl* self,
                                  OrtExternalMemoryHandleType type) noexcept {
  try {
    return type == ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD &&
           static_cast<const Importer*>(self)->adapter.device().canImport();
  } catch (...) {
    return false;
  }
}

OrtStatus* ORT_API_CALL importMemory(OrtExternalResourceImporterImpl* self, const OrtExternalMemoryDescriptor* given,
                                     OrtExternalMemoryHandle** made) noexcept {
  *made = nullptr;
  return guarded([&] {
    if (given->handle_type != ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD)
      throw StatusError(ORT_NOT_IMPLEMENTED,
                        "Dimple's execution provider imports memory of Vulkan by file descriptors "
                        "(ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD) only.");
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

bool ORT_API_CALL canImportSemaphore(const OrtExternalResourceImporterImpl*, OrtExternalSemaphoreType) noexcept {
  return false;
}

OrtStatus* noSemaphores() noexcept {
  return guarded([] {
    throw StatusError(ORT_NOT_IMPLEMENTED,
                      "Dimple's execution provider imports no semaphores; wait on the host before and after a run.");
  });
}

OrtStatus* ORT_API_CALL importSemaphore(OrtExternalResourceImporterImpl*, const OrtExternalSemaphoreDescriptor*,
                                        OrtExternalSemaphoreHandle** made) noexcept {
  *made = nullptr;
  return noSemaphores();
}

void ORT_API_CALL releaseSemaphore(OrtExternalResourceImporterImpl*, OrtExternalSemaphoreHandle*) noexcept {}

OrtStatus* ORT_API_CALL useSemaphore(OrtExternalResourceImporterImpl*, OrtExternalSemaphoreHandle*, OrtSyncStream*,
                                     uint64_t) noexcept {
  return noSemaphores();
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
  WaitSemaphore = useSemaphore;
  SignalSemaphore = useSemaphore;
  Release = releaseImporter;
}

}  // namespace dimple::ort
