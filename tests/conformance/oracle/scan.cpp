#include "tests/conformance/oracle/scan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/conformance/oracle/fields.h"
#include "tests/conformance/oracle/walk.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestFloat = static_cast<double>(std::numeric_limits<float>::max());

bool isDenormal(DML_TENSOR_DATA_TYPE type, double x) { return x != 0 && std::fabs(x) < smallestNormal(type); }

// A running sum or product, and what its error depends on.
class Tally {
 public:
  Tally(DML_TENSOR_DATA_TYPE type, bool product) : type_(type), product_(product), value_(product ? 1 : 0) {}

  void add(double x) {
    if (product_) {
      multiply(x);
      return;
    }
    value_ += x;
    if (isDenormal(type_, x)) flushed_ += std::fabs(x);
    if (!std::isfinite(x)) return;
    magnitude_ += std::fabs(x);
    (x > 0 ? positive_ : negative_) += std::fabs(x);
  }
  double value() const { return value_; }
  double magnitude() const { return product_ && std::isfinite(value_) ? std::fabs(value_) : magnitude_; }
  // Infinity where the order of operations decides whether a result between overflows or vanishes.
  double slack() const {
    if (product_) {
      const bool overflow = up_ > 127 && (down_ > 0 || zero_);
      const bool underflow = down_ > 125 && (up_ > 0 || infinite_);
      return denormal_ || overflow || underflow ? kInfinity : 0;
    }
    const bool overflow = std::max(positive_, negative_) > kLargestFloat / 2 && std::min(positive_, negative_) > 0;
    return overflow ? kInfinity : flushed_;
  }

 private:
  void multiply(double x) {
    value_ *= x;
    denormal_ = denormal_ || isDenormal(type_, x);
    zero_ = zero_ || x == 0;
    infinite_ = infinite_ || std::isinf(x);
    if (x == 0 || !std::isfinite(x)) return;
    const double power = std::log2(std::fabs(x));
    (power > 0 ? up_ : down_) += std::fabs(power);
  }

  DML_TENSOR_DATA_TYPE type_;
  bool product_;
  double value_;
  double magnitude_ = 0, positive_ = 0, negative_ = 0, flushed_ = 0;
  double up_ = 0, down_ = 0;  // powers of two by which growing and shrinking factors scale
  bool zero_ = false, infinite_ = false, denormal_ = false;
};

Result scan(const DML_TENSOR_DESC* outputTensor, std::span<const Array> inputs, uint32_t axis, bool backward,
            bool exclusive, bool product) {
  requireInputs(inputs, 1);
  const Array& in = inputs[0];
  const DML_BUFFER_TENSOR_DESC& output = bufferOf(outputTensor);
  if (sizesOf(output) != in.sizes || output.DataType != in.type) {
    throw std::invalid_argument("OutputTensor has other sizes or another data type than InputTensor.");
  }
  Result result{makeArray(in.type, in.sizes), exact()};
  const bool real = isReal(in.type);
  if (real) {
    result.tolerance = Tolerance{Tolerance::Kind::Sum, 0, 0, 0, 0, 0, true};
    result.terms = in.sizes.at(axis);
    result.magnitude.resize(in.real.size());
    result.slack.resize(in.real.size());
  }
  std::vector<uint32_t> kept = in.sizes;
  kept.at(axis) = 1;
  const Steps steps = packedSteps(in.sizes);
  walk<1>(kept, {steps}, [&](const std::array<int64_t, 1>& base) {
    Tally tally(in.type, product);
    uint64_t whole = product ? 1 : 0;
    for (uint32_t i = 0; i < in.sizes[axis]; ++i) {
      const int64_t k = backward ? in.sizes[axis] - 1 - i : i;
      const auto at = static_cast<size_t>(base[0] + k * steps[axis]);
      const auto advance = [&] {
        if (real) {
          tally.add(in.real[at]);
        } else {
          const auto x = static_cast<uint64_t>(in.whole[at]);
          whole = product ? whole * x : whole + x;
        }
      };
      if (!exclusive) advance();
      if (real) {
        result.value.real[at] = tally.value();
        result.magnitude[at] = tally.magnitude();
        result.slack[at] = tally.slack();
      } else {
        result.value.whole[at] = wrapTo(in.type, static_cast<int64_t>(whole));
      }
      if (exclusive) advance();
    }
  });
  return result;
}

}  // namespace

Result evaluateCumulativeSummation(const DML_CUMULATIVE_SUMMATION_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return scan(desc.OutputTensor, inputs, desc.Axis, desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING,
              desc.HasExclusiveSum != 0, false);
}

Result evaluateCumulativeProduct(const DML_CUMULATIVE_PRODUCT_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return scan(desc.OutputTensor, inputs, desc.Axis, desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING,
              desc.HasExclusiveProduct != 0, true);
}

}  // namespace oracle
