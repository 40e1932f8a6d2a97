// Times of groups and kernels, as files that people look at.
#pragma once

#include <chrono>
#include <fstream>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "clients/onnxruntime/device.h"
#include "clients/onnxruntime/runtime.h"

namespace dimple::ort {

using Clock = std::chrono::steady_clock;

struct TraceEvent {
  enum class Kind { Group, Kernel };

  Kind kind = Kind::Group;
  std::string name;
  Clock::time_point start;
  std::chrono::nanoseconds duration{};
  std::string group;
  uint64_t run = 0;  // of the group, from 1
};

// An array of Chrome's trace events. It grows by each run, and is closed when the session ends; whoever reads the
// format does without the closing bracket.
class TraceFile {
 public:
  // Throws StatusError where it cannot be written.
  TraceFile(std::string path, const std::string& device);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;

  // Any thread may call it. Throws StatusError.
  void add(const std::vector<TraceEvent>& events);

 private:
  void flush();

  const std::string path_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::ofstream file_;
};

// What carries events into ONNX Runtime's own profile. ONNX Runtime makes one for each session, or for each run.
struct Profiler : OrtEpProfilerImpl {
  Profiler();

  // Of the node that this thread runs; null: it is not profiled.
  static Profiler* ofThread();

  std::mutex mutex;
  Clock::time_point start;
  int64_t offset = 0;  // of `start` in the profile, in nanoseconds
  std::vector<TraceEvent> events;
};

// A run of a group that is timed. While it lives, no other run records on the device. What the run records is to be
// recorded anew.
class TimedRun {
 public:
  // `file` and `profiler` get what is timed, or are null. Throws onnx::DeviceError.
  TimedRun(Device& device, TraceFile* file, Profiler* profiler, std::string group, uint64_t run);
  ~TimedRun();
  TimedRun(const TimedRun&) = delete;

  // Waits for what was submitted.
  void wait();
  // After the run: hands the times over. Throws onnx::DeviceError or StatusError.
  void finish();

 private:
  Device& device_;
  TraceFile* const file_;
  Profiler* const profiler_;
  const std::string group_;
  const uint64_t run_;
  const std::unique_lock<std::shared_mutex> lock_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point done_;  // on the device
};

}  // namespace dimple::ort
