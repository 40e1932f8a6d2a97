#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Each element of the columns is an element of the image, or 0 in its padding. An index of the columns has `digits`
// digits: positions of the window, coordinates in it, channel and batch. Parameters: two for each, the innermost first,
//   {size and its divisor}   {output stride, input stride, step in the padded image, dimension of the image}
// and at parameters[imageAt] one for each spatial dimension, {size, start padding, 0, 0}. Other dimensions are kImage.
//   base           what the start padding takes off the input offset, modulo 2^32
//   outer, inner   sizes of two digits that an invocation takes all values of, which share what the others take:
//                  the steps of these are at parameters[repeatAt]; 1 and 1 where there is none
// With RUNS an invocation stores vectors of elements whose positions follow one another along the dimension `along` of
// the image, on a line; the first digit and output strides count vectors.
//   alongStride, alongStep   from one of these positions to the next: input stride, and step in the padded image
#include "common/elsewhere.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)
#ifdef RUNS
#include "common/packed.glsl"
#include "common/runs.glsl"

PACKED_OUT(y)
#else
TENSOR_OUT(y)
#endif

const uint kImage = 6u;

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  // Indexed by constants alone, so that it stays in registers.
  uint place[6];
  [[unroll]] for (uint d = 0u; d < kImage; ++d) place[d] = 0u;
  uint rest = item;
  uint from = push.base;
  uint to = 0u;
  const uint digits = KNOWN(DIGITS, push.digits);
  const uint imageRank = KNOWN(IMAGE_RANK, push.imageRank);
  for (uint d = 0u; d < digits; ++d) {
    const uvec4 size = parameters[2u * d];
    const uvec4 steps = parameters[2u * d + 1u];
    const uint quotient = d + 1u < digits ? divideBy(rest, size) : 0u;
    const uint digit = rest - quotient * size.x;
    rest = quotient;
    to += digit * steps.x;
    from += digit * steps.y;
    [[unroll]] for (uint i = 0u; i < kImage; ++i) place[i] += steps.w == i ? digit * steps.z : 0u;
  }
  const uvec4 outer = parameters[push.repeatAt];
  const uvec4 inner = parameters[push.repeatAt + 1u];
  for (uint i = 0u; i < push.outer; ++i) {
    for (uint j = 0u; j < push.inner; ++j) {
      bool inside = true;
#ifdef RUNS
      uint along = 0u;
      uint size = 0u;
#endif
      [[unroll]] for (uint d = 0u; d < kImage; ++d) {
        if (d < imageRank) {
          const uvec4 image = parameters[push.imageAt + d];
          const uint moved = (outer.w == d ? i * outer.z : 0u) + (inner.w == d ? j * inner.z : 0u);
          const uint coordinate = place[d] + moved - image.y;
#ifdef RUNS
          if (d == push.along) {
            along = coordinate;
            size = image.x;
            continue;
          }
#endif
          inside = coordinate < image.x && inside;
        }
      }
      const uint first = from + i * outer.y + j * inner.y;
#ifdef RUNS
      uvec4 vector = uvec4(0u);
      [[unroll]] for (uint e = 0u; e < kRun; ++e) {
        const bool isElement = inside && along + e * push.alongStep < size;
        const uint at = first + e * push.alongStride;
        if (kReadsZeros)
          putElement(vector, e, loadRaw_x(mix(kElsewhere, at, isElement)));
        else if (isElement)
          putElement(vector, e, loadRaw_x(at));
      }
      y[to + i * outer.x + j * inner.x] = vector;
#else
#if T_BITS == 64
      RAW bits = uvec2(0u);
#else
      RAW bits = 0u;
#endif
      if (inside) bits = loadRaw_x(first);
      storeRaw_y(to + i * outer.x + j * inner.x, bits);
#endif
    }
  }
}
