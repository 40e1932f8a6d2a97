// What windows of WIDTH x HEIGHT neighbours see that begin PADDED elements in front of the lines, of tensors whose lines lie
// in vectors of 16 bytes, or with HALF of 8: one vector of the output an invocation. Include after pooling/vectors.glsl.
// Parameters: two for each of five output dimensions, vectors of a line first, then lines,
//   {size and its divisor}   {input stride, output stride, index stride, step of the input's row-major index}
// in vectors, but for indices and steps, where vectors of a line and lines have no input stride and step; and at last
//   {elements, lines of the input, stride of lines, stride of windows in lines}   {start padding in lines, 0, 0, 0}
//   STEP is the stride of windows along a line.

#ifdef HALF
#define VECTOR uvec2
#define LAST y
const uint kElements = kVectorElements / 2u;
#else
#define VECTOR uvec4
#define LAST w
const uint kElements = kVectorElements;
#endif

layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { VECTOR x[]; };
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { VECTOR y[]; };

const uint kMost = 3u;                                      // WIDTH and HEIGHT are at most that
const uint kColumns = STEP * kElements + kMost - 1u;  // from the one before the line's on

// What a line of the input has under the windows: one element before, STEP vectors, and one or two elements behind.
struct Segment {
  VECTOR vector[STEP];
  uint before;
  uint behind;
#if T_BITS == 32
  uint last;
#endif
};

int columnOf(Segment segment, uint column) {
  if (column == 0u) return elementOf(segment.before, kElements - 1u);
  const uint at = column - 1u;
  if (at < STEP * kElements) return elementOf(segment.vector[at / kElements], at % kElements);
#if T_BITS == 32
  if (at > STEP * kElements) return elementOf(segment.last, 0u);
#endif
  return elementOf(segment.behind, at % kElements);
}

// Where a vector of the output lies.
struct Place {
  uvec4 at;        // offsets of the input, the output and indices, and the row-major index
  uint first;      // vector of the input's line that column 1 is of
  uint firstLine;  // of the input
};

Place placeOf(uint item) {
  uint rest = item;
  Place place;
  place.at = uvec4(0u);
  uvec2 digits = uvec2(0u);  // in a line, and of the line
  for (uint d = 0u; d < 5u; ++d) {
    const uvec4 size = parameters[2u * d];
    const uint next = d < 4u ? divideBy(rest, size) : 0u;
    const uint coordinate = rest - next * size.x;
    rest = next;
    place.at += coordinate * parameters[2u * d + 1u];
    if (d < 2u) digits[d] = coordinate;
  }
  place.first = digits.x * STEP;
  place.firstLine = digits.y * parameters[10].w - parameters[11].x;
  return place;
}

Segment segmentOf(Place place, uint k) {
  const uvec4 source = parameters[10];
  const uint vectors = source.x / kElements;
  // Lines that there are not, and vectors behind a line's, are read in another's place, and are to be left out.
  const uint line = place.at.x + min(place.firstLine + k, source.y - 1u) * source.z;
  Segment segment;
  [[unroll]] for (uint i = 0u; i < STEP; ++i) segment.vector[i] = x[line + min(place.first + i, vectors - 1u)];
  segment.before = PADDED != 0u ? x[line + min(max(place.first, 1u), vectors) - 1u].LAST : 0u;
  const uint behind = line + min(place.first + STEP, vectors - 1u);
  segment.behind = WIDTH > STEP + PADDED ? x[behind].x : 0u;
#if T_BITS == 32
  segment.last = WIDTH > STEP + PADDED + 1u ? x[behind].y : 0u;
#endif
  return segment;
}
