// Makes allocations of the library fail. tests/boundary replaces the global operator new; what drivers allocate with
// it, which share it, is told apart by the first caller that is no part of the C++ or C library.
#pragma once

#include <cstddef>

namespace dimple::testing {

// While it lives, the library's allocations are known, on all threads. One at a time.
class Tracking {
 public:
  Tracking();
  ~Tracking();
  Tracking(const Tracking&) = delete;
  Tracking& operator=(const Tracking&) = delete;

  // What the library has allocated under a Tracking and not freed, in the life of the process.
  static size_t live();
};

// Within a Tracking: the library's allocation of this number, counted from 1, throws std::bad_alloc, and those after it
// succeed; 0: none does. nothrow allocations are not counted, since what they fail with is no exception.
class FailingAllocation {
 public:
  explicit FailingAllocation(size_t number);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  // Whether there were as many.
  static bool reached();
  // Allocations since it began.
  static size_t count();
};

}  // namespace dimple::testing
