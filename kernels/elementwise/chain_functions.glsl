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

// Of the step that executes.
struct Attributes {
  uint aLow, aHigh, bLow, bHigh, mode;
};
uint OP;
Attributes attributes;
int typeBits;
#define ATTRIBUTES attributes

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

bool isFloatType(uint type) { return (type & kTypeFloat) != 0u; }
bool isSignedType(uint type) { return (type & kTypeSigned) != 0u; }
int bitsOf(uint type) { return 1 << int(typeWidth(type)); }

// Rounded once: two exact halves.
float floatOfInteger(uint x, bool isSigned) {
  const float high = isSigned ? float(int(x) >> 16) : float(x >> 16);
  return high * 65536.0 + float(x & 0xffffu);
}

// As CAST does; a FLOAT16 is rounded by what follows.
uint castValue(uint x, uint from, uint to) {
  if (isFloatType(to)) return isFloatType(from) ? x : floatBitsToUint(floatOfInteger(x, isSignedType(from)));
  typeBits = bitsOf(to);
  const uint most = isSignedType(to) ? T_MASK >> 1 : T_MASK;
  if (isFloatType(from)) {
    const float value = uintBitsToFloat(x);
    return isSignedType(to) ? uint(intSaturated(value)) : uintSaturated(value);
  }
  return isSignedType(to) ? uint(clamp(int(x), -1 - int(most), int(most))) : min(x, most);
}

uint applyFloat(uint kind, float x, float z) {
  switch (kind) {
    case kScale:
      return floatBitsToUint(scaleAndBias(x, uintBitsToFloat(attributes.aLow), uintBitsToFloat(attributes.bLow)));
    case kUnary:
      return floatBitsToUint(applyFunction(x, uintBitsToFloat(attributes.aLow), uintBitsToFloat(attributes.bLow)));
    case kBinary: return floatBitsToUint(applyFunction(x, z));
    case kPredicate: return ask(x, z);
  }
  return floatBitsToUint(powAccurate(x, z));
}

uint applyInt(uint kind, int x, int z) {
  switch (kind) {
    case kScale: return uint(scaleAndBias(x, uintBitsToFloat(attributes.aLow), uintBitsToFloat(attributes.bLow)));
    case kUnary: return uint(applyFunction(x, int(attributes.aLow), int(attributes.bLow)));
    case kBinary: return uint(applyFunction(x, z));
  }
  return ask(x, z);
}

uint applyUint(uint kind, uint x, uint z) {
  switch (kind) {
    case kScale: return scaleAndBias(x, uintBitsToFloat(attributes.aLow), uintBitsToFloat(attributes.bLow));
    case kUnary: return applyFunction(x, attributes.aLow, attributes.bLow);
    case kBinary: return applyFunction(x, z);
  }
  return ask(x, z);
}

// What a step of type `from` makes of two values, before it is a value of type `to`.
uint applyStep(uint kind, uint from, uint to, uint x, uint z) {
  switch (kind) {
    case kCast: return castValue(x, from, to);
    case kDifference: return floatBitsToUint(differenceOf(x, z, from));
    case kQuantize: return quantized(uintBitsToFloat(x), floatFrom(z, to), to);
  }
  if (isFloatType(from)) return applyFloat(kind, uintBitsToFloat(x), uintBitsToFloat(z));
  typeBits = bitsOf(from);
  if (isSignedType(from)) return applyInt(kind, int(x), int(z));
  return applyUint(kind, x & T_MASK, z & T_MASK);
}
