// Warm-ups: which dispatches get one, and that they touch nothing that others need.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "tests/core/graph_builder.h"
#include "tests/core/matrix_caps.h"

namespace dimple::testing {
namespace {

Caps coldCaps() {
  Caps caps;
  caps.coldCode = true;
  caps.workLimit = kDiscreteWorkLimit;
  return caps;
}

// Products in a chain, each of which takes a pipeline of its own, and weights of `width` squared floats.
class Products {
 public:
  // `hasLarge`: there is another product, whose weights warm-ups take for numbers. `pooled`: the product before which
  // there is a pooling; 0: there is none.
  Products(std::string_view type, uint32_t rows, uint32_t width, UINT count, bool hasLarge = false, UINT pooled = 0) {
    UINT last = 0;
    for (UINT i = 0; i < count; ++i) {
      if (i != 0 && i == pooled) last = addPooling(type, rows, width, last);
      last = add(type, rows, width, i, last);
    }
    graph_.input(count, 0);
    graph_.output(last, 0);
    if (!hasLarge) return;
    const UINT large = graph_.op("GEMM ATensor=f16[1,4096] BTensor=f16[4096,4096]! OutputTensor=f16[1,4096] Alpha=1");
    graph_.input(count + 1, large);
    graph_.input(count + 2, large, 1);
    graph_.output(large, 1);
  }
  std::vector<Dispatch> execution(const Target& target) const { return plan(target).execution; }
  Plan plan(const Target& target) const {
    auto graph = graph_.read();
    REQUIRE_MESSAGE(graph, graph.error().text);
    auto planned = planGraph(*graph, target);
    REQUIRE_MESSAGE(planned, planned.error().text);
    const std::string unwritten = firstUnwritten(*planned, 0);
    CHECK_MESSAGE(unwritten.empty(), unwritten);
    return std::move(*planned);
  }

 private:
  UINT addPooling(std::string_view type, uint32_t rows, uint32_t width, UINT before) {
    const std::string tensor = cat(type, "[1,1,", rows, ",", width, "]");
    const UINT n = graph_.op(cat("MAX_POOLING InputTensor=", tensor, " OutputTensor=", tensor,
                                 " DimensionCount=2 Strides=[1,1] WindowSize=[1,3] StartPadding=[0,1] "
                                 "EndPadding=[0,1]"));
    graph_.edge(before, n);
    return n;
  }
  UINT add(std::string_view type, uint32_t rows, uint32_t width, UINT i, UINT before) {
    static constexpr std::string_view kActivations[] = {"RELU",
                                                        "TANH",
                                                        "SIGMOID",
                                                        "SOFTSIGN",
                                                        "IDENTITY",
                                                        "GELU",
                                                        "ELU(Alpha=1)",
                                                        "CELU(Alpha=1)",
                                                        "LEAKY_RELU(Alpha=1)",
                                                        "THRESHOLDED_RELU(Alpha=1)",
                                                        "SOFTPLUS(Steepness=1)",
                                                        "SCALED_TANH(Alpha=1,Beta=1)"};
    const UINT n = graph_.op(cat("GEMM ATensor=", type, "[", rows, ",", width, "] BTensor=", type, "[", width, ",",
                                 width, "]! OutputTensor=", type, "[", rows, ",", width,
                                 "] Alpha=1 FusedActivation=ACTIVATION_", kActivations[i]));
    graph_.input(i, n, 1);
    if (n) graph_.edge(before, n);
    return n;
  }

  GraphBuilder graph_;
};

bool isWarmUp(const Dispatch& dispatch) { return dispatch.label.ends_with("(warm-up)"); }
size_t warmUpsOf(const std::vector<Dispatch>& dispatches) {
  return static_cast<size_t>(std::ranges::count_if(dispatches, isWarmUp));
}

bool overlap(const BufferRange& a, const BufferRange& b) {
  return a.kind == b.kind && a.index == b.index && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

bool isSamePipeline(const Dispatch& a, const Dispatch& b) {
  return a.kernel == b.kernel && a.specialization == b.specialization && a.fixed == b.fixed;
}

// Barriers between a warm-up and the dispatch that it is for.
size_t barriersAfter(const std::vector<Dispatch>& execution, size_t warmUp) {
  size_t barriers = 0;
  for (size_t i = warmUp + 1; i < execution.size(); ++i) {
    barriers += execution[i].barrierBefore;
    if (!isWarmUp(execution[i]) && isSamePipeline(execution[i], execution[warmUp])) return barriers;
  }
  return 0;
}

size_t pipelinesOf(const std::vector<Dispatch>& execution) {
  std::vector<const Dispatch*> firsts;
  for (const Dispatch& dispatch : execution)
    if (std::ranges::none_of(firsts, [&](const Dispatch* first) { return isSamePipeline(*first, dispatch); }))
      firsts.push_back(&dispatch);
  return firsts.size();
}

TEST_CASE("warm-ups: every pipeline of a large network with few workgroups gets one at the beginning") {
  const Products products("f32", 16, 2048, 12);
  const auto execution = products.execution({coldCaps(), {}});
  const auto without = products.execution({coldCaps(), optionsWithout("warm-ups")});
  REQUIRE(warmUpsOf(without) == 0);
  REQUIRE(pipelinesOf(without) == 12);
  CHECK(warmUpsOf(execution) == 11);
  for (size_t i = 0; i < 11; ++i) {
    CHECK(isWarmUp(execution[i]));
    CHECK(!execution[i].barrierBefore);
  }
  CHECK(totalsOf(execution).barriers == totalsOf(without).barriers);
}

TEST_CASE("warm-ups of large products are brief, and come one barrier before them") {
  const Products products("f16", 8192, 2048, 12);
  Caps caps = capsOfMatrices();
  caps.coldCode = true;
  caps.workLimit = kDiscreteWorkLimit;
  const auto execution = products.execution({caps, {}});
  const auto without = products.execution({caps, optionsWithout("warm-ups")});
  REQUIRE(pipelinesOf(without) == 12);
  // There are none for the first two products, before which there is nothing to do meanwhile.
  CHECK(warmUpsOf(execution) == 10);
  CHECK(totalsOf(execution).barriers == totalsOf(without).barriers);
  for (size_t i = 0; i < execution.size(); ++i) {
    if (!isWarmUp(execution[i])) continue;
    CHECK(execution[i].barrierBefore);
    CHECK(!execution[i + 1].barrierBefore);
    CHECK(barriersAfter(execution, i) == 1);
    const auto own =
        std::ranges::find_if(without, [&](const Dispatch& dispatch) { return isSamePipeline(dispatch, execution[i]); });
    CHECK(own->push != execution[i].push);
  }
}

TEST_CASE("warm-ups come earlier where a dispatch before them does little") {
  Caps caps = capsOfMatrices();
  caps.coldCode = true;
  caps.workLimit = kDiscreteWorkLimit;
  const auto execution = Products("f16", 8200, 1008, 12, false, 6).execution({caps, {}});
  const auto isPooling = [](const Dispatch& d) { return kernelName(d.kernel).starts_with("pool"); };
  // Its workgroups end soon anyway.
  const auto first = std::ranges::find_if(execution, isPooling);
  REQUIRE(first != execution.end());
  CHECK(isWarmUp(*first));
  CHECK(warmUpsOf(execution) == 11);
  const auto place = static_cast<size_t>(first - execution.begin());
  CHECK(barriersAfter(execution, place) == 1);
  // Beside the same product, that of the product behind the pooling.
  REQUIRE(isWarmUp(execution[place + 1]));
  CHECK(!execution[place + 1].barrierBefore);
  CHECK(barriersAfter(execution, place + 1) == 2);
}

TEST_CASE("warm-ups write nothing that others read, or write between the same barriers") {
  const Products products("f32", 16, 2048, 12);
  for (const Target& target : {Target{coldCaps(), {}}, Target{Caps{}, optionsWithout("estimates")}}) {
    const auto execution = products.execution(target);
    REQUIRE(warmUpsOf(execution) >= 10);
    for (size_t i = 0, interval = 0; i < execution.size(); ++i) {
      if (i == 0 || execution[i].barrierBefore) interval = i;
      if (!isWarmUp(execution[i])) continue;
      CHECK(execution[i].groups == std::array<uint32_t, 3>{1, 1, 1});
      for (const BufferRange& range : execution[i].buffers) {
        CHECK(range.kind == (range.writes       ? SlotKind::Temporary
                             : range.index != 0 ? SlotKind::Input
                                                : SlotKind::Persistent));
        if (!range.writes) continue;
        for (size_t k = 0; k < execution.size(); ++k) {
          const bool counts = !isWarmUp(execution[k]) || (k >= interval && k < i);
          for (const BufferRange& theirs : execution[k].buffers)
            if (counts) CHECK(!overlap(range, theirs));
        }
      }
    }
  }
}

TEST_CASE("warm-ups are for devices and networks that gain") {
  const auto count = [](const Products& products, const Target& target) {
    return warmUpsOf(products.execution(target));
  };
  CHECK(count(Products("f32", 16, 2048, 12), Caps{}) == 0);
  CHECK(count(Products("f32", 16, 2048, 4), coldCaps()) == 0);  // few pipelines
  CHECK(count(Products("f32", 16, 256, 12), coldCaps()) == 0);  // the caches hold all
  // Brief ones of large products, beside little work.
  Caps matrices = capsOfMatrices();
  matrices.coldCode = true;
  CHECK(count(Products("f16", 131072, 32, 12, true), matrices) == 0);
  // Workgroups that do not run at once take long, and so would a single one.
  CHECK(count(Products("f32", 8192, 2048, 12), coldCaps()) == 0);
  CHECK(count(Products("f32", 16, 256, 4), {Caps{}, optionsWithout("estimates")}) > 0);
}

}  // namespace
}  // namespace dimple::testing
