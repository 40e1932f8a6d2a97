// Models run through the library and compared with what they should give.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "clients/onnx/model_proto.h"
#include "clients/onnx/session.h"
#include "tests/conformance/gpu.h"

namespace dimple::testing {

struct Tolerance {
  double relative, absolute;
};

// What outputs may differ by unless a case says otherwise; integers are exact.
Tolerance defaultTolerance(onnx::Type type);

// Empty: equal within the tolerance. NaN equals NaN, and infinities are equal if their signs are.
std::string compareTensors(const onnx::HostTensor& actual, const onnx::HostTensor& expected,
                           const Tolerance& tolerance);

struct OnnxCase {
  std::string name;
  std::shared_ptr<const ::onnx::ModelProto> model;
  std::map<std::string, onnx::HostTensor> inputs;
  std::map<std::string, onnx::HostTensor> outputs;  // those that are compared
  Tolerance tolerance{0, 0};                        // the least; the default counts where it is larger
};

// Runs a case and answers its outputs. What it refuses is a ModelError.
using OnnxRunner = std::function<std::vector<onnx::NamedTensor>(const OnnxCase& testCase)>;

// Through this project's sessions.
OnnxRunner sessionRunner(Gpu& gpu);

// What becomes of the counts.
enum class Verdicts {
  Judged,   // the test fails unless most passed, none was wrong, and each refusal is listed
  Printed,  // they are all that is wanted
};

// Runs cases, counts how they end, and holds those that are refused against tests/data/onnx_refusals.txt.
class OnnxCases {
 public:
  // `set`: the first word of the lines for refusals of these cases; with "-differs" of those for cases that expect
  // something else than the standard.
  OnnxCases(OnnxRunner runner, std::string set, Verdicts verdicts);
  void run(const OnnxCase& testCase);
  // What a case's preparation says counts like what its run says.
  void refuse(const std::string& name, const std::string& reason);
  // Prints the counts, and judges them.
  void finish() const;

 private:
  struct Known {
    std::string set;
    std::string pattern;  // a name; a trailing * stands for anything
  };

  bool isListed(const std::string& set, const std::string& name) const;

  const OnnxRunner runner_;
  const std::string set_;
  const Verdicts verdicts_;
  std::vector<Known> known_;
  size_t passed_ = 0;
  size_t differing_ = 0;
  std::vector<std::string> refused_;
  std::vector<std::string> unlisted_;
  std::vector<std::string> wrong_;
};

}  // namespace dimple::testing
