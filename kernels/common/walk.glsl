// N-dimensional strided indexing of up to four tensors at once (see core/layout.h: Walk, appendWalk).

#include "common/wide.glsl"

// n / d for the divisor of a dimension {d, multiplier, shift1, shift2}.
uint divideBy(uint n, uvec4 divisor) {
  const uint t = mulHigh(n, divisor.y);
  return (t + ((n - t) >> divisor.z)) >> divisor.w;
}

// A count that may be a constant, with which loads of sizes and strides do not wait for each other; 0 if it is not.
#define KNOWN(constant, count) ((constant) != 0u ? (constant) : (count))

// NVIDIA's compiler makes several copies of a loop of unknown length, unless it does not know either what the counter
// grows by. A kernel whose workgroups walk once defines 1 so that compilers cannot see it.
#ifndef WALK_STEP
#define WALK_STEP 1u
#endif

// Element offsets of the four operands at row-major position `index` of the walk stored at parameters[first].
uvec4 walkOffsets(uint first, uint rank, uint index) {
  uvec4 offsets = parameters[first];
  uint rest = index;
  for (uint d = 0u; d < rank; d += WALK_STEP) {
    const uvec4 dimension = parameters[first + 1u + 2u * d];
    const uvec4 strides = parameters[first + 2u + 2u * d];
    // The outermost dimension takes what is left.
    const uint quotient = d + 1u < rank ? divideBy(rest, dimension) : 0u;
    offsets += (rest - quotient * dimension.x) * strides;
    rest = quotient;
  }
  return offsets;
}
