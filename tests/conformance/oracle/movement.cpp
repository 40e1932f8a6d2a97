#include "tests/conformance/oracle/movement.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/conformance/oracle/elements.h"
#include "tests/conformance/oracle/walk.h"

namespace oracle {
namespace {

using Position = std::array<int64_t, 1>;
using Positions = std::array<int64_t, 2>;

// Integers lose what is above 32 bits, are read with the signedness of the type they go to, and saturate there.
int64_t castWhole(DML_TENSOR_DATA_TYPE type, int64_t value) {
  if (elementBytes(type) == 8) return value;
  if (isSigned(type)) {
    const int64_t word = static_cast<int32_t>(value);
    const int64_t limit = int64_t{1} << (elementBytes(type) * 8 - 1);
    return std::clamp(word, -limit, limit - 1);
  }
  const int64_t word = static_cast<uint32_t>(value);
  return std::min(word, (int64_t{1} << (elementBytes(type) * 8)) - 1);
}

// Rounded once: on the way to FLOAT32 a double between would round twice.
double realFromWhole(DML_TENSOR_DATA_TYPE from, DML_TENSOR_DATA_TYPE to, int64_t value) {
  const bool bits = from == DML_TENSOR_DATA_TYPE_UINT64;
  const auto unsignedValue = static_cast<uint64_t>(value);
  if (to == DML_TENSOR_DATA_TYPE_FLOAT32) {
    return static_cast<double>(bits ? static_cast<float>(unsignedValue) : static_cast<float>(value));
  }
  return bits ? static_cast<double>(unsignedValue) : static_cast<double>(value);
}

// The input element of each output coordinate: start + stride * coordinate in every dimension.
Result slice(const DML_TENSOR_DESC* output, const Array& in, std::span<const int64_t> starts,
             std::span<const int64_t> strides) {
  Result result = exactResult(output);
  const Steps inSteps = packedSteps(in.sizes);
  Steps steps{};
  int64_t start = 0;
  for (size_t d = 0; d < in.sizes.size(); ++d) {
    const int64_t last = starts[d] + strides[d] * (static_cast<int64_t>(result.value.sizes.at(d)) - 1);
    if (starts[d] < 0 || last < 0 || std::max(starts[d], last) >= in.sizes[d]) {
      throw std::invalid_argument("The slice leaves the input tensor.");
    }
    start += starts[d] * inSteps[d];
    steps[d] = strides[d] * inSteps[d];
  }
  int64_t target = 0;
  walk<1>(result.value.sizes, {steps},
          [&](const Position& at) { copyElement(in, start + at[0], result.value, target++); });
  return result;
}

}  // namespace

Result evaluateCast(const DML_CAST_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  Result result = exactResult(desc.OutputTensor);
  const Array& in = inputs[0];
  Array& out = result.value;
  if (isReal(in.type) && isReal(out.type)) {
    out.real = in.real;
    if (in.type == DML_TENSOR_DATA_TYPE_FLOAT64 && out.type == DML_TENSOR_DATA_TYPE_FLOAT16) {
      // Rounding to FLOAT32 on the way is as right as rounding once.
      result.slack.resize(out.real.size());
      for (size_t i = 0; i < out.real.size(); ++i) {
        const double once = roundTo(out.type, in.real[i]);
        const double twice = roundTo(out.type, roundTo(DML_TENSOR_DATA_TYPE_FLOAT32, in.real[i]));
        if (once != twice && !std::isnan(once)) result.slack[i] = std::fabs(once - twice);
      }
    }
  } else if (isReal(in.type)) {
    for (size_t i = 0; i < in.real.size(); ++i) out.whole[i] = truncateTo(out.type, in.real[i]);
  } else if (isReal(out.type)) {
    for (size_t i = 0; i < in.whole.size(); ++i) out.real[i] = realFromWhole(in.type, out.type, in.whole[i]);
  } else {
    for (size_t i = 0; i < in.whole.size(); ++i) out.whole[i] = castWhole(out.type, in.whole[i]);
  }
  return result;
}

Result evaluateIf(const DML_ELEMENT_WISE_IF_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 3);
  Result result = exactResult(desc.OutputTensor);
  for (size_t i = 0; i < inputs[0].whole.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    copyElement(inputs[0].whole[i] != 0 ? inputs[1] : inputs[2], at, result.value, at);
  }
  return result;
}

Result evaluateFillValueConstant(const DML_FILL_VALUE_CONSTANT_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 0);
  Result result = exactResult(desc.OutputTensor);
  Array& out = result.value;
  if (isReal(out.type)) {
    std::fill(out.real.begin(), out.real.end(), constantOf(out.type, desc.Value));
  } else {
    std::fill(out.whole.begin(), out.whole.end(), wholeConstantOf(out.type, desc.Value));
  }
  return result;
}

Result evaluateSlice(const DML_SLICE_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const std::vector<int64_t> starts(desc.Offsets, desc.Offsets + desc.DimensionCount);
  const std::vector<int64_t> strides(desc.Strides, desc.Strides + desc.DimensionCount);
  return slice(desc.OutputTensor, inputs[0], starts, strides);
}

Result evaluateSlice1(const DML_SLICE1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  std::vector<int64_t> starts(desc.InputWindowOffsets, desc.InputWindowOffsets + desc.DimensionCount);
  const std::vector<int64_t> strides(desc.InputWindowStrides, desc.InputWindowStrides + desc.DimensionCount);
  for (size_t d = 0; d < starts.size(); ++d) {
    if (strides[d] < 0) starts[d] += static_cast<int64_t>(desc.InputWindowSizes[d]) - 1;
  }
  return slice(desc.OutputTensor, inputs[0], starts, strides);
}

Result evaluateJoin(const DML_JOIN_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, desc.InputCount);
  Result result = exactResult(desc.OutputTensor);
  const Steps steps = packedSteps(result.value.sizes);
  int64_t start = 0;
  for (const Array& in : inputs) {
    int64_t source = 0;
    walk<1>(in.sizes, {steps}, [&](const Position& at) { copyElement(in, source++, result.value, start + at[0]); });
    start += steps[desc.Axis] * in.sizes.at(desc.Axis);
  }
  return result;
}

// output[leading..., indices..., trailing...] = input[leading..., index, trailing...], aligned to the right: where
// these are more dimensions than the tensors have, the first ones go and stand at coordinate 0.
Result evaluateGather(const DML_GATHER_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 2);
  Result result = exactResult(desc.OutputTensor);
  const Array& in = inputs[0];
  const Array& indices = inputs[1];
  const size_t rank = in.sizes.size();
  const Steps inSteps = packedSteps(in.sizes);
  const Steps indexSteps = packedSteps(indices.sizes);

  std::vector<uint32_t> sizes;
  std::vector<int64_t> inStepOf;
  std::vector<int64_t> indexStepOf;
  const auto append = [&](uint32_t size, int64_t inStep, int64_t indexStep) {
    sizes.push_back(size);
    inStepOf.push_back(inStep);
    indexStepOf.push_back(indexStep);
  };
  if (desc.IndexDimensions == 0) append(1, 0, 0);
  for (size_t d = 0; d < desc.Axis; ++d) append(in.sizes.at(d), inSteps[d], 0);
  for (size_t d = rank - desc.IndexDimensions; d < rank; ++d) append(indices.sizes.at(d), 0, indexSteps[d]);
  for (size_t d = desc.Axis + 1; d < rank; ++d) append(in.sizes[d], inSteps[d], 0);
  const size_t excess = sizes.size() - rank;
  sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(excess));
  if (sizes != result.value.sizes) throw std::invalid_argument("OutputTensor of GATHER has other sizes than are due.");
  std::array<Steps, 2> steps{};
  std::copy(inStepOf.begin() + static_cast<std::ptrdiff_t>(excess), inStepOf.end(), steps[0].begin());
  std::copy(indexStepOf.begin() + static_cast<std::ptrdiff_t>(excess), indexStepOf.end(), steps[1].begin());

  const auto axisSize = static_cast<int64_t>(in.sizes[desc.Axis]);
  int64_t target = 0;
  walk<2>(sizes, steps, [&](const Positions& at) {
    const int64_t index = fromEnd(indices.whole.at(static_cast<size_t>(at[1])), indices.type, axisSize);
    const bool inside = index >= 0 && index < axisSize;
    if (!inside) makeFree(result, target);
    copyElement(in, at[0] + (inside ? index : axisSize - 1) * inSteps[desc.Axis], result.value, target++);
  });
  return result;
}

// Each tuple of indices addresses the leading ones of the input's last InputDimensionCount dimensions and replaces all
// that lies under it; tuples that lead outside are skipped.
Result evaluateScatterNd(const DML_SCATTER_ND_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 3);
  Result result = exactResult(desc.OutputTensor);
  const Array& indices = inputs[1];
  const Array& updates = inputs[2];
  result.value.real = inputs[0].real;
  result.value.whole = inputs[0].whole;

  const std::span<const uint32_t> sizes = std::span(inputs[0].sizes).last(desc.InputDimensionCount);
  const size_t tupleSize = indices.sizes.back();
  if (tupleSize > sizes.size())
    throw std::invalid_argument("The index tuples have more members than dimensions exist.");
  const uint64_t under = countOf(sizes.subspan(tupleSize));
  const size_t tuples = indices.whole.size() / tupleSize;
  if (updates.count() != tuples * under) {
    throw std::invalid_argument("UpdatesTensor has another size than the input and the indices give.");
  }
  std::vector<bool> written(countOf(sizes.first(tupleSize)));
  for (size_t n = 0; n < tuples; ++n) {
    int64_t target = 0;
    bool inside = true;
    for (size_t d = 0; d < tupleSize; ++d) {
      const auto size = static_cast<int64_t>(sizes[d]);
      const int64_t index = fromEnd(indices.whole[n * tupleSize + d], indices.type, size);
      inside = inside && index >= 0 && index < size;
      target = inside ? target * size + index : 0;
    }
    if (!inside) continue;
    const bool again = written[static_cast<size_t>(target)];
    written[static_cast<size_t>(target)] = true;
    for (uint64_t u = 0; u < under; ++u) {
      const int64_t at = target * static_cast<int64_t>(under) + static_cast<int64_t>(u);
      copyElement(updates, static_cast<int64_t>(n * under + u), result.value, at);
      if (again) makeFree(result, at);
    }
  }
  return result;
}

}  // namespace oracle
