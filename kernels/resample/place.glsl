// Where elements of one tensor lie between those of another, axis by axis: element o lies at step * o + start.
// Include after grid.glsl. An axis has three vectors of parameters:
//   {step: whole, fraction; 32 more bits of it; start: whole}
//   {start: fraction; step and start as floats; size that is walked}
//   {stride that is walked, size that is looked for, stretch, 1 / stretch}
// Fixed point makes places exact where they are multiples of 2^-24, so that every device rounds the same way.
#include "common/wide.glsl"

struct Place {
  int index;
  float fraction;  // a multiple of 2^-24, below 1
};

Place placeOf(uint axis, uint o) {
  const uvec4 a = parameters[axis];
  const uvec4 b = parameters[axis + 1u];
  // What lies far outside of every tensor would not fit.
  const float estimate = uintBitsToFloat(b.y) * float(o) + uintBitsToFloat(b.z);
  if (estimate > 1e9) return Place(0x40000000, 0.0);
  if (estimate < -1e9) return Place(-0x40000000, 0.0);
  const uint carried = mulHigh(a.z, o);
  const uint product = a.y * o + carried;
  const uint sum = product + b.x;
  const uint rounded = sum + 128u;
  const uint carries = (product < carried ? 1u : 0u) + (sum < product ? 1u : 0u) + (rounded < sum ? 1u : 0u);
  const uint whole = a.x * o + mulHigh(a.y, o) + a.w + carries;
  return Place(int(whole), float(rounded >> 8) * 5.9604644775390625e-8);
}

uint clampedIndex(int index, uint size) { return index < 0 ? 0u : min(uint(index), size - 1u); }

uint nearestIndex(Place place, bool roundUp, uint size) {
  return clampedIndex(place.index + (roundUp && place.fraction > 0.0 ? 1 : 0), size);
}
