#include "tests/conformance/oracle/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/conformance/oracle/fields.h"
#include "tests/conformance/oracle/walk.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFloatEps = 0x1p-23;

// The elements of one row, wherever they lie, in row-major order of the axes, and where their results go.
struct Row {
  std::vector<double> in, out, slack;
};

// Calls each(row) for every row; axes are those that a row extends over.
template <class Each>
Result forRows(const DML_TENSOR_DESC* outputTensor, std::span<const Array> inputs, std::span<const uint32_t> axes,
               Each each) {
  requireInputs(inputs, 1);
  const Array& in = inputs[0];
  const DML_BUFFER_TENSOR_DESC& output = bufferOf(outputTensor);
  if (sizesOf(output) != in.sizes || output.DataType != in.type) {
    throw std::invalid_argument("OutputTensor has other sizes or another data type than InputTensor.");
  }
  std::vector<uint32_t> kept = in.sizes;
  std::vector<uint32_t> reduced(in.sizes.size(), 1);
  for (uint32_t axis : axes) {
    reduced.at(axis) = in.sizes.at(axis);
    kept[axis] = 1;
  }
  Result result{makeArray(in.type, in.sizes), exact()};
  result.slack.resize(in.real.size());
  const Steps steps = packedSteps(in.sizes);
  using Position = std::array<int64_t, 1>;
  std::vector<int64_t> offsets;
  walk<1>(reduced, {steps}, [&](const Position& at) { offsets.push_back(at[0]); });
  Row row;
  walk<1>(kept, {steps}, [&](const Position& base) {
    row.in.clear();
    for (int64_t offset : offsets) row.in.push_back(in.real[static_cast<size_t>(base[0] + offset)]);
    row.out.assign(offsets.size(), 0);
    row.slack.assign(offsets.size(), 0);
    each(row);
    for (size_t k = 0; k < offsets.size(); ++k) {
      const auto at = static_cast<size_t>(base[0] + offsets[k]);
      result.value.real[at] = row.out[k];
      result.slack[at] = row.slack[k];
    }
  });
  const double terms = static_cast<double>(offsets.size());
  result.tolerance = ulp(std::min(3 * terms + 3, 64.0), 4);
  return result;
}

// exp(x - max) / sum of exp(x - max), or its logarithm.
void softmaxRow(Row& row, bool logarithm) {
  double top = -kInfinity;
  for (double x : row.in) top = std::fmax(top, x);
  double sum = 0;
  double error = 0;
  for (double x : row.in) {
    const double term = std::exp(x - top);
    sum += term;
    // Rounding the difference in FLOAT32 changes its exponential by as many units in the last place.
    if (std::isfinite(x)) error += term * (2 + std::fabs(x - top)) * kFloatEps;
  }
  for (size_t k = 0; k < row.in.size(); ++k) {
    const double difference = row.in[k] - top;
    if (logarithm) {
      row.out[k] = difference - std::log(sum);
      // Next to 0, where the sum is next to 1, a logarithm has an absolute error only.
      row.slack[k] = std::isfinite(row.out[k])
                         ? error / sum + kFloatEps * (4 + std::fabs(difference) + std::fabs(std::log(sum)))
                         : 0;
    } else {
      row.out[k] = std::exp(difference) / sum;
      row.slack[k] = std::isfinite(difference) ? row.out[k] * (error / sum + std::fabs(difference) * kFloatEps) : 0;
    }
  }
}

// 1 for the first of the largest elements.
void hardmaxRow(Row& row) {
  row.out[static_cast<size_t>(std::max_element(row.in.begin(), row.in.end()) - row.in.begin())] = 1;
  // Which element wins beside a NaN depends on the order of comparison.
  if (std::any_of(row.in.begin(), row.in.end(), [](double x) { return std::isnan(x); })) {
    std::fill(row.slack.begin(), row.slack.end(), kInfinity);
  }
}

// The operators without axes take rows of the last dimension.
std::array<uint32_t, 1> lastOf(const DML_TENSOR_DESC* tensor) { return {bufferOf(tensor).DimensionCount - 1}; }

Result softmax(const DML_TENSOR_DESC* output, std::span<const Array> inputs, std::span<const uint32_t> axes,
               bool logarithm) {
  return forRows(output, inputs, axes, [&](Row& row) { softmaxRow(row, logarithm); });
}

Result hardmax(const DML_TENSOR_DESC* output, std::span<const Array> inputs, std::span<const uint32_t> axes) {
  Result result = forRows(output, inputs, axes, hardmaxRow);
  result.tolerance = exact();
  return result;
}

}  // namespace

Result evaluateSoftmax(const DML_ACTIVATION_SOFTMAX_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return softmax(desc.OutputTensor, inputs, lastOf(desc.InputTensor), false);
}

Result evaluateSoftmax1(const DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return softmax(desc.OutputTensor, inputs, {desc.Axes, desc.AxisCount}, false);
}

Result evaluateLogSoftmax(const DML_ACTIVATION_LOG_SOFTMAX_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return softmax(desc.OutputTensor, inputs, lastOf(desc.InputTensor), true);
}

Result evaluateLogSoftmax1(const DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return softmax(desc.OutputTensor, inputs, {desc.Axes, desc.AxisCount}, true);
}

Result evaluateHardmax(const DML_ACTIVATION_HARDMAX_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return hardmax(desc.OutputTensor, inputs, lastOf(desc.InputTensor));
}

Result evaluateHardmax1(const DML_ACTIVATION_HARDMAX1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return hardmax(desc.OutputTensor, inputs, {desc.Axes, desc.AxisCount});
}

}  // namespace oracle
