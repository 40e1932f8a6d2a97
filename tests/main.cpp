// The tests' main program: doctest's options, and
//   --dll PATH              run the operator cases on the DirectML.dll at PATH, and nothing else
//   --expect-failures FILE  the cases that are known to fail there
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest.h>

#include <cstdio>
#include <string_view>

#include "tests/options.h"

namespace dimple::testing {

TestOptions& testOptions() {
  static TestOptions options;
  return options;
}

}  // namespace dimple::testing

int main(int count, char** arguments) {
  auto& options = dimple::testing::testOptions();
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    std::string* value = nullptr;
    if (argument == "--dll") value = &options.dll;
    if (argument == "--expect-failures") value = &options.expectFailures;
    if (!value) continue;
    if (++i == count) {
      std::fprintf(stderr, "%s needs a path.\n", arguments[i - 1]);
      return 2;
    }
    *value = arguments[i];
  }
  doctest::Context context(count, arguments);
  context.addFilter(options.dll.empty() ? "test-case-exclude" : "test-case", "dll: *");
#ifndef _WIN32
  if (!options.dll.empty()) {
    std::fprintf(stderr, "--dll works on Windows only.\n");
    return 2;
  }
#endif
  return context.run();
}
