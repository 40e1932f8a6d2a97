// Test cases that some runs leave out, with the reason beside the case:
//
//   TEST_CASE("graphs: ..." * leftOut(Run::QuickD3d12, "each device compiles its kernels anew")) { ... }
//
// A case that is left out counts as skipped.
#pragma once

#include <doctest.h>

#include <cstdlib>
#include <string_view>

namespace dimple::testing {

enum class Run {
  Quick,       // the presets `quick` and `d3d12-quick`, which set DIMPLE_TEST_QUICK
  D3d12,       // Direct3D 12 alone: DIMPLE_TEST_BACKEND=d3d12
  QuickD3d12,  // both
  Sanitized,   // under a sanitizer, where code is several times slower
};

inline bool isRun(Run run) {
#ifdef DIMPLE_SANITIZED
  constexpr bool isSanitized = true;
#else
  constexpr bool isSanitized = false;
#endif
  if (run == Run::Sanitized) return isSanitized;
  const char* backend = std::getenv("DIMPLE_TEST_BACKEND");
  const bool quick = std::getenv("DIMPLE_TEST_QUICK") != nullptr;
  const bool d3d12 = backend && std::string_view(backend) == "d3d12";
  return (run == Run::D3d12 || quick) && (run == Run::Quick || d3d12);
}

struct LeftOut {
  bool skipped;
  void fill(doctest::detail::TestCase& testCase) const { testCase.m_skip = testCase.m_skip || skipped; }
};

// `reason` is for readers of the test.
inline LeftOut leftOut(Run run, [[maybe_unused]] const char* reason) { return {isRun(run)}; }

}  // namespace dimple::testing
