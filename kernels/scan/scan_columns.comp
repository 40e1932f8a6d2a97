#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Does what scan.comp does in stages 0, 1 and 3 without ROW, for rows that lie side by side in vectors of 16 bytes:
// `rows` counts these, of which an invocation scans a chunk, and the walk and the steps are in vectors, too.
#include "common/packed.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"

PACKED_IN(x)
PACKED_OUT(y)
layout(set = 0, binding = BINDING_totals, std430) buffer totalsBuffer { uint totals[]; };

#include "scan/vectors.glsl"

const uint kLoads = 4u;  // under way at once

void main() {
  uint task;
  if (!gridItem(push.rows * push.chunks, task)) return;
  const uint rowIndex = task % push.rows;
  const uint chunk = task / push.rows;
  const uvec4 row = walkOffsets(0u, push.keptRank, rowIndex);
  const uint begin = chunk * push.chunkLength;
  const uint end = begin + min(push.chunkLength, push.elements - begin);
  const uint totalAt = rowIndex * kVectorElements * push.chunks + chunk;

  COMPUTE running[kVectorElements];
  [[unroll]] for (uint i = 0u; i < kVectorElements; ++i)
    running[i] = STAGE == 3u ? wideFromRaw(totals[totalAt + i * push.chunks]) : identity();
  for (uint first = begin; first < end; first += kLoads) {
    uvec4 loaded[kLoads];
    [[unroll]] for (uint k = 0u; k < kLoads; ++k) loaded[k] = x[row.x + placeOf(min(first + k, end - 1u)) * push.xStep];
    [[unroll]] for (uint k = 0u; k < kLoads; ++k) {
      if (first + k >= end) break;
      uvec4 result = uvec4(0u);
      [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) {
        const COMPUTE next = combine(running[i], fromRaw(LANE(loaded[k][i / PACKED_LANES], i % PACKED_LANES)));
        result[i / PACKED_LANES] |= LANE_BITS(toRaw(push.exclusive != 0u ? running[i] : next), i % PACKED_LANES);
        running[i] = next;
      }
      // As in scan_vectors.comp; the last of what is under way was loaded, too.
      result |= loaded[kLoads - 1u] & push.none | loaded[k] & push.none;
      if (STAGE != 1u) y[row.y + placeOf(first + k) * push.yStep] = result;
    }
  }
  if (STAGE == 1u)
    [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) totals[totalAt + i * push.chunks] = wideToRaw(running[i]);
}
