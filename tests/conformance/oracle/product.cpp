#include "tests/conformance/oracle/product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/conformance/oracle/elements.h"
#include "tests/conformance/oracle/elementwise.h"
#include "tests/conformance/oracle/softmax.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestFloat = static_cast<double>(std::numeric_limits<float>::max());
constexpr double kFloatEps = 0x1p-23;

bool isDenormal(DML_TENSOR_DATA_TYPE type, double x) { return x != 0 && std::fabs(x) < smallestNormal(type); }
bool isDenormal(double x) { return isDenormal(DML_TENSOR_DATA_TYPE_FLOAT32, x); }

// How far a packed tensor's index moves along a dimension counted from the right; tensors of fewer dimensions have
// leading sizes of 1.
int64_t stepFromRight(const Array& tensor, size_t fromRight) {
  const size_t rank = tensor.sizes.size();
  if (fromRight > rank || tensor.sizes[rank - fromRight] == 1) return 0;
  return packedSteps(tensor.sizes)[rank - fromRight];
}
uint32_t sizeFromRight(const Array& tensor, size_t fromRight) {
  const size_t rank = tensor.sizes.size();
  return fromRight > rank ? 1 : tensor.sizes[rank - fromRight];
}

// One operand of a product of matrices: where its elements lie as those of the output are stepped through.
struct Operand {
  std::array<int64_t, kMaxRank> batches{};  // by dimension of the output from the right
  int64_t outer = 0;                        // along its rows or columns
  int64_t depth = 0;
  Operand(const Array& tensor, size_t outerFromRight) {
    for (size_t d = 3; d <= kMaxRank; ++d) batches[d - 1] = stepFromRight(tensor, d);
    outer = stepFromRight(tensor, outerFromRight);
    depth = stepFromRight(tensor, 3 - outerFromRight);
  }
  // For the element at these coordinates of an output of `rank` dimensions.
  int64_t start(const Coordinates& at, size_t rank, int64_t along) const {
    int64_t index = along * outer;
    for (size_t d = 3; d <= rank; ++d) index += at[rank - d] * batches[d - 1];
    return index;
  }
};

// Calls visit(element, row, column, a, b) for each element of the output and each step along the depth.
template <class Visit>
void eachProduct(const Array& a, bool transposeA, const Array& b, bool transposeB, const Array& y, Visit visit) {
  const Operand rows(a, transposeA ? 1 : 2);
  const Operand columns(b, transposeB ? 2 : 1);
  const uint32_t depth = sizeFromRight(a, transposeA ? 2 : 1);
  if (sizeFromRight(b, transposeB ? 1 : 2) != depth) throw std::invalid_argument("ATensor and BTensor do not match.");
  const size_t rank = y.sizes.size();
  eachElement(y.sizes, [&](const Coordinates& at, int64_t element) {
    const int64_t row = at[rank - 2];
    const int64_t column = at[rank - 1];
    int64_t i = rows.start(at, rank, row);
    int64_t j = columns.start(at, rank, column);
    for (uint32_t k = 0; k < depth; ++k) {
      visit(static_cast<size_t>(element), static_cast<size_t>(row), static_cast<size_t>(column), static_cast<size_t>(i),
            static_cast<size_t>(j));
      i += rows.depth;
      j += columns.depth;
    }
  });
}

// A number of the whole tensor, or of each row or column; absent zero points are 0.
int64_t zeroAt(const Array& zeros, size_t i) {
  if (zeros.absent()) return 0;
  return zeros.whole.size() == 1 ? zeros.whole[0] : zeros.whole.at(i);
}
double scaleAt(const Array& scales, size_t i) { return scales.real.size() == 1 ? scales.real[0] : scales.real.at(i); }

Array outputOf(const DML_TENSOR_DESC* tensor) {
  const DML_BUFFER_TENSOR_DESC& output = bufferOf(tensor);
  return makeArray(output.DataType, sizesOf(output));
}

// Sums of (a - its zero point) * (b - its zero point).
std::vector<int64_t> integerSums(const Array& a, const Array& zeroA, const Array& b, const Array& zeroB,
                                 const Array& y) {
  std::vector<int64_t> sums(y.count());
  eachProduct(a, false, b, false, y, [&](size_t element, size_t row, size_t column, size_t i, size_t j) {
    sums[element] += (a.whole[i] - zeroAt(zeroA, row)) * (b.whole[j] - zeroAt(zeroB, column));
  });
  return sums;
}

// Errors of a softmax's arguments reach its results: d s_i = s_i (d x_i - sum of s_j d x_j).
Result softmaxOf(const DML_OPERATOR_DESC& activation, const Result& argument, std::span<const double> error) {
  const Array& in = argument.value;
  const auto rank = static_cast<UINT>(in.sizes.size());
  std::vector<UINT> axes = {rank - 1};
  if (activation.Type == DML_OPERATOR_ACTIVATION_SOFTMAX1) {
    const auto& desc = *static_cast<const DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC*>(activation.Desc);
    axes.assign(desc.Axes, desc.Axes + desc.AxisCount);
  }
  const DML_BUFFER_TENSOR_DESC buffer{in.type, DML_TENSOR_FLAG_NONE, rank, in.sizes.data(), nullptr, 0, 0};
  const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &buffer};
  const DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC desc{&tensor, &tensor, static_cast<UINT>(axes.size()), axes.data()};
  Result result = evaluateSoftmax1(desc, std::span(&in, 1));
  std::vector<uint32_t> kept = in.sizes;
  std::vector<uint32_t> reduced(rank, 1);
  for (const UINT axis : axes) {
    reduced.at(axis) = in.sizes.at(axis);
    kept[axis] = 1;
  }
  const Steps steps = packedSteps(in.sizes);
  using Position = std::array<int64_t, 1>;
  walk<1>(kept, {steps}, [&](const Position& base) {
    double mean = 0;
    double most = 0;
    const auto each = [&](auto visit) {
      walk<1>(reduced, {steps}, [&](const Position& offset) { visit(static_cast<size_t>(base[0] + offset[0])); });
    };
    each([&](size_t i) {
      const double e = error[i];
      if (result.value.real[i] > 0 || std::isnan(result.value.real[i])) mean += std::fabs(result.value.real[i]) * e;
      most = std::max(most, e);
    });
    each([&](size_t i) {
      // Beyond small errors the answer is anyone's.
      result.slack[i] += most < 0.25 ? 2 * result.value.real[i] * (error[i] + mean) : kInfinity;
    });
  });
  return result;
}

}  // namespace

Result finishFloats(Result result, std::span<const ProductSum> sums, uint64_t terms, double scale,
                    std::span<const double> addends, const DML_OPERATOR_DESC* activation) {
  result.tolerance = Tolerance{Tolerance::Kind::Sum, 0, 0, 0, 0, 0, true};
  result.terms = terms + (addends.empty() ? 0 : 1);
  result.magnitude.resize(sums.size());
  result.slack.resize(sums.size());
  std::vector<double> error(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    const ProductSum& sum = sums[i];
    const double addend = addends.empty() ? 0 : addends[i];
    const double scaled = scale * sum.value;
    double& magnitude = result.magnitude[i];
    double& slack = result.slack[i];
    result.value.real[i] = addends.empty() ? scaled : scaled + addend;
    magnitude = std::fabs(scale) * sum.magnitude + (std::isfinite(addend) ? std::fabs(addend) : 0);
    slack = std::fabs(scale) * sum.flushed;
    for (const double part : {scaled, addend})
      if (isDenormal(part)) slack += std::fabs(part);
    // Partial sums and what is made of them may be flushed, too.
    slack += std::min(magnitude, 0x1p-125);
    // Partial sums that overflow in one order and not in another.
    if (sum.free || std::max(sum.magnitude, magnitude) > kLargestFloat / 2) slack = kInfinity;
    error[i] = 2 * static_cast<double>(result.terms) * kFloatEps * magnitude + slack;
    if (isDenormal(result.value.real[i])) error[i] += std::fabs(result.value.real[i]);
  }
  if (activation == nullptr) return result;
  if (activation->Type == DML_OPERATOR_ACTIVATION_SOFTMAX || activation->Type == DML_OPERATOR_ACTIVATION_SOFTMAX1) {
    return softmaxOf(*activation, result, error);
  }
  applyActivation(*activation, error, result);
  // An argument that may be anything, NaN too, leaves nothing to expect of functions that flatten out either.
  for (size_t i = 0; i < error.size(); ++i)
    if (error[i] == kInfinity) result.slack[i] = kInfinity;
  return result;
}

void quantize(Result& result, size_t element, int64_t sum, const OutputScale& scale) {
  const DML_TENSOR_DATA_TYPE type = result.value.type;
  const double scaled = static_cast<double>(sum) * scale.operands / scale.output;
  const auto rounded = [&](double x) { return truncateTo(type, std::nearbyint(x) + static_cast<double>(scale.zero)); };
  result.value.whole[element] = rounded(scaled);
  // Scales of 0 are undefined; others are multiplied and divided in FLOAT32.
  const bool odd = scale.operands == 0 || scale.output == 0 || !std::isfinite(scaled) || isDenormal(scale.operands) ||
                   isDenormal(scale.output) || std::fabs(scale.operands) > kLargestFloat;
  const double error = odd ? kInfinity : 8 * kFloatEps * std::fabs(scaled);
  double& slack = result.slack[element];
  if (odd) {
    slack = kInfinity;
  } else {
    slack = static_cast<double>(rounded(scaled + error) - rounded(scaled - error));
  }
}

Result evaluateGemm(const DML_GEMM_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  if (inputs.size() != 3) throw std::invalid_argument("GEMM takes 3 inputs, of which the last may be absent.");
  const Array& a = inputs[0];
  const Array& b = inputs[1];
  const Array& c = inputs[2];
  Result result{outputOf(desc.OutputTensor), exact()};
  const bool transposeA = desc.TransA == DML_MATRIX_TRANSFORM_TRANSPOSE;
  const bool transposeB = desc.TransB == DML_MATRIX_TRANSFORM_TRANSPOSE;
  std::vector<ProductSum> sums(result.value.count());
  const double smallest = smallestNormal(a.type);
  eachProduct(a, transposeA, b, transposeB, result.value, [&](size_t element, size_t, size_t, size_t i, size_t j) {
    sums[element].add(a.real[i], b.real[j], smallest);
  });
  std::vector<double> addends;
  if (!c.absent()) {
    if (c.sizes != result.value.sizes) throw std::invalid_argument("CTensor has other sizes than OutputTensor.");
    for (const double x : c.real) addends.push_back(static_cast<double>(desc.Beta) * x);
    for (size_t i = 0; i < c.real.size(); ++i)
      if (isDenormal(c.type, c.real[i])) sums[i].flushed += std::fabs(addends[i]);
  }
  return finishFloats(std::move(result), sums, sizeFromRight(a, transposeA ? 2 : 1), static_cast<double>(desc.Alpha),
                      addends, desc.FusedActivation);
}

Result evaluateMatrixMultiplyInteger(const DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC& desc,
                                     std::span<const Array> inputs) {
  Result result{outputOf(desc.OutputTensor), exact()};
  const std::vector<int64_t> sums = integerSums(inputs[0], inputs[1], inputs[2], inputs[3], result.value);
  for (size_t i = 0; i < sums.size(); ++i) result.value.whole[i] = wrapTo(result.value.type, sums[i]);
  return result;
}

Result evaluateQuantizedLinearMatrixMultiply(const DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC& desc,
                                             std::span<const Array> inputs) {
  Result result{outputOf(desc.OutputTensor), exact()};
  result.slack.resize(result.value.count());
  const std::vector<int64_t> sums = integerSums(inputs[0], inputs[2], inputs[3], inputs[5], result.value);
  const size_t columns = result.value.sizes.back();
  const size_t rows = sizeFromRight(result.value, 2);
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t row = i / columns % rows;
    const double operands = scaleAt(inputs[1], row) * scaleAt(inputs[4], i % columns);
    quantize(result, i, wrapTo(DML_TENSOR_DATA_TYPE_INT32, sums[i]),
             {operands, scaleAt(inputs[6], row), zeroAt(inputs[7], row)});
  }
  return result;
}

Result evaluateMatrixMultiplyIntegerToFloat(const DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC& desc,
                                            std::span<const Array> inputs) {
  Result result{outputOf(desc.OutputTensor), exact()};
  const Array& a = inputs[0];
  const Array& b = inputs[3];
  std::vector<ProductSum> sums(result.value.count());
  const double smallest = smallestNormal(DML_TENSOR_DATA_TYPE_FLOAT32);
  eachProduct(a, false, b, false, result.value, [&](size_t element, size_t row, size_t column, size_t i, size_t j) {
    const auto x = static_cast<double>(a.whole[i] - zeroAt(inputs[2], row));
    const auto w = static_cast<double>(b.whole[j] - zeroAt(inputs[5], column));
    sums[element].add(x, w, smallest);
  });
  const size_t columns = result.value.sizes.back();
  const size_t rows = sizeFromRight(result.value, 2);
  for (size_t i = 0; i < sums.size(); ++i) {
    const double scale = scaleAt(inputs[1], i / columns % rows) * scaleAt(inputs[4], i % columns);
    sums[i].value *= scale;
    sums[i].magnitude *= std::fabs(scale);
    // The differences, the product of the scales and that with the sum are rounded.
    sums[i].flushed += 4 * kFloatEps * sums[i].magnitude;
    sums[i].free = !std::isfinite(scale) || scale == 0 || isDenormal(scale) || std::fabs(scale) > kLargestFloat;
  }
  return finishFloats(std::move(result), sums, sizeFromRight(a, 1), 1,
                      inputs[6].absent() ? std::span<const double>{} : std::span<const double>(inputs[6].real),
                      nullptr);
}

}  // namespace oracle
