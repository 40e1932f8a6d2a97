// Operators that cut, repeat, pad and reorder tensors.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

std::vector<Result> evaluateSplit(const DML_SPLIT_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateTile(const DML_TILE_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluatePadding(const DML_PADDING_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluatePadding1(const DML_PADDING1_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateSliceGrad(const DML_SLICE_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateDepthToSpace(const DML_DEPTH_TO_SPACE_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateDepthToSpace1(const DML_DEPTH_TO_SPACE1_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateSpaceToDepth(const DML_SPACE_TO_DEPTH_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateSpaceToDepth1(const DML_SPACE_TO_DEPTH1_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateReverseSubsequences(const DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateValueScale2D(const DML_VALUE_SCALE_2D_OPERATOR_DESC& desc, std::span<const Array> inputs);

}  // namespace oracle
