// From keys to scores, to weights, and to the values that they weigh, in registers (InPlace) or through shared memory.

void multiplyKeys() {
  [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j) scores[j] = MATRIX_SUM(0.0);
  [[unroll]] for (uint k = 0u; k < kDepthMatrices; ++k)
    [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j) {
      MATRIX_B keys;
      LOAD_COLUMNS(keys, staged, j * SIZE_COLUMNS * kPitchK + k * SIZE_DEPTH / 8u, kPitchK);
      scores[j] = MULTIPLY_ADD(queries[k], keys, scores[j]);
    }
}

// Adds the values of the keys of a matrix of scores, weighted.
void addValues(uint j, MATRIX_A weights, MATRIX_A rests) {
  [[unroll]] for (uint c = 0u; c < kValueMatrices; ++c) {
    MATRIX_B values;
    LOAD_ROWS(values, staged, kValuesAt + j * SIZE_DEPTH * kPitchV + c * SIZE_COLUMNS / 8u, kPitchV);
    results[c] = MULTIPLY_ADD(weights, values, results[c]);
    results[c] = MULTIPLY_ADD(rests, values, results[c]);
  }
}

// Adds the relative position bias where an invocation knows which scores it holds, so that all of its elements are on
// their way at once.
void addRelativeInPlace(uint own, uint batch, uint head, uint firstQuery, uint first) {
  const float scale = uintBitsToFloat(push.scale);
  const uvec4 strides = parameters[4];
  const uint base = batch * strides.x + head * strides.y;
  [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j)
    [[unroll]] for (uint i = 0u; i < kHeldRows * kAlong; ++i) {
      const uint key = first + j * SIZE_COLUMNS + heldColumn(own, i);
      const uint query = min(firstQuery + heldRow(own, i), push.queries - 1u);
      const uint at = base + query * strides.z + min(key, push.keys - 1u) * strides.w;
      const float score = MATRIX_AT(scores[j], i) * scale + fromRaw(loadRaw_relative(at));
      MATRIX_AT(scores[j], i) = key < push.keys ? score * kLog2E : uintBitsToFloat(kLowest);
    }
}

// From products to scores, in powers of two.
void finishScores(bool inPlace, uint place, uint own, uint batch, uint head, uint firstQuery, uint first) {
  const float lowest = uintBitsToFloat(kLowest);
  const float factor = uintBitsToFloat(push.scale) * kLog2E;
  if (PLAIN != 0u && first + KEYS <= push.keys) {
    [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j) scores[j] = scores[j] * factor;
    return;
  }
  if (PLAIN == 0u && inPlace && push.maskType == 0u && (push.flags & kHasLengths) == 0u) {
    addRelativeInPlace(own, batch, head, firstQuery, first);
    return;
  }
  [[dont_unroll]] for (uint i = 0u; i < kKeyMatrices; ++i) {
    [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j)
      if (i == j) STORE_ROWS(scores[j], staged, place, kPitchSums);
    SUBGROUP_BARRIER();
    [[dont_unroll]] for (uint element = own; element < SIZE_ROWS * SIZE_COLUMNS;
                           element += SUBGROUP) {
      const uint key = first + i * SIZE_COLUMNS + element % SIZE_COLUMNS;
      const uint query = firstQuery + element / SIZE_COLUMNS;
      const uint at = place + element / SIZE_COLUMNS * kPitchSums + element % SIZE_COLUMNS / 4u;
      const float product = uintBitsToFloat(staged[at][element % 4u]);
      float score = lowest;
      if (key < push.keys && query < push.queries)
        score = PLAIN != 0u ? product * factor : scoreFrom(product, batch, head, query, key) * kLog2E;
      staged[at][element % 4u] = floatBitsToUint(score);
    }
    SUBGROUP_BARRIER();
    [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j)
      if (i == j) LOAD_ROWS(scores[j], staged, place, kPitchSums);
    SUBGROUP_BARRIER();
  }
}

// How far above 1 the largest weight of a row is, as a power of 2. From 2^23 on the difference would be rounded by so
// much that FLOAT16 may not hold the weight.
float liftOf(float top) { return abs(top) < 8388608.0 ? kLift : 0.0; }

// What a row's sums so far are multiplied with when its largest score grows from `old` to `top`. Infinities of the same
// sign have no difference.
float shrinkOf(float old, float top) { return old == top ? 1.0 : exp2(old - top + (liftOf(top) - liftOf(old))); }

// The weights of a row whose scores are all -infinity are 0.
float referenceOf(float top) { return top == uintBitsToFloat(kLowest) ? 0.0 : top - liftOf(top); }

// The differences to an infinity are NaN, at one key at least.
bool isUndefined(float top) { return (floatBitsToUint(top) & 0x7f800000u) == 0x7f800000u; }

// PLAIN scores are products, to which the scale is applied here.
void weighInPlace() {
  const float factor = PLAIN != 0u ? uintBitsToFloat(push.scale) * kLog2E : 1.0;
  [[unroll]] for (uint row = 0u; row < kHeldRows; ++row) {
    const uint begin = row * kAlong;
    float top = MATRIX_AT(scores[0], begin);
    [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j)
      [[unroll]] for (uint i = begin; i < begin + kAlong; ++i) top = max(top, MATRIX_AT(scores[j], i));
    [[unroll]] for (uint apart = 1u; apart < kSharing; apart *= 2u) top = max(top, subgroupShuffleXor(top, apart));
    top = max(top * factor, tops[row]);
    const float shrink = shrinkOf(tops[row], top);
    tops[row] = top;
    const float reference = referenceOf(top);
    totals[row] *= shrink;
    [[unroll]] for (uint c = 0u; c < kValueMatrices; ++c)
      [[unroll]] for (uint i = begin; i < begin + kAlong; ++i) MATRIX_AT(results[c], i) *= shrink;
    [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j)
      [[unroll]] for (uint i = begin; i < begin + kAlong; ++i) {
        const float weight = exp2(fma(MATRIX_AT(scores[j], i), factor, -reference));
        MATRIX_AT(scores[j], i) = weight;
        totals[row] += weight;
      }
  }
}

// The last key stood for all behind it: no row's largest score was another for that, and their values were zeros. What
// is left are their weights in the totals: behind the `count` last keys.
void leaveOut(uint own, uint count) {
  [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j)
    [[unroll]] for (uint i = 0u; i < kHeldRows * kAlong; ++i)
      if (j * SIZE_COLUMNS + heldColumn(own, i) >= count) totals[i / kAlong] -= MATRIX_AT(scores[j], i);
}

void weighByRows(uint place, uint references, uint own) {
  const uint shrinks = references + SIZE_ROWS / 4u;
  MATRIX_SUM largest = scores[0];
  [[unroll]] for (uint j = 1u; j < kKeyMatrices; ++j)
    [[unroll]] for (uint i = 0u; i < MATRIX_LENGTH(largest); ++i)
      MATRIX_AT(largest, i) = max(MATRIX_AT(largest, i), MATRIX_AT(scores[j], i));
  STORE_ROWS(largest, staged, place, kPitchSums);
  SUBGROUP_BARRIER();
  [[unroll]] for (uint n = 0u; n < kLooked; ++n) {
    const uint row = own + n * SUBGROUP;
    if (row < SIZE_ROWS) {
      vec4 four = fourOf(place + row * kPitchSums, 0u);
      [[unroll]] for (uint i = 1u; i < SIZE_COLUMNS / 4u; ++i) four = max(four, fourOf(place + row * kPitchSums, i));
      const float top = max(max(max(four.x, four.y), max(four.z, four.w)), tops[n]);
      const float shrink = shrinkOf(tops[n], top);
      tops[n] = top;
      totals[n] *= shrink;
      staged[references + row / 4u][row % 4u] = floatBitsToUint(referenceOf(top));
      staged[shrinks + row / 4u][row % 4u] = floatBitsToUint(shrink);
    }
  }
  SUBGROUP_BARRIER();
  // Columns that are all the same: they lie no elements apart.
  MATRIX_SUM shrink;
  LOAD_COLUMNS(shrink, staged, shrinks, 0u);
  [[unroll]] for (uint c = 0u; c < kValueMatrices; ++c) results[c] = results[c] * shrink;
  MATRIX_SUM reference;
  LOAD_COLUMNS(reference, staged, references, 0u);
  [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j) {
    scores[j] = scores[j] - reference;
    [[unroll]] for (uint i = 0u; i < MATRIX_LENGTH(scores[j]); ++i)
      MATRIX_AT(scores[j], i) = exp2(MATRIX_AT(scores[j], i));
  }
  MATRIX_SUM sums = scores[0];
  [[unroll]] for (uint j = 1u; j < kKeyMatrices; ++j) sums = sums + scores[j];
  STORE_ROWS(sums, staged, place, kPitchSums);
  SUBGROUP_BARRIER();
  [[unroll]] for (uint n = 0u; n < kLooked; ++n) {
    const uint row = own + n * SUBGROUP;
    if (row < SIZE_ROWS) {
      vec4 four = fourOf(place + row * kPitchSums, 0u);
      [[unroll]] for (uint i = 1u; i < SIZE_COLUMNS / 4u; ++i) four += fourOf(place + row * kPitchSums, i);
      totals[n] += (four.x + four.y) + (four.z + four.w);
    }
  }
}

// What FLOAT16 holds of a weight. By bits: compilers take a conversion to FLOAT16 and back for the number itself.
float cut(float weight) { return uintBitsToFloat(floatBitsToUint(weight) & 0xffffe000u); }

void addInPlace() {
  [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j) {
    MATRIX_A weights, rests;
    [[unroll]] for (uint i = 0u; i < kHeldRows * kAlong; ++i) {
      const float weight = MATRIX_AT(scores[j], i);
      MATRIX_AT(weights, i) = TO_FACTOR(cut(weight));
      MATRIX_AT(rests, i) = TO_FACTOR(weight - cut(weight));
    }
    addValues(j, weights, rests);
  }
}

void addThrough(uint place) {
  [[unroll]] for (uint part = 0u; part < kKeyMatrices; part += kWeightMatrices) {
    // Weights cut to FLOAT16, and what is left of them.
    MATRIX_A weights[2u * kWeightMatrices];
    [[unroll]] for (uint rest = 0u; rest < 2u; ++rest) {
      SUBGROUP_BARRIER();
      [[unroll]] for (uint j = 0u; j < kWeightMatrices; ++j) {
        MATRIX_SUM halves = scores[part + j];
        if (rest == 0u)
          [[unroll]] for (uint i = 0u; i < MATRIX_LENGTH(halves); ++i)
            MATRIX_AT(halves, i) = cut(MATRIX_AT(halves, i));
        const MATRIX_HALVES stored = MATRIX_HALVES(halves);
        STORE_ROWS(stored, staged, place + j * SIZE_COLUMNS / 8u, kPitchWeights);
        scores[part + j] = scores[part + j] - halves;
      }
      SUBGROUP_BARRIER();
      [[unroll]] for (uint j = 0u; j < kWeightMatrices; ++j)
        LOAD_ROWS(weights[rest * kWeightMatrices + j], staged, place + j * SIZE_COLUMNS / 8u, kPitchWeights);
    }
    [[unroll]] for (uint j = 0u; j < kWeightMatrices; ++j)
      addValues(part + j, weights[j], weights[kWeightMatrices + j]);
  }
}

// Leaves 1 / the sum of each row's weights at `references`.
void storeShares(uint references, uint own, bool inPlace) {
  [[unroll]] for (uint n = 0u; n < totals.length(); ++n) {
    float total = totals[n];
    if (inPlace)
      [[unroll]] for (uint apart = 1u; apart < kSharing; apart *= 2u) total += subgroupShuffleXor(total, apart);
    const float share = isUndefined(tops[n]) ? uintBitsToFloat(0x7fc00000u) : 1.0 / total;
    const uint row = inPlace ? heldRow(own, n * kAlong) : own + n * SUBGROUP;
    if (n < (inPlace ? kHeldRows : kLooked) && row < SIZE_ROWS)
      staged[references + row / 4u][row % 4u] = floatBitsToUint(share);
  }
  SUBGROUP_BARRIER();
}
