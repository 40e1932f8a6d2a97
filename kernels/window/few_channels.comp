#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// A copy of pictures of few channels, in which those of an element lie side by side, 1 << channelBits of them, the
// surplus ones zeros, with zeros around each picture, too: eight elements of a line an invocation. Parameters: {vectors
// of a line and their divisor}, {input strides of batches and channels, the first element, 0}, and two for each of
// three spatial dimensions, the innermost, whose size is that of a line, first,
//   {size of the copy and its divisor}   {size of the input, padding before, input stride, 0}
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "window/digits.glsl"

const uint kVector = 8u;

TENSOR_IN(x)
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yBuffer { uvec4 y[]; };

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 strides = parameters[1];
  uint rest = item;
  const uint first = takeDigit(rest, parameters[0]) * kVector;
  bool inside = true;
  uint from = strides.z;
  [[unroll]] for (uint d = 1u; d < 3u; ++d) {
    const uvec4 input1 = parameters[3u + 2u * d];
    const uint place = takeDigit(rest, parameters[2u + 2u * d]) - input1.y;
    inside = inside && place < input1.x;
    from += place * input1.z;
  }
  from += rest * strides.x;
  const uvec4 line = parameters[3];
  uvec4 packed = uvec4(0u);
  [[unroll]] for (uint i = 0u; i < kVector; ++i) {
    const uint place = (first + i >> push.channelBits) - line.y;
    const uint channel = first + i & (1u << push.channelBits) - 1u;
    const bool exists = inside && place < line.x && channel < push.channels;
    const uint raw = loadRaw_x(exists ? from + place * line.z + channel * strides.y : 0u);
    packed[i / 2u] |= (exists ? raw : 0u) << (i % 2u * 16u);
  }
  y[item] = packed;
}
