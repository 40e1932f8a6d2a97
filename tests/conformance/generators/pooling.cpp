// Sliding windows: pooling, its inverse and its gradients.
#include <algorithm>
#include <array>

#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

// A tensor, and the window that slides over its spatial dimensions.
struct Shape {
  Sizes whole, pooled;
  Sizes window, strides, dilations, start, end;
};

uint64_t spanOf(const Shape& shape, size_t d) { return (shape.window[d] - uint64_t{1}) * shape.dilations[d] + 1; }

// Sizes of the pooled tensor as the pages compute them; a window larger than its tensor has one position.
void setPooled(Shape& shape) {
  shape.pooled = {shape.whole[0], shape.whole[1]};
  for (size_t d = 0; d < shape.window.size(); ++d) {
    const uint64_t padded = uint64_t{shape.whole[d + 2]} + shape.start[d] + shape.end[d];
    const uint64_t span = spanOf(shape, d);
    shape.pooled.push_back(padded < span ? 1 : static_cast<uint32_t>((padded - span) / shape.strides[d] + 1));
  }
}

struct Freedom {
  bool dilations = false;
  bool anySizes = false;  // of the pooled tensor
};

Freedom freedomOf(const OpSchema& schema) {
  const bool gradient = schema.name.ends_with("_GRAD");
  bool dilations = false;
  for (const Field& field : schema.fields) dilations = dilations || field.name == "Dilations";
  return {dilations, !gradient};
}

// A window over the whole of a tensor now and then, else small ones; some reach into the padding only.
Shape randomShape(Generator& generator, size_t turn) {
  Random& random = generator.random;
  const Freedom freedom = freedomOf(generator.schema);
  const size_t spatial = 2 + turn % 2;
  const bool global = random.chance(0.08);
  Shape shape;
  shape.whole = {random.size(1, 3), random.size(1, 4)};
  uint64_t left = global ? 1500 : 300;
  for (size_t d = 0; d < spatial; ++d) {
    const auto most = static_cast<uint32_t>(std::min<uint64_t>(left, global ? 60 : 24));
    shape.whole.push_back(random.chance(0.1) ? 1 : random.size(1, most));
    left = std::max<uint64_t>(1, left / shape.whole.back());
    const uint32_t size = shape.whole.back();
    shape.window.push_back(global ? size : random.size(1, std::min(size + 1, 4u)));
    shape.strides.push_back(global ? 1 : random.size(1, 4));
    shape.dilations.push_back(freedom.dilations && random.chance(0.5) ? random.size(1, 3) : 1);
    if (freedom.dilations && freedom.anySizes && random.chance(0.02)) shape.dilations.back() = 0;
    const uint32_t padding = shape.window.back() - (random.chance(0.9) ? 1 : 0);
    shape.start.push_back(random.chance(0.5) ? random.size(0, padding) : 0);
    shape.end.push_back(random.chance(0.5) ? random.size(0, padding) : 0);
  }
  setPooled(shape);
  // As callers do that round up.
  if (freedom.anySizes && random.chance(0.1)) ++shape.pooled[2 + random.below(spatial)];
  return shape;
}

// Of more than 2^20 elements, under windows that leave some out or overlap a little.
Shape largeShape(bool longRow) {
  Shape shape;
  shape.whole = longRow ? Sizes{1, 1, 1021, 1031} : Sizes{1, 3, 601, 599};
  shape.window = longRow ? Sizes{1021, 1031} : Sizes{3, 2};
  shape.strides = longRow ? Sizes{1, 1} : Sizes{5, 3};
  shape.dilations = {1, 1};
  shape.start = {0, 0};
  shape.end = {0, 0};
  setPooled(shape);
  return shape;
}

void setWindow(Line& line, const Generator& generator, const Shape& shape) {
  line.set("Strides", bracketed(shape.strides)).set("WindowSize", bracketed(shape.window));
  line.set("StartPadding", bracketed(shape.start)).set("EndPadding", bracketed(shape.end));
  if (freedomOf(generator.schema).dilations) line.set("Dilations", bracketed(shape.dilations));
}

TensorText inputOf(Generator& generator, DataType type, const Sizes& sizes, size_t cycle, bool plain) {
  if (plain) return {type, sizes};
  TensorText input = generator.input(type, sizes, cycle);
  generator.maybeOwn(input);
  return input;
}

TensorText outputOf(Generator& generator, DataType type, const Sizes& sizes, size_t cycle, bool plain) {
  return plain ? TensorText{type, sizes} : generator.output(type, sizes, cycle);
}

bool hasField(const OpSchema& schema, std::string_view name) {
  return std::any_of(schema.fields.begin(), schema.fields.end(), [&](const Field& f) { return f.name == name; });
}

void addPooling(Generator& generator, const Shape& shape, bool plain) {
  const size_t turn = generator.index();
  const OpSchema& schema = generator.schema;
  Line line(schema);
  line.set("InputTensor", inputOf(generator, generator.type, shape.whole, generator.cycle(), plain));
  line.set("OutputTensor", outputOf(generator, generator.type, shape.pooled, generator.cycle() / 2, plain));
  if (hasField(schema, "OutputIndicesTensor") && turn % 4 != 3) {
    const DataType type = turn % 3 == 0 ? DML_TENSOR_DATA_TYPE_UINT64 : DML_TENSOR_DATA_TYPE_UINT32;
    line.set("OutputIndicesTensor", outputOf(generator, type, shape.pooled, generator.cycle() / 3, plain));
  }
  setWindow(line, generator, shape);
  if (hasField(schema, "IncludePadding")) line.set("IncludePadding", turn / 2 % 2);
  constexpr uint32_t kPowers[] = {1, 2, 2, 3, 4, 7, 40};
  if (hasField(schema, "P")) line.set("P", kPowers[turn % std::size(kPowers)]);
  generator.keep(std::move(line));
}

}  // namespace

void generatePooling(Generator& generator) {
  while (generator.index() < kCasesPerType) addPooling(generator, randomShape(generator, generator.index()), false);
  addPooling(generator, largeShape(false), true);
  // Long rows take their time in the oracle, too.
  if (isFloat(generator.type) || generator.type == DML_TENSOR_DATA_TYPE_INT8)
    addPooling(generator, largeShape(true), true);
}

void generatePoolingGrad(Generator& generator) {
  const bool maximum = generator.schema.type == DML_OPERATOR_MAX_POOLING_GRAD;
  const auto add = [&](const Shape& shape, bool plain) {
    const size_t turn = generator.index();
    Line line(generator.schema);
    if (maximum) line.set("InputTensor", inputOf(generator, generator.type, shape.whole, turn / 5, plain));
    line.set("InputGradientTensor", inputOf(generator, generator.type, shape.pooled, generator.cycle(), plain));
    line.set("OutputGradientTensor", outputOf(generator, generator.type, shape.whole, generator.cycle() / 2, plain));
    setWindow(line, generator, shape);
    if (!maximum) line.set("IncludePadding", turn / 2 % 2);
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    Shape shape = randomShape(generator, generator.index());
    // Windows over each other, so that many of them meet in one element.
    if (generator.random.chance(0.08)) {
      const uint32_t most = shape.window.size() == 2 ? 9 : 4;
      for (size_t d = 0; d < shape.window.size(); ++d) {
        shape.window[d] = std::min(shape.whole[d + 2], most);
        shape.start[d] = shape.window[d] - 1;
        shape.end[d] = shape.window[d] - 1;
        shape.strides[d] = 1;
        shape.dilations[d] = 1;
        shape.whole[d + 2] = std::min(shape.whole[d + 2], 16u);
      }
      setPooled(shape);
    }
    add(shape, false);
  }
  add(largeShape(false), true);
  add(largeShape(true), true);
}

void generateMaxUnpooling(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Sizes& in, const Sizes& out, bool plain) {
    const size_t turn = generator.index();
    const DataType indexType = turn % 3 == 0 ? DML_TENSOR_DATA_TYPE_UINT64 : DML_TENSOR_DATA_TYPE_UINT32;
    Line line(generator.schema);
    line.set("InputTensor", inputOf(generator, generator.type, in, generator.cycle(), plain));
    line.set("IndicesTensor", plain ? TensorText{indexType, in} : generator.input(indexType, in, turn / 5));
    line.set("OutputTensor", outputOf(generator, generator.type, out, generator.cycle() / 2, plain));
    if (turn % 5 == 4) line.set("indices", "wild");
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    const Sizes in = makeSizes(random, 4, std::max<uint64_t>(4, logUniform(random, 1024)));
    Sizes out = in;
    for (size_t d = 2; d < 4; ++d) out[d] = out[d] * random.size(1, 3) + random.size(0, 2);
    add(in, out, false);
  }
  add({1, 3, 50, 49}, {1, 3, 601, 599}, true);
}

void generateQuantizedPooling(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Shape& shape, bool plain) {
    const size_t turn = generator.index();
    const uint32_t channels = shape.whole[1];
    // One value of any rank, or one for each channel.
    const auto quantizationSizes = [&](size_t salt) {
      Sizes sizes(shape.whole.size(), 1);
      if ((turn / 2 + salt) % 3 == 0) {
        sizes[1] = channels;
      } else {
        sizes.resize(1 + random.below(sizes.size()));
      }
      return sizes;
    };
    const Sizes from = quantizationSizes(0);
    const Sizes to = quantizationSizes(1);
    const auto quantization = [&](DataType type, const Sizes& sizes, size_t salt) {
      return inputOf(generator, type, sizes, turn / 7 + salt, plain);
    };
    Line line(generator.schema);
    line.set("InputTensor", inputOf(generator, generator.type, shape.whole, generator.cycle(), plain));
    line.set("InputScaleTensor", quantization(DML_TENSOR_DATA_TYPE_FLOAT32, from, 0));
    if (turn % 4 != 0) line.set("InputZeroPointTensor", quantization(generator.type, from, 1));
    line.set("OutputScaleTensor", quantization(DML_TENSOR_DATA_TYPE_FLOAT32, to, 2));
    if (turn % 5 != 0) line.set("OutputZeroPointTensor", quantization(generator.type, to, 3));
    line.set("OutputTensor", outputOf(generator, generator.type, shape.pooled, generator.cycle() / 2, plain));
    setWindow(line, generator, shape);
    line.set("IncludePadding", turn / 2 % 2);
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) add(randomShape(generator, generator.index()), false);
  add(largeShape(false), true);
  add(largeShape(true), true);
}

}  // namespace dimple::testing
