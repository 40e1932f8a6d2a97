#include "tests/conformance/oracle/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/conformance/oracle/fields.h"
#include "tests/conformance/oracle/walk.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargestFloat = static_cast<double>(std::numeric_limits<float>::max());
constexpr double kFloatEps = 0x1p-23;

// The input positions that meet in each output element: bases[o] + offsets[k], where k counts the coordinates of the
// reduced axes in row-major order, whatever the order in which the axes are named.
struct Groups {
  std::vector<int64_t> bases;
  std::vector<int64_t> offsets;
};

Groups groupsOf(const Array& in, std::span<const uint32_t> axes) {
  std::vector<uint32_t> kept = in.sizes;
  std::vector<uint32_t> reduced(in.sizes.size(), 1);
  for (uint32_t axis : axes) {
    reduced.at(axis) = in.sizes.at(axis);
    kept[axis] = 1;
  }
  const Steps steps = packedSteps(in.sizes);
  Groups groups;
  groups.bases.reserve(countOf(kept));
  groups.offsets.reserve(countOf(reduced));
  const auto into = [](std::vector<int64_t>& list) {
    return [&list](const std::array<int64_t, 1>& at) { list.push_back(at[0]); };
  };
  walk<1>(kept, {steps}, into(groups.bases));
  walk<1>(reduced, {steps}, into(groups.offsets));
  return groups;
}

template <class Element>
void collect(const std::vector<Element>& from, int64_t base, const std::vector<int64_t>& offsets,
             std::vector<Element>& group) {
  for (size_t k = 0; k < offsets.size(); ++k) group[k] = from[static_cast<size_t>(base + offsets[k])];
}

struct Answer {
  double value = 0;
  double magnitude = 0;
  double slack = 0;
};

bool isDenormal(DML_TENSOR_DATA_TYPE type, double x) { return x != 0 && std::fabs(x) < smallestNormal(type); }

// What sums of f(x) in FLOAT32 depend on.
struct Sum {
  double value = 0;
  double magnitude = 0;  // of finite terms
  double positive = 0;   // the finite positive terms' sum, and the negative ones' below
  double negative = 0;
  double flushed = 0;  // what flushing denormals may take from it

  // Whether partial sums can overflow in one order of addition and not in another.
  bool mayOverflow() const {
    return std::max(positive, -negative) > kLargestFloat / 2 && std::min(positive, -negative) > 0;
  }
};

template <class Term>
Sum sumOf(std::span<const double> group, DML_TENSOR_DATA_TYPE type, Term term) {
  Sum sum;
  for (double x : group) {
    const double y = term(x);
    sum.value += y;
    if (isDenormal(type, x) || isDenormal(DML_TENSOR_DATA_TYPE_FLOAT32, y)) sum.flushed += std::fabs(y);
    if (!std::isfinite(y)) continue;
    sum.magnitude += std::fabs(y);
    (y > 0 ? sum.positive : sum.negative) += y;
  }
  return sum;
}

double floatUlps(double ulps, double value) { return ulps * spacing(DML_TENSOR_DATA_TYPE_FLOAT32, value); }

// The class of logarithms.
double logSlack(double value) { return std::max(0x1p-12, floatUlps(32, value)); }

Answer plainSum(const Sum& sum) { return {sum.value, sum.magnitude, sum.mayOverflow() ? kInfinity : sum.flushed}; }

Answer average(const Sum& sum, double terms) {
  const double value = sum.value / terms;
  const bool overflow = std::max(sum.positive, -sum.negative) > kLargestFloat / 2;
  return {value, sum.magnitude / terms, overflow ? kInfinity : sum.flushed / terms + floatUlps(3, value)};
}

Answer euclidean(const Sum& squares) {
  const double value = std::sqrt(squares.value);
  if (squares.magnitude > kLargestFloat / 2) return {value, value, kInfinity};
  return {value, value, value - std::sqrt(std::max(0.0, squares.value - squares.flushed)) + floatUlps(3, value)};
}

Answer logSum(const Sum& sum, double terms) {
  const double value = std::log(sum.value);
  if (!std::isfinite(sum.value)) return {value, 0, 0};
  const double error = 2 * terms * kFloatEps * sum.magnitude + sum.flushed;
  const bool overflow = std::max(sum.positive, -sum.negative) > kLargestFloat / 2;
  if (error > 0.5 * std::fabs(sum.value) || overflow) return {value, 0, kInfinity};
  if (sum.value <= 0) return {value, 0, 0};
  return {value, sum.magnitude / sum.value, logSlack(value) + sum.flushed / sum.value};
}

Answer logSumExp(std::span<const double> group) {
  double top = -kInfinity;
  for (double x : group) {
    if (std::isnan(x)) return {kNaN, 0, 0};
    top = std::max(top, x);
  }
  if (std::isinf(top)) return {top, 0, 0};
  double sum = 0;
  double error = 0;
  for (double x : group) {
    const double term = std::exp(x - top);
    sum += term;
    // An exponential is wrong by its own class and by the rounding of its argument.
    if (std::isfinite(x)) error += term * (32 + std::fabs(x - top)) * kFloatEps;
  }
  const double value = top + std::log(sum);
  return {value, 1, error / sum + logSlack(std::log(sum)) + floatUlps(1, value)};
}

Answer product(std::span<const double> group, DML_TENSOR_DATA_TYPE type) {
  double value = 1;
  double up = 0;  // powers of two by which the growing and the shrinking factors scale
  double down = 0;
  bool zero = false;
  bool infinite = false;
  bool denormal = false;
  for (double x : group) {
    value *= x;
    denormal = denormal || isDenormal(type, x);
    zero = zero || x == 0;
    infinite = infinite || std::isinf(x);
    if (x == 0 || !std::isfinite(x)) continue;
    const double power = std::log2(std::fabs(x));
    (power > 0 ? up : down) += std::fabs(power);
  }
  const bool overflow = up > 127 && (down > 0 || zero);
  const bool underflow = down > 125 && (up > 0 || infinite);
  if (denormal || overflow || underflow) return {value, 0, kInfinity};
  return {value, std::fabs(value), 0};
}

// A NaN is skipped unless nothing else is there, when any answer will do.
Answer extreme(std::span<const double> group, bool maximum) {
  double value = kNaN;
  for (double x : group) value = maximum ? std::fmax(value, x) : std::fmin(value, x);
  return {value, 0, std::isnan(value) ? kInfinity : 0};
}

Answer reduceReal(DML_REDUCE_FUNCTION function, std::span<const double> group, DML_TENSOR_DATA_TYPE type) {
  const auto identity = [](double x) { return x; };
  const auto square = [](double x) { return x * x; };
  const double terms = static_cast<double>(group.size());
  switch (function) {
    case DML_REDUCE_FUNCTION_SUM:
      return plainSum(sumOf(group, type, identity));
    case DML_REDUCE_FUNCTION_SUM_SQUARE:
      return plainSum(sumOf(group, type, square));
    case DML_REDUCE_FUNCTION_L1:
      return plainSum(sumOf(group, type, [](double x) { return std::fabs(x); }));
    case DML_REDUCE_FUNCTION_AVERAGE:
      return average(sumOf(group, type, identity), terms);
    case DML_REDUCE_FUNCTION_L2:
      return euclidean(sumOf(group, type, square));
    case DML_REDUCE_FUNCTION_LOG_SUM:
      return logSum(sumOf(group, type, identity), terms);
    case DML_REDUCE_FUNCTION_LOG_SUM_EXP:
      return logSumExp(group);
    case DML_REDUCE_FUNCTION_MULTIPLY:
      return product(group, type);
    case DML_REDUCE_FUNCTION_MAX:
      return extreme(group, true);
    case DML_REDUCE_FUNCTION_MIN:
      return extreme(group, false);
    default:
      throw std::invalid_argument("The oracle does not know this reduction of floating-point tensors.");
  }
}

bool less(int64_t a, int64_t b, bool isUnsigned) {
  return isUnsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

int64_t reduceWhole(DML_REDUCE_FUNCTION function, std::span<const int64_t> group, DML_TENSOR_DATA_TYPE type) {
  const bool isUnsigned = !isSigned(type);
  const auto fold = [&](uint64_t start, auto step) {
    for (int64_t x : group) start = step(start, static_cast<uint64_t>(x));
    return wrapTo(type, static_cast<int64_t>(start));
  };
  switch (function) {
    case DML_REDUCE_FUNCTION_SUM:
      return fold(0, [](uint64_t sum, uint64_t x) { return sum + x; });
    case DML_REDUCE_FUNCTION_SUM_SQUARE:
      return fold(0, [](uint64_t sum, uint64_t x) { return sum + x * x; });
    case DML_REDUCE_FUNCTION_MULTIPLY:
      return fold(1, [](uint64_t sum, uint64_t x) { return sum * x; });
    case DML_REDUCE_FUNCTION_L1:
      return fold(
          0, [&](uint64_t sum, uint64_t x) { return !isUnsigned && static_cast<int64_t>(x) < 0 ? sum - x : sum + x; });
    case DML_REDUCE_FUNCTION_MAX:
    case DML_REDUCE_FUNCTION_MIN: {
      const auto before = [&](int64_t a, int64_t b) { return less(a, b, isUnsigned); };
      const auto [least, most] = std::minmax_element(group.begin(), group.end(), before);
      return function == DML_REDUCE_FUNCTION_MAX ? *most : *least;
    }
    default:
      throw std::invalid_argument("The oracle does not know this reduction of integer tensors.");
  }
}

// The first element stands until one that is strictly better, or as good where the last is wanted, follows.
template <class Element, class Better>
int64_t argOf(std::span<const Element> group, bool wantLast, Better better) {
  size_t best = 0;
  for (size_t k = 1; k < group.size(); ++k) {
    if (better(group[k], group[best]) || (wantLast && group[k] == group[best])) best = k;
  }
  return static_cast<int64_t>(best);
}

Result evaluateArg(const DML_TENSOR_DESC* outputTensor, const Array& in, std::span<const uint32_t> axes, bool maximum,
                   bool wantLast) {
  const DML_BUFFER_TENSOR_DESC& output = bufferOf(outputTensor);
  const Groups groups = groupsOf(in, axes);
  Result result{makeArray(output.DataType, sizesOf(output)), exact()};
  if (result.value.whole.size() != groups.bases.size()) throw std::invalid_argument("OutputTensor has a wrong size.");
  const bool isUnsigned = !isSigned(in.type);
  std::vector<double> reals(in.real.empty() ? 0 : groups.offsets.size());
  std::vector<int64_t> wholes(in.real.empty() ? groups.offsets.size() : 0);
  for (size_t o = 0; o < groups.bases.size(); ++o) {
    if (in.real.empty()) {
      collect(in.whole, groups.bases[o], groups.offsets, wholes);
      result.value.whole[o] = argOf<int64_t>(wholes, wantLast, [&](int64_t a, int64_t b) {
        return maximum ? less(b, a, isUnsigned) : less(a, b, isUnsigned);
      });
      continue;
    }
    collect(in.real, groups.bases[o], groups.offsets, reals);
    result.value.whole[o] = argOf<double>(reals, wantLast, [&](double a, double b) { return maximum ? a > b : a < b; });
    // Which element wins beside a NaN depends on the order of comparison.
    if (std::any_of(reals.begin(), reals.end(), [](double x) { return std::isnan(x); })) {
      result.slack.resize(groups.bases.size());
      result.slack[o] = kInfinity;
    }
  }
  return result;
}

}  // namespace

Result evaluateReduce(const DML_REDUCE_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const Array& in = inputs[0];
  const std::span<const uint32_t> axes(desc.Axes, desc.AxisCount);
  const bool maximum = desc.Function == DML_REDUCE_FUNCTION_ARGMAX;
  if (maximum || desc.Function == DML_REDUCE_FUNCTION_ARGMIN) {
    return evaluateArg(desc.OutputTensor, in, axes, maximum, false);
  }

  const DML_BUFFER_TENSOR_DESC& output = bufferOf(desc.OutputTensor);
  const Groups groups = groupsOf(in, axes);
  Result result{makeArray(output.DataType, sizesOf(output)), exact()};
  if (output.DataType != in.type || result.value.count() != groups.bases.size()) {
    throw std::invalid_argument("OutputTensor has a wrong data type or size.");
  }
  if (!isReal(in.type)) {
    std::vector<int64_t> group(groups.offsets.size());
    for (size_t o = 0; o < groups.bases.size(); ++o) {
      collect(in.whole, groups.bases[o], groups.offsets, group);
      result.value.whole[o] = reduceWhole(desc.Function, group, in.type);
    }
    return result;
  }

  const bool selects = desc.Function == DML_REDUCE_FUNCTION_MAX || desc.Function == DML_REDUCE_FUNCTION_MIN;
  result.tolerance = selects ? exactButZeroSign() : Tolerance{Tolerance::Kind::Sum, 0, 0, 0, 0, 0, true};
  result.terms = groups.offsets.size();
  if (!selects) result.magnitude.resize(groups.bases.size());
  result.slack.resize(groups.bases.size());
  std::vector<double> group(groups.offsets.size());
  for (size_t o = 0; o < groups.bases.size(); ++o) {
    collect(in.real, groups.bases[o], groups.offsets, group);
    const Answer answer = reduceReal(desc.Function, group, in.type);
    result.value.real[o] = answer.value;
    if (!selects) result.magnitude[o] = answer.magnitude;
    result.slack[o] = answer.slack;
  }
  return result;
}

Result evaluateArgMin(const DML_ARGMIN_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  return evaluateArg(desc.OutputTensor, inputs[0], {desc.Axes, desc.AxisCount}, false,
                     desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING);
}

Result evaluateArgMax(const DML_ARGMAX_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  return evaluateArg(desc.OutputTensor, inputs[0], {desc.Axes, desc.AxisCount}, true,
                     desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING);
}

}  // namespace oracle
