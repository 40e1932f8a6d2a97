#include "tests/conformance/oracle/attention.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/conformance/oracle/fields.h"

namespace oracle {
namespace {

constexpr double kFloatEps = 0x1p-23;

// {batch, head, position, channel} -> value
struct Heads {
  size_t batches = 0, heads = 0, positions = 0, channels = 0;
  std::vector<double> values;

  Heads(size_t b, size_t h, size_t p, size_t c)
      : batches(b), heads(h), positions(p), channels(c), values(b * h * p * c) {}
  double& at(size_t b, size_t h, size_t p, size_t c) {
    return values[((b * heads + h) * positions + p) * channels + c];
  }
};

struct Problem {
  size_t batch, queries, keys, queryHeads, keyHeads, keySize, valueSize;
  double scale, filterValue;
  DML_MULTIHEAD_ATTENTION_MASK_TYPE maskType;
  DML_TENSOR_DATA_TYPE type;
};

// Query, key or value `part` (0 to 2) from a tensor of its own or from a stack that has it.
Heads sourceOf(std::span<const Array> inputs, size_t part, size_t heads) {
  if (const Array& own = inputs[part]; !own.absent()) {
    const size_t rank = own.sizes.size();
    const size_t channels = own.sizes[rank - 1] / heads;
    Heads result(own.sizes[rank - 3], heads, own.sizes[rank - 2], channels);
    for (size_t i = 0; i < own.real.size(); ++i)
      result.at(i / channels / heads / result.positions, i / channels % heads, i / channels / heads % result.positions,
                i % channels) = own.real[i];
    return result;
  }
  const size_t stack = !inputs[3].absent() && part < 2 ? 3 : !inputs[4].absent() && part > 0 ? 4 : 5;
  const Array& given = inputs[stack];
  const size_t first = stack == 4 ? 1 : 0;
  Heads result(given.sizes[0], given.sizes[2], given.sizes[1], given.sizes[4]);
  for (size_t b = 0; b < given.sizes[0]; ++b)
    for (size_t p = 0; p < given.sizes[1]; ++p)
      for (size_t h = 0; h < given.sizes[2]; ++h)
        for (size_t c = 0; c < given.sizes[4]; ++c)
          result.at(b, h, p, c) =
              given.real[(((b * given.sizes[1] + p) * given.sizes[2] + h) * given.sizes[3] + part - first) *
                             given.sizes[4] +
                         c];
  return result;
}

void addBias(Heads& heads, const Array& bias, size_t first) {
  if (bias.absent()) return;
  for (size_t b = 0; b < heads.batches; ++b)
    for (size_t h = 0; h < heads.heads; ++h)
      for (size_t p = 0; p < heads.positions; ++p)
        for (size_t c = 0; c < heads.channels; ++c) heads.at(b, h, p, c) += bias.real[first + h * heads.channels + c];
}

// The past, then what is new. With `lengths` the past is a tensor with room, in which the new follows as many as that.
Heads historyOf(Heads& added, const Array& past, const Array* lengths) {
  if (past.absent()) return added;
  const size_t before = past.sizes[past.sizes.size() - 2];
  Heads all(added.batches, added.heads, lengths != nullptr ? before : before + added.positions, added.channels);
  for (size_t b = 0; b < added.batches; ++b)
    for (size_t h = 0; h < added.heads; ++h)
      for (size_t c = 0; c < added.channels; ++c) {
        for (size_t p = 0; p < before; ++p)
          all.at(b, h, p, c) = past.real[((b * added.heads + h) * before + p) * added.channels + c];
        size_t start = before;
        if (lengths != nullptr)
          start = static_cast<size_t>(
              std::clamp<int64_t>(lengths->whole[b], 0, static_cast<int64_t>(before - added.positions)));
        for (size_t p = 0; p < added.positions; ++p) all.at(b, h, start + p, c) = added.at(b, h, p, c);
      }
  return all;
}

// What Microsoft's DLL makes of the score of key `l` at query `s`, a product and its relative position bias. The page
// says that KEY_SEQUENCE_LENGTH and KEY_SEQUENCE_END_START set what the others add to: the DLL sets the bias. The page
// leaves open which positions are meant: those of KEY_QUERY_SEQUENCE_LENGTH_START_END count through all batches.
double masked(const Problem& problem, const Array& mask, double product, double relative, size_t b, size_t h, size_t s,
              size_t l) {
  const double score = product + relative;
  if (mask.absent()) return score;
  const size_t batch = problem.batch;
  const auto value = [&](size_t i) { return mask.whole[i]; };
  const auto key = static_cast<int64_t>(l);
  switch (problem.maskType) {
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN: {
      const size_t at = ((b * problem.queryHeads + h) * problem.queries + s) * problem.keys + l;
      return score + problem.filterValue * (1 - static_cast<double>(value(at)));
    }
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH:
      // Negative lengths are beyond every key.
      return value(b) < 0 || key < value(b) ? score : product + problem.filterValue;
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START:
      return key < value(b) && key >= value(batch + b) ? score : product + problem.filterValue;
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END: {
      const auto query = static_cast<int64_t>(b * problem.queries + s);
      if (query < value(batch + b) || query >= value(batch + b + 1)) return score;
      const int64_t position = static_cast<int64_t>(b * problem.keys + l) - value(2 * batch + 1 + b);
      return position >= 0 && position < value(b) ? score : score + problem.filterValue;
    }
    default:
      return score;
  }
}

Array arrayOf(const DML_TENSOR_DESC* tensor, const Heads& heads) {
  Array array = makeArray(bufferOf(tensor).DataType, sizesOf(bufferOf(tensor)));
  array.real = heads.values;
  return array;
}

std::vector<Result> evaluateAttention(Problem problem, std::span<const Array> inputs, const Array* lengths,
                                      const Array& pastKey, const Array& pastValue, const DML_TENSOR_DESC* output,
                                      const DML_TENSOR_DESC* presentKey, const DML_TENSOR_DESC* presentValue) {
  Heads query = sourceOf(inputs, 0, problem.queryHeads);
  Heads newKey = sourceOf(inputs, 1, problem.keyHeads);
  Heads newValue = sourceOf(inputs, 2, problem.keyHeads);
  const Array& bias = inputs[6];
  const size_t keyBias = query.heads * query.channels;
  addBias(query, bias, 0);
  addBias(newKey, bias, keyBias);
  addBias(newValue, bias, keyBias + newKey.heads * newKey.channels);
  Heads key = historyOf(newKey, pastKey, lengths);
  Heads value = historyOf(newValue, pastValue, lengths);
  problem.batch = query.batches;
  problem.queries = query.positions;
  problem.keys = key.positions;
  problem.type = bufferOf(output).DataType;
  const double eps = problem.type == DML_TENSOR_DATA_TYPE_FLOAT16 ? 0x1p-10 : kFloatEps;
  // Biased keys and values are rounded to the type on the way.
  const double rounding = bias.absent() ? 0 : eps;

  Result result{makeArray(problem.type, sizesOf(bufferOf(output))), ulp(4, 1)};
  result.slack.resize(result.value.real.size());
  std::vector<double> scores(problem.keys);
  for (size_t b = 0; b < problem.batch; ++b)
    for (size_t h = 0; h < problem.queryHeads; ++h)
      for (size_t s = 0; s < problem.queries; ++s) {
        const size_t group = h / (problem.queryHeads / problem.keyHeads);
        double top = -std::numeric_limits<double>::infinity();
        // How far a score may be off, which moves its weight by as much in proportion.
        double error = 0;
        for (size_t l = 0; l < problem.keys; ++l) {
          double score = 0;
          double magnitude = 0;
          for (size_t c = 0; c < query.channels; ++c) {
            const double product = query.at(b, h, s, c) * key.at(b, group, l, c);
            score += product;
            magnitude += std::fabs(product);
          }
          score *= problem.scale;
          const double terms = static_cast<double>(query.channels) + 4;
          double off = (2 * terms * kFloatEps + 2 * rounding) * magnitude * std::fabs(problem.scale);
          double relative = 0;
          if (!inputs[8].absent())
            relative = inputs[8].real[((b * problem.queryHeads + h) * problem.queries + s) * problem.keys + l];
          if (lengths != nullptr) {
            const bool isLater = static_cast<int64_t>(l) > lengths->whole[b] + static_cast<int64_t>(s);
            score += relative + (isLater ? problem.filterValue : 0);
          } else {
            score = masked(problem, inputs[7], score, relative, b, h, s, l);
          }
          off += 2 * kFloatEps * std::fabs(score);
          // An infinity is exact, and so are the other weights beside one that is 0.
          if (std::isfinite(score)) error = std::max(error, off);
          scores[l] = score;
          top = std::max(top, score);
        }
        double sum = 0;
        for (double& score : scores) sum += score = std::exp(score - top);
        for (size_t c = 0; c < value.channels; ++c) {
          double weighted = 0;
          double magnitude = 0;
          for (size_t l = 0; l < problem.keys; ++l) {
            const double term = scores[l] / sum * value.at(b, group, l, c);
            weighted += term;
            magnitude += std::fabs(term);
          }
          const size_t at = ((b * problem.queries + s) * problem.queryHeads + h) * value.channels + c;
          result.value.real[at] = weighted;
          // Exponentials within 32 ULP, and sums of as many terms as there are keys.
          const double steps = 64 + 4 * std::sqrt(static_cast<double>(problem.keys));
          result.slack[at] = magnitude * (2 * error + steps * kFloatEps + rounding) + 0x1p-120;
        }
      }

  std::vector<Result> results;
  results.push_back(std::move(result));
  for (const auto& [tensor, heads] : {std::pair{presentKey, &key}, std::pair{presentValue, &value}}) {
    if (tensor == nullptr)
      results.emplace_back();
    else
      results.push_back({arrayOf(tensor, *heads), bias.absent() ? exact() : ulp(1, 1)});
  }
  return results;
}

}  // namespace

std::vector<Result> evaluateMultiheadAttention(const DML_MULTIHEAD_ATTENTION_OPERATOR_DESC& desc,
                                               std::span<const Array> inputs) {
  if (inputs.size() != 11) throw std::invalid_argument("The operator takes 11 inputs.");
  Problem problem{};
  problem.queryHeads = problem.keyHeads = desc.HeadCount;
  problem.scale = static_cast<double>(desc.Scale);
  problem.filterValue = static_cast<double>(desc.MaskFilterValue);
  problem.maskType = desc.MaskType;
  return evaluateAttention(problem, inputs, nullptr, inputs[9], inputs[10], desc.OutputTensor,
                           desc.OutputPresentKeyTensor, desc.OutputPresentValueTensor);
}

std::vector<Result> evaluateMultiheadAttention1(const DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC& desc,
                                                std::span<const Array> inputs) {
  if (inputs.size() < 12) throw std::invalid_argument("The operator takes 12 inputs.");
  const bool hasLengths = !inputs[11].absent();
  if (hasLengths && inputs.size() != 14) throw std::invalid_argument("The contents of the present tensors are needed.");
  Problem problem{};
  problem.queryHeads = desc.QueryHeadCount;
  problem.keyHeads = desc.KeyValueHeadCount;
  problem.scale = static_cast<double>(desc.Scale);
  problem.filterValue = static_cast<double>(desc.MaskFilterValue);
  problem.maskType = desc.MaskType;
  return evaluateAttention(problem, inputs, hasLengths ? &inputs[11] : nullptr, inputs[hasLengths ? 12 : 9],
                           inputs[hasLengths ? 13 : 10], desc.OutputTensor, desc.OutputPresentKeyTensor,
                           desc.OutputPresentValueTensor);
}

}  // namespace oracle
