#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What pool.comp does under windows of WIDTH x HEIGHT neighbours that begin PADDED elements in front of the lines, of
// tensors whose lines lie in vectors of 16 bytes: one vector of the output an invocation. Columns are combined first.
// Parameters: two for each of five output dimensions, vectors of a line first, then lines,
//   {size and its divisor}   {input stride, output stride, 0, 0}
// in vectors, where vectors of a line and lines have no input stride; and at last
//   {elements, lines of the input, stride of lines, stride of windows in lines}   {start padding in lines, 0, 0, 0}
//   power, repeats, divisor   as there
//   STEP is the stride of windows along a line.
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "pooling/vectors.glsl"

PACKED_IN(x)
PACKED_OUT(y)

const uint kMost = 3u;                                      // WIDTH and HEIGHT are at most that
const uint kColumns = STEP * kVectorElements + kMost - 1u;  // from the one before the line's on

// What a line of the input has under the windows: one element before, STEP vectors, and one or two elements behind.
struct Segment {
  uvec4 vector[STEP];
  uint before;
  uint behind;
#if T_BITS == 32
  uint last;
#endif
};

int columnOf(Segment segment, uint column) {
  if (column == 0u) return elementOf(segment.before, kVectorElements - 1u);
  const uint at = column - 1u;
  if (at < STEP * kVectorElements) return elementOf(segment.vector[at / kVectorElements], at % kVectorElements);
#if T_BITS == 32
  if (at > STEP * kVectorElements) return elementOf(segment.last, 0u);
#endif
  return elementOf(segment.behind, at % kVectorElements);
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint rest = item;
  uvec2 at = uvec2(0u);
  uvec2 place = uvec2(0u);  // in a line, and of the line
  for (uint d = 0u; d < 5u; ++d) {
    const uvec4 size = parameters[2u * d];
    const uint next = d < 4u ? divideBy(rest, size) : 0u;
    const uint coordinate = rest - next * size.x;
    rest = next;
    at += coordinate * parameters[2u * d + 1u].xy;
    if (d < 2u) place[d] = coordinate;
  }
  const uvec4 source = parameters[10];
  const uint firstLine = place.y * source.w - parameters[11].x;
  const uint vectors = source.x / kVectorElements;
  const uint first = place.x * STEP;

  Segment segments[kMost];
  [[unroll]] for (uint k = 0u; k < kMost; ++k) {
    if (k >= HEIGHT) break;
    // Lines that there are not, and vectors behind a line's, are read in another's place and left out below.
    const uint line = at.x + min(firstLine + k, source.y - 1u) * source.z;
    [[unroll]] for (uint i = 0u; i < STEP; ++i) segments[k].vector[i] = x[line + min(first + i, vectors - 1u)];
    segments[k].before = PADDED != 0u ? x[line + min(max(first, 1u), vectors) - 1u].w : 0u;
    const uint behind = line + min(first + STEP, vectors - 1u);
    segments[k].behind = WIDTH > STEP + PADDED ? x[behind].x : 0u;
#if T_BITS == 32
    segments[k].last = WIDTH > STEP + PADDED + 1u ? x[behind].y : 0u;
#endif
  }
  int columns[kColumns + 1u];
  [[unroll]] for (uint c = 0u; c <= kColumns; ++c) columns[c] = emptyResult();
  uint lines = 0u;
  [[unroll]] for (uint k = 0u; k < kMost; ++k) {
    if (k >= HEIGHT || firstLine + k >= source.y) continue;
    ++lines;
    [[unroll]] for (uint c = 0u; c <= kColumns; ++c) columns[c] = combine(columns[c], columnOf(segments[k], c));
  }
  const uint start = first * kVectorElements;  // of column 1
  [[unroll]] for (uint c = 0u; c <= kColumns; ++c) if (start + c - 1u >= source.x) columns[c] = emptyResult();

  uvec4 result = uvec4(0u);
#if T_IS_FLOAT
  vec4 fours[kFours];
#endif
  [[unroll]] for (uint v = 0u; v < kVectorElements; ++v) {
    const uint low = 1u + v * STEP;
    int a = emptyResult();
    [[unroll]] for (uint k = 0u; k < kMost; ++k) if (k < WIDTH) a =
        combine(a, PADDED != 0u ? columns[low + k - 1u] : columns[low + k]);
    if (IS_MAXIMUM) result[v / PACKED_LANES] |= LANE_BITS(bitsOfKey(a), v % PACKED_LANES);
#if T_IS_FLOAT
    const int begin = int(start + v * STEP) - int(PADDED);
    const int across = min(begin + int(WIDTH), int(source.x)) - max(begin, 0);
    fours[v / 4u][v % 4u] = finishSum(a, uint(max(across, 0)) * lines);
#endif
  }
#if T_IS_FLOAT
  if (!IS_MAXIMUM) result = VECTOR_OF(fours, 0u);
#endif
  y[at.y] = result;
}
