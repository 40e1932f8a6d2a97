#include "core/support/parallel.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace dimple {
namespace {

std::atomic<uint32_t> wantedPipelines{0}, compiledPipelines{0};

}  // namespace

CompileCounts compileCounts() {
  // In this order, so that no more are compiled than were wanted.
  const uint32_t compiled = compiledPipelines;
  return {wantedPipelines, compiled};
}

CountedCompiles::CountedCompiles(size_t count) : left_(static_cast<uint32_t>(count)) { wantedPipelines += left_; }

CountedCompiles::~CountedCompiles() { compiledPipelines += left_; }

void CountedCompiles::add() {
  --left_;
  ++compiledPipelines;
}

void forEachInParallel(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  const auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::future<void>> others;
  const size_t threads = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  try {
    for (size_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, loop));
  } catch (const std::system_error&) {
    // No more threads can be made, so the existing ones do all of the work.
  }
  loop();
  for (std::future<void>& other : others) other.get();
}

}  // namespace dimple
