// Normalization and its gradients.
#include <algorithm>
#include <array>

#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

// Lengths of rows around the widths of workgroups and parts.
constexpr std::array<uint32_t, 16> kLengths = {2,   3,   7,    31,   63,   64,   65,    127,
                                               255, 257, 1000, 1025, 4097, 8193, 16385, 70001};

std::string realText(Random& random, double low, double high) {
  return numberText(static_cast<float>(low + (high - low) * random.unit()));
}

std::string epsilonText(Random& random) { return random.chance(0.1) ? "0" : realText(random, 1e-5, 0.5); }

TensorText inputOf(Generator& generator, const Sizes& sizes, size_t cycle, bool plain) {
  if (plain) return {generator.type, sizes};
  TensorText input = generator.input(generator.type, sizes, cycle);
  generator.maybeOwn(input);
  return input;
}

TensorText outputOf(Generator& generator, const Sizes& sizes, size_t cycle, bool plain) {
  return plain ? TensorText{generator.type, sizes} : generator.output(generator.type, sizes, cycle);
}

// Sizes of something that is broadcast in some dimensions.
Sizes broadcastSizes(Random& random, const Sizes& sizes) {
  Sizes out = sizes;
  for (uint32_t& size : out)
    if (random.chance(0.5)) size = 1;
  return out;
}

// A tensor, and the dimensions along which its rows lie.
struct Shape {
  Sizes sizes, axes;
};

Sizes rowSizes(const Shape& shape) {
  Sizes sizes = shape.sizes;
  for (uint32_t axis : shape.axes) sizes[axis] = 1;
  return sizes;
}

// Rows of every length, beside each other and one behind another; then any axes of shapes of all ranks.
Shape shapeAt(Generator& generator) {
  Random& random = generator.random;
  const size_t turn = generator.index();
  if (turn < 3 * kLengths.size()) {
    const uint32_t length = kLengths[turn % kLengths.size()];
    const uint32_t others = length > 5000 ? random.size(1, 2) : random.size(1, 12);
    switch (turn / kLengths.size()) {
      case 0:
        return {{others, length}, {1}};
      case 1:
        return {{length, others}, {0}};
      default:
        return {{2, length, others}, {1}};
    }
  }
  Shape shape{makeSizes(random, generator.rank(), std::max<uint64_t>(8, logUniform(random, 4096))), {}};
  for (uint32_t d = 0; d < shape.sizes.size(); ++d)
    if (random.chance(0.5)) shape.axes.push_back(d);
  if (shape.axes.empty() && random.chance(0.8)) shape.axes.push_back(static_cast<uint32_t>(shape.sizes.size()) - 1);
  return shape;
}

void setActivation(Line& line, Generator& generator) {
  if (const std::string text = fusedActivation(generator, generator.index()); !text.empty())
    line.set("FusedActivation", text);
}

}  // namespace

void generateBatchNormalization(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Sizes& sizes, bool plain) {
    const size_t turn = generator.index();
    Line line(generator.schema);
    line.set("InputTensor", inputOf(generator, sizes, generator.cycle(), plain));
    size_t salt = 1;
    for (const std::string_view name : {"MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor"})
      line.set(name, inputOf(generator, broadcastSizes(random, sizes), turn / 3 + salt++, plain));
    line.set("OutputTensor", outputOf(generator, sizes, generator.cycle() / 2, plain));
    line.set("Spatial", turn % 2).set("Epsilon", epsilonText(random));
    setActivation(line, generator);
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType)
    add(makeSizes(random, generator.rank(), std::max<uint64_t>(2, logUniform(random, 4096))), false);
  add({2, 3, kLargeCount / 6}, true);
}

void generateBatchNormalizationTraining(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Shape& shape, bool plain) {
    const size_t turn = generator.index();
    const Sizes rows = rowSizes(shape);
    Line line(generator.schema);
    line.set("InputTensor", inputOf(generator, shape.sizes, generator.cycle(), plain));
    line.set("ScaleTensor", inputOf(generator, rows, turn / 3, plain));
    line.set("BiasTensor", inputOf(generator, rows, turn / 5, plain));
    if (turn % 3 == 0) line.set("FusedAddTensor", inputOf(generator, shape.sizes, turn / 7, plain));
    line.set("OutputTensor", outputOf(generator, shape.sizes, generator.cycle() / 2, plain));
    line.set("OutputMeanTensor", outputOf(generator, rows, turn / 4, plain));
    line.set("OutputVarianceTensor", outputOf(generator, rows, turn / 6, plain));
    line.set("Epsilon", epsilonText(random));
    setActivation(line, generator);
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) add(shapeAt(generator), false);
  add({{2, 3, kLargeCount / 6}, {0, 2}}, true);
}

void generateBatchNormalizationGrad(Generator& generator) {
  const auto add = [&](const Shape& shape, bool plain) {
    const size_t turn = generator.index();
    const Sizes rows = rowSizes(shape);
    Line line(generator.schema);
    line.set("InputTensor", inputOf(generator, shape.sizes, generator.cycle(), plain));
    line.set("InputGradientTensor", inputOf(generator, shape.sizes, turn / 7, plain));
    line.set("MeanTensor", inputOf(generator, rows, turn / 3, plain));
    line.set("VarianceTensor", inputOf(generator, rows, turn / 4, plain));
    line.set("ScaleTensor", inputOf(generator, rows, turn / 5, plain));
    line.set("OutputGradientTensor", outputOf(generator, shape.sizes, generator.cycle() / 2, plain));
    line.set("OutputScaleGradientTensor", outputOf(generator, rows, turn / 4, plain));
    line.set("OutputBiasGradientTensor", outputOf(generator, rows, turn / 6, plain));
    line.set("Epsilon", epsilonText(generator.random));
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) add(shapeAt(generator), false);
  add({{2, 3, kLargeCount / 6}, {0, 2}}, true);
}

void generateMeanVariance(Generator& generator) {
  Random& random = generator.random;
  const DML_OPERATOR_TYPE type = generator.schema.type;
  const bool axes = type != DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION;
  const auto add = [&](Shape shape, bool plain) {
    const size_t turn = generator.index();
    // Batch, channels and two spatial dimensions.
    if (!axes) {
      if (shape.sizes.size() < 4) shape.sizes.insert(shape.sizes.begin(), 4 - shape.sizes.size(), 1);
      while (shape.sizes.size() > 4) {
        shape.sizes[3] *= shape.sizes.back();
        shape.sizes.pop_back();
      }
    }
    Line line(generator.schema);
    line.set("InputTensor", inputOf(generator, shape.sizes, generator.cycle(), plain));
    if (turn % 3 != 0)
      line.set("ScaleTensor", inputOf(generator, broadcastSizes(random, shape.sizes), turn / 3, plain));
    if (turn % 4 < 2) line.set("BiasTensor", inputOf(generator, broadcastSizes(random, shape.sizes), turn / 5, plain));
    line.set("OutputTensor", outputOf(generator, shape.sizes, generator.cycle() / 2, plain));
    if (axes) {
      random.shuffle(std::span(shape.axes));
      if (!shape.axes.empty() && random.chance(0.1)) shape.axes.push_back(shape.axes[0]);
      line.set("Axes", bracketed(shape.axes));
    } else {
      line.set("CrossChannel", turn / 2 % 2);
    }
    if (type == DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2) {
      line.set("UseMean", turn % 5 < 3 ? 1 : 0).set("UseVariance", turn % 7 < 5 ? 1 : 0);
    } else {
      line.set("NormalizeVariance", turn % 5 < 4 ? 1 : 0);
    }
    line.set("Epsilon", epsilonText(random));
    setActivation(line, generator);
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) add(shapeAt(generator), false);
  add({{1, 1, 1, kLargeCount}, {3}}, true);
}

void generateLpNormalization(Generator& generator) {
  const auto add = [&](const Sizes& sizes, uint32_t axis, bool plain) {
    const size_t turn = generator.index();
    Line line(generator.schema);
    line.set("InputTensor", inputOf(generator, sizes, generator.cycle(), plain));
    line.set("OutputTensor", outputOf(generator, sizes, generator.cycle() / 2, plain));
    line.set("Axis", axis).set("Epsilon", epsilonText(generator.random)).set("P", 1 + turn / 2 % 2);
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    const Shape shape = shapeAt(generator);
    add(shape.sizes, shape.axes.empty() ? 0 : shape.axes.front(), false);
  }
  add({3, kLargeCount / 3}, 1, true);
}

void generateLocalResponse(Generator& generator) {
  Random& random = generator.random;
  const bool gradient = generator.schema.type == DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION_GRAD;
  const auto add = [&](const Sizes& sizes, uint32_t size, bool plain) {
    const size_t turn = generator.index();
    Line line(generator.schema);
    line.set("InputTensor", inputOf(generator, sizes, generator.cycle(), plain));
    if (gradient) line.set("InputGradientTensor", inputOf(generator, sizes, turn / 7, plain));
    line.set(gradient ? "OutputGradientTensor" : "OutputTensor",
             outputOf(generator, sizes, generator.cycle() / 2, plain));
    line.set("CrossChannel", turn % 2).set("LocalSize", size);
    line.set("Alpha", realText(random, 1e-4, 2)).set("Beta", random.chance(0.2) ? "0.75" : realText(random, 0.3, 2));
    line.set("Bias", realText(random, 0.5, 2));
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    const Sizes sizes = makeSizes(random, 4, std::max<uint64_t>(4, logUniform(random, 1024)));
    add(sizes, random.chance(0.05) ? 1000000 : random.size(1, 7), false);
  }
  // Along channels, and along both spatial dimensions.
  for (int i = 0; i < 2; ++i) add({1, 5, 459, 457}, 3, true);
}

}  // namespace dimple::testing
