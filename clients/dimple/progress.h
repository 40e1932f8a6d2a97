// Says on standard error what long work does: on a terminal a line that is drawn anew, elsewhere a line after two
// seconds and then every ten. Work that is over sooner is silent. Where pipelines are compiled for the work, which
// takes most of a first run, the line also says how many of them are.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "clients/dimple/device.h"

namespace dimple::tool {

class Progress {
 public:
  // `device`, if not null: whose pipelines count. It must outlive this.
  Progress(std::string_view what, size_t total, const Device* device = nullptr);
  Progress(const Progress&) = delete;
  ~Progress();

  // Before the next of the `total` steps.
  void step(std::string_view name);

 private:
  using Clock = std::chrono::steady_clock;

  void watch();
  void print() const;

  // ", 3 of 40 pipelines compiled"
  std::string pipelines() const;

  const std::string what_;
  const size_t total_;
  const Device* const device_;
  UINT pipelinesBefore_ = 0;
  const bool isTerminal_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable ended_;
  // Under the mutex.
  size_t done_ = 0;
  std::string name_;
  bool shown_ = false;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace dimple::tool
