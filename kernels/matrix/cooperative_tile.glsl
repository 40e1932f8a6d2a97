// What kernels of floats have in common whose tiles are of matrices that subgroups hold.
// A_READS, B_READS: how an operand is read. kVectors: eight elements at a time; kAcross: neighbours lie across the depth,
// else along it. Of windows whose channels lie side by side, kEdges: they reach over the edges of the input; kOfLines: a
// line of the window counts as one element, not all of whose channels belong to it.
const uint kVectors = 1u;
const uint kAcross = 2u;
const uint kEdges = 4u;
const uint kOfLines = 8u;
const bool kAcrossA = (A_READS & kAcross) != 0u;
const bool kAcrossB = (B_READS & kAcross) != 0u;

// Which vector of a part in shared memory the eight elements of a place are: x along the depth, y across.
uint itemAt(uvec2 place, bool across, uint pitch) {
  return across ? place.x * pitch + place.y / 8u : place.y * pitch + place.x / 8u;
}

// Rows and columns of tiles: bands of kBand rows of tiles, so that workgroups that run at once share what they read.
const uint kBand = 8u;
uvec2 tileOf(uint tile, uint rowTiles, uint columnTiles) {
  const uint band = tile / (kBand * columnTiles);
  const uint rest = tile - band * (kBand * columnTiles);
  const uint height = min(kBand, rowTiles - band * kBand);
  return uvec2(band * kBand + rest % height, rest / height);
}
