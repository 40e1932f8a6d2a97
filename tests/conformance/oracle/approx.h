// Numbers with what rounding in FLOAT32 may do to them: every operation adds its own error to those of its operands.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

class Approx {
 public:
  static constexpr double kEps = 0x1p-23;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kLargest = static_cast<double>(std::numeric_limits<float>::max());

  double value = 0;
  double error = 0;

  Approx() = default;
  Approx(double number, double bound = 0) : value(number), error(bound) {}
  // An element of a tensor; a denormal one may be flushed.
  static Approx element(const Array& array, size_t i) {
    const double x = array.real.at(i);
    return {x, x != 0 && std::fabs(x) < smallestNormal(array.type) ? std::fabs(x) : 0};
  }
  // The result of an operation that errs by so many units in the last place.
  static Approx rounded(double value, double error, double ulps) {
    if (std::isnan(error)) error = kInfinity;
    if (!std::isfinite(value)) return {value, error > 0 ? kInfinity : 0};
    if (std::fabs(value) > kLargest) return {value, kInfinity};
    if (value != 0 && std::fabs(value) < 0x1p-126) return {value, error + 2 * std::fabs(value)};
    return {value, error + ulps * kEps * std::fabs(value)};
  }

  friend Approx operator+(const Approx& a, const Approx& b) { return rounded(a.value + b.value, a.error + b.error, 1); }
  friend Approx operator-(const Approx& a, const Approx& b) { return rounded(a.value - b.value, a.error + b.error, 1); }
  friend Approx operator*(const Approx& a, const Approx& b) {
    double bound = a.error * b.error;
    if (b.error != 0) bound += std::fabs(a.value) * b.error;
    if (a.error != 0) bound += std::fabs(b.value) * a.error;
    return rounded(a.value * b.value, bound, 1);
  }
  friend Approx operator/(const Approx& a, const Approx& b) {
    const double least = std::fabs(b.value) - b.error;
    double bound = 0;
    if (a.error != 0 || b.error != 0) {
      bound = least > 0 ? a.error / least + std::fabs(a.value) * b.error / (std::fabs(b.value) * least) : kInfinity;
      if (std::isinf(b.value)) bound = a.error < kInfinity ? 0 : kInfinity;
    }
    return rounded(a.value / b.value, bound, 3);
  }
  friend Approx sqrt(const Approx& a) {
    double bound = 0;
    if (a.error != 0) {
      bound = a.value > a.error ? std::sqrt(a.value + a.error) - std::sqrt(a.value - a.error) : kInfinity;
    }
    return rounded(std::sqrt(a.value), bound, 3);
  }
  friend Approx pow(const Approx& a, double y) {
    double bound = 0;
    if (a.error != 0) {
      bound =
          a.value > a.error ? std::fabs(std::pow(a.value + a.error, y) - std::pow(a.value - a.error, y)) : kInfinity;
    }
    return rounded(std::pow(a.value, y), bound, 4);
  }
};

// A sum of chains of some hundred terms, in which all additions may round the same way.
class ApproxSum {
 public:
  void add(const Approx& term) {
    value_ += term.value;
    error_ += term.error;
    if (std::isfinite(term.value)) magnitude_ += std::fabs(term.value);
  }
  Approx sum() const {
    if (magnitude_ > Approx::kLargest / 2) return {value_, Approx::kInfinity};
    return Approx::rounded(value_, error_ + kChain * Approx::kEps * magnitude_, 1);
  }
  Approx mean(double count) const { return sum() / Approx(count); }

 private:
  static constexpr double kChain = 64;
  double value_ = 0, error_ = 0, magnitude_ = 0;
};

}  // namespace oracle
