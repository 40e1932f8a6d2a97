// Whether the device places the elements of matrices as matrix/places.glsl has them.
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "matrix/places.glsl"

// Whether sums, and factors on the left, lie so: a matrix of their places says it.
bool placesAreKnown(uint own, uint place) {
  for (uint element = own; element < SIZE_ROWS * SIZE_COLUMNS; element += SUBGROUP)
    staged[place + element / SIZE_COLUMNS * kPitchSums + element % SIZE_COLUMNS / 4u][element % 4u] =
        floatBitsToUint(float(element));
  SUBGROUP_BARRIER();
  MATRIX_SUM sums;
  LOAD_ROWS(sums, staged, place, kPitchSums);
  SUBGROUP_BARRIER();
  const MATRIX_HALVES halves = MATRIX_HALVES(sums);
  STORE_ROWS(halves, staged, place, kPitchWeights);
  SUBGROUP_BARRIER();
  MATRIX_A factors;
  LOAD_ROWS(factors, staged, place, kPitchWeights);
  SUBGROUP_BARRIER();
  bool known = MATRIX_LENGTH(sums) == kHeldRows * kAlong && MATRIX_LENGTH(factors) == kHeldRows * kAlong;
  [[unroll]] for (uint i = 0u; i < kHeldRows * kAlong; ++i) {
    const float expected = float(heldRow(own, i) * SIZE_COLUMNS + heldColumn(own, i));
    known = known && MATRIX_AT(sums, i) == expected && float(MATRIX_AT(factors, i)) == expected;
  }
  return subgroupAll(known);
}
