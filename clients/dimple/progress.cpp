#include "clients/dimple/progress.h"

#include <cstdio>

#include "core/text.h"
#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace dimple::tool {
namespace {

using namespace std::chrono_literals;
constexpr const char* kClearLine = "\r\x1b[K";

struct PipelineCounts {
  UINT wanted = 0;
  UINT compiled = 0;
};

PipelineCounts countsOf(const Device& device) {
  PipelineCounts counts;
  device.context().GetCompileCounts(&counts.wanted, &counts.compiled);
  return counts;
}

bool isTerminal() {
#ifdef _WIN32
  return _isatty(2) != 0;
#else
  return isatty(2) != 0;
#endif
}

}  // namespace

Progress::Progress(std::string_view what, size_t total, const Device* device)
    : what_(what),
      total_(total),
      device_(device),
      pipelinesBefore_(device ? countsOf(*device).wanted : 0),
      isTerminal_(isTerminal()),
      thread_([this] { watch(); }) {}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
  if (shown_ && isTerminal_) std::fputs(kClearLine, stderr);
}

void Progress::step(std::string_view name) {
  const std::lock_guard lock(mutex_);
  ++done_;
  name_ = name;
}

// A thread of its own, since one step may take minutes.
void Progress::watch() {
  const auto first = isTerminal_ ? 500ms : 2000ms;
  const auto interval = isTerminal_ ? 200ms : 10000ms;
  std::unique_lock lock(mutex_);
  for (auto next = start_ + first; !ended_.wait_until(lock, next, [this] { return end_; }); next += interval) {
    shown_ = true;
    print();
  }
}

std::string Progress::pipelines() const {
  if (!device_) return "";
  const PipelineCounts counts = countsOf(*device_);
  const UINT wanted = counts.wanted - pipelinesBefore_;
  return wanted ? cat(", ", counts.compiled - pipelinesBefore_, " of ", wanted, " pipelines compiled") : "";
}

void Progress::print() const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_).count();
  std::fprintf(stderr, "%s%s %zu of %zu: %s%s (%lld s)%s", isTerminal_ ? kClearLine : "dimple: ", what_.c_str(), done_,
               total_, name_.c_str(), pipelines().c_str(), static_cast<long long>(seconds), isTerminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace dimple::tool
