#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Does what fold.comp does for two spatial dimensions with strides and dilations of 1, where lines of the image lie in
// vectors of 16 bytes: a vector an invocation, in which the walk counts lines (operands: columns without what is below,
// image).
//   positions, lines               of the window, on a line and of lines
//   windowWidth, windowHeight      its size
//   padLine, padLines              start paddings
//   rowStep, columnStep            in the columns, of a coordinate in the window and of a position
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "common/fours.glsl"

TENSOR_IN(x)
PACKED_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uint first = at.z * kVectorElements + push.padLine;
  const uint line = at.w + push.padLines;
  float sums[kVectorElements];
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) sums[e] = 0.0;
  for (uint i = 0u; i < push.windowHeight; ++i) {
    if (line - i >= push.lines) continue;
    for (uint j = 0u; j < push.windowWidth; ++j) {
      const uint row = at.x + (i * push.windowWidth + j) * push.rowStep + (line - i) * push.positions * push.columnStep;
      [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) {
        const uint position = first + e - j;
        if (position < push.positions) sums[e] += fromRaw(loadRaw_x(row + position * push.columnStep));
      }
    }
  }
  vec4 fours[kFours];
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) fours[e / 4u][e % 4u] = sums[e];
  y[at.y] = VECTOR_OF(fours, 0u);
}
