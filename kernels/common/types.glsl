// Element types. A variant defines T as one of the names below; this file gives the rest:
//   T_BITS     width of an element
//   COMPUTE    the GLSL type that arithmetic uses: float, int, uint, int64_t, uint64_t or double
//   RAW        the type an element's bits travel in: uint, or uvec2 for 64-bit elements
//   fromRaw, toRaw           between the two; toRaw leaves bits above T_BITS unspecified
//   TENSOR_IN, TENSOR_OUT    declare a buffer of elements with loadRaw_NAME(i) and storeRaw_NAME(i, bits)
// Elements narrower than 32 bits are read from and merged into 32-bit words, so that every device can run the kernel and
// no store rewrites a neighbour; with NATIVE they use 8- and 16-bit storage.
#extension GL_EXT_control_flow_attributes : enable

#define f32 1
#define f16 2
#define f64 3
#define i8 4
#define u8 5
#define i16 6
#define u16 7
#define i32 8
#define u32 9
#define i64 10
#define u64 11
#define b8 12
#define b16 13
#define b32 14
#define b64 15

#if T == i8 || T == u8 || T == b8
#define T_BITS 8
#elif T == f16 || T == i16 || T == u16 || T == b16
#define T_BITS 16
#elif T == f64 || T == i64 || T == u64 || T == b64
#define T_BITS 64
#else
#define T_BITS 32
#endif
#define T_MASK (0xffffffffu >> (32 - T_BITS))

#if T == i64 || T == u64
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#endif

#if T == f32 || T == f16
#define T_IS_FLOAT 1
#define COMPUTE float
#elif T == f64
#define COMPUTE double
#elif T == i8 || T == i16 || T == i32
#define T_IS_SIGNED 1
#define COMPUTE int
#elif T == i64
#define T_IS_SIGNED 1
#define COMPUTE int64_t
#elif T == u64
#define COMPUTE uint64_t
#else
#define COMPUTE uint
#endif

#if T_BITS == 64
#define RAW uvec2
#else
#define RAW uint
#endif

// Whether the device rounds to nearest even, and keeps denormals, where it converts to FLOAT16. The back end says so; in
// HLSL, which leaves the rounding open, it is set in modules for devices that do.
layout(constant_id = 17) const uint ROUNDED_HALVES = 0u;

// Round to nearest, ties to even, whatever the device's conversion does. NaN stays one; its bits may change.
uint halfFromFloat(float value) {
  if (ROUNDED_HALVES != 0u) return packHalf2x16(vec2(value, 0.0));
  const uint bits = floatBitsToUint(value);
  const uint sign = (bits >> 16) & 0x8000u;
  const uint magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x47800000u) return sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u);
  // Adding 0.5 puts a half's denormal into the low mantissa bits of the sum, rounded by the addition itself.
  if (magnitude < 0x38800000u) return sign | (floatBitsToUint(uintBitsToFloat(magnitude) + 0.5) - 0x3f000000u);
  return sign | ((magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13);
}

// Two in a word.
uint halvesFromPair(vec2 pair) {
  if (ROUNDED_HALVES != 0u) return packHalf2x16(pair);
  return halfFromFloat(pair.x) | halfFromFloat(pair.y) << 16;
}

float floatFromHalf(uint half16) { return unpackHalf2x16(half16 & 0xffffu).x; }

#if T == f32
float fromRaw(uint raw) { return uintBitsToFloat(raw); }
uint toRaw(float value) { return floatBitsToUint(value); }
#elif T == f16
float fromRaw(uint raw) { return floatFromHalf(raw); }
uint toRaw(float value) { return halfFromFloat(value); }
#elif T == i8 || T == i16 || T == i32
int fromRaw(uint raw) { return bitfieldExtract(int(raw), 0, T_BITS); }
uint toRaw(int value) { return uint(value); }
#elif T == i64
int64_t fromRaw(uvec2 raw) { return int64_t(raw.x) | (int64_t(raw.y) << 32); }
uvec2 toRaw(int64_t value) { return uvec2(uint(value), uint(value >> 32)); }
#elif T == u64
uint64_t fromRaw(uvec2 raw) { return uint64_t(raw.x) | (uint64_t(raw.y) << 32); }
uvec2 toRaw(uint64_t value) { return uvec2(uint(value), uint(value >> 32)); }
#elif T == f64
double fromRaw(uvec2 raw) { return packDouble2x32(raw); }
uvec2 toRaw(double value) { return unpackDouble2x32(value); }
#elif T_BITS == 64
uvec2 fromRaw(uvec2 raw) { return raw; }
uvec2 toRaw(uvec2 value) { return value; }
#else
uint fromRaw(uint raw) { return raw & T_MASK; }
uint toRaw(uint value) { return value; }
#endif

#if T_BITS >= 32
#define TENSOR_IN(NAME)                                                                           \
  layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##Buffer { RAW NAME[]; }; \
  RAW loadRaw_##NAME(uint i) { return NAME[i]; }
#define TENSOR_OUT(NAME)                                                                 \
  layout(set = 0, binding = BINDING_##NAME, std430) buffer NAME##Buffer { RAW NAME[]; }; \
  void storeRaw_##NAME(uint i, RAW bits) { NAME[i] = bits; }
#elif defined(NATIVE)
#if T_BITS == 8
#extension GL_EXT_shader_8bit_storage : require
#define ELEMENT uint8_t
#else
#extension GL_EXT_shader_16bit_storage : require
#define ELEMENT uint16_t
#endif
#define TENSOR_IN(NAME)                                                                               \
  layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##Buffer { ELEMENT NAME[]; }; \
  uint loadRaw_##NAME(uint i) { return uint(NAME[i]); }
#define TENSOR_OUT(NAME)                                                                     \
  layout(set = 0, binding = BINDING_##NAME, std430) buffer NAME##Buffer { ELEMENT NAME[]; }; \
  void storeRaw_##NAME(uint i, uint bits) { NAME[i] = ELEMENT(bits); }
#else
#define LANES (32 / T_BITS)
#define LANE_SHIFT(i) (((i) & (LANES - 1u)) * T_BITS)
#define TENSOR_IN(NAME)                                                                            \
  layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##Buffer { uint NAME[]; }; \
  uint loadRaw_##NAME(uint i) { return (NAME[i / LANES] >> LANE_SHIFT(i)) & T_MASK; }
// Clearing and setting only the lane's own bits makes concurrent stores to other lanes of the word commute. Both operands
// depend on the bits to store: executed in place, an element is loaded from the word that is cleared, and compilers may
// assume that buffers do not alias.
#define TENSOR_OUT(NAME)                                                                  \
  layout(set = 0, binding = BINDING_##NAME, std430) buffer NAME##Buffer { uint NAME[]; }; \
  void storeRaw_##NAME(uint i, uint bits) {                                               \
    const uint lane = (bits & T_MASK) << LANE_SHIFT(i);                                   \
    atomicAnd(NAME[i / LANES], ~(T_MASK << LANE_SHIFT(i)) | lane);                        \
    atomicOr(NAME[i / LANES], lane);                                                      \
  }
#endif
