// What is added to the sums of a strip that a subgroup stores, in lines of kWidth elements, of rows or of columns: an
// invocation loads all that it needs before the sums pass through shared memory, so that it waits for memory once.
const uint kOfStrip = kWidth * kLinesOfStrip;
const uint kSingles = (kOfStrip + SUBGROUP - 1u) / SUBGROUP;
const uint kEights = (kOfStrip / 8u + SUBGROUP - 1u) / SUBGROUP;
float singles[kSingles];
uvec4 eights[kEights];

#if !OWN_COLUMNS
bool isColumn(uint column) { return column < push.columns; }
#endif

// The row and column of an element in the strip.
uvec2 placeInStrip(uint element) {
  const uint line = element / kWidth;
  const uint along = element % kWidth;
  return ROWS_FIRST != 0u ? uvec2(along, line) : uvec2(line, along);
}

// Strides of rows and columns, which are loaded once: no compiler knows that results which are stored are no parameters.
struct Strides {
  uvec2 y, c;
};
Strides strides;
#if CONVOLUTION
const bool kIsEven = ROWS_FIRST == kInEvenVectors;
void loadStrides() {
  // Vectors are of neighbouring rows.
  const uint yRow = ROWS_FIRST >= kInVectors ? 1u : yRowStride();
  strides = Strides(uvec2(yRow, kIsEven ? parameters[4u + 4u].z : 0u), uvec2(cRowStride(), parameters[1].y));
}
#else
const bool kIsEven = true;
void loadStrides() {
  strides = Strides(uvec2(yRowStride(), yColumnStride()), uvec2(cRowStride(), parameters[1].y));
}
#endif

// Of a row and a column.
bool isResult(uvec2 place) { return place.x < push.rows && isColumn(place.y); }
uint placeInY(uvec2 place, uvec4 base) {
  return base.w + place.x * strides.y.x + (kIsEven ? place.y * strides.y.y : columnAt(place.y).y);
}
// Of C's element, and of the channel.
uint placeInC(uvec2 place, uvec4 base) {
#if CONVOLUTION
  return base.z + place.x * strides.c.x;
#else
  return base.z + place.x * strides.c.x + place.y * strides.c.y;
#endif
}

#if T == f16
// Of the eight results that begin there; zeros where there are none.
uvec4 addendsOf(uvec2 place, uvec4 base) {
  return isResult(place) ? addendVectors[placeInY(place, base) / 8u] : uvec4(0u);
}
#endif

// The first row and column of the strip; `vectors`: whether eights of a line are stored together.
void loadAddends(bool vectors, uvec2 first, uvec4 base) {
  if (!hasAddend() || (push.flags & kToParts) != 0u) return;
#if T == f16
  if (vectors) {
    [[unroll]] for (uint e = 0u; e < kEights; ++e)
      eights[e] = addendsOf(first + placeInStrip((gl_SubgroupInvocationID + e * SUBGROUP) * 8u), base);
    return;
  }
#endif
  [[unroll]] for (uint e = 0u; e < kSingles; ++e) {
    const uvec2 place = first + placeInStrip(gl_SubgroupInvocationID + e * SUBGROUP);
    singles[e] = isResult(place) ? addendAt(placeInY(place, base)) : 0.0;
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
// What an invocation's eights take of C, and of the channels: the same for all of a strip's lines where channels lie
// along them.
Channels channelsOfEight[4];
uvec4 cOfEight;

uint cStrideAlong() { return ROWS_FIRST != 0u ? strides.c.x : strides.c.y; }
bool isOfChannels() {
  return (EPILOGUE & kSameLines) != 0u ? true : (ROWS_FIRST != 0u ? strides.c.y : strides.c.x) == 0u;
}

uvec4 loadEightC(uint first) {
  uvec4 result;
  [[unroll]] for (uint i = 0u; i < 4u; ++i)
    result[i] = rawC(first + 2u * i * cStrideAlong()) | (rawC(first + (2u * i + 1u) * cStrideAlong()) << 16u);
  return result;
}

// Of the eight that begin at a place of C.
void loadOperandsOfEight(uint at) {
  cOfEight = loadEightC(at);
  [[unroll]] for (uint i = 0u; i < 4u; ++i)
    channelsOfEight[i] = channelsOf(at + uvec2(2u * i, 2u * i + 1u) * cStrideAlong());
}

// `first`: the row and column where the strip begins.
void loadOperandsOfStrip(uvec2 first, uvec4 base) {
  if ((push.flags & kToParts) != 0u || !isOfChannels()) return;
  const uvec2 place = first + placeInStrip(gl_SubgroupInvocationID * 8u % kWidth);
  loadOperandsOfEight(isResult(place) ? placeInC(place, base) : base.z);
}

// Stores eight results that lie side by side, of sums in pairs.
void finishEight(vec2 sums[4], uvec4 addends, uint row, uint column, uvec4 base) {
  const uvec2 place = uvec2(row, column);
  if (!isOfChannels()) loadOperandsOfEight(placeInC(place, base));
  const bool padding = kIsEven ? false : isPadding(columnAt(column));
  uvec4 packed;
  [[unroll]] for (uint i = 0u; i < 4u; ++i)
    packed[i] = halvesFromPair(
        finishedFrom(sums[i], unpackHalf2x16(cOfEight[i]), channelsOfEight[i], padding, unpackHalf2x16(addends[i])));
  yVectors[placeInY(place, base) / 8u] = packed;
}

// The same of sums in two vectors of four, which may be stored as those of a part.
void storeEight(uvec4 low, uvec4 high, uvec4 addends, uint part, uint row, uint column, uvec4 base) {
  if ((push.flags & kToParts) != 0u) {
    const uint at = partPlace(part, row, column) / 4u;
    yVectors[at] = low;
    yVectors[at + 1u] = high;
    return;
  }
  vec2 sums[4];
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const uvec4 four = i < 2u ? low : high;
    sums[i] = uintBitsToFloat(i % 2u == 0u ? four.xy : four.zw);
  }
  finishEight(sums, addends, row, column, base);
}
#endif
