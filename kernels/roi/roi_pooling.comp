#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// The largest element of each of a region's bins: a workgroup's with ROW, an invocation's without; 0 of empty bins.
// parameters[0] on: {image strides} {image sizes} {output strides} {output sizes}, in the order N, C, H, W,
// {region stride, coordinate stride}, {divisors of output sizes C, H, W}
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"

TENSOR_IN(x)
TENSOR_IN(regions)
TENSOR_OUT(y)

shared float sharedValue[256];

float regionValue(uint region, uint k) {
  return fromRaw(loadRaw_regions(region * parameters[4].x + k * parameters[4].y));
}

// A region's end as an element of the image. What lies far outside would not fit.
int edgeOf(uint region, uint k) {
  const float edge = roundBy(DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN, regionValue(region, k) * uintBitsToFloat(push.scale));
  if (isNan(edge)) return 0;
  return edge >= 1e9 ? 1000000000 : edge <= -1e9 ? -1000000000 : int(edge);
}

// a * b / d, rounded down; up with `up`. a < 2^32, b <= d or b = d + 1, so that quotients fit.
uint scaledQuotient(uint a, uint b, uint d, bool up) {
  uint high = mulHigh(a, b);
  uint low = a * b;
  if (up) {
    const uint sum = low + (d - 1u);
    high += sum < low ? 1u : 0u;
    low = sum;
  }
  if (high == 0u) return low / d;
  // Bit by bit.
  uint rest = high;
  uint quotient = 0u;
  for (int i = 31; i >= 0; --i) {
    const bool carry = (rest >> 31) != 0u;
    rest = (rest << 1) | ((low >> i) & 1u);
    if (carry || rest >= d) {
      rest -= d;
      quotient |= 1u << i;
    }
  }
  return quotient;
}

// The elements of bin `index` of `bins`, between the ends of a region.
void binOf(int start, int end, uint index, uint bins, uint size, out uint first, out uint count) {
  const uint length = uint(max(end - start + 1, 1));
  const int low = start + int(scaledQuotient(length, index, bins, false));
  const int high = start + int(scaledQuotient(length, index + 1u, bins, true));
  const int most = int(min(size, 0x7fffffffu));
  first = uint(clamp(low, 0, most));
  count = uint(max(clamp(high, 0, most) - int(first), 0));
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint item = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && item >= push.count) return;
  const uint lines = divideBy(item, parameters[7]);
  const uint planes = divideBy(lines, parameters[6]);
  const uint region = divideBy(planes, parameters[5]);
  const uint column = item - lines * parameters[7].x;
  const uint line = lines - planes * parameters[6].x;
  const uint channel = planes - region * parameters[5].x;

  const uvec4 sizes = parameters[1];
  const float id = regionValue(region, 0u);
  const uint batch = id > 0.0 ? min(uint(min(id, 4e9)), sizes.x - 1u) : 0u;
  uint left, width, top, height;
  binOf(edgeOf(region, 1u), edgeOf(region, 3u), column, parameters[3].w, sizes.w, left, width);
  binOf(edgeOf(region, 2u), edgeOf(region, 4u), line, parameters[3].z, sizes.z, top, height);
  const uint elements = width * height;
  const uint from = batch * parameters[0].x + channel * parameters[0].y;
  float most = uintBitsToFloat(0x7fc00000u);
  for (uint k = ROW != 0u ? lane : 0u; k < elements; k += ROW != 0u ? gl_WorkGroupSize.x : 1u) {
    const uint row = k / width;
    const uint at = from + (top + row) * parameters[0].z + (left + k - row * width) * parameters[0].w;
    most = maxNum(most, fromRaw(loadRaw_x(at)));
  }
  if (ROW != 0u) {
    sharedValue[lane] = most;
    for (uint half1 = gl_WorkGroupSize.x / 2u; half1 > 0u; half1 /= 2u) {
      barrier();
      if (lane < half1) {
        most = maxNum(most, sharedValue[lane + half1]);
        sharedValue[lane] = most;
      }
    }
    if (lane != 0u) return;
  }
  const uint to = region * parameters[2].x + channel * parameters[2].y + line * parameters[2].z + column * parameters[2].w;
  storeRaw_y(to, toRaw(elements == 0u ? 0.0 : most));
}
