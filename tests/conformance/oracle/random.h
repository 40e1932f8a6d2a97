// RANDOM_GENERATOR.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

std::vector<Result> evaluateRandomGenerator(const DML_RANDOM_GENERATOR_OPERATOR_DESC& desc,
                                            std::span<const Array> inputs);

}  // namespace oracle
