// REDUCE with all its functions, ARGMIN and ARGMAX.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateReduce(const DML_REDUCE_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateArgMin(const DML_ARGMIN_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateArgMax(const DML_ARGMAX_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
