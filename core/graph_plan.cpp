#include "core/graph_plan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <unordered_map>

#include "core/checked.h"
#include "core/graph_schedule.h"
#include "core/ops/copy.h"
#include "core/plan_builder.h"
#include "core/text.h"

namespace dimple {
namespace {

// Bytes of a constant that one dispatch writes: what a parameter block holds.
constexpr uint32_t kConstantPart = kParameterBlockBytes;

class Composer {
 public:
  Composer(const Graph& graph, const Caps& caps) : graph_(graph), caps_(caps) {}

  Result<GraphPlan> compose() {
    result_.inputs = graph_.inputSlots;
    result_.outputs = graph_.outputSlots;
    if (auto error = planNodes()) return *error;
    shareConstants();
    sharePreparations();
    addValues();
    if (auto error = keepInputs()) return *error;
    plan().initializationBytes = place(Phase::Initialization, plan().initialization);
    plan().temporaryBytes = place(Phase::Execution, plan().execution);
    if (auto error = copyOutputs()) return *error;
    plan().parameters.resize(alignUp(plan().parameters.size(), caps_.parameterAlignment / 4));
    deriveBarriers(plan().initialization, false);
    deriveBarriers(plan().execution, false);
    return std::move(result_);
  }

 private:
  enum class Phase : uint8_t { Initialization, Execution };

  // A node's own plan. What executes once has execution only.
  struct NodePlan {
    Plan plan;
    uint32_t parameters = 0;  // where its block begins in the graph's
    uint64_t persistent = 0;  // where its part of the persistent resource begins
    bool prepares = false;    // its initialization is to be done, and not shared with an earlier node's
    // By input, whether dispatches of the phase need it.
    std::array<std::vector<bool>, 2> reads;
  };

  // A tensor that a node makes, or a constant.
  struct Value {
    BufferRange place{};     // where it begins
    uint64_t bytes = 0;      // that its place holds
    uint32_t consumers = 0;  // edges to nodes that are not yet placed, in the phase in which it is made
    bool temporary = true;   // its place is, or is to be found, in the temporary resource
    bool placed = false;
    bool shared = false;  // with more than one consumer, or an output of the graph
  };

  Plan& plan() { return result_.plan; }

  Phase phaseOf(uint32_t n) const {
    return !graph_.nodes[n].op || graph_.nodes[n].once ? Phase::Initialization : Phase::Execution;
  }

  // Every input of the nodes that is connected.
  template <class Visit>
  void eachEdge(const Visit& visit) {
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n)
      for (size_t i = 0; i < graph_.nodes[n].inputs.size(); ++i)
        if (graph_.nodes[n].inputs[i].kind != GraphSource::Kind::None) visit(n, i, graph_.nodes[n].inputs[i]);
  }

  bool reads(uint32_t n, size_t input, Phase phase) const { return nodes_[n].reads[static_cast<size_t>(phase)][input]; }

  // ---- the nodes' own plans ----

  Status planNodes() {
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      const GraphNode& node = graph_.nodes[n];
      NodePlan& own = nodes_.emplace_back();
      if (!node.op) {
        writeConstant(node, own.plan.execution);
        continue;
      }
      auto planned = planNode(n);
      if (!planned) return Error{planned.error().code, cat(node.name, ": ", planned.error().text)};
      for (const PassedOver& kernel : planned->passedOver) plan().passedOver.push_back(kernel);
      own.plan = std::move(*planned);
      own.parameters = keepParameters(own.plan.parameters);
      own.prepares = !own.plan.initialization.empty();
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const bool needed = isMarked(node.written, i) || readsInput(own.plan.execution, i);
        const bool once = phaseOf(n) == Phase::Initialization;
        own.reads[0].push_back(once ? needed : readsInput(own.plan.initialization, i));
        own.reads[1].push_back(!once && needed);
      }
      dropMoves(node, own.plan.execution);
    }
    return {};
  }

  // An operator owns what is made once, so that it may prepare that at initialization; one that itself executes once
  // prepares nothing.
  Result<Plan> planNode(uint32_t n) {
    const GraphNode& node = graph_.nodes[n];
    const auto owns = [&](size_t i) {
      const GraphSource& source = node.inputs[i];
      if (node.once) return false;
      return source.kind == GraphSource::Kind::Node ? graph_.nodes[source.index].once : node.op->input(i).ownedByDml;
    };
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (owns(i) == node.op->input(i).ownedByDml) continue;
      OpView view = *node.op;
      for (size_t k = 0; k < node.inputs.size(); ++k) view.setOwned(k, owns(k));
      return planUnkept(view, caps_);
    }
    return planUnkept(*node.op, caps_);
  }

  static bool isMarked(const std::vector<bool>& marks, size_t index) { return !marks.empty() && marks[index]; }

  static void dropMoves(const GraphNode& node, std::vector<Dispatch>& dispatches) {
    if (node.written.empty() && node.unread.empty()) return;
    std::erase_if(dispatches, [&](const Dispatch& dispatch) {
      return std::ranges::any_of(dispatch.buffers, [&](const BufferRange& range) {
        return (range.kind == SlotKind::Input && isMarked(node.written, range.index)) ||
               (range.kind == SlotKind::Output && isMarked(node.unread, range.index));
      });
    });
  }

  // Appends a block of parameters, or finds an equal one. Bytes from the start of the graph's parameters.
  uint32_t keepParameters(std::span<const uint32_t> words) {
    if (words.empty()) return 0;
    const std::string_view key(reinterpret_cast<const char*>(words.data()), words.size_bytes());
    auto& all = plan().parameters;
    const auto [found, added] = parameterBlocks_.try_emplace(std::string(key), 0);
    if (!added) return found->second;
    all.resize(alignUp(all.size(), caps_.parameterAlignment / 4));
    found->second = static_cast<uint32_t>(all.size() * 4);
    all.insert(all.end(), words.begin(), words.end());
    return found->second;
  }

  void writeConstant(const GraphNode& node, std::vector<Dispatch>& dispatches) {
    for (size_t at = 0; at < node.constant.size(); at += kConstantPart) {
      const auto part = node.constant.subspan(at, std::min<size_t>(kConstantPart, node.constant.size() - at));
      std::vector<uint32_t> words(divideUp(part.size(), 4));
      std::memcpy(words.data(), part.data(), part.size());
      Dispatch write;
      write.kernel = "constant";
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
    const uint64_t offset = plan().persistentBytes;
    plan().persistentBytes = alignUp(offset + bytes, DML_PERSISTENT_BUFFER_ALIGNMENT);
    return {SlotKind::Persistent, 0, offset, bytes, true};
  }

  // Constants of the same bytes are one.
  void shareConstants() {
    std::map<std::pair<const std::byte*, size_t>, uint32_t> first;
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto& constant = graph_.nodes[n].constant;
      same_.push_back(graph_.nodes[n].op ? n : first.try_emplace({constant.data(), constant.size()}, n).first->second);
    }
  }

  // Nodes that prepare the same share a part of the persistent resource.
  void sharePreparations() {
    std::vector<uint32_t> firstOutput;  // by node: the number of its first output among all
    uint32_t outputs = 0;
    for (const GraphNode& node : graph_.nodes) {
      firstOutput.push_back(outputs);
      outputs += node.op ? static_cast<uint32_t>(node.op->outputs().size()) : 1;
    }
    std::map<std::string, uint64_t> kept;
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      NodePlan& own = nodes_[n];
      if (!own.prepares) continue;
      Plan same{own.plan.initialization, {}, own.plan.parameters, 0, 0, own.plan.persistentBytes, {}};
      for (Dispatch& dispatch : same.initialization)
        for (BufferRange& range : dispatch.buffers) {
          if (range.kind != SlotKind::Input) continue;
          const GraphSource& source = graph_.nodes[n].inputs[range.index];
          range.offset += source.offset;
          range.index = source.kind == GraphSource::Kind::GraphInput
                            ? source.index
                            : graph_.inputCount + firstOutput[same_[source.index]] + source.output;
        }
      std::string key = planText(same);
      key.append(reinterpret_cast<const char*>(own.plan.parameters.data()), own.plan.parameters.size() * 4);
      const auto [found, added] = kept.try_emplace(std::move(key), plan().persistentBytes);
      own.persistent = found->second;
      if (added)
        allocatePersistent(own.plan.persistentBytes);
      else
        own.reads[0].assign(own.reads[0].size(), own.prepares = false);
    }
  }

  void addValues() {
    for (const GraphNode& node : graph_.nodes) {
      auto& values = values_.emplace_back(node.op ? node.op->outputs().size() : 1);
      for (size_t o = 0; o < values.size(); ++o)
        if (!isMarked(node.unread, o))
          values[o].bytes = node.op ? alignUp(node.op->output(o).totalBytes, 4) : alignUp(node.constant.size(), 4);
    }
    const auto persist = [&](Value& value) {
      if (value.temporary) value.place = allocatePersistent(value.bytes);
      value.placed = true;
      value.temporary = false;
    };
    // The first output of the graph that a tensor goes to is its place; the others get copies.
    for (uint32_t g = 0; g < graph_.outputs.size(); ++g) {
      const GraphSource& source = graph_.outputs[g];
      if (source.kind == GraphSource::Kind::None) continue;
      Value& value = valueOf(source);
      value.shared = true;
      const bool once = phaseOf(source.index) == Phase::Initialization;
      if (once) persist(value);
      if (value.placed) {
        copies_.push_back(g);
        continue;
      }
      value.temporary = false;
      value.placed = true;
      value.place = {SlotKind::Output, g, 0, value.bytes, true};
    }
    eachEdge([&](uint32_t n, size_t i, const GraphSource& source) {
      if (source.kind != GraphSource::Kind::Node) return;
      const Phase made = phaseOf(source.index);
      valueOf(source).consumers += reads(n, i, made);
      if (made == Phase::Initialization && reads(n, i, Phase::Execution)) persist(valueOf(source));
    });
    for (auto& values : values_)
      for (Value& value : values) value.shared |= value.consumers > 1;
  }

  Value& valueOf(const GraphSource& source) { return values_[same_[source.index]][source.output]; }

  // Copies what execution reads of inputs owned by DML.
  Status keepInputs() {
    kept_.resize(graph_.inputCount);
    std::vector<uint64_t> bytes(graph_.inputCount);
    eachEdge([&](uint32_t n, size_t i, const GraphSource& source) {
      if (source.kind != GraphSource::Kind::GraphInput || !graph_.inputSlots[source.index].ownedByDml) return;
      if (!reads(n, i, Phase::Execution)) return;
      uint64_t& most = bytes[source.index];
      most = std::max(most, source.offset + graph_.nodes[n].op->input(i).spannedBytes());
    });
    for (uint32_t g = 0; g < bytes.size(); ++g) {
      if (bytes[g] == 0) continue;
      kept_[g] = allocatePersistent(bytes[g]);
      const size_t before = plan().initialization.size();
      if (auto error = addWordCopy(plan().initialization, {SlotKind::Input, g, 0, bytes[g], false}, kept_[g], caps_))
        return error;
      for (size_t d = before; d < plan().initialization.size(); ++d)
        plan().initialization[d].label = cat("graph input ", g);
    }
    return {};
  }

  // ---- a phase ----

  // What a node does in a phase.
  std::span<const Dispatch> dispatchesOf(uint32_t n, Phase phase) const {
    const NodePlan& own = nodes_[n];
    if (phaseOf(n) == phase)
      return same_[n] == n ? std::span<const Dispatch>(own.plan.execution) : std::span<const Dispatch>();
    return own.prepares && phase == Phase::Initialization ? own.plan.initialization : std::span<const Dispatch>();
  }

  // What each node takes of time and memory in the phase.
  std::vector<NodeCost> costs() {
    std::vector<NodeCost> costs(graph_.nodes.size());
    for (uint32_t n = 0; n < costs.size(); ++n) {
      NodeCost& cost = costs[n];
      const bool makes = phaseOf(n) == phase_ && same_[n] == n;
      cost.executes = makes || !dispatchesOf(n, phase_).empty();
      cost.scratchBytes = makes ? nodes_[n].plan.temporaryBytes : 0;
      for (const Dispatch& dispatch : dispatchesOf(n, phase_))
        cost.workgroups += uint64_t{dispatch.groups[0]} * dispatch.groups[1] * dispatch.groups[2];
      for (const Value& value : values_[n]) cost.outputBytes.push_back(makes && value.temporary ? value.bytes : 0);
    }
    eachEdge([&](uint32_t n, size_t i, const GraphSource& source) {
      if (source.kind == GraphSource::Kind::Node && phaseOf(source.index) == phase_ && reads(n, i, phase_))
        costs[n].inputs.push_back({same_[source.index], source.output});
    });
    return costs;
  }

  // Finds places for all that the nodes make in the phase, and adds their dispatches. Bytes of the temporary resource.
  uint64_t place(Phase phase, std::vector<Dispatch>& dispatches) {
    phase_ = phase;
    arena_ = {};
    for (const Epoch& epoch : scheduleGraph(costs(), caps_.workgroups)) placeEpoch(epoch, dispatches);
    return arena_.size();
  }

  // Finds places for what the nodes of an epoch make, and adds their dispatches side by side: first those that wait for
  // nothing of their node, then those that wait for these, and so on.
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
        Value& value = placeOutput(n, o);
        if (value.temporary && value.bytes != 0 && value.consumers == 0)
          released.emplace_back(value.place.offset, value.bytes);
      }
    }
    for (const uint32_t n : epoch)
      for (size_t i = 0; i < graph_.nodes[n].inputs.size(); ++i) {
        const GraphSource& source = graph_.nodes[n].inputs[i];
        if (source.kind != GraphSource::Kind::Node || phaseOf(source.index) != phase_ || !reads(n, i, phase_)) continue;
        Value& value = valueOf(source);
        if (--value.consumers == 0 && value.temporary) released.emplace_back(value.place.offset, value.bytes);
      }
    emit(epoch, scratch, dispatches);
    for (const auto& [offset, bytes] : released) arena_.give(offset, bytes);
  }

  // Where a node's output is, or is made. A tensor that several nodes make is placed with the first of them.
  Value& placeOutput(uint32_t n, uint32_t output) {
    Value& value = values_[n][output];
    if (value.placed || value.bytes == 0) return value;
    value.placed = true;
    const GraphNode& node = graph_.nodes[n];
    if (!node.targets.empty() && node.targets[output].kind != GraphSource::Kind::None) {
      const GraphSource& target = node.targets[output];
      value.place = placeOutput(target.index, target.output).place;
      value.place.offset += target.offset;
      value.temporary = false;  // released with all of the tensor
    } else if (Value* input = overwritable(n, output)) {
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
  Value* overwritable(uint32_t n, size_t output) {
    const GraphNode& node = graph_.nodes[n];
    for (size_t i = 0; node.op && node.written.empty() && i < node.inputs.size(); ++i) {
      const GraphSource& source = node.inputs[i];
      if (source.kind != GraphSource::Kind::Node || source.offset != 0 || phaseOf(source.index) != phase_) continue;
      if (!mayAlias(*node.op, i, output)) continue;
      Value& value = valueOf(source);
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
        const GraphSource& source = graph_.nodes[n].inputs[range.index];
        placed.offset += source.offset;
        if (source.kind == GraphSource::Kind::Node)
          within(valueOf(source).place);
        else if (phase_ == Phase::Execution && graph_.inputSlots[source.index].ownedByDml)
          within(kept_[source.index]);
        else
          placed.index = source.index;
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
          Dispatch dispatch = own[d];
          dispatch.label = graph_.nodes[n].label;
          dispatch.parameterOffset += nodes_[n].parameters;
          for (BufferRange& range : dispatch.buffers) range = placeOf(n, range, scratch[e]);
          dispatches.push_back(std::move(dispatch));
        }
        more |= next[e] < own.size();
      }
    }
  }

  // To outputs of the graph whose tensor has another place.
  Status copyOutputs() {
    for (const uint32_t g : copies_) {
      const GraphSource& source = graph_.outputs[g];
      const Value& value = valueOf(source);
      BufferRange from = value.place;
      from.bytes = value.bytes;
      from.writes = false;
      const size_t before = plan().execution.size();
      if (auto error = addWordCopy(plan().execution, from, {SlotKind::Output, g, 0, value.bytes, true}, caps_))
        return error;
      for (size_t d = before; d < plan().execution.size(); ++d)
        plan().execution[d].label = graph_.nodes[source.index].label;
    }
    return {};
  }

  const Graph& graph_;
  const Caps& caps_;
  GraphPlan result_;
  std::vector<NodePlan> nodes_;             // by node
  std::vector<uint32_t> same_;              // by node: the first constant of the same bytes, else itself
  std::vector<std::vector<Value>> values_;  // by node and output
  std::vector<BufferRange> kept_;           // by input of the graph: what is kept of it
  std::vector<uint32_t> copies_;            // outputs of the graph
  std::unordered_map<std::string, uint32_t> parameterBlocks_;
  Phase phase_ = Phase::Initialization;
  TemporaryArena arena_;
};

}  // namespace

Result<GraphPlan> planGraph(const Graph& graph, const Caps& caps) { return Composer(graph, caps).compose(); }

}  // namespace dimple
