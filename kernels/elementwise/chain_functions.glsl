// What a step of a chain makes of an element. A value is 32 bits: a FLOAT16 is the FLOAT32 of the same number, an
// integer is extended by its signedness. Include after quantize/any_type.glsl, whose types these are.

// Kinds of steps (core/ops/chain.h).
const uint kLoad = 0u;
const uint kScale = 1u;
const uint kUnary = 2u;
const uint kBinary = 3u;
const uint kPredicate = 4u;
const uint kPower = 5u;
const uint kCast = 6u;
const uint kCondition = 7u;
const uint kSelect = 8u;
const uint kDifference = 9u;
const uint kQuantize = 10u;
const uint kQuotient = 11u;

// Groups of functions (core/ops/chain.h) that HLSL may leave out. It calls none of kNone: applyShort() takes those.
const uint kNone = 0u;
const uint kFloats = 1u;
const uint kPowers = 2u;
const uint kIntegers = 4u;  // with all casts and quantization
const uint kTrigonometric = 8u;
const uint kExponentials = 16u;  // and hyperbolic functions, and activations

#ifdef DIMPLE_HLSL
bool calls(const uint groups) { return (FUNCTIONS & groups) != 0u; }
#else
bool calls(const uint groups) { return true; }
#endif
#define IN_GROUP(GROUP, RESULT) (calls(GROUP) ? RESULT : 0.0)

// Of the step that executes.
struct Attributes {
  uint aLow, aHigh, bLow, bHigh, mode;
};
Attributes attributes;
int typeBits;
#define ATTRIBUTES attributes
#define OF_OPERATOR const uint OP,

// The type is known at run time; the preprocessor takes the variable for 0, a type of less than 64 bits.
#undef T_BITS
#define T_BITS typeBits

#undef COMPUTE
#define COMPUTE float
#define T_IS_FLOAT 1
#define attributeValue floatAttribute
#include "elementwise/family.glsl"
#undef attributeValue
#undef T_IS_FLOAT

#undef COMPUTE
#define COMPUTE int
#define T_IS_SIGNED 1
#define attributeValue intAttribute
#define saturated intSaturated
#define truth intTruth
#include "elementwise/family.glsl"
#undef truth
#undef saturated
#undef attributeValue
#undef T_IS_SIGNED

#undef COMPUTE
#define COMPUTE uint
#define attributeValue uintAttribute
#define saturated uintSaturated
#define truth uintTruth
#include "elementwise/family.glsl"
#undef truth
#undef saturated
#undef attributeValue

bool isFloatType(const uint type) { return (type & kTypeFloat) != 0u; }
bool isSignedType(const uint type) { return (type & kTypeSigned) != 0u; }
int bitsOf(const uint type) { return 1 << int(typeWidth(type)); }

// Rounded once: two exact halves.
float floatOfInteger(const uint x, const bool isSigned) {
  const float high = isSigned ? float(int(x) >> 16) : float(x >> 16);
  return high * 65536.0 + float(x & 0xffffu);
}

// As CAST does; a FLOAT16 is rounded by what follows.
uint castValue(const uint x, const uint from, const uint to) {
  if (isFloatType(to)) {
    if (isFloatType(from)) return x;
    return floatBitsToUint(typeWidth(from) < 5u ? float(int(x)) : floatOfInteger(x, isSignedType(from)));
  }
  typeBits = bitsOf(to);
  const uint most = isSignedType(to) ? T_MASK >> 1 : T_MASK;
  if (isFloatType(from)) {
    const float value = uintBitsToFloat(x);
    return isSignedType(to) ? uint(intSaturated(value)) : uintSaturated(value);
  }
  return isSignedType(to) ? uint(clamp(int(x), -1 - int(most), int(most))) : min(x, most);
}

uint applyFloat(const uint kind, const uint op, const bool halves, const float x, const float z) {
  const float a = uintBitsToFloat(attributes.aLow);
  const float b = uintBitsToFloat(attributes.bLow);
  switch (kind) {
    case kScale: return floatBitsToUint(scaleAndBias(x, a, b));
    case kUnary:
#ifdef DIMPLE_HLSL
      if (calls(kExponentials)) findExponential(op, x, vec2(a, b));
#endif
      return floatBitsToUint(applyFunction(op, GIVE_HALVES x, a, b));
    case kBinary: return floatBitsToUint(applyFunction(op, GIVE_HALVES x, z));
    case kPredicate: return calls(kFloats) ? ask(op, GIVE_HALVES x, z) : 0u;
  }
  return floatBitsToUint(IN_GROUP(kPowers, powRounded(GIVE_HALVES x, z)));
}

uint applyInt(const uint kind, const uint op, const int x, const int z) {
  switch (kind) {
    case kScale: return uint(scaleAndBias(x, uintBitsToFloat(attributes.aLow), uintBitsToFloat(attributes.bLow)));
    case kUnary: return uint(applyFunction(op, x, int(attributes.aLow), int(attributes.bLow)));
    case kBinary: return uint(applyFunction(op, x, z));
  }
  return ask(op, x, z);
}

uint applyUint(const uint kind, const uint op, const uint x, const uint z) {
  switch (kind) {
    case kScale: return scaleAndBias(x, uintBitsToFloat(attributes.aLow), uintBitsToFloat(attributes.bLow));
    case kUnary: return applyFunction(op, x, attributes.aLow, attributes.bLow);
    case kBinary: return applyFunction(op, x, z);
  }
  return ask(op, x, z);
}

// What a step of type `from` makes of two values, before it is a value of type `to`.
uint applyStep(const uint kind, const uint op, const uint from, const uint to, const uint x, const uint z) {
  if (calls(kIntegers)) {
    switch (kind) {
      case kCast: return castValue(x, from, to);
      case kDifference: return floatBitsToUint(differenceOf(x, z, from));
      case kQuotient: return floatBitsToUint(quotientToRound(uintBitsToFloat(x), uintBitsToFloat(z)));
      case kQuantize: return quantized(uintBitsToFloat(x), z, to);
    }
  }
  if (isFloatType(from)) {
    // A fused activation takes FLOAT32, and what it makes is rounded at once.
    const bool isHalf = isHalfType(from) || isHalfType(to);
    if (!calls(kFloats | kPowers | kTrigonometric | kExponentials)) return x;
    return applyFloat(kind, op, isHalf, uintBitsToFloat(x), uintBitsToFloat(z));
  }
  if (!calls(kIntegers)) return x;
  typeBits = bitsOf(from);
  if (isSignedType(from)) return applyInt(kind, op, int(x), int(z));
  return applyUint(kind, op, x & T_MASK, z & T_MASK);
}
