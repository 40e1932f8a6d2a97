#include "tests/conformance/oracle/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/conformance/oracle/fields.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFloatEps = 0x1p-23;
constexpr double kSmallestFloat = 0x1p-126;

double valueAt(const Array& array, size_t i) {
  return isReal(array.type) ? array.real[i] : static_cast<double>(array.whole[i]);
}

// Element of a tensor of blocks that serves element `i` of a tensor of `sizes`.
size_t blockOf(size_t i, const std::vector<uint32_t>& sizes, const std::vector<uint32_t>& blocks) {
  size_t at = 0;
  size_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    at += i % sizes[d] / (sizes[d] / blocks[d]) * step;
    i /= sizes[d];
    step *= blocks[d];
  }
  return at;
}

// clamp(round(x) + zeroPoint, Min, Max), halves to the even neighbour, as Microsoft's DLL rounds. x is known within
// `error`: where it may lie on the other side of a half, either neighbour is right. What becomes of NaN is open.
void storeQuantized(Result& result, size_t i, double x, double error, double zeroPoint) {
  result.slack.resize(result.value.whole.size());
  if (std::isnan(x)) {
    result.slack[i] = kInfinity;
    return;
  }
  const auto at = [&](double moved) { return truncateTo(result.value.type, std::nearbyint(moved) + zeroPoint); };
  result.value.whole[i] = at(x);
  if (!std::isfinite(x)) return;
  result.slack[i] = std::max(std::fabs(static_cast<double>(at(x + error) - at(x))),
                             std::fabs(static_cast<double>(at(x - error) - at(x))));
}

// How far x / scale may be off: by the rounding of the quotient, which is correct unless numbers are extreme, by
// operands that may be flushed, and for x of 32 bits by its conversion.
double quotientError(double x, double scale, double quotient) {
  if (std::fabs(x) < kSmallestFloat || std::fabs(scale) < kSmallestFloat) return std::fabs(quotient);
  const bool extreme = std::fabs(x) < 0x1p-60 || std::fabs(quotient) > 0x1p40;
  if (extreme || static_cast<float>(x) != x) return 4 * kFloatEps * std::fabs(quotient);
  return static_cast<float>(quotient) == quotient ? 0 : 0.51 * kFloatEps * std::fabs(quotient);
}

// The zero point of blocks without one: as in the original, the middle of an unsigned type.
int64_t middleOf(DML_TENSOR_DATA_TYPE type) {
  return type == DML_TENSOR_DATA_TYPE_UINT8 ? 128 : type == DML_TENSOR_DATA_TYPE_UINT4 ? 8 : 0;
}

Result quantizeBlocks(const Array& x, const Array& scale, const Array& zeroPoint, DML_TENSOR_DATA_TYPE type,
                      int64_t otherwise = 0) {
  Result result{makeArray(type, x.sizes), exact()};
  for (size_t i = 0; i < x.count(); ++i) {
    const size_t block = blockOf(i, x.sizes, scale.sizes);
    const double zero = zeroPoint.absent() ? static_cast<double>(otherwise) : valueAt(zeroPoint, block);
    const double quotient = valueAt(x, i) / valueAt(scale, block);
    storeQuantized(result, i, quotient, quotientError(valueAt(x, i), valueAt(scale, block), quotient), zero);
    // Whether a quotient is one at all, where an operand of it may be flushed.
    const auto isFlushed = [](double value) { return value != 0 && std::fabs(value) < kSmallestFloat; };
    if (isFlushed(valueAt(scale, block)) || (isFlushed(valueAt(x, i)) && valueAt(scale, block) == 0))
      result.slack[i] = kInfinity;
  }
  return result;
}

// The difference is one of integers, exact, as that of Microsoft's DLL is up to 24 bits.
Result dequantizeBlocks(const Array& x, const Array& scale, const Array& zeroPoint, DML_TENSOR_DATA_TYPE type,
                        int64_t otherwise = 0) {
  Result result{makeArray(type, x.sizes), ulp(2, 1)};
  for (size_t i = 0; i < x.count(); ++i) {
    const size_t block = blockOf(i, x.sizes, scale.sizes);
    const int64_t zero = zeroPoint.absent() ? otherwise : zeroPoint.whole[block];
    result.value.real[i] = static_cast<double>(x.whole[i] - zero) * valueAt(scale, block);
    const double factor = std::fabs(valueAt(scale, block));
    if (factor != 0 && factor < kSmallestFloat) {
      result.slack.resize(x.count());
      result.slack[i] = std::fabs(result.value.real[i]);
    }
  }
  return result;
}

void requireBlocks(std::span<const Array> inputs, UINT tensors) {
  if (inputs.size() != tensors + 1u || tensors == 0 || tensors > 2)
    throw std::invalid_argument("The operator takes its input, scales, and zero points if it is told so.");
}

}  // namespace

Result evaluateQuantizeLinear(const DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC& desc,
                              std::span<const Array> inputs) {
  if (inputs.size() != 3) throw std::invalid_argument("The operator takes 3 inputs.");
  return quantizeBlocks(inputs[0], inputs[1], inputs[2], bufferOf(desc.OutputTensor).DataType);
}

Result evaluateDequantizeLinear(const DML_ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC& desc,
                                std::span<const Array> inputs) {
  if (inputs.size() != 3) throw std::invalid_argument("The operator takes 3 inputs.");
  return dequantizeBlocks(inputs[0], inputs[1], inputs[2], bufferOf(desc.OutputTensor).DataType);
}

Result evaluateQuantizedLinearAdd(const DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC& desc,
                                  std::span<const Array> inputs) {
  if (inputs.size() != 8) throw std::invalid_argument("The operator takes 8 inputs.");
  Result result{makeArray(bufferOf(desc.OutputTensor).DataType, inputs[0].sizes), exact()};
  const auto zeroPoint = [&](size_t i) { return inputs[i].absent() ? 0 : valueAt(inputs[i], 0); };
  const double scale = inputs[6].real[0];
  for (size_t i = 0; i < inputs[0].count(); ++i) {
    const double a = (valueAt(inputs[0], i) - zeroPoint(2)) * inputs[1].real[0];
    const double b = (valueAt(inputs[3], i) - zeroPoint(5)) * inputs[4].real[0];
    const double quotient = (a + b) / scale;
    // Both products and their sum are rounded.
    const double error = 2 * kFloatEps * (std::fabs(a) + std::fabs(b)) / std::fabs(scale);
    storeQuantized(result, i, quotient, error + quotientError(a + b, scale, quotient), zeroPoint(7));
  }
  return result;
}

// The page's formula over a range that has 0 in it, which Microsoft's DLL sees to (as ONNX does), and which passes over
// NaN. Equal ends give a scale of 0 and a zero point that is open. A range that FLOAT32 does not hold is infinite
// there, and so is its scale: the zero point and all numbers become the lowest integer.
std::vector<Result> evaluateDynamicQuantizeLinear(const DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC& desc,
                                                  std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const DML_TENSOR_DATA_TYPE type = bufferOf(desc.OutputTensor).DataType;
  double least = 0;
  double largest = 0;
  for (const double x : inputs[0].real) {
    if (x < least) least = x;
    if (x > largest) largest = x;
  }
  const double lowest = isSigned(type) ? -128 : 0;
  constexpr double kRoundsToInfinity = 0x1.ffffffp127;
  const double scale = largest - least < kRoundsToInfinity ? (largest - least) / 255 : kInfinity;

  std::vector<Result> results;
  results.push_back({makeArray(type, inputs[0].sizes), exact()});
  results.push_back({makeArray(DML_TENSOR_DATA_TYPE_FLOAT32, sizesOf(bufferOf(desc.OutputScaleTensor))), ulp(3, 0)});
  results.push_back({makeArray(type, sizesOf(bufferOf(desc.OutputZeroPointTensor))), exact()});
  results[1].value.real[0] = scale;
  const double start = -least / scale;
  // Two roundings of the scale, one of the quotient.
  storeQuantized(results[2], 0, start, 8 * kFloatEps * std::fabs(start), lowest);
  const bool open = scale < kSmallestFloat;
  if (open) results[2].slack[0] = kInfinity;
  for (size_t i = 0; i < inputs[0].real.size(); ++i) {
    const double quotient = inputs[0].real[i] / scale;
    storeQuantized(results[0], i, quotient, 8 * kFloatEps * std::fabs(quotient),
                   static_cast<double>(results[2].value.whole[0]));
    results[0].slack[i] = open ? kInfinity : results[0].slack[i] + results[2].slack[0];
  }
  return results;
}

Result evaluateQuantize(const DML_QUANTIZE_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireBlocks(inputs, desc.QuantizationTensorCount);
  const DML_TENSOR_DATA_TYPE type = bufferOf(desc.OutputTensor).DataType;
  return quantizeBlocks(inputs[0], inputs[1], inputs.size() > 2 ? inputs[2] : Array(), type, middleOf(type));
}

Result evaluateDequantize(const DML_DEQUANTIZE_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireBlocks(inputs, desc.QuantizationTensorCount);
  return dequantizeBlocks(inputs[0], inputs[1], inputs.size() > 2 ? inputs[2] : Array(),
                          bufferOf(desc.OutputTensor).DataType, middleOf(inputs[0].type));
}

}  // namespace oracle
