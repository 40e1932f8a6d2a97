#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// The gradient of the regions' corners, with one workgroup per region. A sample's place moves with both ends of its
// axis, by its share of the way between them; what it reads moves with the slope of linear interpolation there.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "roi/align.glsl"
#include "common/index.glsl"

TENSOR_IN(x)
TENSOR_IN(gradient)
TENSOR_IN(regions)
layout(set = 0, binding = BINDING_samples, std430) readonly buffer samplesBuffer { uint samples1[]; };
TENSOR_OUT(y)

shared vec4 sharedSum[256];

float regionCoordinate(uint region, uint k) {
  return fromRaw(loadRaw_regions(region * REGION.x + k * REGION.y));
}

float imageAt(uint image, uint line, uint column) {
  return fromRaw(loadRaw_x(image + line * IMAGE_STRIDES.z + column * IMAGE_STRIDES.w));
}

void main() {
  const uint region = groupIndex();
  if (region >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  uint batch;
  loadIndex(REGION.w, region * REGION.z, IMAGE_SIZES.x, batch);
  const Samples h = samplesOf(regionCoordinate(region, 0u), regionCoordinate(region, 2u), PLACES.x, CROP_SIZES.w);
  const Samples v = samplesOf(regionCoordinate(region, 1u), regionCoordinate(region, 3u), PLACES.y, CROP_SIZES.z);
  vec4 sum = vec4(0.0);
  for (uint k = lane; k < push.elements; k += gl_WorkGroupSize.x) {
    const uint item = region * push.elements + k;
    const uvec4 at = unpackIndex(item, CROP_DIVISORS);
    const float weight = fromRaw(loadRaw_gradient(dot4(at, CROP_STRIDES)));
    const float factor = MAXIMUM != 0u ? weight : weight / (float(h.perOutput) * float(v.perOutput));
    const uint image = batch * IMAGE_STRIDES.x + at.y * IMAGE_STRIDES.y;
    uint left, right, top, bottom;
    samplesBetween(h, -1.0, float(IMAGE_SIZES.w), at.w * h.perOutput, h.perOutput, left, right);
    samplesBetween(v, -1.0, float(IMAGE_SIZES.z), at.z * v.perOutput, v.perOutput, top, bottom);
    for (uint sy = top; sy < bottom; ++sy) {
      const float py = placeOf(v, sy);
      if (!isInside(py, IMAGE_SIZES.z)) continue;
      const Neighbours ny = neighboursOf(py, IMAGE_SIZES.z, true);
      for (uint sx = left; sx < right; ++sx) {
        if (MAXIMUM != 0u) {
          const uint which = (sy - at.z * v.perOutput) * h.perOutput + sx - at.w * h.perOutput;
          if (samples1[item] != which) continue;
        }
        const float px = placeOf(h, sx);
        if (!isInside(px, IMAGE_SIZES.w)) continue;
        const Neighbours nx = neighboursOf(px, IMAGE_SIZES.w, true);
        const float topLeft = imageAt(image, ny.lower, nx.lower);
        const float topRight = imageAt(image, ny.lower, nx.upper);
        const float bottomLeft = imageAt(image, ny.upper, nx.lower);
        const float bottomRight = imageAt(image, ny.upper, nx.upper);
        float slopeX = 0.0;
        float slopeY = 0.0;
        if (nx.upper != nx.lower)
          slopeX = (1.0 - ny.fraction) * (topRight - topLeft) + ny.fraction * (bottomRight - bottomLeft);
        if (ny.upper != ny.lower)
          slopeY = (1.0 - nx.fraction) * (bottomLeft - topLeft) + nx.fraction * (bottomRight - topRight);
        const float shareX = (float(sx) - PLACES.w) / h.divisor;
        const float shareY = (float(sy) - PLACES.w) / v.divisor;
        sum += factor * vec4(slopeX * (1.0 - shareX), slopeY * (1.0 - shareY), slopeX * shareX, slopeY * shareY);
      }
    }
  }
  sharedSum[lane] = sum;
  for (uint half1 = gl_WorkGroupSize.x / 2u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (lane < half1) {
      sum += sharedSum[lane + half1];
      sharedSum[lane] = sum;
    }
  }
  if (lane != 0u) return;
  const vec4 result = sum * vec4(PLACES.xy, PLACES.xy);
  for (uint k = 0u; k < 4u; ++k)
    storeRaw_y(region * REGION_GRADIENT_STRIDES.x + k * REGION_GRADIENT_STRIDES.y, toRaw(result[k]));
}
