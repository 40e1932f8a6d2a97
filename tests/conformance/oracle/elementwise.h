// Element-wise functions: one row each in elementwise.cpp, whatever the data type.
#pragma once

#include <cmath>
#include <compare>
#include <cstring>
#include <type_traits>

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

// 64-bit integers whose arithmetic wraps. A generic lambda over double and these serves every data type: results are
// cut to narrower types afterwards, which is what wrapping there would give too.
template <class Word>
struct Whole {
  Word value = 0;
  bool specified = true;  // false after a signed division by zero: any result will do

  Whole() = default;
  Whole(int from) : value(static_cast<Word>(from)) {}
  static Whole of(Word value, bool specified = true) {
    Whole whole;
    whole.value = value;
    whole.specified = specified;
    return whole;
  }

  friend auto operator<=>(Whole a, Whole b) { return a.value <=> b.value; }
  friend bool operator==(Whole a, Whole b) { return a.value == b.value; }
  friend Whole operator+(Whole a, Whole b) { return of(static_cast<Word>(a.bits() + b.bits()), both(a, b)); }
  friend Whole operator-(Whole a, Whole b) { return of(static_cast<Word>(a.bits() - b.bits()), both(a, b)); }
  friend Whole operator*(Whole a, Whole b) { return of(static_cast<Word>(a.bits() * b.bits()), both(a, b)); }
  friend Whole operator/(Whole a, Whole b) {
    if (b.value == 0) return of(static_cast<Word>(~uint64_t{0}), both(a, b) && std::is_unsigned_v<Word>);
    if (std::is_signed_v<Word> && b == Whole(-1)) return Whole(0) - a;
    return of(static_cast<Word>(a.value / b.value), both(a, b));
  }
  friend Whole operator%(Whole a, Whole b) {
    if (b.value == 0) return of(0, false);
    if (std::is_signed_v<Word> && b == Whole(-1)) return Whole(0);
    return of(static_cast<Word>(a.value % b.value), both(a, b));
  }
  Whole operator-() const { return Whole(0) - *this; }

 private:
  uint64_t bits() const { return static_cast<uint64_t>(value); }
  static bool both(Whole a, Whole b) { return a.specified && b.specified; }
};

using Signed = Whole<int64_t>;
using Unsigned = Whole<uint64_t>;

inline double absolute(double x) { return std::fabs(x); }
template <class Word>
Whole<Word> absolute(Whole<Word> x) {
  return x < 0 ? -x : x;
}

// A NaN loses against a number.
inline double larger(double a, double b) { return std::fmax(a, b); }
inline double smaller(double a, double b) { return std::fmin(a, b); }
template <class Word>
Whole<Word> larger(Whole<Word> a, Whole<Word> b) {
  return a < b ? b : a;
}
template <class Word>
Whole<Word> smaller(Whole<Word> a, Whole<Word> b) {
  return b < a ? b : a;
}

// The 32-bit fields that follow the tensors (and ScaleBias) in an operator's description.
struct Attributes {
  const std::byte* fields = nullptr;
  DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_UNKNOWN;  // of the output
  DML_TENSOR_DATA_TYPE inputType = type;

  template <class Field>
  Field field(size_t i) const {
    Field value;
    std::memcpy(&value, fields + i * sizeof(uint32_t), sizeof value);
    return value;
  }
  double operator[](size_t i) const { return static_cast<double>(field<float>(i)); }
  // A FLOAT field as a value of the element type.
  double as(size_t i, double) const { return (*this)[i]; }
  template <class Word>
  Whole<Word> as(size_t i, Whole<Word>) const {
    return Whole<Word>::of(static_cast<Word>(truncateTo(type, (*this)[i])));
  }
  // A DML_SCALAR_UNION of the element type.
  double scalar(size_t i, double) const {
    const auto value = field<DML_SCALAR_UNION>(i);
    return type == DML_TENSOR_DATA_TYPE_FLOAT16 ? doubleFromHalf(value.UInt16) : static_cast<double>(value.Float32);
  }
  template <class Word>
  Whole<Word> scalar(size_t i, Whole<Word>) const {
    return Whole<Word>::of(static_cast<Word>(wrapTo(type, field<DML_SCALAR_UNION>(i).Int64)));
  }
};

// Applies the activation that a FusedActivation field names to the unrounded result of another operator, whose own
// error is given per element. The result's tolerance and slack become those of both together.
void applyActivation(const DML_OPERATOR_DESC& activation, std::span<const double> error, Result& result);

Result evaluatePow(const DML_ELEMENT_WISE_POW_OPERATOR_DESC& desc, std::span<const Array> inputs);

bool knowsElementwise(DML_OPERATOR_TYPE type);
Result evaluateElementwise(const DML_OPERATOR_DESC& desc, std::span<const Array> inputs);

// What a result may be off by where one answer and another are both right.
double gap(double a, double b);

}  // namespace oracle
