// Gradients of ROI_ALIGN, checked by differences of what they are the gradients of, and ADAM_OPTIMIZER, by the
// recursion that defines it.
#include "tests/oracle/oracle_test.h"

#include <doctest/doctest.h>

#include <span>

namespace {

using oracle::Array;
using namespace oracle_test;

std::vector<double> someValues(size_t count, double seed) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = std::sin(seed + 1.7 * static_cast<double>(i) * (1 + seed));
  return values;
}

struct RoiCase {
  DML_REDUCE_FUNCTION function;
  DML_INTERPOLATION_MODE mode;
  UINT least, most;
  BOOL toCorners;
};

void checkRoiGradients(const RoiCase& c) {
  const std::vector<uint32_t> imageSizes = {2, 2, 5, 6};
  const std::vector<uint32_t> cropSizes = {3, 2, 2, 3};
  const Described image(kF32, imageSizes);
  const Described crop(kF32, cropSizes);
  const Described regionTensor(kF32, {3, 4});
  const Described batches(kU32, {3});
  const FLOAT scaleX = 0.75F;
  const FLOAT scaleY = 1.5F;
  const FLOAT inputOffset = 0.4F;
  const FLOAT outputOffset = -0.3F;
  // Inside, across an edge, and mirrored.
  const std::vector<double> regions = {1.13, 0.71, 6.37, 2.93, -2.41, -0.87, 4.19, 2.21, 6.83, 3.07, 2.59, 1.03};
  const std::vector<int64_t> batch = {1, 0, 1};
  const std::vector<double> x = someValues(120, 0.2);
  const std::vector<double> g = someValues(36, 0.7);
  const auto forward = [&](const std::vector<double>& elements, const std::vector<double>& corners) {
    const DML_ROI_ALIGN1_OPERATOR_DESC desc{&image.tensor,
                                            &regionTensor.tensor,
                                            &batches.tensor,
                                            &crop.tensor,
                                            c.function,
                                            c.mode,
                                            scaleX,
                                            scaleY,
                                            inputOffset,
                                            outputOffset,
                                            0,
                                            c.least,
                                            c.most,
                                            c.toCorners};
    const auto y =
        evaluateOne(DML_OPERATOR_ROI_ALIGN1, &desc,
                    {reals(kF32, imageSizes, elements), reals(kF32, {3, 4}, corners), wholes(kU32, {3}, batch)});
    double sum = 0;
    for (size_t i = 0; i < g.size(); ++i) sum += g[i] * y.value.real[i];
    return sum;
  };
  const DML_ROI_ALIGN_GRAD_OPERATOR_DESC desc{&image.tensor,   &crop.tensor,  &regionTensor.tensor,
                                              &batches.tensor, &image.tensor, &regionTensor.tensor,
                                              c.function,      c.mode,        scaleX,
                                              scaleY,          inputOffset,   outputOffset,
                                              c.least,         c.most,        c.toCorners};
  const DML_OPERATOR_DESC operatorDesc{DML_OPERATOR_ROI_ALIGN_GRAD, &desc};
  const std::vector<Array> inputs = {reals(kF32, imageSizes, x), reals(kF32, cropSizes, g),
                                     reals(kF32, {3, 4}, regions), wholes(kU32, {3}, batch)};
  const auto results = oracle::evaluate(operatorDesc, inputs);
  const double step = 0x1p-16;
  for (size_t i = 0; i < x.size(); ++i) {
    std::vector<double> more = x;
    std::vector<double> less = x;
    more[i] += step;
    less[i] -= step;
    const double derivative = (forward(more, regions) - forward(less, regions)) / (2 * step);
    CHECK(results.at(0).value.real[i] == doctest::Approx(derivative).epsilon(1e-5));
  }
  for (size_t i = 0; i < regions.size(); ++i) {
    std::vector<double> more = regions;
    std::vector<double> less = regions;
    more[i] += step;
    less[i] -= step;
    const double derivative = (forward(x, more) - forward(x, less)) / (2 * step);
    CHECK(results.at(1).value.real[i] == doctest::Approx(derivative).epsilon(1e-5));
  }
}

}  // namespace

TEST_CASE("oracle: gradients of ROI_ALIGN are its derivatives") {
  for (const auto function : {DML_REDUCE_FUNCTION_AVERAGE, DML_REDUCE_FUNCTION_MAX})
    for (const auto mode : {DML_INTERPOLATION_MODE_LINEAR, DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR})
      for (const UINT samples : {1U, 2U, 3U})
        for (const BOOL toCorners : {BOOL{0}, BOOL{1}}) {
          CAPTURE(static_cast<int>(function));
          CAPTURE(static_cast<int>(mode));
          CAPTURE(samples);
          CAPTURE(toCorners);
          checkRoiGradients({function, mode, samples, samples, toCorners});
        }
}

TEST_CASE("oracle: ADAM_OPTIMIZER step by step") {
  const FLOAT rate = 0.125F;
  const FLOAT beta1 = 0.75F;
  const FLOAT beta2 = 0.9375F;
  const FLOAT epsilon = 0.03125F;
  const Described tensor(kF32, {4});
  const Described one(kU32, {1});
  const DML_ADAM_OPTIMIZER_OPERATOR_DESC desc{&tensor.tensor, &tensor.tensor, &tensor.tensor, &tensor.tensor,
                                              &one.tensor,    &tensor.tensor, &tensor.tensor, &tensor.tensor,
                                              rate,           beta1,          beta2,          epsilon};
  const DML_OPERATOR_DESC operatorDesc{DML_OPERATOR_ADAM_OPTIMIZER, &desc};
  std::vector<Array> state = {reals(kF32, {4}, {1, -2, 3, 4}), reals(kF32, {4}, {0, 0, 0, 0}),
                              reals(kF32, {4}, {0, 0, 0, 0})};
  // The moments as weighted sums of all gradients so far, divided by the sum of the weights.
  std::vector<std::vector<double>> gradients;
  std::vector<double> expected = state[0].real;
  for (int64_t step = 1; step <= 6; ++step) {
    gradients.push_back(someValues(4, static_cast<double>(step)));
    const std::vector<Array> inputs = {state[0], state[1], state[2], reals(kF32, {4}, gradients.back()),
                                       wholes(kU32, {1}, {step})};
    const auto results = oracle::evaluate(operatorDesc, inputs);
    for (size_t i = 0; i < 4; ++i) {
      double first = 0, second = 0, firstWeights = 0, secondWeights = 0;
      for (size_t k = 0; k < gradients.size(); ++k) {
        const auto age = static_cast<double>(gradients.size() - 1 - k);
        first += std::pow(0.75, age) * gradients[k][i];
        firstWeights += std::pow(0.75, age);
        second += std::pow(0.9375, age) * gradients[k][i] * gradients[k][i];
        secondWeights += std::pow(0.9375, age);
      }
      // The page's epsilon is added before the second moment is corrected.
      const double correction = std::sqrt(secondWeights * (1 - 0.9375));
      expected[i] -= 0.125 * first / firstWeights / (std::sqrt(second / secondWeights) + 0.03125 / correction);
      CHECK(results.at(0).value.real[i] == doctest::Approx(expected[i]).epsilon(1e-12));
    }
    for (size_t k = 0; k < 3; ++k) state[k] = results[k].value;
  }
}
