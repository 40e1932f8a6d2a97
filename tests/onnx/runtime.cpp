#include "tests/onnx/runtime.h"

#include <doctest.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "tests/tool/tool_fixture.h"
#include "tools/onnx/text.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;

// Reads inputs.json: [{name, type, sizes, path}].
constexpr const char* kScript = R"(
const fs = require('fs'), ort = require('onnxruntime-node'), job = JSON.parse(fs.readFileSync('inputs.json'));
(async () => {
  const session = await ort.InferenceSession.create('m.onnx'), feeds = {};
  for (const i of job) {
    const b = fs.readFileSync(i.path), data = new Uint8Array(b).buffer;
    feeds[i.name] = new ort.Tensor(i.type, i.type == 'int64' ? new BigInt64Array(data) : new Float32Array(data), i.sizes);
  }
  const y = (await session.run(feeds))[session.outputNames[0]];
  fs.writeFileSync('result.bin', Buffer.from(y.data.buffer, y.data.byteOffset, y.data.byteLength));
})();
)";

const char* runtimeFolder() {
  const char* folder = std::getenv("DIMPLE_ONNX_RUNTIME");
  return folder && *folder ? folder : nullptr;
}

}  // namespace

bool hasOnnxRuntime() {
  if (runtimeFolder()) return true;
  MESSAGE("Skipped: DIMPLE_ONNX_RUNTIME names no folder where onnxruntime-node is installed.");
  return false;
}

HostTensor runOnRuntime(const std::string& model, const std::map<std::string, HostTensor>& inputs, onnx::Type type,
                        const onnx::Sizes& sizes) {
  ToolFixture fixture;
  fixture.write("m.onnx", model);
  fixture.write("run.js", kScript);
  std::string job;
  for (const auto& [name, tensor] : inputs) {
    fixture.write(name + ".bin", {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
    job += onnx::cat(job.empty() ? "[" : ",", R"({"name":")", name, R"(","type":")",
                     tensor.type == onnx::Type::Int64 ? "int64" : "float32", R"(","sizes":)",
                     onnx::listText(tensor.sizes), R"(,"path":")", name, R"(.bin"})");
  }
  fixture.write("inputs.json", job + "]");
  fixture.setEnvironment("NODE_PATH", std::string(runtimeFolder()) + "/node_modules");
  const ToolOutcome outcome = fixture.runProgram("/usr/bin/env", "node run.js");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  const std::string bytes = readText(fixture.folder() / "result.bin");
  HostTensor result(type, sizes);
  REQUIRE(bytes.size() == result.bytes.size());
  std::ranges::copy(std::as_bytes(std::span(bytes)), result.bytes.begin());
  return result;
}

}  // namespace dimple::testing
