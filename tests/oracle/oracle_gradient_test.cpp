// The gradients of the oracle against numerical differentiation of what they are gradients of.
#include "tests/oracle/oracle_test.h"

#include <doctest/doctest.h>

#include <functional>

namespace {

using oracle::Array;
using namespace oracle_test;

using Function = std::function<std::vector<double>(const Array&)>;

// Numbers from -1 to 1 that do not repeat.
Array numbers(std::vector<uint32_t> sizes, uint32_t seed) {
  size_t count = 1;
  for (uint32_t size : sizes) count *= size;
  std::vector<double> values(count);
  for (double& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = (seed >> 8) * 0x1p-23 - 1;
  }
  return reals(kF32, std::move(sizes), std::move(values));
}

// The sum of the function's values, weighted by `gradient`, as a function of each element of `at`.
std::vector<double> differences(const Function& function, Array at, const std::vector<double>& gradient) {
  constexpr double kStep = 1e-5;
  const auto weighted = [&] {
    const std::vector<double> values = function(at);
    REQUIRE(values.size() == gradient.size());
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[i] * gradient[i];
    return sum;
  };
  std::vector<double> slopes(at.real.size());
  for (size_t i = 0; i < slopes.size(); ++i) {
    const double x = at.real[i];
    at.real[i] = x + kStep;
    const double above = weighted();
    at.real[i] = x - kStep;
    slopes[i] = (above - weighted()) / (2 * kStep);
    at.real[i] = x;
  }
  return slopes;
}

void checkClose(const std::vector<double>& actual, const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    CAPTURE(i);
    CHECK(std::fabs(actual[i] - expected[i]) < 1e-7);
  }
}

std::vector<double> outputOf(DML_OPERATOR_TYPE type, const void* desc, std::initializer_list<Array> inputs,
                             size_t output = 0) {
  const DML_OPERATOR_DESC operatorDesc{type, desc};
  return oracle::evaluate(operatorDesc, std::span<const Array>(inputs.begin(), inputs.size())).at(output).value.real;
}

}  // namespace

TEST_CASE("oracle: AVERAGE_POOLING_GRAD is the gradient of AVERAGE_POOLING") {
  const Array in = numbers({2, 1, 5, 6}, 1);
  const Array gradient = numbers({2, 1, 4, 3}, 2);
  const Described whole(kF32, in.sizes);
  const Described pooled(kF32, gradient.sizes);
  const UINT strides[] = {2, 3}, window[] = {3, 4}, start[] = {2, 1}, end[] = {2, 3};
  for (const BOOL include : {BOOL{0}, BOOL{1}}) {
    const DML_AVERAGE_POOLING_OPERATOR_DESC forward{&whole.tensor, &pooled.tensor, 2,   strides,
                                                    window,        start,          end, include};
    const DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC backward{&pooled.tensor, &whole.tensor, 2,   strides,
                                                          window,         start,         end, include};
    const Function pool = [&](const Array& x) { return outputOf(DML_OPERATOR_AVERAGE_POOLING, &forward, {x}); };
    checkClose(outputOf(DML_OPERATOR_AVERAGE_POOLING_GRAD, &backward, {gradient}),
               differences(pool, in, gradient.real));
  }
}

TEST_CASE("oracle: MAX_POOLING_GRAD is the gradient of MAX_POOLING2") {
  const Array in = numbers({1, 2, 6, 7}, 3);
  const Array gradient = numbers({1, 2, 3, 6}, 4);
  const Described whole(kF32, in.sizes);
  const Described pooled(kF32, gradient.sizes);
  const UINT strides[] = {2, 1}, window[] = {2, 3}, dilations[] = {3, 1}, start[] = {1, 1}, end[] = {1, 0};
  const DML_MAX_POOLING2_OPERATOR_DESC forward{&whole.tensor, &pooled.tensor, nullptr, 2,        strides,
                                               window,        start,          end,     dilations};
  const DML_MAX_POOLING_GRAD_OPERATOR_DESC backward{&whole.tensor, &pooled.tensor, &whole.tensor, 2,        strides,
                                                    window,        start,          end,           dilations};
  const Function pool = [&](const Array& x) { return outputOf(DML_OPERATOR_MAX_POOLING2, &forward, {x}); };
  checkClose(outputOf(DML_OPERATOR_MAX_POOLING_GRAD, &backward, {in, gradient}), differences(pool, in, gradient.real));
}

TEST_CASE("oracle: LOCAL_RESPONSE_NORMALIZATION_GRAD is the gradient of LOCAL_RESPONSE_NORMALIZATION") {
  const Array in = numbers({2, 5, 3, 4}, 5);
  const Array gradient = numbers(in.sizes, 6);
  const Described tensor(kF32, in.sizes);
  for (const BOOL crossChannel : {BOOL{0}, BOOL{1}})
    for (const UINT size : {1u, 2u, 3u, 4u}) {
      const DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC forward{&tensor.tensor, &tensor.tensor, crossChannel, size,
                                                                   0.5f,           0.75f,          1.5f};
      const DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC backward{
          &tensor.tensor, &tensor.tensor, &tensor.tensor, crossChannel, size, 0.5f, 0.75f, 1.5f};
      const Function normalize = [&](const Array& x) {
        return outputOf(DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION, &forward, {x});
      };
      checkClose(outputOf(DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION_GRAD, &backward, {in, gradient}),
                 differences(normalize, in, gradient.real));
    }
}

TEST_CASE("oracle: BATCH_NORMALIZATION_GRAD is the gradient of BATCH_NORMALIZATION") {
  const Array in = numbers({3, 2, 4}, 7);
  const Array gradient = numbers(in.sizes, 8);
  const Array mean = numbers({1, 2, 1}, 9);
  const Array scale = numbers({1, 2, 1}, 10);
  const Array bias = numbers({1, 2, 1}, 11);
  Array variance = numbers({1, 2, 1}, 12);
  for (double& x : variance.real) x = std::fabs(x) + 0.5;
  const Described whole(kF32, in.sizes);
  const Described row(kF32, mean.sizes);
  const DML_BATCH_NORMALIZATION_OPERATOR_DESC forward{&whole.tensor, &row.tensor, &row.tensor, &row.tensor, &row.tensor,
                                                      &whole.tensor, 1,           0.25f,       nullptr};
  const DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC backward{&whole.tensor, &whole.tensor, &row.tensor,
                                                            &row.tensor,   &row.tensor,   &whole.tensor,
                                                            &row.tensor,   &row.tensor,   0.25f};
  const auto of = [&](const Array& x, const Array& s, const Array& b) {
    return outputOf(DML_OPERATOR_BATCH_NORMALIZATION, &forward, {x, mean, variance, s, b});
  };
  const Function byInput = [&](const Array& x) { return of(x, scale, bias); };
  const Function byScale = [&](const Array& s) { return of(in, s, bias); };
  const Function byBias = [&](const Array& b) { return of(in, scale, b); };
  const auto part = [&](size_t output) {
    return outputOf(DML_OPERATOR_BATCH_NORMALIZATION_GRAD, &backward, {in, gradient, mean, variance, scale}, output);
  };
  checkClose(part(0), differences(byInput, in, gradient.real));
  checkClose(part(1), differences(byScale, scale, gradient.real));
  checkClose(part(2), differences(byBias, bias, gradient.real));
}

TEST_CASE("oracle: BATCH_NORMALIZATION_TRAINING_GRAD is the gradient of BATCH_NORMALIZATION_TRAINING") {
  const Array in = numbers({3, 2, 4}, 13);
  const Array gradient = numbers(in.sizes, 14);
  const Array scale = numbers({1, 2, 1}, 15);
  const Array bias = numbers({1, 2, 1}, 16);
  const Described whole(kF32, in.sizes);
  const Described row(kF32, scale.sizes);
  const DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC forward{
      &whole.tensor, &row.tensor, &row.tensor, nullptr, &whole.tensor, &row.tensor, &row.tensor, 0.25f, nullptr};
  const DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC backward{&whole.tensor, &whole.tensor, &row.tensor,
                                                                     &row.tensor,   &row.tensor,   &whole.tensor,
                                                                     &row.tensor,   &row.tensor,   0.25f};
  const auto of = [&](const Array& x, const Array& s, const Array& b, size_t output) {
    return outputOf(DML_OPERATOR_BATCH_NORMALIZATION_TRAINING, &forward, {x, s, b, {}}, output);
  };
  const Array mean = reals(kF32, {1, 2, 1}, of(in, scale, bias, 1));
  const Array variance = reals(kF32, {1, 2, 1}, of(in, scale, bias, 2));
  const Function byInput = [&](const Array& x) { return of(x, scale, bias, 0); };
  const Function byScale = [&](const Array& s) { return of(in, s, bias, 0); };
  const Function byBias = [&](const Array& b) { return of(in, scale, b, 0); };
  const auto part = [&](size_t output) {
    return outputOf(DML_OPERATOR_BATCH_NORMALIZATION_TRAINING_GRAD, &backward, {in, gradient, mean, variance, scale},
                    output);
  };
  checkClose(part(0), differences(byInput, in, gradient.real));
  checkClose(part(1), differences(byScale, scale, gradient.real));
  checkClose(part(2), differences(byBias, bias, gradient.real));
}
