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

shared float values[256];
shared float factors[256];  // of slices
shared float totals[256];   // their weights

uint step1() { return push.valueSize + 2u; }

// The largest score of all slices.
float topOf(uint lane, uint first, uint slices) {
  float top = uintBitsToFloat(0xff800000u);
  for (uint slice = lane; slice < slices; slice += 256u) top = maxNum(top, parts[first + slice * step1()]);
  values[lane] = top;
  for (uint half1 = 128u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (lane < half1) values[lane] = maxNum(values[lane], values[lane + half1]);
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
  const uint first = row * push.slices * step1();
  const uint slices = (keysToRead(batch) + push.slice - 1u) / push.slice;
  const float top = topOf(lane, first, slices);

  // Neighbours take neighbouring channels of the same slice.
  const uint channel = lane % push.valueSize;
  const uint together = 256u / push.valueSize;  // slices
  float total = 0.0;
  float sum = 0.0;
  for (uint begin = 0u; begin < slices; begin += 256u) {
    const uint count = min(slices - begin, 256u);
    barrier();
    if (lane < count) {
      const uint at = first + (begin + lane) * step1();
      // Infinities of the same sign have no difference.
      const float factor = parts[at] == top ? 1.0 : expAccurate(parts[at] - top);
      factors[lane] = factor;
      totals[lane] = factor * parts[at + 1u];
    }
    barrier();
    for (uint i = 0u; i < count; ++i) total += totals[i];
    const uint own = lane / push.valueSize;
    const uint from = first + begin * step1() + 2u + channel;
    if (own < together)
      for (uint i = own; i < count; i += 4u * together) {
        float loaded[4];
        [[unroll]] for (uint e = 0u; e < 4u; ++e)
          loaded[e] = parts[from + min(i + e * together, count - 1u) * step1()];
        [[unroll]] for (uint e = 0u; e < 4u; ++e)
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
