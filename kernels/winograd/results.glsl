// How sums at the points of a tile become elements of the output (winograd.glsl): y = activation(sum + bias + addend).
// The addend, if there is one, lies as y does.
#include "common/functions.glsl"
#include "common/activation.glsl"

// Bits of a magnitude from which on a tile is computed from its windows: transforms make NaN of infinities, and a
// number so large leaves nothing of the others that it is added to, also in windows where it is multiplied by zero.
const uint kLarge = 0x6f800000u;  // 2^96

float windowSum(uint f, uint image, uint row, uint column) {
  const uvec4 strides = parameters[kInput];
  const uvec4 size = parameters[kInputSize];
  const uvec4 filterStrides = parameters[kFilter];
  float sum = 0.0;
  for (uint channel = 0u; channel < parameters[kCounts].x; ++channel)
    for (uint i = 0u; i < 9u; ++i) {
      const uint tapRow = i / 3u;
      const uint tapColumn = i - tapRow * 3u;
      const uint atRow = row + tapRow - size.z;
      const uint atColumn = column + tapColumn - size.w;
      if (atRow >= size.x || atColumn >= size.y) continue;
      const uint atX = image * strides.x + channel * strides.y + atRow * strides.z + atColumn * strides.w;
      const uint atW = parameters[kOutputSize].w + f * filterStrides.x + channel * filterStrides.y +
                       tapRow * filterStrides.z + tapColumn * filterStrides.w;
      sum += fromRaw(loadRaw_x(atX)) * fromRaw(loadRaw_w(atW));
    }
  return sum;
}

// Where element `i` of a tile lies; false if the output does not have it.
bool hasPlace(uint f, uvec3 at, uint i, out uint place) {
  const uvec4 strides = parameters[kOutput];
  const uint row = at.y + i / kTile;
  const uint column = at.z + i % kTile;
  place = at.x * strides.x + f * strides.y + row * strides.z + column * strides.w;
  return row < parameters[kOutputSize].x && column < parameters[kOutputSize].y;
}

float withAddend(float value, uint place) {
  return push.hasAddend != 0u ? value + fromRaw(loadRaw_addend(place)) : value;
}

// The columns of sums that are transformed back, rows of kPlaces.
float tile[kPlaces * kTile];

void takeColumn(uint column, float line[kPlaces]) {
  transformOutput(line);
  [[unroll]] for (uint row = 0u; row < kTile; ++row) tile[row * kPlaces + column] = line[row];
}

#if DIMPLE_COMPACT
float elementOfTile(uint i) {
  float value = 0.0;
  [[unroll]] for (uint j = 0u; j < kTile * kTile; ++j)
    if (i == j) value = tile[j / kTile * kPlaces + j % kTile];
  return value;
}

// There is a single copy for all elements and activations.
void finishElements(uint f, uvec3 at, uint largest, float biasOfFilter) {
  const vec2 parameters2 = vec2(uintBitsToFloat(push.activationLow), uintBitsToFloat(push.activationHigh));
  [[dont_unroll]] for (uint i = 0u; i < kTile * kTile; ++i) {
    uint place;
    if (!hasPlace(f, at, i, place)) continue;
    float value = elementOfTile(i);
    if (largest >= kLarge) value = windowSum(f, at.x, at.y + i / kTile, at.z + i % kTile);
    value = withAddend(value + biasOfFilter, place);
    if (FUSED != 0u) value = activate(FUSED, value, parameters2);
    storeRaw_y(place, toRaw(value));
  }
}
#endif

// Transforms the rows and stores the tile of filter `f`, the largest magnitude of whose sums has the bits `largest`.
void finishTile(uint f, uvec3 at, uint largest) {
  const float biasOfFilter = push.hasBias != 0u ? fromRaw(loadRaw_bias(f * parameters[kOutputSize].z)) : 0.0;
  float line[kPlaces];
  [[unroll]] for (uint row = 0u; row < kTile; ++row) {
    [[unroll]] for (uint column = 0u; column < kPlaces; ++column) line[column] = tile[row * kPlaces + column];
    transformOutput(line);
    [[unroll]] for (uint column = 0u; column < kTile; ++column) tile[row * kPlaces + column] = line[column];
  }
#if DIMPLE_COMPACT
  finishElements(f, at, largest, biasOfFilter);
#else
  if (largest >= kLarge) {
    [[dont_unroll]] for (uint i = 0u; i < kTile * kTile; ++i) {
      const float sum = windowSum(f, at.x, at.y + i / kTile, at.z + i % kTile);
      [[unroll]] for (uint j = 0u; j < kTile * kTile; ++j)
        if (i == j) tile[j / kTile * kPlaces + j % kTile] = sum;
    }
  }
  if (FUSED == 0u) {
    [[unroll]] for (uint i = 0u; i < kTile * kTile; ++i) {
      uint place;
      if (hasPlace(f, at, i, place))
        storeRaw_y(place, toRaw(withAddend(tile[i / kTile * kPlaces + i % kTile] + biasOfFilter, place)));
    }
    return;
  }
  // There is a single copy of the activation, not one for each element.
  const vec2 parameters2 = vec2(uintBitsToFloat(push.activationLow), uintBitsToFloat(push.activationHigh));
  [[dont_unroll]] for (uint i = 0u; i < kTile * kTile; ++i) {
    float value = 0.0;
    [[unroll]] for (uint j = 0u; j < kTile * kTile; ++j)
      if (i == j) value = tile[j / kTile * kPlaces + j % kTile];
    uint place;
    if (hasPlace(f, at, i, place))
      storeRaw_y(place, toRaw(activate(FUSED, withAddend(value + biasOfFilter, place), parameters2)));
  }
#endif
}
