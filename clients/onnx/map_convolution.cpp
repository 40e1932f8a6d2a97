// Convolutions of floats and of integers.
#include <limits>

#include "clients/onnx/window.h"

namespace dimple::onnx {
namespace {

Sizes spatialSizes(const Value& filter) {
  if (filter.rank() < 3)
    throw ModelError(cat("The filter has sizes ", listText(filter.sizes), ", expected three dimensions and more."));
  return {filter.sizes.begin() + 2, filter.sizes.end()};
}

void checkKernelShape(const NodeContext& node, const Sizes& sizes) {
  const auto given = node.attributes().integers("kernel_shape");
  if (given && !given->empty() && *given != sizes)
    throw ModelError(
        cat("Attribute kernel_shape is ", listText(*given), ", expected ", listText(sizes), " as the filter has."));
}

UINT groupCount(const NodeContext& node, const Value& x) {
  const int64_t group = node.attributes().integer("group", 1);
  if (group < 1 || x.rank() < 2 || x.sizes[1] % group != 0)
    throw ModelError(
        cat("Attribute group is ", group, " for sizes ", listText(x.sizes), ", expected a divisor of the channels."));
  return static_cast<UINT>(group);
}

Sizes convolvedSizes(const Window& window, const Value& x, const Value& filter) {
  Sizes sizes = {x.sizes[0], filter.sizes[0]};
  for (size_t i = 0; i < window.rank(); ++i) sizes.push_back(windowCount(window, x.sizes, i, false));
  return sizes;
}

template <class Desc>
void setWindow(Desc& desc, const Window& window) {
  desc.DimensionCount = static_cast<UINT>(window.rank());
  desc.Strides = window.strides.data();
  desc.Dilations = window.dilations.data();
  desc.StartPadding = window.start.data();
  desc.EndPadding = window.end.data();
}

void mapConv(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const Value& filter = node.input(1);
  const Window window = readWindow(node, x.sizes, spatialSizes(filter));
  checkKernelShape(node, spatialSizes(filter));
  const std::vector<UINT> outputPadding(window.rank(), 0);
  std::optional<Value> bias;
  if (node.has(2)) bias = alongChannels(graph, node.input(2), x.rank());
  Op op(graph);
  DML_CONVOLUTION_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.FilterTensor = op.input(filter);
  desc.BiasTensor = op.optionalInput(bias);
  desc.OutputTensor = op.output(x.type, convolvedSizes(window, x, filter));
  desc.Mode = DML_CONVOLUTION_MODE_CROSS_CORRELATION;
  desc.Direction = DML_CONVOLUTION_DIRECTION_FORWARD;
  setWindow(desc, window);
  desc.OutputPadding = outputPadding.data();
  desc.GroupCount = groupCount(node, x);
  node.setOutput(0, op.make(DML_OPERATOR_CONVOLUTION, desc));
}

// If the output's sizes are given or follow from auto_pad, the padding follows from them.
void padTransposed(const NodeContext& node, const Value& x, Window& window, std::vector<UINT>& outputPadding,
                   Sizes& sizes) {
  const auto given = node.attributes().integers("output_shape");
  const std::string automatic = node.attributes().text("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  const size_t rank = window.rank();
  if (given && !given->empty() && given->size() != rank && given->size() != rank + 2)
    throw ModelError(cat("Attribute output_shape is ", listText(*given), ", expected ", rank, " numbers."));
  for (size_t i = 0; i < rank; ++i) {
    const int64_t whole = (x.sizes[i + 2] - 1) * window.strides[i] + window.reach(i) + int64_t{outputPadding[i]};
    int64_t size = whole - window.start[i] - window.end[i];
    if (same) size = x.sizes[i + 2] * window.strides[i];
    if (given && !given->empty()) size = (*given)[i + given->size() - rank];
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    if (size < 1 || size > kMax)
      throw ModelError(cat("Dimension ", i + 2, " of the output would be ", size, ", expected 1 to ", kMax, "."));
    if (same || (given && !given->empty())) {
      const int64_t padding = whole - size;
      const auto less = static_cast<UINT>(std::max<int64_t>(padding, 0) / 2);
      const auto more = static_cast<UINT>(std::max<int64_t>(padding, 0) - less);
      window.start[i] = automatic == "SAME_UPPER" ? less : more;
      window.end[i] = automatic == "SAME_UPPER" ? more : less;
      if (padding < 0) outputPadding[i] += static_cast<UINT>(-padding);
    }
    // The elements added behind the end are those that the padding would have cut off, and zeros beyond them.
    const UINT uncut = std::min(outputPadding[i], window.end[i]);
    window.end[i] -= uncut;
    outputPadding[i] -= uncut;
    sizes.push_back(size);
  }
}

void mapConvTranspose(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const Value& filter = node.input(1);
  const Sizes spatial = spatialSizes(filter);
  checkKernelShape(node, spatial);
  Window window = readWindow(node, x.sizes, spatial);
  const auto given = node.attributes().integers("output_padding");
  std::vector<UINT> outputPadding = toUints(given && !given->empty() ? *given : Sizes(window.rank(), 0));
  if (outputPadding.size() != window.rank())
    throw ModelError(
        cat("Attribute output_padding has ", outputPadding.size(), " numbers, expected ", window.rank(), "."));
  const UINT groups = groupCount(node, x);
  Sizes sizes = {x.sizes[0], filter.sizes[1] * groups};
  padTransposed(node, x, window, outputPadding, sizes);
  std::optional<Value> bias;
  if (node.has(2)) bias = alongChannels(graph, node.input(2), x.rank());
  Op op(graph);
  DML_CONVOLUTION_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.FilterTensor = op.input(filter);
  desc.BiasTensor = op.optionalInput(bias);
  desc.OutputTensor = op.output(x.type, sizes);
  desc.Mode = DML_CONVOLUTION_MODE_CROSS_CORRELATION;
  desc.Direction = DML_CONVOLUTION_DIRECTION_BACKWARD;
  setWindow(desc, window);
  desc.OutputPadding = outputPadding.data();
  desc.GroupCount = groups;
  node.setOutput(0, op.make(DML_OPERATOR_CONVOLUTION, desc));
}

// A scale or zero point: one number, or one for each channel of the filter's outputs.
std::optional<Value> perChannel(NodeContext& node, size_t index, size_t rank) {
  if (!node.has(index)) return {};
  GraphBuilder& graph = node.graph();
  const Value& value = node.input(index);
  if (value.elements() == 1) return graph.reshape(value, Sizes(rank, 1));
  return alongChannels(graph, value, rank);
}

void mapConvInteger(NodeContext& node) {
  const Value& x = node.input(0);
  const Value& filter = node.input(1);
  const Window window = readWindow(node, x.sizes, spatialSizes(filter));
  checkKernelShape(node, spatialSizes(filter));
  const auto inputZero = perChannel(node, 2, x.rank());
  const auto filterZero = perChannel(node, 3, x.rank());
  Op op(node.graph());
  DML_CONVOLUTION_INTEGER_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.InputZeroPointTensor = op.optionalInput(inputZero);
  desc.FilterTensor = op.input(filter);
  desc.FilterZeroPointTensor = op.optionalInput(filterZero);
  desc.OutputTensor = op.output(Type::Int32, convolvedSizes(window, x, filter));
  setWindow(desc, window);
  desc.GroupCount = groupCount(node, x);
  node.setOutput(0, op.make(DML_OPERATOR_CONVOLUTION_INTEGER, desc));
}

void mapQLinearConv(NodeContext& node) {
  const Value& x = node.input(0);
  const Value& filter = node.input(3);
  const size_t rank = x.rank();
  const Window window = readWindow(node, x.sizes, spatialSizes(filter));
  checkKernelShape(node, spatialSizes(filter));
  const auto inputScale = perChannel(node, 1, rank);
  const auto inputZero = perChannel(node, 2, rank);
  auto filterScale = perChannel(node, 4, rank);
  if (!filterScale) throw ModelError("Input 4 is absent, expected the filter's scale.");
  if (node.has(5) && node.input(5).elements() > 1 && filterScale->elements() == 1)
    filterScale = node.graph().broadcast(*filterScale, perChannel(node, 5, rank)->sizes);
  auto filterZero = perChannel(node, 5, rank);
  if (filterZero) filterZero = node.graph().broadcast(*filterZero, filterScale->sizes);
  const auto outputScale = perChannel(node, 6, rank);
  const auto outputZero = perChannel(node, 7, rank);
  const auto bias = perChannel(node, 8, rank);
  Op op(node.graph());
  DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.InputScaleTensor = op.optionalInput(inputScale);
  desc.InputZeroPointTensor = op.optionalInput(inputZero);
  desc.FilterTensor = op.input(filter);
  desc.FilterScaleTensor = op.optionalInput(filterScale);
  desc.FilterZeroPointTensor = op.optionalInput(filterZero);
  desc.BiasTensor = op.optionalInput(bias);
  desc.OutputScaleTensor = op.optionalInput(outputScale);
  desc.OutputZeroPointTensor = op.optionalInput(outputZero);
  desc.OutputTensor = op.output(node.has(7) ? node.input(7).type : Type::UInt8, convolvedSizes(window, x, filter));
  setWindow(desc, window);
  desc.GroupCount = groupCount(node, x);
  node.setOutput(0, op.make(DML_OPERATOR_QUANTIZED_LINEAR_CONVOLUTION, desc));
}

constexpr Mapping kConvolutionMappings[] = {
    {kOnnx, "Conv", 1, mapConv},
    {kOnnx, "ConvInteger", 10, mapConvInteger},
    {kOnnx, "ConvTranspose", 1, mapConvTranspose},
    {kOnnx, "QLinearConv", 10, mapQLinearConv},
};

}  // namespace

std::span<const Mapping> convolutionMappings() { return kConvolutionMappings; }

}  // namespace dimple::onnx
