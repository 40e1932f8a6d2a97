#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Does what scan.comp does in stages 0, 1 and 3 with ROW, forwards, for rows that lie in vectors of 16 bytes:
// `elements` and `chunkLength` count vectors, of which an invocation scans one at a time. The walk over the rows is in
// vectors, too.
#include "common/packed.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"

PACKED_IN(x)
PACKED_OUT(y)
layout(set = 0, binding = BINDING_totals, std430) buffer totalsBuffer { uint totals[]; };

#include "scan/vectors.glsl"
#define RUNNING COMPUTE
#include "scan/totals.glsl"

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint rowIndex = group / push.chunks;
  const uint chunk = group % push.chunks;
  const uvec4 row = walkOffsets(0u, push.keptRank, rowIndex);
  const uint begin = chunk * push.chunkLength;
  const uint end = begin + min(push.chunkLength, push.elements - begin);
  const uint totalAt = rowIndex * push.chunks + chunk;

  COMPUTE running = identity();
  if (STAGE == 3u) running = wideFromRaw(totals[totalAt]);
  for (uint first = begin; first < end; first += gl_WorkGroupSize.x) {
    const uint k = first + lane;
    const uvec4 loaded = x[row.x + min(k, end - 1u)];
    COMPUTE v[kVectorElements];
    COMPUTE total = identity();
    [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) {
      v[i] = fromRaw(LANE(loaded[i / PACKED_LANES], i % PACKED_LANES));
      if (k >= end) v[i] = identity();
      total = combine(total, v[i]);
    }
    COMPUTE before;
    COMPUTE all;
    scanTotals(total, before, all);
    if (STAGE != 1u) {
      COMPUTE sum = combine(running, before);
      uvec4 result = uvec4(0u);
      // Stores depend on what was loaded, so that none comes before it, although compilers may assume that buffers do
      // not alias, as they do in place.
      [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) {
        const COMPUTE next = combine(sum, v[i]);
        result[i / PACKED_LANES] |= LANE_BITS(toRaw(push.exclusive != 0u ? sum : next), i % PACKED_LANES);
        sum = next;
      }
      result.x |= loaded.w & push.none;
      if (k < end) y[row.y + k] = result;
    }
    running = combine(running, all);
  }
  if (STAGE == 1u && lane == 0u) totals[totalAt] = wideToRaw(running);
}
