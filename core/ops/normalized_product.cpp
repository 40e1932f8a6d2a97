#include "core/ops/normalized_product.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/checked.h"
#include "core/ops/product.h"
#include "core/ops/product_tiles.h"
#include "core/ops/product_words.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "kernels/interfaces/normalized_product.h"

namespace dimple {
namespace {

// Inputs of the product behind those of GEMM.
constexpr size_t kNormalScale = 3;
constexpr size_t kNormalShift = 4;

// The names are those in kernels/matrix/normalized.comp.
constexpr uint32_t kNormalMean = 1;
constexpr uint32_t kNormalScales = 2;
constexpr uint32_t kNormalShifts = 4;
constexpr uint32_t kFewestNormalSteps = 256;
constexpr uint32_t kMostNormalSteps = 1024;
// Matrices of B ahead of their use: many where invocations share each evenly, so that it takes few registers.
constexpr uint32_t kManyAhead = 16;
constexpr uint32_t kFewAhead = 2;

struct NormalizedAttributes {
  float alpha, beta;
  bool turned;  // B is transposed
  bool usesMean;
  float epsilon;
};

// How a workgroup takes a product.
struct NormalizedTile {
  uint32_t steps = kFewestNormalSteps;  // of which rows have room
  uint32_t down = 2;                    // matrices below each other
};

Tile extentOf(const NormalizedTile& tile, const Caps& caps) {
  const uint32_t subgroups = kGroupSize / caps.subgroupSize;
  return {tile.down * caps.matrices.rows, subgroups / tile.down * caps.matrices.columns, tile.steps};
}

uint64_t bytesOfNormalized(const NormalizedTile& tile, const Caps& caps) {
  const MatrixShape& shape = caps.matrices;
  const uint64_t rows = uint64_t{tile.down} * shape.rows * (tile.steps / 8 + 1);
  const uint64_t sums = uint64_t{kGroupSize / caps.subgroupSize} * shape.rows * (shape.columns / 4 + 1);
  return std::max(rows, sums) * 16 + kGroupSize * 8;
}

// No value: no kernel takes the product.
std::optional<NormalizedTile> normalizedTileOf(const Product& p, const Target& target) {
  const Caps& caps = target.caps;
  const MatrixShape& shape = caps.matrices;
  if (!shape || p.type != DML_TENSOR_DATA_TYPE_FLOAT16 || p.matrices.rank != 0) return {};
  if (std::ranges::any_of(p.matrices.base, [](uint32_t base) { return base != 0; })) return {};
  // Vectors of eight, and whole matrices.
  const bool rowsFit = p.a.column == 1 && p.a.row % 8 == 0 && p.depth % shape.depth == 0 && p.depth % 8 == 0;
  const bool across = p.b.column == 1 && p.b.row % 8 == 0;
  const bool along = p.b.row == 1 && p.b.column % 8 == 0;
  const bool resultsFit = p.y.column == 1 && p.y.row % 4 == 0 && p.columns % shape.columns == 0;
  if (!rowsFit || !resultsFit || (!across && !along)) return {};
  if (p.rows < shape.rows || p.depth > kMostNormalSteps || kGroupSize / caps.subgroupSize < 2) return {};
  NormalizedTile tile;
  while (tile.steps < p.depth) tile.steps *= 2;
  while (tile.down > 1 && bytesOfNormalized(tile, caps) > caps.sharedBytes) tile.down /= 2;
  if (bytesOfNormalized(tile, caps) > caps.sharedBytes) return {};
  // Each of them normalizes its rows for itself, and all of them should run at once.
  const bool areMany = tilesOf(p, extentOf(tile, caps)) > caps.workgroups / 2;
  return areMany && target.options.estimates ? std::nullopt : std::optional(tile);
}

Product productOfRows(const Operation& op, const PlanBuilder& builder) {
  Product p =
      productOf(builder, 0, false, 1, op.as<NormalizedAttributes>().turned, kBiasOfGemm, op.output(), builder.output());
  if (p.rows > 1) joinMatrices(p);
  return p;
}

Status planNormalizedProduct(const Operation& op, PlanBuilder& builder) {
  const auto& attributes = op.as<NormalizedAttributes>();
  const Target& target = builder.target();
  const Caps& caps = target.caps;
  const Product p = productOfRows(op, builder);
  const auto tile = normalizedTileOf(p, target);
  if (!tile) return Error{ErrorCode::Unsupported, "No kernel normalizes the rows of such a product."};
  const FloatFinish finish{.alpha = attributes.alpha, .beta = attributes.beta, .activation = op.activation()};
  const auto given = [&](size_t input) { return op.input(input).present() ? builder.input(input) : p.from[0]; };
  const bool keepsRows = op.outputs().size() > 1;
  const uint32_t parts = (attributes.usesMean ? kNormalMean : 0) |
                         (op.input(kNormalScale).present() ? kNormalScales : 0) |
                         (op.input(kNormalShift).present() ? kNormalShifts : 0);
  BufferRange unused = p.from[2];
  unused.bytes = 4;
  return builder.add(kernels::NormalizedProduct{.type = builder.typedElement(p.type),
                                                .push = {.rows = p.rows,
                                                         .columns = p.columns,
                                                         .depth = p.depth,
                                                         .floatFinish = finishWords(p, finish, p.hasC ? kHasC : 0),
                                                         .bStep = p.b.row,
                                                         .bColumn = p.b.column,
                                                         .normalEpsilon = floatBits(attributes.epsilon),
                                                         .storesRows = keepsRows},
                                                .spec = {.epilogue = 0,
                                                         .fused = finish.activation.type,
                                                         .steps = tile->steps,
                                                         .down = tile->down,
                                                         .whole = tile->steps == p.depth,
                                                         .bAcross = p.b.column == 1,
                                                         .partsOf = parts,
                                                         .subgroup = caps.subgroupSize,
                                                         .sizeRows = caps.matrices.rows,
                                                         .sizeColumns = caps.matrices.columns,
                                                         .sizeDepth = caps.matrices.depth,
                                                         .ahead = caps.matrixPlaces ? kManyAhead : kFewAhead},
                                                .a = p.from[0],
                                                .b = p.from[1],
                                                .c = p.from[2],
                                                .y = p.to,
                                                .channels = unused,
                                                .addend = unused,
                                                .scale = given(kNormalScale),
                                                .bias = given(kNormalShift),
                                                .normalized = keepsRows ? builder.output(1) : p.to},
                     tilesOf(p, extentOf(*tile, caps)), builder.parameters(parameterWords(p, {}, nullptr)),
                     p.multiplyAdds());
}

constexpr OpSchema kNormalizedProduct = schemaOfPasses("PRODUCT_OF_NORMALIZED_ROWS", planNormalizedProduct);

// Whether a parameter has an element for each step along the rows of x, side by side, the same for all rows.
bool isParameterOfRows(const Tensor& parameter, const Tensor& x) {
  if (!parameter.present()) return true;
  const uint32_t last = parameter.rank - 1;
  if (parameter.type != DML_TENSOR_DATA_TYPE_FLOAT16 || parameter.strides[last] != 1) return false;
  if (parameter.sizes[last] != x.sizes[x.rank - 1]) return false;
  for (uint32_t d = 0; d < last; ++d)
    if (parameter.sizes[d] > 1 && parameter.strides[d] != 0) return false;
  return true;
}

// The parameter as a single row.
Tensor parameterRow(const Tensor& parameter) {
  if (!parameter.present()) return {};
  const uint32_t sizes[] = {1, 1, 1, parameter.sizes[parameter.rank - 1]};
  Tensor row = packedTensor(parameter.type, sizes);
  row.ownedByDml = parameter.ownedByDml;
  row.totalBytes = parameter.totalBytes;
  return row;
}

}  // namespace

bool normalizesRows(const Operation& op) {
  if (op.schema().type != DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2 || op.activation().type != DML_OPERATOR_INVALID)
    return false;
  const auto& desc = op.as<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>();
  const Tensor& x = op.input(0);
  if (!desc.UseVariance || x.type != DML_TENSOR_DATA_TYPE_FLOAT16 || x.sizes[x.rank - 1] < 2) return false;
  const std::span axes(desc.Axes, desc.AxisCount);
  uint32_t all = 1;
  for (const UINT axis : axes) all *= x.sizes[axis];
  const bool isLast = std::ranges::find(axes, x.rank - 1) != axes.end() && all == x.sizes[x.rank - 1];
  return isLast && isPacked(x) && isPacked(op.output()) && isParameterOfRows(op.input(1), x) &&
         isParameterOfRows(op.input(2), x);
}

std::optional<RowNormalization> meanSquareOf(const Operation& op) {
  const auto& desc = op.as<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>();
  if (desc.UseMean || op.input(2).present()) return {};
  return RowNormalization{.epsilon = desc.Epsilon, .factor = parameterRow(op.input(1))};
}

std::optional<Operation> normalizedProduct(const Operation& normalization, const Operation& gemm, bool keepsRows,
                                           const Target& target) {
  const auto& desc = gemm.as<DML_GEMM_OPERATOR_DESC>();
  const auto& moments = normalization.as<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>();
  const Tensor& rows = gemm.input(0);
  const Tensor& made = normalization.output();
  if (desc.TransA != DML_MATRIX_TRANSFORM_NONE || gemm.epilogue().steps != 0 || gemm.output().type != made.type ||
      rows.type != made.type || rows.elements != made.elements || !isPacked(rows) ||
      rows.sizes[rows.rank - 1] != made.sizes[made.rank - 1])
    return {};
  const DML_OPERATOR_TYPE fused = gemm.activation().type;
  if (fused == DML_OPERATOR_ACTIVATION_SOFTMAX || fused == DML_OPERATOR_ACTIVATION_SOFTMAX1) return {};
  std::vector<Tensor> outputs{gemm.output()};
  TensorNames names{{normalization.inputName(0), gemm.inputName(1), gemm.inputName(2), normalization.inputName(1),
                     normalization.inputName(2)},
                    {gemm.outputName(0)}};
  if (keepsRows) {
    outputs.push_back(made);
    names.outputs.push_back(normalization.outputName(0));
  }
  Tensor a = rows;
  a.ownedByDml = normalization.input(0).ownedByDml;
  Operation op(
      kNormalizedProduct,
      std::make_shared<const NormalizedAttributes>(NormalizedAttributes{
          desc.Alpha, desc.Beta, desc.TransB != DML_MATRIX_TRANSFORM_NONE, moments.UseMean != 0, moments.Epsilon}),
      {a, gemm.input(1), gemm.input(2), parameterRow(normalization.input(1)), parameterRow(normalization.input(2))},
      std::move(outputs), std::move(names));
  op.setActivations(gemm.activations());
  if (!planUnkept(op, target)) return {};
  return op;
}

}  // namespace dimple
