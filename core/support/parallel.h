// Independent work on all cores of the machine.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <type_traits>
#include <vector>

#include "core/plan/plan.h"

namespace dimple {

// Calls work(0) to work(count - 1), each once, on this thread and others, and returns when all have returned. An
// exception that one of them throws is thrown again.
void forEachInParallel(size_t count, const std::function<void(size_t)>& work);

// Pipelines of the process: those that were to be compiled, and those of them that are.
struct CompileCounts {
  uint32_t wanted = 0;
  uint32_t compiled = 0;
};
CompileCounts compileCounts();

// Counts pipelines that are to be compiled; at its end all of them count as compiled, whether that succeeded or not.
class CountedCompiles {
 public:
  explicit CountedCompiles(size_t count);
  ~CountedCompiles();
  CountedCompiles(const CountedCompiles&) = delete;

  // One is.
  void add();

 private:
  std::atomic<uint32_t> left_;
};

// Calls `compile` for a dispatch of each key that is not known, on all cores if there are several.
template <class KeyOf, class IsKnown>
void compileInParallel(std::span<const Dispatch> dispatches, const KeyOf& keyOf, const IsKnown& isKnown,
                       const std::function<void(const Dispatch&)>& compile) {
  std::map<std::decay_t<std::invoke_result_t<KeyOf, const Dispatch&>>, const Dispatch*> named;
  for (const Dispatch& dispatch : dispatches) named.try_emplace(std::invoke(keyOf, dispatch), &dispatch);
  std::vector<const Dispatch*> missing;
  for (const auto& [key, dispatch] : named)
    if (!isKnown(key)) missing.push_back(dispatch);
  CountedCompiles counted(missing.size());
  forEachInParallel(missing.size(), [&](size_t i) {
    compile(*missing[i]);
    counted.add();
  });
}

}  // namespace dimple
