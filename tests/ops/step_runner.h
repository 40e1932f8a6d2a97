// Executes compiled operators, one after another, on ranges of one buffer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tests/ops/gpu.h"

namespace dimple::testing {

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

  explicit StepRunner(Gpu& gpu) : gpu_(gpu) {}

  // Memory that a step writes; poison until then.
  Range allocate(size_t bytes);
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
    Range temporary, persistent;
    std::vector<ComPtr<IDMLBindingTable>> tables;
  };

  std::string prepare(Ready& ready);
  std::string record(Ready& ready, bool initialization);
  DML_BUFFER_BINDING binding(const Range& range) const;

  Gpu& gpu_;
  std::vector<Ready> steps_;
  std::vector<std::byte> before_, after_;
  std::vector<Range> written_;
  ComPtr<IDMLCommandRecorder> recorder_;
  ComPtr<ID3D12GraphicsCommandList> list_;
  ComPtr<ID3D12DescriptorHeap> heap_;
  ComPtr<ID3D12Resource> buffer_;
  UINT descriptor_ = 0;  // the next free one
};

}  // namespace dimple::testing
