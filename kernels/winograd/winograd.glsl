// Convolutions of windows of 3 x 3 by fewer multiplications (Winograd; Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2015). The output lies in tiles of TILE x TILE; what each needs of the input, PLACES x
// PLACES elements, and each slice of the filter are transformed to as many points; at each point the sums over the
// channels are a product of matrices, and transformed back they are the tile.
//   TILE   2: the transforms multiply by 1/2 at most, so that small integers stay exact. 4: they multiply by roots of 2.
// Transformed tensors are packed: filters as [point][channel][filter], inputs as [point][channel][column], sums as
// [point][filter][column]. A column is a tile of an image, the innermost dimension first; channels, filters and columns
// are filled up with zeros.
//   parameters[kInput]         strides of the input's batches, channels, rows, columns
//   parameters[kInputSize]     rows, columns; padding above and before them
//   parameters[kFilter]        strides of the filter's filters, channels, rows, columns
//   parameters[kOutput]        strides of the output's batches, channels, rows, columns
//   parameters[kOutputSize]    rows, columns; stride of the bias; offset of the filter's first element
//   parameters[kCounts]        channels, filters, columns
//   parameters[kTilesAcross], [kTilesDown], [kColumns], [kFilters]   divisors; columns and filters filled up
const uint kInput = 0u;
const uint kInputSize = 1u;
const uint kFilter = 2u;
const uint kOutput = 3u;
const uint kOutputSize = 4u;
const uint kCounts = 5u;
const uint kTilesAcross = 6u;
const uint kTilesDown = 7u;
const uint kColumns = 8u;
const uint kFilters = 9u;

const uint kTile = TILE;
const uint kPlaces = kTile + 2u;
const uint kPoints = kPlaces * kPlaces;

// The image and the first row and column of the output that a column of the product stands for.
uvec3 tileAt(uint column) {
  const uint line = divideBy(column, parameters[kTilesAcross]);
  const uint image = divideBy(line, parameters[kTilesDown]);
  return uvec3(image, (line - image * parameters[kTilesDown].x) * kTile,
               (column - line * parameters[kTilesAcross].x) * kTile);
}

// One dimension of each transform. What is left of an array's end has no meaning.
#if TILE == 2
void transformInput(inout float d[kPlaces]) {
  const float d0 = d[0] - d[2];
  const float d1 = d[1] + d[2];
  const float d2 = d[2] - d[1];
  const float d3 = d[1] - d[3];
  d[0] = d0;
  d[1] = d1;
  d[2] = d2;
  d[3] = d3;
}
void transformFilter(inout float g[kPlaces]) {
  const float ends = g[0] + g[2];
  const float g1 = g[1];
  g[3] = g[2];
  g[1] = 0.5 * (ends + g1);
  g[2] = 0.5 * (ends - g1);
}
void transformOutput(inout float m[kPlaces]) {
  const float m0 = m[0] + m[1] + m[2];
  const float m1 = m[1] - m[2] - m[3];
  m[0] = m0;
  m[1] = m1;
}
#else
// Of the polynomials' values at 0, +-sqrt(1/2), +-sqrt(2) and infinity. Points at +-1 and +-2 need no roots, but their
// largest errors are three to five times as large.
const float kRoot = 1.41421356;

void transformInput(inout float d[kPlaces]) {
  const float even = d[4] - 2.0 * d[2];
  const float odd = 0.5 * kRoot * (d[3] - 2.0 * d[1]);
  const float evenFar = d[4] - 0.5 * d[2];
  const float oddFar = kRoot * (d[3] - 0.5 * d[1]);
  const float first = d[0] - 2.5 * d[2] + d[4];
  const float last = d[1] - 2.5 * d[3] + d[5];
  d[0] = first;
  d[1] = even + odd;
  d[2] = even - odd;
  d[3] = evenFar + oddFar;
  d[4] = evenFar - oddFar;
  d[5] = last;
}
void transformFilter(inout float g[kPlaces]) {
  const float g1 = g[1];
  const float even = -2.0 / 3.0 * g[0] - 1.0 / 3.0 * g[2];
  const float evenFar = 1.0 / 6.0 * g[0] + 1.0 / 3.0 * g[2];
  g[5] = g[2];
  g[1] = even - kRoot / 3.0 * g1;
  g[2] = even + kRoot / 3.0 * g1;
  g[3] = evenFar + kRoot / 6.0 * g1;
  g[4] = evenFar - kRoot / 6.0 * g1;
}
void transformOutput(inout float m[kPlaces]) {
  const float sum = m[1] + m[2];
  const float sumFar = m[3] + m[4];
  const float difference = m[1] - m[2];
  const float differenceFar = m[3] - m[4];
  const float last = 0.25 * kRoot * difference + 2.0 * kRoot * differenceFar + m[5];
  m[0] = m[0] + sum + sumFar;
  m[1] = 0.5 * kRoot * difference + kRoot * differenceFar;
  m[2] = 0.5 * sum + 2.0 * sumFar;
  m[3] = last;
}
#endif
