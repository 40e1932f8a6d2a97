#include "tests/conformance/fills/structured.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace dimple::testing {
namespace {

using oracle::Array;

// How the regions of an operator relate to its image.
struct Regions {
  size_t regions = 1;                // input
  std::optional<size_t> batch = {};  // input
  const DML_BUFFER_TENSOR_DESC* image = nullptr;
  double scaleX = 1;
  double scaleY = 1;
};

template <class Desc>
Regions alignRegions(const TestCase& test, size_t first, const DML_BUFFER_TENSOR_DESC* image) {
  const auto& desc = test.as<Desc>();
  return {first, first + 1, image, static_cast<double>(desc.SpatialScaleX), static_cast<double>(desc.SpatialScaleY)};
}

std::optional<Regions> regionsOf(const TestCase& test) {
  const DML_BUFFER_TENSOR_DESC* image = test.inputs[0];
  switch (test.type()) {
    case DML_OPERATOR_ROI_POOLING: {
      const auto scale = static_cast<double>(test.as<DML_ROI_POOLING_OPERATOR_DESC>().SpatialScale);
      return Regions{1, {}, image, scale, scale};
    }
    case DML_OPERATOR_ROI_ALIGN:
      return alignRegions<DML_ROI_ALIGN_OPERATOR_DESC>(test, 1, image);
    case DML_OPERATOR_ROI_ALIGN1:
      return alignRegions<DML_ROI_ALIGN1_OPERATOR_DESC>(test, 1, image);
    case DML_OPERATOR_ROI_ALIGN_GRAD:
      return alignRegions<DML_ROI_ALIGN_GRAD_OPERATOR_DESC>(test, 2, image ? image : test.outputs[0]);
    default:
      return {};
  }
}

bool isPowerOf2(double x) {
  int exponent;
  return std::frexp(x, &exponent) == 0.5;
}

// Corners in and around the image: in order mostly, of whole numbers for FillKind::Int.
void fillRegions(const TestCase& test, const Regions& regions, Random& random, Array& array) {
  const size_t width = array.sizes.back();
  const size_t skip = width - 4;  // the batch of ROI_POOLING
  for (size_t r = 0; r < array.real.size() / width; ++r) {
    double* region = &array.real[r * width];
    if (skip != 0) region[0] = static_cast<double>(random.below(regions.image->Sizes[0]));
    for (size_t axis = 0; axis < 2; ++axis) {
      const double size = regions.image->Sizes[axis == 0 ? 3 : 2];
      const double scale = axis == 0 ? regions.scaleX : regions.scaleY;
      double ends[2];
      for (double& end : ends) {
        end = -0.15 * size - 1 + random.unit() * (1.3 * size + 2);
        // Others would come out beside the whole numbers at which samples become more.
        if (test.fill == FillKind::Int && isPowerOf2(scale)) end = std::nearbyint(end);
      }
      if (ends[1] < ends[0] && !random.chance(0.15)) std::swap(ends[0], ends[1]);
      if (random.chance(0.05)) ends[1] = ends[0];
      for (size_t k = 0; k < 2; ++k)
        region[skip + axis + 2 * k] = oracle::roundTo(array.type, scale > 0 ? ends[k] / scale : ends[k]);
    }
  }
}

// Of RNN, GRU and LSTM: 0 to all steps; wild ones are more.
bool fillLengths(const TestCase& test, size_t input, Random& random, Array& array) {
  const bool isLstm = test.type() == DML_OPERATOR_LSTM;
  if (!isLstm && test.type() != DML_OPERATOR_RNN && test.type() != DML_OPERATOR_GRU) return false;
  if (input != (isLstm ? 6U : 5U)) return false;
  const int64_t steps = test.inputs[0]->Sizes[1];
  for (int64_t& length : array.whole) {
    length = random.chance(0.1) ? 0 : random.range(1, steps);
    if (test.wildIndices && random.chance(0.3)) length = random.chance(0.5) ? steps + 1 : 0xffffffff;
  }
  return true;
}

}  // namespace

bool fillStructured(const TestCase& test, size_t input, Random& random, Array& array) {
  if (const auto regions = regionsOf(test)) {
    if (input == regions->regions) {
      fillRegions(test, *regions, random, array);
      return true;
    }
    if (input == regions->batch) {
      for (int64_t& index : array.whole) index = static_cast<int64_t>(random.below(regions->image->Sizes[0]));
      return true;
    }
    return false;
  }
  if (test.type() == DML_OPERATOR_ADAM_OPTIMIZER && input == 4) {
    // Steps of all sizes; the first is 1.
    for (int64_t& step : array.whole)
      step = 1 + static_cast<int64_t>(random.below(uint64_t{1} << random.below(random.chance(0.2) ? 32 : 12)));
    return true;
  }
  return fillLengths(test, input, random, array);
}

}  // namespace dimple::testing
