// Which elements of a matrix an invocation holds, where the device's choice is the one that is hoped for: kSharing
// neighbours hold a row together, kAlong elements of it each, in pairs if there are several. Include after
// cooperative.glsl.
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
