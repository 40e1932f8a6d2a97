// Activation functions, for the operators of their own and fused into others. Include after math.glsl.
// p is the operator's FLOAT attributes in order.

float sigmoid(float x) {
  const float e = expAccurate(-abs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

float activate(uint op, float x, vec2 p) {
  switch (op) {
    case DML_OPERATOR_ACTIVATION_RELU: return maxNum(x, 0.0);
    case DML_OPERATOR_ACTIVATION_SIGMOID: return isNan(x) ? x : sigmoid(x);
  }
  return x;
}
