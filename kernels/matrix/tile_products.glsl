// What an invocation multiplies next, one step of the depth ahead, as fours of kPerColumn rows and kPerRow columns, and
// its sums.
FOUR_SUMS partA[2u * kFoursA];
FOUR_SUMS partB[2u * kFoursB];
SUM sums[kPerColumn * kPerRow];

// Back and forth, so that neighbouring multiplications share an operand.
void multiply(uint which) {
  [[unroll]] for (uint j = 0u; j < kPerRow; ++j)
    [[unroll]] for (uint turn = 0u; turn < kPerColumn; ++turn) {
      const uint i = j % 2u == 0u ? turn : kPerColumn - 1u - turn;
      sums[i * kPerRow + j] += partA[which * kFoursA + i / 4u][i % 4u] * partB[which * kFoursB + j / 4u][j % 4u];
    }
}
