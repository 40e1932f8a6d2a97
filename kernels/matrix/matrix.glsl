// Where the elements of matrices lie.
//   parameters[0]   strides of A's rows and depth, B's depth and columns
//   parameters[1]   strides of C's rows and columns, y's rows and columns; y's with STRIDES_PUSHED are push words: yRow,
//                   yColumn
const uint kMatrices = 4u;

uint aRowStride() { return parameters[0].x; }
uint cRowStride() { return parameters[1].x; }
#if STRIDES_PUSHED
uint yRowStride() { return push.yRow; }
uint yColumnStride() { return push.yColumn; }
#else
uint yRowStride() { return parameters[1].z; }
uint yColumnStride() { return parameters[1].w; }
#endif
// The row by which scales and zero points go: all matrices have the same.
uint quantizedRow(uint pair, uint row) { return row; }

// Offsets of a column.
struct Column {
  uint b;
  uint c;
  uint y;
};
Column columnAt(uint column) {
  return Column(column * parameters[0].w, column * parameters[1].y, column * yColumnStride());
}

// Offsets of a step along the depth.
struct Depth {
  uint a;
  uint b;
};
Depth depthAt(uint k) { return Depth(k * parameters[0].y, k * parameters[0].z); }
void advance(inout Depth depth) {
  depth.a += parameters[0].y;
  depth.b += parameters[0].z;
}

// Whether B has an element there, and its offset.
bool meets(Column column, Depth depth, out uint b) {
  b = column.b + depth.b;
  return true;
}
