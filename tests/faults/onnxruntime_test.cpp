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

// y = the two largest of x, x + 3 and 0, where the program reads what was computed before it goes on.
std::string stagedModel() {
  ModelMaker maker(18);
  maker.input("x", onnx::Type::Float, {2});
  maker.initializer("three", floats({2}, {3, 3}));
  maker.initializer("none", floats({2}, {0, 0}));
  maker.node("Add", {"x", "three"}, {"sum"});
  setAttribute(maker.node("Concat", {"none", "sum", "x"}, {"all"}), "axis", int64_t{0});
  maker.node("NonZero", {"all"}, {"places"});
  setAttribute(maker.node("Transpose", {"places"}, {"columns"}), "perm", {1, 0});
  maker.node("GatherND", {"all", "columns"}, {"kept"});
  maker.initializer("two", integers({2}));
  maker.node("TopK", {"kept", "two"}, {"y", "which"});
  maker.output("y");
  return maker.bytes();
}

// A group, and one that is refused when the first is compiled.
std::string refusedModel() {
  ModelMaker maker;
  maker.input("x", onnx::Type::Float, {2});
  maker.node("Neg", {"x"}, {"negative"});
  addContextNode(maker, "negative", "y", "DimpleExecutionProvider");
  return maker.bytes();
}

// A program that runs `model`.
class ModelProgram {
 public:
  ModelProgram(const std::string& model, std::string answer)
      : program_(DIMPLE_PROVIDER_WORKER, "'" DIMPLE_ONNXRUNTIME_PROVIDER "' model.onnx 1", std::move(answer), true) {
    program_.write("model.onnx", model);
  }
  const FaultedProgram* operator->() const { return &program_; }

 private:
  const FaultedProgram program_;
};

bool hasRuntime() {
  if (std::getenv("DIMPLE_ONNXRUNTIME")) return true;
  MESSAGE("Skipped: DIMPLE_ONNXRUNTIME names no library.");
  return false;
}

TEST_CASE("faults: ONNX Runtime with the execution provider") {
  if (hasRuntime()) ModelProgram(productModel(), "y: 4 12")->check(16);
}

TEST_CASE("faults: ONNX Runtime with the execution provider, which reads in the middle of a run") {
  if (hasRuntime()) ModelProgram(stagedModel(), "y: 5 4")->check(16);
}

TEST_CASE("faults: a session of ONNX Runtime that cannot be made leaves nothing") {
  if (hasRuntime()) ModelProgram(refusedModel(), "")->checkRefusal("EPContext");
}

}  // namespace
}  // namespace dimple::testing
