// Cumulative sums and products.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateCumulativeSummation(const DML_CUMULATIVE_SUMMATION_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateCumulativeProduct(const DML_CUMULATIVE_PRODUCT_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
