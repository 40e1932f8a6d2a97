#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Transforms sums back (winograd.glsl), y = activation(sum + bias + addend); an invocation a tile of a filter's output.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "winograd/winograd.glsl"

layout(set = 0, binding = BINDING_sums, std430) readonly buffer sumsBuffer { uint sums[]; };
TENSOR_IN(x)
TENSOR_IN(w)
TENSOR_IN(bias)
TENSOR_IN(addend)  // lies as y does
TENSOR_OUT(y)

// Bits of a magnitude from which on a tile is computed from its windows: transforms make NaN of infinities, and a number
// so large leaves nothing of the others that it is added to, also in windows where it is multiplied by zero.
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

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uint f = divideBy(item, parameters[kColumns]);
  const uint column1 = item - f * parameters[kColumns].x;
  if (f >= parameters[kCounts].y || column1 >= parameters[kCounts].z) return;

  float tile[kPlaces * kTile];
  float line[kPlaces];
  uint largest = 0u;
  [[unroll]] for (uint column = 0u; column < kPlaces; ++column) {
    [[unroll]] for (uint row = 0u; row < kPlaces; ++row) {
      const uint bits = sums[(row * kPlaces + column) * push.count + item];
      largest = max(largest, bits & 0x7fffffffu);
      line[row] = uintBitsToFloat(bits);
    }
    transformOutput(line);
    [[unroll]] for (uint row = 0u; row < kTile; ++row) tile[row * kPlaces + column] = line[row];
  }
  const uvec3 at = tileAt(column1);
  const float biasOfFilter = push.hasBias != 0u ? fromRaw(loadRaw_bias(f * parameters[kOutputSize].z)) : 0.0;
  [[unroll]] for (uint row = 0u; row < kTile; ++row) {
    [[unroll]] for (uint column = 0u; column < kPlaces; ++column) line[column] = tile[row * kPlaces + column];
    transformOutput(line);
    [[unroll]] for (uint column = 0u; column < kTile; ++column) tile[row * kPlaces + column] = line[column];
  }
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
  // One copy of the activation, not one for each element.
  const vec2 parameters2 = vec2(uintBitsToFloat(push.activationLow), uintBitsToFloat(push.activationHigh));
  [[dont_unroll]] for (uint i = 0u; i < kTile * kTile; ++i) {
    float value = 0.0;
    [[unroll]] for (uint j = 0u; j < kTile * kTile; ++j)
      if (i == j) value = tile[j / kTile * kPlaces + j % kTile];
    uint place;
    if (hasPlace(f, at, i, place))
      storeRaw_y(place, toRaw(activate(FUSED, withAddend(value + biasOfFilter, place), parameters2)));
  }
}
