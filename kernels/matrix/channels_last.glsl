// B's elements where the input's channels lie side by side: the depth counts through the elements of the window and,
// innermost, the channels. Strides are those of such an input. Windows reach over its edges only where B_READS says so,
// and then have at most 32 elements.
//   parameters[kChannels]       {channels of a group and their divisor}
//   parameters[kChannels + 1]   {those that belong to a line of the window, the first ones, where lines are elements}
#if INTEGER
const uint kChannels = 3u;  // behind the scales and zero points of A and B
#else
const uint kChannels = 2u;
#endif

// Of the first element of a column's window, modulo 2^32 where that lies before the input.
uint windowOffset(Column at) {
  uint offset = at.b;
  [[unroll]] for (uint d = 0u; d < 3u; ++d)
    offset += (at.at[d] - parameters[6u + d * kPerDimension].w) * parameters[8u + d * kPerDimension].x;
  return offset;
}

// Which elements of a column's window lie inside the input, a bit each.
uint tapsInside(Column at) {
  uint inside = at.hasWindow ? 1u : 0u;
  uint taps = 1u;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uint first = 4u + d * kPerDimension;
    const uint count = parameters[first + 1u].x;
    const uvec4 input1 = parameters[first + 2u];
    // Places before the first wrap to large ones.
    const uint place = at.at[d] - input1.w;
    uint all = 0u;
    for (uint tap = 0u; tap < count; ++tap)
      if (place + tap * input1.z < input1.x) all |= inside << (tap * taps);
    inside = all;
    taps *= count;
  }
  return inside;
}

// The element of the window that a step of the depth is of, and the step's offset from the window's first one.
uint tapOf(uint k) { return divideBy(k, parameters[kChannels]); }
uint stepOffset(uint k) {
  const uint tap = tapOf(k);
  return k - tap * parameters[kChannels].x + offsetOfTap(tap);
}

// The first of eight channels, as many as belong to the line of the window, which may be all or none.
uvec4 channelsOfLine(uvec4 eight, int belonging) {
  uvec4 result;
  [[unroll]] for (int e = 0; e < 4; ++e)
    result[e] = eight[e] & (belonging > 2 * e + 1 ? ~0u : belonging > 2 * e ? 0xffffu : 0u);
  return result;
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
