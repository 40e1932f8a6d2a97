#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// LOCAL_RESPONSE_NORMALIZATION of tensors whose innermost dimension lies in vectors of 16 bytes: `planes` of `along`
// lines of `across` vectors, of which a workgroup takes 2^acrossBits vectors of some lines of a plane. A region is from
// `before` ahead of an element to `after` behind it along the lines, and with WIDE from line to line too, where both are
// at most 2. The walk at parameters[0] is over planes (operands: input, output).
//   inputStep, outputStep   from line to line, in vectors
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "normalization/local_response.glsl"

PACKED_IN(x)
PACKED_OUT(y)

const int kMost = 2;
const int kElements = int(kVectorElements);

// Adds the squares of a line's elements at the invocation's vector, and of `kMost` on both sides of it.
void addSquares(inout float squares[kVectorElements + 2u * uint(kMost)], uint line, uint vector) {
  const uvec4 own = x[line + vector];
  [[unroll]] for (int e = 0; e < kElements; ++e) {
    const float v = fourOf(own, uint(e) / 4u)[e % 4];
    squares[e + kMost] += v * v;
  }
  if (WIDE == 0u) return;
  const bool isFirst = vector == 0u;
  const bool isLast = vector + 1u == push.across;
#if T == f16
  const vec2 ahead = unpackHalf2x16(x[line + vector - (isFirst ? 0u : 1u)].w);
  const vec2 behind = unpackHalf2x16(x[line + vector + (isLast ? 0u : 1u)].x);
#else
  const vec2 ahead = uintBitsToFloat(x[line + vector - (isFirst ? 0u : 1u)].zw);
  const vec2 behind = uintBitsToFloat(x[line + vector + (isLast ? 0u : 1u)].xy);
#endif
  [[unroll]] for (int i = 0; i < kMost; ++i) {
    if (!isFirst) squares[i] += ahead[i] * ahead[i];
    if (!isLast) squares[kElements + kMost + i] += behind[i] * behind[i];
  }
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint tileAlong = gl_WorkGroupSize.x >> push.acrossBits;
  const uint tilesAcross = (push.across + (1u << push.acrossBits) - 1u) >> push.acrossBits;
  const uint tilesAlong = (push.along + tileAlong - 1u) / tileAlong;
  const uint tile = group % (tilesAcross * tilesAlong);
  const uint vector = ((tile % tilesAcross) << push.acrossBits) + (lane & ((1u << push.acrossBits) - 1u));
  const uint line = tile / tilesAcross * tileAlong + (lane >> push.acrossBits);
  if (vector >= push.across || line >= push.along) return;
  const uvec4 plane = walkOffsets(0u, push.rank, group / (tilesAcross * tilesAlong));

  float squares[kVectorElements + 2u * uint(kMost)];
  [[unroll]] for (int e = 0; e < kElements + 2 * kMost; ++e) squares[e] = 0.0;
  const uint last = line + min(push.along - 1u - line, push.after);
  for (uint k = line - min(line, push.before); k <= last; ++k)
    addSquares(squares, plane.x + k * push.inputStep, vector);

  vec4 powers[kFours];
  [[unroll]] for (int e = 0; e < kElements; ++e) {
    float sum = squares[e + kMost];
    if (WIDE != 0u)
      [[unroll]] for (int i = 1; i <= kMost; ++i) {
        sum += i <= int(push.before) ? squares[e + kMost - i] : 0.0;
        sum += i <= int(push.after) ? squares[e + kMost + i] : 0.0;
      }
    powers[e / 4][e % 4] = sum;
  }
  vec4 quotients[kFours];
  toPowers(powers, quotients);
  const uvec4 own = x[plane.x + line * push.inputStep + vector];
  [[unroll]] for (uint i = 0u; i < kFours; ++i) powers[i] *= fourOf(own, i);
  y[plane.y + line * push.outputStep + vector] = VECTOR_OF(powers, 0u);
}
