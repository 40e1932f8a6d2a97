// Matrix products and convolutions checked by identities that do not depend on how they are computed.
#include "tests/oracle/oracle_test.h"

#include <doctest/doctest.h>

#include <numeric>

namespace {

using oracle::Array;
using oracle::Result;
using namespace oracle_test;

// Small numbers in no order.
Array smallNumbers(std::vector<uint32_t> sizes, int64_t seed) {
  const auto count = std::accumulate(sizes.begin(), sizes.end(), size_t{1}, [](size_t a, uint32_t b) { return a * b; });
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) {
    seed = (seed * 75 + 74) % 65537;
    values.push_back(static_cast<double>(seed % 7 - 3));
  }
  return reals(kF32, std::move(sizes), std::move(values));
}

double dot(const Array& a, const Array& b) {
  return std::inner_product(a.real.begin(), a.real.end(), b.real.begin(), 0.0);
}

struct Window {
  std::vector<UINT> strides, dilations, padding;
  UINT groups;
  DML_CONVOLUTION_MODE mode;
};

Array convolve(const Window& w, DML_CONVOLUTION_DIRECTION direction, const Array& x, const Array& filter,
               std::vector<uint32_t> outputSizes) {
  const Described input(kF32, x.sizes);
  const Described filters(kF32, filter.sizes);
  const Described output(kF32, std::move(outputSizes));
  const std::vector<UINT> none(w.strides.size());
  const DML_CONVOLUTION_OPERATOR_DESC desc{&input.tensor,
                                           &filters.tensor,
                                           nullptr,
                                           &output.tensor,
                                           w.mode,
                                           direction,
                                           static_cast<UINT>(w.strides.size()),
                                           w.strides.data(),
                                           w.dilations.data(),
                                           w.padding.data(),
                                           w.padding.data(),
                                           none.data(),
                                           w.groups,
                                           nullptr};
  return evaluateOne(DML_OPERATOR_CONVOLUTION, &desc, {x, filter, {}}).value;
}

}  // namespace

TEST_CASE("oracle: backward convolution is the transpose of forward convolution") {
  const Window windows[] = {
      {{1}, {1}, {0}, 1, DML_CONVOLUTION_MODE_CROSS_CORRELATION},
      {{2}, {3}, {2}, 2, DML_CONVOLUTION_MODE_CONVOLUTION},
      {{2, 1}, {1, 2}, {1, 3}, 1, DML_CONVOLUTION_MODE_CROSS_CORRELATION},
      {{3, 2}, {2, 1}, {0, 2}, 3, DML_CONVOLUTION_MODE_CONVOLUTION},
      {{1, 2, 1}, {2, 1, 1}, {1, 0, 1}, 2, DML_CONVOLUTION_MODE_CROSS_CORRELATION},
  };
  for (const Window& w : windows) {
    const size_t spatial = w.strides.size();
    CAPTURE(spatial);
    std::vector<uint32_t> sizes = {2, 2 * w.groups};
    std::vector<uint32_t> filterSizes = {3 * w.groups, 2};
    std::vector<uint32_t> outputSizes = {2, 3 * w.groups};
    for (size_t d = 0; d < spatial; ++d) {
      sizes.push_back(9);
      filterSizes.push_back(3);
      outputSizes.push_back((9 + 2 * w.padding[d] - 2 * w.dilations[d] - 1) / w.strides[d] + 1);
    }
    const Array x = smallNumbers(sizes, 1);
    const Array filter = smallNumbers(filterSizes, 2);
    const Array u = smallNumbers(outputSizes, 3);
    const Array forward = convolve(w, DML_CONVOLUTION_DIRECTION_FORWARD, x, filter, outputSizes);
    const Array backward = convolve(w, DML_CONVOLUTION_DIRECTION_BACKWARD, u, filter, sizes);
    CHECK(dot(forward, u) == dot(x, backward));
    CHECK(dot(forward, forward) != 0);
  }
}

TEST_CASE("oracle: GEMM of a product is the product of GEMMs") {
  const auto gemm = [](const Array& a, bool transposeA, const Array& b, bool transposeB, std::vector<uint32_t> sizes) {
    const Described first(kF32, a.sizes);
    const Described second(kF32, b.sizes);
    const Described output(kF32, std::move(sizes));
    const auto transform = [](bool yes) { return yes ? DML_MATRIX_TRANSFORM_TRANSPOSE : DML_MATRIX_TRANSFORM_NONE; };
    const DML_GEMM_OPERATOR_DESC desc{
        &first.tensor, &second.tensor, nullptr, &output.tensor, transform(transposeA), transform(transposeB), 1, 0,
        nullptr};
    return evaluateOne(DML_OPERATOR_GEMM, &desc, {a, b, {}}).value;
  };
  const Array a = smallNumbers({2, 3, 5}, 1);
  const Array b = smallNumbers({2, 5, 4}, 2);
  const Array c = smallNumbers({2, 4, 6}, 3);
  const Array left = gemm(gemm(a, false, b, false, {2, 3, 4}), false, c, false, {2, 3, 6});
  const Array right = gemm(a, false, gemm(b, false, c, false, {2, 5, 6}), false, {2, 3, 6});
  CHECK(left.real == right.real);
  // (A B)^T = B^T A^T
  const Array product = gemm(a, false, b, false, {2, 3, 4});
  const Array turned = gemm(b, true, a, true, {2, 4, 3});
  const Array unit = reals(kF32, {2, 4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,
                                             1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  CHECK(gemm(turned, true, unit, false, {2, 3, 4}).real == product.real);
}
