#include "clients/onnxruntime/memory.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace dimple::ort {
namespace {

// Python's bindings by name mean memory of no vendor.
constexpr uint32_t kNoVendor = 0;
constexpr uint32_t kOwnVendor = 0x444D4C;

// ONNX Runtime's own WebGPU provider, where it is compiled in, takes an address in no vendor's memory for a buffer of
// its own when tensors are copied outside of a session, which crashes.
uint32_t vendorOfMemory() {
  const OrtApi& api = *runtime().api;
  char** names = nullptr;
  int count = 0;
  check(api.GetAvailableProviders(&names, &count));
  const bool shared = std::any_of(names, names + count,
                                  [](const char* name) { return std::string_view(name) == "WebGpuExecutionProvider"; });
  check(api.ReleaseAvailableProviders(names, count));
  return shared ? kOwnVendor : kNoVendor;
}

bool isProcessor(const OrtMemoryDevice* device) {
  return runtime().ep->MemoryDevice_GetDeviceType(device) == OrtMemoryInfoDeviceType_CPU;
}

bool isSame(const OrtMemoryDevice* device, const OrtMemoryInfo* memory) {
  return runtime().ep->MemoryDevice_AreEqual(device, runtime().ep->MemoryInfo_GetMemoryDevice(memory));
}

void* ORT_API_CALL allocate(OrtAllocator* self, size_t bytes) noexcept {
  // ONNX Runtime takes null for a tensor without memory, which whoever uses it is told.
  try {
    return static_cast<Allocator*>(self)->heap().allocate(bytes);
  } catch (...) {
    return nullptr;
  }
}

void ORT_API_CALL release(OrtAllocator* self, void* address) noexcept {
  if (address) static_cast<Allocator*>(self)->heap().free(address);
}

const OrtMemoryInfo* ORT_API_CALL infoOf(const OrtAllocator* self) noexcept {
  return &static_cast<const Allocator*>(self)->info;
}

bool ORT_API_CALL canCopy(const OrtDataTransferImpl* self, const OrtMemoryDevice* from,
                          const OrtMemoryDevice* to) noexcept {
  const Adapters& adapters = static_cast<const DataTransfer*>(self)->adapters;
  const Adapter* source = adapters.find(from);
  const Adapter* target = adapters.find(to);
  if (source && target) return source == target;
  const bool fromHost = adapters.isHostMemory(from), toHost = adapters.isHostMemory(to);
  if (source) return toHost || isProcessor(to);
  if (target) return fromHost || isProcessor(from);
  return (fromHost && (toHost || isProcessor(to))) || (toHost && isProcessor(from));
}

void copyOne(const Adapters& adapters, const OrtValue& from, const OrtValue& to) {
  const TensorMemory source = memoryOf(from);
  const TensorMemory target = memoryOf(to);
  if (source.bytes == 0) return;
  Adapter* const sourceAdapter = adapters.find(source.device);
  Adapter* const targetAdapter = adapters.find(target.device);
  const auto rangeOf = [](Adapter& adapter, const TensorMemory& memory) {
    return adapter.device().heap().find(memory.data, memory.bytes);
  };
  if (sourceAdapter && targetAdapter)
    targetAdapter->device().copy(rangeOf(*sourceAdapter, source), rangeOf(*targetAdapter, target), source.bytes);
  else if (targetAdapter)
    targetAdapter->device().upload(rangeOf(*targetAdapter, target), source.data, source.bytes);
  else if (sourceAdapter)
    sourceAdapter->device().download(rangeOf(*sourceAdapter, source), target.data, source.bytes);
  else
    std::memcpy(target.data, source.data, source.bytes);
}

OrtStatus* ORT_API_CALL copyTensors(OrtDataTransferImpl* self, const OrtValue** from, OrtValue** to, OrtSyncStream**,
                                    size_t count) noexcept {
  return guarded([&] {
    for (size_t i = 0; i < count; ++i) copyOne(static_cast<DataTransfer*>(self)->adapters, *from[i], *to[i]);
  });
}

// It is a part of the factory.
void ORT_API_CALL keep(OrtDataTransferImpl*) noexcept {}

}  // namespace

Allocator::Allocator(const Adapters::Entry& entry, const OrtMemoryInfo& memoryInfo)
    : OrtAllocator{}, adapter(*entry.adapter), info(memoryInfo), isHost(&memoryInfo == entry.hostMemory) {
  version = ORT_API_VERSION;
  Alloc = allocate;
  Reserve = allocate;
  Free = release;
  Info = infoOf;
}

Heap& Allocator::heap() const { return isHost ? adapter.device().hostHeap() : adapter.device().heap(); }

DataTransfer::DataTransfer(const Adapters& all) : OrtDataTransferImpl{}, adapters(all) {
  ort_version_supported = ORT_API_VERSION;
  Release = keep;
  CanCopy = canCopy;
  CopyTensors = copyTensors;
}

Adapters::~Adapters() {
  for (const Entry& entry : all_)
    for (OrtMemoryInfo* memory : {entry.memory, entry.hostMemory})
      if (memory) runtime().api->ReleaseMemoryInfo(memory);
}

Adapter& Adapters::add(const DimpleAdapterDesc& desc, UINT index) {
  Entry& entry = all_.emplace_back();
  entry.adapter = std::make_unique<Adapter>(desc, index);
  const auto make = [&](const char* name, OrtDeviceMemoryType type, OrtMemoryInfo*& memory) {
    check(runtime().api->CreateMemoryInfo_V2(name, OrtMemoryInfoDeviceType_GPU, vendorOfMemory(),
                                             static_cast<int32_t>(index), type, 0, OrtDeviceAllocator, &memory));
  };
  make("Dimple", OrtDeviceMemoryType_DEFAULT, entry.memory);
  make("DimpleHost", OrtDeviceMemoryType_HOST_ACCESSIBLE, entry.hostMemory);
  return *entry.adapter;
}

Adapter* Adapters::find(const OrtMemoryDevice* device) const {
  for (const Entry& entry : all_)
    if (isSame(device, entry.memory)) return entry.adapter.get();
  return nullptr;
}

bool Adapters::isHostMemory(const OrtMemoryDevice* device) const {
  return std::ranges::any_of(all_, [&](const Entry& entry) { return isSame(device, entry.hostMemory); });
}

const Adapters::Entry* Adapters::findMemory(const OrtMemoryInfo* memory) const {
  for (const Entry& entry : all_)
    if (entry.memory == memory || entry.hostMemory == memory) return &entry;
  return nullptr;
}

TensorMemory memoryOf(const OrtValue& value) {
  TensorMemory memory;
  memory.device = runtime().ep->Value_GetMemoryDevice(&value);
  // It is only read where it is an input.
  check(runtime().api->GetTensorMutableData(const_cast<OrtValue*>(&value), &memory.data));
  check(runtime().api->GetTensorSizeInBytes(&value, &memory.bytes));
  return memory;
}

}  // namespace dimple::ort
