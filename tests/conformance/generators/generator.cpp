#include "tests/conformance/generators/generator.h"

#include <algorithm>
#include <array>

#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

struct Row {
  DML_OPERATOR_TYPE type;
  GenerateFunction generate;
};

constexpr Row kRows[] = {
    {DML_OPERATOR_FILL_VALUE_CONSTANT, generateFill},
    {DML_OPERATOR_SLICE, generateSlice},
    {DML_OPERATOR_SLICE1, generateSlice1},
    {DML_OPERATOR_JOIN, generateJoin},
    {DML_OPERATOR_GATHER, generateGather},
    {DML_OPERATOR_SCATTER_ND, generateScatterNd},
    {DML_OPERATOR_SPLIT, generateSplit},
    {DML_OPERATOR_TILE, generateTile},
    {DML_OPERATOR_PADDING, generatePadding},
    {DML_OPERATOR_PADDING1, generatePadding},
    {DML_OPERATOR_SLICE_GRAD, generateSliceGrad},
    {DML_OPERATOR_DEPTH_TO_SPACE, generateDepthToSpace},
    {DML_OPERATOR_DEPTH_TO_SPACE1, generateDepthToSpace},
    {DML_OPERATOR_SPACE_TO_DEPTH, generateSpaceToDepth},
    {DML_OPERATOR_SPACE_TO_DEPTH1, generateSpaceToDepth},
    {DML_OPERATOR_REVERSE_SUBSEQUENCES, generateReverseSubsequences},
    {DML_OPERATOR_VALUE_SCALE_2D, generateValueScale2D},
    {DML_OPERATOR_GATHER_ELEMENTS, generateGatherElements},
    {DML_OPERATOR_GATHER_ND, generateGatherNd},
    {DML_OPERATOR_GATHER_ND1, generateGatherNd},
    {DML_OPERATOR_SCATTER_ELEMENTS, generateScatterElements},
    {DML_OPERATOR_ONE_HOT, generateOneHot},
    {DML_OPERATOR_FILL_VALUE_SEQUENCE, generateFillSequence},
    {DML_OPERATOR_DIAGONAL_MATRIX, generateDiagonalMatrix},
    {DML_OPERATOR_DIAGONAL_MATRIX1, generateDiagonalMatrix},
    {DML_OPERATOR_REDUCE, generateReduce},
    {DML_OPERATOR_ARGMIN, generateArg},
    {DML_OPERATOR_ARGMAX, generateArg},
    {DML_OPERATOR_ACTIVATION_SOFTMAX, generateSoftmax},
    {DML_OPERATOR_ACTIVATION_SOFTMAX1, generateSoftmax},
    {DML_OPERATOR_ACTIVATION_LOG_SOFTMAX, generateSoftmax},
    {DML_OPERATOR_ACTIVATION_LOG_SOFTMAX1, generateSoftmax},
    {DML_OPERATOR_ACTIVATION_HARDMAX, generateSoftmax},
    {DML_OPERATOR_ACTIVATION_HARDMAX1, generateSoftmax},
    {DML_OPERATOR_CUMULATIVE_SUMMATION, generateScan},
    {DML_OPERATOR_CUMULATIVE_PRODUCT, generateScan},
    {DML_OPERATOR_TOP_K, generateTopK},
    {DML_OPERATOR_TOP_K1, generateTopK},
    {DML_OPERATOR_NONZERO_COORDINATES, generateNonzeroCoordinates},
    {DML_OPERATOR_RANDOM_GENERATOR, generateRandom},
    {DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR, generateQuantizeLinear},
    {DML_OPERATOR_ELEMENT_WISE_DEQUANTIZE_LINEAR, generateQuantizeLinear},
    {DML_OPERATOR_ELEMENT_WISE_QUANTIZED_LINEAR_ADD, generateQuantizedLinearAdd},
    {DML_OPERATOR_DYNAMIC_QUANTIZE_LINEAR, generateDynamicQuantizeLinear},
    {DML_OPERATOR_QUANTIZE, generateQuantize},
    {DML_OPERATOR_DEQUANTIZE, generateQuantize},
    {DML_OPERATOR_MULTIHEAD_ATTENTION, generateAttention},
    {DML_OPERATOR_MULTIHEAD_ATTENTION1, generateAttention},
    {DML_OPERATOR_AVERAGE_POOLING, generatePooling},
    {DML_OPERATOR_AVERAGE_POOLING1, generatePooling},
    {DML_OPERATOR_LP_POOLING, generatePooling},
    {DML_OPERATOR_LP_POOLING1, generatePooling},
    {DML_OPERATOR_MAX_POOLING, generatePooling},
    {DML_OPERATOR_MAX_POOLING1, generatePooling},
    {DML_OPERATOR_MAX_POOLING2, generatePooling},
    {DML_OPERATOR_MAX_UNPOOLING, generateMaxUnpooling},
    {DML_OPERATOR_AVERAGE_POOLING_GRAD, generatePoolingGrad},
    {DML_OPERATOR_MAX_POOLING_GRAD, generatePoolingGrad},
    {DML_OPERATOR_QUANTIZED_LINEAR_AVERAGE_POOLING, generateQuantizedPooling},
    {DML_OPERATOR_BATCH_NORMALIZATION, generateBatchNormalization},
    {DML_OPERATOR_BATCH_NORMALIZATION_TRAINING, generateBatchNormalizationTraining},
    {DML_OPERATOR_BATCH_NORMALIZATION_GRAD, generateBatchNormalizationGrad},
    {DML_OPERATOR_BATCH_NORMALIZATION_TRAINING_GRAD, generateBatchNormalizationGrad},
    {DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION, generateMeanVariance},
    {DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1, generateMeanVariance},
    {DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2, generateMeanVariance},
    {DML_OPERATOR_LP_NORMALIZATION, generateLpNormalization},
    {DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION, generateLocalResponse},
    {DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION_GRAD, generateLocalResponse},
    {DML_OPERATOR_UNFOLD, generateUnfold},
    {DML_OPERATOR_FOLD, generateUnfold},
    {DML_OPERATOR_GEMM, generateGemm},
    {DML_OPERATOR_MATRIX_MULTIPLY_INTEGER, generateIntegerProduct},
    {DML_OPERATOR_MATRIX_MULTIPLY_INTEGER_TO_FLOAT, generateIntegerProduct},
    {DML_OPERATOR_QUANTIZED_LINEAR_MATRIX_MULTIPLY, generateIntegerProduct},
    {DML_OPERATOR_CONVOLUTION, generateConvolution},
    {DML_OPERATOR_CONVOLUTION_INTEGER, generateIntegerConvolution},
    {DML_OPERATOR_QUANTIZED_LINEAR_CONVOLUTION, generateIntegerConvolution},
    {DML_OPERATOR_ROI_POOLING, generateRoiPooling},
    {DML_OPERATOR_ROI_ALIGN, generateRoiAlign},
    {DML_OPERATOR_ROI_ALIGN1, generateRoiAlign},
    {DML_OPERATOR_ROI_ALIGN_GRAD, generateRoiAlign},
    {DML_OPERATOR_ADAM_OPTIMIZER, generateAdam},
    {DML_OPERATOR_RNN, generateRecurrent},
    {DML_OPERATOR_LSTM, generateRecurrent},
    {DML_OPERATOR_GRU, generateRecurrent},
    {DML_OPERATOR_UPSAMPLE_2D, generateUpsample2D},
    {DML_OPERATOR_RESAMPLE, generateResample},
    {DML_OPERATOR_RESAMPLE1, generateResample},
    {DML_OPERATOR_RESAMPLE2, generateResample},
    {DML_OPERATOR_RESAMPLE3, generateResample},
    {DML_OPERATOR_RESAMPLE_GRAD, generateResample},
    {DML_OPERATOR_RESAMPLE_GRAD1, generateResample},
};

// All tensors have the sizes of the first.
bool isElementwise(const OpSchema& schema) {
  const auto rules = schema.rules;
  return rules.size() > 1 &&
         std::all_of(rules.begin() + 1, rules.end(), [](const TensorRule& rule) { return rule.as.sizes == 0; });
}

GenerateFunction find(const OpSchema& schema) {
  const auto row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.type == schema.type; });
  if (row != std::end(kRows)) return row->generate;
  return isElementwise(schema) ? generateElementwise : nullptr;
}

}  // namespace

Layout Generator::layout(size_t cycle) {
  constexpr std::array<Layout, 10> kCycle = {Layout::Packed, Layout::Packed, Layout::Explicit, Layout::Broadcast,
                                             Layout::Packed, Layout::Slack,  Layout::Permuted, Layout::Packed,
                                             Layout::Padded, Layout::Gapped};
  if (random.chance(0.1)) return static_cast<Layout>(random.below(kLayouts));
  return kCycle[cycle % kCycle.size()];
}

TensorText Generator::input(DataType of, Sizes sizes, size_t cycle) {
  return makeTensor(random, Side::Input, of, std::move(sizes), layout(cycle));
}

TensorText Generator::output(DataType of, Sizes sizes, size_t cycle) {
  return makeTensor(random, Side::Output, of, std::move(sizes), layout(cycle));
}

std::string_view Generator::randomFill() {
  constexpr std::string_view kFills[] = {"int", "int", "float", "float", "special"};
  return random.pick(kFills);
}

void Generator::keep(Line line, std::string_view fill) {
  line.set("fill", fill.empty() ? randomFill() : fill);
  line.set("seed", index());
  lines.push_back(line.take());
}

std::vector<DataType> generatedTypes(const OpSchema& schema) {
  std::vector<DataType> types;
  const TensorRule* rule = schema.plan ? mainRule(schema) : nullptr;
  for (uint32_t t = 1; rule && t < 32; ++t)
    if (const auto type = static_cast<DataType>(t); rule->types() & kAllTypes & typeBit(type)) types.push_back(type);
  return types;
}

std::vector<std::string> generateCases(const OpSchema& schema, DataType type) {
  const GenerateFunction generate = find(schema);
  if (!generate) return {};
  Generator generator{schema, type, Random(hashOf(dataTypeName(type), hashOf(schema.name)))};
  generate(generator);
  return std::move(generator.lines);
}

}  // namespace dimple::testing
