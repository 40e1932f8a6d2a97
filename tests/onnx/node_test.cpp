#include "clients/onnx/failure.h"
#include "tests/conformance/selection.h"
#include "tests/gpu_test.h"
#include "tests/onnx/onnx_run.h"
#include "tests/onnx/standard_tests.h"

namespace dimple::testing {
namespace {

GPU_TEST_CASE("onnx: the standard's tests of operators") {
  const auto folders = standardTests();
  if (folders.empty()) {
    MESSAGE("Skipped: the package libonnx-testdata is not installed, and DIMPLE_ONNX_TESTDATA names no folder of it.");
    return;
  }
  OnnxCases cases(gpu, "node");
  for (size_t i = 0; i < folders.size(); i += selection().sample) {
    try {
      StandardTest test = readStandardTest(folders[i]);
      OnnxCase testCase{test.name, {}, std::move(test.inputs), std::move(test.outputs), {1e-3, 1e-7}};
      testCase.model = [&] { return onnx::Model(onnx::describe(test.model, {})); };
      cases.run(testCase);
    } catch (const onnx::ModelError& refusal) {
      cases.refuse(standardTestName(folders[i]), refusal.what());
    }
  }
  cases.finish();
}

}  // namespace
}  // namespace dimple::testing
