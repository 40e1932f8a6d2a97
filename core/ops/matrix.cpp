// Matrix products.
#include <algorithm>

#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

// The pages want one DimensionCount; DirectML adds leading sizes of 1 to the tensors of integer products.

// The size of the dimension so far from the right; tensors of fewer dimensions have leading sizes of 1.
uint32_t sizeFromRight(const Tensor& tensor, uint32_t fromRight) {
  return fromRight <= tensor.rank ? tensor.sizes[tensor.rank - fromRight] : 1;
}

Status checkSizeFromRight(const std::string& name, const Tensor& tensor, uint32_t fromRight, uint32_t expected) {
  if (fromRight <= tensor.rank) return checkSize(name, tensor, tensor.rank - fromRight, expected);
  if (expected == 1) return {};
  return invalid(cat(name, " has DimensionCount (", tensor.rank, "), expected at least ", fromRight, "."));
}

// A is {..., M, K} and B {..., K, N}, either transposed if so said; the output is {..., M, N} over the same batches.
Status checkProduct(const std::string& aName, const Tensor& a, bool transposeA, const std::string& bName,
                    const Tensor& b, bool transposeB, const Tensor& y) {
  for (uint32_t d = std::max({a.rank, b.rank, y.rank}); d > 2; --d) {
    if (auto error = checkSizeFromRight(aName, a, d, sizeFromRight(y, d))) return error;
    if (auto error = checkSizeFromRight(bName, b, d, sizeFromRight(y, d))) return error;
  }
  if (auto error = checkSizeFromRight(aName, a, transposeA ? 1 : 2, sizeFromRight(y, 2))) return error;
  if (auto error = checkSizeFromRight(bName, b, transposeB ? 2 : 1, sizeFromRight(y, 1))) return error;
  return checkSizeFromRight(bName, b, transposeB ? 1 : 2, sizeFromRight(a, transposeA ? 2 : 1));
}

// A scale or zero point of the whole matrix, or of each row (the second dimension from the right) or column (the
// first).
Status checkParameter(const OpView& view, size_t input, uint32_t fromRight, uint32_t size) {
  const Tensor& tensor = view.input(input);
  if (!tensor.present() || tensor.elements == 1) return {};
  for (uint32_t d = 0; d < tensor.rank; ++d) {
    const uint32_t expected = d + fromRight == tensor.rank ? size : 1;
    if (auto error = checkSize(view.inputName(input), tensor, d, expected)) return error;
  }
  return {};
}
constexpr uint32_t kOfRows = 2;
constexpr uint32_t kOfColumns = 1;

// Leading sizes of 1 do not count.
uint32_t effectiveRank(const Tensor& tensor) {
  uint32_t d = 0;
  while (d < tensor.rank && tensor.sizes[d] == 1) ++d;
  return tensor.rank - d;
}

Status checkGemm(const OpView& view) {
  const auto& desc = view.as<DML_GEMM_OPERATOR_DESC>();
  const Tensor& y = view.output();
  if (auto error = checkProduct("ATensor", view.input(0), desc.TransA == DML_MATRIX_TRANSFORM_TRANSPOSE, "BTensor",
                                view.input(1), desc.TransB == DML_MATRIX_TRANSFORM_TRANSPOSE, y))
    return error;
  const Activation& activation = view.activation();
  if (activation.type == DML_OPERATOR_ACTIVATION_SOFTMAX && effectiveRank(y) > 2)
    return invalid(cat("OutputTensor has Sizes (", listText(y.sizeSpan()),
                       "), expected sizes of 1 before the last two for a fused ACTIVATION_SOFTMAX."));
  for (size_t i = 0; i < activation.axes.size(); ++i)
    if (activation.axes[i] >= y.rank)
      return invalid(cat("FusedActivation.Axes[", i, "] has value (", activation.axes[i], "), expected at most ",
                         y.rank - 1, "."));
  return {};
}

Status checkMatrixMultiplyInteger(const OpView& view) {
  const Tensor& y = view.output();
  if (auto error = checkProduct("ATensor", view.input(0), false, "BTensor", view.input(2), false, y)) return error;
  if (auto error = checkParameter(view, 1, kOfRows, y.sizes[y.rank - 2])) return error;
  return checkParameter(view, 3, kOfColumns, y.sizes[y.rank - 1]);
}

// The quantized products whose tensors begin with A, its scale and zero point, and those of B.
Status checkQuantizedProduct(const OpView& view) {
  const Tensor& y = view.output();
  if (auto error = checkProduct("ATensor", view.input(0), false, "BTensor", view.input(3), false, y)) return error;
  if (auto error = checkParameter(view, 1, kOfRows, y.sizes[y.rank - 2])) return error;
  return checkParameter(view, 4, kOfColumns, y.sizes[y.rank - 1]);
}

Status checkQuantizedLinearMatrixMultiply(const OpView& view) {
  if (auto error = checkQuantizedProduct(view)) return error;
  const Tensor& y = view.output();
  return checkParameter(view, 6, kOfRows, y.sizes[y.rank - 2]);
}

constexpr DML_OPERATOR_TYPE kAlsoFusedByGemm[] = {DML_OPERATOR_ACTIVATION_SOFTMAX, DML_OPERATOR_ACTIVATION_SOFTMAX1,
                                                  DML_OPERATOR_ELEMENT_WISE_CLIP};

template <class S>
constexpr Field kGemmFields[] = {DIMPLE_INPUT(S, ATensor),
                                 DIMPLE_INPUT(S, BTensor),
                                 DIMPLE_OPTIONAL_INPUT(S, CTensor),
                                 DIMPLE_OUTPUT(S, OutputTensor),
                                 DIMPLE_ENUM(S, TransA, kMatrixTransforms),
                                 DIMPLE_ENUM(S, TransB, kMatrixTransforms),
                                 DIMPLE_ATTRIBUTE(S, Alpha, Float),
                                 DIMPLE_ATTRIBUTE(S, Beta, Float),
                                 DIMPLE_OPTIONAL(S, FusedActivation, Operator)};
template <class S>
constexpr Field kMatrixMultiplyIntegerFields[] = {DIMPLE_INPUT(S, ATensor), DIMPLE_OPTIONAL_INPUT(S, AZeroPointTensor),
                                                  DIMPLE_INPUT(S, BTensor), DIMPLE_OPTIONAL_INPUT(S, BZeroPointTensor),
                                                  DIMPLE_OUTPUT(S, OutputTensor)};
template <class S>
constexpr Field kQuantizedLinearMatrixMultiplyFields[] = {DIMPLE_INPUT(S, ATensor),
                                                          DIMPLE_INPUT(S, AScaleTensor),
                                                          DIMPLE_OPTIONAL_INPUT(S, AZeroPointTensor),
                                                          DIMPLE_INPUT(S, BTensor),
                                                          DIMPLE_INPUT(S, BScaleTensor),
                                                          DIMPLE_OPTIONAL_INPUT(S, BZeroPointTensor),
                                                          DIMPLE_INPUT(S, OutputScaleTensor),
                                                          DIMPLE_OPTIONAL_INPUT(S, OutputZeroPointTensor),
                                                          DIMPLE_OUTPUT(S, OutputTensor)};
template <class S>
constexpr Field kMatrixMultiplyIntegerToFloatFields[] = {DIMPLE_INPUT(S, ATensor),
                                                         DIMPLE_INPUT(S, AScaleTensor),
                                                         DIMPLE_OPTIONAL_INPUT(S, AZeroPointTensor),
                                                         DIMPLE_INPUT(S, BTensor),
                                                         DIMPLE_INPUT(S, BScaleTensor),
                                                         DIMPLE_OPTIONAL_INPUT(S, BZeroPointTensor),
                                                         DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                                         DIMPLE_OUTPUT(S, OutputTensor)};

constexpr TypeHistory kGemmTypes{{k1_0, kFloats, 4, 4}, {k4_0, kFloats, 2, 4}};
constexpr TypeHistory kMatrixMultiplyIntegerTypes{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 2, 4}};
constexpr TypeHistory kMatrixMultiplyIntegerAZeroPointTypes{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 1, 4}};
constexpr TypeHistory kQuantizedLinearMatrixMultiplyAScaleTypes{{k2_1, kFloat32, 4, 4}, {k4_0, kFloat32, 1, 4}};
constexpr TypeHistory kMatrixMultiplyIntegerToFloatTypes{{k6_2, kInts8To32, 2, 4}};
constexpr TypeHistory kMatrixMultiplyIntegerToFloatAScaleTypes{{k6_2, kFloats, 1, 4}};
constexpr TypeHistory kMatrixMultiplyIntegerToFloatAZeroPointTypes{{k6_2, kInts8To32, 1, 4}};
constexpr TypeHistory kMatrixMultiplyIntegerToFloatBiasTypes{{k6_2, kFloats, 2, 4}};

constexpr TensorRule kGemmRules[] = {
    {kGemmTypes}, {kGemmTypes, sameTypeAndRank(0)}, {kGemmTypes, sameTypeAndRank(0)}, {kGemmTypes, {0, 0, 2}}};
constexpr TensorRule kMatrixMultiplyIntegerRules[] = {
    {kMatrixMultiplyIntegerTypes},
    {kMatrixMultiplyIntegerAZeroPointTypes, sameType(0)},
    {kMatrixMultiplyIntegerTypes},
    {{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 2, 4}, {k5_2, kInts8, 1, 4}}, sameType(2)},
    {{{k2_1, kInt32, 4, 4}, {k4_0, kInt32, 2, 4}}}};
constexpr TensorRule kQuantizedLinearMatrixMultiplyRules[] = {{kMatrixMultiplyIntegerTypes},
                                                              {kQuantizedLinearMatrixMultiplyAScaleTypes},
                                                              {kMatrixMultiplyIntegerAZeroPointTypes, {0, 1, 1}},
                                                              {kMatrixMultiplyIntegerTypes},
                                                              {kQuantizedLinearMatrixMultiplyAScaleTypes},
                                                              {kMatrixMultiplyIntegerAZeroPointTypes, {3, 4, 4}},
                                                              {kQuantizedLinearMatrixMultiplyAScaleTypes},
                                                              {kMatrixMultiplyIntegerAZeroPointTypes, sameSizes(6)},
                                                              {kMatrixMultiplyIntegerTypes, sameType(7)}};
// The page wants one type of integers and one of floats. DirectML mixes them, but for the two scales.
constexpr TensorRule kMatrixMultiplyIntegerToFloatRules[] = {{kMatrixMultiplyIntegerToFloatTypes},
                                                             {kMatrixMultiplyIntegerToFloatAScaleTypes},
                                                             {kMatrixMultiplyIntegerToFloatAZeroPointTypes, {0, 1, 1}},
                                                             {kMatrixMultiplyIntegerToFloatTypes},
                                                             {kMatrixMultiplyIntegerToFloatAScaleTypes, sameType(1)},
                                                             {kMatrixMultiplyIntegerToFloatAZeroPointTypes, {3, 4, 4}},
                                                             {kMatrixMultiplyIntegerToFloatBiasTypes},
                                                             {kMatrixMultiplyIntegerToFloatBiasTypes, like(6)}};

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(GEMM, kGemmFields, kGemmRules, false, false, checkGemm, nullptr, kAlsoFusedByGemm),
    DIMPLE_ROW(MATRIX_MULTIPLY_INTEGER, kMatrixMultiplyIntegerFields, kMatrixMultiplyIntegerRules, false, false,
               checkMatrixMultiplyInteger, nullptr),
    DIMPLE_ROW(QUANTIZED_LINEAR_MATRIX_MULTIPLY, kQuantizedLinearMatrixMultiplyFields,
               kQuantizedLinearMatrixMultiplyRules, false, false, checkQuantizedLinearMatrixMultiply, nullptr),
    DIMPLE_ROW(MATRIX_MULTIPLY_INTEGER_TO_FLOAT, kMatrixMultiplyIntegerToFloatFields,
               kMatrixMultiplyIntegerToFloatRules, false, false, checkQuantizedProduct, nullptr),
};

}  // namespace

std::span<const OpSchema> matrixSchemas() { return kSchemas; }

}  // namespace dimple
