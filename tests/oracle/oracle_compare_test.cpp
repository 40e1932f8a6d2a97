// What the comparison accepts and refuses.
#include "tests/oracle/oracle_test.h"

#include <doctest/doctest.h>

#include <limits>

namespace {

using oracle::Array;
using oracle::compare;
using oracle::Result;
using namespace oracle_test;

Result one(double value, oracle::Tolerance tolerance, DML_TENSOR_DATA_TYPE type = kF32) {
  return {reals(type, {1}, {value}), tolerance};
}

}  // namespace

TEST_CASE("oracle: comparison of exact results") {
  const Result zero = one(0, oracle::exact());
  CHECK(accepts(zero, 0));
  CHECK_FALSE(accepts(zero, -0.0));
  CHECK_FALSE(accepts(zero, 0x1p-149));
  CHECK(accepts(one(kNaN, oracle::exact()), -kNaN));
  CHECK_FALSE(accepts(one(kInf, oracle::exact()), -kInf));
  CHECK_FALSE(accepts(one(kInf, oracle::exact()), static_cast<double>(std::numeric_limits<float>::max())));
  CHECK(accepts(one(0.1, oracle::exact()), static_cast<double>(0.1f)));
  const Result integers{wholes(kI32, {2, 2}, {1, 2, 3, 4}), oracle::exact()};
  const oracle::Comparison comparison = compare(integers, wholes(kI32, {2, 2}, {1, 2, 7, 4}));
  CHECK_FALSE(comparison.ok);
  CHECK(comparison.message == "Element {1, 0} is 7, expected 3.");
  CHECK(comparison.worst == 2);
  CHECK(comparison.maxAbs == 4);
  CHECK_FALSE(compare(integers, wholes(kI32, {4}, {1, 2, 3, 4})).ok);
  CHECK_FALSE(compare(integers, wholes(kU32, {2, 2}, {1, 2, 3, 4})).ok);
}

TEST_CASE("oracle: comparison in units in the last place") {
  const Result result = one(1, oracle::ulp(3, 2));
  CHECK(accepts(result, 1 + 3 * 0x1p-23));
  CHECK_FALSE(accepts(result, 1 + 4 * 0x1p-23));
  CHECK_FALSE(accepts(result, kNaN));
  CHECK_FALSE(accepts(result, kInf));
  const Result half = one(1.0001, oracle::ulp(3, 2), kF16);
  CHECK(accepts(half, 1 + 2 * 0x1p-10));
  CHECK_FALSE(accepts(half, 1 + 3 * 0x1p-10));
  CHECK(accepts(one(0, oracle::ulp(1, 1)), -0.0));
  CHECK(accepts(one(1e-40, oracle::ulp(1, 1)), -0.0));
  CHECK_FALSE(accepts(one(0x1p-126, oracle::ulp(1, 1)), 0));
  CHECK(accepts(one(0, oracle::ulpOrAbs(1, 0.25, 1, 0.5)), 0.25));
  CHECK_FALSE(accepts(one(0, oracle::ulpOrAbs(1, 0.25, 1, 0.5)), 0.3));
  const oracle::Comparison below = compare(one(0.125, oracle::ulpOrAbs(1, 0.25, 1, 0.5)), reals(kF32, {1}, {0.25}));
  CHECK(below.maxUlp == 0);
  CHECK(below.maxShare == 0.5);
  // An overflow one rounding early or late.
  const double largest = static_cast<double>(std::numeric_limits<float>::max());
  CHECK(accepts(one(largest, oracle::ulp(1, 1)), kInf));
  CHECK(accepts(one(0x1p128, oracle::ulp(1, 1)), largest));
  CHECK_FALSE(accepts(one(0x1.1p128, oracle::ulp(1, 1)), largest));
  CHECK_FALSE(accepts(one(kInf, oracle::ulp(1, 1)), largest));
  const oracle::Comparison comparison = compare(result, reals(kF32, {1}, {1 + 8 * 0x1p-23}));
  CHECK(comparison.maxUlp == 8);
  CHECK(comparison.maxShare == 8.0 / 3);
  CHECK(comparison.message ==
        "Element {0} is 1.00000095, expected 1 (error 9.53674316e-07, 8 ULP; bound 3.57627869e-07).");
}

TEST_CASE("oracle: comparison of sums") {
  const auto sums = [](uint32_t count, uint64_t terms) {
    Result result{reals(kF32, {count}, std::vector<double>(count, 1)), {}};
    result.tolerance.kind = oracle::Tolerance::Kind::Sum;
    result.magnitude.assign(count, 2);
    result.terms = terms;
    return result;
  };
  const auto withErrors = [](const Result& expected, size_t wrong, double error) {
    Array actual = expected.value;
    for (size_t i = 0; i < wrong; ++i) actual.real[i * 7] += error;
    return compare(expected, actual).ok;
  };
  // K = 100: always 200 eps 2, and 40 eps 2 for 99.9 %.
  const Result many = sums(10000, 100);
  CHECK(withErrors(many, 1000, 80 * 0x1p-23));
  CHECK(withErrors(many, 10, 400 * 0x1p-23));
  CHECK_FALSE(withErrors(many, 11, 400 * 0x1p-23));
  CHECK_FALSE(withErrors(many, 1, 402 * 0x1p-23));
  CHECK_FALSE(withErrors(sums(10, 100), 1, 82 * 0x1p-23));
  // One term: 2 eps 2 is the narrower bound.
  CHECK(withErrors(sums(10, 1), 1, 4 * 0x1p-23));
  CHECK_FALSE(withErrors(sums(10, 1), 1, 5 * 0x1p-23));
}
