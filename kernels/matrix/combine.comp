#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// y = activation(alpha * sum of an element's parts + beta * c); an invocation an element.
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

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uint perMatrix = push.rows * push.columns;
  const uint pair = item / perMatrix;
  const uint place = item - pair * perMatrix;
  float sum = 0.0;
  for (uint part = 0u; part < push.parts; ++part) sum += parts[(pair * push.parts + part) * perMatrix + place];
  const uint line = (push.flags & kRowsFirst) != 0u ? push.rows : push.columns;
  const uint first = place / line;
  const uint along = place - first * line;
  const uint row = (push.flags & kRowsFirst) != 0u ? along : first;
  const uint column = (push.flags & kRowsFirst) != 0u ? first : along;
  finish(sum, pair, row, column, columnAt(column), walkOffsets(kMatrices, push.matrixRank, pair));
}
