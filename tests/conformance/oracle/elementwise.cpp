#include "tests/conformance/oracle/elementwise.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "tests/conformance/oracle/fields.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestFloat = static_cast<double>(std::numeric_limits<float>::max());
constexpr double kFloatEps = 0x1p-23;

// mingw-w64 takes the processor's instructions, whose pi has 66 bits; the system's C library knows all of pi.
#ifdef __MINGW32__
double systemFunction(const char* name, double x) {
  using Function = double(__cdecl*)(double);
  return reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(GetModuleHandleA("msvcrt.dll"), name)))(x);
}
double sine(double x) { return systemFunction("sin", x); }
double cosine(double x) { return systemFunction("cos", x); }
double tangent(double x) { return systemFunction("tan", x); }
#else
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double tangent(double x) { return std::tan(x); }
#endif

using UnaryLoop = void (*)(const Array& in, const Attributes& attributes, Result& result);
using BinaryLoop = void (*)(const Array& a, const Array& b, const Attributes& attributes, Result& result);

[[noreturn]] void refuseReals() { throw std::invalid_argument("This function takes integer tensors only."); }
[[noreturn]] void refuseIntegers() { throw std::invalid_argument("This function takes floating-point tensors only."); }

// Predicates answer 0 or 1, whatever they ask of.
template <class Value>
void store(Result& result, size_t i, Value value) {
  if constexpr (std::is_same_v<Value, bool>) {
    result.value.whole[i] = value ? 1 : 0;
  } else if constexpr (std::is_same_v<Value, double>) {
    result.value.real[i] = value;
  } else {
    result.value.whole[i] = wrapTo(result.value.type, static_cast<int64_t>(value.value));
    if (value.specified) return;
    result.slack.resize(result.value.count());
    result.slack[i] = kInfinity;
  }
}

// Fails unless the output's data type can hold what the function answers.
template <class Value>
void requireOutput(const Result& result) {
  if (isReal(result.value.type) != std::is_same_v<Value, double>) {
    throw std::invalid_argument("The output's data type is not that of the function.");
  }
}

// Unary functions of 8- and 16-bit integers saturate where wider ones wrap: they are computed in 32 bits and stored.
template <class Value>
Value saturateNarrow(DML_TENSOR_DATA_TYPE type, Value value) {
  if constexpr (!std::is_same_v<Value, bool>) {
    if (elementBytes(type) > 2) return value;
    value.value = static_cast<decltype(value.value)>(truncateTo(type, static_cast<double>(value.value)));
  }
  return value;
}

template <class Function, class Word>
void unaryWhole(const Array& in, const Attributes& attributes, Result& result) {
  for (size_t i = 0; i < in.whole.size(); ++i) {
    const auto x = Whole<Word>::of(static_cast<Word>(in.whole[i]));
    store(result, i, saturateNarrow(result.value.type, Function{}(x, attributes)));
  }
}

template <class Function>
void unaryLoop(const Array& in, const Attributes& attributes, Result& result) {
  if (isReal(in.type)) {
    requireOutput<std::invoke_result_t<Function, double, const Attributes&>>(result);
    for (size_t i = 0; i < in.real.size(); ++i) store(result, i, Function{}(in.real[i], attributes));
  } else if constexpr (std::is_invocable_v<Function, Signed, const Attributes&>) {
    requireOutput<int64_t>(result);
    if (isSigned(in.type)) return unaryWhole<Function, int64_t>(in, attributes, result);
    unaryWhole<Function, uint64_t>(in, attributes, result);
  } else {
    refuseIntegers();
  }
}

template <class Function, class Word>
void binaryWhole(const Array& a, const Array& b, const Attributes& attributes, Result& result) {
  for (size_t i = 0; i < a.whole.size(); ++i) {
    const auto x = Whole<Word>::of(static_cast<Word>(a.whole[i]));
    const auto y = Whole<Word>::of(static_cast<Word>(b.whole[i]));
    store(result, i, Function{}(x, y, attributes));
  }
}

template <class Function>
void binaryLoop(const Array& a, const Array& b, const Attributes& attributes, Result& result) {
  if (isReal(a.type)) {
    requireOutput<std::invoke_result_t<Function, double, double, const Attributes&>>(result);
    for (size_t i = 0; i < a.real.size(); ++i) store(result, i, Function{}(a.real[i], b.real[i], attributes));
  } else if constexpr (std::is_invocable_v<Function, Signed, Signed, const Attributes&>) {
    requireOutput<int64_t>(result);
    if (isSigned(a.type)) return binaryWhole<Function, int64_t>(a, b, attributes, result);
    binaryWhole<Function, uint64_t>(a, b, attributes, result);
  } else {
    refuseIntegers();
  }
}

template <class Loop>
struct Row {
  DML_OPERATOR_TYPE type;
  Tolerance tolerance;
  Loop loop;

  // A function whose arguments are `auto` serves floating-point and integer tensors, one of `double` the former only.
  template <class Function>
  Row(DML_OPERATOR_TYPE operatorType, Tolerance allowed, Function) : type(operatorType), tolerance(allowed) {
    if constexpr (std::is_same_v<Loop, UnaryLoop>) {
      loop = &unaryLoop<Function>;
    } else {
      loop = &binaryLoop<Function>;
    }
  }
};

using UnaryRow = Row<UnaryLoop>;
using BinaryRow = Row<BinaryLoop>;
using A = Attributes;

// The class of trigonometric, logarithmic and error functions.
constexpr Tolerance transcendental() { return ulpOrAbs(32, 0x1p-12, 4, 0x1p-9); }
constexpr Tolerance periodic() {
  Tolerance tolerance = transcendental();
  tolerance.slope = 1;
  return tolerance;
}

// The bits of an element.
uint64_t bitsOf(DML_TENSOR_DATA_TYPE type, double x) {
  if (type == DML_TENSOR_DATA_TYPE_FLOAT16) return halfFromDouble(x);
  if (type == DML_TENSOR_DATA_TYPE_FLOAT32) return std::bit_cast<uint32_t>(static_cast<float>(x));
  return std::bit_cast<uint64_t>(x);
}
template <class Word>
uint64_t bitsOf(DML_TENSOR_DATA_TYPE type, Whole<Word> x) {
  return static_cast<uint64_t>(x.value) & ~uint64_t{0} >> (64 - 8 * elementBytes(type));
}
// The element of these bits, of the kind of the last argument.
double withBits(DML_TENSOR_DATA_TYPE type, uint64_t bits, double) {
  if (type == DML_TENSOR_DATA_TYPE_FLOAT16) return doubleFromHalf(static_cast<uint16_t>(bits));
  if (type == DML_TENSOR_DATA_TYPE_FLOAT32)
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return std::bit_cast<double>(bits);
}
template <class Word>
Whole<Word> withBits(DML_TENSOR_DATA_TYPE type, uint64_t bits, Whole<Word>) {
  return Whole<Word>::of(static_cast<Word>(wrapTo(type, static_cast<int64_t>(bits))));
}

double realOf(double x) { return x; }
template <class Word>
double realOf(Whole<Word> x) {
  return static_cast<double>(static_cast<float>(x.value));
}
double roundedFrom(DML_TENSOR_DATA_TYPE, double x, double) { return x; }
template <class Word>
Whole<Word> roundedFrom(DML_TENSOR_DATA_TYPE type, double x, Whole<Word>) {
  const double rounded = std::nearbyint(static_cast<double>(static_cast<float>(x)));
  return Whole<Word>::of(static_cast<Word>(truncateTo(type, rounded)));
}

// Sums of integers wrap before they are divided.
double wrapped(DML_TENSOR_DATA_TYPE, double x) { return x; }
template <class Word>
Whole<Word> wrapped(DML_TENSOR_DATA_TYPE type, Whole<Word> x) {
  return Whole<Word>::of(static_cast<Word>(wrapTo(type, static_cast<int64_t>(x.value))), x.specified);
}

double remainderOf(double a, double b) { return std::fmod(a, b); }
template <class Word>
Whole<Word> remainderOf(Whole<Word> a, Whole<Word> b) {
  return a % b;
}

double shifted(DML_TENSOR_DATA_TYPE, double, double, bool) { refuseReals(); }
template <class Word>
Whole<Word> shifted(DML_TENSOR_DATA_TYPE type, Whole<Word> a, Whole<Word> b, bool left) {
  const uint64_t width = 8 * elementBytes(type);
  const uint64_t bits = bitsOf(type, a);
  const auto places = static_cast<uint64_t>(b.value);
  if (places >= width) return Whole<Word>(0);
  return Whole<Word>::of(static_cast<Word>(left ? bits << places : bits >> places));
}

double roundBy(DML_ROUNDING_MODE mode, double x) {
  if (mode == DML_ROUNDING_MODE_TOWARD_ZERO) return std::trunc(x);
  if (mode == DML_ROUNDING_MODE_TOWARD_INFINITY) return std::round(x);
  return std::nearbyint(x);
}

// Near its poles as steep as this.
constexpr Tolerance tangential() {
  Tolerance tolerance = transcendental();
  tolerance.slope = 10000;
  return tolerance;
}

// Of activations. Products inside them may be flushed though their result, up to 32 times as large, is normal.
constexpr Tolerance activation() { return ulpOrAbs(18, 0x1p-121, 4, 0); }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return x > 40 ? x : std::log1p(std::exp(x)); }

// {InputTensor, OutputTensor, ScaleBias, fields}
const UnaryRow kScaled[] = {
    {DML_OPERATOR_ELEMENT_WISE_IDENTITY, exact(), [](auto x, const A&) { return x; }},
    {DML_OPERATOR_ELEMENT_WISE_ABS, exact(), [](auto x, const A&) { return absolute(x); }},
    {DML_OPERATOR_ELEMENT_WISE_CLIP, exactButZeroSign(),
     [](auto x, const A& a) { return larger(smaller(x, a.as(1, x)), a.as(0, x)); }},
    {DML_OPERATOR_ELEMENT_WISE_EXP, ulp(32, 2), [](double x, const A&) { return std::exp(x); }},
    {DML_OPERATOR_ELEMENT_WISE_RECIP, ulp(3, 2), [](double x, const A&) { return 1 / x; }},
    {DML_OPERATOR_ELEMENT_WISE_SQRT, ulp(3, 2), [](double x, const A&) { return std::sqrt(x); }},
    {DML_OPERATOR_ELEMENT_WISE_SIN, periodic(), [](double x, const A&) { return sine(x); }},
    {DML_OPERATOR_ELEMENT_WISE_COS, periodic(), [](double x, const A&) { return cosine(x); }},
    {DML_OPERATOR_ELEMENT_WISE_TANH, ulp(18, 4), [](double x, const A&) { return std::tanh(x); }},
    {DML_OPERATOR_ELEMENT_WISE_ERF, transcendental(), [](double x, const A&) { return std::erf(x); }},
    {DML_OPERATOR_ELEMENT_WISE_ACOS, transcendental(), [](double x, const A&) { return std::acos(x); }},
    {DML_OPERATOR_ELEMENT_WISE_ACOSH, transcendental(), [](double x, const A&) { return std::acosh(x); }},
    {DML_OPERATOR_ELEMENT_WISE_ASIN, transcendental(), [](double x, const A&) { return std::asin(x); }},
    {DML_OPERATOR_ELEMENT_WISE_ASINH, transcendental(), [](double x, const A&) { return std::asinh(x); }},
    {DML_OPERATOR_ELEMENT_WISE_ATAN, transcendental(), [](double x, const A&) { return std::atan(x); }},
    {DML_OPERATOR_ELEMENT_WISE_ATANH, transcendental(), [](double x, const A&) { return std::atanh(x); }},
    {DML_OPERATOR_ELEMENT_WISE_CEIL, exactButZeroSign(), [](double x, const A&) { return std::ceil(x); }},
    {DML_OPERATOR_ELEMENT_WISE_CLIP1, exactButZeroSign(),
     [](auto x, const A& a) { return larger(smaller(x, a.scalar(4, x)), a.scalar(2, x)); }},
    {DML_OPERATOR_ELEMENT_WISE_CONSTANT_POW, ulp(32, 2), [](double x, const A& a) { return std::pow(x, a[0]); }},
    {DML_OPERATOR_ELEMENT_WISE_COSH, transcendental(), [](double x, const A&) { return std::cosh(x); }},
    {DML_OPERATOR_ELEMENT_WISE_FLOOR, exactButZeroSign(), [](double x, const A&) { return std::floor(x); }},
    {DML_OPERATOR_ELEMENT_WISE_LOG, transcendental(), [](double x, const A&) { return std::log(x); }},
    {DML_OPERATOR_ELEMENT_WISE_SINH, transcendental(), [](double x, const A&) { return std::sinh(x); }},
    {DML_OPERATOR_ELEMENT_WISE_TAN, tangential(), [](double x, const A&) { return tangent(x); }},
    {DML_OPERATOR_ELEMENT_WISE_THRESHOLD, exactButZeroSign(), [](auto x, const A& a) { return larger(x, a.as(0, x)); }},
};

// {InputTensor, OutputTensor, fields}
const UnaryRow kPlain[] = {
    {DML_OPERATOR_ELEMENT_WISE_BIT_NOT, exact(),
     [](auto x, const A& a) { return withBits(a.type, ~bitsOf(a.type, x), x); }},
    {DML_OPERATOR_ELEMENT_WISE_BIT_COUNT, exact(),
     [](auto x, const A& a) { return Unsigned(std::popcount(bitsOf(a.inputType, x))); }},
    {DML_OPERATOR_ELEMENT_WISE_IS_INFINITY, exact(),
     [](double x, const A& a) {
       return std::isinf(x) && a.field<DML_IS_INFINITY_MODE>(0) !=
                                   (x < 0 ? DML_IS_INFINITY_MODE_POSITIVE : DML_IS_INFINITY_MODE_NEGATIVE);
     }},
    {DML_OPERATOR_ELEMENT_WISE_IS_NAN, exact(), [](double x, const A&) { return std::isnan(x); }},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_NOT, exact(), [](auto x, const A&) { return x == decltype(x)(0); }},
    {DML_OPERATOR_ELEMENT_WISE_NEGATE, exact(), [](auto x, const A&) { return -x; }},
    {DML_OPERATOR_ELEMENT_WISE_ROUND, exactButZeroSign(),
     [](double x, const A& a) { return roundBy(a.field<DML_ROUNDING_MODE>(0), x); }},
    {DML_OPERATOR_ELEMENT_WISE_SIGN, exactButZeroSign(),
     [](auto x, const A&) { return decltype(x)((x > decltype(x)(0)) - (x < decltype(x)(0))); }},
    {DML_OPERATOR_ACTIVATION_IDENTITY, exact(), [](auto x, const A&) { return x; }},
    {DML_OPERATOR_ACTIVATION_RELU, exactButZeroSign(), [](auto x, const A&) { return larger(x, decltype(x)(0)); }},
    {DML_OPERATOR_ACTIVATION_SIGMOID, ulp(32, 4), [](double x, const A&) { return sigmoid(x); }},
    {DML_OPERATOR_ACTIVATION_TANH, ulp(18, 4), [](double x, const A&) { return std::tanh(x); }},
    {DML_OPERATOR_ACTIVATION_SCALED_TANH, withArgument(activation(), 1),
     [](double x, const A& a) { return a[0] * std::tanh(a[1] * x); }},
    {DML_OPERATOR_ACTIVATION_LINEAR, withArgument(ulp(1, 1), 1), [](double x, const A& a) { return a[0] * x + a[1]; }},
    {DML_OPERATOR_ACTIVATION_HARD_SIGMOID, withArgument(ulp(1, 1), 1),
     [](double x, const A& a) { return std::clamp(a[0] * x + a[1], 0.0, 1.0); }},
    {DML_OPERATOR_ACTIVATION_LEAKY_RELU, ulp(1, 1), [](double x, const A& a) { return x < 0 ? a[0] * x : x; }},
    {DML_OPERATOR_ACTIVATION_THRESHOLDED_RELU, exactButZeroSign(),
     [](double x, const A& a) { return x <= a[0] ? 0.0 : x; }},
    {DML_OPERATOR_ACTIVATION_ELU, activation(), [](double x, const A& a) { return x < 0 ? a[0] * std::expm1(x) : x; }},
    {DML_OPERATOR_ACTIVATION_CELU, withArgument(activation(), 1),
     [](double x, const A& a) { return x < 0 ? a[0] * std::expm1(x / a[0]) : x; }},
    {DML_OPERATOR_ACTIVATION_SCALED_ELU, activation(),
     [](double x, const A& a) { return a[1] * (x < 0 ? a[0] * std::expm1(x) : x); }},
    {DML_OPERATOR_ACTIVATION_SOFTPLUS, withArgument(activation(), 1),
     [](double x, const A& a) { return softplus(a[0] * x) / a[0]; }},
    {DML_OPERATOR_ACTIVATION_PARAMETRIC_SOFTPLUS, withArgument(activation(), 1),
     [](double x, const A& a) { return a[0] * softplus(a[1] * x); }},
    {DML_OPERATOR_ACTIVATION_SOFTSIGN, ulp(3, 2), [](double x, const A&) { return x / (1 + std::fabs(x)); }},
    // Integers by way of FLOAT32, then rounded to nearest, halves to even, as the original does.
    {DML_OPERATOR_ACTIVATION_SHRINK, ulp(1, 1),
     [](auto given, const A& a) {
       const double x = realOf(given);
       return roundedFrom(a.type, x > a[1] ? x - a[0] : x < -a[1] ? x + a[0] : x * 0.0, given);
     }},
    {DML_OPERATOR_ACTIVATION_SWISH, withArgument(activation(), 1),
     [](double x, const A& a) { return x * sigmoid(a[0] * x); }},
    {DML_OPERATOR_ACTIVATION_HARD_SWISH, withArgument(ulp(3, 2), 1),
     [](double x, const A& a) { return x * std::clamp(a[0] * x + a[1], 0.0, 1.0); }},
    {DML_OPERATOR_ACTIVATION_GELU, activation(),
     [](double x, const A&) { return x * 0.5 * std::erfc(-x / std::numbers::sqrt2); }},
};

// {ATensor, BTensor, OutputTensor, fields}
const BinaryRow kBinary[] = {
    {DML_OPERATOR_ELEMENT_WISE_ADD, ulp(1, 1), [](auto a, auto b, const A&) { return a + b; }},
    {DML_OPERATOR_ELEMENT_WISE_SUBTRACT, ulp(1, 1), [](auto a, auto b, const A&) { return a - b; }},
    {DML_OPERATOR_ELEMENT_WISE_MULTIPLY, ulp(1, 1), [](auto a, auto b, const A&) { return a * b; }},
    {DML_OPERATOR_ELEMENT_WISE_DIVIDE, ulp(3, 2), [](auto a, auto b, const A&) { return a / b; }},
    {DML_OPERATOR_ELEMENT_WISE_MAX, exactButZeroSign(), [](auto a, auto b, const A&) { return larger(a, b); }},
    {DML_OPERATOR_ELEMENT_WISE_MIN, exactButZeroSign(), [](auto a, auto b, const A&) { return smaller(a, b); }},
    {DML_OPERATOR_ELEMENT_WISE_ATAN_YX, transcendental(),
     [](double y, double x, const A&) { return std::atan2(y, x); }},
    {DML_OPERATOR_ELEMENT_WISE_BIT_AND, exact(),
     [](auto a, auto b, const A& f) { return withBits(f.type, bitsOf(f.type, a) & bitsOf(f.type, b), a); }},
    {DML_OPERATOR_ELEMENT_WISE_BIT_OR, exact(),
     [](auto a, auto b, const A& f) { return withBits(f.type, bitsOf(f.type, a) | bitsOf(f.type, b), a); }},
    {DML_OPERATOR_ELEMENT_WISE_BIT_XOR, exact(),
     [](auto a, auto b, const A& f) { return withBits(f.type, bitsOf(f.type, a) ^ bitsOf(f.type, b), a); }},
    {DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_LEFT, exact(),
     [](auto a, auto b, const A& f) { return shifted(f.type, a, b, true); }},
    {DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_RIGHT, exact(),
     [](auto a, auto b, const A& f) { return shifted(f.type, a, b, false); }},
    {DML_OPERATOR_ELEMENT_WISE_CLIP_GRAD, exactButZeroSign(),
     [](auto x, auto gradient, const A& a) {
       return x > a.as(0, x) && x < a.as(1, x) ? gradient : decltype(gradient)(0);
     }},
    {DML_OPERATOR_ELEMENT_WISE_CLIP_GRAD1, exactButZeroSign(),
     [](auto x, auto gradient, const A& a) {
       return x > a.scalar(2, x) && x < a.scalar(4, x) ? gradient : decltype(gradient)(0);
     }},
    {DML_OPERATOR_ELEMENT_WISE_DIFFERENCE_SQUARE, ulp(2, 1),
     [](auto a, auto b, const A&) { return (a - b) * (a - b); }},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_AND, exact(),
     [](auto a, auto b, const A&) { return a != decltype(a)(0) && b != decltype(b)(0); }},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_EQUALS, exact(), [](auto a, auto b, const A&) { return a == b; }},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN, exact(), [](auto a, auto b, const A&) { return a > b; }},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL, exact(), [](auto a, auto b, const A&) { return a >= b; }},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN, exact(), [](auto a, auto b, const A&) { return a < b; }},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL, exact(), [](auto a, auto b, const A&) { return a <= b; }},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_OR, exact(),
     [](auto a, auto b, const A&) { return a != decltype(a)(0) || b != decltype(b)(0); }},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_XOR, exact(),
     [](auto a, auto b, const A&) { return (a != decltype(a)(0)) != (b != decltype(b)(0)); }},
    {DML_OPERATOR_ELEMENT_WISE_MEAN, ulp(1, 1),
     [](auto a, auto b, const A& f) { return wrapped(f.type, a + b) / decltype(a)(2); }},
    // The rest of a division of small numbers may be flushed before the divisor is added.
    {DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, ulpOrAbs(1, 0x1p-126, 1, 0),
     [](auto a, auto b, const A&) {
       const auto rest = remainderOf(a, b);
       const decltype(rest) zero(0);
       return rest != zero && (rest < zero) != (b < zero) ? rest + b : rest;
     }},
    {DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE, exactButZeroSign(),
     [](auto a, auto b, const A&) { return remainderOf(a, b); }},
    {DML_OPERATOR_ACTIVATION_PARAMETERIZED_RELU, ulp(1, 1),
     [](auto x, auto slope, const A&) { return x < decltype(x)(0) ? slope * x : x; }},
    {DML_OPERATOR_ACTIVATION_RELU_GRAD, exactButZeroSign(),
     [](auto x, auto gradient, const A&) { return x > decltype(x)(0) ? gradient : decltype(gradient)(0); }},
};

template <class Rows>
auto findRow(const Rows& rows, DML_OPERATOR_TYPE type) {
  const auto row = std::find_if(std::begin(rows), std::end(rows), [&](const auto& each) { return each.type == type; });
  return row == std::end(rows) ? nullptr : &*row;
}

bool isDenormal(DML_TENSOR_DATA_TYPE type, double value) {
  return value != 0 && std::fabs(value) < smallestNormal(type);
}

// Sets the slack to how far the result moves when its argument moves by `error`.
void addSlack(UnaryLoop loop, const Array& argument, std::span<const double> error, const Attributes& attributes,
              Result& result) {
  if (result.value.real.empty()) return;
  Result moved{result.value, {}};
  Array movedArgument = argument;
  result.slack.resize(argument.real.size());
  for (double sign : {-1.0, 1.0}) {
    for (size_t i = 0; i < argument.real.size(); ++i) movedArgument.real[i] = argument.real[i] + sign * error[i];
    loop(movedArgument, attributes, moved);
    for (size_t i = 0; i < argument.real.size(); ++i) {
      if (error[i] == 0) continue;
      // Near a pole, where the argument may lie on its other side.
      const double value = result.value.real[i];
      if (result.tolerance.slope > 1 && error[i] * value * value > 0.1 * std::fabs(value)) result.slack[i] = kInfinity;
      result.slack[i] = std::max(
          {result.slack[i], gap(result.value.real[i], moved.value.real[i]), result.tolerance.slope * error[i]});
    }
  }
}

struct ScaleBias {
  double scale = 1;
  double bias = 0;
  bool none() const { return scale == 1 && bias == 0; }
};

Result evaluateUnary(const UnaryRow& row, const Array& in, DML_TENSOR_DATA_TYPE type, ScaleBias scaleBias,
                     const std::byte* fields) {
  const Attributes attributes{fields, type, in.type};
  Result result{makeArray(type, in.sizes), row.tolerance};
  if (!isReal(in.type)) {
    if (scaleBias.none()) {
      row.loop(in, attributes, result);
      return result;
    }
    if (elementBytes(in.type) == 8) throw std::invalid_argument("64-bit integers take no ScaleBias.");
    // FLOAT32 arithmetic, fused or not, then cut to the type: where the two differ, either is right.
    Array fused = in;
    Array stepped = in;
    const float scale = static_cast<float>(scaleBias.scale);
    const float bias = static_cast<float>(scaleBias.bias);
    for (size_t i = 0; i < in.whole.size(); ++i) {
      const float x = static_cast<float>(in.whole[i]);
      const float product = x * scale;
      fused.whole[i] = truncateTo(in.type, static_cast<double>(std::fma(x, scale, bias)));
      stepped.whole[i] = truncateTo(in.type, static_cast<double>(product + bias));
    }
    row.loop(fused, attributes, result);
    Result other{makeArray(type, in.sizes), row.tolerance};
    row.loop(stepped, attributes, other);
    if (result.value.whole != other.value.whole) {
      result.slack.resize(in.whole.size());
      for (size_t i = 0; i < in.whole.size(); ++i) {
        result.slack[i] = std::fabs(static_cast<double>(result.value.whole[i] - other.value.whole[i]));
      }
    }
    return result;
  }

  if (scaleBias.none() && row.tolerance.argumentUlp == 0) {
    row.loop(in, attributes, result);
    if (row.tolerance.kind == Tolerance::Kind::Exact) return result;
    const auto denormal = [&](double x) { return isDenormal(in.type, x); };
    if (std::none_of(in.real.begin(), in.real.end(), denormal)) return result;
  }
  if (!scaleBias.none() && in.type == DML_TENSOR_DATA_TYPE_FLOAT64) {
    throw std::invalid_argument("FLOAT64 takes no ScaleBias.");
  }
  if (!scaleBias.none() && row.tolerance.kind == Tolerance::Kind::Exact) result.tolerance = ulp(1, 1);
  Array argument = in;
  std::vector<double> error(in.real.size());
  for (size_t i = 0; i < in.real.size(); ++i) {
    const double x = in.real[i];
    double& moved = error[i];
    if (isDenormal(in.type, x)) moved = std::fabs(x * scaleBias.scale);
    if (!scaleBias.none()) {
      const double product = x * scaleBias.scale;
      argument.real[i] = product + scaleBias.bias;
      moved += kFloatEps * (std::fabs(product) + std::fabs(argument.real[i]));
      if (isDenormal(DML_TENSOR_DATA_TYPE_FLOAT32, product)) moved += std::fabs(product);
      if (isDenormal(DML_TENSOR_DATA_TYPE_FLOAT32, argument.real[i])) moved += std::fabs(argument.real[i]);
      if (std::fabs(product) > kLargestFloat && std::isfinite(product)) moved = kInfinity;
    }
    moved += kFloatEps * row.tolerance.argumentUlp * std::fabs(argument.real[i]);
    // Products inside the function may overflow before it does.
    if (row.tolerance.argumentUlp != 0 && std::fabs(argument.real[i]) > kLargestFloat / 4) moved = kInfinity;
    if (!std::isfinite(argument.real[i])) moved = 0;
  }
  row.loop(argument, attributes, result);
  addSlack(row.loop, argument, error, attributes, result);
  return result;
}

Result evaluateBinary(const BinaryRow& row, const Array& a, const Array& b, DML_TENSOR_DATA_TYPE type,
                      const std::byte* fields) {
  if (a.sizes != b.sizes || a.type != b.type) throw std::invalid_argument("ATensor and BTensor differ.");
  const Attributes attributes{fields, type};
  Result result{makeArray(type, a.sizes), row.tolerance};
  row.loop(a, b, attributes, result);
  if (row.tolerance.kind == Tolerance::Kind::Exact || result.value.real.empty()) return result;
  const auto denormal = [&](double x) { return isDenormal(a.type, x); };
  if (std::none_of(a.real.begin(), a.real.end(), denormal) && std::none_of(b.real.begin(), b.real.end(), denormal)) {
    return result;
  }
  Array flushedA = a;
  Array flushedB = b;
  for (double& x : flushedA.real) x = denormal(x) ? std::copysign(0.0, x) : x;
  for (double& x : flushedB.real) x = denormal(x) ? std::copysign(0.0, x) : x;
  Result flushed{makeArray(type, a.sizes), row.tolerance};
  row.loop(flushedA, flushedB, attributes, flushed);
  result.slack.resize(a.real.size());
  for (size_t i = 0; i < a.real.size(); ++i) result.slack[i] = gap(result.value.real[i], flushed.value.real[i]);
  return result;
}

Result evaluateAdd1(const DML_ELEMENT_WISE_ADD1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  const BinaryRow& add = *findRow(kBinary, DML_OPERATOR_ELEMENT_WISE_ADD);
  Result result = evaluateBinary(add, inputs[0], inputs[1], bufferOf(desc.OutputTensor).DataType, nullptr);
  if (desc.FusedActivation == nullptr) return result;
  if (!isReal(result.value.type)) refuseIntegers();
  std::vector<double> error(result.value.real.size());
  for (size_t i = 0; i < error.size(); ++i) {
    const double sum = result.value.real[i];
    error[i] = kFloatEps * std::fabs(sum) + (result.slack.empty() ? 0 : result.slack[i]);
    if (isDenormal(DML_TENSOR_DATA_TYPE_FLOAT32, sum)) error[i] += std::fabs(sum);
    // The activation sees an infinity.
    if (std::fabs(sum) > kLargestFloat && std::isfinite(sum)) error[i] = kInfinity;
  }
  applyActivation(*desc.FusedActivation, error, result);
  return result;
}

}  // namespace

double gap(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isnan(a) || std::isnan(b) ? kInfinity : std::fabs(a - b);
}

void applyActivation(const DML_OPERATOR_DESC& activation, std::span<const double> error, Result& result) {
  const bool clips = activation.Type == DML_OPERATOR_ELEMENT_WISE_CLIP;  // has a ScaleBias, too
  const UnaryRow* row = clips ? findRow(kScaled, activation.Type) : findRow(kPlain, activation.Type);
  if (row == nullptr) throw std::invalid_argument("The oracle does not know this activation.");
  const Attributes attributes{fieldsAfterPointers(activation, clips ? 3 : 2), result.value.type};
  const Array argument = result.value;
  result.tolerance = row->tolerance;
  if (result.tolerance.kind == Tolerance::Kind::Exact) result.tolerance = ulp(1, 1);
  result.slack.clear();
  row->loop(argument, attributes, result);
  addSlack(row->loop, argument, error, attributes, result);
  // A fused function may handle NaN as the others of its kernel do and not as it does alone.
  for (size_t i = 0; i < argument.real.size(); ++i) {
    if (std::isnan(argument.real[i]) && !std::isnan(result.value.real[i])) result.slack[i] = kInfinity;
  }
}

bool knowsElementwise(DML_OPERATOR_TYPE type) {
  return type == DML_OPERATOR_ELEMENT_WISE_ADD1 || findRow(kScaled, type) != nullptr ||
         findRow(kPlain, type) != nullptr || findRow(kBinary, type) != nullptr;
}

Result evaluateElementwise(const DML_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  const bool unary = findRow(kBinary, desc.Type) == nullptr && desc.Type != DML_OPERATOR_ELEMENT_WISE_ADD1;
  requireInputs(inputs, unary ? 1 : 2);
  const DML_TENSOR_DATA_TYPE type = bufferOf(pointerField<DML_TENSOR_DESC>(desc, unary ? 1 : 2)).DataType;
  if (desc.Type == DML_OPERATOR_ELEMENT_WISE_ADD1) {
    return evaluateAdd1(*static_cast<const DML_ELEMENT_WISE_ADD1_OPERATOR_DESC*>(desc.Desc), inputs);
  }
  if (const BinaryRow* row = findRow(kBinary, desc.Type)) {
    return evaluateBinary(*row, inputs[0], inputs[1], type, fieldsAfterPointers(desc, 3));
  }
  if (const UnaryRow* row = findRow(kPlain, desc.Type)) {
    return evaluateUnary(*row, inputs[0], type, {}, fieldsAfterPointers(desc, 2));
  }
  ScaleBias scaleBias;
  if (const auto* given = pointerField<DML_SCALE_BIAS>(desc, 2)) {
    scaleBias = {static_cast<double>(given->Scale), static_cast<double>(given->Bias)};
  }
  return evaluateUnary(*findRow(kScaled, desc.Type), inputs[0], type, scaleBias, fieldsAfterPointers(desc, 3));
}

}  // namespace oracle
