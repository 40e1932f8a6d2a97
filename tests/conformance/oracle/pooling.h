// Sliding windows: pooling, its inverse and its gradients.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateAveragePooling(const DML_AVERAGE_POOLING_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateAveragePooling1(const DML_AVERAGE_POOLING1_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateLpPooling(const DML_LP_POOLING_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateLpPooling1(const DML_LP_POOLING1_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateMaxPooling(const DML_MAX_POOLING_OPERATOR_DESC& desc, std::span<const Array> inputs);
std::vector<Result> evaluateMaxPooling1(const DML_MAX_POOLING1_OPERATOR_DESC& desc, std::span<const Array> inputs);
std::vector<Result> evaluateMaxPooling2(const DML_MAX_POOLING2_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateMaxUnpooling(const DML_MAX_UNPOOLING_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateAveragePoolingGrad(const DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateMaxPoolingGrad(const DML_MAX_POOLING_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateQuantizedAveragePooling(const DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC& desc,
                                       std::span<const Array> inputs);

}  // namespace oracle
