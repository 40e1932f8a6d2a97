// Matrix products, of floats and of integers.
#include <algorithm>

#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

// Of one matrix, and the sizes before the last two.
struct Shape {
  uint32_t rows, columns, depth;
  Sizes batches;
  bool plain = false;  // everything packed

  Sizes matrix(uint32_t down, uint32_t across) const {
    Sizes sizes = batches;
    sizes.insert(sizes.end(), {down, across});
    return sizes;
  }
};

uint32_t small(Random& random, uint32_t largest) { return static_cast<uint32_t>(logUniform(random, largest)); }

// What each kernel is for, and the edges between them; ranks come in turn.
Shape shapeAt(Generator& generator) {
  Random& random = generator.random;
  const size_t turn = generator.index();
  Shape shape{1, 1, 1, {}};
  const size_t batches = turn % 3;
  for (size_t i = 0; i < batches; ++i) shape.batches.push_back(random.size(1, 3));
  const auto of = [&](uint32_t rows, uint32_t columns, uint32_t depth) {
    shape.rows = rows;
    shape.columns = columns;
    shape.depth = depth;
  };
  switch (turn / 3 % 8) {
    case 0:
      of(small(random, 20), small(random, 20), small(random, 40));
      break;
    case 1:  // tiles and their rests
      of(random.size(16, 90), random.size(16, 90), random.size(8, 70));
      break;
    case 2:  // vectors of four
      of(4 * random.size(4, 22), 4 * random.size(4, 22), 4 * random.size(2, 20));
      shape.plain = random.chance(0.7);
      break;
    case 3:
      of(random.size(1, 18), small(random, 300), random.size(28, 600));
      break;
    case 4:
      of(small(random, 300), random.size(1, 18), random.size(28, 600));
      break;
    case 5:  // long sums
      of(random.size(1, 6), random.size(1, 6), random.size(1000, 6000));
      break;
    case 6:
      of(random.size(14, 18), random.size(14, 18), random.size(6, 34));
      break;
    default:
      of(small(random, 130), small(random, 130), small(random, 64));
      break;
  }
  return shape;
}

// Sometimes that of a row, a column or one element for all.
TensorText addend(Generator& generator, DataType type, const Shape& shape) {
  const Sizes sizes = shape.matrix(shape.rows, shape.columns);
  if (shape.plain || generator.random.chance(0.5)) return generator.input(type, sizes, generator.cycle() / 3);
  TensorText tensor{type, sizes, Sizes(sizes.size(), 0)};
  const uint64_t kind = generator.random.below(3);
  if (kind == 0) tensor.strides[sizes.size() - 1] = 1;
  if (kind == 1) tensor.strides[sizes.size() - 2] = 1;
  return tensor;
}

TensorText operand(Generator& generator, DataType type, Sizes sizes, bool plain, size_t cycle) {
  if (plain) return {type, std::move(sizes)};
  TensorText tensor = generator.input(type, std::move(sizes), cycle);
  generator.maybeOwn(tensor);
  return tensor;
}

TensorText result(Generator& generator, DataType type, const Shape& shape) {
  const Sizes sizes = shape.matrix(shape.rows, shape.columns);
  return shape.plain ? TensorText{type, sizes} : generator.output(type, sizes, generator.cycle() / 2);
}

std::string factor(Random& random) {
  constexpr std::string_view kFactors[] = {"1", "1", "1", "2", "-1", "0.5"};
  if (random.chance(0.7)) return std::string(random.pick(kFactors));
  return numberText(static_cast<float>(4 * random.unit() - 2));
}

// None for two of three. Each activation makes a pipeline of its own, so that large kernels get few of them.
std::string activation(Generator& generator, const Shape& shape) {
  Random& random = generator.random;
  const size_t turn = generator.index();
  if (turn % 3 != 1) return {};
  switch (turn / 3 % 4) {
    case 0:
      return "RELU";
    case 2:
      if (shape.batches.empty() || (shape.batches.size() == 1 && shape.batches[0] == 1)) return "SOFTMAX";
      [[fallthrough]];
    case 3: {
      Sizes axes;
      for (uint32_t d = 0; d < shape.batches.size() + 2; ++d)
        if (random.chance(0.4)) axes.push_back(d);
      return cat("SOFTMAX1(Axes=", bracketed(axes), ")");
    }
    default:
      return {};
  }
}

void addGemm(Generator& generator, const Shape& shape, bool withAddend, const std::string& fused) {
  const size_t turn = generator.index();
  const DataType type = generator.type;
  const size_t cycle = generator.cycle();
  const bool transposeA = turn / 2 % 2 != 0;
  const bool transposeB = turn / 4 % 2 != 0;
  Line line(generator.schema);
  const Sizes a = transposeA ? shape.matrix(shape.depth, shape.rows) : shape.matrix(shape.rows, shape.depth);
  const Sizes b = transposeB ? shape.matrix(shape.columns, shape.depth) : shape.matrix(shape.depth, shape.columns);
  line.set("ATensor", operand(generator, type, a, shape.plain, cycle));
  line.set("BTensor", operand(generator, type, b, shape.plain, cycle + turn % 4));
  if (withAddend) line.set("CTensor", addend(generator, type, shape));
  line.set("OutputTensor", result(generator, type, shape));
  if (transposeA) line.set("TransA", "TRANSPOSE");
  if (transposeB) line.set("TransB", "TRANSPOSE");
  line.set("Alpha", factor(generator.random));
  if (withAddend) line.set("Beta", factor(generator.random));
  if (!fused.empty()) line.set("FusedActivation", fused);
  generator.keep(std::move(line));
}

// A scale or a zero point: of the whole tensor in any rank, or of each row or column.
TensorText parameter(Generator& generator, DataType type, size_t rank, uint32_t count, bool ofColumns, bool whole) {
  Random& random = generator.random;
  if (whole || count == 1) return {type, Sizes(1 + random.below(rank), 1)};
  Sizes sizes(rank, 1);
  sizes[rank - (ofColumns ? 1 : 2)] = count;
  return generator.input(type, sizes, generator.cycle() / 3);
}

DataType pickType(Random& random, TypeSet types) {
  for (;;) {
    const auto type = static_cast<DataType>(random.range(1, 11));
    if (types & typeBit(type)) return type;
  }
}

}  // namespace

void generateGemm(Generator& generator) {
  Random& random = generator.random;
  while (generator.index() < kCasesPerType) {
    const Shape shape = shapeAt(generator);
    addGemm(generator, shape, random.chance(0.5), activation(generator, shape));
  }
  // By turns FLOAT16 and FLOAT32, since each makes a pipeline of its own.
  for (size_t turn = generator.type == DML_TENSOR_DATA_TYPE_FLOAT16 ? 0 : 1; turn < 26; turn += 2)
    addGemm(generator, {random.size(1, 9), random.size(1, 9), random.size(1, 9), {}}, random.chance(0.5),
            fusedActivation(generator, turn));
  addGemm(generator, {7, 5, 3, {2}}, true, "ELEMENT_WISE_CLIP(Min=-2.5,Max=20)");
  const auto add = [&](const Shape& shape, bool withAddend) { addGemm(generator, shape, withAddend, {}); };
  // Large tiles want many of them.
  for (const uint32_t size : {16u, 20u, 36u}) add({size, size + 4, 12, {8, 9}, true}, size == 20);
  for (int i = 0; i < 4; ++i) add({132, 136, 12, {17}, true}, i % 2 != 0);
  // Long rows and columns of all directions, and many elements.
  for (int i = 0; i < 8; ++i) add({i % 2 != 0 ? 1u : 3u, 1031, 300, {}, true}, false);
  add({1, 1031, 1024, {}, true}, false);
  add({1031, 2, 1024, {}, true}, true);
  add({1025, 1027, 9, {}, true}, false);
  add({2, 3, 100003, {}, true}, false);
}

void generateIntegerProduct(Generator& generator) {
  const OpSchema& schema = generator.schema;
  Random& random = generator.random;
  const bool toFloat = schema.type == DML_OPERATOR_MATRIX_MULTIPLY_INTEGER_TO_FLOAT;
  const bool toInteger = schema.type == DML_OPERATOR_MATRIX_MULTIPLY_INTEGER;
  const auto add = [&](const Shape& shape) {
    const size_t cycle = generator.cycle();
    const size_t rank = shape.batches.size() + 2;
    const DataType b = pickType(random, toFloat ? kInts8To32 : kInts8);
    const DataType scale = toFloat ? pickType(random, kFloats) : DML_TENSOR_DATA_TYPE_FLOAT32;
    const DataType y = toInteger ? DML_TENSOR_DATA_TYPE_INT32 : pickType(random, toFloat ? kFloats : kInts8);
    Line line(schema);
    // Scale and zero point have the same sizes.
    const auto side = [&](std::string_view name, DataType type, const Sizes& sizes, uint32_t count, bool ofColumns,
                          size_t step) {
      const bool whole = random.chance(0.5);
      line.set(cat(name, "Tensor"), operand(generator, type, sizes, shape.plain, step));
      TensorText first = parameter(generator, toInteger ? type : scale, rank, count, ofColumns, whole);
      if (!toInteger) line.set(cat(name, "ScaleTensor"), first);
      if (random.chance(0.3)) return;
      if (!toInteger) first = TensorText{type, first.sizes};
      line.set(cat(name, "ZeroPointTensor"), first);
    };
    side("A", generator.type, shape.matrix(shape.rows, shape.depth), shape.rows, false, cycle);
    side("B", b, shape.matrix(shape.depth, shape.columns), shape.columns, true, cycle + generator.index() % 4);
    std::string_view fill = generator.randomFill();
    if (toFloat) {
      if (random.chance(0.5)) line.set("BiasTensor", addend(generator, y, shape));
      // Large numbers are beyond FLOAT16.
      if (y == DML_TENSOR_DATA_TYPE_FLOAT16 && (bitWidth(b) > 8 || bitWidth(generator.type) > 8)) fill = "int";
    } else if (!toInteger) {
      const TensorText scaleY = parameter(generator, scale, rank, shape.rows, false, random.chance(0.5));
      line.set("OutputScaleTensor", scaleY);
      if (random.chance(0.7)) line.set("OutputZeroPointTensor", TensorText{y, scaleY.sizes});
    }
    line.set("OutputTensor", result(generator, y, shape));
    generator.keep(std::move(line), fill);
  };
  while (generator.index() < kCasesPerType) {
    Shape shape = shapeAt(generator);
    shape.depth = std::min(shape.depth, 2000u);
    add(shape);
  }
  add({1025, 1027, 9, {}, true});
  add({3, 1031, 1024, {}, true});
}

}  // namespace dimple::testing
