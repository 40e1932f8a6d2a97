// What is added to the sums of a strip, of SIZE_ROWS lines of STRIP_COLUMNS each, that a subgroup stores: an invocation loads
// all that it needs before the sums pass through shared memory, so that it waits for memory once.
const uint kSingles = (SIZE_ROWS * STRIP_COLUMNS + SUBGROUP - 1u) / SUBGROUP;
const uint kEights = (SIZE_ROWS * STRIP_COLUMNS / 8u + SUBGROUP - 1u) / SUBGROUP;
float singles[kSingles];
uvec4 eights[kEights];

// The first row and column of the strip; `vectors`: whether eights of a row are stored together.
void loadAddends(bool vectors, uvec2 first, uvec4 base) {
  if (!hasAddend() || (push.flags & kToParts) != 0u) return;
#if T == f16
  if (vectors) {
    [[unroll]] for (uint e = 0u; e < kEights; ++e) {
      const uint item = gl_SubgroupInvocationID + e * SUBGROUP;
      const uint row = first.x + item / (STRIP_COLUMNS / 8u);
      const uint column = first.y + item % (STRIP_COLUMNS / 8u) * 8u;
      const bool inside = row < push.rows && column < push.columns;
      eights[e] = inside ? addendVectors[(base.w + row * yRowStride() + column) / 8u] : uvec4(0u);
    }
    return;
  }
#endif
  [[unroll]] for (uint e = 0u; e < kSingles; ++e) {
    const uint element = gl_SubgroupInvocationID + e * SUBGROUP;
    const uint row = first.x + element / STRIP_COLUMNS;
    const uint column = first.y + element % STRIP_COLUMNS;
    const bool inside = row < push.rows && column < push.columns;
    singles[e] = inside ? addendAt(base.w + row * yRowStride() + columnAt(column).y) : 0.0;
  }
}

// Of an item that an invocation stores, and of an element.
uvec4 eightAddends(uint item) {
  uvec4 found = eights[0];
  [[unroll]] for (uint e = 1u; e < kEights; ++e)
    if (item / SUBGROUP == e) found = eights[e];
  return found;
}
float singleAddend(uint element) {
  float found = singles[0];
  [[unroll]] for (uint e = 1u; e < kSingles; ++e)
    if (element / SUBGROUP == e) found = singles[e];
  return found;
}

#if T == f16
// Eight results of a row, from sums in two vectors of four.
uvec4 finishedEight(uvec4 low, uvec4 high, uvec4 addends, uint row, uint column, uvec4 base) {
  uvec4 packed;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const uvec4 four = i < 2u ? low : high;
    const vec2 two = uintBitsToFloat(i % 2u == 0u ? four.xy : four.zw);
    const vec2 added = unpackHalf2x16(addends[i]);
    const uint first = toRaw(finishedWith(two.x, row, columnAt(column + 2u * i), base, added.x));
    const uint second = toRaw(finishedWith(two.y, row, columnAt(column + 2u * i + 1u), base, added.y));
    packed[i] = (first & 0xffffu) | (second << 16u);
  }
  return packed;
}
#endif
