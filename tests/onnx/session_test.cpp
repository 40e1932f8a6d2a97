// Models on a device: views, folding, several graphs, control flow, and what is refused.
#include <cmath>

#include "clients/onnx/failure.h"
#include "tests/gpu_test.h"
#include "tests/onnx/model_builder.h"
#include "tests/onnx/onnx_run.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Model;
using onnx::Session;
using onnx::Type;
using Inputs = std::map<std::string, HostTensor>;

std::vector<double> counted(size_t count) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i);
  return values;
}

std::string refusal(Gpu& gpu, const Model& model, const Inputs& inputs, const onnx::SessionOptions& options = {}) {
  try {
    Session(gpu.context(), model, options).run(inputs);
    return {};
  } catch (const onnx::ModelError& error) {
    return error.what();
  }
}

GPU_TEST_CASE("onnx sessions: views are no operators") {
  ModelMaker maker;
  maker.input("x", Type::Float, {2, 3, 4});
  maker.initializer("sizes", integers({6, 4}));
  setAttribute(maker.node("Transpose", {"x"}, {"t"}), "perm", {1, 0, 2});
  maker.node("Neg", {"t"}, {"n"});
  maker.node("Reshape", {"n", "sizes"}, {"r"});
  maker.node("Abs", {"r"}, {"y"});
  maker.output("y");
  const Model model = maker.model();
  Session session(gpu.context(), model);
  const auto outputs = session.run({{"x", floats({2, 3, 4}, counted(24))}});
  CHECK(session.statistics().graphs == 1);
  CHECK(session.statistics().operators == 2);
  CHECK(outputs[0].tensor.sizes == onnx::Sizes{6, 4});
  CHECK(outputs[0].tensor.real(4) == 12);
}

GPU_TEST_CASE("onnx sessions: a graph is kept while sizes stay") {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 2});
  maker.initializer("w", floats({2, 1}, {1, 10}));
  maker.node("MatMul", {"x", "w"}, {"y"});
  maker.output("y");
  const Model model = maker.model();
  Session session(gpu.context(), model);
  CHECK(session.run({{"x", floats({1, 2}, {1, 2})}})[0].tensor.reals() == std::vector<double>{21});
  CHECK(session.run({{"x", floats({1, 2}, {3, 4})}})[0].tensor.reals() == std::vector<double>{43});
  CHECK(session.run({{"x", floats({2, 2}, {1, 2, 3, 4})}})[0].tensor.reals() == std::vector<double>{21, 43});
}

GPU_TEST_CASE("onnx sessions: shapes made of shapes are folded") {
  // x.reshape(-1, x.shape[1] * 2)
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 3});
  maker.initializer("one", integers({1}));
  maker.initializer("two", integers({2}));
  maker.initializer("rest", integers({-1}));
  maker.node("Shape", {"x"}, {"shape"});
  maker.node("Gather", {"shape", "one"}, {"columns"});
  maker.node("Mul", {"columns", "two"}, {"doubled"});
  setAttribute(maker.node("Concat", {"rest", "doubled"}, {"sizes"}), "axis", 0);
  maker.node("Reshape", {"x", "sizes"}, {"r"});
  maker.node("Neg", {"r"}, {"y"});
  maker.output("y");
  const Model model = maker.model();
  Session session(gpu.context(), model);
  const auto outputs = session.run({{"x", floats({4, 3}, counted(12))}});
  CHECK(outputs[0].tensor.sizes == onnx::Sizes{2, 6});
  CHECK(session.statistics().graphs == 1);
  CHECK(session.statistics().operators == 1);
}

GPU_TEST_CASE("onnx sessions: slices of shapes are folded") {
  for (const int64_t opset : {9, 17}) {
    ModelMaker maker(opset);
    maker.input("x", Type::Float, {2, 3, 4});
    maker.initializer("first", integers({1}));
    maker.initializer("last", integers({9}));
    maker.initializer("rest", integers({-1}));
    maker.node("Shape", {"x"}, {"shape"});
    if (opset < 10) {
      auto& slice = maker.node("Slice", {"shape"}, {"columns"});
      setAttribute(slice, "starts", std::vector<int64_t>{1});
      setAttribute(slice, "ends", std::vector<int64_t>{9});
    } else {
      maker.node("Slice", {"shape", "first", "last"}, {"columns"});
    }
    setAttribute(maker.node("Concat", {"rest", "columns"}, {"sizes"}), "axis", 0);
    maker.node("Reshape", {"x", "sizes"}, {"r"});
    maker.node("Neg", {"r"}, {"y"});
    maker.output("y");
    const Model model = maker.model();
    Session session(gpu.context(), model);
    const auto outputs = session.run({{"x", floats({2, 3, 4}, counted(24))}});
    CHECK(outputs[0].tensor.sizes == onnx::Sizes{2, 3, 4});
    CHECK(outputs[0].tensor.real(23) == -23);
    CHECK(session.statistics().graphs == 1);
  }
}

GPU_TEST_CASE("onnx sessions: indices from the end are folded") {
  ModelMaker maker;
  maker.input("x", Type::Float, {2, 3});
  maker.initializer("last", integers({-1}));
  maker.node("Shape", {"x"}, {"shape"});
  maker.node("Gather", {"shape", "last"}, {"columns"});
  maker.output("columns");
  const Model model = maker.model();
  const auto outputs = Session(gpu.context(), model).run({{"x", floats({2, 3}, counted(6))}});
  CHECK(outputs[0].tensor.integers() == std::vector<int64_t>{3});
}

GPU_TEST_CASE("onnx sessions: no window begins behind the padding") {
  ModelMaker maker(19);
  maker.input("x", Type::Float, {1, 1, 4});
  auto& node = maker.node("AveragePool", {"x"}, {"y"});
  setAttribute(node, "kernel_shape", std::vector<int64_t>{1});
  setAttribute(node, "strides", std::vector<int64_t>{4});
  setAttribute(node, "ceil_mode", 1);
  maker.output("y");
  const Model model = maker.model();
  const auto outputs = Session(gpu.context(), model).run({{"x", floats({1, 1, 4}, {5, 6, 7, 8})}});
  CHECK(outputs[0].tensor.sizes == onnx::Sizes{1, 1, 1});
  CHECK(outputs[0].tensor.real(0) == 5);
}

GPU_TEST_CASE("onnx sessions: padding is counted where it is, and nothing behind it") {
  // Windows of [0, 3, 6, 9, 12, 15] that begin at every second element: the last has two elements.
  ModelMaker maker(19);
  maker.input("x", Type::Float, {1, 1, 5});
  auto& node = maker.node("AveragePool", {"x"}, {"y"});
  setAttribute(node, "kernel_shape", std::vector<int64_t>{3});
  setAttribute(node, "strides", std::vector<int64_t>{2});
  setAttribute(node, "pads", {1, 0});
  setAttribute(node, "ceil_mode", 1);
  setAttribute(node, "count_include_pad", 1);
  maker.output("y");
  const Model model = maker.model();
  const auto values =
      Session(gpu.context(), model).run({{"x", floats({1, 1, 5}, {3, 6, 9, 12, 15})}})[0].tensor.reals();
  CHECK(values == std::vector<double>{3, 9, 13.5});
}

GPU_TEST_CASE("onnx sessions: a normalization without a mean") {
  ModelMaker maker;
  maker.input("x", Type::Float, {1, 2});
  maker.initializer("scale", floats({2}, {1, 10}));
  maker.node("SimplifiedLayerNormalization", {"x", "scale"}, {"y"});
  maker.output("y");
  const Model model = maker.model();
  const auto values = Session(gpu.context(), model).run({{"x", floats({1, 2}, {3, 4})}})[0].tensor.reals();
  CHECK(values[0] == doctest::Approx(3 / std::sqrt(12.5)));
  CHECK(values[1] == doctest::Approx(40 / std::sqrt(12.5)));
}

GPU_TEST_CASE("onnx sessions: a shape that depends on elements cuts the model") {
  ModelMaker maker;
  maker.input("x", Type::Float, {6});
  maker.node("NonZero", {"x"}, {"places"});
  maker.node("Shape", {"places"}, {"found"});
  setAttribute(maker.node("Transpose", {"places"}, {"columns"}), "perm", {1, 0});
  maker.node("GatherND", {"x", "columns"}, {"kept"});
  maker.node("Neg", {"kept"}, {"y"});
  maker.output("y");
  maker.output("found");
  const Model model = maker.model();
  Session session(gpu.context(), model);
  auto outputs = session.run({{"x", floats({6}, {0, 5, 0, 7, 8, 0})}});
  CHECK(outputs[0].tensor.reals() == std::vector<double>{-5, -7, -8});
  CHECK(outputs[1].tensor.integers() == std::vector<int64_t>{1, 3});
  CHECK(session.statistics().graphs == 2);
  // As many elements in the same places, and in others.
  outputs = session.run({{"x", floats({6}, {0, 6, 0, 7, 9, 0})}});
  CHECK(outputs[0].tensor.reals() == std::vector<double>{-6, -7, -9});
  outputs = session.run({{"x", floats({6}, {1, 0, 2, 0, 0, 3})}});
  CHECK(outputs[0].tensor.reals() == std::vector<double>{-1, -2, -3});
  CHECK(session.statistics().graphs == 2);
  outputs = session.run({{"x", floats({6}, {0, 0, 0, 0, 9, 0})}});
  CHECK(outputs[0].tensor.reals() == std::vector<double>{-9});
  outputs = session.run({{"x", floats({6}, {0, 0, 0, 0, 0, 0})}});
  CHECK(outputs[0].tensor.sizes == onnx::Sizes{0});
  outputs = session.run({{"x", floats({6}, {3, 0, 0, 0, 0, 0})}});
  CHECK(outputs[0].tensor.reals() == std::vector<double>{-3});
}

// if condition: x + x else: -x, where the branches read what is around them
ModelMaker branches() {
  ModelMaker maker;
  maker.input("x", Type::Float, {2});
  maker.input("condition", Type::Bool, {});
  auto& node = maker.node("If", {"condition"}, {"y"});
  GraphMaker then(addGraph(node, "then_branch"));
  then.node("Add", {"x", "x"}, {"result"});
  then.output("result");
  GraphMaker otherwise(addGraph(node, "else_branch"));
  otherwise.node("Neg", {"x"}, {"result"});
  otherwise.output("result");
  maker.output("y");
  return maker;
}

GPU_TEST_CASE("onnx sessions: conditions choose their branch") {
  const Model model = branches().model();
  Session session(gpu.context(), model);
  const auto run = [&](double condition) {
    return session.run({{"x", floats({2}, {1, 2})}, {"condition", onnx::scalarTensor(Type::Bool, condition)}})[0]
        .tensor.reals();
  };
  CHECK(run(1) == std::vector<double>{2, 4});
  CHECK(run(0) == std::vector<double>{-1, -2});
  CHECK(run(1) == std::vector<double>{2, 4});
}

GPU_TEST_CASE("onnx sessions: a condition that is computed cuts the model") {
  ModelMaker maker;
  maker.input("x", Type::Float, {2});
  setAttribute(maker.node("ReduceMax", {"x"}, {"most"}), "keepdims", 0);
  maker.initializer("limit", onnx::scalarTensor(Type::Float, 3));
  maker.node("Greater", {"most", "limit"}, {"condition"});
  auto& node = maker.node("If", {"condition"}, {"y"});
  GraphMaker then(addGraph(node, "then_branch"));
  then.node("Neg", {"x"}, {"a"});
  then.output("a");
  GraphMaker otherwise(addGraph(node, "else_branch"));
  otherwise.initializer("w", floats({2}, {10, 20}));
  otherwise.node("Add", {"x", "w"}, {"a"});
  otherwise.output("a");
  maker.output("y");
  const Model model = maker.model();
  Session session(gpu.context(), model);
  CHECK(session.run({{"x", floats({2}, {1, 4})}})[0].tensor.reals() == std::vector<double>{-1, -4});
  CHECK(session.run({{"x", floats({2}, {1, 2})}})[0].tensor.reals() == std::vector<double>{11, 22});
}

// Adds x to a sum, and collects the sums, while `condition` makes of the sum what a condition is.
void addLoop(GraphMaker& maker, const std::string& trips, auto&& condition) {
  maker.initializer("start", floats({2}, {0, 0}));
  auto& node = maker.node("Loop", {trips, "", "start"}, {"sum", "sums"});
  GraphMaker body(addGraph(node, "body"));
  body.input("number", Type::Int64, {});
  body.input("goes on", Type::Bool, {});
  body.input("before", Type::Float, {2});
  body.node("Add", {"before", "x"}, {"after"});
  body.node("Identity", {"after"}, {"collected"});
  condition(body);
  body.output("condition");
  body.output("after");
  body.output("collected");
  maker.output("sum");
  maker.output("sums");
}

// The same while no sum has reached the limit.
void addLoopBelow(GraphMaker& maker, double limit) {
  maker.initializer("limit", onnx::scalarTensor(Type::Float, limit));
  maker.initializer("wide", integers({3, 2}));
  addLoop(maker, "", [](GraphMaker& body) {
    // A view, which would be copied if it were kept for the next iteration.
    body.node("Expand", {"after", "wide"}, {"rows"});
    setAttribute(body.node("ReduceMax", {"rows"}, {"most"}), "keepdims", 0);
    body.node("Less", {"most", "limit"}, {"condition"});
  });
}

GPU_TEST_CASE("onnx sessions: a loop of known length is one graph") {
  ModelMaker maker;
  maker.input("x", Type::Float, {2});
  maker.initializer("three", onnx::scalarTensor(Type::Int64, 3));
  addLoop(maker, "three", [](GraphMaker& body) { body.node("Identity", {"goes on"}, {"condition"}); });
  const Model model = maker.model();
  Session session(gpu.context(), model);
  const auto outputs = session.run({{"x", floats({2}, {1, 10})}});
  CHECK(session.statistics().graphs == 1);
  CHECK(outputs[0].tensor.reals() == std::vector<double>{3, 30});
  CHECK(outputs[1].tensor.sizes == onnx::Sizes{3, 2});
  CHECK(outputs[1].tensor.reals() == std::vector<double>{1, 10, 2, 20, 3, 30});
}

GPU_TEST_CASE("onnx sessions: a loop goes on as long as what it computes says so") {
  ModelMaker maker;
  maker.input("x", Type::Float, {2});
  addLoopBelow(maker, 35);
  const Model model = maker.model();
  Session session(gpu.context(), model);
  const auto check = [&](double x, int64_t iterations) {
    const auto outputs = session.run({{"x", floats({2}, {1, x})}});
    CHECK(outputs[0].tensor.reals() ==
          std::vector<double>{static_cast<double>(iterations), x * static_cast<double>(iterations)});
    CHECK(outputs[1].tensor.sizes == onnx::Sizes{iterations, 2});
    return session.statistics().graphs;
  };
  const size_t graphs = check(10, 4);
  CHECK(graphs > 1);
  // As many iterations, more, and fewer.
  CHECK(check(11, 4) == graphs);
  CHECK(check(0.5, 35) > 30);
  CHECK(check(10, 4) == graphs);
}

GPU_TEST_CASE("onnx sessions: a long loop goes on") {
  ModelMaker maker;
  maker.input("x", Type::Float, {1});
  addLoopBelow(maker, 70);
  const Model model = maker.model();
  Session session(gpu.context(), model);
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(session.run({{"x", floats({1}, {1})}})[0].tensor.reals() == std::vector<double>{70, 70});
    CHECK(session.statistics().graphs >= 70);
    // Sum, maximum and comparison.
    CHECK(session.statistics().operators <= 3 * session.statistics().graphs);
  }
}

GPU_TEST_CASE("onnx sessions: a branch in a loop reads what is made around both") {
  ModelMaker maker;
  maker.input("x", Type::Float, {2});
  maker.node("Add", {"x", "x"}, {"doubled"});
  maker.initializer("start", floats({2}, {0, 0}));
  maker.initializer("high", onnx::scalarTensor(Type::Float, 25));
  maker.initializer("limit", onnx::scalarTensor(Type::Float, 90));
  auto& loop = maker.node("Loop", {"", "", "start"}, {"sum", "sums"});
  GraphMaker body(addGraph(loop, "body"));
  body.input("number", Type::Int64, {});
  body.input("goes on", Type::Bool, {});
  body.input("before", Type::Float, {2});
  body.node("Add", {"before", "x"}, {"after"});
  setAttribute(body.node("ReduceMax", {"after"}, {"most"}), "keepdims", 0);
  body.node("Greater", {"most", "high"}, {"is high"});
  auto& branch = body.node("If", {"is high"}, {"next"});
  GraphMaker then(addGraph(branch, "then_branch"));
  then.node("Add", {"before", "doubled"}, {"a"});
  then.output("a");
  GraphMaker otherwise(addGraph(branch, "else_branch"));
  otherwise.output("after");
  setAttribute(body.node("ReduceMax", {"next"}, {"most of next"}), "keepdims", 0);
  body.node("Less", {"most of next", "limit"}, {"condition"});
  body.node("Identity", {"next"}, {"collected"});
  body.output("condition");
  body.output("next");
  body.output("collected");
  maker.output("sum");
  maker.output("sums");
  const Model model = maker.model();
  Session session(gpu.context(), model);
  for (int turn = 0; turn < 2; ++turn) {
    const auto outputs = session.run({{"x", floats({2}, {1, 10})}});
    CHECK(outputs[0].tensor.reals() == std::vector<double>{10, 100});
    CHECK(outputs[1].tensor.reals() == std::vector<double>{1, 10, 2, 20, 4, 40, 6, 60, 8, 80, 10, 100});
  }
}

GPU_TEST_CASE("onnx sessions: a loop that never ends is refused") {
  ModelMaker maker;
  maker.input("x", Type::Float, {2});
  addLoop(maker, "", [](GraphMaker& body) { body.node("Identity", {"goes on"}, {"condition"}); });
  const Model model = maker.model();
  onnx::SessionOptions options;
  options.maxAddedNodes = 1000;
  CHECK(refusal(gpu, model, {{"x", floats({2}, {1, 2})}}, options) ==
        "The node \"sum\" (Loop) cannot run: Loops and branches have added 1000 nodes to the model, expected at "
        "most 1000.");
}

GPU_TEST_CASE("onnx sessions: what a loop cannot run is named once") {
  ModelMaker maker;
  maker.input("x", Type::Float, {2});
  maker.initializer("three", onnx::scalarTensor(Type::Int64, 3));
  addLoop(maker, "three", [](GraphMaker& body) {
    body.node("Identity", {"goes on"}, {"condition"});
    body.node("MatMul", {"after"}, {"product"});
  });
  maker.node("Neg", {"sum"}, {"less"});
  CHECK(refusal(gpu, maker.model(), {{"x", floats({2}, {1, 2})}}) ==
        "The node \"sum/0/product\" (MatMul) cannot run: Input 1 is absent, expected a tensor.");
}

GPU_TEST_CASE("onnx sessions: inputs become outputs, and constants too") {
  ModelMaker maker;
  maker.input("x", Type::Int64, {2});
  maker.initializer("w", integers({7}));
  maker.node("Identity", {"x"}, {"same"});
  maker.node("Identity", {"w"}, {"constant"});
  maker.output("same");
  maker.output("constant");
  maker.output("x");
  const Model model = maker.model();
  const auto outputs = Session(gpu.context(), model).run({{"x", integers({1, int64_t{1} << 40})}});
  CHECK(outputs[0].tensor.integers() == std::vector<int64_t>{1, int64_t{1} << 40});
  CHECK(outputs[1].tensor.integers() == std::vector<int64_t>{7});
  CHECK(outputs[2].tensor.integers() == outputs[0].tensor.integers());
}

GPU_TEST_CASE("onnx sessions: all nodes that cannot run are named at once") {
  ModelMaker maker;
  maker.input("x", Type::Float, {2});
  maker.node("Det", {"x"}, {"a"}).set_name("first");
  maker.node("Neg", {"x"}, {"b"});
  maker.node("GridSample", {"b", "x"}, {"c"}).set_name("second");
  maker.output("a");
  maker.output("c");
  const std::string text = refusal(gpu, maker.model(), {{"x", floats({2}, {1, 2})}});
  CHECK(text.find("\"first\" (Det)") != std::string::npos);
  CHECK(text.find("\"second\" (GridSample)") != std::string::npos);

  ModelMaker shapes;
  shapes.input("x", Type::Float, {2});
  shapes.initializer("w", floats({3}, {1, 2, 3}));
  shapes.node("Add", {"x", "w"}, {"a"}).set_name("sum");
  shapes.node("MatMul", {"x", "w"}, {"b"}).set_name("product");
  shapes.node("Neg", {"a"}, {"c"}).set_name("behind");
  shapes.output("c");
  shapes.output("b");
  const std::string both = refusal(gpu, shapes.model(), {{"x", floats({2}, {1, 2})}});
  CHECK(both.find("\"sum\" (Add)") != std::string::npos);
  CHECK(both.find("\"product\" (MatMul)") != std::string::npos);
  CHECK(both.find("[2] and [3]") != std::string::npos);
  CHECK(both.find("behind") == std::string::npos);
}

GPU_TEST_CASE("onnx sessions: inputs that do not fit are refused") {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 2});
  maker.input("y", Type::Float, {-1});
  maker.node("Neg", {"x"}, {"a"});
  maker.output("a");
  const Model model = maker.model();
  const HostTensor x = floats({1, 2}, {1, 2});
  const HostTensor y = floats({1}, {1});
  CHECK(refusal(gpu, model, {{"x", x}, {"y", y}}).empty());
  CHECK(refusal(gpu, model, {{"x", x}}) == "Input \"y\" is not given, expected float[N].");
  CHECK(refusal(gpu, model, {{"x", floats({1, 3}, {1, 2, 3})}, {"y", y}}) ==
        "Input \"x\" has sizes [1,3], expected [N,2].");
  CHECK(refusal(gpu, model, {{"x", x}, {"y", floats({2}, {1, 2})}}).find("where N is 1 already") != std::string::npos);
  CHECK(refusal(gpu, model, {{"x", integers({1})}, {"y", y}}).find("int64, expected float") != std::string::npos);
  CHECK(refusal(gpu, model, {{"x", x}, {"y", y}, {"z", y}}) == "The model has no input \"z\".");
}

GPU_TEST_CASE("onnx sessions: doubles that FLOAT32 cannot hold are refused") {
  ModelMaker maker;
  maker.input("x", Type::Double, {1});
  maker.node("Neg", {"x"}, {"y"});
  maker.output("y");
  const Model model = maker.model();
  HostTensor x(Type::Double, {1});
  x.setReal(0, 1e300);
  CHECK(refusal(gpu, model, {{"x", x}}).find("1e+300") != std::string::npos);
  x.setReal(0, 0.5);
  const auto outputs = Session(gpu.context(), model).run({{"x", x}});
  CHECK(outputs[0].tensor.type == Type::Double);
  CHECK(outputs[0].tensor.real(0) == -0.5);
}

}  // namespace
}  // namespace dimple::testing
