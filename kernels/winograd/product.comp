#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : enable

// The products of a convolution at its points (winograd.glsl). An invocation computes ROWS filters of four neighbouring
// columns. All of a workgroup read the same of the filters, so that many devices load that once for all, and some
// that emulate what a workgroup shares are spared it.
#include "common/grid.glsl"

const uint kRowQuads = ROWS / 4u;
const uint kSteps = 4u;  // the depth is a multiple

layout(set = 0, binding = BINDING_a, std430) readonly buffer aBuffer { vec4 a[]; };
layout(set = 0, binding = BINDING_b, std430) readonly buffer bBuffer { vec4 b[]; };
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yBuffer { vec4 y[]; };

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint block = group / push.rowBlocks;
  const uint rowBlock = group - block * push.rowBlocks;
  const uint point = block / push.columnBlocks;
  const uint place = (block - point * push.columnBlocks) * 256u + gl_LocalInvocationID.x;
  const uint column = min(place, push.columnQuads - 1u);
  uint fromA = point * push.depth * push.rowQuads + rowBlock * kRowQuads;
  uint fromB = point * push.depth * push.columnQuads + column;

  vec4 sums[ROWS];
  [[unroll]] for (uint i = 0u; i < ROWS; ++i) sums[i] = vec4(0.0);
  for (uint k = 0u; k < push.depth; k += kSteps) {
    vec4 across[kSteps];
    [[unroll]] for (uint step1 = 0u; step1 < kSteps; ++step1) across[step1] = b[fromB + step1 * push.columnQuads];
    [[unroll]] for (uint step1 = 0u; step1 < kSteps; ++step1)
      [[unroll]] for (uint i = 0u; i < kRowQuads; ++i) {
        const vec4 down = a[fromA + step1 * push.rowQuads + i];
        [[unroll]] for (uint j = 0u; j < 4u; ++j) sums[i * 4u + j] += down[j] * across[step1];
      }
    fromA += kSteps * push.rowQuads;
    fromB += kSteps * push.columnQuads;
  }
  if (place >= push.columnQuads) return;
  const uint row = point * push.rowQuads + rowBlock * kRowQuads;
  [[unroll]] for (uint i = 0u; i < ROWS; ++i) y[(row * 4u + i) * push.columnQuads + place] = sums[i];
}
