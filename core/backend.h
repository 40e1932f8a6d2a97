// The seam between the API and a back end. A back end executes plans; it does not know operators.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "core/caps.h"
#include "core/result.h"

namespace dimple {

struct Dispatch;

// A buffer of the caller, by the back end's own handle (VkBuffer, ID3D12Resource*).
struct NativeBuffer {
  uint64_t handle = 0;  // 0: none
  uint64_t bytes = 0;
  bool upload = false;  // kernels cannot bind this memory, so a copy of it is bound instead
};

// A run of descriptors that the caller set aside. `heap` is the back end's own object; the starts identify the first
// descriptor in it.
struct DescriptorRange {
  void* heap = nullptr;
  uint64_t cpuStart = 0;
  uint64_t gpuStart = 0;
  uint32_t count = 0;
  uint32_t increment = 1;  // the distance between descriptors, in the units of the starts
};

// Dispatches ready to record: pipelines and the parameter buffer. Immutable; used from any thread.
class Executable {
 public:
  virtual ~Executable() = default;
};

// What a descriptor of a dispatch refers to. The offset is a multiple of Caps::bufferOffsetAlignment, bytes one of 4.
struct DescriptorWrite {
  size_t dispatch;
  size_t binding;
  NativeBuffer buffer;
  uint64_t offset;
  uint64_t bytes;
};

// The descriptors of one executable's dispatches in a range. Work that was recorded before a write sees the new
// descriptors if it has not begun to execute: bindings are read at execution.
class DescriptorSets {
 public:
  virtual ~DescriptorSets() = default;
  virtual Status write(std::span<const DescriptorWrite> writes) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const Caps& caps() const = 0;
  // Whether descriptors may change between recording and execution (DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE).
  virtual bool supportsVolatileDescriptors() const = 0;

  // Creates the objects that executing the dispatches needs. `parameters` is the plan's block.
  virtual Result<std::unique_ptr<Executable>> prepare(std::span<const Dispatch> dispatches,
                                                      std::span<const uint32_t> parameters) = 0;
  // Lays out the executable's descriptors in the range, from its start.
  virtual Result<std::unique_ptr<DescriptorSets>> describe(const Executable& executable,
                                                           const DescriptorRange& range) = 0;
  // Records into the caller's command list, which is in the recording state. Cannot fail.
  virtual void record(uint64_t commandList, const Executable& executable, const DescriptorSets& sets,
                      std::string_view label) = 0;

  // Removes the device: later calls do nothing and report `DeviceLost`.
  virtual void setLost() = 0;
};

}  // namespace dimple
