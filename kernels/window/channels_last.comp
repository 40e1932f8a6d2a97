#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// A copy of pictures in which an element's channels lie side by side, with zeros around each picture: eight channels an
// invocation. Parameters: {eights of channels and their divisor}, {input strides of batches and channels, the first element, 0}, and
// two for each of three spatial dimensions, the innermost first,
//   {size of the copy and its divisor}   {size of the input, zeros before, input stride, 0}
//   eightsFirst   1: neighbouring invocations copy neighbouring channels, else neighbouring places
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yBuffer { uvec4 y[]; };

// Takes the digit of a dimension off an index.
uint takeDigit(inout uint rest, uvec4 size) {
  const uint quotient = divideBy(rest, size);
  const uint digit = rest - quotient * size.x;
  rest = quotient;
  return digit;
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 eights = parameters[0];
  const uvec4 strides = parameters[1];
  uint rest = item;
  uint eight = push.eightsFirst != 0u ? takeDigit(rest, eights) : 0u;
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
  if (push.eightsFirst == 0u) eight = takeDigit(rest, eights);
  from += rest * strides.x + eight * 8u * strides.y;
  uint raws[8];
  [[unroll]] for (uint i = 0u; i < 8u; ++i) raws[i] = inside ? loadRaw_x(from + i * strides.y) : 0u;
  uvec4 packed;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) packed[i] = raws[2u * i] | (raws[2u * i + 1u] << 16u);
  y[(rest * places + to) * eights.x + eight] = packed;
}
