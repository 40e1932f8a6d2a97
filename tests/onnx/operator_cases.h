// Cases of ONNX Runtime's operator tests, as JSON lines.
#pragma once

#include "tests/onnx/onnx_run.h"

namespace dimple::testing {

// All of them, or every DIMPLE_TEST_SAMPLE-th, in the running test case. DIMPLE_ONNX_CASES names a folder of *.jsonl or
// an archive; without it nothing is run, which is said.
void runOperatorCases(const OnnxRunner& runner, Verdicts verdicts = Verdicts::Judged);

}  // namespace dimple::testing
