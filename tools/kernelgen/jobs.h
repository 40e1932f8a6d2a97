// The same work on many items, on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace kernelgen {

// Calls `work` with every number below `count`, on `jobs` threads (0: as many as there are cores). One that throws does
// not keep the others from being called; the sentences of all are thrown together as one Error. Every few seconds the
// progress is printed in units of `items`.
void forEach(size_t count, size_t jobs, const char* items, const std::function<void(size_t)>& work);

}  // namespace kernelgen
