#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// The output from what attention_split.comp leaves of each slice of the keys; one invocation per channel.
//   parameters[3]   strides {batch, head, position, channel} of the output
#include "common/grid.glsl"
#include "common/math.glsl"

layout(set = 0, binding = BINDING_parts, std430) readonly buffer partsBuffer { float parts[]; };
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uint channel = item % push.valueSize;
  const uint row = item / push.valueSize;
  const uint step1 = push.valueSize + 2u;
  const uint first = row * push.slices * step1;

  float top = uintBitsToFloat(0xff800000u);
  for (uint slice = 0u; slice < push.slices; ++slice) top = maxNum(top, parts[first + slice * step1]);
  float total = 0.0;
  float sum = 0.0;
  for (uint slice = 0u; slice < push.slices; ++slice) {
    const uint at = first + slice * step1;
    // Infinities of the same sign have no difference.
    const float factor = parts[at] == top ? 1.0 : expAccurate(parts[at] - top);
    total += factor * parts[at + 1u];
    sum += factor * parts[at + 2u + channel];
  }
  // The differences to an infinity are NaN, at one key at least.
  const bool undefined = (floatBitsToUint(top) & 0x7f800000u) == 0x7f800000u;
  const uint query = row % push.queries;
  const uint head = row / push.queries % push.heads;
  const uint batch = row / push.queries / push.heads;
  const uvec4 at = uvec4(batch, head, query, channel) * parameters[3];
  storeRaw_y(at.x + at.y + at.z + at.w, toRaw(undefined ? uintBitsToFloat(0x7fc00000u) : sum / total));
}
