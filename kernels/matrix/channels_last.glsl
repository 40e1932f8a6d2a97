// B's elements where the input's channels lie side by side and no window reaches over its edges: the depth counts through
// the elements of the window and, innermost, the channels. Strides are those of such an input.
//   parameters[2]   {channels of a group and their divisor}

// Of the first element of a column's window.
uint windowOffset(uint column) {
  const Column at = columnAt(column);
  uint offset = at.b;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) offset += at.at[d] * parameters[8u + d * kPerDimension].x;
  return offset;
}

// From there to a step of the depth.
uint stepOffset(uint k) {
  const uint tap = divideBy(k, parameters[2]);
  return k - tap * parameters[2].x + offsetOfTap(tap);
}

// Of a step of the depth where the channels do not lie side by side.
Depth channelsAt(uint k) {
  Depth result = Depth(0u, 0u, uvec3(0u), uvec3(0u));
  uint rest = divideBy(k, parameters[2]);
  result.b = (k - rest * parameters[2].x) * parameters[0].z;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uint first = 4u + d * kPerDimension;
    const uvec4 size = parameters[first + 1u];
    const uint quotient = divideBy(rest, size);
    result.reach[d] = (rest - quotient * size.x) * parameters[first + 2u].z;
    rest = quotient;
  }
  return result;
}
