#include "clients/onnx/map_helpers.h"

#include <cstring>
#include <limits>
#include <numeric>

namespace dimple::onnx {

Value emptyValue(Type type, const Sizes& sizes) { return hostValue(HostTensor(type, sizes)); }

std::vector<UINT> toUints(std::span<const int64_t> values) {
  std::vector<UINT> result;
  for (const int64_t value : values) {
    if (value < 0 || value > std::numeric_limits<UINT>::max())
      throw ModelError(cat("A number is ", value, ", expected 0 to 2^32 - 1."));
    result.push_back(static_cast<UINT>(value));
  }
  return result;
}

std::vector<size_t> identityOrder(size_t rank) {
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

Value scalar(Type type, double value) { return hostValue(scalarTensor(type, value)); }

Value integerScalar(int64_t value) {
  HostTensor tensor(Type::Int64, {});
  tensor.setInteger(0, value);
  return hostValue(std::move(tensor));
}

Value alongChannels(GraphBuilder& graph, const Value& value, size_t rank) {
  if (value.rank() != 1 || rank < 2)
    throw ModelError(cat("A tensor has sizes ", listText(value.sizes), ", expected one dimension for the channels of ",
                         "two dimensions and more."));
  Sizes sizes(rank, 1);
  sizes[1] = value.sizes[0];
  return graph.reshape(value, sizes);
}

DML_SCALAR_UNION scalarUnion(Type type, const HostTensor& tensor) {
  HostTensor converted(type, {1});
  if (tensor.elements() != 1)
    throw ModelError(cat("A tensor has sizes ", listText(tensor.sizes), ", expected one element."));
  if (isFloat(tensor.type))
    converted.setReal(0, tensor.real(0));
  else
    converted.setInteger(0, tensor.integer(0));
  const auto bytes = deviceBytes(converted);
  DML_SCALAR_UNION value{};
  std::memcpy(value.Bytes, bytes.data(), bytes.size());
  return value;
}

Value cast(GraphBuilder& graph, const Value& value, Type type) {
  if (value.type == type) return value;
  if (value.elements() == 0) return emptyValue(type, value.sizes);
  if (type == Type::Bool) {
    const Value isZero = binary<DML_ELEMENT_WISE_LOGICAL_EQUALS_OPERATOR_DESC>(
        graph, DML_OPERATOR_ELEMENT_WISE_LOGICAL_EQUALS, value, scalar(value.type, 0), Type::Bool);
    return unary<DML_ELEMENT_WISE_LOGICAL_NOT_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_LOGICAL_NOT, isZero,
                                                             Type::Bool);
  }
  if (type == Type::Int4 || type == Type::UInt4)
    throw ModelError(cat("A conversion to ", typeName(type), " is not mapped."));
  if (traits(value.type).device == traits(type).device && traits(type).device != DML_TENSOR_DATA_TYPE_UNKNOWN)
    return graph.reinterpret(value, type);
  return unary<DML_CAST_OPERATOR_DESC>(graph, DML_OPERATOR_CAST, value, type);
}

Value add(GraphBuilder& graph, const Value& a, const Value& b) {
  return binary<DML_ELEMENT_WISE_ADD_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_ADD, a, b, a.type);
}

Value subtract(GraphBuilder& graph, const Value& a, const Value& b) {
  return binary<DML_ELEMENT_WISE_SUBTRACT_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_SUBTRACT, a, b, a.type);
}

Value multiply(GraphBuilder& graph, const Value& a, const Value& b) {
  return binary<DML_ELEMENT_WISE_MULTIPLY_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_MULTIPLY, a, b, a.type);
}

Value divide(GraphBuilder& graph, const Value& a, const Value& b) {
  return binary<DML_ELEMENT_WISE_DIVIDE_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_DIVIDE, a, b, a.type);
}

Value minimum(GraphBuilder& graph, const Value& a, const Value& b) {
  return binary<DML_ELEMENT_WISE_MIN_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_MIN, a, b, a.type);
}

Value maximum(GraphBuilder& graph, const Value& a, const Value& b) {
  return binary<DML_ELEMENT_WISE_MAX_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_MAX, a, b, a.type);
}

Value scaleBias(GraphBuilder& graph, const Value& value, float scale, float bias) {
  const DML_SCALE_BIAS parameters{scale, bias};
  return unary(graph, DML_OPERATOR_ELEMENT_WISE_IDENTITY, value, value.type,
               DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC{nullptr, nullptr, &parameters});
}

Value select(GraphBuilder& graph, const Value& condition, const Value& a, const Value& b) {
  const Sizes sizes = broadcastSizes(broadcastSizes(condition.sizes, a.sizes), b.sizes);
  if (elementCount(sizes) == 0) return emptyValue(a.type, sizes);
  Op op(graph);
  DML_ELEMENT_WISE_IF_OPERATOR_DESC desc{};
  desc.ConditionTensor = op.input(graph.broadcast(condition, sizes));
  desc.ATensor = op.input(graph.broadcast(a, sizes));
  desc.BTensor = op.input(graph.broadcast(b, sizes));
  desc.OutputTensor = op.output(a.type, sizes);
  return op.make(DML_OPERATOR_ELEMENT_WISE_IF, desc);
}

Value reduce(GraphBuilder& graph, const Value& value, DML_REDUCE_FUNCTION function, const std::vector<UINT>& axes) {
  Sizes sizes = value.sizes;
  for (const UINT axis : axes) sizes[axis] = 1;
  Op op(graph);
  DML_REDUCE_OPERATOR_DESC desc{};
  desc.Function = function;
  desc.InputTensor = op.input(value);
  desc.OutputTensor = op.output(value.type, sizes);
  desc.AxisCount = static_cast<UINT>(axes.size());
  desc.Axes = axes.data();
  return op.make(DML_OPERATOR_REDUCE, desc);
}

Value fill(GraphBuilder& graph, Type type, const Sizes& sizes, const HostTensor& value) {
  if (elementCount(sizes) == 0) return emptyValue(type, sizes);
  Op op(graph);
  DML_FILL_VALUE_CONSTANT_OPERATOR_DESC desc{};
  desc.OutputTensor = op.output(type, sizes);
  desc.ValueDataType = traits(type).device;
  desc.Value = scalarUnion(type, value);
  return op.make(DML_OPERATOR_FILL_VALUE_CONSTANT, desc);
}

Value slice(GraphBuilder& graph, const Value& value, const Sizes& begins, const Sizes& sizes, const Sizes& steps) {
  if (elementCount(sizes) == 0) return emptyValue(value.type, sizes);
  if (sizes == value.sizes && std::ranges::all_of(steps, [](int64_t step) { return step == 1; })) return value;
  if (value.rank() == 0) return value;
  Sizes offsets;
  Sizes windows;
  std::vector<INT> strides;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // A single element is reached with any step.
    const int64_t step = sizes[i] == 1 ? 1 : steps[i];
    if (std::abs(step) > std::numeric_limits<INT>::max())
      throw ModelError(cat("A step is ", step, ", expected less than 2^31."));
    const int64_t reach = (sizes[i] - 1) * std::abs(step);
    windows.push_back(reach + 1);
    offsets.push_back(step < 0 ? begins[i] - reach : begins[i]);
    strides.push_back(static_cast<INT>(step));
  }
  const std::vector<UINT> windowOffsets = toUints(offsets);
  const std::vector<UINT> windowSizes = toUints(windows);
  Op op(graph);
  DML_SLICE1_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(value);
  desc.OutputTensor = op.output(value.type, sizes);
  desc.DimensionCount = static_cast<UINT>(sizes.size());
  desc.InputWindowOffsets = windowOffsets.data();
  desc.InputWindowSizes = windowSizes.data();
  desc.InputWindowStrides = strides.data();
  return op.make(DML_OPERATOR_SLICE1, desc);
}

Value join(GraphBuilder& graph, const std::vector<Value>& values, size_t axis) {
  Sizes sizes = values.at(0).sizes;
  sizes.at(axis) = 0;
  std::vector<const Value*> parts;
  for (const Value& value : values) {
    if (value.type != values[0].type)
      throw ModelError(
          cat("Tensors of ", typeName(values[0].type), " and ", typeName(value.type), " cannot be joined."));
    if (value.rank() != sizes.size())
      throw ModelError(cat("Tensors of ", sizes.size(), " and ", value.rank(), " dimensions cannot be joined."));
    for (size_t i = 0; i < sizes.size(); ++i)
      if (i != axis && value.sizes[i] != sizes[i])
        throw ModelError(cat("Tensors of sizes ", listText(values[0].sizes), " and ", listText(value.sizes),
                             " cannot be joined along axis ", axis, "."));
    sizes[axis] += value.sizes[axis];
    if (value.elements() != 0) parts.push_back(&value);
  }
  if (parts.empty()) return emptyValue(values[0].type, sizes);
  if (parts.size() == 1) return *parts[0];
  Op op(graph);
  std::vector<DML_TENSOR_DESC> inputs;
  for (const Value* part : parts) inputs.push_back(*op.input(*part));
  DML_JOIN_OPERATOR_DESC desc{};
  desc.InputCount = static_cast<UINT>(inputs.size());
  desc.InputTensors = inputs.data();
  desc.OutputTensor = op.output(values[0].type, sizes);
  desc.Axis = static_cast<UINT>(axis);
  return op.make(DML_OPERATOR_JOIN, desc);
}

Value padConstant(GraphBuilder& graph, const Value& value, const std::vector<UINT>& start, const std::vector<UINT>& end,
                  const DML_SCALAR_UNION& padding) {
  Sizes sizes = value.sizes;
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] += start[i] + int64_t{end[i]};
  Op op(graph);
  DML_PADDING1_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(value);
  desc.OutputTensor = op.output(value.type, sizes);
  desc.PaddingMode = DML_PADDING_MODE_CONSTANT;
  desc.PaddingValueDataType = traits(value.type).device;
  desc.PaddingValue = padding;
  desc.DimensionCount = static_cast<UINT>(sizes.size());
  desc.StartPadding = start.data();
  desc.EndPadding = end.data();
  return op.make(DML_OPERATOR_PADDING1, desc);
}

Type commonType(const NodeContext& node, size_t first, size_t count) {
  const Type type = node.input(first).type;
  for (size_t i = first + 1; i < first + count; ++i)
    if (node.input(i).type != type)
      throw ModelError(cat("Inputs ", first, " and ", i, " are of ", typeName(type), " and ",
                           typeName(node.input(i).type), ", expected one type."));
  return type;
}

}  // namespace dimple::onnx
