#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "tests/conformance/oracle/oracle.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFloatEps = 0x1p-23;
constexpr double kStrictShare = 0.999;

std::string coordinatesOf(size_t index, const std::vector<uint32_t>& sizes) {
  std::string text;
  for (size_t d = sizes.size(); d-- > 0;) {
    text = std::to_string(index % sizes[d]) + (text.empty() ? "" : ", ") + text;
    index /= sizes[d];
  }
  return "{" + text + "}";
}

std::string textOf(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string textOf(int64_t value, DML_TENSOR_DATA_TYPE type) {
  return type == DML_TENSOR_DATA_TYPE_UINT64 ? std::to_string(static_cast<uint64_t>(value)) : std::to_string(value);
}

// Infinity as the finite value that follows the type's largest, so that an overflow that comes one rounding early or
// late has a finite error.
double pastLargest(DML_TENSOR_DATA_TYPE type, double value) {
  if (!std::isinf(value)) return value;
  double bound = std::numeric_limits<double>::max();
  if (type == DML_TENSOR_DATA_TYPE_FLOAT32) bound = 0x1p128;
  if (type == DML_TENSOR_DATA_TYPE_FLOAT16) bound = 0x1p16;
  return std::copysign(bound, value);
}

double largest(DML_TENSOR_DATA_TYPE type) {
  if (type == DML_TENSOR_DATA_TYPE_FLOAT32) return static_cast<double>(std::numeric_limits<float>::max());
  return type == DML_TENSOR_DATA_TYPE_FLOAT16 ? 65504.0 : std::numeric_limits<double>::max();
}

struct Judge {
  const Result& expected;
  const Array& actual;
  DML_TENSOR_DATA_TYPE type = expected.value.type;
  Comparison comparison = {};
  size_t pastStrict = 0;
  size_t firstPastStrict = 0;
  double strictBound = 0;

  void fail(size_t i, const std::string& text) {
    if (!comparison.ok) return;
    comparison.ok = false;
    comparison.message = "Element " + coordinatesOf(i, expected.value.sizes) + " " + text;
  }

  void note(size_t i, double error, double bound) {
    const double share = bound > 0 ? error / bound : (error > 0 ? kInfinity : 0);
    if (share > comparison.maxShare) {
      comparison.maxShare = share;
      comparison.worst = i;
    }
  }

  void whole(size_t i) {
    const int64_t want = expected.value.whole[i];
    const int64_t got = actual.whole[i];
    if (want == got) return;
    const double error = type == DML_TENSOR_DATA_TYPE_UINT64
                             ? static_cast<double>(std::max(static_cast<uint64_t>(want), static_cast<uint64_t>(got)) -
                                                   std::min(static_cast<uint64_t>(want), static_cast<uint64_t>(got)))
                             : std::fabs(static_cast<double>(want) - static_cast<double>(got));
    const double slack = expected.slack.empty() ? 0 : expected.slack[i];
    if (slack == kInfinity) return;
    comparison.maxAbs = std::max(comparison.maxAbs, error);
    note(i, error, slack);
    if (!(error <= slack)) {
      fail(i, "is " + textOf(got, type) + ", expected " + textOf(want, type) + ".");
    }
  }

  void real(size_t i) {
    const Tolerance& tolerance = expected.tolerance;
    const double full = expected.value.real[i];
    const double got = actual.real[i];
    const double want = roundTo(type, full);
    const double slack = expected.slack.empty() ? 0 : expected.slack[i];
    const bool bits = tolerance.kind == Tolerance::Kind::Exact;
    if (slack == kInfinity || (std::isnan(want) && std::isnan(got))) return;
    if (want == got && (tolerance.anyZero || want != 0 || std::signbit(want) == std::signbit(got))) return;
    const auto describe = [&](const std::string& tail) {
      return "is " + textOf(got) + ", expected " + textOf(want) + tail;
    };
    if (std::isnan(want) || std::isnan(got) || want == got) return fail(i, describe("."));
    // Infinities that differ are worth a bound only where the unrounded result is finite: there one of the two rounds
    // to infinity and the other not yet.
    if ((std::isinf(want) || std::isinf(got)) && (bits || std::isinf(full))) return fail(i, describe("."));

    // Flushed, itself or what it is made of.
    if (!bits && got == 0 && (std::fabs(full) < smallestNormal(type) || std::fabs(full) <= slack)) return;

    const double reference = tolerance.kind == Tolerance::Kind::Sum || std::isinf(want) ? full : want;
    const double error = std::fabs(pastLargest(type, got) - reference);
    const double unit = spacing(type, std::min(std::fabs(want), largest(type)));
    comparison.maxAbs = std::max(comparison.maxAbs, error);
    const bool half = type == DML_TENSOR_DATA_TYPE_FLOAT16;
    const double absolute = half ? tolerance.abs16 : tolerance.abs32;
    bool byAbsolute = false;  // accepted by that alone
    double bound = 0;
    double strict = kInfinity;
    if (tolerance.kind == Tolerance::Kind::Ulp) {
      bound = (half ? tolerance.ulp16 : tolerance.ulp32) * unit;
      byAbsolute = error > bound && error <= absolute;
      bound = std::max(bound, absolute);
    } else if (tolerance.kind == Tolerance::Kind::Sum) {
      const double terms = static_cast<double>(expected.terms);
      const double scale = kFloatEps * expected.magnitude[i];
      const double rounding =
          half ? 0.5 * spacing(type, std::min(std::max(std::fabs(want), std::fabs(got)), largest(type))) : 0;
      bound = 2 * terms * scale + rounding;
      strict = 4 * std::sqrt(terms) * scale + rounding + slack;
    }
    bound += slack;
    if (!byAbsolute) comparison.maxUlp = std::max(comparison.maxUlp, error / unit);
    note(i, error, bound);
    if (!(error <= bound)) {
      fail(i,
           describe(" (error " + textOf(error) + ", " + textOf(error / unit) + " ULP; bound " + textOf(bound) + ")."));
    } else if (error > strict && pastStrict++ == 0) {
      firstPastStrict = i;
      strictBound = strict;
    }
  }
};

}  // namespace

Comparison compare(const Result& expected, const Array& actual) {
  const Array& value = expected.value;
  if (value.type != actual.type || value.sizes != actual.sizes || value.count() != actual.count()) {
    return {false, "The output has another data type or other sizes than expected.", kInfinity, kInfinity, kInfinity,
            0};
  }
  Judge judge{expected, actual};
  for (size_t i = 0; i < value.whole.size(); ++i) judge.whole(i);
  for (size_t i = 0; i < value.real.size(); ++i) judge.real(i);
  const double allowed = std::floor((1 - kStrictShare) * static_cast<double>(value.count()));
  if (judge.comparison.ok && static_cast<double>(judge.pastStrict) > allowed) {
    judge.fail(judge.firstPastStrict,
               "is the first of " + std::to_string(judge.pastStrict) +
                   " elements beyond the bound that 99.9 % must keep: " + textOf(actual.real[judge.firstPastStrict]) +
                   ", expected " + textOf(roundTo(value.type, value.real[judge.firstPastStrict])) + " (bound " +
                   textOf(judge.strictBound) + ").");
  }
  return judge.comparison;
}

}  // namespace oracle
