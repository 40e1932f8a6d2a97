// Reading models: what is wrong is a sentence, whatever the bytes are.
#include <doctest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "clients/onnx/attributes.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/mapper.h"
#include "clients/onnx/reader.h"
#include "tests/onnx/model_builder.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Model;
using onnx::ModelError;
using onnx::Type;

// A folder of its own that goes with the object.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / std::to_string(std::random_device()())) {
    std::filesystem::create_directories(path_ / "model");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path model() const { return path_ / "model"; }
  const std::filesystem::path& outside() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

ModelMaker addModel() {
  ModelMaker maker;
  maker.input("x", Type::Float, {2, 2});
  maker.initializer("w", floats({2, 2}, {1, 2, 3, 4}));
  maker.node("Add", {"x", "w"}, {"y"});
  maker.output("y");
  return maker;
}

// The sentence of a refusal; empty: there is none.
template <class F>
std::string refusal(F action) {
  try {
    action();
    return {};
  } catch (const ModelError& error) {
    return error.what();
  }
}

TEST_CASE("onnx models: nodes, initializers, inputs and outputs") {
  const Model model = addModel().model();
  CHECK(model.nodes().size() == 1);
  CHECK(model.inputs().size() == 1);
  CHECK(model.outputs() == std::vector<std::string>{"y"});
  CHECK(model.initializers().at("w")->reals() == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("onnx models: nodes are put into order") {
  ModelMaker maker;
  maker.input("x", Type::Float, {1});
  maker.node("Abs", {"b"}, {"c"});
  maker.node("Neg", {"a"}, {"b"});
  maker.node("Exp", {"x"}, {"a"});
  maker.output("c");
  const Model model = maker.model();
  CHECK(model.nodes()[0].opType == "Exp");
  CHECK(model.nodes()[1].opType == "Neg");
  CHECK(model.nodes()[2].opType == "Abs");
}

TEST_CASE("onnx models: what cannot be a model is refused") {
  ModelMaker cycle;
  cycle.node("Abs", {"b"}, {"a"});
  cycle.node("Neg", {"a"}, {"b"});
  cycle.output("a");
  CHECK(refusal([&] { cycle.model(); }).find("own outputs") != std::string::npos);

  ModelMaker dangling;
  dangling.node("Abs", {"nowhere"}, {"a"});
  dangling.output("a");
  CHECK(refusal([&] { dangling.model(); }).find("\"nowhere\"") != std::string::npos);

  ModelMaker twice = addModel();
  twice.node("Neg", {"x"}, {"y"});
  CHECK(refusal([&] { twice.model(); }).find("elsewhere") != std::string::npos);

  ModelMaker missing = addModel();
  missing.output("z");
  CHECK(refusal([&] { missing.model(); }).find("\"z\"") != std::string::npos);

  // A node's output that is left out has no name, either, and is no value.
  ModelMaker unnamed = addModel();
  unnamed.node("Dropout", {"x"}, {"z", ""});
  unnamed.output("");
  CHECK(refusal([&] { unnamed.model(); }).find("output without a name") != std::string::npos);

  ModelMaker unnamedInput = addModel();
  unnamedInput.proto().mutable_graph()->mutable_input(0)->clear_name();
  CHECK(refusal([&] { unnamedInput.model(); }).find("input without a name") != std::string::npos);

  CHECK(refusal([] { ModelMaker(1000).model(); }).find("version 1000") != std::string::npos);
  CHECK(refusal([] { onnx::describe(::onnx::ModelProto(), {}); }).find("no graph") != std::string::npos);

  ModelMaker foreign = addModel();
  foreign.node("Abs", {"x"}, {"z"}).set_domain("somebody");
  CHECK(refusal([&] { foreign.model(); }).find("domain") != std::string::npos);
}

TEST_CASE("onnx models: names of any bytes do not cut a message short") {
  ModelMaker maker = addModel();
  maker.proto().mutable_graph()->mutable_node(0)->set_input(0, std::string("no\0ne", 5));
  CHECK(refusal([&] { maker.model(); }).find("no?ne") != std::string::npos);
  CHECK(refusal([&] { maker.model(); }).ends_with('.'));
}

TEST_CASE("onnx models: no tensor is of a type without conversions") {
  CHECK(refusal([] { HostTensor(Type::BFloat16, {2}); }) == "A tensor is of bfloat16, which is not supported.");
}

TEST_CASE("onnx models: tensors whose sizes and data disagree are refused") {
  const auto refused = [](auto change) {
    ModelMaker maker = addModel();
    change(*maker.proto().mutable_graph()->mutable_initializer(0));
    return refusal([&] { maker.model(); });
  };
  CHECK(refused([](auto& tensor) { tensor.set_dims(0, 3); }).find("16 bytes, expected 24") != std::string::npos);
  CHECK(refused([](auto& tensor) { tensor.set_dims(0, int64_t{1} << 30); }).find("data of") != std::string::npos);
  CHECK_FALSE(refused([](auto& tensor) { tensor.set_dims(0, -2); }).empty());
  CHECK_FALSE(refused([](auto& tensor) {
                tensor.set_dims(0, int64_t{1} << 62);
                tensor.set_dims(1, 8);
              }).empty());
  CHECK(refused([](auto& tensor) { tensor.set_data_type(8); }).find("string") != std::string::npos);
  CHECK(refused([](auto& tensor) { tensor.set_data_type(77); }).find("type 77") != std::string::npos);
  CHECK(refused([](auto& tensor) {
          tensor.clear_raw_data();
          tensor.add_float_data(1);
        }).find("1 values, expected 4") != std::string::npos);
}

TEST_CASE("onnx models: fields of every type hold what raw data holds") {
  ::onnx::TensorProto proto;
  proto.add_dims(3);
  proto.set_data_type(static_cast<int32_t>(Type::Float16));
  for (const int bits : {0x3c00, 0xc000, 0x7bff}) proto.add_int32_data(bits);
  CHECK(onnx::readTensor(proto, {}).reals() == std::vector<double>{1, -2, 65504});
  proto.set_data_type(static_cast<int32_t>(Type::Int4));
  proto.clear_int32_data();
  proto.set_raw_data(std::string("\x7f\x08", 2));
  CHECK(onnx::readTensor(proto, {}).integers() == std::vector<int64_t>{-1, 7, -8});
  proto.set_data_type(static_cast<int32_t>(Type::UInt4));
  CHECK(onnx::readTensor(proto, {}).integers() == std::vector<int64_t>{15, 7, 8});
}

TEST_CASE("onnx models: what cannot be read in an attribute is refused when it is asked for") {
  ModelMaker maker = addModel();
  const auto addAttribute = [](::onnx::NodeProto& node, const char* name, ::onnx::AttributeProto::AttributeType type) {
    ::onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return &attribute;
  };
  auto& node = *maker.proto().mutable_graph()->mutable_node(0);
  auto& words = *addAttribute(node, "words", ::onnx::AttributeProto::TENSOR)->mutable_t();
  words.set_name("words");
  words.set_data_type(static_cast<int32_t>(Type::String));
  addAttribute(node, "sparse", ::onnx::AttributeProto::SPARSE_TENSOR);
  auto& branch = *addAttribute(node, "branch", ::onnx::AttributeProto::GRAPH)->mutable_g();
  *branch.add_initializer() = words;

  const Model model = maker.model();
  const onnx::Attributes attributes(model.nodes()[0]);
  const std::string unreadable = "Tensor \"words\" is of string, which is not supported.";
  CHECK(attributes.has("words"));
  CHECK(refusal([&] { attributes.tensor("words"); }) == unreadable);
  CHECK(refusal([&] { attributes.integer("words", 0); }) == "Attribute words is of kind TENSOR, expected INT.");
  CHECK(refusal([&] { attributes.tensor("sparse"); }) == "Attribute sparse is of kind SPARSE_TENSOR, expected TENSOR.");
  CHECK(refusal([&] { attributes.graph("branch"); }) == unreadable);
  CHECK(attributes.tensor("absent") == nullptr);
  CHECK(attributes.graph("absent") == nullptr);
}

TEST_CASE("onnx models: a description is a model, whoever made it") {
  onnx::NodeDescription node;
  node.opType = "Add";
  node.inputs = {"x", "w"};
  node.outputs = {"y"};
  onnx::ModelDescription description;
  description.opsets[""] = 17;
  description.graph.nodes.push_back(std::make_shared<const onnx::NodeDescription>(node));
  description.graph.initializers["w"] = std::make_shared<const HostTensor>(floats({1}, {2}));
  description.graph.inputs = {{"x", Type::Float, {}}, {"w", Type::Float, {}}};
  description.graph.outputs = {"y"};
  const Model model(description);
  REQUIRE(model.nodes().size() == 1);
  CHECK(model.nodes()[0].opset == 17);
  CHECK(model.nodes()[0].description == description.graph.nodes[0]);
  REQUIRE(model.inputs().size() == 1);
  CHECK(model.inputs()[0].name == "x");
  description.graph.inputs.clear();
  CHECK(refusal([&] { Model{description}; }) == "The node \"y\" (Add) reads \"x\", which nothing makes.");
}

TEST_CASE("onnx models: external data lies in the model's folder") {
  const Folder folder;
  ModelMaker maker = addModel();
  auto& tensor = *maker.proto().mutable_graph()->mutable_initializer(0);
  const std::string bytes = tensor.raw_data();
  tensor.clear_raw_data();
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
  const auto set = [&](const std::string& key, const std::string& value) {
    for (auto& entry : *tensor.mutable_external_data())
      if (entry.key() == key) return entry.set_value(value);
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  write(folder.model() / "weights", "skip" + bytes);
  write(folder.outside() / "secret", bytes);
  const auto load = [&] {
    write(folder.model() / "a.onnx", maker.bytes());
    return onnx::readModel(folder.model() / "a.onnx");
  };
  set("location", "weights");
  set("offset", "4");
  CHECK(load().initializers().at("w")->reals() == std::vector<double>{1, 2, 3, 4});
  set("offset", "5");
  CHECK(refusal(load).find("15 bytes, expected 16") != std::string::npos);
  set("offset", "21");
  CHECK(refusal(load).find("beyond its end") != std::string::npos);
  set("offset", "-1");
  CHECK(refusal(load).find("expected a number") != std::string::npos);
  set("offset", "0");
  set("length", "1000");
  CHECK(refusal(load).find("beyond its end") != std::string::npos);
  set("length", "16");
  const std::string inFolder = "expected a file in the model's folder";
  std::filesystem::create_symlink(folder.outside() / "secret", folder.model() / "link");
  for (const std::string& location : {std::string("../secret"), (folder.outside() / "secret").string(),
                                      std::string("a/../../secret"), std::string("link"), std::string()}) {
    CAPTURE(location);
    set("location", location);
    CHECK(refusal(load).find(inFolder) != std::string::npos);
  }
  set("location", "nothing");
  CHECK(refusal(load).find("cannot be read") != std::string::npos);
}

TEST_CASE("onnx models: cut off and changed bytes end in a model or a sentence") {
  const std::string bytes = addModel().bytes();
  CHECK(onnx::parseModel(bytes, {}).nodes().size() == 1);
  for (size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(refusal([&] { onnx::parseModel(bytes.substr(0, length), {}); }).empty());
  }
  std::minstd_rand random(1);
  int models = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string changed = bytes;
    for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    models += refusal([&] { onnx::parseModel(changed, {}); }).empty();
  }
  CHECK(models < 5000);
}

TEST_CASE("onnx models: the mapping of the newest version that the operator set has") {
  onnx::Node node;
  node.opType = "Clip";
  node.opset = 10;
  const onnx::Mapping* older = onnx::findMapping(node);
  node.opset = 11;
  const onnx::Mapping* newer = onnx::findMapping(node);
  REQUIRE(older);
  REQUIRE(newer);
  CHECK(older->since == 6);
  CHECK(newer->since == 11);
  node.opType = "GridSample";
  CHECK(onnx::findMapping(node) == nullptr);
}

}  // namespace
}  // namespace dimple::testing
