#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "tests/conformance/oracle/elements.h"
#include "tests/conformance/oracle/product.h"

namespace oracle {
namespace {

// What the descriptions have in common.
struct Shape {
  bool backward = false;
  bool flipped = false;
  std::span<const UINT> strides, dilations, startPadding, outputPadding;
  UINT groups = 1;
};

// An element of the input and one of the window that meet in one of the output, along one dimension.
struct Meeting {
  int64_t x, w, y;
};

int64_t sizeAt(const Array& tensor, size_t d) { return d < tensor.sizes.size() ? tensor.sizes[d] : 1; }

// Forward, y[o] takes x[o * stride + k * dilation - padding] times w[k]; backward, x[i] gives itself times w[k] to
// y[i * stride + k * dilation - padding]. Convolution turns the window around, in both directions.
std::vector<Meeting> meetings(const Shape& shape, size_t d, const Array& x, const Array& w, const Array& y) {
  const int64_t inputs = sizeAt(x, d + 2);
  const int64_t window = sizeAt(w, d + 2);
  int64_t outputs = sizeAt(y, d + 2);
  const bool given = d < shape.strides.size();
  const int64_t stride = given ? shape.strides[d] : 1;
  const int64_t dilation = given ? shape.dilations[d] : 1;
  const int64_t padding = given ? shape.startPadding[d] : 0;
  // "OutputPadding applies a zero padding to the result of the convolution [...] to the end of each spatial dimension".
  if (d < shape.outputPadding.size()) outputs -= shape.outputPadding[d];
  std::vector<Meeting> list;
  for (int64_t first = 0; first < (shape.backward ? inputs : outputs); ++first)
    for (int64_t k = 0; k < window; ++k) {
      const int64_t second = first * stride + k * dilation - padding;
      if (second < 0 || second >= (shape.backward ? outputs : inputs)) continue;
      const int64_t tap = shape.flipped ? window - 1 - k : k;
      list.push_back(shape.backward ? Meeting{first, tap, second} : Meeting{second, tap, first});
    }
  return list;
}

// Calls visit(x, w, y, filter) with the row-major indices of all elements that meet; `filter` counts the channels of
// the output. Tensors are NC and up to three spatial dimensions.
template <class Visit>
void eachMeeting(const Shape& shape, const Array& x, const Array& w, const Array& y, Visit visit) {
  constexpr size_t kSpatial = 3;
  std::array<std::vector<Meeting>, kSpatial> lists;
  for (size_t d = 0; d < kSpatial; ++d) lists[d] = meetings(shape, d, x, w, y);
  // Dimensions that no tensor has are of size 1.
  for (size_t d = kSpatial; d < shape.strides.size(); ++d)
    if (shape.startPadding[d] != 0) return;
  const int64_t channels = x.sizes[1] / shape.groups;
  const int64_t filters = y.sizes[1] / shape.groups;
  const auto row = [](const Array& tensor, int64_t z, int64_t at) {
    return (z * sizeAt(tensor, 3) + at) * sizeAt(tensor, 4);
  };
  const auto planeSize = [](const Array& tensor) { return sizeAt(tensor, 2) * sizeAt(tensor, 3) * sizeAt(tensor, 4); };
  // What meets lies side by side in the innermost loops, which this reference takes most of its time for.
  for (int64_t n = 0; n < x.sizes[0]; ++n)
    for (int64_t filter = 0; filter < y.sizes[1]; ++filter)
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t channel = filter / filters * channels + c;
        const int64_t slice = shape.backward ? channel * filters + filter % filters : filter * channels + c;
        const int64_t startX = (n * x.sizes[1] + channel) * planeSize(x);
        const int64_t startW = slice * planeSize(w);
        const int64_t startY = (n * y.sizes[1] + filter) * planeSize(y);
        for (const Meeting& p : lists[0])
          for (const Meeting& q : lists[1]) {
            const int64_t rowX = startX + row(x, p.x, q.x);
            const int64_t rowW = startW + row(w, p.w, q.w);
            const int64_t rowY = startY + row(y, p.y, q.y);
            for (const Meeting& r : lists[2])
              visit(static_cast<size_t>(rowX + r.x), static_cast<size_t>(rowW + r.w), static_cast<size_t>(rowY + r.y),
                    static_cast<size_t>(filter));
          }
      }
}

// The channel of the output that a row-major index lies in.
size_t filterOf(const Array& y, size_t index) {
  const auto plane = static_cast<size_t>(sizeAt(y, 2) * sizeAt(y, 3) * sizeAt(y, 4));
  return index / plane % y.sizes[1];
}

// Whether a row-major index of the output lies in OutputPadding.
bool isPadding(const Shape& shape, const Array& y, size_t index) {
  for (size_t d = y.sizes.size(); d-- > 2;) {
    if (index % y.sizes[d] >= y.sizes[d] - shape.outputPadding[d - 2]) return true;
    index /= y.sizes[d];
  }
  return false;
}

int64_t zeroAt(const Array& zeros, size_t i) {
  if (zeros.absent()) return 0;
  return zeros.whole.size() == 1 ? zeros.whole[0] : zeros.whole.at(i);
}
double scaleAt(const Array& scales, size_t i) { return scales.real.size() == 1 ? scales.real[0] : scales.real.at(i); }

template <class Desc>
Shape integerShape(const Desc& desc) {
  Shape shape;
  const size_t count = desc.DimensionCount;
  shape.strides = {desc.Strides, count};
  shape.dilations = {desc.Dilations, count};
  shape.startPadding = {desc.StartPadding, count};
  shape.groups = desc.GroupCount;
  return shape;
}

// Padding is 0 after the zero point was subtracted, as it is in ONNX.
std::vector<int64_t> integerSums(const Shape& shape, const Array& x, const Array& zeroX, const Array& w,
                                 const Array& zeroW, const Array& y) {
  std::vector<int64_t> sums(y.count());
  eachMeeting(shape, x, w, y, [&](size_t i, size_t j, size_t element, size_t filter) {
    sums[element] += (x.whole[i] - zeroAt(zeroX, 0)) * (w.whole[j] - zeroAt(zeroW, filter));
  });
  return sums;
}

// What the largest sum of a tile rounds away is lost to all of its elements, unless it is so large that the tile must
// be computed without transforms.
void shareMagnitudes(const Array& y, std::vector<ProductSum>& sums) {
  const size_t rows = y.sizes[2], columns = y.sizes[3];
  for (size_t plane = 0; plane < sums.size(); plane += rows * columns)
    for (size_t row = 0; row < rows; row += 4)
      for (size_t column = 0; column < columns; column += 4) {
        double largest = 0;
        const auto each = [&](const auto& visit) {
          for (size_t r = row; r < std::min(rows, row + 4); ++r)
            for (size_t c = column; c < std::min(columns, column + 4); ++c) visit(sums[plane + r * columns + c]);
        };
        each([&](const ProductSum& sum) { largest = std::max(largest, sum.magnitude); });
        if (largest < 0x1p100) each([&](ProductSum& sum) { sum.magnitude = largest; });
      }
}

}  // namespace

bool mayBeTransformed(const DML_CONVOLUTION_OPERATOR_DESC& desc) {
  const DML_BUFFER_TENSOR_DESC& filter = bufferOf(desc.FilterTensor);
  const DML_BUFFER_TENSOR_DESC& y = bufferOf(desc.OutputTensor);
  if (filter.DimensionCount != 4 || filter.Sizes[2] != 3 || filter.Sizes[3] != 3 ||
      y.DataType != DML_TENSOR_DATA_TYPE_FLOAT32 || desc.GroupCount != 1 ||
      desc.Direction != DML_CONVOLUTION_DIRECTION_FORWARD || desc.Strides[0] * desc.Strides[1] != 1 ||
      desc.Dilations[0] * desc.Dilations[1] != 1)
    return false;
  const auto tiles = [&](UINT d) { return uint64_t{y.Sizes[d] + 3} / 4; };
  return y.Sizes[1] >= 16 && filter.Sizes[1] >= 16 && y.Sizes[0] * tiles(2) * tiles(3) >= 768;
}

Result evaluateConvolution(const DML_CONVOLUTION_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  if (inputs.size() != 3) throw std::invalid_argument("CONVOLUTION takes 3 inputs, of which the last may be absent.");
  const Array& x = inputs[0];
  const Array& w = inputs[1];
  const Array& bias = inputs[2];
  Result result = exactResult(desc.OutputTensor);
  Array& y = result.value;
  Shape shape;
  const size_t count = desc.DimensionCount;
  shape.backward = desc.Direction == DML_CONVOLUTION_DIRECTION_BACKWARD;
  shape.flipped = desc.Mode == DML_CONVOLUTION_MODE_CONVOLUTION;
  shape.strides = {desc.Strides, count};
  shape.dilations = {desc.Dilations, count};
  shape.startPadding = {desc.StartPadding, count};
  shape.outputPadding = {desc.OutputPadding, count};
  shape.groups = desc.GroupCount;
  std::vector<ProductSum> sums(y.count());
  std::vector<uint64_t> met(y.count());
  const double smallest = smallestNormal(x.type);
  eachMeeting(shape, x, w, y, [&](size_t i, size_t j, size_t element, size_t) {
    sums[element].add(x.real[i], w.real[j], smallest);
    ++met[element];
  });
  uint64_t terms = x.sizes[1] / desc.GroupCount;
  for (size_t d = 0; d < count; ++d) terms *= w.sizes[d + 2];
  // Whether padding multiplies an infinity of the filter is not said; DirectML's does.
  const bool finite = std::all_of(w.real.begin(), w.real.end(), [](double f) { return std::isfinite(f); });
  std::vector<double> addends;
  for (size_t i = 0; i < sums.size(); ++i) {
    const bool padding = isPadding(shape, y, i);
    if (!finite && !padding && met[i] < terms) sums[i].free = true;
    if (bias.absent()) continue;
    // OutputPadding is 0 without the bias, as it is in DirectML; the activation applies to it.
    addends.push_back(padding ? 0 : bias.real.at(filterOf(y, i)));
    if (addends[i] != 0 && std::fabs(addends[i]) < smallestNormal(bias.type)) sums[i].flushed += std::fabs(addends[i]);
  }
  if (mayBeTransformed(desc)) shareMagnitudes(y, sums);
  return finishFloats(std::move(result), sums, terms, 1, addends, desc.FusedActivation);
}

Result evaluateConvolutionInteger(const DML_CONVOLUTION_INTEGER_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  Result result = exactResult(desc.OutputTensor);
  const std::vector<int64_t> sums =
      integerSums(integerShape(desc), inputs[0], inputs[1], inputs[2], inputs[3], result.value);
  for (size_t i = 0; i < sums.size(); ++i) result.value.whole[i] = wrapTo(result.value.type, sums[i]);
  return result;
}

Result evaluateQuantizedLinearConvolution(const DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC& desc,
                                          std::span<const Array> inputs) {
  Result result = exactResult(desc.OutputTensor);
  result.slack.resize(result.value.count());
  const std::vector<int64_t> sums =
      integerSums(integerShape(desc), inputs[0], inputs[2], inputs[3], inputs[5], result.value);
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t filter = filterOf(result.value, i);
    // The bias is of the scale of the products, as it is in ONNX.
    const int64_t sum = wrapTo(DML_TENSOR_DATA_TYPE_INT32, sums[i] + zeroAt(inputs[6], filter));
    quantize(result, i, sum,
             {scaleAt(inputs[1], 0) * scaleAt(inputs[4], filter), scaleAt(inputs[7], 0), zeroAt(inputs[8], 0)});
  }
  return result;
}

}  // namespace oracle
