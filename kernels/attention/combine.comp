#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// The output from what attention_split.comp leaves of each slice of the keys; a workgroup a query of a head.
//   parameters[3]   strides {batch, head, position, channel} of the output
//   slices          for which there is room; there are as many as the keys have
//   slice           keys of a slice
#include "common/grid.glsl"
#include "common/math.glsl"

layout(set = 0, binding = BINDING_parts, std430) readonly buffer partsBuffer { float parts[]; };
TENSOR_OUT(y)
#include "attention/lengths.glsl"

const uint kAhead = 8u;  // loads that wait for memory together

shared float values[256];
shared float factors[256];  // of slices
shared float totals[256];   // their weights

uint partSize() { return push.valueSize + 2u; }

// The largest score of all slices; `own`: that of the invocation's first one.
float topOf(uint lane, float own, uint first, uint slices) {
  float top = lane < slices ? own : uintBitsToFloat(0xff800000u);
  for (uint slice = lane + 256u; slice < slices; slice += 256u) top = maxNum(top, parts[first + slice * partSize()]);
  values[lane] = top;
  // Behind the slices all are the lowest.
  uint reach = 128u;
  while (reach >= max(slices, 1u)) reach /= 2u;
  for (; reach > 0u; reach /= 2u) {
    barrier();
    if (lane < reach) values[lane] = maxNum(values[lane], values[lane + reach]);
  }
  barrier();
  return values[0];
}

void main() {
  const uint row = groupIndex();
  if (row >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint query = row % push.queries;
  const uint head = row / push.queries % push.heads;
  const uint batch = row / push.queries / push.heads;
  const uint first = row * push.slices * partSize();
  // Neighbours take neighbouring channels of the same slice.
  const uint channel = lane % push.valueSize;
  const uint own = lane / push.valueSize;
  const uint together = 256u / push.valueSize;  // slices
  // What is read first is on its way before the number of slices is known. Behind them it is left alone.
  const uint ownPart = first + min(lane, push.slices - 1u) * partSize();
  const vec2 ownFirst = vec2(parts[ownPart], parts[ownPart + 1u]);
  float held[kAhead];
  [[unroll]] for (uint e = 0u; e < kAhead; ++e)
    held[e] = parts[first + min(own + e * together, push.slices - 1u) * partSize() + 2u + channel];
  const uint slices = (keysToRead(batch) + push.slice - 1u) / push.slice;
  const float top = topOf(lane, ownFirst.x, first, slices);

  float total = 0.0;
  float sum = 0.0;
  for (uint begin = 0u; begin < slices; begin += 256u) {
    const uint count = min(slices - begin, 256u);
    barrier();
    if (lane < count) {
      const uint at = first + (begin + lane) * partSize();
      const vec2 both = begin == 0u ? ownFirst : vec2(parts[at], parts[at + 1u]);
      // Infinities of the same sign have no difference.
      const float factor = both.x == top ? 1.0 : expAccurate(both.x - top);
      factors[lane] = factor;
      totals[lane] = factor * both.y;
    }
    barrier();
    for (uint i = 0u; i < count; ++i) total += totals[i];
    const uint from = first + begin * partSize() + 2u + channel;
    if (own < together)
      for (uint i = own; i < count; i += kAhead * together) {
        float loaded[kAhead];
        [[unroll]] for (uint e = 0u; e < kAhead; ++e)
          loaded[e] = begin + i == own ? held[e] : parts[from + min(i + e * together, count - 1u) * partSize()];
        [[unroll]] for (uint e = 0u; e < kAhead; ++e)
          if (i + e * together < count) sum += factors[i + e * together] * loaded[e];
      }
  }
  values[lane] = sum;
  barrier();
  if (lane >= push.valueSize) return;
  for (uint i = 1u; i < together; ++i) sum += values[i * push.valueSize + lane];
  // The differences to an infinity are NaN, at one key at least.
  const bool undefined = (floatBitsToUint(top) & 0x7f800000u) == 0x7f800000u;
  const uvec4 at = uvec4(batch, head, query, channel) * parameters[3];
  storeRaw_y(at.x + at.y + at.z + at.w, toRaw(undefined ? uintBitsToFloat(0x7fc00000u) : sum / total));
}
