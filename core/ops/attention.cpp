// Multi-head attention.
#include <algorithm>
#include <utility>

#include "core/ops/attend.h"
#include "core/ops/checks.h"
#include "core/ops/copy.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/attention_append.h"
#include "kernels/interfaces/binary.h"

namespace dimple {
namespace {

// Indices of inputs and outputs. Inputs from Query to StackedQueryKeyValue are the sources of query, key and value.
enum : size_t { kQuery, kKey, kValue, kStackedQueryKey, kStackedKeyValue, kStackedQueryKeyValue, kQueryKeyValueBias };
enum : size_t { kMask = 7, kRelativePositionBias, kPastKey, kPastValue, kPastSequenceLengths };
enum : size_t { kOutput, kPresentKey, kPresentValue };

// What `takes` of kernels/attention/append.comp is.
constexpr uint32_t kTakesNothing = 0;
constexpr uint32_t kTakesBias = 1;
constexpr uint32_t kTakesValues = 2;

// What MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1 have in common.
struct Attention {
  std::string_view queryHeadsName;
  uint32_t queryHeads;
  uint32_t keyValueHeads;
  DML_MULTIHEAD_ATTENTION_MASK_TYPE maskType;
  float scale, filterValue;
};

// The last sizes of a tensor whose others are 1. Absent tensors pass.
Status checkLastSizes(const std::string& name, const Tensor& tensor, std::initializer_list<uint64_t> sizes) {
  if (!tensor.present()) return {};
  if (tensor.rank < sizes.size())
    return invalid(cat(name, " has DimensionCount (", tensor.rank, "), expected at least ", sizes.size(), "."));
  const auto leading = tensor.rank - static_cast<uint32_t>(sizes.size());
  for (uint32_t d = 0; d < tensor.rank; ++d)
    TRY(checkSize(name, tensor, d, d < leading ? 1 : sizes.begin()[d - leading]));
  return {};
}

Status checkSources(const Operation& op) {
  std::string given;
  uint32_t mask = 0;
  for (size_t i = 0; i < kQueryKeyValueBias; ++i) {
    if (!op.input(i).present()) continue;
    mask |= 1u << i;
    given += cat(given.empty() ? "" : ", ", op.inputName(i));
  }
  for (const uint32_t allowed : {1u << kQuery | 1u << kKey | 1u << kValue, 1u << kStackedQueryKey | 1u << kValue,
                                 1u << kQuery | 1u << kStackedKeyValue, 1u << kStackedQueryKeyValue})
    if (mask == allowed) return {};
  return invalid(cat("The query, key and value come from (", given.empty() ? "no tensor" : given,
                     "), expected each to come from a separate tensor or from a stacked one."));
}

Status checkHeads(const Attention& attention) {
  if (attention.queryHeads == 0) return invalid(cat(attention.queryHeadsName, " has value (0), expected at least 1."));
  if (attention.keyValueHeads != 0 && attention.queryHeads % attention.keyValueHeads == 0) return {};
  return invalid(cat("KeyValueHeadCount has value (", attention.keyValueHeads, "), expected a divisor of ",
                     attention.queryHeadsName, " (", attention.queryHeads, ")."));
}

// The last size of a tensor in parts, one for each head.
Status checkDivides(const std::string& name, const Tensor& tensor, uint64_t heads) {
  if (tensor.sizes[tensor.rank - 1] % heads == 0) return {};
  return invalid(cat(wrongSize(name, tensor, tensor.rank - 1), "a multiple of ", heads, ", the number of its heads."));
}

struct Shape {
  uint32_t batch, queries, keys, keySize, valueSize;  // sizes of the heads' keys and values
};

// Sizes of the sources, which `shape` gets, and of OutputTensor.
Status checkShape(const Operation& op, const Attention& attention, Shape& shape) {
  const Tensor& y = op.output(kOutput);
  const auto has = [&](size_t input) { return op.input(input).present(); };
  const auto check = [&](size_t input, std::initializer_list<uint64_t> sizes) {
    return checkLastSizes(op.inputName(input), op.input(input), sizes);
  };
  const uint64_t heads = attention.queryHeads;
  const uint64_t groups = attention.keyValueHeads;
  for (const size_t i : {kQuery, kKey, kValue}) {
    const Tensor& source = op.input(i);
    if (!source.present()) continue;
    if (source.rank != y.rank)
      return invalid(cat(op.inputName(i), " has DimensionCount (", source.rank, "), expected that of OutputTensor (",
                         y.rank, ")."));
    TRY(checkDivides(op.inputName(i), source, i == kQuery ? heads : groups));
  }
  if ((has(kStackedQueryKey) || has(kStackedQueryKeyValue)) && heads != groups)
    return invalid(cat("KeyValueHeadCount has value (", groups, "), expected that of ", attention.queryHeadsName, " (",
                       heads, ") where query and key are stacked."));

  shape.batch = y.sizes[y.rank - 3];
  shape.queries = y.sizes[y.rank - 2];
  shape.keys = has(kKey)               ? op.input(kKey).sizes[y.rank - 2]
               : has(kStackedKeyValue) ? op.input(kStackedKeyValue).sizes[1]
                                       : shape.queries;
  for (const size_t i : {kStackedQueryKey, kStackedKeyValue, kStackedQueryKeyValue})
    if (has(i)) shape.keySize = op.input(i).sizes[4];
  if (has(kKey)) shape.keySize = op.input(kKey).sizes[y.rank - 1] / attention.keyValueHeads;
  shape.valueSize = has(kValue) ? op.input(kValue).sizes[y.rank - 1] / attention.keyValueHeads : shape.keySize;

  const auto& [batch, queries, keys, keySize, valueSize] = shape;
  TRY(check(kQuery, {batch, queries, heads * keySize}));
  TRY(check(kKey, {batch, keys, groups * keySize}));
  TRY(check(kValue, {batch, keys, groups * valueSize}));
  TRY(check(kStackedQueryKey, {batch, queries, heads, 2, keySize}));
  TRY(check(kStackedKeyValue, {batch, keys, groups, 2, keySize}));
  TRY(check(kStackedQueryKeyValue, {batch, queries, heads, 3, keySize}));
  TRY(check(kQueryKeyValueBias, {heads * keySize + groups * keySize + groups * valueSize}));
  return checkLastSizes("OutputTensor", y, {batch, queries, heads * valueSize});
}

Status checkMask(const Operation& op, const Attention& attention, const Shape& shape, uint64_t allKeys) {
  const Tensor& mask = op.input(kMask);
  if (!mask.present()) return {};
  switch (attention.maskType) {
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE:
      return invalid("MaskType has value (NONE), expected the type of MaskTensor.");
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH:
      return checkLastSizes("MaskTensor", mask, {1, shape.batch});
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START:
      return checkLastSizes("MaskTensor", mask, {2, shape.batch});
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END:
      return checkLastSizes("MaskTensor", mask, {3 * uint64_t{shape.batch} + 2});
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN:
      return checkLastSizes("MaskTensor", mask, {shape.batch, attention.queryHeads, shape.queries, allKeys});
  }
  return {};
}

// With PastSequenceLengthsTensor, the present tensors hold the past too, and have room for more.
Status checkPresentInPlace(const Operation& op, const Shape& shape, uint64_t& allKeys) {
  TRY(checkLastSizes("PastSequenceLengthsTensor", op.input(kPastSequenceLengths), {shape.batch}));
  for (const size_t i : {kMask, kRelativePositionBias, kPastKey, kPastValue})
    if (op.input(i).present())
      return invalid(cat(op.inputName(i), " has DimensionCount (", op.input(i).rank,
                         "), expected null beside PastSequenceLengthsTensor."));
  for (const size_t i : {kPresentKey, kPresentValue})
    if (!op.output(i).present())
      return invalid(cat(op.outputName(i), " is null, expected a tensor beside PastSequenceLengthsTensor."));
  const Tensor& key = op.output(kPresentKey);
  allKeys = key.sizes[key.rank - 2];
  if (allKeys >= shape.keys) return {};
  return invalid(
      cat(wrongSize("OutputPresentKeyTensor", key, key.rank - 2), "at least ", shape.keys, ", the new keys."));
}

Status checkAttention(const Operation& op, const Attention& attention) {
  TRY(checkSources(op));
  const Tensor& y = op.output(kOutput);
  for (size_t i = 0; i <= kPastValue; ++i)
    if (i != kMask && op.input(i).present()) TRY(checkType(op.inputName(i), op.input(i), y.type, "OutputTensor"));
  for (const size_t i : {kPresentKey, kPresentValue})
    if (op.output(i).present()) TRY(checkType(op.outputName(i), op.output(i), y.type, "OutputTensor"));
  TRY(checkHeads(attention));
  Shape shape{};
  TRY(checkShape(op, attention, shape));

  const Tensor& pastKey = op.input(kPastKey);
  const Tensor& pastValue = op.input(kPastValue);
  uint64_t allKeys = shape.keys;
  if (op.inputs().size() > kPastSequenceLengths && op.input(kPastSequenceLengths).present()) {
    TRY(checkPresentInPlace(op, shape, allKeys));
  } else if (pastKey.present() != pastValue.present()) {
    return invalid(cat(pastKey.present() ? "PastValueTensor" : "PastKeyTensor", " is null, expected a tensor beside ",
                       pastKey.present() ? "PastKeyTensor." : "PastValueTensor."));
  } else if (pastKey.present()) {
    const uint64_t past = pastKey.sizes[pastKey.rank - 2];
    allKeys += past;
    TRY(checkLastSizes("PastKeyTensor", pastKey, {shape.batch, attention.keyValueHeads, past, shape.keySize}));
    TRY(checkLastSizes("PastValueTensor", pastValue, {shape.batch, attention.keyValueHeads, past, shape.valueSize}));
  }
  for (const size_t i : {kPresentKey, kPresentValue})
    TRY(checkLastSizes(
        op.outputName(i), op.output(i),
        {shape.batch, attention.keyValueHeads, allKeys, i == kPresentKey ? shape.keySize : shape.valueSize}));
  TRY(checkLastSizes("RelativePositionBiasTensor", op.input(kRelativePositionBias),
                     {shape.batch, attention.queryHeads, shape.queries, allKeys}));
  return checkMask(op, attention, shape, allKeys);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// Returns the heads of a tensor whose last sizes are {batch, position, heads * channels}.
Heads headsOf(const Tensor& tensor, const BufferRange& range, uint32_t channels) {
  const uint32_t* strides = &tensor.strides[tensor.rank - 3];
  return {range, 0, strides[0], strides[2] * channels, strides[1], strides[2]};
}

// Returns those of a tensor {batch, position, head, part, channel}.
Heads stackedHeadsOf(const Tensor& tensor, const BufferRange& range, uint32_t part) {
  const auto& s = tensor.strides;
  return {range, s[3] * part, s[0], s[2], s[1], s[4]};
}

// Returns those of a tensor whose last sizes are {batch, head, position, channel}.
Heads historyOf(const Tensor& tensor, const BufferRange& range) {
  const uint32_t* strides = &tensor.strides[tensor.rank - 4];
  return {range, 0, strides[0], strides[1], strides[2], strides[3]};
}

// The source of query, key or value `part`, from the tensor that has it.
Heads sourceOf(const PlanBuilder& builder, uint32_t part, uint32_t channels) {
  const Operation& op = builder.op();
  // The stacked tensors, and the first part of each.
  for (const auto& [input, first] :
       {std::pair{kStackedQueryKey, 0u}, {kStackedKeyValue, 1u}, {kStackedQueryKeyValue, 0u}}) {
    const Tensor& tensor = op.input(input);
    if (tensor.present() && part >= first && part < first + tensor.sizes[3])
      return stackedHeadsOf(tensor, builder.input(input), part - first);
  }
  return headsOf(op.input(kQuery + part), builder.input(kQuery + part), channels);
}

class AttentionPlan {
 public:
  AttentionPlan(PlanBuilder& builder, const Attention& attention)
      : op_(builder.op()), builder_(builder), attention_(attention) {}

  Status make() {
    // Validation has filled it before, so nothing can fail.
    TRY(checkShape(op_, attention_, shape_));
    past_ = op_.input(kPastKey).present() ? op_.input(kPastKey).sizes[op_.input(kPastKey).rank - 2] : 0;
    const Tensor& present = op_.output(kPresentKey);
    hasLengths_ = op_.inputs().size() > kPastSequenceLengths && op_.input(kPastSequenceLengths).present();
    keys_ = hasLengths_ ? present.sizes[present.rank - 2] : shape_.keys + past_;

    Heads key, value;
    if (appendsBoth()) {
      TRY(appendBoth(key, value));
      return attend(key, value);
    }
    TRY(gather(1, kPastKey, kPresentKey, shape_.keySize, key));
    TRY(gather(2, kPastValue, kPresentValue, shape_.valueSize, value));
    return attend(key, value);
  }

 private:
  bool has(size_t input) const { return op_.input(input).present(); }

  // First element of the bias of query, key or value `part`.
  uint32_t firstBias(uint32_t part) const {
    const uint32_t query = attention_.queryHeads * shape_.keySize;
    return part == 0 ? 0 : part == 1 ? query : query + attention_.keyValueHeads * shape_.keySize;
  }
  uint32_t biasStride() const {
    return has(kQueryKeyValueBias) ? op_.input(kQueryKeyValueBias).strides[op_.input(kQueryKeyValueBias).rank - 1] : 0;
  }

  // Returns keys or values as attention takes them: unchanged, or in one tensor with the bias added and the past before
  // them. This tensor is the corresponding output, if the operator has it.
  Status gather(uint32_t part, size_t past, size_t present, uint32_t channels, Heads& all) {
    const Heads source = sourceOf(builder_, part, channels);
    const bool keeps = op_.output(present).present();
    all = source;
    if (!keeps && !has(kQueryKeyValueBias) && !has(past)) return {};
    const uint32_t heads = attention_.keyValueHeads;
    const DataType type = op_.output(kOutput).type;
    if (keeps) {
      all = historyOf(op_.output(present), builder_.output(present));
    } else {
      // keys_ may be only the low word of this.
      const uint64_t positions = uint64_t{shape_.batch} * heads * (uint64_t{shape_.keys} + past_);
      const uint64_t bytes = positions * channels * byteWidth(type);
      TRY(builder_.checkBindable(bytes, cat("All ", part == 1 ? "keys" : "values", " take ", bytes, " bytes")));
      const BufferRange range = builder_.allocateTemporary(bytes);
      all = {range, 0, heads * keys_ * channels, keys_ * channels, channels, 1};
    }
    if (has(past)) {
      const Heads before = historyOf(op_.input(past), builder_.input(past));
      TRY(addCopy(builder_, type, walkOf(before, all, past_, channels, 0), before.range, all.range));
    }
    if (hasLengths_) return append(part, source, all, channels);
    if (has(kQueryKeyValueBias)) return addBiased(part, source, all, channels);
    return addCopy(builder_, type, walkOf(source, all, shape_.keys, channels, past_), source.range, all.range);
  }

  // Operands: a source, its bias, the destination, and the lengths of the past.
  Walk biasedWalk(uint32_t part, const Heads& source, const Heads& all, uint32_t channels, uint32_t lengths) const {
    Walk walk;
    walk.addDimension(shape_.batch, {source.batch, 0, all.batch, lengths});
    walk.addDimension(attention_.keyValueHeads, {source.head, biasStride() * channels, all.head});
    walk.addDimension(shape_.keys, {source.position, 0, all.position});
    walk.addDimension(channels, {source.channel, biasStride(), all.channel});
    walk.base = {source.first, firstBias(part) * biasStride(), all.first + past_ * all.position, 0};
    walk.coalesce();
    return walk;
  }

  // Stores the sum of a source and its bias behind the past.
  Status addBiased(uint32_t part, const Heads& source, const Heads& all, uint32_t channels) {
    const Walk walk = biasedWalk(part, source, all, channels, 0);
    return builder_.addWalk(
        walk, kernels::Binary{.form = kernels::Binary::Form::Strided,
                              .type = builder_.typedElement(op_.output(kOutput).type),
                              .push = {.walk = walkWords(walk), .uniformMask = 0, .attributes = {0, 0, 0, 0}},
                              .spec = {.op = DML_OPERATOR_ELEMENT_WISE_ADD, .fused = 0},
                              .a = source.range,
                              .b = builder_.input(kQueryKeyValueBias),
                              .y = all.range});
  }

  Walk walkOf(const Heads& from, const Heads& to, uint32_t positions, uint32_t channels, uint32_t firstPosition) const {
    Walk walk;
    walk.addDimension(shape_.batch, {from.batch, to.batch});
    walk.addDimension(attention_.keyValueHeads, {from.head, to.head});
    walk.addDimension(positions, {from.position, to.position});
    walk.addDimension(channels, {from.channel, to.channel});
    walk.base = {from.first, to.first + firstPosition * to.position};
    return walk;
  }

  // Stores keys or values behind the past, whose lengths are known to the device.
  Status append(uint32_t part, const Heads& source, const Heads& all, uint32_t channels) {
    const bool biased = has(kQueryKeyValueBias);
    return addAppend(biasedWalk(part, source, all, channels, lengthStride()), biased ? kTakesBias : kTakesNothing,
                     source.range, biased ? builder_.input(kQueryKeyValueBias) : source.range, all, all);
  }

  // Stores keys and values in one dispatch, if their tensors lie alike.
  bool appendsBoth() const {
    if (!hasLengths_ || has(kQueryKeyValueBias) || shape_.keySize != shape_.valueSize) return false;
    const Tensor& keys = op_.output(kPresentKey);
    const Tensor& values = op_.output(kPresentValue);
    return std::equal(keys.strides.begin() + (keys.rank - 4), keys.strides.begin() + keys.rank,
                      values.strides.begin() + (values.rank - 4));
  }

  Status appendBoth(Heads& key, Heads& value) {
    const Heads newKey = sourceOf(builder_, 1, shape_.keySize);
    const Heads newValue = sourceOf(builder_, 2, shape_.valueSize);
    key = historyOf(op_.output(kPresentKey), builder_.output(kPresentKey));
    value = historyOf(op_.output(kPresentValue), builder_.output(kPresentValue));
    Walk walk;
    walk.addDimension(shape_.batch, {newKey.batch, newValue.batch, key.batch, lengthStride()});
    walk.addDimension(attention_.keyValueHeads, {newKey.head, newValue.head, key.head});
    walk.addDimension(shape_.keys, {newKey.position, newValue.position, key.position});
    walk.addDimension(shape_.keySize, {newKey.channel, newValue.channel, key.channel});
    walk.base = {newKey.first, newValue.first, key.first, 0};
    walk.coalesce();
    return addAppend(walk, kTakesValues, newKey.range, newValue.range, key, value);
  }

  uint32_t lengthStride() const {
    const Tensor& lengths = op_.input(kPastSequenceLengths);
    return lengths.strides[lengths.rank - 1];
  }

  Status addAppend(const Walk& walk, uint32_t takes, const BufferRange& x, const BufferRange& other, const Heads& to,
                   const Heads& otherTo) {
    return builder_.addWalk(
        walk,
        kernels::AttentionAppend{
            .type = builder_.typedElement(op_.output(kOutput).type),
            .push = {.walk = walkWords(walk), .takes = takes, .stride = to.position, .lastStart = keys_ - shape_.keys},
            .x = x,
            .other = other,
            .lengths = builder_.input(kPastSequenceLengths),
            .y = to.range,
            .otherY = otherTo.range});
  }

  Status attend(const Heads& key, const Heads& value) {
    const Tensor& y = op_.output(kOutput);
    Attended a;
    a.type = y.type;
    a.batch = shape_.batch;
    a.queries = shape_.queries;
    a.keys = keys_;
    a.keySize = shape_.keySize;
    a.valueSize = shape_.valueSize;
    a.heads = attention_.queryHeads;
    a.headsPerKey = attention_.queryHeads / attention_.keyValueHeads;
    a.scale = attention_.scale;
    a.filterValue = attention_.filterValue;
    a.query = sourceOf(builder_, 0, a.keySize);
    a.key = key;
    a.value = value;
    a.output = headsOf(y, builder_.output(kOutput), a.valueSize);

    const auto lastStrides = [&](size_t input) { return historyOf(op_.input(input), builder_.input(input)).strides(); };
    if (has(kQueryKeyValueBias)) a.bias = {builder_.input(kQueryKeyValueBias), {biasStride()}};
    if (has(kRelativePositionBias))
      a.relative = {builder_.input(kRelativePositionBias), lastStrides(kRelativePositionBias)};
    if (hasLengths_) a.lengths = {builder_.input(kPastSequenceLengths), {lengthStride()}};
    if (!has(kMask)) return addAttention(builder_, a);
    const Tensor& mask = op_.input(kMask);
    a.maskType = static_cast<uint32_t>(attention_.maskType);
    a.mask.range = builder_.input(kMask);
    if (a.maskType == DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN)
      a.mask.strides = lastStrides(kMask);
    else if (a.maskType == DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END)
      a.mask.strides = {mask.strides[mask.rank - 1], 0, a.batch, 0};
    else if (a.maskType != DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE)
      a.mask.strides = {mask.strides[mask.rank - 2], mask.strides[mask.rank - 1], 0, 0};
    return addAttention(builder_, a);
  }

  const Operation& op_;
  PlanBuilder& builder_;
  const Attention attention_;
  Shape shape_{};
  uint32_t past_ = 0;
  uint32_t keys_ = 0;  // all that are attended to
  bool hasLengths_ = false;
};

Attention attentionOf(const DML_MULTIHEAD_ATTENTION_OPERATOR_DESC& desc) {
  return {"HeadCount", desc.HeadCount, desc.HeadCount, desc.MaskType, desc.Scale, desc.MaskFilterValue};
}
Attention attentionOf(const DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC& desc) {
  return {"QueryHeadCount", desc.QueryHeadCount, desc.KeyValueHeadCount,
          desc.MaskType,    desc.Scale,          desc.MaskFilterValue};
}

template <class Desc>
Status checkAttention(const Operation& op) {
  return checkAttention(op, attentionOf(op.as<Desc>()));
}

template <class Desc>
Status planAttention(const Operation& op, PlanBuilder& builder) {
  return AttentionPlan(builder, attentionOf(op.as<Desc>())).make();
}

// ---- tables ---------------------------------------------------------------------------------------------------------

#define DIMPLE_ATTENTION_INPUTS                                                                                        \
  DIMPLE_OPTIONAL_INPUT(QueryTensor, KeyTensor, ValueTensor, StackedQueryKeyTensor, StackedKeyValueTensor,             \
                        StackedQueryKeyValueTensor, BiasTensor, MaskTensor, RelativePositionBiasTensor, PastKeyTensor, \
                        PastValueTensor)
#define DIMPLE_ATTENTION_OUTPUTS                                                                         \
  DIMPLE_OUTPUT(OutputTensor), DIMPLE_OPTIONAL_OUTPUT(OutputPresentKeyTensor, OutputPresentValueTensor), \
      DIMPLE_FLOAT(Scale, MaskFilterValue)

DIMPLE_FIELDS(kMultiheadAttentionFields, DIMPLE_ATTENTION_INPUTS, DIMPLE_ATTENTION_OUTPUTS, DIMPLE_UINT(HeadCount),
              DIMPLE_ENUM(MaskType, kMultiheadAttentionMaskTypes));
DIMPLE_FIELDS(kMultiheadAttention1Fields, DIMPLE_ATTENTION_INPUTS, DIMPLE_OPTIONAL_INPUT(PastSequenceLengthsTensor),
              DIMPLE_ATTENTION_OUTPUTS, DIMPLE_UINT(QueryHeadCount, KeyValueHeadCount),
              DIMPLE_ENUM(MaskType, kMultiheadAttentionMaskTypes));

// The rules of one feature level.
template <DML_FEATURE_LEVEL since>
struct AttentionRules {
  static constexpr TypeHistory kTypes{{since, kFloats, 3, 5}};
  static constexpr TensorRule kFirst{kTypes};
  static constexpr TensorRule kTensor{kTypes, sameType(0)};
  static constexpr TensorRule kStacked{{{since, kFloats, 5, 5}}, sameType(0)};
  static constexpr TensorRule kBias{{{since, kFloats, 1, 5}}, sameType(0)};
  static constexpr TensorRule kHeads{{{since, kFloats, 4, 5}}, sameType(0)};
  static constexpr TensorRule kIntegers{{{since, kInt32, 1, 5}}};
  static constexpr TensorRule kWithoutLengths[] = {kFirst,    kTensor, kTensor, kStacked, kStacked, kStacked, kBias,
                                                   kIntegers, kHeads,  kHeads,  kHeads,   kTensor,  kHeads,   kHeads};
  // The page says that the lengths are FLOAT32 and FLOAT16; DirectML takes INT32 alone.
  static constexpr TensorRule kWithLengths[] = {kFirst,   kTensor,   kTensor,   kStacked, kStacked,
                                                kStacked, kBias,     kIntegers, kHeads,   kHeads,
                                                kHeads,   kIntegers, kTensor,   kHeads,   kHeads};
};

constexpr OpSchema kAttentionSchemas[] = {
    DIMPLE_DESC_ROW(MULTIHEAD_ATTENTION, kMultiheadAttentionFields, AttentionRules<k6_1>::kWithoutLengths,
                    checkAttention, planAttention),
    DIMPLE_DESC_ROW(MULTIHEAD_ATTENTION1, kMultiheadAttention1Fields, AttentionRules<k6_3>::kWithLengths,
                    checkAttention, planAttention),
};

}  // namespace

std::span<const OpSchema> attentionSchemas() { return kAttentionSchemas; }

}  // namespace dimple
