// Sums that the invocations which hold them round, finish and store in vectors of eight, where the elements of matrices
// lie as places.glsl has them: four neighbours hold eight pairs of a line, and exchange them so that each has eight
// elements that lie side by side. Lines are rows of sums, whose matrices are [kLeft][kRight].
#extension GL_KHR_shader_subgroup_shuffle : require
// Of an invocation in the same two columns of matrices: an even number.
const uint kEightsOfMatrices = kHeldRows * kLeft;
const uint kHeldEights = kEightsOfMatrices * kRight / 2u;
// Those that are finished at once: numbers of one alone would wait for each other, since few subgroups run beside.
const uint kTogether = kEightsOfMatrices % 4u == 0u ? 4u : 2u;

// The row and column of the n-th eight, from the subgroup's first ones.
uvec2 placeOfHeld(uint own, uint n) {
  const uint ofMatrices = n % kEightsOfMatrices;
  const uint line = ofMatrices / kHeldRows * SIZE_ROWS + heldRow(own, ofMatrices % kHeldRows * kAlong);
  const uint along = n / kEightsOfMatrices * (2u * SIZE_COLUMNS) + own % kSharing * 8u;
  return ROWS_FIRST != 0u ? uvec2(along, line) : uvec2(line, along);
}

// Two sums of the line of the n-th eight that lie side by side, which are the `pair`-th of four. The numbers must be
// literals.
vec2 heldPair(uint n, uint pair) {
  const uint ofMatrices = n % kEightsOfMatrices;
  const uint matrix1 = ofMatrices / kHeldRows * kRight + n / kEightsOfMatrices * 2u + pair / 2u;
  const uint element = ofMatrices % kHeldRows * kAlong + pair % 2u * kPair;
  return vec2(MATRIX_AT(sums[matrix1], element), MATRIX_AT(sums[matrix1], element + 1u));
}
uint roundedPair(uint n, uint pair) { return halvesFromPair(scaled(heldPair(n, pair))); }

// Four neighbours exchange their pairs: an invocation gets those that have its own place among them, in order.
uvec4 exchanged(uint own, uvec4 pairs) {
  const bool odd = (own & 1u) != 0u;
  const bool upper = (own & 2u) != 0u;
  const uint first = subgroupShuffleXor(odd ? pairs.x : pairs.y, 1u);
  const uint second = subgroupShuffleXor(odd ? pairs.z : pairs.w, 1u);
  const uvec4 half1 = odd ? uvec4(first, pairs.y, second, pairs.w) : uvec4(pairs.x, first, pairs.z, second);
  const uint third = subgroupShuffleXor(upper ? half1.x : half1.z, 2u);
  const uint fourth = subgroupShuffleXor(upper ? half1.y : half1.w, 2u);
  return upper ? uvec4(third, fourth, half1.zw) : uvec4(half1.xy, third, fourth);
}

// `first`: the row and column where the subgroup's sums begin. There is one copy of what finishes eights, for the reasons
// that cooperative.comp gives. All addends are loaded before the first result is stored: loads do not pass stores, and an
// invocation would wait for memory once for each eight.
void storeHeld(uvec2 first, uvec4 base) {
  const uint own = gl_SubgroupInvocationID;
  uvec4 addends[kHeldEights];
  [[unroll]] for (uint n = 0u; n < kHeldEights; ++n)
    addends[n] = hasAddend() ? addendsOf(first + placeOfHeld(own, n), base) : uvec4(0u);
  [[dont_unroll]] for (uint n = 0u; n < kHeldEights; n += kTogether) {
    uvec4 pairs[kTogether], added[kTogether];
    [[unroll]] for (uint e = 0u; e < kHeldEights; e += kTogether)
      if (e == n) {
        [[unroll]] for (uint i = 0u; i < kTogether; ++i) {
          const uint at = e + i;
          pairs[i] = uvec4(roundedPair(at, 0u), roundedPair(at, 1u), roundedPair(at, 2u), roundedPair(at, 3u));
          added[i] = addends[at];
        }
      }
    if (n % kEightsOfMatrices == 0u && isOfChannels()) {
      const uvec2 place = first + placeOfHeld(own, n);
      loadOperandsOfEight(isResult(place) ? placeInC(place, base) : base.z);
    }
    [[unroll]] for (uint i = 0u; i < kTogether; ++i) {
      const uvec2 place = first + placeOfHeld(own, n + i);
      const uvec4 eight = exchanged(own, pairs[i]);
      vec2 sums1[4];
      [[unroll]] for (uint e = 0u; e < 4u; ++e) sums1[e] = unpackHalf2x16(eight[e]);
      if (isResult(place)) finishEight(sums1, added[i], place.x, place.y, base);
    }
  }
}
