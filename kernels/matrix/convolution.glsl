// A convolution as a product: rows are the filters of a group, columns the positions of the output, and the depth
// counts through the channels of the group and the elements of the window.
//   parameters[0]   strides of A's (the filter's) filters and channels, B's (the input's) channels and batches
//   parameters[1]   strides of C's (the bias's) filters, y's channels and batches
//   parameters[4]   kPerDimension words for each of three spatial dimensions, the innermost first:
//     {output size, divisor}, {window size, divisor}, {input size, stride, dilation, padding before},
//     {outputs with a window, divisor of the stride}, {strides of B, A and y, outputs before the padding behind them}
const uint kPerDimension = 5u;
const uint kMatrices = 19u;

// How far an element of the window, counted along the innermost dimension first, lies behind the first one, in B.
uint offsetOfTap(uint tap) {
  uint rest = tap;
  uint offset = 0u;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uint first = 4u + d * kPerDimension;
    const uvec4 size = parameters[first + 1u];
    const uint quotient = divideBy(rest, size);
    offset += (rest - quotient * size.x) * parameters[first + 2u].z * parameters[first + 4u].x;
    rest = quotient;
  }
  return offset;
}

// OWN_COLUMNS: defined where the kernel counts columns otherwise, and says what columnAt is.
// BACKWARD: transposed, windows spread over the output and do not gather from the input.
#if BLOCK
const uint BACKWARD = 0u;
#endif

uint aRowStride() { return parameters[0].x; }
uint cRowStride() { return parameters[1].x; }
uint yRowStride() { return parameters[1].z; }
// The row by which scales and zero points go: each group has its own.
uint quantizedRow(uint pair, uint row) { return pair * push.rows + row; }

// `at`: where the window begins, in elements of the padded input; backward, the place in the padded output.
struct Column {
  uint b;
  uint c;
  uint y;
  uvec3 at;
  bool hasWindow;
  bool isPadding;
};
#if !OWN_COLUMNS
Column columnAt(uint column) {
  Column result = Column(0u, 0u, 0u, uvec3(0u), true, false);
  uint rest = column;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uint first = 4u + d * kPerDimension;
    const uvec4 size = parameters[first];
    const uvec4 input1 = parameters[first + 2u];
    const uint quotient = divideBy(rest, size);
    const uint place = rest - quotient * size.x;
    rest = quotient;
    result.hasWindow = result.hasWindow && place < parameters[first + 3u].x;
    result.isPadding = result.isPadding || place >= parameters[first + 4u].w;
    result.at[d] = BACKWARD != 0u ? place + input1.w : place * input1.y;
    result.y += place * parameters[first + 4u].z;
#if BLOCK
    if (d == 0u) result.c = place * parameters[1].y;
#endif
  }
  result.b = rest * parameters[0].w;
  result.y += rest * parameters[1].w;
  return result;
}
#endif

// `tap`: the element of the window; `reach`: its distance from the window's first one.
struct Depth {
  uint a;
  uint b;
  uvec3 tap;
  uvec3 reach;
};
Depth depthAt(uint k) {
  Depth result = Depth(0u, 0u, uvec3(0u), uvec3(0u));
  uint rest = k;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uint first = 4u + d * kPerDimension;
    const uvec4 size = parameters[first + 1u];
    const uint quotient = divideBy(rest, size);
    result.tap[d] = rest - quotient * size.x;
    rest = quotient;
    result.reach[d] = result.tap[d] * parameters[first + 2u].z;
    result.a += result.tap[d] * parameters[first + 4u].y;
  }
  result.a += rest * parameters[0].y;
  result.b = rest * parameters[0].z;
  return result;
}
void advance(inout Depth depth) {
  bool carry = true;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uint first = 4u + d * kPerDimension;
    const uint size = parameters[first + 1u].x;
    const uint stride = parameters[first + 4u].y;
    if (carry) {
      ++depth.tap[d];
      depth.reach[d] += parameters[first + 2u].z;
      depth.a += stride;
      carry = depth.tap[d] == size;
    }
    if (carry) {
      depth.tap[d] = 0u;
      depth.reach[d] = 0u;
      depth.a -= size * stride;
    }
  }
  if (carry) {
    depth.a += parameters[0].y;
    depth.b += parameters[0].z;
  }
}

// Whether that element of the window lies on one of the input, and its offset.
bool meets(Column column, Depth depth, out uint b) {
  b = column.b + depth.b;
  bool inside = column.hasWindow;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uint first = 4u + d * kPerDimension;
    const uvec4 input1 = parameters[first + 2u];
    uint place;
    if (BACKWARD != 0u) {
      const uint distance1 = column.at[d] - depth.reach[d];
      place = divideBy(distance1, parameters[first + 3u]);
      inside = inside && column.at[d] >= depth.reach[d] && place * input1.y == distance1;
    } else {
      const uint padded = column.at[d] + depth.reach[d];
      place = padded - input1.w;
      inside = inside && padded >= input1.w;
    }
    inside = inside && place < input1.x;
    b += place * parameters[first + 4u].x;
  }
  return inside;
}
