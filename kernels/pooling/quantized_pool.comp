#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Averages of the dequantized elements under the window at each of `count` output positions, quantized again: a
// workgroup's with ROW, an invocation's without. Parameters: two for each of five output dimensions, the innermost
// first,
//   {size and its divisor}   {input stride, output stride, 0, 0}
// where the spatial dimensions have no input stride, but two more parameters each,
//   {window stride, dilation, window size, start padding}   {input size, input stride, 0, 0}
// and at last the strides of channels of {input scale, input zero point, output scale, output zero point}.
//   divisor      FLOAT32; 0 stands for the number of elements under the window
//   zeroPoints   bit 0: of the input, bit 1: of the output; others are 0
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "pooling/window.glsl"

TENSOR_IN(x)
layout(set = 0, binding = BINDING_xScale, std430) readonly buffer xScaleBuffer { float xScale[]; };
TENSOR_IN(xZero)
layout(set = 0, binding = BINDING_yScale, std430) readonly buffer yScaleBuffer { float yScale[]; };
TENSOR_IN(yZero)
TENSOR_OUT(y)

#if T_IS_SIGNED
const float kLeast = -128.0;
const float kMost = 127.0;
#else
const float kLeast = 0.0;
const float kMost = 255.0;
#endif

shared float sharedSum[256];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint item = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && item >= push.count) return;

  uint rest = item;
  uint channel = 0u;
  uvec4 at = uvec4(0u);
  uvec3 box = uvec3(0u);
  uvec3 steps = uvec3(0u);
  for (uint d = 0u; d < 5u; ++d) {
    const uvec4 size = parameters[2u * d];
    const uint quotient = d < 4u ? divideBy(rest, size) : 0u;
    const uint coordinate = rest - quotient * size.x;
    rest = quotient;
    at += coordinate * parameters[2u * d + 1u];
    if (d == 3u) channel = coordinate;
    if (d > 2u) continue;
    const uvec4 dilation = parameters[10u + 2u * d];
    const uvec4 source = parameters[11u + 2u * d];
    uint first;
    uint covered;
    windowCoverage(coordinate, dilation, source.x, first, covered);
    box[d] = covered;
    at.x += first * source.y;
    steps[d] = dilation.y * source.y;
  }
  const uvec4 quantization = channel * parameters[16];
  const int zero = (push.zeroPoints & 1u) != 0u ? int(fromRaw(loadRaw_xZero(quantization.y))) : 0;

  const uint total = box.x * box.y * box.z;
  const uint begin = ROW != 0u ? lane : 0u;
  const uint step1 = ROW != 0u ? gl_WorkGroupSize.x : 1u;
  // One step is one along the line, whatever the box, as boxAdvance() carries it.
  uvec3 place = ROW != 0u ? boxDigits(begin, box) : uvec3(0u);
  const uvec3 advance = ROW != 0u ? boxDigits(step1, box) : uvec3(1u, 0u, 0u);
  int whole = 0;
  for (uint left = stepsFrom(begin, step1, total); left != 0u; --left) {
    const uvec3 offsets = place * steps;
    whole += int(fromRaw(loadRaw_x(at.x + offsets.x + offsets.y + offsets.z))) - zero;
    place = boxAdvance(place, advance, box);
  }
  float sum = float(whole);
  if (ROW != 0u) {
    sharedSum[lane] = sum;
    for (uint half1 = gl_WorkGroupSize.x / 2u; half1 > 0u; half1 /= 2u) {
      barrier();
      if (lane < half1) {
        sum += sharedSum[lane + half1];
        sharedSum[lane] = sum;
      }
    }
    if (lane != 0u) return;
  }
  const float divisor = uintBitsToFloat(push.divisor);
  const float average = roundedQuotient(sum * xScale[quantization.x], divisor == 0.0 ? float(total) : divisor);
  const float scaled = roundedQuotient(average, yScale[quantization.z]);
  float rounded = isNan(scaled) ? 0.0 : abs(scaled) < 8388608.0 ? roundEven(scaled) : scaled;
  if ((push.zeroPoints & 2u) != 0u) rounded += float(fromRaw(loadRaw_yZero(quantization.w)));
  storeRaw_y(at.y, toRaw(COMPUTE(rounded < kLeast ? kLeast : rounded > kMost ? kMost : rounded)));
}
