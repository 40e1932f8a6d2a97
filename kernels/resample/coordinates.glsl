// The coordinates of an output element. Include after grid.glsl and walk.glsl.
// parameters[0] on has two vectors a dimension, the innermost first:
//   {output size and its divisor}   {input stride, output stride, axis, 0}
// An axis is a dimension that is resampled, kCopied another.
const uint kCopied = 0xffffffffu;

// Offsets of the input, as far as copied dimensions give it, and of the output; the coordinates on the axes.
void coordinatesOf(uint item, uint rank, out uint from, out uint to, out uvec4 coordinates) {
  uint rest = item;
  from = 0u;
  to = 0u;
  coordinates = uvec4(0u);
  for (uint d = 0u; d < rank; ++d) {
    const uvec4 size = parameters[2u * d];
    const uvec4 dimension = parameters[2u * d + 1u];
    const uint quotient = d + 1u < rank ? divideBy(rest, size) : 0u;
    const uint coordinate = rest - quotient * size.x;
    rest = quotient;
    to += coordinate * dimension.y;
    if (dimension.z == kCopied) from += coordinate * dimension.x;
    [[unroll]] for (uint a = 0u; a < 4u; ++a) coordinates[a] = dimension.z == a ? coordinate : coordinates[a];
  }
}
