#include "tests/onnx/onnx_run.h"

#include <doctest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::testing {

using onnx::cat;
using onnx::HostTensor;
using onnx::Type;

Tolerance defaultTolerance(Type type) {
  if (type == Type::Float16) return {5e-3, 5e-3};
  return onnx::isFloat(type) ? Tolerance{1e-4, 1e-5} : Tolerance{0, 0};
}

std::string compareTensors(const HostTensor& actual, const HostTensor& expected, const Tolerance& tolerance) {
  if (actual.type != expected.type)
    return cat("is of ", onnx::typeName(actual.type), ", expected ", onnx::typeName(expected.type));
  if (actual.sizes != expected.sizes)
    return cat("has sizes ", onnx::listText(actual.sizes), ", expected ", onnx::listText(expected.sizes));
  for (size_t i = 0; i < static_cast<size_t>(actual.elements()); ++i) {
    const double a = actual.real(i);
    const double e = expected.real(i);
    bool same = a == e || (std::isnan(a) && std::isnan(e));
    if (!onnx::isFloat(actual.type)) same = actual.integer(i) == expected.integer(i);
    if (!same && std::isfinite(e)) same = std::abs(a - e) <= tolerance.absolute + tolerance.relative * std::abs(e);
    if (!same) return cat("has ", a, " at element ", i, ", expected ", e);
  }
  return {};
}

OnnxRunner sessionRunner(Gpu& gpu) {
  return [&gpu](const OnnxCase& testCase) {
    const onnx::Model model(onnx::describe(*testCase.model, {}));
    return onnx::Session(gpu.context(), model).run(testCase.inputs);
  };
}

OnnxCases::OnnxCases(OnnxRunner runner, std::string set, Verdicts verdicts)
    : runner_(std::move(runner)), set_(std::move(set)), verdicts_(verdicts) {
  std::ifstream in(DIMPLE_TEST_DATA_DIR "/onnx_refusals.txt");
  for (std::string line; std::getline(in, line);) {
    const size_t space = line.find(' ');
    const size_t colon = line.find(": ");
    if (line.empty() || line[0] == '#') continue;
    REQUIRE_MESSAGE((space < colon && colon != line.npos), cat("No line of onnx_refusals.txt: ", line));
    known_.push_back({line.substr(0, space), line.substr(space + 1, colon - space - 1)});
  }
}

bool OnnxCases::isListed(const std::string& set, const std::string& name) const {
  for (const Known& known : known_) {
    const bool open = known.pattern.ends_with('*');
    const std::string start = known.pattern.substr(0, known.pattern.size() - (open ? 1 : 0));
    if (known.set == set && (open ? name.starts_with(start) : name == start)) return true;
  }
  return false;
}

void OnnxCases::refuse(const std::string& name, const std::string& reason) {
  refused_.push_back(cat(name, ": ", reason));
  if (!isListed(set_, name)) unlisted_.push_back(refused_.back());
}

void OnnxCases::run(const OnnxCase& testCase) {
  try {
    for (const onnx::NamedTensor& result : runner_(testCase)) {
      const auto expected = testCase.outputs.find(result.name);
      if (expected == testCase.outputs.end()) continue;
      const Tolerance least = defaultTolerance(expected->second.type);
      const Tolerance tolerance = {std::max(testCase.tolerance.relative, least.relative),
                                   std::max(testCase.tolerance.absolute, least.absolute)};
      const std::string difference = compareTensors(result.tensor, expected->second, tolerance);
      if (difference.empty()) continue;
      if (isListed(set_ + "-differs", testCase.name)) {
        ++differing_;
        return;
      }
      wrong_.push_back(cat(testCase.name, ": ", result.name, " ", difference, "."));
      return;
    }
    ++passed_;
  } catch (const onnx::ModelError& error) {
    refuse(testCase.name, error.what());
  } catch (const std::exception& error) {
    wrong_.push_back(cat(testCase.name, ": ", error.what()));
  }
}

void OnnxCases::finish() const {
  std::printf("%s: %zu passed, %zu refused, %zu differ from what is wrong itself, %zu wrong\n", set_.c_str(), passed_,
              refused_.size(), differing_, wrong_.size());
  if (std::getenv("DIMPLE_TEST_VERBOSE")) {
    for (const std::string& line : refused_) std::printf("refused %s\n", line.c_str());
    for (const std::string& line : wrong_) std::printf("wrong %s\n", line.c_str());
  }
  if (verdicts_ == Verdicts::Printed) return;
  for (const std::string& line : wrong_) FAIL_CHECK(line);
  for (const std::string& line : unlisted_)
    FAIL_CHECK(cat("Refused, but not listed in tests/data/onnx_refusals.txt: ", line));
  CHECK(passed_ > 0);
  CHECK(static_cast<double>(passed_) >=
        0.95 * static_cast<double>(passed_ + refused_.size() + differing_ + wrong_.size()));
}

}  // namespace dimple::testing
