// Reductions checked by hand-computed values, and their bounds by sums in single precision.
#include "tests/oracle/oracle_test.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace {

using oracle::Array;
using oracle::compare;
using oracle::Result;
using namespace oracle_test;

Result reduce(DML_REDUCE_FUNCTION function, const Array& in, std::vector<uint32_t> axes, std::vector<uint32_t> sizes,
              DML_TENSOR_DATA_TYPE to) {
  const Described input(in.type, in.sizes);
  const Described output(to, std::move(sizes));
  const DML_REDUCE_OPERATOR_DESC desc{function, &input.tensor, &output.tensor, static_cast<UINT>(axes.size()),
                                      axes.data()};
  return evaluateOne(DML_OPERATOR_REDUCE, &desc, {in});
}

Result reduceAll(DML_REDUCE_FUNCTION function, const Array& in) { return reduce(function, in, {0}, {1}, in.type); }

double reduced(DML_REDUCE_FUNCTION function, std::vector<double> values) {
  const auto count = static_cast<uint32_t>(values.size());
  return reduceAll(function, reals(kF32, {count}, std::move(values))).value.real[0];
}

}  // namespace

TEST_CASE("oracle: REDUCE values") {
  const std::vector<double> values = {1, -2, 3, -4, 5, 6, 7, 8};
  CHECK(reduced(DML_REDUCE_FUNCTION_AVERAGE, values) == 3);
  CHECK(reduced(DML_REDUCE_FUNCTION_L1, values) == 36);
  CHECK(reduced(DML_REDUCE_FUNCTION_L2, values) == doctest::Approx(14.2828569));
  CHECK(reduced(DML_REDUCE_FUNCTION_LOG_SUM, values) == doctest::Approx(3.17805386));
  CHECK(reduced(DML_REDUCE_FUNCTION_LOG_SUM_EXP, values) == doctest::Approx(8.44513702));
  CHECK(reduced(DML_REDUCE_FUNCTION_MULTIPLY, values) == 40320);
  CHECK(reduced(DML_REDUCE_FUNCTION_SUM, values) == 24);
  CHECK(reduced(DML_REDUCE_FUNCTION_SUM_SQUARE, values) == 204);
  CHECK(reduced(DML_REDUCE_FUNCTION_MAX, {kNaN, 1, 3, 2}) == 3);
  CHECK(reduced(DML_REDUCE_FUNCTION_MIN, {kNaN, 1, 3, 2}) == 1);
  CHECK(std::isnan(reduced(DML_REDUCE_FUNCTION_SUM, {1, kNaN})));
  CHECK(std::isnan(reduced(DML_REDUCE_FUNCTION_LOG_SUM, {-1, -2})));
  CHECK(reduced(DML_REDUCE_FUNCTION_LOG_SUM, {0, 0}) == -kInf);
  CHECK(reduced(DML_REDUCE_FUNCTION_LOG_SUM_EXP, {1000, 1000}) == doctest::Approx(1000.6931472));
  CHECK(reduced(DML_REDUCE_FUNCTION_LOG_SUM_EXP, {-kInf, -kInf}) == -kInf);
  CHECK(reduced(DML_REDUCE_FUNCTION_LOG_SUM_EXP, {-kInf, 0, 1, 2}) == doctest::Approx(2.40760596));
  CHECK(reduced(DML_REDUCE_FUNCTION_LOG_SUM_EXP, {kInf, 0}) == kInf);
}

TEST_CASE("oracle: REDUCE axes are a set") {
  const Array in = wholes(kI32, {2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  using List = std::vector<int64_t>;
  const auto sum = [&](std::vector<uint32_t> axes, std::vector<uint32_t> sizes) {
    return reduce(DML_REDUCE_FUNCTION_SUM, in, std::move(axes), std::move(sizes), kI32).value.whole;
  };
  CHECK(sum({1}, {2, 1, 2}) == List{9, 12, 27, 30});
  CHECK(sum({1, 1, 1}, {2, 1, 2}) == List{9, 12, 27, 30});
  CHECK(sum({0, 2}, {1, 3, 1}) == List{18, 26, 34});
  CHECK(sum({2, 0}, {1, 3, 1}) == List{18, 26, 34});
  CHECK(sum({}, {2, 3, 2}) == in.whole);
  CHECK_THROWS(sum({3}, {2, 3, 2}));
  CHECK_THROWS_AS(sum({1}, {2, 3, 2}), std::invalid_argument);
}

TEST_CASE("oracle: REDUCE of integers wraps") {
  const auto run = [](DML_REDUCE_FUNCTION function, DML_TENSOR_DATA_TYPE type, std::vector<int64_t> values) {
    const auto count = static_cast<uint32_t>(values.size());
    return reduceAll(function, wholes(type, {count}, std::move(values))).value.whole[0];
  };
  CHECK(run(DML_REDUCE_FUNCTION_SUM, kI32, {2147483647, 2147483647}) == -2);
  CHECK(run(DML_REDUCE_FUNCTION_MULTIPLY, kI32, {2147483647, 2147483647}) == 1);
  CHECK(run(DML_REDUCE_FUNCTION_SUM_SQUARE, kU32, {70000, 70000}) == 9800000000 % 4294967296);
  CHECK(run(DML_REDUCE_FUNCTION_L1, kI32, {-2147483648}) == -2147483648);
  CHECK(run(DML_REDUCE_FUNCTION_L1, kI64, {-5, 6}) == 11);
  CHECK(run(DML_REDUCE_FUNCTION_L1, kU64, {-5}) == -5);
  CHECK(run(DML_REDUCE_FUNCTION_MAX, kU64, {-1, 1}) == -1);
  CHECK(run(DML_REDUCE_FUNCTION_MIN, kI64, {-1, 1}) == -1);
  CHECK(run(DML_REDUCE_FUNCTION_MIN, kU8, {200, 100}) == 100);
}

TEST_CASE("oracle: ARGMIN and ARGMAX") {
  const Array in = reals(kF32, {2, 3}, {5, 1, 4, 9, 2, 0});
  using List = std::vector<int64_t>;
  for (const std::vector<uint32_t>& axes : {std::vector<uint32_t>{0, 1}, std::vector<uint32_t>{1, 0}}) {
    CHECK(reduce(DML_REDUCE_FUNCTION_ARGMIN, in, axes, {1, 1}, kU64).value.whole == List{5});
    CHECK(reduce(DML_REDUCE_FUNCTION_ARGMAX, in, axes, {1, 1}, kI32).value.whole == List{3});
  }
  const auto directed = [](DML_OPERATOR_TYPE type, const Array& array, DML_AXIS_DIRECTION direction) {
    const Described input(array.type, array.sizes);
    const Described output(kI64, {1});
    const UINT axis = 0;
    const DML_ARGMIN_OPERATOR_DESC desc{&input.tensor, &output.tensor, 1, &axis, direction};
    return evaluateOne(type, &desc, {array});
  };
  const Array ties = wholes(kI16, {4}, {3, 3, 1, 1});
  CHECK(directed(DML_OPERATOR_ARGMIN, ties, DML_AXIS_DIRECTION_INCREASING).value.whole == List{2});
  CHECK(directed(DML_OPERATOR_ARGMIN, ties, DML_AXIS_DIRECTION_DECREASING).value.whole == List{3});
  CHECK(directed(DML_OPERATOR_ARGMAX, ties, DML_AXIS_DIRECTION_INCREASING).value.whole == List{0});
  CHECK(directed(DML_OPERATOR_ARGMAX, ties, DML_AXIS_DIRECTION_DECREASING).value.whole == List{1});
  CHECK(directed(DML_OPERATOR_ARGMAX, wholes(kU64, {3}, {1, -1, 2}), DML_AXIS_DIRECTION_INCREASING).value.whole ==
        List{1});
  const Result undecided = directed(DML_OPERATOR_ARGMAX, reals(kF32, {3}, {1, kNaN, 2}), DML_AXIS_DIRECTION_INCREASING);
  CHECK(undecided.value.whole == List{2});
  CHECK(compare(undecided, wholes(kI64, {1}, {1})).ok);
}

TEST_CASE("oracle: sums in single precision lie within their bounds") {
  const size_t count = 4096;
  std::vector<double> values(count);
  uint32_t state = 12345;
  for (double& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<double>(static_cast<float>(state >> 8) * 0x1p-24f - 0.3f);
  }
  float sum = 0, squares = 0, exponentials = 0, absolutes = 0;
  for (double value : values) {
    const auto x = static_cast<float>(value);
    sum += x;
    squares += x * x;
    exponentials += std::exp(x);
    absolutes += std::fabs(x);
  }
  const Array in = reals(kF32, {count}, values);
  const auto ok = [&](DML_REDUCE_FUNCTION function, float actual) {
    return accepts(reduceAll(function, in), static_cast<double>(actual));
  };
  CHECK(ok(DML_REDUCE_FUNCTION_SUM, sum));
  CHECK(ok(DML_REDUCE_FUNCTION_SUM_SQUARE, squares));
  CHECK(ok(DML_REDUCE_FUNCTION_L1, absolutes));
  CHECK(ok(DML_REDUCE_FUNCTION_L2, std::sqrt(squares)));
  CHECK(ok(DML_REDUCE_FUNCTION_AVERAGE, sum / static_cast<float>(count)));
  CHECK(ok(DML_REDUCE_FUNCTION_LOG_SUM, std::log(sum)));
  CHECK(ok(DML_REDUCE_FUNCTION_LOG_SUM_EXP, std::log(exponentials)));
  CHECK_FALSE(ok(DML_REDUCE_FUNCTION_SUM, sum * 1.001f));
  CHECK_FALSE(ok(DML_REDUCE_FUNCTION_L2, std::sqrt(squares) * 1.001f));
  CHECK_FALSE(ok(DML_REDUCE_FUNCTION_LOG_SUM_EXP, std::log(exponentials) * 1.01f));
}

TEST_CASE("oracle: ranges that FLOAT32 leaves on the way") {
  const auto with = [](DML_REDUCE_FUNCTION function, std::vector<double> values) {
    const auto count = static_cast<uint32_t>(values.size());
    return reduceAll(function, reals(kF32, {count}, std::move(values)));
  };
  const double big = oracle::roundTo(kF32, 3e38);
  CHECK(accepts(with(DML_REDUCE_FUNCTION_SUM, {big, big, -big}), kInf));
  CHECK(accepts(with(DML_REDUCE_FUNCTION_SUM, {big, big}), kInf));
  CHECK_FALSE(accepts(with(DML_REDUCE_FUNCTION_SUM, {big, big}), big));
  CHECK(accepts(with(DML_REDUCE_FUNCTION_AVERAGE, {big, big}), kInf));
  CHECK(accepts(with(DML_REDUCE_FUNCTION_L2, {1e20, 1e20}), kInf));
  CHECK(accepts(with(DML_REDUCE_FUNCTION_L2, {1e-25, 1e-25}), 0));
  CHECK(accepts(with(DML_REDUCE_FUNCTION_MULTIPLY, {1e30, 1e30, 1e-30}), kInf));
  CHECK(accepts(with(DML_REDUCE_FUNCTION_MULTIPLY, {1e30, 1e30}), kInf));
  CHECK_FALSE(accepts(with(DML_REDUCE_FUNCTION_MULTIPLY, {1e30, 1e30}), 1));
  CHECK_FALSE(accepts(with(DML_REDUCE_FUNCTION_MULTIPLY, {2, 3}), 7));
}
