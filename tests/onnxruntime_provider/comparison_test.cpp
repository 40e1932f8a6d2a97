// How many of the operators' tests another provider passes, for a table beside this project's. Asked for by
// DIMPLE_PROVIDER=WebGPU, in an ONNX Runtime that has that provider compiled in, or DIMPLE_PROVIDER=Dimple.
#include <doctest.h>

#include <cstdlib>
#include <string_view>

#include "clients/onnx/failure.h"
#include "tests/onnx/operator_cases.h"
#include "tests/onnx/standard_cases.h"
#include "tests/onnxruntime_provider/host.h"

namespace dimple::testing {
namespace {

std::string_view wanted() {
  const char* name = std::getenv("DIMPLE_PROVIDER");
  return name ? name : "";
}

// A session that is not opened is a refusal, whatever the reason; a run that fails is not.
OnnxRunner comparedRunner(const Host& host) {
  REQUIRE_MESSAGE((wanted() == "WebGPU" || wanted() == "Dimple"), "DIMPLE_PROVIDER is neither WebGPU nor Dimple.");
  const Engine engine = wanted() == "WebGPU" ? Engine::WebGpu : Engine::Dimple;
  return [&host, engine](const OnnxCase& testCase) {
    const auto open = [&] {
      try {
        return host.open(testCase.model->SerializeAsString(), {.provider = {}, .engine = engine});
      } catch (const HostError& error) {
        throw onnx::ModelError(error.what());
      }
    };
    return open().run(testCase.inputs);
  };
}

TEST_CASE("comparison: the standard's tests of operators" * doctest::skip(wanted().empty())) {
  const Host host;
  runStandardTests(comparedRunner(host), Verdicts::Printed);
}

TEST_CASE("comparison: cases of operators" * doctest::skip(wanted().empty())) {
  const Host host;
  runOperatorCases(comparedRunner(host), Verdicts::Printed);
}

}  // namespace
}  // namespace dimple::testing
