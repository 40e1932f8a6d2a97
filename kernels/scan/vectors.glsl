// Elements of vectors of 16 bytes that are scanned, and running results. Include after packed.glsl.
const uint kVectorElements = 128u / T_BITS;

#if T_IS_FLOAT
uint wideToRaw(COMPUTE v) { return floatBitsToUint(v); }
COMPUTE wideFromRaw(uint v) { return uintBitsToFloat(v); }
#else
uint wideToRaw(COMPUTE v) { return toRaw(v); }
COMPUTE wideFromRaw(uint v) { return fromRaw(v); }
#endif

const bool kIsProduct = FUNCTION == DML_OPERATOR_CUMULATIVE_PRODUCT;
COMPUTE identity() { return kIsProduct ? COMPUTE(1) : COMPUTE(0); }
COMPUTE combine(COMPUTE a, COMPUTE b) { return kIsProduct ? a * b : a + b; }

// Element k in the order of the scan.
uint placeOf(uint k) { return push.backward != 0u ? push.elements - 1u - k : k; }
