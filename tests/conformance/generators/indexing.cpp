// Cases of the operators that gather and scatter by coordinates.
#include "core/text.h"
#include "tests/conformance/generators/movement.h"

namespace dimple::testing {
namespace {

DataType indexTypeOf(const Generator& generator) { return kIndexTypes[generator.index() / 2 % 4]; }

Sizes withOnes(size_t ones, const Sizes& sizes) {
  Sizes all(ones, 1);
  all.insert(all.end(), sizes.begin(), sizes.end());
  return all;
}

// Sizes with an axis that mostly has some elements.
Sizes sizesWithAxis(Generator& generator, size_t& axis, uint64_t limit) {
  Random& random = generator.random;
  Sizes sizes = makeSizes(random, generator.rank(), std::max<uint64_t>(2, logUniform(random, limit)));
  axis = random.below(sizes.size());
  if (sizes[axis] == 1 && random.chance(0.8)) sizes[axis] = random.size(2, 9);
  return sizes;
}

}  // namespace

void generateGatherElements(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Sizes& in, size_t axis, uint32_t gathered, bool plain) {
    Sizes out = in;
    out[axis] = gathered;
    const DataType indexType = indexTypeOf(generator);
    TensorText input{generator.type, in};
    TensorText index{indexType, out};
    TensorText output{generator.type, out};
    if (!plain) {
      input = generator.input(generator.type, in, generator.cycle());
      index = generator.input(indexType, out, generator.cycle() / 2);
      output = generator.output(generator.type, out, generator.cycle() / 3);
      generator.maybeOwn(input);
      generator.maybeOwn(index);
    }
    Line line(generator.schema);
    line.set("InputTensor", input).set("IndicesTensor", index).set("OutputTensor", output).set("Axis", axis);
    // Elements with an index outside are not compared: it is enough that nothing breaks.
    if (productOf(out) >= 8 && random.chance(0.25)) line.set("indices", "wild");
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    size_t axis = 0;
    const Sizes in = sizesWithAxis(generator, axis, 1024);
    add(in, axis, random.chance(0.3) ? in[axis] : random.size(1, std::min(2 * in[axis], 40u)), random.chance(0.2));
  }
  add({1000}, 0, kLargeCount, true);
  add({257, 1031}, 0, 1021, true);
  add({1025, 7}, 1, 9, true);
}

// GATHER_ND and GATHER_ND1.
void generateGatherNd(Generator& generator) {
  Random& random = generator.random;
  const bool batched = generator.schema.type == DML_OPERATOR_GATHER_ND1;
  // Tuples of `tuple` coordinates after the input's first `batches` dimensions.
  const auto add = [&](size_t rank, const Sizes& meaningful, size_t batches, size_t tuple, const Sizes& tuples,
                       bool plain) {
    Sizes indices = tuples;
    indices.push_back(static_cast<uint32_t>(tuple));
    Sizes want = tuples;
    want.insert(want.end(), meaningful.begin() + static_cast<std::ptrdiff_t>(batches + tuple), meaningful.end());
    const Sizes in = withOnes(rank - meaningful.size(), meaningful);
    const Sizes indexSizes = withOnes(rank - indices.size(), indices);
    const Sizes out = withOnes(rank - want.size(), want);
    const DataType indexType = indexTypeOf(generator);
    TensorText input{generator.type, in};
    TensorText index{indexType, indexSizes};
    TensorText output{generator.type, out};
    if (!plain) {
      input = generator.input(generator.type, in, generator.cycle());
      index = generator.input(indexType, indexSizes, generator.cycle() / 2);
      output = generator.output(generator.type, out, generator.cycle() / 3);
      generator.maybeOwn(input);
      generator.maybeOwn(index);
    }
    Line line(generator.schema);
    line.set("InputTensor", input).set("IndicesTensor", index).set("OutputTensor", output);
    line.set("InputDimensionCount", meaningful.size()).set("IndicesDimensionCount", indices.size());
    if (batched) line.set("BatchDimensionCount", batches);
    if (productOf(tuples) >= 16 && random.chance(0.25)) line.set("indices", "wild");
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    const size_t rank = generator.rank();
    const size_t batches = batched && random.chance(0.7) ? random.below(std::min<size_t>(rank, 4)) : 0;
    const size_t inner = batches + 1 + random.below(rank - batches);
    const size_t tuple = 1 + random.below(inner - batches);
    const size_t extra = random.below(std::min<size_t>({2, rank - 1 - batches, rank - inner + tuple}) + 1);
    const Sizes meaningful = makeSizes(random, inner, std::max<uint64_t>(2, logUniform(random, 1024)));
    Sizes tuples(meaningful.begin(), meaningful.begin() + static_cast<std::ptrdiff_t>(batches));
    // The indices may have fewer batches than the input.
    for (uint32_t& size : tuples)
      if (random.chance(0.1)) size = random.size(1, size);
    if (extra != 0) {
      const Sizes more = makeSizes(random, extra, logUniform(random, 24));
      tuples.insert(tuples.end(), more.begin(), more.end());
    }
    add(rank, meaningful, batches, tuple, tuples, random.chance(0.2));
  }
  add(2, {1025, 1025}, 0, 1, {1031}, true);
  add(3, {257, 263}, 0, 2, {1021, 1033}, true);
  if (batched) add(3, {11, 300, 97}, 1, 1, {11, 1009}, true);
}

void generateScatterElements(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Sizes& in, size_t axis, uint32_t scattered, bool plain) {
    Sizes given = in;
    given[axis] = scattered;
    const DataType indexType = indexTypeOf(generator);
    TensorText tensors[] = {{generator.type, in}, {indexType, given}, {generator.type, given}, {generator.type, in}};
    if (!plain) {
      tensors[0] = generator.input(generator.type, in, generator.cycle());
      tensors[1] = generator.input(indexType, given, generator.cycle() / 2);
      tensors[2] = generator.input(generator.type, given, generator.cycle() / 3);
      tensors[3] = generator.output(generator.type, in, generator.cycle());
      for (size_t i = 0; i < 3; ++i) generator.maybeOwn(tensors[i]);
    }
    Line line(generator.schema);
    line.set("InputTensor", tensors[0]).set("IndicesTensor", tensors[1]).set("UpdatesTensor", tensors[2]);
    line.set("OutputTensor", tensors[3]).set("Axis", axis);
    if (random.chance(0.25)) line.set("indices", "wild");
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    size_t axis = 0;
    const Sizes in = sizesWithAxis(generator, axis, 2048);
    add(in, axis, random.chance(0.3) ? in[axis] : random.size(1, in[axis]), random.chance(0.2));
  }
  add({kLargeCount}, 0, 5001, true);
  add({1025, 1027}, 1, 513, true);
  add({1025, 1027}, 0, 3, true);
}

void generateOneHot(Generator& generator) {
  Random& random = generator.random;
  const Sizes valueSizes[] = {{2}, {1, 2}, {2, 1}, {3}, {1, 3, 1, 1}, {2, 2}, {1, 1, 1, 1, 1, 1, 1, 2}};
  const auto add = [&](const Sizes& out, size_t axis, const Sizes& choices, bool plain) {
    Sizes indices = out;
    indices[axis] = 1;
    const DataType indexType = indexTypeOf(generator);
    TensorText index{indexType, indices};
    TensorText values{generator.type, choices};
    TensorText output{generator.type, out};
    if (!plain) {
      index = generator.input(indexType, indices, generator.cycle());
      values = makeTensor(random, Side::Output, generator.type, choices, generator.layout(generator.cycle() / 3));
      output = generator.output(generator.type, out, generator.cycle() / 2);
      generator.maybeOwn(index);
      generator.maybeOwn(values);
    }
    Line line(generator.schema);
    line.set("IndicesTensor", index).set("ValuesTensor", values).set("OutputTensor", output).set("Axis", axis);
    if (random.chance(0.25)) line.set("indices", "wild");
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    size_t axis = 0;
    const Sizes out = sizesWithAxis(generator, axis, 2048);
    add(out, axis, random.pick(valueSizes), random.chance(0.2));
  }
  add({kLargeCount}, 0, {2}, true);
  add({1021, 1033}, 1, {2}, true);
  add({1021, 5, 3}, 0, {2}, true);
}

}  // namespace dimple::testing
