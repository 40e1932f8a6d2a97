// Convolutions, of floats and of integers.
#include <algorithm>

#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

struct Window {
  Sizes strides, dilations, startPadding, endPadding, outputPadding;
};

struct Shape {
  Sizes input, filter, output;
  Window window;
  uint32_t groups = 1;
  bool backward = false;
  bool constantFilter = false;
};

// Dimensions of all the same window.
Window plainWindow(size_t spatial) {
  return {Sizes(spatial, 1), Sizes(spatial, 1), Sizes(spatial, 0), Sizes(spatial, 0), Sizes(spatial, 0)};
}

// Output sizes that the formulas give; now and then others, which are accepted too.
uint32_t outputSize(Random& random, const Shape& shape, uint32_t d) {
  const Window& w = shape.window;
  const int64_t span = int64_t{shape.filter[d + 2] - 1} * w.dilations[d] + 1;
  const int64_t padding = int64_t{w.startPadding[d]} + w.endPadding[d];
  const int64_t input = shape.input[d + 2];
  int64_t size = shape.backward ? (input - 1) * w.strides[d] + span - padding + w.outputPadding[d]
                                : (input + padding - span) / w.strides[d] + 1 + w.outputPadding[d];
  if (random.chance(0.05)) size += random.range(-2, 3);
  return static_cast<uint32_t>(std::max<int64_t>(size, w.outputPadding[d] + 1));
}

// `large`: filters and positions enough for tiles.
Shape shapeAt(Generator& generator, size_t spatial, bool mayTurn) {
  Random& random = generator.random;
  const size_t turn = generator.index();
  const bool large = turn % 4 == 3;
  Shape shape;
  shape.backward = mayTurn && turn / 3 % 2 != 0;
  uint32_t channels = random.size(1, large ? 9 : 5);
  uint32_t filters = large ? random.size(16, 40) : random.size(1, 6);
  if (random.chance(0.4)) shape.groups = random.size(2, large ? 2 : 5);
  if (turn % 8 == 1) {  // depthwise
    shape.groups = random.size(2, 9);
    channels = 1;
    filters = random.chance(0.6) ? 1 : 2;
  }
  const uint32_t batches = random.size(1, large ? 2 : 3);
  shape.input = {batches, shape.groups * channels};
  shape.output = {batches, shape.groups * filters};
  shape.filter = shape.backward ? Sizes{shape.groups * channels, filters} : Sizes{shape.groups * filters, channels};
  const uint32_t longest = spatial == 1 ? 40 : spatial == 2 ? (shape.backward ? 8 : 13) : 5;
  for (uint32_t d = 0; d < spatial; ++d) {
    Window& w = shape.window;
    const bool simple = random.chance(0.4);
    if (turn % 8 == 5) {  // a window of one element
      shape.input.push_back(random.size(1, 2 * longest));
      shape.filter.push_back(1);
      for (Sizes* sizes : {&w.strides, &w.dilations}) sizes->push_back(1);
      for (Sizes* sizes : {&w.startPadding, &w.endPadding, &w.outputPadding}) sizes->push_back(0);
      shape.output.push_back(shape.input.back());
      continue;
    }
    shape.input.push_back(random.size(1, longest));
    shape.filter.push_back(random.size(1, spatial == 3 || large ? 3 : 5));
    w.strides.push_back(simple ? 1 : random.size(1, 3));
    w.dilations.push_back(simple ? 1 : random.size(1, 3));
    w.startPadding.push_back(random.size(0, simple ? 1 : 4));
    w.endPadding.push_back(random.size(0, simple ? 1 : 4));
    w.outputPadding.push_back(mayTurn && random.chance(shape.backward ? 0.25 : 0.05) ? random.size(1, 2) : 0);
    shape.output.push_back(outputSize(random, shape, d));
  }
  return shape;
}

// Windows of 3 x 3 side by side, with channels, filters and places enough for transforms.
Shape squareShape(Generator& generator) {
  Random& random = generator.random;
  Shape shape;
  shape.window = plainWindow(2);
  shape.constantFilter = generator.index() % 2 == 0;
  const uint32_t batches = random.size(2, 3);
  const uint32_t channels = random.size(16, 20);
  const uint32_t filters = random.size(16, 20);
  shape.input = {batches, channels};
  shape.output = {batches, filters};
  shape.filter = {filters, channels, 3, 3};
  for (uint32_t d = 0; d < 2; ++d) {
    shape.input.push_back(random.size(34, 40));
    shape.window.startPadding[d] = random.size(0, 2);
    shape.window.endPadding[d] = random.size(0, 2);
    shape.output.push_back(outputSize(random, shape, d));
  }
  return shape;
}

// Few filters a group, with windows and strides that are unrolled and others, and channels enough for slices.
Shape fewFiltersShape(Generator& generator, size_t turn, bool mayPadOutput) {
  constexpr uint32_t kFilters[] = {1, 2, 3, 6};
  constexpr uint32_t kLines[] = {3, 5, 7, 4};
  Random& random = generator.random;
  Shape shape;
  shape.groups = turn % 3 == 0 ? 1 : random.size(2, 7);
  const uint32_t filters = kFilters[turn % 4];
  const uint32_t channels = turn % 2 == 0 ? random.size(1, 3) : random.size(8, 40);
  shape.input = {random.size(1, 2), shape.groups * channels};
  shape.output = {shape.input[0], shape.groups * filters};
  shape.filter = {shape.groups * filters, channels};
  for (uint32_t d = 0; d < 2; ++d) {
    const bool line = d == 1;
    shape.filter.push_back(line ? kLines[turn / 4 % 4] : random.size(1, 4));
    shape.input.push_back(random.size(4, 14));
    shape.window.strides.push_back(line ? 1 + static_cast<uint32_t>(turn / 16 % 2) : random.size(1, 2));
    shape.window.dilations.push_back(line && turn % 5 != 4 ? 1 : random.size(1, 3));
    shape.window.startPadding.push_back(random.size(0, 4));
    shape.window.endPadding.push_back(random.size(0, 4));
    shape.window.outputPadding.push_back(mayPadOutput && random.chance(0.25) ? random.size(1, 3) : 0);
    shape.output.push_back(outputSize(random, shape, d));
  }
  return shape;
}
constexpr size_t kFewFiltersShapes = 32;

// Backward windows that lie side by side.
Shape spreadShape(Generator& generator, size_t turn) {
  Random& random = generator.random;
  const size_t spatial = 1 + turn % 3;
  const bool large = turn % 4 == 3;
  const uint32_t channels = large ? random.size(8, 40) : random.size(1, 5);
  const uint32_t filters = large ? random.size(16, 40) : random.size(1, 5);
  Shape shape;
  shape.backward = true;
  shape.window = plainWindow(spatial);
  if (turn % 5 == 4) shape.groups = random.size(2, 3);
  shape.input = {random.size(1, 2), shape.groups * channels};
  shape.output = {shape.input[0], shape.groups * filters};
  shape.filter = {shape.groups * channels, filters};
  for (size_t d = 0; d < spatial; ++d) {
    const uint32_t stride = random.size(1, 3);
    shape.window.strides[d] = stride;
    shape.filter.push_back(stride);
    shape.input.push_back(d + 1 == spatial ? random.size(1, large ? 30 : 9) : random.size(1, 4));
    shape.output.push_back(shape.input.back() * stride);
  }
  return shape;
}
constexpr size_t kSpreadShapes = 16;

// One size for each channel, the others 1.
Sizes channelSizes(const Shape& shape) {
  Sizes sizes(shape.output.size(), 1);
  sizes[1] = shape.output[1];
  return sizes;
}

TensorText operand(Generator& generator, DataType type, const Sizes& sizes, bool plain, size_t cycle) {
  if (plain) return {type, sizes};
  TensorText tensor = generator.input(type, sizes, cycle);
  generator.maybeOwn(tensor);
  return tensor;
}

void setWindow(Line& line, const Window& window, bool outputPadding) {
  line.set("Strides", bracketed(window.strides)).set("Dilations", bracketed(window.dilations));
  line.set("StartPadding", bracketed(window.startPadding)).set("EndPadding", bracketed(window.endPadding));
  if (outputPadding) line.set("OutputPadding", bracketed(window.outputPadding));
}

DataType narrowType(Random& random) {
  return random.chance(0.5) ? DML_TENSOR_DATA_TYPE_INT8 : DML_TENSOR_DATA_TYPE_UINT8;
}

}  // namespace

void generateConvolution(Generator& generator) {
  Random& random = generator.random;
  const DataType type = generator.type;
  const auto add = [&](const Shape& shape, bool plain, const std::string& fused) {
    const size_t cycle = generator.cycle();
    Line line(generator.schema);
    line.set("InputTensor", operand(generator, type, shape.input, plain, cycle));
    TensorText filter = operand(generator, type, shape.filter, plain, cycle + generator.index() % 4);
    filter.owned = filter.owned || shape.constantFilter;
    line.set("FilterTensor", filter);
    if (random.chance(0.5)) line.set("BiasTensor", operand(generator, type, channelSizes(shape), plain, cycle / 2));
    line.set("OutputTensor", plain ? TensorText{type, shape.output} : generator.output(type, shape.output, cycle / 2));
    line.set("Mode", generator.index() % 5 == 4 ? "CONVOLUTION" : "CROSS_CORRELATION");
    line.set("Direction", shape.backward ? "BACKWARD" : "FORWARD");
    setWindow(line, shape.window, true);
    line.set("GroupCount", shape.groups);
    if (!fused.empty()) line.set("FusedActivation", fused);
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType)
    add(shapeAt(generator, 1 + generator.index() % 3, true), false, generator.index() % 4 == 1 ? "RELU" : "");
  for (size_t turn = 0; turn < kFewFiltersShapes; ++turn)
    add(fewFiltersShape(generator, turn, true), false, turn % 16 == 9 ? "RELU" : "");
  for (size_t turn = 0; turn < kSpreadShapes; ++turn) add(spreadShape(generator, turn), false, turn == 7 ? "RELU" : "");
  // Each activation makes a pipeline of its own, so that small shapes get them, by turns FLOAT16 and FLOAT32.
  for (size_t turn = generator.type == DML_TENSOR_DATA_TYPE_FLOAT16 ? 0 : 1; turn < 26; turn += 2) {
    const uint32_t size = random.size(3, 12);
    add({{1, 2, size}, {3, 2, 3}, {1, 3, size - 2}, plainWindow(1)}, false, fusedActivation(generator, turn));
  }
  add({{1, 2, 9}, {3, 2, 3}, {1, 3, 7}, plainWindow(1)}, false, "ELEMENT_WISE_CLIP(Min=-2.5,Max=20)");
  add({{1, 1, kLargeCount}, {1, 1, 3}, {1, 1, kLargeCount - 2}, plainWindow(1)}, true, "");
  add({{1, 3, 65537}, {16, 3, 3}, {1, 16, 65535}, plainWindow(1)}, true, "");
  add({{2, 24, 8, 9}, {20, 24, 1, 1}, {2, 20, 8, 9}, plainWindow(2)}, true, "");
  add({{1, 40, 30, 31}, {48, 40, 3, 3}, {1, 48, 28, 29}, plainWindow(2)}, true, "");
  add({{1, 40, 20, 21}, {40, 48, 3, 3}, {1, 48, 22, 23}, plainWindow(2), 1, true}, true, "");
  if (type == DML_TENSOR_DATA_TYPE_FLOAT32)
    for (size_t turn = 0; turn < 16; ++turn) add(squareShape(generator), false, turn % 4 == 1 ? "RELU" : "");
}

void generateIntegerConvolution(Generator& generator) {
  const OpSchema& schema = generator.schema;
  Random& random = generator.random;
  const bool quantized = schema.type == DML_OPERATOR_QUANTIZED_LINEAR_CONVOLUTION;
  const auto add = [&](const Shape& shape, bool plain) {
    const size_t cycle = generator.cycle();
    const DataType filter = narrowType(random);
    const DataType y = quantized ? narrowType(random) : DML_TENSOR_DATA_TYPE_INT32;
    const auto one = [&](DataType type) { return TensorText{type, Sizes(1 + random.below(4), 1)}; };
    Line line(schema);
    line.set("InputTensor", operand(generator, generator.type, shape.input, plain, cycle));
    const TensorText whole = one(generator.type);
    if (quantized) line.set("InputScaleTensor", TensorText{DML_TENSOR_DATA_TYPE_FLOAT32, whole.sizes});
    if (random.chance(0.7)) line.set("InputZeroPointTensor", whole);
    line.set("FilterTensor", operand(generator, filter, shape.filter, plain, cycle + generator.index() % 4));
    const bool perChannel = random.chance(0.5);
    const Sizes sizes = perChannel ? channelSizes(shape) : one(filter).sizes;
    const auto parameter = [&](DataType type) {
      return perChannel ? generator.input(type, sizes, cycle / 3) : TensorText{type, sizes};
    };
    if (quantized) line.set("FilterScaleTensor", parameter(DML_TENSOR_DATA_TYPE_FLOAT32));
    if (random.chance(0.7)) line.set("FilterZeroPointTensor", parameter(filter));
    if (quantized) {
      if (random.chance(0.5))
        line.set("BiasTensor", operand(generator, DML_TENSOR_DATA_TYPE_INT32, channelSizes(shape), plain, cycle / 2));
      const TensorText scale = one(DML_TENSOR_DATA_TYPE_FLOAT32);
      line.set("OutputScaleTensor", scale);
      if (random.chance(0.7)) line.set("OutputZeroPointTensor", TensorText{y, scale.sizes});
    }
    line.set("OutputTensor", plain ? TensorText{y, shape.output} : generator.output(y, shape.output, cycle / 2));
    setWindow(line, shape.window, false);
    line.set("GroupCount", shape.groups);
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) add(shapeAt(generator, 1 + generator.index() % 2, false), false);
  for (size_t turn = 0; turn < kFewFiltersShapes; turn += 3) add(fewFiltersShape(generator, turn, false), false);
  add({{1, 1, kLargeCount}, {1, 1, 3}, {1, 1, kLargeCount - 2}, plainWindow(1)}, true);
  add({{1, 3, 65537}, {16, 3, 3}, {1, 16, 65535}, plainWindow(1)}, true);
}

}  // namespace dimple::testing
