#include "clients/onnxruntime/submissions.h"

#include <algorithm>

#include "clients/onnxruntime/device_call.h"

namespace dimple::ort {
namespace {

// What nobody waits for does not pile up.
constexpr size_t kMostPending = 1024;

}  // namespace

UINT64 Submissions::copy(const onnx::BufferRange& from, const onnx::BufferRange& to, size_t bytes) {
  return submit(from, to, bytes);
}

UINT64 Submissions::mark() { return submit({}, {}, 0); }

UINT64 Submissions::submit(const onnx::BufferRange& from, const onnx::BufferRange& to, size_t bytes) {
  const std::lock_guard lock(mutex_);
  retire();
  onnx::ComPtr<ID3D12GraphicsCommandList> list = openList();
  if (bytes) list->CopyBufferRegion(to.buffer.Get(), to.offset, from.buffer.Get(), from.offset, bytes);
  checkDevice(list->Close(), "Work cannot be recorded");
  UINT64 fence = 0;
  checkDevice(context_.Execute(list.Get(), &fence), "Work cannot be submitted");
  pending_.push_back({fence, std::move(list), from, to});
  return fence;
}

onnx::ComPtr<ID3D12GraphicsCommandList> Submissions::openList() {
  onnx::ComPtr<ID3D12GraphicsCommandList> list;
  if (idle_.empty()) {
    checkDevice(context_.CreateCommandList(&list), "Work cannot be recorded");
    return list;
  }
  list = std::move(idle_.back());
  idle_.pop_back();
  checkDevice(context_.ResetCommandList(list.Get()), "Work cannot be recorded");
  return list;
}

void Submissions::retire() {
  if (pending_.size() >= kMostPending) {
    const UINT64 first = pending_.front().fence;
    checkDevice(context_.Wait(first), "The device cannot be waited for");
    done_ = std::max(done_, first);
  }
  for (; !pending_.empty() && pending_.front().fence <= done_; pending_.pop_front())
    idle_.push_back(std::move(pending_.front().list));
}

void Submissions::wait(UINT64 fence) {
  checkDevice(context_.Wait(fence), "The device cannot be waited for");
  const std::lock_guard lock(mutex_);
  done_ = std::max(done_, fence);
  retire();
}

}  // namespace dimple::ort
