#include "backend_d3d12/profiler.h"

#include <algorithm>
#include <cstring>

#include "backend_d3d12/fault.h"

namespace dimple::d3d12 {
namespace {

constexpr UINT kCapacity = 4096;  // dispatches between reads

}  // namespace

Result<std::unique_ptr<Profiler>> Profiler::create(ID3D12Device& device, ID3D12CommandQueue& queue) {
  UINT64 frequency = 0;
  const Outcome asked("GetTimestampFrequency", queue.GetTimestampFrequency(&frequency));
  if (asked.isAccident()) return asked.error();
  if (!asked || frequency == 0) return Error{ErrorCode::Unsupported, "The device's compute queue has no timestamps."};
  std::unique_ptr<Profiler> profiler(new Profiler);
  profiler->nanosecondsPerTick_ = 1e9 / static_cast<double>(frequency);
  const D3D12_QUERY_HEAP_DESC desc{D3D12_QUERY_HEAP_TYPE_TIMESTAMP, kCapacity * 2, 0};
  TRY(Outcome("CreateQueryHeap", device.CreateQueryHeap(&desc, IID_PPV_ARGS(&profiler->queries_))));
  auto ticks = Buffer::create(device, kCapacity * 2 * sizeof(uint64_t), D3D12_HEAP_TYPE_READBACK);
  if (!ticks) return ticks.error();
  profiler->ticks_ = std::move(*ticks);
  return profiler;
}

void Profiler::begin(ID3D12GraphicsCommandList& list, std::string_view kernel) {
  std::lock_guard lock(mutex_);
  open_ = kernels_.size() < kCapacity;
  if (!open_) return;
  list.EndQuery(queries_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, static_cast<UINT>(kernels_.size() * 2));
  kernels_.emplace_back(kernel);
}

void Profiler::end(ID3D12GraphicsCommandList& list) {
  std::lock_guard lock(mutex_);
  if (open_) {
    const auto first = static_cast<UINT>(kernels_.size() * 2 - 2);
    list.EndQuery(queries_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, first + 1);
    // In the same list, since a query that was never executed must not be resolved.
    list.ResolveQueryData(queries_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, first, 2, &ticks_->handle(),
                          first * sizeof(uint64_t));
  }
  open_ = false;
}

std::vector<Profiler::Entry> Profiler::read() {
  std::lock_guard lock(mutex_);
  std::vector<Entry> entries;
  std::vector<uint64_t> ticks(kernels_.size() * 2);
  std::memcpy(ticks.data(), ticks_->mapped(), ticks.size() * sizeof(uint64_t));
  // What an earlier dispatch left is no later than what was read then.
  const bool executed = std::all_of(ticks.begin(), ticks.end(), [this](uint64_t tick) { return tick > lastTick_; });
  if (executed && !ticks.empty() && !firstTick_) firstTick_ = ticks[0];
  // A dispatch may begin before one that was recorded earlier.
  const auto nanoseconds = [&](uint64_t from, uint64_t to) {
    return static_cast<double>(static_cast<int64_t>(to - from)) * nanosecondsPerTick_;
  };
  for (size_t i = 0; executed && i < kernels_.size(); ++i) {
    const uint64_t begin = ticks[2 * i];
    entries.push_back({kernels_[i], nanoseconds(*firstTick_, begin), nanoseconds(begin, ticks[2 * i + 1])});
  }
  for (const uint64_t tick : ticks) lastTick_ = std::max(lastTick_, tick);
  kernels_.clear();
  return entries;
}

void Profiler::clear() {
  read();
  std::lock_guard lock(mutex_);
  firstTick_.reset();
}

}  // namespace dimple::d3d12
