// Pooling, its inverse, and regions of images.
#include <limits>

#include "clients/onnx/window.h"

namespace dimple::onnx {
namespace {

using UnsignedSizes = std::vector<UINT>;

// DirectML pools images and volumes: a line is an image of one row.
struct Pool {
  Value x;
  Window window;
  Sizes sizes;             // of the output, as ONNX has it
  Sizes dmlSizes;          // as DirectML has it
  UnsignedSizes overhang;  // how far the last windows reach over the padding; part of window.end
};

Sizes withRow(const Sizes& sizes) { return {sizes[0], sizes[1], 1, sizes[2]}; }

Pool readPool(NodeContext& node, const Value& x, bool global) {
  Pool pool;
  pool.x = x;
  const Sizes inputSizes = pool.x.sizes;
  if (inputSizes.size() < 3)
    throw ModelError(cat("Input 0 has sizes ", listText(inputSizes), ", expected three dimensions and more."));
  if (global) {
    const size_t rank = inputSizes.size() - 2;
    pool.window.sizes = toUints(Sizes(inputSizes.begin() + 2, inputSizes.end()));
    pool.window.strides = pool.window.dilations = toUints(Sizes(rank, 1));
    pool.window.start = pool.window.end = toUints(Sizes(rank, 0));
  } else {
    const auto sizes = node.attributes().integers("kernel_shape");
    if (!sizes) throw ModelError("Attribute kernel_shape is absent.");
    pool.window = readWindow(node, inputSizes, *sizes);
  }
  const bool ceil = node.attributes().flag("ceil_mode");
  pool.sizes = {inputSizes[0], inputSizes[1]};
  for (size_t i = 0; i < pool.window.rank(); ++i) {
    const int64_t count = windowCount(pool.window, inputSizes, i, ceil);
    pool.sizes.push_back(count);
    // DirectML has as many windows as fit.
    const int64_t reached = (count - 1) * pool.window.strides[i] + pool.window.reach(i);
    const int64_t there = inputSizes[i + 2] + pool.window.start[i];
    const int64_t overhang = std::max<int64_t>(reached - there - pool.window.end[i], 0);
    pool.overhang.push_back(static_cast<UINT>(overhang));
    pool.window.end[i] += pool.overhang[i];
  }
  pool.dmlSizes = pool.sizes;
  if (inputSizes.size() == 3) {
    pool.x = node.graph().reshape(pool.x, withRow(inputSizes));
    pool.window.addLeadingAxis();
    pool.overhang.insert(pool.overhang.begin(), 0);
    pool.dmlSizes = withRow(pool.sizes);
  }
  return pool;
}

template <class Desc>
void setWindow(Desc& desc, const Window& window) {
  desc.DimensionCount = static_cast<UINT>(window.rank());
  desc.Strides = window.strides.data();
  desc.WindowSize = window.sizes.data();
  desc.StartPadding = window.start.data();
  desc.EndPadding = window.end.data();
  desc.Dilations = window.dilations.data();
}

template <bool global>
void mapAveragePool(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  Pool pool = readPool(node, node.input(0), global);
  bool includePadding = !global && node.attributes().flag("count_include_pad");
  if (includePadding && pool.overhang != UnsignedSizes(pool.window.rank(), 0)) {
    // Elements that windows reach behind the padding are not counted, so the padding becomes part of the image.
    std::vector<UINT> start(2, 0), end(2, 0);
    for (size_t i = 0; i < pool.window.rank(); ++i) {
      start.push_back(pool.window.start[i]);
      end.push_back(pool.window.end[i] - pool.overhang[i]);
    }
    pool.x = padConstant(graph, pool.x, start, end, {});
    pool.window.start.assign(pool.window.rank(), 0);
    pool.window.end = pool.overhang;
    includePadding = false;
  }
  Op op(graph);
  DML_AVERAGE_POOLING1_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(pool.x);
  desc.OutputTensor = op.output(pool.x.type, pool.dmlSizes);
  setWindow(desc, pool.window);
  desc.IncludePadding = includePadding;
  node.setOutput(0, graph.reshape(op.make(DML_OPERATOR_AVERAGE_POOLING1, desc), pool.sizes));
}

template <bool global>
void mapQLinearAveragePool(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const size_t rank = node.input(0).rank();
  // Channels may come last, which is another order of the same dimensions.
  std::vector<size_t> toFirst = identityOrder(rank), toLast = toFirst;
  const bool channelsLast = node.attributes().flag("channels_last") && rank > 2;
  if (channelsLast) {
    std::rotate(toFirst.begin() + 1, toFirst.end() - 1, toFirst.end());
    std::rotate(toLast.begin() + 1, toLast.begin() + 2, toLast.end());
  }
  const Pool pool = readPool(node, graph.transpose(node.input(0), toFirst), global);
  const auto number = [&](size_t index) {
    return node.has(index) ? std::optional(graph.reshape(node.input(index), {1})) : std::nullopt;
  };
  const auto scale = number(1), zero = number(2), outputScale = number(3), outputZero = number(4);
  Op op(graph);
  DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(pool.x);
  desc.InputScaleTensor = op.optionalInput(scale);
  desc.InputZeroPointTensor = op.optionalInput(zero);
  desc.OutputScaleTensor = op.optionalInput(outputScale);
  desc.OutputZeroPointTensor = op.optionalInput(outputZero);
  desc.OutputTensor = op.output(pool.x.type, pool.dmlSizes);
  setWindow(desc, pool.window);
  desc.IncludePadding = !global && node.attributes().flag("count_include_pad");
  const Value y = graph.reshape(op.make(DML_OPERATOR_QUANTIZED_LINEAR_AVERAGE_POOLING, desc), pool.sizes);
  node.setOutput(0, graph.transpose(y, toLast));
}

template <bool global>
void mapLpPool(NodeContext& node) {
  const Pool pool = readPool(node, node.input(0), global);
  Op op(node.graph());
  DML_LP_POOLING1_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(pool.x);
  desc.OutputTensor = op.output(pool.x.type, pool.dmlSizes);
  setWindow(desc, pool.window);
  desc.P = toUints(Sizes{node.attributes().integer("p", 2)})[0];
  node.setOutput(0, node.graph().reshape(op.make(DML_OPERATOR_LP_POOLING1, desc), pool.sizes));
}

// Which windows have no element of the image, if any.
std::optional<Value> emptyWindows(GraphBuilder& graph, const Pool& pool) {
  const Window& window = pool.window;
  std::optional<Value> result;
  for (size_t i = 0; i < window.rank(); ++i) {
    Sizes sizes(pool.dmlSizes.size(), 1);
    sizes[i + 2] = pool.dmlSizes[i + 2];
    HostTensor along(Type::Bool, sizes);
    bool any = false;
    for (int64_t place = 0; place < pool.dmlSizes[i + 2]; ++place) {
      const int64_t first = place * window.strides[i] - int64_t{window.start[i]};
      bool empty = true;
      for (int64_t k = 0; empty && k < window.sizes[i]; ++k) {
        const int64_t at = first + k * window.dilations[i];
        empty = at < 0 || at >= pool.x.sizes[i + 2];
      }
      along.setInteger(static_cast<size_t>(place), empty);
      any = any || empty;
    }
    if (!any) continue;
    const Value these = hostValue(std::move(along));
    result = result ? binary<DML_ELEMENT_WISE_LOGICAL_OR_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_LOGICAL_OR,
                                                                        *result, these, Type::Bool)
                    : these;
  }
  return result;
}

// Places that count the last dimension fastest as places that count the first one of an image so.
Value columnMajorPlaces(GraphBuilder& graph, const Value& places, const Sizes& sizes) {
  const int64_t image = elementCount(Sizes(sizes.begin() + 2, sizes.end()));
  Value rest = places;
  Value result;
  int64_t stride = image;
  for (size_t axis = sizes.size(); axis-- > 2;) {
    const Value size = integerScalar(sizes[axis]);
    const Value coordinate = binary<DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC>(
        graph, DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, rest, size, Type::Int64);
    rest = divide(graph, subtract(graph, rest, coordinate), size);
    stride /= sizes[axis];
    const Value part = multiply(graph, coordinate, integerScalar(stride));
    result = axis + 1 == sizes.size() ? part : add(graph, result, part);
  }
  return add(graph, result, multiply(graph, rest, integerScalar(image)));
}

template <bool global>
void mapMaxPool(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Pool pool = readPool(node, node.input(0), global);
  const bool places = node.wants(1);
  Op op(graph);
  DML_MAX_POOLING2_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(pool.x);
  desc.OutputTensor = op.output(pool.x.type, pool.dmlSizes);
  desc.OutputIndicesTensor = places ? op.output(Type::UInt64, pool.dmlSizes) : op.absentOutput();
  setWindow(desc, pool.window);
  Value y = op.make(DML_OPERATOR_MAX_POOLING2, desc);
  const std::optional<Value> empty = emptyWindows(graph, pool);
  // The largest of no elements is the least number.
  if (empty && isFloat(y.type))
    y = select(graph, *empty, scalar(y.type, y.type == Type::Float16 ? -65504.0 : -0x1.fffffep127), y);
  node.setOutput(0, graph.reshape(y, pool.sizes));
  if (!places) return;
  Value at = graph.reinterpret(op.result(1), Type::Int64);
  if (empty) at = select(graph, *empty, scalar(Type::Int64, -1), at);
  const Value rowMajor = graph.reshape(at, pool.sizes);
  const bool columnMajor = node.attributes().integer("storage_order", 0) != 0;
  node.setOutput(1, columnMajor ? columnMajorPlaces(graph, rowMajor, node.input(0).sizes) : rowMajor);
}

// An element's place is the one in the whole output that it counts for, so that any tensor is an image.
void mapMaxUnpool(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const auto sizes = node.attributes().integers("kernel_shape");
  if (!sizes) throw ModelError("Attribute kernel_shape is absent.");
  const Window window = readWindow(node, x.sizes, *sizes);
  Sizes inferred = {x.sizes[0], x.sizes[1]};
  for (size_t i = 0; i < window.rank(); ++i)
    inferred.push_back((x.sizes[i + 2] - 1) * window.strides[i] + window.sizes[i] - window.start[i] - window.end[i]);
  Sizes output = inferred;
  if (!node.knows(2)) return;
  if (node.has(2)) output = node.constant(2).integers();
  Value places = graph.reinterpret(node.input(1), Type::UInt64);
  if (node.input(1).type != Type::Int64) throw ModelError("Input 1 is not int64.");
  if (output.size() != inferred.size())
    throw ModelError(cat("Its output has sizes ", listText(output), ", expected ", inferred.size(), " dimensions."));
  const Sizes flat = {1, 1, 1, x.elements()};
  Op op(graph);
  DML_MAX_UNPOOLING_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(graph.reshape(x, flat));
  desc.IndicesTensor = op.input(graph.reshape(places, flat));
  desc.OutputTensor = op.output(x.type, {1, 1, 1, elementCount(inferred)});
  const Value y = graph.reshape(op.make(DML_OPERATOR_MAX_UNPOOLING, desc), inferred);
  // Places count the sizes that follow from the windows; a larger output has zeros behind them.
  std::vector<UINT> start(output.size(), 0), end;
  for (size_t i = 0; i < output.size(); ++i) {
    if (output[i] < inferred[i])
      throw ModelError(cat("Its output has sizes ", listText(output), ", expected at least ", listText(inferred), "."));
    end.push_back(static_cast<UINT>(output[i] - inferred[i]));
  }
  node.setOutput(0, output == inferred ? y : padConstant(graph, y, start, end, {}));
}

void mapRoiAlign(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const Value& regions = node.input(1);
  const Attributes& attributes = node.attributes();
  const std::string mode = attributes.text("mode", "avg");
  if (mode != "avg" && mode != "max") throw ModelError(cat("Attribute mode is \"", mode, "\", expected avg or max."));
  const std::string coordinates =
      attributes.text("coordinate_transformation_mode", node.opset() < 16 ? "output_half_pixel" : "half_pixel");
  const int64_t samples = attributes.integer("sampling_ratio", 0);
  if (x.rank() != 4 || regions.rank() != 2)
    throw ModelError(cat("Inputs 0 and 1 have sizes ", listText(x.sizes), " and ", listText(regions.sizes),
                         ", expected four and two dimensions."));
  const Sizes sizes = {regions.sizes[0], x.sizes[1], attributes.integer("output_height", 1),
                       attributes.integer("output_width", 1)};
  const Value batches = graph.reinterpret(cast(graph, node.input(2), Type::Int64), Type::UInt64);
  const bool halfPixel = coordinates == "half_pixel";
  const float scale = attributes.real("spatial_scale", 1);
  // Regions are at least an element large where coordinates are those of the older version.
  Value corners = regions;
  if (!halfPixel) {
    const Sizes half = {regions.sizes[0], 2};
    const Value first = slice(graph, regions, {0, 0}, half, {1, 1});
    const Value last = slice(graph, regions, {0, 2}, half, {1, 1});
    corners = join(graph, {first, maximum(graph, last, scaleBias(graph, first, 1, 1 / scale))}, 1);
  }
  Op op(graph);
  DML_ROI_ALIGN1_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.ROITensor = op.input(corners);
  desc.BatchIndicesTensor = op.input(batches);
  desc.OutputTensor = op.output(x.type, sizes);
  desc.ReductionFunction = mode == "max" ? DML_REDUCE_FUNCTION_MAX : DML_REDUCE_FUNCTION_AVERAGE;
  desc.InterpolationMode = DML_INTERPOLATION_MODE_LINEAR;
  desc.SpatialScaleX = desc.SpatialScaleY = scale;
  desc.InputPixelOffset = halfPixel ? 0.5f : 0.0f;
  desc.OutputPixelOffset = -0.5f;
  desc.MinimumSamplesPerOutput = samples > 0 ? toUints(Sizes{samples})[0] : 1;
  desc.MaximumSamplesPerOutput = samples > 0 ? toUints(Sizes{samples})[0] : std::numeric_limits<UINT>::max();
  desc.AlignRegionsToCorners = FALSE;
  node.setOutput(0, op.make(DML_OPERATOR_ROI_ALIGN1, desc));
}

void mapMaxRoiPool(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const Value& regions = node.input(1);
  const auto pooled = node.attributes().integers("pooled_shape");
  if (!pooled || pooled->size() != 2 || x.rank() != 4 || regions.rank() != 2)
    throw ModelError("Its pooled_shape, or an input, does not have two and four dimensions.");
  const std::vector<UINT> size = toUints(*pooled);
  Op op(graph);
  DML_ROI_POOLING_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.ROITensor = op.input(graph.padRank(regions, 4));
  desc.OutputTensor = op.output(x.type, {regions.sizes[0], x.sizes[1], (*pooled)[0], (*pooled)[1]});
  desc.SpatialScale = node.attributes().real("spatial_scale", 1);
  desc.PooledSize = {size[1], size[0]};
  node.setOutput(0, op.make(DML_OPERATOR_ROI_POOLING, desc));
}

constexpr Mapping kPoolingMappings[] = {
    {kOnnx, "AveragePool", 7, mapAveragePool<false>},
    {kOnnx, "GlobalAveragePool", 1, mapAveragePool<true>},
    {kOnnx, "GlobalLpPool", 2, mapLpPool<true>},
    {kOnnx, "GlobalMaxPool", 1, mapMaxPool<true>},
    {kOnnx, "LpPool", 2, mapLpPool<false>},
    {kOnnx, "MaxPool", 1, mapMaxPool<false>},
    {kOnnx, "MaxRoiPool", 1, mapMaxRoiPool},
    {kOnnx, "MaxUnpool", 9, mapMaxUnpool},
    {kMicrosoft, "QLinearAveragePool", 1, mapQLinearAveragePool<false>},
    {kMicrosoft, "QLinearGlobalAveragePool", 1, mapQLinearAveragePool<true>},
    {kOnnx, "RoiAlign", 10, mapRoiAlign},
};

}  // namespace

std::span<const Mapping> poolingMappings() { return kPoolingMappings; }

}  // namespace dimple::onnx
