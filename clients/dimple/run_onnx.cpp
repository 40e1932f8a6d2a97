#include "clients/dimple/run_onnx.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>

#include "clients/dimple/onnx_inputs.h"
#include "clients/dimple/onnx_report.h"
#include "clients/dimple/profile.h"
#include "clients/dimple/progress.h"
#include "clients/dimple/table.h"
#include "clients/file_reason.h"
#include "clients/files/failure.h"
#include "clients/files/npy.h"
#include "core/schema/element_text.h"
#include "core/text.h"
#ifdef DIMPLE_WITH_ONNX
#include "clients/onnx/failure.h"
#include "clients/onnx/session.h"
#include "clients/onnx/text.h"
#endif

namespace dimple::tool {

bool isOnnxPath(const std::filesystem::path& path) { return path.extension() == ".onnx"; }

#ifndef DIMPLE_WITH_ONNX

int runOnnx(const std::filesystem::path& file, const DeviceOptions&, const OnnxOptions&) {
  throw InputError(cat(file.string(), " is an ONNX model, which this build cannot read: it was made without libonnx."));
}

int planOnnx(const std::filesystem::path& file, const OnnxPlanOptions&) { return runOnnx(file, {}, {}); }

#else

namespace {

using onnx::HostTensor;
using onnx::Type;

void writeArray(const std::filesystem::path& path, const HostTensor& tensor) {
  std::vector<uint32_t> sizes;
  for (const int64_t size : tensor.sizes) sizes.push_back(static_cast<uint32_t>(size));
  const DataType type = tensor.type == Type::Double ? DML_TENSOR_DATA_TYPE_FLOAT64 : onnx::traits(tensor.type).device;
  writeNpy(path, type, sizes, tensor.bytes);
}

std::string sixDigits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// A line each.
std::vector<std::string> readLabels(const std::filesystem::path& path) {
  if (const std::string reason = whyUnreadable(path); !reason.empty())
    throw InputError(cat("The file ", path.string(), " of --labels cannot be read: ", reason, "."));
  std::ifstream file(path);
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(line);
  }
  return labels;
}

// Prints the largest numbers of an output that has one for each of many classes.
void printLargest(const std::string& name, const HostTensor& tensor, const std::vector<std::string>& labels) {
  constexpr size_t kPrinted = 5;
  constexpr size_t kFewestClasses = 10;
  const auto classes = static_cast<size_t>(tensor.elements());
  const bool isOneRow =
      !tensor.sizes.empty() && std::ranges::count_if(tensor.sizes, [](int64_t s) { return s != 1; }) == 1;
  if (!isOneRow || classes < (labels.empty() ? kFewestClasses : 2)) return;
  if (!labels.empty() && labels.size() != classes)
    throw InputError(
        cat("--labels has ", labels.size(), " lines, but output \"", name, "\" has ", classes, " classes."));
  const std::vector<double> values = tensor.reals();
  std::vector<size_t> order(classes);
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t count = std::min(kPrinted, classes);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](size_t a, size_t b) { return values[a] > values[b] || (values[a] == values[b] && a < b); });
  Table table({cat("largest of ", name), ">value", "label"});
  for (size_t i = 0; i < count; ++i)
    table.add({std::to_string(order[i]), sixDigits(values[order[i]]), labels.empty() ? "" : labels[order[i]]});
  table.print();
}

void checkFolder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    throw InputError(cat("The folder of ", path.string(), " does not exist, expected an existing folder."));
  if (std::filesystem::is_directory(path))
    throw InputError(cat("--output names ", path.string(), ", which is a folder, expected a file."));
}

void printOutputs(const std::vector<onnx::NamedTensor>& outputs) {
  Table table({"output", "type", "sizes", ">least", ">mean", ">greatest", ">at"});
  for (const auto& [name, tensor] : outputs) {
    const std::vector<double> values = tensor.reals();
    if (values.empty()) {
      table.add({name, onnx::typeName(tensor.type), onnx::listText(tensor.sizes), "-", "-", "-", "-"});
      continue;
    }
    // NaN is neither least nor greatest unless there is nothing else.
    const auto key = [](double absent) {
      return [absent](double value) { return std::isnan(value) ? absent : value; };
    };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto least = std::ranges::min_element(values, {}, key(kInfinity));
    const auto greatest = std::ranges::max_element(values, {}, key(-kInfinity));
    double sum = 0;
    for (const double value : values) sum += value;
    table.add({name, onnx::typeName(tensor.type), onnx::listText(tensor.sizes), sixDigits(*least),
               sixDigits(sum / static_cast<double>(values.size())), sixDigits(*greatest),
               std::to_string(greatest - values.begin())});
  }
  table.print();
}

// A run with what is compiled and in place, and each kernel of another session, its initialization included.
void profileOnnx(const Device& device, const onnx::Model& model, onnx::Session& session,
                 const std::map<std::string, HostTensor>& inputs) {
  const auto start = std::chrono::steady_clock::now();
  session.run(inputs);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  device.check(device.context().SetProfiling(TRUE), "Dispatches cannot be timed");
  {
    Progress progress("running once more for the profile", 1, &device);
    progress.step("each dispatch is timed");
    onnx::Session(device.context(), model).run(inputs);
  }
  printProfile(readProfile(device));
  std::printf("A second run took %.1f ms.\n", took.count());
}

// Another session, whose dispatches are timed, with pipelines that are compiled already.
void reportOnnx(const Device& device, const std::string& title, const onnx::Model& model,
                const std::map<std::string, HostTensor>& inputs, const DeviceOptions& deviceOptions,
                const ReportOptions& options) {
  device.check(device.context().SetProfiling(TRUE), "Dispatches cannot be timed");
  readProfile(device);
  RunReport report(device, deviceOptions, title);
  SessionReport observer(report, deviceOptions, model);
  onnx::SessionOptions session;
  session.observer = &observer;
  Progress progress("running once more for the report", 1, &device);
  progress.step(title);
  const auto outputs = onnx::Session(device.context(), model, session).run(inputs);
  observer.ran(device);
  for (const auto& [name, tensor] : inputs) report.addTensor(accountOf(name, "input", tensor));
  for (const auto& [name, tensor] : outputs) report.addTensor(accountOf(name, "output", tensor));
  report.write(options);
}

}  // namespace

int runOnnx(const std::filesystem::path& file, const DeviceOptions& deviceOptions, const OnnxOptions& options) {
  try {
    const onnx::Model model = loadModel(file);
    const auto outputPaths = readNamedPaths(options.outputs, "--output");
    for (const auto& path : outputPaths) {
      checkName("--output", "an output", path.first, model.outputs());
      checkFolder(options.folder / path.second);
    }
    const std::vector<std::string> labels =
        options.labels.empty() ? std::vector<std::string>() : readLabels(options.labels);
    const auto dimensions = readDimensions(model, options.dimensions);
    const OnnxInputs inputs = readInputs(model, options.inputs, dimensions);
    const Device device(deviceOptions);
    std::printf("Running on '%s' (%s)\n", device.name().c_str(), backendName(device.backend()).c_str());
    onnx::Session session(device.context(), model);
    const auto outputs = [&] {
      Progress progress("running", 1, &device);
      progress.step(file.filename().string());
      return session.run(inputs);
    }();
    for (const auto& [name, tensor] : outputs)
      if (const auto path = outputPaths.find(name); path != outputPaths.end())
        writeArray(options.folder / path->second, tensor);
    printOutputs(outputs);
    for (const auto& [name, tensor] : outputs) printLargest(name, tensor, labels);
    std::printf("%s as %s in %s\n", countText(model.nodes().size(), "node").c_str(),
                countText(session.statistics().operators, "operator").c_str(),
                countText(session.statistics().graphs, "graph").c_str());
    if (options.profile) profileOnnx(device, model, session, inputs);
    if (options.report.any())
      reportOnnx(device, file.filename().string(), model, inputs, deviceOptions, options.report);
    if (device.warnings()) throw RunError(cat("Validation gave ", device.warnings(), " messages."));
    return 0;
  } catch (const onnx::ModelError& error) {
    throw InputError(error.what());
  } catch (const onnx::DeviceError& error) {
    throw RunError(error.what());
  }
}

#endif

}  // namespace dimple::tool
