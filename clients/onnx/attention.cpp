#include "clients/onnx/attention.h"

#include <cmath>

namespace dimple::onnx {

Value counted(const Sizes& sizes) {
  HostTensor numbers(Type::Int64, sizes);
  for (size_t i = 0; i < static_cast<size_t>(numbers.elements()); ++i) numbers.setInteger(i, static_cast<int64_t>(i));
  return hostValue(std::move(numbers));
}

Value splitHeads(GraphBuilder& graph, const Value& value, int64_t heads) {
  if (value.rank() == 4) return value;
  if (value.rank() != 3 || heads < 1 || value.sizes[2] % heads != 0)
    throw ModelError(cat("A tensor has sizes ", listText(value.sizes), " for ", heads,
                         " heads, expected [batch, length, heads * size] or four dimensions."));
  const Value split = graph.reshape(value, {value.sizes[0], value.sizes[1], heads, value.sizes[2] / heads});
  return graph.transpose(split, {0, 2, 1, 3});
}

Value joinHeads(GraphBuilder& graph, const Value& value) {
  return graph.reshape(graph.transpose(value, {0, 2, 1, 3}),
                       {value.sizes[0], value.sizes[2], value.sizes[1] * value.sizes[3]});
}

Value repeatHeads(GraphBuilder& graph, const Value& value, int64_t count) {
  if (value.sizes[1] == count) return value;
  if (count % value.sizes[1] != 0)
    throw ModelError(cat(count, " heads of queries share ", value.sizes[1], " heads of keys, expected a divisor."));
  const Value one = graph.reshape(value, {value.sizes[0], value.sizes[1], 1, value.sizes[2], value.sizes[3]});
  Sizes all = one.sizes;
  all[2] = count / value.sizes[1];
  return graph.reshape(graph.broadcast(one, all), {value.sizes[0], count, value.sizes[2], value.sizes[3]});
}

Value lastPart(GraphBuilder& graph, const Value& value, int64_t begin, int64_t size) {
  Sizes begins(value.rank(), 0);
  Sizes sizes = value.sizes;
  begins.back() = begin;
  sizes.back() = size;
  return slice(graph, value, begins, sizes, Sizes(value.rank(), 1));
}

namespace {

// The two elements of an axis in the opposite order. Chains read what a SPLIT and a JOIN exchange where it lies.
Value exchanged(GraphBuilder& graph, const Value& x, size_t axis) {
  Sizes one = x.sizes;
  one[axis] = 1;
  Op op(graph);
  DML_SPLIT_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  const DML_TENSOR_DESC outputs[] = {*op.output(x.type, one), *op.output(x.type, one)};
  desc.OutputCount = 2;
  desc.OutputTensors = outputs;
  desc.Axis = static_cast<UINT>(axis);
  op.make(DML_OPERATOR_SPLIT, desc);
  return join(graph, {op.result(1), op.result(0)}, axis);
}

}  // namespace

Value rotateHeads(GraphBuilder& graph, const Value& x, const Rotation& rotation) {
  const int64_t size = x.sizes[3], turned = rotation.turned;
  if (turned < 2 || turned % 2 != 0 || turned > size)
    throw ModelError(
        cat(turned, " elements of heads of ", size, " are to be rotated, expected an even number of 2 to ", size, "."));
  // A head's pairs, in two dimensions.
  const size_t axis = rotation.interleaved ? 4 : 3;
  const auto inPairs = [&](const Value& value, int64_t pair, int64_t half) {
    const Sizes& sizes = value.sizes;
    return graph.reshape(value, rotation.interleaved ? Sizes{sizes[0], sizes[1], sizes[2], half, pair}
                                                     : Sizes{sizes[0], sizes[1], sizes[2], pair, half});
  };
  const auto angles = [&](const Value& value) {
    if (value.rank() != 3 || value.sizes[2] * 2 != turned)
      throw ModelError(
          cat("A cache has sizes ", listText(value.sizes), " for places, expected ", turned / 2, " elements each."));
    const Value row = graph.reshape(value, rotation.headsFirst ? Sizes{value.sizes[0], 1, value.sizes[1], turned / 2}
                                                               : Sizes{value.sizes[0], value.sizes[1], 1, turned / 2});
    return inPairs(row, 1, turned / 2);
  };
  HostTensor signs(x.type, rotation.interleaved ? Sizes{1, 2} : Sizes{2, 1});
  signs.setReal(0, -1);
  signs.setReal(1, 1);
  const Value pairs = inPairs(graph.packed(lastPart(graph, x, 0, turned)), 2, turned / 2);
  // The sines with signs are the same for all heads and layers.
  const Value sine = multiply(graph, angles(rotation.sine), hostValue(std::move(signs)));
  const Value turnedPairs =
      add(graph, multiply(graph, pairs, angles(rotation.cosine)), multiply(graph, exchanged(graph, pairs, axis), sine));
  Sizes sizes = x.sizes;
  sizes[3] = turned;
  const Value y = graph.reshape(turnedPairs, sizes);
  return turned == size ? y : join(graph, {y, lastPart(graph, x, turned, size - turned)}, 3);
}

Value rowsOf(GraphBuilder& graph, const Value& cache, const Value& places) {
  if (cache.rank() != 2 || places.rank() != 2)
    throw ModelError(cat("A cache has sizes ", listText(cache.sizes), " and position_ids ", listText(places.sizes),
                         ", expected two dimensions each."));
  Op op(graph);
  DML_GATHER_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(graph.padRank(cache, 3));
  desc.IndicesTensor = op.input(graph.padRank(places, 3));
  desc.OutputTensor = op.output(cache.type, {places.sizes[0], places.sizes[1], cache.sizes[1]});
  desc.Axis = 1;
  desc.IndexDimensions = 2;
  return op.make(DML_OPERATOR_GATHER, desc);
}

Value isLess(GraphBuilder& graph, const Value& a, const Value& b) {
  return binary<DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN, a,
                                                                  b, Type::Bool);
}

Value hide(GraphBuilder& graph, const Value& scores, const Value& visible) {
  return select(graph, visible, scores, scalar(scores.type, -kInfinity));
}

Value bend(GraphBuilder& graph, const Value& scores, float cap) {
  if (cap == 0) return scores;
  const Value bent = unary<DML_ELEMENT_WISE_TANH_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_TANH,
                                                                scaleBias(graph, scores, 1 / cap, 0), scores.type);
  return scaleBias(graph, bent, cap, 0);
}

Value softmaxOf(GraphBuilder& graph, const Scores& scores, const std::optional<Value>& sink) {
  Value all = scores.value;
  const int64_t keys = all.sizes[3];
  if (sink) {
    Sizes one = all.sizes;
    one[3] = 1;
    all = join(graph, {all, graph.broadcast(*sink, one)}, 3);
  }
  const UINT axis = 3;
  DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC desc{};
  desc.AxisCount = 1;
  desc.Axes = &axis;
  const Value weights = lastPart(graph, unary(graph, DML_OPERATOR_ACTIVATION_SOFTMAX1, all, all.type, desc), 0, keys);
  if (!scores.hides) return weights;
  // A query that sees nothing takes nothing.
  const Value nothing =
      unary<DML_ELEMENT_WISE_IS_NAN_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_IS_NAN, weights, Type::Bool);
  return select(graph, nothing, scalar(weights.type, 0), weights);
}

float scaleOfScores(const Attributes& attributes, int64_t headSize) {
  const float given = attributes.real("scale", 0);
  return given != 0 ? given : 1 / std::sqrt(static_cast<float>(headSize));
}

}  // namespace dimple::onnx
