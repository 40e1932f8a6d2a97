// Pairs in shared memory, and what sorts blocks of them. Include after top_k.glsl and grid.glsl.
const uint kSlots = 1024u;
shared uint sharedLow[kSlots];
shared uint sharedIndex[kSlots];
#if T_BITS == 64
shared uint sharedHigh[kSlots];
#endif

Pair slotPair(uint slot) {
#if T_BITS == 64
  return Pair(uvec2(sharedLow[slot], sharedHigh[slot]), sharedIndex[slot]);
#else
  return Pair(sharedLow[slot], sharedIndex[slot]);
#endif
}
void setSlot(uint slot, Pair p) {
#if T_BITS == 64
  sharedLow[slot] = p.key.x;
  sharedHigh[slot] = p.key.y;
#else
  sharedLow[slot] = p.key;
#endif
  sharedIndex[slot] = p.index;
}

// The least power of two from 2 on that is not less than `count`. It is computed without a loop: libvkd3d assigns the
// variables of a loop one after the other, and blocks were sorted beyond the slots.
uint powerFrom(uint count) { return 2u << findMSB(max(count, 2u) - 1u); }

// Sorts each block of `width` slots, a power of two, of the first `slots`. Between barriers.
void sortBlocks(uint slots, uint width) {
  // Bitonic: the first step of a merge mirrors the second half, so that all blocks ascend.
  for (uint size = 2u; size <= width; size *= 2u) {
    for (uint distance1 = size / 2u; distance1 > 0u; distance1 /= 2u) {
      barrier();
      for (uint i = gl_LocalInvocationID.x; i < slots / 2u; i += gl_WorkGroupSize.x) {
        // `distance1` is a power of two.
        const uint low = (i & ~(distance1 - 1u)) * 2u + (i & (distance1 - 1u));
        const uint high = distance1 == size / 2u ? low ^ (size - 1u) : low + distance1;
        const Pair a = slotPair(low);
        const Pair b = slotPair(high);
        if (before(b, a)) {
          setSlot(low, b);
          setSlot(high, a);
        }
      }
    }
  }
  barrier();
}

// KIND: 0: unsigned integers, 1: signed ones, 2: floats.
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
