// Whether the device places the elements of matrices as places.glsl has them. Include after cooperative.glsl, and after
// kLooks, which says whether the kernel looks at all.
#extension GL_KHR_shader_subgroup_vote : require
#include "matrix/places.glsl"

const uint kDepthAlong = SIZE_DEPTH / kSharing;
// The places of a matrix, as FLOAT16 and as FLOAT32.
const uint kPlaces = SIZE_ROWS * SIZE_DEPTH;
shared uvec4 places[kLooks ? kPlaces / 8u + kPlaces / 4u : 1u];

void stagePlaces(uint lane) {
  for (uint four = lane; four < kPlaces / 4u; four += INVOCATIONS) {
    const vec4 numbers = float(four) * 4.0 + vec4(0.0, 1.0, 2.0, 3.0);
    const uvec2 halves = uvec2(packHalf2x16(numbers.xy), packHalf2x16(numbers.zw));
    if (four % 2u == 0u)
      places[four / 2u].xy = halves;
    else
      places[four / 2u].zw = halves;
    places[kPlaces / 8u + four] = floatBitsToUint(numbers);
  }
}

// Whether factors and sums lie so, of what was staged.
bool placesAreKnown(uint own) {
  MATRIX_A left;
  MATRIX_B right;
  MATRIX_SUM sums;
  LOAD_ROWS(left, places, 0u, SIZE_DEPTH / 8u);
  LOAD_COLUMNS(right, places, 0u, SIZE_DEPTH / 8u);
  LOAD_ROWS(sums, places, kPlaces / 8u, SIZE_COLUMNS / 4u);
  bool known = MATRIX_LENGTH(left) == kHeldRows * kDepthAlong && MATRIX_LENGTH(right) == kHeldColumns * kDepthAlong &&
               MATRIX_LENGTH(sums) == kHeldRows * kAlong;
  [[unroll]] for (uint i = 0u; i < kHeldRows * kDepthAlong; ++i) {
    const float number = float(heldRow(own, i, kDepthAlong) * SIZE_DEPTH + heldColumn(own, i, kDepthAlong));
    known = known && float(MATRIX_AT(left, i)) == number;
    if (i < kHeldColumns * kDepthAlong) known = known && float(MATRIX_AT(right, i)) == number;
  }
  [[unroll]] for (uint i = 0u; i < kHeldRows * kAlong; ++i)
    known = known && MATRIX_AT(sums, i) == float(heldRow(own, i) * SIZE_COLUMNS + heldColumn(own, i));
  return subgroupAll(known);
}
