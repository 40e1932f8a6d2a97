// Which elements of a matrix an invocation holds, where the device's choice is the one that is hoped for: kSharing
// neighbours hold a row together, kAlong elements of it each, in pairs if there are several. Factors on the right are
// held so by columns. Include after cooperative.glsl.
const uint kSharing = SIZE_COLUMNS == SUBGROUP ? SIZE_COLUMNS : 4u;
const uint kAlong = SIZE_COLUMNS / kSharing;
const uint kPair = kAlong < 2u ? 1u : 2u;
const uint kHeldRows = SIZE_ROWS * kSharing < SUBGROUP ? 1u : SIZE_ROWS * kSharing / SUBGROUP;
const uint kHeldColumns = SIZE_COLUMNS * kSharing < SUBGROUP ? 1u : SIZE_COLUMNS * kSharing / SUBGROUP;

// Of the i-th element; `along`: elements of a row that an invocation holds.
uint heldRow(uint own, uint i, uint along) { return own / kSharing + SUBGROUP / kSharing * (i / along); }
uint heldColumn(uint own, uint i, uint along) {
  const uint at = i % along;
  return own % kSharing * kPair + at % kPair + kSharing * kPair * (at / kPair);
}
// The same of a matrix of SIZE_COLUMNS.
uint heldRow(uint own, uint i) { return heldRow(own, i, kAlong); }
uint heldColumn(uint own, uint i) { return heldColumn(own, i, kAlong); }
