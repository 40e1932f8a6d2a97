// Attention and rotary embeddings of the standard, and Microsoft's rotary embedding.
#include <algorithm>
#include <cmath>

#include "clients/onnx/attention.h"

namespace dimple::onnx {
namespace {

void rotaryEmbedding(NodeContext& node, const Value& cosines, const Value& sines, int64_t heads) {
  GraphBuilder& graph = node.graph();
  const Value& input = node.input(0);
  const bool isFlat = input.rank() == 3;
  if (!isFlat && input.rank() != 4)
    throw ModelError(cat("Input 0 has sizes ", listText(input.sizes), ", expected three or four dimensions."));
  if (isFlat && (heads < 1 || input.sizes[2] % heads != 0))
    throw ModelError(cat("Input 0 has sizes ", listText(input.sizes), " for ", heads, " heads."));
  const Value x =
      isFlat ? graph.reshape(input, {input.sizes[0], input.sizes[1], heads, input.sizes[2] / heads}) : input;
  const int64_t given = node.attributes().integer("rotary_embedding_dim", 0);
  const Value y = rotateHeads(
      graph, x, {cosines, sines, given ? given : x.sizes[3], node.attributes().flag("interleaved"), !isFlat});
  node.setOutput(0, graph.reshape(y, input.sizes));
}

void mapRotaryEmbedding(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  Value cosines = node.input(1), sines = node.input(2);
  if (node.has(3)) {
    cosines = rowsOf(graph, cosines, node.input(3));
    sines = rowsOf(graph, sines, node.input(3));
  } else if (cosines.rank() != 3) {
    throw ModelError(cat("Input 1 has sizes ", listText(cosines.sizes), ", expected three without position_ids."));
  }
  rotaryEmbedding(node, cosines, sines, node.attributes().integer("num_heads", 0));
}

// Microsoft's, whose places may be those after a first one. is_packed_batching lets words of several texts follow one
// another, whose places are given like those of one text.
void mapContribRotaryEmbedding(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  if (const float scale = node.attributes().real("scale", 1); scale != 1)
    throw ModelError(cat("Attribute scale is ", scale, ", expected 1."));
  const Value& cache = node.input(2);
  if (x.rank() < 3 || x.rank() > 4 || cache.rank() != 2 || cache.elements() == 0)
    throw ModelError(cat("Inputs 0 and 2 have sizes ", listText(x.sizes), " and ", listText(cache.sizes),
                         ", expected three or four dimensions, and two."));
  int64_t heads = node.attributes().integer("num_heads", 0);
  if (heads == 0 && x.rank() == 3) heads = x.sizes[2] / (2 * cache.sizes[1]);
  Value places = cast(graph, node.input(1), Type::Int64);
  if (places.elements() == 1) {
    const int64_t length = x.sizes[x.rank() == 4 ? 2 : 1];
    places = graph.broadcast(add(graph, counted({1, length}), graph.reshape(places, {1, 1})), {x.sizes[0], length});
  }
  rotaryEmbedding(node, rowsOf(graph, cache, places), rowsOf(graph, node.input(3), places), heads);
}

void applyMasks(NodeContext& node, Scores& scores, int64_t past) {
  GraphBuilder& graph = node.graph();
  const int64_t queries = scores.value.sizes[2];
  const int64_t keys = scores.value.sizes[3];
  if (const auto mask = node.optional(3)) {
    scores.hides = true;
    scores.value = mask->type == Type::Bool ? hide(graph, scores.value, *mask)
                                            : add(graph, scores.value, cast(graph, *mask, scores.value.type));
  }
  const Value key = counted({1, 1, 1, keys});
  std::optional<Value> lengths;
  if (node.has(6)) {
    lengths = graph.reshape(cast(graph, node.input(6), Type::Int64), {scores.value.sizes[0], 1, 1, 1});
    scores.value = hide(graph, scores.value, isLess(graph, key, *lengths));
    scores.hides = true;
  }
  if (!node.attributes().flag("is_causal")) return;
  // The first query stands behind what is past; with lengths the last one stands at the end.
  HostTensor shift(Type::Int64, {1, 1, queries, 1});
  for (int64_t i = 0; i < queries; ++i) shift.setInteger(static_cast<size_t>(i), i + 1 + (lengths ? -queries : past));
  Value end = hostValue(std::move(shift));
  if (lengths) end = add(graph, end, *lengths);
  scores.value = hide(graph, scores.value, isLess(graph, key, end));
  scores.hides = true;
}

void mapAttention(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Attributes& attributes = node.attributes();
  const int64_t queryHeads = attributes.integer("q_num_heads", 0);
  const int64_t keyHeads = attributes.integer("kv_num_heads", 0);
  const Value q = splitHeads(graph, node.input(0), queryHeads);
  Value k = splitHeads(graph, node.input(1), keyHeads);
  Value v = splitHeads(graph, node.input(2), keyHeads);
  int64_t past = 0;
  if (node.has(4) && node.has(5)) {
    if (node.input(4).rank() != 4) throw ModelError("Input 4 does not have four dimensions.");
    past = node.input(4).sizes[2];
    k = join(graph, {node.input(4), k}, 2);
    v = join(graph, {node.input(5), v}, 2);
  }
  node.setOutput(1, k);
  node.setOutput(2, v);
  k = repeatHeads(graph, k, q.sizes[1]);
  v = repeatHeads(graph, v, q.sizes[1]);
  const float scale = attributes.real("scale", 1 / std::sqrt(static_cast<float>(q.sizes[3])));
  const int64_t mode = attributes.integer("qk_matmul_output_mode", 0);
  Scores scores{matrixProduct(graph, q, graph.transpose(k, {0, 1, 3, 2}), scale)};
  if (mode == 0) node.setOutput(3, scores.value);
  scores.value = bend(graph, scores.value, attributes.real("softcap", 0));
  if (mode == 1) node.setOutput(3, scores.value);
  applyMasks(node, scores, past);
  if (mode == 2) node.setOutput(3, scores.value);
  const Value weights = softmaxOf(graph, scores);
  if (mode == 3) node.setOutput(3, weights);
  const Value y = matrixProduct(graph, weights, v);
  node.setOutput(0, node.input(0).rank() == 3 ? joinHeads(graph, y) : y);
}

constexpr Mapping kAttentionMappings[] = {
    {kOnnx, "Attention", 23, mapAttention},
    {kOnnx, "RotaryEmbedding", 23, mapRotaryEmbedding},
    {kMicrosoft, "RotaryEmbedding", 1, mapContribRotaryEmbedding},
};

}  // namespace

std::span<const Mapping> attentionMappings() { return kAttentionMappings; }

}  // namespace dimple::onnx
