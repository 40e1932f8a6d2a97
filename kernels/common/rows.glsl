// Rows whose elements lie in vectors of 16 bytes, a workgroup each. Include after grid.glsl and packed.glsl.
const uint kVectorElements = 128u / T_BITS;
const uint kFours = kVectorElements / 4u;  // of elements, in a vector

#ifdef INVOCATIONS_ID
const uint kMostInvocations = 1024u;
#else
const uint kMostInvocations = 256u;
#endif
const uint kShares = 16u;  // of a workgroup's sum, each added up by one invocation

shared vec2 sharedTerm[kMostInvocations];
shared vec2 sharedShare[2][kShares];

#if T == f16
// Rounded to nearest even: a sum with 2^13 times the power of two below a number has the number's 11 leading bits last.
// Below the smallest normal number that power stays what it is there. NaN becomes 0x7e00.
uvec2 halvesFromFloats(vec4 v) {
  const uvec4 bits = floatBitsToUint(v);
  const uvec4 magnitude = bits & 0x7fffffffu;
  // 2^16 becomes infinity.
  const uvec4 bounded = min(magnitude, uvec4(0x47800000u));
  const uvec4 power = max(bounded & 0x7f800000u, uvec4(0x38800000u));
  const uvec4 sum = floatBitsToUint(uintBitsToFloat(bounded) + uintBitsToFloat(power + 0x06800000u));
  uvec4 halves = (sum - (power + 0x06800000u)) + ((power - 0x38800000u) >> 13);
  halves = mix(halves, uvec4(0x7e00u), greaterThan(magnitude, uvec4(0x7f800000u)));
  halves |= (bits >> 16) & 0x8000u;
  return halves.xz | (halves.yw << 16);
}
#endif

// Four elements of a vector as numbers.
vec4 fourOf(uvec4 vector, uint four) {
#if T == f16
  const uvec2 words = four == 0u ? vector.xy : vector.zw;
  return vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y));
#else
  return uintBitsToFloat(vector);
#endif
}

#if T == f16
uvec4 vectorOf(vec4 low, vec4 high) { return uvec4(halvesFromFloats(low), halvesFromFloats(high)); }
#define VECTOR_OF(fours, first) vectorOf(fours[first], fours[(first) + 1u])
#else
#define VECTOR_OF(fours, first) floatBitsToUint(fours[first])
#endif

float sumOf(vec4 v) { return (v.x + v.y) + (v.z + v.w); }

// The sum of what all invocations of the workgroup have, in two steps. `turn` is 0 and 1 in turns, so that no barrier
// has to keep shares apart from those before.
vec2 sumOfRow(vec2 term, uint turn) {
  const uint lane = gl_LocalInvocationID.x;
  sharedTerm[lane] = term;
  barrier();
  if (lane < kShares) {
    vec2 share = term;
    for (uint i = lane + kShares; i < gl_WorkGroupSize.x; i += kShares) share += sharedTerm[i];
    sharedShare[turn][lane] = share;
  }
  barrier();
  vec2 sum = vec2(0.0);
  [[unroll]] for (uint i = 0u; i < kShares; i += 4u) sum +=
      (sharedShare[turn][i] + sharedShare[turn][i + 1u]) + (sharedShare[turn][i + 2u] + sharedShare[turn][i + 3u]);
  return sum;
}
