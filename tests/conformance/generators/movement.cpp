#include <algorithm>
#include <numeric>

#include "core/text.h"
#include "tests/conformance/generators/movement.h"

namespace dimple::testing {
namespace {

template <class T>
std::vector<T> values(size_t count, T value) {
  return std::vector<T>(count, value);
}

}  // namespace

void generateSlice(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Sizes& in, bool plain) {
    Sizes offsets, sizes, strides;
    for (uint32_t size : in) {
      offsets.push_back(random.chance(0.4) ? 0 : random.size(0, size - 1));
      const uint32_t rest = size - offsets.back();
      // A stride that leaves one element may exceed the tensor.
      strides.push_back(random.chance(0.5)    ? 1
                        : random.chance(0.05) ? random.size(1, 5 * size)
                                              : random.size(1, 1 + rest / 2));
      const uint32_t most = 1 + (rest - 1) / strides.back();
      sizes.push_back(random.chance(0.5) ? most : random.size(1, most));
    }
    TensorText input = plain ? TensorText{generator.type, in} : generator.input(generator.type, in, generator.cycle());
    if (!plain) generator.maybeOwn(input);
    const TensorText output =
        plain ? TensorText{generator.type, sizes} : generator.output(generator.type, sizes, generator.cycle() / 2);
    Line line(generator.schema);
    line.set("InputTensor", input).set("OutputTensor", output);
    line.set("Offsets", bracketed(offsets)).set("Sizes", bracketed(sizes)).set("Strides", bracketed(strides));
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) add(randomSizes(generator, generator.rank()), false);
  for (uint32_t size : {1u, 2u, 3u, 5u, 17u, 255u, 1025u}) add({size}, true);
  add({3, 701, 1001}, true);
  add({2 * kLargeCount}, true);
  Line line(generator.schema);
  line.set("InputTensor", TensorText{generator.type, {2, kLargeCount}});
  line.set("OutputTensor", TensorText{generator.type, {1, kLargeCount - 2}});
  keepMovement(
      generator,
      std::move(
          line.set("Offsets", "[1,1]").set("Sizes", bracketed(Sizes{1, kLargeCount - 2})).set("Strides", "[1,1]")));
}

void generateSlice1(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Sizes& in, bool plain) {
    Sizes offsets, windows, sizes;
    std::vector<int64_t> strides;
    for (uint32_t size : in) {
      offsets.push_back(random.chance(0.4) ? 0 : random.size(0, size - 1));
      windows.push_back(random.chance(0.5) ? size - offsets.back() : random.size(1, size - offsets.back()));
      const int64_t magnitude = random.chance(0.5) ? 1 : random.range(1, 1 + windows.back() / 2);
      strides.push_back(random.chance(0.5) ? -magnitude : magnitude);
      const uint32_t most = 1 + (windows.back() - 1) / static_cast<uint32_t>(magnitude);
      sizes.push_back(random.chance(0.7) ? most : random.size(1, most));
    }
    TensorText input = plain ? TensorText{generator.type, in} : generator.input(generator.type, in, generator.cycle());
    if (!plain) generator.maybeOwn(input);
    const TensorText output =
        plain ? TensorText{generator.type, sizes} : generator.output(generator.type, sizes, generator.cycle() / 2);
    Line line(generator.schema);
    line.set("InputTensor", input).set("OutputTensor", output).set("InputWindowOffsets", bracketed(offsets));
    line.set("InputWindowSizes", bracketed(windows)).set("InputWindowStrides", bracketed(strides));
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) add(randomSizes(generator, generator.rank()), false);
  for (uint32_t size : {1u, 2u, 3u, 5u, 17u, 255u, 1025u}) add({size}, true);
  add({3, 701, 1001}, true);
  Line line(generator.schema);
  line.set("InputTensor", TensorText{generator.type, {kLargeCount}});
  line.set("OutputTensor", TensorText{generator.type, {kLargeCount}});
  line.set("InputWindowOffsets", "[0]").set("InputWindowSizes", bracketed(Sizes{kLargeCount}));
  keepMovement(generator, std::move(line.set("InputWindowStrides", "[-1]")));
}

void generateJoin(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](Sizes out, size_t axis, const Sizes& parts, bool plain) {
    out[axis] = std::accumulate(parts.begin(), parts.end(), 0u);
    std::string inputs;
    for (uint32_t part : parts) {
      Sizes in = out;
      in[axis] = part;
      TensorText input{generator.type, in};
      if (!plain) {
        input =
            generator.input(generator.type, in, generator.cycle() + (generator.index() % 3 == 0 ? inputs.size() : 0));
        generator.maybeOwn(input);
      }
      inputs += cat(inputs.empty() ? "(" : ",", input.text());
    }
    const TensorText output =
        plain ? TensorText{generator.type, out} : generator.output(generator.type, out, generator.cycle() / 2);
    Line line(generator.schema);
    line.set("InputTensors", inputs + ")").set("OutputTensor", output).set("Axis", axis);
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    Sizes sizes = makeSizes(random, generator.rank(), logUniform(random, 1024));
    const size_t axis = random.below(sizes.size());
    Sizes parts;
    for (uint64_t count = random.chance(0.1) ? 1 : random.below(4) + 2; count > 0; --count)
      parts.push_back(random.size(1, std::min(sizes[axis], 40u)));
    const bool plain = random.chance(0.3);
    add(std::move(sizes), axis, parts, plain);
  }
  add({3, 1, 5}, 1, values<uint32_t>(100, 2), true);
  add({3, 1, 5}, 2, values<uint32_t>(100, 1), false);
  add({1}, 0, values<uint32_t>(300, 1), true);
  add({1}, 0, {kLargeCount, 3, 1}, true);
  add({1, 1031}, 0, {500, 521, 3}, true);
}

void generateGather(Generator& generator) {
  Random& random = generator.random;
  // output = input[leading..., index, trailing...] for the index tensor's last `q` dimensions.
  const auto add = [&](size_t rank, size_t q, Sizes meaningful, size_t axisInMeaningful, const Sizes& indexSizes,
                       bool plain) {
    const size_t ones = rank - meaningful.size();
    Sizes in(ones, 1);
    in.insert(in.end(), meaningful.begin(), meaningful.end());
    const size_t axis = ones + axisInMeaningful;
    Sizes indices(rank - q, 1);
    indices.insert(indices.end(), indexSizes.begin(), indexSizes.end());
    Sizes want(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(axis));
    want.insert(want.end(), indexSizes.begin(), indexSizes.end());
    want.insert(want.end(), in.begin() + static_cast<std::ptrdiff_t>(axis) + 1, in.end());
    if (want.size() < rank) want.insert(want.begin(), rank - want.size(), 1);
    want.erase(want.begin(), want.end() - static_cast<std::ptrdiff_t>(rank));
    const DataType indexType = kIndexTypes[generator.index() / 2 % 4];
    const size_t cycle = generator.cycle();
    TensorText input{generator.type, in};
    TensorText index{indexType, indices};
    TensorText output{generator.type, want};
    if (!plain) {
      input = generator.input(generator.type, in, cycle);
      index = generator.input(indexType, indices, cycle / 2);
      output = generator.output(generator.type, want, cycle / 3);
      generator.maybeOwn(input);
      generator.maybeOwn(index);
    }
    Line line(generator.schema);
    line.set("InputTensor", input).set("IndicesTensor", index).set("OutputTensor", output);
    line.set("Axis", axis).set("IndexDimensions", q);
    // Elements with an index outside are not compared: it is enough that nothing breaks.
    if (productOf(indexSizes) >= 8 && random.chance(0.25)) line.set("indices", "wild");
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    const size_t rank = generator.rank();
    const size_t q = random.below(std::min<size_t>(rank, 3) + 1);
    // Mostly as many dimensions of 1 in front as the indices take more than the axis gives.
    const size_t excess = q > 1 && random.chance(0.8) ? q - 1 : 0;
    const size_t inner = rank - std::min(excess, rank - 1);
    Sizes meaningful = makeSizes(random, inner, logUniform(random, 1024));
    const size_t axis = random.below(inner);
    if (meaningful[axis] == 1 && random.chance(0.8)) meaningful[axis] = random.size(2, 9);
    add(rank, q, meaningful, axis, q == 0 ? Sizes{} : makeSizes(random, q, logUniform(random, 24)), random.chance(0.2));
  }
  add(1, 1, {1000}, 0, {kLargeCount}, true);
  add(2, 1, {kLargeCount, 1}, 0, {4097}, true);
  add(2, 1, {257, 1023}, 0, {1031}, true);
}

void generateScatterNd(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](size_t rank, const Sizes& meaningful, size_t tuple, const Sizes& tuples, size_t indexOnes,
                       size_t updateOnes, bool plain) {
    Sizes in(rank - meaningful.size(), 1);
    in.insert(in.end(), meaningful.begin(), meaningful.end());
    Sizes indices(indexOnes, 1);
    indices.insert(indices.end(), tuples.begin(), tuples.end());
    indices.push_back(static_cast<uint32_t>(tuple));
    Sizes updates(updateOnes, 1);
    updates.insert(updates.end(), tuples.begin(), tuples.end());
    updates.insert(updates.end(), meaningful.begin() + static_cast<std::ptrdiff_t>(tuple), meaningful.end());
    if (updates.empty()) updates.push_back(1);
    const DataType indexType = kIndexTypes[generator.index() / 2 % 4];
    const size_t cycle = generator.cycle();
    TensorText tensors[] = {
        {generator.type, in}, {indexType, indices}, {generator.type, updates}, {generator.type, in}};
    if (!plain) {
      tensors[0] = generator.input(generator.type, in, cycle);
      // Indices must not be broadcast.
      tensors[1] = generator.output(indexType, indices, cycle / 2);
      tensors[2] = generator.input(generator.type, updates, cycle / 3);
      tensors[3] = generator.output(generator.type, in, cycle);
      for (size_t i = 0; i < 3; ++i) generator.maybeOwn(tensors[i]);
    }
    Line line(generator.schema);
    line.set("InputTensor", tensors[0]).set("IndicesTensor", tensors[1]).set("UpdatesTensor", tensors[2]);
    line.set("OutputTensor", tensors[3]).set("InputDimensionCount", meaningful.size());
    line.set("IndicesDimensionCount", tuples.size() + 1);
    if (random.chance(0.25)) line.set("indices", "wild");
    keepMovement(generator, std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    const size_t rank = generator.rank();
    const size_t inner = 1 + random.below(rank);
    const Sizes meaningful = makeSizes(random, inner, logUniform(random, 2048));
    const size_t tuple = 1 + random.below(inner);
    uint64_t places = 1;
    for (size_t d = 0; d < tuple; ++d) places *= meaningful[d];
    // Updates have at most 8 dimensions, and each tuple an element of its own.
    const size_t under = inner - tuple;
    const size_t most = std::min<size_t>(3, 8 - under);
    const size_t dimensions = random.below(std::min<size_t>(most, 7) + 1);
    const Sizes tuples = dimensions == 0 ? Sizes{} : makeSizes(random, dimensions, logUniform(random, places));
    const size_t indexOnes = random.below(8 - dimensions);
    const size_t updateOnes = random.below(8 - dimensions - under + 1);
    add(rank, meaningful, tuple, tuples, indexOnes, updateOnes, random.chance(0.2));
  }
  add(1, {kLargeCount}, 1, {5001}, 0, 0, true);
  add(2, {1025, 1025}, 1, {513}, 0, 0, true);
  add(2, {1025, 1025}, 2, {3, 1001}, 0, 0, true);
}

}  // namespace dimple::testing
