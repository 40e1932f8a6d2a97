#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// A step that reads weights in the order of recurrent/weights.comp. A workgroup computes 16 columns, all gates of some
// hidden units, of 4 * QUADS sequences: an invocation four columns of four sequences, a share of the depth that is
// interleaved with others', from vectors that neighbours read side by side.
#define VECTORS 1

// What KNOWN says in the long form of DXIL: IS_PLAIN, all parts of the depth and all tiles are whole, and an LSTM has one
// direction. IS_SINGLE makes the steps of an LSTM faster, and those of a GRU slower.
#if DIMPLE_HLSL && !DIMPLE_COMPACT
#define IS_WHOLE (KNOWN != 0u)
#define IS_PLAIN (KNOWN != 0u)
#define IS_SINGLE (KNOWN != 0u && KIND == kLstm)
#else
#define IS_WHOLE false
#define IS_SINGLE false
#endif
#include "recurrent/step.glsl"

layout(set = 0, binding = BINDING_weights, std430) readonly buffer weightsBuffer { uvec4 weights[]; };

const uint kColumns = 16u;
const uint kLoads = 8u;  // on their way at once
shared vec4 parts[1024];
shared vec4 totals[256];

// Loads elements K of the depth, and adds their products.
#define LOAD_PART(K)                                                                          \
  vec4 rows[kLoads];                                                                          \
  vec4 factors[kLoads];                                                                       \
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) {                                             \
    const uint k = K;                                                                         \
    rows[i] = uintBitsToFloat(operand[fromAt + k * quads]);                                   \
    factors[i] = uintBitsToFloat(weights[weightsAt + k * 4u]);                                \
  }
#define ADD_PART(EXISTS)                                                                      \
  [[unroll]] for (uint i = 0u; i < kLoads; ++i)                                               \
    if (EXISTS) {                                                                             \
      [[unroll]] for (uint row = 0u; row < 4u; ++row) sums[row] += rows[i][row] * factors[i]; \
    }

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint tiles = (push.hiddenSize * SLOTS + kColumns - 1u) / kColumns;
  const uint quads = push.ofHidden / 4u;
  const uint blocks = (quads + QUADS - 1u) / QUADS;
  const uint tile = group % tiles;
  const uint line = group / tiles;
  const uint block = IS_SINGLE ? line : line % blocks;
  const uint direction = IS_SINGLE ? 0u : line / blocks;

  // The element of the state that this invocation finishes.
  const uint units = kColumns / SLOTS;
  const uint ownRow = lane / units;
  const uint ownUnit = lane % units;
  const uint b = block * (QUADS * 4u) + ownRow;
  const uint h = tile * units + ownUnit;
  const bool finishes = ownRow < QUADS * 4u && (IS_WHOLE || (b < push.batch && h < push.hiddenSize));
  Item item;
  if (!IS_SINGLE) item = itemAt(direction, finishes ? b : 0u, finishes ? h : 0u);

  const uint column = lane % 4u;
  const uint ownQuad = block * QUADS + lane / 4u % QUADS;
  const uint quad = IS_WHOLE ? ownQuad : min(ownQuad, quads - 1u);
  const uint slices = 64u / QUADS;
  const uint slice = lane / (4u * QUADS);
  const uint fromAt = (push.fromAt + direction * push.ofDirection) / 4u + quad;
  const uint weightsAt = push.weightsAt / 4u + (direction * tiles + tile) * push.hiddenSize * 4u + column;
  const uint last = push.hiddenSize - 1u;
  vec4 sums[4];
  [[unroll]] for (uint i = 0u; i < 4u; ++i) sums[i] = vec4(0.0);
  uint first = slice;
#if DIMPLE_HLSL && !DIMPLE_COMPACT
  // The first part is on its way before what the item needs.
  if (IS_SINGLE) {
    LOAD_PART(first + i * slices)
    item = itemAt(direction, finishes ? b : 0u, finishes ? h : 0u);
    ADD_PART(true)
    first += kLoads * slices;
  }
#endif
  // Only the last part tests where the depth ends.
#if !DIMPLE_COMPACT
  for (; first + (kLoads - 1u) * slices <= last; first += kLoads * slices) {
    LOAD_PART(first + i * slices)
    ADD_PART(true)
  }
#endif
  for (; !IS_WHOLE && first < push.hiddenSize; first += kLoads * slices) {
    // Without conditions loads overlap.
    LOAD_PART(min(first + i * slices, last))
    ADD_PART(first + i * slices <= last)
  }

  // Four slices at a time, and what those sums come to.
  [[unroll]] for (uint row = 0u; row < 4u; ++row) parts[row * 256u + lane] = sums[row];
  barrier();
  const uint results = 16u * QUADS;
  const uint result = lane % results;
  const uint from4 = result / (4u * QUADS) * 256u + lane / results * (16u * QUADS) + result % (4u * QUADS);
  totals[lane] = (parts[from4] + parts[from4 + 4u * QUADS]) + (parts[from4 + 8u * QUADS] + parts[from4 + 12u * QUADS]);
  barrier();
  if (!finishes) return;
  const uint ownColumn = ownUnit * SLOTS;
  const uint at = ownRow % 4u * (4u * QUADS) + ownRow / 4u * 4u + ownColumn / 4u;
  vec4 total = totals[at];
  for (uint part = results; part < 256u; part += results) total += totals[at + part];
  if (SLOTS == 2u && ownColumn % 4u != 0u) total.xy = total.zw;
  if (SLOTS == 1u) total.x = total[ownColumn % 4u];
  finishItem(item, total);
}
