// ADAM_OPTIMIZER.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

std::vector<Result> evaluateAdam(const DML_ADAM_OPTIMIZER_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
