#version 460
#extension GL_GOOGLE_include_directive : require
#define T u32
#include "common/types.glsl"
#include "directml_enums.glsl"

// Executes a program, the same for all elements: each step makes a value of the current one and of an operand, which is
// the current value itself, one that was kept, a number, or an input's. Control flow is the same in all invocations but
// for elements behind the last.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/pow.glsl"
#include "common/activation.glsl"
#include "quantize/any_type.glsl"
#include "elementwise/chain_memory.glsl"
#include "elementwise/chain_functions.glsl"

// Sources of a step's operand; inputs follow.
const uint kSourceKept = 1u;
const uint kSourceNumber = 4u;
const uint kSourceInput = 8u;

#define LANE_BY_LANE(f, A, B) vec4(f(A.x, B.x), f(A.y, B.y), f(A.z, B.z), f(A.w, B.w))
#define HALF_EACH(PART, EXPRESSION)                         \
  {                                                         \
    const vec4 x = uintBitsToFloat(value.PART);             \
    const vec4 z = uintBitsToFloat(operand.PART);           \
    value.PART = floatBitsToUint(EXPRESSION);               \
  }
#define EACH(EXPRESSION)      \
  HALF_EACH(low, EXPRESSION)  \
  HALF_EACH(high, EXPRESSION)

// Steps of a few instructions, for which deciding which it is once for all lanes pays. False for all others.
bool applyShort(uint kind, uint from, uint to, inout Vector value, Vector operand) {
  if (kind == kLoad) {
    value = operand;
    return true;
  }
  if (!isFloatType(from)) return false;
  const float a = uintBitsToFloat(attributes.aLow);
  const float b = uintBitsToFloat(attributes.bLow);
  if (kind == kScale) {
    EACH(x * a + b)
    return true;
  }
  if (kind == kCast) return isFloatType(to);
  if (kind == kBinary) {
    switch (OP) {
      case DML_OPERATOR_ELEMENT_WISE_ADD:
      case DML_OPERATOR_ELEMENT_WISE_ADD1: EACH(x + z) return true;
      case DML_OPERATOR_ELEMENT_WISE_SUBTRACT: EACH(x - z) return true;
      case DML_OPERATOR_ELEMENT_WISE_MULTIPLY: EACH(x * z) return true;
      case DML_OPERATOR_ELEMENT_WISE_DIVIDE: EACH(LANE_BY_LANE(roundedQuotient, x, z)) return true;
      case DML_OPERATOR_ELEMENT_WISE_MAX: EACH(LANE_BY_LANE(maxNum, x, z)) return true;
      case DML_OPERATOR_ELEMENT_WISE_MIN: EACH(LANE_BY_LANE(minNum, x, z)) return true;
    }
  } else if (kind == kUnary) {
    const vec4 least = vec4(a);
    const vec4 most = vec4(b);
    switch (OP) {
      case DML_OPERATOR_ELEMENT_WISE_IDENTITY:
      case DML_OPERATOR_ACTIVATION_IDENTITY: return true;
      case DML_OPERATOR_ELEMENT_WISE_CLIP:
      case DML_OPERATOR_ELEMENT_WISE_CLIP1:
        EACH(LANE_BY_LANE(minNum, x, most))
        EACH(LANE_BY_LANE(maxNum, x, least))
        return true;
      case DML_OPERATOR_ACTIVATION_RELU: EACH(LANE_BY_LANE(maxNum, x, vec4(0.0))) return true;
      case DML_OPERATOR_ACTIVATION_LINEAR: EACH(a * x + b) return true;
    }
  }
  return false;
}

// Values of a type as they would be stored and loaded.
uvec4 narrowed(uvec4 bits, uint type) {
  return valuesOf(isFloatType(type) && typeWidth(type) == 4u ? floatsToHalves(bits) : bits, type);
}

void main() {
  uint item;
  if (!gridItem((push.count + kLanes - 1u) / kLanes, item)) return;
  const uint first = item * kLanes;
  Vector value = Vector(uvec4(0u), uvec4(0u));
  Vector kept1 = value;
  Vector kept2 = value;
  Vector kept3 = value;
  uint conditions = 0u;  // a bit a lane
  for (uint n = 0u; n < push.steps; ++n) {
    const uvec4 step1 = parameters[kProgram + n];
    OP = step1.x & 0xffu;
    const uint kind = step1.x >> 8 & 15u;
    const uint to = step1.x >> 12 & 31u;
    const uint from = step1.x >> 17 & 31u;
    const uint source = step1.x >> 22 & 15u;
    const bool swapped = (step1.x & 1u << 26) != 0u;
    const uint keep = step1.x >> 27 & 3u;
    const uint store = step1.x >> 29 & 3u;
    attributes = Attributes(step1.y, 0u, step1.z, 0u, step1.y);

    Vector operand = value;
    if (source >= kSourceInput)
      operand = loadInput(source - kSourceInput, first);
    else if (source == kSourceKept)
      operand = kept1;
    else if (source == kSourceKept + 1u)
      operand = kept2;
    else if (source == kSourceKept + 2u)
      operand = kept3;
    else if (source == kSourceNumber)
      operand = splat(step1.w);
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
    } else if (!applyShort(kind, from, to, value, operand)) {
      // One lane after another through the first place, so that there is one copy of all functions.
      [[dont_unroll]] for (uint lane = 0u; lane < kLanes; ++lane) {
        const uint result = applyStep(kind, from, to, value.low.x, operand.low.x);
        value = moved(value, result);
        operand = moved(operand, operand.low.x);
      }
    }
    if (typeWidth(to) < 5u) {
      value.low = narrowed(value.low, to);
      value.high = narrowed(value.high, to);
    }
    if (keep == 1u) kept1 = value;
    if (keep == 2u) kept2 = value;
    if (keep == 3u) kept3 = value;
    if (store != 0u) storeOutput(store - 1u, first, value);
  }
}
