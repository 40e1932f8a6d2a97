#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Merges neighbouring runs of each row, of which the first `kept` pairs are there: pairs[row][run][kept]. Each invocation
// finds the place of one pair among those of both runs. The first `keptAfter` go to the outputs, or with TO_PAIRS to
// pairs of half as many runs.
//   runLength   elements of a run before any were dropped
// Walk over the rows: operands input, values, indices.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "sort/top_k.glsl"

#if T_BITS == 64
layout(set = 0, binding = BINDING_pairs, std430) readonly buffer pairsBuffer { uint pairs[]; };
#else
layout(set = 0, binding = BINDING_pairs, std430) readonly buffer pairsBuffer { uvec2 pairs[]; };
#endif
TENSOR_IN(x)
TENSOR_OUT(values)
// Indices, or pairs.
layout(set = 0, binding = BINDING_words, std430) buffer wordsBuffer { uint words[]; };

Pair pairAt(uint i) {
#if T_BITS == 64
  const uint at = i * PAIR_WORDS;
  return Pair(uvec2(pairs[at], pairs[at + 1u]), pairs[at + 2u]);
#else
  const uvec2 pair = pairs[i];
  return Pair(pair.x, pair.y);
#endif
}

uint pairsOf(uint run) {
  if (run >= push.runs) return 0u;
  return min(push.kept, min(push.runLength, push.elements - run * push.runLength));
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uint rowRun = item / push.kept;
  const uint rowIndex = rowRun / push.runs;
  const uint run = rowRun % push.runs;
  const uint own = item % push.kept;
  if (own >= pairsOf(run)) return;
  const Pair p = pairAt(item);

  // Pairs of the other run that come before.
  const uint other = run ^ 1u;
  const uint first = (rowIndex * push.runs + other) * push.kept;
  uint low = 0u;
  uint high = pairsOf(other);
  while (low < high) {
    const uint middle = low + (high - low) / 2u;
    if (before(pairAt(first + middle), p)) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  const uint place = own + low;
  if (place >= push.keptAfter) return;
  if (TO_PAIRS != 0u) {
    const uint runsAfter = (push.runs + 1u) / 2u;
    const uint at = ((rowIndex * runsAfter + run / 2u) * push.keptAfter + place) * PAIR_WORDS;
#if T_BITS == 64
    words[at] = p.key.x;
    words[at + 1u] = p.key.y;
#else
    words[at] = p.key;
#endif
    words[at + PAIR_WORDS - 1u] = p.index;
    return;
  }
  const uvec4 row = walkOffsets(0u, push.rank, rowIndex);
  storeRaw_values(row.y + place * push.valueStep, loadRaw_x(row.x + p.index * push.xStep));
  const uint at = (row.z + place * push.indexStep) * push.indexWords;
  words[at] = p.index;
  if (push.indexWords == 2u) words[at + 1u] = 0u;
}
