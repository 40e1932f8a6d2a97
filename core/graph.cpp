#include "core/graph.h"

#include <algorithm>
#include <deque>

#include "core/checked.h"
#include "core/op_view.h"
#include "core/text.h"

namespace dimple {
namespace {

// Inputs or outputs of a graph. No limit of DirectML, but more are an error, and take memory before they are found out.
constexpr UINT kMostTensors = 1u << 20;

std::string quoted(const char* name) { return name && *name ? cat("\"", name, "\"") : std::string(); }

// "InputEdges[3]", "InputEdges[3] (\"weights\")"
std::string edgeName(const char* field, size_t index, const char* name) {
  const std::string quotedName = quoted(name);
  return cat(field, "[", index, "]", quotedName.empty() ? "" : cat(" (", quotedName, ")"));
}

class Reader {
 public:
  Reader(const DML_GRAPH_DESC& desc, const FindGraphOperator& find) : desc_(desc), find_(find) {}

  Result<Graph> read() {
    if (auto error = checkArrays()) return *error;
    graph_.inputCount = desc_.InputCount;
    graph_.outputs.resize(desc_.OutputCount);
    for (UINT i = 0; i < desc_.NodeCount; ++i)
      if (auto error = readNode(i)) return *error;
    for (UINT i = 0; i < desc_.InputEdgeCount; ++i)
      if (auto error = readInputEdge(i)) return *error;
    for (UINT i = 0; i < desc_.IntermediateEdgeCount; ++i)
      if (auto error = readIntermediateEdge(i)) return *error;
    for (UINT i = 0; i < desc_.OutputEdgeCount; ++i)
      if (auto error = readOutputEdge(i)) return *error;
    if (auto error = checkNodes()) return *error;
    if (auto error = checkOwned()) return *error;
    if (auto error = checkCycles()) return *error;
    addSlots();
    return std::move(graph_);
  }

 private:
  Status checkArrays() const {
    if (desc_.NodeCount == 0) return invalid("NodeCount has value (0), expected at least 1.");
    for (const auto& [field, count] : {std::pair("InputCount", desc_.InputCount), {"OutputCount", desc_.OutputCount}})
      if (count > kMostTensors)
        return invalid(cat(field, " has value (", count, "), expected at most ", kMostTensors, "."));
    const auto check = [](const char* field, UINT count, const void* array) -> Status {
      if (count != 0 && !array) return invalid(cat(field, " is null, expected ", count, " elements."));
      return {};
    };
    if (auto error = check("Nodes", desc_.NodeCount, desc_.Nodes)) return error;
    if (auto error = check("InputEdges", desc_.InputEdgeCount, desc_.InputEdges)) return error;
    if (auto error = check("OutputEdges", desc_.OutputEdgeCount, desc_.OutputEdges)) return error;
    return check("IntermediateEdges", desc_.IntermediateEdgeCount, desc_.IntermediateEdges);
  }

  Status readNode(UINT index) {
    const DML_GRAPH_NODE_DESC& node = desc_.Nodes[index];
    const std::string where = cat("Nodes[", index, "]");
    if (node.Type != DML_GRAPH_NODE_TYPE_OPERATOR && node.Type != DML_GRAPH_NODE_TYPE_CONSTANT)
      return invalid(cat(where, " has Type (", static_cast<uint32_t>(node.Type),
                         "), expected DML_GRAPH_NODE_TYPE_OPERATOR (1) or DML_GRAPH_NODE_TYPE_CONSTANT (2)."));
    if (!node.Desc) return invalid(cat(where, " has a null Desc."));
    GraphNode read;
    const auto name = [&](const char* given, std::string_view kind) {
      const std::string text = given ? given : "";
      read.name = cat(where, " (", text, text.empty() ? "" : ", ", kind, ")");
      read.label = text.empty() ? std::string(kind) : cat(text, " (", kind, ")");
    };
    if (node.Type == DML_GRAPH_NODE_TYPE_CONSTANT) {
      const auto& constant = *static_cast<const DML_CONSTANT_DATA_GRAPH_NODE_DESC*>(node.Desc);
      name(constant.Name, "constant");
      if (!constant.Data) return invalid(cat(read.name, " has a null Data, expected ", constant.DataSize, " bytes."));
      if (constant.DataSize == 0) return invalid(cat(read.name, " has DataSize (0), expected at least 1."));
      read.constant = {static_cast<const std::byte*>(constant.Data), constant.DataSize};
    } else {
      const auto& op = *static_cast<const DML_OPERATOR_GRAPH_NODE_DESC*>(node.Desc);
      auto found = find_(op.Operator);
      if (!found) return Error{found.error().code, cat(where, ": ", found.error().text)};
      read.op = *found;
      name(op.Name, read.op->schema().name);
      read.inputs.resize(read.op->inputs().size());
    }
    connected_.emplace_back(read.op ? read.op->outputs().size() : 1);
    graph_.nodes.push_back(std::move(read));
    return {};
  }

  template <class Edge>
  Result<const Edge*> edge(const char* field, const DML_GRAPH_EDGE_DESC* edges, UINT index, DML_GRAPH_EDGE_TYPE type) {
    const DML_GRAPH_EDGE_DESC& given = edges[index];
    if (given.Type != type)
      return invalid(cat(field, "[", index, "] has Type (", static_cast<uint32_t>(given.Type), "), expected ",
                         static_cast<uint32_t>(type), "."));
    if (!given.Desc) return invalid(cat(field, "[", index, "] has a null Desc."));
    return static_cast<const Edge*>(given.Desc);
  }

  static Status checkIndex(const std::string& where, const char* field, UINT value, size_t count,
                           std::string_view what) {
    if (value < count) return {};
    return invalid(
        cat(where, " has ", field, " (", value, "), expected less than ", count, ", the number of ", what, "."));
  }

  // Connects a source to an input of a node, whose tensor must exist.
  Status connect(const std::string& where, const GraphSource& source, UINT node, UINT input) {
    if (auto error = checkIndex(where, "ToNodeIndex", node, graph_.nodes.size(), "nodes")) return error;
    GraphNode& to = graph_.nodes[node];
    if (auto error = checkIndex(where, "ToNodeInputIndex", input, to.inputs.size(), cat("inputs of ", to.name)))
      return error;
    if (!to.op->input(input).present())
      return invalid(cat(where, " leads to ", to.op->inputName(input), " of ", to.name,
                         ", expected an input that the operator was created with."));
    if (to.inputs[input].kind != GraphSource::Kind::None)
      return invalid(cat(where, " leads to ", to.op->inputName(input), " of ", to.name,
                         ", expected an input without another edge."));
    to.inputs[input] = source;
    return {};
  }

  // Checks an output of a node, and marks it as connected.
  Status checkFrom(const std::string& where, UINT node, UINT output) {
    if (auto error = checkIndex(where, "FromNodeIndex", node, graph_.nodes.size(), "nodes")) return error;
    const GraphNode& from = graph_.nodes[node];
    if (auto error =
            checkIndex(where, "FromNodeOutputIndex", output, connected_[node].size(), cat("outputs of ", from.name)))
      return error;
    if (from.op && !from.op->output(output).present())
      return invalid(cat(where, " comes from ", from.op->outputName(output), " of ", from.name,
                         ", expected an output that the operator was created with."));
    connected_[node][output] = true;
    return {};
  }

  Status readInputEdge(UINT index) {
    auto found = edge<DML_INPUT_GRAPH_EDGE_DESC>("InputEdges", desc_.InputEdges, index, DML_GRAPH_EDGE_TYPE_INPUT);
    if (!found) return found.error();
    const auto& given = **found;
    const std::string where = edgeName("InputEdges", index, given.Name);
    if (auto error = checkIndex(where, "GraphInputIndex", given.GraphInputIndex, desc_.InputCount, "graph inputs"))
      return error;
    return connect(where, {GraphSource::Kind::GraphInput, given.GraphInputIndex, 0}, given.ToNodeIndex,
                   given.ToNodeInputIndex);
  }

  Status readIntermediateEdge(UINT index) {
    auto found = edge<DML_INTERMEDIATE_GRAPH_EDGE_DESC>("IntermediateEdges", desc_.IntermediateEdges, index,
                                                        DML_GRAPH_EDGE_TYPE_INTERMEDIATE);
    if (!found) return found.error();
    const auto& given = **found;
    const std::string where = edgeName("IntermediateEdges", index, given.Name);
    if (auto error = checkFrom(where, given.FromNodeIndex, given.FromNodeOutputIndex)) return error;
    const GraphSource source{GraphSource::Kind::Node, given.FromNodeIndex, given.FromNodeOutputIndex};
    if (auto error = connect(where, source, given.ToNodeIndex, given.ToNodeInputIndex)) return error;
    const GraphNode& from = graph_.nodes[given.FromNodeIndex];
    const GraphNode& to = graph_.nodes[given.ToNodeIndex];
    const Tensor& tensor = to.op->input(given.ToNodeInputIndex);
    const std::string& inputName = to.op->inputName(given.ToNodeInputIndex);
    if (tensor.ownedByDml)
      return invalid(cat(where, " leads to ", inputName, " of ", to.name,
                         ", which has Flags (OWNED_BY_DML), expected an edge from a graph input."));
    if (!from.op) {
      if (const uint64_t bytes = from.constant.size(); alignUp(bytes, 4) < tensor.spannedBytes())
        return invalid(cat(where, ": ", from.name, " has DataSize (", bytes, "), expected at least ",
                           tensor.spannedBytes(), ", what ", inputName, " of ", to.name, " spans."));
      return {};
    }
    if (const uint64_t bytes = from.op->output(given.FromNodeOutputIndex).totalBytes; bytes != tensor.totalBytes)
      return invalid(cat(where, ": ", from.op->outputName(given.FromNodeOutputIndex), " of ", from.name,
                         " has TotalTensorSizeInBytes (", bytes, "), expected that of ", inputName, " of ", to.name,
                         " (", tensor.totalBytes, ")."));
    return {};
  }

  Status readOutputEdge(UINT index) {
    auto found = edge<DML_OUTPUT_GRAPH_EDGE_DESC>("OutputEdges", desc_.OutputEdges, index, DML_GRAPH_EDGE_TYPE_OUTPUT);
    if (!found) return found.error();
    const auto& given = **found;
    const std::string where = edgeName("OutputEdges", index, given.Name);
    if (auto error = checkFrom(where, given.FromNodeIndex, given.FromNodeOutputIndex)) return error;
    if (auto error = checkIndex(where, "GraphOutputIndex", given.GraphOutputIndex, desc_.OutputCount, "graph outputs"))
      return error;
    graph_.outputs[given.GraphOutputIndex] = {GraphSource::Kind::Node, given.FromNodeIndex, given.FromNodeOutputIndex};
    return {};
  }

  Status checkNodes() const {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const GraphNode& node = graph_.nodes[n];
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (node.op->input(i).present() && node.inputs[i].kind == GraphSource::Kind::None)
          return invalid(cat(node.op->inputName(i), " of ", node.name, " has no edge, expected one."));
      if (std::ranges::find(connected_[n], true) == connected_[n].end())
        return invalid(cat(node.name, " has no edge from its outputs, expected at least one."));
    }
    return {};
  }

  // Inputs that share a graph input are all owned by DML, or none is.
  Status checkOwned() const {
    struct First {
      const GraphNode* node = nullptr;
      size_t input = 0;
    };
    std::vector<First> firsts(graph_.inputCount);
    for (const GraphNode& node : graph_.nodes)
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i].kind != GraphSource::Kind::GraphInput) continue;
        First& first = firsts[node.inputs[i].index];
        if (!first.node) {
          first = {&node, i};
          continue;
        }
        if (first.node->op->input(first.input).ownedByDml != node.op->input(i).ownedByDml)
          return invalid(cat("Graph input ", node.inputs[i].index, " leads to ", first.node->op->inputName(first.input),
                             " of ", first.node->name, " and ", node.op->inputName(i), " of ", node.name,
                             ", expected OWNED_BY_DML in the Flags of both or of none."));
      }
    return {};
  }

  Status checkCycles() const {
    std::vector<uint32_t> waitsFor(graph_.nodes.size());
    std::vector<std::vector<uint32_t>> consumers(graph_.nodes.size());
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n)
      for (const GraphSource& source : graph_.nodes[n].inputs)
        if (source.kind == GraphSource::Kind::Node) {
          ++waitsFor[n];
          consumers[source.index].push_back(n);
        }
    std::deque<uint32_t> ready;
    for (uint32_t n = 0; n < waitsFor.size(); ++n)
      if (waitsFor[n] == 0) ready.push_back(n);
    size_t done = 0;
    for (; !ready.empty(); ++done) {
      for (const uint32_t next : consumers[ready.front()])
        if (--waitsFor[next] == 0) ready.push_back(next);
      ready.pop_front();
    }
    if (done == waitsFor.size()) return {};
    // Upstream from a node that waits, only among nodes that wait: the first to be met again lies on a cycle.
    auto at =
        static_cast<uint32_t>(std::ranges::find_if(waitsFor, [](uint32_t n) { return n != 0; }) - waitsFor.begin());
    std::vector<bool> met(waitsFor.size());
    while (!met[at]) {
      met[at] = true;
      for (const GraphSource& source : graph_.nodes[at].inputs)
        if (source.kind == GraphSource::Kind::Node && waitsFor[source.index] != 0) {
          at = source.index;
          break;
        }
    }
    return invalid(
        cat(graph_.nodes[at].name, " takes what is made of its own outputs, expected a graph without cycles."));
  }

  void addSlots() {
    graph_.inputSlots.resize(graph_.inputCount);
    graph_.outputSlots.resize(graph_.outputs.size());
    for (const GraphNode& node : graph_.nodes)
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i].kind != GraphSource::Kind::GraphInput) continue;
        const Tensor& tensor = node.op->input(i);
        GraphSlot& slot = graph_.inputSlots[node.inputs[i].index];
        slot = {std::max(slot.bytes, tensor.totalBytes), std::max(slot.alignment, tensor.baseAlignment),
                tensor.ownedByDml};
      }
    for (size_t g = 0; g < graph_.outputs.size(); ++g) {
      const GraphSource& source = graph_.outputs[g];
      if (source.kind == GraphSource::Kind::None) continue;
      const GraphNode& node = graph_.nodes[source.index];
      if (node.op)
        graph_.outputSlots[g] = {node.op->output(source.output).totalBytes,
                                 node.op->output(source.output).baseAlignment};
      else
        graph_.outputSlots[g] = {alignUp(node.constant.size(), 4)};
    }
  }

  const DML_GRAPH_DESC& desc_;
  const FindGraphOperator& find_;
  Graph graph_;
  std::vector<std::vector<bool>> connected_;  // by node and output
};

}  // namespace

Result<Graph> readGraph(const DML_GRAPH_DESC& desc, const FindGraphOperator& find) { return Reader(desc, find).read(); }

}  // namespace dimple
