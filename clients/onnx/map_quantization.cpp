// Quantization, and products of quantized matrices.
#include <limits>

#include "clients/onnx/product.h"

namespace dimple::onnx {

std::optional<Value> productParameter(const NodeContext& node, size_t index, bool ofRows) {
  if (!node.has(index)) return {};
  GraphBuilder& graph = node.graph();
  const Value& value = node.input(index);
  if (value.elements() == 1) return graph.reshape(value, {1});
  if (value.rank() == 1) return graph.reshape(value, ofRows ? Sizes{value.sizes[0], 1} : Sizes{1, value.sizes[0]});
  return value;
}

Value quantizedProduct(GraphBuilder& graph, const QuantizedOperand& a, const QuantizedOperand& b,
                       const std::optional<Value>& bias, Type type) {
  const Product product = makeProduct(graph, a.value, b.value);
  std::optional<Value> addend;
  if (bias) addend = graph.broadcast(*bias, product.sizes);
  Op op(graph);
  DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC desc{};
  desc.ATensor = op.input(product.a);
  desc.AScaleTensor = op.optionalInput(a.scale);
  desc.AZeroPointTensor = op.optionalInput(a.zeroPoint);
  desc.BTensor = op.input(product.b);
  desc.BScaleTensor = op.optionalInput(b.scale);
  desc.BZeroPointTensor = op.optionalInput(b.zeroPoint);
  desc.BiasTensor = op.optionalInput(addend);
  desc.OutputTensor = op.output(type, product.sizes);
  return graph.reshape(op.make(DML_OPERATOR_MATRIX_MULTIPLY_INTEGER_TO_FLOAT, desc), product.result);
}

namespace {

// A scale or zero point for every element of a tensor: one number, one for each place along an axis, or one for each
// block of places there.
Value spread(GraphBuilder& graph, const Value& value, const Sizes& sizes, int64_t givenAxis, int64_t blockSize) {
  if (value.elements() == 1 && blockSize == 0) return graph.broadcast(graph.reshape(value, {}), sizes);
  const size_t axis = normalizeAxis(givenAxis, sizes.size());
  if (blockSize == 0) {
    Sizes along(sizes.size(), 1);
    along[axis] = value.elements();
    return graph.broadcast(graph.reshape(value, along), sizes);
  }
  if (blockSize < 0 || blockSize > std::numeric_limits<int32_t>::max())
    throw ModelError(cat("Attribute block_size is ", blockSize, ", expected 0 to 2^31 - 1."));
  Sizes expected = sizes;
  expected[axis] = (sizes[axis] + blockSize - 1) / blockSize;
  if (value.sizes != expected)
    throw ModelError(
        cat("A scale or zero point has sizes ", listText(value.sizes), ", expected ", listText(expected), "."));
  HostTensor places(Type::Int32, {sizes[axis]});
  for (int64_t i = 0; i < sizes[axis]; ++i) places.setInteger(static_cast<size_t>(i), i / blockSize);
  const Value index = graph.padRank(hostValue(std::move(places)), sizes.size());
  Op op(graph);
  DML_GATHER_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(value);
  desc.IndicesTensor = op.input(index);
  desc.OutputTensor = op.output(value.type, sizes);
  desc.Axis = static_cast<UINT>(axis);
  desc.IndexDimensions = 1;
  return op.make(DML_OPERATOR_GATHER, desc);
}

struct Limits {
  double least, most;
};

Limits limitsOf(Type type) {
  switch (type) {
    case Type::UInt4:
      return {0, 15};
    case Type::Int4:
      return {-8, 7};
    case Type::UInt16:
      return {0, 65535};
    case Type::Int16:
      return {-32768, 32767};
    case Type::Int8:
      return {-128, 127};
    default:
      return {0, 255};
  }
}

Value clip(GraphBuilder& graph, const Value& value, const Limits& limits) {
  DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC desc{};
  desc.MinMaxDataType = traits(value.type).device;
  desc.Min = scalarUnion(value.type, scalarTensor(Type::Double, limits.least));
  desc.Max = scalarUnion(value.type, scalarTensor(Type::Double, limits.most));
  return unary(graph, DML_OPERATOR_ELEMENT_WISE_CLIP1, value, value.type, desc);
}

// DirectML quantizes to 8 bits only.
Value quantizeWide(GraphBuilder& graph, const Value& x, const Value& scale, const std::optional<Value>& zero,
                   Type type) {
  DML_ELEMENT_WISE_ROUND_OPERATOR_DESC desc{};
  desc.RoundingMode = DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN;
  Value quotient = divide(graph, cast(graph, x, Type::Float), cast(graph, scale, Type::Float));
  quotient = unary(graph, DML_OPERATOR_ELEMENT_WISE_ROUND, quotient, Type::Float, desc);
  if (zero) quotient = add(graph, quotient, cast(graph, *zero, Type::Float));
  return cast(graph, clip(graph, quotient, limitsOf(type)), type);
}

Value dequantize(GraphBuilder& graph, const Value& x, const Value& scale, const std::optional<Value>& zero) {
  Op op(graph);
  DML_ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.ScaleTensor = op.input(scale);
  desc.ZeroPointTensor = op.optionalInput(zero);
  desc.OutputTensor = op.output(scale.type, x.sizes);
  return op.make(DML_OPERATOR_ELEMENT_WISE_DEQUANTIZE_LINEAR, desc);
}

Value quantize(GraphBuilder& graph, const Value& x, const Value& scale, const std::optional<Value>& zero, Type type) {
  Op op(graph);
  DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.ScaleTensor = op.input(scale);
  desc.ZeroPointTensor = op.optionalInput(zero);
  desc.OutputTensor = op.output(type, x.sizes);
  return op.make(DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR, desc);
}

void mapQuantizeLinear(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const int64_t axis = node.attributes().integer("axis", 1);
  const int64_t block = node.attributes().integer("block_size", 0);
  Type type = node.has(2) ? node.input(2).type : Type::UInt8;
  if (const int64_t given = node.attributes().integer("output_dtype", 0); given != 0 && !node.has(2))
    type = static_cast<Type>(given);
  const Value scale = spread(graph, node.input(1), x.sizes, axis, block);
  std::optional<Value> zero;
  if (node.has(2)) zero = spread(graph, node.input(2), x.sizes, axis, block);
  if (type == Type::Int16 || type == Type::UInt16) return node.setOutput(0, quantizeWide(graph, x, scale, zero, type));
  Value quantized = quantize(graph, x, scale, zero, type);
  if (type == Type::Int4 || type == Type::UInt4) quantized = clip(graph, quantized, limitsOf(type));
  node.setOutput(0, quantized);
}

void mapDequantizeLinear(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const int64_t axis = node.attributes().integer("axis", 1);
  const int64_t block = node.attributes().integer("block_size", 0);
  const Value scale = spread(graph, node.input(1), x.sizes, axis, block);
  std::optional<Value> zero;
  if (node.has(2)) zero = spread(graph, node.input(2), x.sizes, axis, block);
  node.setOutput(0, dequantize(graph, x, scale, zero));
}

void mapDynamicQuantizeLinear(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const Sizes one(std::max<size_t>(x.rank(), 1), 1);
  Op op(graph);
  DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.OutputTensor = op.output(Type::UInt8, x.sizes);
  desc.OutputScaleTensor = op.output(Type::Float, one);
  desc.OutputZeroPointTensor = op.output(Type::UInt8, one);
  op.make(DML_OPERATOR_DYNAMIC_QUANTIZE_LINEAR, desc);
  node.setOutput(0, op.result(0));
  node.setOutput(1, graph.reshape(op.result(1), {}));
  node.setOutput(2, graph.reshape(op.result(2), {}));
}

void mapMatMulInteger(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Product product = makeProduct(graph, node.input(0), node.input(1));
  const auto aZero = productParameter(node, 2, true);
  const auto bZero = productParameter(node, 3, false);
  Op op(graph);
  DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC desc{};
  desc.ATensor = op.input(product.a);
  desc.AZeroPointTensor = op.optionalInput(aZero);
  desc.BTensor = op.input(product.b);
  desc.BZeroPointTensor = op.optionalInput(bZero);
  desc.OutputTensor = op.output(Type::Int32, product.sizes);
  node.setOutput(0, graph.reshape(op.make(DML_OPERATOR_MATRIX_MULTIPLY_INTEGER, desc), product.result));
}

void mapQLinearMatMul(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Product product = makeProduct(graph, node.input(0), node.input(3));
  const auto aScale = productParameter(node, 1, true);
  const auto aZero = productParameter(node, 2, true);
  const auto bScale = productParameter(node, 4, false);
  const auto bZero = productParameter(node, 5, false);
  const auto yScale = productParameter(node, 6, true);
  const auto yZero = productParameter(node, 7, true);
  Op op(graph);
  DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC desc{};
  desc.ATensor = op.input(product.a);
  desc.AScaleTensor = op.optionalInput(aScale);
  desc.AZeroPointTensor = op.optionalInput(aZero);
  desc.BTensor = op.input(product.b);
  desc.BScaleTensor = op.optionalInput(bScale);
  desc.BZeroPointTensor = op.optionalInput(bZero);
  desc.OutputScaleTensor = op.optionalInput(yScale);
  desc.OutputZeroPointTensor = op.optionalInput(yZero);
  desc.OutputTensor = op.output(node.input(7).type, product.sizes);
  node.setOutput(0, graph.reshape(op.make(DML_OPERATOR_QUANTIZED_LINEAR_MATRIX_MULTIPLY, desc), product.result));
}

void mapMatMulIntegerToFloat(NodeContext& node) {
  const QuantizedOperand a{node.input(0), productParameter(node, 2, true), productParameter(node, 4, true)};
  const QuantizedOperand b{node.input(1), productParameter(node, 3, false), productParameter(node, 5, false)};
  node.setOutput(0, quantizedProduct(node.graph(), a, b, node.optional(6), node.input(2).type));
}

// A number for a whole tensor, for each of its elements.
std::optional<Value> whole(const NodeContext& node, size_t index, const Sizes& sizes) {
  if (!node.has(index)) return {};
  return node.graph().broadcast(node.graph().reshape(node.input(index), {}), sizes);
}

Value required(const std::optional<Value>& value) {
  if (!value) throw ModelError("A scale is absent.");
  return *value;
}

void mapQLinearSigmoid(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const Value real = dequantize(graph, x, required(whole(node, 1, x.sizes)), whole(node, 2, x.sizes));
  const Value y = unary<DML_ACTIVATION_SIGMOID_OPERATOR_DESC>(graph, DML_OPERATOR_ACTIVATION_SIGMOID, real, real.type);
  node.setOutput(0, quantize(graph, y, required(whole(node, 3, x.sizes)), whole(node, 4, x.sizes), x.type));
}

void mapQLinearConcat(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  if (node.inputCount() < 5 || node.inputCount() % 3 != 2)
    throw ModelError(cat("It has ", node.inputCount(), " inputs, expected two and three for each tensor."));
  std::vector<Value> parts;
  for (size_t i = 2; i < node.inputCount(); i += 3) {
    const Value& x = node.input(i);
    parts.push_back(dequantize(graph, x, required(whole(node, i + 1, x.sizes)), whole(node, i + 2, x.sizes)));
  }
  const size_t axis = normalizeAxis(node.attributes().integer("axis", 1), parts[0].rank());
  const Value real = join(graph, parts, axis);
  node.setOutput(
      0, quantize(graph, real, required(whole(node, 0, real.sizes)), whole(node, 1, real.sizes), node.input(2).type));
}

// The left side is quantized by what is in it.
void mapDynamicQuantizeMatMul(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value a = graph.packed(node.input(0));
  const Sizes one(a.rank(), 1);
  Op quantizer(graph);
  DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC dynamic{};
  dynamic.InputTensor = quantizer.input(a);
  dynamic.OutputTensor = quantizer.output(Type::UInt8, a.sizes);
  dynamic.OutputScaleTensor = quantizer.output(Type::Float, one);
  dynamic.OutputZeroPointTensor = quantizer.output(Type::UInt8, one);
  quantizer.make(DML_OPERATOR_DYNAMIC_QUANTIZE_LINEAR, dynamic);
  const QuantizedOperand left{quantizer.result(0), graph.reshape(quantizer.result(1), {1}),
                              graph.reshape(quantizer.result(2), {1})};
  const QuantizedOperand right{node.input(1), productParameter(node, 2, false), productParameter(node, 3, false)};
  node.setOutput(0, quantizedProduct(graph, left, right, node.optional(4), Type::Float));
}

void mapQLinearAdd(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Sizes sizes = broadcastSizes(node.input(0).sizes, node.input(3).sizes);
  const auto all = [&](size_t index) -> std::optional<Value> {
    if (!node.has(index)) return {};
    return graph.broadcast(node.input(index), sizes);
  };
  const auto a = all(0), aScale = all(1), aZero = all(2), b = all(3), bScale = all(4), bZero = all(5);
  const auto yScale = all(6), yZero = all(7);
  Op op(graph);
  DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC desc{};
  desc.ATensor = op.optionalInput(a);
  desc.AScaleTensor = op.optionalInput(aScale);
  desc.AZeroPointTensor = op.optionalInput(aZero);
  desc.BTensor = op.optionalInput(b);
  desc.BScaleTensor = op.optionalInput(bScale);
  desc.BZeroPointTensor = op.optionalInput(bZero);
  desc.OutputScaleTensor = op.optionalInput(yScale);
  desc.OutputZeroPointTensor = op.optionalInput(yZero);
  desc.OutputTensor = op.output(node.input(0).type, sizes);
  node.setOutput(0, op.make(DML_OPERATOR_ELEMENT_WISE_QUANTIZED_LINEAR_ADD, desc));
}

constexpr Mapping kQuantizationMappings[] = {
    {kOnnx, "DequantizeLinear", 10, mapDequantizeLinear},
    {kMicrosoft, "DequantizeLinear", 1, mapDequantizeLinear},
    {kMicrosoft, "DynamicQuantizeMatMul", 1, mapDynamicQuantizeMatMul},
    {kOnnx, "DynamicQuantizeLinear", 11, mapDynamicQuantizeLinear},
    {kOnnx, "MatMulInteger", 10, mapMatMulInteger},
    {kMicrosoft, "MatMulIntegerToFloat", 1, mapMatMulIntegerToFloat},
    {kMicrosoft, "QLinearAdd", 1, mapQLinearAdd},
    {kMicrosoft, "QLinearConcat", 1, mapQLinearConcat},
    {kMicrosoft, "QLinearSigmoid", 1, mapQLinearSigmoid},
    {kOnnx, "QLinearMatMul", 10, mapQLinearMatMul},
    {kOnnx, "QuantizeLinear", 10, mapQuantizeLinear},
    {kMicrosoft, "QuantizeLinear", 1, mapQuantizeLinear},
};

}  // namespace

std::span<const Mapping> quantizationMappings() { return kQuantizationMappings; }

}  // namespace dimple::onnx
