// Work that is submitted to a device and not waited for.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "clients/onnx/segment.h"

namespace dimple::ort {

// Copies and points in the order of a context's queue. Keeps lists and buffers as long as the device may use them. Any
// thread may call it. What it throws is onnx::DeviceError.
class Submissions {
 public:
  explicit Submissions(IDimpleContext& context) : context_(context) {}
  Submissions(const Submissions&) = delete;

  // The fence's value that is reached when the copy is done.
  UINT64 copy(const onnx::BufferRange& from, const onnx::BufferRange& to, size_t bytes);
  // Likewise for all that was submitted before, by whomever.
  UINT64 mark();
  // Until the fence has the value.
  void wait(UINT64 fence);

 private:
  struct Submission {
    UINT64 fence = 0;
    onnx::ComPtr<ID3D12GraphicsCommandList> list;
    onnx::BufferRange from, to;
  };

  UINT64 submit(const onnx::BufferRange& from, const onnx::BufferRange& to, size_t bytes);
  // Those below, with the mutex.
  onnx::ComPtr<ID3D12GraphicsCommandList> openList();
  void retire();

  IDimpleContext& context_;
  std::mutex mutex_;
  UINT64 done_ = 0;  // is known to be reached
  std::deque<Submission> pending_;
  std::vector<onnx::ComPtr<ID3D12GraphicsCommandList>> idle_;  // closed
};

}  // namespace dimple::ort
