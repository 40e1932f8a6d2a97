// Resize and Upsample. Nearest neighbours are gathered at places that are computed here, so that every type and mode is
// exact; linear and cubic weights are matrices, one for each axis, where DirectML's RESAMPLE cannot say it.
#include <cmath>

#include "clients/onnx/product.h"

namespace dimple::onnx {
namespace {

struct Axis {
  int64_t input = 0, output = 0;
  double scale = 1;
  double length = 0;          // of the output before it is rounded down
  double start = 0, end = 1;  // of the region, for tf_crop_and_resize
};

struct Resizing {
  std::vector<Axis> axes;
  std::string mode, coordinates, rounding, policy;
  double cubic = -0.75;
  double extrapolation = 0;
  bool excludeOutside = false;
  bool antialias = false;
};

// Returns where an element of the output lies in the input.
double place(const Resizing& resizing, const Axis& axis, int64_t index) {
  const auto x = static_cast<double>(index);
  const auto input = static_cast<double>(axis.input);
  const auto output = static_cast<double>(axis.output);
  const std::string& mode = resizing.coordinates;
  if (mode == "half_pixel") return (x + 0.5) / axis.scale - 0.5;
  if (mode == "pytorch_half_pixel") return axis.output > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  if (mode == "align_corners") return axis.length > 1 ? x * (input - 1) / (axis.length - 1) : 0;
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = output / axis.length;
    return input / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  if (mode == "tf_crop_and_resize")
    return axis.output > 1 ? axis.start * (input - 1) + x * (axis.end - axis.start) * (input - 1) / (output - 1)
                           : 0.5 * (axis.start + axis.end) * (input - 1);
  throw ModelError(cat("Attribute coordinate_transformation_mode is \"", mode, "\", which is not known."));
}

int64_t nearest(const Resizing& resizing, const Axis& axis, int64_t index) {
  const double x = place(resizing, axis, index);
  double rounded = 0;
  if (resizing.rounding == "round_prefer_floor")
    rounded = std::ceil(x - 0.5);
  else if (resizing.rounding == "round_prefer_ceil")
    rounded = std::floor(x + 0.5);
  else if (resizing.rounding == "floor")
    rounded = std::floor(x);
  else if (resizing.rounding == "ceil")
    rounded = std::ceil(x);
  else if (resizing.rounding == "simple")  // of Upsample
    rounded = axis.scale < 1 ? std::ceil(x) : std::floor(x);
  else
    throw ModelError(cat("Attribute nearest_mode is \"", resizing.rounding, "\", which is not known."));
  return std::clamp(static_cast<int64_t>(rounded), int64_t{0}, axis.input - 1);
}

double weight(const Resizing& resizing, double distance) {
  const double d = std::abs(distance);
  if (resizing.mode == "linear") return std::max(1 - d, 0.0);
  const double a = resizing.cubic;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// [input, output]: what each element of the input counts for one of the output.
HostTensor weights(const Resizing& resizing, const Axis& axis, Type type) {
  HostTensor matrix(type, {axis.input, axis.output});
  std::vector<double> column(static_cast<size_t>(axis.input));
  const double stretch = resizing.antialias && axis.scale < 1 ? 1 / axis.scale : 1;
  const double support = (resizing.mode == "linear" ? 1 : 2) * stretch;
  for (int64_t y = 0; y < axis.output; ++y) {
    double x = place(resizing, axis, y);
    std::ranges::fill(column, 0.0);
    if (resizing.mode == "linear" && !resizing.antialias) x = std::clamp(x, 0.0, static_cast<double>(axis.input - 1));
    double sum = 0;
    for (auto i = static_cast<int64_t>(std::floor(x - support)); static_cast<double>(i) <= x + support; ++i) {
      const double w = weight(resizing, (static_cast<double>(i) - x) / stretch);
      const bool outside = i < 0 || i >= axis.input;
      if (outside && (resizing.excludeOutside || resizing.antialias)) continue;
      column[static_cast<size_t>(std::clamp(i, int64_t{0}, axis.input - 1))] += w;
      sum += w;
    }
    for (int64_t i = 0; i < axis.input; ++i)
      matrix.setReal(static_cast<size_t>(i * axis.output + y), sum != 0 ? column[static_cast<size_t>(i)] / sum : 0);
  }
  return matrix;
}

Value resizeNearest(GraphBuilder& graph, Value x, const Resizing& resizing) {
  for (size_t i = 0; i < resizing.axes.size(); ++i) {
    const Axis& axis = resizing.axes[i];
    HostTensor places(Type::Int32, {axis.output});
    bool same = axis.input == axis.output;
    for (int64_t y = 0; y < axis.output; ++y) {
      const int64_t from = nearest(resizing, axis, y);
      same = same && from == y;
      places.setInteger(static_cast<size_t>(y), from);
    }
    if (same) continue;
    Sizes sizes = x.sizes;
    sizes[i] = axis.output;
    const Value index = graph.padRank(hostValue(std::move(places)), x.rank());
    Op op(graph);
    DML_GATHER_OPERATOR_DESC desc{};
    desc.InputTensor = op.input(x);
    desc.IndicesTensor = op.input(index);
    desc.OutputTensor = op.output(x.type, sizes);
    desc.Axis = static_cast<UINT>(i);
    desc.IndexDimensions = 1;
    x = op.make(DML_OPERATOR_GATHER, desc);
  }
  return x;
}

Value resizeByWeights(GraphBuilder& graph, Value x, const Resizing& resizing) {
  for (size_t i = 0; i < resizing.axes.size(); ++i) {
    const Axis& axis = resizing.axes[i];
    if (axis.input > (int64_t{1} << 28) / axis.output)
      throw ModelError(cat("It makes ", axis.output, " elements of ", axis.input, " by weights, expected fewer."));
    const HostTensor matrix = weights(resizing, axis, x.type);
    bool identity = axis.input == axis.output;
    for (int64_t at = 0; identity && at < axis.input * axis.output; ++at)
      identity = matrix.real(static_cast<size_t>(at)) == (at / axis.output == at % axis.output ? 1 : 0);
    if (identity) continue;
    std::vector<size_t> order = identityOrder(x.rank());
    std::swap(order[i], order.back());
    Value moved = graph.transpose(x, order);
    Sizes sizes = moved.sizes;
    sizes.back() = axis.output;
    moved = graph.reshape(moved, {moved.elements() / axis.input, axis.input});
    x = graph.transpose(graph.reshape(matrixProduct(graph, moved, hostValue(matrix)), sizes), order);
  }
  return x;
}

// DirectML's own operator: linear, up to four dimensions. Its offsets are those of the mapping with the sign of the
// output's coordinates.
std::optional<Value> resample(GraphBuilder& graph, const Value& x, const Resizing& resizing, const Sizes& sizes) {
  if (resizing.mode != "linear" || resizing.antialias || resizing.excludeOutside || x.rank() > 4 || x.rank() == 0)
    return {};
  std::vector<FLOAT> scales, inputOffsets, outputOffsets;
  for (const Axis& axis : resizing.axes) {
    // The place of element 0, and its change from one element to the next.
    const double first = place(resizing, axis, 0);
    const double step = axis.output > 1 ? place(resizing, axis, 1) - first : 0;
    if (axis.output > 1 && !(step > 0)) return {};
    const double scale = axis.output > 1 ? 1 / step : 1;
    // place = (index - outputOffset) / scale - inputOffset
    scales.push_back(static_cast<float>(scale));
    inputOffsets.push_back(static_cast<float>(-first));
    outputOffsets.push_back(0);
  }
  Op op(graph);
  DML_RESAMPLE2_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(x);
  desc.OutputTensor = op.output(x.type, sizes);
  desc.InterpolationMode = DML_INTERPOLATION_MODE_LINEAR;
  desc.RoundingDirection = DML_AXIS_DIRECTION_INCREASING;
  desc.DimensionCount = static_cast<UINT>(scales.size());
  desc.Scales = scales.data();
  desc.InputPixelOffsets = inputOffsets.data();
  desc.OutputPixelOffsets = outputOffsets.data();
  return op.make(DML_OPERATOR_RESAMPLE2, desc);
}

// Elements whose place lies outside of the input have a value of their own.
Value extrapolate(GraphBuilder& graph, const Value& y, const Resizing& resizing) {
  if (resizing.coordinates != "tf_crop_and_resize") return y;
  Value result = y;
  for (size_t i = 0; i < resizing.axes.size(); ++i) {
    const Axis& axis = resizing.axes[i];
    Sizes sizes(resizing.axes.size(), 1);
    sizes[i] = axis.output;
    HostTensor inside(Type::Bool, sizes);
    bool all = true;
    for (int64_t k = 0; k < axis.output; ++k) {
      const double x = place(resizing, axis, k);
      const bool in = x >= 0 && x <= static_cast<double>(axis.input - 1);
      inside.setInteger(static_cast<size_t>(k), in);
      all = all && in;
    }
    if (!all) result = select(graph, hostValue(std::move(inside)), result, scalar(y.type, resizing.extrapolation));
  }
  return result;
}

Value resize(GraphBuilder& graph, const Value& x, const Resizing& resizing) {
  Sizes sizes;
  for (const Axis& axis : resizing.axes) {
    sizes.push_back(axis.output);
    // Places and weights are computed on the host.
    constexpr int64_t kMax = 1 << 24;
    if (axis.output < 1 || axis.output > kMax)
      throw ModelError(cat("The output would have sizes ", listText(sizes), ", expected 1 to ", kMax, "."));
  }
  if (resizing.mode == "nearest") return extrapolate(graph, resizeNearest(graph, x, resizing), resizing);
  if (resizing.mode != "linear" && resizing.mode != "cubic")
    throw ModelError(cat("Attribute mode is \"", resizing.mode, "\", expected nearest, linear or cubic."));
  // Integers are truncated from what floats give.
  const bool isReal = isFloat(x.type);
  const Value real = isReal ? x : cast(graph, x, Type::Float);
  const auto direct = resample(graph, real, resizing, sizes);
  const Value y = extrapolate(graph, direct ? *direct : resizeByWeights(graph, real, resizing), resizing);
  return isReal ? y : cast(graph, y, x.type);
}

void setScales(Resizing& resizing, const std::vector<double>& scales, const std::vector<size_t>& axes) {
  if (scales.size() != axes.size())
    throw ModelError(cat("Its scales are ", listText(scales), ", expected ", axes.size(), " numbers."));
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& axis = resizing.axes[axes[i]];
    if (!(scales[i] > 0 && scales[i] < 0x1p24))
      throw ModelError(cat("Its scales are ", listText(scales), ", expected numbers above 0."));
    axis.scale = scales[i];
    axis.length = static_cast<double>(axis.input) * scales[i];
    axis.output = static_cast<int64_t>(std::floor(axis.length));
  }
}

void setSizes(Resizing& resizing, const Sizes& sizes, const std::vector<size_t>& axes) {
  if (sizes.size() != axes.size())
    throw ModelError(cat("Its sizes are ", listText(sizes), ", expected ", axes.size(), " numbers."));
  if (resizing.policy != "stretch" && resizing.policy != "not_larger" && resizing.policy != "not_smaller")
    throw ModelError(cat("Attribute keep_aspect_ratio_policy is \"", resizing.policy, "\", which is not known."));
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& axis = resizing.axes[axes[i]];
    axis.output = sizes[i];
    axis.length = static_cast<double>(sizes[i]);
    axis.scale = static_cast<double>(sizes[i]) / static_cast<double>(axis.input);
    common = i == 0                            ? axis.scale
             : resizing.policy == "not_larger" ? std::min(common, axis.scale)
                                               : std::max(common, axis.scale);
  }
  if (resizing.policy == "stretch") return;
  for (const size_t i : axes) {
    Axis& axis = resizing.axes[i];
    axis.scale = common;
    axis.output = static_cast<int64_t>(std::floor(static_cast<double>(axis.input) * common + 0.5));
    axis.length = static_cast<double>(axis.output);
  }
}

Resizing baseOf(const NodeContext& node) {
  Resizing resizing;
  resizing.mode = node.attributes().text("mode", "nearest");
  for (const int64_t size : node.input(0).sizes)
    resizing.axes.push_back({size, size, 1, static_cast<double>(size), 0, 1});
  if (node.input(0).elements() == 0) throw ModelError("Input 0 has no elements.");
  return resizing;
}

// Up to version 10 there are scales alone.
void mapUpsample(NodeContext& node) {
  Resizing resizing = baseOf(node);
  resizing.coordinates = "asymmetric";
  resizing.rounding = "simple";
  if (!node.knows(1)) return;
  std::vector<double> scales;
  if (node.has(1))
    scales = node.constant(1).reals();
  else
    for (const float scale : node.attributes().reals("scales")) scales.push_back(static_cast<double>(scale));
  setScales(resizing, scales, identityOrder(resizing.axes.size()));
  node.setOutput(0, resize(node.graph(), node.input(0), resizing));
}

void mapResize(NodeContext& node) {
  const Attributes& attributes = node.attributes();
  Resizing resizing = baseOf(node);
  resizing.coordinates = attributes.text("coordinate_transformation_mode", "half_pixel");
  resizing.rounding = attributes.text("nearest_mode", "round_prefer_floor");
  resizing.policy = attributes.text("keep_aspect_ratio_policy", "stretch");
  resizing.cubic = static_cast<double>(attributes.real("cubic_coeff_a", -0.75f));
  resizing.extrapolation = static_cast<double>(attributes.real("extrapolation_value", 0));
  resizing.excludeOutside = attributes.flag("exclude_outside");
  resizing.antialias = attributes.flag("antialias") && resizing.mode != "nearest";
  std::vector<size_t> axes = identityOrder(resizing.axes.size());
  if (const auto given = attributes.integers("axes")) {
    axes.clear();
    for (const int64_t axis : *given) axes.push_back(normalizeAxis(axis, resizing.axes.size()));
  }
  if (resizing.coordinates == "tf_crop_and_resize" && node.has(1)) {
    if (!node.knows(1)) return;
    const std::vector<double> region = node.constant(1).reals();
    if (region.size() != 2 * axes.size())
      throw ModelError(cat("Its region has ", region.size(), " numbers, expected ", 2 * axes.size(), "."));
    for (size_t i = 0; i < axes.size(); ++i) {
      resizing.axes[axes[i]].start = region[i];
      resizing.axes[axes[i]].end = region[axes.size() + i];
    }
  }
  const bool givesSizes = node.has(3) && node.input(3).elements() != 0;
  if (!node.knows(givesSizes ? 3 : 2)) return;
  if (givesSizes)
    setSizes(resizing, node.constant(3).integers(), axes);
  else
    setScales(resizing, node.constant(2).reals(), axes);
  node.setOutput(0, resize(node.graph(), node.input(0), resizing));
}

constexpr Mapping kResizeMappings[] = {
    {kOnnx, "Resize", 10, mapUpsample},
    {kOnnx, "Resize", 11, mapResize},
    {kOnnx, "Upsample", 7, mapUpsample},
};

}  // namespace

std::span<const Mapping> resizeMappings() { return kResizeMappings; }

}  // namespace dimple::onnx
