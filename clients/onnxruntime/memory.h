// What ONNX Runtime allocates and copies with.
#pragma once

#include <memory>

#include "clients/onnxruntime/device.h"
#include "clients/onnxruntime/runtime.h"

namespace dimple::ort {

// The adapters whose memory a device of ONNX Runtime is; null: it is not ours.
class Adapters {
 public:
  struct Entry {
    std::unique_ptr<Adapter> adapter;
    OrtMemoryInfo* memory = nullptr;
    OrtMemoryInfo* hostMemory = nullptr;  // that the device copies from and to
  };
  Adapters() = default;
  Adapters(const Adapters&) = delete;
  ~Adapters();

  Adapter& add(const DimpleAdapterDesc& desc, UINT index);
  const std::vector<Entry>& all() const { return all_; }
  Adapter* find(const OrtMemoryDevice* device) const;
  // The adapter whose device copies from and to memory of the host that it stands for; null: there is none.
  Adapter* findHost(const OrtMemoryDevice* device) const;
  // Whose memory it is, the device's or the host's.
  const Entry* findMemory(const OrtMemoryInfo* memory) const;

 private:
  std::vector<Entry> all_;
};

// Of an adapter's memory; made for each session. The heap is the device's.
struct Allocator : OrtAllocator {
  Allocator(const Adapters::Entry& entry, const OrtMemoryInfo& memoryInfo);

  Heap& heap() const;

  Adapter& adapter;
  const OrtMemoryInfo& info;
  const bool isHost;
};

struct DataTransfer : OrtDataTransferImpl {
  explicit DataTransfer(const Adapters& adapters);

  const Adapters& adapters;
};

// Bytes of a tensor, and where they are. Throws StatusError for what is no tensor.
struct TensorMemory {
  const OrtMemoryDevice* device = nullptr;
  void* data = nullptr;
  size_t bytes = 0;
};
TensorMemory memoryOf(const OrtValue& value);

}  // namespace dimple::ort
