#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Sorts blocks of at most 1024 elements of each row. Blocks of `width` slots, a power of two, lie side by side in
// a workgroup. The first `kept` of each block go to the outputs, or with TO_PAIRS to pairs[row][block][kept].
// Walk over the rows: operands input, values, indices.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "sort/top_k.glsl"
#include "sort/block.glsl"

TENSOR_IN(x)
TENSOR_OUT(values)
// Indices, or pairs.
layout(set = 0, binding = BINDING_words, std430) buffer wordsBuffer { uint words[]; };

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
    setSlot(slot, p);
  }
  sortBlocks(kSlots, push.width);
  for (uint slot = gl_LocalInvocationID.x; slot < kSlots; slot += gl_WorkGroupSize.x) {
    const uint block = group * blocksPerGroup + slot / push.width;
    const uint place = slot % push.width;
    const Pair p = slotPair(slot);
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
