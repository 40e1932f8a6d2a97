#include "tests/ops/generator.h"

#include <algorithm>
#include <array>

#include "core/main_type.h"
#include "core/text.h"
#include "tests/ops/generator_context.h"

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
