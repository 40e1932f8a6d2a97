#include "tests/conformance/oracle/resample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "tests/conformance/oracle/elements.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Places this close to where the nearest element changes may go either way.
constexpr double kNear = 0x1p-21;
// What a weight may be off by: places are computed in single precision at best.
constexpr double kWeightError = 0x1p-22;

// To which of the two elements around it a place belongs.
enum class Rounding { Linear, HalvesUp, Up, Down };

struct Dimension {
  double scale = 1;
  double inputOffset = 0.5;
  double outputOffset = -0.5;
};

// An input element with its share of an output element.
struct Tap {
  size_t index = 0;
  double weight = 0;
};

// One dimension of the forward operator: the taps of every output coordinate.
struct Line {
  std::vector<std::vector<Tap>> taps = {};
  std::vector<bool> doubtful = {};               // the nearest element, or which elements have no weight
  std::vector<std::vector<size_t>> others = {};  // elements that may count as well, doubtful coordinates only
};

size_t clampTo(double index, uint32_t size) {
  return static_cast<size_t>(std::clamp(index, 0.0, static_cast<double>(size) - 1));
}

// Taps come in ascending order.
void addTap(std::vector<Tap>& taps, size_t index, double weight) {
  if (weight == 0) return;
  if (!taps.empty() && taps.back().index == index) {
    taps.back().weight += weight;
  } else {
    taps.push_back({index, weight});
  }
}

Line lineOf(const Dimension& dimension, uint32_t inputSize, uint32_t outputSize, Rounding rounding, bool antialiased) {
  Line line;
  for (uint32_t o = 0; o < outputSize; ++o) {
    // What is far outside is outside.
    const double place =
        std::clamp((o - dimension.outputOffset) / dimension.scale - dimension.inputOffset, -0x1p40, 0x1p40);
    const double reach = std::max(1.0, std::fabs(place) * 0x1p-10);
    std::vector<Tap> taps;
    bool doubtful = false;
    std::vector<size_t> others;
    if (rounding == Rounding::Linear) {
      const double stretch = antialiased && dimension.scale < 0.5 ? 1 / dimension.scale : 1;
      double total = 0;
      for (double i = std::floor(place - stretch); i <= std::ceil(place + stretch); ++i) {
        const double weight = std::max(0.0, 1 - std::fabs(i - place) / stretch);
        addTap(taps, clampTo(i, inputSize), weight);
        total += weight;
      }
      for (Tap& tap : taps) tap.weight /= total;
      const double whole = std::nearbyint(place);
      doubtful = std::fabs(place - whole) < kNear * reach && place != whole;
      if (stretch != 1 || doubtful) {
        doubtful = true;
        others = {clampTo(std::floor(place - stretch) - 1, inputSize),
                  clampTo(std::ceil(place + stretch) + 1, inputSize)};
      }
    } else {
      const double rounded = rounding == Rounding::HalvesUp ? place + 0.5 : place;
      const double whole = std::nearbyint(rounded);
      doubtful = std::fabs(rounded - whole) < kNear * reach && rounded != whole;
      const double index = rounding == Rounding::Up ? std::ceil(rounded) : std::floor(rounded);
      taps.push_back({clampTo(index, inputSize), 1});
      if (doubtful) others = {clampTo(index - 1, inputSize), clampTo(index + 1, inputSize)};
    }
    line.taps.push_back(std::move(taps));
    line.doubtful.push_back(doubtful);
    line.others.push_back(std::move(others));
  }
  return line;
}

struct Resampler {
  std::vector<uint32_t> inputSizes;
  std::vector<uint32_t> outputSizes;
  bool linear = false;
  std::vector<Line> lines = {};

  Resampler(std::vector<uint32_t> input, std::vector<uint32_t> output, const std::vector<Dimension>& dimensions,
            Rounding rounding, bool antialiased = false)
      : inputSizes(std::move(input)), outputSizes(std::move(output)), linear(rounding == Rounding::Linear) {
    if (inputSizes.size() != outputSizes.size() || inputSizes.size() != dimensions.size()) {
      throw std::invalid_argument("The tensors and scales have different numbers of dimensions.");
    }
    for (size_t d = 0; d < dimensions.size(); ++d) {
      lines.push_back(lineOf(dimensions[d], inputSizes[d], outputSizes[d], rounding, antialiased));
    }
  }

  bool isDoubtful(const Coordinates& at) const {
    for (size_t d = 0; d < lines.size(); ++d) {
      if (lines[d].doubtful[static_cast<size_t>(at[d])]) return true;
    }
    return false;
  }

  // Calls visit(input index, weight) for every input element of an output element; with `others` also for those that
  // may count instead, with a weight of 0.
  template <class Visit>
  void forTaps(const Coordinates& at, bool others, Visit visit) const {
    tapsFrom(at, others, 0, 0, 1, visit);
  }

 private:
  template <class Visit>
  void tapsFrom(const Coordinates& at, bool others, size_t d, size_t index, double weight, Visit& visit) const {
    if (d == lines.size()) return visit(index, weight);
    const auto o = static_cast<size_t>(at[d]);
    for (const Tap& tap : lines[d].taps[o]) {
      tapsFrom(at, others, d + 1, index * inputSizes[d] + tap.index, weight * tap.weight, visit);
    }
    if (!others) return;
    for (size_t other : lines[d].others[o]) tapsFrom(at, others, d + 1, index * inputSizes[d] + other, 0, visit);
  }
};

double elementOf(const Array& array, size_t i) {
  return array.real.empty() ? static_cast<double>(array.whole[i]) : array.real[i];
}

Result forward(const Resampler& resampler, const Array& in, const DML_TENSOR_DESC* tensor) {
  Result result = exactResult(tensor);
  const bool real = isReal(in.type);
  result.slack.resize(result.value.count());
  if (resampler.linear && real) result.tolerance = ulp(84, 10);
  eachElement(resampler.outputSizes, [&](const Coordinates& at, int64_t index) {
    const auto o = static_cast<size_t>(index);
    const bool doubtful = resampler.isDoubtful(at);
    if (!resampler.linear) {
      resampler.forTaps(at, false,
                        [&](size_t i, double) { copyElement(in, static_cast<int64_t>(i), result.value, index); });
      // Either of the elements is as near.
      if (doubtful) makeFree(result, index);
      return;
    }
    double sum = 0;
    double largest = 0;
    double terms = 0;
    bool isFree = false;
    resampler.forTaps(at, doubtful, [&](size_t i, double weight) {
      const double element = elementOf(in, i);
      if (std::isfinite(element)) {
        largest = std::max(largest, std::fabs(element));
      } else if (std::fabs(weight) < 0x1p-16) {
        isFree = true;  // the weight may be 0, or not
      }
      ++terms;
      if (weight != 0) sum += weight * element;
    });
    const double error = (4 * kWeightError + std::sqrt(terms) * 0x1p-22) * largest;
    if (real) {
      result.value.real[o] = sum;
      result.slack[o] = isFree ? kInfinity : error + 4 * smallestNormal(DML_TENSOR_DATA_TYPE_FLOAT32);
      return;
    }
    // Integers are truncated, as CAST does: neither the page nor DirectML's other averages of integers say otherwise.
    const double whole = std::nearbyint(sum);
    const bool isWhole = std::fabs(sum - whole) < 1e-9;
    result.value.whole[o] = static_cast<int64_t>(isWhole ? whole : std::trunc(sum));
    result.slack[o] = !isWhole && std::fabs(sum - whole) < 0x1p-10 ? 1 : 0;
  });
  return result;
}

// Each gradient of an output element goes to the input elements that it was made of.
Result backward(const Resampler& resampler, const Array& gradient, const DML_TENSOR_DESC* tensor) {
  Result result = exactResult(tensor);
  result.tolerance = {Tolerance::Kind::Sum, 0, 0, 0, 0, 0, true};
  const size_t count = result.value.count();
  result.magnitude.resize(count);
  result.slack.resize(count);
  std::vector<uint64_t> terms(count);
  eachElement(resampler.outputSizes, [&](const Coordinates& at, int64_t index) {
    const double g = gradient.real[static_cast<size_t>(index)];
    const bool doubtful = resampler.isDoubtful(at);
    resampler.forTaps(at, doubtful, [&](size_t i, double weight) {
      ++terms[i];
      if (weight != 0) result.value.real[i] += weight * g;
      if (std::isfinite(g)) {
        result.magnitude[i] += std::fabs(weight * g);
        result.slack[i] += resampler.linear ? 4 * kWeightError * std::fabs(g) : doubtful ? std::fabs(g) : 0;
      } else if (doubtful && std::fabs(weight) < 0x1p-16) {
        result.slack[i] = kInfinity;
      } else if (doubtful && !resampler.linear) {
        result.slack[i] = kInfinity;
      }
    });
  });
  result.terms = std::max<uint64_t>(2, *std::max_element(terms.begin(), terms.end()));
  for (double& slack : result.slack) slack += 4 * smallestNormal(DML_TENSOR_DATA_TYPE_FLOAT32);
  return result;
}

template <class Desc>
std::vector<Dimension> dimensionsOf(const Desc& desc) {
  std::vector<Dimension> dimensions;
  for (UINT d = 0; d < desc.DimensionCount; ++d) {
    dimensions.push_back({static_cast<double>(desc.Scales[d]), static_cast<double>(desc.InputPixelOffsets[d]),
                          static_cast<double>(desc.OutputPixelOffsets[d])});
  }
  return dimensions;
}

// InputPixelOffsets of a gradient are those of InputGradientTensor, whose sizes are those of the resampled tensor. The
// page refers to RESAMPLE1 for both; the original, and the programs that use it, have them this way round.
template <class Desc>
std::vector<Dimension> gradientDimensionsOf(const Desc& desc) {
  std::vector<Dimension> dimensions = dimensionsOf(desc);
  for (Dimension& dimension : dimensions) std::swap(dimension.inputOffset, dimension.outputOffset);
  return dimensions;
}

Rounding roundingOf(DML_INTERPOLATION_MODE mode) {
  return mode == DML_INTERPOLATION_MODE_LINEAR ? Rounding::Linear : Rounding::HalvesUp;
}
Rounding roundingOf(DML_INTERPOLATION_MODE mode, DML_AXIS_DIRECTION direction) {
  if (mode == DML_INTERPOLATION_MODE_LINEAR) return Rounding::Linear;
  return direction == DML_AXIS_DIRECTION_INCREASING ? Rounding::Up : Rounding::Down;
}

Result evaluateForward(const DML_TENSOR_DESC* output, std::span<const Array> inputs,
                       const std::vector<Dimension>& dimensions, Rounding rounding, bool antialiased = false) {
  requireInputs(inputs, 1);
  return forward({inputs[0].sizes, sizesOf(bufferOf(output)), dimensions, rounding, antialiased}, inputs[0], output);
}

Result evaluateBackward(const DML_TENSOR_DESC* output, std::span<const Array> inputs,
                        const std::vector<Dimension>& dimensions, Rounding rounding) {
  requireInputs(inputs, 1);
  return backward({sizesOf(bufferOf(output)), inputs[0].sizes, dimensions, rounding}, inputs[0], output);
}

}  // namespace

Result evaluateUpsample2D(const DML_UPSAMPLE_2D_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  std::vector<Dimension> dimensions(bufferOf(desc.OutputTensor).DimensionCount);
  (dimensions.end() - 2)->scale = desc.ScaleSize.Height;
  dimensions.back().scale = desc.ScaleSize.Width;
  return evaluateForward(desc.OutputTensor, inputs, dimensions, roundingOf(desc.InterpolationMode));
}

Result evaluateResample(const DML_RESAMPLE_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  std::vector<Dimension> dimensions;
  for (UINT d = 0; d < desc.ScaleCount; ++d) dimensions.push_back({static_cast<double>(desc.Scales[d])});
  return evaluateForward(desc.OutputTensor, inputs, dimensions, roundingOf(desc.InterpolationMode));
}

// The page of RESAMPLE2 says that RESAMPLE1 rounds down with OutputPixelOffsets smaller by 0.5. At scales other than 1
// that would shift the image; programs that use RESAMPLE1 find its nearest element to be the place plus 0.5, rounded
// down, which is the same with InputPixelOffsets.
Result evaluateResample1(const DML_RESAMPLE1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return evaluateForward(desc.OutputTensor, inputs, dimensionsOf(desc), roundingOf(desc.InterpolationMode));
}

Result evaluateResample2(const DML_RESAMPLE2_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return evaluateForward(desc.OutputTensor, inputs, dimensionsOf(desc),
                         roundingOf(desc.InterpolationMode, desc.RoundingDirection));
}

// Stretched weights that fall outside go to the edges, as ONNX's Resize has it.
Result evaluateResample3(const DML_RESAMPLE3_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return evaluateForward(desc.OutputTensor, inputs, dimensionsOf(desc),
                         roundingOf(desc.InterpolationMode, desc.RoundingDirection), desc.Antialiased != 0);
}

Result evaluateResampleGrad(const DML_RESAMPLE_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return evaluateBackward(desc.OutputGradientTensor, inputs, gradientDimensionsOf(desc),
                          roundingOf(desc.InterpolationMode));
}

Result evaluateResampleGrad1(const DML_RESAMPLE_GRAD1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return evaluateBackward(desc.OutputGradientTensor, inputs, gradientDimensionsOf(desc),
                          roundingOf(desc.InterpolationMode, desc.RoundingDirection));
}

}  // namespace oracle
