// ONNX Runtime with this project's execution provider on a driver whose calls fail.
#include <doctest.h>

#include "tests/faults/programs.h"
#include "tests/onnx/model_builder.h"

namespace dimple::testing {
namespace {

// y = (x + (3, 4)) * x
std::string productModel() {
  ModelMaker maker;
  maker.input("x", onnx::Type::Float, {-1});
  maker.initializer("weights", floats({2}, {3, 4}));
  maker.node("Add", {"x", "weights"}, {"sum"});
  maker.node("Mul", {"sum", "x"}, {"y"});
  maker.output("y");
  return maker.bytes();
}

TEST_CASE("faults: ONNX Runtime with the execution provider") {
  if (!std::getenv("DIMPLE_ONNXRUNTIME")) {
    MESSAGE("Skipped: DIMPLE_ONNXRUNTIME names no library.");
    return;
  }
  const FaultedProgram program(DIMPLE_PROVIDER_WORKER, "'" DIMPLE_ONNXRUNTIME_PROVIDER "' model.onnx 1", "y: 4 12",
                               true);
  program.write("model.onnx", productModel());
  program.check(16);
}

}  // namespace
}  // namespace dimple::testing
