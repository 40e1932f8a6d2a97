// Multi-head attention.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

std::vector<Result> evaluateMultiheadAttention(const DML_MULTIHEAD_ATTENTION_OPERATOR_DESC& desc,
                                               std::span<const Array> inputs);
// With PastSequenceLengthsTensor the present keys and values are read, too: they follow the twelve inputs.
std::vector<Result> evaluateMultiheadAttention1(const DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC& desc,
                                                std::span<const Array> inputs);

}  // namespace oracle
