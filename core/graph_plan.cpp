#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "core/checked.h"
#include "core/graph.h"
#include "core/graph_schedule.h"
#include "core/ops/copy.h"
#include "core/text.h"

namespace dimple {
namespace {

// Bytes of a constant that one dispatch writes: what a parameter block holds.
constexpr uint32_t kConstantPart = kParameterBlockBytes;

class Composer {
 public:
  Composer(const Graph& graph, const Caps& caps) : graph_(graph), caps_(caps) {}

  Result<GraphPlan> compose() {
    if (auto error = planNodes()) return *error;
    addSlots();
    addValues();
    keepConstants();
    keepPersistent();
    for (const Epoch& epoch : scheduleGraph(costs(), caps_.workgroups)) placeEpoch(epoch);
    plan().temporaryBytes = arena_.size();
    if (auto error = copyOutputs()) return *error;
    plan().parameters.resize(alignUp(plan().parameters.size(), caps_.parameterAlignment / 4));
    deriveBarriers(plan().initialization, false);
    deriveBarriers(plan().execution, false);
    return std::move(result_);
  }

 private:
  // A tensor that a node makes, or a constant.
  struct Value {
    BufferRange place{};     // where it begins
    uint64_t bytes = 0;      // that its place holds
    uint32_t consumers = 0;  // edges to nodes that are not yet placed
    bool temporary = true;   // its place is to be found in the temporary resource
    bool shared = false;     // with more than one consumer, or an output of the graph
  };

  Plan& plan() { return result_.plan; }

  Status planNodes() {
    for (const GraphNode& node : graph_.nodes) {
      if (!node.op) {
        plans_.emplace_back();
        continue;
      }
      auto planned = planOperator(*node.op, caps_);
      if (!planned) return Error{planned.error().code, cat(node.name, ": ", planned.error().text)};
      for (const PassedOver& kernel : planned->passedOver) plan().passedOver.push_back(kernel);
      plans_.push_back(std::move(*planned));
    }
    return {};
  }

  void addSlots() {
    result_.inputs.resize(graph_.inputCount);
    result_.outputs.resize(graph_.outputs.size());
    for (const GraphNode& node : graph_.nodes)
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i].kind != GraphSource::Kind::GraphInput) continue;
        const Tensor& tensor = node.op->input(i);
        GraphSlot& slot = result_.inputs[node.inputs[i].index];
        slot = {std::max(slot.bytes, tensor.totalBytes), std::max(slot.alignment, tensor.baseAlignment),
                tensor.ownedByDml};
      }
    for (size_t g = 0; g < graph_.outputs.size(); ++g) {
      const GraphSource& source = graph_.outputs[g];
      if (source.kind == GraphSource::Kind::None) continue;
      const GraphNode& node = graph_.nodes[source.index];
      if (node.op)
        result_.outputs[g] = {node.op->output(source.output).totalBytes, node.op->output(source.output).baseAlignment};
      else
        result_.outputs[g] = {alignUp(node.constant.size(), 4)};
    }
  }

  void addValues() {
    for (const GraphNode& node : graph_.nodes) {
      auto& values = values_.emplace_back(node.op ? node.op->outputs().size() : 1);
      for (size_t o = 0; o < values.size(); ++o)
        values[o].bytes = node.op ? alignUp(node.op->output(o).totalBytes, 4) : alignUp(node.constant.size(), 4);
    }
    for (const GraphNode& node : graph_.nodes)
      for (const GraphSource& source : node.inputs)
        if (source.kind == GraphSource::Kind::Node) ++valueOf(source).consumers;
    // The first output of the graph that a tensor goes to is its place; the others get copies.
    for (uint32_t g = 0; g < graph_.outputs.size(); ++g) {
      const GraphSource& source = graph_.outputs[g];
      if (source.kind == GraphSource::Kind::None) continue;
      Value& value = valueOf(source);
      value.shared = true;
      if (!graph_.nodes[source.index].op || !value.temporary) {
        copies_.push_back(g);
        continue;
      }
      value.temporary = false;
      value.place = {SlotKind::Output, g, 0, value.bytes, true};
    }
    for (auto& values : values_)
      for (Value& value : values) value.shared |= value.consumers > 1;
  }

  Value& valueOf(const GraphSource& source) { return values_[source.index][source.output]; }

  // What execution of each node takes of time and memory.
  std::vector<NodeCost> costs() {
    std::vector<NodeCost> costs(graph_.nodes.size());
    for (size_t n = 0; n < costs.size(); ++n) {
      NodeCost& cost = costs[n];
      const GraphNode& node = graph_.nodes[n];
      cost.executes = node.op != nullptr;
      cost.scratchBytes = plans_[n].temporaryBytes;
      for (const Dispatch& dispatch : plans_[n].execution)
        cost.workgroups += uint64_t{dispatch.groups[0]} * dispatch.groups[1] * dispatch.groups[2];
      for (const Value& value : values_[n]) cost.outputBytes.push_back(value.temporary ? value.bytes : 0);
      for (const GraphSource& source : node.inputs)
        if (source.kind == GraphSource::Kind::Node && graph_.nodes[source.index].op)
          cost.inputs.push_back({source.index, source.output});
    }
    return costs;
  }

  // ---- what lasts ----

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

  BufferRange allocatePersistent(uint64_t bytes) {
    const uint64_t offset = plan().persistentBytes;
    plan().persistentBytes = alignUp(offset + bytes, DML_PERSISTENT_BUFFER_ALIGNMENT);
    return {SlotKind::Persistent, 0, offset, bytes, true};
  }

  // Writes the constants into the persistent resource at initialization, each once.
  void keepConstants() {
    std::map<std::pair<const std::byte*, size_t>, BufferRange> kept;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const GraphNode& node = graph_.nodes[n];
      if (node.op) continue;
      Value& value = values_[n][0];
      value.temporary = false;
      const auto [found, added] = kept.try_emplace({node.constant.data(), node.constant.size()});
      if (added) {
        found->second = allocatePersistent(value.bytes);
        writeConstant(node, found->second);
      }
      value.place = found->second;
    }
  }

  void writeConstant(const GraphNode& node, const BufferRange& to) {
    for (size_t at = 0; at < node.constant.size(); at += kConstantPart) {
      const auto part = node.constant.subspan(at, std::min<size_t>(kConstantPart, node.constant.size() - at));
      std::vector<uint32_t> words(divideUp(part.size(), 4));
      std::memcpy(words.data(), part.data(), part.size());
      Dispatch write;
      write.label = node.label;
      write.kernel = "constant";
      write.groupSize = kGroupSize;
      const auto head = gridWords(write.groups, 0, 1);
      write.push.assign(head.begin(), head.end());
      write.push.push_back(static_cast<uint32_t>(words.size()));
      write.parameterOffset = keepParameters(words);
      write.buffers = {{SlotKind::Persistent, 0, to.offset + at, words.size() * 4, true}};
      plan().initialization.push_back(std::move(write));
    }
  }

  // Parts of the parameters and of the persistent resource for the nodes. Nodes that keep the same share them.
  void keepPersistent() {
    std::map<std::string, uint64_t> kept;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Plan& own = plans_[n];
      parameters_.push_back(keepParameters(own.parameters));
      persistent_.push_back(plan().persistentBytes);
      if (own.persistentBytes == 0) continue;
      std::vector<Dispatch> dispatches = own.initialization;
      for (Dispatch& dispatch : dispatches)
        for (BufferRange& range : dispatch.buffers)
          if (range.kind == SlotKind::Input) range.index = graph_.nodes[n].inputs[range.index].index;
      Plan same{dispatches, {}, own.parameters, 0, own.persistentBytes, {}};
      std::string key = planText(same);
      key.append(reinterpret_cast<const char*>(own.parameters.data()), own.parameters.size() * 4);
      const auto [found, added] = kept.try_emplace(std::move(key), plan().persistentBytes);
      persistent_.back() = found->second;
      if (!added) continue;
      const uint64_t offset = allocatePersistent(own.persistentBytes).offset;
      for (Dispatch& dispatch : dispatches) {
        dispatch.label = graph_.nodes[n].label;
        dispatch.parameterOffset += parameters_[n];
        for (BufferRange& range : dispatch.buffers)
          if (range.kind == SlotKind::Persistent) range.offset += offset;
        plan().initialization.push_back(std::move(dispatch));
      }
    }
  }

  // ---- execution ----

  // Finds places for what the nodes of an epoch make, and adds their dispatches side by side: first those that wait for
  // nothing of their node, then those that wait for these, and so on.
  void placeEpoch(const Epoch& epoch) {
    std::vector<std::pair<uint64_t, uint64_t>> released;  // offsets and bytes
    std::vector<uint64_t> scratch;
    for (const uint32_t n : epoch) {
      scratch.push_back(0);
      if (const uint64_t bytes = plans_[n].temporaryBytes) {
        scratch.back() = arena_.take(bytes);
        released.emplace_back(scratch.back(), bytes);
      }
      placeOutputs(n, released);
    }
    for (const uint32_t n : epoch)
      for (const GraphSource& source : graph_.nodes[n].inputs) {
        if (source.kind != GraphSource::Kind::Node) continue;
        Value& value = valueOf(source);
        if (--value.consumers == 0 && value.temporary) released.emplace_back(value.place.offset, value.bytes);
      }
    emit(epoch, scratch);
    for (const auto& [offset, bytes] : released) arena_.give(offset, bytes);
  }

  void placeOutputs(uint32_t n, std::vector<std::pair<uint64_t, uint64_t>>& released) {
    for (size_t o = 0; o < values_[n].size(); ++o) {
      Value& value = values_[n][o];
      if (!value.temporary || value.bytes == 0) continue;
      if (Value* input = overwritable(n, o)) {
        value.place = input->place;
        value.bytes = input->bytes;
        input->temporary = false;  // what it held belongs to the output now
      } else {
        value.place = {SlotKind::Temporary, 0, arena_.take(value.bytes), value.bytes, true};
      }
      if (value.consumers == 0) released.emplace_back(value.place.offset, value.bytes);
    }
  }

  // An input whose place an output can take: the operator works in place, both have one layout, and nothing else reads
  // the input.
  Value* overwritable(uint32_t n, size_t output) {
    const GraphNode& node = graph_.nodes[n];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].kind != GraphSource::Kind::Node || !mayAlias(*node.op, i, output)) continue;
      Value& value = valueOf(node.inputs[i]);
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
        if (source.kind == GraphSource::Kind::GraphInput)
          placed.index = source.index;
        else
          within(valueOf(source).place);
        break;
      }
      case SlotKind::Output:
        within(values_[n][range.index].place);
        break;
      case SlotKind::Temporary:
        placed.offset += scratch;
        break;
      case SlotKind::Persistent:
        placed.offset += persistent_[n];
        break;
    }
    return placed;
  }

  void emit(const Epoch& epoch, const std::vector<uint64_t>& scratch) {
    std::vector<size_t> next(epoch.size());
    for (bool more = true; more;) {
      more = false;
      for (size_t e = 0; e < epoch.size(); ++e) {
        const uint32_t n = epoch[e];
        const auto& own = plans_[n].execution;
        const size_t first = next[e];
        for (size_t& d = next[e]; d < own.size() && (d == first || !own[d].barrierBefore); ++d) {
          Dispatch dispatch = own[d];
          dispatch.label = graph_.nodes[n].label;
          dispatch.parameterOffset += parameters_[n];
          for (BufferRange& range : dispatch.buffers) range = placeOf(n, range, scratch[e]);
          plan().execution.push_back(std::move(dispatch));
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
  std::vector<Plan> plans_;                 // by node
  std::vector<std::vector<Value>> values_;  // by node and output
  std::vector<uint64_t> persistent_;        // by node: where its part begins
  std::vector<uint32_t> parameters_;        // by node: where its block begins
  std::vector<uint32_t> copies_;            // outputs of the graph
  std::unordered_map<std::string, uint32_t> parameterBlocks_;
  TemporaryArena arena_;
};

}  // namespace

Result<GraphPlan> planGraph(const Graph& graph, const Caps& caps) { return Composer(graph, caps).compose(); }

}  // namespace dimple
