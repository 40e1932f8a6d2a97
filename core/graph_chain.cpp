#include "core/graph_chain.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/graph_cost.h"
#include "core/graph_fuse.h"
#include "core/plan_builder.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// Groups that are looked at before one more cycle is taken for possible.
constexpr size_t kMostVisited = 1000;

// Whether no two elements share a place, for all that strides alone tell.
bool hasOwnPlaces(const Tensor& tensor) {
  std::vector<std::pair<uint64_t, uint64_t>> dimensions;  // stride, size
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (tensor.sizes[d] > 1) dimensions.emplace_back(tensor.strides[d], tensor.sizes[d]);
  std::ranges::sort(dimensions);
  uint64_t span = 0;  // from the first to the last element of the dimensions so far
  for (const auto& [stride, size] : dimensions) {
    if (stride <= span) return false;
    span += stride * (size - 1);
  }
  return true;
}

bool isUniform(const Tensor& tensor) {
  return std::ranges::all_of(tensor.strideSpan(), [](uint32_t stride) { return stride == 0; }) || tensor.elements == 1;
}

class ChainMaker {
 public:
  ChainMaker(RewrittenGraph& rewritten, const Caps& caps, bool estimates)
      : rewritten_(rewritten), graph_(rewritten.graph), caps_(caps), estimates_(estimates) {}

  void make() {
    sortNodes();
    readNodes();
    for (const uint32_t n : order_)
      if (!nodes_[n].steps.empty()) join(n);
    if (estimates_)
      for (uint32_t g = 0; g < groups_.size(); ++g)
        if (groups_[g].size() > 1) keepFast(g);
    replaceGroups();
  }

 private:
  // What the search knows of a node.
  struct Node {
    std::vector<ElementStep> steps;  // empty: of no chain
    std::vector<Tensor> inputs;      // squeezed
    Tensor output;
    std::vector<uint32_t> consumers;
    bool isOutput = false;  // of the graph
    uint32_t position = 0;  // in an order in which every node comes after those that it takes from
    uint32_t group = kNone;
    uint32_t whole = kNone;  // the group whose parts are looked for
    double nanoseconds = 0;  // on its own
    uint32_t visit = 0;
  };
  using Group = std::vector<uint32_t>;  // nodes by position

  // A group as a chain.
  struct Candidate {
    Chain chain;
    std::vector<GraphSource> sources;
    std::vector<Tensor> inputs, outputs;
    std::vector<std::string> inputNames, outputNames;
    std::vector<uint32_t> made;  // by output: the node that makes it
  };

  void sortNodes() {
    nodes_.resize(graph_.nodes.size());
    std::vector<size_t> waitsFor(nodes_.size());
    for (uint32_t n = 0; n < nodes_.size(); ++n)
      for (const GraphSource& source : graph_.nodes[n].inputs)
        if (source.kind == GraphSource::Kind::Node) {
          nodes_[source.index].consumers.push_back(n);
          ++waitsFor[n];
        }
    for (const GraphSource& source : graph_.outputs)
      if (source.kind == GraphSource::Kind::Node) nodes_[source.index].isOutput = true;
    for (uint32_t n = 0; n < nodes_.size(); ++n)
      if (waitsFor[n] == 0) order_.push_back(n);
    for (size_t at = 0; at < order_.size(); ++at) {
      nodes_[order_[at]].position = static_cast<uint32_t>(at);
      for (const uint32_t consumer : nodes_[order_[at]].consumers)
        if (--waitsFor[consumer] == 0) order_.push_back(consumer);
    }
  }

  void readNodes() {
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      const OpView* op = graph_.nodes[n].op;
      Node& node = nodes_[n];
      groups_.push_back({n});
      node.group = n;
      if (!op || graph_.nodes[n].once) continue;
      node.steps = elementSteps(*op);
      if (node.steps.empty()) continue;
      node.output = squeezed(op->output(), op->output().sizeSpan());
      for (const Tensor& input : op->inputs())
        node.inputs.push_back(input.present() ? squeezed(input, op->output().sizeSpan()) : Tensor());
      if (!hasOwnPlaces(node.output) || rearranges(*op, node) || !estimate(n)) node.steps.clear();
    }
  }

  // How long a node takes on its own. False if a chain cannot take less.
  bool estimate(uint32_t n) {
    if (!estimates_) return true;
    Node& node = nodes_[n];
    const auto plan = planOperator(*graph_.nodes[n].op, caps_);
    // What reads across rows takes that long, whatever else is done.
    if (!plan || readsAcross(node.inputs, node.output)) return false;
    uint64_t bytes = node.output.totalBytes;
    const auto& sources = graph_.nodes[n].inputs;
    for (size_t i = 0; i < sources.size(); ++i)
      if (std::find(sources.begin(), sources.begin() + static_cast<ptrdiff_t>(i), sources[i]) ==
          sources.begin() + static_cast<ptrdiff_t>(i))
        bytes += node.inputs[i].totalBytes;
    node.nanoseconds = nodeNanoseconds(*plan, bytes);
    return true;
  }

  // Copies to another layout have kernels of their own.
  static bool rearranges(const OpView& op, const Node& node) {
    return op.inputs().size() == 1 && op.input(0).type == op.output().type &&
           !sameLayout(node.inputs[0], node.output) &&
           (op.schema().type == DML_OPERATOR_ELEMENT_WISE_IDENTITY || op.schema().type == DML_OPERATOR_CAST);
  }

  // ---- groups ----

  // Takes in the groups of nodes from which a node takes its inputs: all of them, or those that fit, largest first.
  void join(uint32_t n) {
    std::vector<uint32_t> before;
    for (const GraphSource& source : graph_.nodes[n].inputs) {
      if (source.kind != GraphSource::Kind::Node || nodes_[source.index].steps.empty() ||
          nodes_[source.index].whole != nodes_[n].whole)
        continue;
      const uint32_t group = nodes_[source.index].group;
      if (std::ranges::find(before, group) == before.end()) before.push_back(group);
    }
    if (before.empty() || merge(n, before)) return;
    std::ranges::stable_sort(before, std::ranges::greater(), [&](uint32_t g) { return groups_[g].size(); });
    for (const uint32_t group : before) merge(n, {group});
  }

  bool merge(uint32_t n, const std::vector<uint32_t>& others) {
    Group merged = groups_[nodes_[n].group];
    for (const uint32_t other : others) merged.insert(merged.end(), groups_[other].begin(), groups_[other].end());
    std::ranges::sort(merged, {}, [&](uint32_t node) { return nodes_[node].position; });
    if (!fitsTogether(merged) || !candidate(merged) || closesCycle(merged)) return false;
    const uint32_t into = nodes_[n].group;
    if (nodes_[n].whole != kNone) {
      double apart = nanosecondsOf(groups_[into]);
      for (const uint32_t other : others) apart += nanosecondsOf(groups_[other]);
      if (nanosecondsOf(merged) > apart) return false;
    }
    for (const uint32_t other : others) groups_[other].clear();
    setGroup(into, std::move(merged));
    return true;
  }

  void setGroup(uint32_t g, Group group) {
    for (const uint32_t n : group) nodes_[n].group = g;
    groups_[g] = std::move(group);
  }

  // Of a group, leaves what gains: all of it, or parts.
  void keepFast(uint32_t g) {
    const Group whole = std::move(groups_[g]);
    for (const uint32_t n : whole) {
      nodes_[n].whole = g;
      setGroup(n, {n});
    }
    for (const uint32_t n : whole) join(n);
    const double apart = nanosecondsApart(whole);
    double inParts = apart;
    for (const uint32_t n : whole) {
      const Group part = groups_[n];
      if (part.size() < 2) continue;
      const double partTogether = nanosecondsOf(part);
      if (partTogether * kLeastGain > nanosecondsApart(part))
        for (const uint32_t member : part) setGroup(member, {member});
      else
        inParts += partTogether - nanosecondsApart(part);
    }
    const double together = nanosecondsOf(whole);
    if (together * kLeastGain > apart || together > inParts * kLeastGain) return;
    for (const uint32_t n : whole) groups_[n].clear();
    setGroup(g, whole);
  }

  double nanosecondsApart(const Group& group) const {
    double sum = 0;
    for (const uint32_t n : group) sum += nodes_[n].nanoseconds;
    return sum;
  }

  // Of a group that executes at once.
  double nanosecondsOf(const Group& group) const {
    if (group.size() < 2) return nanosecondsApart(group);
    Candidate made = *candidate(group);
    const OpView view = chainView(made.chain, std::move(made.inputs), std::move(made.inputNames),
                                  std::move(made.outputs), std::move(made.outputNames));
    const auto plan = planOperator(view, caps_);
    return plan ? chainNanoseconds(*plan, view) : std::numeric_limits<double>::infinity();
  }

  // Whether all nodes go through the same elements, and take from each other what was made as it was made.
  bool fitsTogether(const Group& group) const {
    const auto isMember = [&](uint32_t n) { return std::ranges::find(group, n) != group.end(); };
    for (const uint32_t n : group) {
      const Node& node = nodes_[n];
      if (!sameSizes(node.output, nodes_[group.front()].output)) return false;
      const auto& sources = graph_.nodes[n].inputs;
      for (size_t i = 0; i < sources.size(); ++i)
        if (sources[i].kind == GraphSource::Kind::Node && isMember(sources[i].index) &&
            !sameLayout(nodes_[sources[i].index].output, node.inputs[i]))
          return false;
    }
    return true;
  }

  // Whether something outside takes from a group what the group needs. Groups are what executes at once.
  bool closesCycle(const Group& group) {
    ++visit_;
    const uint32_t first = nodes_[group.front()].position;
    for (const uint32_t n : group) nodes_[n].visit = visit_;
    std::vector<uint32_t> open;
    const auto addSources = [&](const Group& of) {
      for (const uint32_t n : of)
        for (const GraphSource& source : graph_.nodes[n].inputs)
          if (source.kind == GraphSource::Kind::Node) open.push_back(source.index);
    };
    addSources(group);
    // Sources that are members themselves are none of these.
    std::erase_if(open, [&](uint32_t n) { return nodes_[n].visit == visit_; });
    size_t visited = 0;
    while (!open.empty()) {
      const uint32_t n = open.back();
      open.pop_back();
      if (std::ranges::find(group, n) != group.end()) return true;
      if (nodes_[n].visit == visit_) continue;
      const Group& at = groups_[nodes_[n].group];
      for (const uint32_t member : at) nodes_[member].visit = visit_;
      // What ends before the group begins takes nothing of it.
      if (nodes_[at.back()].position < first) continue;
      if (++visited > kMostVisited) return true;
      addSources(at);
    }
    return false;
  }

  // ---- chains ----

  bool isStored(uint32_t n, const Group& group) const {
    const Node& node = nodes_[n];
    return node.isOutput || std::ranges::any_of(node.consumers, [&](uint32_t consumer) {
             return std::ranges::find(group, consumer) == group.end();
           });
  }

  // Members in an order in which results are taken soon: what is nested deepest comes first.
  Group evaluationOrder(const Group& group) const {
    std::vector<uint32_t> depth(group.size());
    const auto indexOf = [&](uint32_t n) { return static_cast<size_t>(std::ranges::find(group, n) - group.begin()); };
    const auto members = [&](uint32_t n) {
      Group found;
      for (const GraphSource& source : graph_.nodes[n].inputs)
        if (source.kind == GraphSource::Kind::Node && indexOf(source.index) < group.size())
          found.push_back(source.index);
      return found;
    };
    for (size_t i = 0; i < group.size(); ++i)
      for (const uint32_t source : members(group[i])) depth[i] = std::max(depth[i], depth[indexOf(source)] + 1);
    std::vector<bool> placed(group.size());
    Group order;
    const auto place = [&](const auto& self, uint32_t n) -> void {
      if (placed[indexOf(n)]) return;
      placed[indexOf(n)] = true;
      Group sources = members(n);
      std::ranges::stable_sort(sources, std::ranges::greater(), [&](uint32_t s) { return depth[indexOf(s)]; });
      for (const uint32_t source : sources) self(self, source);
      order.push_back(n);
    };
    for (const uint32_t n : group)
      if (isStored(n, group)) place(place, n);
    return order;
  }

  // A constant of one element.
  std::optional<uint32_t> numberOf(const GraphSource& source, const Tensor& tensor) const {
    if (source.kind != GraphSource::Kind::Node || graph_.nodes[source.index].op || !isUniform(tensor)) return {};
    return chainNumber(tensor.type, graph_.nodes[source.index].constant.data());
  }

  // The group as a chain. No value if the kernel cannot hold it.
  std::optional<Candidate> candidate(const Group& group) const {
    Candidate made;
    std::vector<ChainOperator> operators;
    const Group order = evaluationOrder(group);
    for (const uint32_t n : order) {
      const GraphNode& from = graph_.nodes[n];
      ChainOperator op{nodes_[n].steps, {}, {}};
      for (size_t i = 0; i < from.inputs.size(); ++i) op.inputs.push_back(valueOf(n, i, order, made));
      if (isStored(n, group)) {
        op.output = static_cast<uint32_t>(made.outputs.size());
        made.outputs.push_back(nodes_[n].output);
        made.outputNames.push_back(cat(from.op->outputName(0), " of ", from.name));
        made.made.push_back(n);
      }
      operators.push_back(std::move(op));
    }
    if (made.inputs.size() > kMostChainInputs || made.outputs.size() > kMostChainOutputs) return {};
    auto chain = makeChain(operators);
    if (!chain) return {};
    made.chain = std::move(*chain);
    return made;
  }

  ChainValue valueOf(uint32_t n, size_t input, const Group& order, Candidate& made) const {
    const GraphNode& node = graph_.nodes[n];
    const GraphSource& source = node.inputs[input];
    const Tensor& tensor = nodes_[n].inputs[input];
    if (source.kind == GraphSource::Kind::None) return {ChainValue::Kind::Number, 0};
    if (const auto number = numberOf(source, tensor)) return {ChainValue::Kind::Number, *number};
    if (source.kind == GraphSource::Kind::Node)
      if (const auto member = std::ranges::find(order, source.index); member != order.end())
        return {ChainValue::Kind::Operator, static_cast<uint32_t>(member - order.begin())};
    for (uint32_t i = 0; i < made.sources.size(); ++i)
      if (made.sources[i] == source && sameLayout(made.inputs[i], tensor)) return {ChainValue::Kind::Input, i};
    made.sources.push_back(source);
    made.inputs.push_back(tensor);
    made.inputNames.push_back(cat(node.op->inputName(input), " of ", node.name));
    return {ChainValue::Kind::Input, static_cast<uint32_t>(made.sources.size() - 1)};
  }

  void replaceGroups() {
    std::vector<GraphSource> moved(nodes_.size());  // by node: where its first output comes from
    std::vector<GraphNode> remaining;
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      const Group& group = groups_[nodes_[n].group];
      const auto place = static_cast<uint32_t>(remaining.size());
      if (group.size() == 1) {
        moved[n] = {GraphSource::Kind::Node, place, 0};
        remaining.push_back(std::move(graph_.nodes[n]));
      } else if (group.back() == n) {
        Candidate made = *candidate(group);
        for (uint32_t o = 0; o < made.made.size(); ++o) moved[made.made[o]] = {GraphSource::Kind::Node, place, o};
        remaining.push_back(nodeOf(group, std::move(made)));
      }
    }
    const auto move = [&](GraphSource& source) {
      if (source.kind != GraphSource::Kind::Node) return;
      const GraphSource& to = moved[source.index];
      source = {to.kind, to.index, source.output + to.output};
    };
    for (GraphNode& node : remaining)
      for (GraphSource& source : node.inputs) move(source);
    for (GraphSource& source : graph_.outputs) move(source);
    graph_.nodes = std::move(remaining);
    dropConstants();
  }

  GraphNode nodeOf(const Group& group, Candidate made) {
    GraphNode node;
    for (const uint32_t n : group) {
      node.name += cat(node.name.empty() ? "" : " with ", graph_.nodes[n].name);
      node.label += cat(node.label.empty() ? "" : " with ", graph_.nodes[n].label);
    }
    const Chain& chain = rewritten_.chains.emplace_back(std::move(made.chain));
    node.op = &rewritten_.views.emplace_back(chainView(chain, std::move(made.inputs), std::move(made.inputNames),
                                                       std::move(made.outputs), std::move(made.outputNames)));
    node.inputs = std::move(made.sources);
    return node;
  }

  // Takes out constants that became numbers.
  void dropConstants() {
    std::vector<bool> used(graph_.nodes.size());
    const auto use = [&](const GraphSource& source) {
      if (source.kind == GraphSource::Kind::Node) used[source.index] = true;
    };
    for (const GraphNode& node : graph_.nodes) std::ranges::for_each(node.inputs, use);
    std::ranges::for_each(graph_.outputs, use);
    std::vector<uint32_t> places;
    std::vector<GraphNode> remaining;
    for (size_t n = 0; n < used.size(); ++n) {
      places.push_back(static_cast<uint32_t>(remaining.size()));
      if (graph_.nodes[n].op || used[n]) remaining.push_back(std::move(graph_.nodes[n]));
    }
    const auto move = [&](GraphSource& source) {
      if (source.kind == GraphSource::Kind::Node) source.index = places[source.index];
    };
    for (GraphNode& node : remaining) std::ranges::for_each(node.inputs, move);
    std::ranges::for_each(graph_.outputs, move);
    graph_.nodes = std::move(remaining);
  }

  RewrittenGraph& rewritten_;
  Graph& graph_;
  const Caps& caps_;
  const bool estimates_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> order_;
  std::vector<Group> groups_;
  uint32_t visit_ = 0;
};

}  // namespace

void fuseChains(RewrittenGraph& rewritten, const Caps& caps, bool estimates) {
  // A processor executes every branch of the kernel for all invocations of a vector: with functions in them, chains
  // take up to 40 times what their nodes take.
  if (estimates && caps.isProcessor) return;
  ChainMaker(rewritten, caps, estimates).make();
}

}  // namespace dimple
