// ONNX models as a person runs them.
#include <doctest.h>

#include <cstring>
#include <set>
#include <sstream>

#include "clients/files/image.h"
#include "clients/files/npy.h"
#include "clients/onnx/mapper.h"
#include "tests/onnx/model_builder.h"
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
  const auto good = fixture.run("run m.onnx --input x=x.npy --output y=out/y.npy --dim N=2");
  CHECK(good.err == "");
  CHECK(good.code == 0);
  CHECK(contains(good.out, "float  [2,2]"));
  CHECK(contains(good.out, "1 nodes as 1 operators in 1 graph"));
  CHECK(readFloats(fixture.folder() / "out/y.npy") == std::vector<float>{11, 22, 13, 24});
  const auto profile = fixture.run("run m.onnx --input x=x.npy --profile");
  CHECK(contains(profile.out, "binary"));
  CHECK(contains(profile.out, "A second run took"));

  const auto refused = [&](const std::string& arguments, const std::string& part) {
    const auto outcome = fixture.run("run m.onnx " + arguments);
    CAPTURE(arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, part));
  };
  refused("", "Input \"x\" is not given, expected float[N,2].");
  refused("--input x=x.npy --dim N=3", "has size 2 where --dim gives N as 3");
  refused("--input x=x.npy --dim N=0", "expected a number above 0");
  refused("--input x=x.npy --input z=x.npy", "no input \"z\"");
  refused("--input x=x.npy --output z=x.npy", "no output \"z\"");
  refused("--input x", "expected NAME=VALUE");
  refused("--input x=x.npy --graph", "not for ONNX models");
  refused("--input x=nothing.npy", "nothing.npy");
  writeFloats(fixture.folder() / "long.npy", {2, 3}, {1, 2, 3, 4, 5, 6});
  refused("--input x=long.npy", "has sizes [2,3], expected [N,2]");
  fixture.write("m.onnx", maker.bytes().substr(0, 30));
  refused("--input x=x.npy", "no ONNX model, or was cut off");
  fixture.write("p.json", "{}");
  CHECK(fixture.run("run p.json --input x=x.npy").code == 2);
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
  CHECK(bad.out == "nothing.onnx cannot be read.\n");
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
