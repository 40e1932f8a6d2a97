// dimple run of an ONNX model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "clients/dimple/device.h"

namespace dimple::tool {

struct OnnxOptions {
  std::vector<std::string> inputs;      // NAME=PATH
  std::vector<std::string> outputs;     // NAME=PATH
  std::vector<std::string> dimensions;  // NAME=NUMBER
  std::filesystem::path folder = ".";   // of written files
  bool profile = false;                 // print the times of a second run and of the kernels

  bool any() const { return !inputs.empty() || !outputs.empty() || !dimensions.empty(); }
};

bool isOnnxPath(const std::filesystem::path& path);

// Throws InputError or RunError.
int runOnnx(const std::filesystem::path& file, const DeviceOptions& device, const OnnxOptions& options);

}  // namespace dimple::tool
