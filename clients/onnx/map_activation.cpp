// Activations and the softmax family.
#include <cmath>

#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {
namespace {

template <class Desc, DML_OPERATOR_TYPE type>
void mapPlain(NodeContext& node) {
  const Value& x = node.input(0);
  node.setOutput(0, unary<Desc>(node.graph(), type, x, x.type));
}

// Activations of one parameter Alpha.
template <class Desc, DML_OPERATOR_TYPE type, int thousandths>
void mapAlpha(NodeContext& node) {
  const Value& x = node.input(0);
  Desc desc{};
  desc.Alpha = node.attributes().real("alpha", static_cast<float>(thousandths / 1000.0));
  node.setOutput(0, unary(node.graph(), type, x, x.type, desc));
}

void mapSelu(NodeContext& node) {
  const Value& x = node.input(0);
  DML_ACTIVATION_SCALED_ELU_OPERATOR_DESC desc{};
  desc.Alpha = node.attributes().real("alpha", 1.67326319217681884765625f);
  desc.Gamma = node.attributes().real("gamma", 1.05070102214813232421875f);
  node.setOutput(0, unary(node.graph(), DML_OPERATOR_ACTIVATION_SCALED_ELU, x, x.type, desc));
}

void mapHardSigmoid(NodeContext& node) {
  const Value& x = node.input(0);
  DML_ACTIVATION_HARD_SIGMOID_OPERATOR_DESC desc{};
  desc.Alpha = node.attributes().real("alpha", 0.2f);
  desc.Beta = node.attributes().real("beta", 0.5f);
  node.setOutput(0, unary(node.graph(), DML_OPERATOR_ACTIVATION_HARD_SIGMOID, x, x.type, desc));
}

void mapHardSwish(NodeContext& node) {
  const Value& x = node.input(0);
  DML_ACTIVATION_HARD_SWISH_OPERATOR_DESC desc{};
  desc.Alpha = 1.0f / 6.0f;
  desc.Beta = 0.5f;
  node.setOutput(0, unary(node.graph(), DML_OPERATOR_ACTIVATION_HARD_SWISH, x, x.type, desc));
}

Value swish(GraphBuilder& graph, const Value& x, float alpha) {
  DML_ACTIVATION_SWISH_OPERATOR_DESC desc{};
  desc.SigmoidInputScale = alpha;
  return unary(graph, DML_OPERATOR_ACTIVATION_SWISH, x, x.type, desc);
}

void mapSwish(NodeContext& node) {
  node.setOutput(0, swish(node.graph(), node.input(0), node.attributes().real("alpha", 1.0f)));
}

void mapQuickGelu(NodeContext& node) {
  node.setOutput(0, swish(node.graph(), node.input(0), node.attributes().real("alpha", 1.702f)));
}

Value softplus(GraphBuilder& graph, const Value& x) {
  DML_ACTIVATION_SOFTPLUS_OPERATOR_DESC desc{};
  desc.Steepness = 1;
  return unary(graph, DML_OPERATOR_ACTIVATION_SOFTPLUS, x, x.type, desc);
}

void mapSoftplus(NodeContext& node) { node.setOutput(0, softplus(node.graph(), node.input(0))); }

Value tanh(GraphBuilder& graph, const Value& x) {
  return unary<DML_ELEMENT_WISE_TANH_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_TANH, x, x.type);
}

void mapMish(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  node.setOutput(0, multiply(graph, x, tanh(graph, softplus(graph, x))));
}

Value exactGelu(GraphBuilder& graph, const Value& x) {
  return unary<DML_ACTIVATION_GELU_OPERATOR_DESC>(graph, DML_OPERATOR_ACTIVATION_GELU, x, x.type);
}

// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
Value tanhGelu(GraphBuilder& graph, const Value& x) {
  const Value square = multiply(graph, x, x);
  const Value inner = multiply(graph, x, scaleBias(graph, square, 0.7978845608f * 0.044715f, 0.7978845608f));
  return multiply(graph, x, scaleBias(graph, tanh(graph, inner), 0.5f, 0.5f));
}

void mapGelu(NodeContext& node) {
  const std::string approximate = node.attributes().text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    throw ModelError(cat("Attribute approximate is \"", approximate, "\", expected none or tanh."));
  node.setOutput(0, (approximate == "tanh" ? tanhGelu : exactGelu)(node.graph(), node.input(0)));
}

void mapBiasGelu(NodeContext& node) {
  node.setOutput(0, exactGelu(node.graph(), add(node.graph(), node.input(0), node.input(1))));
}

void mapBiasAdd(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  node.setOutput(0, add(graph, add(graph, node.input(0), node.input(1)), node.input(2)));
}

// The result is one half times the Gelu of the other half.
void mapBiasSplitGelu(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value sum = add(graph, node.input(0), node.input(1));
  if (sum.rank() == 0 || sum.sizes.back() % 2 != 0)
    throw ModelError(cat("Input 0 has sizes ", listText(sum.sizes), ", expected an even last size."));
  Sizes half = sum.sizes;
  half.back() /= 2;
  Sizes begins(sum.rank(), 0);
  const Sizes steps(sum.rank(), 1);
  const Value first = slice(graph, sum, begins, half, steps);
  begins.back() = half.back();
  node.setOutput(0, multiply(graph, first, exactGelu(graph, slice(graph, sum, begins, half, steps))));
}

void mapFastGelu(NodeContext& node) {
  const Value& x = node.input(0);
  node.setOutput(0, tanhGelu(node.graph(), node.has(1) ? add(node.graph(), x, node.input(1)) : x));
}

void mapPRelu(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  commonType(node, 0, 2);
  Op op(graph);
  DML_ACTIVATION_PARAMETERIZED_RELU_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.SlopeTensor = op.input(graph.broadcast(node.input(1), x.sizes));
  desc.OutputTensor = op.output(x.type, x.sizes);
  node.setOutput(0, op.make(DML_OPERATOR_ACTIVATION_PARAMETERIZED_RELU, desc));
}

// DirectML has no 64-bit integers here. An integer is above a threshold if it is above its whole part.
Value shrinkWide(GraphBuilder& graph, const Value& x, float bias, float threshold) {
  if (bias != std::trunc(bias))
    throw ModelError(cat("Attribute bias is ", bias, ", expected an integer for integers."));
  const auto constant = [&](double value) { return scalar(x.type, value); };
  const double limit = std::floor(static_cast<double>(threshold));
  const Value above = binary<DML_ELEMENT_WISE_LOGICAL_GREATER_THAN_OPERATOR_DESC>(
      graph, DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN, x, constant(limit), Type::Bool);
  const Value shrunk = select(graph, above, subtract(graph, x, constant(static_cast<double>(bias))), constant(0));
  if (!isSigned(x.type)) return shrunk;
  const Value below = binary<DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OPERATOR_DESC>(
      graph, DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN, x, constant(-limit), Type::Bool);
  return select(graph, below, add(graph, x, constant(static_cast<double>(bias))), shrunk);
}

void mapShrink(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  if (x.type == Type::Int64 || x.type == Type::UInt64)
    return node.setOutput(
        0, shrinkWide(graph, x, node.attributes().real("bias", 0), node.attributes().real("lambd", 0.5f)));
  DML_ACTIVATION_SHRINK_OPERATOR_DESC desc{};
  desc.Bias = node.attributes().real("bias", 0);
  desc.Threshold = node.attributes().real("lambd", 0.5f);
  node.setOutput(0, unary(graph, DML_OPERATOR_ACTIVATION_SHRINK, x, x.type, desc));
}

template <class Desc, DML_OPERATOR_TYPE type>
void mapSoftmaxOver(NodeContext& node, size_t firstAxis, size_t endAxis) {
  const Value& x = node.input(0);
  std::vector<UINT> axes;
  for (size_t axis = firstAxis; axis < endAxis; ++axis) axes.push_back(static_cast<UINT>(axis));
  if (axes.empty()) axes.push_back(0);  // a scalar
  Desc desc{};
  desc.AxisCount = static_cast<UINT>(axes.size());
  desc.Axes = axes.data();
  node.setOutput(0, unary(node.graph(), type, x, x.type, desc));
}

// Before operator set 13 all axes from the given one on are one.
template <class Desc, DML_OPERATOR_TYPE type>
void mapFlatSoftmax(NodeContext& node) {
  const size_t rank = node.input(0).rank();
  const int64_t given = node.attributes().integer("axis", 1);
  const size_t axis = given == static_cast<int64_t>(rank) ? rank : normalizeAxis(given, rank);
  if (axis == rank) throw ModelError(cat("Attribute axis is ", given, ", expected less than ", rank, "."));
  mapSoftmaxOver<Desc, type>(node, axis, rank);
}

template <class Desc, DML_OPERATOR_TYPE type>
void mapSoftmax(NodeContext& node) {
  const size_t rank = node.input(0).rank();
  const size_t axis = rank ? normalizeAxis(node.attributes().integer("axis", -1), rank) : 0;
  mapSoftmaxOver<Desc, type>(node, axis, axis + 1);
}

// It is the identity where nothing trains. Its mask was left zero before operator set 12.
void mapDropout(NodeContext& node) {
  const Value& x = node.input(0);
  if (!node.knows(2)) return;
  if (node.has(2) && node.scalarConstant(2).integer(0) != 0) {
    if (!node.knows(1)) return;
    if (!node.has(1) || node.scalarConstant(1).real(0) != 0)
      throw ModelError("It trains (training_mode), which is not mapped.");
  }
  node.setOutput(0, x);
  node.setOutput(1, fill(node.graph(), node.opset() < 10 ? x.type : Type::Bool, x.sizes,
                         scalarTensor(Type::Bool, node.opset() < 12 ? 0 : 1)));
}

#define DIMPLE_MAP(map, name) map<DML_##name##_OPERATOR_DESC, DML_OPERATOR_##name>
#define DIMPLE_MAP_ALPHA(name, thousandths) mapAlpha<DML_##name##_OPERATOR_DESC, DML_OPERATOR_##name, thousandths>

constexpr Mapping kActivationMappings[] = {
    {kMicrosoft, "BiasAdd", 1, mapBiasAdd},
    {kMicrosoft, "BiasGelu", 1, mapBiasGelu},
    {kMicrosoft, "BiasSplitGelu", 1, mapBiasSplitGelu},
    {kOnnx, "Celu", 12, DIMPLE_MAP_ALPHA(ACTIVATION_CELU, 1000)},
    {kOnnx, "Dropout", 7, mapDropout},
    {kOnnx, "Elu", 6, DIMPLE_MAP_ALPHA(ACTIVATION_ELU, 1000)},
    {kMicrosoft, "FastGelu", 1, mapFastGelu},
    {kOnnx, "Gelu", 20, mapGelu},
    {kMicrosoft, "Gelu", 1, mapGelu},
    {kOnnx, "HardSigmoid", 6, mapHardSigmoid},
    {kOnnx, "HardSwish", 14, mapHardSwish},
    {kOnnx, "Hardmax", 1, DIMPLE_MAP(mapFlatSoftmax, ACTIVATION_HARDMAX1)},
    {kOnnx, "Hardmax", 13, DIMPLE_MAP(mapSoftmax, ACTIVATION_HARDMAX1)},
    {kOnnx, "LeakyRelu", 6, DIMPLE_MAP_ALPHA(ACTIVATION_LEAKY_RELU, 10)},
    {kOnnx, "LogSoftmax", 1, DIMPLE_MAP(mapFlatSoftmax, ACTIVATION_LOG_SOFTMAX1)},
    {kOnnx, "LogSoftmax", 13, DIMPLE_MAP(mapSoftmax, ACTIVATION_LOG_SOFTMAX1)},
    {kOnnx, "Mish", 18, mapMish},
    {kOnnx, "PRelu", 7, mapPRelu},
    {kMicrosoft, "QuickGelu", 1, mapQuickGelu},
    {kOnnx, "Relu", 6, DIMPLE_MAP(mapPlain, ACTIVATION_RELU)},
    {kOnnx, "Selu", 6, mapSelu},
    {kOnnx, "Shrink", 9, mapShrink},
    {kOnnx, "Sigmoid", 6, DIMPLE_MAP(mapPlain, ACTIVATION_SIGMOID)},
    {kOnnx, "Softmax", 1, DIMPLE_MAP(mapFlatSoftmax, ACTIVATION_SOFTMAX1)},
    {kOnnx, "Softmax", 13, DIMPLE_MAP(mapSoftmax, ACTIVATION_SOFTMAX1)},
    {kOnnx, "Softplus", 1, mapSoftplus},
    {kOnnx, "Softsign", 1, DIMPLE_MAP(mapPlain, ACTIVATION_SOFTSIGN)},
    {kOnnx, "Swish", 24, mapSwish},
    {kOnnx, "ThresholdedRelu", 10, DIMPLE_MAP_ALPHA(ACTIVATION_THRESHOLDED_RELU, 1000)},
    {kOnnx, "ThresholdedRelu", 1, DIMPLE_MAP_ALPHA(ACTIVATION_THRESHOLDED_RELU, 1000)},
};

#undef DIMPLE_MAP
#undef DIMPLE_MAP_ALPHA

}  // namespace

std::span<const Mapping> activationMappings() { return kActivationMappings; }

}  // namespace dimple::onnx
