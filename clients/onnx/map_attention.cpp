// Attention and what prepares it, made of products, softmax and masks.
#include <algorithm>
#include <cmath>
#include <limits>

#include "clients/onnx/product.h"

namespace dimple::onnx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 0, 1, 2, ..
Value counted(const Sizes& sizes) {
  HostTensor numbers(Type::Int64, sizes);
  for (size_t i = 0; i < static_cast<size_t>(numbers.elements()); ++i) numbers.setInteger(i, static_cast<int64_t>(i));
  return hostValue(std::move(numbers));
}

// [batch, length, heads * size] as [batch, heads, length, size]; four dimensions as they are.
Value splitHeads(GraphBuilder& graph, const Value& value, int64_t heads) {
  if (value.rank() == 4) return value;
  if (value.rank() != 3 || heads < 1 || value.sizes[2] % heads != 0)
    throw ModelError(cat("A tensor has sizes ", listText(value.sizes), " for ", heads,
                         " heads, expected [batch, length, "
                         "heads * size] or four dimensions."));
  const Value split = graph.reshape(value, {value.sizes[0], value.sizes[1], heads, value.sizes[2] / heads});
  return graph.transpose(split, {0, 2, 1, 3});
}

Value joinHeads(GraphBuilder& graph, const Value& value) {
  return graph.reshape(graph.transpose(value, {0, 2, 1, 3}),
                       {value.sizes[0], value.sizes[2], value.sizes[1] * value.sizes[3]});
}

// The part of the last axis from `begin` on.
Value lastPart(GraphBuilder& graph, const Value& value, int64_t begin, int64_t size) {
  Sizes begins(value.rank(), 0);
  Sizes sizes = value.sizes;
  begins.back() = begin;
  sizes.back() = size;
  return slice(graph, value, begins, sizes, Sizes(value.rank(), 1));
}

// Turns pairs of elements by the angle of their place. The pairs stand side by side or half the size apart.
Value rotate(GraphBuilder& graph, const Value& x, const Value& cosine, const Value& sine, bool interleaved) {
  const int64_t half = x.sizes.back() / 2;
  Value first, second;
  Sizes pairs = x.sizes;
  pairs.back() = half;
  if (interleaved) {
    pairs.push_back(2);
    const Value split = graph.reshape(x, pairs);
    pairs.back() = 1;
    Sizes flat(pairs.begin(), pairs.end() - 1);
    first = graph.reshape(lastPart(graph, split, 0, 1), flat);
    second = graph.reshape(lastPart(graph, split, 1, 1), flat);
  } else {
    first = lastPart(graph, x, 0, half);
    second = lastPart(graph, x, half, half);
  }
  const Value a = subtract(graph, multiply(graph, first, cosine), multiply(graph, second, sine));
  const Value b = add(graph, multiply(graph, first, sine), multiply(graph, second, cosine));
  if (!interleaved) return join(graph, {a, b}, x.rank() - 1);
  return graph.reshape(join(graph, {graph.reshape(a, pairs), graph.reshape(b, pairs)}, x.rank()), x.sizes);
}

// The cache's rows for the places of each batch, for all heads.
Value anglesOf(GraphBuilder& graph, const Value& cache, const std::optional<Value>& places) {
  if (!places) return graph.reshape(cache, {cache.sizes[0], 1, cache.sizes[1], cache.sizes[2]});
  if (cache.rank() != 2 || places->rank() != 2)
    throw ModelError(cat("A cache has sizes ", listText(cache.sizes), " and position_ids ", listText(places->sizes),
                         ", expected two dimensions each."));
  const Sizes sizes = {places->sizes[0], places->sizes[1], cache.sizes[1]};
  Op op(graph);
  DML_GATHER_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(graph.padRank(cache, 3));
  desc.IndicesTensor = op.input(graph.padRank(*places, 3));
  desc.OutputTensor = op.output(cache.type, sizes);
  desc.Axis = 1;
  desc.IndexDimensions = 2;
  return graph.reshape(op.make(DML_OPERATOR_GATHER, desc), {sizes[0], 1, sizes[1], sizes[2]});
}

void rotaryEmbedding(NodeContext& node, const Value& cosines, const Value& sines, const std::optional<Value>& places,
                     int64_t heads) {
  GraphBuilder& graph = node.graph();
  const Value& input = node.input(0);
  const Value x = splitHeads(graph, input, heads);
  const int64_t size = x.sizes[3];
  const int64_t given = node.attributes().integer("rotary_embedding_dim", 0);
  const int64_t turned = given ? given : size;
  if (turned < 2 || turned % 2 != 0 || turned > size)
    throw ModelError(cat("Attribute rotary_embedding_dim is ", given, " for heads of ", size, "."));
  if (!places && cosines.rank() != 3)
    throw ModelError(cat("Input 1 has sizes ", listText(cosines.sizes), ", expected three without position_ids."));
  const Value cosine = anglesOf(graph, cosines, places);
  const Value sine = anglesOf(graph, sines, places);
  Value y = rotate(graph, lastPart(graph, x, 0, turned), cosine, sine, node.attributes().flag("interleaved"));
  if (turned != size) y = join(graph, {y, lastPart(graph, x, turned, size - turned)}, 3);
  node.setOutput(0, input.rank() == 3 ? joinHeads(graph, y) : y);
}

void mapRotaryEmbedding(NodeContext& node) {
  rotaryEmbedding(node, node.input(1), node.input(2), node.optional(3), node.attributes().integer("num_heads", 0));
}

// Microsoft's, whose places may be those after a first one.
void mapContribRotaryEmbedding(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  if (node.attributes().real("scale", 1) != 1 || node.attributes().flag("is_packed_batching"))
    throw ModelError("It scales or packs batches, which is not mapped.");
  if (x.rank() < 3 || node.input(2).rank() != 2 || node.input(2).elements() == 0)
    throw ModelError("Its input or cache does not have three and two dimensions.");
  int64_t heads = node.attributes().integer("num_heads", 0);
  if (heads == 0 && x.rank() == 3) heads = x.sizes[2] / (2 * node.input(2).sizes[1]);
  Value places = cast(graph, node.input(1), Type::Int64);
  if (places.rank() == 1) {
    const int64_t length = x.sizes[x.rank() == 4 ? 2 : 1];
    places = graph.broadcast(add(graph, counted({1, length}), graph.reshape(places, {1, 1})), {x.sizes[0], length});
  }
  rotaryEmbedding(node, node.input(2), node.input(3), places, heads);
}

// Every head of keys and values serves a group of queries' heads.
Value repeatHeads(GraphBuilder& graph, const Value& value, int64_t heads) {
  if (value.sizes[1] == heads) return value;
  if (heads % value.sizes[1] != 0)
    throw ModelError(cat(heads, " heads of queries share ", value.sizes[1], " heads of keys, expected a divisor."));
  const Value one = graph.reshape(value, {value.sizes[0], value.sizes[1], 1, value.sizes[2], value.sizes[3]});
  Sizes all = one.sizes;
  all[2] = heads / value.sizes[1];
  return graph.reshape(graph.broadcast(one, all), {value.sizes[0], heads, value.sizes[2], value.sizes[3]});
}

Value isLess(GraphBuilder& graph, const Value& a, const Value& b) {
  return binary<DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN, a,
                                                                  b, Type::Bool);
}

// Minus infinity where a query does not see a key.
Value hide(GraphBuilder& graph, const Value& scores, const Value& visible) {
  return select(graph, visible, scores, scalar(scores.type, -kInfinity));
}

struct Scores {
  Value value;
  bool hides = false;  // a row may be all minus infinity
};

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

// Microsoft's. A padding mask counts keys, or says of each whether it is one.
void maskPadding(NodeContext& node, Scores& scores, const Value& mask, float hidden) {
  GraphBuilder& graph = node.graph();
  const Sizes& sizes = scores.value.sizes;
  Value visible;
  if (mask.rank() == 1 && mask.sizes[0] == sizes[0])
    visible =
        isLess(graph, counted({1, 1, 1, sizes[3]}), graph.reshape(cast(graph, mask, Type::Int64), {sizes[0], 1, 1, 1}));
  else if (mask.sizes == Sizes{sizes[0], sizes[3]})
    visible = cast(graph, graph.reshape(mask, {sizes[0], 1, 1, sizes[3]}), Type::Bool);
  else
    throw ModelError(cat("A mask has sizes ", listText(mask.sizes), ", expected ", listText(Sizes{sizes[0]}), " or ",
                         listText(Sizes{sizes[0], sizes[3]}), "."));
  const Type type = scores.value.type;
  scores.value =
      add(graph, scores.value, select(graph, visible, scalar(type, 0), scalar(type, static_cast<double>(hidden))));
}

Value softmax(GraphBuilder& graph, const Scores& scores) {
  const UINT axis = 3;
  DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC desc{};
  desc.AxisCount = 1;
  desc.Axes = &axis;
  const Value weights = unary(graph, DML_OPERATOR_ACTIVATION_SOFTMAX1, scores.value, scores.value.type, desc);
  if (!scores.hides) return weights;
  // A query that sees nothing takes nothing.
  const Value nothing =
      unary<DML_ELEMENT_WISE_IS_NAN_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_IS_NAN, weights, Type::Bool);
  return select(graph, nothing, scalar(weights.type, 0), weights);
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
  if (const float cap = attributes.real("softcap", 0); cap != 0) {
    const Value bent = unary<DML_ELEMENT_WISE_TANH_OPERATOR_DESC>(
        graph, DML_OPERATOR_ELEMENT_WISE_TANH, scaleBias(graph, scores.value, 1 / cap, 0), scores.value.type);
    scores.value = scaleBias(graph, bent, cap, 0);
  }
  if (mode == 1) node.setOutput(3, scores.value);
  applyMasks(node, scores, past);
  if (mode == 2) node.setOutput(3, scores.value);
  const Value weights = softmax(graph, scores);
  if (mode == 3) node.setOutput(3, weights);
  const Value y = matrixProduct(graph, weights, v);
  node.setOutput(0, node.input(0).rank() == 3 ? joinHeads(graph, y) : y);
}

void mapMultiHeadAttention(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Attributes& attributes = node.attributes();
  const int64_t heads = attributes.integer("num_heads", 0);
  if (attributes.flag("unidirectional")) throw ModelError("Attribute unidirectional is 1, expected 0.");
  if (node.input(0).rank() != 3 || !node.has(1) || !node.has(2))
    throw ModelError("Its queries, keys and values are packed, which is not mapped.");
  Value parts[3];
  int64_t begin = 0;
  for (size_t i = 0; i < 3; ++i) {
    parts[i] = node.input(i);
    if (node.has(3) && parts[i].rank() == 3) {
      const int64_t width = parts[i].sizes[2];
      parts[i] = add(graph, parts[i], slice(graph, node.input(3), {begin}, {width}, {1}));
      begin += width;
    }
    parts[i] = splitHeads(graph, parts[i], heads);
  }
  if (node.has(6) && node.has(7)) {
    parts[1] = join(graph, {node.input(6), parts[1]}, 2);
    parts[2] = join(graph, {node.input(7), parts[2]}, 2);
  }
  node.setOutput(1, parts[1]);
  node.setOutput(2, parts[2]);
  const float given = attributes.real("scale", 0);
  const float scale = given != 0 ? given : 1 / std::sqrt(static_cast<float>(parts[0].sizes[3]));
  Scores scores{matrixProduct(graph, parts[0], graph.transpose(parts[1], {0, 1, 3, 2}), scale)};
  if (node.has(4)) maskPadding(node, scores, node.input(4), attributes.real("mask_filter_value", -10000));
  if (node.has(5)) scores.value = add(graph, scores.value, node.input(5));
  node.setOutput(0, joinHeads(graph, matrixProduct(graph, softmax(graph, scores), parts[2])));
}

// Microsoft's attention over a cache, of words that follow what each batch has there.
class GroupedAttention {
 public:
  explicit GroupedAttention(NodeContext& node)
      : node_(node),
        graph_(node.graph()),
        heads_(node.attributes().integer("num_heads", 0)),
        keyHeads_(node.attributes().integer("kv_num_heads", 0)) {}

  // Nothing where the number of words in all is not known.
  void make() {
    check();
    if (!node_.knows(6)) return;
    takeParts();
    const int64_t words = query_.sizes[2];
    const int64_t total = node_.scalarConstant(6).integer(0);
    // A prompt has no past, however many of its words count.
    const Value ends = graph_.reshape(cast(graph_, node_.input(5), Type::Int64), {query_.sizes[0], 1, 1, 1});
    start_ = words == total ? graph_.broadcast(integerScalar(0), {query_.sizes[0], 1, 1, 1})
                            : add(graph_, ends, integerScalar(1 - words));
    if (node_.attributes().flag("do_rotary")) rotateWords();
    const Value keys = cached(key_, 3, total), values = cached(value_, 4, total);
    node_.setOutput(1, keys);
    node_.setOutput(2, values);
    attend(keys, values);
  }

 private:
  void check() const {
    if (heads_ < 1 || keyHeads_ < 1 || heads_ % keyHeads_ != 0)
      throw ModelError(cat("Attributes num_heads and kv_num_heads are ", heads_, " and ", keyHeads_,
                           ", expected a multiple of the second and the second."));
    for (const size_t input : {size_t{9}, size_t{11}})
      if (node_.has(input)) throw ModelError(cat("It has an input ", input, ", which is not mapped."));
    if (node_.attributes().integer("smooth_softmax", 0) > 0 || node_.wants(3))
      throw ModelError("It has another softmax or a fourth output, which is not mapped.");
    if (node_.input(0).rank() != 3 || node_.has(1) != node_.has(2) || node_.has(3) != node_.has(4))
      throw ModelError("Its query is not of three dimensions, or one of a pair of inputs is absent.");
  }

  // Takes query, key and value from separate tensors, or from the packed query.
  void takeParts() {
    Value parts[3] = {node_.input(0)};
    if (node_.has(1)) {
      parts[1] = node_.input(1);
      parts[2] = node_.input(2);
    } else {
      const int64_t size = parts[0].sizes[2] / (heads_ + 2 * keyHeads_);
      const Value packed = parts[0];
      int64_t begin = 0;
      for (Value& part : parts) {
        const int64_t width = (&part == parts ? heads_ : keyHeads_) * size;
        part = lastPart(graph_, packed, begin, width);
        begin += width;
      }
    }
    query_ = splitHeads(graph_, parts[0], heads_);
    key_ = splitHeads(graph_, parts[1], keyHeads_);
    value_ = splitHeads(graph_, parts[2], keyHeads_);
  }

  void rotateWords() {
    const int64_t batches = query_.sizes[0], words = query_.sizes[2];
    const Value places =
        graph_.broadcast(add(graph_, graph_.reshape(start_, {batches, 1}), counted({1, words})), {batches, words});
    const Value cosine = anglesOf(graph_, node_.input(7), places), sine = anglesOf(graph_, node_.input(8), places);
    const int64_t turned = 2 * node_.input(7).sizes[1], size = query_.sizes[3];
    if (turned > size) throw ModelError(cat("Input 7 turns ", turned, " elements of heads of ", size, "."));
    for (Value* x : {&query_, &key_}) {
      Value y =
          rotate(graph_, lastPart(graph_, *x, 0, turned), cosine, sine, node_.attributes().flag("rotary_interleaved"));
      if (turned != size) y = join(graph_, {y, lastPart(graph_, *x, turned, size - turned)}, 3);
      *x = y;
    }
  }

  // The cache with the new words in it.
  Value cached(const Value& added, size_t input, int64_t total) {
    const int64_t words = added.sizes[2];
    const int64_t past = node_.has(input) ? node_.input(input).sizes[2] : 0;
    const int64_t all = std::max(past, total);
    if (past == 0 && all == words) return added;
    const Value both = past == 0 ? added : join(graph_, {node_.input(input), added}, 2);
    // Places in `both`: those of the past before and behind the new words.
    const Value place = counted({1, 1, all, 1});
    const Value end = add(graph_, start_, integerScalar(words));
    const Value old = minimum(graph_, place, integerScalar(past + words - 1));
    const Value fresh = subtract(graph_, add(graph_, place, integerScalar(past)), start_);
    const Value from =
        select(graph_, isLess(graph_, place, start_), old, select(graph_, isLess(graph_, place, end), fresh, old));
    Sizes sizes = added.sizes;
    sizes[2] = all;
    Op op(graph_);
    DML_GATHER_ELEMENTS_OPERATOR_DESC desc{};
    desc.InputTensor = op.input(both);
    desc.IndicesTensor = op.input(graph_.broadcast(from, sizes));
    desc.OutputTensor = op.output(both.type, sizes);
    desc.Axis = 2;
    return op.make(DML_OPERATOR_GATHER_ELEMENTS, desc);
  }

  void attend(const Value& keys, const Value& values) {
    const Attributes& attributes = node_.attributes();
    const float given = attributes.real("scale", 0);
    const float scale = given != 0 ? given : 1 / std::sqrt(static_cast<float>(query_.sizes[3]));
    const Value k = graph_.transpose(repeatHeads(graph_, keys, heads_), {0, 1, 3, 2});
    Scores scores{matrixProduct(graph_, query_, k, scale)};
    if (const float cap = attributes.real("softcap", 0); cap != 0) {
      const Value bent = unary<DML_ELEMENT_WISE_TANH_OPERATOR_DESC>(
          graph_, DML_OPERATOR_ELEMENT_WISE_TANH, scaleBias(graph_, scores.value, 1 / cap, 0), scores.value.type);
      scores.value = scaleBias(graph_, bent, cap, 0);
    }
    if (node_.has(10)) scores.value = add(graph_, scores.value, node_.input(10));
    // A word sees itself and those before it, or a window of them.
    const Value key = counted({1, 1, 1, keys.sizes[2]});
    const Value word = add(graph_, start_, counted({1, 1, query_.sizes[2], 1}));
    scores.value = hide(graph_, scores.value, isLess(graph_, key, add(graph_, word, integerScalar(1))));
    if (const int64_t window = attributes.integer("local_window_size", -1); window > 0)
      scores.value = hide(graph_, scores.value, isLess(graph_, subtract(graph_, word, integerScalar(window)), key));
    const Value y = matrixProduct(graph_, softmax(graph_, scores), repeatHeads(graph_, values, heads_));
    node_.setOutput(0, joinHeads(graph_, y));
  }

  NodeContext& node_;
  GraphBuilder& graph_;
  const int64_t heads_, keyHeads_;
  Value query_, key_, value_;  // [batch, head, word, channel]
  Value start_;                // where each batch's new words begin
};

void mapGroupQueryAttention(NodeContext& node) { GroupedAttention(node).make(); }

constexpr Mapping kAttentionMappings[] = {
    {kOnnx, "Attention", 23, mapAttention},
    {kMicrosoft, "GroupQueryAttention", 1, mapGroupQueryAttention},
    {kMicrosoft, "MultiHeadAttention", 1, mapMultiHeadAttention},
    {kOnnx, "RotaryEmbedding", 23, mapRotaryEmbedding},
    {kMicrosoft, "RotaryEmbedding", 1, mapContribRotaryEmbedding},
};

}  // namespace

std::span<const Mapping> attentionMappings() { return kAttentionMappings; }

}  // namespace dimple::onnx
