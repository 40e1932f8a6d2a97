// Microsoft's attention of whole texts: of queries, keys and values that are given, or that a product makes.
#include "clients/onnx/attention.h"

namespace dimple::onnx {
namespace {

// Queries, keys and values, [batch, heads, length, size] each.
struct Parts {
  Value query, key, value;
};

// The number of keys that are no padding, where they end and begin, or which of them are none: for each batch, or for
// each of its queries.
Value visibleKeys(GraphBuilder& graph, const Value& mask, const Sizes& scores) {
  const int64_t batch = scores[0], queries = scores[2], keys = scores[3];
  const Value key = counted({1, 1, 1, keys});
  if (mask.sizes == Sizes{batch})
    return isLess(graph, key, graph.reshape(cast(graph, mask, Type::Int64), {batch, 1, 1, 1}));
  if (mask.sizes == Sizes{2 * batch}) {
    const Value bounds = graph.reshape(cast(graph, mask, Type::Int64), {2, batch, 1, 1, 1});
    const auto bound = [&](int64_t index) {
      return graph.reshape(slice(graph, bounds, {index, 0, 0, 0, 0}, {1, batch, 1, 1, 1}, Sizes(5, 1)),
                           {batch, 1, 1, 1});
    };
    const Value isBehind = isLess(graph, subtract(graph, bound(1), integerScalar(1)), key);
    return binary<DML_ELEMENT_WISE_LOGICAL_AND_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_LOGICAL_AND,
                                                              isLess(graph, key, bound(0)), isBehind, Type::Bool);
  }
  if (mask.sizes == Sizes{batch, keys}) return cast(graph, graph.reshape(mask, {batch, 1, 1, keys}), Type::Bool);
  if (mask.sizes == Sizes{batch, queries, keys})
    return cast(graph, graph.reshape(mask, {batch, 1, queries, keys}), Type::Bool);
  throw ModelError(cat("A mask has sizes ", listText(mask.sizes), ", expected ", listText(Sizes{batch}), ", ",
                       listText(Sizes{2 * batch}), ", ", listText(Sizes{batch, keys}), " or ",
                       listText(Sizes{batch, queries, keys}), "."));
}

// [batch, queries, heads * size] of attention whose keys are behind `past` others.
Value attend(NodeContext& node, const Parts& parts, int64_t past, const std::optional<Value>& mask,
             const std::optional<Value>& bias) {
  GraphBuilder& graph = node.graph();
  const Attributes& attributes = node.attributes();
  const float scale = scaleOfScores(attributes, parts.query.sizes[3]);
  Scores scores{matrixProduct(graph, parts.query, graph.transpose(parts.key, {0, 1, 3, 2}), scale)};
  const Sizes& sizes = scores.value.sizes;
  const Type type = scores.value.type;
  if (mask) {
    const Value hidden = scalar(type, static_cast<double>(attributes.real("mask_filter_value", -10000)));
    scores.value = add(graph, scores.value, select(graph, visibleKeys(graph, *mask, sizes), scalar(type, 0), hidden));
  }
  if (attributes.flag("unidirectional")) {
    const Value end = add(graph, counted({1, 1, sizes[2], 1}), integerScalar(past + 1));
    scores.value = hide(graph, scores.value, isLess(graph, counted({1, 1, 1, sizes[3]}), end));
  }
  if (bias) scores.value = add(graph, scores.value, *bias);
  return joinHeads(graph, matrixProduct(graph, softmaxOf(graph, scores), parts.value));
}

// Part `index` of [batch, length, heads, parts, size], as heads.
Value partOf(GraphBuilder& graph, const Value& packed, int64_t index, int64_t parts) {
  if (packed.rank() != 5 || packed.sizes[3] != parts)
    throw ModelError(
        cat("A tensor has sizes ", listText(packed.sizes), ", expected [batch, length, heads, ", parts, ", size]."));
  const Sizes& all = packed.sizes;
  const Value part = slice(graph, packed, {0, 0, 0, index, 0}, {all[0], all[1], all[2], 1, all[4]}, {1, 1, 1, 1, 1});
  return graph.transpose(graph.reshape(part, {all[0], all[1], all[2], all[4]}), {0, 2, 1, 3});
}

// Heads with their part of the bias of all, from `begin` on.
Value biased(NodeContext& node, const Value& heads, int64_t& begin) {
  if (!node.has(3)) return heads;
  GraphBuilder& graph = node.graph();
  const int64_t width = heads.sizes[1] * heads.sizes[3];
  const Value part = slice(graph, node.input(3), {begin}, {width}, {1});
  begin += width;
  return add(graph, heads, graph.reshape(part, {heads.sizes[1], 1, heads.sizes[3]}));
}

Parts partsOfMultiHead(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const int64_t heads = node.attributes().integer("num_heads", 0);
  int64_t begin = 0;
  Parts parts;
  if (!node.has(1)) {
    const auto part = [&](int64_t index) { return biased(node, partOf(graph, node.input(0), index, 3), begin); };
    parts.query = part(0);
    parts.key = part(1);
    parts.value = part(2);
    return parts;
  }
  if (node.input(0).rank() != 3)
    throw ModelError(cat("Input 0 has sizes ", listText(node.input(0).sizes), ", expected three dimensions."));
  parts.query = biased(node, splitHeads(graph, node.input(0), heads), begin);
  if (!node.has(2)) {
    parts.key = biased(node, partOf(graph, node.input(1), 0, 2), begin);
    parts.value = biased(node, partOf(graph, node.input(1), 1, 2), begin);
    return parts;
  }
  // What another attention has kept has its bias already.
  const auto given = [&](size_t index) {
    const Value& value = node.input(index);
    return value.rank() == 4 ? value : biased(node, splitHeads(graph, value, heads), begin);
  };
  parts.key = given(1);
  parts.value = given(2);
  return parts;
}

void mapMultiHeadAttention(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  if (node.has(8) || node.has(9))
    throw ModelError(
        cat("It has input ", node.has(8) ? "past_sequence_length" : "cache_indirection", ", which is not mapped."));
  if (node.has(6) != node.has(7)) throw ModelError("One of past_key and past_value is absent, expected both.");
  Parts parts = partsOfMultiHead(node);
  int64_t past = 0;
  if (node.has(6)) {
    if (node.input(6).rank() != 4) throw ModelError("past_key does not have four dimensions.");
    past = node.input(6).sizes[2];
    parts.key = join(graph, {node.input(6), parts.key}, 2);
    parts.value = join(graph, {node.input(7), parts.value}, 2);
  }
  node.setOutput(1, parts.key);
  node.setOutput(2, parts.value);
  node.setOutput(0, attend(node, parts, past, node.optional(4), node.optional(5)));
}

// The widths of queries, keys and values in what a product has made.
std::vector<int64_t> widthsOf(const NodeContext& node, int64_t all) {
  const auto given = node.attributes().integers("qkv_hidden_sizes");
  const std::vector<int64_t> widths = given && !given->empty() ? *given : std::vector<int64_t>(3, all / 3);
  if (widths.size() != 3 || widths[0] < 1 || widths[0] != widths[1] || widths[2] < 1 ||
      widths[0] + widths[1] + widths[2] != all)
    throw ModelError(cat("Attribute qkv_hidden_sizes is ", listText(widths), " for weights of ", all, " columns."));
  return widths;
}

void refuseAttributes(const NodeContext& node, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (node.attributes().flag(name)) throw ModelError(cat("Attribute ", name, " is 1, expected 0."));
}

// A mask of one number for each batch hides nothing.
std::optional<Value> maskOf(const NodeContext& node, size_t index) {
  const auto mask = node.optional(index);
  return mask && mask->rank() == 2 && mask->sizes[1] == 1 ? std::nullopt : mask;
}

// Attention of what a product has made, [batch, length, queries and keys and values], with its past and its present.
void attendToProjected(NodeContext& node, const Value& projected, const std::optional<Value>& mask, size_t pastIndex,
                       const std::optional<Value>& bias) {
  GraphBuilder& graph = node.graph();
  if (projected.rank() != 3)
    throw ModelError(cat("Input 0 has sizes ", listText(node.input(0).sizes), ", expected three dimensions."));
  const std::vector<int64_t> widths = widthsOf(node, projected.sizes[2]);
  const int64_t heads = node.attributes().integer("num_heads", 0);
  const auto part = [&](int64_t begin, int64_t width) {
    return splitHeads(graph, lastPart(graph, projected, begin, width), heads);
  };
  Parts parts{part(0, widths[0]), part(widths[0], widths[1]), part(widths[0] + widths[1], widths[2])};
  int64_t past = 0;
  if (node.has(pastIndex)) {
    const Value& both = node.input(pastIndex);
    if (both.rank() != 5 || both.sizes[0] != 2)
      throw ModelError(cat("past has sizes ", listText(both.sizes), ", expected [2, batch, heads, length, size]."));
    past = both.sizes[3];
    Sizes one = both.sizes;
    one[0] = 1;
    const auto before = [&](int64_t index) {
      return graph.reshape(slice(graph, both, {index, 0, 0, 0, 0}, one, Sizes(5, 1)),
                           Sizes(both.sizes.begin() + 1, both.sizes.end()));
    };
    parts.key = join(graph, {before(0), parts.key}, 2);
    parts.value = join(graph, {before(1), parts.value}, 2);
  }
  if (node.wants(1)) {
    const auto stacked = [&](const Value& value) { return graph.padRank(value, 5); };
    node.setOutput(1, join(graph, {stacked(parts.key), stacked(parts.value)}, 0));
  }
  node.setOutput(0, attend(node, parts, past, mask, bias));
}

void mapContribAttention(NodeContext& node) {
  refuseAttributes(node, {"do_rotary", "past_present_share_buffer"});
  if (node.has(6)) throw ModelError("It has input past_sequence_length, which is not mapped.");
  GraphBuilder& graph = node.graph();
  Value projected = matrixProduct(graph, node.input(0), node.input(1));
  if (node.has(2)) projected = add(graph, projected, node.input(2));
  attendToProjected(node, projected, maskOf(node, 3), 4, node.optional(5));
}

void mapQAttention(NodeContext& node) {
  refuseAttributes(node, {"do_rotary", "past_present_share_buffer"});
  const QuantizedOperand input{node.input(0), productParameter(node, 3, true), productParameter(node, 6, true)};
  const QuantizedOperand weights{node.input(1), productParameter(node, 4, false), productParameter(node, 7, false)};
  const Value projected = quantizedProduct(node.graph(), input, weights, node.input(2), node.input(2).type);
  attendToProjected(node, projected, maskOf(node, 5), 8, {});
}

constexpr Mapping kMultiHeadMappings[] = {
    {kMicrosoft, "Attention", 1, mapContribAttention},
    {kMicrosoft, "MultiHeadAttention", 1, mapMultiHeadAttention},
    {kMicrosoft, "QAttention", 1, mapQAttention},
};

}  // namespace

std::span<const Mapping> multiHeadMappings() { return kMultiHeadMappings; }

}  // namespace dimple::onnx
