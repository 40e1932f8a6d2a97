// Multi-head attention: every way to give query, key and value, with every mask, bias and history.
#include <algorithm>
#include <array>

#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

struct Problem {
  uint32_t batch, queries, keys, keyHeads, headsPerKey, keySize, valueSize;
  uint32_t past = 0;
  uint32_t heads() const { return keyHeads * headsPerKey; }
};

enum class Source : uint8_t { Separate, StackedQueryKey, StackedKeyValue, StackedAll };

// Sizes behind leading ones, to a rank of at most five.
Sizes padded(Random& random, Sizes sizes) {
  for (size_t leading = random.below(6 - sizes.size()); leading > 0; --leading) sizes.insert(sizes.begin(), 1);
  return sizes;
}

std::string numbers(Random& random, std::initializer_list<std::pair<uint32_t, uint32_t>> countsAndLimits) {
  std::string text;
  for (const auto& [count, limit] : countsAndLimits)
    for (uint32_t i = 0; i < count; ++i) text += cat(text.empty() ? "" : ",", random.below(limit + 1));
  return cat("[", text, "]");
}

// Positions of all batches in turn: lengths of keys, starts of queries and their end, starts of keys and their end.
std::string positions(Random& random, const Problem& problem, uint32_t keys) {
  std::string text = numbers(random, {{problem.batch, keys}});
  text.pop_back();
  for (const uint32_t size : {problem.queries, keys}) {
    for (uint32_t b = 0; b <= problem.batch; ++b)
      text += cat(",", std::min(b * size + random.below(2), uint64_t{problem.batch} * size));
  }
  return text + "]";
}

class Case {
 public:
  Case(Generator& generator, const Problem& problem, bool plain)
      : generator_(generator), random_(generator.random), problem_(problem), plain_(plain), line_(generator.schema) {}

  void add(Source source, bool hasLengths) {
    const auto& [batch, queries, keys, keyHeads, headsPerKey, keySize, valueSize, past] = problem_;
    const bool one = generator_.schema.type == DML_OPERATOR_MULTIHEAD_ATTENTION1;
    const uint32_t heads = problem_.heads();
    const size_t rank = 3 + generator_.index() % 3;
    const auto withRank = [&](Sizes sizes) {
      while (sizes.size() < rank) sizes.insert(sizes.begin(), 1);
      return sizes;
    };
    if (source == Source::Separate || source == Source::StackedKeyValue)
      set("QueryTensor", withRank({batch, queries, heads * keySize}));
    if (source == Source::Separate) set("KeyTensor", withRank({batch, keys, keyHeads * keySize}));
    if (source == Source::Separate || source == Source::StackedQueryKey)
      set("ValueTensor", withRank({batch, keys, keyHeads * valueSize}));
    if (source == Source::StackedQueryKey) set("StackedQueryKeyTensor", {batch, queries, heads, 2, keySize});
    if (source == Source::StackedKeyValue) set("StackedKeyValueTensor", {batch, keys, keyHeads, 2, keySize});
    if (source == Source::StackedAll) set("StackedQueryKeyValueTensor", {batch, queries, heads, 3, keySize});
    if (random_.chance(0.4)) set("BiasTensor", padded(random_, {heads * keySize + keyHeads * (keySize + valueSize)}));

    // With lengths, the present tensors have room for more keys.
    const uint32_t all = hasLengths ? keys + past : past + keys;
    const std::string_view mask = hasLengths ? "NONE" : setMask(all);
    if (!hasLengths && random_.chance(0.4))
      set("RelativePositionBiasTensor", padded(random_, {batch, heads, queries, all}));
    if (!hasLengths && past > 0) {
      set("PastKeyTensor", padded(random_, {batch, keyHeads, past, keySize}));
      set("PastValueTensor", padded(random_, {batch, keyHeads, past, valueSize}));
    }
    if (hasLengths) {
      line_.set("PastSequenceLengthsTensor", TensorText{DML_TENSOR_DATA_TYPE_INT32, padded(random_, {batch})});
      line_.set("input11", numbers(random_, {{batch, past}}));
    }
    set("OutputTensor", withRank({batch, queries, heads * valueSize}), true);
    if (hasLengths || random_.chance(0.4))
      set("OutputPresentKeyTensor", padded(random_, {batch, keyHeads, all, keySize}), true);
    if (hasLengths || random_.chance(0.4))
      set("OutputPresentValueTensor", padded(random_, {batch, keyHeads, all, valueSize}), true);
    line_.set("Scale", random_.pick(kScales)).set("MaskFilterValue", random_.pick(kFilterValues));
    if (one)
      line_.set("QueryHeadCount", heads).set("KeyValueHeadCount", keyHeads);
    else
      line_.set("HeadCount", heads);
    line_.set("MaskType", mask);
    generator_.keep(std::move(line_), random_.chance(0.4) ? "int" : "float");
  }

 private:
  static constexpr std::array<std::string_view, 4> kScales = {"0.125", "0.5", "-0.25", "0.01"};
  static constexpr std::array<std::string_view, 4> kFilterValues = {"-10000", "-1", "-3.5", "0.5"};

  void set(std::string_view name, Sizes sizes, bool output = false) {
    const size_t cycle = generator_.cycle() + (generator_.index() % 3 == 0 ? tensors_ : 0);
    ++tensors_;
    if (plain_)
      line_.set(name, TensorText{generator_.type, std::move(sizes)});
    else
      line_.set(name, output ? generator_.output(generator_.type, std::move(sizes), cycle)
                             : generator_.input(generator_.type, std::move(sizes), cycle));
  }

  // Returns its type.
  std::string_view setMask(uint32_t keys) {
    constexpr std::array<std::string_view, 5> kTypes = {"NONE", "KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START",
                                                        "KEY_QUERY_SEQUENCE_LENGTH_START_END", "BOOLEAN"};
    const size_t type = generator_.index() % kTypes.size();
    const auto& p = problem_;
    const auto tensor = [&](Sizes sizes) {
      line_.set("MaskTensor", plain_ ? TensorText{DML_TENSOR_DATA_TYPE_INT32, std::move(sizes)}
                                     : generator_.input(DML_TENSOR_DATA_TYPE_INT32, padded(random_, std::move(sizes)),
                                                        generator_.cycle()));
    };
    switch (type) {
      case 1:
        tensor({1, p.batch});
        line_.set("input7", numbers(random_, {{p.batch, keys + 1}}));
        break;
      case 2:
        tensor({2, p.batch});
        line_.set("input7", numbers(random_, {{p.batch, keys}, {p.batch, keys / 3}}));
        break;
      case 3:
        tensor({3 * p.batch + 2});
        line_.set("input7", positions(random_, p, keys));
        break;
      case 4:
        tensor({p.batch, p.heads(), p.queries, keys});
        line_.set("input7", numbers(random_, {{7, 1}, {1, 2}, {3, 1}}));
        break;
      default:
        break;
    }
    return kTypes[type];
  }

  Generator& generator_;
  Random& random_;
  const Problem& problem_;
  const bool plain_;
  Line line_;
  size_t tensors_ = 0;
};

}  // namespace

void generateAttention(Generator& generator) {
  Random& random = generator.random;
  const bool one = generator.schema.type == DML_OPERATOR_MULTIHEAD_ATTENTION1;
  while (generator.index() < kCasesPerType) {
    const size_t turn = generator.index();
    const auto source = static_cast<Source>(turn / 5 % 4);
    // Around the number of keys and channels that a workgroup takes at a time.
    constexpr std::array<uint32_t, 4> kLong = {255, 256, 257, 600};
    // The same of queries.
    constexpr std::array<uint32_t, 4> kQueries = {12, 64, 65, 130};
    Problem problem{random.size(1, 3),  random.size(1, 9), random.size(1, 20), random.size(1, 3), 1,
                    random.size(1, 20), random.size(1, 20)};
    if (turn % 7 == 0) problem.keys = random.pick(kLong);
    if (turn % 4 == 1) problem.queries = random.pick(kQueries);
    if (turn % 11 == 0) problem.valueSize = random.pick(kLong);
    const bool stackedQuery = source == Source::StackedQueryKey || source == Source::StackedAll;
    if (stackedQuery) problem.keys = problem.queries;
    if (source == Source::StackedKeyValue || source == Source::StackedAll) problem.valueSize = problem.keySize;
    if (one && !stackedQuery) problem.headsPerKey = random.size(1, 4);
    if (random.chance(0.4)) problem.past = random.size(1, 5);
    // New keys and queries come together where they follow a past of known length.
    const bool hasLengths = one && turn % 3 == 1;
    if (hasLengths) problem.keys = problem.queries;
    Case(generator, problem, false).add(source, hasLengths);
  }
  Case(generator, {1, 731, 1437, 1, 1, 3, 2}, true).add(Source::Separate, false);
  while (generator.lines.back().find("RelativePositionBiasTensor") == std::string::npos)
    Case(generator, {1, 731, 1437, 1, 1, 3, 2}, true).add(Source::Separate, false);
}

}  // namespace dimple::testing
