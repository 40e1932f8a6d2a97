// TOP_K and NONZERO_COORDINATES.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

std::vector<Result> evaluateTopK(const DML_TOP_K_OPERATOR_DESC& desc, std::span<const Array> inputs);
std::vector<Result> evaluateTopK1(const DML_TOP_K1_OPERATOR_DESC& desc, std::span<const Array> inputs);
std::vector<Result> evaluateNonzeroCoordinates(const DML_NONZERO_COORDINATES_OPERATOR_DESC& desc,
                                               std::span<const Array> inputs);

}  // namespace oracle
