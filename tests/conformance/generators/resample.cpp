// Resampling and its gradients.
#include <algorithm>
#include <cmath>

#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

struct Dimension {
  uint32_t inputSize = 1;
  uint32_t outputSize = 1;
  float scale = 1;
  float inputOffset = 0.5F;
  float outputOffset = -0.5F;
};
using Dimensions = std::vector<Dimension>;

uint32_t scaledSize(uint32_t size, float scale) {
  return std::max(1U, static_cast<uint32_t>(std::floor(static_cast<float>(size) * scale)));
}

float quotientOf(uint32_t a, uint32_t b) { return static_cast<float>(a) / static_cast<float>(b); }

Dimension randomDimension(Random& random, uint32_t size) {
  Dimension d{size, size};
  if (random.chance(0.3)) return d;
  constexpr float kScales[] = {2, 3, 4, 0.5F, 0.25F, 1.5F, 0.75F, 1.25F, 0.3F, 0.1F, 7};
  switch (random.below(4)) {
    case 0:
      d.scale = random.pick(kScales);
      d.outputSize = scaledSize(size, d.scale);
      break;
    case 1:  // cropped, or with repeated edges
      d.scale = random.pick(kScales);
      d.outputSize = random.size(1, scaledSize(size, d.scale) + 4);
      break;
    case 2:
      d.outputSize = random.size(1, 2 * size + 2);
      d.scale = quotientOf(d.outputSize, size);
      break;
    default:  // from corner to corner
      d.outputSize = random.size(1, 2 * size + 2);
      d.scale = size > 1 && d.outputSize > 1 ? quotientOf(d.outputSize - 1, size - 1) : 1e30F;
      d.inputOffset = d.outputOffset = 0;
      return d;
  }
  constexpr float kOffsets[] = {0, 0.5F, -0.5F, 0.25F, 1, -1.75F, 0.1F};
  if (random.chance(0.4)) {
    d.inputOffset = random.pick(kOffsets);
    d.outputOffset = random.pick(kOffsets);
  }
  return d;
}

template <class Value>
std::string listOf(const Dimensions& dimensions, Value value) {
  std::string text = "[";
  for (const Dimension& d : dimensions) text += cat(text.size() > 1 ? "," : "", numberText(value(d)));
  return text + "]";
}

void addResampling(Generator& generator, const Dimensions& dimensions, bool plain) {
  const OpSchema& schema = generator.schema;
  const bool gradient = schema.fields[0].name == "InputGradientTensor";
  Sizes from, to;
  for (const Dimension& d : dimensions) {
    from.push_back(gradient ? d.outputSize : d.inputSize);
    to.push_back(gradient ? d.inputSize : d.outputSize);
  }
  TensorText input{generator.type, from};
  TensorText output{generator.type, to};
  if (!plain) {
    input = generator.input(generator.type, from, generator.cycle());
    output = generator.output(generator.type, to, generator.cycle() / 2);
    generator.maybeOwn(input);
  }
  Line line(schema);
  line.set(schema.fields[0].name, input).set(schema.fields[1].name, output);
  const auto has = [&](std::string_view name) {
    return std::any_of(schema.fields.begin(), schema.fields.end(), [&](const Field& f) { return f.name == name; });
  };
  const size_t turn = generator.index();
  line.set("InterpolationMode", turn % 5 < 3 ? "LINEAR" : "NEAREST_NEIGHBOR");
  if (has("RoundingDirection")) line.set("RoundingDirection", turn % 2 == 0 ? "INCREASING" : "DECREASING");
  line.set("Scales", listOf(dimensions, [](const Dimension& d) { return d.scale; }));
  if (has("InputPixelOffsets")) {
    line.set("InputPixelOffsets", listOf(dimensions, [](const Dimension& d) { return d.inputOffset; }));
    line.set("OutputPixelOffsets", listOf(dimensions, [](const Dimension& d) { return d.outputOffset; }));
  }
  if (has("Antialiased")) line.set("Antialiased", turn % 3 != 0 ? 1 : 0);
  generator.keep(std::move(line));
}

uint64_t elementsOf(const Dimensions& dimensions) {
  uint64_t inputs = 1;
  uint64_t outputs = 1;
  for (const Dimension& d : dimensions) {
    inputs *= d.inputSize;
    outputs *= d.outputSize;
  }
  return std::max(inputs, outputs);
}

}  // namespace

void generateResample(Generator& generator) {
  Random& random = generator.random;
  while (generator.index() < kCasesPerType) {
    Dimensions dimensions;
    do {
      dimensions.clear();
      const Sizes sizes = makeSizes(random, generator.rank(4), std::max<uint64_t>(2, logUniform(random, 1024)));
      for (const uint32_t size : sizes) dimensions.push_back(randomDimension(random, size));
    } while (elementsOf(dimensions) > 4096);
    addResampling(generator, dimensions, false);
  }
  // Rows of all lengths.
  for (const uint32_t size : {1U, 31U, 256U, 257U, 4099U})
    for (const uint32_t other : {1U, 3U, 1000U, 5001U})
      addResampling(generator, {{size, other, quotientOf(other, size)}}, true);
  addResampling(generator, {{2}, {3}, {100, 101, quotientOf(101, 100)}, {117, 118, quotientOf(118, 117)}}, true);
  for (int i = 0; i < 2; ++i) addResampling(generator, {{kLargeCount, 7, quotientOf(7, kLargeCount)}}, true);
  addResampling(generator, {{3, 500009, quotientOf(500009, 3)}}, true);
}

void generateUpsample2D(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Sizes& sizes, uint32_t width, uint32_t height, bool plain) {
    Sizes out = sizes;
    out[out.size() - 1] *= width;
    out[out.size() - 2] *= height;
    TensorText input{generator.type, sizes};
    TensorText output{generator.type, out};
    if (!plain) {
      input = generator.input(generator.type, sizes, generator.cycle());
      output = generator.output(generator.type, out, generator.cycle() / 2);
      generator.maybeOwn(input);
    }
    Line line(generator.schema);
    line.set("InputTensor", input).set("OutputTensor", output).set("ScaleSize", cat("[", width, ",", height, "]"));
    line.set("InterpolationMode", generator.index() % 5 < 3 ? "LINEAR" : "NEAREST_NEIGHBOR");
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    const Sizes sizes = makeSizes(random, 4 + generator.index() % 2, std::max<uint64_t>(2, logUniform(random, 512)));
    add(sizes, random.size(1, 4), random.size(1, 4), false);
  }
  add({1, 1, 513, 1025}, 2, 1, true);
  add({1, 3, 5, 7}, 101, 97, true);
}

}  // namespace dimple::testing
