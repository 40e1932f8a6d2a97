// What the command line of the test programs adds to doctest's.
#pragma once

#include <string>

namespace dimple::testing {

struct TestOptions {
  // Another DirectML.dll to run the operator cases on, instead of all other tests; Windows only.
  std::string dll;
  // File of cases that are known to fail there (tests/expectations.h).
  std::string expectFailures;
};

TestOptions& testOptions();

}  // namespace dimple::testing
