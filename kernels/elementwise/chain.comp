#version 460
#extension GL_GOOGLE_include_directive : require
#define T u32
#include "common/types.glsl"
#include "directml_enums.glsl"

// Executes a program, the same for all elements: each step makes a value of the current one and of an operand, which is
// the current value itself, one that was kept, a number, or an input's. Control flow is the same in all invocations but
// for elements behind the last. Where the program is known when the kernel is compiled, its steps are what is left;
// HLSL interprets it.
#ifdef DIMPLE_HLSL
// Every function is there once, with as many digits as FLOAT32 needs.
#define GIVE_HALVES
#else
#define OF_HALVES const bool HALVES,
#define PASS_HALVES HALVES,
#define NOT_HALVES false,
#define GIVE_HALVES halves,
#endif

#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#ifdef DIMPLE_HLSL
#include "elementwise/chain_exponential.glsl"
#else
#include "common/functions.glsl"
#include "common/pow.glsl"
#include "common/activation.glsl"
#endif
#include "quantize/any_type.glsl"
#include "quantize/quotients.glsl"
#include "elementwise/chain_memory.glsl"
#include "elementwise/chain_functions.glsl"

// Sources of a step's operand; inputs follow.
const uint kSourceKept = 1u;
const uint kSourceNumber = 4u;
const uint kSourceInput = 8u;

// The values that steps make and find.
Vector value;
Vector kept1;
Vector kept2;
Vector kept3;
uint conditions;  // one bit per lane

#ifdef DIMPLE_HLSL
#define LANE_BY_LANE(f, A, B) vec4(f(A.x, B.x), f(A.y, B.y), f(A.z, B.z), f(A.w, B.w))
#define EACH(EXPRESSION) four = floatBitsToUint(EXPRESSION);

vec4 clipped(vec4 x, vec4 least, vec4 most) {
  const vec4 below = LANE_BY_LANE(minNum, x, most);
  return LANE_BY_LANE(maxNum, below, least);
}

// Steps of a few instructions, for which deciding which it is once for four lanes pays. False for all others.
bool applyShort(uint kind, uint op, uint from, uint to, inout uvec4 four, uvec4 operand) {
  if (kind == kLoad) {
    four = operand;
    return true;
  }
  if (!isFloatType(from)) return false;
  const vec4 x = uintBitsToFloat(four);
  const vec4 z = uintBitsToFloat(operand);
  const float a = uintBitsToFloat(attributes.aLow);
  const float b = uintBitsToFloat(attributes.bLow);
  if (kind == kScale) {
    EACH(x * a + b)
    return true;
  }
  if (kind == kCast) return isFloatType(to);
  // The number that MAX and MIN, RELU and CLIP bound by on one side; NaN bounds nothing.
  vec4 least = vec4(NOT_A_NUMBER);
  vec4 most = least;
  if (kind == kBinary) {
    switch (op) {
      case DML_OPERATOR_ELEMENT_WISE_ADD:
      case DML_OPERATOR_ELEMENT_WISE_ADD1: EACH(x + z) return true;
      case DML_OPERATOR_ELEMENT_WISE_SUBTRACT: EACH(x - z) return true;
      case DML_OPERATOR_ELEMENT_WISE_MULTIPLY: EACH(x * z) return true;
      case DML_OPERATOR_ELEMENT_WISE_DIVIDE: EACH(LANE_BY_LANE(roundedQuotient, x, z)) return true;
      case DML_OPERATOR_ELEMENT_WISE_MAX: least = z; break;
      case DML_OPERATOR_ELEMENT_WISE_MIN: most = z; break;
      default: return false;
    }
  } else if (kind == kUnary) {
    switch (op) {
      case DML_OPERATOR_ELEMENT_WISE_IDENTITY:
      case DML_OPERATOR_ACTIVATION_IDENTITY: return true;
      case DML_OPERATOR_ACTIVATION_LINEAR: EACH(a * x + b) return true;
      case DML_OPERATOR_ELEMENT_WISE_CLIP:
      case DML_OPERATOR_ELEMENT_WISE_CLIP1:
        least = vec4(a);
        most = vec4(b);
        break;
      case DML_OPERATOR_ACTIVATION_RELU: least = vec4(0.0); break;
      default: return false;
    }
  } else {
    return false;
  }
  EACH(clipped(x, least, most))
  return true;
}

void applyEach(uint kind, uint op, uint from, uint to, Vector operand) {
  // The low four lanes, then the high ones.
  bool isShort = true;
  [[dont_unroll]] for (uint turn = 0u; turn < laneCount() / 4u && isShort; ++turn) {
    uvec4 four = turn == 0u ? value.low : value.high;
    isShort = applyShort(kind, op, from, to, four, turn == 0u ? operand.low : operand.high);
    if (turn == 0u)
      value.low = four;
    else
      value.high = four;
  }
  if (isShort) return;
  // The lanes pass through the first place one after another, so that there is a single copy of all functions.
  [[dont_unroll]] for (uint lane = 0u; lane < laneCount(); ++lane) {
    const uint result = applyStep(kind, op, from, to, value.low.x, operand.low.x);
    value = moved(value, result);
    operand = moved(operand, operand.low.x);
  }
}
#else
#define EACH(PART)                                                       \
  uvec4(applyStep(kind, op, from, to, value.PART.x, operand.PART.x),     \
        applyStep(kind, op, from, to, value.PART.y, operand.PART.y),     \
        applyStep(kind, op, from, to, value.PART.z, operand.PART.z),     \
        applyStep(kind, op, from, to, value.PART.w, operand.PART.w)) ^   \
      zero

// Operations of one step are not contracted with those of the next, since nodes round between them, and nothing is
// concluded from operands that are the same value.
void applyEach(const uint kind, const uint op, const uint from, const uint to, const Vector other) {
  if (kind == kLoad) {
    value = other;
    return;
  }
  if (kind == kQuotient) {
    value.low = quotientsToRound(isHalfType(from), value.low, other.low, unknownZero());
    if (isWide()) value.high = quotientsToRound(isHalfType(from), value.high, other.high, unknownZero());
    return;
  }
  if (kind == kQuantize) {
    value.low = quantized(value.low, other.low, to);
    if (isWide()) value.high = quantized(value.high, other.high, to);
    return;
  }
  const uint zero = unknownZero();
  const Vector operand = Vector(other.low ^ zero, other.high ^ zero);
  value.low = EACH(low);
  if (isWide()) value.high = EACH(high);
}
#endif

// Values of a type as they would be stored and loaded.
#ifdef DIMPLE_HLSL
Vector narrowed(Vector values, uint type) { return valuesInTurn(values, type, isHalfType(type)); }
#else
// Compilers that see both conversions may leave them out.
uvec4 narrowed(const uvec4 bits, const uint type) {
  if (isHalfType(type)) return halfPairsToFloats(floatsToHalfPairs(bits) ^ unknownZero());
  return valuesOf(bits, type);
}
Vector narrowed(const Vector values, const uint type) {
  return Vector(narrowed(values.low, type), isWide() ? narrowed(values.high, type) : values.high);
}
#endif

Vector operandOf(const uint source, const uint number, const uint first) {
  if (source >= kSourceInput) return loadInput(source - kSourceInput, PARAMETER(source - kSourceInput), first);
  switch (source) {
    case kSourceKept: return kept1;
    case kSourceKept + 1u: return kept2;
    case kSourceKept + 2u: return kept3;
    case kSourceNumber: return splat(PARAMETER(number));
  }
  return value;
}

// `control` says what the step is (core/ops/chain.cpp).
void execute(const uint control, const uint n, const uint first) {
  const uint op = control & 0xffu;
  const uint kind = control >> 8 & 15u;
  const uint to = control >> 12 & 31u;
  const uint from = control >> 17 & 31u;
  const uint source = control >> 22 & 15u;
  const bool swapped = (control & 1u << 26) != 0u;
  const uint keep = control >> 27 & 3u;
  const uint store = control >> 29 & 3u;
  const uint numbers = kNumbers + 3u * n;
  const uint a = PARAMETER(numbers);
  attributes = Attributes(a, 0u, PARAMETER(numbers + 1u), 0u, a);

  Vector operand = operandOf(source, numbers + 2u, first);
  if (swapped) {
    const Vector before = value;
    value = operand;
    operand = before;
  }
  if (kind == kCondition) {
    const uvec4 low = uvec4(notEqual(value.low, uvec4(0u))) << kLaneLow;
    const uvec4 high = uvec4(notEqual(value.high, uvec4(0u))) << kLaneHigh;
    const uvec4 both = low | high;
    conditions = both.x | both.y | both.z | both.w;
  } else if (kind == kSelect) {
    value.low = mix(operand.low, value.low, notEqual(conditions & uvec4(1u) << kLaneLow, uvec4(0u)));
    value.high = mix(operand.high, value.high, notEqual(conditions & uvec4(1u) << kLaneHigh, uvec4(0u)));
  } else {
    applyEach(kind, op, from, to, operand);
  }
  // The value that is stored last is not used again, and stores narrow it.
  const bool isLast = control >> 31 != 0u;
  if (typeWidth(to) < 5u && !isLast) value = narrowed(value, to);
  if (keep == 1u) kept1 = value;
  if (keep == 2u) kept2 = value;
  if (keep == 3u) kept3 = value;
  if (store != 0u) storeOutput(store - 1u, PARAMETER(kInputs + store - 1u), first, value);
}

#define CONTROL(n) PARAMETER(kControls + (n))
#define STEP(n) if (CONTROL(n) != 0u) execute(CONTROL(n), n, first);
#define STEPS(n) STEP(n) STEP(n + 1u) STEP(n + 2u) STEP(n + 3u)

// False if the invocation has none.
bool firstElement(out uint first) {
  uint item;
#ifndef DIMPLE_HLSL
  if (PARAMETER(kTiled) != 0u) return tileFirst(first);
  if (isTwice()) {
    const bool hasTwo = gridItem(push.count / laneCount() / 2u, item);
    const uint lane = item % gl_WorkGroupSize.x;
    first = (2u * item - lane) * laneCount();
    return hasTwo;
  }
#endif
  const bool has = gridItem((push.count + laneCount() - 1u) / laneCount(), item);
  first = item * laneCount();
  return has;
}

void begin() {
  value = kept1 = kept2 = kept3 = splat(0u);
  conditions = 0u;
}
// Those that programs of two vectors have at most.
void executeFew(const uint first) {
  begin();
  STEPS(0u)
}
void executeAll(const uint first) {
  begin();
#ifdef DIMPLE_HLSL
  for (uint n = 0u; n < push.steps; ++n) execute(CONTROL(n), n, first);
#else
  STEPS(0u) STEPS(4u) STEPS(8u) STEPS(12u) STEPS(16u) STEPS(20u) STEPS(24u) STEPS(28u)
#endif
}

void main() {
  uint first;
  if (!firstElement(first)) return;
#ifndef DIMPLE_HLSL
  if (isTwice()) {
    const uint step = gl_WorkGroupSize.x * laneCount();
    loadBoth(first, first + step);
    // One copy of the code.
    for (turn = 0u; turn < 2u + unknownZero(); ++turn) executeFew(first + turn * step);
    return;
  }
#endif
  executeAll(first);
}
