#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Running sums or products of `rows` rows of `elements` elements. A task is one chunk of one row: a workgroup's with
// ROW, an invocation's without. With more than one chunk a row there are three dispatches: one writes the totals of
// chunks, the second scans those, exclusively, in place, and the third starts each chunk from there.
//   keptRank   walk at parameters[0] over the rows (operands: input, output)
//   xStep, yStep   strides of the axis
//   none       0, which compilers do not know
#include "common/grid.glsl"
#include "common/walk.glsl"

// STAGE: 0: the only dispatch. 1: totals of chunks. 2: scan of totals. 3: chunks from their totals on.

layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { RAW x[]; };
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { uint y[]; };
layout(set = 0, binding = BINDING_totals, std430) buffer totalsBuffer { RAW totals[]; };

// Numbers have full precision, whatever T is.
#if T_IS_FLOAT
RAW wideToRaw(COMPUTE v) { return floatBitsToUint(v); }
COMPUTE wideFromRaw(RAW v) { return uintBitsToFloat(v); }
#else
RAW wideToRaw(COMPUTE v) { return toRaw(v); }
COMPUTE wideFromRaw(RAW v) { return fromRaw(v); }
#endif

COMPUTE identity() { return FUNCTION == DML_OPERATOR_CUMULATIVE_PRODUCT ? COMPUTE(1) : COMPUTE(0); }
COMPUTE combine(COMPUTE a, COMPUTE b) { return FUNCTION == DML_OPERATOR_CUMULATIVE_PRODUCT ? a * b : a + b; }

// Element k in the order of the scan.
uint place(uint k) { return push.backward != 0u ? push.elements - 1u - k : k; }

RAW loadBits(uvec4 row, uint rowIndex, uint k) {
  if (STAGE == 2u) return totals[rowIndex * push.elements + k];
  const uint at = row.x + place(k) * push.xStep;
#if T_BITS >= 32
  return x[at];
#else
  return x[at / (32u / T_BITS)] >> (at % (32u / T_BITS) * T_BITS) & T_MASK;
#endif
}
COMPUTE element(RAW bits) { return STAGE == 2u ? wideFromRaw(bits) : fromRaw(bits); }

// `read` is what was loaded from the element's place: a store that depends on it cannot come before the load, although
// compilers may assume that buffers do not alias, as they do in place.
RAW result(COMPUTE v, RAW read) {
  if (STAGE == 2u) return wideToRaw(v);
  return toRaw(v) | (read & push.none);
}
void storeBits(uvec4 row, uint rowIndex, uint k, RAW bits) {
  if (STAGE == 1u) return;
  if (STAGE == 2u) {
    totals[rowIndex * push.elements + k] = bits;
    return;
  }
  const uint at = row.y + place(k) * push.yStep;
#if T_BITS == 64
  y[at * 2u] = bits.x;
  y[at * 2u + 1u] = bits.y;
#elif T_BITS == 32
  y[at] = bits;
#else
  const uint shift = at % (32u / T_BITS) * T_BITS;
  const uint lane = (bits & T_MASK) << shift;
  atomicAnd(y[at / (32u / T_BITS)], ~(T_MASK << shift) | lane);
  atomicOr(y[at / (32u / T_BITS)], lane);
#endif
}
void store(uvec4 row, uint rowIndex, uint k, COMPUTE v, RAW read) { storeBits(row, rowIndex, k, result(v, read)); }

// The values are stored as RAW, because libvkd3d has no 64-bit integers in shared memory.
shared RAW sharedTotal[256];

const uint kPerLane = T_BITS == 64 ? 4u : 8u;  // so that a tile and its gaps fit 16 KB
const uint kTile = 256u * kPerLane;
// What is loaded, then what is stored: neighbouring invocations access neighbours in memory, and each scans some that
// lie in a row. A gap behind these keeps invocations in different banks.
shared RAW staged[kTile + 256u];
uint stagedAt(uint i) { return i + i / kPerLane; }

void storeTile(uvec4 row, uint rowIndex, uint tile, uint count) {
  if (STAGE == 1u) return;
#if T_BITS == 16
  // Two elements that are a word.
  if (STAGE != 2u && push.yStep == 1u && push.backward == 0u) {
    const uint odd = (row.y + tile) & 1u;
    for (uint i = 2u * gl_LocalInvocationID.x + odd; i < count; i += 512u) {
      if (i + 1u < count) {
        y[(row.y + tile + i) / 2u] = staged[stagedAt(i)] & T_MASK | staged[stagedAt(i + 1u)] << T_BITS;
      } else {
        storeBits(row, rowIndex, tile + i, staged[stagedAt(i)]);
      }
    }
    if (odd != 0u && gl_LocalInvocationID.x == 0u) storeBits(row, rowIndex, tile, staged[0]);
    return;
  }
#endif
  for (uint i = gl_LocalInvocationID.x; i < count; i += 256u) storeBits(row, rowIndex, tile + i, staged[stagedAt(i)]);
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint task = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && task >= push.rows * push.chunks) return;
  // Neighbouring invocations take neighbouring rows, neighbouring workgroups neighbouring chunks.
  const uint rowIndex = ROW != 0u ? task / push.chunks : task % push.rows;
  const uint chunk = ROW != 0u ? task % push.chunks : task / push.rows;
  uvec4 row = uvec4(0u);
  if (STAGE != 2u) row = walkOffsets(0u, push.keptRank, rowIndex);
  const uint begin = chunk * push.chunkLength;
  const uint end = begin + min(push.chunkLength, push.elements - begin);
  const uint totalAt = rowIndex * push.chunks + chunk;
  const bool exclusive = STAGE == 2u || push.exclusive != 0u;

  COMPUTE running = identity();
  if (STAGE == 3u) running = wideFromRaw(totals[totalAt]);
  if (ROW == 0u) {
    for (uint k = begin; k < end; ++k) {
      const RAW bits = loadBits(row, rowIndex, k);
      const COMPUTE next = combine(running, element(bits));
      if (exclusive) {
        store(row, rowIndex, k, running, bits);
      } else {
        store(row, rowIndex, k, next, bits);
      }
      running = next;
    }
    if (STAGE == 1u) totals[totalAt] = wideToRaw(running);
    return;
  }
  for (uint tile = begin; tile < end; tile += kTile) {
    const uint first = tile + lane * kPerLane;
    const uint count = min(end - tile, kTile);
    [[unroll]] for (uint i = 0u; i < kTile; i += 256u) {
      if (i + lane < count) staged[stagedAt(i + lane)] = loadBits(row, rowIndex, tile + i + lane);
    }
    barrier();
    RAW bits[kPerLane];
    COMPUTE total = identity();
    for (uint j = 0u; j < kPerLane; ++j) {
      if (first + j < end) {
        bits[j] = staged[stagedAt(lane * kPerLane + j)];
        total = combine(total, element(bits[j]));
      }
    }
    // An inclusive scan of the lanes' totals, in place: what a step reads, no lane has written yet.
    sharedTotal[lane] = wideToRaw(total);
    for (uint distance1 = 1u; distance1 < gl_WorkGroupSize.x; distance1 *= 2u) {
      barrier();
      if (lane >= distance1) total = combine(wideFromRaw(sharedTotal[lane - distance1]), total);
      barrier();
      sharedTotal[lane] = wideToRaw(total);
    }
    barrier();
    COMPUTE before = running;
    if (lane > 0u) before = combine(running, wideFromRaw(sharedTotal[lane - 1u]));
    running = combine(running, wideFromRaw(sharedTotal[gl_WorkGroupSize.x - 1u]));
    barrier();
    if (STAGE == 1u) continue;
    for (uint j = 0u; j < kPerLane; ++j) {
      if (first + j < end) {
        const COMPUTE next = combine(before, element(bits[j]));
        RAW made;
        if (exclusive) {
          made = result(before, bits[j]);
        } else {
          made = result(next, bits[j]);
        }
        staged[stagedAt(lane * kPerLane + j)] = made;
        before = next;
      }
    }
    barrier();
    storeTile(row, rowIndex, tile, count);
    barrier();
  }
  if (STAGE == 1u && lane == 0u) totals[totalAt] = wideToRaw(running);
}
