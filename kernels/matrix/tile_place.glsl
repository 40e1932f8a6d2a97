// Which part of a product a workgroup computes.
struct TilePlace {
  uint pairAndSlice;  // of the depth, where it is sliced
  uint pair;
  uint begin;  // steps of the depth
  uint end;
  uint firstRow;
  uint firstColumn;
};

// Tiles that run side by side are a band of rows, so that they read the same parts of A and B.
TilePlace placeOfTile(uint group, uint rows, uint columns) {
  TilePlace place;
  const uint rowTiles = (push.rows + rows - 1u) / rows;
  const uint columnTiles = (push.columns + columns - 1u) / columns;
  place.pairAndSlice = group / (rowTiles * columnTiles);
  const uint tile = group - place.pairAndSlice * (rowTiles * columnTiles);
#if INTEGER
  place.pair = place.pairAndSlice;
  place.begin = 0u;
  place.end = push.depth;
#else
  place.pair = place.pairAndSlice / push.slices;
  place.begin = (place.pairAndSlice - place.pair * push.slices) * push.sliceDepth;
  place.end = min(place.begin + push.sliceDepth, push.depth);
#endif
  const uint kBand = 8u;
  const uint band = tile / (kBand * columnTiles);
  const uint inBand = tile - band * (kBand * columnTiles);
  const uint height = min(kBand, rowTiles - band * kBand);
  place.firstRow = (band * kBand + inBand % height) * rows;
  place.firstColumn = inBand / height * columns;
  return place;
}
