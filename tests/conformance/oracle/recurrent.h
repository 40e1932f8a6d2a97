// Recurrent networks.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

std::vector<Result> evaluateRnn(const DML_RNN_OPERATOR_DESC& desc, std::span<const Array> inputs);
std::vector<Result> evaluateGru(const DML_GRU_OPERATOR_DESC& desc, std::span<const Array> inputs);
std::vector<Result> evaluateLstm(const DML_LSTM_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
