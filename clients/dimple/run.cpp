// dimple run
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "clients/dimple/command.h"
#include "clients/dimple/program.h"
#include "clients/dimple/program_report.h"
#include "clients/dimple/run_onnx.h"
#include "clients/dimple/run_report.h"
#include "clients/dimple/table.h"
#include "clients/files/compare.h"
#include "clients/files/failure.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

struct RunOptions {
  std::string file;
  DeviceOptions device;
  ModelOptions model;
  OnnxOptions onnx;
  std::vector<std::string> definitions;
  bool profile = false;
  bool graph = false;
  ReportOptions report;
  std::string compare;  // two back ends
  std::optional<double> tolerance;
};

// Runs the program, and calls `visit` with it while its buffers are there.
template <class Visit>
void runOn(const DeviceOptions& deviceOptions, const Model& model, const ProgramOptions& options, Visit visit) {
  const Device device(deviceOptions);
  std::printf("Running on '%s' (%s)\n", device.name().c_str(), backendName(device.backend()).c_str());
  Program program(device, model, options);
  program.run();
  visit(program, device);
  if (device.warnings()) throw RunError(cat("Validation gave ", device.warnings(), " messages."));
}

std::string coordinatesText(const std::vector<uint32_t>& coordinates) {
  std::string text;
  for (const uint32_t coordinate : coordinates) text += cat(text.empty() ? "" : ",", coordinate);
  return cat("[", text, "]");
}

void compareBackends(const RunOptions& options, const Model& model) {
  const auto [first, second] = parseBackendPair(options.compare);
  const auto outputs = outputTensors(model);
  if (outputs.empty()) throw InputError(cat(options.file, " dispatches nothing, so there is nothing to compare."));
  const auto results = [&](const std::string& backend) {
    DeviceOptions device = options.device;
    device.backend = backend;
    std::map<size_t, std::vector<std::byte>> buffers;
    runOn(device, model, {.profile = options.profile, .output = false}, [&](const Program& program, const Device&) {
      for (const OutputTensor& output : outputs)
        if (auto& bytes = buffers[output.source.buffer]; bytes.empty()) bytes = program.download(output.source.buffer);
    });
    return buffers;
  };
  const auto firstBuffers = results(first);
  const auto secondBuffers = results(second);

  Table table({"output", "type", ">elements", ">differing", ">largest ULP", ">largest absolute", "at", first, second});
  size_t differing = 0;
  std::string beyond;
  for (const auto& [source, tensor] : outputs) {
    const Difference difference = compareTensors(*tensor, &firstBuffers.at(source.buffer)[source.offset],
                                                 &secondBuffers.at(source.buffer)[source.offset]);
    std::string name = model.buffers[source.buffer].name;
    if (source.offset) name += cat("+", source.offset);
    const bool same = difference.differing == 0;
    if (!same) ++differing;
    table.add({name, std::string(dataTypeName(tensor->DataType)), std::to_string(difference.elements),
               std::to_string(difference.differing), numberText(difference.ulp), numberText(difference.absolute),
               same ? "-" : coordinatesText(difference.coordinates), same ? "-" : difference.first,
               same ? "-" : difference.second});
    if (beyond.empty() && options.tolerance && difference.ulp > *options.tolerance)
      beyond = cat(name, " differs by ", numberText(difference.ulp), " ULP, expected at most ",
                   numberText(*options.tolerance), ".");
  }
  table.print();
  if (differing)
    std::printf("%zu of %zu outputs differ.\n", differing, outputs.size());
  else
    std::printf("The outputs are the same.\n");
  if (!beyond.empty()) throw RunError(beyond);
}

int runFile(RunOptions& options) {
  checkReportOptions(options.report);
  if (options.report.any() && !options.device.dll.empty())
    throw InputError("--report and --trace are for Dimple, whose plans they show, not for another DLL.");
  if (isOnnxPath(options.file)) {
    if (options.graph || !options.compare.empty() || !options.definitions.empty())
      throw InputError("--graph, --compare and --define are for programs, not for ONNX models.");
    options.onnx.folder = options.model.outputFolder;
    options.onnx.profile = options.profile;
    options.onnx.report = options.report;
    return runOnnx(options.file, options.device, options.onnx);
  }
  if (options.onnx.any())
    throw InputError("--input, --output, --dim and --labels are for ONNX models, not for programs.");
  for (const std::string& definition : options.definitions) {
    const auto equals = definition.find('=');
    if (equals == definition.npos) throw InputError(cat("--define has \"", definition, "\", expected NAME=PATH."));
    options.model.definitions[definition.substr(0, equals)] = definition.substr(equals + 1);
  }
  if (options.tolerance && options.compare.empty()) throw InputError("--tolerance is given without --compare.");
  const JsonFile file(options.file);
  const Model model = readModel(file, options.model);
  if (options.compare.empty())
    runOn(options.device, model, {.profile = options.profile, .graph = options.graph, .timed = options.report.any()},
          [&](Program& program, const Device& device) {
            if (!options.report.any()) return;
            RunReport report(device, options.device, file.path().filename().string());
            addProgram(report, model, program, options.device);
            report.write(options.report);
          });
  else
    compareBackends(options, model);
  return 0;
}

}  // namespace

Action setUpRun(CLI::App& options) {
  auto values = std::make_shared<RunOptions>();
  options.add_option("file", values->file, "The program, in the JSON dialect of DxDispatch, or an ONNX model")
      ->required();
  addDeviceOptions(options, values->device);
  addDllOption(options, values->device);
  options.add_flag("--profile", values->profile,
                   "Print the time of each kernel; for an ONNX model, also those of its initialization");
  addReportOptions(options, values->report);
  options.add_flag("--graph", values->graph,
                   "Compile adjacent dispatches as one graph. Only results that later commands need, or that no "
                   "dispatch reads, are written to the buffers. An output of a graph must not lie over its inputs");
  options.add_flag("--allow-overlap", values->model.allowOverlap,
                   "Also run dispatches whose outputs lie over inputs that the operator still reads");
  options.add_option("--dir", values->model.outputFolder, "Folder that the paths of written files are relative to")
      ->capture_default_str();
  options.add_option("--input", values->onnx.inputs,
                     "NAME=PATH: the .npy file or picture that an input of an ONNX model is read from");
  options.add_option("--output", values->onnx.outputs, "NAME=PATH: the .npy file that an output is written to");
  options.add_option("--dim", values->onnx.dimensions, "NAME=NUMBER: a dimension that the model leaves open");
  options.add_option("--labels", values->onnx.labels,
                     "File with a line for each class, printed beside the five largest values of an output");
  options.add_option("--define", values->definitions, "NAME=PATH: the path that ${NAME} stands for in the program");
  options
      .add_option("--compare", values->compare,
                  "vulkan,d3d12: run on both back ends, and print how their outputs differ; nothing is written")
      ->excludes("--backend")
      ->excludes("--graph")
      ->excludes("--report")
      ->excludes("--trace");
  options
      .add_option("--tolerance", values->tolerance,
                  "With --compare: fail if an output differs by more than this many units in the last place; for "
                  "integers, by more than this")
      ->check(CLI::NonNegativeNumber);
  return [values] { return runFile(*values); };
}

}  // namespace dimple::tool
