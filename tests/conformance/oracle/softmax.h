// SOFTMAX, LOG_SOFTMAX and HARDMAX, with axes and without.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateSoftmax(const DML_ACTIVATION_SOFTMAX_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateSoftmax1(const DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateLogSoftmax(const DML_ACTIVATION_LOG_SOFTMAX_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateLogSoftmax1(const DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateHardmax(const DML_ACTIVATION_HARDMAX_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateHardmax1(const DML_ACTIVATION_HARDMAX1_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
