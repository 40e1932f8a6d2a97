// Matrix products.
#include <algorithm>

#include "core/operation.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/product.h"
#include "core/ops/softmax.h"
#include "core/ops/table.h"
#include "kernels/interfaces/cast.h"

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
    TRY(checkSizeFromRight(aName, a, d, sizeFromRight(y, d)));
    TRY(checkSizeFromRight(bName, b, d, sizeFromRight(y, d)));
  }
  TRY(checkSizeFromRight(aName, a, transposeA ? 1 : 2, sizeFromRight(y, 2)));
  TRY(checkSizeFromRight(bName, b, transposeB ? 2 : 1, sizeFromRight(y, 1)));
  return checkSizeFromRight(bName, b, transposeB ? 1 : 2, sizeFromRight(a, transposeA ? 2 : 1));
}

// A scale or zero point of the whole matrix, or of each row (the second dimension from the right) or column (the
// first).
Status checkParameter(const Operation& op, size_t input, uint32_t fromRight, uint32_t size) {
  const Tensor& tensor = op.input(input);
  if (!tensor.present() || tensor.elements == 1) return {};
  for (uint32_t d = 0; d < tensor.rank; ++d) {
    const uint32_t expected = d + fromRight == tensor.rank ? size : 1;
    TRY(checkSize(op.inputName(input), tensor, d, expected));
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

Status checkGemm(const Operation& op) {
  const auto& desc = op.as<DML_GEMM_OPERATOR_DESC>();
  const Tensor& y = op.output();
  TRY(checkProduct("ATensor", op.input(0), desc.TransA == DML_MATRIX_TRANSFORM_TRANSPOSE, "BTensor", op.input(1),
                   desc.TransB == DML_MATRIX_TRANSFORM_TRANSPOSE, y));
  const Activation& activation = op.activation();
  if (activation.type == DML_OPERATOR_ACTIVATION_SOFTMAX && effectiveRank(y) > 2)
    return invalid(cat("OutputTensor has Sizes (", listText(y.sizeSpan()),
                       "), expected sizes of 1 before the last two for a fused ACTIVATION_SOFTMAX."));
  for (size_t i = 0; i < activation.axes.size(); ++i)
    if (activation.axes[i] >= y.rank)
      return invalid(cat("FusedActivation.Axes[", i, "] has value (", activation.axes[i], "), expected at most ",
                         y.rank - 1, "."));
  return {};
}

Status checkMatrixMultiplyInteger(const Operation& op) {
  const Tensor& y = op.output();
  TRY(checkProduct("ATensor", op.input(0), false, "BTensor", op.input(2), false, y));
  TRY(checkParameter(op, 1, kOfRows, y.sizes[y.rank - 2]));
  return checkParameter(op, 3, kOfColumns, y.sizes[y.rank - 1]);
}

// The quantized products whose tensors begin with A, its scale and zero point, and those of B.
Status checkQuantizedProduct(const Operation& op) {
  const Tensor& y = op.output();
  TRY(checkProduct("ATensor", op.input(0), false, "BTensor", op.input(3), false, y));
  TRY(checkParameter(op, 1, kOfRows, y.sizes[y.rank - 2]));
  return checkParameter(op, 4, kOfColumns, y.sizes[y.rank - 1]);
}

Status checkQuantizedLinearMatrixMultiply(const Operation& op) {
  TRY(checkQuantizedProduct(op));
  const Tensor& y = op.output();
  return checkParameter(op, 6, kOfRows, y.sizes[y.rank - 2]);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// The stride of a dimension that may be missing or of one element.
uint32_t strideFromRight(const Tensor& tensor, uint32_t fromRight) {
  return sizeFromRight(tensor, fromRight) > 1 ? tensor.strides[tensor.rank - fromRight] : 0;
}

// Of the tensors at these places among the inputs, into a tensor that lies in `to`.
Product productOf(const PlanBuilder& builder, size_t aIndex, bool transposeA, size_t bIndex, bool transposeB,
                  std::optional<size_t> cIndex, const Tensor& y, const BufferRange& to) {
  const Operation& op = builder.view();
  const Tensor& a = op.input(aIndex);
  const Tensor& b = op.input(bIndex);
  Product product;
  product.type = y.type;
  product.rows = sizeFromRight(y, 2);
  product.columns = sizeFromRight(y, 1);
  product.depth = sizeFromRight(a, transposeA ? 2 : 1);
  product.hasC = cIndex && op.input(*cIndex).present();
  const Tensor c = product.hasC ? op.input(*cIndex) : Tensor{};
  const auto stridesOf = [](const Tensor& tensor, bool transpose) {
    return Product::Strides{strideFromRight(tensor, transpose ? 1 : 2), strideFromRight(tensor, transpose ? 2 : 1)};
  };
  product.a = stridesOf(a, transposeA);
  product.b = stridesOf(b, transposeB);
  product.c = stridesOf(c, false);
  product.y = stridesOf(y, false);
  for (uint32_t d = std::max({a.rank, b.rank, y.rank}); d > 2; --d)
    product.matrices.addDimension(sizeFromRight(y, d), {strideFromRight(a, d), strideFromRight(b, d),
                                                        strideFromRight(c, d), strideFromRight(y, d)});
  product.matrices.coalesce();
  product.bytes[0] = a.ownedByDml ? 0 : a.totalBytes;
  product.bytes[1] = b.ownedByDml ? 0 : b.totalBytes;
  product.from[0] = builder.input(aIndex);
  product.from[1] = builder.input(bIndex);
  product.from[2] = builder.input(product.hasC ? *cIndex : aIndex);
  product.to = to;
  return product;
}

// The axes of a fused softmax; none if the activation works on single elements.
std::optional<uint32_t> softmaxAxes(const Activation& activation, uint32_t rank) {
  if (activation.type == DML_OPERATOR_ACTIVATION_SOFTMAX) return 1u << (rank - 1);
  if (activation.type != DML_OPERATOR_ACTIVATION_SOFTMAX1) return std::nullopt;
  uint32_t mask = 0;
  for (const UINT axis : activation.axes) mask |= 1u << axis;
  return mask;
}

Result<Plan> planGemm(const Operation& op, const Target& target) {
  PlanBuilder builder(op, target);
  const auto& desc = op.as<DML_GEMM_OPERATOR_DESC>();
  const Tensor& y = op.output();
  FloatFinish finish{desc.Alpha, desc.Beta, op.activation()};
  const auto addProduct = [&](const Tensor& to, const BufferRange& range) -> Status {
    Product p = productOf(builder, 0, desc.TransA == DML_MATRIX_TRANSFORM_TRANSPOSE, 1,
                          desc.TransB == DML_MATRIX_TRANSFORM_TRANSPOSE, 2, to, range);
    p.type = y.type;
    TRY(packOwnedB(builder, 1, p));
    return addFloatProduct(builder, p, finish);
  };
  const auto axes = softmaxAxes(finish.activation, y.rank);
  if (!axes) {
    TRY(addProduct(y, builder.output()));
    return builder.finish();
  }
  // Between the product and the softmax, and behind it, elements stay FLOAT32, so that they are rounded once.
  const Tensor wide = packedTensor(DML_TENSOR_DATA_TYPE_FLOAT32, y.sizeSpan());
  const BufferRange sums = builder.allocateTemporary(wide.elements * 4);
  finish.activation = {};
  finish.wide = y.type != wide.type;
  TRY(addProduct(wide, sums));
  const BufferRange results = finish.wide ? builder.allocateTemporary(wide.elements * 4) : builder.output();
  TRY(addSoftmax(builder, DML_OPERATOR_ACTIVATION_SOFTMAX, wide, finish.wide ? wide : y, *axes, sums, results));
  if (finish.wide) {
    const Tensor* operands[] = {&wide, &y};
    Walk walk = makeWalk(y.sizeSpan(), operands);
    walk.sortBy(1);
    walk.coalesce();
    TRY(builder.addItems(kernels::Cast{.type = typedElement(y.type, target),
                                       .push = {.count = static_cast<uint32_t>(y.elements), .rank = walk.rank},
                                       .spec = {.source = wide.type},
                                       .x = results,
                                       .y = builder.output()},
                         y.elements, builder.parameters(walk)));
  }
  return builder.finish();
}

Quantization::Parameter parameterOf(const PlanBuilder& builder, size_t input, uint32_t fromRight) {
  const Tensor& tensor = builder.view().input(input);
  if (!tensor.present()) return {};
  return {builder.input(input), strideFromRight(tensor, fromRight)};
}

// Of the first input and those at `b` and, if there is one, `c`.
Status addIntegers(PlanBuilder& builder, size_t b, std::optional<size_t> c, const Quantization& quantization) {
  Product product = productOf(builder, 0, false, b, false, c, builder.view().output(), builder.output());
  TRY(packOwnedB(builder, b, product, &quantization));
  return addIntegerProduct(builder, product, quantization);
}

Result<Plan> planMatrixMultiplyInteger(const Operation& op, const Target& target) {
  PlanBuilder builder(op, target);
  Quantization quantization;
  quantization.a = op.input(0).type;
  quantization.b = op.input(2).type;
  quantization.zeroA = parameterOf(builder, 1, kOfRows);
  quantization.zeroB = parameterOf(builder, 3, kOfColumns);
  TRY(addIntegers(builder, 2, std::nullopt, quantization));
  return builder.finish();
}

// The tensors that the quantized products begin with.
Quantization quantizationOf(const PlanBuilder& builder) {
  const Operation& op = builder.view();
  Quantization quantization;
  quantization.a = op.input(0).type;
  quantization.scale = op.input(1).type;
  quantization.b = op.input(3).type;
  quantization.scaleA = parameterOf(builder, 1, kOfRows);
  quantization.zeroA = parameterOf(builder, 2, kOfRows);
  quantization.scaleB = parameterOf(builder, 4, kOfColumns);
  quantization.zeroB = parameterOf(builder, 5, kOfColumns);
  return quantization;
}

Result<Plan> planQuantizedLinearMatrixMultiply(const Operation& op, const Target& target) {
  PlanBuilder builder(op, target);
  Quantization quantization = quantizationOf(builder);
  quantization.scaleY = parameterOf(builder, 6, kOfRows);
  quantization.zeroY = parameterOf(builder, 7, kOfRows);
  TRY(addIntegers(builder, 3, std::nullopt, quantization));
  return builder.finish();
}

Result<Plan> planMatrixMultiplyIntegerToFloat(const Operation& op, const Target& target) {
  PlanBuilder builder(op, target);
  Quantization quantization = quantizationOf(builder);
  quantization.c = op.input(6).type;
  TRY(addIntegers(builder, 3, 6, quantization));
  return builder.finish();
}

// ---- schemas --------------------------------------------------------------------------------------------------------

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

constexpr OpSchema kMatrixSchemas[] = {
    DIMPLE_ROW(GEMM, kGemmFields, .rules = kGemmRules, .check = checkGemm, .plan = planGemm,
               .alsoFuses = kAlsoFusedByGemm, .readsColumns = true),
    DIMPLE_ROW(MATRIX_MULTIPLY_INTEGER, kMatrixMultiplyIntegerFields, .rules = kMatrixMultiplyIntegerRules,
               .check = checkMatrixMultiplyInteger, .plan = planMatrixMultiplyInteger),
    DIMPLE_ROW(QUANTIZED_LINEAR_MATRIX_MULTIPLY, kQuantizedLinearMatrixMultiplyFields,
               .rules = kQuantizedLinearMatrixMultiplyRules, .check = checkQuantizedLinearMatrixMultiply,
               .plan = planQuantizedLinearMatrixMultiply),
    DIMPLE_ROW(MATRIX_MULTIPLY_INTEGER_TO_FLOAT, kMatrixMultiplyIntegerToFloatFields,
               .rules = kMatrixMultiplyIntegerToFloatRules, .check = checkQuantizedProduct,
               .plan = planMatrixMultiplyIntegerToFloat),
};

}  // namespace

std::span<const OpSchema> matrixSchemas() { return kMatrixSchemas; }

}  // namespace dimple
