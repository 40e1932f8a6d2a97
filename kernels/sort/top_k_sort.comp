#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Sorts blocks of at most 1024 elements of each row. Blocks of `width` slots, a power of two, lie side by side in
// a workgroup. The first `kept` of each block go to the outputs, or with TO_PAIRS to pairs[row][block][kept].
// Walk over the rows: operands input, values, indices.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "sort/top_k.glsl"

// KIND: 0: unsigned integers, 1: signed ones, 2: floats.

TENSOR_IN(x)
TENSOR_OUT(values)
// Indices, or pairs.
layout(set = 0, binding = BINDING_words, std430) buffer wordsBuffer { uint words[]; };

const uint kSlots = 1024u;
shared uint sharedLow[kSlots];
shared uint sharedIndex[kSlots];
#if T_BITS == 64
shared uint sharedHigh[kSlots];
#endif

Pair pairAt(uint slot) {
#if T_BITS == 64
  return Pair(uvec2(sharedLow[slot], sharedHigh[slot]), sharedIndex[slot]);
#else
  return Pair(sharedLow[slot], sharedIndex[slot]);
#endif
}
void setPair(uint slot, Pair p) {
#if T_BITS == 64
  sharedLow[slot] = p.key.x;
  sharedHigh[slot] = p.key.y;
#else
  sharedLow[slot] = p.key;
#endif
  sharedIndex[slot] = p.index;
}

RAW keyOf(RAW bits) {
#if T_BITS == 64
  const RAW key = KIND == 1u ? uvec2(bits.x, bits.y ^ 0x80000000u) : bits;
#else
  const uint sign = 1u << (T_BITS - 1);
  uint key = bits & T_MASK;
  if (KIND == 1u) key ^= sign;
  if (KIND == 2u) {
    // Zeros of both signs are equal, every NaN lies above infinity.
    const uint infinity = T_BITS == 32 ? 0x7f800000u : 0x7c00u;
    const uint magnitude = key & (sign - 1u);
    if (magnitude == 0u) {
      key = sign;
    } else if (magnitude > infinity) {
      key = T_MASK;
    } else {
      key = (key & sign) != 0u ? ~key & T_MASK : key | sign;
    }
  }
#endif
  return push.largest != 0u ? ~key : key;
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint blocksPerGroup = kSlots / push.width;
  for (uint slot = gl_LocalInvocationID.x; slot < kSlots; slot += gl_WorkGroupSize.x) {
    const uint block = group * blocksPerGroup + slot / push.width;
    const uint element = block % push.blocksPerRow * push.width + slot % push.width;
    // Slots without an element come last, even behind elements with the last key.
    Pair p = Pair(kLastKey, 0xffffffffu);
    if (block < push.blocks && element < push.elements) {
      const uvec4 row = walkOffsets(0u, push.rank, block / push.blocksPerRow);
      p = Pair(keyOf(loadRaw_x(row.x + element * push.xStep)), element);
    }
    setPair(slot, p);
  }
  // Bitonic: the first step of a merge mirrors the second half, so that all blocks ascend.
  for (uint size = 2u; size <= push.width; size *= 2u) {
    for (uint distance1 = size / 2u; distance1 > 0u; distance1 /= 2u) {
      barrier();
      for (uint i = gl_LocalInvocationID.x; i < kSlots / 2u; i += gl_WorkGroupSize.x) {
        const uint low = i / distance1 * distance1 * 2u + i % distance1;
        const uint high = distance1 == size / 2u ? low ^ (size - 1u) : low + distance1;
        const Pair a = pairAt(low);
        const Pair b = pairAt(high);
        if (before(b, a)) {
          setPair(low, b);
          setPair(high, a);
        }
      }
    }
  }
  barrier();
  for (uint slot = gl_LocalInvocationID.x; slot < kSlots; slot += gl_WorkGroupSize.x) {
    const uint block = group * blocksPerGroup + slot / push.width;
    const uint place = slot % push.width;
    const Pair p = pairAt(slot);
    if (block >= push.blocks || place >= push.kept || p.index == 0xffffffffu) continue;
    if (TO_PAIRS != 0u) {
      const uint at = (block * push.kept + place) * PAIR_WORDS;
#if T_BITS == 64
      words[at] = p.key.x;
      words[at + 1u] = p.key.y;
#else
      words[at] = p.key;
#endif
      words[at + PAIR_WORDS - 1u] = p.index;
    } else {
      const uvec4 row = walkOffsets(0u, push.rank, block);
      storeRaw_values(row.y + place * push.valueStep, loadRaw_x(row.x + p.index * push.xStep));
      const uint at = (row.z + place * push.indexStep) * push.indexWords;
      words[at] = p.index;
      if (push.indexWords == 2u) words[at + 1u] = 0u;
    }
  }
}
