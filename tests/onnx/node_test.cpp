#include "tests/gpu_test.h"
#include "tests/onnx/standard_cases.h"

namespace dimple::testing {
namespace {

GPU_TEST_CASE("onnx: the standard's tests of operators") { runStandardTests(sessionRunner(gpu)); }

}  // namespace
}  // namespace dimple::testing
