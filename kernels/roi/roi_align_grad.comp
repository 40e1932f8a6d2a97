#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// The gradient of the image: each of its elements sums what it gave to the samples of all regions; a workgroup's
// invocations take a region each with ROW.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "roi/align.glsl"
#include "common/index.glsl"

TENSOR_IN(gradient)
TENSOR_IN(regions)
layout(set = 0, binding = BINDING_samples, std430) readonly buffer samplesBuffer { uint samples1[]; };
TENSOR_OUT(y)

shared float sharedSum[256];

float regionCoordinate(uint region, uint k) {
  return fromRaw(loadRaw_regions(region * REGION.x + k * REGION.y));
}

// The samples that may touch an element of an axis: those less than an element off.
void samplesAt(Samples samples, uint index, uint outputs, out uint begin, out uint end) {
  samplesBetween(samples, float(index) - 1.0, float(index) + 1.0, 0u, outputs * samples.perOutput, begin, end);
}

float weightAt(Samples samples, uint s, uint index, uint size) {
  const float place = placeOf(samples, s);
  return isInside(place, size) ? weightOf(neighboursOf(place, size, LINEAR != 0u), index) : 0.0;
}

float sumOfRegion(uint region, uvec4 at) {
  uint batch;
  loadIndex(REGION.w, region * REGION.z, IMAGE_SIZES.x, batch);
  if (batch != at.x) return 0.0;
  const Samples h = samplesOf(regionCoordinate(region, 0u), regionCoordinate(region, 2u), PLACES.x, CROP_SIZES.w);
  const Samples v = samplesOf(regionCoordinate(region, 1u), regionCoordinate(region, 3u), PLACES.y, CROP_SIZES.z);
  uint left, right, top, bottom;
  samplesAt(h, at.w, CROP_SIZES.w, left, right);
  samplesAt(v, at.z, CROP_SIZES.z, top, bottom);
  float sum = 0.0;
  for (uint sy = top; sy < bottom; ++sy) {
    const float wy = weightAt(v, sy, at.z, IMAGE_SIZES.z);
    if (wy == 0.0) continue;
    const uint oy = sy / v.perOutput;
    for (uint sx = left; sx < right; ++sx) {
      const float wx = weightAt(h, sx, at.w, IMAGE_SIZES.w);
      if (wx == 0.0) continue;
      const uint ox = sx / h.perOutput;
      if (MAXIMUM != 0u) {
        const uint crop = ((region * CROP_SIZES.y + at.y) * CROP_SIZES.z + oy) * CROP_SIZES.w + ox;
        if (samples1[crop] != (sy - oy * v.perOutput) * h.perOutput + sx - ox * h.perOutput) continue;
      }
      sum += wy * wx * fromRaw(loadRaw_gradient(dot4(uvec4(region, at.y, oy, ox), CROP_STRIDES)));
    }
  }
  return MAXIMUM != 0u ? sum : sum / (float(h.perOutput) * float(v.perOutput));
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint item = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && item >= push.count) return;
  const uvec4 at = unpackIndex(item, IMAGE_DIVISORS);
  float sum = 0.0;
  for (uint region = ROW != 0u ? lane : 0u; region < CROP_SIZES.x; region += ROW != 0u ? gl_WorkGroupSize.x : 1u)
    sum += sumOfRegion(region, at);
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
  storeRaw_y(dot4(at, IMAGE_GRADIENT_STRIDES), toRaw(sum));
}
