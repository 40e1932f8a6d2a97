// dimple plan: what operators become on a device, or on one that is made up.
#include "core/compile.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "clients/dimple/command.h"
#include "clients/dimple/device_caps.h"
#include "clients/dimple/graph_plan.h"
#include "clients/dimple/line.h"
#include "clients/dimple/model.h"
#include "clients/dimple/model_graph.h"
#include "clients/dimple/run_onnx.h"
#include "clients/files/failure.h"
#include "core/schema/desc_text.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

struct PlanOptions {
  std::string what;
  DeviceOptions device;
  std::vector<std::string> caps;
  bool why = false;
  bool graph = false;
  bool dot = false;
  std::vector<std::string> inputs, dimensions;  // of an ONNX model
};

// "default", "features=all" or a number for one of the limits.
void applyCaps(Caps& caps, const std::string& text) {
  if (text == "default") return;
  const auto equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string value = equals == text.npos ? "" : text.substr(equals + 1);
  if (name == "features" && (value == "all" || value == "none")) {
    caps.features = value == "all" ? ~0u : 0;
    return;
  }
  const auto refuse = [&](std::string_view expected) {
    return InputError(cat("--caps has \"", text, "\", expected ", expected, "."));
  };
  if (name == "matrices" || name == "integerMatrices") {
    const bool halves = name == "matrices";
    const auto shape = parseShape(value);
    if (!shape || !isUsable(*shape, halves ? kMaxHalfDepth : kMaxIntegerDepth))
      throw refuse(cat("rows and columns of 8 or 16, and a depth of 8", halves ? " or 16" : ", 16 or 32"));
    (halves ? caps.matrices : caps.integerMatrices) = *shape;
    caps.matrixHalves |= halves;
    return;
  }
  const auto number = parseNumber<uint64_t>(value);
  if (!number)
    throw refuse(
        "default, features=all, features=none, NAME=NUMBER with maxGroups, maxBufferRange, bufferOffsetAlignment, "
        "maxInvocations, parameterAlignment, pushBytes, sharedBytes, workLimit, workgroups or subgroupSize, or "
        "NAME=ROWSxCOLUMNSxDEPTH with matrices or integerMatrices");
  const auto limit = [&](uint32_t& target) {
    if (*number == 0 || *number > UINT32_MAX) throw refuse("a number from 1 to 4294967295");
    target = static_cast<uint32_t>(*number);
  };
  if (name == "maxGroups")
    for (uint32_t& groups : caps.maxGroups) limit(groups);
  else if (name == "maxBufferRange")
    caps.maxBufferRange = *number;
  else if (name == "bufferOffsetAlignment")
    limit(caps.bufferOffsetAlignment);
  else if (name == "parameterAlignment")
    limit(caps.parameterAlignment);
  else if (name == "pushBytes")
    limit(caps.pushBytes);
  else if (name == "maxInvocations")
    limit(caps.maxInvocations);
  else if (name == "sharedBytes")
    limit(caps.sharedBytes);
  else if (name == "workLimit")
    caps.workLimit = *number;
  else if (name == "workgroups")
    limit(caps.workgroups);
  else if (name == "subgroupSize" && isUsableSubgroup(static_cast<uint32_t>(*number)))
    limit(caps.subgroupSize);
  else if (name == "subgroupSize")
    throw refuse("8, 16, 32 or 64");
  else
    throw refuse("the name of a limit");
}

void printPlan(const std::string& place, const OwnedDesc& desc, const Target& target, bool why) {
  const auto op = Operation::parse(desc.desc());
  if (!op) throw InputError(cat(place, " is refused: ", op.error().text));
  const auto compiled = compileOperator(*op, target);
  if (!compiled) throw RunError(cat(place, " cannot be planned: ", compiled.error().text));
  std::printf("%s\n%s%s", formatCase(desc.desc()).c_str(), planText(compiled->plan).c_str(),
              why ? passedOverText(compiled->plan).c_str() : "");
}

void printGraph(ModelGraph& graph, const Model& model, const Target& target, const PlanOptions& options) {
  const std::string& place = graph.dispatches().front()->place;
  const auto operations = operationsOf(graph, model);
  const auto find = [&](UINT node, IDMLOperator*) -> Result<std::shared_ptr<const Operation>> {
    return operations[node];
  };
  const std::vector<IDMLOperator*> none(operations.size());
  printGraphPlan(graph.desc(none), find, target, cat("The graph at ", place), {options.why, options.dot});
}

int run(const PlanOptions& options) {
  // If the capabilities of a device are given, no real device is looked at.
  Target target = options.caps.empty() ? targetOf(options.device) : Target(Caps{}, optionsOf(options.device));
  for (const std::string& text : options.caps) applyCaps(target.caps, text);
  if ((target.caps.matrices || target.caps.integerMatrices) && target.caps.subgroupSize == 0)
    throw InputError("--caps names matrices, expected subgroupSize beside them.");
  if (isOnnxPath(options.what))
    return planOnnx(options.what,
                    {options.device, options.inputs, options.dimensions, target, {options.why, options.dot}});
  if (!options.inputs.empty() || !options.dimensions.empty())
    throw InputError("--input and --dim are for ONNX models, not for programs.");
  if (options.dot && !options.graph) throw InputError("--dot is given without --graph.");
  std::error_code tooLong;  // for a file's name, as lines may be
  if (options.what.find('=') != options.what.npos && !std::filesystem::exists(options.what, tooLong)) {
    const CaseText parsed = readLine(options.what);
    if (!parsed.missing.empty()) throw InputError(missingText(parsed));
    printPlan("The operator", parsed.desc, target, options.why);
    return 0;
  }
  ModelOptions modelOptions;
  modelOptions.readBuffers = options.graph;
  const JsonFile file(options.what);
  const Model model = readModel(file, modelOptions);
  if (options.graph) {
    for (ModelGraph& graph : ModelGraph::split(model)) printGraph(graph, model, target, options);
    return 0;
  }
  for (size_t i = 0; i < model.dispatchables.size(); ++i) {
    const Dispatchable& dispatchable = model.dispatchables[i];
    std::printf("%s# %s\n", i ? "\n" : "", dispatchable.name.c_str());
    printPlan(dispatchable.place, dispatchable.desc, target, options.why);
  }
  return 0;
}

}  // namespace

Action setUpPlan(CLI::App& options) {
  auto values = std::make_shared<PlanOptions>();
  options
      .add_option("program", values->what,
                  "A JSON file or ONNX model as for dimple run, or one operator as a line of text:\n"
                  "\"ELEMENT_WISE_ADD ATensor=f32[2,3] BTensor=f32[2,3]{0,1} OutputTensor=f32[2,3]\"")
      ->required();
  addDeviceOption(options, values->device);
  options.add_option("--caps", values->caps,
                     "Plan for a made-up device: default (without optional features), features=all, features=none, or "
                     "a limit such as maxBufferRange=134217728; may be repeated");
  options.add_flag("--graph", values->graph, "Plan adjacent dispatches of the program as one graph");
  options.add_flag("--dot", values->dot, "Print the graph for Graphviz, as it is before passes rewrite it");
  options.add_option("--input", values->inputs,
                     "NAME=PATH: the .npy file or picture for an input of an ONNX model, which is zeros otherwise");
  options.add_option("--dim", values->dimensions, "NAME=NUMBER: a dimension that the model leaves open");
  options.add_flag("--why", values->why, "Say which kernels were passed over, and why");
  return [values] { return run(*values); };
}

}  // namespace dimple::tool
