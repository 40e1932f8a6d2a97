// ONNX models as a person runs them.
#include <doctest.h>

#include <cstring>
#include <set>
#include <sstream>

#include "clients/files/image.h"
#include "clients/files/npy.h"
#include "clients/onnx/mapper.h"
#include "tests/onnx/model_builder.h"
#include "tests/tool/report_page.h"
#include "tests/tool/tool_fixture.h"

namespace dimple::testing {
namespace {

using onnx::Type;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

void writeFloats(const std::filesystem::path& path, const std::vector<uint32_t>& sizes,
                 const std::vector<float>& values) {
  tool::writeNpy(path, DML_TENSOR_DATA_TYPE_FLOAT32, sizes, std::as_bytes(std::span(values)));
}

std::vector<float> readFloats(const std::filesystem::path& path) {
  const tool::NpyArray array = tool::readNpy(path);
  std::vector<float> values(array.bytes.size() / sizeof(float));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

TEST_CASE("onnx tool: a model with arrays in and out") {
  const ToolFixture fixture;
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 2});
  maker.initializer("w", floats({2}, {10, 20}));
  maker.node("Add", {"x", "w"}, {"y"});
  maker.output("y");
  fixture.write("m.onnx", maker.bytes());
  writeFloats(fixture.folder() / "x.npy", {2, 2}, {1, 2, 3, 4});
  std::filesystem::create_directory(fixture.folder() / "out");
  const auto good = fixture.run("run m.onnx --input x=x.npy --output y=out/y.npy --dim N=2");
  CHECK(good.err == "");
  CHECK(good.code == 0);
  CHECK(contains(good.out, "float  [2,2]"));
  CHECK(contains(good.out, "1 node as 1 operator in 1 graph\n"));
  CHECK(readFloats(fixture.folder() / "out/y.npy") == std::vector<float>{11, 22, 13, 24});
  const auto profile = fixture.run("run m.onnx --input x=x.npy --profile");
  CHECK(contains(profile.out, "binary"));
  CHECK(contains(profile.out, "A second run took"));

  if (kWithPlots) {
    const auto page = fixture.run("run m.onnx --input x=x.npy --report page.html");
    REQUIRE_MESSAGE(page.code == 0, page.err);
    const nlohmann::json report = reportOf(fixture.folder() / "page.html");
    REQUIRE(report.is_object());
    const auto& graph = report["graphs"][0];
    REQUIRE(graph["before"]["nodes"].size() == 1);
    CHECK(graph["before"]["nodes"][0]["operator"] == "ELEMENT_WISE_ADD");
    // The initializer is a constant, x is not.
    for (const auto& edge : graph["before"]["edges"])
      if (edge.contains("input")) CHECK(edge["constant"] == (edge["input"] != "x"));
    CHECK(report["runs"].back()["nanoseconds"].size() == graph["execution"].size());
    REQUIRE(report["tensors"].size() == 2);
    CHECK(report["tensors"][0]["greatest"] == 4);
    CHECK(report["tensors"][1]["greatest"] == 24);
  }

  const auto refused = [&](const std::string& arguments, const std::string& part) {
    const auto outcome = fixture.run("run m.onnx " + arguments);
    CAPTURE(arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, part));
  };
  refused("", "Input \"x\" is not given, expected float[N,2].");
  refused("--input x=x.npy --dim N=3", "has size 2 where --dim gives N as 3");
  refused("--input x=x.npy --dim N=0", "--dim has N=0, expected a number from 1 to 4294967295.");
  refused("--input x=x.npy --dim N=99999999999999999999", "expected a number from 1 to 4294967295.");
  refused("--input x=x.npy --input z=x.npy", "--input names \"z\", which is not an input of the model. There is x.");
  refused("--input x=x.npy --output z=x.npy", "--output names \"z\", which is not an output of the model. There is y.");
  refused("--input x=x.npy --output y=none/y.npy", "The folder of ./none/y.npy does not exist");
  CHECK_FALSE(std::filesystem::exists(fixture.folder() / "none"));
  refused("--input x=x.npy --dim M=2", "--dim names \"M\", which is not an open dimension of the model. There is N.");
  refused("--input x", "expected NAME=VALUE");
  refused("--input x=x.npy --graph", "not for ONNX models");
  refused("--input x=nothing.npy", "nothing.npy cannot be read: there is no such file.");
  std::filesystem::create_directories(fixture.folder() / "folder.onnx");
  refused("--input x=folder.onnx", "folder.onnx cannot be read: it is a folder.");
  refused("--input x=x.npy --output y=folder.onnx", "folder.onnx, which is a folder, expected a file.");
  fixture.write("empty.onnx", "");
  for (const char* command : {"run ", "plan "}) {
    CHECK(contains(fixture.run(std::string(command) + "empty.onnx").err, "empty.onnx cannot be read: it is empty.\n"));
    CHECK(contains(fixture.run(std::string(command) + "folder.onnx").err,
                   "folder.onnx cannot be read: it is a folder.\n"));
  }
  writeFloats(fixture.folder() / "long.npy", {2, 3}, {1, 2, 3, 4, 5, 6});
  refused("--input x=long.npy", "has sizes [2,3], expected [N,2]");
  fixture.write("m.onnx", maker.bytes().substr(0, 30));
  refused("--input x=x.npy", "not an ONNX model, or it was cut off");
  fixture.write("p.json", "{}");
  CHECK(fixture.run("run p.json --input x=x.npy").code == 2);
}

TEST_CASE("onnx tool: the largest of many classes, with labels") {
  const ToolFixture fixture;
  ModelMaker maker;
  maker.input("x", Type::Float, {1, 12});
  maker.node("Neg", {"x"}, {"y"});
  maker.output("y");
  fixture.write("m.onnx", maker.bytes());
  writeFloats(fixture.folder() / "x.npy", {1, 12}, {5, 6, 7, 8, 9, -0.123456789F, 1, 2, 3, 4, 10, 11});
  std::string labels;
  for (const char c : std::string("abcdefghijkl")) labels += std::string("class ") + c + "\n";
  fixture.write("labels.txt", labels);
  const auto plain = fixture.run("run m.onnx --input x=x.npy");
  CHECK_MESSAGE(contains(plain.out, "largest of y"), plain.out);
  const auto named = fixture.run("run m.onnx --input x=x.npy --labels labels.txt");
  CHECK_MESSAGE(contains(named.out, "5             0.123457  class f\n6                   -1  class g\n"), named.out);
  fixture.write("labels.txt", "a\nb\n");
  const auto few = fixture.run("run m.onnx --input x=x.npy --labels labels.txt");
  CHECK(few.code == 2);
  CHECK_MESSAGE(contains(few.err, "--labels has 2 lines, but output \"y\" has 12 classes."), few.err);
}

TEST_CASE("onnx tool: a model's graphs are planned") {
  const ToolFixture fixture;
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 2});
  maker.initializer("w", floats({2}, {10, 20}));
  maker.node("Add", {"x", "w"}, {"s"});
  maker.node("Sin", {"s"}, {"y"});
  maker.output("y");
  fixture.write("m.onnx", maker.bytes());
  const auto open = fixture.run("plan m.onnx");
  CHECK(open.code == 2);
  CHECK_MESSAGE(contains(open.err, "Dimension N of input \"x\" is open; give it with --dim N=NUMBER."), open.err);
  const auto plan = fixture.run("plan m.onnx --dim N=4");
  REQUIRE_MESSAGE(plan.code == 0, plan.err);
  CHECK_MESSAGE(contains(plan.out, "# graph of 2 nodes: "), plan.out);
  const auto dot = fixture.run("plan m.onnx --dim N=4 --dot");
  CHECK_MESSAGE(contains(dot.out, "(ELEMENT_WISE_SIN)"), dot.out);
  CHECK(fixture.run("plan m.onnx --dim M=4").code == 2);
}

TEST_CASE("onnx tool: a picture as an input") {
  const ToolFixture fixture;
  ModelMaker maker;
  maker.input("image", Type::Float, {1, 3, -1, 2});
  auto& node = maker.node("ReduceMax", {"image"}, {"y"});
  setAttribute(node, "axes", {2, 3});
  setAttribute(node, "keepdims", 0);
  maker.output("y");
  fixture.write("m.onnx", maker.bytes());
  // Two pixels: the second is red, 51 green.
  tool::writeImage(fixture.folder() / "p.png", {2, 1, 3, {0, 0, 0, 255, 51, 0}});
  const auto good = fixture.run("run m.onnx --input image=p.png --output y=y.npy");
  CHECK(good.err == "");
  CHECK(good.code == 0);
  const std::vector<float> y = readFloats(fixture.folder() / "y.npy");
  REQUIRE(y.size() == 3);
  CHECK(y[0] == 1);
  CHECK(y[1] == doctest::Approx(0.2));
  CHECK(y[2] == 0);
  // A size that no tensor can have is refused before a picture of it is made.
  ModelMaker open;
  open.input("image", Type::Float, {1, 3, -1, -1});
  open.node("Neg", {"image"}, {"y"});
  open.output("y");
  fixture.write("open.onnx", open.bytes());
  const auto large = fixture.run("run open.onnx --input image=p.png --dim N=1000000");
  CHECK(large.code == 2);
  CHECK_MESSAGE(contains(large.err, "takes a picture of 1000000 rows and 1000000 columns, expected at most 32768"),
                large.err);
}

TEST_CASE("onnx tool: the example runs a model") {
  const ToolFixture fixture;
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 3});
  maker.initializer("w", floats({3, 2}, {1, 2, 3, 4, 5, 6}));
  maker.node("MatMul", {"x", "w"}, {"y"});
  maker.output("y");
  fixture.write("m.onnx", maker.bytes());
  const auto good = fixture.runProgram(DIMPLE_ONNX_EXAMPLE, "m.onnx");
  CHECK(good.code == 0);
  CHECK(good.out == "y: 9 12\n");
  const auto bad = fixture.runProgram(DIMPLE_ONNX_EXAMPLE, "nothing.onnx");
  CHECK(bad.code == 1);
  CHECK(bad.out == "nothing.onnx cannot be read: there is no such file.\n");
}

TEST_CASE("onnx tool: the page names every operator that is mapped") {
  std::istringstream page(readText(DIMPLE_SOURCE_DIR "/docs/onnx.md"));
  std::set<std::string> words;
  for (std::string word; page >> word;) {
    while (!word.empty() && (word.back() == ',' || word.back() == '.')) word.pop_back();
    words.insert(word);
  }
  for (const std::string& name : onnx::mappedOperators()) {
    CAPTURE(name);
    CHECK(words.contains(name));
  }
}

}  // namespace
}  // namespace dimple::testing
