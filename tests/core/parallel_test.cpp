// Independent work on all cores.
#include "core/parallel.h"

#include <doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/plan.h"

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
  for (const auto& [d, kernel] : {std::pair{0, "a"}, {1, "b"}, {2, "a"}, {3, "c"}, {4, "b"}, {5, "d"}})
    dispatches[d].kernel = kernel;
  std::mutex mutex;
  std::multiset<std::string> compiled;
  compileInParallel(
      dispatches, &Dispatch::kernel, [](const std::string& key) { return key == "c"; },
      [&](const Dispatch& dispatch) {
        std::lock_guard lock(mutex);
        compiled.insert(dispatch.kernel);
      });
  CHECK(compiled == std::multiset<std::string>{"a", "b", "d"});
}

}  // namespace
}  // namespace dimple::testing
