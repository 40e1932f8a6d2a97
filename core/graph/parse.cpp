#include "core/graph/parse.h"

#include <algorithm>

#include "core/checked.h"
#include "core/text.h"

namespace dimple {
namespace {

// Inputs or outputs of a graph. DirectML has no such limit, but a larger number is an error that would take long to
// find.
constexpr UINT kMaxTensors = 1u << 16;

// "InputEdges[3]", "InputEdges[3] (\"weights\")". Made only where a message needs it.
struct EdgeName {
  const char* field;
  size_t index;
  const char* name;

  std::string text() const {
    return cat(field, "[", index, "]", name && *name ? cat(" (\"", name, "\")") : std::string());
  }
};

class Parser {
 public:
  Parser(const DML_GRAPH_DESC& desc, const FindOperation& find)
      : desc_(desc), find_(find), graph_(desc.InputCount, desc.OutputCount) {}

  static Status checkArrays(const DML_GRAPH_DESC& desc) {
    if (desc.NodeCount == 0) return invalid("NodeCount has value (0), expected at least 1.");
    for (const auto& [field, count] : {std::pair("InputCount", desc.InputCount), {"OutputCount", desc.OutputCount}})
      if (count > kMaxTensors)
        return invalid(cat(field, " has value (", count, "), expected at most ", kMaxTensors, "."));
    const auto check = [](const char* field, UINT count, const void* array) -> Status {
      if (count != 0 && !array) return invalid(cat(field, " is null, expected ", count, " elements."));
      return {};
    };
    TRY(check("Nodes", desc.NodeCount, desc.Nodes));
    TRY(check("InputEdges", desc.InputEdgeCount, desc.InputEdges));
    TRY(check("OutputEdges", desc.OutputEdgeCount, desc.OutputEdges));
    return check("IntermediateEdges", desc.IntermediateEdgeCount, desc.IntermediateEdges);
  }

  Result<Graph> parse() {
    for (UINT i = 0; i < desc_.NodeCount; ++i) TRY(parseNode(i));
    for (UINT i = 0; i < desc_.InputEdgeCount; ++i) TRY(parseInputEdge(i));
    for (UINT i = 0; i < desc_.IntermediateEdgeCount; ++i) TRY(parseIntermediateEdge(i));
    for (UINT i = 0; i < desc_.OutputEdgeCount; ++i) TRY(parseOutputEdge(i));
    TRY(checkNodes());
    TRY(checkOwned());
    TRY(checkCycles());
    addSlots();
    return std::move(graph_);
  }

 private:
  Status parseNode(UINT index) {
    const DML_GRAPH_NODE_DESC& node = desc_.Nodes[index];
    const std::string where = cat("Nodes[", index, "]");
    if (node.Type != DML_GRAPH_NODE_TYPE_OPERATOR && node.Type != DML_GRAPH_NODE_TYPE_CONSTANT)
      return invalid(cat(where, " has Type (", static_cast<uint32_t>(node.Type),
                         "), expected DML_GRAPH_NODE_TYPE_OPERATOR (1) or DML_GRAPH_NODE_TYPE_CONSTANT (2)."));
    if (!node.Desc) return invalid(cat(where, " has a null Desc."));
    const auto add = [&](const char* given, std::string_view kind, std::shared_ptr<const Operation> op) -> Node& {
      const std::string_view text = given ? given : "";
      return graph_.add(cat(where, " (", text, text.empty() ? "" : ", ", kind, ")"),
                        text.empty() ? std::string(kind) : cat(text, " (", kind, ")"), std::move(op));
    };
    if (node.Type == DML_GRAPH_NODE_TYPE_CONSTANT) {
      const auto& constant = *static_cast<const DML_CONSTANT_DATA_GRAPH_NODE_DESC*>(node.Desc);
      nodes_.push_back(&add(constant.Name, "constant", nullptr));
      Node& added = *nodes_.back();
      if (!constant.Data) return invalid(cat(added.name, " has a null Data, expected ", constant.DataSize, " bytes."));
      if (constant.DataSize == 0) return invalid(cat(added.name, " has DataSize (0), expected at least 1."));
      added.constant = {static_cast<const std::byte*>(constant.Data), constant.DataSize};
    } else {
      const auto& op = *static_cast<const DML_OPERATOR_GRAPH_NODE_DESC*>(node.Desc);
      auto found = find_(index, op.Operator);
      if (!found) return Error{found.error().code, cat(where, ": ", found.error().text)};
      const std::string_view kind = (*found)->schema().name;
      nodes_.push_back(&add(op.Name, kind, std::move(*found)));
    }
    connected_.push_back(false);
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

  static Status checkIndex(const EdgeName& where, const char* field, UINT value, size_t count, std::string_view what,
                           std::string_view of = {}) {
    if (value < count) return {};
    return invalid(cat(where.text(), " has ", field, " (", value, "), expected less than ", count, ", the number of ",
                       what, of, "."));
  }

  // Connects a value to an input of a node, whose tensor must exist.
  Status connect(const EdgeName& where, Value& value, UINT node, UINT input) {
    TRY(checkIndex(where, "ToNodeIndex", node, nodes_.size(), "nodes"));
    Node& to = *nodes_[node];
    TRY(checkIndex(where, "ToNodeInputIndex", input, to.inputs().size(), "inputs of ", to.name));
    if (!to.op->input(input).present())
      return invalid(cat(where.text(), " leads to ", to.op->inputName(input), " of ", to.name,
                         ", expected an input that the operator was created with."));
    if (to.inputs()[input].value)
      return invalid(cat(where.text(), " leads to ", to.op->inputName(input), " of ", to.name,
                         ", expected an input without another edge."));
    graph_.connect(to, input, {&value});
    return {};
  }

  // Checks an output of a node, and marks the node as connected.
  Status checkFrom(const EdgeName& where, UINT node, UINT output) {
    TRY(checkIndex(where, "FromNodeIndex", node, nodes_.size(), "nodes"));
    const Node& from = *nodes_[node];
    TRY(checkIndex(where, "FromNodeOutputIndex", output, from.outputs().size(), "outputs of ", from.name));
    if (from.op && !from.op->output(output).present())
      return invalid(cat(where.text(), " comes from ", from.op->outputName(output), " of ", from.name,
                         ", expected an output that the operator was created with."));
    connected_[node] = true;
    return {};
  }

  Status parseInputEdge(UINT index) {
    auto found = edge<DML_INPUT_GRAPH_EDGE_DESC>("InputEdges", desc_.InputEdges, index, DML_GRAPH_EDGE_TYPE_INPUT);
    if (!found) return found.error();
    const auto& given = **found;
    const EdgeName where{"InputEdges", index, given.Name};
    TRY(checkIndex(where, "GraphInputIndex", given.GraphInputIndex, desc_.InputCount, "graph inputs"));
    return connect(where, graph_.inputs()[given.GraphInputIndex], given.ToNodeIndex, given.ToNodeInputIndex);
  }

  Status parseIntermediateEdge(UINT index) {
    auto found = edge<DML_INTERMEDIATE_GRAPH_EDGE_DESC>("IntermediateEdges", desc_.IntermediateEdges, index,
                                                        DML_GRAPH_EDGE_TYPE_INTERMEDIATE);
    if (!found) return found.error();
    const auto& given = **found;
    const EdgeName where{"IntermediateEdges", index, given.Name};
    TRY(checkFrom(where, given.FromNodeIndex, given.FromNodeOutputIndex));
    Node& from = *nodes_[given.FromNodeIndex];
    TRY(connect(where, from.outputs()[given.FromNodeOutputIndex], given.ToNodeIndex, given.ToNodeInputIndex));
    const Node& to = *nodes_[given.ToNodeIndex];
    const Tensor& tensor = to.op->input(given.ToNodeInputIndex);
    const auto inputName = [&] { return to.op->inputName(given.ToNodeInputIndex); };
    if (tensor.ownedByDml)
      return invalid(cat(where.text(), " leads to ", inputName(), " of ", to.name,
                         ", which has Flags (OWNED_BY_DML), expected an edge from a graph input."));
    if (!from.op) {
      if (const uint64_t bytes = from.constant.size(); alignUp(bytes, 4) < tensor.spannedBytes())
        return invalid(cat(where.text(), ": ", from.name, " has DataSize (", bytes, "), expected at least ",
                           tensor.spannedBytes(), ", what ", inputName(), " of ", to.name, " spans."));
      return {};
    }
    if (const uint64_t bytes = from.op->output(given.FromNodeOutputIndex).totalBytes; bytes != tensor.totalBytes)
      return invalid(cat(where.text(), ": ", from.op->outputName(given.FromNodeOutputIndex), " of ", from.name,
                         " has TotalTensorSizeInBytes (", bytes, "), expected that of ", inputName(), " of ", to.name,
                         " (", tensor.totalBytes, ")."));
    return {};
  }

  Status parseOutputEdge(UINT index) {
    auto found = edge<DML_OUTPUT_GRAPH_EDGE_DESC>("OutputEdges", desc_.OutputEdges, index, DML_GRAPH_EDGE_TYPE_OUTPUT);
    if (!found) return found.error();
    const auto& given = **found;
    const EdgeName where{"OutputEdges", index, given.Name};
    TRY(checkFrom(where, given.FromNodeIndex, given.FromNodeOutputIndex));
    TRY(checkIndex(where, "GraphOutputIndex", given.GraphOutputIndex, desc_.OutputCount, "graph outputs"));
    graph_.setOutput(given.GraphOutputIndex, &nodes_[given.FromNodeIndex]->outputs()[given.FromNodeOutputIndex]);
    return {};
  }

  Status checkNodes() const {
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = *nodes_[n];
      for (size_t i = 0; i < node.inputs().size(); ++i)
        if (node.op->input(i).present() && !node.inputs()[i].value)
          return invalid(cat(node.op->inputName(i), " of ", node.name, " has no edge, expected one."));
      if (!connected_[n]) return invalid(cat(node.name, " has no edge from its outputs, expected at least one."));
    }
    return {};
  }

  // Calls `visit` for each input of a node that takes an input of the graph.
  template <class Visit>
  Status eachInput(const Visit& visit) {
    for (Node* node : nodes_)
      for (size_t i = 0; i < node->inputs().size(); ++i)
        if (const Place& from = node->inputs()[i]; from.value && !from.producer())
          TRY(visit(*node, i, from.value->index));
    return {};
  }

  // Inputs that share a graph input are all owned by DML, or none is.
  Status checkOwned() {
    struct First {
      const Node* node = nullptr;
      size_t input = 0;
    };
    std::vector<First> firsts(graph_.inputs().size());
    return eachInput([&](const Node& node, size_t input, uint32_t index) -> Status {
      First& first = firsts[index];
      if (!first.node) first = {&node, input};
      if (first.node->op->input(first.input).ownedByDml == node.op->input(input).ownedByDml) return {};
      return invalid(cat("Graph input ", index, " leads to ", first.node->op->inputName(first.input), " of ",
                         first.node->name, " and ", node.op->inputName(input), " of ", node.name,
                         ", expected OWNED_BY_DML in the Flags of both or of neither."));
    });
  }

  Status checkCycles() {
    std::vector<bool> waits(nodes_.size(), true);
    const auto order = graph_.order();
    if (order.size() == nodes_.size()) return {};
    for (const Node* node : order) waits[node->index] = false;
    // Upstream from a node that waits, only among nodes that wait: the first to be met again lies on a cycle.
    const Node* at = *std::ranges::find_if(nodes_, [&](const Node* node) { return waits[node->index]; });
    std::vector<bool> met(nodes_.size());
    while (!met[at->index]) {
      met[at->index] = true;
      for (const Place& from : at->inputs())
        if (const Node* producer = from.producer(); producer && waits[producer->index]) {
          at = producer;
          break;
        }
    }
    return invalid(cat(at->name, " depends on its own outputs, expected a graph without cycles."));
  }

  void addSlots() {
    (void)eachInput([&](const Node& node, size_t input, uint32_t index) -> Status {
      const Tensor& tensor = node.op->input(input);
      GraphSlot& slot = graph_.inputSlots[index];
      slot = {std::max(slot.bytes, tensor.totalBytes), std::max(slot.alignment, tensor.baseAlignment),
              tensor.ownedByDml};
      return {};
    });
    for (size_t g = 0; g < graph_.outputs().size(); ++g) {
      const Value* value = graph_.outputs()[g];
      if (!value) continue;
      const Node& node = *value->producer;
      if (node.op)
        graph_.outputSlots[g] = {node.op->output(value->index).totalBytes, node.op->output(value->index).baseAlignment};
      else
        graph_.outputSlots[g] = {alignUp(node.constant.size(), 4)};
    }
  }

  const DML_GRAPH_DESC& desc_;
  const FindOperation& find_;
  Graph graph_;
  std::vector<Node*> nodes_;     // by index of the description
  std::vector<bool> connected_;  // by node: an edge comes from one of its outputs
};

}  // namespace

Result<Graph> parseGraph(const DML_GRAPH_DESC& desc, const FindOperation& find) {
  TRY(Parser::checkArrays(desc));
  return Parser(desc, find).parse();
}

}  // namespace dimple
