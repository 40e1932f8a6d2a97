// ONNX's own tests of single operators: a folder each with a model, inputs and outputs.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/gpu_test.h"
#include "tests/onnx/onnx_run.h"
#include "tests/ops/selection.h"
#include "tools/onnx/failure.h"
#include "tools/onnx/mapper.h"
#include "tools/onnx/text.h"

namespace dimple::testing {
namespace {

using onnx::cat;
using onnx::HostTensor;

std::filesystem::path dataFolder() {
  const char* given = std::getenv("DIMPLE_ONNX_TESTDATA");
  return given ? given : "/usr/share/libonnx-testdata/data";
}

std::string readFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Throws ModelError where a value is no tensor of numbers.
HostTensor readTensorFile(const std::filesystem::path& path) {
  ::onnx::TensorProto proto;
  if (!proto.ParseFromString(readFile(path))) throw onnx::ModelError("A value is no tensor.");
  return onnx::readTensor(proto, {});
}

// Whether DirectML has nothing to do with one of the operators.
bool isMapped(const std::filesystem::path& folder) {
  ::onnx::ModelProto proto;
  if (!proto.ParseFromString(readFile(folder / "model.onnx"))) return false;
  for (const auto& node : proto.graph().node()) {
    onnx::Node known;
    known.opType = node.op_type();
    known.domain = node.domain();
    known.opset = 1000;
    if (known.opType == "NonZero") known.opType = "Identity";
    if (!onnx::findMapping(known)) return false;
  }
  return true;
}

OnnxCase readCase(const std::filesystem::path& folder, const ::onnx::GraphProto& graph) {
  OnnxCase testCase;
  testCase.name = folder.filename().string().substr(5);  // "test_"
  testCase.tolerance = {1e-3, 1e-7};                     // the standard's own
  testCase.model = [folder] { return onnx::Model::load(folder / "model.onnx"); };
  const auto data = folder / "test_data_set_0";
  for (int i = 0; i < graph.input_size(); ++i)
    testCase.inputs[graph.input(i).name()] = readTensorFile(data / cat("input_", i, ".pb"));
  for (int i = 0; i < graph.output_size(); ++i)
    testCase.outputs[graph.output(i).name()] = readTensorFile(data / cat("output_", i, ".pb"));
  return testCase;
}

GPU_TEST_CASE("onnx: the standard's tests of operators") {
  std::error_code error;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(dataFolder() / "node", error))
    if (isMapped(entry.path())) folders.push_back(entry.path());
  if (folders.empty()) {
    MESSAGE("Skipped: the package libonnx-testdata is not installed, and DIMPLE_ONNX_TESTDATA names no folder of it.");
    return;
  }
  std::ranges::sort(folders);
  OnnxCases cases(gpu, "node");
  for (size_t i = 0; i < folders.size(); i += selection().sample) {
    ::onnx::ModelProto proto;
    REQUIRE(proto.ParseFromString(readFile(folders[i] / "model.onnx")));
    try {
      cases.run(readCase(folders[i], proto.graph()));
    } catch (const onnx::ModelError& refusal) {
      cases.refuse(folders[i].filename().string().substr(5), refusal.what());
    }
  }
  cases.finish();
}

}  // namespace
}  // namespace dimple::testing
