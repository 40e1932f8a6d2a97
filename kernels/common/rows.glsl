// Rows whose elements lie in vectors of 16 bytes, a workgroup each. Include after grid.glsl and packed.glsl.
#include "common/fours.glsl"

#ifndef MOST_INVOCATIONS
#define MOST_INVOCATIONS 256
#endif
const uint kShares = 16u;  // of a workgroup's sum, each added up by one invocation

shared vec2 sharedTerm[MOST_INVOCATIONS];
shared vec2 sharedShare[2][kShares];

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
