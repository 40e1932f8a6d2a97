// Rows whose elements lie in vectors of 16 bytes, a workgroup each. Include after grid.glsl and packed.glsl.
#include "common/fours.glsl"

#ifndef MOST_INVOCATIONS
#define MOST_INVOCATIONS 256
#endif
// Of a row's sum, each added up by one invocation.
const uint kShares = 16u;

// Invocations of a workgroup that have a row; short ones are several a workgroup.
#ifdef SEVERAL_ROWS
#define ROW_INVOCATIONS ROW_LANES
const uint kMostRows = MOST_INVOCATIONS / 32u;
#else
#define ROW_INVOCATIONS gl_WorkGroupSize.x
const uint kMostRows = 1u;
#endif

shared vec2 sharedTerm[MOST_INVOCATIONS];
shared vec2 sharedShare[2][kShares * kMostRows];

// Which of a workgroup's rows is the invocation's, and its place among those that have it.
uint rowOfGroup() { return gl_LocalInvocationID.x / ROW_INVOCATIONS; }
uint laneOfRow() { return gl_LocalInvocationID.x % ROW_INVOCATIONS; }
// The row among all.
uint rowOf(uint group) { return group * (gl_WorkGroupSize.x / ROW_INVOCATIONS) + rowOfGroup(); }

float sumOf(vec4 v) { return (v.x + v.y) + (v.z + v.w); }

// The sum of what all invocations of the row have, in two steps. `turn` is 0 and 1 in turns, so that no barrier has to
// keep shares apart from those before.
vec2 sumOfRow(vec2 term, uint turn) {
  const uint lane = laneOfRow();
  const uint first = rowOfGroup() * ROW_INVOCATIONS;
  const uint firstShare = rowOfGroup() * kShares;
  sharedTerm[first + lane] = term;
  barrier();
  if (lane < kShares) {
    vec2 share = term;
    for (uint i = lane + kShares; i < ROW_INVOCATIONS; i += kShares) share += sharedTerm[first + i];
    sharedShare[turn][firstShare + lane] = share;
  }
  barrier();
  vec2 sum = vec2(0.0);
  [[unroll]] for (uint n = 0u; n < kShares; n += 4u) {
    const uint i = firstShare + n;
    sum += (sharedShare[turn][i] + sharedShare[turn][i + 1u]) + (sharedShare[turn][i + 2u] + sharedShare[turn][i + 3u]);
  }
  return sum;
}
