// What operators of attention are made of: heads, rotations, scores and masks.
#pragma once

#include <limits>

#include "clients/onnx/product.h"

namespace dimple::onnx {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 0, 1, 2, ..
Value counted(const Sizes& sizes);

// [batch, length, heads * size] as [batch, heads, length, size]; four dimensions as they are.
Value splitHeads(GraphBuilder& graph, const Value& value, int64_t heads);
// [batch, heads, length, size] as [batch, length, heads * size].
Value joinHeads(GraphBuilder& graph, const Value& value);
// `count` heads of [batch, heads, length, size], each of which serves a group of them.
Value repeatHeads(GraphBuilder& graph, const Value& value, int64_t count);
// The part of the last axis from `begin` on.
Value lastPart(GraphBuilder& graph, const Value& value, int64_t begin, int64_t size);

// How the elements of heads are turned by their places.
struct Rotation {
  Value cosine, sine;        // [batch or 1, length, half of what is turned]
  int64_t turned = 0;        // of the first elements of a head, how many
  bool interleaved = false;  // pairs stand side by side, not half of `turned` apart
  bool headsFirst = false;   // heads come before words
};
// Of [batch, length, heads, size], or [batch, heads, length, size].
Value rotateHeads(GraphBuilder& graph, const Value& x, const Rotation& rotation);
// The rows of a cache of two dimensions for places [batch, length].
Value rowsOf(GraphBuilder& graph, const Value& cache, const Value& places);

Value isLess(GraphBuilder& graph, const Value& a, const Value& b);

// Products of queries and keys, [batch, heads, queries, keys].
struct Scores {
  Value value;
  bool hides = false;  // a row may be all minus infinity
};

// Minus infinity where a query does not see a key.
Value hide(GraphBuilder& graph, const Value& scores, const Value& visible);
// cap * tanh(scores / cap); as they are if `cap` is 0.
Value bend(GraphBuilder& graph, const Value& scores, float cap);
// Over the keys. `sink`: a score for each head that takes its share, and gives nothing.
Value softmaxOf(GraphBuilder& graph, const Scores& scores, const std::optional<Value>& sink = {});

// The scale of scores: an attribute, or what follows from the size of a head.
float scaleOfScores(const Attributes& attributes, int64_t headSize);

}  // namespace dimple::onnx
