// ELEMENT_WISE_POW, whose exponents may be of another data type than its bases.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/conformance/oracle/elementwise.h"
#include "tests/conformance/oracle/fields.h"

namespace oracle {
namespace {

constexpr double kFloatEps = 0x1p-23;

// Whole powers wrap at 32 bits, and saturate to narrower types; of negative ones remains what truncation leaves of a
// fraction.
int64_t wholePower(DML_TENSOR_DATA_TYPE type, int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1;
  auto square = static_cast<uint64_t>(base);
  for (int64_t n = exponent; n != 0; n /= 2) {
    if (n % 2 != 0) result *= square;
    square *= square;
  }
  const bool isSigned =
      type == DML_TENSOR_DATA_TYPE_INT8 || type == DML_TENSOR_DATA_TYPE_INT16 || type == DML_TENSOR_DATA_TYPE_INT32;
  const int64_t wrapped =
      wrapTo(isSigned ? DML_TENSOR_DATA_TYPE_INT32 : DML_TENSOR_DATA_TYPE_UINT32, static_cast<int64_t>(result));
  return truncateTo(type, static_cast<double>(wrapped));
}

// x * scale + bias as an element of a type, and whether a fused multiplication leads to another one.
struct Scaled {
  int64_t value;
  bool ambiguous;
};
Scaled scaledTo(DML_TENSOR_DATA_TYPE type, int64_t x, const DML_SCALE_BIAS& by) {
  const auto real = static_cast<float>(x);
  const float product = real * by.Scale;
  const int64_t value = truncateTo(type, static_cast<double>(product + by.Bias));
  return {value, truncateTo(type, static_cast<double>(std::fma(real, by.Scale, by.Bias))) != value};
}

}  // namespace

Result evaluatePow(const DML_ELEMENT_WISE_POW_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 2);
  const Array& bases = inputs[0];
  const Array& exponents = inputs[1];
  const DML_SCALE_BIAS by = desc.ScaleBias ? *desc.ScaleBias : DML_SCALE_BIAS{1, 0};
  const auto scale = static_cast<double>(by.Scale);
  const auto bias = static_cast<double>(by.Bias);
  const bool scales = scale != 1 || bias != 0;
  const bool wholeExponents = !isReal(exponents.type);
  const bool isUnsigned = exponents.type == DML_TENSOR_DATA_TYPE_UINT8 ||
                          exponents.type == DML_TENSOR_DATA_TYPE_UINT16 ||
                          exponents.type == DML_TENSOR_DATA_TYPE_UINT32;
  const auto wide = isUnsigned ? DML_TENSOR_DATA_TYPE_UINT32 : DML_TENSOR_DATA_TYPE_INT32;
  Result result{makeArray(bases.type, bases.sizes), ulp(32, 2)};
  result.slack.resize(bases.count());
  for (size_t i = 0; i < bases.count(); ++i) {
    // The original applies ScaleBias to the exponents too; whole ones are truncated, to 32 bits.
    int64_t wholeExponent = wholeExponents ? exponents.whole[i] : 0;
    double y = wholeExponents ? 0 : exponents.real[i];
    double exponentError = 0;
    if (scales && wholeExponents) {
      const Scaled scaled = scaledTo(wide, wholeExponent, by);
      wholeExponent = scaled.value;
      if (scaled.ambiguous) result.slack[i] = std::numeric_limits<double>::infinity();
    } else if (scales) {
      // It matters whether it is whole.
      const float given = static_cast<float>(y);
      const float product = given * by.Scale;
      y = static_cast<double>(product + by.Bias);
      exponentError = std::fabs(static_cast<double>(std::fma(given, by.Scale, by.Bias)) - y);
    }
    // Whole exponents of floating-point bases are taken as FLOAT32.
    if (wholeExponents) y = static_cast<double>(static_cast<float>(wholeExponent));
    if (!isReal(bases.type)) {
      int64_t base = bases.whole[i];
      if (scales) {
        const Scaled scaled = scaledTo(bases.type, base, by);
        base = scaled.value;
        if (scaled.ambiguous) result.slack[i] = std::numeric_limits<double>::infinity();
      }
      if (wholeExponents) {
        result.value.whole[i] = wholePower(bases.type, base, wholeExponent);
        continue;
      }
      // By way of FLOAT32.
      const auto x = static_cast<double>(static_cast<float>(base));
      const double power = std::pow(x, y);
      result.value.whole[i] = truncateTo(bases.type, power);
      result.slack[i] = std::max(result.slack[i], 1 + 32 * kFloatEps * std::fabs(power));
      for (const double exponent : {y - exponentError, y + exponentError})
        result.slack[i] = std::max(result.slack[i], 1 + gap(power, std::pow(x, exponent)));
      continue;
    }
    const double product = bases.real[i] * scale;
    const double x = scales ? product + bias : bases.real[i];
    double error = scales ? kFloatEps * (std::fabs(product) + std::fabs(x)) : 0;
    if (std::fabs(x) < smallestNormal(DML_TENSOR_DATA_TYPE_FLOAT32)) error += std::fabs(x);
    if (std::fabs(product) < smallestNormal(DML_TENSOR_DATA_TYPE_FLOAT32)) error += std::fabs(product);
    result.value.real[i] = std::pow(x, y);
    const double smallest = smallestNormal(
        exponents.type == DML_TENSOR_DATA_TYPE_FLOAT16 ? DML_TENSOR_DATA_TYPE_FLOAT16 : DML_TENSOR_DATA_TYPE_FLOAT32);
    const double flushed = std::fabs(y) < smallest ? 0 : y;
    if (!std::isfinite(x) || (error == 0 && flushed == y && exponentError == 0)) continue;
    for (const double moved : {x - error, x, x + error})
      for (const double exponent : {y, flushed, y - exponentError, y + exponentError})
        result.slack[i] = std::max(result.slack[i], gap(result.value.real[i], std::pow(moved, exponent)));
  }
  return result;
}

}  // namespace oracle
