#include "tests/onnx/standard_cases.h"

#include <doctest.h>

#include "clients/onnx/failure.h"
#include "tests/conformance/selection.h"
#include "tests/onnx/standard_tests.h"

namespace dimple::testing {

void runStandardTests(const OnnxRunner& runner, Verdicts verdicts) {
  const auto folders = standardTests();
  if (folders.empty()) {
    MESSAGE("Skipped: the package libonnx-testdata is not installed, and DIMPLE_ONNX_TESTDATA names no folder of it.");
    return;
  }
  OnnxCases cases(runner, "node", verdicts);
  for (size_t i = 0; i < folders.size(); i += selection().sample) {
    try {
      StandardTest test = readStandardTest(folders[i]);
      cases.run({test.name,
                 std::make_shared<const ::onnx::ModelProto>(std::move(test.model)),
                 std::move(test.inputs),
                 std::move(test.outputs),
                 {1e-3, 1e-7}});
    } catch (const onnx::ModelError& refusal) {
      cases.refuse(standardTestName(folders[i]), refusal.what());
    }
  }
  cases.finish();
}

}  // namespace dimple::testing
