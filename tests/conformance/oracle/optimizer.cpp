#include "tests/conformance/oracle/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/conformance/oracle/elements.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEps = 0x1p-23;
constexpr double kLarge = 1e37;  // squares and sums beyond it may overflow in single precision

}  // namespace

// By the page's formula. In the first step, 0, both moments are corrected by 0, and the parameters become NaN.
std::vector<Result> evaluateAdam(const DML_ADAM_OPTIMIZER_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 5);
  std::vector<Result> results;
  for (const DML_TENSOR_DESC* tensor :
       {desc.OutputParametersTensor, desc.OutputFirstMomentTensor, desc.OutputSecondMomentTensor}) {
    results.push_back(exactResult(tensor));
    results.back().tolerance = ulp(1, 1);
    results.back().slack.resize(results.back().value.count());
  }
  const auto beta1 = static_cast<double>(desc.Beta1);
  const auto beta2 = static_cast<double>(desc.Beta2);
  const auto rate = static_cast<double>(desc.LearningRate);
  const auto epsilon = static_cast<double>(desc.Epsilon);
  const auto step = static_cast<double>(inputs[4].whole.at(0));
  // 1 - beta^step without cancellation.
  const auto missing = [&](double beta) {
    return beta > 0 && beta < 1 ? -std::expm1(step * std::log(beta)) : 1 - std::pow(beta, step);
  };
  const double alpha = std::sqrt(missing(beta2)) / missing(beta1);
  for (size_t i = 0; i < inputs[0].real.size(); ++i) {
    const double x = inputs[0].real[i];
    const double g = inputs[3].real[i];
    const double m = beta1 * inputs[1].real[i] + (1 - beta1) * g;
    const double v = beta2 * inputs[2].real[i] + (1 - beta2) * g * g;
    const double mError = 3 * kEps * (std::fabs(beta1 * inputs[1].real[i]) + std::fabs((1 - beta1) * g)) + 1e-37;
    const double vError = 4 * kEps * (std::fabs(beta2 * inputs[2].real[i]) + std::fabs((1 - beta2) * g * g)) + 1e-37;
    const bool overflows = std::fabs(v) > kLarge || g * g > kLarge || std::fabs(m) > kLarge;
    const double change = rate * alpha * m / (std::sqrt(v) + epsilon);
    // The changes that a slightly different second moment makes.
    const double low = std::sqrt(std::max(0.0, v - vError)) + epsilon;
    const double high = std::sqrt(std::max(0.0, v + vError)) + epsilon;
    double error = 0;
    if (std::isfinite(change)) {
      const double numerator = rate * alpha * m;
      error = std::max(std::fabs(numerator / low - change), std::fabs(numerator / high - change)) +
              std::fabs(rate * alpha) * mError / std::min(std::fabs(low), std::fabs(high)) +
              64 * kEps * std::fabs(change) + kEps * std::fabs(x);
    }
    const bool mayBeNan = (v < 0) != (v - vError < 0) || (v < 0) != (v + vError < 0);
    if (overflows || (mayBeNan && v != 0) || std::isnan(error)) error = kInfinity;
    results[0].value.real[i] = x - change;
    results[0].slack[i] = error;
    results[1].value.real[i] = m;
    results[1].slack[i] = std::fabs(m) > kLarge && std::isfinite(m) ? kInfinity : std::isfinite(mError) ? mError : 0;
    results[2].value.real[i] = v;
    results[2].slack[i] = overflows && std::isfinite(v) ? kInfinity : std::isfinite(vError) ? vError : 0;
  }
  return results;
}

}  // namespace oracle
