// RANDOM_GENERATOR and NONZERO_COORDINATES.
#include <algorithm>

#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

void addNonzero(Generator& generator, const Sizes& sizes, bool plain) {
  Random& random = generator.random;
  const auto rank = static_cast<uint32_t>(sizes.size());
  uint32_t least = rank;
  while (least > 1 && sizes[rank - least] == 1) --least;
  Sizes rows(random.below(3), 1);
  rows.push_back(static_cast<uint32_t>(productOf(sizes)));
  rows.push_back(random.size(least, rank));
  const Sizes one(1 + random.below(4), 1);
  const DataType word = DML_TENSOR_DATA_TYPE_UINT32;
  const size_t cycle = generator.cycle();
  Line line(generator.schema);
  TensorText input = plain ? TensorText{generator.type, sizes} : generator.input(generator.type, sizes, cycle);
  if (!plain) generator.maybeOwn(input);
  line.set("InputTensor", input);
  line.set("OutputCountTensor", plain ? TensorText{word, one} : generator.output(word, one, cycle));
  line.set("OutputCoordinatesTensor", plain ? TensorText{word, rows} : generator.output(word, rows, cycle / 2));
  generator.keep(std::move(line));
}

void addRandom(Generator& generator, const Sizes& sizes) {
  Random& random = generator.random;
  const DataType word = DML_TENSOR_DATA_TYPE_UINT32;
  const size_t turn = generator.index();
  Sizes state(1 + turn % 8, 1);
  state.back() = 6;
  Line line(generator.schema);
  TensorText input = generator.input(word, state, generator.cycle());
  generator.maybeOwn(input);
  line.set("InputStateTensor", input);
  line.set("OutputTensor", generator.output(word, sizes, generator.cycle() / 2));
  if (turn % 3 != 0) line.set("OutputStateTensor", generator.output(word, state, generator.cycle() / 3));
  line.set("Type", "PHILOX_4X32_10");
  generator.keep(std::move(line), random.chance(0.4) ? "special" : "float");
}

}  // namespace

void generateNonzeroCoordinates(Generator& generator) {
  Random& random = generator.random;
  constexpr uint32_t kLengths[] = {1, 2, 255, 256, 257, 1023, 2047, 2048, 2049, 4097, 65537};
  for (const uint32_t length : kLengths) addNonzero(generator, {length}, false);
  while (generator.index() < kCasesPerType)
    addNonzero(generator, makeSizes(random, generator.rank(), std::max<uint64_t>(2, logUniform(random, 8192))), false);
  addNonzero(generator, {kLargeCount}, true);
  addNonzero(generator, {5, kLargeCount / 15, 3}, true);
}

void generateRandom(Generator& generator) {
  Random& random = generator.random;
  while (generator.index() < kCasesPerType) {
    // Ranks of the output and of the state in all pairs.
    const size_t rank = 1 + (generator.index() / 8 + generator.index()) % 8;
    addRandom(generator, makeSizes(random, rank, std::max<uint64_t>(2, logUniform(random, 8192))));
  }
  addRandom(generator, {kLargeCount});
  addRandom(generator, {3, kLargeCount / 3});
}

}  // namespace dimple::testing
