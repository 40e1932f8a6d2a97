// The same cases on Vulkan and on Direct3D 12: what one back end answers, the other has to answer too.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <future>
#include <limits>
#include <span>

#include "core/text.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/selection.h"
#include "tests/gpu_test.h"

namespace dimple::testing {
namespace {

// Every so many generated cases of a group; prime, so that no cycle of the generator is left out.
constexpr size_t kSample = 19;
constexpr size_t kPrintedDifferences = 8;

bool comparisonSkipped() {
  if (gpuTestsSkipped()) return true;
  static const bool skipped = [] {
    const bool alone = testedBackends().size() < 2;
    if (alone) std::printf("The back ends are not compared: only one of them is tested.\n");
    return alone;
  }();
  return skipped;
}

// Whether two right answers may differ by this much: each may be off by its tolerance.
oracle::Result doubled(oracle::Result expected) {
  oracle::Tolerance& tolerance = expected.tolerance;
  for (double* bound : {&tolerance.ulp32, &tolerance.ulp16, &tolerance.abs32, &tolerance.abs16}) *bound *= 2;
  for (auto* bounds : {&expected.magnitude, &expected.slack})
    for (double& bound : *bounds) bound *= 2;
  return expected;
}

// Empty, or a sentence. Exact results have to be the same, but for the payload of a NaN.
std::string compareOutputs(const CaseOutput& first, const CaseOutput& second) {
  oracle::Result reference = doubled(first.expected);
  oracle::Array other = second.actual;
  const bool exact = reference.tolerance.kind == oracle::Tolerance::Kind::Exact;
  std::vector<double> unrounded = std::move(reference.value.real);
  reference.value = first.actual;
  for (size_t i = 0; !exact && i < other.real.size(); ++i) {
    double& a = reference.value.real[i];
    double& b = other.real[i];
    // The larger one is the reference: its units are the larger ones, and the other may be what was flushed to zero.
    if (std::fabs(a) < std::fabs(b)) std::swap(a, b);
    // One of them rounds to infinity and the other not yet, for which each was judged.
    if (std::isinf(a) && std::isfinite(b) && std::isfinite(unrounded[i])) b = a;
  }
  return oracle::compare(reference, other).message;
}

// Some of every group of the run's own sample.
std::vector<std::string> sampledCases() {
  std::vector<std::string> lines;
  for (CaseGroup& group : caseGroups(selection(), {})) {
    group.step *= kSample;
    for (std::string& line : group.lines()) lines.push_back(std::move(line));
  }
  return lines;
}

// In the order of the lines. A runner reports every line once, but not in this order.
std::vector<CaseOutcome> runCases(Gpu& gpu, std::span<const std::string> lines) {
  std::vector<CaseOutcome> outcomes;
  CaseRunner runner(
      gpu, [&](const CaseOutcome& outcome) { outcomes.push_back(outcome); }, true);
  for (const std::string& line : lines) runner.add(line);
  runner.flush();
  std::sort(outcomes.begin(), outcomes.end(),
            [](const CaseOutcome& a, const CaseOutcome& b) { return a.line < b.line; });
  return outcomes;
}

// Whether two answers, of which the oracle would have given `expected`, agree.
bool agree(oracle::Tolerance tolerance, double expected, double first, double second) {
  oracle::Result result{oracle::makeArray(DML_TENSOR_DATA_TYPE_FLOAT32, {1}), tolerance};
  result.value.real = {expected};
  const auto output = [&](double value) {
    CaseOutput made{result, result.value};
    made.actual.real = {value};
    return made;
  };
  return compareOutputs(output(first), output(second)).empty();
}

TEST_CASE("ops: what counts as agreement of two back ends") {
  constexpr double kUlp = 0x1p-23;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto exact = oracle::exact();
  const auto ulp = oracle::ulp(1, 1);
  CHECK(agree(exact, 1, 1, 1));
  CHECK(agree(exact, 1, std::nan("1"), std::nan("2")));
  CHECK(!agree(exact, 1, 1, 1 + kUlp));
  CHECK(!agree(exact, 0, 0, -0.0));
  CHECK(agree(oracle::exactButZeroSign(), 0, 0, -0.0));
  // Below 1 the units are half as large.
  CHECK(agree(ulp, 1, 1 + kUlp, 1 - kUlp));
  CHECK(agree(ulp, 1, 1 - kUlp, 1 + kUlp));
  CHECK(!agree(ulp, 1, 1 + 2 * kUlp, 1 - kUlp));
  CHECK(agree(ulp, 0x1p-140, 0x1p-140, 0));
  CHECK(agree(ulp, 0x1p-140, 0, 0x1p-140));
  CHECK(!agree(ulp, 1, 1, std::nan("")));
  CHECK(!agree(ulp, 1, kInfinity, -kInfinity));
  CHECK(agree(ulp, 0x1.ffffffp127, kInfinity, 0x1.fffffep127));
  CHECK(!agree(ulp, kInfinity, kInfinity, 0x1.fffffep127));
}

TEST_CASE("ops: Vulkan and Direct3D 12 agree" * doctest::skip(comparisonSkipped())) {
  Gpu& vulkan = sharedGpu(DIMPLE_BACKEND_VULKAN, "");
  Gpu& d3d12 = sharedGpu(DIMPLE_BACKEND_D3D12, "");
  const std::vector<std::string> lines = sampledCases();
  size_t failed = 0;
  size_t exact = 0;
  // In parts, so that no more than the outputs of one part are held.
  constexpr size_t kPart = 256;
  for (size_t start = 0; start < lines.size(); start += kPart) {
    const std::span part(&lines[start], std::min(kPart, lines.size() - start));
    auto running = std::async(std::launch::async, [&] { return runCases(d3d12, part); });
    const auto first = runCases(vulkan, part);
    const auto second = running.get();
    REQUIRE(first.size() == part.size());
    REQUIRE(second.size() == part.size());
    for (size_t i = 0; i < part.size(); ++i) {
      REQUIRE(first[i].line == second[i].line);
      const auto fail = [&](const std::string& text) {
        if (failed++ < kPrintedDifferences) std::printf("%s\n    %s\n", first[i].line.c_str(), text.c_str());
      };
      if (!first[i].failure.empty()) fail(cat("vulkan: ", first[i].failure));
      if (!second[i].failure.empty()) fail(cat("d3d12: ", second[i].failure));
      if (!first[i].failure.empty() || !second[i].failure.empty()) continue;
      for (size_t output = 0; output < first[i].outputs.size(); ++output) {
        if (first[i].outputs[output].expected.tolerance.kind == oracle::Tolerance::Kind::Exact) ++exact;
        const std::string message = compareOutputs(first[i].outputs[output], second[i].outputs[output]);
        if (!message.empty()) fail(cat("d3d12, with vulkan expected: ", message));
      }
    }
  }
  CHECK(failed == 0);
  std::printf("ops on both back ends: %zu cases compared, %zu outputs of them exactly\n", lines.size(), exact);
  for (Gpu* gpu : {&vulkan, &d3d12})
    for (const std::string& message : gpu->takeMessages()) FAIL_CHECK("A message was sent: ", message);
}

}  // namespace
}  // namespace dimple::testing
