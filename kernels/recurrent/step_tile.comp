#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// A step that reads weights in the order of recurrent/weights.comp. A workgroup computes 16 columns, all gates of some
// hidden units, of 4 * QUADS sequences: an invocation four columns of four sequences, a share of the depth that is
// interleaved with others', from vectors that neighbours read side by side.
#define VECTORS 1
#include "recurrent/step.glsl"

layout(set = 0, binding = BINDING_weights, std430) readonly buffer weightsBuffer { uvec4 weights[]; };

const uint kColumns = 16u;
const uint kLoads = 8u;  // on their way at once
shared vec4 parts[1024];
shared vec4 totals[256];

// Adds the products of elements K of the depth, all of whose loads come first.
#define ADD_PRODUCTS(K, EXISTS)                                                               \
  vec4 rows[kLoads];                                                                          \
  vec4 factors[kLoads];                                                                       \
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) {                                             \
    const uint k = K;                                                                         \
    rows[i] = uintBitsToFloat(operand[fromAt + k * quads]);                                   \
    factors[i] = uintBitsToFloat(weights[weightsAt + k * 4u]);                                \
  }                                                                                           \
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
  const uint block = group / tiles % blocks;
  const uint direction = group / tiles / blocks;

  // The element of the state that this invocation finishes.
  const uint units = kColumns / SLOTS;
  const uint ownRow = lane / units;
  const uint ownUnit = lane % units;
  const uint b = block * (QUADS * 4u) + ownRow;
  const uint h = tile * units + ownUnit;
  const bool finishes = ownRow < QUADS * 4u && b < push.batch && h < push.hiddenSize;
  const Item item = itemAt(direction, finishes ? b : 0u, finishes ? h : 0u);

  const uint column = lane % 4u;
  const uint quad = min(block * QUADS + lane / 4u % QUADS, quads - 1u);
  const uint slices = 64u / QUADS;
  const uint slice = lane / (4u * QUADS);
  const uint fromAt = (push.fromAt + direction * push.ofDirection) / 4u + quad;
  const uint weightsAt = push.weightsAt / 4u + (direction * tiles + tile) * push.hiddenSize * 4u + column;
  const uint last = push.hiddenSize - 1u;
  vec4 sums[4];
  [[unroll]] for (uint i = 0u; i < 4u; ++i) sums[i] = vec4(0.0);
  uint first = slice;
  // Only the last part tests where the depth ends.
#if !DIMPLE_COMPACT
  for (; first + (kLoads - 1u) * slices <= last; first += kLoads * slices) {
    ADD_PRODUCTS(first + i * slices, true)
  }
#endif
  for (; first < push.hiddenSize; first += kLoads * slices) {
    // Without conditions loads overlap.
    ADD_PRODUCTS(min(first + i * slices, last), first + i * slices <= last)
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
