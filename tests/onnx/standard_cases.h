// ONNX's own tests of single operators as cases.
#pragma once

#include "tests/onnx/onnx_run.h"

namespace dimple::testing {

// All of them, or every DIMPLE_TEST_SAMPLE-th, in the running test case.
void runStandardTests(const OnnxRunner& runner, Verdicts verdicts = Verdicts::Judged);

}  // namespace dimple::testing
