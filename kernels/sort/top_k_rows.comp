#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Does what top_k_select.comp does of elements for `kept` up to 16, if rows lie in vectors of 16 bytes: `elements`
// counts these, and the walk steps through the input in them. The best of each four invocations' 64 elements are ranked
// instead of sorted, and so are the elements that are left, where they are not many.
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "sort/top_k.glsl"
#include "sort/block.glsl"

PACKED_IN(x)
layout(set = 0, binding = BINDING_pairs, std430) readonly buffer pairsBuffer { uint pairs[]; };  // unused
TENSOR_OUT(values)
// Indices, or pairs.
layout(set = 0, binding = BINDING_words, std430) buffer wordsBuffer { uint words[]; };

const uint kVectorElements = 128u / T_BITS;
const uint kHeld = 16u;  // elements of an invocation
const uint kHeldVectors = kHeld / kVectorElements;
const uint kCandidates = 64u;
const uint kShares = 4u;    // of the workgroup, that rank candidates together
const uint kFew = 128u;     // elements that are ranked
const uint kNone = 0xffffff00u;  // words or indices from that on stand for no element

// An element: a word whose order is the wanted one, and of 32 bits its index in the block. The word of 16 bits has the
// key above the index.
struct Item {
  uint word;
#if T_BITS == 32
  uint index;
#endif
};
#if T_BITS == 32
bool comesFirst(Item a, Item b) { return a.word < b.word || (a.word == b.word && a.index < b.index); }
Item noItem(uint number) { return Item(0xffffffffu, kNone + number); }
bool isNone(Item item) { return item.index >= kNone; }
Pair pairOf(Item item, uint first) { return Pair(item.word, first + item.index); }
#else
bool comesFirst(Item a, Item b) { return a.word < b.word; }
Item noItem(uint number) { return Item(kNone + number); }
bool isNone(Item item) { return item.word >= kNone; }
Pair pairOf(Item item, uint first) { return Pair(item.word >> 16, first + (item.word & 0xffffu)); }
#endif

// Slots.
const uint kCandidatesAt = 256u;
const uint kBoundAt = 512u;
Item slotItem(uint slot) {
#if T_BITS == 32
  return Item(sharedLow[slot], sharedIndex[slot]);
#else
  return Item(sharedLow[slot]);
#endif
}
void setItem(uint slot, Item item) {
  sharedLow[slot] = item.word;
#if T_BITS == 32
  sharedIndex[slot] = item.index;
#endif
}

shared uint sharedRank[kCandidates];
shared uint sharedCount;

#if T_BITS == 16
// Two keys, as keyOf() makes them.
uint keysOf(uint word) {
  uint keys = word;
  if (KIND == 1u) keys ^= 0x80008000u;
  if (KIND == 2u) {
    const uint magnitudes = word & 0x7fff7fffu;
    // Zeros of both signs are equal.
    const uint negative = (magnitudes + 0x7fff7fffu) & word & 0x80008000u;
    const uint undefined = (magnitudes + 0x03ff03ffu) & 0x80008000u;
    keys = ((magnitudes | negative) ^ ((negative >> 15) * 0x7fffu) ^ 0x80008000u) | ((undefined >> 15) * 0xffffu);
  }
  return push.largest != 0u ? ~keys : keys;
}
#endif

// The best of its 16 elements, of which it holds all; `exists` has a bit for each vector of them.
Item heldItems(uint firstVector, uint rowAt, out Item items[kHeld], out uint exists) {
  const uint lane = gl_LocalInvocationID.x;
  uvec4 loaded[kHeldVectors];
  exists = 0u;
  [[unroll]] for (uint v = 0u; v < kHeldVectors; ++v) {
    const uint vector = firstVector + v * gl_WorkGroupSize.x + lane;
    loaded[v] = x[rowAt + min(vector, push.elements - 1u)];
    exists |= vector < push.elements ? 1u << v : 0u;
  }
  Item best = noItem(0u);
  [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
    const uint v = i / kVectorElements;
    const uint index = (v * gl_WorkGroupSize.x + lane) * kVectorElements + i % kVectorElements;
#if T_BITS == 32
    items[i] = Item(keyOf(loaded[v][i % 4u]), index);
#else
    const uint keys = keysOf(loaded[v][i / 2u % 4u]);
    items[i] = Item(i % 2u == 0u ? keys << 16 | index : keys & 0xffff0000u | index);
#endif
    if ((exists >> v & 1u) != 0u && comesFirst(items[i], best)) best = items[i];
  }
  return best;
}

// What is in place `kept` among the candidates, the best of four invocations each; or no item, behind all elements.
Item boundOf(Item best) {
  const uint lane = gl_LocalInvocationID.x;
  setItem(lane, best);
  if (lane < kCandidates) sharedRank[lane] = 0u;
  if (lane == 0u) sharedCount = 0u;
  barrier();
  if (lane < kCandidates) {
    [[unroll]] for (uint i = 1u; i < gl_WorkGroupSize.x / kCandidates; ++i) {
      const Item other = slotItem(lane + i * kCandidates);
      if (comesFirst(other, best)) best = other;
    }
    // Each differs from the others.
    if (isNone(best)) best = noItem(lane);
    setItem(kCandidatesAt + lane, best);
  }
  barrier();
  const Item candidate = slotItem(kCandidatesAt + lane % kCandidates);
  const uint first = lane / kCandidates * (kCandidates / kShares);
  uint ahead = 0u;
  [[unroll]] for (uint i = 0u; i < kCandidates / kShares; ++i)
    ahead += comesFirst(slotItem(kCandidatesAt + first + i), candidate) ? 1u : 0u;
  atomicAdd(sharedRank[lane % kCandidates], ahead);
  barrier();
  if (lane < kCandidates && sharedRank[lane] == push.kept - 1u) setItem(kBoundAt, candidate);
  barrier();
  const Item bound = slotItem(kBoundAt);
  barrier();
  return bound;
}

// The place of one of `count` pairs in the slots, and the pair. Invocations without one have places behind them.
uint placeOf(uint count, out Pair p) {
  const uint lane = gl_LocalInvocationID.x;
  p = Pair(kLastKey, 0xffffffffu);
  if (count > kFew) {
    const uint width = powerFrom(count);
    for (uint slot = count + lane; slot < width; slot += gl_WorkGroupSize.x) setSlot(slot, p);
    sortBlocks(width, width);
    p = slotPair(lane);
    return lane;
  }
  if (lane >= count) return lane;
  p = slotPair(lane);
  uint place = 0u;
  for (uint i = 0u; i < count; ++i) place += before(slotPair(i), p) ? 1u : 0u;
  return place;
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint rowIndex = group / push.blocksPerRow;
  const uint firstVector = group % push.blocksPerRow * kHeldVectors * gl_WorkGroupSize.x;
  const uvec4 row = walkOffsets(0u, push.rank, rowIndex);
  Item items[kHeld];
  uint exists;
  const Item best = heldItems(firstVector, row.x, items, exists);
  const Item bound = boundOf(best);
  [[unroll]] for (uint i = 0u; i < kHeld; ++i)
    if ((exists >> i / kVectorElements & 1u) != 0u && !comesFirst(bound, items[i]))
      setSlot(atomicAdd(sharedCount, 1u), pairOf(items[i], firstVector * kVectorElements));
  barrier();

  Pair p;
  const uint place = placeOf(sharedCount, p);
  // Blocks with fewer elements than are kept leave pairs of none.
  if (place >= push.kept) return;
  if (TO_PAIRS != 0u) {
    const uint at = (group * push.kept + place) * 2u;
    words[at] = p.key;
    words[at + 1u] = p.index;
    return;
  }
#if T_BITS == 32
  const uint bits = x[row.x + p.index / 4u][p.index % 4u];
#else
  const uint bits = x[row.x + p.index / 8u][p.index / 2u % 4u] >> (p.index % 2u * 16u);
#endif
  storeRaw_values(row.y + place * push.valueStep, bits);
  const uint at = (row.z + place * push.indexStep) * push.indexWords;
  words[at] = p.index;
  if (push.indexWords == 2u) words[at + 1u] = 0u;
}
