#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// y = activation(alpha * sum of an element's parts + beta * c); an invocation an element, or eight.
//   EIGHTS        defined where eight results lie side by side, in a vector
//   CONVOLUTION   defined where the columns are places of a convolution (convolution.glsl), else matrix.glsl
//   matrixRank    walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
#define PARTS 1
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#if CONVOLUTION
#include "matrix/convolution.glsl"
#else
#include "matrix/matrix.glsl"
#endif
#include "matrix/floats.glsl"

#if EIGHTS
layout(set = 0, binding = BINDING_addend, std430) readonly buffer addendVectorBuffer { uvec4 addendVectors[]; };
#endif

// Returns where a part's element lies in y: its row and its column.
uvec2 placeOf(uint place) {
  const bool rowsFirst = (push.flags & kRowsFirst) != 0u;
  const uint line = rowsFirst ? push.rows : push.columns;
  const uint first = place / line;
  const uint along = place - first * line;
  return rowsFirst ? uvec2(along, first) : uvec2(first, along);
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
#if EIGHTS
  item *= 8u;
#endif
  const uint perMatrix = push.rows * push.columns;
  const uint pair = item / perMatrix;
  const uint at = item - pair * perMatrix;
  const uint first = pair * push.parts * perMatrix + at;
  const uvec2 place = placeOf(at);
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
#if EIGHTS
  vec4 low = vec4(0.0);
  vec4 high = vec4(0.0);
  for (uint part = 0u; part < push.parts; ++part) {
    const uint four = (first + part * perMatrix) / 4u;
    low += uintBitsToFloat(partFours[four]);
    high += uintBitsToFloat(partFours[four + 1u]);
  }
  const uint vector = (base.w + place.x * yRowStride() + columnAt(place.y).y) / 8u;
  const uvec4 addends = hasAddend() ? addendVectors[vector] : uvec4(0u);
  const uvec2 next = (push.flags & kRowsFirst) != 0u ? uvec2(1u, 0u) : uvec2(0u, 1u);
  uvec4 packed;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const vec4 four = i < 2u ? low : high;
    const vec2 two = i % 2u == 0u ? four.xy : four.zw;
    const uvec2 left = place + 2u * i * next;
    const uvec2 right = left + next;
    const vec2 added = unpackHalf2x16(addends[i]);
    packed[i] = (toRaw(finishedWith(two.x, left.x, columnAt(left.y), base, added.x)) & 0xffffu) |
                (toRaw(finishedWith(two.y, right.x, columnAt(right.y), base, added.y)) << 16u);
  }
  yVectors[vector] = packed;
#else
  float sum = 0.0;
  for (uint part = 0u; part < push.parts; ++part) sum += parts[first + part * perMatrix];
  finish(sum, pair, place.x, place.y, columnAt(place.y), base);
#endif
}
