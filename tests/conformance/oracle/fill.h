// Operators that fill tensors by a rule.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateFillValueSequence(const DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateDiagonalMatrix(const DML_DIAGONAL_MATRIX_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateDiagonalMatrix1(const DML_DIAGONAL_MATRIX1_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
