#include "tests/gpu_test.h"
#include "tests/onnx/operator_cases.h"

namespace dimple::testing {
namespace {

GPU_TEST_CASE("onnx: cases of operators") { runOperatorCases(sessionRunner(gpu)); }

}  // namespace
}  // namespace dimple::testing
