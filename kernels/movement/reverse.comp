#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "common/whole_vectors.glsl"

// Walk operands: input without its axis, lengths, output, coordinate on the axis. With ROWS the axis lies in vectors of 16
// bytes of the output, and the walk is through these.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/index.glsl"

TENSOR_IN(x)
#ifdef ROWS
#include "common/packed.glsl"
#include "common/runs.glsl"

PACKED_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  uint length;
  loadIndex(push.indexKind, at.y, push.axisSize + 1u, length);
  uvec4 vector = uvec4(0u);
  [[unroll]] for (uint i = 0u; i < kRun; ++i) {
    const uint place = at.w * kRun + i;
    const uint source = place < length ? length - 1u - place : place;
    putElement(vector, i, loadRaw_x(at.x + source * push.axisStride));
  }
  y[at.z] = vector;
}
#else
#define OUTPUT z
RAW elementAt(uvec4 at) {
  uint length;
  loadIndex(push.indexKind, at.y, push.axisSize + 1u, length);
  const uint source = at.w < length ? length - 1u - at.w : at.w;
  return loadRaw_x(at.x + source * push.axisStride);
}

#include "common/each.glsl"
#endif
