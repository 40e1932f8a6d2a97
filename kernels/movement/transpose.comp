#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Copies where one dimension is dense in the source and another in the destination: a workgroup loads a tile along the
// one and stores it along the other.
//   denseFrom, strideTo   size of the dimension that is dense in the source, and its stride in the destination
//   denseTo, strideFrom   the same the other way round
// Walk at parameters[0] over the other dimensions. With WORDS all of these are multiples of the elements in a word, which
// are loaded and stored together.
#include "common/grid.glsl"
#include "common/walk.glsl"

#ifdef WORDS
const uint kInWord = 32u / T_BITS;
layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { uint x[]; };
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { uint y[]; };
#else
const uint kInWord = 1u;
TENSOR_IN(x)
TENSOR_OUT(y)
#endif

const uint kWords = 32u;
const uint kTile = kWords * kInWord;  // elements on each side
// A column more, so that neighbours in a column lie in different banks. Lines whose elements come to lie in one word of
// the destination are kWords apart.
shared RAW tile[kTile][kWords + 1u];

#ifdef WORDS
void loadTile(uint from, uint lane, uint line, uint step1, uvec2 exist) {
  for (; line < exist.y; line += step1)
    if (lane * kInWord < exist.x)
      tile[line % kInWord * kWords + line / kInWord][lane] = x[(from + line * push.strideFrom) / kInWord + lane];
}

// A block of as many words as elements are in a word.
void storeTile(uint to, uint lane, uint line, uint step1, uvec2 exist) {
  for (; line * kInWord < exist.x; line += step1) {
    if (lane * kInWord >= exist.y) continue;
    [[unroll]] for (uint i = 0u; i < kInWord; ++i) {
      uint word = 0u;
      [[unroll]] for (uint j = 0u; j < kInWord; ++j)
        word |= (tile[j * kWords + lane][line] >> (i * T_BITS) & T_MASK) << (j * T_BITS);
      y[(to + (line * kInWord + i) * push.strideTo) / kInWord + lane] = word;
    }
  }
}
#else
// All elements of an invocation are on their way before one of them is stored.
const uint kLines = kTile * kWords / 256u;
void loadTile(uint from, uint lane, uint line, uint step1, uvec2 exist) {
  RAW loaded[kLines];
  [[unroll]] for (uint i = 0u; i < kLines; ++i) {
    const uint at = line + i * step1;
    if (at < exist.y && lane < exist.x) loaded[i] = loadRaw_x(from + lane + at * push.strideFrom);
  }
  [[unroll]] for (uint i = 0u; i < kLines; ++i) tile[line + i * step1][lane] = loaded[i];
}
void storeTile(uint to, uint lane, uint line, uint step1, uvec2 exist) {
  [[unroll]] for (uint i = 0u; i < kLines; ++i) {
    const uint at = line + i * step1;
    if (at < exist.x && lane < exist.y) storeRaw_y(to + lane + at * push.strideTo, tile[lane][at]);
  }
}
#endif

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint tilesFrom = (push.denseFrom + kTile - 1u) / kTile;
  const uint tilesTo = (push.denseTo + kTile - 1u) / kTile;
  const uvec4 at = walkOffsets(0u, push.rank, group / tilesFrom / tilesTo);
  const uvec2 first = uvec2(group % tilesFrom, group / tilesFrom % tilesTo) * kTile;
  const uvec2 exist = min(uvec2(push.denseFrom, push.denseTo) - first, kTile);
  const uint lane = gl_LocalInvocationID.x % kWords;
  const uint line = gl_LocalInvocationID.x / kWords;
  const uint step1 = gl_WorkGroupSize.x / kWords;
  loadTile(at.x + first.x + first.y * push.strideFrom, lane, line, step1, exist);
  barrier();
  storeTile(at.y + first.y + first.x * push.strideTo, lane, line, step1, exist);
}
