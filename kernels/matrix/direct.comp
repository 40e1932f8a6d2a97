#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// A forward convolution of few filters a group, y and the operands as in kernels/matrix/product.comp: an invocation
// computes kPlaces neighbouring places of a line of the output for FILTERS filters, so that elements of the input and
// of the filters are loaded for several sums. The invocations of 1 << sliceBits slices of the channels share these
// sums.
//   lineBlocks   blocks of kPlaces places in a line; `blocks` in all lines
//   pairs        groups of the convolution
//   pairsFirst   1: neighbouring invocations work on neighbouring groups, else on neighbouring places
//   contiguous   1: windows of neighbouring places, and their elements, lie side by side
#include "common/elsewhere.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/turns.glsl"
#include "matrix/convolution.glsl"
#if INTEGER
#include "matrix/integers.glsl"
#else
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "matrix/floats.glsl"
#endif

// WINDOW: of a window's line, if it is one that is unrolled; else 0. Its elements lie side by side.
const uint kPlaces = 4u;
const uint kMostFilters = 4u;
const uint kMostWindow = 7u;
const uint kMostElements = (kPlaces - 1u) * 2u + kMostWindow;

shared SUM shares[kPlaces * 256u];

// A dimension's words: see kernels/matrix/convolution.glsl.
uint windowSize(uint d) { return parameters[5u + d * kPerDimension].x; }
uvec4 inputOf(uint d) { return parameters[6u + d * kPerDimension]; }
uvec4 stridesOf(uint d) { return parameters[8u + d * kPerDimension]; }

// The place of the input, of size, stride, dilation and padding, under one of the padded input.
bool isInside(uint padded, uvec4 input1, out uint place) {
  place = padded - input1.w;
  return padded >= input1.w && place < input1.x;
}

// The element of the input's line under a place, 0 outside.
SUM loadPlace(bool hasWindow, uint padded, uint line, uint stride, ZERO zero) {
  uint place;
#if DIMPLE_COMPACT
  // Branches, many of them, are what takes DXIL long to compile.
  const bool inside = hasWindow && isInside(padded, inputOf(0u), place);
  const SUM value = loadB(line + (inside ? place * stride : 0u), zero);
  return inside ? value : SUM(0);
#else
  const bool inside = hasWindow && isInside(padded, inputOf(0u), place);
  if (kReadsZeros) return loadB(mix(kElsewhere, line + place * stride, inside), zero);
  return inside ? loadB(line + place * stride, zero) : SUM(0);
#endif
}

#if DIMPLE_COMPACT
// In place of filters behind the last one, others are taken.
#define HAS_FILTER(f) f < FILTERS
#define FILTER(f) min(f, push.rows - 1u - firstRow)
#else
// The first one is there wherever there is a sum.
#define HAS_FILTER(f) f < FILTERS && (f == 0u || firstRow + f < push.rows)
#define FILTER(f) f
#endif

void main() {
  const uint group = groupIndex();
  const uint lane = gl_LocalInvocationID.x;
  const uint itemBits = 8u - push.sliceBits;
  const uint slice = lane >> itemBits;
  uint item = (group << itemBits) + (lane & ((1u << itemBits) - 1u));
  const bool hasItem = group < push.groups && item < push.count;
  if (!hasItem) item = 0u;
  const uint rowBlocks = (push.rows + FILTERS - 1u) / FILTERS;
  uint pair;
  if (push.pairsFirst != 0u) {
    const uint rest = item / push.pairs;
    pair = item - rest * push.pairs;
    item = rest;
  } else {
    const uint perPair = rowBlocks * push.blocks;
    pair = item / perPair;
    item -= pair * perPair;
  }
  const uint rowBlock = item / push.blocks;
  const uint block = item - rowBlock * push.blocks;
  const uint line = block / push.lineBlocks;
  const uint first = (block - line * push.lineBlocks) * kPlaces;
  const uint firstRow = rowBlock * FILTERS;
  const uint width = parameters[4].x;
  const uint firstColumn = line * width + first;
  const Column start = columnAt(firstColumn);
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);

  const uvec4 input0 = inputOf(0u);
  const uvec3 strides0 = stridesOf(0u).xyz;
  const ZERO zeroB = zeroOfB(0u);
  ZERO zerosA[kMostFilters];
  bool hasWindow[kPlaces];
  SUM sums[kMostFilters][kPlaces];
  // Offsets of places without a window may not fit into 32 bits; where windows lie side by side they do, and the next
  // place's elements are needed.
  [[unroll]] for (uint p = 0u; p < kPlaces; ++p) hasWindow[p] = push.contiguous != 0u || first + p < parameters[7].x;
  [[unroll]] for (uint f = 0u; f < kMostFilters; ++f) {
    zerosA[f] = f < FILTERS && firstRow + f < push.rows ? zeroOfA(quantizedRow(pair, firstRow + f)) : 0u;
    [[unroll]] for (uint p = 0u; p < kPlaces; ++p) sums[f][p] = SUM(0);
  }

  const uint channels = hasItem && start.hasWindow ? push.channels : 0u;
  for (uint channel = slice; channel < channels; channel += 1u << push.sliceBits) {
    const uint aChannel = base.x + firstRow * aRowStride() + channel * parameters[0].y;
    const uint bChannel = base.y + start.b + channel * parameters[0].z;
    for (uint tap2 = 0u; tap2 < windowSize(2u); ++tap2) {
      uint place2;
      if (!isInside(start.at[2] + tap2 * inputOf(2u).z, inputOf(2u), place2)) continue;
      for (uint tap1 = 0u; tap1 < windowSize(1u); ++tap1) {
        uint place1;
        if (!isInside(start.at[1] + tap1 * inputOf(1u).z, inputOf(1u), place1)) continue;
        const uint bLine = bChannel + place2 * stridesOf(2u).x + place1 * stridesOf(1u).x;
        const uint aLine = aChannel + tap2 * stridesOf(2u).y + tap1 * stridesOf(1u).y;
        if (WINDOW != 0u) {
          SUM elements[kMostElements];
          [[unroll]] for (uint e = 0u; e < kMostElements; ++e)
            if (e < (kPlaces - 1u) * STRIDE + WINDOW)
              elements[e] = loadPlace(true, start.at[0] + e, bLine, strides0.x, zeroB);
          [[unroll]] for (uint tap0 = 0u; tap0 < kMostWindow; ++tap0) {
            [[unroll]] for (uint f = 0u; f < kMostFilters; ++f) {
              if (tap0 < WINDOW && HAS_FILTER(f)) {
                const SUM weight = loadA(aLine + tap0 * strides0.y + FILTER(f) * aRowStride(), zerosA[f]);
                [[unroll]] for (uint p = 0u; p < kPlaces; ++p) sums[f][p] += weight * elements[p * STRIDE + tap0];
              }
            }
          }
        } else {
          SUM elements[kPlaces];
          for (uint tap0 = 0u; tap0 < windowSize(0u); ++tap0) {
            const uint reached = start.at[0] + tap0 * input0.z;
            if (push.contiguous != 0u && tap0 > 0u) {
              [[unroll]] for (uint p = 0u; p + 1u < kPlaces; ++p) elements[p] = elements[p + 1u];
              elements[kPlaces - 1u] = loadPlace(true, reached + kPlaces - 1u, bLine, strides0.x, zeroB);
            } else {
              [[unroll]] for (uint p = 0u; p < kPlaces; ++p)
                elements[p] = loadPlace(hasWindow[p], reached + p * input0.y, bLine, strides0.x, zeroB);
            }
            [[unroll]] for (uint f = 0u; f < kMostFilters; ++f) {
              if (HAS_FILTER(f)) {
                const SUM weight = loadA(aLine + tap0 * strides0.y + FILTER(f) * aRowStride(), zerosA[f]);
                [[unroll]] for (uint p = 0u; p < kPlaces; ++p) sums[f][p] += weight * elements[p];
              }
            }
          }
        }
      }
    }
  }

  if (push.sliceBits != 0u) {
    [[unroll]] for (uint f = 0u; f < kMostFilters; ++f) {
      if (f < FILTERS) {
        barrier();
        [[unroll]] for (uint p = 0u; p < kPlaces; ++p) shares[p * 256u + lane] = sums[f][p];
        for (uint slices = 1u << (push.sliceBits - 1u); slices > 0u; slices /= 2u) {
          barrier();
          if (slice < slices) {
            [[unroll]] for (uint p = 0u; p < kPlaces; ++p) {
              sums[f][p] += shares[p * 256u + lane + (slices << itemBits)];
              shares[p * 256u + lane] = sums[f][p];
            }
          }
        }
      }
    }
  }

  if (!hasItem || slice != 0u) return;
#if DIMPLE_COMPACT
  // There is a single copy of the code that finishes a sum, which is always the first (turns.glsl). The loop over
  // channels keeps its sums in registers.
  const uint kResults = kMostFilters * kPlaces;
  SUM results[kResults];
  [[unroll]] for (uint i = 0u; i < kResults; ++i) results[i] = sums[i % kMostFilters][i / kMostFilters];
#define FINISHING [[dont_unroll]]
#define RESULT results[0]
#define NEXT_RESULT [[unroll]] for (uint i = 1u; i < kResults; ++i) results[i - 1u] = turned(results[i]);
#else
#define FINISHING [[unroll]]
#define RESULT sums[f][p]
#define NEXT_RESULT
#endif
  FINISHING for (uint p = 0u; p < kPlaces; ++p) {
    if (first + p >= width) return;
    Column at = start;
    at.y += p * strides0.z;
    at.isPadding = start.isPadding || first + p >= stridesOf(0u).w;
    FINISHING for (uint f = 0u; f < kMostFilters; ++f) {
      if (f < FILTERS && firstRow + f < push.rows) finish(RESULT, pair, firstRow + f, firstColumn + p, at, base);
      NEXT_RESULT
    }
  }
}
