#include "clients/onnxruntime/factory.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "clients/onnx/text.h"
#include "clients/onnxruntime/importer.h"
#include "clients/onnxruntime/provider.h"
#include "clients/onnxruntime/streams.h"

namespace dimple::ort {

using onnx::cat;

namespace {

// Environment options begin with it.
constexpr const char* kProcessorOption = "ep_factory.DimpleExecutionProvider.cpu_drivers";
// Says the same where there are none, as in Python.
constexpr const char* kProcessorVariable = "DIMPLE_ONNXRUNTIME_CPU";

Factory& factoryOf(OrtEpFactory* self) { return *static_cast<Factory*>(self); }

const char* ORT_API_CALL nameOfFactory(const OrtEpFactory*) noexcept { return kProviderName; }
const char* ORT_API_CALL vendorOfFactory(const OrtEpFactory*) noexcept { return "Dimple"; }
const char* ORT_API_CALL versionOfFactory(const OrtEpFactory*) noexcept { return DIMPLE_VERSION; }
uint32_t ORT_API_CALL vendorId(const OrtEpFactory*) noexcept { return 0; }

bool processorsAreAskedFor() {
  OrtKeyValuePairs* pairs = nullptr;
  check(runtime().ep->GetEnvConfigEntries(&pairs));
  const Pairs owner(pairs, runtime().api->ReleaseKeyValuePairs);
  const char* value = runtime().api->GetKeyValue(pairs, kProcessorOption);
  if (!value) value = std::getenv(kProcessorVariable);
  return value && std::string_view(value) == "1";
}

// That of ONNX Runtime's list, each once, or one more.
const OrtHardwareDevice& hardwareOf(Factory& factory, const Adapter& adapter,
                                    std::vector<const OrtHardwareDevice*>& found) {
  const OrtApi& api = *runtime().api;
  const DimpleAdapterDesc& desc = adapter.desc();
  const auto same = std::ranges::find_if(found, [&](const OrtHardwareDevice* device) {
    return api.HardwareDevice_Type(device) == OrtHardwareDeviceType_GPU &&
           api.HardwareDevice_VendorId(device) == desc.VendorId && api.HardwareDevice_DeviceId(device) == desc.DeviceId;
  });
  if (same != found.end()) {
    const OrtHardwareDevice& device = **same;
    found.erase(same);
    return device;
  }
  OrtHardwareDevice* device = nullptr;
  check(runtime().ep->CreateHardwareDevice(OrtHardwareDeviceType_GPU, desc.VendorId, desc.DeviceId, desc.Name, nullptr,
                                           &device));
  factory.hardware.push_back(device);
  return *device;
}

OrtEpDevice* makeDevice(Factory& factory, const Adapters::Entry& entry, const OrtHardwareDevice& hardware) {
  const OrtApi& api = *runtime().api;
  OrtKeyValuePairs* pairs = nullptr;
  api.CreateKeyValuePairs(&pairs);
  const Pairs metadata(pairs, api.ReleaseKeyValuePairs);
  api.AddKeyValuePair(pairs, "index", cat(entry.adapter->index()).c_str());
  api.AddKeyValuePair(pairs, "name", entry.adapter->desc().Name);
  api.AddKeyValuePair(pairs, "uuid", entry.adapter->uuid().c_str());
  OrtEpDevice* device = nullptr;
  check(runtime().ep->CreateEpDevice(&factory, &hardware, pairs, nullptr, &device));
  try {
    check(runtime().ep->EpDevice_AddAllocatorInfo(device, entry.memory));
    check(runtime().ep->EpDevice_AddAllocatorInfo(device, entry.hostMemory));
  } catch (...) {
    runtime().ep->ReleaseEpDevice(device);
    throw;
  }
  return device;
}

OrtStatus* ORT_API_CALL getSupportedDevices(OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t count,
                                            OrtEpDevice** made, size_t most, size_t* madeCount) noexcept {
  *madeCount = 0;
  return guarded([&] {
    Factory& factory = factoryOf(self);
    std::vector<const OrtHardwareDevice*> found(devices, devices + count);
    const bool processors = processorsAreAskedFor();
    for (UINT index = 0; *madeCount < most; ++index) {
      DimpleAdapterDesc desc{};
      const HRESULT result = dimpleEnumerateAdapters(index, &desc);
      if (result == DXGI_ERROR_NOT_FOUND) break;
      if (FAILED(result))
        throw StatusError(ORT_EP_FAIL, cat("The Vulkan devices cannot be listed: ", dimpleGetLastMessage()));
      if (Adapter(desc, index).isProcessor() && !processors) continue;
      const Adapter& adapter = factory.adapters.add(desc, index);
      made[*madeCount] = makeDevice(factory, factory.adapters.all().back(), hardwareOf(factory, adapter, found));
      ++*madeCount;
    }
  });
}

std::string textOf(const Adapters& adapters) {
  std::string all;
  for (const Adapters::Entry& entry : adapters.all()) all += cat(all.empty() ? "" : ", ", entry.adapter->text());
  return all;
}

bool containsIgnoringCase(std::string_view text, std::string_view part) {
  const auto equal = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), equal) != text.end();
}

Adapter& adapterOf(const Factory& factory, const OrtKeyValuePairs& metadata, const std::string& wanted) {
  const char* index = runtime().api->GetKeyValue(&metadata, "index");
  for (const Adapters::Entry& entry : factory.adapters.all()) {
    Adapter& adapter = *entry.adapter;
    if (!index || cat(adapter.index()) != index) continue;
    if (wanted.empty() || wanted == index || wanted == adapter.uuid() ||
        containsIgnoringCase(adapter.desc().Name, wanted))
      return adapter;
    throw StatusError(ORT_INVALID_ARGUMENT, cat("Dimple's option device is \"", wanted, "\", and the session is given ",
                                                adapter.text(), "; there are ", textOf(factory.adapters), "."));
  }
  throw StatusError(ORT_INVALID_ARGUMENT,
                    cat("The session has no Dimple device; there are ", textOf(factory.adapters), "."));
}

OrtStatus* ORT_API_CALL createProvider(OrtEpFactory* self, const OrtHardwareDevice* const*,
                                       const OrtKeyValuePairs* const* metadata, size_t count,
                                       const OrtSessionOptions* sessionOptions, const OrtLogger*,
                                       OrtEp** made) noexcept {
  *made = nullptr;
  return guarded([&] {
    Factory& factory = factoryOf(self);
    if (count != 1)
      throw StatusError(ORT_INVALID_ARGUMENT, cat("Dimple's execution provider is given ", count,
                                                  " devices, expected one; there are ", textOf(factory.adapters), "."));
    const Options options = readOptions(*sessionOptions);
    *made = new Provider(factory.adapters, adapterOf(factory, *metadata[0], options.device), options);
  });
}

void ORT_API_CALL releaseProvider(OrtEpFactory*, OrtEp* provider) noexcept { delete static_cast<Provider*>(provider); }

const Adapters::Entry& entryOf(const Factory& factory, const OrtMemoryInfo* memory) {
  const Adapters::Entry* entry = factory.adapters.findMemory(memory);
  if (!entry) throw StatusError(ORT_INVALID_ARGUMENT, "Dimple's execution provider has no such memory.");
  return *entry;
}

OrtStatus* ORT_API_CALL createAllocator(OrtEpFactory* self, const OrtMemoryInfo* memory, const OrtKeyValuePairs*,
                                        OrtAllocator** made) noexcept {
  *made = nullptr;
  return guarded([&] { *made = new Allocator(entryOf(factoryOf(self), memory), *memory); });
}

void ORT_API_CALL releaseAllocator(OrtEpFactory*, OrtAllocator* allocator) noexcept {
  delete static_cast<Allocator*>(allocator);
}

OrtStatus* ORT_API_CALL createDataTransfer(OrtEpFactory* self, OrtDataTransferImpl** made) noexcept {
  *made = &factoryOf(self).transfer;
  return nullptr;
}

OrtStatus* ORT_API_CALL createImporter(OrtEpFactory* self, const OrtEpDevice* device,
                                       OrtExternalResourceImporterImpl** made) noexcept {
  *made = nullptr;
  return guarded([&] {
    const OrtMemoryInfo* memory = runtime().api->EpDevice_MemoryInfo(device, OrtDeviceMemoryType_DEFAULT);
    *made = new Importer(*device, *entryOf(factoryOf(self), memory).adapter, *memory);
  });
}

bool ORT_API_CALL isStreamAware(const OrtEpFactory*) noexcept { return true; }

OrtStatus* ORT_API_CALL createStream(OrtEpFactory* self, const OrtMemoryDevice* memory, const OrtKeyValuePairs*,
                                     OrtSyncStreamImpl** made) noexcept {
  *made = nullptr;
  return guarded([&] {
    Adapter* const adapter = factoryOf(self).adapters.find(memory);
    if (!adapter)
      throw StatusError(ORT_INVALID_ARGUMENT,
                        "A stream is requested for a device that Dimple's execution provider does not have.");
    *made = new Stream(adapter->device(), Stream::Kind::Program);
  });
}

}  // namespace

Factory::Factory() : OrtEpFactory{} {
  ort_version_supported = ORT_API_VERSION;
  GetName = nameOfFactory;
  GetVendor = vendorOfFactory;
  GetVersion = versionOfFactory;
  GetVendorId = vendorId;
  GetSupportedDevices = getSupportedDevices;
  CreateEp = createProvider;
  ReleaseEp = releaseProvider;
  CreateAllocator = createAllocator;
  ReleaseAllocator = releaseAllocator;
  CreateDataTransfer = createDataTransfer;
  IsStreamAware = isStreamAware;
  CreateSyncStreamForDevice = createStream;
  CreateExternalResourceImporterForDevice = createImporter;
}

Factory::~Factory() {
  for (OrtHardwareDevice* device : hardware) runtime().ep->ReleaseHardwareDevice(device);
}

}  // namespace dimple::ort
