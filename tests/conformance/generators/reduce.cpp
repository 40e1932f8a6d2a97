#include <algorithm>
#include <array>
#include <numeric>

#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

// Lengths around the widths of subgroups, workgroups and passes.
constexpr std::array<uint32_t, 30> kLengths = {1,    2,    3,    4,    7,    8,    9,     31,    32,    33,
                                               63,   64,   65,   127,  128,  129,  255,   256,   257,   1000,
                                               1023, 1024, 1025, 2047, 2049, 4097, 10001, 65535, 65537, 100003};

Sizes reducedSizes(const Sizes& sizes, const Sizes& axes) {
  Sizes out = sizes;
  for (uint32_t axis : axes) out[axis] = 1;
  return out;
}

// Any set of axes in any order; now and then one is named twice, and at times none.
Sizes randomAxes(Random& random, size_t rank) {
  Sizes axes(rank);
  std::iota(axes.begin(), axes.end(), 0u);
  random.shuffle(std::span(axes));
  axes.resize(random.chance(0.03) ? 0 : 1 + random.below(rank));
  if (!axes.empty() && random.chance(0.1)) axes.push_back(random.pick(axes));
  return axes;
}

// Calls add(sizes, axes, plain) for the shapes that a reduction must get right.
template <class Add>
void forShapes(Generator& generator, size_t count, Add add) {
  Random& random = generator.random;
  const size_t start = generator.index();
  // Rows, columns and what lies between, of all lengths.
  const size_t lengths = std::max(kLengths.size(), count / 3);
  for (size_t i = 0; i < lengths; ++i) {
    const uint32_t length = kLengths[i % kLengths.size()];
    const uint32_t others = length > 5000 ? random.size(1, 3) : random.size(1, 40);
    switch ((i + generator.index() / kLengths.size()) % 5) {
      case 0:
        add(Sizes{others, length}, Sizes{1}, true);
        break;
      case 1:
        add(Sizes{length, others}, Sizes{0}, true);
        break;
      case 2:
        add(Sizes{2, length, others}, Sizes{1}, true);
        break;
      case 3:
        add(Sizes{length, others}, Sizes{0}, false);
        break;
      default:
        add(Sizes{others, length}, Sizes{1}, false);
        break;
    }
  }
  while (generator.index() < start + count) {
    Sizes sizes = makeSizes(random, generator.rank(), std::max<uint64_t>(2, logUniform(random, 8192)));
    Sizes axes = randomAxes(random, sizes.size());
    add(std::move(sizes), std::move(axes), false);
  }
}

TensorText inputOf(Generator& generator, const Sizes& sizes, bool plain) {
  if (plain) return {generator.type, sizes};
  TensorText input = generator.input(generator.type, sizes, generator.cycle());
  generator.maybeOwn(input);
  return input;
}

void addReduce(Generator& generator, std::string_view function, DataType outputType, const Sizes& sizes,
               const Sizes& axes, bool plain) {
  const Sizes out = reducedSizes(sizes, axes);
  Line line(generator.schema);
  line.set("Function", function).set("InputTensor", inputOf(generator, sizes, plain));
  line.set("OutputTensor",
           plain ? TensorText{outputType, out} : generator.output(outputType, out, generator.cycle() / 2));
  line.set("Axes", bracketed(axes));
  generator.keep(std::move(line));
}

struct FunctionRow {
  std::string_view name;
  TypeSet types;
};
constexpr TypeSet kSums = kFloats | kIndices;
constexpr FunctionRow kFunctions[] = {{"SUM", kSums},       {"AVERAGE", kFloats},  {"MAX", kNumbers},
                                      {"MIN", kNumbers},    {"L1", kSums},         {"L2", kFloats},
                                      {"MULTIPLY", kSums},  {"SUM_SQUARE", kSums}, {"LOG_SUM", kFloats},
                                      {"ARGMAX", kNumbers}, {"ARGMIN", kNumbers},  {"LOG_SUM_EXP", kFloats}};

DataType indexTypeAt(size_t turn) {
  constexpr DataType kTypes[] = {DML_TENSOR_DATA_TYPE_UINT32, DML_TENSOR_DATA_TYPE_INT32, DML_TENSOR_DATA_TYPE_UINT64,
                                 DML_TENSOR_DATA_TYPE_INT64};
  return kTypes[turn % std::size(kTypes)];
}

}  // namespace

void generateReduce(Generator& generator) {
  for (const FunctionRow& row : kFunctions) {
    if (!(row.types & typeBit(generator.type))) continue;
    const bool index = row.name.starts_with("ARG");
    const auto add = [&](const Sizes& sizes, const Sizes& axes, bool plain) {
      addReduce(generator, row.name, index ? indexTypeAt(generator.index()) : generator.type, sizes, axes, plain);
    };
    forShapes(generator, 60, add);
    add({kLargeCount}, {0}, true);
    if (row.name == "SUM" || row.name == "MAX") {
      add({2, 3, kLargeCount / 3}, {1, 2}, true);
      add({kLargeCount / 5, 5}, {0}, true);
      add({5, kLargeCount / 5}, {0}, true);
    }
  }
}

void generateArg(Generator& generator) {
  const auto add = [&](const Sizes& sizes, const Sizes& axes, bool plain) {
    const DataType outputType = indexTypeAt(generator.index());
    const Sizes out = reducedSizes(sizes, axes);
    Line line(generator.schema);
    line.set("InputTensor", inputOf(generator, sizes, plain));
    line.set("OutputTensor",
             plain ? TensorText{outputType, out} : generator.output(outputType, out, generator.cycle() / 2));
    line.set("Axes", bracketed(axes));
    line.set("AxisDirection", generator.index() % 3 == 0 ? "DECREASING" : "INCREASING");
    generator.keep(std::move(line));
  };
  forShapes(generator, kCasesPerType, add);
  add({kLargeCount}, {0}, true);
  add({kLargeCount / 5, 5}, {0}, true);
}

}  // namespace dimple::testing
