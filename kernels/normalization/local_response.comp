#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Sums along one axis, of the elements from `before` ahead of an element to `after` behind it, and what local response
// normalization makes of them. Parameters: two for each of four dimensions, the innermost first,
//   {size and its divisor}   {input stride, gradient stride, output stride, step in packed memory}
//   axis           counted from the innermost
//   exponent       FLOAT32: -Beta
//   share, bias    FLOAT32: Alpha / LocalSize, and Bias
//   factor         FLOAT32: 2 Alpha Beta / LocalSize
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/pow.glsl"

// SOURCE: 0: of squares of the input. 1: of sums.
// TARGET: 0: sums. 1: the normalized input. 2: of gradients, what their own elements get (`direct`), and what each
// element of the region gets as its part of the sum. 3: the gradient of the input, of both.

TENSOR_IN(x)
TENSOR_IN(g)
layout(set = 0, binding = BINDING_source, std430) readonly buffer sourceBuffer { float source[]; };
layout(set = 0, binding = BINDING_direct, std430) buffer directBuffer { float direct[]; };
layout(set = 0, binding = BINDING_target, std430) buffer targetBuffer { float target[]; };
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint rest = item;
  uint coordinate = 0u;
  uvec4 at = uvec4(0u);
  for (uint d = 0u; d < 4u; ++d) {
    const uvec4 size = parameters[2u * d];
    const uint quotient = d < 3u ? divideBy(rest, size) : 0u;
    const uint digit = rest - quotient * size.x;
    rest = quotient;
    at += digit * parameters[2u * d + 1u];
    if (d == push.axis) coordinate = digit;
  }
  const uvec4 steps = parameters[2u * push.axis + 1u];
  const uint ahead = min(coordinate, push.before);
  const uint behind = min(parameters[2u * push.axis].x - 1u - coordinate, push.after);
  float sum = 0.0;
  for (uint left = ahead + behind + 1u, k = 0u; left != 0u; --left, ++k) {
    if (SOURCE == 0u) {
      const float v = fromRaw(loadRaw_x(at.x + (k - ahead) * steps.x));
      sum += v * v;
    } else {
      sum += source[at.w + (k - ahead) * steps.w];
    }
  }
  if (TARGET == 0u) {
    target[at.w] = sum;
    return;
  }
  const float v = fromRaw(loadRaw_x(at.x));
  if (TARGET == 3u) {
    storeRaw_y(at.z, toRaw(direct[at.w] - uintBitsToFloat(push.factor) * v * sum));
    return;
  }
  const float base = uintBitsToFloat(push.bias) + uintBitsToFloat(push.share) * sum;
  const float exponent = uintBitsToFloat(push.exponent);
  if (TARGET == 1u) {
    storeRaw_y(at.z, toRaw(v * powAccurate(base, exponent)));
    return;
  }
  const float gradient = fromRaw(loadRaw_g(at.y));
  direct[at.w] = gradient * powAccurate(base, exponent);
  target[at.w] = gradient * v * powAccurate(base, exponent - 1.0);
}
