// Values of the inputs of matrix products and convolutions.
#include <algorithm>
#include <cmath>

#include "tests/conformance/fills/domain.h"
#include "tests/conformance/oracle/product.h"

namespace dimple::testing {
namespace {

// Products that meet in one output element.
uint64_t termsOf(const TestCase& test) {
  const auto elementsAfter = [&](size_t input, UINT first) {
    const DML_BUFFER_TENSOR_DESC& tensor = *test.inputs[input];
    uint64_t count = 1;
    for (UINT d = first; d < tensor.DimensionCount; ++d) count *= tensor.Sizes[d];
    return count;
  };
  switch (test.type()) {
    case DML_OPERATOR_GEMM: {
      const DML_BUFFER_TENSOR_DESC& a = *test.inputs[0];
      const bool transposed = test.as<DML_GEMM_OPERATOR_DESC>().TransA == DML_MATRIX_TRANSFORM_TRANSPOSE;
      return a.Sizes[a.DimensionCount - (transposed ? 2 : 1)];
    }
    case DML_OPERATOR_CONVOLUTION: {
      const auto& desc = test.as<DML_CONVOLUTION_OPERATOR_DESC>();
      return elementsAfter(1, 2) * (test.inputs[0]->Sizes[1] / desc.GroupCount);
    }
    case DML_OPERATOR_CONVOLUTION_INTEGER:
      return elementsAfter(2, 1);
    case DML_OPERATOR_QUANTIZED_LINEAR_CONVOLUTION:
      return elementsAfter(3, 1);
    default:
      return test.inputs[0]->Sizes[test.inputs[0]->DimensionCount - 1];
  }
}

// Scales and the bias of a product of integers.
void narrowForScale(const TestCase& test, size_t input, DML_TENSOR_DATA_TYPE type, Domain& domain) {
  const bool toFloat = test.type() == DML_OPERATOR_MATRIX_MULTIPLY_INTEGER_TO_FLOAT;
  domain.fullRange = false;
  domain.specialDensity = 0;
  domain.negative = 0.05;
  if (toFloat && input == 6) {  // the bias
    domain.negative = 0.5;
    return;
  }
  domain.smallest = 1;
  domain.largest = 4;
  domain.minExponent = type == DML_TENSOR_DATA_TYPE_FLOAT16 ? -8 : -9;
  domain.maxExponent = -4;
  // The output's scale is what keeps most results from saturating.
  if (input >= 6) {
    domain.smallest = 16;
    domain.largest = 64;
    domain.minExponent = -3;
    domain.maxExponent = 1;
  }
}

}  // namespace

void narrowForProduct(const TestCase& test, size_t input, Domain& domain) {
  const DML_TENSOR_DATA_TYPE type = test.inputs[input]->DataType;
  const auto terms = static_cast<double>(termsOf(test));
  const bool floats = test.type() == DML_OPERATOR_GEMM || test.type() == DML_OPERATOR_CONVOLUTION;
  domain.specialDensity = std::min(0.5, 1 / terms);
  if (!floats) {
    domain.specialDensity = std::min(0.5, 8 / terms);
    if (oracle::isReal(type)) narrowForScale(test, input, type, domain);
    return;
  }
  const bool half = type == DML_TENSOR_DATA_TYPE_FLOAT16;
  domain.fullRange = false;
  domain.minExponent = -5;
  domain.maxExponent = half ? 2 : 6;
  if (input >= 2) return;
  // Of both factors, so that sums of their products stay exact.
  const auto largest = static_cast<double>(domain.largest);
  domain.density = std::min(1.0, std::sqrt((half ? 1024 : 0x1p23) / (terms * largest * largest / 2)));
}

bool isExactProduct(const TestCase& test) {
  if (test.type() == DML_OPERATOR_CONVOLUTION) {
    const auto& desc = test.as<DML_CONVOLUTION_OPERATOR_DESC>();
    return desc.FusedActivation == nullptr && !oracle::mayBeTransformed(desc);
  }
  const auto& desc = test.as<DML_GEMM_OPERATOR_DESC>();
  const auto isHalves = [](float x) { return std::fabs(x) <= 4 && std::floor(2 * x) == 2 * x; };
  return desc.FusedActivation == nullptr && isHalves(desc.Alpha) && isHalves(desc.Beta);
}

}  // namespace dimple::testing
