#include "core/graph/schedule.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <tuple>

#include "core/checked.h"

namespace dimple {
namespace {

constexpr uint64_t kAlignment = 256;
// Nodes that execute side by side may use this much memory, however little they use one by one.
constexpr uint64_t kFreeBytes = 16 << 20;

struct Schedule {
  std::vector<Epoch> epochs;
  uint64_t maxBytes = 0;  // in use at once
};

class Scheduler {
 public:
  Scheduler(std::span<const NodeCost> nodes, uint32_t workgroups)
      : nodes_(nodes), workgroups_(workgroups), consumers_(nodes.size(), [&](const auto& visit) {
          for (uint32_t n = 0; n < nodes.size(); ++n)
            for (const NodeCost::Input& input : nodes[n].inputs) visit(input.node, n);
        }) {
    for (const NodeCost& node : nodes)
      firstOutput_.push_back(firstOutput_.back() + static_cast<uint32_t>(node.outputBytes.size()));
  }

  // `budget`: bytes in use up to which an epoch gets more than one node.
  Schedule run(uint64_t budget) {
    Schedule schedule;
    uses_.assign(firstOutput_.back(), 0);
    waitsFor_.clear();
    for (const NodeCost& node : nodes_) {
      waitsFor_.push_back(node.inputs.size());
      for (const NodeCost::Input& input : node.inputs) ++usesOf(input);
    }
    // The first node of the description comes first.
    for (auto n = static_cast<uint32_t>(nodes_.size()); n-- > 0;)
      if (nodes_[n].executes && waitsFor_[n] == 0) makeReady(n);
    uint64_t inUse = 0;
    while (!ready_.empty()) {
      Epoch epoch;
      uint64_t working = 0;
      while (!ready_.empty()) {
        const uint32_t next = std::get<2>(ready_.top());
        const uint64_t needs = bytesOf(next);
        if (!epoch.empty() && (working >= workgroups_ || inUse + needs > budget)) break;
        ready_.pop();
        epoch.push_back(next);
        inUse += needs;
        working += nodes_[next].workgroups;
      }
      schedule.maxBytes = std::max(schedule.maxBytes, inUse);
      for (const uint32_t n : epoch) inUse -= release(n);
      for (const uint32_t n : epoch)
        for (const uint32_t consumer : consumers_.of(n))
          if (--waitsFor_[consumer] == 0) makeReady(consumer);
      schedule.epochs.push_back(std::move(epoch));
    }
    return schedule;
  }

 private:
  // How many nodes are still to take an output.
  uint32_t& usesOf(const NodeCost::Input& output) { return uses_[firstOutput_[output.node] + output.output]; }

  uint64_t bytesOf(uint32_t n) const {
    uint64_t bytes = nodes_[n].scratchBytes;
    for (const uint64_t output : nodes_[n].outputBytes) bytes += alignUp(output, kAlignment);
    return bytes;
  }

  // Bytes that nothing needs after a node has executed.
  uint64_t release(uint32_t n) {
    const NodeCost& node = nodes_[n];
    uint64_t bytes = node.scratchBytes;
    for (const NodeCost::Input& input : node.inputs)
      if (--usesOf(input) == 0) bytes += alignUp(nodes_[input.node].outputBytes[input.output], kAlignment);
    for (size_t o = 0; o < node.outputBytes.size(); ++o)
      if (uses_[firstOutput_[n] + o] == 0) bytes += alignUp(node.outputBytes[o], kAlignment);
    return bytes;
  }

  // The nodes that add least to the memory in use go first. Among equal ones, the node that became ready last goes
  // first, so that a chain is followed to its end.
  void makeReady(uint32_t n) {
    int64_t more = 0;
    for (const uint64_t bytes : nodes_[n].outputBytes) more += static_cast<int64_t>(bytes);
    for (const NodeCost::Input& input : nodes_[n].inputs)
      if (usesOf(input) == 1) more -= static_cast<int64_t>(nodes_[input.node].outputBytes[input.output]);
    ready_.emplace(more, --order_, n);
  }

  using Ready = std::tuple<int64_t, int64_t, uint32_t>;
  const std::span<const NodeCost> nodes_;
  const uint32_t workgroups_;
  const Consumers consumers_;
  std::vector<uint32_t> firstOutput_{0};  // by node: where its outputs begin among all, and last their number
  std::vector<uint32_t> uses_;            // by output
  std::vector<size_t> waitsFor_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  int64_t order_ = 0;
};

}  // namespace

std::vector<Epoch> scheduleGraph(std::span<const NodeCost> nodes, uint32_t workgroups) {
  Scheduler scheduler(nodes, workgroups);
  const uint64_t oneByOne = scheduler.run(0).maxBytes;
  return scheduler.run(std::max(kFreeBytes, oneByOne + oneByOne / 2)).epochs;
}

uint64_t TemporaryArena::take(uint64_t bytes) {
  bytes = alignUp(bytes, kAlignment);
  const auto best = holesBySize_.lower_bound({bytes, 0});
  if (best != holesBySize_.end()) {
    const auto [free, offset] = *best;
    removeHole(holes_.find(offset));
    if (free > bytes) addHole(offset + bytes, free - bytes);
    return offset;
  }
  uint64_t offset = size_;
  if (!holes_.empty())
    if (const auto last = std::prev(holes_.end()); last->first + last->second == size_) {
      offset = last->first;
      removeHole(last);
    }
  size_ = offset + bytes;
  return offset;
}

void TemporaryArena::give(uint64_t offset, uint64_t bytes) {
  bytes = alignUp(bytes, kAlignment);
  const auto next = holes_.lower_bound(offset);
  if (next != holes_.begin())
    if (const auto before = std::prev(next); before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      removeHole(before);
    }
  if (next != holes_.end() && offset + bytes == next->first) {
    bytes += next->second;
    removeHole(next);
  }
  addHole(offset, bytes);
}

void TemporaryArena::addHole(uint64_t offset, uint64_t bytes) {
  holes_.emplace(offset, bytes);
  holesBySize_.emplace(bytes, offset);
}

void TemporaryArena::removeHole(std::map<uint64_t, uint64_t>::iterator hole) {
  holesBySize_.erase({hole->second, hole->first});
  holes_.erase(hole);
}

}  // namespace dimple
