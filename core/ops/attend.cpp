#include "core/ops/attend.h"

#include <algorithm>
#include <limits>

#include "core/checked.h"

namespace dimple {
namespace {

// What kernels/attention/*.glsl and *.comp call them.
constexpr uint32_t kHasBias = 1;
constexpr uint32_t kHasRelative = 2;
constexpr uint32_t kHasLengths = 4;
constexpr uint32_t kQueryVectors = 1;
constexpr uint32_t kKeyVectors = 2;
constexpr uint32_t kValueVectors = 4;

// What attention is planned for.
struct Request {
  const Attended& attended;
  const Caps& caps;
};

enum class Kind { Queries, Tiles, Matrices };

// A kernel, and why it would not do: null if it does.
struct Algorithm {
  std::string_view kernel;
  Kind kind;
  uint32_t channels;  // of the output that a workgroup computes at most
  const char* (*refuses)(const Request&);
};

const char* refusesTile(const Request& request) {
  constexpr uint32_t kFewestQueries = 8;  // that are worth a tile
  return request.attended.queries < kFewestQueries ? "It has few queries." : nullptr;
}

// Queries of a workgroup whose subgroups have a row of matrices each.
uint32_t matrixQueries(const Caps& caps) { return kGroupSize / caps.subgroupSize * caps.matrixSize; }

// Channels of a head in whole matrices.
uint32_t inMatrices(uint32_t channels, const Caps& caps) {
  return static_cast<uint32_t>(alignUp(channels, caps.matrixSize));
}

uint32_t sharedBytes(const Attended& a, const Caps& caps, uint32_t keys) {
  const uint32_t size = caps.matrixSize;
  const uint32_t queries = matrixQueries(caps);
  const uint32_t queryChannels = queries > 128 ? 32 : 64;
  const uint32_t line = std::max(size / 4 + 1, std::min(keys, 32u) / 8 + 1);
  const uint32_t channels = inMatrices(a.keySize, caps) + inMatrices(a.valueSize, caps);
  const uint32_t vectors = keys * (channels / 8 + 2) + queries * line + queries / 2;
  return std::max(vectors, queries * (queryChannels / 8 + 1)) * 16;
}

constexpr uint32_t kMatrixChannels = 256;

// Keys that are taken at a time; 0: they do not fit into shared memory.
uint32_t matrixKeys(const Attended& a, const Caps& caps) {
  // With few channels, fewer keys leave room for a second workgroup; with many, there are no registers for more.
  const uint32_t channels = std::max(a.keySize, a.valueSize);
  for (uint32_t keys = channels > 64 && channels <= 128 ? 64 : 32; keys >= 16; keys /= 2)
    if (sharedBytes(a, caps, keys) <= caps.sharedBytes) return keys;
  return 0;
}

const char* refusesMatrices(const Request& request) {
  const auto& [a, caps] = request;
  if (const char* reason = refusesTile(request)) return reason;
  if (a.type != DML_TENSOR_DATA_TYPE_FLOAT16) return "Its elements are not FLOAT16.";
  if (caps.matrixSize == 0) return "The device's subgroups do not multiply matrices.";
  if (!caps.matrixHalves) return "The device's subgroups hold no sums in FLOAT16.";
  if (std::max(a.keySize, a.valueSize) > kMatrixChannels) return "Its heads have many channels.";
  if (matrixKeys(a, caps) == 0) return "The device has too little shared memory.";
  return nullptr;
}

const char* refusesNothing(const Request&) { return nullptr; }

// In order of preference. The last refuses nothing.
constexpr Algorithm kAlgorithms[] = {
    {"attention_cooperative", Kind::Matrices, kMatrixChannels, refusesMatrices},
    {"attention_tile", Kind::Tiles, 128, refusesTile},
    {"attention", Kind::Queries, kGroupSize, refusesNothing},
};

const Algorithm& choose(PlanBuilder& builder, const Request& request) {
  const Algorithm* algorithm = kAlgorithms;
  while (const char* reason = algorithm->refuses(request)) {
    builder.passOver({algorithm->kernel, reason});
    ++algorithm;
  }
  return *algorithm;
}

// Queries of a workgroup.
uint32_t queriesOf(const Algorithm& algorithm, const Caps& caps) {
  switch (algorithm.kind) {
    case Kind::Matrices:
      return matrixQueries(caps);
    case Kind::Tiles:
      return 64;
    case Kind::Queries:
      break;
  }
  return 1;
}

// Whether eight channels always lie side by side, at a multiple of their number.
bool comesInVectors(const Heads& heads, uint32_t channels) {
  const uint32_t steps = channels | heads.first | heads.batch | heads.head | heads.position;
  return heads.channel == 1 && steps % 8 == 0;
}

std::vector<Specialization> specializationOf(const Algorithm& algorithm, const Attended& a, const Caps& caps) {
  if (algorithm.kind != Kind::Matrices) return {};
  const uint32_t reads = (comesInVectors(a.query, a.keySize) ? kQueryVectors : 0) |
                         (comesInVectors(a.key, a.keySize) ? kKeyVectors : 0) |
                         (comesInVectors(a.value, a.valueSize) ? kValueVectors : 0);
  const bool plain = a.maskType == 0 && !a.relative.range && !a.lengths.range;
  return {{3, inMatrices(a.keySize, caps)},
          {4, inMatrices(a.valueSize, caps)},
          {5, matrixKeys(a, caps)},
          {6, caps.subgroupSize},
          {7, caps.matrixSize},
          {8, reads},
          {9, plain ? 1u : 0u}};
}

// Of both products, or the largest number if there are more.
uint64_t multiplyAdds(const Attended& a) {
  uint64_t all = a.batch;
  for (const uint64_t factor : {a.heads, a.queries, a.keys, a.keySize + a.valueSize})
    if (!checkedMultiply(all, factor, all)) return std::numeric_limits<uint64_t>::max();
  return all;
}

}  // namespace

Status addAttention(PlanBuilder& builder, const Attended& a) {
  const Caps& caps = builder.caps();
  const Algorithm& algorithm = choose(builder, {a, caps});
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

  // What is absent is not read, but something has to be bound.
  const auto orQuery = [&](const Attended::Addend& addend) { return addend.range.value_or(a.query.range); };
  const uint32_t flags =
      (a.bias.range ? kHasBias : 0) | (a.relative.range ? kHasRelative : 0) | (a.lengths.range ? kHasLengths : 0);
  const auto valueTiles = static_cast<uint32_t>(divideUp(a.valueSize, algorithm.channels));
  return builder.add(typedKernel(algorithm.kernel, a.type, caps),
                     uint64_t{a.batch} * a.heads * divideUp(a.queries, queriesOf(algorithm, caps)) * valueTiles,
                     {a.queries, a.keys, a.keySize, a.valueSize, a.heads, a.headsPerKey, valueTiles, a.maskType, flags,
                      floatBits(a.scale), floatBits(a.filterValue)},
                     {a.query.range, a.key.range, a.value.range, orQuery(a.bias), orQuery(a.mask), orQuery(a.relative),
                      orQuery(a.lengths), a.output.range},
                     builder.parameters(words), specializationOf(algorithm, a, caps), multiplyAdds(a));
}

}  // namespace dimple
