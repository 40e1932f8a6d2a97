// FOLD and UNFOLD.
#include <algorithm>

#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

struct Shape {
  Sizes image, columns;
  Sizes window, strides, dilations, start, end;
};

void setColumns(Shape& shape) {
  shape.columns = {shape.image[0], shape.image[1], 1};
  for (size_t d = 0; d < shape.window.size(); ++d) {
    const uint32_t padded = shape.image[d + 2] + shape.start[d] + shape.end[d];
    const uint32_t span = (shape.window[d] - 1) * shape.dilations[d] + 1;
    shape.columns[1] *= shape.window[d];
    shape.columns[2] *= (padded - span) / shape.strides[d] + 1;
  }
}

// Windows that touch, overlap or leave gaps, at times as large as the padded image.
Shape randomShape(Generator& generator) {
  Random& random = generator.random;
  Shape shape;
  // Many windows over each element.
  if (random.chance(0.06)) {
    shape = {{random.size(1, 2), random.size(1, 2), random.size(8, 12), random.size(8, 12)},
             {},
             {8, 8},
             {1, 1},
             {1, 1},
             {random.size(0, 3), 0},
             {0, random.size(0, 3)}};
    setColumns(shape);
    return shape;
  }
  shape.image = makeSizes(random, 3 + generator.index() % 6, std::max<uint64_t>(6, logUniform(random, 400)));
  uint64_t left = 64;  // elements of the window, so that columns stay small
  for (size_t d = 2; d < shape.image.size(); ++d) {
    const double padding = shape.image.size() > 4 ? 0.15 : 0.4;
    shape.start.push_back(random.chance(padding) ? random.size(0, 3) : 0);
    shape.end.push_back(random.chance(padding) ? random.size(0, 3) : 0);
    const uint32_t padded = shape.image[d] + shape.start.back() + shape.end.back();
    const auto most = static_cast<uint32_t>(std::min<uint64_t>({padded, left, shape.image.size() > 4 ? 2u : 5u}));
    shape.window.push_back(random.chance(0.05) ? static_cast<uint32_t>(std::min<uint64_t>(padded, left))
                                               : random.size(1, most));
    left = std::max<uint64_t>(1, left / shape.window.back());
    const uint32_t reach = shape.window.back() == 1 ? 4 : (padded - 1) / (shape.window.back() - 1);
    shape.dilations.push_back(random.chance(0.04) ? 0 : random.size(1, std::clamp(reach, 1u, 6u)));
    if ((shape.window.back() - 1) * shape.dilations.back() + 1 > padded) shape.dilations.back() = 1;
    shape.strides.push_back(random.chance(0.2) ? shape.window.back() : random.chance(0.5) ? 1 : random.size(2, 6));
  }
  setColumns(shape);
  return shape;
}

}  // namespace

void generateUnfold(Generator& generator) {
  const bool fold = generator.schema.type == DML_OPERATOR_FOLD;
  const auto add = [&](const Shape& shape, bool plain) {
    const Sizes& in = fold ? shape.columns : shape.image;
    const Sizes& out = fold ? shape.image : shape.columns;
    TensorText input = plain ? TensorText{generator.type, in} : generator.input(generator.type, in, generator.cycle());
    if (!plain) generator.maybeOwn(input);
    Line line(generator.schema);
    line.set("InputTensor", input);
    line.set("OutputTensor",
             plain ? TensorText{generator.type, out} : generator.output(generator.type, out, generator.cycle() / 2));
    line.set("WindowSizes", bracketed(shape.window)).set("Strides", bracketed(shape.strides));
    line.set("Dilations", bracketed(shape.dilations));
    line.set("StartPadding", bracketed(shape.start)).set("EndPadding", bracketed(shape.end));
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) {
    const Shape shape = randomShape(generator);
    if (productOf(shape.columns) <= 8192) add(shape, false);
  }
  Shape large{{1, 3, 283, 309}, {}, {2, 2}, {1, 1}, {1, 1}, {1, 0}, {0, 1}};
  setColumns(large);
  add(large, true);
}

}  // namespace dimple::testing
