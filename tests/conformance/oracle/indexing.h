// Operators that gather and scatter by coordinates.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateGatherElements(const DML_GATHER_ELEMENTS_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateGatherNd(const DML_GATHER_ND_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateGatherNd1(const DML_GATHER_ND1_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateScatterElements(const DML_SCATTER_ELEMENTS_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateOneHot(const DML_ONE_HOT_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
