#include "tests/onnx/onnx_runtime.h"

#include <doctest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/tool/tool_fixture.h"

namespace dimple::testing {
namespace {

using nlohmann::json;
using onnx::HostTensor;
using onnx::Type;

constexpr const char* kScript = R"(
const fs = require('fs'), ort = require('onnxruntime-node'), inputs = JSON.parse(fs.readFileSync('inputs.json'));
const arrays = { float32: Float32Array, int64: BigInt64Array, int32: Int32Array, uint8: Uint8Array, int8: Int8Array };
(async () => {
  const session = await ort.InferenceSession.create('m.onnx'), feeds = {};
  for (const i of inputs) {
    const bytes = new Uint8Array(fs.readFileSync(i.path)).buffer;
    feeds[i.name] = new ort.Tensor(i.type, new arrays[i.type](bytes), i.sizes);
  }
  const y = (await session.run(feeds))[session.outputNames[0]];
  fs.writeFileSync('result.json', JSON.stringify({ type: y.type, sizes: y.dims }));
  fs.writeFileSync('result.bin', Buffer.from(y.data.buffer, y.data.byteOffset, y.data.byteLength));
})();
)";

constexpr std::pair<Type, const char*> kTypes[] = {{Type::Float, "float32"},
                                                   {Type::Int64, "int64"},
                                                   {Type::Int32, "int32"},
                                                   {Type::UInt8, "uint8"},
                                                   {Type::Int8, "int8"}};

}  // namespace

const char* runtimeFolder() {
  const char* folder = std::getenv("DIMPLE_ONNX_RUNTIME");
  if (folder && *folder) return folder;
  MESSAGE("Not compared: DIMPLE_ONNX_RUNTIME names no folder where onnxruntime-node is installed.");
  return nullptr;
}

std::optional<HostTensor> runtimeResult(const std::string& model, const std::map<std::string, HostTensor>& inputs) {
  const char* folder = runtimeFolder();
  if (!folder) return {};
  ToolFixture fixture;
  fixture.write("m.onnx", model);
  fixture.write("run.js", kScript);
  json job = json::array();
  for (const auto& [name, tensor] : inputs) {
    const auto type = std::ranges::find(kTypes, tensor.type, &std::pair<Type, const char*>::first);
    REQUIRE(type != std::end(kTypes));
    fixture.write(name + ".bin", {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
    job.push_back({{"name", name}, {"type", type->second}, {"sizes", tensor.sizes}, {"path", name + ".bin"}});
  }
  fixture.write("inputs.json", job.dump());
  fixture.setEnvironment("NODE_PATH", std::string(folder) + "/node_modules");
  const ToolOutcome outcome = fixture.runProgram("/usr/bin/env", "node run.js");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  const json result = json::parse(readText(fixture.folder() / "result.json"));
  const auto type = std::ranges::find_if(kTypes, [&](const auto& known) { return result["type"] == known.second; });
  REQUIRE(type != std::end(kTypes));
  HostTensor tensor(type->first, result["sizes"].get<onnx::Sizes>());
  const std::string bytes = readText(fixture.folder() / "result.bin");
  REQUIRE(bytes.size() == tensor.bytes.size());
  std::ranges::copy(std::as_bytes(std::span(bytes)), tensor.bytes.begin());
  return tensor;
}

}  // namespace dimple::testing
