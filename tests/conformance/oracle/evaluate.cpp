#include <stdexcept>

#include "tests/conformance/oracle/attention.h"
#include "tests/conformance/oracle/elementwise.h"
#include "tests/conformance/oracle/fill.h"
#include "tests/conformance/oracle/indexing.h"
#include "tests/conformance/oracle/movement.h"
#include "tests/conformance/oracle/normalization.h"
#include "tests/conformance/oracle/optimizer.h"
#include "tests/conformance/oracle/pooling.h"
#include "tests/conformance/oracle/product.h"
#include "tests/conformance/oracle/quantize.h"
#include "tests/conformance/oracle/random.h"
#include "tests/conformance/oracle/rearrange.h"
#include "tests/conformance/oracle/recurrent.h"
#include "tests/conformance/oracle/reduce.h"
#include "tests/conformance/oracle/resample.h"
#include "tests/conformance/oracle/roi.h"
#include "tests/conformance/oracle/scan.h"
#include "tests/conformance/oracle/softmax.h"
#include "tests/conformance/oracle/sort.h"
#include "tests/conformance/oracle/window.h"

namespace oracle {
namespace {

using Evaluate = std::vector<Result> (*)(const void* desc, std::span<const Array> inputs);

struct Row {
  DML_OPERATOR_TYPE type;
  Evaluate evaluate;
};

std::vector<Result> listOf(Result result) {
  std::vector<Result> results;
  results.push_back(std::move(result));
  return results;
}
std::vector<Result> listOf(std::vector<Result> results) { return results; }

// `function` gives one Result, or one an output.
template <class Desc, auto function>
constexpr Evaluate with = [](const void* desc, std::span<const Array> inputs) {
  return listOf(function(*static_cast<const Desc*>(desc), inputs));
};

// The operators with an evaluation of their own; element-wise functions are listed in elementwise.cpp.
constexpr Row kRows[] = {
    {DML_OPERATOR_CAST, with<DML_CAST_OPERATOR_DESC, evaluateCast>},
    {DML_OPERATOR_ELEMENT_WISE_IF, with<DML_ELEMENT_WISE_IF_OPERATOR_DESC, evaluateIf>},
    {DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR,
     with<DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC, evaluateQuantizeLinear>},
    {DML_OPERATOR_ELEMENT_WISE_DEQUANTIZE_LINEAR,
     with<DML_ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC, evaluateDequantizeLinear>},
    {DML_OPERATOR_ELEMENT_WISE_QUANTIZED_LINEAR_ADD,
     with<DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC, evaluateQuantizedLinearAdd>},
    {DML_OPERATOR_DYNAMIC_QUANTIZE_LINEAR,
     with<DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC, evaluateDynamicQuantizeLinear>},
    {DML_OPERATOR_MULTIHEAD_ATTENTION, with<DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, evaluateMultiheadAttention>},
    {DML_OPERATOR_MULTIHEAD_ATTENTION1, with<DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, evaluateMultiheadAttention1>},
    {DML_OPERATOR_QUANTIZE, with<DML_QUANTIZE_OPERATOR_DESC, evaluateQuantize>},
    {DML_OPERATOR_DEQUANTIZE, with<DML_DEQUANTIZE_OPERATOR_DESC, evaluateDequantize>},
    {DML_OPERATOR_ELEMENT_WISE_POW, with<DML_ELEMENT_WISE_POW_OPERATOR_DESC, evaluatePow>},
    {DML_OPERATOR_FILL_VALUE_CONSTANT, with<DML_FILL_VALUE_CONSTANT_OPERATOR_DESC, evaluateFillValueConstant>},
    {DML_OPERATOR_SLICE, with<DML_SLICE_OPERATOR_DESC, evaluateSlice>},
    {DML_OPERATOR_SLICE1, with<DML_SLICE1_OPERATOR_DESC, evaluateSlice1>},
    {DML_OPERATOR_JOIN, with<DML_JOIN_OPERATOR_DESC, evaluateJoin>},
    {DML_OPERATOR_GATHER, with<DML_GATHER_OPERATOR_DESC, evaluateGather>},
    {DML_OPERATOR_SCATTER_ND, with<DML_SCATTER_ND_OPERATOR_DESC, evaluateScatterNd>},
    {DML_OPERATOR_SPLIT, with<DML_SPLIT_OPERATOR_DESC, evaluateSplit>},
    {DML_OPERATOR_TILE, with<DML_TILE_OPERATOR_DESC, evaluateTile>},
    {DML_OPERATOR_PADDING, with<DML_PADDING_OPERATOR_DESC, evaluatePadding>},
    {DML_OPERATOR_PADDING1, with<DML_PADDING1_OPERATOR_DESC, evaluatePadding1>},
    {DML_OPERATOR_SLICE_GRAD, with<DML_SLICE_GRAD_OPERATOR_DESC, evaluateSliceGrad>},
    {DML_OPERATOR_DEPTH_TO_SPACE, with<DML_DEPTH_TO_SPACE_OPERATOR_DESC, evaluateDepthToSpace>},
    {DML_OPERATOR_DEPTH_TO_SPACE1, with<DML_DEPTH_TO_SPACE1_OPERATOR_DESC, evaluateDepthToSpace1>},
    {DML_OPERATOR_SPACE_TO_DEPTH, with<DML_SPACE_TO_DEPTH_OPERATOR_DESC, evaluateSpaceToDepth>},
    {DML_OPERATOR_SPACE_TO_DEPTH1, with<DML_SPACE_TO_DEPTH1_OPERATOR_DESC, evaluateSpaceToDepth1>},
    {DML_OPERATOR_REVERSE_SUBSEQUENCES, with<DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC, evaluateReverseSubsequences>},
    {DML_OPERATOR_VALUE_SCALE_2D, with<DML_VALUE_SCALE_2D_OPERATOR_DESC, evaluateValueScale2D>},
    {DML_OPERATOR_GATHER_ELEMENTS, with<DML_GATHER_ELEMENTS_OPERATOR_DESC, evaluateGatherElements>},
    {DML_OPERATOR_GATHER_ND, with<DML_GATHER_ND_OPERATOR_DESC, evaluateGatherNd>},
    {DML_OPERATOR_GATHER_ND1, with<DML_GATHER_ND1_OPERATOR_DESC, evaluateGatherNd1>},
    {DML_OPERATOR_SCATTER_ELEMENTS, with<DML_SCATTER_ELEMENTS_OPERATOR_DESC, evaluateScatterElements>},
    {DML_OPERATOR_ONE_HOT, with<DML_ONE_HOT_OPERATOR_DESC, evaluateOneHot>},
    {DML_OPERATOR_FILL_VALUE_SEQUENCE, with<DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC, evaluateFillValueSequence>},
    {DML_OPERATOR_DIAGONAL_MATRIX, with<DML_DIAGONAL_MATRIX_OPERATOR_DESC, evaluateDiagonalMatrix>},
    {DML_OPERATOR_DIAGONAL_MATRIX1, with<DML_DIAGONAL_MATRIX1_OPERATOR_DESC, evaluateDiagonalMatrix1>},
    {DML_OPERATOR_REDUCE, with<DML_REDUCE_OPERATOR_DESC, evaluateReduce>},
    {DML_OPERATOR_ARGMIN, with<DML_ARGMIN_OPERATOR_DESC, evaluateArgMin>},
    {DML_OPERATOR_ARGMAX, with<DML_ARGMAX_OPERATOR_DESC, evaluateArgMax>},
    {DML_OPERATOR_ACTIVATION_SOFTMAX, with<DML_ACTIVATION_SOFTMAX_OPERATOR_DESC, evaluateSoftmax>},
    {DML_OPERATOR_ACTIVATION_SOFTMAX1, with<DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC, evaluateSoftmax1>},
    {DML_OPERATOR_ACTIVATION_LOG_SOFTMAX, with<DML_ACTIVATION_LOG_SOFTMAX_OPERATOR_DESC, evaluateLogSoftmax>},
    {DML_OPERATOR_ACTIVATION_LOG_SOFTMAX1, with<DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC, evaluateLogSoftmax1>},
    {DML_OPERATOR_ACTIVATION_HARDMAX, with<DML_ACTIVATION_HARDMAX_OPERATOR_DESC, evaluateHardmax>},
    {DML_OPERATOR_ACTIVATION_HARDMAX1, with<DML_ACTIVATION_HARDMAX1_OPERATOR_DESC, evaluateHardmax1>},
    {DML_OPERATOR_CUMULATIVE_SUMMATION, with<DML_CUMULATIVE_SUMMATION_OPERATOR_DESC, evaluateCumulativeSummation>},
    {DML_OPERATOR_CUMULATIVE_PRODUCT, with<DML_CUMULATIVE_PRODUCT_OPERATOR_DESC, evaluateCumulativeProduct>},
    {DML_OPERATOR_TOP_K, with<DML_TOP_K_OPERATOR_DESC, evaluateTopK>},
    {DML_OPERATOR_TOP_K1, with<DML_TOP_K1_OPERATOR_DESC, evaluateTopK1>},
    {DML_OPERATOR_NONZERO_COORDINATES, with<DML_NONZERO_COORDINATES_OPERATOR_DESC, evaluateNonzeroCoordinates>},
    {DML_OPERATOR_GEMM, with<DML_GEMM_OPERATOR_DESC, evaluateGemm>},
    {DML_OPERATOR_CONVOLUTION, with<DML_CONVOLUTION_OPERATOR_DESC, evaluateConvolution>},
    {DML_OPERATOR_MATRIX_MULTIPLY_INTEGER,
     with<DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC, evaluateMatrixMultiplyInteger>},
    {DML_OPERATOR_MATRIX_MULTIPLY_INTEGER_TO_FLOAT,
     with<DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC, evaluateMatrixMultiplyIntegerToFloat>},
    {DML_OPERATOR_QUANTIZED_LINEAR_MATRIX_MULTIPLY,
     with<DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC, evaluateQuantizedLinearMatrixMultiply>},
    {DML_OPERATOR_CONVOLUTION_INTEGER, with<DML_CONVOLUTION_INTEGER_OPERATOR_DESC, evaluateConvolutionInteger>},
    {DML_OPERATOR_QUANTIZED_LINEAR_CONVOLUTION,
     with<DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, evaluateQuantizedLinearConvolution>},
    {DML_OPERATOR_RANDOM_GENERATOR, with<DML_RANDOM_GENERATOR_OPERATOR_DESC, evaluateRandomGenerator>},
    {DML_OPERATOR_AVERAGE_POOLING, with<DML_AVERAGE_POOLING_OPERATOR_DESC, evaluateAveragePooling>},
    {DML_OPERATOR_AVERAGE_POOLING1, with<DML_AVERAGE_POOLING1_OPERATOR_DESC, evaluateAveragePooling1>},
    {DML_OPERATOR_LP_POOLING, with<DML_LP_POOLING_OPERATOR_DESC, evaluateLpPooling>},
    {DML_OPERATOR_LP_POOLING1, with<DML_LP_POOLING1_OPERATOR_DESC, evaluateLpPooling1>},
    {DML_OPERATOR_MAX_POOLING, with<DML_MAX_POOLING_OPERATOR_DESC, evaluateMaxPooling>},
    {DML_OPERATOR_MAX_POOLING1, with<DML_MAX_POOLING1_OPERATOR_DESC, evaluateMaxPooling1>},
    {DML_OPERATOR_MAX_POOLING2, with<DML_MAX_POOLING2_OPERATOR_DESC, evaluateMaxPooling2>},
    {DML_OPERATOR_MAX_UNPOOLING, with<DML_MAX_UNPOOLING_OPERATOR_DESC, evaluateMaxUnpooling>},
    {DML_OPERATOR_AVERAGE_POOLING_GRAD, with<DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, evaluateAveragePoolingGrad>},
    {DML_OPERATOR_MAX_POOLING_GRAD, with<DML_MAX_POOLING_GRAD_OPERATOR_DESC, evaluateMaxPoolingGrad>},
    {DML_OPERATOR_QUANTIZED_LINEAR_AVERAGE_POOLING,
     with<DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, evaluateQuantizedAveragePooling>},
    {DML_OPERATOR_BATCH_NORMALIZATION, with<DML_BATCH_NORMALIZATION_OPERATOR_DESC, evaluateBatchNormalization>},
    {DML_OPERATOR_BATCH_NORMALIZATION_TRAINING,
     with<DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC, evaluateBatchNormalizationTraining>},
    {DML_OPERATOR_BATCH_NORMALIZATION_GRAD,
     with<DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC, evaluateBatchNormalizationGrad>},
    {DML_OPERATOR_BATCH_NORMALIZATION_TRAINING_GRAD,
     with<DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC, evaluateBatchNormalizationTrainingGrad>},
    {DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION,
     with<DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC, evaluateMeanVariance>},
    {DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1,
     with<DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC, evaluateMeanVariance1>},
    {DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2,
     with<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, evaluateMeanVariance2>},
    {DML_OPERATOR_LP_NORMALIZATION, with<DML_LP_NORMALIZATION_OPERATOR_DESC, evaluateLpNormalization>},
    {DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION,
     with<DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC, evaluateLocalResponse>},
    {DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION_GRAD,
     with<DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC, evaluateLocalResponseGrad>},
    {DML_OPERATOR_UNFOLD, with<DML_UNFOLD_OPERATOR_DESC, evaluateUnfold>},
    {DML_OPERATOR_FOLD, with<DML_FOLD_OPERATOR_DESC, evaluateFold>},
    {DML_OPERATOR_ROI_POOLING, with<DML_ROI_POOLING_OPERATOR_DESC, evaluateRoiPooling>},
    {DML_OPERATOR_ROI_ALIGN, with<DML_ROI_ALIGN_OPERATOR_DESC, evaluateRoiAlign>},
    {DML_OPERATOR_ROI_ALIGN1, with<DML_ROI_ALIGN1_OPERATOR_DESC, evaluateRoiAlign1>},
    {DML_OPERATOR_ROI_ALIGN_GRAD, with<DML_ROI_ALIGN_GRAD_OPERATOR_DESC, evaluateRoiAlignGrad>},
    {DML_OPERATOR_ADAM_OPTIMIZER, with<DML_ADAM_OPTIMIZER_OPERATOR_DESC, evaluateAdam>},
    {DML_OPERATOR_RNN, with<DML_RNN_OPERATOR_DESC, evaluateRnn>},
    {DML_OPERATOR_GRU, with<DML_GRU_OPERATOR_DESC, evaluateGru>},
    {DML_OPERATOR_LSTM, with<DML_LSTM_OPERATOR_DESC, evaluateLstm>},
    {DML_OPERATOR_UPSAMPLE_2D, with<DML_UPSAMPLE_2D_OPERATOR_DESC, evaluateUpsample2D>},
    {DML_OPERATOR_RESAMPLE, with<DML_RESAMPLE_OPERATOR_DESC, evaluateResample>},
    {DML_OPERATOR_RESAMPLE1, with<DML_RESAMPLE1_OPERATOR_DESC, evaluateResample1>},
    {DML_OPERATOR_RESAMPLE2, with<DML_RESAMPLE2_OPERATOR_DESC, evaluateResample2>},
    {DML_OPERATOR_RESAMPLE3, with<DML_RESAMPLE3_OPERATOR_DESC, evaluateResample3>},
    {DML_OPERATOR_RESAMPLE_GRAD, with<DML_RESAMPLE_GRAD_OPERATOR_DESC, evaluateResampleGrad>},
    {DML_OPERATOR_RESAMPLE_GRAD1, with<DML_RESAMPLE_GRAD1_OPERATOR_DESC, evaluateResampleGrad1>},
};

Evaluate find(DML_OPERATOR_TYPE type) {
  for (const Row& row : kRows) {
    if (row.type == type) return row.evaluate;
  }
  return nullptr;
}

}  // namespace

bool knows(DML_OPERATOR_TYPE type) { return find(type) != nullptr || knowsElementwise(type); }

std::vector<Result> evaluate(const DML_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  if (!knows(desc.Type) || desc.Desc == nullptr) {
    throw std::invalid_argument("The oracle does not know operator " + std::to_string(desc.Type) + ".");
  }
  const Evaluate own = find(desc.Type);
  return own != nullptr ? own(desc.Desc, inputs) : listOf(evaluateElementwise(desc, inputs));
}

}  // namespace oracle
