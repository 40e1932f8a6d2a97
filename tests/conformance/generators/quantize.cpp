// Operators that quantize and dequantize.
#include <algorithm>
#include <array>

#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

constexpr std::array kNarrow = {DML_TENSOR_DATA_TYPE_UINT8, DML_TENSOR_DATA_TYPE_INT8, DML_TENSOR_DATA_TYPE_UINT4,
                                DML_TENSOR_DATA_TYPE_INT4};

// Scales of a few elements: small multiples of powers of two, of which quotients are exact and meet halves, or any.
std::string scales(Generator& generator) {
  Random& random = generator.random;
  const bool multiples = random.chance(0.5);
  std::string text;
  for (uint32_t i = random.size(1, 7); i > 0; --i) {
    const double scale = multiples ? 0.125 * static_cast<double>((1 + 2 * random.below(4)) << random.below(6))
                                   : 0.05 + 3 * random.unit();
    text += cat(text.empty() ? "" : ",", numberText(static_cast<float>(random.chance(0.1) ? -scale : scale)));
  }
  if (random.chance(0.05)) text += ",0";
  return cat("[", text, "]");
}

DataType floatType(const Generator& generator, size_t period) {
  return generator.index() / period % 2 == 0 ? DML_TENSOR_DATA_TYPE_FLOAT32 : DML_TENSOR_DATA_TYPE_FLOAT16;
}

// FLOAT16 holds small integers of any scale.
std::string_view fillFor(Generator& generator, DataType result) {
  return result == DML_TENSOR_DATA_TYPE_FLOAT16 ? "int" : generator.randomFill();
}

TensorText tensorOf(Generator& generator, bool plain, DataType type, const Sizes& sizes, size_t cycle, bool output) {
  if (plain) return {type, sizes};
  return output ? generator.output(type, sizes, cycle) : generator.input(type, sizes, cycle);
}

void addLinear(Generator& generator, const Sizes& sizes, bool plain) {
  const bool quantizes = generator.schema.type == DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR;
  DataType scale = quantizes ? generator.type : floatType(generator, 3);
  if (!isFloat(scale)) scale = DML_TENSOR_DATA_TYPE_FLOAT32;
  const DataType integers = quantizes ? kNarrow[generator.index() % 2] : generator.type;
  const size_t cycle = generator.cycle();
  Line line(generator.schema);
  line.set("InputTensor", tensorOf(generator, plain, generator.type, sizes, cycle, false));
  line.set("ScaleTensor", tensorOf(generator, plain, scale, sizes, cycle + generator.index() % 4, false));
  if (generator.random.chance(0.8))
    line.set("ZeroPointTensor", tensorOf(generator, plain, integers, sizes, cycle / 2, false));
  line.set("OutputTensor", tensorOf(generator, plain, quantizes ? integers : scale, sizes, cycle / 3, true));
  line.set("input1", scales(generator));
  generator.keep(std::move(line), quantizes ? generator.randomFill() : fillFor(generator, scale));
}

void addSum(Generator& generator, const Sizes& sizes, bool plain) {
  Random& random = generator.random;
  const Sizes ones(sizes.size(), 1);
  const size_t cycle = generator.cycle();
  const std::array types{generator.type, kNarrow[generator.index() / 2 % 2], kNarrow[generator.index() / 4 % 2]};
  constexpr std::array<std::string_view, 3> kNames = {"A", "B", "Output"};
  Line line(generator.schema);
  for (size_t i = 0; i < kNames.size(); ++i) {
    const auto name = [&](std::string_view tail) { return cat(kNames[i], tail); };
    if (i < 2) line.set(name("Tensor"), tensorOf(generator, plain, types[i], sizes, cycle + i, false));
    line.set(name("ScaleTensor"), TensorText{DML_TENSOR_DATA_TYPE_FLOAT32, ones});
    if (random.chance(0.75)) line.set(name("ZeroPointTensor"), TensorText{types[i], ones});
  }
  line.set("OutputTensor", tensorOf(generator, plain, types[2], sizes, cycle / 2, true));
  for (const size_t input : {1, 4, 6}) line.set(cat("input", input), scales(generator));
  generator.keep(std::move(line));
}

void addDynamic(Generator& generator, const Sizes& sizes, bool plain) {
  const Sizes ones(sizes.size(), 1);
  const DataType type = kNarrow[generator.index() % 2];
  Line line(generator.schema);
  line.set("InputTensor", tensorOf(generator, plain, generator.type, sizes, generator.cycle(), false));
  line.set("OutputTensor", tensorOf(generator, plain, type, sizes, generator.cycle() / 2, true));
  line.set("OutputScaleTensor", TensorText{DML_TENSOR_DATA_TYPE_FLOAT32, ones});
  line.set("OutputZeroPointTensor", TensorText{type, ones});
  // An infinity leaves nothing to quantize.
  generator.keep(std::move(line), generator.index() % 9 == 0 ? "special" : "int");
}

void addBlocks(Generator& generator, const Sizes& blocks, const Sizes& sizes, bool plain) {
  const bool quantizes = generator.schema.type == DML_OPERATOR_QUANTIZE;
  const size_t turn = generator.index();
  // The cases of an 8-bit type serve the 4-bit type of its signedness, too.
  const size_t own = generator.type == DML_TENSOR_DATA_TYPE_INT8 ? 1 : 0;
  const DataType integers = kNarrow[own + turn % 2 * 2];
  const DataType real = floatType(generator, 2);
  const bool hasZeroPoint = turn / 3 % 3 != 0;
  const size_t cycle = generator.cycle();
  const auto block = [&](DataType type, size_t at) {
    return tensorOf(generator, plain, type, blocks, cycle + at, false).text();
  };
  Line line(generator.schema);
  line.set("InputTensor", tensorOf(generator, plain, quantizes ? real : integers, sizes, cycle, false));
  line.set("QuantizationType", hasZeroPoint ? "SCALE_ZERO_POINT" : "SCALE");
  line.set("QuantizationTensors",
           hasZeroPoint ? cat("(", block(real, 1), ",", block(integers, 2), ")") : cat("(", block(real, 1), ")"));
  line.set("OutputTensor", tensorOf(generator, plain, quantizes ? integers : real, sizes, cycle / 2, true));
  line.set("input1", scales(generator));
  generator.keep(std::move(line), quantizes ? generator.randomFill() : fillFor(generator, real));
}

// Calls add(sizes, plain) until there are enough cases, then for a large one.
template <class Add>
void addAll(Generator& generator, Add add) {
  while (generator.index() < kCasesPerType)
    add(makeSizes(generator.random, generator.rank(), logUniform(generator.random, 4096)), false);
  for (uint32_t size : {1u, 2u, 3u, 7u, 9u, 31u, 33u, 255u, 257u, 4097u}) add(Sizes{size}, true);
  add(Sizes{kLargeCount}, true);
}

}  // namespace

void generateQuantizeLinear(Generator& generator) {
  addAll(generator, [&](const Sizes& sizes, bool plain) { addLinear(generator, sizes, plain); });
}

void generateQuantizedLinearAdd(Generator& generator) {
  addAll(generator, [&](const Sizes& sizes, bool plain) { addSum(generator, sizes, plain); });
}

void generateDynamicQuantizeLinear(Generator& generator) {
  addAll(generator, [&](const Sizes& sizes, bool plain) { addDynamic(generator, sizes, plain); });
  addDynamic(generator, {kLargeCount / 7, 7}, false);
}

void generateQuantize(Generator& generator) {
  Random& random = generator.random;
  addAll(generator, [&](const Sizes& blocks, bool plain) {
    Sizes sizes = blocks;
    for (uint32_t& size : sizes)
      if (random.chance(0.5)) size *= random.size(1, sizes.size() > 5 ? 2 : 5);
    addBlocks(generator, blocks, sizes, plain);
  });
  // Weights: a block along the last axis.
  addBlocks(generator, {37, 4}, {37, 128}, true);
  addBlocks(generator, {1025, 32}, {1025, 1024}, true);
}

}  // namespace dimple::testing
