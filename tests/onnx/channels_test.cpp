// What follows convolutions, as a part of their weights.
#include <doctest.h>

#include "tests/onnx/model_builder.h"

namespace dimple::testing {
namespace {

using onnx::Type;
using Names = std::vector<std::string>;

Names operatorsOf(const onnx::Model& model) {
  Names names;
  for (const onnx::Node& node : model.nodes()) names.push_back(node.opType);
  return names;
}

// A convolution of two channels, whose result is "a"; the weights are constant.
ModelMaker convolution() {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 2, -1, -1});
  maker.initializer("filters", floats({2, 2, 1, 1}, {1, 2, 3, 4}));
  maker.initializer("each", floats({2, 1, 1}, {5, 6}));
  maker.initializer("line", floats({2}, {5, 6}));
  maker.node("Conv", {"x", "filters"}, {"a"});
  return maker;
}

// The operators that are left of a model.
Names left(const ModelMaker& maker) {
  onnx::Model model = maker.model();
  const onnx::Model constants = model.takeConstantNodes();
  CHECK(constants.inputs().empty());
  return operatorsOf(model);
}

TEST_CASE("onnx channels: factors, sums and normalizations go into the weights") {
  ModelMaker maker = convolution();
  maker.node("Mul", {"each", "a"}, {"b"});
  maker.node("Add", {"b", "each"}, {"c"});
  maker.node("BatchNormalization", {"c", "line", "line", "line", "line"}, {"d"});
  maker.node("Relu", {"d"}, {"y"});
  maker.output("y");
  CHECK(left(maker) == Names{"Conv", "Relu"});
}

TEST_CASE("onnx channels: what others read, and what is not of channels, stays") {
  ModelMaker read = convolution();
  read.node("Mul", {"a", "each"}, {"y"});
  read.output("y");
  read.output("a");
  CHECK(left(read) == Names{"Conv", "Mul"});
  ModelMaker twice = convolution();
  twice.node("Mul", {"a", "a"}, {"y"});
  twice.output("y");
  CHECK(left(twice) == Names{"Conv", "Mul"});
  // Along the last axis.
  ModelMaker along = convolution();
  along.node("Mul", {"a", "line"}, {"y"});
  along.output("y");
  CHECK(left(along) == Names{"Conv", "Mul"});
  ModelMaker given = convolution();
  given.input("factor", Type::Float, {1});
  given.node("Mul", {"a", "factor"}, {"y"});
  given.output("y");
  CHECK(left(given) == Names{"Conv", "Mul"});
}

TEST_CASE("onnx channels: nodes that read constants alone are a model of their own") {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1});
  maker.initializer("c", floats({1}, {3}));
  maker.node("Sqrt", {"c"}, {"root"});
  maker.node("Neg", {"root"}, {"negative"});
  maker.node("Mul", {"x", "negative"}, {"y"});
  maker.output("y");
  onnx::Model model = maker.model();
  const onnx::Model constants = model.takeConstantNodes();
  CHECK(operatorsOf(constants) == Names{"Sqrt", "Neg"});
  CHECK(constants.outputs() == Names{"negative"});
  CHECK(operatorsOf(model) == Names{"Mul"});
}

}  // namespace
}  // namespace dimple::testing
