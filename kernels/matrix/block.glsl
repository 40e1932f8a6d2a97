// For software drivers, to which an element that is loaded costs more than a dozen multiplications, and each access to
// shared memory as much: a team of kTeam invocations computes kDown rows x kTeam * kAcross columns from what they load
// themselves. The four invocations of a quad load four rows' elements of A, and pass them to each other.
//   teams          of a workgroup, each with a block of its own; `count` blocks in all
//   rowBlocks, columnBlocks   of a matrix
//   taps, channels    of the depth: elements of the window (1 of matrices), and the steps that each of them has
// A product of matrices is a convolution whose columns are the places of a line; parameters[1].y is the stride of C
// along it.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
const uint kTeam = 8u;
const uint kQuad = 4u;
const uint kDown = 16u;
const uint kQuads = kDown / kQuad;
const uint kAcross = 4u;

float sums[kDown * kAcross];

void main() {
  const uint group = groupIndex();
  const uint team = gl_LocalInvocationID.x / kTeam;
  const uint block = group * push.teams + team;
  // All of a quad leave here, or none.
  if (group >= push.groups || team >= push.teams || block >= push.count) return;
  const uint perMatrix = push.rowBlocks * push.columnBlocks;
  const uint pair = block / perMatrix;
  const uint place = block - pair * perMatrix;
  const uint columnBlock = place / push.rowBlocks;
  const uint firstRow = (place - columnBlock * push.rowBlocks) * kDown;
  const uint firstColumn = columnBlock * kTeam * kAcross + gl_LocalInvocationID.x % kTeam;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);

  // Behind the last row and column the last one is computed again, for nothing.
  Column at[kAcross];
  [[unroll]] for (uint c = 0u; c < kAcross; ++c) at[c] = columnAt(min(firstColumn + c * kTeam, push.columns - 1u));
  uint rows[kQuads];
  [[unroll]] for (uint r = 0u; r < kQuads; ++r)
    rows[r] = base.x + min(firstRow + r * kQuad + gl_SubgroupInvocationID % kQuad, push.rows - 1u) * aRowStride();
  const uint quad = gl_SubgroupInvocationID / kQuad * kQuad;
  [[unroll]] for (uint i = 0u; i < kDown * kAcross; ++i) sums[i] = 0.0;

  for (uint tap = 0u; tap < push.taps; ++tap) {
    const Depth depth = depthAt(tap);
    bool inside[kAcross];
    uint b[kAcross];
    uint steps[kAcross];
    [[unroll]] for (uint c = 0u; c < kAcross; ++c) {
      inside[c] = meets(at[c], depth, b[c]);
      b[c] = inside[c] ? base.y + b[c] : 0u;
      steps[c] = inside[c] ? parameters[0].z : 0u;
    }
    uint a = depth.a;
    [[dont_unroll]] for (uint channel = 0u; channel < push.channels; ++channel) {
      float ofA[kQuads];
      float ofB[kAcross];
      [[unroll]] for (uint r = 0u; r < kQuads; ++r) ofA[r] = loadA(rows[r] + a, 0u);
      [[unroll]] for (uint c = 0u; c < kAcross; ++c) {
        const float element = loadB(b[c], 0u);
        ofB[c] = inside[c] ? element : 0.0;
        b[c] += steps[c];
      }
      a += parameters[0].y;
      [[unroll]] for (uint r = 0u; r < kDown; ++r) {
        const float element = subgroupShuffle(ofA[r / kQuad], quad + r % kQuad);
        [[unroll]] for (uint c = 0u; c < kAcross; ++c) sums[c * kDown + r] += element * ofB[c];
      }
    }
  }

  // One copy of the code that finishes a sum, which is always the first (turns.glsl).
  const uint last = min(kDown, push.rows - firstRow);
  [[dont_unroll]] for (uint c = 0u; c < kAcross; ++c) {
    const uint column = firstColumn + c * kTeam;
    if (column >= push.columns) break;
    const Column of = columnAt(column);
    float results[kDown];
    [[unroll]] for (uint r = 0u; r < kDown; ++r) results[r] = sums[r];
    [[dont_unroll]] for (uint r = 0u; r < last; ++r) {
      finish(results[0], pair, firstRow + r, column, of, base);
      [[unroll]] for (uint i = 1u; i < kDown; ++i) results[i - 1u] = turned(results[i]);
    }
    [[unroll]] for (uint i = kDown; i < kDown * kAcross; ++i) sums[i - kDown] = turned(sums[i]);
  }
}
