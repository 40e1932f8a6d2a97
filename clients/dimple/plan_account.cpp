#include "clients/dimple/plan_account.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "clients/files/failure.h"
#include "core/checked.h"
#include "core/compile.h"
#include "core/graph/pass.h"
#include "core/graph/plan.h"
#include "core/operation.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

// Passes put together the labels of nodes that they put together. So that it is known of each node where it went, the
// labels of nodes are their numbers in brackets that no name has.
constexpr char kOpen = '\x01';
constexpr char kClose = '\x02';

std::string tagOf(size_t node) { return cat(std::string(1, kOpen), node, std::string(1, kClose)); }

// Calls visit(node) for each number in a label, and gives the label with what `labels` has in their place.
template <class Visit>
std::string untagged(std::string_view text, const std::vector<std::string>& labels, Visit visit) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != kOpen) {
      out += text[at];
      continue;
    }
    size_t node = 0;
    while (text[++at] != kClose) node = node * 10 + static_cast<size_t>(text[at] - '0');
    visit(node);
    out += labels[node];
  }
  return out;
}

std::set<size_t> nodesIn(std::string_view label, const std::vector<std::string>& labels) {
  std::set<size_t> nodes;
  untagged(label, labels, [&](size_t node) { nodes.insert(node); });
  return nodes;
}

std::string tensorText(const Tensor& tensor) {
  std::string out = cat(shortTypeName(tensor.type), "[");
  for (uint32_t d = 0; d < tensor.rank; ++d) out += cat(d ? "," : "", tensor.sizes[d]);
  return out + "]";
}

std::string nameOr(const std::vector<std::string>& names, size_t index, std::string_view otherwise) {
  return index < names.size() && !names[index].empty() ? names[index] : cat(otherwise, " ", index);
}

bool isConstant(const Graph& graph, const SlotNames& names, size_t input) {
  return graph.inputSlots[input].ownedByDml || (input < names.constants.size() && names.constants[input]);
}

// Bytes of a range that are touched: those of its rows, if it says which.
uint64_t touchedBytes(const BufferRange& range) {
  const Rows& rows = range.rows;
  if (rows.bytes == 0) return range.bytes;
  if (rows.pitch == 0) return std::min<uint64_t>(rows.bytes, range.bytes);
  const uint64_t end = range.offset + range.bytes;
  return rows.first < end ? std::min(range.bytes, divideUp(end - rows.first, rows.pitch) * rows.bytes) : range.bytes;
}

// ---- nodes and edges ----

Json nodesAndEdges(const Graph& graph, const std::vector<std::string>& labels, const SlotNames& names) {
  std::unordered_map<const Node*, size_t> numbers;
  Json nodes = Json::array(), edges = Json::array();
  for (const Node& node : graph.nodes()) {
    numbers.emplace(&node, numbers.size());
    Json from = Json::array();
    std::string label = untagged(node.label, labels, [&](size_t n) { from.push_back(n); });
    nodes.push_back({{"label", std::move(label)},
                     {"operator", node.op ? std::string(node.op->schema().name) : "constant"},
                     {"tensor", node.op ? tensorText(node.op->output()) : cat(node.constant.size(), " B")},
                     {"initialization", node.runsAtInitialization || !node.op},
                     {"from", std::move(from)}});
  }
  for (const Node& node : graph.nodes())
    for (uint32_t i = 0; i < node.inputs().size(); ++i) {
      const Place& place = node.inputs()[i];
      if (!place.value) continue;
      Json edge{{"to", numbers.at(&node)}, {"tensor", tensorText(node.op->input(i))}};
      if (const Node* producer = place.producer()) {
        edge["from"] = numbers.at(producer);
      } else {
        edge["input"] = nameOr(names.inputs, place.value->index, "input");
        edge["constant"] = isConstant(graph, names, place.value->index);
      }
      edges.push_back(std::move(edge));
    }
  for (size_t o = 0; o < graph.outputs().size(); ++o)
    if (const Value* value = graph.outputs()[o]; value && value->producer)
      edges.push_back({{"from", numbers.at(value->producer)}, {"output", nameOr(names.outputs, o, "output")}});
  return {{"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
}

// ---- dispatches and memory ----

Json dispatchesOf(std::span<const Dispatch> dispatches, const std::vector<std::string>& labels,
                  const std::map<std::string, size_t>& nodeOf) {
  Json list = Json::array();
  for (const Dispatch& dispatch : dispatches) {
    uint64_t read = 0, written = 0;
    for (const BufferRange& range : dispatch.buffers) (range.writes ? written : read) += touchedBytes(range);
    Json json{{"label", untagged(dispatch.label, labels, [](size_t) {})},
              {"kernel", std::string(kernelName(dispatch.kernel))},
              {"groups", dispatch.groups},
              {"groupSize", dispatch.groupSize},
              {"bytesRead", read},
              {"bytesWritten", written},
              {"work", dispatch.work},
              {"barrier", dispatch.barrierBefore}};
    if (const auto node = nodeOf.find(dispatch.label); node != nodeOf.end()) json["node"] = node->second;
    list.push_back(std::move(json));
  }
  return list;
}

void untagLabels(Json& blocks, const std::vector<std::string>& labels) {
  for (Json& block : blocks) block["label"] = untagged(block["label"].get<std::string>(), labels, [](size_t) {});
}

std::vector<std::string> kernelsOf(std::span<const Dispatch> dispatches) {
  std::vector<std::string> kernels;
  kernels.reserve(dispatches.size());
  for (const Dispatch& dispatch : dispatches) kernels.emplace_back(kernelName(dispatch.kernel));
  return kernels;
}

// `json` has a name and nodes already. `labels`: of nodes, by the numbers in the labels of dispatches.
PlanAccount withPlan(Json json, const Plan& plan, const std::vector<std::string>& labels,
                     const std::map<std::string, size_t>& nodeOf) {
  Json temporary = temporaryBlocks(plan.execution), persistent = persistentBlocks(plan.execution);
  untagLabels(temporary, labels);
  untagLabels(persistent, labels);
  json["initialization"] = dispatchesOf(plan.initialization, labels, nodeOf);
  json["execution"] = dispatchesOf(plan.execution, labels, nodeOf);
  json["memory"] = {{"temporary", plan.temporaryBytes},
                    {"initialization", plan.initializationBytes},
                    {"persistent", plan.persistentBytes},
                    {"temporaryBlocks", std::move(temporary)},
                    {"persistentBlocks", std::move(persistent)}};
  return {std::move(json), kernelsOf(plan.initialization), kernelsOf(plan.execution)};
}

// ---- passes ----

size_t executedNodes(const Graph& graph) {
  return static_cast<size_t>(
      std::ranges::count_if(graph.nodes(), [](const Node& node) { return node.op && !node.runsAtInitialization; }));
}

std::set<size_t> nodesLeft(const Graph& graph, const std::vector<std::string>& labels) {
  std::set<size_t> left;
  for (const Node& node : graph.nodes()) left.merge(nodesIn(node.label, labels));
  return left;
}

// Runs the passes. `takenOut`: the pass that took out a node, by its number.
Json runAllPasses(Graph& graph, const Target& target, const std::vector<std::string>& labels,
                  std::map<size_t, std::string>& takenOut) {
  Json list = Json::array();
  std::set<size_t> left = nodesLeft(graph, labels);
  for (const Pass& pass : allPasses()) {
    if (!runsPass(target.options, pass.name)) continue;
    const size_t before = executedNodes(graph);
    pass.run(graph, target);
    list.push_back({{"name", std::string(pass.name)},
                    {"does", std::string(pass.sentence)},
                    {"before", before},
                    {"after", executedNodes(graph)}});
    const std::set<size_t> now = nodesLeft(graph, labels);
    for (const size_t node : left)
      if (!now.contains(node)) takenOut.emplace(node, pass.name);
    left = now;
  }
  return list;
}

// Says of each node before where it is after: the node it became part of, preferably one that executes, or the pass
// that took it out.
void addFates(Json& before, const Json& after, const std::map<size_t, std::string>& takenOut) {
  for (const bool initialization : {true, false})
    for (size_t n = 0; n < after["nodes"].size(); ++n)
      if (after["nodes"][n]["initialization"] == initialization)
        for (const Json& from : after["nodes"][n]["from"]) before["nodes"][from.get<size_t>()]["into"] = n;
  for (const auto& [node, pass] : takenOut) before["nodes"][node]["takenOutBy"] = pass;
  for (Json& node : before["nodes"]) node.erase("from");
}

Json bindingsOf(const Graph& graph, const SlotNames& names) {
  Json list = Json::array();
  for (size_t i = 0; i < graph.inputSlots.size(); ++i)
    if (graph.inputSlots[i].bytes)
      list.push_back({{"name", nameOr(names.inputs, i, "input")},
                      {"role", graph.inputSlots[i].ownedByDml ? "owned"
                               : isConstant(graph, names, i)  ? "constant"
                                                              : "input"},
                      {"bytes", graph.inputSlots[i].bytes}});
  for (size_t o = 0; o < graph.outputSlots.size(); ++o)
    if (graph.outputSlots[o].bytes)
      list.push_back(
          {{"name", nameOr(names.outputs, o, "output")}, {"role", "output"}, {"bytes", graph.outputSlots[o].bytes}});
  return list;
}

// The plans of operators that have a persistent resource each, as one that has them behind each other.
class OperatorPlans {
 public:
  void add(const Dispatchable& dispatchable, Target target) {
    auto op = Operation::parse(dispatchable.desc.desc());
    if (!op) throw InputError(cat(dispatchable.place, " is refused: ", op.error().text));
    target.halfPrecision = (dispatchable.flags & DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION) != 0;
    auto compiled = compileOperator(*op, target);
    if (!compiled) throw RunError(cat(dispatchable.place, " cannot be planned: ", compiled.error().text));
    append(all_.initialization, compiled->plan.initialization, dispatchable.name, all_.persistentBytes);
    persistent_.push_back(all_.persistentBytes);
    all_.initializationBytes = std::max(all_.initializationBytes, compiled->plan.initializationBytes);
    all_.persistentBytes += compiled->plan.persistentBytes;
    operations_.push_back(std::move(*op));
    plans_.push_back(std::move(compiled->plan));
  }

  // Adds the execution of an operator, by its number.
  void execute(size_t number, const std::string& label) {
    const size_t before = all_.execution.size();
    append(all_.execution, plans_[number].execution, label, persistent_[number]);
    all_.temporaryBytes = std::max(all_.temporaryBytes, plans_[number].temporaryBytes);
    // Each begins after a barrier that the caller records.
    if (before && all_.execution.size() > before) all_.execution[before].barrierBefore = true;
  }

  const Operation& operation(size_t number) const { return operations_[number]; }
  const Plan& all() const { return all_; }

 private:
  static void append(std::vector<Dispatch>& to, const std::vector<Dispatch>& from, const std::string& label,
                     uint64_t persistent) {
    for (const Dispatch& dispatch : from) {
      Dispatch& added = to.emplace_back(dispatch);
      added.label = label;
      for (BufferRange& range : added.buffers)
        if (range.kind == SlotKind::Persistent) range.offset += persistent;
    }
  }

  Plan all_;
  std::vector<Operation> operations_;
  std::vector<Plan> plans_;
  std::vector<uint64_t> persistent_;  // where in the persistent resource each has its own
};

// The dispatches of a program as nodes, connected where one binds what another wrote to.
class ProgramNodes {
 public:
  explicit ProgramNodes(const Model& model) : model_(model) {}

  void add(const DispatchCommand& command, const Operation& op) {
    const Dispatchable& dispatchable = model_.dispatchables[command.dispatchable];
    const size_t node = nodes_.size();
    nodes_.push_back({{"label", cat(dispatchable.name, " (", op.schema().name, ")")},
                      {"operator", std::string(op.schema().name)},
                      {"tensor", tensorText(op.output())},
                      {"initialization", false}});
    std::vector<size_t> written;
    size_t input = 0;
    for (const BindPoint& point : bindPoints(dispatchable.desc)) {
      const auto bound = command.bindings.find(point.name);
      for (size_t i = 0; i < point.tensors.size(); ++i) {
        const size_t at = input;
        if (point.role == Role::Input) ++input;
        if (!point.tensors[i] || bound == command.bindings.end()) continue;
        const size_t buffer = bound->second[i].buffer;
        if (point.role == Role::Input)
          connect(buffer, node, tensorText(op.input(at)));
        else
          written.push_back(buffer);
      }
    }
    for (const size_t buffer : written) {
      writer_[buffer] = node;
      read_.erase(buffer);
    }
  }

  // Outputs are what nothing reads.
  Json json() && {
    for (const auto& [buffer, node] : writer_)
      if (!read_.contains(buffer)) edges_.push_back({{"from", node}, {"output", model_.buffers[buffer].name}});
    return {{"nodes", std::move(nodes_)}, {"edges", std::move(edges_)}};
  }

 private:
  void connect(size_t buffer, size_t node, const std::string& tensor) {
    read_.insert(buffer);
    if (const auto writer = writer_.find(buffer); writer != writer_.end())
      edges_.push_back({{"from", writer->second}, {"to", node}, {"tensor", tensor}});
    else
      edges_.push_back({{"input", model_.buffers[buffer].name}, {"to", node}, {"tensor", tensor}});
  }

  const Model& model_;
  Json nodes_ = Json::array(), edges_ = Json::array();
  std::map<size_t, size_t> writer_;  // the last one, by buffer
  std::set<size_t> read_;            // buffers, since they were written last
};

}  // namespace

PlanAccount accountOfGraph(const DML_GRAPH_DESC& desc, const FindOperation& find, const Target& target,
                           const SlotNames& names) {
  auto graph = parseGraph(desc, find);
  if (!graph) throw InputError(cat("The graph is refused: ", graph.error().text));
  std::vector<std::string> labels;
  for (Node& node : graph->nodes()) {
    labels.push_back(node.label.empty() ? "constant" : node.label);
    node.label = tagOf(labels.size() - 1);
  }
  Json before = nodesAndEdges(*graph, labels, names);
  std::map<size_t, std::string> takenOut;
  Json passes = runAllPasses(*graph, target, labels, takenOut);
  Json after = nodesAndEdges(*graph, labels, names);
  addFates(before, after, takenOut);
  std::map<std::string, size_t> nodeOf;
  size_t number = 0;
  for (const Node& node : graph->nodes()) nodeOf.emplace(node.label, number++);
  Json json{{"name", cat("graph of ", desc.NodeCount, desc.NodeCount == 1 ? " node" : " nodes")},
            {"before", std::move(before)},
            {"after", std::move(after)},
            {"passes", std::move(passes)},
            {"bindings", bindingsOf(*graph, names)}};
  const auto plan = planGraph(*graph, target);
  if (!plan) throw RunError(cat("The graph cannot be planned: ", plan.error().text));
  return withPlan(std::move(json), *plan, labels, nodeOf);
}

PlanAccount accountOfProgram(const Model& model, const Target& target) {
  OperatorPlans plans;
  for (const Dispatchable& dispatchable : model.dispatchables) plans.add(dispatchable, target);
  ProgramNodes nodes(model);
  std::vector<std::string> labels;
  std::map<std::string, size_t> nodeOf;
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (!dispatch) continue;
    const Operation& op = plans.operation(dispatch->dispatchable);
    const std::string tag = tagOf(labels.size());
    nodeOf.emplace(tag, labels.size());
    labels.push_back(cat(model.dispatchables[dispatch->dispatchable].name, " (", op.schema().name, ")"));
    plans.execute(dispatch->dispatchable, tag);
    nodes.add(*dispatch, op);
  }
  Json bindings = Json::array();
  for (const Buffer& buffer : model.buffers)
    bindings.push_back({{"name", buffer.name}, {"role", "buffer"}, {"bytes", buffer.bytes}});
  Json json{{"name", cat("program of ", labels.size(), labels.size() == 1 ? " dispatch" : " dispatches")},
            {"before", std::move(nodes).json()},
            {"bindings", std::move(bindings)}};
  return withPlan(std::move(json), plans.all(), labels, nodeOf);
}

}  // namespace dimple::tool
