// Executes compiled operators, one after another, on ranges of one buffer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tests/conformance/gpu.h"

namespace dimple::testing {

// What runners on one device use one after another.
struct StepMemory {
  ComPtr<IDMLCommandRecorder> recorder;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<ID3D12DescriptorHeap> heap;  // making one takes libvkd3d as long as many dispatches
  ComPtr<ID3D12Resource> buffer;
  UINT descriptors = 0;
  size_t bytes = 0;
};

class StepRunner {
 public:
  struct Range {
    size_t offset = 0;
    size_t bytes = 0;  // 0: bound as NONE
  };
  struct Input {
    Range range;
    bool owned = false;  // bound at initialization
  };
  struct Step {
    ComPtr<IDMLCompiledOperator> op;
    std::vector<Input> inputs;  // in binding order
    std::vector<Range> outputs;
  };

  StepRunner(Gpu& gpu, StepMemory& memory) : gpu_(gpu), memory_(memory) {}

  // Memory that a step writes; poison until then.
  Range allocate(size_t bytes);
  // The same of memory of which a step writes a part: what it holds before.
  Range allocateHolding(std::span<const std::byte> bytes);
  Range upload(std::span<const std::byte> bytes);
  void add(Step step);

  // Initializes all operators, then executes them in the order in which they were added, `times` times. A sentence if
  // that fails, or if anything but outputs was changed; empty otherwise.
  std::string run(size_t times = 1);

  std::span<const std::byte> result(const Range& range) const { return {&after_[range.offset], range.bytes}; }

 private:
  struct Ready {
    Step step;
    ComPtr<IDMLOperatorInitializer> initializer;
    DML_BINDING_PROPERTIES execution{}, initialization{};
    Range temporary, persistent, scratch;  // scratch: of the initialization
    std::vector<ComPtr<IDMLBindingTable>> tables;
  };

  std::string prepare(Ready& ready);
  HRESULT reserve(UINT descriptors);
  std::string record(Ready& ready, bool initialization);
  DML_BUFFER_BINDING binding(const Range& range) const;

  Gpu& gpu_;
  StepMemory& memory_;
  std::vector<Ready> steps_;
  std::vector<std::byte> before_, after_;
  std::vector<Range> written_;
  UINT descriptor_ = 0;  // the next free one
};

}  // namespace dimple::testing
