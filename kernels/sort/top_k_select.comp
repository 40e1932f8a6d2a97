#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// The first `kept` of each block of at most 4096 elements of a row, or with FROM_PAIRS of pairs[row][`elements`]. There
// is one workgroup per block, and `kept` is at most 64. They go to the outputs in order, or with TO_PAIRS to
// words[row][block][kept].
//
// The best of each invocation's 16 elements are sorted. What lies behind the one in place `kept` is none of the first,
// and what does not belongs to `kept` invocations at most: these elements are sorted once more.
// Walk over the rows: operands input, values, indices.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "sort/top_k.glsl"
#include "sort/block.glsl"

TENSOR_IN(x)
layout(set = 0, binding = BINDING_pairs, std430) readonly buffer pairsBuffer { uint pairs[]; };
TENSOR_OUT(values)
// Indices, or pairs.
layout(set = 0, binding = BINDING_words, std430) buffer wordsBuffer { uint words[]; };

const uint kHeld = 16u;  // elements of an invocation
const uint kNone = 0xffffffffu;

shared uint sharedCount;

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint rowIndex = group / push.blocksPerRow;
  const uint first = group % push.blocksPerRow * kHeld * gl_WorkGroupSize.x;
  const uvec4 row = walkOffsets(0u, push.rank, rowIndex);

  uint keys[kHeld];
  uint indices[kHeld];
  Pair best = Pair(kLastKey, kNone);
  [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
    const uint element = first + i * gl_WorkGroupSize.x + lane;
    keys[i] = kLastKey;
    indices[i] = kNone;
    if (element < push.elements) {
      if (FROM_PAIRS != 0u) {
        const uint at = (rowIndex * push.elements + element) * 2u;
        keys[i] = pairs[at];
        indices[i] = pairs[at + 1u];
      } else {
        keys[i] = keyOf(loadRaw_x(row.x + element * push.xStep));
        indices[i] = element;
      }
    }
  }
  [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
    const Pair p = Pair(keys[i], indices[i]);
    if (before(p, best)) best = p;
  }
  setSlot(lane, best);
  sortBlocks(gl_WorkGroupSize.x, gl_WorkGroupSize.x);
  const Pair bound = slotPair(push.kept - 1u);
  if (lane == 0u) sharedCount = 0u;
  barrier();
  [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
    const Pair p = Pair(keys[i], indices[i]);
    if (p.index != kNone && !before(bound, p)) setSlot(atomicAdd(sharedCount, 1u), p);
  }
  barrier();

  const uint count = sharedCount;
  const uint width = powerFrom(max(count, push.kept));
  for (uint slot = count + lane; slot < width; slot += gl_WorkGroupSize.x) setSlot(slot, Pair(kLastKey, kNone));
  sortBlocks(width, width);
  if (lane >= push.kept) return;
  const Pair p = slotPair(lane);
  if (TO_PAIRS != 0u) {
    const uint at = (group * push.kept + lane) * 2u;
    words[at] = p.key;
    words[at + 1u] = p.index;
    return;
  }
  storeRaw_values(row.y + lane * push.valueStep, loadRaw_x(row.x + p.index * push.xStep));
  const uint at = (row.z + lane * push.indexStep) * push.indexWords;
  words[at] = p.index;
  if (push.indexWords == 2u) words[at + 1u] = 0u;
}
