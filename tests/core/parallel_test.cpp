// Independent work on all cores.
#include "core/support/parallel.h"

#include <doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/plan/plan.h"

namespace dimple::testing {
namespace {

TEST_CASE("parallel: each item is worked on once") {
  for (const size_t count : {0u, 1u, 2u, 1000u}) {
    std::vector<std::atomic<int>> times(count);
    forEachInParallel(count, [&](size_t i) { ++times[i]; });
    bool once = true;
    for (const auto& t : times) once &= t == 1;
    CHECK(once);
  }
}

TEST_CASE("parallel: what is thrown comes out when the others have returned") {
  std::atomic<int> running{0};
  const auto work = [&](size_t i) {
    ++running;
    const bool bad = i == 37;
    if (!bad) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --running;
    if (bad) throw std::runtime_error("37");
  };
  CHECK_THROWS_AS(forEachInParallel(100, work), std::runtime_error);
  CHECK(running == 0);
}

TEST_CASE("parallel: a pipeline of each key that is not known is compiled") {
  std::vector<Dispatch> dispatches(6);
  for (const auto& [d, form] : {std::pair{0, 1}, {1, 2}, {2, 1}, {3, 3}, {4, 2}, {5, 4}})
    dispatches[d].kernel.form = static_cast<uint8_t>(form);
  std::mutex mutex;
  std::multiset<int> compiled;
  compileInParallel(
      dispatches, &Dispatch::kernel, [](KernelId key) { return key.form == 3; },
      [&](const Dispatch& dispatch) {
        std::lock_guard lock(mutex);
        compiled.insert(dispatch.kernel.form);
      });
  CHECK(compiled == std::multiset<int>{1, 2, 4});
}

TEST_CASE("parallel: pipelines are counted before they are compiled, and when they are") {
  std::vector<Dispatch> dispatches(20);
  for (size_t d = 0; d < dispatches.size(); ++d) dispatches[d].kernel.form = static_cast<uint8_t>(d);
  const CompileCounts before = compileCounts();
  CHECK(before.compiled == before.wanted);
  std::atomic<bool> counted{true};
  const auto compile = [&](const Dispatch&) {
    const CompileCounts now = compileCounts();
    if (now.wanted - before.wanted != 20 || now.compiled - before.compiled >= 20) counted = false;
  };
  compileInParallel(
      dispatches, &Dispatch::kernel, [](KernelId) { return false; }, compile);
  CHECK(counted);
  const CompileCounts after = compileCounts();
  CHECK(after.wanted - before.wanted == 20);
  CHECK(after.compiled == after.wanted);
  // Those that fail count, too, so that nobody waits for them.
  const auto fail = [](const Dispatch&) { throw std::runtime_error("a driver"); };
  CHECK_THROWS_AS(compileInParallel(
                      dispatches, &Dispatch::kernel, [](KernelId) { return false; }, fail),
                  std::runtime_error);
  CHECK(compileCounts().wanted == after.wanted + 20);
  CHECK(compileCounts().compiled == compileCounts().wanted);
}

}  // namespace
}  // namespace dimple::testing
