#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What cooperative_ahead.comp computes, where tiles are few. With one workgroup on a multiprocessor, subgroups that
// load parts together wait for each other at each one. Here SHARES subgroups, or groups of them, compute the whole
// tile, each over its own share of the depth: a subgroup stages what it multiplies in a place of its own and waits for
// no other, until the sums of all shares are added.
//   GATHERED      defined where B is the windows of an input as it lies, of a multiple of TILE_DEPTH channels; the
//                 depth counts through the elements of the window and, innermost, the channels
//   CHANNELS_LAST   defined where these also lie side by side
//   INTEGER_WEIGHTS   defined where B is weights along the depth that are dequantized on their way to shared memory
//   matrixRank    walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
//   slices        of the depth, sliceDepth steps each: a workgroup computes with one of them
#define COOPERATIVE 1
#if !GATHERED
#define ONLY_VECTORS 1
#endif
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#if CONVOLUTION
#include "matrix/convolution.glsl"
#include "matrix/channels_last.glsl"
#else
#include "matrix/matrix.glsl"
#endif
#include "matrix/floats.glsl"
#if INTEGER_WEIGHTS
#include "matrix/weights.glsl"
#endif
#include "matrix/cooperative.glsl"
#include "matrix/cooperative_tile.glsl"
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yHalvesBuffer { uvec2 yHalves[]; };

// The other constants of the interface are those of cooperative.comp. SHARES: of the depth. TILE_DEPTH: steps of a
// part, those of one matrix or several.
const uint kRings = 2u;  // pairs of parts on their way
const uint kSubgroups = 256u / SUBGROUP;
const uint kOfShare = kSubgroups / SHARES;                             // subgroups, ACROSS of them side by side
const uint kMatrixRows = TILE_ROWS / (kOfShare / ACROSS) / SIZE_ROWS;  // of matrices in a subgroup
const uint kMatrixColumns = TILE_COLUMNS / ACROSS / SIZE_COLUMNS;
const uint kRows = kMatrixRows * SIZE_ROWS;  // of a subgroup
const uint kColumns = kMatrixColumns * SIZE_COLUMNS;

// Lines of a part in shared memory, in vectors of eight: an odd number, so that neighbours lie in different banks.
const uint kLine = TILE_DEPTH / 8u;
const uint kPitchA = (kAcrossA ? kRows / 8u : kLine) | 1u;
const uint kPitchB = (kAcrossB ? kColumns / 8u : kLine) | 1u;
const uint kPartA = kPitchA * (kAcrossA ? TILE_DEPTH : kRows);
const uint kPart = kPartA + kPitchB * (kAcrossB ? TILE_DEPTH : kColumns);
// Afterwards a row of matrices of sums for each subgroup, in lines of vectors of four: of rows, or of columns.
const uint kWidth = ROWS_FIRST != 0u ? SIZE_ROWS : kColumns;
const uint kLines = ROWS_FIRST != 0u ? kColumns : SIZE_ROWS;
const uint kPitchOfStrip = kWidth / 4u + 1u;
const uint kStrip = kLines * kPitchOfStrip;
shared uvec4 staged[kSubgroups * (kPart > kStrip ? kPart : kStrip)];

#define LOADERS SUBGROUP
#define LOADED_ROWS kRows
#define LOADED_COLUMNS kColumns
#include "matrix/cooperative_loads.glsl"

MATRIX_SUM sums[kMatrixRows * kMatrixColumns];

void multiply(uint at) {
  [[unroll]] for (uint k = 0u; k < TILE_DEPTH; k += SIZE_DEPTH) {
    MATRIX_B b[kMatrixColumns];
    [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j) {
      const uint line = j * SIZE_COLUMNS;
      if (kAcrossB) {
        LOAD_ROWS(b[j], staged, at + kPartA + k * kPitchB + line / 8u, kPitchB);
      } else {
        LOAD_COLUMNS(b[j], staged, at + kPartA + line * kPitchB + k / 8u, kPitchB);
      }
    }
    [[unroll]] for (uint i = 0u; i < kMatrixRows; ++i) {
      MATRIX_A a;
      const uint line = i * SIZE_ROWS;
      if (kAcrossA) {
        LOAD_COLUMNS(a, staged, at + k * kPitchA + line / 8u, kPitchA);
      } else {
        LOAD_ROWS(a, staged, at + line * kPitchA + k / 8u, kPitchA);
      }
      [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j)
        sums[i * kMatrixColumns + j] = MULTIPLY_ADD(a, b[j], sums[i * kMatrixColumns + j]);
    }
  }
}

// Multiplies the part in registers `ring`, a literal, while the one after the next is loaded there.
void multiplyPart(uint ring, uint lane, uint at, bool loads, uvec2 advance) {
  prepare(ring);
  store(ring, lane, at);
  SUBGROUP_BARRIER();
  if (loads) load(ring, lane, advance);
  multiply(at);
  SUBGROUP_BARRIER();
}

// The sums over the steps from `begin` to `end` in `count` parts, an even number that is the same in all subgroups:
// some drivers let all of a workgroup meet at barriers of subgroups. Steps that this is too many come first, two parts
// at most.
void sumDepth(uint lane, uint at, uvec2 place, uvec4 base, uint begin, uint end, uint count) {
  const uint before = count * TILE_DEPTH - (end - begin);
  const uvec2 advance = startLoads(lane, place, base, begin - before);
  loadPartly(0u, lane, before, false, advance);
  loadPartly(1u, lane, before > TILE_DEPTH ? before - TILE_DEPTH : 0u, false, advance);
  [[dont_unroll]] for (uint t = 2u; t < count; t += 2u) {
    multiplyPart(0u, lane, at, true, advance);
    multiplyPart(1u, lane, at, true, advance);
  }
  multiplyPart(0u, lane, at, false, advance);
  multiplyPart(1u, lane, at, false, advance);
}

// Whether four results of a line lie side by side, where four elements are stored together.
bool storesFours(uint base) {
  if (ROWS_FIRST != 0u) return ROWS_FIRST == kInVectors;
  if ((push.columns & 3u) != 0u) return false;
  if ((push.flags & kToParts) != 0u) return true;
#if CONVOLUTION
  return false;
#else
  return parameters[1].w == 1u && ((yRowStride() | base) & 3u) == 0u;
#endif
}

layout(set = 0, binding = BINDING_addend, std430) readonly buffer addendHalvesBuffer { uvec2 addendHalves[]; };

// Stores the sums of what all subgroups have in shared memory: the row of matrices `i` of each.
void storeStrips(uint i, bool fours, uvec2 firsts, uint pair, uint part, uvec4 base) {
  const uint width = fours ? kWidth / 4u : kWidth;
  [[dont_unroll]] for (uint item = gl_LocalInvocationID.x; item < kOfShare * kLines * width; item += 256u) {
    const uint line = item / width % kLines;
    const uint along = item % width;
    const uint subgroup = item / (width * kLines);
    const uint first = fours ? 4u * along : along;
    const uint row = firsts.x + subgroup / ACROSS * kRows + i * SIZE_ROWS + (ROWS_FIRST != 0u ? first : line);
    const uint column = firsts.y + subgroup % ACROSS * kColumns + (ROWS_FIRST != 0u ? line : first);
    if (row >= push.rows || column >= push.columns) continue;
    const uint at = subgroup * kStrip + line * kPitchOfStrip;
    if (fours) {
      vec4 total = uintBitsToFloat(staged[at + along]);
      [[unroll]] for (uint share = 1u; share < SHARES; ++share)
        total += uintBitsToFloat(staged[share * kOfShare * kStrip + at + along]);
      if ((push.flags & kToParts) != 0u) {
        yVectors[partPlace(part, row, column) / 4u] = floatBitsToUint(total);
        continue;
      }
      const Column start = columnAt(column);
      const uint y4 = (base.w + row * yRowStride() + start.y) / 4u;
      const uvec2 addends = hasAddend() ? addendHalves[y4] : uvec2(0u);
      const vec4 added = vec4(unpackHalf2x16(addends.x), unpackHalf2x16(addends.y));
      uvec4 raw;
      [[unroll]] for (uint e = 0u; e < 4u; ++e)
        raw[e] = ROWS_FIRST != 0u ? toRaw(finishedWith(total[e], row + e, start, base, added[e]))
                                  : toRaw(finishedWith(total[e], row, columnAt(column + e), base, added[e]));
      yHalves[y4] = uvec2(raw.x | (raw.y << 16u), raw.z | (raw.w << 16u));
      continue;
    }
    float total = 0.0;
    [[unroll]] for (uint share = 0u; share < SHARES; ++share)
      total += uintBitsToFloat(staged[share * kOfShare * kStrip + at + along / 4u][along % 4u]);
    if ((push.flags & kToParts) != 0u) {
      storePart(partPlace(part, row, column), total);
    } else {
      finish(total, pair, row, column, columnAt(column), base);
    }
  }
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint rowTiles = (push.rows + TILE_ROWS - 1u) / TILE_ROWS;
  const uint columnTiles = (push.columns + TILE_COLUMNS - 1u) / TILE_COLUMNS;
  const uint part = group / (rowTiles * columnTiles);
  const uint pair = part / push.slices;
  const uvec2 tile = tileOf(group - part * (rowTiles * columnTiles), rowTiles, columnTiles);
  const uvec2 firsts = tile * uvec2(TILE_ROWS, TILE_COLUMNS);
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);

  const uint sliceBegin = (part - pair * push.slices) * push.sliceDepth;
  const uint sliceEnd = min(sliceBegin + push.sliceDepth, push.depth);
  const uint parts = (sliceEnd - sliceBegin + TILE_DEPTH - 1u) / TILE_DEPTH;
  const uint share = gl_SubgroupID / kOfShare;
  const uint begin = sliceBegin + share * parts / SHARES * TILE_DEPTH;
  const uint end = min(sliceBegin + (share + 1u) * parts / SHARES * TILE_DEPTH, sliceEnd);
  const uint count = (parts + 2u * SHARES - 1u) / (2u * SHARES) * 2u;
  const uint subgroup = gl_SubgroupID % kOfShare;
  const uvec2 place = firsts + uvec2(subgroup / ACROSS * kRows, subgroup % ACROSS * kColumns);
  [[unroll]] for (uint i = 0u; i < kMatrixRows * kMatrixColumns; ++i) sums[i] = MATRIX_SUM(0.0);
  sumDepth(gl_SubgroupInvocationID, gl_SubgroupID * kPart, place, base, begin, end, count);

  // A row of matrices at a time passes through shared memory, for the reasons that cooperative.comp gives.
  const bool fours = storesFours(base.w);
  [[dont_unroll]] for (uint i = 0u; i < kMatrixRows; ++i) {
    barrier();
    [[unroll]] for (uint r = 0u; r < kMatrixRows; ++r)
      if (i == r)
        [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j)
          if (ROWS_FIRST != 0u) {
            STORE_COLUMNS(sums[r * kMatrixColumns + j], staged,
                          gl_SubgroupID * kStrip + j * SIZE_COLUMNS * kPitchOfStrip, kPitchOfStrip);
          } else {
            STORE_ROWS(sums[r * kMatrixColumns + j], staged,
                       gl_SubgroupID * kStrip + j * (SIZE_COLUMNS / 4u), kPitchOfStrip);
          }
    barrier();
    storeStrips(i, fours, firsts, pair, part, base);
  }
}
