// Times dispatches with timestamps, for tools.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend_d3d12/d3d12.h"
#include "backend_d3d12/memory.h"
#include "core/result.h"

namespace dimple::d3d12 {

class Profiler {
 public:
  struct Entry {
    std::string kernel;
    double begin;  // in nanoseconds, from that of the first dispatch that was read
    double nanoseconds;
  };

  // Refuses a queue without timestamps. The dispatches are executed on this one.
  static Result<std::unique_ptr<Profiler>> create(ID3D12Device& device, ID3D12CommandQueue& queue);
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Called around each dispatch while recording. Dispatches past the capacity are not timed.
  void begin(ID3D12GraphicsCommandList& list, std::string_view kernel);
  void end(ID3D12GraphicsCommandList& list);

  // Times of all dispatches recorded since the last call, all of which have executed; none if some have not.
  std::vector<Entry> read();
  // Forgets what was recorded, and when the first dispatch began.
  void clear();

 private:
  Profiler() = default;

  double nanosecondsPerTick_ = 1;
  ComPtr<ID3D12QueryHeap> queries_;
  std::unique_ptr<Buffer> ticks_;  // two for each dispatch
  std::optional<uint64_t> firstTick_;
  uint64_t lastTick_ = 0;  // of those that were read
  std::mutex mutex_;
  std::vector<std::string> kernels_;
  bool open_ = false;
};

}  // namespace dimple::d3d12
