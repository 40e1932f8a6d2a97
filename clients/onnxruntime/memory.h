// What ONNX Runtime allocates and copies with.
#pragma once

#include <memory>

#include "clients/onnxruntime/device.h"
#include "clients/onnxruntime/runtime.h"

namespace dimple::ort {

// Of an adapter's memory; made for each session. The heap is the device's.
struct Allocator : OrtAllocator {
  Allocator(Adapter& adapter, const OrtMemoryInfo& memoryInfo);

  Adapter& adapter;
  const OrtMemoryInfo& info;
};

// The adapters whose memory a device of ONNX Runtime is; null: it is not ours.
class Adapters {
 public:
  struct Entry {
    std::unique_ptr<Adapter> adapter;
    OrtMemoryInfo* memory = nullptr;
  };
  Adapters() = default;
  Adapters(const Adapters&) = delete;
  ~Adapters();

  Adapter& add(const DimpleAdapterDesc& desc, UINT index);
  const std::vector<Entry>& all() const { return all_; }
  Adapter* find(const OrtMemoryDevice* device) const;
  const Entry* findMemory(const OrtMemoryInfo* memory) const;

 private:
  std::vector<Entry> all_;
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
