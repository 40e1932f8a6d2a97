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

// All elements, or words, of an invocation are on their way before one of them is stored.
const uint kLines = kTile * kWords / 256u;
#ifdef WORDS
void loadTile(uint from, uint lane, uint line, uint step1, uvec2 exist) {
  uint loaded[kLines];
  [[unroll]] for (uint i = 0u; i < kLines; ++i) {
    const uint at = line + i * step1;
    if (at < exist.y && lane * kInWord < exist.x) loaded[i] = x[(from + at * push.strideFrom) / kInWord + lane];
  }
  [[unroll]] for (uint i = 0u; i < kLines; ++i) {
    const uint at = line + i * step1;
    tile[at % kInWord * kWords + at / kInWord][lane] = loaded[i];
  }
}

// The rows of a block become its columns: elements of each two words change places, then halves of the words.
void turnBlock(inout uint words[kInWord]) {
#if T_BITS == 8
  [[unroll]] for (uint i = 0u; i < 4u; i += 2u) {
    const uint low = words[i];
    words[i] = (low & 0x00ff00ffu) | ((words[i + 1u] & 0x00ff00ffu) << 8);
    words[i + 1u] = ((low >> 8) & 0x00ff00ffu) | (words[i + 1u] & 0xff00ff00u);
  }
#endif
  [[unroll]] for (uint i = 0u; i < kInWord / 2u; ++i) {
    const uint low = words[i];
    const uint high = words[i + kInWord / 2u];
    words[i] = (low & 0xffffu) | (high << 16);
    words[i + kInWord / 2u] = (low >> 16) | (high & 0xffff0000u);
  }
}

// A block of as many words as elements are in a word.
void storeTile(uint to, uint lane, uint line, uint step1, uvec2 exist) {
  for (; line * kInWord < exist.x; line += step1) {
    if (lane * kInWord >= exist.y) continue;
    uint words[kInWord];
    [[unroll]] for (uint i = 0u; i < kInWord; ++i) words[i] = tile[i * kWords + lane][line];
    turnBlock(words);
    [[unroll]] for (uint i = 0u; i < kInWord; ++i)
      y[(to + (line * kInWord + i) * push.strideTo) / kInWord + lane] = words[i];
  }
}
#else
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
