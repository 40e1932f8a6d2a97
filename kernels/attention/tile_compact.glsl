// How attention_tile.comp passes over keys and values where code is to be short: DXIL, which Direct3D 12's drivers
// compile from one module with all variants. There is one copy of what loads, stores and multiplies; arrays that loops
// work on turn in place, or an element is selected of them, instead of being indexed; and barriers are few: what lives
// across them is what costs processors time to compile.
#include "common/turns.glsl"

float tops[kPer];      // the largest scores of the invocation's rows so far
float shrinks[kPer];   // what their sums so far are multiplied with
float combined[kPer];  // these with the tile of keys; at last the sums of the rows' weights instead

// Of rows. In front of it each invocation has a place for four results that it stores.
const uint kPartialsAt = 256u;

float ofRow(float values[kPer], uint row) {
  float value = values[0];
  [[unroll]] for (uint i = 1u; i < kPer; ++i)
    if (i == row) value = values[i];
  return value;
}

void prepareRows(uint lane) {
  [[unroll]] for (uint i = 0u; i < kPer; ++i) tops[i] = LOWEST;
}

// The sums of STEPS channels or keys in shared memory.
#define MULTIPLY_PART(SUMS, FOURS_B, STEPS, AT_A, AT_B, PITCH_B)         \
  [[dont_unroll]] for (uint k = 0u; k < (STEPS); ++k) {                  \
    loadParts(0u, (AT_A) + k * kPitch, (AT_B) + k * (PITCH_B), FOURS_B); \
    MULTIPLY(SUMS, FOURS_B, 0u)                                          \
  }

// The products of queries and keys from `firstKey` on. A turn loads a part and multiplies the one before.
void multiplyKeys(uint firstKey) {
  [[unroll]] for (uint i = 0u; i < kPer * kPer; ++i) scores[i] = 0.0;
  const uint parts = firstKey < push.keys ? (push.keySize + kStep - 1u) / kStep : 0u;
  for (uint turn = 0u; turn <= parts; ++turn) {
    loadChannels(firstKey, turn * kStep);
    if (turn > 0u) MULTIPLY_PART(scores, kFours, kStep, 0u, kKeysAt, kPitch)
    barrier();
    storeChannels(0u);
    barrier();
  }
}

// From products to scores, four at a time in the place of the first, of which one at a time is in the first place.
void finishScores(uint batch, uint head, uint firstQuery, uint firstKey) {
  const float scale = uintBitsToFloat(push.scale);
  const bool isScaled = push.maskType == 0u && (push.flags & (kHasRelative | kHasLengths)) == 0u;
  [[dont_unroll]] for (uint four = 0u; four < kPer * kFours; ++four) {
    vec4 own = vec4(scores[0], scores[1], scores[2], scores[3]);
    const uint query = firstQuery + tilePlace(down, four / kFours);
    const uint key = firstKey + tilePlace(across, four % kFours * 4u);
    [[dont_unroll]] for (uint k = 0u; k < 4u; ++k) {
      float score = LOWEST;
      if (query < push.queries && key + k < push.keys)
        score = isScaled ? own.x * scale : scoreFrom(own.x, batch, head, query, key + k);
      own = vec4(turned(own.y), turned(own.z), turned(own.w), turned(score));
    }
    [[unroll]] for (uint k = 4u; k < kPer * kPer; ++k) scores[k - 4u] = turned(scores[k]);
    [[unroll]] for (uint k = 0u; k < 4u; ++k) scores[kPer * kPer - 4u + k] = own[k];
  }
}

vec4 topsOf(uint four) {
  vec4 top = vec4(LOWEST);
  [[unroll]] for (uint i = 0u; i < 4u; ++i)
    [[unroll]] for (uint j = 0u; j < kPer; ++j) top[i] = max(top[i], scores[(four * 4u + i) * kPer + j]);
  return top;
}

vec4 totalsOf(uint four) {
  return vec4(totals[four * 4u], totals[four * 4u + 1u], totals[four * 4u + 2u], totals[four * 4u + 3u]);
}

// All invocations of a row find the same result.
void combineRows(bool atLast) {
  [[unroll]] for (uint f = 0u; f < kFours; ++f)
    staged[kPartialsAt + across * kPitch + f * 16u + down] = atLast ? totalsOf(f) : topsOf(f);
  barrier();
  [[unroll]] for (uint i = 0u; i < kPer; ++i) combined[i] = atLast ? 0.0 : tops[i];
  [[dont_unroll]] for (uint other = 0u; other < 16u; ++other)
    [[unroll]] for (uint f = 0u; f < kFours; ++f) {
      const vec4 partial = staged[kPartialsAt + other * kPitch + f * 16u + down];
      [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        const float one = combined[f * 4u + i];
        combined[f * 4u + i] = atLast ? one + partial[i] : max(one, partial[i]);
      }
    }
}

void shrinkSums() {
  [[unroll]] for (uint i = 0u; i < kPer; ++i) shrinks[i] = 1.0;
  [[dont_unroll]] for (uint row = 0u; row < kPer; ++row) {
    const float old = ofRow(tops, row);
    const float top = ofRow(combined, row);
    // Infinities of the same sign have no difference.
    const float shrink = old == top ? 1.0 : weightOf(old - top);
    [[unroll]] for (uint i = 0u; i < kPer; ++i)
      if (i == row) shrinks[i] = shrink;
  }
  [[unroll]] for (uint i = 0u; i < kPer; ++i) {
    totals[i] *= shrinks[i];
    tops[i] = combined[i];
  }
}

// The weights of kWeighed keys, two columns of each invocation.
void storeWeights(uint part) {
  [[dont_unroll]] for (uint n = 0u; n < 2u * kFours; ++n) {
    const uint column = part * 2u + n % 2u;
    const uint f = n / 2u;
    vec4 own;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
      float top = tops[i];
      float score = scores[i * kPer];
      [[unroll]] for (uint k = 0u; k < kFours; ++k) {
        if (k == f) top = tops[k * 4u + i];
        [[unroll]] for (uint j = 0u; j < kPer; ++j)
          if (k * kPer + j == f * kPer + column) score = scores[(k * 4u + i) * kPer + j];
      }
      // The weights of a row whose scores are all -infinity are 0.
      own[i] = weightOf(score - (top == LOWEST ? 0.0 : top));
    }
    staged[(across * 2u + n % 2u) * kPitch + f * 16u + down] = own;
    [[unroll]] for (uint i = 0u; i < kPer; ++i)
      if (i / 4u == f) totals[i] += own[i % 4u];
  }
}

// Adds the weighted values of the keys from `firstKey` on. A turn loads a part and multiplies the one before, the first
// one the sums so far.
void multiplyValues(uint firstKey) {
  const uint kSteps = kWeighed / kValueStep;
  [[dont_unroll]] for (uint turn = 0u; turn <= kPer / 2u * kSteps; ++turn) {
    loadValues(firstKey, turn);
    if (turn > 0u) {
      MULTIPLY_PART(results, kChannelFours, kValueStep, (turn - 1u) % kSteps * kValueStep * kPitch, kValuesAt, kPitchV)
    } else {
      [[unroll]] for (uint i = 0u; i < kPer; ++i)
        [[unroll]] for (uint c = 0u; c < 4u * kChannelFours; ++c) results[i * 4u * kChannelFours + c] *= shrinks[i];
    }
    barrier();
    storeValues(0u);
    if (turn % kSteps == 0u && turn / kSteps < kPer / 2u) storeWeights(turn / kSteps);
    barrier();
  }
}

// Passes over all keys. Behind the last of them the sums of weights are combined by what combines maxima.
void attend(uint batch, uint head, uint firstQuery, uint lane) {
  for (uint firstKey = 0u;; firstKey += kTile) {
    const bool atLast = firstKey >= push.keys;
    multiplyKeys(firstKey);
    finishScores(batch, head, firstQuery, firstKey);
    combineRows(atLast);
    if (atLast) break;
    shrinkSums();
    multiplyValues(firstKey);
  }
}

// Divides the weighted sums by the rows' sums of weights.
void finish(uint batch, uint head, uint firstQuery, uint firstChannel, uint lane) {
  [[dont_unroll]] for (uint row = 0u; row < kPer; ++row) {
    const uint query = firstQuery + tilePlace(down, row);
    // The differences to an infinity are NaN, at one key at least.
    const bool isFinite = (floatBitsToUint(ofRow(tops, row)) & 0x7f800000u) != 0x7f800000u;
    const float total = isFinite ? ofRow(combined, row) : uintBitsToFloat(0x7fc00000u);
    [[unroll]] for (uint c = 0u; c < kChannelFours; ++c) {
      const uint channel = firstChannel + tilePlace(across, c * 4u);
      vec4 own;
      [[unroll]] for (uint e = 0u; e < 4u; ++e) {
        float ofChannel[kPer];
        [[unroll]] for (uint i = 0u; i < kPer; ++i) ofChannel[i] = results[(i * kChannelFours + c) * 4u + e];
        own[e] = ofRow(ofChannel, row);
      }
      if (query < push.queries && channel < push.valueSize)
        storeFour(own / total, batch, head, query, channel, lane);
    }
  }
}
