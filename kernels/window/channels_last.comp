#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// A copy of pictures in which an element's channels lie side by side, with padding around each picture: a vector of
// channels an invocation. Parameters: {vectors of channels and their divisor}, {input strides of batches and channels,
// the first element, 0}, and two for each of three spatial dimensions, the innermost first,
//   {size of the copy and its divisor}   {size of the input, padding before, input stride, 0}
//   vectorsFirst   1: neighbouring invocations copy neighbouring channels, else neighbouring places
//   hasZero        1: padding is the zero point `zero`, else 0
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "window/digits.glsl"

const uint kInWord = 32u / T_BITS;
const uint kVector = 4u * kInWord;

TENSOR_IN(x)
TENSOR_IN(zero)
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yBuffer { uvec4 y[]; };

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 vectors = parameters[0];
  const uvec4 strides = parameters[1];
  uint rest = item;
  uint vector = push.vectorsFirst != 0u ? takeDigit(rest, vectors) : 0u;
  bool inside = true;
  uint from = strides.z;
  uint to = 0u;
  uint places = 1u;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uvec4 input1 = parameters[3u + 2u * d];
    const uint padded = takeDigit(rest, parameters[2u + 2u * d]);
    const uint place = padded - input1.y;
    inside = inside && place < input1.x;
    from += place * input1.z;
    to += padded * places;
    places *= parameters[2u + 2u * d].x;
  }
  if (push.vectorsFirst == 0u) vector = takeDigit(rest, vectors);
  from += rest * strides.x + vector * kVector * strides.y;
  const uint padding = push.hasZero != 0u ? loadRaw_zero(0u) : 0u;
  uint raws[kVector];
  [[unroll]] for (uint i = 0u; i < kVector; ++i) raws[i] = inside ? loadRaw_x(from + i * strides.y) : padding;
  uvec4 packed = uvec4(0u);
  [[unroll]] for (uint i = 0u; i < kVector; ++i) packed[i / kInWord] |= raws[i] << (i % kInWord * T_BITS);
  y[(rest * places + to) * vectors.x + vector] = packed;
}
