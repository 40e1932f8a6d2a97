// Gathering, scattering, and finding.
#include <optional>

#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {
namespace {

Value indices(GraphBuilder& graph, const Value& value) {
  if (isFloat(value.type) || value.type == Type::Bool || traits(value.type).deviceBytes < 4)
    return cast(graph, value, Type::Int64);
  return value;
}

Sizes joined(std::initializer_list<std::span<const int64_t>> parts) {
  Sizes sizes;
  for (const auto& part : parts) sizes.insert(sizes.end(), part.begin(), part.end());
  return sizes;
}

Sizes leadingOnes(const Sizes& sizes, size_t rank) {
  Sizes padded(rank - std::min(rank, sizes.size()), 1);
  padded.insert(padded.end(), sizes.begin(), sizes.end());
  return padded;
}

// The place on an axis that an index of one element is; no value if it is not known, or lies outside.
std::optional<int64_t> knownPlace(const Value& index, int64_t size) {
  if (!index.constant || index.elements() != 1 || isFloat(index.type)) return {};
  const int64_t place = index.constant->integer(0);
  if (place < -size || place >= size) return {};
  return place < 0 ? place + size : place;
}

void mapGather(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  Value index = indices(graph, node.input(1));
  const size_t axis = normalizeAxis(node.attributes().integer("axis", 0), x.rank());
  const std::span<const int64_t> all(x.sizes);
  const Sizes sizes = joined({all.first(axis), index.sizes, all.subspan(axis + 1)});
  if (elementCount(sizes) == 0) return node.setOutput(0, emptyValue(x.type, sizes));
  // A node that reads a slice may read it in place.
  if (const auto place = knownPlace(node.input(1), x.sizes[axis])) {
    Sizes begins(x.rank());
    Sizes part = x.sizes;
    begins[axis] = *place;
    part[axis] = 1;
    return node.setOutput(0, graph.reshape(slice(graph, x, begins, part, Sizes(x.rank(), 1)), sizes));
  }
  if (index.rank() == 0) index = graph.reshape(index, {1});
  const Sizes full = joined({all.first(axis), index.sizes, all.subspan(axis + 1)});
  // All tensors get the same number of dimensions, with leading sizes of 1.
  const size_t rank = std::max(full.size(), x.rank());
  const size_t dimensions = index.rank();
  Op op(graph);
  DML_GATHER_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(graph.padRank(x, rank));
  desc.IndicesTensor = op.input(graph.padRank(index, rank));
  desc.OutputTensor = op.output(x.type, leadingOnes(full, rank));
  desc.Axis = static_cast<UINT>(axis + rank - x.rank());
  desc.IndexDimensions = static_cast<UINT>(dimensions);
  node.setOutput(0, graph.reshape(op.make(DML_OPERATOR_GATHER, desc), sizes));
}

Value gatherElements(GraphBuilder& graph, const Value& x, const Value& index, size_t axis) {
  Op op(graph);
  DML_GATHER_ELEMENTS_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.IndicesTensor = op.input(index);
  desc.OutputTensor = op.output(x.type, index.sizes);
  desc.Axis = static_cast<UINT>(axis);
  return op.make(DML_OPERATOR_GATHER_ELEMENTS, desc);
}

// The first elements of `x` along all axes but one, as many as `index` has.
Value cornerOf(GraphBuilder& graph, const Value& x, const Value& index, size_t axis) {
  Value corner = x;
  if (index.rank() != x.rank())
    throw ModelError(cat("Input 1 has sizes ", listText(index.sizes), ", expected ", x.rank(), " dimensions."));
  for (size_t i = 0; i < x.rank(); ++i) {
    if (i == axis || index.sizes[i] == x.sizes[i]) continue;
    if (index.sizes[i] > x.sizes[i])
      throw ModelError(cat("Input 1 has sizes ", listText(index.sizes), ", expected at most those of input 0, ",
                           listText(x.sizes), "."));
    corner = graph.prefix(corner, i, index.sizes[i]);
  }
  return corner;
}

void mapGatherElements(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const Value index = indices(graph, node.input(1));
  const size_t axis = normalizeAxis(node.attributes().integer("axis", 0), x.rank());
  node.setOutput(0, index.elements() ? gatherElements(graph, cornerOf(graph, x, index, axis), index, axis)
                                     : emptyValue(x.type, index.sizes));
}

// The sizes that the indices of GatherND and ScatterND reach: those of the indices without their last dimension, which
// is a place in the tensor, and of the tensor from that place on.
Sizes reachedSizes(const Value& x, const Value& index, size_t batch) {
  if (index.rank() == 0 || batch >= index.rank() || batch > x.rank() || index.sizes.back() < 1 ||
      index.sizes.back() > static_cast<int64_t>(x.rank() - batch))
    throw ModelError(cat("Indices of sizes ", listText(index.sizes), " and batch_dims ", batch,
                         " do not lead into sizes ", listText(x.sizes), "."));
  const std::span<const int64_t> all(x.sizes);
  const std::span<const int64_t> places(index.sizes);
  return joined({places.first(places.size() - 1), all.subspan(batch + static_cast<size_t>(places.back()))});
}

Value gatherTuples(GraphBuilder& graph, const Value& x, const Value& index, const Sizes& sizes, size_t batch) {
  const size_t rank = std::max({x.rank(), index.rank(), sizes.size()});
  Op op(graph);
  DML_GATHER_ND1_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(graph.padRank(x, rank));
  desc.IndicesTensor = op.input(graph.padRank(index, rank));
  desc.OutputTensor = op.output(x.type, leadingOnes(sizes, rank));
  desc.InputDimensionCount = static_cast<UINT>(x.rank());
  desc.IndicesDimensionCount = static_cast<UINT>(index.rank());
  desc.BatchDimensionCount = static_cast<UINT>(batch);
  return graph.reshape(op.make(DML_OPERATOR_GATHER_ND1, desc), sizes);
}

void mapGatherND(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const Value index = indices(graph, node.input(1));
  const auto batch = static_cast<size_t>(std::max<int64_t>(node.attributes().integer("batch_dims", 0), 0));
  if (index.elements() == 0 && index.rank() > 0 && index.sizes.back() != 0)
    return node.setOutput(0, emptyValue(x.type, reachedSizes(x, index, batch)));
  const Sizes sizes = reachedSizes(x, index, batch);
  node.setOutput(0, gatherTuples(graph, x, index, sizes, batch));
}

using Combine = Value (*)(GraphBuilder&, const Value&, const Value&);

// Null: updates replace what is there.
Combine reductionOf(const NodeContext& node) {
  const std::string reduction = node.attributes().text("reduction", "none");
  if (reduction == "none") return nullptr;
  if (reduction == "add") return add;
  if (reduction == "mul") return multiply;
  if (reduction == "min") return minimum;
  if (reduction == "max") return maximum;
  throw ModelError(cat("Attribute reduction is \"", reduction, "\", expected none, add, mul, min or max."));
}

// DirectML scatters without a reduction, and leaves open which of several updates of an element counts: with one,
// places are updated one after the other.
constexpr int64_t kMaxSteps = 256;

void checkSteps(int64_t steps) {
  if (steps > kMaxSteps)
    throw ModelError(cat("It reduces in ", steps, " steps, expected at most ", kMaxSteps,
                         ": DirectML scatters without a reduction."));
}

Value scatter(GraphBuilder& graph, const Value& x, const Value& index, const Value& updates, size_t axis) {
  Op op(graph);
  DML_SCATTER_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.IndicesTensor = op.input(index);
  desc.UpdatesTensor = op.input(updates);
  desc.OutputTensor = op.output(x.type, x.sizes);
  desc.Axis = static_cast<UINT>(axis);
  return op.make(DML_OPERATOR_SCATTER, desc);
}

// The part of `value` from `begin` on along an axis, of the sizes given.
Value part(GraphBuilder& graph, const Value& value, size_t axis, int64_t begin, const Sizes& sizes) {
  Sizes begins(sizes.size(), 0);
  begins[axis] = begin;
  return slice(graph, value, begins, sizes, Sizes(sizes.size(), 1));
}

Value scatterReduced(GraphBuilder& graph, Value x, const Value& index, const Value& updates, size_t axis,
                     Combine combine) {
  checkSteps(index.sizes[axis]);
  Sizes one = index.sizes;
  one[axis] = 1;
  for (int64_t i = 0; i < index.sizes[axis]; ++i) {
    const Value places = part(graph, index, axis, i, one);
    const Value reduced = combine(graph, gatherElements(graph, x, places, axis), part(graph, updates, axis, i, one));
    x = scatter(graph, x, places, reduced, axis);
  }
  return x;
}

// DirectML takes at most as many indices along the axis as there are elements; what follows is scattered after them.
Value scatterInTurn(GraphBuilder& graph, Value x, const Value& index, const Value& updates, size_t axis) {
  for (int64_t begin = 0; begin < index.sizes[axis]; begin += x.sizes[axis]) {
    Sizes sizes = index.sizes;
    sizes[axis] = std::min(x.sizes[axis], index.sizes[axis] - begin);
    x = scatter(graph, x, part(graph, index, axis, begin, sizes), part(graph, updates, axis, begin, sizes), axis);
  }
  return x;
}

void mapScatterElements(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const Value& updates = node.input(2);
  const Value index = indices(graph, node.input(1));
  const Combine combine = reductionOf(node);
  const size_t axis = normalizeAxis(node.attributes().integer("axis", 0), x.rank());
  if (index.elements() == 0) return node.setOutput(0, x);
  if (index.sizes != updates.sizes)
    throw ModelError(cat("Inputs 1 and 2 have sizes ", listText(index.sizes), " and ", listText(updates.sizes),
                         ", expected the same."));
  // Updates may be of a corner of the tensor, which is put back where it was.
  Value result = cornerOf(graph, x, index, axis);
  Sizes corner = result.sizes;
  result = combine ? scatterReduced(graph, result, index, updates, axis, combine)
                   : scatterInTurn(graph, result, index, updates, axis);
  for (size_t i = corner.size(); i-- > 0;) {
    if (corner[i] == x.sizes[i]) continue;
    Sizes rest = corner;
    rest[i] = x.sizes[i] - corner[i];
    result = join(graph, {result, part(graph, x, i, corner[i], rest)}, i);
    corner[i] = x.sizes[i];
  }
  node.setOutput(0, result);
}

Value scatterTuples(GraphBuilder& graph, const Value& x, const Value& index, const Value& updates) {
  const size_t rank = std::max({x.rank(), index.rank(), updates.rank()});
  const Value padded = graph.padRank(x, rank);
  Op op(graph);
  DML_SCATTER_ND_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(padded);
  desc.IndicesTensor = op.input(graph.padRank(index, rank));
  desc.UpdatesTensor = op.input(graph.padRank(updates, rank));
  desc.OutputTensor = op.output(x.type, padded.sizes);
  desc.InputDimensionCount = static_cast<UINT>(x.rank());
  desc.IndicesDimensionCount = static_cast<UINT>(index.rank());
  return graph.reshape(op.make(DML_OPERATOR_SCATTER_ND, desc), x.sizes);
}

void mapScatterND(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  Value x = node.input(0);
  const Value index = indices(graph, node.input(1));
  const Value& updates = node.input(2);
  const Combine combine = reductionOf(node);
  if (index.elements() == 0) return node.setOutput(0, x);
  const Sizes sizes = reachedSizes(x, index, 0);
  if (sizes != updates.sizes)
    throw ModelError(cat("Input 2 has sizes ", listText(updates.sizes), ", expected ", listText(sizes), "."));
  if (!combine) return node.setOutput(0, scatterTuples(graph, x, index, updates));
  const int64_t length = index.sizes.back();
  const int64_t count = index.elements() / length;
  checkSteps(count);
  const Value tuples = graph.reshape(index, {count, length});
  const Sizes inner(x.sizes.begin() + length, x.sizes.end());
  Sizes flat = {count};
  flat.insert(flat.end(), inner.begin(), inner.end());
  const Value values = graph.reshape(updates, flat);
  flat[0] = 1;
  for (int64_t i = 0; i < count; ++i) {
    const Value tuple = part(graph, tuples, 0, i, {1, length});
    x = scatterTuples(graph, x, tuple,
                      combine(graph, gatherTuples(graph, x, tuple, flat, 0), part(graph, values, 0, i, flat)));
  }
  node.setOutput(0, x);
}

void mapOneHot(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value index = indices(graph, node.input(0));
  if (!node.knows(1)) return;
  const int64_t depth = node.scalarConstant(1).integer(0);
  const Value& values = node.input(2);
  if (depth < 1) throw ModelError(cat("Its depth is ", depth, ", expected at least 1."));
  const size_t axis = normalizeAxis(node.attributes().integer("axis", -1), index.rank() + 1);
  Sizes sizes = index.sizes;
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  const Value places = graph.reshape(index, sizes);
  sizes[axis] = depth;
  Op op(graph);
  DML_ONE_HOT_OPERATOR_DESC desc{};
  desc.IndicesTensor = op.input(places);
  desc.ValuesTensor = op.input(values);
  desc.OutputTensor = op.output(values.type, sizes);
  desc.Axis = static_cast<UINT>(axis);
  node.setOutput(0, op.make(DML_OPERATOR_ONE_HOT, desc));
}

// There are as many coordinates as elements. The second output counts those that are found.
void mapNonZeroCoordinates(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  Value x = node.input(0);
  if (x.elements() == 0) {
    node.setOutput(0, emptyValue(Type::UInt32, {0, static_cast<int64_t>(x.rank())}));
    node.setOutput(1, hostValue(integerTensor(Type::UInt32, Sizes{0})));
    return;
  }
  if (x.type == Type::Int64 || x.type == Type::UInt64) x = cast(graph, x, Type::Bool);
  const int64_t dimensions = std::max<int64_t>(static_cast<int64_t>(x.rank()), 1);
  Op op(graph);
  DML_NONZERO_COORDINATES_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.OutputCountTensor = op.output(Type::UInt32, {1});
  desc.OutputCoordinatesTensor = op.output(Type::UInt32, {x.elements(), dimensions});
  op.make(DML_OPERATOR_NONZERO_COORDINATES, desc);
  node.setOutput(0, op.result(1));
  node.setOutput(1, op.result(0));
}

void mapNonZeroPrefix(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& coordinates = node.input(0);
  if (!node.knows(1)) return;
  const int64_t count = node.scalarConstant(1).integer(0);
  if (count == 0) return node.setOutput(0, emptyValue(Type::Int64, {coordinates.sizes[1], 0}));
  node.setOutput(0, cast(graph, graph.transpose(graph.prefix(coordinates, 0, count), {1, 0}), Type::Int64));
}

constexpr Mapping kIndexingMappings[] = {
    {kOnnx, "Gather", 1, mapGather},
    {kOnnx, "GatherElements", 11, mapGatherElements},
    {kOnnx, "GatherND", 11, mapGatherND},
    {kMicrosoft, "GatherND", 1, mapGatherND},
    {kInternalDomain.data(), "NonZeroCoordinates", 1, mapNonZeroCoordinates},
    {kInternalDomain.data(), "NonZeroPrefix", 1, mapNonZeroPrefix},
    {kOnnx, "OneHot", 9, mapOneHot},
    {kOnnx, "Scatter", 9, mapScatterElements},
    {kOnnx, "ScatterElements", 11, mapScatterElements},
    {kOnnx, "ScatterND", 11, mapScatterND},
};

}  // namespace

std::span<const Mapping> indexingMappings() { return kIndexingMappings; }

}  // namespace dimple::onnx
