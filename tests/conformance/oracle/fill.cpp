#include "tests/conformance/oracle/fill.h"

#include <cmath>

#include "tests/conformance/oracle/elements.h"

namespace oracle {

// start + i * delta, as adding the step over and over would give were it not for rounding. Floats are computed in
// FLOAT32, where the index and its product with the step may be rounded; integers wrap.
Result evaluateFillValueSequence(const DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 0);
  Result result = exactResult(desc.OutputTensor);
  Array& out = result.value;
  if (!isReal(out.type)) {
    const auto start = static_cast<uint64_t>(wholeConstantOf(out.type, desc.ValueStart));
    const auto delta = static_cast<uint64_t>(wholeConstantOf(out.type, desc.ValueDelta));
    for (size_t i = 0; i < out.whole.size(); ++i) {
      out.whole[i] = wrapTo(out.type, static_cast<int64_t>(start + i * delta));
    }
    return result;
  }
  result.tolerance = ulp(1, 1);
  result.slack.resize(out.real.size());
  const double start = constantOf(out.type, desc.ValueStart);
  const double delta = constantOf(out.type, desc.ValueDelta);
  for (size_t i = 0; i < out.real.size(); ++i) {
    const double product = static_cast<double>(i) * delta;
    out.real[i] = start + product;
    if (std::isfinite(product)) result.slack[i] = 0x1p-23 * std::fabs(product);
  }
  return result;
}

Result evaluateDiagonalMatrix(const DML_DIAGONAL_MATRIX_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 0);
  Result result = exactResult(desc.OutputTensor);
  const size_t rank = result.value.sizes.size();
  eachElement(result.value.sizes, [&](const Coordinates& at, int64_t i) {
    if (at[rank - 2] + desc.Offset == at[rank - 1]) setConstant(result.value, i, desc.Value);
  });
  return result;
}

Result evaluateDiagonalMatrix1(const DML_DIAGONAL_MATRIX1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  Result result = exactResult(desc.OutputTensor);
  const size_t rank = result.value.sizes.size();
  eachElement(result.value.sizes, [&](const Coordinates& at, int64_t i) {
    const int64_t top = at[rank - 1] - at[rank - 2];
    const bool usesValue = (desc.DiagonalFillEnd >= desc.DiagonalFillBegin) ^ (top >= desc.DiagonalFillBegin) ^
                           (top < desc.DiagonalFillEnd);
    if (usesValue) {
      setConstant(result.value, i, desc.Value);
    } else if (!inputs.empty() && !inputs[0].absent()) {
      copyElement(inputs[0], i, result.value, i);
    }
  });
  return result;
}

}  // namespace oracle
