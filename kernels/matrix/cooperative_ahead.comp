#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What cooperative.comp computes of FLOAT16 whose elements come in vectors of eight, where few workgroups run on a
// multiprocessor: tiles are so large that one or two fill it, or so few. Where one does, little else runs there while
// it waits, so that it looks ahead, with STAGES 2: two pairs of parts are on their way in registers and two lie in
// shared memory, and a subgroup reads the matrices that it multiplies next before it multiplies those it has. With 1,
// one pair is on its way and one lies in shared memory, which leaves room for a second workgroup.
//   INTEGER_WEIGHTS   defined where B is weights along the depth that are dequantized on their way to shared memory
//   CHANNELS_LAST   defined where B is the windows of an input whose channels lie side by side, a multiple of 16 of them
//   matrixRank    walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
//   slices        of the depth, sliceDepth steps each: a workgroup computes with one of them
#define COOPERATIVE 1
#define PAIRS 1
#define ONLY_VECTORS 1
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#if CHANNELS_LAST
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
#include "matrix/places.glsl"

// The constants of the interface are those of cooperative.comp. TILE_DEPTH: steps of a part, those of one, two or four
// matrices. INVOCATIONS: of a workgroup.
const uint kRings = 2u;  // parts that are on their way, or read, at once: with one stage the second goes unused
const uint kSubgroups = INVOCATIONS / SUBGROUP;
const uint kMatrixRows = TILE_ROWS / (kSubgroups / ACROSS) / SIZE_ROWS;  // of matrices in a subgroup
const uint kMatrixColumns = TILE_COLUMNS / ACROSS / SIZE_COLUMNS;
// What lies side by side in y has to be along rows of sums where those are finished in registers: then the windows are
// the factor on the left, and the filters the one on the right.
const bool kHeld = (EPILOGUE & kInRegisters) != 0u;
const bool kTurned = ROWS_FIRST != 0u ? kHeld : false;
const uint kLeft = kTurned ? kMatrixColumns : kMatrixRows;
const uint kRight = kTurned ? kMatrixRows : kMatrixColumns;

// Lines of a part in shared memory, in vectors of eight: an odd number, so that neighbours lie in different banks.
const uint kLine = TILE_DEPTH / 8u;
const uint kPitchA = (kAcrossA ? TILE_ROWS / 8u : kLine) + 1u;
const uint kPitchB = (kAcrossB ? TILE_COLUMNS / 8u : kLine) + 1u;
const uint kPartA = kPitchA * (kAcrossA ? TILE_DEPTH : TILE_ROWS);
const uint kPart = kPartA + kPitchB * (kAcrossB ? TILE_DEPTH : TILE_COLUMNS);
// Afterwards a strip of two matrices of sums for each subgroup, in lines of vectors of four: of rows, or of columns. With
// kFromHalves they are rounded first, and lie in vectors of eight.
const uint kWidth = ROWS_FIRST != 0u ? SIZE_ROWS : 2u * SIZE_COLUMNS;
const uint kOfVector = (EPILOGUE & kFromHalves) != 0u ? 8u : 4u;
const uint kPitchOfStrip = kWidth / kOfVector + 1u;
const uint kLinesOfStrip = SIZE_ROWS * 2u * SIZE_COLUMNS / kWidth;
const uint kStrip = kLinesOfStrip * kPitchOfStrip;
shared uvec4 staged[STAGES * kPart > kSubgroups * kStrip ? STAGES * kPart : kSubgroups * kStrip];

#define LOADERS INVOCATIONS
#define LOADED_ROWS TILE_ROWS
#define LOADED_COLUMNS TILE_COLUMNS
#include "matrix/cooperative_loads.glsl"

MATRIX_A left[kRings * kLeft];
MATRIX_B right[kRings * kRight];
MATRIX_SUM sums[kMatrixRows * kMatrixColumns];

// Reads the matrices of the steps from k on, of the subgroup whose sums begin at a row and column of the tile.
void readParts(uint which, uint stage, uint k, uvec2 origin) {
  const uint atA = stage * kPart;
  const uint atB = atA + kPartA;
  const uint atLeft = kTurned ? atB : atA;
  const uint atRight = kTurned ? atA : atB;
  const uint pitchOfLeft = kTurned ? kPitchB : kPitchA;
  const uint pitchOfRight = kTurned ? kPitchA : kPitchB;
  [[unroll]] for (uint i = 0u; i < kLeft; ++i) {
    const uint line = (kTurned ? origin.y : origin.x) + i * SIZE_ROWS;
    if (kTurned ? kAcrossB : kAcrossA) {
      LOAD_COLUMNS(left[which * kLeft + i], staged, atLeft + k * pitchOfLeft + line / 8u, pitchOfLeft);
    } else {
      LOAD_ROWS(left[which * kLeft + i], staged, atLeft + line * pitchOfLeft + k / 8u, pitchOfLeft);
    }
  }
  [[unroll]] for (uint j = 0u; j < kRight; ++j) {
    const uint line = (kTurned ? origin.x : origin.y) + j * SIZE_COLUMNS;
    if (kTurned ? kAcrossA : kAcrossB) {
      LOAD_ROWS(right[which * kRight + j], staged, atRight + k * pitchOfRight + line / 8u, pitchOfRight);
    } else {
      LOAD_COLUMNS(right[which * kRight + j], staged, atRight + line * pitchOfRight + k / 8u, pitchOfRight);
    }
  }
}

void multiply(uint which) {
  [[unroll]] for (uint i = 0u; i < kLeft; ++i)
    [[unroll]] for (uint j = 0u; j < kRight; ++j) {
      const uint sum = i * kRight + j;
      sums[sum] = MULTIPLY_ADD(left[which * kLeft + i], right[which * kRight + j], sums[sum]);
    }
}

// Multiplies the pair of parts that lies at `stage`, while the next comes to the other place and the third one after is
// loaded. The caller gives `stage` as a literal: a loop over stages, or one over the steps of a part here, would keep the
// arrays that it indexes in memory, and not in registers.
void multiplyStage(uint stage, uint lane, uvec2 origin, uvec2 advance) {
  prepare(stage ^ 1u);
  store(stage ^ 1u, lane, (stage ^ 1u) * kPart);
  load(stage ^ 1u, lane, advance);
  if (SIZE_DEPTH == TILE_DEPTH) {
    barrier();
    readParts(stage ^ 1u, stage ^ 1u, 0u, origin);
    multiply(stage);
  } else {
    readParts(1u, stage, SIZE_DEPTH, origin);
    multiply(0u);
    if (TILE_DEPTH == 4u * SIZE_DEPTH) {
      readParts(0u, stage, 2u * SIZE_DEPTH, origin);
      multiply(1u);
      readParts(1u, stage, 3u * SIZE_DEPTH, origin);
      multiply(0u);
    }
    barrier();
    readParts(0u, stage ^ 1u, 0u, origin);
    multiply(1u);
  }
}

// Multiplies the pair of parts that lies at stage 0, without a loop for the same reason.
void multiplyParts(uvec2 origin) {
  readParts(0u, 0u, 0u, origin);
  multiply(0u);
  if (TILE_DEPTH > SIZE_DEPTH) {
    readParts(0u, 0u, SIZE_DEPTH, origin);
    multiply(0u);
  }
  if (TILE_DEPTH == 4u * SIZE_DEPTH) {
    readParts(0u, 0u, 2u * SIZE_DEPTH, origin);
    multiply(0u);
    readParts(0u, 0u, 3u * SIZE_DEPTH, origin);
    multiply(0u);
  }
}

// The sums over the steps from `begin` to `end`. The number of parts is a multiple of STAGES; the surplus steps
// come first.
void sumDepth(uint lane, uvec2 origin, uvec2 firsts, uvec4 base, uint begin, uint end) {
  const uint together = STAGES * TILE_DEPTH;
  const uint count = (end - begin + together - 1u) / together * STAGES;
  const uint before = count * TILE_DEPTH - (end - begin);
  const uvec2 advance = startLoads(lane, firsts, base, begin - before);
  if (STAGES == 1u) {
    loadPartly(0u, lane, before, count == 1u, advance);
    prepare(0u);
    store(0u, lane, 0u);
    barrier();
    [[dont_unroll]] for (uint t = 1u; t < count; ++t) {
      load(0u, lane, t + 1u < count ? advance : uvec2(0u));
      multiplyParts(origin);
      prepare(0u);
      barrier();
      store(0u, lane, 0u);
      barrier();
    }
    multiplyParts(origin);
    return;
  }
  const uint beforeSecond = before > TILE_DEPTH ? before - TILE_DEPTH : 0u;
  const bool two = count == 2u;

  loadPartly(0u, lane, before, false, advance);
  prepare(0u);
  store(0u, lane, 0u);
  loadPartly(1u, lane, beforeSecond, two, advance);
  // Past the last part it is loaded again, and stored, which does no harm.
  loadPartly(0u, lane, two ? beforeSecond : 0u, two, advance);
  barrier();
  readParts(0u, 0u, 0u, origin);
  [[dont_unroll]] for (uint t = 0u; t < count; t += 2u) {
    multiplyStage(0u, lane, origin, t + 4u < count ? advance : uvec2(0u));
    multiplyStage(1u, lane, origin, t + 5u < count ? advance : uvec2(0u));
  }
}

// Whether eight results of a line lie side by side, where eight elements are stored together.
bool storesVectors(uint base) {
  if (ROWS_FIRST != 0u) return ROWS_FIRST >= kInVectors;
  if ((push.columns & 7u) != 0u) return false;
  if ((push.flags & kToParts) != 0u) return true;
#if CHANNELS_LAST
  return false;
#else
  return parameters[1].w == 1u && ((yRowStride() | base) & 7u) == 0u;
#endif
}

#include "matrix/addends.glsl"
#include "matrix/held.glsl"

// Stores what a subgroup has in shared memory.
void storeStrip(uint strip, bool vectors, uvec2 first, uint part, uvec4 base) {
  if (vectors) {
    [[dont_unroll]] for (uint item = gl_SubgroupInvocationID; item < kOfStrip / 8u; item += SUBGROUP) {
      const uint line = item / (kWidth / 8u);
      const uint eight = item % (kWidth / 8u);
      const uint at = strip + line * kPitchOfStrip + eight * (8u / kOfVector);
      const uvec2 place = first + placeInStrip(item * 8u);
      if (place.x >= push.rows || place.y >= push.columns) continue;
      if (fromHalves()) {
        vec2 sums1[4];
        [[unroll]] for (uint i = 0u; i < 4u; ++i) sums1[i] = unpackHalf2x16(staged[at][i]);
        finishEight(sums1, eightAddends(item), place.x, place.y, base);
      } else {
        storeEight(staged[at], staged[at + 1u], eightAddends(item), part, place.x, place.y, base);
      }
    }
    return;
  }
  [[dont_unroll]] for (uint element = gl_SubgroupInvocationID; element < kOfStrip; element += SUBGROUP) {
    const uint line = element / kWidth;
    const uint along = element % kWidth;
    const uvec2 place = first + placeInStrip(element);
    if (place.x >= push.rows || place.y >= push.columns) continue;
    const float value = uintBitsToFloat(staged[strip + line * kPitchOfStrip + along / 4u][along % 4u]);
    if ((push.flags & kToParts) != 0u) {
      storePart(partPlace(part, place.x, place.y), value);
    } else {
      finishWith(value, place.x, columnAt(place.y), base, singleAddend(element));
    }
  }
}

// With kBringsWeights, workgroups that all run at once bring the filters, or B, to the device's cache, each a part of
// them: else each step of the depth would wait for memory. What it gives must count as used.
const uint kOfSector = 2u;  // vectors
uint bringWeights(uint group, uint lane, uvec4 base) {
#if INTEGER_WEIGHTS
  return 0u;
#else
  if ((push.flags & kBringsWeights) == 0u) return 0u;
  uint found = ~0u;
  [[unroll]] for (uint i = 0u; i < 8u; ++i) {
    const uint at = ((i * push.groups + group) * INVOCATIONS + lane) * kOfSector;
#if CHANNELS_LAST
    found &= at < push.rows * push.depth / 8u ? aVectors[base.x / 8u + at].x : 0u;
#else
    found &= at < push.columns * push.depth / 8u ? bVectors[base.y / 8u + at].x : 0u;
#endif
  }
  return found;
#endif
}

// Brings what the epilogue takes of a subgroup's channels to the cache, so that the epilogue does not wait for memory.
const uint kChannelsAlong = ROWS_FIRST != 0u ? kMatrixRows * SIZE_ROWS : kMatrixColumns * SIZE_COLUMNS;
const uint kChannelLoads = (kChannelsAlong + SUBGROUP - 1u) / SUBGROUP;
void bringChannels(uvec2 first, uvec4 base, out uint brought[kChannelLoads]) {
  const bool needed = kHeld && (EPILOGUE & kOfChannels) != 0u && !addsC();
  const uint size = ROWS_FIRST != 0u ? push.rows : push.columns;
  [[unroll]] for (uint i = 0u; i < kChannelLoads; ++i) {
    const uint channel = min((ROWS_FIRST != 0u ? first.x : first.y) + i * SUBGROUP + gl_SubgroupInvocationID, size - 1u);
    brought[i] = needed ? floatBitsToUint(channels[2u * (base.z + channel * cStrideAlong())].x) : ~0u;
  }
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint rowTiles = (push.rows + TILE_ROWS - 1u) / TILE_ROWS;
  const uint columnTiles = (push.columns + TILE_COLUMNS - 1u) / TILE_COLUMNS;
  const uint part = group / (rowTiles * columnTiles);
  const uint pair = part / push.slices;
  const uint begin = (part - pair * push.slices) * push.sliceDepth;
  const uvec2 tile = tileOf(group - part * (rowTiles * columnTiles), rowTiles, columnTiles);
  const uvec2 firsts = tile * uvec2(TILE_ROWS, TILE_COLUMNS);
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
  loadStrides();
  uint found = bringWeights(group, gl_LocalInvocationID.x, base);
  const uvec2 size = uvec2(SIZE_ROWS, SIZE_COLUMNS);
  const uvec2 origin = uvec2(gl_SubgroupID / ACROSS * kMatrixRows, gl_SubgroupID % ACROSS * kMatrixColumns) * size;
  [[unroll]] for (uint i = 0u; i < kMatrixRows * kMatrixColumns; ++i) sums[i] = MATRIX_SUM(0.0);
  uint broughtChannels[kChannelLoads];
  bringChannels(firsts + origin, base, broughtChannels);
  sumDepth(gl_LocalInvocationID.x, origin, firsts, base, begin, min(begin + push.sliceDepth, push.depth));

  [[unroll]] for (uint i = 0u; i < kChannelLoads; ++i) found &= broughtChannels[i];
  if (found == ~0u && push.rows == 0u) staged[0].x = found;  // never
  if (kHeld) {
    storeHeld(firsts + origin, base);
    return;
  }
  // Two matrices at a time pass through shared memory, for the reasons that cooperative.comp gives.
  barrier();
  const uint strip = gl_SubgroupID * kStrip;
  const bool vectors = storesVectors(base.w);
  // Strips of the same channels follow each other.
  const uint strips = kMatrixColumns / 2u;  // side by side
  const uint together = ROWS_FIRST != 0u ? strips : kMatrixRows;
  [[dont_unroll]] for (uint n = 0u; n < kMatrixRows * strips; ++n) {
    const uint i = ROWS_FIRST != 0u ? n : n % kMatrixRows * strips + n / kMatrixRows;
    const uvec2 place = uvec2(i / strips, i % strips * 2u) * size;
    if (vectors && n % together == 0u) loadOperandsOfStrip(firsts + origin + place, base);
    loadAddends(vectors, firsts + origin + place, base);
    [[unroll]] for (uint j = 0u; j < kMatrixRows * kMatrixColumns / 2u; ++j)
      if (i == j) {
        if (fromHalves()) {
          const MATRIX_HALVES first = MATRIX_HALVES(uintBitsToFloat(push.alpha) * sums[2u * j]);
          const MATRIX_HALVES second = MATRIX_HALVES(uintBitsToFloat(push.alpha) * sums[2u * j + 1u]);
          if (ROWS_FIRST != 0u) {
            STORE_COLUMNS(first, staged, strip, kPitchOfStrip);
            STORE_COLUMNS(second, staged, strip + SIZE_COLUMNS * kPitchOfStrip, kPitchOfStrip);
          } else {
            STORE_ROWS(first, staged, strip, kPitchOfStrip);
            STORE_ROWS(second, staged, strip + SIZE_COLUMNS / 8u, kPitchOfStrip);
          }
        } else if (ROWS_FIRST != 0u) {
          STORE_COLUMNS(sums[2u * j], staged, strip, kPitchOfStrip);
          STORE_COLUMNS(sums[2u * j + 1u], staged, strip + SIZE_COLUMNS * kPitchOfStrip, kPitchOfStrip);
        } else {
          STORE_ROWS(sums[2u * j], staged, strip, kPitchOfStrip);
          STORE_ROWS(sums[2u * j + 1u], staged, strip + SIZE_COLUMNS / 4u, kPitchOfStrip);
        }
      }
    SUBGROUP_BARRIER();
    storeStrip(strip, vectors, firsts + origin + place, part, base);
    SUBGROUP_BARRIER();
  }
}
