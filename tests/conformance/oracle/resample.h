// Resampling and its gradients.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateUpsample2D(const DML_UPSAMPLE_2D_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateResample(const DML_RESAMPLE_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateResample1(const DML_RESAMPLE1_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateResample2(const DML_RESAMPLE2_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateResample3(const DML_RESAMPLE3_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateResampleGrad(const DML_RESAMPLE_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateResampleGrad1(const DML_RESAMPLE_GRAD1_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
