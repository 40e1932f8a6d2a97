#include "tests/conformance/oracle/indexing.h"

#include "tests/conformance/oracle/elements.h"

namespace oracle {
namespace {

bool isInside(int64_t index, int64_t size) { return index >= 0 && index < size; }

// output[batch..., tuple..., rest...] = input[batch..., indices[batch..., tuple...]..., rest...]
Result gatherTuples(const DML_TENSOR_DESC* output, std::span<const Array> inputs, size_t inputCount,
                    size_t indicesCount, size_t batchCount) {
  requireInputs(inputs, 2);
  Result result = exactResult(output);
  const Array& in = inputs[0];
  const Array& indices = inputs[1];
  const std::span sizes = std::span(in.sizes).last(inputCount);
  const std::span tuples = std::span(indices.sizes).last(indicesCount).first(indicesCount - 1);
  const size_t tupleSize = indices.sizes.back();
  const auto under = static_cast<int64_t>(countOf(sizes.subspan(batchCount + tupleSize)));
  eachElement(tuples, [&](Coordinates at, int64_t n) {
    bool inside = true;
    for (size_t k = 0; k < tupleSize; ++k) {
      const int64_t size = sizes[batchCount + k];
      const auto which = static_cast<size_t>(n) * tupleSize + k;
      const int64_t index = fromEnd(indices.whole.at(which), indices.type, size);
      inside = inside && isInside(index, size);
      at[batchCount + k] = isInside(index, size) ? index : size - 1;
    }
    const int64_t source = indexOf(sizes.first(batchCount + tupleSize), at);
    for (int64_t u = 0; u < under; ++u) {
      if (!inside) makeFree(result, n * under + u);
      copyElement(in, source * under + u, result.value, n * under + u);
    }
  });
  return result;
}

}  // namespace

Result evaluateGatherElements(const DML_GATHER_ELEMENTS_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 2);
  Result result = exactResult(desc.OutputTensor);
  const Array& in = inputs[0];
  const Array& indices = inputs[1];
  const int64_t size = in.sizes.at(desc.Axis);
  eachElement(result.value.sizes, [&](Coordinates at, int64_t i) {
    const int64_t index = fromEnd(indices.whole.at(static_cast<size_t>(i)), indices.type, size);
    if (!isInside(index, size)) makeFree(result, i);
    at[desc.Axis] = isInside(index, size) ? index : size - 1;
    copyElement(in, indexOf(in.sizes, at), result.value, i);
  });
  return result;
}

Result evaluateGatherNd(const DML_GATHER_ND_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return gatherTuples(desc.OutputTensor, inputs, desc.InputDimensionCount, desc.IndicesDimensionCount, 0);
}

Result evaluateGatherNd1(const DML_GATHER_ND1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return gatherTuples(desc.OutputTensor, inputs, desc.InputDimensionCount, desc.IndicesDimensionCount,
                      desc.BatchDimensionCount);
}

// Indices outside are skipped; of two updates of one element either may stay.
Result evaluateScatterElements(const DML_SCATTER_ELEMENTS_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 3);
  Result result = exactResult(desc.OutputTensor);
  const Array& indices = inputs[1];
  result.value.real = inputs[0].real;
  result.value.whole = inputs[0].whole;
  const int64_t size = result.value.sizes.at(desc.Axis);
  std::vector<bool> written(result.value.count());
  eachElement(indices.sizes, [&](Coordinates at, int64_t i) {
    at[desc.Axis] = fromEnd(indices.whole.at(static_cast<size_t>(i)), indices.type, size);
    if (!isInside(at[desc.Axis], size)) return;
    const int64_t target = indexOf(result.value.sizes, at);
    copyElement(inputs[2], i, result.value, target);
    if (written[static_cast<size_t>(target)]) makeFree(result, target);
    written[static_cast<size_t>(target)] = true;
  });
  return result;
}

Result evaluateOneHot(const DML_ONE_HOT_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 2);
  Result result = exactResult(desc.OutputTensor);
  const Array& indices = inputs[0];
  const int64_t size = result.value.sizes.at(desc.Axis);
  eachElement(result.value.sizes, [&](Coordinates at, int64_t i) {
    const int64_t place = at[desc.Axis];
    at[desc.Axis] = 0;
    const int64_t given = indices.whole.at(static_cast<size_t>(indexOf(indices.sizes, at)));
    copyElement(inputs[1], place == fromEnd(given, indices.type, size) ? 1 : 0, result.value, i);
  });
  return result;
}

}  // namespace oracle
