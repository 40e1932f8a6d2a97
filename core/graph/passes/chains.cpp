// Element-wise nodes that hand tensors to each other execute in one pass over memory: results that no other node takes
// are not stored, nothing is computed twice, and every result is rounded to its type as it would be without the chain.
#include <algorithm>
#include <iterator>
#include <limits>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/ops/chain.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// After looking at this many groups, the search assumes that a cycle is possible.
constexpr size_t kMaxVisited = 1000;

// Whether the strides alone prove that no two elements share a place.
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

class ChainMaker {
 public:
  ChainMaker(Graph& graph, const Target& target)
      : graph_(graph), target_(target), estimates_(target.options.estimates) {}

  void make() {
    readNodes();
    for (const uint32_t n : order_)
      if (!nodes_[n].steps.empty()) join(n);
    if (estimates_)
      for (uint32_t g = 0; g < groups_.size(); ++g)
        if (groups_[g].size() > 1) keepFast(g);
    for (const Group& group : groups_)
      if (group.size() > 1) replace(group);
    removeUnreadMoves();
  }

 private:
  // What the search knows of a node.
  struct Member {
    Node* node = nullptr;
    std::vector<ElementStep> steps;  // empty: of no chain
    std::vector<Tensor> inputs;      // squeezed
    Tensor output;
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
    std::vector<Place> places;  // of the inputs
    std::vector<uint32_t> reversed;
    std::vector<Tensor> inputs, outputs;
    std::vector<std::pair<uint32_t, size_t>> readers;  // by input: the first node that reads it, and as which input
    std::vector<uint32_t> made;                        // by output: the node that makes it
  };

  // ---- nodes ----

  void readNodes() {
    const auto order = graph_.order();
    nodes_.resize(order.size());
    groups_.resize(order.size());
    for (Node* node : order) {
      Member& member = nodes_[node->index];
      member.node = node;
      member.position = static_cast<uint32_t>(order_.size());
      member.group = node->index;
      groups_[node->index] = {node->index};
      order_.push_back(node->index);
    }
    for (Member& member : nodes_) readNode(member);
  }

  void readNode(Member& member) {
    if (!member.node->op || member.node->runsAtInitialization) return;
    const Operation& op = *member.node->op;
    member.steps = elementSteps(op);
    if (member.steps.empty()) return;
    member.output = squeezed(op.output(), op.output().sizeSpan());
    for (const Tensor& input : op.inputs())
      member.inputs.push_back(input.present() ? squeezed(input, op.output().sizeSpan()) : Tensor());
    for (uint32_t i = 0; i < op.inputs().size(); ++i)
      if (placeOf(*member.node, i).second) joins_.push_back(member.node->inputs()[i].producer());
    if (!hasOwnPlaces(member.output) || rearranges(op, member) || !estimate(member)) member.steps.clear();
  }

  // Where a node reads an input. If a JOIN puts elements that a SPLIT takes apart together in the opposite order, that
  // is the input of the SPLIT, and the squeezed dimension that is walked from its end.
  static std::pair<Place, std::optional<uint32_t>> placeOf(const Node& reader, uint32_t input) {
    const Place& from = reader.inputs()[input];
    const Node* join = producerAt(reader, input, DML_OPERATOR_JOIN);
    const Node* split = join ? producerAt(*join, 0, DML_OPERATOR_SPLIT) : nullptr;
    if (!split) return {from, {}};
    const uint32_t axis = join->op->as<DML_JOIN_OPERATOR_DESC>().Axis;
    const Tensor& whole = split->op->input(0);
    const size_t parts = split->outputs().size();
    if (parts < 2 || split->op->as<DML_SPLIT_OPERATOR_DESC>().Axis != axis || join->inputs().size() != parts ||
        whole.sizes[axis] != parts || !sameLayout(whole, join->op->output()) ||
        !sameLayout(whole, reader.op->input(input)) || whole.rank != reader.op->output().rank)
      return {from, {}};
    for (uint32_t i = 0; i < parts; ++i)
      if (join->inputs()[i].value != &split->outputs()[parts - 1 - i] || join->inputs()[i].offset != 0 ||
          !sameLayout(join->op->input(i), split->op->output(parts - 1 - i)))
        return {from, {}};
    uint32_t dimension = 0;
    for (uint32_t d = 0; d < axis; ++d) dimension += reader.op->output().sizes[d] != 1;
    return {split->inputs()[0], dimension};
  }

  // How long a node takes on its own. False if a chain cannot take less.
  bool estimate(Member& member) const {
    if (!estimates_) return true;
    const Operation& op = *member.node->op;
    const auto plan = planOperator(op, target_);
    // A node that reads across rows takes that long whatever else it does.
    if (!plan || readsAcross(member.inputs, member.output)) return false;
    uint64_t bytes = member.output.totalBytes;
    const auto places = member.node->inputs();
    for (size_t i = 0; i < places.size(); ++i)
      if (std::ranges::find(places.first(i), places[i]) == places.first(i).end()) bytes += member.inputs[i].totalBytes;
    member.nanoseconds =
        target_.costs->nodeNanoseconds(*plan, bytes, op.output().elements, costlyFunctions(member.steps));
    return true;
  }

  // Copies to another layout have kernels of their own.
  static bool rearranges(const Operation& op, const Member& member) {
    return op.inputs().size() == 1 && op.input(0).type == op.output().type &&
           !sameLayout(member.inputs[0], member.output) &&
           (op.schema().type == DML_OPERATOR_ELEMENT_WISE_IDENTITY || op.schema().type == DML_OPERATOR_CAST);
  }

  // The nodes that make what a node takes.
  std::vector<uint32_t> producersOf(uint32_t n) const {
    std::vector<uint32_t> producers;
    for (const Place& from : nodes_[n].node->inputs())
      if (const Node* producer = from.producer()) producers.push_back(producer->index);
    return producers;
  }

  // ---- groups ----

  // Takes in the groups of nodes from which a node takes its inputs: all of them, or those that fit, largest first.
  void join(uint32_t n) {
    std::vector<uint32_t> before;
    for (const uint32_t producer : producersOf(n)) {
      if (nodes_[producer].steps.empty() || nodes_[producer].whole != nodes_[n].whole) continue;
      const uint32_t group = nodes_[producer].group;
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

  // Keeps the parts of a group that gain, which may be all of it.
  void keepFast(uint32_t g) {
    const double minGain = target_.costs->minGain;
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
      if (partTogether * minGain > nanosecondsApart(part))
        for (const uint32_t member : part) setGroup(member, {member});
      else
        inParts += partTogether - nanosecondsApart(part);
    }
    const double together = nanosecondsOf(whole);
    if (together * minGain > apart || together > inParts * minGain) return;
    for (const uint32_t n : whole) groups_[n].clear();
    setGroup(g, whole);
  }

  double nanosecondsApart(const Group& group) const {
    double sum = 0;
    for (const uint32_t n : group) sum += nodes_[n].nanoseconds;
    return sum;
  }

  // Returns how long a group takes that executes as one node.
  double nanosecondsOf(const Group& group) const {
    if (group.size() < 2) return nanosecondsApart(group);
    const Operation op = operationOf(*candidate(group));
    const auto plan = planOperator(op, target_);
    return plan ? target_.costs->chainNanoseconds(*plan, op, indexedAccesses(op, target_))
                : std::numeric_limits<double>::infinity();
  }

  // Whether all nodes go through the same elements, and take from each other what was made as it was made.
  bool fitsTogether(const Group& group) const {
    for (const uint32_t n : group) {
      const Member& member = nodes_[n];
      if (!sameSizes(member.output, nodes_[group.front()].output)) return false;
      const auto places = member.node->inputs();
      for (size_t i = 0; i < places.size(); ++i)
        if (const Node* producer = places[i].producer(); producer &&
                                                         std::ranges::find(group, producer->index) != group.end() &&
                                                         !sameLayout(nodes_[producer->index].output, member.inputs[i]))
          return false;
    }
    return true;
  }

  // Whether something outside takes from a group what the group needs. A group executes as one node.
  bool closesCycle(const Group& group) {
    ++visit_;
    const uint32_t first = nodes_[group.front()].position;
    for (const uint32_t n : group) nodes_[n].visit = visit_;
    std::vector<uint32_t> open;
    const auto addProducers = [&](const Group& of) {
      for (const uint32_t n : of)
        for (const uint32_t producer : producersOf(n)) open.push_back(producer);
    };
    addProducers(group);
    // Nodes that are members of the group do not count.
    std::erase_if(open, [&](uint32_t n) { return nodes_[n].visit == visit_; });
    size_t visited = 0;
    while (!open.empty()) {
      const uint32_t n = open.back();
      open.pop_back();
      if (std::ranges::find(group, n) != group.end()) return true;
      if (nodes_[n].visit == visit_) continue;
      const Group& at = groups_[nodes_[n].group];
      for (const uint32_t member : at) nodes_[member].visit = visit_;
      // A node that ends before the group begins cannot take results from the group.
      if (nodes_[at.back()].position < first) continue;
      if (++visited > kMaxVisited) return true;
      addProducers(at);
    }
    return false;
  }

  // ---- chains ----

  bool isStored(uint32_t n, const Group& group) const {
    const Value& value = nodes_[n].node->outputs()[0];
    return !value.graphOutputs.empty() || std::ranges::any_of(value.uses, [&](const Value::Use& use) {
      return std::ranges::find(group, use.node->index) == group.end();
    });
  }

  // Members in an order in which results are taken soon: the most deeply nested member comes first.
  Group evaluationOrder(const Group& group) const {
    std::vector<uint32_t> depth(group.size());
    const auto indexOf = [&](uint32_t n) { return static_cast<size_t>(std::ranges::find(group, n) - group.begin()); };
    const auto members = [&](uint32_t n) {
      Group found = producersOf(n);
      std::erase_if(found, [&](uint32_t producer) { return indexOf(producer) == group.size(); });
      return found;
    };
    for (size_t i = 0; i < group.size(); ++i)
      for (const uint32_t producer : members(group[i])) depth[i] = std::max(depth[i], depth[indexOf(producer)] + 1);
    std::vector<bool> placed(group.size());
    Group order;
    const auto place = [&](const auto& self, uint32_t n) -> void {
      if (placed[indexOf(n)]) return;
      placed[indexOf(n)] = true;
      Group producers = members(n);
      std::ranges::stable_sort(producers, std::ranges::greater(), [&](uint32_t p) { return depth[indexOf(p)]; });
      for (const uint32_t producer : producers) self(self, producer);
      order.push_back(n);
    };
    for (const uint32_t n : group)
      if (isStored(n, group)) place(place, n);
    return order;
  }

  // Returns the group as a chain, or no value if the kernel cannot hold it or nothing reads its results.
  std::optional<Candidate> candidate(const Group& group) const {
    Candidate made;
    std::vector<ChainOperator> operators;
    const Group order = evaluationOrder(group);
    for (const uint32_t n : order) {
      const Node& from = *nodes_[n].node;
      ChainOperator op{nodes_[n].steps, {}, {}};
      for (size_t i = 0; i < from.inputs().size(); ++i) op.inputs.push_back(valueOf(n, i, order, made));
      if (isStored(n, group)) {
        op.output = static_cast<uint32_t>(made.outputs.size());
        made.outputs.push_back(nodes_[n].output);
        made.made.push_back(n);
      }
      operators.push_back(std::move(op));
    }
    if (made.inputs.size() > kMaxChainInputs || made.outputs.empty() || made.outputs.size() > kMaxChainOutputs)
      return {};
    auto chain = makeChain(operators);
    if (!chain || !hasModule(*chain, target_)) return {};
    made.chain = std::move(*chain);
    std::ranges::copy(made.reversed, made.chain.reversed.begin());
    return made;
  }

  ChainValue valueOf(uint32_t n, size_t input, const Group& order, Candidate& made) const {
    const auto [from, axis] = placeOf(*nodes_[n].node, static_cast<uint32_t>(input));
    const Tensor& tensor = nodes_[n].inputs[input];
    const uint32_t reversed = axis ? 1u << *axis : 0;
    if (!from.value) return {ChainValue::Kind::Number, 0};
    if (const auto number = numberOf(from, tensor)) return {ChainValue::Kind::Number, *number};
    if (const Node* producer = axis ? nullptr : from.producer())
      if (const auto member = std::ranges::find(order, producer->index); member != order.end())
        return {ChainValue::Kind::Operator, static_cast<uint32_t>(member - order.begin())};
    for (uint32_t i = 0; i < made.places.size(); ++i)
      if (made.places[i] == from && made.reversed[i] == reversed && sameLayout(made.inputs[i], tensor))
        return {ChainValue::Kind::Input, i};
    made.places.push_back(from);
    made.reversed.push_back(reversed);
    made.inputs.push_back(tensor);
    made.readers.emplace_back(n, input);
    return {ChainValue::Kind::Input, static_cast<uint32_t>(made.places.size() - 1)};
  }

  Operation operationOf(Candidate made) const {
    TensorNames names;
    for (const auto& [n, input] : made.readers)
      names.inputs.push_back(cat(nodes_[n].node->op->inputName(input), " of ", nodes_[n].node->name));
    for (const uint32_t n : made.made)
      names.outputs.push_back(cat(nodes_[n].node->op->outputName(0), " of ", nodes_[n].node->name));
    return chainOperation(std::move(made.chain), std::move(made.inputs), std::move(made.outputs), std::move(names));
  }

  // Puts a chain where the last of its nodes is.
  void replace(const Group& group) {
    Candidate made = *candidate(group);
    const std::vector<uint32_t> makers = made.made;
    const std::vector<Place> places = std::move(made.places);
    std::string name, label;
    for (const uint32_t n : group) {
      name += cat(name.empty() ? "" : " with ", nodes_[n].node->name);
      label += cat(label.empty() ? "" : " with ", nodes_[n].node->label);
    }
    Node& chain =
        graph_.add(std::move(name), std::move(label), std::make_shared<const Operation>(operationOf(std::move(made))),
                   nodes_[group.back()].node);
    chain.index = kNone;  // a member of no other group
    for (uint32_t i = 0; i < places.size(); ++i) graph_.connect(chain, i, places[i]);
    for (uint32_t o = 0; o < makers.size(); ++o)
      graph_.replaceAllUses(nodes_[makers[o]].node->outputs()[0], chain.outputs()[o]);
    // Readers come before what they read.
    for (size_t i = group.size(); i-- > 0;) graph_.erase(*nodes_[group[i]].node);
  }

  // Of the JOINs that chains read through, and their SPLITs.
  void removeUnreadMoves() {
    std::ranges::sort(joins_);
    joins_.erase(std::unique(joins_.begin(), joins_.end()), joins_.end());
    for (Node* join : joins_) {
      if (isRead(*join)) continue;
      Node* split = join->inputs()[0].producer();
      graph_.erase(*join);
      if (!isRead(*split)) graph_.erase(*split);
    }
  }

  Graph& graph_;
  const Target& target_;
  const bool estimates_;
  std::vector<Member> nodes_;    // by index
  std::vector<Node*> joins_;     // that put what a SPLIT takes apart together in the opposite order
  std::vector<uint32_t> order_;  // indices
  std::vector<Group> groups_;
  uint32_t visit_ = 0;
};

}  // namespace

void passes::fuseChains(Graph& graph, const Target& target) {
  if (target.options.estimates && !target.costs->chainsGain) return;
  ChainMaker(graph, target).make();
}

}  // namespace dimple
