// How the values of inputs are drawn, for what fills them.
#pragma once

#include "tests/conformance/test_case.h"

namespace dimple::testing {

// How the values of one input are drawn.
struct Domain {
  int64_t smallest = -32, largest = 32;  // FillKind::Int
  double density = 1;                    // share of them that are not `resting`
  int64_t resting = 0;
  int minExponent = -12, maxExponent = 12;  // FillKind::Float: powers of two of most elements
  bool fullRange = true;                    // and of some all that the type has
  double negative = 0.5;
  double floatDensity = 1;    // FillKind::Float: share of elements that are not `resting`
  double smallShare = 0;      // FillKind::Float: of integers that are small ones
  bool uniform = false;       // FillKind::Float: integers of full width, not of all widths alike
  bool odd = false;           // integers that multiply without becoming 0
  double specialDensity = 1;  // FillKind::Special
};

// For an input of a test case, which is present.
Domain domainOf(const TestCase& test, size_t input);

// For operators on sliding windows and for normalization; false for the others.
bool narrowForWindows(const TestCase& test, size_t input, Domain& domain);
// For an input of a matrix product or a convolution.
void narrowForProduct(const TestCase& test, size_t input, Domain& domain);
// Whether small integers give a result without rounding.
bool isExactProduct(const TestCase& test);

}  // namespace dimple::testing
