#include "tests/onnx/standard_tests.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "clients/onnx/failure.h"
#include "clients/onnx/mapper.h"
#include "clients/onnx/text.h"

namespace dimple::testing {
namespace {

using onnx::cat;
using onnx::HostTensor;

std::filesystem::path dataFolder() {
  const char* given = std::getenv("DIMPLE_ONNX_TESTDATA");
  return given ? given : "/usr/share/libonnx-testdata/data";
}

template <class Proto>
bool readProto(const std::filesystem::path& path, Proto& proto) {
  std::ifstream in(path, std::ios::binary);
  return proto.ParseFromIstream(&in);
}

HostTensor readTensorFile(const std::filesystem::path& path) {
  ::onnx::TensorProto proto;
  if (!readProto(path, proto)) throw onnx::ModelError("A value is no tensor.");
  return onnx::readTensor(proto, {});
}

bool isMapped(const std::filesystem::path& folder) {
  ::onnx::ModelProto proto;
  if (!readProto(folder / "model.onnx", proto)) return false;
  for (const auto& node : proto.graph().node()) {
    onnx::Node known;
    known.opType = node.op_type();
    known.domain = node.domain();
    known.opset = 1000;
    if (!onnx::canRun(known)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::filesystem::path> standardTests() {
  std::error_code error;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(dataFolder() / "node", error))
    if (isMapped(entry.path())) folders.push_back(entry.path());
  std::ranges::sort(folders);
  return folders;
}

std::string standardTestName(const std::filesystem::path& folder) {
  return folder.filename().string().substr(5);  // "test_"
}

StandardTest readStandardTest(const std::filesystem::path& folder) {
  StandardTest test;
  test.name = standardTestName(folder);
  if (!readProto(folder / "model.onnx", test.model)) throw onnx::ModelError("There is no model.");
  const auto& graph = test.model.graph();
  const auto data = folder / "test_data_set_0";
  for (int i = 0; i < graph.input_size(); ++i)
    test.inputs[graph.input(i).name()] = readTensorFile(data / cat("input_", i, ".pb"));
  for (int i = 0; i < graph.output_size(); ++i)
    test.outputs[graph.output(i).name()] = readTensorFile(data / cat("output_", i, ".pb"));
  return test;
}

}  // namespace dimple::testing
