// A line on standard error that counts what is done of long work. Silent where standard error is no terminal, and for
// work that is over at once.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace dimple::tool {

class Progress {
 public:
  Progress(std::string_view what, size_t total);
  Progress(const Progress&) = delete;
  ~Progress();

  // Before the next of the `total` steps.
  void step(std::string_view name);

 private:
  std::string what_;
  size_t total_;
  size_t done_ = 0;
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace dimple::tool
