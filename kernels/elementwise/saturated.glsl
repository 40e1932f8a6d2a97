// A FLOAT32 as an element of an integer type of at most 32 bits: truncated and saturated, NaN as 0.
#if !T_IS_FLOAT && T_BITS <= 32
COMPUTE saturated(float x) {
#if T_IS_SIGNED
  const int lowest = -1 - int(T_MASK >> 1);
  const int highest = int(T_MASK >> 1);
#else
  const uint lowest = 0u;
  const uint highest = T_MASK;
#endif
  if (isNan(x)) return COMPUTE(0);
  return x <= float(lowest) ? lowest : x >= float(highest) ? highest : COMPUTE(x);
}
#endif
