// Values for operators on sliding windows and for normalization: terms that sum without overflow, and special values so
// rare that not every result is one.
#include <algorithm>
#include <span>

#include "tests/conformance/fills/domain.h"

namespace dimple::testing {
namespace {

template <class Desc>
double windowElements(const TestCase& test) {
  const auto& desc = test.as<Desc>();
  const UINT* sizes = nullptr;
  if constexpr (requires { desc.WindowSizes; }) {
    sizes = desc.WindowSizes;
  } else {
    sizes = desc.WindowSize;
  }
  double count = 1;
  for (UINT d = 0; d < desc.DimensionCount; ++d) count *= std::max(sizes[d], 1u);
  return count;
}

void narrowForSums(double terms, Domain& domain) {
  domain.minExponent = -6;
  domain.maxExponent = 6;
  domain.fullRange = false;
  domain.specialDensity = std::min(0.3, 0.5 / terms);
}

double elementsOf(const DML_BUFFER_TENSOR_DESC& tensor) {
  double count = 1;
  for (UINT d = 0; d < tensor.DimensionCount; ++d) count *= tensor.Sizes[d];
  return count;
}

double rowElements(const TestCase& test, std::span<const UINT> axes) {
  const DML_BUFFER_TENSOR_DESC& in = *test.inputs[0];
  double count = 1;
  for (UINT d = 0; d < in.DimensionCount; ++d)
    if (std::find(axes.begin(), axes.end(), d) != axes.end()) count *= in.Sizes[d];
  return count;
}

// Inputs of normalization differ by some magnitudes only; variances are above 0 for the most part.
void narrowForNormalization(double terms, bool isVariance, Domain& domain) {
  domain.minExponent = -3;
  domain.maxExponent = 3;
  domain.fullRange = false;
  domain.specialDensity = std::min(0.1, 0.3 / terms);
  if (!isVariance) return;
  domain.smallest = 0;
  domain.negative = 0.01;
}

// Ties are some, not most.
void narrowForMaximum(double terms, Domain& domain) {
  domain.uniform = true;
  domain.specialDensity = std::min(0.5, 2 / terms);
}

}  // namespace

bool narrowForWindows(const TestCase& test, size_t input, Domain& domain) {
  switch (test.type()) {
    case DML_OPERATOR_AVERAGE_POOLING:
      narrowForSums(windowElements<DML_AVERAGE_POOLING_OPERATOR_DESC>(test), domain);
      return true;
    case DML_OPERATOR_AVERAGE_POOLING1:
      narrowForSums(windowElements<DML_AVERAGE_POOLING1_OPERATOR_DESC>(test), domain);
      return true;
    case DML_OPERATOR_LP_POOLING:
      narrowForSums(windowElements<DML_LP_POOLING_OPERATOR_DESC>(test), domain);
      return true;
    case DML_OPERATOR_LP_POOLING1:
      narrowForSums(windowElements<DML_LP_POOLING1_OPERATOR_DESC>(test), domain);
      return true;
    case DML_OPERATOR_MAX_POOLING:
      narrowForMaximum(windowElements<DML_MAX_POOLING_OPERATOR_DESC>(test), domain);
      return true;
    case DML_OPERATOR_MAX_POOLING1:
      narrowForMaximum(windowElements<DML_MAX_POOLING1_OPERATOR_DESC>(test), domain);
      return true;
    case DML_OPERATOR_MAX_POOLING2:
      narrowForMaximum(windowElements<DML_MAX_POOLING2_OPERATOR_DESC>(test), domain);
      return true;
    case DML_OPERATOR_AVERAGE_POOLING_GRAD:
      narrowForSums(windowElements<DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC>(test), domain);
      return true;
    case DML_OPERATOR_MAX_POOLING_GRAD: {
      const double terms = windowElements<DML_MAX_POOLING_GRAD_OPERATOR_DESC>(test);
      narrowForSums(terms, domain);
      // A NaN leaves all windows over it undecided.
      if (input == 0) domain.specialDensity = std::min(0.1, 0.2 / terms);
      // Sums of many gradients, small enough to be exact in FLOAT16.
      if (input == 1) domain.density = std::min(1.0, 400 / terms);
      return true;
    }
    case DML_OPERATOR_QUANTIZED_LINEAR_AVERAGE_POOLING:
      domain.uniform = true;
      domain.specialDensity = 0.5;
      // Scales.
      if (input == 1 || input == 3) {
        domain.smallest = 1;
        domain.largest = 4;
        domain.negative = 0.1;
        domain.minExponent = -2;
        domain.maxExponent = 1;
        domain.fullRange = false;
        domain.specialDensity = 0.1;
      }
      return true;
    case DML_OPERATOR_BATCH_NORMALIZATION:
      narrowForNormalization(1, input == 2, domain);
      domain.specialDensity = input == 0 ? 0.5 : 0.1;
      return true;
    case DML_OPERATOR_BATCH_NORMALIZATION_TRAINING:
      narrowForNormalization(elementsOf(*test.inputs[0]) / elementsOf(*test.inputs[1]), false, domain);
      return true;
    case DML_OPERATOR_BATCH_NORMALIZATION_GRAD:
    case DML_OPERATOR_BATCH_NORMALIZATION_TRAINING_GRAD:
      narrowForNormalization(elementsOf(*test.inputs[0]) / elementsOf(*test.inputs[2]), input == 3, domain);
      return true;
    case DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION: {
      constexpr UINT kAxes[] = {1, 2, 3};
      narrowForNormalization(rowElements(test, kAxes), false, domain);
      return true;
    }
    case DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1: {
      const auto& desc = test.as<DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC>();
      narrowForNormalization(rowElements(test, {desc.Axes, desc.AxisCount}), false, domain);
      return true;
    }
    case DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2: {
      const auto& desc = test.as<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>();
      narrowForNormalization(rowElements(test, {desc.Axes, desc.AxisCount}), false, domain);
      return true;
    }
    case DML_OPERATOR_LP_NORMALIZATION: {
      const UINT axes[] = {test.as<DML_LP_NORMALIZATION_OPERATOR_DESC>().Axis};
      narrowForNormalization(rowElements(test, axes), false, domain);
      return true;
    }
    case DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION:
    case DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION_GRAD:
      narrowForNormalization(12, false, domain);
      return true;
    case DML_OPERATOR_FOLD:
      narrowForSums(windowElements<DML_FOLD_OPERATOR_DESC>(test), domain);
      domain.density = std::min(1.0, 400 / windowElements<DML_FOLD_OPERATOR_DESC>(test));
      return true;
    default:
      return false;
  }
}

}  // namespace dimple::testing
