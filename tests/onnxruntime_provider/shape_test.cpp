// Which nodes that compute sizes are taken.
#include <doctest.h>

#include "tests/onnx/model_builder.h"
#include "tests/onnxruntime_provider/host.h"
#include "tests/onnxruntime_provider/transfers.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;
using Names = std::vector<std::string>;
using Reals = std::vector<double>;

// `to` becomes the first size of `from`, and what is left of it.
void addRows(ModelMaker& maker, const char* from, const char* to) {
  maker.initializer("zero", integers({0}));
  maker.initializer("rest", integers({-1}));
  maker.node("Shape", {from}, {"shape"});
  maker.node("Gather", {"shape", "zero"}, {"rows"});
  setAttribute(maker.node("Concat", {"rows", "rest"}, {to}), "axis", 0);
}

TEST_CASE("provider shapes: what a group reshapes by is computed in it") {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 2, 2});
  maker.node("Neg", {"x"}, {"negative"});
  addRows(maker, "x", "sizes");
  maker.node("Reshape", {"negative", "sizes"}, {"y"});
  maker.output("y");
  const Host host;
  const HostSession session = host.open(maker.bytes(), {.provider = {}, .fallback = true});
  CHECK(session.taken() == Names{"Concat", "Gather", "Neg", "Reshape", "Shape"});
  CHECK(session.left().empty());
  takeTransfers();
  const HostTensor y = session.run({{"x", floats({1, 2, 2}, {1, 2, 3, 4})}})[0].tensor;
  CHECK(y.sizes == onnx::Sizes{1, 4});
  CHECK(y.reals() == Reals{-1, -2, -3, -4});
  // Nothing but the input and the output.
  CHECK(takeTransfers() == Transfers{1, 1, 32});
}

TEST_CASE("provider shapes: what computes sizes alone is left to the processor") {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 2, 2});
  addRows(maker, "x", "sizes");
  maker.output("sizes");
  const Host host;
  const Inputs inputs{{"x", floats({3, 2, 2}, Reals(12, 1))}};
  {
    const HostSession session = host.open(maker.bytes(), {.provider = {}, .fallback = true});
    CHECK(session.taken().empty());
    CHECK(session.left() == Names{"Concat", "Gather", "Shape"});
    takeTransfers();
    CHECK(session.run(inputs)[0].tensor.reals() == Reals{3, -1});
    CHECK(takeTransfers() == Transfers{});
  }
  const HostSession session = host.open(maker.bytes());
  CHECK(session.left().empty());
  CHECK(session.run(inputs)[0].tensor.reals() == Reals{3, -1});
}

// DirectML has no determinant, so that the sizes of one are asked for behind a node of the processor.
TEST_CASE("provider shapes: a group of sizes beside one with work is left to the processor") {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 2, 2});
  maker.node("Relu", {"x"}, {"y"});
  maker.node("Det", {"x"}, {"determinants"});
  addRows(maker, "determinants", "sizes");
  maker.output("y");
  maker.output("sizes");
  const Host host;
  const HostSession session = host.open(maker.bytes(), {.provider = {}, .fallback = true});
  CHECK(session.taken() == Names{"Relu"});
  CHECK(session.left() == Names{"Concat", "Det", "Gather", "Shape"});
  takeTransfers();
  const auto outputs = session.run({{"x", floats({1, 2, 2}, {1, -2, 3, 4})}});
  CHECK(outputs[0].tensor.reals() == Reals{1, 0, 3, 4});
  CHECK(outputs[1].tensor.reals() == Reals{1, -1});
  CHECK(takeTransfers() == Transfers{1, 1, 32});
}

}  // namespace
}  // namespace dimple::testing
