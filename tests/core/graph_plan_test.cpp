// The one plan of a graph: its counts of dispatches and barriers, and its memory.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "core/graph/schedule.h"
#include "core/text.h"
#include "tests/conformance/random.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

constexpr const char* kReluOf64 = "ACTIVATION_RELU InputTensor=f32[64] OutputTensor=f32[64]";
constexpr const char* kAdd = "ELEMENT_WISE_ADD ATensor=f32[64] BTensor=f32[64] OutputTensor=f32[64]";
constexpr const char* kReverse =
    "REVERSE_SUBSEQUENCES InputTensor=f32[1,64] SequenceLengthsTensor=u32[1,1] OutputTensor=f32[1,64] Axis=1";

size_t barriers(const std::vector<Dispatch>& dispatches) {
  return static_cast<size_t>(std::ranges::count_if(dispatches, &Dispatch::barrierBefore));
}

TEST_CASE("graph plans: a chain of operators that work in place takes one tensor") {
  GraphBuilder graph;
  for (UINT n = 0; n < 10; ++n) {
    graph.op(kReluOf64);
    if (n) graph.edge(n - 1, n);
  }
  graph.input(0, 0);
  graph.output(9, 0);
  const GraphPlan planned = graph.plan();
  CHECK(planned.plan.execution.size() == 10);
  CHECK(barriers(planned.plan.execution) == 9);
  CHECK(planned.plan.temporaryBytes == 256);
  CHECK(planned.plan.persistentBytes == 0);
  CHECK(planned.plan.initialization.empty());
  CHECK(planned.inputs.size() == 1);
  CHECK(planned.inputs[0].bytes == 256);
  CHECK(planned.outputs[0].bytes == 256);
  // The first reads the input, the last writes the output, and each is called by its node.
  CHECK(planned.plan.execution.front().buffers[0].kind == SlotKind::Input);
  CHECK(planned.plan.execution.back().buffers[1].kind == SlotKind::Output);
  CHECK(planned.plan.execution.front().label == "ACTIVATION_RELU");
}

TEST_CASE("graph plans: a chain of operators that do not takes two") {
  GraphBuilder graph;
  for (UINT n = 0; n < 10; ++n) {
    graph.op(kReverse);
    graph.input(0, n, 1);
    if (n) graph.edge(n - 1, n);
  }
  graph.input(1, 0);
  graph.output(9, 0);
  CHECK(graph.plan().plan.temporaryBytes == 2 * 256);
}

TEST_CASE("graph plans: nothing is overwritten that another node reads") {
  GraphBuilder graph;
  for (int n = 0; n < 3; ++n) graph.op(kReluOf64);
  graph.op(kAdd);
  graph.input(0, 0);
  graph.edge(0, 1);
  graph.edge(0, 2);
  graph.edge(1, 3, 0);
  graph.edge(2, 3, 1);
  graph.output(3, 0);
  const Plan plan = graph.plan().plan;
  REQUIRE(plan.execution.size() == 4);
  CHECK(plan.temporaryBytes == 3 * 256);
  const auto place = [&](size_t dispatch, size_t buffer) { return plan.execution[dispatch].buffers[buffer].offset; };
  CHECK(place(1, 1) != place(1, 0));
  CHECK(place(2, 1) != place(2, 0));
  CHECK(place(1, 1) != place(2, 1));
}

TEST_CASE("graph plans: independent branches run without a barrier between them") {
  // Eight branches of three nodes, and a tree of sums.
  GraphBuilder graph;
  std::vector<UINT> ends;
  for (UINT branch = 0; branch < 8; ++branch) {
    UINT last = graph.op(kReluOf64);
    graph.input(branch, last);
    for (int n = 0; n < 2; ++n) {
      const UINT next = graph.op(kReluOf64);
      graph.edge(last, next);
      last = next;
    }
    ends.push_back(last);
  }
  while (ends.size() > 1) {
    std::vector<UINT> sums;
    for (size_t i = 0; i < ends.size(); i += 2) {
      sums.push_back(graph.op(kAdd));
      graph.edge(ends[i], sums.back(), 0);
      graph.edge(ends[i + 1], sums.back(), 1);
    }
    ends = sums;
  }
  graph.output(ends[0], 0);
  const Plan plan = graph.plan().plan;
  CHECK(plan.execution.size() == 8 * 3 + 7);
  CHECK(barriers(plan.execution) == 3 + 3 - 1);

  // A device that one node keeps busy gains nothing, so that memory comes first.
  Caps small;
  small.workgroups = 1;
  const Plan sequential = graph.plan(small).plan;
  CHECK(sequential.temporaryBytes < plan.temporaryBytes);
  CHECK(barriers(sequential.execution) > barriers(plan.execution));
}

TEST_CASE("graph plans: steps of nodes that do not wait for each other stand side by side") {
  GraphBuilder graph;
  for (UINT n = 0; n < 4; ++n) {
    graph.op("REDUCE Function=SUM InputTensor=f32[1,1,1,1000000] OutputTensor=f32[1,1,1,1] Axes=[3]");
    graph.input(n, n);
    graph.output(n, n);
  }
  Caps large;
  large.workgroups = 1 << 20;
  const Plan plan = graph.plan(large).plan;
  REQUIRE(plan.execution.size() == 8);
  CHECK(barriers(plan.execution) == 1);
  CHECK(plan.execution[4].barrierBefore);
}

TEST_CASE("graph plans: constants lie in the persistent resource, each once") {
  std::vector<float> values(750);
  std::iota(values.begin(), values.end(), 1.0F);
  constexpr const char* kAddLong = "ELEMENT_WISE_ADD ATensor=f32[750] BTensor=f32[750] OutputTensor=f32[750]";
  GraphBuilder graph;
  graph.constant(values.data(), values.size() * sizeof(float), "table");
  graph.constant(values.data(), values.size() * sizeof(float), "the same");
  graph.op(kAddLong);
  graph.op(kAddLong);
  graph.input(0, 2, 0);
  graph.edge(0, 2, 1);
  graph.edge(2, 3, 0);
  graph.edge(1, 3, 1);
  graph.output(3, 0);
  graph.output(0, 1);
  const GraphPlan planned = graph.plan();
  const Plan& plan = planned.plan;
  CHECK(plan.persistentBytes == 3072);
  CHECK(planned.outputs[1].bytes == 3000);
  REQUIRE(plan.initialization.size() == 3);  // 1024 bytes each
  std::vector<float> written;
  for (const Dispatch& dispatch : plan.initialization) {
    CHECK(dispatch.label == "table (constant)");
    CHECK(dispatch.buffers[0].kind == SlotKind::Persistent);
    CHECK(dispatch.buffers[0].offset == written.size() * 4);
    CHECK(dispatch.buffers[0].bytes == dispatch.push[4] * 4);
    for (uint32_t word = 0; word < dispatch.push[4]; ++word)
      written.push_back(std::bit_cast<float>(plan.parameters[dispatch.parameterOffset / 4 + word]));
  }
  CHECK(written == values);
  CHECK(barriers(plan.initialization) == 0);
  REQUIRE(plan.execution.size() == 3);  // the last copies the constant to the output
  CHECK(plan.execution[1].buffers[1].kind == SlotKind::Persistent);
  CHECK(plan.execution[2].buffers[1].kind == SlotKind::Output);
}

TEST_CASE("graph plans: an output of a node that goes to several outputs of the graph is copied") {
  GraphBuilder graph;
  graph.op(kReluOf64);
  graph.input(0, 0);
  for (UINT g = 0; g < 3; ++g) graph.output(0, g);
  const Plan plan = graph.plan().plan;
  REQUIRE(plan.execution.size() == 3);
  CHECK(plan.temporaryBytes == 0);
  CHECK(barriers(plan.execution) == 1);
  for (size_t d = 1; d < 3; ++d) {
    CHECK(plan.execution[d].buffers[0].kind == SlotKind::Output);
    CHECK(plan.execution[d].buffers[0].index == 0);
    CHECK(plan.execution[d].buffers[1].index == d);
  }
}

TEST_CASE("graph plans: nodes that keep the same weights share them") {
  constexpr const char* kTransformed =
      "CONVOLUTION InputTensor=f32[1,16,16,16] FilterTensor=f32[16,16,3,3]! OutputTensor=f32[1,16,16,16] "
      "Mode=CROSS_CORRELATION Direction=FORWARD Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] "
      "OutputPadding=[0,0] GroupCount=1";
  const auto plan = [&](UINT secondWeights) {
    GraphBuilder graph;
    graph.op(kTransformed);
    graph.op(kTransformed);
    graph.input(0, 0, 0);
    graph.input(1, 0, 1);
    graph.edge(0, 1);
    graph.input(secondWeights, 1, 1);
    graph.output(1, 0);
    return graph.plan();
  };
  const GraphPlan shared = plan(1);
  const GraphPlan apart = plan(2);
  CHECK(shared.plan.persistentBytes > 0);
  CHECK(apart.plan.persistentBytes == 2 * shared.plan.persistentBytes);
  CHECK(apart.plan.initialization.size() == 2 * shared.plan.initialization.size());
  CHECK(shared.inputs[1].ownedByDml);
  CHECK(!shared.inputs[0].ownedByDml);
  for (const Dispatch& dispatch : apart.plan.execution)
    for (const BufferRange& range : dispatch.buffers) CHECK((range.kind != SlotKind::Input || range.index == 0));
}

TEST_CASE("graph plans: a refusal of a node's plan names the node") {
  GraphBuilder graph;
  graph.op("TOP_K InputTensor=f32[1,1,1,4] OutputValueTensor=f32[1,1,1,4] OutputIndexTensor=u32[1,1,1,4] Axis=3 K=4",
           "largest");
  graph.input(0, 0);
  graph.output(0, 0);
  Caps caps;
  caps.maxBufferRange = 8;
  auto read = graph.read();
  REQUIRE(read);
  const auto planned = planGraph(*read, caps);
  REQUIRE(!planned);
  CHECK(planned.error().code == ErrorCode::Unsupported);
  CHECK(planned.error().text.starts_with("Nodes[0] (largest, TOP_K): "));
}

// ---- scheduling -----------------------------------------------------------------------------------------------------

std::vector<NodeCost> randomNodes(Random& random, size_t count) {
  std::vector<NodeCost> nodes(count);
  for (uint32_t n = 0; n < count; ++n) {
    nodes[n].workgroups = random.below(40);
    nodes[n].scratchBytes = random.chance(0.2) ? random.below(10000) : 0;
    for (size_t o = 0; o <= random.below(2); ++o) nodes[n].outputBytes.push_back(random.below(100000));
    if (n == 0) continue;
    for (size_t i = random.below(4); i-- > 0;) {
      const auto from = static_cast<uint32_t>(random.below(n));
      nodes[n].inputs.push_back({from, static_cast<uint32_t>(random.below(nodes[from].outputBytes.size()))});
    }
  }
  return nodes;
}

TEST_CASE("schedules: every node once, after those that it takes from") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto nodes = randomNodes(random, 1 + random.below(100));
    std::vector<size_t> epochOf(nodes.size(), SIZE_MAX);
    const auto epochs = scheduleGraph(nodes, 64);
    for (size_t e = 0; e < epochs.size(); ++e)
      for (const uint32_t n : epochs[e]) {
        CHECK(epochOf[n] == SIZE_MAX);
        epochOf[n] = e;
      }
    for (size_t n = 0; n < nodes.size(); ++n) {
      REQUIRE(epochOf[n] != SIZE_MAX);
      for (const auto& input : nodes[n].inputs) CHECK(epochOf[input.node] < epochOf[n]);
    }
  }
}

TEST_CASE("schedules: branches beyond the memory that nodes take one by one run after each other") {
  // 100 branches of two nodes with 8 MB between them: side by side they would take 800 MB.
  std::vector<NodeCost> nodes;
  for (uint32_t branch = 0; branch < 100; ++branch) {
    nodes.push_back({true, 1, 0, {8 << 20}, {}});
    nodes.push_back({true, 1, 0, {256}, {{2 * branch, 0}}});
  }
  const auto epochs = scheduleGraph(nodes, 1000);
  size_t live = 0;
  size_t most = 0;
  for (const Epoch& epoch : epochs) {
    for (const uint32_t n : epoch) live += n % 2 == 0;
    most = std::max(most, live);
    for (const uint32_t n : epoch) live -= n % 2;
  }
  CHECK(most == 2);
}

TEST_CASE("temporary memory: ranges in use never overlap, and what is given back is used again") {
  Random random(1);
  TemporaryArena arena;
  std::map<uint64_t, uint64_t> used;
  uint64_t inUse = 0;
  uint64_t maxInUse = 0;
  for (int i = 0; i < 5000; ++i) {
    if (used.empty() || random.chance(0.5)) {
      const uint64_t bytes = 1 + random.below(10000);
      const uint64_t offset = arena.take(bytes);
      CHECK(offset % 256 == 0);
      CHECK(offset + bytes <= arena.size());
      const auto next = used.lower_bound(offset);
      CHECK((next == used.end() || offset + bytes <= next->first));
      CHECK((next == used.begin() || std::prev(next)->first + std::prev(next)->second <= offset));
      used.emplace(offset, bytes);
      maxInUse = std::max(maxInUse, inUse += bytes);
    } else {
      const auto one = std::next(used.begin(), static_cast<ptrdiff_t>(random.below(used.size())));
      arena.give(one->first, one->second);
      inUse -= one->second;
      used.erase(one);
    }
  }
  CHECK(arena.size() < 2 * maxInUse);
  for (const auto& [offset, bytes] : used) arena.give(offset, bytes);
  const uint64_t size = arena.size();
  CHECK(arena.take(size) == 0);
  CHECK(arena.size() == size);
}

}  // namespace
}  // namespace dimple::testing
