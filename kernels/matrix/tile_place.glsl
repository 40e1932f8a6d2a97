// Which part of a product a workgroup computes. Where isWhole() there is one matrix, and the depth is not sliced.
struct TilePlace {
  uint pairAndSlice;  // of the depth, where it is sliced
  uint pair;
  uint begin;  // steps of the depth
  uint end;
  uint firstRow;
  uint firstColumn;
};

TilePlace placeOfTile(uint group, uint rows, uint columns) {
  TilePlace place;
  const uint rowTiles = (push.rows + rows - 1u) / rows;
  const uint columnTiles = (push.columns + columns - 1u) / columns;
  place.pairAndSlice = isWhole() ? 0u : group / (rowTiles * columnTiles);
  const uint tile = group - place.pairAndSlice * (rowTiles * columnTiles);
#if INTEGER
  place.pair = place.pairAndSlice;
  place.begin = 0u;
  place.end = push.depth;
#else
  place.pair = place.pairAndSlice / push.slices;
  const uint slice = place.pairAndSlice - place.pair * push.slices;
  place.begin = isWhole() ? 0u : slice * push.sliceDepth;
  place.end = isWhole() ? push.depth : min(place.begin + push.sliceDepth, push.depth);
#endif
  // Tiles that run side by side are a band of rows, so that they read the same parts of A and B.
  const uint kBand = 8u;
  const uint band = tile / (kBand * columnTiles);
  const uint inBand = tile - band * (kBand * columnTiles);
  const uint height = min(kBand, rowTiles - band * kBand);
  place.firstRow = (band * kBand + inBand % height) * rows;
  place.firstColumn = inBand / height * columns;
  return place;
}
