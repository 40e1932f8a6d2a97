// What steps multiply by the recurrent weights: arrays of an element for each (direction, sequence, hidden unit), in the
// layout that the kernel of the steps reads. Strides are push words.
// MATRICES: tiles of SIZE_ROWS x SIZE_DEPTH elements, sequences by hidden units. A tile is two: FLOAT16 of the
// elements, and of what these are off by, times kLift, so that they are as precise as FLOAT32.
// VECTORS: declared as vectors of four FLOAT32, which is how the kernel reads them.
#if MATRICES
#define TILE_ROWS SIZE_ROWS
#define TILE_DEPTH SIZE_DEPTH
const float kLift = 2048.0;
TENSOR_OUT(operand)
#else
#define TILE_ROWS 1u
#define TILE_DEPTH 1u
#if VECTORS
layout(set = 0, binding = BINDING_operand, std430) buffer operandBuffer { uvec4 operand[]; };
#else
layout(set = 0, binding = BINDING_operand, std430) buffer operandBuffer { float operand[]; };
#endif
#endif

uint operandAt(uint direction, uint b, uint h) {
  return direction * push.ofDirection + b / TILE_ROWS * push.ofSequence + h / TILE_DEPTH * push.ofHidden +
         b % TILE_ROWS * TILE_DEPTH + h % TILE_DEPTH;
}

#if MATRICES
const float kLeastNormalHalf = 1.0 / 16384.0;
// By its bits: a driver was seen to take what is rounded to FLOAT16 and back for the value itself, whose rest was 0.
float ofNormalHalf(uint bits) {
  return bits == 0u ? 0.0 : uintBitsToFloat(((bits & 0x7fffu) << 13u) + 0x38000000u | (bits & 0x8000u) << 16u);
}
#endif

void storeOperand(uint at, float value) {
#if MATRICES
  // Whichever way this rounds.
  const uint high = abs(value) < kLeastNormalHalf ? 0u : packHalf2x16(vec2(value, 0.0));
  const bool finite = (high & 0x7c00u) != 0x7c00u;
  storeRaw_operand(at, high);
  storeRaw_operand(at + SIZE_ROWS * SIZE_DEPTH,
                   finite ? packHalf2x16(vec2((value - ofNormalHalf(high)) * kLift, 0.0)) : 0u);
#elif VECTORS
  operand[at / 4u][at % 4u] = floatBitsToUint(value);
#else
  operand[at] = value;
#endif
}
