// Independent work on all cores of the machine.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace dimple {

struct Dispatch;

// Calls work(0) to work(count - 1), each once, on this thread and others. Returns when all have returned. What one of
// them throws is thrown on.
void forEachInParallel(size_t count, const std::function<void(size_t)>& work);

// Calls `compile` for a dispatch of each key that is not known, on all cores if there are several.
void compileInParallel(std::span<const Dispatch> dispatches, const std::function<std::string(const Dispatch&)>& keyOf,
                       const std::function<bool(const std::string&)>& isKnown,
                       const std::function<void(const Dispatch&)>& compile);

}  // namespace dimple
