// Normalization and its gradients.
#pragma once

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

Result evaluateBatchNormalization(const DML_BATCH_NORMALIZATION_OPERATOR_DESC& desc, std::span<const Array> inputs);
std::vector<Result> evaluateBatchNormalizationTraining(const DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC& desc,
                                                       std::span<const Array> inputs);
std::vector<Result> evaluateBatchNormalizationGrad(const DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC& desc,
                                                   std::span<const Array> inputs);
std::vector<Result> evaluateBatchNormalizationTrainingGrad(
    const DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateMeanVariance(const DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateMeanVariance1(const DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateMeanVariance2(const DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateLpNormalization(const DML_LP_NORMALIZATION_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateLocalResponse(const DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC& desc, std::span<const Array> inputs);
Result evaluateLocalResponseGrad(const DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC& desc,
                                 std::span<const Array> inputs);

}  // namespace oracle
