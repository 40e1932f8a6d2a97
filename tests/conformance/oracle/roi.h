// Regions of interest.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateRoiPooling(const DML_ROI_POOLING_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateRoiAlign(const DML_ROI_ALIGN_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateRoiAlign1(const DML_ROI_ALIGN1_OPERATOR_DESC& desc, std::span<const Array> inputs);
std::vector<Result> evaluateRoiAlignGrad(const DML_ROI_ALIGN_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
