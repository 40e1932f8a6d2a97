// GATES: B has twice as many columns as y, gates in its first half (kGatesFirst) or in its last one (kGatesLast), and
// y = gate * sigmoid(gate) * the other column, each step rounded. Include after floats.glsl.
const uint kGatesFirst = 1u;
const uint kGatesLast = 2u;

// Where a column of y lies among those of B, in one of its halves if it has two.
uint columnOfB(uint column, uint half1) {
  return min(column, push.columns - 1u) + (GATES != 0u ? half1 * push.columns : 0u);
}

// What the sums of a column in each half make.
void finishGate(float first, float second, uint row, Column at, uvec4 base) {
  const bool gatesFirst = GATES == kGatesFirst;
  const float gate = rounded(uintBitsToFloat(push.alpha) * (gatesFirst ? first : second));
  const float factor = rounded(uintBitsToFloat(push.alpha) * (gatesFirst ? second : first));
  const float share = rounded(activate(DML_OPERATOR_ACTIVATION_SIGMOID, gate, vec2(0.0)));
  storeRaw_y(base.w + row * yRowStride() + at.y, toRaw(rounded(gate * share) * factor));
}
