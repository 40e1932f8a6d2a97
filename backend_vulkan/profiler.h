// Times dispatches with timestamps, for tools.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend_vulkan/handle.h"
#include "core/result.h"

namespace dimple::vulkan {

class Device;

class Profiler {
 public:
  struct Entry {
    std::string kernel;
    double begin;  // in nanoseconds, from that of the first dispatch that was read
    double nanoseconds;
  };

  // Refuses a device whose queue has no timestamps or that cannot reset queries on the host.
  static Result<std::unique_ptr<Profiler>> create(const Device& device);
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Called around each dispatch while recording. Dispatches past the capacity are not timed.
  void begin(VkCommandBuffer commands, std::string_view kernel);
  void end(VkCommandBuffer commands);

  // Times of all dispatches recorded since the last call, all of which have executed; none if some have not.
  Result<std::vector<Entry>> read();
  // Forgets what was recorded, and when the first dispatch began.
  void clear();

 private:
  explicit Profiler(const Device& device) : device_(device) {}
  void reset();

  const Device& device_;
  double nanosecondsPerTick_ = 1;
  uint32_t unusedTickBits_ = 0;  // above those that the queue counts with
  std::optional<uint64_t> firstTick_;
  Handle<VkQueryPool> pool_;
  std::mutex mutex_;
  std::vector<std::string> kernels_;
  bool open_ = false;
};

}  // namespace dimple::vulkan
