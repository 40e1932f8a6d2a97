// dimple plan: what operators become on a device, or on one that is made up.
#include "core/plan.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <deque>
#include <memory>

#include "clients/dimple/command.h"
#include "clients/dimple/device_caps.h"
#include "clients/dimple/model.h"
#include "clients/dimple/model_graph.h"
#include "clients/files/failure.h"
#include "core/desc_text.h"
#include "core/element_text.h"
#include "core/graph_fuse.h"
#include "core/graph_plan.h"
#include "core/op_view.h"
#include "core/plan_builder.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

constexpr Feature kFeatures[] = {Feature::Int8,           Feature::Int16,
                                 Feature::Int64,          Feature::Float16,
                                 Feature::Float64,        Feature::Storage8,
                                 Feature::Storage16,      Feature::SubgroupBasic,
                                 Feature::SubgroupVote,   Feature::SubgroupArithmetic,
                                 Feature::SubgroupBallot, Feature::SubgroupShuffle};

struct PlanOptions {
  std::string what;
  DeviceOptions device;
  std::vector<std::string> caps;
  bool why = false;
  bool graph = false;
  std::string without;
};

// "default", "features=all" or a number for one of the limits.
void applyCaps(Caps& caps, const std::string& text) {
  if (text == "default") return;
  const auto equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string value = equals == text.npos ? "" : text.substr(equals + 1);
  if (name == "features" && (value == "all" || value == "none")) {
    caps.features = 0;
    if (value == "all")
      for (const Feature feature : kFeatures) caps.features |= static_cast<uint32_t>(feature);
    return;
  }
  const auto number = parseNumber<uint64_t>(value);
  const auto refuse = [&](std::string_view expected) {
    return InputError(cat("--caps has \"", text, "\", expected ", expected, "."));
  };
  if (!number)
    throw refuse(
        "default, features=all, features=none, or NAME=NUMBER with maxGroups, maxBufferRange, "
        "bufferOffsetAlignment, parameterAlignment, pushBytes, sharedBytes, workLimit, workgroups, subgroupSize, "
        "matrixSize, "
        "integerMatrixSize or integerMatrixDepth");
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
  else if (name == "sharedBytes")
    limit(caps.sharedBytes);
  else if (name == "workLimit")
    caps.workLimit = *number;
  else if (name == "workgroups")
    limit(caps.workgroups);
  else if (name == "subgroupSize")
    limit(caps.subgroupSize);
  else if (name == "matrixSize")
    limit(caps.matrixSize);
  else if (name == "integerMatrixSize")
    limit(caps.integerMatrixSize);
  else if (name == "integerMatrixDepth")
    limit(caps.integerMatrixDepth);
  else
    throw refuse("the name of a limit");
}

void printPlan(const std::string& place, const OwnedDesc& desc, const Caps& caps, bool why) {
  const auto view = validate(desc.desc());
  if (!view) throw InputError(cat(place, " is refused: ", view.error().text));
  const auto plan = planOperator(*view, caps);
  if (!plan) throw RunError(cat(place, " cannot be planned: ", plan.error().text));
  std::printf("%s\n%s%s", formatCase(desc.desc()).c_str(), planText(*plan).c_str(),
              why ? passedOverText(*plan).c_str() : "");
}

void printGraph(ModelGraph& graph, const Model& model, const Caps& caps, const PlanOptions& options) {
  const std::string& place = graph.dispatches().front()->place;
  std::deque<OpView> views;
  std::vector<IDMLOperator*> handles;
  for (const DispatchCommand* dispatch : graph.dispatches()) {
    const Dispatchable& dispatchable = model.dispatchables[dispatch->dispatchable];
    auto view = validate(dispatchable.desc.desc());
    if (!view) throw InputError(cat(dispatchable.place, " is refused: ", view.error().text));
    // Never followed but by `find`.
    handles.push_back(reinterpret_cast<IDMLOperator*>(&views.emplace_back(std::move(*view))));
  }
  const auto find = [](IDMLOperator* op) -> Result<const OpView*> { return reinterpret_cast<const OpView*>(op); };
  auto read = readGraph(graph.desc(handles), find);
  if (!read) throw InputError(cat("The graph at ", place, " is refused: ", read.error().text));
  const size_t nodes = read->nodes.size();
  const RewrittenGraph rewritten = rewriteGraph(std::move(*read), caps, graphOptionsWithout(options.without));
  const auto planned = planGraph(rewritten.graph, caps);
  if (!planned) throw RunError(cat("The graph at ", place, " cannot be planned: ", planned.error().text));
  const PlanTotals totals = totalsOf(planned->plan.execution);
  std::printf("# graph of %zu nodes: %zu dispatches, %zu barriers, %llu bytes bound\n%s%s", nodes, totals.dispatches,
              totals.barriers, static_cast<unsigned long long>(totals.bytes), planText(planned->plan).c_str(),
              options.why ? passedOverText(planned->plan).c_str() : "");
}

int run(const PlanOptions& options) {
  // Whatever is said of a made-up device, a real one is not looked at.
  Caps caps = options.caps.empty() ? capsOf(options.device) : Caps{};
  for (const std::string& text : options.caps) applyCaps(caps, text);
  std::error_code tooLong;  // for a file's name, as lines may be
  if (options.what.find('=') != options.what.npos && !std::filesystem::exists(options.what, tooLong)) {
    const auto parsed = parseCase(options.what);
    if (!parsed) throw InputError(parsed.error().text);
    printPlan("The operator", parsed->desc, caps, options.why);
    return 0;
  }
  ModelOptions modelOptions;
  modelOptions.readBuffers = options.graph;
  const JsonFile file(options.what);
  const Model model = readModel(file, modelOptions);
  if (options.graph) {
    for (ModelGraph& graph : ModelGraph::split(model)) printGraph(graph, model, caps, options);
    return 0;
  }
  for (size_t i = 0; i < model.dispatchables.size(); ++i) {
    const Dispatchable& dispatchable = model.dispatchables[i];
    std::printf("%s# %s\n", i ? "\n" : "", dispatchable.name.c_str());
    printPlan(dispatchable.place, dispatchable.desc, caps, options.why);
  }
  return 0;
}

}  // namespace

Action setUpPlan(CLI::App& options) {
  auto values = std::make_shared<PlanOptions>();
  options
      .add_option("program", values->what,
                  "A JSON file as for dimple run, or one operator as a line of text:\n"
                  "\"ELEMENT_WISE_ADD ATensor=f32[2,3] BTensor=f32[2,3]{0,1} OutputTensor=f32[2,3]\"")
      ->required();
  addDeviceOption(options, values->device);
  options.add_option("--caps", values->caps,
                     "Plan for a made-up device: default (no optional features), features=all, features=none, or a "
                     "limit such as maxBufferRange=134217728; may be repeated");
  options.add_flag("--graph", values->graph, "Plan dispatches of the program that follow each other as one graph");
  options.add_option(
      "--without", values->without,
      "With --graph: rewrites that are not made: activations, chains, constants, weights, layouts, views, all; "
      "estimates: chains wherever possible");
  options.add_flag("--why", values->why, "Say which kernels were passed over, and why");
  return [values] { return run(*values); };
}

}  // namespace dimple::tool
