// How attention_tile.comp passes over keys and values where code may be long: unrolled, and a step ahead.

// A part of STEPS channels or keys in shared memory, and the barrier behind it. The first step is loaded before, and at
// the end that of the next part, if there is one.
#define MULTIPLY_PART(SUMS, FOURS_B, STEPS, AT_A, AT_B, PITCH_B, HAS_NEXT, NEXT_A, NEXT_B)                   \
  [[unroll]] for (uint k = 0u; k + 1u < (STEPS); ++k) {                                                      \
    loadParts((k + 1u) & 1u, (AT_A) + (k + 1u) * kPitch, (AT_B) + (k + 1u) * (PITCH_B), FOURS_B);            \
    MULTIPLY(SUMS, FOURS_B, k & 1u)                                                                          \
  }                                                                                                          \
  barrier();                                                                                                 \
  if (HAS_NEXT) loadParts(0u, NEXT_A, NEXT_B, FOURS_B);                                                      \
  MULTIPLY(SUMS, FOURS_B, ((STEPS) - 1u) & 1u)

// The products of queries and keys from `firstKey` on, whose first part is loaded.
void multiplyKeys(uint firstKey) {
  [[unroll]] for (uint i = 0u; i < kPer * kPer; ++i) scores[i] = 0.0;
  storeChannels(0u);
  loadChannels(firstKey, kStep);
  barrier();
  loadParts(0u, 0u, kKeysAt, kFours);
  // Parts behind the last channel are zeros.
  for (uint first = 0u; first < push.keySize; first += 2u * kStep)
    [[unroll]] for (uint stage = 0u; stage < 2u; ++stage) {
      storeChannels(stage ^ 1u);
      loadChannels(firstKey, first + (stage + 2u) * kStep);
      const uint at = stage * kStage;
      const uint next = (stage ^ 1u) * kStage;
      MULTIPLY_PART(scores, kFours, kStep, at, kKeysAt + at, kPitch, true, next, kKeysAt + next)
    }
}

// From products to scores. What is more than a scaled product passes through shared memory, so that there is one copy
// of what makes it.
void finishScores(uint batch, uint head, uint firstQuery, uint firstKey, uint lane) {
  const float scale = uintBitsToFloat(push.scale);
  if (isPlain() || (push.maskType == 0u && (push.flags & (kHasRelative | kHasLengths)) == 0u)) {
    [[unroll]] for (uint j = 0u; j < kPer; ++j) {
      const bool exists = isWhole() || firstKey + tilePlace(across, j) < push.keys;
      [[unroll]] for (uint i = 0u; i < kPer; ++i)
        scores[i * kPer + j] = exists ? scores[i * kPer + j] * scale : LOWEST;
    }
    return;
  }
  barrier();
  [[dont_unroll]] for (uint four = 0u; four < kPer * kFours; ++four) {
    vec4 own = vec4(0.0);
    [[unroll]] for (uint k = 0u; k < kPer * kPer; ++k)
      if (k / 4u == four) own[k % 4u] = scores[k];
    staged[lane] = own;
    const uint query = firstQuery + tilePlace(down, four / kFours);
    const uint key = firstKey + tilePlace(across, four % kFours * 4u);
    [[dont_unroll]] for (uint k = 0u; k < 4u; ++k) {
      const bool exists = query < push.queries && key + k < push.keys;
      staged[lane][k] = exists ? scoreFrom(staged[lane][k], batch, head, query, key + k) : LOWEST;
    }
    own = staged[lane];
    [[unroll]] for (uint k = 0u; k < kPer * kPer; ++k)
      if (k / 4u == four) scores[k] = own[k % 4u];
  }
  barrier();
}

// The largest scores of all rows so far, and what the rows' sums are multiplied with.
void updateTops(uint lane) {
  [[unroll]] for (uint f = 0u; f < kFours; ++f) {
    vec4 top = vec4(LOWEST);
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
      [[unroll]] for (uint j = 0u; j < kPer; ++j) top[i] = max(top[i], scores[(f * 4u + i) * kPer + j]);
    staged[across * kPitch + f * 16u + down] = top;
  }
  barrier();
  if (lane < kTile / 4u) {
    const vec4 old = staged[kTopsAt + lane];
    vec4 top = old;
    [[unroll]] for (uint i = 0u; i < 16u; ++i) top = max(top, staged[i * kPitch + lane]);
    vec4 shrink;
    // Infinities of the same sign have no difference.
    [[unroll]] for (uint i = 0u; i < 4u; ++i) shrink[i] = old[i] == top[i] ? 1.0 : weightOf(old[i] - top[i]);
    staged[kTopsAt + lane] = top;
    staged[kShrinksAt + lane] = shrink;
  }
  barrier();
}

void weigh() {
  [[unroll]] for (uint i = 0u; i < kPer; ++i) {
    const float top = staged[kTopsAt + i / 4u * 16u + down][i % 4u];
    const float shrink = staged[kShrinksAt + i / 4u * 16u + down][i % 4u];
    // The weights of a row whose scores are all -infinity are 0.
    const float reference = top == LOWEST ? 0.0 : top;
    float sum = 0.0;
    [[unroll]] for (uint j = 0u; j < kPer; ++j) {
      const float weight = weightOf(scores[i * kPer + j] - reference);
      scores[i * kPer + j] = weight;
      sum += weight;
    }
    totals[i] = totals[i] * shrink + sum;
    [[unroll]] for (uint c = 0u; c < 4u * kChannelFours; ++c) results[i * 4u * kChannelFours + c] *= shrink;
  }
}

// Of kWeighed keys: two columns of each invocation.
void storeWeights(uint part) {
  [[unroll]] for (uint j = 0u; j < kPer; ++j)
    if (j / 2u == part)
      [[unroll]] for (uint f = 0u; f < kFours; ++f)
        staged[(across * 2u + j % 2u) * kPitch + f * 16u + down] =
            vec4(scores[f * 4u * kPer + j], scores[(f * 4u + 1u) * kPer + j], scores[(f * 4u + 2u) * kPer + j],
                 scores[(f * 4u + 3u) * kPer + j]);
}

// Adds the weighted values of the keys from `firstKey` on, of which the first part is stored and the second loaded.
void multiplyValues(uint firstKey) {
  const uint kSteps = kWeighed / kValueStep;
  [[dont_unroll]] for (uint part = 0u; part < kPer / 2u; ++part) {
    storeWeights(part);
    barrier();
    loadParts(0u, 0u, kValuesAt, kChannelFours);
    [[dont_unroll]] for (uint pair = 0u; pair < kSteps; pair += 2u)
      [[unroll]] for (uint stage = 0u; stage < 2u; ++stage) {
        const uint step1 = pair + stage;
        storeValues(stage ^ 1u);
        loadValues(firstKey, part * kSteps + step1 + 2u);
        const uint atA = step1 * kValueStep * kPitch;
        const uint atB = kValuesAt + stage * kValueStep * kPitchV;
        const uint nextB = kValuesAt + (stage ^ 1u) * kValueStep * kPitchV;
        MULTIPLY_PART(results, kChannelFours, kValueStep, atA, atB, kPitchV, step1 + 1u < kSteps,
                      atA + kValueStep * kPitch, nextB)
      }
  }
}

void prepareRows(uint lane) {
  if (lane < kTile / 4u) staged[kTopsAt + lane] = vec4(LOWEST);
}

// Passes over all keys.
void attend(uint batch, uint head, uint firstQuery, uint lane) {
  loadChannels(0u, 0u);
  for (uint firstKey = 0u; firstKey < push.keys; firstKey += kTile) {
    multiplyKeys(firstKey);
    loadValues(firstKey, 0u);
    finishScores(batch, head, firstQuery, firstKey, lane);
    storeValues(0u);
    loadValues(firstKey, 1u);
    updateTops(lane);
    weigh();
    loadChannels(firstKey + kTile, 0u);
    multiplyValues(firstKey);
  }
}

// Divides the weighted sums by the rows' sums of weights. Four results at a time, so that there is one copy of what
// stores them.
void finish(uint batch, uint head, uint firstQuery, uint firstChannel, uint lane) {
  [[unroll]] for (uint f = 0u; f < kFours; ++f)
    staged[across * kPitch + f * 16u + down] =
        vec4(totals[f * 4u], totals[f * 4u + 1u], totals[f * 4u + 2u], totals[f * 4u + 3u]);
  barrier();
  if (lane < kTile / 4u) {
    vec4 total = vec4(0.0);
    [[unroll]] for (uint i = 0u; i < 16u; ++i) total += staged[i * kPitch + lane];
    // The differences to an infinity are NaN, at one key at least.
    const uvec4 tops = floatBitsToUint(staged[kTopsAt + lane]);
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
      if ((tops[i] & 0x7f800000u) == 0x7f800000u) total[i] = uintBitsToFloat(0x7fc00000u);
    staged[kTopsAt + lane] = total;
  }
  barrier();
  [[dont_unroll]] for (uint four = 0u; four < kPer * kChannelFours; ++four) {
    vec4 own = vec4(0.0);
    [[unroll]] for (uint k = 0u; k < kPer * kChannelFours * 4u; ++k)
      if (k / 4u == four) own[k % 4u] = results[k];
    const uint row = tilePlace(down, four / kChannelFours);
    const uint channel = firstChannel + tilePlace(across, four % kChannelFours * 4u);
    if (isWhole() || (firstQuery + row < push.queries && channel < push.valueSize))
      storeFour(own / staged[kTopsAt + row / 4u][row % 4u], batch, head, firstQuery + row, channel, lane);
  }
}
