// A Direct3D 12 device whose calls fail: nothing crashes or hangs, the caller learns what failed, everything is
// released, and the next device works.
#include <doctest.h>

#include "tests/faults/runs.h"

using namespace dimple::testing;

TEST_CASE("faults: a failing call of Direct3D 12 is answered, and nothing is left") {
  checkFaults(chooseFaults(allFaults(), 80), false);
}
