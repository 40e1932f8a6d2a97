#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What each of `count` elements of the pooled tensor gets of the gradients of the windows over it: a workgroup's with
// ROW, an invocation's without. Averages share a gradient evenly, maxima give all to the element whose index they had.
// Parameters: two for each of five dimensions, the innermost first,
//   {size and its divisor}   {gradient stride, output stride, index stride, step of the row-major index}
// where the spatial dimensions have no gradient and index strides, but three more parameters each:
//   {window stride, elements a window spans, start padding, windows}   {gradient stride, index stride, 0, 0}
//   divisor   FLOAT32: of averages; 0 stands for the number of elements under the window
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "pooling/window.glsl"

TENSOR_IN(g)
layout(set = 0, binding = BINDING_indices, std430) readonly buffer indicesBuffer { uint indices[]; };
TENSOR_OUT(y)

shared float sharedSum[256];

// (a + b) / d, or 2^32 - 2 if it is larger.
uint quotientOfSum(uint a, uint b, uint d) {
  const uint whole = a / d;
  const uint more = b / d;
  const uint restA = a - whole * d;
  const uint restB = b - more * d;
  const uint sum = whole + more + (restA >= d - restB ? 1u : 0u);
  return sum < whole || sum == 0xffffffffu ? 0xfffffffeu : sum;
}

// The windows over an element in one dimension: the first, and how many.
void windowsOver(uint coordinate, uvec4 window, out uint first, out uint count) {
  const uint last = min(quotientOfSum(coordinate, window.z, window.x), window.w - 1u);
  first = 0u;
  if (window.z >= window.y) {
    first = quotientOfSum(coordinate, window.z - window.y, window.x) + 1u;
  } else if (coordinate >= window.y - window.z) {
    first = (coordinate - (window.y - window.z)) / window.x + 1u;
  }
  count = last >= first ? last - first + 1u : 0u;
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint item = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && item >= push.count) return;

  uint rest = item;
  uvec4 at = uvec4(0u);
  uvec3 box = uvec3(0u);
  uvec3 begins = uvec3(0u);
  uvec3 coordinates = uvec3(0u);
  for (uint d = 0u; d < 5u; ++d) {
    const uvec4 size = parameters[2u * d];
    const uint quotient = d < 4u ? divideBy(rest, size) : 0u;
    const uint coordinate = rest - quotient * size.x;
    rest = quotient;
    at += coordinate * parameters[2u * d + 1u];
    if (d > 2u) continue;
    uint first;
    uint windows;
    windowsOver(coordinate, parameters[10u + 2u * d], first, windows);
    begins[d] = first;
    box[d] = windows;
    coordinates[d] = coordinate;
  }
  const uint total = box.x * box.y * box.z;
  const uint begin = ROW != 0u ? lane : 0u;
  const uint step1 = ROW != 0u ? gl_WorkGroupSize.x : 1u;
  // One step is one along the line, whatever the box, as boxAdvance() carries it.
  uvec3 place = ROW != 0u ? boxDigits(begin, box) : uvec3(0u);
  const uvec3 advance = ROW != 0u ? boxDigits(step1, box) : uvec3(1u, 0u, 0u);
  const float divisor = uintBitsToFloat(push.divisor);

  float sum = 0.0;
  for (uint left = stepsFrom(begin, step1, total); left != 0u; --left) {
    uint from = at.x;
    uint indexAt = at.z;
    float elements = 1.0;
    for (uint d = 0u; d < 3u; ++d) {
      const uvec4 window = parameters[10u + 2u * d];
      const uvec4 source = parameters[11u + 2u * d];
      const uint position = begins[d] + place[d];
      from += position * source.x;
      indexAt += position * source.y;
      // Elements of the window before this one, and how many of them and of those after it lie inside.
      const uint before = coordinates[d] + window.z - position * window.x;
      const uint after = parameters[2u * d].x - 1u - coordinates[d];
      elements *= float(min(before, coordinates[d]) + min(window.y - 1u - before, after) + 1u);
    }
    const float gradient = fromRaw(loadRaw_g(from));
    if (FUNCTION == DML_OPERATOR_MAX_POOLING_GRAD) {
      if (indices[indexAt] == at.w) sum += gradient;
    } else {
      sum += divisor == 0.0 ? gradient / elements : gradient;
    }
    place = boxAdvance(place, advance, box);
  }
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
  if (FUNCTION == DML_OPERATOR_AVERAGE_POOLING_GRAD && divisor != 0.0) sum /= divisor;
  storeRaw_y(at.y, toRaw(sum));
}
