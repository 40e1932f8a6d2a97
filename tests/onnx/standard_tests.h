// ONNX's own tests of single operators, which Debian's package libonnx-testdata has: a folder each.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "clients/onnx/model_proto.h"

namespace dimple::testing {

struct StandardTest {
  std::string name;
  ::onnx::ModelProto model;
  std::map<std::string, onnx::HostTensor> inputs;
  std::map<std::string, onnx::HostTensor> outputs;
};

// The folders of those whose operators are all mapped. None if the package is not installed, and DIMPLE_ONNX_TESTDATA
// names no folder like its.
std::vector<std::filesystem::path> standardTests();

std::string standardTestName(const std::filesystem::path& folder);
// Throws ModelError where a value is no tensor of numbers.
StandardTest readStandardTest(const std::filesystem::path& folder);

}  // namespace dimple::testing
