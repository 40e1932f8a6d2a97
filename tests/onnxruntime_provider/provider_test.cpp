#include <doctest.h>

#include "clients/onnx/failure.h"
#include "clients/onnxruntime/claims.h"
#include "tests/onnx/model_builder.h"
#include "tests/onnx/operator_cases.h"
#include "tests/onnx/standard_cases.h"
#include "tests/onnxruntime_provider/host.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;
using Reals = std::vector<double>;

OnnxRunner hostRunner(const Host& host) {
  return
      [&host](const OnnxCase& testCase) { return host.open(testCase.model->SerializeAsString()).run(testCase.inputs); };
}

// y = (a + b) * a
std::string sumModel() {
  ModelMaker maker;
  maker.input("a", Type::Float, {-1, 2});
  maker.input("b", Type::Float, {-1, 2});
  maker.node("Add", {"a", "b"}, {"sum"});
  maker.node("Mul", {"sum", "a"}, {"y"});
  maker.output("y");
  return maker.bytes();
}

TEST_CASE("groups: nodes of one level are one group, and no way leaves a group and comes back") {
  using Groups = std::vector<std::vector<size_t>>;
  // 0 - 1 - 2, of which 1 is not taken
  CHECK(ort::groupsOf({true, false, true}, {{}, {0}, {1}}) == Groups{{0}, {2}});
  // 0 and 1 (not taken) into 2: nothing leads from 0 to 1.
  CHECK(ort::groupsOf({true, false, true}, {{}, {}, {0, 1}}) == Groups{{0, 2}});
  // 0 into 1 (not taken) and 2; both into 3: 2 may run with 0 or with 3.
  CHECK(ort::groupsOf({true, false, true, true}, {{}, {0}, {0}, {1, 2}}) == Groups{{0}, {2, 3}});
  CHECK(ort::groupsOf({false, false}, {{}, {0}}).empty());
  CHECK(ort::groupsOf({true, true}, {{}, {}}) == Groups{{0, 1}});
}

TEST_CASE("provider: the nodes that follow one another run as one, for any sizes") {
  const Host host;
  const HostSession session = host.open(sumModel());
  CHECK(session.taken() == std::vector<std::string>{"Add", "Mul"});
  auto outputs = session.run({{"a", floats({1, 2}, {1, 2})}, {"b", floats({1, 2}, {10, 20})}});
  CHECK(outputs[0].tensor.reals() == Reals{11, 44});
  outputs = session.run({{"a", floats({2, 2}, {1, 2, 3, 4})}, {"b", floats({2, 2}, {10, 20, 30, 40})}});
  CHECK(outputs[0].tensor.reals() == Reals{11, 44, 99, 176});
  outputs = session.run({{"a", floats({1, 2}, {3, 4})}, {"b", floats({1, 2}, {1, 1})}});
  CHECK(outputs[0].tensor.reals() == Reals{12, 20});
  // Nothing to compute.
  outputs = session.run({{"a", floats({0, 2}, {})}, {"b", floats({0, 2}, {})}});
  CHECK(outputs[0].tensor.sizes == onnx::Sizes{0, 2});
}

TEST_CASE("provider: a node that is not taken divides groups") {
  // No operator of DirectML compares strings.
  ModelMaker maker;
  maker.input("x", Type::Float, {4});
  maker.node("Abs", {"x"}, {"positive"});
  maker.node("Unique", {"positive"}, {"values"});
  maker.node("Neg", {"values"}, {"y"});
  maker.output("y");
  const Host host;
  const HostSession session = host.open(maker.bytes(), {.provider = {}, .fallback = true});
  CHECK(session.taken() == std::vector<std::string>{"Abs", "Neg"});
  CHECK(session.run({{"x", floats({4}, {3, -1, 1, -3})}})[0].tensor.reals() == Reals{-1, -3});
  CHECK(session.run({{"x", floats({4}, {3, -1, 2, -3})}})[0].tensor.reals() == Reals{-1, -2, -3});
}

TEST_CASE("provider: weights, shapes that are computed, and both branches of a condition") {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 3});
  maker.input("condition", Type::Bool, {});
  maker.initializer("weights", floats({3, 2}, {1, 0, 0, 1, 1, 1}));
  maker.node("MatMul", {"x", "weights"}, {"product"});
  maker.node("Shape", {"product"}, {"shape"});
  maker.initializer("first", integers({0}));
  maker.node("Gather", {"shape", "first"}, {"rows"});
  maker.initializer("all", integers({-1}));
  maker.node("Concat", {"all", "rows"}, {"turned"}).add_attribute()->set_name("axis");
  setAttribute(*maker.proto().mutable_graph()->mutable_node(3), "axis", int64_t{0});
  maker.node("Reshape", {"product", "turned"}, {"reshaped"});
  auto& node = maker.node("If", {"condition"}, {"y"});
  GraphMaker then(addGraph(node, "then_branch"));
  then.node("Add", {"reshaped", "reshaped"}, {"result"});
  then.output("result");
  GraphMaker otherwise(addGraph(node, "else_branch"));
  otherwise.node("Neg", {"reshaped"}, {"result"});
  otherwise.output("result");
  maker.output("y");
  maker.proto().mutable_graph()->mutable_node(3)->mutable_attribute()->DeleteSubrange(0, 1);
  const Host host;
  const HostSession session = host.open(maker.bytes());
  HostTensor yes(Type::Bool, {});
  yes.setInteger(0, 1);
  const HostTensor no(Type::Bool, {});
  const HostTensor x = floats({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  auto outputs = session.run({{"x", x}, {"condition", yes}});
  CHECK(outputs[0].tensor.sizes == onnx::Sizes{2, 3});
  CHECK(outputs[0].tensor.reals() == Reals{8, 10, 20, 22, 32, 34});
  outputs = session.run({{"x", x}, {"condition", no}});
  CHECK(outputs[0].tensor.reals() == Reals{-4, -5, -10, -11, -16, -17});
}

TEST_CASE("provider: sizes that depend on data") {
  ModelMaker maker;
  maker.input("x", Type::Float, {6});
  maker.node("NonZero", {"x"}, {"places"});
  setAttribute(maker.node("Transpose", {"places"}, {"columns"}), "perm", {1, 0});
  maker.node("GatherND", {"x", "columns"}, {"kept"});
  maker.node("Neg", {"kept"}, {"y"});
  maker.output("y");
  const Host host;
  const HostSession session = host.open(maker.bytes());
  CHECK(session.run({{"x", floats({6}, {0, 5, 0, 7, 8, 0})}})[0].tensor.reals() == Reals{-5, -7, -8});
  CHECK(session.run({{"x", floats({6}, {0, 0, 0, 0, 9, 0})}})[0].tensor.reals() == Reals{-9});
  CHECK(session.run({{"x", floats({6}, {0, 0, 0, 0, 0, 0})}})[0].tensor.sizes == onnx::Sizes{0});
}

TEST_CASE("provider: options are refused with what there is") {
  const Host host;
  const auto text = [&](const char* name, const char* value) {
    return refusalOf(host, sumModel(), {.provider = {{name, value}}});
  };
  CHECK(text("precision", "float16") == "");
  CHECK(text("pipeline_cache", "none") == "");
  const OrtApi& api = *ort::runtime().api;
  const OrtKeyValuePairs* metadata = api.EpDevice_EpMetadata(&host.device());
  for (const char* key : {"index", "name", "uuid"}) CHECK(text("device", api.GetKeyValue(metadata, key)) == "");
  const auto contains = [](const std::string& all, const std::string& part) {
    CHECK_MESSAGE(all.find(part) != all.npos, all);
  };
  contains(text("colour", "blue"),
           "Dimple's execution provider has no option \"colour\", expected one of device, precision, pipeline_cache, "
           "program_bytes, trace.");
  contains(text("precision", "double"), "Dimple's option precision is \"double\", expected float32 or float16.");
  contains(text("program_bytes", "many"), "Dimple's option program_bytes is \"many\", expected a number of bytes.");
  contains(text("device", "Voodoo"), "Dimple's option device is \"Voodoo\", and the session is given 0 (");
}

TEST_CASE("provider: it can be loaded again") {
  for (int i = 0; i < 10; ++i) {
    const Host host;
    const HostSession session = host.open(sumModel());
    CHECK(session.run({{"a", floats({1, 2}, {1, 2})}, {"b", floats({1, 2}, {1, 1})}})[0].tensor.reals() == Reals{2, 6});
  }
}

TEST_CASE("provider: the standard's tests of operators") {
  const Host host;
  runStandardTests(hostRunner(host));
}

TEST_CASE("provider: cases of operators") {
  const Host host;
  runOperatorCases(hostRunner(host));
}

}  // namespace
}  // namespace dimple::testing
