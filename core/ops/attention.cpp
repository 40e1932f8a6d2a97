// Multi-head attention.
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

// Indices of inputs and outputs. Inputs from Query to StackedQueryKeyValue are the sources of query, key and value.
enum : size_t { kQuery, kKey, kValue, kStackedQueryKey, kStackedKeyValue, kStackedQueryKeyValue, kBias };
enum : size_t { kMask = 7, kRelativePositionBias, kPastKey, kPastValue, kPastSequenceLengths };
enum : size_t { kOutput, kPresentKey, kPresentValue };

// What MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1 have in common.
struct Attention {
  std::string_view queryHeadsName;
  uint64_t queryHeads;
  uint64_t keyValueHeads;
  DML_MULTIHEAD_ATTENTION_MASK_TYPE maskType;
};

// The last sizes of a tensor whose others are 1.
Status checkLastSizes(const std::string& name, const Tensor& tensor, std::initializer_list<uint64_t> sizes) {
  if (tensor.rank < sizes.size())
    return invalid(cat(name, " has DimensionCount (", tensor.rank, "), expected at least ", sizes.size(), "."));
  const auto leading = tensor.rank - static_cast<uint32_t>(sizes.size());
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (auto error = checkSize(name, tensor, d, d < leading ? 1 : sizes.begin()[d - leading])) return error;
  return {};
}

Status checkSources(const OpView& view) {
  std::string given;
  uint32_t mask = 0;
  for (size_t i = 0; i < kBias; ++i) {
    if (!view.input(i).present()) continue;
    mask |= 1u << i;
    given += cat(given.empty() ? "" : ", ", view.inputName(i));
  }
  for (const uint32_t allowed : {1u << kQuery | 1u << kKey | 1u << kValue, 1u << kStackedQueryKey | 1u << kValue,
                                 1u << kQuery | 1u << kStackedKeyValue, 1u << kStackedQueryKeyValue})
    if (mask == allowed) return {};
  return invalid(cat("The query, key and value come from (", given.empty() ? "no tensor" : given,
                     "), expected each from one tensor of its own or from a stacked one."));
}

Status checkHeads(const Attention& attention) {
  if (attention.queryHeads == 0) return invalid(cat(attention.queryHeadsName, " has value (0), expected at least 1."));
  if (attention.keyValueHeads != 0 && attention.queryHeads % attention.keyValueHeads == 0) return {};
  return invalid(cat("KeyValueHeadCount has value (", attention.keyValueHeads, "), expected a divisor of ",
                     attention.queryHeadsName, " (", attention.queryHeads, ")."));
}

// The last size of a tensor in parts, one for each head.
Status checkDivides(const std::string& name, const Tensor& tensor, uint64_t heads) {
  const uint32_t size = tensor.sizes[tensor.rank - 1];
  if (size % heads == 0) return {};
  return invalid(cat(name, " has Sizes[", tensor.rank - 1, "] (", size, "), expected a multiple of ", heads,
                     ", the number of its heads."));
}

struct Shape {
  uint64_t batch, queries, keys, keySize, valueSize;  // sizes of the heads' keys and values
};

// Sizes of the sources, which `shape` gets, and of OutputTensor.
Status checkShape(const OpView& view, const Attention& attention, Shape& shape) {
  const Tensor& y = view.output(kOutput);
  const auto has = [&](size_t input) { return view.input(input).present(); };
  const auto check = [&](size_t input, std::initializer_list<uint64_t> sizes) -> Status {
    if (!has(input)) return {};
    return checkLastSizes(view.inputName(input), view.input(input), sizes);
  };
  const uint64_t heads = attention.queryHeads;
  const uint64_t groups = attention.keyValueHeads;
  for (const size_t i : {kQuery, kKey, kValue}) {
    const Tensor& source = view.input(i);
    if (!source.present()) continue;
    if (source.rank != y.rank)
      return invalid(cat(view.inputName(i), " has DimensionCount (", source.rank, "), expected that of OutputTensor (",
                         y.rank, ")."));
    if (auto error = checkDivides(view.inputName(i), source, i == kQuery ? heads : groups)) return error;
  }
  if ((has(kStackedQueryKey) || has(kStackedQueryKeyValue)) && heads != groups)
    return invalid(cat("KeyValueHeadCount has value (", groups, "), expected that of ", attention.queryHeadsName, " (",
                       heads, ") where query and key are stacked."));

  shape.batch = y.sizes[y.rank - 3];
  shape.queries = y.sizes[y.rank - 2];
  shape.keys = has(kKey)               ? view.input(kKey).sizes[y.rank - 2]
               : has(kStackedKeyValue) ? view.input(kStackedKeyValue).sizes[1]
                                       : shape.queries;
  for (const size_t i : {kStackedQueryKey, kStackedKeyValue, kStackedQueryKeyValue})
    if (has(i)) shape.keySize = view.input(i).sizes[4];
  if (has(kKey)) shape.keySize = view.input(kKey).sizes[y.rank - 1] / groups;
  shape.valueSize = has(kValue) ? view.input(kValue).sizes[y.rank - 1] / groups : shape.keySize;

  const auto& [batch, queries, keys, keySize, valueSize] = shape;
  if (auto error = check(kQuery, {batch, queries, heads * keySize})) return error;
  if (auto error = check(kKey, {batch, keys, groups * keySize})) return error;
  if (auto error = check(kValue, {batch, keys, groups * valueSize})) return error;
  if (auto error = check(kStackedQueryKey, {batch, queries, heads, 2, keySize})) return error;
  if (auto error = check(kStackedKeyValue, {batch, keys, groups, 2, keySize})) return error;
  if (auto error = check(kStackedQueryKeyValue, {batch, queries, heads, 3, keySize})) return error;
  if (auto error = check(kBias, {heads * keySize + groups * (keySize + valueSize)})) return error;
  return checkLastSizes("OutputTensor", y, {batch, queries, heads * valueSize});
}

Status checkMask(const OpView& view, const Attention& attention, const Shape& shape, uint64_t allKeys) {
  const Tensor& mask = view.input(kMask);
  if (!mask.present()) return {};
  switch (attention.maskType) {
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE:
      return invalid("MaskType has value (NONE), expected the type of MaskTensor.");
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH:
      return checkLastSizes("MaskTensor", mask, {1, shape.batch});
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START:
      return checkLastSizes("MaskTensor", mask, {2, shape.batch});
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END:
      return checkLastSizes("MaskTensor", mask, {3 * shape.batch + 2});
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN:
      return checkLastSizes("MaskTensor", mask, {shape.batch, attention.queryHeads, shape.queries, allKeys});
  }
  return {};
}

// With PastSequenceLengthsTensor, the present tensors hold the past too, and have room for more.
Status checkPresentInPlace(const OpView& view, const Shape& shape, uint64_t& allKeys) {
  if (auto error = checkLastSizes("PastSequenceLengthsTensor", view.input(kPastSequenceLengths), {shape.batch}))
    return error;
  for (const size_t i : {kMask, kRelativePositionBias, kPastKey, kPastValue})
    if (view.input(i).present())
      return invalid(cat(view.inputName(i), " has DimensionCount (", view.input(i).rank,
                         "), expected null beside PastSequenceLengthsTensor."));
  for (const size_t i : {kPresentKey, kPresentValue})
    if (!view.output(i).present())
      return invalid(cat(view.outputName(i), " is null, expected a tensor beside PastSequenceLengthsTensor."));
  const Tensor& key = view.output(kPresentKey);
  allKeys = key.sizes[key.rank - 2];
  if (allKeys >= shape.keys) return {};
  return invalid(cat("OutputPresentKeyTensor has Sizes[", key.rank - 2, "] (", allKeys, "), expected at least ",
                     shape.keys, ", the new keys."));
}

Status checkAttention(const OpView& view, const Attention& attention) {
  if (auto error = checkSources(view)) return error;
  const Tensor& y = view.output(kOutput);
  for (size_t i = 0; i <= kPastValue; ++i)
    if (i != kMask && view.input(i).present())
      if (auto error = checkType(view.inputName(i), view.input(i), y.type, "OutputTensor")) return error;
  for (const size_t i : {kPresentKey, kPresentValue})
    if (view.output(i).present())
      if (auto error = checkType(view.outputName(i), view.output(i), y.type, "OutputTensor")) return error;
  if (auto error = checkHeads(attention)) return error;
  Shape shape{};
  if (auto error = checkShape(view, attention, shape)) return error;

  const Tensor& pastKey = view.input(kPastKey);
  const Tensor& pastValue = view.input(kPastValue);
  uint64_t allKeys = shape.keys;
  if (view.inputs().size() > kPastSequenceLengths && view.input(kPastSequenceLengths).present()) {
    if (auto error = checkPresentInPlace(view, shape, allKeys)) return error;
  } else if (pastKey.present() != pastValue.present()) {
    return invalid(cat(pastKey.present() ? "PastValueTensor" : "PastKeyTensor", " is null, expected a tensor beside ",
                       pastKey.present() ? "PastKeyTensor." : "PastValueTensor."));
  } else if (pastKey.present()) {
    const uint64_t past = pastKey.sizes[pastKey.rank - 2];
    allKeys += past;
    if (auto error =
            checkLastSizes("PastKeyTensor", pastKey, {shape.batch, attention.keyValueHeads, past, shape.keySize}))
      return error;
    if (auto error =
            checkLastSizes("PastValueTensor", pastValue, {shape.batch, attention.keyValueHeads, past, shape.valueSize}))
      return error;
  }
  for (const size_t i : {kPresentKey, kPresentValue})
    if (view.output(i).present())
      if (auto error = checkLastSizes(
              view.outputName(i), view.output(i),
              {shape.batch, attention.keyValueHeads, allKeys, i == kPresentKey ? shape.keySize : shape.valueSize}))
        return error;
  if (view.input(kRelativePositionBias).present())
    if (auto error = checkLastSizes("RelativePositionBiasTensor", view.input(kRelativePositionBias),
                                    {shape.batch, attention.queryHeads, shape.queries, allKeys}))
      return error;
  return checkMask(view, attention, shape, allKeys);
}

Status checkMultiheadAttention(const OpView& view) {
  const auto& desc = view.as<DML_MULTIHEAD_ATTENTION_OPERATOR_DESC>();
  return checkAttention(view, {"HeadCount", desc.HeadCount, desc.HeadCount, desc.MaskType});
}

Status checkMultiheadAttention1(const OpView& view) {
  const auto& desc = view.as<DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC>();
  return checkAttention(view, {"QueryHeadCount", desc.QueryHeadCount, desc.KeyValueHeadCount, desc.MaskType});
}

template <class S>
constexpr Field kMultiheadAttentionFields[] = {DIMPLE_OPTIONAL_INPUT(S, QueryTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, KeyTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, ValueTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, StackedQueryKeyTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, StackedKeyValueTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, StackedQueryKeyValueTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, MaskTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, RelativePositionBiasTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, PastKeyTensor),
                                               DIMPLE_OPTIONAL_INPUT(S, PastValueTensor),
                                               DIMPLE_OUTPUT(S, OutputTensor),
                                               DIMPLE_OPTIONAL_OUTPUT(S, OutputPresentKeyTensor),
                                               DIMPLE_OPTIONAL_OUTPUT(S, OutputPresentValueTensor),
                                               DIMPLE_ATTRIBUTE(S, Scale, Float),
                                               DIMPLE_ATTRIBUTE(S, MaskFilterValue, Float),
                                               DIMPLE_ATTRIBUTE(S, HeadCount, UInt),
                                               DIMPLE_ENUM(S, MaskType, kMultiheadAttentionMaskTypes)};
template <class S>
constexpr Field kMultiheadAttention1Fields[] = {DIMPLE_OPTIONAL_INPUT(S, QueryTensor),
                                                DIMPLE_OPTIONAL_INPUT(S, KeyTensor),
                                                DIMPLE_OPTIONAL_INPUT(S, ValueTensor),
                                                DIMPLE_OPTIONAL_INPUT(S, StackedQueryKeyTensor),
                                                DIMPLE_OPTIONAL_INPUT(S, StackedKeyValueTensor),
                                                DIMPLE_OPTIONAL_INPUT(S, StackedQueryKeyValueTensor),
                                                DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                                DIMPLE_OPTIONAL_INPUT(S, MaskTensor),
                                                DIMPLE_OPTIONAL_INPUT(S, RelativePositionBiasTensor),
                                                DIMPLE_OPTIONAL_INPUT(S, PastKeyTensor),
                                                DIMPLE_OPTIONAL_INPUT(S, PastValueTensor),
                                                DIMPLE_OPTIONAL_INPUT(S, PastSequenceLengthsTensor),
                                                DIMPLE_OUTPUT(S, OutputTensor),
                                                DIMPLE_OPTIONAL_OUTPUT(S, OutputPresentKeyTensor),
                                                DIMPLE_OPTIONAL_OUTPUT(S, OutputPresentValueTensor),
                                                DIMPLE_ATTRIBUTE(S, Scale, Float),
                                                DIMPLE_ATTRIBUTE(S, MaskFilterValue, Float),
                                                DIMPLE_ATTRIBUTE(S, QueryHeadCount, UInt),
                                                DIMPLE_ATTRIBUTE(S, KeyValueHeadCount, UInt),
                                                DIMPLE_ENUM(S, MaskType, kMultiheadAttentionMaskTypes)};

constexpr TypeHistory kMultiheadAttentionTypes{{k6_1, kFloats, 3, 5}};
constexpr TypeHistory kMultiheadAttentionStackedQueryKeyTypes{{k6_1, kFloats, 5, 5}};
constexpr TypeHistory kMultiheadAttentionRelativePositionBiasTypes{{k6_1, kFloats, 4, 5}};
constexpr TypeHistory kMultiheadAttention1Types{{k6_3, kFloats, 3, 5}};
constexpr TypeHistory kMultiheadAttention1StackedQueryKeyTypes{{k6_3, kFloats, 5, 5}};
constexpr TypeHistory kMultiheadAttention1BiasTypes{{k6_3, kFloats, 1, 5}};
constexpr TypeHistory kMultiheadAttention1RelativePositionBiasTypes{{k6_3, kFloats, 4, 5}};

constexpr TensorRule kMultiheadAttentionRules[] = {{kMultiheadAttentionTypes},
                                                   {kMultiheadAttentionTypes, sameType(0)},
                                                   {kMultiheadAttentionTypes, sameType(0)},
                                                   {kMultiheadAttentionStackedQueryKeyTypes, sameType(0)},
                                                   {kMultiheadAttentionStackedQueryKeyTypes, sameType(0)},
                                                   {kMultiheadAttentionStackedQueryKeyTypes, sameType(0)},
                                                   {{{k6_1, kFloats, 1, 5}}, sameType(0)},
                                                   {{{k6_1, kInt32, 1, 5}}},
                                                   {kMultiheadAttentionRelativePositionBiasTypes, sameType(0)},
                                                   {kMultiheadAttentionRelativePositionBiasTypes, sameType(0)},
                                                   {kMultiheadAttentionRelativePositionBiasTypes, sameType(0)},
                                                   {kMultiheadAttentionTypes, sameType(0)},
                                                   {kMultiheadAttentionRelativePositionBiasTypes, sameType(0)},
                                                   {kMultiheadAttentionRelativePositionBiasTypes, sameType(0)}};
constexpr TensorRule kMultiheadAttention1Rules[] = {{kMultiheadAttention1Types},
                                                    {kMultiheadAttention1Types, sameType(0)},
                                                    {kMultiheadAttention1Types, sameType(0)},
                                                    {kMultiheadAttention1StackedQueryKeyTypes, sameType(0)},
                                                    {kMultiheadAttention1StackedQueryKeyTypes, sameType(0)},
                                                    {kMultiheadAttention1StackedQueryKeyTypes, sameType(0)},
                                                    {kMultiheadAttention1BiasTypes, sameType(0)},
                                                    {{{k6_3, kInt32, 1, 5}}},
                                                    {kMultiheadAttention1RelativePositionBiasTypes, sameType(0)},
                                                    {kMultiheadAttention1RelativePositionBiasTypes, sameType(0)},
                                                    {kMultiheadAttention1RelativePositionBiasTypes, sameType(0)},
                                                    // The page says FLOAT32 and FLOAT16; DirectML takes INT32 alone.
                                                    {{{k6_3, kInt32, 1, 5}}},
                                                    {kMultiheadAttention1Types, sameType(0)},
                                                    {kMultiheadAttention1RelativePositionBiasTypes, sameType(0)},
                                                    {kMultiheadAttention1RelativePositionBiasTypes, sameType(0)}};

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(MULTIHEAD_ATTENTION, kMultiheadAttentionFields, kMultiheadAttentionRules, false, false,
               checkMultiheadAttention, nullptr),
    DIMPLE_ROW(MULTIHEAD_ATTENTION1, kMultiheadAttention1Fields, kMultiheadAttention1Rules, false, false,
               checkMultiheadAttention1, nullptr),
};

}  // namespace

std::span<const OpSchema> attentionSchemas() { return kSchemas; }

}  // namespace dimple
