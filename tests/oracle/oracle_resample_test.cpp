// The gradients of resampling, checked by differences of what they are the gradients of.
#include "tests/oracle/oracle_test.h"

#include <doctest/doctest.h>

namespace {

using oracle::Array;
using namespace oracle_test;

struct Case {
  std::vector<uint32_t> input, output;
  std::vector<float> scales, inputOffsets, outputOffsets;
};

const Case kCases[] = {
    {{5, 4}, {7, 9}, {1.4F, 2.25F}, {0.5F, 0.5F}, {-0.5F, -0.5F}},
    {{8, 3}, {3, 6}, {0.375F, 2.3F}, {0, 0.25F}, {0.1F, -0.5F}},
    {{6, 2}, {4, 8}, {2, 2}, {0.5F, -1}, {-0.5F, 0.75F}},
};

std::vector<double> someValues(size_t count, double seed) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = std::sin(seed + 1.7 * static_cast<double>(i));
  return values;
}

// The derivative of sum(g * forward(x)) by each element of x.
void checkGradient(const Case& c, DML_INTERPOLATION_MODE mode, bool withDirection, DML_AXIS_DIRECTION direction) {
  const Described input(kF32, c.input);
  const Described output(kF32, c.output);
  const size_t inputs = c.input[0] * c.input[1];
  const size_t outputs = c.output[0] * c.output[1];
  const std::vector<double> g = someValues(outputs, 0.3);
  const auto forward = [&](const std::vector<double>& x) {
    const DML_RESAMPLE1_OPERATOR_DESC plain{&input.tensor,         &output.tensor,        mode, 2, c.scales.data(),
                                            c.inputOffsets.data(), c.outputOffsets.data()};
    const DML_RESAMPLE2_OPERATOR_DESC directed{
        &input.tensor,         &output.tensor,        mode, direction, 2, c.scales.data(),
        c.inputOffsets.data(), c.outputOffsets.data()};
    const auto y = withDirection ? evaluateOne(DML_OPERATOR_RESAMPLE2, &directed, {reals(kF32, c.input, x)})
                                 : evaluateOne(DML_OPERATOR_RESAMPLE1, &plain, {reals(kF32, c.input, x)});
    double sum = 0;
    for (size_t o = 0; o < outputs; ++o) sum += g[o] * y.value.real[o];
    return sum;
  };
  // Each tensor keeps its offset.
  const DML_RESAMPLE_GRAD_OPERATOR_DESC plain{&output.tensor,         &input.tensor,        mode, 2, c.scales.data(),
                                              c.outputOffsets.data(), c.inputOffsets.data()};
  const DML_RESAMPLE_GRAD1_OPERATOR_DESC directed{
      &output.tensor,         &input.tensor,        mode, direction, 2, c.scales.data(),
      c.outputOffsets.data(), c.inputOffsets.data()};
  const auto gradient = withDirection ? evaluateOne(DML_OPERATOR_RESAMPLE_GRAD1, &directed, {reals(kF32, c.output, g)})
                                      : evaluateOne(DML_OPERATOR_RESAMPLE_GRAD, &plain, {reals(kF32, c.output, g)});
  const std::vector<double> x = someValues(inputs, 2);
  for (size_t i = 0; i < inputs; ++i) {
    std::vector<double> more = x;
    std::vector<double> less = x;
    more[i] += 0x1p-6;
    less[i] -= 0x1p-6;
    CHECK(gradient.value.real[i] == doctest::Approx((forward(more) - forward(less)) * 0x1p5).epsilon(1e-9));
  }
}

}  // namespace

TEST_CASE("oracle: gradients of RESAMPLE are its derivatives") {
  for (const Case& c : kCases)
    for (const auto mode : {DML_INTERPOLATION_MODE_LINEAR, DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR}) {
      checkGradient(c, mode, false, DML_AXIS_DIRECTION_INCREASING);
      checkGradient(c, mode, true, DML_AXIS_DIRECTION_INCREASING);
      checkGradient(c, mode, true, DML_AXIS_DIRECTION_DECREASING);
    }
}
