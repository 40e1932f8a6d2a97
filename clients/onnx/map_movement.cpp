// Operators that move elements without looking at them.
#include <limits>

#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {
namespace {

void mapConcat(NodeContext& node) {
  std::vector<Value> values;
  for (size_t i = 0; i < node.inputCount(); ++i) values.push_back(node.input(i));
  if (values.empty()) throw ModelError("It has no inputs.");
  const size_t axis = normalizeAxis(node.attributes().integer("axis", 1), values[0].rank());
  node.setOutput(0, join(node.graph(), values, axis));
}

// Values of the same sizes along a new first axis.
void mapStack(NodeContext& node) {
  std::vector<Value> values;
  for (size_t i = 0; i < node.inputCount(); ++i) {
    Sizes sizes = node.input(i).sizes;
    sizes.insert(sizes.begin(), 1);
    values.push_back(node.graph().reshape(node.input(i), sizes));
  }
  node.setOutput(0, join(node.graph(), values, 0));
}

void mapSplit(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const size_t axis = normalizeAxis(node.attributes().integer("axis", 0), x.rank());
  const int64_t size = x.sizes[axis];
  if (!node.knows("split", 1)) return;
  auto parts = node.integers("split", 1);
  if (!parts) {
    const int64_t count = node.attributes().integer("num_outputs", static_cast<int64_t>(node.outputCount()));
    if (count <= 0 || count > std::max<int64_t>(static_cast<int64_t>(node.outputCount()), size))
      throw ModelError(cat("It is split into ", count, " parts, expected 1 to ", size, "."));
    const int64_t part = (size + count - 1) / count;
    parts.emplace();
    for (int64_t i = 0, left = size; i < count; ++i, left -= part)
      parts->push_back(std::max<int64_t>(std::min(part, left), 0));
  }
  int64_t sum = 0;
  for (const int64_t part : *parts) sum += std::clamp<int64_t>(part, -1, size + 1);
  const bool negative = std::ranges::any_of(*parts, [](int64_t part) { return part < 0; });
  if (negative || parts->size() < node.outputCount() || sum != size)
    throw ModelError(
        cat("A dimension of ", size, " is split into ", listText(*parts), " for ", node.outputCount(), " outputs."));
  Op op(graph);
  std::vector<DML_TENSOR_DESC> outputs;
  std::vector<size_t> places(parts->size());
  DML_SPLIT_OPERATOR_DESC desc{};
  desc.InputTensor = size ? op.input(x) : nullptr;
  for (size_t i = 0; i < parts->size(); ++i) {
    Sizes sizes = x.sizes;
    sizes[axis] = (*parts)[i];
    places[i] = outputs.size();
    if (elementCount(sizes) == 0)
      node.setOutput(i, emptyValue(x.type, sizes));
    else
      outputs.push_back(*op.output(x.type, sizes));
  }
  if (outputs.empty()) return;
  desc.OutputCount = static_cast<UINT>(outputs.size());
  desc.OutputTensors = outputs.data();
  desc.Axis = static_cast<UINT>(axis);
  op.make(DML_OPERATOR_SPLIT, desc);
  for (size_t i = 0; i < parts->size(); ++i)
    if ((*parts)[i]) node.setOutput(i, op.result(places[i]));
}

void mapSlice(NodeContext& node) {
  const Value& x = node.input(0);
  if (!node.knows("starts", 1) || !node.knows("ends", 2)) return;
  const auto starts = node.integers("starts", 1);
  const auto ends = node.integers("ends", 2);
  if (!starts || !ends || starts->size() != ends->size()) throw ModelError("Its starts and ends differ in number.");
  if (!node.knows("axes", 3) || !node.knows("steps", 4)) return;
  auto axes = node.integers("axes", 3);
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<int64_t>(i));
  }
  const auto steps = node.integers("steps", 4);
  if (axes->size() != starts->size() || (steps && steps->size() != starts->size()))
    throw ModelError("Its axes or steps differ in number from its starts.");
  Sizes begins(x.rank(), 0);
  Sizes sizes = x.sizes;
  Sizes strides(x.rank(), 1);
  for (size_t i = 0; i < starts->size(); ++i) {
    const size_t axis = normalizeAxis((*axes)[i], x.rank());
    const int64_t size = x.sizes[axis];
    const int64_t step = steps ? (*steps)[i] : 1;
    if (step == 0 || step == std::numeric_limits<int64_t>::min())
      throw ModelError(cat("A step is ", step, ", expected another number."));
    const auto place = [&](int64_t value, int64_t least, int64_t most) {
      if (value < 0 && value >= -size)
        value += size;
      else if (value < -size)
        value = least;
      return std::clamp(value, least, most);
    };
    strides[axis] = step;
    if (size == 0) continue;
    // Downwards -1 stands before the first element.
    const int64_t begin = step > 0 ? place((*starts)[i], 0, size) : place((*starts)[i], 0, size - 1);
    // The end of everything is the beginning downwards.
    const bool unbounded = (*ends)[i] >= std::numeric_limits<int32_t>::max();
    const int64_t end = step > 0 ? place((*ends)[i], 0, size) : unbounded ? -1 : place((*ends)[i], -1, size - 1);
    const int64_t distance = step > 0 ? end - begin : begin - end;
    const int64_t magnitude = std::abs(step);
    begins[axis] = begin;
    sizes[axis] = distance <= 0 ? 0 : (distance - 1) / magnitude + 1;
  }
  node.setOutput(0, slice(node.graph(), x, begins, sizes, strides));
}

DML_PADDING_MODE paddingMode(const std::string& mode) {
  if (mode == "constant") return DML_PADDING_MODE_CONSTANT;
  if (mode == "edge") return DML_PADDING_MODE_EDGE;
  if (mode == "reflect") return DML_PADDING_MODE_REFLECTION;
  if (mode == "wrap") return DML_PADDING_MODE_WRAP;
  throw ModelError(cat("Attribute mode is \"", mode, "\", expected constant, edge, reflect or wrap."));
}

void pad(NodeContext& node, const HostTensor& padding) {
  GraphBuilder& graph = node.graph();
  Value x = node.input(0);
  if (!node.knows("pads", 1)) return;
  const auto given = node.integers("pads", 1);
  if (!given) throw ModelError("It has no pads, expected some.");
  if (!node.knows(3)) return;
  Sizes axes;
  if (node.has(3))
    axes = node.constant(3).integers();
  else
    for (size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (given->size() != 2 * axes.size())
    throw ModelError(cat("Its pads are ", given->size(), " numbers, expected ", 2 * axes.size(), "."));
  Sizes before(x.rank(), 0);
  Sizes after(x.rank(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = normalizeAxis(axes[i], x.rank());
    before[axis] = (*given)[i];
    after[axis] = (*given)[axes.size() + i];
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    if (std::abs(before[axis] / 2) > kMax || std::abs(after[axis] / 2) > kMax)
      throw ModelError(cat("Its pads are ", listText(*given), ", expected less than 2^32."));
  }
  // Negative pads crop.
  Sizes begins(x.rank(), 0);
  Sizes sizes = x.sizes;
  Sizes padded = x.sizes;
  for (size_t i = 0; i < x.rank(); ++i) {
    begins[i] = std::max<int64_t>(-before[i], 0);
    sizes[i] -= begins[i] + std::max<int64_t>(-after[i], 0);
    padded[i] += before[i] + after[i];
    if (padded[i] < 0 || sizes[i] < 0)
      throw ModelError(cat("Its pads ", listText(*given), " leave nothing of sizes ", listText(x.sizes), "."));
    before[i] = std::max<int64_t>(before[i], 0);
    after[i] = std::max<int64_t>(after[i], 0);
  }
  if (elementCount(padded) == 0 || x.rank() == 0) {
    node.setOutput(0, x.rank() == 0 ? x : emptyValue(x.type, padded));
    return;
  }
  const std::string mode = node.attributes().text("mode", "constant");
  if (elementCount(sizes) == 0 && mode == "constant") {
    node.setOutput(0, fill(graph, x.type, padded, padding));
    return;
  }
  x = slice(graph, x, begins, sizes, Sizes(x.rank(), 1));
  const std::vector<UINT> start = toUints(before);
  const std::vector<UINT> end = toUints(after);
  Op op(graph);
  DML_PADDING1_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.OutputTensor = op.output(x.type, padded);
  desc.PaddingMode = paddingMode(mode);
  desc.PaddingValueDataType = traits(x.type).device;
  desc.PaddingValue = scalarUnion(x.type, padding);
  desc.DimensionCount = static_cast<UINT>(x.rank());
  desc.StartPadding = start.data();
  desc.EndPadding = end.data();
  node.setOutput(0, op.make(DML_OPERATOR_PADDING1, desc));
}

void mapPadAttributes(NodeContext& node) {
  pad(node, scalarTensor(Type::Float, static_cast<double>(node.attributes().real("value", 0))));
}

void mapPad(NodeContext& node) {
  if (node.knows(2)) pad(node, node.has(2) ? node.constant(2) : scalarTensor(node.input(0).type, 0));
}

void mapTile(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  if (!node.knows(1)) return;
  const Sizes repeats = node.constant(1).integers();
  if (repeats.size() != x.rank())
    throw ModelError(cat("Its repeats are ", listText(repeats), ", expected ", x.rank(), " numbers."));
  Sizes sizes = x.sizes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (repeats[i] < 0) throw ModelError(cat("Its repeats are ", listText(repeats), ", expected none below 0."));
    sizes[i] = elementCount(Sizes{sizes[i], repeats[i]});
  }
  if (elementCount(sizes) == 0 || x.rank() == 0) {
    node.setOutput(0, x.rank() == 0 ? x : emptyValue(x.type, sizes));
    return;
  }
  const std::vector<UINT> counts = toUints(repeats);
  Op op(graph);
  DML_TILE_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.OutputTensor = op.output(x.type, sizes);
  desc.RepeatsCount = static_cast<UINT>(counts.size());
  desc.Repeats = counts.data();
  node.setOutput(0, op.make(DML_OPERATOR_TILE, desc));
}

UINT blockSize(const NodeContext& node) {
  const int64_t size = node.attributes().integer("blocksize", 0);
  if (size < 1 || size > 65536 || node.input(0).rank() != 4)
    throw ModelError(cat("Attribute blocksize is ", size, " for sizes ", listText(node.input(0).sizes),
                         ", expected 1 to 65536 and four dimensions."));
  return static_cast<UINT>(size);
}

void mapDepthToSpace(NodeContext& node) {
  const Value& x = node.input(0);
  DML_DEPTH_TO_SPACE1_OPERATOR_DESC desc{};
  desc.BlockSize = blockSize(node);
  const std::string mode = node.attributes().text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") throw ModelError(cat("Attribute mode is \"", mode, "\", expected DCR or CRD."));
  desc.Order = mode == "DCR" ? DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW : DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH;
  const int64_t block = desc.BlockSize;
  Op op(node.graph());
  desc.InputTensor = op.input(x);
  desc.OutputTensor =
      op.output(x.type, {x.sizes[0], x.sizes[1] / (block * block), x.sizes[2] * block, x.sizes[3] * block});
  node.setOutput(0, op.make(DML_OPERATOR_DEPTH_TO_SPACE1, desc));
}

void mapSpaceToDepth(NodeContext& node) {
  const Value& x = node.input(0);
  DML_SPACE_TO_DEPTH1_OPERATOR_DESC desc{};
  desc.BlockSize = blockSize(node);
  desc.Order = DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW;
  const int64_t block = desc.BlockSize;
  Op op(node.graph());
  desc.InputTensor = op.input(x);
  desc.OutputTensor =
      op.output(x.type, {x.sizes[0], x.sizes[1] * block * block, x.sizes[2] / block, x.sizes[3] / block});
  node.setOutput(0, op.make(DML_OPERATOR_SPACE_TO_DEPTH1, desc));
}

void mapReverseSequence(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const size_t batch = normalizeAxis(node.attributes().integer("batch_axis", 1), x.rank());
  const size_t time = normalizeAxis(node.attributes().integer("time_axis", 0), x.rank());
  Sizes lengthSizes(x.rank(), 1);
  lengthSizes[batch] = x.sizes[batch];
  Sizes wanted = x.sizes;
  wanted[time] = 1;
  const Value lengths = graph.broadcast(
      graph.reshape(graph.reinterpret(cast(graph, node.input(1), Type::Int64), Type::UInt64), lengthSizes), wanted);
  Op op(graph);
  DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.SequenceLengthsTensor = op.input(lengths);
  desc.OutputTensor = op.output(x.type, x.sizes);
  desc.Axis = static_cast<UINT>(time);
  node.setOutput(0, op.make(DML_OPERATOR_REVERSE_SUBSEQUENCES, desc));
}

void mapTrilu(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  Value x = node.input(0);
  if (x.rank() < 2) throw ModelError(cat("Input 0 has sizes ", listText(x.sizes), ", expected two dimensions."));
  if (x.elements() == 0) return node.setOutput(0, x);
  const Sizes sizes = x.sizes;
  const int64_t reach = sizes[sizes.size() - 2] + sizes.back();
  if (!node.knows(1)) return;
  const int64_t diagonal = std::clamp(node.has(1) ? node.scalarConstant(1).integer(0) : 0, -reach, reach);
  if (x.rank() > 4)
    x = graph.reshape(x,
                      {x.elements() / sizes[sizes.size() - 2] / sizes.back(), sizes[sizes.size() - 2], sizes.back()});
  Op op(graph);
  DML_DIAGONAL_MATRIX1_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.OutputTensor = op.output(x.type, x.sizes);
  desc.ValueDataType = traits(x.type).device;
  // Zeros replace the other triangle.
  const bool upper = node.attributes().flag("upper", true);
  desc.DiagonalFillBegin = upper ? std::numeric_limits<INT>::min() : static_cast<INT>(diagonal + 1);
  desc.DiagonalFillEnd = upper ? static_cast<INT>(diagonal) : std::numeric_limits<INT>::max();
  node.setOutput(0, graph.reshape(op.make(DML_OPERATOR_DIAGONAL_MATRIX1, desc), sizes));
}

void mapCol2Im(NodeContext& node) {
  const Value& x = node.input(0);
  if (!node.knows(1) || !node.knows(2)) return;
  const Sizes image = node.constant(1).integers();
  const std::vector<UINT> block = toUints(node.constant(2).integers());
  const size_t count = image.size();
  const auto numbers = [&](const char* name, size_t length, int64_t absent) {
    const auto given = node.attributes().integers(name);
    if (given && given->size() != length)
      throw ModelError(cat("Attribute ", name, " has ", given->size(), " numbers, expected ", length, "."));
    return toUints(given ? *given : Sizes(length, absent));
  };
  if (x.rank() != 3 || block.size() != count)
    throw ModelError(cat("Input 0 has sizes ", listText(x.sizes), " and blocks of ", block.size(),
                         " dimensions, expected three and ", count, "."));
  const std::vector<UINT> strides = numbers("strides", count, 1);
  const std::vector<UINT> dilations = numbers("dilations", count, 1);
  const std::vector<UINT> pads = numbers("pads", 2 * count, 0);
  int64_t blockElements = 1;
  for (const UINT size : block) blockElements *= size;
  Sizes sizes = {x.sizes[0], x.sizes[1] / std::max<int64_t>(blockElements, 1)};
  sizes.insert(sizes.end(), image.begin(), image.end());
  Op op(node.graph());
  DML_FOLD_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.OutputTensor = op.output(x.type, sizes);
  desc.DimensionCount = static_cast<UINT>(count);
  desc.WindowSizes = block.data();
  desc.Strides = strides.data();
  desc.Dilations = dilations.data();
  desc.StartPadding = pads.data();
  desc.EndPadding = pads.data() + count;
  node.setOutput(0, op.make(DML_OPERATOR_FOLD, desc));
}

constexpr Mapping kMovementMappings[] = {
    {kOnnx, "Col2Im", 18, mapCol2Im},
    {kOnnx, "Concat", 4, mapConcat},
    {kOnnx, "DepthToSpace", 1, mapDepthToSpace},
    {kOnnx, "Pad", 2, mapPadAttributes},
    {kOnnx, "Pad", 11, mapPad},
    {kOnnx, "ReverseSequence", 10, mapReverseSequence},
    {kOnnx, "Slice", 1, mapSlice},
    {kOnnx, "SpaceToDepth", 1, mapSpaceToDepth},
    {kOnnx, "Split", 2, mapSplit},
    {kInternalDomain.data(), "Stack", 1, mapStack},
    {kOnnx, "Tile", 6, mapTile},
    {kOnnx, "Trilu", 14, mapTrilu},
};

}  // namespace

std::span<const Mapping> movementMappings() { return kMovementMappings; }

}  // namespace dimple::onnx
