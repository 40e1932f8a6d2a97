#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// ROI_ALIGN, with one workgroup per output element if ROW is set, and one invocation otherwise. With ARGMAX the output
// is, of each element, the sample that is its maximum: row by row among the element's samples, kNoSample if none of
// them is inside.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "roi/align.glsl"
#include "common/index.glsl"

TENSOR_IN(x)
TENSOR_IN(regions)
#ifdef ARGMAX
layout(set = 0, binding = BINDING_samples, std430) buffer samplesBuffer { uint samples1[]; };
#else
TENSOR_OUT(y)
#endif

shared float sharedValue[256];
shared uint sharedSample[256];

const uint kNoSample = 0xffffffffu;

// The running sum or maximum, and the sample of the maximum.
struct Accumulator {
  float value;
  uint which;
};

Accumulator combine(Accumulator a, Accumulator b) {
  if (MAXIMUM == 0u) return Accumulator(a.value + b.value, 0u);
  if (isNan(b.value) || orderKey(b.value) < orderKey(a.value)) return a;
  if (isNan(a.value) || orderKey(b.value) > orderKey(a.value)) return b;
  return b.which < a.which ? b : a;
}

float regionCoordinate(uint region, uint k) {
  return fromRaw(loadRaw_regions(region * REGION.x + k * REGION.y));
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint item = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && item >= push.count) return;
  const uvec4 at = unpackIndex(item, CROP_DIVISORS);
  uint batch;
  loadIndex(REGION.w, at.x * REGION.z, IMAGE_SIZES.x, batch);
  const Samples h = samplesOf(regionCoordinate(at.x, 0u), regionCoordinate(at.x, 2u), PLACES.x, CROP_SIZES.w);
  const Samples v = samplesOf(regionCoordinate(at.x, 1u), regionCoordinate(at.x, 3u), PLACES.y, CROP_SIZES.z);
  uint left, right, top, bottom;
  samplesBetween(h, -1.0, float(IMAGE_SIZES.w), at.w * h.perOutput, h.perOutput, left, right);
  samplesBetween(v, -1.0, float(IMAGE_SIZES.z), at.z * v.perOutput, v.perOutput, top, bottom);
  const uint width = right - left;
  const uint samples = width * (bottom - top);
  const uint image = batch * IMAGE_STRIDES.x + at.y * IMAGE_STRIDES.y;

  Accumulator a = Accumulator(MAXIMUM != 0u ? uintBitsToFloat(0xff800000u) : 0.0, kNoSample);
  float inside = 0.0;
  for (uint k = ROW != 0u ? lane : 0u; k < samples; k += ROW != 0u ? gl_WorkGroupSize.x : 1u) {
    const uint row = k / width;
    const uint sx = left + k - row * width;
    const uint sy = top + row;
    const float px = placeOf(h, sx);
    const float py = placeOf(v, sy);
    if (!isInside(px, IMAGE_SIZES.w) || !isInside(py, IMAGE_SIZES.z)) continue;
    inside += 1.0;
    const Neighbours nx = neighboursOf(px, IMAGE_SIZES.w, LINEAR != 0u);
    const Neighbours ny = neighboursOf(py, IMAGE_SIZES.z, LINEAR != 0u);
    float value = 0.0;
    [[unroll]] for (uint corner = 0u; corner < 4u; ++corner) {
      const bool isRight = (corner & 1u) != 0u;
      const bool isBottom = (corner & 2u) != 0u;
      const float weight = (isRight ? nx.fraction : 1.0 - nx.fraction) * (isBottom ? ny.fraction : 1.0 - ny.fraction);
      const uint column = isRight ? nx.upper : nx.lower;
      const uint line = isBottom ? ny.upper : ny.lower;
      // An infinity beside the place counts for nothing.
      const float element = fromRaw(loadRaw_x(image + line * IMAGE_STRIDES.z + column * IMAGE_STRIDES.w));
      value = mix(value, value + weight * element, weight != 0.0);
    }
    const uint which = (sy - at.z * v.perOutput) * h.perOutput + sx - at.w * h.perOutput;
    a = combine(a, Accumulator(value, which));
  }
  if (ROW != 0u) {
    sharedValue[lane] = a.value;
    sharedSample[lane] = a.which;
    for (uint half1 = gl_WorkGroupSize.x / 2u; half1 > 0u; half1 /= 2u) {
      barrier();
      if (lane < half1) {
        a = combine(a, Accumulator(sharedValue[lane + half1], sharedSample[lane + half1]));
        sharedValue[lane] = a.value;
        sharedSample[lane] = a.which;
      }
    }
    barrier();
    sharedValue[lane] = inside;
    for (uint half1 = gl_WorkGroupSize.x / 2u; half1 > 0u; half1 /= 2u) {
      barrier();
      if (lane < half1) {
        inside += sharedValue[lane + half1];
        sharedValue[lane] = inside;
      }
    }
    if (lane != 0u) return;
  }
  const float all = float(h.perOutput) * float(v.perOutput);
  const float outside = uintBitsToFloat(SAMPLING.x);
  if (MAXIMUM != 0u) {
    if (inside < all) a = combine(a, Accumulator(outside, kNoSample));
  } else {
    a.value = (a.value + (inside < all ? (all - inside) * outside : 0.0)) / all;
  }
#ifdef ARGMAX
  samples1[item] = a.which;
#else
  storeRaw_y(dot4(at, CROP_STRIDES), toRaw(a.value));
#endif
}
