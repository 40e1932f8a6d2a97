// A decoder of words with a cache, as ONNX Runtime's builder of language models writes them, with weights from a seed:
// embeddings, layers of SkipSimplifiedLayerNormalization, MatMulNBits of 4 bits in blocks of 32, GroupQueryAttention
// with rotary embeddings and SiLU, and logits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/onnx/model_builder.h"

namespace dimple::testing {

struct LanguageSizes {
  int64_t layers = 3;
  int64_t heads = 4;  // of queries
  int64_t keyHeads = 2;
  int64_t channels = 16;  // of a head
  int64_t inner = 128;
  int64_t words = 96;     // that it knows
  int64_t capacity = 48;  // of its cache, in words
  int64_t batch = 1;
  onnx::Type type = onnx::Type::Float;
  // Rotary embeddings are nodes of their own, as ONNX Runtime's DirectML provider takes them, with an input
  // "position_ids"; else GroupQueryAttention rotates.
  bool rotatesApart = false;

  int64_t width() const { return heads * channels; }
  onnx::Sizes cache() const { return {batch, keyHeads, capacity, channels}; }
};

// Its inputs are those of languageInputs(), whose number of words is open, and a past for each present; its outputs are
// "logits" and the present.
ModelMaker languageModel(const LanguageSizes& sizes);
// The same for sizes that fill a device: large weights repeat a few drawn numbers, and those of equal sizes are one
// tensor of the host, although each is another constant of the model.
onnx::Model largeLanguageModel(const LanguageSizes& sizes);
// The inputs beside the past of a run for words behind `past` others, one batch after another.
std::map<std::string, onnx::HostTensor> languageInputs(const LanguageSizes& sizes, const std::vector<int64_t>& words,
                                                       int64_t past);
// The names of pasts, and of the presents that continue them.
std::vector<std::pair<std::string, std::string>> cachesOf(const LanguageSizes& sizes);
// A prompt of so many words for each batch.
std::vector<int64_t> promptOf(const LanguageSizes& sizes, int64_t count);
// The likeliest word behind the last one of each batch.
std::vector<int64_t> likeliest(const onnx::HostTensor& logits);

}  // namespace dimple::testing
