// Matrix products.
#include <algorithm>

#include "core/operation.h"
#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/product.h"
#include "core/ops/shared_kernels.h"
#include "core/ops/softmax.h"
#include "core/ops/table.h"
#include "kernels/interfaces/cast.h"

namespace dimple {
namespace {

// The pages require one DimensionCount, but DirectML adds leading sizes of 1 to the tensors of integer products.

// Returns the size of a dimension, counted from the right. Tensors with fewer dimensions have leading sizes of 1.
uint32_t sizeFromRight(const Tensor& tensor, uint32_t fromRight) {
  return fromRight <= tensor.rank ? tensor.sizes[tensor.rank - fromRight] : 1;
}

Status checkSizeFromRight(const std::string& name, const Tensor& tensor, uint32_t fromRight, uint32_t expected) {
  if (fromRight <= tensor.rank) return checkSize(name, tensor, tensor.rank - fromRight, expected);
  if (expected == 1) return {};
  return invalid(cat(name, " has DimensionCount (", tensor.rank, "), expected at least ", fromRight, "."));
}

// A is {..., M, K} and B {..., K, N}, and the description may transpose either of them; the output is {..., M, N} over
// the same batches.
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

Status checkGemm(const Operation& op) {
  const auto& desc = op.as<DML_GEMM_OPERATOR_DESC>();
  const Tensor& y = op.output();
  TRY(checkProduct("ATensor", op.input(0), desc.TransA == DML_MATRIX_TRANSFORM_TRANSPOSE, "BTensor", op.input(1),
                   desc.TransB == DML_MATRIX_TRANSFORM_TRANSPOSE, y));
  const Activation& activation = op.activation();
  const auto several = [](uint32_t size) { return size != 1; };
  if (activation.type == DML_OPERATOR_ACTIVATION_SOFTMAX &&
      std::ranges::any_of(y.sizeSpan().first(y.rank - 2), several))
    return invalid(cat("OutputTensor has Sizes (", listText(y.sizeSpan()),
                       "), expected sizes of 1 before the last two for a fused ACTIVATION_SOFTMAX."));
  return checkAxes(activation.axes, y.rank, "FusedActivation.Axes");
}

// Plans a product of A and the input `b`. The first parameters lie behind the operands, and scales of the output may
// follow.
template <size_t b, size_t scaleY = 0>
Status checkIntegers(const Operation& op) {
  const Tensor& y = op.output();
  TRY(checkProduct("ATensor", op.input(0), false, "BTensor", op.input(b), false, y));
  TRY(checkParameter(op, 1, kOfRows, y.sizes[y.rank - 2]));
  TRY(checkParameter(op, b + 1, kOfColumns, y.sizes[y.rank - 1]));
  return scaleY ? checkParameter(op, scaleY, kOfRows, y.sizes[y.rank - 2]) : Status{};
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// Returns the stride of a dimension that may be missing or have one element.
uint32_t strideFromRight(const Tensor& tensor, uint32_t fromRight) {
  return sizeFromRight(tensor, fromRight) > 1 ? tensor.strides[tensor.rank - fromRight] : 0;
}

}  // namespace

Product productOf(const PlanBuilder& builder, size_t aIndex, bool transposeA, size_t bIndex, bool transposeB,
                  size_t cIndex, const Tensor& y, const BufferRange& to) {
  const Operation& op = builder.op();
  const Tensor& a = op.input(aIndex);
  const Tensor& b = op.input(bIndex);
  Product product;
  product.type = y.type;
  product.rows = sizeFromRight(y, 2);
  product.columns = sizeFromRight(y, 1);
  product.depth = sizeFromRight(a, transposeA ? 2 : 1);
  product.hasC = cIndex != 0 && op.input(cIndex).present();
  const Tensor c = product.hasC ? op.input(cIndex) : Tensor{};
  const auto stridesOf = [](const Tensor& tensor, bool transpose) {
    return Product::Strides{strideFromRight(tensor, transpose ? 1 : 2), strideFromRight(tensor, transpose ? 2 : 1)};
  };
  product.a = stridesOf(a, transposeA);
  product.b = stridesOf(b, transposeB);
  // Without a C, its place holds the parameters of a column.
  product.c = !product.hasC && op.epilogue().channels != 0 ? Product::Strides{0, 1} : stridesOf(c, false);
  product.y = stridesOf(y, false);
  for (uint32_t d = std::max({a.rank, b.rank, y.rank}); d > 2; --d)
    product.matrices.addDimension(sizeFromRight(y, d), {strideFromRight(a, d), strideFromRight(b, d),
                                                        strideFromRight(c, d), strideFromRight(y, d)});
  product.matrices.coalesce();
  product.bytes[0] = a.ownedByDml ? 0 : a.totalBytes;
  product.bytes[1] = b.ownedByDml ? 0 : b.totalBytes;
  product.from[0] = builder.input(aIndex);
  product.from[1] = builder.input(bIndex);
  product.from[2] = builder.input(product.hasC ? cIndex : aIndex);
  product.to = to;
  return product;
}

namespace {

// The axes of a fused softmax; none if the activation works on single elements.
std::optional<uint32_t> softmaxAxes(const Activation& activation, uint32_t rank) {
  if (activation.type == DML_OPERATOR_ACTIVATION_SOFTMAX) return 1u << (rank - 1);
  if (activation.type != DML_OPERATOR_ACTIVATION_SOFTMAX1) return std::nullopt;
  return axisMask(activation.axes);
}

Status planGemm(const Operation& op, PlanBuilder& builder) {
  const auto& desc = op.as<DML_GEMM_OPERATOR_DESC>();
  const Tensor& y = op.output();
  const DataType type = op.input(0).type;
  // A pass may let a product of FLOAT16 store FLOAT32.
  FloatFinish finish{.alpha = desc.Alpha,
                     .beta = desc.Beta,
                     .activation = op.activation(),
                     .wide = y.type != type,
                     .epilogue = op.epilogue()};
  const auto addProduct = [&](const Tensor& to, const BufferRange& range) -> Status {
    Product p = productOf(builder, 0, desc.TransA == DML_MATRIX_TRANSFORM_TRANSPOSE, 1,
                          desc.TransB == DML_MATRIX_TRANSFORM_TRANSPOSE, 2, to, range);
    p.type = type;
    TRY(packB(builder, 1, p));
    return addFloatProduct(builder, p, finish);
  };
  const auto axes = softmaxAxes(finish.activation, y.rank);
  if (!axes && type == DML_TENSOR_DATA_TYPE_FLOAT32 && activatesApart(builder.target(), finish.activation.type)) {
    finish.activation = {};
    TRY(addProduct(y, builder.output()));
    return activateOutput(op, builder, op.activation());
  }
  if (!axes) return addProduct(y, builder.output());
  // Between the product and the softmax, and behind it, elements stay FLOAT32, so that they are rounded once.
  const Tensor wide = packedTensor(DML_TENSOR_DATA_TYPE_FLOAT32, y.sizeSpan());
  const BufferRange sums = builder.allocateTemporary(wide.elements * 4);
  finish.activation = {};
  finish.wide = y.type != wide.type;
  TRY(addProduct(wide, sums));
  const BufferRange results = finish.wide ? builder.allocateTemporary(wide.elements * 4) : builder.output();
  TRY(addSoftmax(builder, DML_OPERATOR_ACTIVATION_SOFTMAX, wide, finish.wide ? wide : y, *axes, sums, results));
  if (finish.wide) {
    const Walk walk = makeWalk(y.sizeSpan(), {&wide, &y}).coalesceBy(1);
    TRY(builder.addWalk(walk, kernels::Cast{.type = builder.typedElement(y.type),
                                            .push = {.walk = walkWords(walk)},
                                            .spec = {.source = wide.type},
                                            .x = results,
                                            .y = builder.output()}));
  }
  return {};
}

template <IntegerPlaces described>
Status planIntegers(const Operation& op, PlanBuilder& builder) {
  const IntegerPlaces at = described.with(op.epilogue());
  const Quantization quantization = quantizationOf(
      builder, 0, at, [](const Tensor& rows) { return strideFromRight(rows, kOfRows); },
      [](const Tensor& columns) { return strideFromRight(columns, kOfColumns); });
  Product product = productOf(builder, 0, false, at.b, false, at.c, op.output(), builder.output());
  TRY(packB(builder, at.b, product, &quantization));
  return addIntegerProduct(builder, product, quantization);
}

constexpr IntegerPlaces kIntegers{.b = 2, .zeroA = 1, .zeroB = 3};
constexpr IntegerPlaces kQuantized{.b = 3, .zeroA = 2, .zeroB = 5, .scaleA = 1, .scaleB = 4, .scaleY = 6, .zeroY = 7};
constexpr IntegerPlaces kToFloat{.b = 3, .zeroA = 2, .zeroB = 5, .scaleA = 1, .scaleB = 4, .c = 6};

// ---- schemas --------------------------------------------------------------------------------------------------------

constexpr DML_OPERATOR_TYPE kAlsoFusedByGemm[] = {DML_OPERATOR_ACTIVATION_SOFTMAX, DML_OPERATOR_ACTIVATION_SOFTMAX1,
                                                  DML_OPERATOR_ELEMENT_WISE_CLIP};

DIMPLE_FIELDS(kGemmFields, DIMPLE_INPUT(ATensor, BTensor), DIMPLE_OPTIONAL_INPUT(CTensor), DIMPLE_OUTPUT(OutputTensor),
              DIMPLE_ENUM(TransA, kMatrixTransforms), DIMPLE_ENUM(TransB, kMatrixTransforms), DIMPLE_FLOAT(Alpha, Beta),
              DIMPLE_FUSED_ACTIVATION);
DIMPLE_FIELDS(kIntegerFields, DIMPLE_INPUT(ATensor), DIMPLE_OPTIONAL_INPUT(AZeroPointTensor), DIMPLE_INPUT(BTensor),
              DIMPLE_OPTIONAL_INPUT(BZeroPointTensor), DIMPLE_OUTPUT(OutputTensor));
DIMPLE_FIELDS(kQuantizedFields, DIMPLE_QUANTIZED_INPUT(A), DIMPLE_QUANTIZED_INPUT(B), DIMPLE_OUTPUT_QUANTIZATION,
              DIMPLE_OUTPUT(OutputTensor));
DIMPLE_FIELDS(kToFloatFields, DIMPLE_QUANTIZED_INPUT(A), DIMPLE_QUANTIZED_INPUT(B), DIMPLE_OPTIONAL_INPUT(BiasTensor),
              DIMPLE_OUTPUT(OutputTensor));

constexpr TypeHistory kGemmTypes{{k1_0, kFloats, 4, 4}, {k4_0, kFloats, 2, 4}};
constexpr TypeHistory kIntegerTypes{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 2, 4}};
constexpr TypeHistory kZeroPointTypes{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 1, 4}};
constexpr TypeHistory kScaleTypes{{k2_1, kFloat32, 4, 4}, {k4_0, kFloat32, 1, 4}};
constexpr TypeHistory kToFloatTypes{{k6_2, kInts8To32, 2, 4}};
constexpr TypeHistory kToFloatScaleTypes{{k6_2, kFloats, 1, 4}};
constexpr TypeHistory kToFloatZeroPointTypes{{k6_2, kInts8To32, 1, 4}};
constexpr TypeHistory kToFloatBiasTypes{{k6_2, kFloats, 2, 4}};

constexpr TensorRule kGemmRules[] = {
    {kGemmTypes}, {kGemmTypes, sameTypeAndRank(0)}, {kGemmTypes, sameTypeAndRank(0)}, {kGemmTypes, {0, 0, 2}}};
constexpr TensorRule kIntegerRules[] = {
    {kIntegerTypes},
    {kZeroPointTypes, sameType(0)},
    {kIntegerTypes},
    {{{k2_1, kInts8, 4, 4}, {k4_0, kInts8, 2, 4}, {k5_2, kInts8, 1, 4}}, sameType(2)},
    {{{k2_1, kInt32, 4, 4}, {k4_0, kInt32, 2, 4}}}};
constexpr TensorRule kQuantizedRules[] = {{kIntegerTypes},
                                          {kScaleTypes},
                                          {kZeroPointTypes, {0, 1, 1}},
                                          {kIntegerTypes},
                                          {kScaleTypes},
                                          {kZeroPointTypes, {3, 4, 4}},
                                          {kScaleTypes},
                                          {kZeroPointTypes, sameSizes(6)},
                                          {kIntegerTypes, sameType(7)}};
// The page requires one type for all integers and one for all floats. DirectML mixes them, except for the two scales.
constexpr TensorRule kToFloatRules[] = {{kToFloatTypes},
                                        {kToFloatScaleTypes},
                                        {kToFloatZeroPointTypes, {0, 1, 1}},
                                        {kToFloatTypes},
                                        {kToFloatScaleTypes, sameType(1)},
                                        {kToFloatZeroPointTypes, {3, 4, 4}},
                                        {kToFloatBiasTypes},
                                        {kToFloatBiasTypes, like(6)}};

constexpr OpSchema kMatrixSchemas[] = {
    DIMPLE_ROW(GEMM, kGemmFields, .rules = kGemmRules, .check = checkGemm, .plan = planGemm,
               .alsoFuses = kAlsoFusedByGemm, .readsColumns = true, .numbersOnly = true),
    DIMPLE_ROW(MATRIX_MULTIPLY_INTEGER, kIntegerFields, .rules = kIntegerRules, .check = checkIntegers<2>,
               .plan = planIntegers<kIntegers>, .numbersOnly = true),
    DIMPLE_ROW(QUANTIZED_LINEAR_MATRIX_MULTIPLY, kQuantizedFields, .rules = kQuantizedRules,
               .check = checkIntegers<3, 6>, .plan = planIntegers<kQuantized>, .numbersOnly = true),
    DIMPLE_ROW(MATRIX_MULTIPLY_INTEGER_TO_FLOAT, kToFloatFields, .rules = kToFloatRules, .check = checkIntegers<3>,
               .plan = planIntegers<kToFloat>, .numbersOnly = true),
};

}  // namespace

std::span<const OpSchema> matrixSchemas() { return kMatrixSchemas; }

}  // namespace dimple
