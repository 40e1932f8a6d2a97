// Quantization.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateQuantizeLinear(const DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC& desc,
                              std::span<const Array> inputs);
Result evaluateDequantizeLinear(const DML_ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC& desc,
                                std::span<const Array> inputs);
Result evaluateQuantizedLinearAdd(const DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC& desc,
                                  std::span<const Array> inputs);
std::vector<Result> evaluateDynamicQuantizeLinear(const DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC& desc,
                                                  std::span<const Array> inputs);
Result evaluateQuantize(const DML_QUANTIZE_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateDequantize(const DML_DEQUANTIZE_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
