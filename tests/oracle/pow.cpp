// ELEMENT_WISE_POW, whose exponents may be of another data type than its bases.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/oracle/elementwise.h"
#include "tests/oracle/fields.h"

namespace oracle {
namespace {

constexpr double kFloatEps = 0x1p-23;

// Whole powers wrap; of negative ones remains what truncation leaves of a fraction.
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
  return wrapTo(type, static_cast<int64_t>(result));
}

// Whole exponents of floating-point bases are taken as FLOAT32.
double exponentOf(const Array& exponents, size_t i) {
  return isReal(exponents.type) ? exponents.real[i] : static_cast<double>(static_cast<float>(exponents.whole[i]));
}

}  // namespace

Result evaluatePow(const DML_ELEMENT_WISE_POW_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 2);
  const Array& bases = inputs[0];
  const Array& exponents = inputs[1];
  const double scale = desc.ScaleBias ? static_cast<double>(desc.ScaleBias->Scale) : 1;
  const double bias = desc.ScaleBias ? static_cast<double>(desc.ScaleBias->Bias) : 0;
  const bool scales = scale != 1 || bias != 0;
  Result result{makeArray(bases.type, bases.sizes), ulp(32, 2)};
  result.slack.resize(bases.count());
  for (size_t i = 0; i < bases.count(); ++i) {
    const double y = exponentOf(exponents, i);
    if (!isReal(bases.type)) {
      int64_t base = bases.whole[i];
      if (scales) {
        const float product = static_cast<float>(base) * static_cast<float>(scale);
        base = truncateTo(bases.type, static_cast<double>(product + static_cast<float>(bias)));
        const int64_t fused =
            truncateTo(bases.type, static_cast<double>(std::fma(static_cast<float>(bases.whole[i]),
                                                                static_cast<float>(scale), static_cast<float>(bias))));
        if (fused != base) result.slack[i] = std::numeric_limits<double>::infinity();
      }
      if (!isReal(exponents.type)) {
        result.value.whole[i] = wholePower(bases.type, base, exponents.whole[i]);
        continue;
      }
      // By way of FLOAT32.
      const double power = std::pow(static_cast<double>(static_cast<float>(base)), y);
      result.value.whole[i] = truncateTo(bases.type, power);
      result.slack[i] = std::max(result.slack[i], 1 + 32 * kFloatEps * std::fabs(power));
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
    if (!std::isfinite(x) || (error == 0 && flushed == y)) continue;
    for (const double moved : {x - error, x, x + error})
      for (const double exponent : {y, flushed})
        result.slack[i] = std::max(result.slack[i], gap(result.value.real[i], std::pow(moved, exponent)));
  }
  return result;
}

}  // namespace oracle
