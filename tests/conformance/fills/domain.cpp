#include "tests/conformance/fills/domain.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "tests/conformance/oracle/oracle.h"

namespace dimple::testing {
namespace {

// Terms that meet in one output element.
uint64_t accumulationLength(const TestCase& test, std::span<const UINT> axes) {
  const DML_BUFFER_TENSOR_DESC& in = *test.inputs[0];
  uint64_t terms = 1;
  for (uint32_t d = 0; d < in.DimensionCount; ++d)
    if (std::find(axes.begin(), axes.end(), d) != axes.end()) terms *= in.Sizes[d];
  return terms;
}

// For a reduction of `terms` elements to one.
void narrowForTerms(DML_REDUCE_FUNCTION function, double terms, DML_TENSOR_DATA_TYPE type, Domain& domain) {
  const bool half = type == DML_TENSOR_DATA_TYPE_FLOAT16;
  const double limit = half ? 1024 : 0x1p23;
  const double largest = static_cast<double>(domain.largest);
  domain.minExponent = -6;
  domain.maxExponent = 6;
  domain.fullRange = false;
  domain.specialDensity = std::min(0.5, 1 / terms);
  switch (function) {
    case DML_REDUCE_FUNCTION_SUM:
    case DML_REDUCE_FUNCTION_L1:
    case DML_REDUCE_FUNCTION_AVERAGE:
      domain.density = std::min(1.0, limit / (terms * largest / 2));
      break;
    case DML_REDUCE_FUNCTION_SUM_SQUARE:
    case DML_REDUCE_FUNCTION_L2:
      domain.density = std::min(1.0, limit / (terms * largest * largest / 2));
      break;
    case DML_REDUCE_FUNCTION_LOG_SUM:
      domain.negative = 0;
      domain.smallest = 1;
      break;
    case DML_REDUCE_FUNCTION_MULTIPLY:
      domain.smallest = oracle::isSigned(type) ? -2 : 1;
      domain.largest = 2;
      domain.density = std::min(0.8, 6 / terms);
      domain.resting = 1;
      domain.odd = true;
      // Around 1, so that products neither overflow nor vanish.
      domain.minExponent = -1;
      domain.maxExponent = 0;
      if (oracle::isReal(type)) domain.floatDensity = std::min(1.0, 200 / terms);
      break;
    case DML_REDUCE_FUNCTION_LOG_SUM_EXP:
      domain.maxExponent = 4;
      break;
    default:  // MIN, MAX, ARGMIN, ARGMAX: ties are some, not most
      domain.smallest = oracle::isSigned(type) ? -static_cast<int64_t>(std::min(terms + 4, largest * 64)) : 0;
      domain.largest = static_cast<int64_t>(std::min(terms + 4, largest * 64));
      domain.fullRange = true;
      domain.uniform = true;
      domain.specialDensity = std::min(0.3, 5 / terms);
      break;
  }
}

void narrowForReduce(const TestCase& test, DML_TENSOR_DATA_TYPE type, Domain& domain) {
  const auto& desc = test.as<DML_REDUCE_OPERATOR_DESC>();
  const auto terms = static_cast<double>(accumulationLength(test, {desc.Axes, desc.AxisCount}));
  narrowForTerms(desc.Function, terms, type, domain);
}

// Rows in which more than one element counts.
void narrowForSoftmax(const TestCase& test, Domain& domain) {
  uint64_t terms = test.inputs[0]->Sizes[test.inputs[0]->DimensionCount - 1];
  if (test.desc.schema().name.ends_with("1")) {
    const auto& desc = test.as<DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC>();  // the others have the same fields
    terms = accumulationLength(test, {desc.Axes, desc.AxisCount});
  }
  domain.fullRange = false;
  domain.maxExponent = 3;
  domain.specialDensity = std::min(0.3, 1 / static_cast<double>(terms));
}

}  // namespace

Domain domainOf(const TestCase& test, size_t input) {
  const DML_TENSOR_DATA_TYPE type = test.inputs[input]->DataType;
  Domain domain;
  const size_t bits = oracle::elementBits(type);
  if (type == DML_TENSOR_DATA_TYPE_FLOAT16 || (bits <= 8 && oracle::isSigned(type))) {
    domain.smallest = -4;
    domain.largest = 4;
  } else if (bits <= 8) {
    domain.largest = 8;
  }
  if (!oracle::isSigned(type)) domain.smallest = 0;
  if (type == DML_TENSOR_DATA_TYPE_FLOAT16) domain.minExponent = -6, domain.maxExponent = 6;
  switch (test.type()) {
    case DML_OPERATOR_REDUCE:
      narrowForReduce(test, type, domain);
      break;
    case DML_OPERATOR_ARGMIN:
    case DML_OPERATOR_ARGMAX: {
      const auto& desc = test.as<DML_ARGMAX_OPERATOR_DESC>();  // ARGMIN has the same fields
      const auto terms = static_cast<int64_t>(accumulationLength(test, {desc.Axes, desc.AxisCount}));
      domain.largest = std::min(terms + 4, domain.largest * 64);
      domain.smallest = oracle::isSigned(type) ? -domain.largest : 0;
      domain.specialDensity = std::min(0.3, 5 / static_cast<double>(terms));
      break;
    }
    case DML_OPERATOR_MULTIHEAD_ATTENTION:
    case DML_OPERATOR_MULTIHEAD_ATTENTION1:
      // Scores of which more than one counts.
      domain.smallest = -1;
      domain.largest = 1;
      domain.minExponent = -4;
      domain.maxExponent = 0;
      domain.fullRange = false;
      break;
    case DML_OPERATOR_ACTIVATION_SOFTMAX:
    case DML_OPERATOR_ACTIVATION_SOFTMAX1:
    case DML_OPERATOR_ACTIVATION_LOG_SOFTMAX:
    case DML_OPERATOR_ACTIVATION_LOG_SOFTMAX1:
    case DML_OPERATOR_ACTIVATION_HARDMAX:
    case DML_OPERATOR_ACTIVATION_HARDMAX1:
      narrowForSoftmax(test, domain);
      break;
    case DML_OPERATOR_CUMULATIVE_SUMMATION:
    case DML_OPERATOR_CUMULATIVE_PRODUCT: {
      const auto& desc = test.as<DML_CUMULATIVE_SUMMATION_OPERATOR_DESC>();  // CUMULATIVE_PRODUCT has the same fields
      const bool product = test.type() == DML_OPERATOR_CUMULATIVE_PRODUCT;
      narrowForTerms(product ? DML_REDUCE_FUNCTION_MULTIPLY : DML_REDUCE_FUNCTION_SUM, test.inputs[0]->Sizes[desc.Axis],
                     type, domain);
      break;
    }
    case DML_OPERATOR_GEMM:
    case DML_OPERATOR_CONVOLUTION:
    case DML_OPERATOR_MATRIX_MULTIPLY_INTEGER:
    case DML_OPERATOR_MATRIX_MULTIPLY_INTEGER_TO_FLOAT:
    case DML_OPERATOR_QUANTIZED_LINEAR_MATRIX_MULTIPLY:
    case DML_OPERATOR_CONVOLUTION_INTEGER:
    case DML_OPERATOR_QUANTIZED_LINEAR_CONVOLUTION:
      narrowForProduct(test, input, domain);
      break;
    case DML_OPERATOR_TOP_K:
    case DML_OPERATOR_TOP_K1:
      domain.uniform = true;
      domain.specialDensity = 0.3;
      break;
    case DML_OPERATOR_UPSAMPLE_2D:
    case DML_OPERATOR_RESAMPLE:
    case DML_OPERATOR_RESAMPLE1:
    case DML_OPERATOR_RESAMPLE2:
    case DML_OPERATOR_RESAMPLE3:
      domain.specialDensity = 0.2;
      break;
    case DML_OPERATOR_RNN:
    case DML_OPERATOR_LSTM:
    case DML_OPERATOR_GRU:
      // Sums that neither saturate all gates nor grow from step to step.
      domain.smallest = -2;
      domain.largest = 2;
      domain.density = 0.5;
      domain.fullRange = false;
      domain.minExponent = -5;
      domain.maxExponent = -1;
      domain.specialDensity = 0.02;
      break;
    case DML_OPERATOR_ROI_POOLING:
      domain.specialDensity = 0.1;
      break;
    case DML_OPERATOR_ADAM_OPTIMIZER:
      if (input == 2) domain.negative = 0, domain.smallest = 0;
      [[fallthrough]];
    case DML_OPERATOR_ROI_ALIGN:
    case DML_OPERATOR_ROI_ALIGN1:
    case DML_OPERATOR_ROI_ALIGN_GRAD:
    case DML_OPERATOR_RESAMPLE_GRAD:
    case DML_OPERATOR_RESAMPLE_GRAD1:
      domain.specialDensity = 0.05;
      domain.fullRange = false;
      domain.minExponent = -6;
      domain.maxExponent = 6;
      break;
    case DML_OPERATOR_NONZERO_COORDINATES:
      domain.density = 0.75;
      domain.floatDensity = 0.75;
      domain.specialDensity = 0.3;
      break;
    case DML_OPERATOR_ELEMENT_WISE_CLIP:
    case DML_OPERATOR_ELEMENT_WISE_CLIP1:
    case DML_OPERATOR_ELEMENT_WISE_CLIP_GRAD:
    case DML_OPERATOR_ELEMENT_WISE_CLIP_GRAD1:
      domain.smallShare = 0.75;
      domain.largest = std::min<int64_t>(domain.largest, 20);
      break;
    case DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_LEFT:
    case DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_RIGHT:
      // Shifts within the width, mostly.
      if (input == 1) {
        domain.smallShare = 0.75;
        domain.largest = static_cast<int64_t>(oracle::elementBits(type));
      }
      break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_AND:
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_EQUALS:
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_NOT:
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_OR:
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_XOR:
      // Many zeros, which are false and equal.
      domain.density = 0.5;
      domain.floatDensity = 0.5;
      domain.specialDensity = 0.5;
      domain.smallShare = 0.75;
      domain.largest = std::min<int64_t>(domain.largest, 2);
      break;
    case DML_OPERATOR_ELEMENT_WISE_POW:
      // Powers within the range of the type, mostly.
      domain.maxExponent = 2;
      domain.minExponent = -3;
      domain.negative = input == 0 ? 0.2 : 0.5;
      domain.smallShare = 0.75;
      domain.largest = 5;
      domain.smallest = oracle::isSigned(type) ? -3 : 0;
      break;
    case DML_OPERATOR_ELEMENT_WISE_CONSTANT_POW:
    case DML_OPERATOR_ELEMENT_WISE_LOG:
    case DML_OPERATOR_ELEMENT_WISE_SQRT:
      domain.negative = 0.1;
      break;
    case DML_OPERATOR_ELEMENT_WISE_ACOS:
    case DML_OPERATOR_ELEMENT_WISE_ASIN:
    case DML_OPERATOR_ELEMENT_WISE_ATANH:
      domain.maxExponent = -1;
      domain.largest = 1;
      domain.smallest = -1;
      break;
    case DML_OPERATOR_ELEMENT_WISE_ACOSH:
      domain.negative = 0.1;
      domain.minExponent = 0;
      break;
    case DML_OPERATOR_ELEMENT_WISE_COSH:
    case DML_OPERATOR_ELEMENT_WISE_SINH:
    case DML_OPERATOR_ELEMENT_WISE_EXP:
      domain.maxExponent = 5;
      break;
    case DML_OPERATOR_CAST:
      domain.maxExponent = static_cast<int>(oracle::elementBits(test.outputs[0]->DataType)) + 1;
      domain.minExponent = -4;
      break;
    default:
      if (narrowForWindows(test, input, domain)) break;
      if (test.desc.schema().name.starts_with("ACTIVATION_")) domain.maxExponent = 5;
      break;
  }
  return domain;
}

}  // namespace dimple::testing
