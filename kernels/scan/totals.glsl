// What comes before the totals of a workgroup's 256 invocations. Include after RUNNING, their type, and identity() and
// combine().
const uint kShares = 16u;  // of the totals, each scanned by one invocation
const uint kShare = 256u / kShares;

shared RUNNING sharedTotal[256];
shared RUNNING sharedShare[kShares];

// Of those before the invocation's, and of all.
void scanTotals(RUNNING total, out RUNNING before, out RUNNING all) {
  const uint lane = gl_LocalInvocationID.x;
  barrier();
  sharedTotal[lane] = total;
  barrier();
  if (lane < kShares) {
    RUNNING sum = identity();
    for (uint i = lane * kShare; i < (lane + 1u) * kShare; ++i) {
      const RUNNING next = combine(sum, sharedTotal[i]);
      sharedTotal[i] = sum;
      sum = next;
    }
    sharedShare[lane] = sum;
  }
  barrier();
  all = identity();
  before = identity();
  for (uint i = 0u; i < kShares; ++i) {
    if (i == lane / kShare) before = all;
    all = combine(all, sharedShare[i]);
  }
  before = combine(before, sharedTotal[lane]);
}
