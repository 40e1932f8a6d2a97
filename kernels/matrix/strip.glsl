// How a subgroup stores a strip of sums that lies in shared memory: lines of kWidth elements, SIZE_ROWS * STRIP_COLUMNS in
// all, along columns or, with ROWS_FIRST, along rows. What is added to them an invocation loads before the sums pass
// through shared memory, so that it waits for memory once.
const uint kStripElements = SIZE_ROWS * STRIP_COLUMNS;
const uint kSingles = (kStripElements + SUBGROUP - 1u) / SUBGROUP;
const uint kEights = (kStripElements / 8u + SUBGROUP - 1u) / SUBGROUP;
float singles[kSingles];
uvec4 eights[kEights];

// Row and column of an element, from those of the strip.
uvec2 placeInStrip(uint element) {
  const uint line = element / kWidth;
  const uint along = element % kWidth;
  return ROWS_FIRST != 0u ? uvec2(along, line) : uvec2(line, along);
}

bool isInside(uvec2 place) { return place.x < push.rows && place.y < push.columns; }

uint placeOfY(uvec2 place, uvec4 base) { return base.w + place.x * yRowStride() + columnAt(place.y).y; }

// The first row and column of the strip; `vectors`: whether eights of a line are stored together.
void loadAddends(bool vectors, uvec2 first, uvec4 base) {
  if (!hasAddend() || (push.flags & kToParts) != 0u) return;
#if T == f16
  if (vectors) {
    [[unroll]] for (uint e = 0u; e < kEights; ++e) {
      const uvec2 place = first + placeInStrip((gl_SubgroupInvocationID + e * SUBGROUP) * 8u);
      eights[e] = isInside(place) ? addendVectors[placeOfY(place, base) / 8u] : uvec4(0u);
    }
    return;
  }
#endif
  [[unroll]] for (uint e = 0u; e < kSingles; ++e) {
    const uvec2 place = first + placeInStrip(gl_SubgroupInvocationID + e * SUBGROUP);
    singles[e] = isInside(place) ? addendAt(placeOfY(place, base)) : 0.0;
  }
}

// Of eight elements that an invocation stores together, and of one.
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

// Eight sums of a line, in two vectors of four, or results of them.
void storeEight(uvec4 low, uvec4 high, uvec4 addends, uint part, uvec2 place, uvec4 base) {
#if T == f16
  if ((push.flags & kToParts) != 0u) {
    const uint at = partPlace(part, place.x, place.y) / 4u;
    yVectors[at] = low;
    yVectors[at + 1u] = high;
    return;
  }
  const Column first = columnAt(place.y);
  uvec4 packed;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const uvec4 four = i < 2u ? low : high;
    const vec2 two = uintBitsToFloat(i % 2u == 0u ? four.xy : four.zw);
    const vec2 added = unpackHalf2x16(addends[i]);
    uvec2 raw;
    [[unroll]] for (uint e = 0u; e < 2u; ++e)
      raw[e] = ROWS_FIRST != 0u
                   ? uint(toRaw(finishedWith(two[e], place.x + 2u * i + e, first, base, added[e])))
                   : uint(toRaw(finishedWith(two[e], place.x, columnAt(place.y + 2u * i + e), base, added[e])));
    packed[i] = (raw.x & 0xffffu) | (raw.y << 16u);
  }
  yVectors[(base.w + place.x * yRowStride() + first.y) / 8u] = packed;
#endif
}
