#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Does what pool_grad.comp does under windows of WIDTH x HEIGHT neighbours that begin PADDED elements in front of the
// lines, of tensors whose lines lie in vectors of 16 bytes, the same of some planes an invocation. Parameters: two for
// each of five dimensions, vectors of a line first, then lines,
//   {size and its divisor}   {gradient stride, output stride in vectors, index stride, step of the row-major index}
// where vectors of a line and lines have no gradient and index strides; and at last
//   {elements, lines of the output, stride of windows in lines, start padding in lines}
//   {windows in a line, in lines, 0, 0}   {their gradient strides, their index strides}   {as of a dimension, of planes}
//   planes    how many an invocation takes
//   divisor   as there
//   STEP is the stride of windows along a line.
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "common/fours.glsl"

TENSOR_IN(g)
layout(set = 0, binding = BINDING_indices, std430) readonly buffer indicesBuffer { uint indices[]; };
PACKED_OUT(y)

const int kMost = 3;                                  // WIDTH and HEIGHT are at most that
const int kRun = int(kVectorElements);
const int kWindows = kRun / STEP + kMost;  // that may be over a vector, from the second before its first element's on
const bool kIsMaximum = FUNCTION == DML_OPERATOR_MAX_POOLING_GRAD;

// How many of the elements under a window of `size` lie among `elements`.
int insideOf(int start, int size, int elements) { return min(start + size, elements) - max(start, 0); }

// Of a plane in which `at` lies.
uvec4 vectorAt(uvec4 at, int first, int row, int lastRow) {
  const ivec4 size = ivec4(parameters[10]);
  const ivec2 windows = ivec2(parameters[11].xy);
  const uvec4 steps = parameters[12];
  const int width = int(WIDTH);
  const int padded = int(PADDED);
  const int firstWindow = first / STEP - 2;
  const float divisor = uintBitsToFloat(push.divisor);

  float sums[kRun];
  [[unroll]] for (int e = 0; e < kRun; ++e) sums[e] = 0.0;
  for (; row <= lastRow; ++row) {
    const float down = float(insideOf(row * size.z - size.w, int(HEIGHT), size.y));
    float gradients[kWindows];
    uint chosen[kWindows];
    [[unroll]] for (int j = 0; j < kWindows; ++j) {
      const int window = firstWindow + j;
      const int start = window * STEP - padded;
      const bool exists = window >= 0 && window < windows.x && start < first + kRun && start + width > first;
      gradients[j] = 0.0;
      chosen[j] = 0xffffffffu;
      if (exists) {
        gradients[j] = fromRaw(loadRaw_g(at.x + uint(window) * steps.x + uint(row) * steps.y));
        if (kIsMaximum) chosen[j] = indices[at.z + uint(window) * steps.z + uint(row) * steps.w];
        if (!kIsMaximum && divisor == 0.0) gradients[j] /= float(insideOf(start, width, size.x)) * down;
      }
    }
    [[unroll]] for (int e = 0; e < kRun; ++e)
      [[unroll]] for (int j = 0; j < kWindows; ++j) {
        const int place = e + padded - (j - 2) * STEP;  // under the window
        if (place < 0 || place >= width) continue;
        if (!kIsMaximum || chosen[j] == at.w + uint(e)) sums[e] += gradients[j];
      }
  }
  vec4 fours[kFours];
  [[unroll]] for (int e = 0; e < kRun; ++e)
    fours[e / 4][e % 4] = !kIsMaximum && divisor != 0.0 ? sums[e] / divisor : sums[e];
  return VECTOR_OF(fours, 0u);
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint rest = item;
  uvec4 at = uvec4(0u);
  uvec2 digits = uvec2(0u);
  for (uint d = 0u; d < 5u; ++d) {
    const uvec4 size = parameters[2u * d];
    const uint next = d < 4u ? divideBy(rest, size) : 0u;
    const uint coordinate = rest - next * size.x;
    rest = next;
    at += coordinate * parameters[2u * d + 1u];
    if (d < 2u) digits[d] = coordinate;
  }
  const ivec4 size = ivec4(parameters[10]);
  const int line = int(digits.y) + size.w;
  const int row = max(line - int(HEIGHT) + size.z, 0) / size.z;
  const int lastRow = min(line / size.z, int(parameters[11].y) - 1);
  for (uint plane = 0u; plane < push.planes; ++plane) {
    y[at.y] = vectorAt(at, int(digits.x) * kRun, row, lastRow);
    at += parameters[13];
  }
}
