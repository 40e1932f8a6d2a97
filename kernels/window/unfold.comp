#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Each element of the columns is an element of the image, or 0 in its padding. An index of the columns has `digits`
// digits: positions of the window, coordinates in it, channel and batch. Parameters: two for each, the innermost first,
//   {size and its divisor}   {output stride, input stride, step in the padded image, dimension of the image}
// and at parameters[imageAt] one for each spatial dimension, {size, start padding, 0, 0}. Other dimensions are kImage.
//   base   what the start padding takes off the input offset, modulo 2^32
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

const uint kImage = 6u;

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint place[6];
  for (uint d = 0u; d < kImage; ++d) place[d] = 0u;
  uint rest = item;
  uint from = push.base;
  uint to = 0u;
  for (uint d = 0u; d < push.digits; ++d) {
    const uvec4 size = parameters[2u * d];
    const uvec4 steps = parameters[2u * d + 1u];
    const uint quotient = d + 1u < push.digits ? divideBy(rest, size) : 0u;
    const uint digit = rest - quotient * size.x;
    rest = quotient;
    to += digit * steps.x;
    from += digit * steps.y;
    if (steps.w < kImage) place[steps.w] += digit * steps.z;
  }
  bool inside = true;
  for (uint d = 0u; d < push.imageRank; ++d) {
    const uvec4 image = parameters[push.imageAt + d];
    inside = place[d] - image.y < image.x && inside;
  }
#if T_BITS == 64
  RAW bits = uvec2(0u);
#else
  RAW bits = 0u;
#endif
  if (inside) bits = loadRaw_x(from);
  storeRaw_y(to, bits);
}
