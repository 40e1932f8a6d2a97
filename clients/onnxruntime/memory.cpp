#include "clients/onnxruntime/memory.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "clients/onnxruntime/streams.h"

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
  const bool fromHost = adapters.findHost(from), toHost = adapters.findHost(to);
  if (source) return toHost || isProcessor(to);
  if (target) return fromHost || isProcessor(from);
  return (fromHost && (toHost || isProcessor(to))) || (toHost && isProcessor(from));
}

// Where a tensor lies in memory that the device of `adapter` copies from and to; no buffer: it does not.
onnx::BufferRange hostRange(const Adapters& adapters, Adapter& adapter, const TensorMemory& memory) {
  if (adapters.findHost(memory.device) != &adapter) return {};
  return adapter.device().hostHeap().tryFind(memory.data, memory.bytes);
}

// A copy of a stream. False if it has to be waited for, since nobody tells the host when its memory is free.
bool copyOnStream(const Adapters& adapters, Stream& stream, const TensorMemory& from, const TensorMemory& to) {
  Adapter* const source = adapters.find(from.device);
  Adapter* const target = adapters.find(to.device);
  Adapter& adapter = source ? *source : *target;
  Device& device = adapter.device();
  if (&stream.device != &device) return false;
  const auto rangeOf = [&](bool isOurs, const TensorMemory& memory) {
    return isOurs ? device.heap().find(memory.data, memory.bytes) : hostRange(adapters, adapter, memory);
  };
  const onnx::BufferRange begin = rangeOf(source, from);
  const onnx::BufferRange end = rangeOf(target, to);
  if (!begin.buffer || !end.buffer) return false;
  const UINT64 fence = device.submissions().copy(begin, end, from.bytes);
  if (source && target) return true;
  device.hostHeap().use(source ? to.data : from.data, fence);
  stream.addHostCopy(fence);
  return true;
}

void copyAndWait(const Adapters& adapters, const TensorMemory& from, const TensorMemory& to) {
  Adapter* const source = adapters.find(from.device);
  Adapter* const target = adapters.find(to.device);
  const auto rangeOf = [](Adapter& adapter, const TensorMemory& memory) {
    return adapter.device().heap().find(memory.data, memory.bytes);
  };
  if (source && target) {
    target->device().copy(rangeOf(*source, from), rangeOf(*target, to), from.bytes);
  } else if (target) {
    target->device().upload(rangeOf(*target, to), from.data, from.bytes);
  } else if (source) {
    source->device().download(rangeOf(*source, from), to.data, from.bytes);
  } else {
    for (const TensorMemory* memory : {&from, &to})
      if (Adapter* const host = adapters.findHost(memory->device)) host->device().hostHeap().settle(memory->data);
    std::memcpy(to.data, from.data, from.bytes);
  }
}

void copyOne(const Adapters& adapters, const OrtValue& from, const OrtValue& to, const OrtSyncStream* stream) {
  const TensorMemory source = memoryOf(from);
  const TensorMemory target = memoryOf(to);
  if (source.bytes == 0) return;
  Stream* const own = adapters.find(source.device) || adapters.find(target.device) ? Stream::of(stream) : nullptr;
  if (!own || !copyOnStream(adapters, *own, source, target)) copyAndWait(adapters, source, target);
}

OrtStatus* ORT_API_CALL copyTensors(OrtDataTransferImpl* self, const OrtValue** from, OrtValue** to,
                                    OrtSyncStream** streams, size_t count) noexcept {
  return guarded([&] {
    for (size_t i = 0; i < count; ++i)
      copyOne(static_cast<DataTransfer*>(self)->adapters, *from[i], *to[i], streams ? streams[i] : nullptr);
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

Adapter* Adapters::findHost(const OrtMemoryDevice* device) const {
  for (const Entry& entry : all_)
    if (isSame(device, entry.hostMemory)) return entry.adapter.get();
  return nullptr;
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
