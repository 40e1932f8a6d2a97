// Which elements of a matrix an invocation holds, where the device's choice is the one that is hoped for: kSharing
// neighbours hold a row together, kAlong elements of it each, in pairs if there are several.
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_shuffle : require

const uint kSharing = SIZE_COLUMNS == SUBGROUP ? SIZE_COLUMNS : 4u;
const uint kAlong = SIZE_COLUMNS / kSharing;
const uint kPair = kAlong < 2u ? 1u : 2u;
const uint kHeldRows = SIZE_ROWS * kSharing < SUBGROUP ? 1u : SIZE_ROWS * kSharing / SUBGROUP;

// Of the i-th element.
uint heldRow(uint own, uint i) { return own / kSharing + SUBGROUP / kSharing * (i / kAlong); }
uint heldColumn(uint own, uint i) {
  const uint along = i % kAlong;
  return own % kSharing * kPair + along % kPair + kSharing * kPair * (along / kPair);
}

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
