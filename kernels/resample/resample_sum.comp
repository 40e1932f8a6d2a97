#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Weighted sums over a range of input elements on each axis: a workgroup's for each output element with ROW, an
// invocation's without. Antialiasing places the output among the input and stretches the weights of linear
// interpolation; the gradients place the input among the output, which sums what it gave to the input elements.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "resample/place.glsl"
#include "resample/coordinates.glsl"
#include "resample/element.glsl"
#include "resample/weights.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

shared float sharedSum[256];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint item = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && item >= push.count) return;
  uint from, to;
  uvec4 coordinates;
  coordinatesOf(item, push.rank, from, to, coordinates);
  Axis axes[4];
  uint terms = 1u;
  for (uint a = 0u; a < AXES; ++a) {
    axes[a] = axisOf(push.axisAt + 3u * a, coordinates[a]);
    terms *= axes[a].count;
  }
  float sum = 0.0;
  for (uint k = ROW != 0u ? lane : 0u; k < terms; k += ROW != 0u ? gl_WorkGroupSize.x : 1u) {
    uint rest = k;
    uint offset = from;
    float weight = 1.0;
    for (uint a = 0u; a < AXES; ++a) {
      const uint quotient = rest / axes[a].count;
      const uint at = axes[a].first + rest - quotient * axes[a].count;
      rest = quotient;
      offset += at * parameters[axes[a].at + 2u].x;
      weight *= weightOf(axes[a], at);
    }
    if (weight != 0.0) sum += weight * float(fromRaw(loadRaw_x(offset)));
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
  storeRaw_y(to, averageToRaw(sum));
}
