#include "core/ops/attend.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/checked.h"
#include "core/ops/table.h"
#include "kernels/interfaces/attention.h"
#include "kernels/interfaces/attention_combine.h"

namespace dimple {
namespace {

// The names are those in kernels/attention/*.glsl and *.comp.
constexpr uint32_t kHasBias = 1;
constexpr uint32_t kHasRelative = 2;
constexpr uint32_t kHasLengths = 4;
constexpr uint32_t kQueryVectors = 1;
constexpr uint32_t kKeyVectors = 2;
constexpr uint32_t kValueVectors = 4;
constexpr uint32_t kOutputVectors = 8;
constexpr uint32_t kWholeMatrices = 16;

using AttentionForm = kernels::Attention::Form;

// A kernel, and a function that says why it cannot be used, or null if it can.
struct Algorithm {
  std::string_view name;  // for people
  AttentionForm form;
  uint32_t channels;  // of the output that a workgroup computes at most
  const char* (*refuses)(const Attended&, const Target&);
};

// Whether this many channels, a power of two, always lie side by side and begin at a multiple of their number.
bool comesInVectors(const Heads& heads, uint32_t channels, uint32_t together = 8) {
  const uint32_t steps = channels | heads.first | heads.batch | heads.head | heads.position;
  return heads.channel == 1 && steps % together == 0;
}

bool comesInFours(const Attended& a) {
  return comesInVectors(a.query, a.keySize, 4) && comesInVectors(a.key, a.keySize, 4) &&
         comesInVectors(a.value, a.valueSize, 4) && comesInVectors(a.output, a.valueSize, 4);
}

constexpr const char* kSharedTooLittle = "The device has too little shared memory.";
constexpr const char* kPartsTooLarge = "Its parts are larger than the device binds.";

const char* refusesFewQueries(const Attended& a) {
  constexpr uint32_t kFewestQueries = 8;  // that are worth a tile
  return a.queries < kFewestQueries ? "It has few queries." : nullptr;
}

const char* refusesTile(const Attended& a, const Target& target) {
  constexpr uint32_t kShared = 26 * 1024;  // of attention_tile.comp, at most
  if (const char* reason = refusesFewQueries(a)) return reason;
  return target.caps.sharedBytes < kShared ? kSharedTooLittle : nullptr;
}

// What a workgroup takes if the keys are split, and the most channels that its heads may have.
constexpr uint32_t kSplitQueries = 8;
constexpr uint32_t kSplitKeys = 256;
constexpr uint32_t kSplitChannels = 256;
// ... of one query.
constexpr uint32_t kStepKeys = 64;
constexpr uint32_t kStepChannels = 128;

uint32_t slicesOf(const Attended& a, uint32_t slice) { return static_cast<uint32_t>(divideUp(a.keys, slice)); }

// Returns the size of what is combined: for each query and slice, its channels and what belongs to all of them. Returns
// the largest number instead of a larger one.
uint64_t partBytes(const Attended& a, uint32_t slice) {
  uint64_t bytes = sizeof(float);
  for (const uint32_t factor : {a.batch, a.heads, a.queries, slicesOf(a, slice), a.valueSize + 2})
    if (!checkedMultiply(bytes, factor, bytes)) return std::numeric_limits<uint64_t>::max();
  return bytes;
}

const char* refusesSplit(const Attended& a, const Target& target) {
  if (a.queries > kSplitQueries) return "It has many queries.";
  if (slicesOf(a, kSplitKeys) < 2) return "It has few keys.";
  if (std::max(a.keySize, a.valueSize) > kSplitChannels) return "Its heads have many channels.";
  if (!comesInFours(a)) return "Its channels are not in vectors.";
  constexpr uint32_t kShared = 21 * 1024;  // of attention_split.comp
  if (target.caps.sharedBytes < kShared) return kSharedTooLittle;
  return partBytes(a, kSplitKeys) > target.caps.maxBufferRange ? kPartsTooLarge : nullptr;
}

const char* refusesStep(const Attended& a, const Target& target) {
  if (a.queries > 1) return "It has several queries.";
  if (slicesOf(a, kStepKeys) < 2) return "It has few keys.";
  if (a.type != DML_TENSOR_DATA_TYPE_FLOAT16) return "Its elements are not FLOAT16.";
  if (std::max(a.keySize, a.valueSize) > kStepChannels) return "Its heads have many channels.";
  if (!comesInVectors(a.query, a.keySize) || !comesInVectors(a.key, a.keySize) || !comesInVectors(a.value, a.valueSize))
    return "Its channels are not in vectors.";
  constexpr uint32_t kShared = 11 * 1024;  // of attention_step.comp
  if (target.caps.sharedBytes < kShared) return kSharedTooLittle;
  return partBytes(a, kStepKeys) > target.caps.maxBufferRange ? kPartsTooLarge : nullptr;
}

constexpr uint32_t kTileQueries = 64;
constexpr uint32_t kLargeTileQueries = 128;
constexpr uint32_t kTileChannels = 128;  // of either
constexpr uint32_t kNarrowChannels = 64;

const char* refusesVectorTile(const Attended& a, const Target& target) {
  if (const char* reason = refusesTile(a, target)) return reason;
  return comesInFours(a) ? nullptr : "Its channels are not in vectors.";
}

const char* refusesLargeTile(const Attended& a, const Target& target) {
  if (const char* reason = refusesVectorTile(a, target)) return reason;
  if (a.queries <= kTileQueries) return "Its queries fit into a smaller tile.";
  const uint64_t tiles =
      uint64_t{a.batch} * a.heads * divideUp(a.queries, kLargeTileQueries) * divideUp(a.valueSize, kTileChannels);
  // A large tile occupies as much as two small ones.
  return 2 * tiles < target.caps.workgroups ? "It has too few large tiles to keep the device busy." : nullptr;
}

const char* refusesNarrowTile(const Attended& a, const Target& target) {
  if (const char* reason = refusesLargeTile(a, target)) return reason;
  return a.valueSize > kNarrowChannels ? "Its heads have many channels." : nullptr;
}

// The number of queries of a workgroup in which each subgroup has one row of matrices.
uint32_t matrixQueries(const Target& target, uint32_t invocations) {
  return invocations / target.caps.subgroupSize * target.caps.matrices.rows;
}

// The invocations of such a workgroup: fewer where that keeps more of the device busy, though each workgroup then reads
// all keys and values for fewer queries.
uint32_t matrixInvocations(const Attended& a, const Target& target) {
  constexpr uint32_t kFewest = 64;
  const Caps& caps = target.caps;
  if (caps.maxInvocations == 0) return kGroupSize;
  const auto groups = [&](uint32_t invocations) {
    return uint64_t{a.batch} * a.heads * divideUp(a.queries, matrixQueries(target, invocations));
  };
  uint32_t invocations = kGroupSize;
  const uint64_t most = target.options.estimates ? caps.workgroups / 2 : std::numeric_limits<uint64_t>::max();
  while (invocations / 2 >= std::max(kFewest, caps.subgroupSize) && groups(invocations / 2) <= most &&
         groups(invocations / 2) > groups(invocations))
    invocations /= 2;
  return invocations;
}

// The channels of a head, rounded up to whole matrices. If they are many, only every other multiple of eight has
// kernels.
uint32_t inMatrices(uint32_t channels, const Target& target) {
  constexpr uint32_t kMany = 128;
  return static_cast<uint32_t>(alignUp(channels, channels > kMany ? 16 : target.caps.matrices.columns));
}

uint32_t sharedBytes(const Attended& a, const Target& target, uint32_t keys) {
  const uint32_t queries = matrixQueries(target, kGroupSize);
  const uint32_t queryChannels = queries > 128 ? 32 : 64;
  const uint32_t line = std::max(target.caps.matrices.columns / 4 + 1, std::min(keys, 32u) / 8 + 1);
  const uint32_t channels = inMatrices(a.keySize, target) + inMatrices(a.valueSize, target);
  const uint32_t vectors = keys * (channels / 8 + 2) + queries * line + queries / 2;
  return std::max(vectors, queries * (queryChannels / 8 + 1)) * 16;
}

constexpr uint32_t kMatrixChannels = 256;

// The number of keys that are taken at a time, or 0 if they do not fit into shared memory.
uint32_t matrixKeys(const Attended& a, const Target& target) {
  // With few channels, fewer keys leave room for a second workgroup; with many, there are no registers for more.
  const uint32_t channels = std::max(a.keySize, a.valueSize);
  for (uint32_t keys = channels > 64 && channels <= 128 ? 64 : 32; keys >= 16; keys /= 2)
    if (sharedBytes(a, target, keys) <= target.caps.sharedBytes) return keys;
  return 0;
}

const char* refusesMatrices(const Attended& a, const Target& target) {
  if (const char* reason = refusesFewQueries(a)) return reason;
  if (a.type != DML_TENSOR_DATA_TYPE_FLOAT16) return "Its elements are not FLOAT16.";
  const MatrixShape& shape = target.caps.matrices;
  if (!shape) return "The device's subgroups do not multiply matrices.";
  // The scores become factors of the next product.
  if (shape.columns != shape.depth) return "The device's matrices are not as wide as the depth of their factors.";
  if (!target.caps.has(Feature::SubgroupVote) || !target.caps.has(Feature::SubgroupShuffle))
    return "The device's subgroups cannot exchange numbers.";
  if (!target.caps.matrixHalves) return "The device's subgroups cannot hold FLOAT16 sums.";
  if (std::max(a.keySize, a.valueSize) > kMatrixChannels) return "Its heads have many channels.";
  if (matrixKeys(a, target) == 0) return kSharedTooLittle;
  return nullptr;
}

// Whether an invocation holds as many elements of a matrix as matrix_places.glsl has places of: in each row that it has
// a part in, SIZE_COLUMNS / kSharing.
bool placesFit(const Caps& caps) {
  const MatrixShape& shape = caps.matrices;
  const uint32_t sharing = shape.columns == caps.subgroupSize ? shape.columns : 4;
  return shape.rows * sharing >= caps.subgroupSize;
}

const char* refusesNothing(const Attended&, const Target&) { return nullptr; }

// In order of preference. The last refuses nothing.
constexpr Algorithm kAlgorithms[] = {
    {"attention_step", AttentionForm::Step, kStepChannels, refusesStep},
    {"attention_split", AttentionForm::Split, kSplitChannels, refusesSplit},
    {"attention_cooperative", AttentionForm::Cooperative, kMatrixChannels, refusesMatrices},
    {"attention_narrow_tile", AttentionForm::NarrowTile, kNarrowChannels, refusesNarrowTile},
    {"attention_large_tile", AttentionForm::LargeTile, kTileChannels, refusesLargeTile},
    {"attention_vector_tile", AttentionForm::VectorTile, kTileChannels, refusesVectorTile},
    {"attention_tile", AttentionForm::Tile, kTileChannels, refusesTile},
    {"attention", AttentionForm::Query, kGroupSize, refusesNothing},
};

// The number of queries of a workgroup.
uint32_t queriesOf(const Algorithm& algorithm, const Attended& a, const Target& target) {
  switch (algorithm.form) {
    case AttentionForm::Split:
      return kSplitQueries;
    case AttentionForm::Cooperative:
      return matrixQueries(target, matrixInvocations(a, target));
    case AttentionForm::NarrowTile:
    case AttentionForm::LargeTile:
      return kLargeTileQueries;
    case AttentionForm::VectorTile:
    case AttentionForm::Tile:
      return kTileQueries;
    case AttentionForm::Step:
    case AttentionForm::Query:
      break;
  }
  return 1;
}

// The keys of a workgroup that leaves parts to be combined; 0: it makes the output.
uint32_t keysOfPart(AttentionForm form) {
  if (form == AttentionForm::Step) return kStepKeys;
  return form == AttentionForm::Split ? kSplitKeys : 0;
}

uint32_t flagsOf(const Attended& a) {
  return (a.bias.range ? kHasBias : 0) | (a.relative.range ? kHasRelative : 0) | (a.lengths.range ? kHasLengths : 0);
}

// KNOWN of attention_tile.comp.
uint32_t knownOf(const Algorithm& algorithm, const Attended& a) {
  constexpr uint32_t kPlain = 1;
  constexpr uint32_t kWhole = 2;
  constexpr uint32_t kChannelsAtATime = 16;  // of keys, in two stages
  if (a.maskType != 0 || flagsOf(a) != 0) return 0;
  const bool whole = a.queries % kLargeTileQueries == 0 && a.keys % kLargeTileQueries == 0 &&
                     a.keySize % kChannelsAtATime == 0 && a.valueSize % algorithm.channels == 0;
  return whole ? kWhole : kPlain;
}

kernels::Attention::Spec specializationOf(const Algorithm& algorithm, const Attended& a, const Target& target) {
  if (algorithm.form == AttentionForm::Split) return {.rows = std::bit_ceil(a.queries)};
  if (algorithm.form == AttentionForm::LargeTile || algorithm.form == AttentionForm::NarrowTile)
    return {.known = knownOf(algorithm, a)};
  if (algorithm.form != AttentionForm::Cooperative) return {};
  const uint32_t keySize = inMatrices(a.keySize, target);
  const uint32_t valueSize = inMatrices(a.valueSize, target);
  const uint32_t reads = (comesInVectors(a.query, a.keySize) ? kQueryVectors : 0) |
                         (comesInVectors(a.key, a.keySize) ? kKeyVectors : 0) |
                         (comesInVectors(a.value, a.valueSize) ? kValueVectors : 0) |
                         (comesInVectors(a.output, a.valueSize) ? kOutputVectors : 0) |
                         (keySize == a.keySize && valueSize == a.valueSize ? kWholeMatrices : 0);
  const bool plain = a.maskType == 0 && !a.relative.range && !a.lengths.range;
  return {.keySize = keySize,
          .valueSize = valueSize,
          .keys = matrixKeys(a, target),
          .subgroup = target.caps.subgroupSize,
          .sizeRows = target.caps.matrices.rows,
          .sizeColumns = target.caps.matrices.columns,
          .sizeDepth = target.caps.matrices.depth,
          .reads = reads,
          .plain = plain,
          .places = a.scale > 0 && target.options.places && placesFit(target.caps),
          .invocations = matrixInvocations(a, target)};
}

// `tiles` is the number of tiles of the value's channels, or of slices of the keys.
KernelCall callOf(const Algorithm& algorithm, const Attended& a, const PlanBuilder& builder, uint32_t tiles,
                  const BufferRange& to) {
  // An absent tensor is not read, but something has to be bound in its place.
  const auto orQuery = [&](const Attended::Addend& addend) { return addend.range.value_or(a.query.range); };
  return kernels::Attention{.form = algorithm.form,
                            .type = builder.typedElement(a.type),
                            .push = {.queries = a.queries,
                                     .keys = a.keys,
                                     .keySize = a.keySize,
                                     .valueSize = a.valueSize,
                                     .heads = a.heads,
                                     .headsPerKey = a.headsPerKey,
                                     .valueTiles = tiles,
                                     .maskType = a.maskType,
                                     .flags = flagsOf(a),
                                     .scale = floatBits(a.scale),
                                     .filterValue = floatBits(a.filterValue)},
                            .spec = specializationOf(algorithm, a, builder.target()),
                            .q = a.query.range,
                            .k = a.key.range,
                            .v = a.value.range,
                            .bias = orQuery(a.bias),
                            .mask = orQuery(a.mask),
                            .relative = orQuery(a.relative),
                            .lengths = orQuery(a.lengths),
                            .y = to};
}

// Returns the operations of both products, or the largest number if there are more.
uint64_t multiplyAdds(const Attended& a) {
  uint64_t all = a.batch;
  for (const uint64_t factor : std::array<uint64_t, 4>{a.heads, a.queries, a.keys, uint64_t{a.keySize} + a.valueSize})
    if (!checkedMultiply(all, factor, all)) return std::numeric_limits<uint64_t>::max();
  return all;
}

Status addCombination(PlanBuilder& builder, const Attended& a, const BufferRange& parts, uint32_t slice,
                      uint32_t parameters) {
  const uint64_t rows = uint64_t{a.batch} * a.heads * a.queries;
  const uint32_t slices = slicesOf(a, slice);
  return builder.add(kernels::AttentionCombine{.type = builder.typedElement(a.type),
                                               .push = {.slices = slices,
                                                        .queries = a.queries,
                                                        .heads = a.heads,
                                                        .valueSize = a.valueSize,
                                                        .keys = a.keys,
                                                        .slice = slice,
                                                        .flags = flagsOf(a),
                                                        .filterValue = floatBits(a.filterValue)},
                                               .parts = parts,
                                               .lengths = a.lengths.range.value_or(parts),
                                               .y = a.output.range},
                     rows, parameters, rows * a.valueSize * slices);
}

// The operator of attentionOperation().
struct StridedAttention {
  float scale;
};

// The stride of a dimension, counted from the last one. It is 0 if the dimension has no steps.
uint32_t strideFromLast(const Tensor& tensor, uint32_t fromLast) {
  const bool steps = fromLast < tensor.rank && tensor.sizes[tensor.rank - 1 - fromLast] > 1;
  return steps ? tensor.strides[tensor.rank - 1 - fromLast] : 0;
}
uint32_t sizeFromLast(const Tensor& tensor, uint32_t fromLast) {
  return fromLast < tensor.rank ? tensor.sizes[tensor.rank - 1 - fromLast] : 1;
}

std::array<uint32_t, 4> lastStrides(const Tensor& tensor) {
  return {strideFromLast(tensor, 3), strideFromLast(tensor, 2), strideFromLast(tensor, 1), strideFromLast(tensor, 0)};
}

Attended attendedOf(const Operation& op) {
  const auto headsOf = [](const Tensor& tensor) {
    const auto [batch, head, position, channel] = lastStrides(tensor);
    // A single channel counts as lying side by side.
    return Heads{{}, 0, batch, head, position, sizeFromLast(tensor, 0) > 1 ? channel : 1};
  };
  const Tensor& q = op.input(0);
  const Tensor& v = op.input(2);
  Attended a;
  a.type = q.type;
  a.batch = sizeFromLast(q, 3);
  a.heads = sizeFromLast(q, 2);
  a.queries = sizeFromLast(q, 1);
  a.keySize = sizeFromLast(q, 0);
  a.keys = sizeFromLast(v, 1);
  a.valueSize = sizeFromLast(v, 0);
  a.scale = op.as<StridedAttention>().scale;
  a.query = headsOf(q);
  a.key = headsOf(op.input(1));
  a.value = headsOf(v);
  a.output = headsOf(op.output());
  if (op.inputs().size() > 3) a.relative.strides = lastStrides(op.input(3));
  return a;
}

Status planStridedAttention(const Operation& op, PlanBuilder& builder) {
  Attended a = attendedOf(op);
  a.query.range = builder.input(0);
  a.key.range = builder.input(1);
  a.value.range = builder.input(2);
  a.output.range = builder.output();
  if (op.inputs().size() > 3) a.relative.range = builder.input(3);
  return addAttention(builder, a);
}

constexpr OpSchema kStridedAttention = schemaOfPasses("ATTENTION", planStridedAttention);

}  // namespace

Operation attentionOperation(float scale, std::vector<Tensor> inputs, const Tensor& output, TensorNames names) {
  return {kStridedAttention,
          std::make_shared<const StridedAttention>(StridedAttention{scale}),
          std::move(inputs),
          {output},
          std::move(names)};
}

bool attendsByMatrices(const Operation& attention, const Target& target) {
  const Attended a = attendedOf(attention);
  return refusesStep(a, target) && refusesSplit(a, target) && !refusesMatrices(a, target);
}

Status addAttention(PlanBuilder& builder, const Attended& a) {
  const Target& target = builder.target();
  const Algorithm* algorithm = kAlgorithms;
  while (const char* reason = algorithm->refuses(a, target)) builder.passOver({algorithm++->name, reason});
  const std::array<uint32_t, 4> parameters[] = {a.query.strides(),
                                                a.key.strides(),
                                                a.value.strides(),
                                                a.output.strides(),
                                                a.relative.strides,
                                                a.mask.strides,
                                                {a.query.first, a.key.first, a.value.first, a.bias.strides[0]},
                                                a.lengths.strides};
  std::vector<uint32_t> words;
  for (const auto& four : parameters) words.insert(words.end(), four.begin(), four.end());
  const uint32_t at = builder.parameters(words);
  const auto valueTiles = static_cast<uint32_t>(divideUp(a.valueSize, algorithm->channels));
  const uint32_t slice = keysOfPart(algorithm->form);
  const uint32_t tiles = slice ? slicesOf(a, slice) : valueTiles;
  const BufferRange to = slice ? builder.allocateTemporary(partBytes(a, slice)) : a.output.range;
  TRY(builder.add(callOf(*algorithm, a, builder, tiles, to),
                  uint64_t{a.batch} * a.heads * divideUp(a.queries, queriesOf(*algorithm, a, target)) * tiles, at,
                  multiplyAdds(a)));
  return slice ? addCombination(builder, a, to, slice, at) : Status{};
}

}  // namespace dimple
