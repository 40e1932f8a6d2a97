#include "clients/onnxruntime/trace.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::ort {

using onnx::cat;

namespace {

using Json = nlohmann::ordered_json;
using Nanoseconds = std::chrono::nanoseconds;

// Where kernels stand in a file, beside the host's threads.
constexpr int kKernels = 0;

std::string jsonText(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json metadata(const char* what, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", getpid()}, {"tid", kKernels}, {"args", {{"name", name}}}};
}

double microseconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1000; }

// Of the innermost event that this thread has begun. It has no destructor, with which the library could not be unloaded
// while the thread lives.
thread_local Profiler* current = nullptr;

Profiler& profilerOf(OrtEpProfilerImpl* self) { return *static_cast<Profiler*>(self); }

void leave(const Profiler& profiler) {
  if (current == &profiler) current = nullptr;
}

void ORT_API_CALL releaseProfiler(OrtEpProfilerImpl* self) noexcept {
  leave(profilerOf(self));
  delete &profilerOf(self);
}

OrtStatus* ORT_API_CALL startProfiling(OrtEpProfilerImpl* self, int64_t offset) noexcept {
  profilerOf(self).start = Clock::now();
  profilerOf(self).offset = offset;
  return nullptr;
}

OrtStatus* ORT_API_CALL startEvent(OrtEpProfilerImpl* self, uint64_t) noexcept {
  current = &profilerOf(self);
  return nullptr;
}

OrtStatus* ORT_API_CALL stopEvent(OrtEpProfilerImpl* self, uint64_t, const OrtProfilingEvent*) noexcept {
  leave(profilerOf(self));
  return nullptr;
}

void addTo(OrtProfilingEventsContainer& container, const Profiler& profiler, const TraceEvent& event) {
  const OrtEpApi& ep = *runtime().ep;
  const Nanoseconds start = Nanoseconds(profiler.offset) + (event.start - profiler.start);
  const std::string run = cat(event.run), duration = cat(event.duration.count());
  const char* const keys[] = {"group", "run", "nanoseconds"};
  const char* const values[] = {event.group.c_str(), run.c_str(), duration.c_str()};
  OrtProfilingEvent* made = nullptr;
  check(ep.CreateProfilingEvent(
      event.kind == TraceEvent::Kind::Kernel ? OrtProfilingEventCategory_KERNEL : OrtProfilingEventCategory_API,
      getpid(), event.kind == TraceEvent::Kind::Kernel ? kKernels : gettid(), event.name.c_str(), start.count() / 1000,
      event.duration.count() / 1000, keys, values, std::size(keys), &made));
  OrtStatus* const status = ep.ProfilingEventsContainer_AddEvents(&container, &made, 1);
  ep.ReleaseProfilingEvent(made);
  check(status);
}

OrtStatus* ORT_API_CALL endProfiling(OrtEpProfilerImpl* self, OrtProfilingEventsContainer* container) noexcept {
  return guarded([&] {
    Profiler& profiler = profilerOf(self);
    const std::lock_guard lock(profiler.mutex);
    for (const TraceEvent& event : profiler.events) addTo(*container, profiler, event);
    profiler.events.clear();
  });
}

}  // namespace

TraceFile::TraceFile(std::string path, const std::string& device) : path_(std::move(path)), file_(path_) {
  file_ << "[\n" << jsonText(metadata("process_name", device)) << ",\n" << jsonText(metadata("thread_name", "kernels"));
  file_.flush();
  if (!file_)
    throw StatusError(ORT_INVALID_ARGUMENT, cat("Dimple's option trace is \"", path_,
                                                "\", which cannot be written: ", std::strerror(errno), "."));
}

TraceFile::~TraceFile() { file_ << "\n]\n"; }

void TraceFile::add(const std::vector<TraceEvent>& events) {
  const std::lock_guard lock(mutex_);
  for (const TraceEvent& event : events) {
    const bool isKernel = event.kind == TraceEvent::Kind::Kernel;
    file_ << ",\n"
          << jsonText({{"name", event.name},
                       {"cat", isKernel ? "kernel" : "group"},
                       {"ph", "X"},
                       {"pid", getpid()},
                       {"tid", isKernel ? kKernels : gettid()},
                       {"ts", microseconds(event.start - start_)},
                       {"dur", microseconds(event.duration)},
                       {"args", {{"group", event.group}, {"run", event.run}}}});
  }
  file_.flush();
  if (!file_)
    throw StatusError(ORT_EP_FAIL, cat("The trace ", path_, " cannot be written: ", std::strerror(errno), "."));
}

Profiler::Profiler() : OrtEpProfilerImpl{} {
  ort_version_supported = ORT_API_VERSION;
  Release = releaseProfiler;
  StartProfiling = startProfiling;
  StartEvent = startEvent;
  StopEvent = stopEvent;
  EndProfiling = endProfiling;
}

Profiler* Profiler::ofThread() { return current; }

TimedRun::TimedRun(Device& device, TraceFile* file, Profiler* profiler, std::string group, uint64_t run)
    : device_(device),
      file_(file),
      profiler_(profiler),
      group_(std::move(group)),
      run_(run),
      lock_(device.recording()) {
  device_.setTiming(true);
}

TimedRun::~TimedRun() { static_cast<void>(device_.context().SetProfiling(FALSE)); }

void TimedRun::wait() {
  device_.wait();
  done_ = Clock::now();
}

void TimedRun::finish() {
  std::vector<KernelTime> times = device_.times();
  std::vector<TraceEvent> events{{TraceEvent::Kind::Group, group_, start_, Clock::now() - start_, group_, run_}};
  // When a kernel began is not known. They stand one behind the other, the last where the device was done.
  Nanoseconds all{};
  for (const KernelTime& time : times) all += time.duration;
  Clock::time_point next = done_ - all;
  for (KernelTime& time : times) {
    events.push_back({TraceEvent::Kind::Kernel, std::move(time.kernel), next, time.duration, group_, run_});
    next += time.duration;
  }
  if (file_) file_->add(events);
  if (!profiler_) return;
  const std::lock_guard lock(profiler_->mutex);
  profiler_->events.insert(profiler_->events.end(), events.begin(), events.end());
}

}  // namespace dimple::ort
