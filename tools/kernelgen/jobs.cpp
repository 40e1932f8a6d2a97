#include "tools/kernelgen/jobs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tools/kernelgen/error.h"

namespace kernelgen {

void forEach(size_t count, size_t jobs, const char* items, const std::function<void(size_t)>& work) {
  std::vector<std::string> errors(count);
  std::atomic<size_t> next{0};
  std::atomic<size_t> done{0};
  std::mutex printing;
  auto lastReport = std::chrono::steady_clock::now();
  const auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (const std::exception& e) {
        errors[i] = e.what();
      }
      const size_t finished = ++done;
      const std::lock_guard lock(printing);
      const auto now = std::chrono::steady_clock::now();
      if (now - lastReport < std::chrono::seconds(5)) continue;
      lastReport = now;
      std::printf("kernelgen: %zu of %zu %s\n", finished, count, items);
      std::fflush(stdout);
    }
  };
  if (jobs == 0) jobs = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(jobs, count); ++i) threads.emplace_back(loop);
  loop();
  for (std::thread& thread : threads) thread.join();

  std::string all;
  size_t failed = 0;
  for (const std::string& error : errors) {
    if (error.empty()) continue;
    if (++failed <= 20) all += (all.empty() ? "" : "\n") + error;
  }
  if (failed > 20) all += "\nand " + std::to_string(failed - 20) + " kernels more.";
  if (failed) throw Error(all);
}

}  // namespace kernelgen
