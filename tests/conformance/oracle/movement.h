// Operators that select, move or convert elements one by one; all of them are exact.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateCast(const DML_CAST_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateIf(const DML_ELEMENT_WISE_IF_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateFillValueConstant(const DML_FILL_VALUE_CONSTANT_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateSlice(const DML_SLICE_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateSlice1(const DML_SLICE1_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateJoin(const DML_JOIN_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateGather(const DML_GATHER_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateScatterNd(const DML_SCATTER_ND_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
