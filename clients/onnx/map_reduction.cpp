// Reductions, extrema and their places, and running sums.
#include <numeric>

#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {
namespace {

std::vector<UINT> allAxes(size_t rank) {
  std::vector<UINT> axes(rank);
  std::iota(axes.begin(), axes.end(), 0u);
  return axes;
}

Sizes withoutAxes(const Sizes& sizes, const std::vector<UINT>& axes) {
  Sizes left;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (std::ranges::find(axes, i) == axes.end()) left.push_back(sizes[i]);
  return left;
}

// If DirectML does not reduce a type, a type that holds its values is reduced instead.
Type reductionType(Type type, DML_REDUCE_FUNCTION function) {
  switch (function) {
    case DML_REDUCE_FUNCTION_MAX:
    case DML_REDUCE_FUNCTION_MIN:
      return type;
    case DML_REDUCE_FUNCTION_AVERAGE:
    case DML_REDUCE_FUNCTION_L2:
    case DML_REDUCE_FUNCTION_LOG_SUM:
    case DML_REDUCE_FUNCTION_LOG_SUM_EXP:
      return isFloat(type) ? type : Type::Float;
    default:
      if (type == Type::Int8 || type == Type::Int16) return Type::Int32;
      if (type == Type::UInt8 || type == Type::UInt16 || type == Type::Bool) return Type::UInt32;
      return type;
  }
}

// The mean rounded toward zero, without a sum that overflows: quotients and remainders are summed.
Value integerMean(GraphBuilder& graph, const Value& x, const std::vector<UINT>& axes) {
  const Value wide = cast(graph, x, Type::Int64);
  int64_t number = 1;
  for (const UINT axis : axes) number *= x.sizes[axis];
  const Value count = integerScalar(number);
  const auto floorModulus = [&](const Value& a) {
    return binary<DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, a,
                                                                count, Type::Int64);
  };
  const auto sum = [&](const Value& a) { return reduce(graph, a, DML_REDUCE_FUNCTION_SUM, axes); };
  const Value remainder = floorModulus(wide);
  const Value remainders = sum(remainder);
  const Value quotients = sum(divide(graph, subtract(graph, wide, remainder), count));
  const Value floored = add(graph, quotients, divide(graph, remainders, count));
  const auto isNotZero = [&](const Value& a) { return cast(graph, a, Type::Bool); };
  const Value negative = binary<DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OPERATOR_DESC>(
      graph, DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN, floored, scalar(Type::Int64, 0), Type::Bool);
  const Value roundsUp = binary<DML_ELEMENT_WISE_LOGICAL_AND_OPERATOR_DESC>(
      graph, DML_OPERATOR_ELEMENT_WISE_LOGICAL_AND, negative, isNotZero(floorModulus(remainders)), Type::Bool);
  return cast(graph, add(graph, floored, cast(graph, roundsUp, Type::Int64)), x.type);
}

template <DML_REDUCE_FUNCTION function>
void mapReduce(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  if (!node.knows("axes", 1)) return;
  const auto given = node.integers("axes", 1);
  std::vector<UINT> axes = allAxes(x.rank());
  if (given && !given->empty()) {
    axes.clear();
    for (const int64_t axis : *given) axes.push_back(static_cast<UINT>(normalizeAxis(axis, x.rank())));
    std::ranges::sort(axes);
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  } else if (node.attributes().flag("noop_with_empty_axes")) {
    // Every element is reduced by itself.
    Sizes sizes = x.sizes;
    sizes.push_back(1);
    const Value each = cast(graph, graph.reshape(x, sizes), reductionType(x.type, function));
    const Value reduced = reduce(graph, each, function, {static_cast<UINT>(x.rank())});
    return node.setOutput(0, cast(graph, graph.reshape(reduced, x.sizes), x.type));
  }
  if (function == DML_REDUCE_FUNCTION_AVERAGE && !isFloat(x.type) && x.rank() > 0) {
    const Value mean = integerMean(graph, x, axes);
    return node.setOutput(
        0, node.attributes().flag("keepdims", true) ? mean : graph.reshape(mean, withoutAxes(x.sizes, axes)));
  }
  Value reduced = cast(graph, x, reductionType(x.type, function));
  if (x.rank() == 0) {
    // The only element is an axis of its own.
    reduced = graph.reshape(reduced, {1});
    reduced = graph.reshape(reduce(graph, reduced, function, {0}), {});
  } else {
    reduced = reduce(graph, reduced, function, axes);
    if (!node.attributes().flag("keepdims", true)) reduced = graph.reshape(reduced, withoutAxes(x.sizes, axes));
  }
  node.setOutput(0, cast(graph, reduced, x.type));
}

template <class Desc, DML_OPERATOR_TYPE type>
void mapArgument(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  if (x.type == Type::Double)
    throw ModelError(
        "Input 0 is of double, which becomes FLOAT32 in DirectML, where other elements may be the largest or "
        "smallest.");
  const std::vector<UINT> axes = {static_cast<UINT>(normalizeAxis(node.attributes().integer("axis", 0), x.rank()))};
  Sizes sizes = x.sizes;
  sizes[axes[0]] = 1;
  Op op(graph);
  Desc desc{};
  desc.InputTensor = op.input(x);
  desc.OutputTensor = op.output(Type::Int64, sizes);
  desc.AxisCount = 1;
  desc.Axes = axes.data();
  desc.AxisDirection =
      node.attributes().flag("select_last_index") ? DML_AXIS_DIRECTION_DECREASING : DML_AXIS_DIRECTION_INCREASING;
  Value places = op.make(type, desc);
  if (!node.attributes().flag("keepdims", true)) places = graph.reshape(places, withoutAxes(x.sizes, axes));
  node.setOutput(0, places);
}

void mapTopK(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const size_t axis = normalizeAxis(node.attributes().integer("axis", -1), x.rank());
  if (node.opset() >= 10 && !node.knows(1)) return;
  const int64_t count = node.opset() < 10 ? node.attributes().integer("k", 0) : node.scalarConstant(1).integer(0);
  if (count < 0 || count > x.sizes[axis])
    throw ModelError(cat("It finds ", count, " elements of ", x.sizes[axis], "."));
  Sizes sizes = x.sizes;
  sizes[axis] = count;
  if (elementCount(sizes) == 0) {
    node.setOutput(0, emptyValue(x.type, sizes));
    return node.setOutput(1, emptyValue(Type::Int64, sizes));
  }
  Op op(graph);
  DML_TOP_K1_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.OutputValueTensor = op.output(x.type, sizes);
  desc.OutputIndexTensor = op.output(Type::UInt64, sizes);
  desc.Axis = static_cast<UINT>(axis);
  desc.K = static_cast<UINT>(count);
  desc.AxisDirection =
      node.attributes().flag("largest", true) ? DML_AXIS_DIRECTION_DECREASING : DML_AXIS_DIRECTION_INCREASING;
  op.make(DML_OPERATOR_TOP_K1, desc);
  node.setOutput(0, op.result(0));
  node.setOutput(1, graph.reinterpret(op.result(1), Type::Int64));
}

void mapCumSum(NodeContext& node) {
  const Value& x = node.input(0);
  if (!node.knows(1)) return;
  Op op(node.graph());
  DML_CUMULATIVE_SUMMATION_OPERATOR_DESC desc{};
  desc.Axis = static_cast<UINT>(normalizeAxis(node.scalarConstant(1).integer(0), x.rank()));
  desc.InputTensor = op.input(x);
  desc.OutputTensor = op.output(x.type, x.sizes);
  desc.AxisDirection =
      node.attributes().flag("reverse") ? DML_AXIS_DIRECTION_DECREASING : DML_AXIS_DIRECTION_INCREASING;
  desc.HasExclusiveSum = node.attributes().flag("exclusive");
  node.setOutput(0, op.make(DML_OPERATOR_CUMULATIVE_SUMMATION, desc));
}

constexpr Mapping kReductionMappings[] = {
    {kOnnx, "ArgMax", 1, mapArgument<DML_ARGMAX_OPERATOR_DESC, DML_OPERATOR_ARGMAX>},
    {kOnnx, "ArgMin", 1, mapArgument<DML_ARGMIN_OPERATOR_DESC, DML_OPERATOR_ARGMIN>},
    {kOnnx, "CumSum", 11, mapCumSum},
    {kOnnx, "ReduceL1", 1, mapReduce<DML_REDUCE_FUNCTION_L1>},
    {kOnnx, "ReduceL2", 1, mapReduce<DML_REDUCE_FUNCTION_L2>},
    {kOnnx, "ReduceLogSum", 1, mapReduce<DML_REDUCE_FUNCTION_LOG_SUM>},
    {kOnnx, "ReduceLogSumExp", 1, mapReduce<DML_REDUCE_FUNCTION_LOG_SUM_EXP>},
    {kOnnx, "ReduceMax", 1, mapReduce<DML_REDUCE_FUNCTION_MAX>},
    {kOnnx, "ReduceMean", 1, mapReduce<DML_REDUCE_FUNCTION_AVERAGE>},
    {kOnnx, "ReduceMin", 1, mapReduce<DML_REDUCE_FUNCTION_MIN>},
    {kOnnx, "ReduceProd", 1, mapReduce<DML_REDUCE_FUNCTION_MULTIPLY>},
    {kOnnx, "ReduceSum", 1, mapReduce<DML_REDUCE_FUNCTION_SUM>},
    {kOnnx, "ReduceSumSquare", 1, mapReduce<DML_REDUCE_FUNCTION_SUM_SQUARE>},
    {kOnnx, "TopK", 1, mapTopK},
};

}  // namespace

std::span<const Mapping> reductionMappings() { return kReductionMappings; }

}  // namespace dimple::onnx
