#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Copies where one dimension is dense in the source and another in the destination: a workgroup loads a tile along the
// one and stores it along the other.
//   denseFrom, strideTo   size of the dimension that is dense in the source, and its stride in the destination
//   denseTo, strideFrom   the same the other way round
// Walk at parameters[0] over the other dimensions.
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

const uint kTile = 32u;
// A column more, so that neighbours in a column lie in different banks.
shared RAW tile[kTile][kTile + 1u];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint tilesFrom = (push.denseFrom + kTile - 1u) / kTile;
  const uint tilesTo = (push.denseTo + kTile - 1u) / kTile;
  const uvec4 at = walkOffsets(0u, push.rank, group / tilesFrom / tilesTo);
  const uint firstFrom = group % tilesFrom * kTile;
  const uint firstTo = group / tilesFrom % tilesTo * kTile;
  const uint lane = gl_LocalInvocationID.x % kTile;
  for (uint line = gl_LocalInvocationID.x / kTile; line < kTile; line += gl_WorkGroupSize.x / kTile)
    if (firstFrom + lane < push.denseFrom && firstTo + line < push.denseTo)
      tile[line][lane] = loadRaw_x(at.x + firstFrom + lane + (firstTo + line) * push.strideFrom);
  barrier();
  for (uint line = gl_LocalInvocationID.x / kTile; line < kTile; line += gl_WorkGroupSize.x / kTile)
    if (firstTo + lane < push.denseTo && firstFrom + line < push.denseFrom)
      storeRaw_y(at.y + firstTo + lane + (firstFrom + line) * push.strideTo, tile[lane][line]);
}
