// The tests' main program: doctest's options, and
//   --dll PATH              run the operator cases on the DirectML.dll at PATH, and nothing else
//   --expect-failures FILE  the cases that are known to fail there
// A failed test case ends with the command that repeats it alone; one that a run leaves out is named.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/driver.h"
#include "tests/options.h"
#include "tests/silent_listener.h"

namespace dimple::testing {

TestOptions& testOptions() {
  static TestOptions options;
  return options;
}

namespace {

std::string programName;

struct Announcer : SilentListener {
  using SilentListener::SilentListener;
  void test_case_start(const doctest::TestCaseData& testCase) override { name_ = testCase.m_name; }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (stats.testCaseSuccess) return;
    std::string command;
    for (const char* variable :
         {"DIMPLE_TEST_BACKEND", "DIMPLE_TEST_FILTER", "DIMPLE_TEST_SAMPLE", "DIMPLE_TEST_NO_VALIDATION"})
      if (const char* value = std::getenv(variable)) command += std::string(variable) + "=" + value + " ";
    // A comma would end the pattern, and a quotation mark the argument.
    for (char& c : name_)
      if (c == ',' || c == '\'') c = '?';
    std::printf("To repeat it alone: %s%s --test-case='%s'\n", command.c_str(), programName.c_str(), name_.c_str());
  }
  void test_case_skipped(const doctest::TestCaseData& testCase) override {
    if (testCase.m_skip) std::printf("Left out: %s\n", testCase.m_name);
  }

 private:
  std::string name_;
};
REGISTER_LISTENER("announcer", 2, Announcer);

}  // namespace
}  // namespace dimple::testing

int main(int count, char** arguments) {
  dimple::testing::programName = arguments[0];
  dimple::testing::chooseDriver();
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
