// Weighted averages as elements. Include after types.glsl.
#if T_IS_FLOAT
RAW averageToRaw(float average) { return toRaw(average); }
#else
// The whole part, where rounding may not take a whole number below itself.
RAW averageToRaw(float average) {
  const float nearest = roundEven(average);
  const float whole = abs(average - nearest) < 0.000244140625 ? nearest : trunc(average);
  return toRaw(COMPUTE(int(whole)));
}
#endif
