// Regions of interest.
#include <algorithm>
#include <array>

#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

struct Shape {
  Sizes image;
  uint32_t regions = 1;
  uint32_t height = 1;
  uint32_t width = 1;

  Sizes crop() const { return {regions, image[1], height, width}; }
};

Shape randomShape(Random& random) {
  Shape shape;
  shape.image = {random.size(1, 3), random.size(1, 4), random.size(1, 18), random.size(1, 18)};
  shape.regions = random.size(1, 6);
  shape.height = random.size(1, 5);
  shape.width = random.size(1, 5);
  return shape;
}

Sizes withLeadingOnes(Sizes sizes, size_t rank) {
  sizes.insert(sizes.begin(), rank - sizes.size(), 1);
  return sizes;
}

TensorText inputOf(Generator& generator, DataType type, Sizes sizes, bool plain) {
  if (plain) return {type, std::move(sizes)};
  TensorText tensor = generator.input(type, std::move(sizes), generator.cycle() + generator.random.below(3));
  generator.maybeOwn(tensor);
  return tensor;
}

TensorText outputOf(Generator& generator, Sizes sizes, bool plain) {
  if (plain) return {generator.type, std::move(sizes)};
  return generator.output(generator.type, std::move(sizes), generator.cycle() / 2);
}

constexpr std::array<std::string_view, 7> kScales = {"1", "0.5", "0.25", "2", "0.0625", "0.3", "1.7"};

void addSampling(Generator& generator, Line& line, bool nearest, bool hasOffsets, bool hasOutside, bool few) {
  Random& random = generator.random;
  constexpr std::array<std::pair<uint32_t, uint32_t>, 6> kSamples = {
      {{1, 1}, {2, 2}, {1, 4}, {1, 4294967295U}, {3, 7}, {2, 4294967295U}}};
  line.set("InterpolationMode", nearest ? "NEAREST_NEIGHBOR" : "LINEAR");
  line.set("SpatialScaleX", random.pick(kScales)).set("SpatialScaleY", random.pick(kScales));
  if (hasOffsets) {
    constexpr std::string_view kInputOffsets[] = {"0.5", "0", "0.5", "0.25"};
    constexpr std::string_view kOutputOffsets[] = {"-0.5", "0", "-0.5", "-0.3"};
    line.set("InputPixelOffset", random.pick(kInputOffsets));
    line.set("OutputPixelOffset", random.pick(kOutputOffsets));
    line.set("AlignRegionsToCorners", random.chance(0.3) ? 1 : 0);
  }
  if (hasOutside) line.set("OutOfBoundsInputValue", random.chance(0.5) ? "0" : "-3.5");
  const auto [least, most] = few ? kSamples[2] : random.pick(kSamples);
  line.set("MinimumSamplesPerOutput", least).set("MaximumSamplesPerOutput", most);
}

void addAlign(Generator& generator, const Shape& shape, bool plain, bool few) {
  Random& random = generator.random;
  const bool isFirst = generator.schema.type == DML_OPERATOR_ROI_ALIGN;
  const DataType indexType = random.chance(0.3) ? DML_TENSOR_DATA_TYPE_UINT64 : DML_TENSOR_DATA_TYPE_UINT32;
  Line line(generator.schema);
  line.set("InputTensor", inputOf(generator, generator.type, shape.image, plain));
  line.set("ROITensor",
           inputOf(generator, generator.type, withLeadingOnes({shape.regions, 4}, 2 + random.below(3)), plain));
  line.set("BatchIndicesTensor",
           inputOf(generator, indexType, withLeadingOnes({shape.regions}, 1 + random.below(4)), plain));
  line.set("OutputTensor", outputOf(generator, shape.crop(), plain));
  line.set("ReductionFunction", generator.index() % 4 == 1 ? "MAX" : "AVERAGE");
  addSampling(generator, line, generator.index() % 3 == 0, !isFirst, true, few);
  generator.keep(std::move(line));
}

void addAlignGrad(Generator& generator, const Shape& shape, bool plain, bool few) {
  Random& random = generator.random;
  const size_t outputs = generator.index() % 3;  // both, the image's, the regions'
  const bool maximum = generator.index() % 4 == 1;
  const Sizes regions = withLeadingOnes({shape.regions, 4}, 2 + random.below(3));
  Line line(generator.schema);
  if (maximum || outputs != 1 || random.chance(0.7))
    line.set("InputTensor", inputOf(generator, generator.type, shape.image, plain));
  line.set("InputGradientTensor", inputOf(generator, generator.type, shape.crop(), plain));
  line.set("ROITensor", inputOf(generator, generator.type, regions, plain));
  line.set("BatchIndicesTensor", inputOf(generator, DML_TENSOR_DATA_TYPE_UINT32,
                                         withLeadingOnes({shape.regions}, 1 + random.below(4)), plain));
  if (outputs != 2) line.set("OutputGradientTensor", outputOf(generator, shape.image, plain));
  if (outputs != 1) line.set("OutputROIGradientTensor", outputOf(generator, regions, plain));
  line.set("ReductionFunction", maximum ? "MAX" : "AVERAGE");
  // The gradient of regions is 0 for nearest neighbours.
  addSampling(generator, line, random.chance(outputs == 1 ? 0.5 : 0.1), true, false, few);
  generator.keep(std::move(line));
}

}  // namespace

void generateRoiAlign(Generator& generator) {
  const bool gradient = generator.schema.type == DML_OPERATOR_ROI_ALIGN_GRAD;
  const auto add = [&](const Shape& shape, bool plain, bool few) {
    gradient ? addAlignGrad(generator, shape, plain, few) : addAlign(generator, shape, plain, few);
  };
  while (generator.index() < kCasesPerType) add(randomShape(generator.random), false, false);
  // Samples and regions enough for a workgroup.
  for (int i = 0; i < 4; ++i) add({{1, 2, 41, 43}, 3, 1, 1}, true, false);
  for (int i = 0; i < 4; ++i) add({{2, 1, 7, 5}, 101, 2, 3}, true, true);
  add({{1, 1, 1025, 1025}, 2, 3, 3}, true, true);
  if (!gradient) add({{1, 3, 9, 11}, 11, 179, 179}, true, true);
}

void generateRoiPooling(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Shape& shape, bool plain) {
    Line line(generator.schema);
    line.set("InputTensor", inputOf(generator, generator.type, shape.image, plain));
    line.set("ROITensor", inputOf(generator, generator.type, {1, 1, shape.regions, 5}, plain));
    line.set("OutputTensor", outputOf(generator, shape.crop(), plain));
    line.set("SpatialScale", random.pick(kScales)).set("PooledSize", cat("[", shape.width, ",", shape.height, "]"));
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) add(randomShape(random), false);
  for (int i = 0; i < 4; ++i) add({{2, 2, 41, 43}, 5, 1, 2}, true);
  add({{1, 1, 1025, 1025}, 3, 2, 2}, true);
  add({{1, 3, 9, 11}, 11, 179, 179}, true);
}

}  // namespace dimple::testing
