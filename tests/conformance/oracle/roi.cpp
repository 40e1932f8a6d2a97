#include "tests/conformance/oracle/roi.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/conformance/oracle/elements.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

size_t at4(const std::vector<uint32_t>& sizes, size_t n, size_t c, size_t h, size_t w) {
  return ((n * sizes[1] + c) * sizes[2] + h) * sizes[3] + w;
}

double largestOf(const Array& array) {
  double largest = 0;
  for (double x : array.real) {
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  }
  return largest;
}

// ---- pooling
// ---------------------------------------------------------------------------------------------------------

// Whole numbers below this are told apart in single precision.
constexpr double kFar = 1e9;

// Halves go to the even neighbour, as the original has it.
int64_t edgeOf(double coordinate, double scale, bool& doubtful) {
  const double edge = std::clamp(coordinate * scale, -kFar, kFar);
  const double half = std::floor(edge) + 0.5;
  doubtful = doubtful || (edge != half && std::fabs(edge - half) < 0x1p-22 * std::max(1.0, std::fabs(edge)));
  return std::llrint(edge);
}

struct Bin {
  int64_t first = 0;
  int64_t end = 0;
};

// Fast R-CNN's bins, of ONNX's MaxRoiPool, too: both ends of a region lie inside of it, a bin reaches from the floor of
// its start to the ceiling of its end.
Bin binOf(int64_t start, int64_t end, int64_t index, int64_t bins, int64_t size) {
  const int64_t length = std::max<int64_t>(end - start + 1, 1);
  const int64_t low = start + length * index / bins;
  const int64_t high = start + (length * (index + 1) + bins - 1) / bins;
  return {std::clamp<int64_t>(low, 0, size), std::clamp<int64_t>(high, 0, size)};
}

// ---- samples
// ---------------------------------------------------------------------------------------------------------

// What the ROI_ALIGN operators have in common.
struct Align {
  bool maximum = false;
  bool linear = false;
  double scaleX = 1;
  double scaleY = 1;
  double inputOffset = 0.5;
  double outputOffset = -0.5;
  double outside = 0;
  double minimumSamples = 1;
  double maximumSamples = 1;
  bool toCorners = false;
};

struct Sample {
  bool inside = false;
  size_t lower = 0;
  size_t upper = 0;
  double fraction = 0;
  double share = 0;   // of the way from one end of the region to the other
  double error = 0;   // of the place
  bool edge = false;  // it may be inside, or not
  bool kink = false;  // it may lie on either side of an element
  size_t other = 0;   // nearest neighbours: the element that may be the nearest, too
};

struct Axis {
  std::vector<Sample> samples = {};
  size_t perOutput = 1;
  bool doubtful = false;  // the number of samples
};

bool isFloat(double x) { return static_cast<double>(static_cast<float>(x)) == x; }

Axis axisOf(const Align& align, double first, double last, double scale, uint32_t outputs, uint32_t size) {
  Axis axis;
  const double start = first * scale;
  const double length = last * scale - start;
  const double quotient = length / outputs;
  double n = std::isnan(quotient) ? align.minimumSamples
                                  : std::clamp(std::ceil(quotient), align.minimumSamples, align.maximumSamples);
  const double whole = std::nearbyint(quotient);
  axis.doubtful = quotient != whole && std::fabs(quotient - whole) < 0x1p-18 * std::fabs(quotient) &&
                  quotient > align.minimumSamples / 2 && quotient < align.maximumSamples * 2;
  axis.perOutput = static_cast<size_t>(n);
  const double total = n * outputs;
  // The samples of a region that goes to its corners lie on both of them.
  const double divisor = align.toCorners ? std::max(total - 1, 1.0) : total;
  const double step = length / divisor;
  const bool isExact = std::has_single_bit(static_cast<uint64_t>(divisor)) && isFloat(start) && isFloat(length) &&
                       isFloat(step) && isFloat(last * scale);
  for (size_t s = 0; s < axis.perOutput * outputs; ++s) {
    Sample sample;
    sample.share = (static_cast<double>(s) - align.outputOffset) / divisor;
    const double place = (static_cast<double>(s) - align.outputOffset) * step + start - align.inputOffset;
    if (!isExact || !isFloat(place)) {
      sample.error = 0x1p-20 * (std::fabs(start) + std::fabs(last * scale) + std::fabs(align.inputOffset) +
                                std::fabs(align.outputOffset * step) + 1);
    }
    // What lies less than an element outside belongs to the edge. ONNX's RoiAlign counts what lies a whole element
    // outside, too; the original does not.
    sample.inside = place > -1 && place < size;
    sample.edge = sample.error > 0 && (std::fabs(place + 1) <= sample.error || std::fabs(place - size) <= sample.error);
    const double known = std::isnan(place) ? 0 : place;
    const double inside = std::clamp(known, 0.0, size - 1.0);
    const double corner = align.linear ? inside : std::clamp(known + 0.5, 0.0, static_cast<double>(size));
    sample.kink = sample.error > 0 && std::fabs(corner - std::nearbyint(corner)) <= sample.error;
    if (align.linear) {
      sample.lower = static_cast<size_t>(inside);
      sample.fraction = inside - std::floor(inside);
      sample.upper = sample.fraction > 0 ? sample.lower + 1 : sample.lower;
      sample.other = sample.lower;
    } else {
      sample.lower = sample.upper = static_cast<size_t>(std::clamp(std::floor(known + 0.5), 0.0, size - 1.0));
      const double nearest = std::nearbyint(corner);
      sample.other = static_cast<size_t>(
          std::clamp(static_cast<double>(sample.lower) == nearest ? nearest - 1 : nearest, 0.0, size - 1.0));
    }
    axis.samples.push_back(sample);
  }
  return axis;
}

struct Corner {
  size_t h = 0;
  size_t w = 0;
  double weight = 0;
};

std::array<Corner, 4> cornersOf(const Sample& v, const Sample& h) {
  return {Corner{v.lower, h.lower, (1 - v.fraction) * (1 - h.fraction)},
          Corner{v.lower, h.upper, (1 - v.fraction) * h.fraction},
          Corner{v.upper, h.lower, v.fraction * (1 - h.fraction)}, Corner{v.upper, h.upper, v.fraction * h.fraction}};
}

// A sample's value, how far it may be off, and whether it is any value at all.
struct Reading {
  double value = 0;
  double error = 0;
};

Reading readSample(const Align& align, const Array& image, size_t n, size_t c, const Sample& v, const Sample& h,
                   double largest) {
  Reading reading;
  const bool inside = v.inside && h.inside;
  if (v.edge || h.edge) reading.error = largest + std::fabs(align.outside);
  if (!inside) {
    reading.value = align.outside;
    return reading;
  }
  const double error = v.error + h.error;
  for (const Corner& corner : cornersOf(v, h)) {
    const double element = image.real[at4(image.sizes, n, c, corner.h, corner.w)];
    if (!std::isfinite(element) && error > 0 && corner.weight < 0x1p-10) reading.error = kInfinity;
    if (corner.weight != 0) reading.value += corner.weight * element;
  }
  if (!std::isfinite(reading.value) && error > 0) reading.error = kInfinity;
  if (align.linear) {
    reading.error += 2 * error * largest;
  } else if (v.kink || h.kink) {
    reading.error += 2 * largest;
    for (size_t y : {v.lower, v.other})
      for (size_t x : {h.lower, h.other})
        if (!std::isfinite(image.real[at4(image.sizes, n, c, y, x)])) reading.error = kInfinity;
  }
  return reading;
}

struct Region {
  size_t batch = 0;
  Axis h, v;

  bool doubtful() const { return h.doubtful || v.doubtful; }
  double samples() const { return static_cast<double>(h.perOutput) * static_cast<double>(v.perOutput); }

  // Calls visit(v, h) for each sample of an output element, row by row.
  template <class Visit>
  void forSamples(size_t oy, size_t ox, Visit visit) const {
    for (size_t y = 0; y < v.perOutput; ++y)
      for (size_t x = 0; x < h.perOutput; ++x) visit(v.samples[oy * v.perOutput + y], h.samples[ox * h.perOutput + x]);
  }
};

Region regionOf(const Align& align, const Array& regions, const Array& batchIndices, size_t r,
                const std::vector<uint32_t>& imageSizes, const std::vector<uint32_t>& cropSizes) {
  Region region;
  region.batch = static_cast<size_t>(batchIndices.whole.at(r));
  const double* corners = &regions.real.at(r * 4);
  region.h = axisOf(align, corners[0], corners[2], align.scaleX, cropSizes[3], imageSizes[3]);
  region.v = axisOf(align, corners[1], corners[3], align.scaleY, cropSizes[2], imageSizes[2]);
  return region;
}

// ---- ROI_ALIGN
// -------------------------------------------------------------------------------------------------------

Result forward(const Align& align, std::span<const Array> inputs, const DML_TENSOR_DESC* output) {
  requireInputs(inputs, 3);
  const Array& image = inputs[0];
  Result result = exactResult(output);
  result.tolerance = ulp(84, 10);
  const std::vector<uint32_t> sizes = result.value.sizes;
  result.slack.resize(result.value.count());
  const double largest = largestOf(image);
  for (size_t r = 0; r < sizes[0]; ++r) {
    const Region region = regionOf(align, inputs[1], inputs[2], r, image.sizes, sizes);
    for (size_t c = 0; c < sizes[1]; ++c)
      for (size_t oy = 0; oy < sizes[2]; ++oy)
        for (size_t ox = 0; ox < sizes[3]; ++ox) {
          const size_t o = at4(sizes, r, c, oy, ox);
          double value = align.maximum ? -kInfinity : 0;
          double error = 0;
          double outside = 0;
          region.forSamples(oy, ox, [&](const Sample& v, const Sample& h) {
            const Reading reading = readSample(align, image, region.batch, c, v, h, largest);
            if (!v.inside || !h.inside || v.edge || h.edge) outside = std::fabs(align.outside);
            value = align.maximum ? std::fmax(value, reading.value) : value + reading.value;
            // What a NaN does to a maximum is open.
            if (align.maximum && std::isnan(reading.value)) error = kInfinity;
            error = align.maximum ? std::max(error, reading.error) : error + reading.error;
          });
          // The sum may overflow.
          if (!align.maximum && std::isfinite(value) && largest * region.samples() > 1e38) error = kInfinity;
          if (!align.maximum) {
            value /= region.samples();
            error /= region.samples();
          }
          result.value.real[o] = value;
          result.slack[o] = region.doubtful() ? kInfinity : error + 0x1p-20 * (largest + outside);
        }
  }
  return result;
}

// ---- ROI_ALIGN_GRAD
// --------------------------------------------------------------------------------------------------

// Adds what one sample, read with `weight`, gives to the gradient of its region.
void addRegionGradient(const Align& align, const Array& image, const Region& region, size_t c, const Sample& v,
                       const Sample& h, double weight, double largest, bool doubtful, Result& result, size_t r) {
  // Nearest neighbours do not change with a place, but where they jump.
  if (!align.linear || !v.inside || !h.inside) {
    if (v.edge || h.edge || doubtful)
      for (size_t k = 0; k < 4; ++k) result.slack[r * 4 + k] += std::fabs(weight) * 8 * largest * 16;
    return;
  }
  const auto element = [&](size_t y, size_t x) { return image.real[at4(image.sizes, region.batch, c, y, x)]; };
  const double topLeft = element(v.lower, h.lower);
  const double topRight = element(v.lower, h.upper);
  const double bottomLeft = element(v.upper, h.lower);
  const double bottomRight = element(v.upper, h.upper);
  // On an element, and beyond the edges, the page takes both neighbours to be the same.
  const double slopeX =
      h.upper == h.lower ? 0 : (1 - v.fraction) * (topRight - topLeft) + v.fraction * (bottomRight - bottomLeft);
  const double slopeY =
      v.upper == v.lower ? 0 : (1 - h.fraction) * (bottomLeft - topLeft) + h.fraction * (bottomRight - topRight);
  if (!std::isfinite(weight) || !std::isfinite(slopeX) || !std::isfinite(slopeY) || largest > 1e37) {
    for (size_t k = 0; k < 4; ++k) result.slack[r * 4 + k] = kInfinity;
    return;
  }
  const double slopes[] = {slopeX * (1 - h.share), slopeY * (1 - v.share), slopeX * h.share, slopeY * v.share};
  const double shares[] = {1 - h.share, 1 - v.share, h.share, v.share};
  for (size_t k = 0; k < 4; ++k) {
    const double scale = k % 2 == 0 ? align.scaleX : align.scaleY;
    const size_t at = r * 4 + k;
    if (!doubtful) result.value.real[at] += weight * slopes[k] * scale;
    const double unit = std::fabs(weight * shares[k] * scale) * largest;
    result.magnitude[at] += unit;
    const bool jumps = v.kink || h.kink || v.edge || h.edge || doubtful;
    result.slack[at] += unit * (8 * (v.error + h.error) + 0x1p-19 + (jumps ? 8 : 0));
  }
}

// Adds what a gradient gives to the image elements that a sample reads.
void addImageGradient(const Region& region, size_t c, const Sample& v, const Sample& h, double weight, bool doubtful,
                      Result& result, std::vector<uint64_t>& terms) {
  const auto& sizes = result.value.sizes;
  const auto grant = [&](size_t y, size_t x, double slack) {
    result.slack[at4(sizes, region.batch, c, y, x)] += slack;
  };
  const bool mayBeInside = v.edge || h.edge;
  const double size = std::isnan(weight) ? kInfinity : std::fabs(weight);
  if (!((v.inside && h.inside) || mayBeInside)) return;
  for (const Corner& corner : cornersOf(v, h)) {
    if (corner.weight == 0) continue;
    const size_t i = at4(sizes, region.batch, c, corner.h, corner.w);
    const double given = weight * corner.weight;
    ++terms[i];
    if (!doubtful && v.inside && h.inside) result.value.real[i] += given;
    result.magnitude[i] += std::fabs(given);
    if (mayBeInside || doubtful) result.slack[i] += size * corner.weight;
  }
  if (const double error = 4 * (v.error + h.error); error != 0) {
    for (size_t y : {v.lower > 0 ? v.lower - 1 : 0, v.lower, v.upper, std::min<size_t>(v.upper + 1, sizes[2] - 1)})
      for (size_t x : {h.lower > 0 ? h.lower - 1 : 0, h.lower, h.upper, std::min<size_t>(h.upper + 1, sizes[3] - 1)})
        grant(y, x, error * size);
  }
  if (v.kink || h.kink)
    for (size_t y : {v.lower, v.other})
      for (size_t x : {h.lower, h.other}) grant(y, x, v.fraction == 0 || h.fraction == 0 ? size : 0);
}

}  // namespace

Result evaluateRoiPooling(const DML_ROI_POOLING_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 2);
  const Array& image = inputs[0];
  Result result = exactResult(desc.OutputTensor);
  result.tolerance = exactButZeroSign();
  const std::vector<uint32_t> sizes = result.value.sizes;
  const auto scale = static_cast<double>(desc.SpatialScale);
  for (size_t r = 0; r < sizes[0]; ++r) {
    const double* region = &inputs[1].real.at(r * 5);
    bool doubtful = false;
    const bool isBatch = region[0] >= 0 && region[0] < image.sizes[0] && region[0] == std::floor(region[0]);
    const size_t batch = isBatch ? static_cast<size_t>(region[0]) : 0;
    int64_t edges[4];
    for (size_t k = 0; k < 4; ++k) edges[k] = edgeOf(region[k + 1], scale, doubtful);
    for (size_t c = 0; c < sizes[1]; ++c)
      for (uint32_t oy = 0; oy < sizes[2]; ++oy)
        for (uint32_t ox = 0; ox < sizes[3]; ++ox) {
          const size_t o = at4(sizes, r, c, oy, ox);
          const Bin h = binOf(edges[0], edges[2], ox, sizes[3], image.sizes[3]);
          const Bin v = binOf(edges[1], edges[3], oy, sizes[2], image.sizes[2]);
          double most = -kInfinity;
          bool isFree = doubtful || !isBatch;
          for (int64_t y = v.first; y < v.end; ++y)
            for (int64_t x = h.first; x < h.end; ++x) {
              const double element =
                  image.real[at4(image.sizes, batch, c, static_cast<size_t>(y), static_cast<size_t>(x))];
              most = std::max(most, element);
              // What a NaN does to a maximum is open.
              isFree = isFree || std::isnan(element);
            }
          const bool empty = v.first >= v.end || h.first >= h.end;
          result.value.real[o] = empty ? 0 : most;
          if (isFree) makeFree(result, static_cast<int64_t>(o));
        }
  }
  return result;
}

namespace {

template <class Desc>
Align alignOf(const Desc& desc) {
  Align align;
  align.maximum = desc.ReductionFunction == DML_REDUCE_FUNCTION_MAX;
  align.linear = desc.InterpolationMode == DML_INTERPOLATION_MODE_LINEAR;
  align.scaleX = static_cast<double>(desc.SpatialScaleX);
  align.scaleY = static_cast<double>(desc.SpatialScaleY);
  align.minimumSamples = desc.MinimumSamplesPerOutput;
  align.maximumSamples = desc.MaximumSamplesPerOutput;
  return align;
}

template <class Desc>
Align alignWithOffsetsOf(const Desc& desc) {
  Align align = alignOf(desc);
  align.inputOffset = static_cast<double>(desc.InputPixelOffset);
  align.outputOffset = static_cast<double>(desc.OutputPixelOffset);
  align.toCorners = desc.AlignRegionsToCorners != 0;
  return align;
}

}  // namespace

Result evaluateRoiAlign(const DML_ROI_ALIGN_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  Align align = alignOf(desc);
  align.outside = static_cast<double>(desc.OutOfBoundsInputValue);
  return forward(align, inputs, desc.OutputTensor);
}

Result evaluateRoiAlign1(const DML_ROI_ALIGN1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  Align align = alignWithOffsetsOf(desc);
  align.outside = static_cast<double>(desc.OutOfBoundsInputValue);
  return forward(align, inputs, desc.OutputTensor);
}

// Of the elements outside, which have no field here, the maximum takes 0. The gradient of the regions is the derivative
// by their coordinates; the page sums it up without the scales and sizes.
std::vector<Result> evaluateRoiAlignGrad(const DML_ROI_ALIGN_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  if (inputs.size() != 4) throw std::invalid_argument("The operator takes 4 inputs.");
  const Align align = alignWithOffsetsOf(desc);
  const Array& image = inputs[0];
  const Array& gradient = inputs[1];
  std::vector<Result> results(2);
  for (size_t k = 0; k < 2; ++k) {
    const DML_TENSOR_DESC* tensor = k == 0 ? desc.OutputGradientTensor : desc.OutputROIGradientTensor;
    if (tensor == nullptr) continue;
    results[k] = exactResult(tensor);
    results[k].tolerance = {Tolerance::Kind::Sum, 0, 0, 0, 0, 0, true};
    results[k].magnitude.resize(results[k].value.count());
    results[k].slack.resize(results[k].value.count());
  }
  const bool toImage = desc.OutputGradientTensor != nullptr;
  const bool toRegions = desc.OutputROIGradientTensor != nullptr;
  const std::vector<uint32_t>& imageSizes = toImage ? results[0].value.sizes : image.sizes;
  const std::vector<uint32_t>& sizes = gradient.sizes;
  const double largest = largestOf(image);
  std::vector<uint64_t> terms(results[0].value.count());
  for (size_t r = 0; r < sizes[0]; ++r) {
    const Region region = regionOf(align, inputs[2], inputs[3], r, imageSizes, sizes);
    if (region.doubtful()) {
      // The samples may be more, and elsewhere.
      const size_t elements = size_t{imageSizes[1]} * imageSizes[2] * imageSizes[3];
      for (size_t i = 0; toImage && i < elements; ++i) results[0].slack[region.batch * elements + i] = kInfinity;
      for (size_t k = 0; toRegions && k < 4; ++k) results[1].slack[r * 4 + k] = kInfinity;
    }
    for (size_t c = 0; c < sizes[1]; ++c)
      for (size_t oy = 0; oy < sizes[2]; ++oy)
        for (size_t ox = 0; ox < sizes[3]; ++ox) {
          const double g = gradient.real[at4(sizes, r, c, oy, ox)];
          const auto add = [&](const Sample& v, const Sample& h, double weight, bool doubtful) {
            if (toImage) addImageGradient(region, c, v, h, weight, doubtful, results[0], terms);
            if (toRegions) addRegionGradient(align, image, region, c, v, h, weight, largest, doubtful, results[1], r);
          };
          if (!align.maximum) {
            region.forSamples(
                oy, ox, [&](const Sample& v, const Sample& h) { add(v, h, g / region.samples(), region.doubtful()); });
            continue;
          }
          // The first of the largest samples gets all. Those that round to be as large may get it instead.
          struct Candidate {
            const Sample* v;
            const Sample* h;
            Reading reading;
          };
          std::vector<Candidate> candidates;
          size_t chosen = 0;
          double error = 0x1p-20 * largest;
          region.forSamples(oy, ox, [&](const Sample& v, const Sample& h) {
            candidates.push_back({&v, &h, readSample(align, image, region.batch, c, v, h, largest)});
            if (candidates.back().reading.value > candidates[chosen].reading.value) chosen = candidates.size() - 1;
            error = std::max(error, candidates.back().reading.error + 0x1p-20 * largest);
          });
          const Candidate& first = candidates[chosen];
          // Beside a NaN or an infinity any sample may count as the largest.
          for (const Candidate& candidate : candidates)
            if (!std::isfinite(candidate.reading.value) || std::isinf(candidate.reading.error)) error = kInfinity;
          if (std::isinf(error)) {
            for (const Candidate& candidate : candidates) add(*candidate.v, *candidate.h, kInfinity, true);
            continue;
          }
          add(*first.v, *first.h, g, region.doubtful());
          bool alone = true;
          for (const Candidate& other : candidates) {
            if (!(other.reading.value >= first.reading.value - 2 * error) || &other == &first) continue;
            // Samples of the same elements give them the same.
            const auto same = [](const Sample& p, const Sample& q) {
              return p.lower == q.lower && p.upper == q.upper && p.fraction == q.fraction && p.share == q.share;
            };
            const auto sameElement = [](const Sample& p, const Sample& q) {
              return p.inside && q.inside && p.lower == q.lower && p.upper == q.lower && q.upper == q.lower;
            };
            const bool isSame = (same(*first.v, *other.v) || (!align.linear && sameElement(*first.v, *other.v))) &&
                                (same(*first.h, *other.h) || (!align.linear && sameElement(*first.h, *other.h)));
            if (isSame) continue;
            alone = false;
            add(*other.v, *other.h, g, true);
          }
          if (!alone) add(*first.v, *first.h, g, true);
        }
  }
  if (toImage) results[0].terms = std::max<uint64_t>(4, *std::max_element(terms.begin(), terms.end()));
  if (toRegions)
    results[1].terms = 4 + sizes[1] * static_cast<uint64_t>(sizes[2]) * sizes[3] *
                               static_cast<uint64_t>(std::min(align.maximumSamples, 64.0));
  for (Result& result : results)
    for (size_t i = 0; i < result.slack.size(); ++i) {
      result.slack[i] += 0x1p-120;
      // Sums may overflow before they cancel.
      if (std::isfinite(result.value.real[i]) && result.magnitude[i] > 1e38) result.slack[i] = kInfinity;
    }
  return results;
}

}  // namespace oracle
