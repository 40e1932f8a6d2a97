// The order in which the nodes of a graph execute, and the places of their tensors meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace dimple {

// For each node, the nodes that read its results, side by side in one array.
class Consumers {
 public:
  // `eachEdge` calls its argument with the numbers of both nodes of every edge. It is called twice.
  template <class EachEdge>
  Consumers(size_t nodes, const EachEdge& eachEdge) : first_(nodes + 1) {
    eachEdge([&](uint32_t from, uint32_t) { ++first_[from + 1]; });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    all_.resize(first_.back());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    eachEdge([&](uint32_t from, uint32_t to) { all_[next[from]++] = to; });
  }
  std::span<const uint32_t> of(uint32_t n) const { return {all_.data() + first_[n], all_.data() + first_[n + 1]}; }

 private:
  std::vector<uint32_t> first_, all_;  // by node: where its consumers begin in all_, and at the end their total number
};

// What the execution of a node needs.
struct NodeCost {
  struct Input {
    uint32_t node;
    uint32_t output;
  };
  bool executes = true;  // constants do not
  uint64_t workgroups = 0;
  uint64_t scratchBytes = 0;          // needed while it executes
  std::vector<uint64_t> outputBytes;  // needed from then until the last node that reads them has executed
  std::vector<Input> inputs;          // outputs of other nodes
};

// Nodes that do not wait for each other.
using Epoch = std::vector<uint32_t>;

// Returns every node that executes, once, in an epoch after those of the nodes whose outputs it reads. An epoch gets
// another node only as long as fewer than `workgroups` of it execute, and the memory in use is at most one and a half
// times what the nodes take one by one, or a few megabytes. There must be no cycle.
std::vector<Epoch> scheduleGraph(std::span<const NodeCost> nodes, uint32_t workgroups);

// Memory that grows as needed. Offsets are multiples of 256 bytes.
class TemporaryArena {
 public:
  uint64_t take(uint64_t bytes);
  void give(uint64_t offset, uint64_t bytes);
  uint64_t size() const { return size_; }

 private:
  void addHole(uint64_t offset, uint64_t bytes);
  void removeHole(std::map<uint64_t, uint64_t>::iterator hole);

  uint64_t size_ = 0;
  std::map<uint64_t, uint64_t> holes_;                   // offset -> bytes
  std::set<std::pair<uint64_t, uint64_t>> holesBySize_;  // bytes, offset
};

}  // namespace dimple
