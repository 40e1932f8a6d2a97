// dimple run and dimple plan of an ONNX model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "clients/dimple/device.h"
#include "clients/dimple/graph_plan.h"
#include "clients/dimple/run_report.h"

namespace dimple::tool {

struct OnnxOptions {
  std::vector<std::string> inputs;      // NAME=PATH
  std::vector<std::string> outputs;     // NAME=PATH
  std::vector<std::string> dimensions;  // NAME=NUMBER
  std::filesystem::path labels;         // file with a line for each class; empty: there is none
  std::filesystem::path folder = ".";   // of written files
  bool profile = false;                 // print the times of a second run and of the kernels
  ReportOptions report;

  bool any() const { return !inputs.empty() || !outputs.empty() || !dimensions.empty() || !labels.empty(); }
};

struct OnnxPlanOptions {
  DeviceOptions device;                 // on which the model is compiled
  std::vector<std::string> inputs;      // NAME=PATH; zeros where none is given
  std::vector<std::string> dimensions;  // NAME=NUMBER
  Target target;                        // that it is planned for
  GraphPrinting printing;
};

bool isOnnxPath(const std::filesystem::path& path);

// Throws InputError or RunError.
int runOnnx(const std::filesystem::path& file, const DeviceOptions& device, const OnnxOptions& options);
int planOnnx(const std::filesystem::path& file, const OnnxPlanOptions& options);

}  // namespace dimple::tool
