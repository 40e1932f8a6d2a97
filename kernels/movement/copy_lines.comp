#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Does what copy.comp does, for lines of neighbours in the output that begin anywhere: an invocation has a vector of 16
// bytes of a line, or what a line has of one at its ends. The walk is over the lines (operands: input, output).
//   lineElements, lineVectors   of a line: elements, and vectors at most
//   inputStep                   from one of them to the next
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "common/runs.glsl"

TENSOR_IN(x)
RUN_IN(x)
PACKED_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uint line = item / push.lineVectors;
  const uvec4 at = walkOffsets(0u, push.rank, line);
  const uint target = at.y / kRun + item - line * push.lineVectors;
  // The offset of the vector's first element, modulo 2^32.
  const uint first = target * kRun - at.y;
  if (push.inputStep == 1u && first < push.lineElements && push.lineElements - first >= kRun) {
    y[target] = loadRun_x(at.x + first);
    return;
  }
  uvec4 bits = uvec4(0u);
  uvec4 mask = uvec4(0u);
  [[unroll]] for (uint i = 0u; i < kRun; ++i) {
    if (first + i >= push.lineElements) continue;
    putElement(bits, i, loadRaw_x(at.x + (first + i) * push.inputStep));
    putElement(mask, i, T_MASK);
  }
  if (mask == uvec4(0xffffffffu)) {
    y[target] = bits;
    return;
  }
  // Others may store the other elements of a word at the same time.
  [[unroll]] for (uint word = 0u; word < 4u; ++word) {
    if (mask[word] == 0u) continue;
    atomicAnd(y[target][word], ~mask[word] | bits[word]);
    atomicOr(y[target][word], bits[word]);
  }
}
