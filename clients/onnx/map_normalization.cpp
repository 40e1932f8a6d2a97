// Normalizations.
#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {
namespace {

std::vector<UINT> axesFrom(size_t first, size_t rank) {
  std::vector<UINT> axes;
  for (size_t axis = first; axis < rank; ++axis) axes.push_back(static_cast<UINT>(axis));
  return axes;
}

struct Normalization {
  std::vector<UINT> axes;
  std::optional<Value> scale;  // broadcast to the input
  std::optional<Value> bias;
  float epsilon = 0;
  bool useMean = true;
};

Value normalize(GraphBuilder& graph, const Value& x, const Normalization& parameters) {
  const auto spread = [&](const std::optional<Value>& value) {
    return value ? std::optional(graph.broadcast(cast(graph, *value, x.type), x.sizes)) : std::nullopt;
  };
  const auto scale = spread(parameters.scale);
  const auto bias = spread(parameters.bias);
  Op op(graph);
  DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.ScaleTensor = op.optionalInput(scale);
  desc.BiasTensor = op.optionalInput(bias);
  desc.OutputTensor = op.output(x.type, x.sizes);
  desc.AxisCount = static_cast<UINT>(parameters.axes.size());
  desc.Axes = parameters.axes.data();
  desc.UseMean = parameters.useMean;
  desc.UseVariance = TRUE;
  desc.Epsilon = parameters.epsilon;
  return op.make(DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2, desc);
}

void mapBatchNormalization(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const bool training = node.attributes().flag("training_mode");
  if (node.opset() < 14 && node.outputCount() > 1 && node.wants(1))
    throw ModelError("It trains (more than one output), which is not mapped for this version.");
  const auto parameter = [&](size_t index) {
    const Value& value = node.input(index);
    // Before version 9 every element may have numbers of its own.
    const Value spread = value.rank() == 1 ? alongChannels(graph, value, x.rank()) : graph.padRank(value, x.rank());
    return cast(graph, spread, x.type);
  };
  const Value scale = parameter(1), bias = parameter(2), mean = parameter(3), variance = parameter(4);
  const float epsilon = node.attributes().real("epsilon", 1e-5f);
  Op op(graph);
  if (!training) {
    DML_BATCH_NORMALIZATION_OPERATOR_DESC desc{};
    desc.InputTensor = op.input(x);
    desc.MeanTensor = op.input(mean);
    desc.VarianceTensor = op.input(variance);
    desc.ScaleTensor = op.input(scale);
    desc.BiasTensor = op.input(bias);
    desc.OutputTensor = op.output(x.type, x.sizes);
    desc.Spatial = TRUE;
    desc.Epsilon = epsilon;
    return node.setOutput(0, op.make(DML_OPERATOR_BATCH_NORMALIZATION, desc));
  }
  DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.ScaleTensor = op.input(scale);
  desc.BiasTensor = op.input(bias);
  op.optionalInput({});
  desc.OutputTensor = op.output(x.type, x.sizes);
  desc.OutputMeanTensor = op.output(x.type, scale.sizes);
  desc.OutputVarianceTensor = op.output(x.type, scale.sizes);
  desc.Epsilon = epsilon;
  op.make(DML_OPERATOR_BATCH_NORMALIZATION_TRAINING, desc);
  node.setOutput(0, op.result(0));
  const float momentum = node.attributes().real("momentum", 0.9f);
  const auto running = [&](const Value& before, const Value& now, size_t index) {
    const Value sum = add(graph, scaleBias(graph, before, momentum, 0), scaleBias(graph, now, 1 - momentum, 0));
    node.setOutput(index, graph.reshape(cast(graph, sum, node.input(index + 2).type), node.input(index + 2).sizes));
  };
  running(mean, op.result(1), 1);
  running(variance, op.result(2), 2);
}

void mapInstanceNormalization(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  Normalization parameters;
  parameters.axes = axesFrom(2, x.rank());
  parameters.scale = alongChannels(graph, node.input(1), x.rank());
  parameters.bias = alongChannels(graph, node.input(2), x.rank());
  parameters.epsilon = node.attributes().real("epsilon", 1e-5f);
  node.setOutput(0, normalize(graph, x, parameters));
}

// These outputs are for training: the mean, and the reciprocal of the deviation.
void setStatistics(NodeContext& node, const Value& x, const Normalization& parameters) {
  if (!node.wants(1) && !node.wants(2)) return;
  GraphBuilder& graph = node.graph();
  const Value wide = cast(graph, x, Type::Float);
  const Value mean = reduce(graph, wide, DML_REDUCE_FUNCTION_AVERAGE, parameters.axes);
  const Value centred = parameters.useMean ? subtract(graph, wide, mean) : wide;
  const Value variance = reduce(graph, multiply(graph, centred, centred), DML_REDUCE_FUNCTION_AVERAGE, parameters.axes);
  const DML_SCALE_BIAS scaled{1, parameters.epsilon};
  const Value deviation = unary(graph, DML_OPERATOR_ELEMENT_WISE_SQRT, variance, Type::Float,
                                DML_ELEMENT_WISE_SQRT_OPERATOR_DESC{nullptr, nullptr, &scaled});
  node.setOutput(1, mean);
  node.setOutput(
      2, unary<DML_ELEMENT_WISE_RECIP_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_RECIP, deviation, Type::Float));
}

template <bool useMean>
void mapLayerNormalization(NodeContext& node) {
  const Value& x = node.input(0);
  Normalization parameters;
  parameters.axes = axesFrom(normalizeAxis(node.attributes().integer("axis", -1), x.rank()), x.rank());
  parameters.scale = node.optional(1);
  parameters.bias = node.optional(2);
  parameters.epsilon = node.attributes().real("epsilon", 1e-5f);
  parameters.useMean = useMean;
  node.setOutput(0, normalize(node.graph(), x, parameters));
  setStatistics(node, x, parameters);
}

template <bool useMean>
void mapSkipLayerNormalization(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  // Without a mean, there is no beta, and the bias takes its place.
  const size_t biasIndex = useMean ? 4 : 3;
  Value sum = add(graph, node.input(0), node.input(1));
  if (node.has(biasIndex)) sum = add(graph, sum, node.input(biasIndex));
  Normalization parameters;
  parameters.axes = {static_cast<UINT>(sum.rank() - 1)};
  parameters.scale = node.input(2);
  if (useMean) parameters.bias = node.optional(3);
  parameters.epsilon = node.attributes().real("epsilon", 1e-12f);
  parameters.useMean = useMean;
  node.setOutput(0, normalize(graph, sum, parameters));
  node.setOutput(3, sum);
}

Value groupNormalize(NodeContext& node, const Value& x, const char* attribute) {
  GraphBuilder& graph = node.graph();
  const int64_t groups = node.attributes().integer(attribute, 0);
  if (groups < 1 || x.rank() < 2 || x.elements() == 0 || x.sizes[1] % groups != 0)
    throw ModelError(cat("Attribute ", attribute, " is ", groups, " for sizes ", listText(x.sizes),
                         ", expected a divisor of the channels."));
  const int64_t channels = x.sizes[1] / groups;
  const Value grouped = graph.reshape(x, {x.sizes[0], groups, channels, x.elements() / x.sizes[0] / x.sizes[1]});
  // From version 21 on, each channel has its own numbers.
  const auto spread = [&](const Value& value) {
    return graph.reshape(value, {1, groups, value.elements() / groups, 1});
  };
  Normalization parameters;
  parameters.axes = {2, 3};
  parameters.scale = spread(node.input(1));
  parameters.bias = spread(node.input(2));
  parameters.epsilon = node.attributes().real("epsilon", 1e-5f);
  return graph.reshape(normalize(graph, grouped, parameters), x.sizes);
}

void mapGroupNormalization(NodeContext& node) { node.setOutput(0, groupNormalize(node, node.input(0), "num_groups")); }

// Microsoft's, whose channels come last.
void mapGroupNorm(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& input = node.input(0);
  const bool last = node.attributes().flag("channels_last", true);
  if (input.rank() != 4) throw ModelError(cat("Input 0 has sizes ", listText(input.sizes), ", expected four."));
  Value y = groupNormalize(node, last ? graph.transpose(input, {0, 3, 1, 2}) : input, "groups");
  if (node.attributes().flag("activation")) {
    DML_ACTIVATION_SWISH_OPERATOR_DESC desc{};
    desc.SigmoidInputScale = 1;
    y = unary(graph, DML_OPERATOR_ACTIVATION_SWISH, y, y.type, desc);
  }
  node.setOutput(0, last ? graph.transpose(y, {0, 2, 3, 1}) : y);
}

// Rows of a table, [rows, width], for indices of any sizes.
Value embed(GraphBuilder& graph, const Value& table, const Value& index) {
  if (table.rank() != 2)
    throw ModelError(cat("A table has sizes ", listText(table.sizes), ", expected two dimensions."));
  const size_t rank = index.rank() + 1;
  Sizes sizes = index.sizes;
  sizes.push_back(table.sizes[1]);
  Op op(graph);
  DML_GATHER_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(graph.padRank(table, rank));
  desc.IndicesTensor = op.input(graph.padRank(index, rank));
  desc.OutputTensor = op.output(table.type, sizes);
  desc.Axis = static_cast<UINT>(rank - 2);
  desc.IndexDimensions = static_cast<UINT>(index.rank());
  return op.make(DML_OPERATOR_GATHER, desc);
}

void mapEmbedLayerNormalization(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& ids = node.input(0);
  if (ids.rank() != 2 || node.input(2).rank() != 2 || node.input(3).rank() != 2)
    throw ModelError("Its indices, words or places do not have two dimensions.");
  Value sum = embed(graph, node.input(2), ids);
  if (node.has(8))
    sum = add(graph, sum, embed(graph, node.input(3), node.input(8)));
  else
    sum = add(graph, sum, graph.prefix(node.input(3), 0, ids.sizes[1]));
  if (node.has(1) && node.has(4)) sum = add(graph, sum, embed(graph, node.input(4), node.input(1)));
  Normalization parameters;
  parameters.axes = {2};
  parameters.scale = node.input(5);
  parameters.bias = node.input(6);
  parameters.epsilon = node.attributes().real("epsilon", 1e-12f);
  node.setOutput(0, normalize(graph, sum, parameters));
  // How many words the mask leaves of each text.
  if (node.wants(1))
    node.setOutput(1, node.has(7)
                          ? graph.reshape(reduce(graph, node.input(7), DML_REDUCE_FUNCTION_SUM, {1}), {ids.sizes[0]})
                          : fill(graph, Type::Int32, {ids.sizes[0]}, scalarTensor(Type::Int32, 0)));
  node.setOutput(2, sum);
}

void mapMeanVarianceNormalization(NodeContext& node) {
  const Value& x = node.input(0);
  Normalization parameters;
  // The number that ONNX adds to the deviation.
  parameters.epsilon = 1e-18f;
  const auto axes = node.attributes().integers("axes");
  for (const int64_t axis : axes ? *axes : Sizes{0, 2, 3})
    parameters.axes.push_back(static_cast<UINT>(normalizeAxis(axis, x.rank())));
  node.setOutput(0, normalize(node.graph(), x, parameters));
}

void mapLpNormalization(NodeContext& node) {
  const Value& x = node.input(0);
  DML_LP_NORMALIZATION_OPERATOR_DESC desc{};
  desc.Axis = static_cast<UINT>(normalizeAxis(node.attributes().integer("axis", -1), x.rank()));
  desc.P = toUints(Sizes{node.attributes().integer("p", 2)})[0];
  desc.Epsilon = 1e-30f;  // zeros stay zeros
  node.setOutput(0, unary(node.graph(), DML_OPERATOR_LP_NORMALIZATION, x, x.type, desc));
}

void mapLrn(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  if (x.rank() < 3 || x.elements() == 0)
    throw ModelError(cat("Input 0 has sizes ", listText(x.sizes), ", expected three dimensions and elements."));
  const Value image =
      x.rank() == 4 ? x : graph.reshape(x, {x.sizes[0], x.sizes[1], x.elements() / x.sizes[0] / x.sizes[1], 1});
  DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC desc{};
  desc.CrossChannel = TRUE;
  desc.LocalSize = toUints(Sizes{node.attributes().integer("size", 1)})[0];
  desc.Alpha = node.attributes().real("alpha", 1e-4f);
  desc.Beta = node.attributes().real("beta", 0.75f);
  desc.Bias = node.attributes().real("bias", 1);
  node.setOutput(0,
                 graph.reshape(unary(graph, DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION, image, x.type, desc), x.sizes));
}

constexpr Mapping kNormalizationMappings[] = {
    {kOnnx, "BatchNormalization", 7, mapBatchNormalization},
    {kMicrosoft, "EmbedLayerNormalization", 1, mapEmbedLayerNormalization},
    {kMicrosoft, "GroupNorm", 1, mapGroupNorm},
    {kOnnx, "GroupNormalization", 18, mapGroupNormalization},
    {kOnnx, "InstanceNormalization", 6, mapInstanceNormalization},
    {kOnnx, "LRN", 1, mapLrn},
    {kOnnx, "LayerNormalization", 1, mapLayerNormalization<true>},
    {kOnnx, "LpNormalization", 1, mapLpNormalization},
    {kOnnx, "MeanVarianceNormalization", 9, mapMeanVarianceNormalization},
    {kOnnx, "RMSNormalization", 23, mapLayerNormalization<false>},
    {kOnnx, "SimplifiedLayerNormalization", 1, mapLayerNormalization<false>},
    {kMicrosoft, "SkipLayerNormalization", 1, mapSkipLayerNormalization<true>},
    {kMicrosoft, "SkipSimplifiedLayerNormalization", 1, mapSkipLayerNormalization<false>},
};

}  // namespace

std::span<const Mapping> normalizationMappings() { return kNormalizationMappings; }

}  // namespace dimple::onnx
