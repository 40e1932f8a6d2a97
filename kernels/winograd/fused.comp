#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// A convolution by transforms (winograd.glsl) in one dispatch. A workgroup computes GROUP_TILES tiles of GROUP_FILTERS
// filters: it transforms what they need of the input, kPart channels at a time, in shared memory, and adds up products
// with transformed filters at all points at once; then the sums pass through shared memory to the invocations that
// transform them back. An invocation has OWN_TILES tiles of OWN_FILTERS filters at one point. Filters are read by
// nobody else, so that they come straight from memory, a channel ahead.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/elsewhere.glsl"
#include "winograd/winograd.glsl"

const uint kGroupTiles = GROUP_TILES;
const uint kAcross = kGroupTiles / OWN_TILES;  // of a point's invocations
const uint kLanes = 256u / kPoints;
const uint kDown = kLanes / kAcross;
const uint kGroupFilters = kDown * OWN_FILTERS;
const uint kPart = 256u / kGroupTiles;

TENSOR_IN(x)
layout(set = 0, binding = BINDING_filters, std430) readonly buffer filtersBuffer { vec4 filters[]; };
TENSOR_IN(w)
TENSOR_IN(bias)
TENSOR_IN(addend)
TENSOR_OUT(y)
#include "winograd/results.glsl"

// Two parts of the transformed input, or some of the sums, as fours of tiles. Two points lie side by side in a
// subgroup: every other one's fours are exchanged, so that they lie in different banks.
const uint kFours = OWN_TILES / 4u;
const uint kLine = kGroupTiles / 4u;
const uint kPointFours = kPart * kLine;
const uint kPartFours = kPoints * kPointFours;
const uint kAtOnce = 16u / kDown;  // filters of an invocation whose sums pass at once
const uint kPasses = OWN_FILTERS / kAtOnce;
const uint kPassFilters = kDown * kAtOnce;
shared vec4 passed[max(2u * kPartFours, kPoints * kPassFilters * kLine)];

uint exchanged(uint four, uint odd) { return four ^ (odd & 1u) * kAcross; }

// Of each part an invocation loads and transforms a tile of a channel, PARTS_AHEAD parts before its use. Rows of it
// that lie in the input are a bit each, and columns, from the 16th bit on.
float loaded[PARTS_AHEAD * kPoints];
uint inside;
uint firstOfInput;

void prepareInput(uint column, uvec3 at) {
  const uvec4 strides = parameters[kInput];
  const uvec4 size = parameters[kInputSize];
  // Rows and columns before the first one wrap to large numbers.
  const uint row = at.y - size.z;
  const uint column1 = at.z - size.w;
  inside = 0u;
  [[unroll]] for (uint i = 0u; i < kPlaces; ++i) {
    if (column < parameters[kCounts].z && row + i < size.x) inside |= 1u << i;
    if (column1 + i < size.y) inside |= 65536u << i;
  }
  firstOfInput = at.x * strides.x + row * strides.z + column1 * strides.w;
}

// Elements outside are loaded from others and then made zeros: loads without conditions overlap.
void loadInput(uint channel, uint which) {
  const uvec4 strides = parameters[kInput];
  const uint from = firstOfInput + channel * strides.y;
  const uint places = channel < parameters[kCounts].x ? inside : 0u;
  [[unroll]] for (uint row = 0u; row < kPlaces; ++row)
    [[unroll]] for (uint column = 0u; column < kPlaces; ++column) {
      const uint place = 1u << row | 65536u << column;
      const bool isInside = (places & place) == place;
      const float value = fromRaw(loadRaw_x(isInside ? from + row * strides.z + column * strides.w : kElsewhere));
      loaded[which * kPoints + row * kPlaces + column] = isInside || kReadsZeros ? value : 0.0;
    }
}

// Transforms it, and stores it in the four that is `even` or `odd` as the point is.
void storeInput(uint even, uint odd, uint own, uint which) {
  const uint first = which * kPoints;
  float line[kPlaces];
  [[unroll]] for (uint row = 0u; row < kPlaces; ++row) {
    [[unroll]] for (uint column = 0u; column < kPlaces; ++column) line[column] = loaded[first + row * kPlaces + column];
    transformInput(line);
    [[unroll]] for (uint column = 0u; column < kPlaces; ++column) loaded[first + row * kPlaces + column] = line[column];
  }
  [[unroll]] for (uint column = 0u; column < kPlaces; ++column) {
    [[unroll]] for (uint row = 0u; row < kPlaces; ++row) line[row] = loaded[first + row * kPlaces + column];
    transformInput(line);
    [[unroll]] for (uint row = 0u; row < kPlaces; ++row) {
      const uint point = row * kPlaces + column;
      passed[(point % 2u == 0u ? even : odd) + point * kPointFours][own % 4u] = line[row];
    }
  }
}

// What an invocation multiplies: fours of filters of a channel and the next, and fours of tiles.
const uint kFilterFours = OWN_FILTERS / 4u;
vec4 ownFilters[2u * kFilterFours];
vec4 ownTiles[kFours];
vec4 sums[OWN_FILTERS * kFours];
uint nextFilters;

void loadFilters(uint which) {
  [[unroll]] for (uint i = 0u; i < kFilterFours; ++i)
    ownFilters[which * kFilterFours + i] = filters[nextFilters + i * kDown];
  nextFilters += push.filterFours;
}

// Back and forth, so that neighbouring multiplications share an operand.
void multiply(uint which) {
  [[unroll]] for (uint f = 0u; f < OWN_FILTERS; ++f)
    [[unroll]] for (uint turn = 0u; turn < OWN_TILES; ++turn) {
      const uint i = f % 2u == 0u ? turn : OWN_TILES - 1u - turn;
      sums[f * kFours + i / 4u][i % 4u] += ownFilters[which * kFilterFours + f / 4u][f % 4u] * ownTiles[i / 4u][i % 4u];
    }
}

void multiplyChannel(uint which, uint even, uint odd, uint channel) {
  [[unroll]] for (uint i = 0u; i < kFours; ++i) {
    const uint four = channel * kFours + i;
    ownTiles[i] = passed[(four % 2u == 0u ? even : odd) + (four & ~1u) * kAcross];
  }
  multiply(which);
}

// Channels of a part, whose fours of tiles an invocation reads from `even` and `odd` on, by turns.
void multiplyPart(uint even, uint odd) {
#if DIMPLE_COMPACT
  [[dont_unroll]] for (uint channel = 0u; channel < kPart; ++channel) {
    loadFilters(0u);
    multiplyChannel(0u, even, odd, channel);
  }
#else
  [[unroll]] for (uint channel = 0u; channel < kPart; ++channel) {
    loadFilters((channel + 1u) % 2u);
    multiplyChannel(channel % 2u, even, odd, channel);
  }
#endif
}

// The filters of a pass, kAtOnce of each invocation; of what an invocation keeps, the filter in its group.
uint filterOf(uint pass, uint down, uint i) {
  const uint f = pass * kAtOnce + i;
  return (f / 4u * kDown + down) * 4u + f % 4u;
}

vec4 sumOf(uint pass, uint i) {
  vec4 sum = sums[i];
  [[unroll]] for (uint other = 1u; other < kPasses; ++other)
    if (pass == other) sum = sums[other * kAtOnce * kFours + i];
  return sum;
}

void passSums(uint pass, uint point, uint across, uint down) {
  [[unroll]] for (uint i = 0u; i < kAtOnce; ++i)
    [[unroll]] for (uint j = 0u; j < kFours; ++j) {
      const uint four = ((point * kDown + down) * kAtOnce + i) * kLine + j * kAcross + across;
      passed[exchanged(four, down)] = sumOf(pass, i * kFours + j);
    }
}

// Transforms back what passed.
void finishPass(uint pass, uint lane, uint firstFilter, uint column, uvec3 at) {
  const uint own = lane % kGroupTiles;
  // One copy of what is long: drivers take seconds to compile, and others half as long.
  [[dont_unroll]] for (uint turn = 0u; turn < kPassFilters * kGroupTiles / 256u; ++turn) {
    const uint item = lane / kGroupTiles + turn * (256u / kGroupTiles);
    const uint down = item / kAtOnce;
    const uint f = firstFilter + filterOf(pass, down, item % kAtOnce);
    if (f >= parameters[kCounts].y || column >= parameters[kCounts].z) continue;
    uint largest = 0u;
    float line[kPlaces];
    [[unroll]] for (uint i = 0u; i < kPlaces; ++i) {
      [[unroll]] for (uint row = 0u; row < kPlaces; ++row) {
        const uint four = ((row * kPlaces + i) * kPassFilters + item) * kLine + own / 4u;
        const float sum = passed[exchanged(four, down)][own % 4u];
        largest = max(largest, floatBitsToUint(sum) & 0x7fffffffu);
        line[row] = sum;
      }
      takeColumn(i, line);
    }
    finishTile(f, at, largest);
  }
}

// Of an invocation: its channel of a part, where it stores what it transforms, and where it reads.
struct Places {
  uint channel;
  uint storeEven, storeOdd;
  uint even, odd;
};

#if DIMPLE_COMPACT
// There is a single copy of each step, and nothing is loaded ahead.
void addUp(uint lane, Places places) {
  [[dont_unroll]] for (uint channel = 0u; channel < push.depth; channel += kPart) {
    loadInput(channel + places.channel, 0u);
    storeInput(places.storeEven, places.storeOdd, lane, 0u);
    barrier();
    multiplyPart(places.even, places.odd);
    barrier();
  }
}
#else
uint part = 0u;  // of the two in shared memory

// Behind the last part it is loaded again, so that loads have no condition.
void addPart(uint lane, uint channel, uint which, Places places) {
  loadInput(min(channel + PARTS_AHEAD * kPart, push.depth - kPart) + places.channel, which);
  multiplyPart(part + places.even, part + places.odd);
  part = kPartFours - part;
  storeInput(part + places.storeEven, part + places.storeOdd, lane, (which + 1u) % PARTS_AHEAD);
  barrier();
}

void addUp(uint lane, Places places) {
  loadFilters(0u);
  [[unroll]] for (uint i = 0u; i < PARTS_AHEAD; ++i)
    loadInput(min(i * kPart, push.depth - kPart) + places.channel, i);
  storeInput(places.storeEven, places.storeOdd, lane, 0u);
  barrier();
  [[dont_unroll]] for (uint channel = 0u; channel < push.depth; channel += PARTS_AHEAD * kPart) {
    addPart(lane, channel, 0u, places);
    if (PARTS_AHEAD > 1u) {
      if (channel + kPart >= push.depth) break;
      addPart(lane, channel + kPart, 1u, places);
    }
  }
}
#endif

void finishSums(uint pass, uint lane, uint point, uint across, uint down, uint firstFilter, uint column, uvec3 at) {
  passSums(pass, point, across, down);
  barrier();
  finishPass(pass, lane, firstFilter, column, at);
  barrier();
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint block = group / push.filterBlocks;
  const uint firstFilter = (group - block * push.filterBlocks) * kGroupFilters;
  const uint column = block * kGroupTiles + lane % kGroupTiles;
  const uvec3 at = tileAt(column);
  const uint point = lane / kLanes;
  const uint across = lane % kLanes % kAcross;
  const uint down = lane % kLanes / kAcross;

  [[unroll]] for (uint i = 0u; i < OWN_FILTERS * kFours; ++i) sums[i] = vec4(0.0);
  nextFilters = point * push.depth * push.filterFours + firstFilter / 4u + down;
  prepareInput(column, at);
  Places places;
  places.channel = lane / kGroupTiles;
  const uint four = places.channel * kLine + lane % kGroupTiles / 4u;
  places.storeEven = exchanged(four, 0u);
  places.storeOdd = exchanged(four, 1u);
  places.even = point * kPointFours + exchanged(across, point);
  places.odd = point * kPointFours + exchanged(across + kAcross, point);
  addUp(lane, places);
#if DIMPLE_COMPACT
  [[dont_unroll]] for (uint pass = 0u; pass < kPasses; ++pass)
    finishSums(pass, lane, point, across, down, firstFilter, column, at);
#else
  // Passes are literals, since some drivers do not unroll a loop that has barriers.
  finishSums(0u, lane, point, across, down, firstFilter, column, at);
  if (kPasses > 1u) finishSums(1u, lane, point, across, down, firstFilter, column, at);
  if (kPasses > 2u) finishSums(2u, lane, point, across, down, firstFilter, column, at);
  if (kPasses > 3u) finishSums(3u, lane, point, across, down, firstFilter, column, at);
#endif
}
