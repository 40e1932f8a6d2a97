// Microsoft's attention over a cache, of words that follow what each batch has there.
#include <algorithm>
#include <limits>
#include <utility>

#include "clients/onnx/attention.h"

namespace dimple::onnx {
namespace {

enum : size_t { kQuery, kKey, kValue, kPastKey, kPastValue, kLastPlaces, kTotal, kCosines, kSines, kPlaces, kBias };
enum : size_t { kSink = 11, kKeyScale, kValueScale, kQueryNorm, kKeyNorm };

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
    takeParts();
    const int64_t words = query_.sizes[1];
    const int64_t past = node_.has(kPastKey) ? node_.input(kPastKey).sizes[2] : 0;
    // Only this matters of the number of words in all, which grows from run to run: whether they are a prompt, which
    // has no past however many of its words count, and how many the cache has room for.
    const auto answer = node_.ask(kTotal, [words, past](const HostTensor& total) {
      if (total.elements() != 1)
        throw ModelError(cat("Input ", +kTotal, " has sizes ", listText(total.sizes), ", expected one element."));
      constexpr int64_t kMostWords = int64_t{1} << 40;
      const int64_t all = std::min(total.integer(0), kMostWords);
      return std::max(past, all) * 2 + (all == words);
    });
    if (!answer) return;
    room_ = *answer / 2;
    isPrompt_ = *answer % 2 != 0;
    if (room_ < words)
      throw ModelError(cat("Input ", +kTotal, " is ", room_, " for ", words, " words, expected at least as many."));
    start_ = starts();
    if (node_.attributes().flag("do_rotary")) rotateWords();
    if (appends())
      append(past);
    else
      attendToCopy(past);
  }

 private:
  void check() const {
    const Attributes& attributes = node_.attributes();
    if (heads_ < 1 || keyHeads_ < 1 || heads_ % keyHeads_ != 0)
      throw ModelError(cat("Attributes num_heads and kv_num_heads are ", heads_, " and ", keyHeads_,
                           ", expected a multiple of the second and the second."));
    for (const auto& [input, name] : {std::pair{kKeyScale, "k_scale"},
                                      {kValueScale, "v_scale"},
                                      {kQueryNorm, "q_norm_weight"},
                                      {kKeyNorm, "k_norm_weight"}})
      if (node_.has(input)) throw ModelError(cat("It has input ", name, ", which is not mapped."));
    for (const auto& [name, expected] : {std::pair{"qk_output", 0}, {"sliding_window_cache", 0}, {"causal", 1}})
      if (const int64_t value = attributes.integer(name, expected); value != expected)
        throw ModelError(cat("Attribute ", name, " is ", value, ", expected ", expected, "."));
    for (const char* name : {"k_quant_type", "v_quant_type"})
      if (const std::string type = attributes.text(name, "NONE"); type != "NONE")
        throw ModelError(cat("Attribute ", name, " is ", type, ", expected NONE."));
    if (node_.input(kQuery).rank() != 3 || node_.has(kKey) != node_.has(kValue) ||
        node_.has(kPastKey) != node_.has(kPastValue))
      throw ModelError("Its query is not of three dimensions, or one of a pair of inputs is absent.");
    for (const size_t input : {kPastKey, kPastValue})
      if (node_.has(input) && node_.input(input).rank() != 4)
        throw ModelError(cat("Input ", input, " has sizes ", listText(node_.input(input).sizes), ", expected four."));
  }

  // Takes query, key and value from separate tensors, or from the packed query.
  void takeParts() {
    Value parts[3] = {node_.input(kQuery)};
    if (node_.has(kKey)) {
      parts[1] = node_.input(kKey);
      parts[2] = node_.input(kValue);
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
    const auto split = [&](const Value& part, int64_t heads) {
      if (part.rank() != 3 || part.sizes[2] < heads || part.sizes[2] % heads != 0)
        throw ModelError(cat("A tensor has sizes ", listText(part.sizes), " for ", heads,
                             " heads, expected [batch, length, heads * size]."));
      return graph_.reshape(part, {part.sizes[0], part.sizes[1], heads, part.sizes[2] / heads});
    };
    query_ = split(parts[0], heads_);
    key_ = split(parts[1], keyHeads_);
    value_ = split(parts[2], keyHeads_);
  }

  int64_t batches() const { return query_.sizes[0]; }
  int64_t words() const { return query_.sizes[1]; }

  // Where the new words of each batch begin, [batch] of INT32.
  Value starts() const {
    if (isPrompt_) return hostValue(HostTensor(Type::Int32, {batches()}));
    const Value last = graph_.reshape(cast(graph_, node_.input(kLastPlaces), Type::Int32), {batches()});
    return add(graph_, last, scalar(Type::Int32, static_cast<double>(1 - words())));
  }

  // [batch, words]. Of a prompt with given places only the first of all counts.
  Value places() const {
    const Sizes sizes = {batches(), words()};
    if (!node_.has(kPlaces))
      return graph_.broadcast(
          add(graph_, graph_.reshape(cast(graph_, start_, Type::Int64), {batches(), 1}), counted({1, words()})), sizes);
    const Value given = cast(graph_, node_.input(kPlaces), Type::Int64);
    if (!isPrompt_) return graph_.reshape(given, sizes);
    const Value first = slice(graph_, graph_.reshape(given, {given.elements()}), {0}, {1}, {1});
    return graph_.broadcast(add(graph_, counted({1, words()}), graph_.reshape(first, {1, 1})), sizes);
  }

  void rotateWords() {
    const Value rows = places();
    const Rotation rotation{rowsOf(graph_, node_.input(kCosines), rows), rowsOf(graph_, node_.input(kSines), rows),
                            2 * node_.input(kCosines).sizes[1], node_.attributes().flag("rotary_interleaved")};
    query_ = rotateHeads(graph_, query_, rotation);
    key_ = rotateHeads(graph_, key_, rotation);
  }

  // Whether DirectML's operator, which stores new words in the present tensors and leaves the others as they are, says
  // the same: the present tensors are results whose memory the past is in, or there is no past.
  bool appends() const {
    const Attributes& attributes = node_.attributes();
    if (attributes.real("softcap", 0) != 0 || attributes.integer("local_window_size", -1) > 0 || hasSink() ||
        node_.has(kBias))
      return false;
    if (!node_.has(kPastKey)) return room_ == words();
    return continues(kPastKey, 1) && continues(kPastValue, 2);
  }
  bool continues(size_t pastIndex, size_t presentIndex) const {
    const Value& past = node_.input(pastIndex);
    return node_.isResult(presentIndex) && graph_.isGiven(past) && past.type == query_.type &&
           past.sizes == Sizes{batches(), keyHeads_, room_, query_.sizes[3]};
  }
  bool hasSink() const { return node_.has(kSink) || node_.attributes().integer("smooth_softmax", 0) > 0; }

  void append(int64_t past) {
    const auto flat = [&](const Value& heads) {
      return graph_.reshape(heads, {heads.sizes[0], heads.sizes[1], heads.sizes[2] * heads.sizes[3]});
    };
    const Sizes present = {batches(), keyHeads_, room_, query_.sizes[3]};
    Op op(graph_);
    DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC desc{};
    desc.QueryTensor = op.input(flat(query_));
    desc.KeyTensor = op.input(flat(key_));
    desc.ValueTensor = op.input(flat(value_));
    // From StackedQueryKeyTensor to PastValueTensor.
    for (int i = 0; i < 8; ++i) op.optionalInput({});
    desc.PastSequenceLengthsTensor = op.input(start_);
    desc.OutputTensor = op.output(query_.type, {batches(), words(), heads_ * query_.sizes[3]});
    desc.OutputPresentKeyTensor = op.output(query_.type, present);
    desc.OutputPresentValueTensor = op.output(query_.type, present);
    desc.Scale = scaleOfScores(node_.attributes(), query_.sizes[3]);
    desc.MaskFilterValue = std::numeric_limits<float>::lowest();
    desc.QueryHeadCount = static_cast<UINT>(heads_);
    desc.KeyValueHeadCount = static_cast<UINT>(keyHeads_);
    desc.MaskType = DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE;
    node_.setOutput(0, op.make(DML_OPERATOR_MULTIHEAD_ATTENTION1, desc));
    for (size_t i = 1; i <= 2; ++i) {
      if (past != 0) graph_.continueIn(op.result(i), node_.input(kPastKey + i - 1));
      node_.setOutput(i, op.result(i));
    }
  }

  void attendToCopy(int64_t past) {
    const Value starts = graph_.reshape(cast(graph_, start_, Type::Int64), {batches(), 1, 1, 1});
    const Value keys = cached(key_, kPastKey, past, starts), values = cached(value_, kPastValue, past, starts);
    node_.setOutput(1, keys);
    node_.setOutput(2, values);
    attend(keys, values, starts);
  }

  // The cache with the new words in it.
  Value cached(const Value& words, size_t input, int64_t past, const Value& starts) const {
    const Value added = graph_.transpose(words, {0, 2, 1, 3});
    const int64_t count = added.sizes[2];
    if (past == 0 && room_ == count) return added;
    const Value both = past == 0 ? added : join(graph_, {node_.input(input), added}, 2);
    // Places in `both`: those of the past before and behind the new words.
    const Value place = counted({1, 1, room_, 1});
    const Value end = add(graph_, starts, integerScalar(count));
    const Value old = minimum(graph_, place, integerScalar(past + count - 1));
    const Value fresh = subtract(graph_, add(graph_, place, integerScalar(past)), starts);
    const Value from =
        select(graph_, isLess(graph_, place, starts), old, select(graph_, isLess(graph_, place, end), fresh, old));
    Sizes sizes = added.sizes;
    sizes[2] = room_;
    Op op(graph_);
    DML_GATHER_ELEMENTS_OPERATOR_DESC desc{};
    desc.InputTensor = op.input(both);
    desc.IndicesTensor = op.input(graph_.broadcast(from, sizes));
    desc.OutputTensor = op.output(both.type, sizes);
    desc.Axis = 2;
    return op.make(DML_OPERATOR_GATHER_ELEMENTS, desc);
  }

  void attend(const Value& keys, const Value& values, const Value& starts) {
    const Attributes& attributes = node_.attributes();
    const Value q = graph_.transpose(query_, {0, 2, 1, 3});
    const Value k = graph_.transpose(repeatHeads(graph_, keys, heads_), {0, 1, 3, 2});
    Scores scores{matrixProduct(graph_, q, k, scaleOfScores(attributes, query_.sizes[3]))};
    scores.value = bend(graph_, scores.value, attributes.real("softcap", 0));
    const int64_t room = keys.sizes[2];
    if (node_.has(kBias)) scores.value = add(graph_, scores.value, biasFor(room));
    // A word sees itself and those before it, or a window of them.
    const Value key = counted({1, 1, 1, room});
    const Value word = add(graph_, starts, counted({1, 1, words(), 1}));
    scores.value = hide(graph_, scores.value, isLess(graph_, key, add(graph_, word, integerScalar(1))));
    if (const int64_t window = attributes.integer("local_window_size", -1); window > 0)
      scores.value = hide(graph_, scores.value, isLess(graph_, subtract(graph_, word, integerScalar(window)), key));
    std::optional<Value> sink;
    if (node_.has(kSink))
      sink = graph_.reshape(node_.input(kSink), {1, heads_, 1, 1});
    else if (hasSink())
      sink = scalar(query_.type, 0);
    const Value y = matrixProduct(graph_, softmaxOf(graph_, scores, sink), repeatHeads(graph_, values, heads_));
    node_.setOutput(0, joinHeads(graph_, y));
  }

  // The cache may have room for more words than there are; those are not seen.
  Value biasFor(int64_t room) const {
    const Value& bias = node_.input(kBias);
    if (bias.rank() != 4 || bias.sizes[3] > room)
      throw ModelError(cat("Input ", +kBias, " has sizes ", listText(bias.sizes), " for ", room, " keys."));
    if (bias.sizes[3] == room) return bias;
    return padConstant(graph_, bias, {0, 0, 0, 0}, {0, 0, 0, static_cast<UINT>(room - bias.sizes[3])},
                       scalarUnion(bias.type, scalarTensor(Type::Double, 0)));
  }

  NodeContext& node_;
  GraphBuilder& graph_;
  const int64_t heads_, keyHeads_;
  Value query_, key_, value_;  // [batch, word, head, channel]
  Value start_;                // where each batch's new words begin
  int64_t room_ = 0;           // of the present cache, in words
  bool isPrompt_ = false;
};

void mapGroupQueryAttention(NodeContext& node) { GroupedAttention(node).make(); }

constexpr Mapping kGroupedAttentionMappings[] = {
    {kMicrosoft, "GroupQueryAttention", 1, mapGroupQueryAttention},
};

}  // namespace

std::span<const Mapping> groupedAttentionMappings() { return kGroupedAttentionMappings; }

}  // namespace dimple::onnx
