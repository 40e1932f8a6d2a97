// B's elements where the input's channels lie side by side and no window reaches over its edges: the depth counts through
// the elements of the window and, innermost, the channels. Strides are those of such an input.
//   parameters[kChannels]   {channels of a group and their divisor}
#if INTEGER
const uint kChannels = 3u;  // behind the scales and zero points of A and B
#else
const uint kChannels = 2u;
#endif

// Of the first element of a column's window.
uint windowOffset(uint column) {
  const Column at = columnAt(column);
  uint offset = at.b;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) offset += at.at[d] * parameters[8u + d * kPerDimension].x;
  return offset;
}

// From there to a step of the depth.
uint stepOffset(uint k) {
  const uint tap = divideBy(k, parameters[kChannels]);
  return k - tap * parameters[kChannels].x + offsetOfTap(tap);
}

// Of a step of the depth where the channels do not lie side by side.
Depth channelsAt(uint k) {
  Depth result = Depth(0u, 0u, uvec3(0u), uvec3(0u));
  uint rest = divideBy(k, parameters[kChannels]);
  result.b = (k - rest * parameters[kChannels].x) * parameters[0].z;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uint first = 4u + d * kPerDimension;
    const uvec4 size = parameters[first + 1u];
    const uint quotient = divideBy(rest, size);
    result.reach[d] = (rest - quotient * size.x) * parameters[first + 2u].z;
    rest = quotient;
  }
  return result;
}
