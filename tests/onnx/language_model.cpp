#include "tests/onnx/language_model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "clients/onnx/text.h"

namespace dimple::testing {
namespace {

using onnx::cat;
using onnx::HostTensor;
using onnx::Type;

// Adds nodes and weights, which are named by numbers.
class LanguageMaker {
 public:
  // Weights that are shared are no part of the ModelMaker.
  LanguageMaker(const LanguageSizes& sizes, bool shares) : sizes_(sizes), shares_(shares) {
    auto& import = *model_.proto().add_opset_import();
    import.set_domain("com.microsoft");
    import.set_version(1);
  }

  ModelMaker make() {
    addInputs();
    std::string state = node("Gather", {weights({sizes_.words, sizes_.width()}, 3), "input_ids"}, "");
    std::string added;
    const auto normalized = [&] {
      const std::string scale = weights({sizes_.width()}, 60, 1);
      if (added.empty()) return node("SimplifiedLayerNormalization", {state, scale}, "");
      const std::string y = node("SkipSimplifiedLayerNormalization", {state, added, scale});
      state = y + "_sum";
      for (const std::string& output : {std::string(), std::string(), state}) last_->add_output(output);
      return y;
    };
    for (int64_t layer = 0; layer < sizes_.layers; ++layer) {
      added = attention(normalized(), layer);
      added = gated(normalized(), layer);
    }
    const std::string logits = product(normalized(), sizes_.width(), sizes_.words, false);
    model_.node("Identity", {logits}, {"logits"});
    model_.output("logits");
    for (const auto& [past, present] : cachesOf(sizes_)) model_.output(present);
    return std::move(model_);
  }
  const std::map<std::string, onnx::SharedTensor>& shared() const { return shared_; }

 private:
  void addInputs() {
    model_.input("input_ids", Type::Int64, {sizes_.batch, -1});
    model_.input("seqlens_k", Type::Int32, {sizes_.batch});
    model_.input("total_sequence_length", Type::Int32, {});
    if (sizes_.rotatesApart) model_.input("position_ids", Type::Int64, {sizes_.batch, -1});
    for (const auto& [past, present] : cachesOf(sizes_)) model_.input(past, sizes_.type, sizes_.cache());
    const int64_t half = sizes_.channels / 2;
    HostTensor cosines(sizes_.type, {sizes_.capacity, half}), sines = cosines;
    for (int64_t i = 0; i < cosines.elements(); ++i) {
      const double rate = std::pow(10000.0, -static_cast<double>(i % half) / static_cast<double>(half));
      cosines.setReal(static_cast<size_t>(i), std::cos(static_cast<double>(i / half) * rate));
      sines.setReal(static_cast<size_t>(i), std::sin(static_cast<double>(i / half) * rate));
    }
    model_.initializer("cos_cache", cosines);
    model_.initializer("sin_cache", sines);
  }

  std::string node(const std::string& type, const std::vector<std::string>& inputs,
                   const char* domain = "com.microsoft") {
    const std::string y = cat("v", ++count_);
    last_ = &model_.node(type, inputs, {y});
    last_->set_name(cat(type, "_", count_));
    last_->set_domain(domain);
    return y;
  }
  std::string constant(const HostTensor& tensor) {
    const std::string name = cat("c", ++count_);
    model_.initializer(name, tensor);
    return name;
  }
  // Elements from `draw`, which fills the first so many of a tensor. `kind` tells apart what has equal sizes.
  template <class Draw>
  std::string drawnConstant(Type type, const onnx::Sizes& sizes, double kind, Draw draw) {
    const int64_t count = onnx::elementCount(sizes);
    if (!shares_) {
      HostTensor tensor(type, sizes);
      draw(tensor, count);
      return constant(tensor);
    }
    const std::string name = cat("c", ++count_);
    onnx::SharedTensor& known = known_[{type, sizes, kind}];
    if (!known) {
      constexpr int64_t kDrawn = 1048573;  // a prime, so that no two rows of a matrix are equal
      const auto made = std::make_shared<HostTensor>(type, sizes);
      draw(*made, std::min(count, kDrawn));
      std::vector<std::byte>& bytes = made->bytes;
      const size_t elementBytes = bytes.size() / static_cast<size_t>(count);
      for (size_t done = static_cast<size_t>(kDrawn) * elementBytes; done < bytes.size();) {
        const size_t part = std::min(done, bytes.size() - done);
        std::copy_n(bytes.begin(), part, bytes.begin() + static_cast<std::ptrdiff_t>(done));
        done += part;
      }
      known = made;
    }
    shared_[name] = known;
    return name;
  }
  uint64_t drawn() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 40;
  }
  // Numbers around `mean` that keep sums over `fanIn` of them near 1.
  std::string weights(const onnx::Sizes& sizes, int64_t fanIn, double mean = 0) {
    const double reach = std::sqrt(3.0 / static_cast<double>(fanIn));
    return drawnConstant(sizes_.type, sizes, mean, [&](HostTensor& tensor, int64_t count) {
      for (size_t i = 0; i < static_cast<size_t>(count); ++i)
        tensor.setReal(i, mean + reach * (static_cast<double>(drawn()) / 8388608.0 - 1));
    });
  }

  std::string product(const std::string& x, int64_t depth, int64_t columns, bool hasZeros) {
    const int64_t blocks = depth / 32;
    const std::string packed =
        drawnConstant(Type::UInt8, {columns, blocks, 16}, 0, [&](HostTensor& tensor, int64_t count) {
          for (size_t i = 0; i < static_cast<size_t>(count); ++i) tensor.bytes[i] = static_cast<std::byte>(drawn());
        });
    // Integers from -8 to 7 have a mean square of 21.
    const std::string scales = weights({columns, blocks}, 84 * depth, 1 / std::sqrt(21.0 * static_cast<double>(depth)));
    std::vector<std::string> inputs{x, packed, scales};
    if (hasZeros) {
      HostTensor zeros(Type::UInt8, {columns, (blocks + 1) / 2});
      for (size_t i = 0; i < zeros.bytes.size(); ++i) zeros.setInteger(i, i % 2 ? 0x87 : 0x78);
      inputs.push_back(constant(zeros));
    }
    const std::string y = node("MatMulNBits", inputs);
    for (const auto& [name, number] :
         {std::pair{"K", depth}, {"N", columns}, {"bits", int64_t{4}}, {"block_size", int64_t{32}}})
      setAttribute(*last_, name, number);
    return y;
  }

  std::string attention(const std::string& x, int64_t layer) {
    const int64_t width = sizes_.width(), keys = sizes_.keyHeads * sizes_.channels;
    const auto caches = cachesOf(sizes_);
    const auto& [pastKey, presentKey] = caches[static_cast<size_t>(2 * layer)];
    const auto& [pastValue, presentValue] = caches[static_cast<size_t>(2 * layer + 1)];
    std::string q = product(x, width, width, layer % 2 != 0);
    std::string k = product(x, width, keys, false);
    const std::string v = product(x, width, keys, true);
    if (sizes_.rotatesApart)
      for (std::string* rotated : {&q, &k})
        *rotated = node("RotaryEmbedding", {*rotated, "position_ids", "cos_cache", "sin_cache"});
    std::vector<std::string> inputs{q, k, v, pastKey, pastValue, "seqlens_k", "total_sequence_length"};
    if (!sizes_.rotatesApart) inputs.insert(inputs.end(), {"cos_cache", "sin_cache"});
    const std::string y = node("GroupQueryAttention", inputs);
    last_->add_output(presentKey);
    last_->add_output(presentValue);
    setAttribute(*last_, "num_heads", sizes_.heads);
    setAttribute(*last_, "kv_num_heads", sizes_.keyHeads);
    if (!sizes_.rotatesApart) setAttribute(*last_, "do_rotary", int64_t{1});
    return product(y, width, width, false);
  }

  std::string gated(const std::string& x, int64_t layer) {
    const std::string gate = product(x, sizes_.width(), sizes_.inner, layer % 2 == 0);
    const std::string up = product(x, sizes_.width(), sizes_.inner, false);
    const std::string silu = node("Mul", {gate, node("Sigmoid", {gate}, "")}, "");
    return product(node("Mul", {silu, up}, ""), sizes_.inner, sizes_.width(), false);
  }

  const LanguageSizes& sizes_;
  const bool shares_;
  std::map<std::tuple<Type, onnx::Sizes, double>, onnx::SharedTensor> known_;
  std::map<std::string, onnx::SharedTensor> shared_;
  ModelMaker model_{17};
  ::onnx::NodeProto* last_ = nullptr;
  int count_ = 0;
  uint64_t state_ = 1;
};

}  // namespace

ModelMaker languageModel(const LanguageSizes& sizes) { return LanguageMaker(sizes, false).make(); }

onnx::Model largeLanguageModel(const LanguageSizes& sizes) {
  LanguageMaker maker(sizes, true);
  const ModelMaker nodes = maker.make();
  onnx::ModelDescription description = onnx::describe(nodes.proto(), {});
  description.graph.initializers.insert(maker.shared().begin(), maker.shared().end());
  return onnx::Model(std::move(description));
}

std::map<std::string, HostTensor> languageInputs(const LanguageSizes& sizes, const std::vector<int64_t>& words,
                                                 int64_t past) {
  const int64_t count = static_cast<int64_t>(words.size()) / sizes.batch, all = past + count;
  HostTensor ids = integers(words);
  ids.sizes = {sizes.batch, count};
  const std::vector<int64_t> last(static_cast<size_t>(sizes.batch), all - 1);
  HostTensor total(Type::Int32, {});
  total.setInteger(0, all);
  std::map<std::string, HostTensor> inputs{
      {"input_ids", ids}, {"seqlens_k", onnx::integerTensor(Type::Int32, last)}, {"total_sequence_length", total}};
  if (sizes.rotatesApart) {
    HostTensor positions(Type::Int64, ids.sizes);
    for (int64_t i = 0; i < positions.elements(); ++i) positions.setInteger(static_cast<size_t>(i), past + i % count);
    inputs["position_ids"] = positions;
  }
  return inputs;
}

std::vector<std::pair<std::string, std::string>> cachesOf(const LanguageSizes& sizes) {
  std::vector<std::pair<std::string, std::string>> all;
  for (int64_t layer = 0; layer < sizes.layers; ++layer)
    for (const char* part : {"key", "value"})
      all.emplace_back(cat("past_key_values.", layer, ".", part), cat("present.", layer, ".", part));
  return all;
}

std::vector<int64_t> promptOf(const LanguageSizes& sizes, int64_t count) {
  std::vector<int64_t> words;
  for (int64_t i = 0; i < sizes.batch * count; ++i) words.push_back((i * i * 7 + 11 * i + 3) % sizes.words);
  return words;
}

std::vector<int64_t> likeliest(const HostTensor& logits) {
  std::vector<int64_t> found;
  const auto batches = static_cast<size_t>(logits.sizes[0]), count = static_cast<size_t>(logits.sizes[1]);
  const auto words = static_cast<size_t>(logits.sizes[2]);
  for (size_t b = 0; b < batches; ++b) {
    const size_t begin = ((b + 1) * count - 1) * words;
    size_t best = 0;
    for (size_t w = 1; w < words; ++w)
      if (logits.real(begin + w) > logits.real(begin + best)) best = w;
    found.push_back(static_cast<int64_t>(best));
  }
  return found;
}

}  // namespace dimple::testing
