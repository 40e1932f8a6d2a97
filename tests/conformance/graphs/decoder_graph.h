// Layers of a decoder of words as ONNX Runtime's DirectML provider describes them: weights of 4 or 8 bits that are
// dequantized before each product, rotary embeddings, attention between CASTs that appends to a cache of the caller's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/graphs/graph_of_lines.h"

namespace dimple::testing {

enum class ZeroPoints : uint8_t { Absent, Given, Filled };  // Filled: a FILL of UINT8, read as zero points of stride 0

// A tensor of weights, [N, K], with a scale for `block` of a row.
struct WeightOptions {
  std::string type = "u4";  // i4, u8, i8
  uint32_t block = 32;
  ZeroPoints zeroPoints = ZeroPoints::Absent;
  bool owned = true;  // by DML
  // The scales of every other column are, and the first element of the last row, if there are several. No term of its
  // sums is NaN or has another sign: nothing but the weights' distances from their zero points is negative, and these
  // are all the same.
  bool infinite = false;
};

struct DecoderOptions {
  uint32_t batches = 1, words = 1;  // new ones
  uint32_t layers = 1;
  uint32_t heads = 4, keyHeads = 2, channels = 16;
  uint32_t width = 64, inner = 96;
  uint32_t capacity = 40;         // words that the cache has room for
  std::vector<double> lengths{};  // of the past, one a batch; empty: there is none
  bool interleaved = false;       // pairs of the rotary embedding lie side by side
  std::string type = "f16";
  WeightOptions weights{};
  bool filled = true;     // else inputs hold nothing, for those who only plan
  bool poisoned = false;  // what the caches hold behind the words that they have is NaN
};

// Its outputs are the last hidden state, and of each layer the keys and the values of the cache, which hold numbers
// everywhere.
TestGraph decoder(const DecoderOptions& options);

// Rotary embeddings of the heads of queries and of keys, which lie side by side, with what a TILE makes of them as
// outputs.
TestGraph rotaryEmbeddings(const DecoderOptions& options);

// The product of [batches, words, depth] and such weights alone.
TestGraph productOfIntegers(const DecoderOptions& options, uint32_t columns, uint32_t depth, bool casts = false);
// The same with rows that are normalized first, by the roots of their mean squares; `hasFactor`: and multiplied by a
// factor of each step.
TestGraph productOfNormalized(const DecoderOptions& options, uint32_t columns, uint32_t depth, bool hasFactor);

}  // namespace dimple::testing
