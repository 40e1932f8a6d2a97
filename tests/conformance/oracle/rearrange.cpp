#include "tests/conformance/oracle/rearrange.h"

#include <cmath>
#include <limits>

#include "tests/conformance/oracle/elements.h"

namespace oracle {
namespace {

constexpr double kFloatNormal = 0x1p-126;

// The input coordinate at a position before, in or behind the input; negative: none. What mirrors or repeats the input
// goes on doing so however far the position is.
int64_t padSource(DML_PADDING_MODE mode, int64_t position, int64_t size) {
  const auto inside = [&] { return position >= 0 && position < size; };
  switch (mode) {
    case DML_PADDING_MODE_CONSTANT:
      return inside() ? position : -1;
    case DML_PADDING_MODE_EDGE:
      return position < 0 ? 0 : position < size ? position : size - 1;
    case DML_PADDING_MODE_REFLECTION:
      if (size == 1) return 0;
      while (!inside()) position = position < 0 ? -position : 2 * (size - 1) - position;
      return position;
    case DML_PADDING_MODE_SYMMETRIC:
      while (!inside()) position = position < 0 ? -1 - position : 2 * size - 1 - position;
      return position;
    default:  // WRAP
      while (!inside()) position += position < 0 ? size : -size;
      return position;
  }
}

template <class Desc>
Result pad(const Desc& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  Result result = exactResult(desc.OutputTensor);
  const Array& in = inputs[0];
  eachElement(result.value.sizes, [&](Coordinates at, int64_t i) {
    for (size_t d = 0; d < in.sizes.size(); ++d) {
      at[d] = padSource(desc.PaddingMode, at[d] - static_cast<int32_t>(desc.StartPadding[d]), in.sizes[d]);
      if (at[d] < 0) return setConstant(result.value, i, desc.PaddingValue);
    }
    copyElement(in, indexOf(in.sizes, at), result.value, i);
  });
  return result;
}

// The place in the depth tensor of an element of the space tensor.
Coordinates depthOf(const Coordinates& space, int64_t block, int64_t channels, DML_DEPTH_SPACE_ORDER order) {
  const int64_t inBlock = space[2] % block * block + space[3] % block;
  const int64_t channel = order == DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW ? inBlock * channels + space[1]
                                                                          : space[1] * block * block + inBlock;
  return {space[0], channel, space[2] / block, space[3] / block};
}

template <class Desc>
Result depthToSpace(const Desc& desc, std::span<const Array> inputs, DML_DEPTH_SPACE_ORDER order) {
  requireInputs(inputs, 1);
  Result result = exactResult(desc.OutputTensor);
  const auto& sizes = result.value.sizes;
  eachElement(sizes, [&](const Coordinates& at, int64_t i) {
    copyElement(inputs[0], indexOf(inputs[0].sizes, depthOf(at, desc.BlockSize, sizes[1], order)), result.value, i);
  });
  return result;
}

template <class Desc>
Result spaceToDepth(const Desc& desc, std::span<const Array> inputs, DML_DEPTH_SPACE_ORDER order) {
  requireInputs(inputs, 1);
  Result result = exactResult(desc.OutputTensor);
  const auto& sizes = inputs[0].sizes;
  eachElement(sizes, [&](const Coordinates& at, int64_t i) {
    const Coordinates target = depthOf(at, desc.BlockSize, sizes[1], order);
    copyElement(inputs[0], i, result.value, indexOf(result.value.sizes, target));
  });
  return result;
}

}  // namespace

std::vector<Result> evaluateSplit(const DML_SPLIT_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  std::vector<Result> results;
  int64_t start = 0;
  for (UINT part = 0; part < desc.OutputCount; ++part) {
    Result result = exactResult(&desc.OutputTensors[part]);
    eachElement(result.value.sizes, [&](Coordinates at, int64_t i) {
      at[desc.Axis] += start;
      copyElement(inputs[0], indexOf(inputs[0].sizes, at), result.value, i);
    });
    start += result.value.sizes.at(desc.Axis);
    results.push_back(std::move(result));
  }
  return results;
}

Result evaluateTile(const DML_TILE_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  Result result = exactResult(desc.OutputTensor);
  const Array& in = inputs[0];
  eachElement(result.value.sizes, [&](Coordinates at, int64_t i) {
    for (size_t d = 0; d < in.sizes.size(); ++d) at[d] %= in.sizes[d];
    copyElement(in, indexOf(in.sizes, at), result.value, i);
  });
  return result;
}

Result evaluatePadding(const DML_PADDING_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return pad(desc, inputs);
}

Result evaluatePadding1(const DML_PADDING1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return pad(desc, inputs);
}

// Element i of the gradient goes where SLICE1 takes element i from, even if that lies past the window.
Result evaluateSliceGrad(const DML_SLICE_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  Result result = exactResult(desc.OutputGradientTensor);
  eachElement(inputs[0].sizes, [&](Coordinates at, int64_t i) {
    for (size_t d = 0; d < inputs[0].sizes.size(); ++d) {
      const int64_t stride = desc.InputWindowStrides[d];
      const int64_t first = desc.InputWindowOffsets[d] + (stride < 0 ? int64_t{desc.InputWindowSizes[d]} - 1 : 0);
      at[d] = first + at[d] * stride;
    }
    copyElement(inputs[0], i, result.value, indexOf(result.value.sizes, at));
  });
  return result;
}

Result evaluateDepthToSpace(const DML_DEPTH_TO_SPACE_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return depthToSpace(desc, inputs, DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW);
}

Result evaluateDepthToSpace1(const DML_DEPTH_TO_SPACE1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return depthToSpace(desc, inputs, desc.Order);
}

Result evaluateSpaceToDepth(const DML_SPACE_TO_DEPTH_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return spaceToDepth(desc, inputs, DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW);
}

Result evaluateSpaceToDepth1(const DML_SPACE_TO_DEPTH1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return spaceToDepth(desc, inputs, desc.Order);
}

// Lengths beyond the axis are as good as its size.
Result evaluateReverseSubsequences(const DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 2);
  Result result = exactResult(desc.OutputTensor);
  const Array& in = inputs[0];
  const Array& lengths = inputs[1];
  eachElement(in.sizes, [&](Coordinates at, int64_t i) {
    const int64_t place = at[desc.Axis];
    at[desc.Axis] = 0;
    const auto given = static_cast<uint64_t>(lengths.whole.at(static_cast<size_t>(indexOf(lengths.sizes, at))));
    const int64_t length = given > in.sizes[desc.Axis] ? in.sizes[desc.Axis] : static_cast<int64_t>(given);
    at[desc.Axis] = place < length ? length - 1 - place : place;
    copyElement(in, indexOf(in.sizes, at), result.value, i);
  });
  return result;
}

// Computed in FLOAT32: the product may be rounded, or a denormal of it flushed, before the bias is added.
Result evaluateValueScale2D(const DML_VALUE_SCALE_2D_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  Result result = exactResult(desc.OutputTensor);
  result.tolerance = ulp(1, 1);
  result.slack.resize(result.value.count());
  const auto scale = static_cast<double>(desc.Scale);
  eachElement(result.value.sizes, [&](const Coordinates& at, int64_t index) {
    const auto i = static_cast<size_t>(index);
    const double product = inputs[0].real.at(i) * scale;
    result.value.real[i] = product + static_cast<double>(desc.Bias[at[1]]);
    if (!std::isfinite(product)) return;
    const bool overflows = std::fabs(product) > static_cast<double>(std::numeric_limits<float>::max());
    result.slack[i] = overflows ? std::numeric_limits<double>::infinity()
                                : 0x1p-24 * std::fabs(product) + kFloatNormal * (1 + std::fabs(scale));
  });
  return result;
}

}  // namespace oracle
