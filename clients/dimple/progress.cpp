#include "clients/dimple/progress.h"

#include <cstdio>
#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace dimple::tool {
namespace {

using namespace std::chrono_literals;
constexpr auto kFirst = 500ms;
constexpr auto kInterval = 100ms;
constexpr const char* kClearLine = "\r\x1b[K";

bool isTerminal() {
#ifdef _WIN32
  return _isatty(2) != 0;
#else
  return isatty(2) != 0;
#endif
}

}  // namespace

Progress::Progress(std::string_view what, size_t total)
    : what_(what), total_(total), enabled_(isTerminal()), next_(std::chrono::steady_clock::now() + kFirst) {}

Progress::~Progress() {
  if (shown_) std::fputs(kClearLine, stderr);
}

void Progress::step(std::string_view name) {
  ++done_;
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_ || now < next_) return;
  next_ = now + kInterval;
  shown_ = true;
  std::fprintf(stderr, "%s%s %zu of %zu: %.*s", kClearLine, what_.c_str(), done_, total_, static_cast<int>(name.size()),
               name.data());
  std::fflush(stderr);
}

}  // namespace dimple::tool
