// FOLD and UNFOLD.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateUnfold(const DML_UNFOLD_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateFold(const DML_FOLD_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
