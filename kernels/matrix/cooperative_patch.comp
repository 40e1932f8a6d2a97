#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// A convolution of FLOAT16 by windows of WINDOW x WINDOW elements, 3 or 1, that lie side by side, as their channels do,
// by matrices that a subgroup's invocations hold together. Columns count through lines of a picture that are as long as
// with the padding beside them, so that a matrix of columns, moved by any element of the window, lies in shared memory
// with one stride. A workgroup computes TILE_ROWS filters at TILE_COLUMNS of them. It brings what their windows reach to
// shared memory once, kChunk channels at a time, and reads filters straight into matrices, which lie one behind another.
//   SHARES   subgroups share a chunk's channels; a workgroup has 256 invocations
//   A        [matrices of rows][chunks][matrices of channels][elements of the window][row][channel]
#define COOPERATIVE 1
#define PAIRS 1
#define ONLY_VECTORS 1
#define OWN_COLUMNS 1
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "matrix/convolution.glsl"

// The first column of the tile and its picture, and how long a line is.
uint firstOfTile, pictureOfTile, lineLength;
uvec2 placeAt(uint column) {
  const uint at = firstOfTile + column;
  const uint line = at / lineLength;
  return uvec2(at - line * lineLength, line);
}
bool isInside(uvec2 place) { return place.x < parameters[4].x && place.y < parameters[4u + kPerDimension].x; }
bool isColumn(uint column) { return isInside(placeAt(column)); }
Column columnAt(uint column) {
  const uvec2 place = placeAt(column);
  const uvec4 inner = parameters[8];
  const uvec4 outer = parameters[8u + kPerDimension];
  const uint y = pictureOfTile * parameters[1].w + place.x * inner.z + place.y * outer.z;
  return Column(0u, 0u, y, uvec3(0u), true, place.x >= inner.w || place.y >= outer.w);
}

#include "matrix/floats.glsl"
#include "matrix/cooperative.glsl"

const uint kWindow = WINDOW;
#if WINDOW == 1
const uint kChunk = 128u;
const uint kPlaces = 1u * TILE_COLUMNS;
#else
const uint kChunk = 64u;
const uint kPlaces = 176u;  // that the windows of a tile reach at most (kPatchPlaces of patch_kernels.cpp)
#endif
const uint kPitch = kChunk / 8u + 1u;
const uint kInvocations = 256u;
const uint kSubgroups = kInvocations / SUBGROUP;
const uint kRowGroups = kSubgroups / SHARES;
const uint kMatrixRows = TILE_ROWS / kRowGroups / SIZE_ROWS;
const uint kMatrixColumns = TILE_COLUMNS / SIZE_COLUMNS;
const uint kSteps = kChunk / SIZE_DEPTH / SHARES;  // of a subgroup and an element of the window, in matrices
const uint kOfMatrix = SIZE_ROWS * SIZE_DEPTH / 8u;
// Matrices of filters are read so many ahead: those of a line of the window, or all of a chunk that a subgroup takes.
#if WINDOW == 1
const uint kTogether = 1u * kSteps;
const uint kLines = 1u;
const uint kApart = SIZE_DEPTH / 8u;  // vectors in a patch
#else
const uint kTogether = 3u;
const uint kLines = kSteps * 3u;
const uint kApart = 1u * kPitch;
#endif

// Afterwards sums of a matrix of columns, for each share a line of rows for each column, in vectors of four.
const uint kPitchOfSums = TILE_ROWS / 4u + 1u;
const uint kShare = SIZE_COLUMNS * kPitchOfSums;
shared uvec4 staged[kPlaces * kPitch > SHARES * kShare ? kPlaces * kPitch : SHARES * kShare];
MATRIX_SUM sums[kMatrixRows * kMatrixColumns];
MATRIX_A partA[kTogether * kMatrixRows];
MATRIX_A nextA[kTogether * kMatrixRows];
MATRIX_B partB;

// For addends.glsl.
#define kWidth TILE_ROWS
#define kLinesOfStrip SIZE_COLUMNS
#include "matrix/addends.glsl"

// What an invocation brings: vectors of eight channels, eight of a place.
const uint kLoads = (kPlaces * kChunk / 8u + kInvocations - 1u) / kInvocations;
uint nextB[kLoads];
uvec4 loadedB[kLoads];
uint outside;  // a bit for each

void startPatch(uint lane, uint count, uint base) {
  const uvec4 inner = parameters[6];
  const uvec4 outer = parameters[6u + kPerDimension];
  outside = 0u;
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
    const uint item = lane + i * kInvocations;
    const uvec2 place = placeAt(item / (kChunk / 8u)) * uvec2(inner.y, outer.y) - uvec2(inner.w, outer.w);
    const bool inside = item < count && place.x < inner.x && place.y < outer.x;
    const uint at = base + pictureOfTile * parameters[0].w + place.x * parameters[8].x +
                    place.y * parameters[8u + kPerDimension].x;
    nextB[i] = inside ? at / 8u + item % (kChunk / 8u) : 0u;
    outside |= (inside ? 0u : 1u) << i;
  }
}

void loadPatch(uint chunk) {
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) loadedB[i] = bVectors[nextB[i] + chunk * (kChunk / 8u)];
}

void storePatch(uint lane, uint count) {
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
    const uint item = lane + i * kInvocations;
    if (item < count)
      staged[item / (kChunk / 8u) * kPitch + item % (kChunk / 8u)] =
          (outside >> i & 1u) != 0u ? uvec4(0u) : loadedB[i];
  }
}

// The filters that begin at a vector; those of the next row of matrices lie `stride` further.
void readFilters(uint at, uint stride) {
  [[unroll]] for (uint x = 0u; x < kTogether; ++x)
    [[unroll]] for (uint i = 0u; i < kMatrixRows; ++i)
      LOAD_ROWS(nextA[x * kMatrixRows + i], aVectors, at + i * stride + x * kOfMatrix, SIZE_DEPTH / 8u);
}

void multiplyLine(uint at) {
  [[unroll]] for (uint x = 0u; x < kTogether; ++x)
    [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j) {
      LOAD_COLUMNS(partB, staged, at + x * kApart + j * SIZE_COLUMNS * kPitch, kPitch);
      [[unroll]] for (uint i = 0u; i < kMatrixRows; ++i) {
        const uint sum = i * kMatrixColumns + j;
        sums[sum] = MULTIPLY_ADD(partA[x * kMatrixRows + i], partB, sums[sum]);
      }
    }
}

// Workgroups that all run at once bring the filters to the device's cache, each a part of them. What it gives must
// count as used.
const uint kOfSector = 2u;  // vectors
uint bringWeights(uint group, uint lane, uint base) {
  if ((push.flags & kBringsWeights) == 0u) return 0u;
  uint found = ~0u;
  [[unroll]] for (uint i = 0u; i < 8u; ++i) {
    const uint at = ((i * push.groups + group) * kInvocations + lane) * kOfSector;
    found &= at < push.rows * push.depth / 8u ? aVectors[base / 8u + at].x : 0u;
  }
  return found;
}

// Adds the shares of each column of matrices, one after another, and stores eight filters at a place.
void storeShares(uint lane, uint firstRow, uint rowGroup, uint share, uvec4 base) {
  const uint kEightsOfLine = TILE_ROWS / 8u;
  const uint row = firstRow + lane % kEightsOfLine * 8u;
  const uint line = lane / kEightsOfLine;
  const bool stores = line < SIZE_COLUMNS;
  loadOperandsOfEight(placeInC(uvec2(row, 0u), base));
  [[dont_unroll]] for (uint n = 0u; n < kMatrixColumns; ++n) {
    const uint column = n * SIZE_COLUMNS + line;
    const bool inside = stores && isColumn(column);
    const uvec4 addends = hasAddend() && inside ? addendVectors[placeInY(uvec2(row, column), base) / 8u] : uvec4(0u);
    barrier();
    [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j)
      if (n == j) {
        [[unroll]] for (uint i = 0u; i < kMatrixRows; ++i)
          STORE_COLUMNS(sums[i * kMatrixColumns + j], staged,
                        share * kShare + (rowGroup * kMatrixRows + i) * (SIZE_ROWS / 4u), kPitchOfSums);
      }
    barrier();
    if (inside) {
      vec4 low = vec4(0.0);
      vec4 high = vec4(0.0);
      [[unroll]] for (uint s = 0u; s < SHARES; ++s) {
        const uint from = s * kShare + line * kPitchOfSums + lane % kEightsOfLine * 2u;
        low += uintBitsToFloat(staged[from]);
        high += uintBitsToFloat(staged[from + 1u]);
      }
      vec2 sums1[4];
      sums1[0] = low.xy;
      sums1[1] = low.zw;
      sums1[2] = high.xy;
      sums1[3] = high.zw;
      finishEight(sums1, addends, row, column, base);
    }
  }
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint rowTiles = push.rows / TILE_ROWS;
  const uint places = group / rowTiles;
  const uint firstRow = (group - places * rowTiles) * TILE_ROWS;
  lineLength = parameters[4].x + kWindow - 1u;
  const uint tiles = (lineLength * parameters[4u + kPerDimension].x + TILE_COLUMNS - 1u) / TILE_COLUMNS;
  pictureOfTile = places / tiles;
  firstOfTile = (places - pictureOfTile * tiles) * TILE_COLUMNS;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, 0u);
  loadStrides();
  const uint found = bringWeights(group, lane, base.x);

  const uint rowGroup = gl_SubgroupID / SHARES;
  const uint share = gl_SubgroupID % SHARES;
  const uint chunks = push.depth / (kWindow * kWindow * kChunk);
  const uint stride = push.depth * SIZE_ROWS / 8u;  // of rows of matrices
  uint filters = base.x / 8u + (firstRow / SIZE_ROWS + rowGroup * kMatrixRows) * stride +
                 share * kSteps * kWindow * kWindow * kOfMatrix;
  const uint count = (TILE_COLUMNS + (kWindow - 1u) * (lineLength + 1u)) * (kChunk / 8u);
  startPatch(lane, count, base.y);
  loadPatch(0u);
  readFilters(filters, stride);
  [[unroll]] for (uint i = 0u; i < kMatrixRows * kMatrixColumns; ++i) sums[i] = MATRIX_SUM(0.0);
  storePatch(lane, count);
  [[dont_unroll]] for (uint chunk = 0u; chunk < chunks; ++chunk) {
    loadPatch(min(chunk + 1u, chunks - 1u));
    barrier();
    [[dont_unroll]] for (uint n = 0u; n < kLines; ++n) {
      [[unroll]] for (uint i = 0u; i < kTogether * kMatrixRows; ++i) partA[i] = nextA[i];
      // Behind the last line of a chunk, the first of the next; behind the last one of all it is read once more.
      const bool ends = n + 1u == kLines;
      const uint next = ends ? (chunk + 1u < chunks ? kChunk / SIZE_DEPTH * kWindow * kWindow * kOfMatrix : 0u)
                             : (n + 1u) * kTogether * kOfMatrix;
      readFilters(filters + next, stride);
      if (ends) filters += next;
      const uint step1 = n / kWindow;
      const uint y = n - step1 * kWindow;
      multiplyLine(y * lineLength * kPitch + (share * kSteps + step1) * (SIZE_DEPTH / 8u));
    }
    barrier();
    storePatch(lane, count);
  }
  if (found == ~0u && push.rows == 0u) staged[0].x = found;  // never
  storeShares(lane, firstRow, rowGroup, share, base);
}
