// Operators that work along axes and keep them: the softmax family, cumulative sums and products, TOP_K.
#include <algorithm>
#include <array>
#include <numeric>

#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

// Lengths around the widths of workgroups, tiles and chunks.
constexpr std::array<uint32_t, 26> kLengths = {2,    3,    4,    7,    8,    31,    33,    63,   64,
                                               65,   127,  129,  255,  256,  257,   1000,  1023, 1024,
                                               1025, 2047, 2049, 4097, 8193, 10001, 20000, 65537};

struct Shape {
  Sizes sizes;
  uint32_t axis;
};

// An axis of every length, as rows, columns and what lies between; then shapes of all ranks.
Shape shapeAt(Generator& generator) {
  Random& random = generator.random;
  const size_t turn = generator.index();
  if (turn < 2 * kLengths.size()) {
    const uint32_t length = kLengths[turn % kLengths.size()];
    const uint32_t others = length > 5000 ? random.size(1, 3) : random.size(1, 20);
    switch (turn % 4) {
      case 0:
        return {{others, length}, 1};
      case 1:
        return {{length, others}, 0};
      case 2:
        return {{2, length, others}, 1};
      default:
        return {{length}, 0};
    }
  }
  Sizes sizes = makeSizes(random, generator.rank(), std::max<uint64_t>(24, logUniform(random, 8192)));
  auto axis = static_cast<uint32_t>(random.below(sizes.size()));
  if (sizes[axis] == 1) sizes[axis] = random.size(2, 5);
  return {std::move(sizes), axis};
}

TensorText inputOf(Generator& generator, const Sizes& sizes, size_t cycle) {
  TensorText input = generator.input(generator.type, sizes, cycle);
  generator.maybeOwn(input);
  return input;
}

bool hasAxes(const OpSchema& schema) { return schema.name.ends_with("1"); }

void addSoftmax(Generator& generator, Sizes sizes, const Sizes& axes) {
  const bool rows = !hasAxes(generator.schema);
  // Without axes, rows of a matrix.
  for (size_t d = 0; rows && d + 2 < sizes.size(); ++d) sizes[d] = 1;
  Line line(generator.schema);
  line.set("InputTensor", inputOf(generator, sizes, generator.cycle()));
  line.set("OutputTensor", generator.output(generator.type, sizes, generator.cycle() / 2));
  if (!rows) line.set("Axes", bracketed(axes));
  generator.keep(std::move(line));
}

void addScan(Generator& generator, const Shape& shape, bool plain) {
  const size_t turn = generator.index();
  const bool product = generator.schema.type == DML_OPERATOR_CUMULATIVE_PRODUCT;
  TensorText input =
      plain ? TensorText{generator.type, shape.sizes} : inputOf(generator, shape.sizes, generator.cycle());
  TensorText output = plain ? TensorText{generator.type, shape.sizes}
                            : generator.output(generator.type, shape.sizes, generator.cycle() / 2);
  const bool inPlace = !plain && turn % 6 == 5;
  if (inPlace) {
    input.owned = false;
    input.strides = output.strides;
    input.totalBytes = output.totalBytes;
    input.alignment = output.alignment;
  }
  Line line(generator.schema);
  line.set("InputTensor", input).set("OutputTensor", output).set("Axis", shape.axis);
  line.set("AxisDirection", turn / 2 % 2 != 0 ? "DECREASING" : "INCREASING");
  line.set(product ? "HasExclusiveProduct" : "HasExclusiveSum", turn / 3 % 2);
  if (inPlace) line.set("inplace", 0);
  generator.keep(std::move(line));
}

void addTopK(Generator& generator, const Shape& shape, uint32_t k, bool plain) {
  const size_t turn = generator.index();
  const DataType indexType = turn % 3 == 2 ? DML_TENSOR_DATA_TYPE_UINT64 : DML_TENSOR_DATA_TYPE_UINT32;
  Sizes sizes = shape.sizes;
  sizes[shape.axis] = k;
  const auto output = [&](DataType type, size_t cycle) {
    return plain ? TensorText{type, sizes} : generator.output(type, sizes, cycle);
  };
  Line line(generator.schema);
  line.set("InputTensor",
           plain ? TensorText{generator.type, shape.sizes} : inputOf(generator, shape.sizes, generator.cycle()));
  line.set("OutputValueTensor", output(generator.type, generator.cycle() / 2));
  line.set("OutputIndexTensor", output(indexType, generator.cycle() / 3));
  line.set("Axis", shape.axis).set("K", k);
  if (generator.schema.type == DML_OPERATOR_TOP_K1)
    line.set("AxisDirection", turn / 2 % 2 != 0 ? "DECREASING" : "INCREASING");
  generator.keep(std::move(line));
}

}  // namespace

void generateSoftmax(Generator& generator) {
  Random& random = generator.random;
  const bool axes = hasAxes(generator.schema);
  while (generator.index() < kCasesPerType) {
    Shape shape = shapeAt(generator);
    if (!axes) {
      std::swap(shape.sizes[shape.axis], shape.sizes.back());
      addSoftmax(generator, shape.sizes, {});
      continue;
    }
    Sizes set = {shape.axis};
    // Any set of axes in any order, now and then named twice, and at times none.
    for (uint32_t d = 0; d < shape.sizes.size(); ++d)
      if (random.chance(0.25)) set.push_back(d);
    random.shuffle(std::span(set));
    if (random.chance(0.02)) set.clear();
    addSoftmax(generator, shape.sizes, set);
  }
  addSoftmax(generator, {kLargeCount}, {0});
  addSoftmax(generator, {kLargeCount / 5, 5}, {1});
  if (axes) addSoftmax(generator, {3, kLargeCount / 15, 5}, {1});
}

void generateScan(Generator& generator) {
  while (generator.index() < kCasesPerType) addScan(generator, shapeAt(generator), false);
  // Each both ways, exclusive and not.
  for (int i = 0; i < 5; ++i) addScan(generator, {{kLargeCount}, 0}, true);
  for (int i = 0; i < 4; ++i) addScan(generator, {{kLargeCount / 7, 7}, 0}, true);
  addScan(generator, {{7, kLargeCount / 7}, 1}, true);
  addScan(generator, {{kLargeCount / 5, 5}, 1}, true);
}

void generateTopK(Generator& generator) {
  Random& random = generator.random;
  while (generator.index() < kCasesPerType) {
    const Shape shape = shapeAt(generator);
    const uint32_t length = shape.sizes[shape.axis];
    const uint32_t k =
        random.chance(0.2) ? length : static_cast<uint32_t>(std::max<uint64_t>(1, logUniform(random, length)));
    addTopK(generator, shape, k, false);
  }
  addTopK(generator, {{kLargeCount / 5, 5}, 1}, 2, true);
  // Long rows take their time in the oracle, too.
  if (generator.type == DML_TENSOR_DATA_TYPE_FLOAT32) addTopK(generator, {{kLargeCount}, 0}, kLargeCount, true);
  if (generator.type == DML_TENSOR_DATA_TYPE_UINT16 || generator.type == DML_TENSOR_DATA_TYPE_INT64)
    addTopK(generator, {{kLargeCount / 7, 7}, 0}, 3000, true);
}

}  // namespace dimple::testing
