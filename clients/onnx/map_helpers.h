// DirectML operators as functions of values, which mappings are made of.
#pragma once

#include "clients/onnx/failure.h"
#include "clients/onnx/mapper.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {

// A tensor without elements, which is on no device.
Value emptyValue(Type type, const Sizes& sizes);
std::vector<UINT> toUints(std::span<const int64_t> values);
// Every axis of a tensor.
std::vector<size_t> identityOrder(size_t rank);

// A constant of one element, for broadcasting.
Value scalar(Type type, double value);
Value integerScalar(int64_t value);  // of int64
// [C] as [1, C, 1, ..] of so many dimensions. Throws ModelError.
Value alongChannels(GraphBuilder& graph, const Value& value, size_t rank);
DML_SCALAR_UNION scalarUnion(Type type, const HostTensor& tensor);

// Of the same type: `value` as it is.
Value cast(GraphBuilder& graph, const Value& value, Type type);
Value add(GraphBuilder& graph, const Value& a, const Value& b);
Value subtract(GraphBuilder& graph, const Value& a, const Value& b);
Value multiply(GraphBuilder& graph, const Value& a, const Value& b);
Value divide(GraphBuilder& graph, const Value& a, const Value& b);
Value minimum(GraphBuilder& graph, const Value& a, const Value& b);
Value maximum(GraphBuilder& graph, const Value& a, const Value& b);
// value * scale + bias; floats
Value scaleBias(GraphBuilder& graph, const Value& value, float scale, float bias);
// Elements of a where `condition` (bool) is true, else of b.
Value select(GraphBuilder& graph, const Value& condition, const Value& a, const Value& b);
// Axes keep size 1.
Value reduce(GraphBuilder& graph, const Value& value, DML_REDUCE_FUNCTION function, const std::vector<UINT>& axes);
Value fill(GraphBuilder& graph, Type type, const Sizes& sizes, const HostTensor& value);
// Elements begin, begin + step, .. of each axis, `sizes` of them. Steps may be negative.
Value slice(GraphBuilder& graph, const Value& value, const Sizes& begins, const Sizes& sizes, const Sizes& steps);
Value join(GraphBuilder& graph, const std::vector<Value>& values, size_t axis);
// Pads with zeros, or with what the union says.
Value padConstant(GraphBuilder& graph, const Value& value, const std::vector<UINT>& start, const std::vector<UINT>& end,
                  const DML_SCALAR_UNION& padding);

template <class Desc>
Value unary(GraphBuilder& graph, DML_OPERATOR_TYPE operatorType, const Value& x, Type outputType, Desc desc = {}) {
  if (x.elements() == 0) return emptyValue(outputType, x.sizes);
  Op op(graph);
  desc.InputTensor = op.input(x);
  desc.OutputTensor = op.output(outputType, x.sizes);
  return op.make(operatorType, desc);
}

template <class Desc>
Value binary(GraphBuilder& graph, DML_OPERATOR_TYPE operatorType, const Value& a, const Value& b, Type outputType) {
  const Sizes sizes = broadcastSizes(a.sizes, b.sizes);
  if (elementCount(sizes) == 0) return emptyValue(outputType, sizes);
  Op op(graph);
  Desc desc{};
  desc.ATensor = op.input(graph.broadcast(a, sizes));
  desc.BTensor = op.input(graph.broadcast(b, sizes));
  desc.OutputTensor = op.output(outputType, sizes);
  return op.make(operatorType, desc);
}

// The type of all inputs. Throws ModelError if they differ.
Type commonType(const NodeContext& node, size_t first, size_t count);

}  // namespace dimple::onnx
