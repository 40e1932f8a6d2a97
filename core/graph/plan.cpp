#include "core/graph/plan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <unordered_map>

#include "core/checked.h"
#include "core/graph/schedule.h"
#include "core/graph/warm_ups.h"
#include "core/ops/copy.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "core/text.h"
#include "kernels/interfaces/constant.h"

namespace dimple {
namespace {

// Bytes of a constant that one dispatch writes: what a parameter block holds.
constexpr uint32_t kConstantPart = kParameterBlockBytes;

class Composer {
 public:
  Composer(Graph& graph, const Target& target) : graph_(graph), target_(target) {}

  Result<Plan> compose() {
    nodes_.reserve(graph_.number());
    for (Node& node : graph_.nodes()) order_.push_back(&node);
    TRY(planNodes());
    shareConstants();
    sharePreparations();
    addValues();
    TRY(keepInputs());
    plan_.initializationBytes = place(Phase::Initialization, plan_.initialization);
    plan_.temporaryBytes = place(Phase::Execution, plan_.execution);
    TRY(copyOutputs());
    plan_.parameters.resize(alignUp(plan_.parameters.size(), target_.caps.parameterAlignment / 4));
    deriveBarriers(plan_.initialization, false);
    deriveBarriers(plan_.execution, false);
    addWarmUps(plan_, numbersOnly_, target_);
    return std::move(plan_);
  }

 private:
  enum class Phase : uint8_t { Initialization, Execution };

  // A node's own plan. A node that executes once has only an execution part.
  struct NodePlan {
    Plan plan;
    uint32_t parameters = 0;  // where its block begins in the graph's
    uint64_t persistent = 0;  // where its part of the persistent resource begins
    bool prepares = false;    // its initialization is to be done, and not shared with an earlier node's
    // By input, whether dispatches of the phase need it.
    std::array<std::vector<bool>, 2> reads;
  };

  // Where a tensor that a node makes, or a constant, lies.
  struct Placed {
    BufferRange place{};     // where it begins
    uint64_t bytes = 0;      // that its place holds
    uint32_t consumers = 0;  // edges to nodes that are not yet placed, in the phase in which it is made
    bool temporary = true;   // its place is, or is to be found, in the temporary resource
    bool placed = false;
    bool shared = false;  // with more than one consumer, or an output of the graph
  };

  static Phase phaseOf(const Node& node) {
    return !node.op || node.runsAtInitialization ? Phase::Initialization : Phase::Execution;
  }
  Phase phaseOf(uint32_t n) const { return phaseOf(*order_[n]); }

  // Every input of the nodes that is connected.
  template <class Visit>
  void eachEdge(const Visit& visit) {
    for (const Node* node : order_)
      for (size_t i = 0; i < node->inputs().size(); ++i)
        if (node->inputs()[i].value) visit(*node, i, node->inputs()[i]);
  }

  bool reads(const Node& node, size_t input, Phase phase) const {
    return nodes_[node.index].reads[static_cast<size_t>(phase)][input];
  }

  // ---- the nodes' own plans ----

  Status planNodes() {
    for (const Node* at : order_) {
      const Node& node = *at;
      NodePlan& own = nodes_.emplace_back();
      if (!node.op) {
        writeConstant(node, own.plan.execution);
        continue;
      }
      auto planned = planNode(node);
      if (!planned) return Error{planned.error().code, cat(node.name, ": ", planned.error().text)};
      for (const PassedOver& kernel : planned->passedOver) plan_.passedOver.push_back(kernel);
      own.plan = std::move(*planned);
      own.parameters = keepParameters(own.plan.parameters);
      own.prepares = !own.plan.initialization.empty();
      for (size_t i = 0; i < node.inputs().size(); ++i) {
        const bool needed = isMarked(node.written, i) || readsInput(own.plan.execution, i);
        const bool once = phaseOf(node) == Phase::Initialization;
        own.reads[0].push_back(once ? needed : readsInput(own.plan.initialization, i));
        own.reads[1].push_back(!once && needed);
      }
      dropMoves(node, own.plan.execution);
    }
    return {};
  }

  // An operator owns tensors that are made once, so that it may prepare them at initialization. An operator that itself
  // executes once prepares nothing.
  Result<Plan> planNode(const Node& node) const {
    const auto owns = [&](size_t i) {
      if (node.runsAtInitialization) return false;
      const Node* producer = node.inputs()[i].producer();
      return producer ? producer->runsAtInitialization : node.op->input(i).ownedByDml;
    };
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (owns(i) == node.op->input(i).ownedByDml) continue;
      Operation op = *node.op;
      for (size_t k = 0; k < node.inputs().size(); ++k) op.setOwned(k, owns(k));
      return planUnkept(op, target_);
    }
    return planUnkept(*node.op, target_);
  }

  static bool isMarked(const std::vector<bool>& marks, size_t index) { return !marks.empty() && marks[index]; }

  static void dropMoves(const Node& node, std::vector<Dispatch>& dispatches) {
    if (node.written.empty() && node.unread.empty()) return;
    std::erase_if(dispatches, [&](const Dispatch& dispatch) {
      return std::ranges::any_of(dispatch.buffers, [&](const BufferRange& range) {
        return (range.kind == SlotKind::Input && isMarked(node.written, range.index)) ||
               (range.kind == SlotKind::Output && isMarked(node.unread, range.index));
      });
    });
  }

  // Appends a block of parameters, or finds an equal one. Returns its offset in bytes from the start of the graph's
  // parameters.
  uint32_t keepParameters(std::span<const uint32_t> words) {
    if (words.empty()) return 0;
    const std::string_view key(reinterpret_cast<const char*>(words.data()), words.size_bytes());
    auto& all = plan_.parameters;
    const auto [found, added] = parameterBlocks_.try_emplace(std::string(key), 0);
    if (!added) return found->second;
    all.resize(alignUp(all.size(), target_.caps.parameterAlignment / 4));
    found->second = static_cast<uint32_t>(all.size() * 4);
    all.insert(all.end(), words.begin(), words.end());
    return found->second;
  }

  void writeConstant(const Node& node, std::vector<Dispatch>& dispatches) {
    for (size_t at = 0; at < node.constant.size(); at += kConstantPart) {
      const auto part = node.constant.subspan(at, std::min<size_t>(kConstantPart, node.constant.size() - at));
      std::vector<uint32_t> words(divideUp(part.size(), 4));
      std::memcpy(words.data(), part.data(), part.size());
      Dispatch write;
      write.kernel = {kernels::Constant::kFamily};
      write.groupSize = kGroupSize;
      const auto head = gridWords(write.groups, 0, 1);
      write.push.assign(head.begin(), head.end());
      write.push.push_back(static_cast<uint32_t>(words.size()));
      write.parameterOffset = keepParameters(words);
      write.buffers = {{SlotKind::Output, 0, at, words.size() * 4, true}};
      dispatches.push_back(std::move(write));
    }
  }

  // ---- what lasts ----

  BufferRange allocatePersistent(uint64_t bytes) {
    const uint64_t offset = plan_.persistentBytes;
    plan_.persistentBytes = alignUp(offset + bytes, DML_PERSISTENT_BUFFER_ALIGNMENT);
    return {SlotKind::Persistent, 0, offset, bytes, true};
  }

  // Constants that have the same bytes are stored once.
  void shareConstants() {
    std::map<std::pair<const std::byte*, size_t>, uint32_t> first;
    for (const Node* node : order_)
      same_.push_back(
          node->op ? node->index
                   : first.try_emplace({node->constant.data(), node->constant.size()}, node->index).first->second);
  }

  // Nodes that prepare the same share a part of the persistent resource.
  void sharePreparations() {
    std::vector<uint32_t> firstOutput;  // by node: the number of its first output among all
    uint32_t outputs = 0;
    for (const Node* node : order_) {
      firstOutput.push_back(outputs);
      outputs += static_cast<uint32_t>(node->outputs().size());
    }
    std::map<std::string, uint64_t> kept;
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      NodePlan& own = nodes_[n];
      if (!own.prepares) continue;
      Plan same{own.plan.initialization, {}, own.plan.parameters, 0, 0, own.plan.persistentBytes, {}};
      for (Dispatch& dispatch : same.initialization)
        for (BufferRange& range : dispatch.buffers) {
          if (range.kind != SlotKind::Input) continue;
          const Place& from = order_[n]->inputs()[range.index];
          range.offset += from.offset;
          range.index = from.value->index;
          if (const Node* producer = from.producer())
            range.index += static_cast<uint32_t>(graph_.inputs().size()) + firstOutput[same_[producer->index]];
        }
      std::string key = planText(same);
      key.append(reinterpret_cast<const char*>(own.plan.parameters.data()), own.plan.parameters.size() * 4);
      const auto [found, added] = kept.try_emplace(std::move(key), plan_.persistentBytes);
      own.persistent = found->second;
      if (added)
        allocatePersistent(own.plan.persistentBytes);
      else
        own.reads[0].assign(own.reads[0].size(), own.prepares = false);
    }
  }

  void addValues() {
    for (const Node* node : order_) {
      auto& values = values_.emplace_back(node->outputs().size());
      for (size_t o = 0; o < values.size(); ++o)
        if (!isMarked(node->unread, o))
          values[o].bytes = alignUp(node->op ? node->op->output(o).totalBytes : node->constant.size(), 4);
    }
    const auto persist = [&](Placed& value) {
      if (value.temporary) value.place = allocatePersistent(value.bytes);
      value.placed = true;
      value.temporary = false;
    };
    // The first output of the graph that a tensor goes to is its place; the others get copies.
    for (uint32_t g = 0; g < graph_.outputs().size(); ++g) {
      const Value* output = graph_.outputs()[g];
      if (!output) continue;
      Placed& value = placedOf(*output);
      value.shared = true;
      if (phaseOf(*output->producer) == Phase::Initialization) persist(value);
      if (value.placed) {
        copies_.push_back(g);
        continue;
      }
      value.temporary = false;
      value.placed = true;
      value.place = {SlotKind::Output, g, 0, value.bytes, true};
    }
    eachEdge([&](const Node& node, size_t i, const Place& from) {
      if (!from.producer()) return;
      const Phase made = phaseOf(*from.producer());
      placedOf(*from.value).consumers += reads(node, i, made);
      if (made == Phase::Initialization && reads(node, i, Phase::Execution)) persist(placedOf(*from.value));
    });
    for (auto& values : values_)
      for (Placed& value : values) value.shared |= value.consumers > 1;
  }

  Placed& placedOf(const Value& value) { return values_[same_[value.producer->index]][value.index]; }

  // Copies what execution reads of inputs owned by DML.
  Status keepInputs() {
    kept_.resize(graph_.inputs().size());
    std::vector<uint64_t> bytes(graph_.inputs().size());
    eachEdge([&](const Node& node, size_t i, const Place& from) {
      if (from.producer() || !graph_.inputSlots[from.value->index].ownedByDml) return;
      if (!reads(node, i, Phase::Execution)) return;
      uint64_t& most = bytes[from.value->index];
      most = std::max(most, from.offset + node.op->input(i).spannedBytes());
    });
    for (uint32_t g = 0; g < bytes.size(); ++g) {
      if (bytes[g] == 0) continue;
      kept_[g] = allocatePersistent(bytes[g]);
      const size_t before = plan_.initialization.size();
      TRY(addWordCopy(plan_.initialization, {SlotKind::Input, g, 0, bytes[g], false}, kept_[g], target_));
      for (size_t d = before; d < plan_.initialization.size(); ++d)
        plan_.initialization[d].label = cat("graph input ", g);
    }
    return {};
  }

  // ---- a phase ----

  // What a node does in a phase.
  std::span<Dispatch> dispatchesOf(uint32_t n, Phase phase) {
    NodePlan& own = nodes_[n];
    if (phaseOf(n) == phase) return same_[n] == n ? std::span<Dispatch>(own.plan.execution) : std::span<Dispatch>();
    return own.prepares && phase == Phase::Initialization ? own.plan.initialization : std::span<Dispatch>();
  }

  // Whether an input of a node takes a tensor that is made in the same phase.
  bool takesNow(const Node& node, size_t input, const Place& from) const {
    return from.producer() && phaseOf(*from.producer()) == phase_ && reads(node, input, phase_);
  }

  // What each node takes of time and memory in the phase.
  std::vector<NodeCost> costs() {
    std::vector<NodeCost> costs(order_.size());
    for (uint32_t n = 0; n < costs.size(); ++n) {
      NodeCost& cost = costs[n];
      const bool makes = phaseOf(n) == phase_ && same_[n] == n;
      cost.executes = makes || !dispatchesOf(n, phase_).empty();
      cost.scratchBytes = makes ? nodes_[n].plan.temporaryBytes : 0;
      for (const Dispatch& dispatch : dispatchesOf(n, phase_))
        cost.workgroups += uint64_t{dispatch.groups[0]} * dispatch.groups[1] * dispatch.groups[2];
      cost.outputBytes.reserve(values_[n].size());
      cost.inputs.reserve(order_[n]->inputs().size());
      for (const Placed& value : values_[n]) cost.outputBytes.push_back(makes && value.temporary ? value.bytes : 0);
    }
    eachEdge([&](const Node& node, size_t i, const Place& from) {
      if (takesNow(node, i, from))
        costs[node.index].inputs.push_back({same_[from.producer()->index], from.value->index});
    });
    return costs;
  }

  // Finds places for all tensors that the nodes make in the phase, and adds their dispatches. Returns the size of the
  // temporary resource in bytes.
  uint64_t place(Phase phase, std::vector<Dispatch>& dispatches) {
    phase_ = phase;
    arena_ = {};
    for (const Epoch& epoch : scheduleGraph(costs(), target_.caps.workgroups)) placeEpoch(epoch, dispatches);
    return arena_.size();
  }

  // Finds places for the tensors that the nodes of an epoch make, and adds the nodes' dispatches side by side: first
  // those that wait for no other dispatch of their node, then those that wait for these, and so on.
  void placeEpoch(const Epoch& epoch, std::vector<Dispatch>& dispatches) {
    std::vector<std::pair<uint64_t, uint64_t>> released;  // offsets and bytes
    std::vector<uint64_t> scratch;
    for (const uint32_t n : epoch) {
      scratch.push_back(0);
      if (phaseOf(n) != phase_) continue;
      if (const uint64_t bytes = nodes_[n].plan.temporaryBytes) {
        scratch.back() = arena_.take(bytes);
        released.emplace_back(scratch.back(), bytes);
      }
      for (uint32_t o = 0; o < values_[n].size(); ++o) {
        Placed& value = placeOutput(n, o);
        if (value.temporary && value.bytes != 0 && value.consumers == 0)
          released.emplace_back(value.place.offset, value.bytes);
      }
    }
    for (const uint32_t n : epoch)
      for (size_t i = 0; i < order_[n]->inputs().size(); ++i) {
        const Place& from = order_[n]->inputs()[i];
        if (!takesNow(*order_[n], i, from)) continue;
        Placed& value = placedOf(*from.value);
        if (--value.consumers == 0 && value.temporary) released.emplace_back(value.place.offset, value.bytes);
      }
    emit(epoch, scratch, dispatches);
    for (const auto& [offset, bytes] : released) arena_.give(offset, bytes);
  }

  // Where a node's output is, or is made. A tensor that several nodes make is placed with the first of them.
  Placed& placeOutput(uint32_t n, uint32_t output) {
    Placed& value = values_[n][output];
    if (value.placed || value.bytes == 0) return value;
    value.placed = true;
    const Node& node = *order_[n];
    if (!node.targets.empty() && node.targets[output].value) {
      const Place& target = node.targets[output];
      value.place = placeOutput(target.producer()->index, target.value->index).place;
      value.place.offset += target.offset;
      value.temporary = false;  // released with all of the tensor
    } else if (Placed* input = overwritable(n, output)) {
      value.place = input->place;
      value.bytes = input->bytes;
      input->temporary = false;  // what it held belongs to the output now
    } else {
      value.place = {SlotKind::Temporary, 0, arena_.take(value.bytes), value.bytes, true};
    }
    return value;
  }

  // An input whose place an output can take: the operator works in place, both have one layout, and nothing else reads
  // the input.
  Placed* overwritable(uint32_t n, size_t output) {
    const Node& node = *order_[n];
    for (size_t i = 0; node.op && node.written.empty() && i < node.inputs().size(); ++i) {
      const Place& from = node.inputs()[i];
      if (!from.producer() || from.offset != 0 || phaseOf(*from.producer()) != phase_) continue;
      if (!mayAlias(*node.op, i, output)) continue;
      Placed& value = placedOf(*from.value);
      if (value.temporary && !value.shared && value.bytes >= values_[n][output].bytes) return &value;
    }
    return nullptr;
  }

  BufferRange placeOf(uint32_t n, const BufferRange& range, uint64_t scratch) {
    BufferRange placed = range;
    const auto within = [&](const BufferRange& place) {
      placed.kind = place.kind;
      placed.index = place.index;
      placed.offset += place.offset;
    };
    switch (range.kind) {
      case SlotKind::Input: {
        const Place& from = order_[n]->inputs()[range.index];
        placed.offset += from.offset;
        if (from.producer())
          within(placedOf(*from.value).place);
        else if (phase_ == Phase::Execution && graph_.inputSlots[from.value->index].ownedByDml)
          within(kept_[from.value->index]);
        else
          placed.index = from.value->index;
        break;
      }
      case SlotKind::Output:
        within(values_[n][range.index].place);
        break;
      case SlotKind::Temporary:
        placed.offset += scratch;
        break;
      case SlotKind::Persistent:
        placed.offset += nodes_[n].persistent;
        break;
    }
    placed.rows.first += placed.offset - range.offset;
    return placed;
  }

  void emit(const Epoch& epoch, const std::vector<uint64_t>& scratch, std::vector<Dispatch>& dispatches) {
    std::vector<size_t> next(epoch.size());
    for (bool more = true; more;) {
      more = false;
      for (size_t e = 0; e < epoch.size(); ++e) {
        const uint32_t n = epoch[e];
        const auto own = dispatchesOf(n, phase_);
        const size_t first = next[e];
        for (size_t& d = next[e]; d < own.size() && (d == first || !own[d].barrierBefore); ++d) {
          Dispatch& dispatch = dispatches.emplace_back(std::move(own[d]));
          dispatch.label = order_[n]->label;
          dispatch.parameterOffset += nodes_[n].parameters;
          for (BufferRange& range : dispatch.buffers) range = placeOf(n, range, scratch[e]);
          if (phase_ == Phase::Execution && order_[n]->op && order_[n]->op->schema().numbersOnly)
            numbersOnly_.push_back(dispatches.size() - 1);
        }
        more |= next[e] < own.size();
      }
    }
  }

  // Copies tensors to those outputs of the graph that are not the tensor's own place.
  Status copyOutputs() {
    for (const uint32_t g : copies_) {
      const Value& output = *graph_.outputs()[g];
      const Placed& value = placedOf(output);
      BufferRange from = value.place;
      from.bytes = value.bytes;
      from.writes = false;
      const size_t before = plan_.execution.size();
      TRY(addWordCopy(plan_.execution, from, {SlotKind::Output, g, 0, value.bytes, true}, target_));
      for (size_t d = before; d < plan_.execution.size(); ++d) plan_.execution[d].label = output.producer->label;
    }
    return {};
  }

  Graph& graph_;
  const Target& target_;
  Plan plan_;
  std::vector<const Node*> order_;           // by index
  std::vector<NodePlan> nodes_;              // by node
  std::vector<uint32_t> same_;               // by node: the first constant of the same bytes, else itself
  std::vector<std::vector<Placed>> values_;  // by node and output
  std::vector<BufferRange> kept_;            // by input of the graph: what is kept of it
  std::vector<uint32_t> copies_;             // outputs of the graph
  std::vector<size_t> numbersOnly_;          // dispatches of the execution whose operators say so
  std::unordered_map<std::string, uint32_t> parameterBlocks_;
  Phase phase_ = Phase::Initialization;
  TemporaryArena arena_;
};

}  // namespace

Result<Plan> planGraph(Graph& graph, const Target& target) { return Composer(graph, target).compose(); }

}  // namespace dimple
