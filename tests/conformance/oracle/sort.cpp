#include "tests/conformance/oracle/sort.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "tests/conformance/oracle/fields.h"
#include "tests/conformance/oracle/walk.h"

namespace oracle {
namespace {

Result exactResult(const DML_TENSOR_DESC* tensor) {
  const DML_BUFFER_TENSOR_DESC& output = bufferOf(tensor);
  return {makeArray(output.DataType, sizesOf(output)), exact()};
}

// NaN is larger than every number; zeros of both signs are equal.
bool less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

std::vector<Result> topK(const DML_TENSOR_DESC* valueTensor, const DML_TENSOR_DESC* indexTensor,
                         std::span<const Array> inputs, uint32_t axis, uint32_t k, bool largest) {
  requireInputs(inputs, 1);
  const Array& in = inputs[0];
  std::vector<Result> results{exactResult(valueTensor), exactResult(indexTensor)};
  Array& values = results[0].value;
  Array& indices = results[1].value;
  std::vector<uint32_t> kept = in.sizes;
  kept.at(axis) = 1;
  std::vector<uint32_t> sizes = in.sizes;
  sizes[axis] = k;
  if (values.sizes != sizes || indices.sizes != sizes || values.type != in.type) {
    throw std::invalid_argument("An output has other sizes or another data type than are due.");
  }
  const int64_t inStep = packedSteps(in.sizes)[axis];
  const int64_t outStep = packedSteps(sizes)[axis];
  const bool isUnsigned = !isSigned(in.type);
  std::vector<int64_t> order(in.sizes[axis]);
  walk<2>(kept, {packedSteps(in.sizes), packedSteps(sizes)}, [&](const std::array<int64_t, 2>& base) {
    const auto at = [&](int64_t i) { return static_cast<size_t>(base[0] + i * inStep); };
    const auto before = [&](int64_t a, int64_t b) {
      if (!in.real.empty()) return less(in.real[at(a)], in.real[at(b)]);
      const int64_t x = in.whole[at(a)];
      const int64_t y = in.whole[at(b)];
      return isUnsigned ? static_cast<uint64_t>(x) < static_cast<uint64_t>(y) : x < y;
    };
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return largest ? before(b, a) : before(a, b); });
    for (uint32_t i = 0; i < k; ++i) {
      const auto target = static_cast<size_t>(base[1] + i * outStep);
      if (in.real.empty()) {
        values.whole[target] = in.whole[at(order[i])];
      } else {
        values.real[target] = in.real[at(order[i])];
      }
      indices.whole[target] = order[i];
    }
  });
  return results;
}

}  // namespace

std::vector<Result> evaluateTopK(const DML_TOP_K_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return topK(desc.OutputValueTensor, desc.OutputIndexTensor, inputs, desc.Axis, desc.K, true);
}

std::vector<Result> evaluateTopK1(const DML_TOP_K1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return topK(desc.OutputValueTensor, desc.OutputIndexTensor, inputs, desc.Axis, desc.K,
              desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING);
}

// Row i has the last coordinates of the i-th element that is not 0; NaN is not 0. Rows beyond the count are free.
std::vector<Result> evaluateNonzeroCoordinates(const DML_NONZERO_COORDINATES_OPERATOR_DESC& desc,
                                               std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const Array& in = inputs[0];
  std::vector<Result> results{exactResult(desc.OutputCountTensor), exactResult(desc.OutputCoordinatesTensor)};
  Array& coordinates = results[1].value;
  const size_t columns = coordinates.sizes.back();
  const size_t rank = in.sizes.size();
  size_t count = 0;
  for (size_t i = 0; i < in.count(); ++i) {
    if (in.real.empty() ? in.whole[i] == 0 : in.real[i] == 0) continue;
    size_t rest = i;
    for (size_t d = rank; d-- > 0;) {
      if (d + columns >= rank)
        coordinates.whole.at(count * columns + d + columns - rank) = static_cast<int64_t>(rest % in.sizes[d]);
      rest /= in.sizes[d];
    }
    ++count;
  }
  results[0].value.whole.at(0) = static_cast<int64_t>(count);
  results[1].slack.resize(coordinates.whole.size());
  std::fill(results[1].slack.begin() + static_cast<std::ptrdiff_t>(count * columns), results[1].slack.end(),
            std::numeric_limits<double>::infinity());
  return results;
}

}  // namespace oracle
