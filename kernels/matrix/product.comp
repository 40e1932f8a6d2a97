#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// y = finish(sum over the depth of A * B), for `matrices` pairs of `rows` x `depth` and `depth` x `columns`.
//   INTEGER       defined for operands that are integers with zero points and scales (integers.glsl), else floats.glsl
//   CONVOLUTION   defined where A is a filter and B the windows of an input (convolution.glsl), else matrix.glsl
//   TILE          defined: a workgroup computes TILE x TILE elements from parts of A and B in shared memory; else an
//                 invocation computes one
//                 (of floats: from one of `slices` of the depth, sliceDepth steps each)
//   SPLIT         defined: parts of such a workgroup share the depth (split_tile.glsl)
//   WINDOWS       defined: such a tile of a convolution is large, and its filters lie side by side (tile_windows.glsl)
//   BLOCK         defined: a few invocations compute a block without shared memory (block.glsl)
//   VECTOR        defined: A and B are read in vectors of four elements; of a convolution only A, along the depth
//   matrixRank    walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
#if defined(TILE) && !INTEGER
#define WALK_STEP (1u + (push.flags >> 16u))
#endif
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"

#if CONVOLUTION
#include "matrix/convolution.glsl"
#else
#include "matrix/matrix.glsl"
#endif
#if INTEGER
#include "matrix/integers.glsl"
#else
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "matrix/floats.glsl"
#endif

#if BLOCK
#include "matrix/block.glsl"
#elif SPLIT
#include "matrix/split_tile.glsl"
#elif defined(TILE)
#include "matrix/tile.glsl"
#else
void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uint perMatrix = push.rows * push.columns;
  const uint pair = item / perMatrix;
  const uint place = item - pair * perMatrix;
  const uint row = place / push.columns;
  const uint column = place - row * push.columns;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
  const Column at = columnAt(column);
  const uint aRow = base.x + row * aRowStride();
  const ZERO zeroA = zeroOfA(quantizedRow(pair, row));
  const ZERO zeroB = zeroOfB(column);
  SUM sum = SUM(0);
  Depth depth = depthAt(0u);
  for (uint k = 0u; k < push.depth; ++k) {
    uint b;
    if (meets(at, depth, b)) sum += loadA(aRow + depth.a, zeroA) * loadB(base.y + b, zeroB);
    advance(depth);
  }
  finish(sum, pair, row, column, at, base);
}
#endif
