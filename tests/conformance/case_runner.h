// Runs case lines on a device, many in one submission, and compares what comes back with the oracle, byte for byte
// where no element lies.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/gpu.h"
#include "tests/conformance/oracle/oracle.h"
#include "tests/conformance/test_case.h"

namespace dimple::testing {

// What a case computed, and what the oracle expected.
struct CaseOutput {
  oracle::Result expected;
  oracle::Array actual;
};

struct CaseOutcome {
  std::string line;
  DML_OPERATOR_TYPE type = DML_OPERATOR_INVALID;
  DML_TENSOR_DATA_TYPE dataType = DML_TENSOR_DATA_TYPE_UNKNOWN;  // of the main tensor
  std::string failure;                                           // a sentence; empty: passed
  bool vacuous = false;  // the expected elements are all the same or mostly free: passing says little
  // The largest error of an output that is judged by ULP alone, and the largest of all as a share of its bound.
  std::optional<double> maxUlp;
  double maxShare = 0;
  std::vector<CaseOutput> outputs;  // if they were asked for and the case ran
};

class CaseRunner {
 public:
  using Report = std::function<void(const CaseOutcome&)>;

  // `report` receives every case once, some time after it was added.
  CaseRunner(Gpu& gpu, Report report, bool keepOutputs = false);
  ~CaseRunner();

  // Executes each submission so many times, each from the same memory. Every time the outputs have to have the same
  // bits.
  void setRuns(size_t runs) { runs_ = runs; }

  void add(std::string_view line);
  // Runs what was added and not run yet.
  void flush();

 private:
  // A range of the batch's memory.
  struct Range {
    size_t offset = 0;
    size_t bytes = 0;
  };
  struct Pending;

  std::string prepare(Pending& pending);
  std::string place(Pending& pending);
  Range allocate(size_t bytes, size_t alignment, size_t skew);
  void fillMemory();
  std::string record(Pending& pending, bool initialization, UINT& descriptor);
  std::string submit(UINT64& fence);
  // Waits, and reads the batch's memory.
  std::string receive(UINT64 fence, std::vector<std::byte>& memory);
  std::string runAgain();
  void evaluate(Pending& pending);
  void judge(Pending& pending);
  void judgeOutput(Pending& pending, size_t output);
  std::string reserve();
  void finish(std::unique_ptr<Pending> pending);
  std::string validationMessage();
  DML_BUFFER_BINDING binding(const Range& range) const;

  Gpu& gpu_;
  const Report report_;
  const bool keepOutputs_;
  size_t runs_ = 1;
  ComPtr<IDMLCommandRecorder> recorder_;
  ComPtr<ID3D12GraphicsCommandList> list_;
  ComPtr<ID3D12DescriptorHeap> heap_;
  ComPtr<ID3D12Resource> buffer_;
  size_t bufferBytes_ = 0;
  UINT heapDescriptors_ = 0;
  std::vector<std::unique_ptr<Pending>> batch_;
  size_t used_ = 0;  // bytes of the batch's memory
  // The batch's memory as uploaded, as it came back, and as it came back from a further run.
  std::vector<std::byte> before_, after_, again_;
};

}  // namespace dimple::testing
