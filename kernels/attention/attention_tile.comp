#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// A workgroup computes up to CHANNELS (64 or 128) channels of the output at TILE queries of one head: it passes over the
// keys once, TILE at a time, with running maxima, sums and weighted sums of values. An invocation keeps the scores of
// kPer queries and keys, and four or eight channels of the sums at these queries, in registers; what it multiplies comes
// through shared memory, in fours of queries, keys or channels, one step ahead of the multiplications (as in
// matrix/tile.glsl).
#include "attention/scores.glsl"

// What KNOWN says: scores are scaled products and nothing else; and all tiles are whole, with an even number of stages.
// SPIR-V does without: NVIDIA's driver then takes more registers, and the kernel 5 % more time.
#if TILE == 128 && DIMPLE_HLSL && !DIMPLE_COMPACT
bool isPlain() { return KNOWN >= 1u; }
bool isWhole() { return KNOWN >= 2u; }
#else
bool isPlain() { return false; }
bool isWhole() { return false; }
#endif

const uint kTile = TILE;
const uint kPer = kTile / 16u;
const uint kFours = kPer / 4u;
const uint kStep = 1024u / kTile;  // channels of query and key that are staged at a time
const uint kChannels = CHANNELS;   // of the output
const uint kChannelFours = kChannels / 64u;
const uint kMostFours = kFours > kChannelFours ? kFours : kChannelFours;
const uint kWeighed = 32u;         // keys whose weights are in shared memory at a time
const uint kValueStep = 1024u / kChannels;  // and whose values are

// Apart enough that neighbouring lines lie in different banks.
const uint kPitch = kTile / 4u + 1u;
const uint kPitchV = kChannels / 4u + 1u;

// In one place: two stages of queries and of keys; after the last of them the rows' maxima, then the weights. Behind
// that two stages of values, and what rows have in common.
const uint kStage = kStep * kPitch;
const uint kKeysAt = 2u * kStage;
const uint kValuesAt = kWeighed * kPitch > 4u * kStage ? kWeighed * kPitch : 4u * kStage;
const uint kTopsAt = kValuesAt + 2u * kValueStep * kPitchV;
const uint kShrinksAt = kTopsAt + kTile / 4u;
shared vec4 staged[kShrinksAt + kTile / 4u];

#define LOWEST uintBitsToFloat(0xff800000u)

float scores[kPer * kPer];
float results[kPer * kChannelFours * 4u];
float totals[kPer];  // of the weights that this invocation computed
uint down, across;   // which rows and columns of tiles are the invocation's

#include "attention/tile_loads.glsl"

// The row or column of an invocation's element: groups of four neighbours, 64 apart.
uint tilePlace(uint lane16, uint i) { return i / 4u * 64u + lane16 * 4u + i % 4u; }

// What an invocation multiplies next, one step ahead.
vec4 partA[2u * kFours];
vec4 partB[2u * kMostFours];

void loadParts(uint which, uint atA, uint atB, uint foursB) {
  [[unroll]] for (uint i = 0u; i < kFours; ++i) partA[which * kFours + i] = staged[atA + i * 16u + down];
  [[unroll]] for (uint i = 0u; i < kMostFours; ++i)
    if (i < foursB) partB[which * kMostFours + i] = staged[atB + i * 16u + across];
}

// Back and forth, so that neighbouring multiplications share an operand.
#define MULTIPLY(SUMS, FOURS_B, WHICH)                                                        \
  [[unroll]] for (uint j = 0u; j < 4u * FOURS_B; ++j)                                         \
    [[unroll]] for (uint turn = 0u; turn < kPer; ++turn) {                                    \
      const uint i = j % 2u == 0u ? turn : kPer - 1u - turn;                                  \
      SUMS[i * 4u * FOURS_B + j] += partA[(WHICH) * kFours + i / 4u][i % 4u] *                \
                                    partB[(WHICH) * kMostFours + j / 4u][j % 4u];          \
    }

// e^x for x from -infinity to 0, and NaN; 0 below the smallest normal number.
float weightOf(float x) {
  int whole;
  const float p = expScaled(x, whole);
  return x < -87.0 ? 0.0 : p * exp2Int(whole);
}

#if DIMPLE_COMPACT
#include "attention/tile_compact.glsl"
#else
#include "attention/tile_ahead.glsl"
#endif

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint queryTiles = (push.queries + kTile - 1u) / kTile;
  const uint firstChannel = group % push.valueTiles * kChannels;
  const uint firstQuery = group / push.valueTiles % queryTiles * kTile;
  const uint head = group / push.valueTiles / queryTiles % push.heads;
  const uint batch = group / push.valueTiles / queryTiles / push.heads;
  // 32 neighbouring invocations, a subgroup of many devices, form 4 rows of 8, so that they read little.
  down = lane / 64u * 4u + lane % 32u / 8u;
  across = lane / 32u % 2u * 8u + lane % 8u;

  [[unroll]] for (uint i = 0u; i < kPer; ++i) totals[i] = 0.0;
  [[unroll]] for (uint i = 0u; i < kPer * kChannelFours * 4u; ++i) results[i] = 0.0;
  prepareRows(lane);
  prepareLoads(lane, batch, head, firstQuery, firstChannel);
  attend(batch, head, firstQuery, lane);
  finish(batch, head, firstQuery, firstChannel, lane);
}
