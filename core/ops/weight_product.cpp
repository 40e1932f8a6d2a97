#include "core/ops/weight_product.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/caps.h"
#include "core/checked.h"
#include "core/ops/product.h"
#include "core/ops/product_kernels.h"
#include "core/ops/product_tiles.h"
#include "core/ops/product_words.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "kernels/interfaces/groups.h"
#include "kernels/interfaces/weight_few.h"
#include "kernels/interfaces/weight_rows.h"
#include "kernels/interfaces/weight_tiles.h"

namespace dimple {
namespace {

// kColumns, kPart and kZeroGiven of kernels/matrix/weight_rows.comp, and bits of its vectors.
constexpr uint32_t kColumns = 4;
constexpr uint32_t kPart = 16;
constexpr uint32_t kZeroGiven = UINT32_MAX;
constexpr uint32_t kVectorBits = 128;
constexpr uint32_t kMostRowsOfBlock = 4;

// How parameters of weights are stepped through: from column to column, and from block to block along the depth.
struct Blocks {
  uint32_t bits = 0;  // the binary logarithm of a block's weights
  uint32_t column = 0, block = 0;
};

// Which half of the columns are gates; the numbers are those of GATES in kernels/matrix/gates.glsl.
enum class Gates : uint8_t { None = 0, First = 1, Last = 2 };

// What is done to rows before they are multiplied; the numbers are those of NORMALIZES in
// kernels/matrix/weight_few.comp.
enum class Normalizes : uint8_t { Nothing = 0, Rows = 1, WithFactor = 2 };

// What attributes of GEMM are to this operator, and what becomes of its columns.
struct WeightAttributes {
  float alpha, beta;
  bool hasZeroPoint;
  Gates gates = Gates::None;
  std::optional<RowNormalization> rows{};  // the factor is the input before the scales
};

// No value: parameters belong to a batch, or to blocks across columns, of few weights or of a number that is no power
// of 2.
std::optional<Blocks> blocksOf(const Tensor& parameters, const Tensor& integers) {
  const uint32_t rank = integers.rank;
  for (uint32_t d = 0; d + 2 < rank; ++d)
    if (parameters.sizes[d] > 1 && parameters.strides[d] != 0) return {};
  const uint32_t columns = parameters.sizes[rank - 2];
  if (columns != 1 && columns != integers.sizes[rank - 2]) return {};
  const uint32_t blocks = parameters.sizes[rank - 1];
  const uint32_t block = integers.sizes[rank - 1] / blocks;
  Blocks found;
  found.column = columns == 1 ? 0 : parameters.strides[rank - 2];
  found.block = blocks == 1 ? 0 : parameters.strides[rank - 1];
  found.bits = 31;  // all
  if (blocks == 1) return found;
  if (block < kPart || !std::has_single_bit(block)) return {};
  found.bits = static_cast<uint32_t>(std::countr_zero(block));
  return found;
}

// Whether the integers are the same for all matrices and lie in vectors along the depth.
bool comesInVectors(const Tensor& integers) {
  const uint32_t rank = integers.rank;
  const uint32_t vector = kVectorBits / bitWidth(integers.type);
  for (uint32_t d = 0; d + 2 < rank; ++d)
    if (integers.sizes[d] > 1 && integers.strides[d] != 0) return false;
  return integers.strides[rank - 1] == 1 && integers.sizes[rank - 1] % vector == 0 &&
         (integers.sizes[rank - 2] == 1 || integers.strides[rank - 2] % vector == 0);
}

bool isSigned(DataType type) { return type == DML_TENSOR_DATA_TYPE_INT4 || type == DML_TENSOR_DATA_TYPE_INT8; }

// Invocations that share a column's sum: as few as read a line of memory together, and more where all of them do not
// fill the device, or each would take many vectors, which costs a GPU time.
uint32_t sliceBitsOf(uint64_t places, uint32_t vectors, uint32_t mostBits, const Target& target) {
  const uint32_t mostVectors = target.caps.isProcessor ? UINT32_MAX : 8;
  const uint64_t invocations = uint64_t{target.caps.workgroups} * kGroupSize;
  uint32_t bits = 3;
  while (bits < mostBits && vectors >> bits > 1 && (places << bits < invocations || vectors >> bits > mostVectors))
    ++bits;
  return bits;
}

// Of matrices of subgroups, in order of preference, for so many rows at most. Of few rows, subgroups share the depth;
// the last is for matrices of a depth of 8. Of more rows than these, each row of tiles dequantizes the weights again,
// which takes longer than a DEQUANTIZE and a GEMM.
struct WeightTile {
  uint32_t mostRows;
  Tile tile;
};
constexpr uint32_t kMostRows = 512;
constexpr WeightTile kTiles[] = {{16, {16, 32, 32, 1, kGroupSize, 8}}, {64, {32, 32, 32, 1, kGroupSize, 8}},
                                 {kMostRows, {128, 128, 64, 1, 256}},  {kMostRows, {128, 128, 32, 1, 128}},
                                 {kMostRows, {64, 64, 64, 1, 128}},    {kMostRows, {64, 64, 32, 1, 128}}};
// Rows from which matrices take less time than sums of single rows, most of their own being idle.
constexpr uint32_t kFewestForMatrices = 3;

// Whether the kernel of few rows is to be preferred, which fills the device where columns are few, too.
bool prefersRows(const Product& p, const Tile& tile, const Target& target) {
  if (p.rows > kMaxFewRows) return false;
  return p.rows < kFewestForMatrices || tilesOf(p, tile) < target.caps.workgroups / 8;
}

const Tile* tileOf(const Product& p, const Target& target) {
  for (const auto& [mostRows, tile] : kTiles)
    if (p.rows <= mostRows && !refusesWeightTiles({p, target}, tile))
      return prefersRows(p, tile, target) ? nullptr : &tile;
  return nullptr;
}

// How weight_few.comp divides its work, or weight_single.comp that of one row.
struct FewRows {
  MatrixShape shape;
  uint32_t rows;
  uint32_t chunks;      // of the depth that a subgroup takes at a time
  uint32_t shares;      // subgroups that share the depth
  uint32_t parts;       // of a vector of weights, which have a scale each
  bool single = false;  // weight_single.comp takes the row
};
constexpr uint32_t kMostFewRows = 8;
constexpr uint32_t kMostRowsOfTwo = 4;  // of more rows, two chunks take more registers than they save time

// Half of matrices as wide as high would be idle.
const MatrixShape& shapeOfFewRows(const Caps& caps) {
  return caps.narrowMatrices ? caps.narrowMatrices : caps.matrices;
}

// Invocations that hold a row of a matrix together (kSharing of kernels/matrix/places.glsl).
uint32_t neighboursOf(const MatrixShape& shape, const Caps& caps) {
  return shape.columns == caps.subgroupSize ? caps.subgroupSize : 4;
}

uint64_t sharedBytesOf(const FewRows& few, uint32_t bits, const Caps& caps) {
  const uint64_t subgroups = kGroupSize / caps.subgroupSize;
  const uint64_t staged = uint64_t{few.rows} * few.chunks * (16 / bits) * neighboursOf(few.shape, caps) + 1;
  const uint64_t places = uint64_t{few.shape.rows} * few.shape.depth;
  return subgroups * (staged * 16 + uint64_t{few.rows} * few.shape.rows * 4) + places * 2 + places * 4;
}

uint64_t sharedBytesOfSingle(const FewRows& few, uint32_t bits, const Caps& caps) {
  const uint64_t subgroups = kGroupSize / caps.subgroupSize;
  const uint64_t staged = subgroups * few.shape.columns + 1;
  const uint64_t places = uint64_t{few.shape.rows} * few.shape.depth;
  return staged * (16 / bits) * 16 + 2 * subgroups * few.shape.rows * 4 + places * 2 + places * 4 + (subgroups + 1) * 4;
}

// No value: there are more rows, few columns, or its matrices are not known well enough.
std::optional<FewRows> fewRowsOf(const Product& p, uint32_t bits, uint32_t blockBits, const Target& target) {
  const Caps& caps = target.caps;
  const MatrixShape& shape = shapeOfFewRows(caps);
  // Unrolled, it takes a compiler for processors minutes.
  if (caps.isProcessor && target.options.unroll) return {};
  if (p.rows > kMostFewRows || p.type != DML_TENSOR_DATA_TYPE_FLOAT16 || !caps.matrixPlaces) return {};
  if (shape.rows < shape.columns || shape.rows != shape.depth) return {};
  if (!caps.has(Feature::SubgroupVote) || !caps.has(Feature::SubgroupArithmetic)) return {};
  // Of few columns, weight_rows.comp fills the device.
  if (divideUp(p.columns, shape.rows) * p.matrices.count() < caps.workgroups / 8) return {};
  const uint32_t neighbours = neighboursOf(shape, caps);
  if (neighbours > shape.columns || shape.columns * neighbours < caps.subgroupSize) return {};
  const uint32_t vector = kVectorBits / bits;
  FewRows few{.shape = shape,
              .rows = std::bit_ceil(p.rows),
              .chunks = p.rows > kMostRowsOfTwo ? 1u : 2u,
              .shares = kGroupSize / caps.subgroupSize,
              .parts = std::max(1u, vector >> blockBits)};
  const uint64_t vectors = divideUp(p.depth, vector);
  if (p.rows == 1 && caps.has(Feature::SubgroupShuffle) && sharedBytesOfSingle(few, bits, caps) <= caps.sharedBytes) {
    few.single = true;
    while (few.shares > 1 && uint64_t{few.shares / 2} * shape.columns >= vectors) few.shares /= 2;
    return few;
  }
  while (few.chunks > 1 && sharedBytesOf(few, bits, caps) > caps.sharedBytes) few.chunks /= 2;
  if (sharedBytesOf(few, bits, caps) > caps.sharedBytes) return {};
  const uint64_t chunks = divideUp(vectors, uint64_t{neighbours});
  while (few.chunks > 1 && few.chunks / 2 >= chunks) few.chunks /= 2;
  while (few.shares > 1 && uint64_t{few.shares / 2} * few.chunks >= chunks) few.shares /= 2;
  return few;
}

class WeightProductPlan {
 public:
  WeightProductPlan(const Operation& op, PlanBuilder& builder)
      : op_(op),
        builder_(builder),
        attributes_(op.as<WeightAttributes>()),
        zeroIndex_(op.inputs().size() - 1),
        scaleIndex_(zeroIndex_ - attributes_.hasZeroPoint),
        factorIndex_(normalizes() == Normalizes::WithFactor ? scaleIndex_ - 1 : 0),
        scale_(*blocksOf(op.input(scaleIndex_), op.input(1))),
        zero_(*blocksOf(op.input(zeroIndex_), op.input(1))),
        p_(productOf(builder, 0, false, 1, true, kBiasOfGemm, op.output(), builder.output())),
        finish_{.alpha = attributes_.alpha,
                .beta = attributes_.beta,
                .activation = op.activation(),
                .epilogue = op.epilogue()} {
    joinMatrices(p_);
    if (attributes_.rows) finish_.epilogue.epsilon = attributes_.rows->epsilon;
  }

  // Whether a kernel of few rows multiplies them, which applies gates, too.
  bool takesFewRows() const { return fewRows() || (p_.rows <= kMaxFewRows && !tileOf(p_, builder_.target())); }

  // Whether one does that normalizes them, too.
  bool mayNormalize() const { return fewRows() && (finish_.epilogue.steps & kEpilogueVariance) == 0; }

  Status add() {
    parameters_ =
        builder_.parameters(parameterWords(p_, {scale_.column, scale_.block, zero_.column, zero_.block}, nullptr));
    if (const auto few = fewRows()) return addFewRows(*few);
    if (attributes_.rows) return Error{ErrorCode::Unsupported, "Only a kernel of few rows normalizes them."};
    const Tile* const tile = tileOf(p_, builder_.target());
    if (!tile && p_.rows <= kMaxFewRows) return addRows();
    return tile ? addTiles(*tile)
                : Status(Error{ErrorCode::Unsupported, "No kernel of many rows multiplies by these weights."});
  }

 private:
  Normalizes normalizes() const {
    if (!attributes_.rows) return Normalizes::Nothing;
    return attributes_.rows->factor.present() ? Normalizes::WithFactor : Normalizes::Rows;
  }
  // PLACES of weight_few.comp.
  uint32_t places() const {
    constexpr uint32_t kLooks = 1;
    constexpr uint32_t kKnown = 2;
    if (!builder_.target().options.places) return 0;
    return builder_.target().caps.knownPlaces ? kKnown : kLooks;
  }
  bool isGated() const { return attributes_.gates != Gates::None; }
  std::optional<FewRows> fewRows() const {
    if (!halfScales()) return {};
    return fewRowsOf(p_, bits(), words().blockBits, builder_.target());
  }

  Status addFewRows(const FewRows& few) {
    const Caps& caps = builder_.target().caps;
    const uint64_t subgroups = uint64_t{kGroupSize} / caps.subgroupSize / few.shares;
    const uint64_t columns = subgroups * few.shape.rows / (isGated() ? 2 : 1);
    const uint64_t columnGroups = divideUp(p_.columns, columns);
    // As many as are at work at once, with as much to do each.
    const uint64_t most = few.single ? caps.workgroups : uint64_t{caps.workgroups} * 3 / 2;
    const uint64_t workgroups = divideUp(columnGroups, divideUp(columnGroups * p_.matrices.count(), most));
    using Few = kernels::WeightFew;
    return builder_.add(Few{.form = few.single ? Few::Form::Single : Few::Form::Several,
                            .type = builder_.typedElement(p_.type),
                            .push = {.rows = p_.rows,
                                     .columns = p_.columns,
                                     .depth = p_.depth,
                                     .columnGroups = static_cast<uint32_t>(columnGroups),
                                     .workgroups = static_cast<uint32_t>(workgroups),
                                     .floatFinish = finishWords(p_, finish_, flags()),
                                     .weights = words(),
                                     .aRow = p_.a.row,
                                     .bColumn = p_.b.column,
                                     .scaleColumn = scale_.column,
                                     .scaleBlock = scale_.block,
                                     .zeroColumn = zero_.column,
                                     .zeroBlock = zero_.block,
                                     .yRow = p_.y.row,
                                     .yColumn = p_.y.column,
                                     .baseA = p_.matrices.base[0],
                                     .baseB = p_.matrices.base[1],
                                     .baseY = p_.matrices.base[3]},
                            .spec = {.epilogue = finish_.epilogue.steps,
                                     .fused = finish_.activation.type,
                                     .bits = bits(),
                                     .rows = few.rows,
                                     .chunks = few.chunks,
                                     .shares = few.shares,
                                     .parts = few.parts,
                                     .subgroup = caps.subgroupSize,
                                     .sizeRows = few.shape.rows,
                                     .sizeColumns = few.shape.columns,
                                     .sizeDepth = few.shape.depth,
                                     .zeroPoints = zeroPointsOf(few),
                                     .gates = static_cast<uint32_t>(attributes_.gates),
                                     .places = places(),
                                     .normalizes = static_cast<uint32_t>(normalizes()),
                                     .paired = scalesArePaired(few),
                                     .invocations = kGroupSize},
                            .a = p_.from[0],
                            .b = p_.from[1],
                            .c = p_.from[2],
                            .y = p_.to,
                            .channels = extra(finish_.epilogue.channels),
                            .addend = extra(finish_.epilogue.addend),
                            .scale = builder_.input(scaleIndex_),
                            .zero = builder_.input(zeroIndex_),
                            .factor = extra(factorIndex_)},
                        p_.matrices.count() * workgroups, parameters_, work());
  }

  Status addRows() {
    const uint32_t rows = std::min(std::bit_ceil(p_.rows), kMostRowsOfBlock);
    // A gate and its factor are places of one workgroup.
    const uint64_t places = divideUp(p_.columns, kColumns) * (isGated() ? 2 : 1);
    const uint64_t blocks = divideUp(p_.rows, rows);
    const uint32_t sliceBits = sliceBitsOf(p_.matrices.count() * places * blocks, p_.depth * bits() / kVectorBits,
                                           isGated() ? 7 : 8, builder_.target());
    const uint64_t columnGroups = divideUp(places, uint64_t{kGroupSize} >> sliceBits);
    using Rows = kernels::WeightRows;
    return builder_.add(Rows{.form = p_.type == DML_TENSOR_DATA_TYPE_FLOAT16 ? Rows::Form::Eights : Rows::Form::Fours,
                             .type = builder_.typedElement(p_.type),
                             .push = {.rows = p_.rows,
                                      .columns = p_.columns,
                                      .depth = p_.depth,
                                      .columnGroups = static_cast<uint32_t>(columnGroups),
                                      .floatFinish = finishWords(p_, finish_, flags()),
                                      .sliceBits = sliceBits,
                                      .weights = words()},
                             .spec = {.epilogue = finish_.epilogue.steps,
                                      .fused = finish_.activation.type,
                                      .bits = bits(),
                                      .rows = rows,
                                      .gates = static_cast<uint32_t>(attributes_.gates)},
                             .a = p_.from[0],
                             .b = p_.from[1],
                             .c = p_.from[2],
                             .y = p_.to,
                             .channels = extra(finish_.epilogue.channels),
                             .addend = extra(finish_.epilogue.addend),
                             .scale = builder_.input(scaleIndex_),
                             .zero = builder_.input(zeroIndex_)},
                        p_.matrices.count() * columnGroups * blocks, parameters_, work());
  }

  Status addTiles(const Tile& tile) {
    const Request request{p_, builder_.target()};
    using Form = kernels::WeightTiles::Form;
    return builder_.add(kernels::WeightTiles{.form = tile.shares > 1 ? Form::Split : Form::Ahead,
                                             .type = builder_.typedElement(p_.type),
                                             .push = {.rows = p_.rows,
                                                      .columns = p_.columns,
                                                      .depth = p_.depth,
                                                      .sliceDepth = p_.depth,
                                                      .slices = 1,
                                                      .floatFinish = finishWords(p_, finish_, flags()),
                                                      .weights = words()},
                                             .spec = {.epilogue = finish_.epilogue.steps,
                                                      .fused = finish_.activation.type,
                                                      .bits = bits(),
                                                      .tiling = matrixTilingOf(
                                                          request, tile, builder_.target().caps.matrices, kHalfVectors),
                                                      .tileDepth = tile.depth,
                                                      .stages = tile.stages,
                                                      .shares = tile.shares,
                                                      .invocations = tile.invocations},
                                             .a = p_.from[0],
                                             .b = p_.from[1],
                                             .c = p_.from[2],
                                             .y = p_.to,
                                             .channels = extra(finish_.epilogue.channels),
                                             .addend = extra(finish_.epilogue.addend),
                                             .scale = builder_.input(scaleIndex_),
                                             .zero = builder_.input(zeroIndex_)},
                        tilesOf(p_, tile), parameters_, p_.multiplyAdds());
  }

  // Whether the scales of two vectors of weights lie in one word, and an invocation takes both.
  bool scalesArePaired(const FewRows& few) const {
    const bool holdsTwo = few.shape.columns > neighboursOf(few.shape, builder_.target().caps);
    return holdsTwo && scale_.block == 1 && scale_.column % 2 == 0 && kVectorBits / bits() == 1u << words().blockBits;
  }

  // ZERO_POINTS of kernels of few rows. A word of zero points is read once where it holds those of a round.
  uint32_t zeroPointsOf(const FewRows& few) const {
    if (!attributes_.hasZeroPoint) return 0;
    const uint32_t vectors = few.shape.columns;  // of a round
    const uint32_t vector = kVectorBits / bits();
    const bool together = few.single && vectors * bits() == 32 && zero_.block == 1 && zero_.column % vectors == 0 &&
                          p_.depth % (vectors * vector) == 0 && vector == 1u << words().blockBits;
    return together ? 2 : 1;
  }

  Work work() const { return Work(p_.multiplyAdds()) * uint64_t{isGated() ? 2u : 1u}; }
  uint32_t bits() const { return bitWidth(op_.input(1).type); }
  bool halfScales() const { return op_.input(scaleIndex_).type == DML_TENSOR_DATA_TYPE_FLOAT16; }
  uint32_t flags() const { return p_.hasC && (finish_.epilogue.steps & kEpilogueAddsC) == 0 ? kHasC : 0; }
  kernels::WeightsWords words() const {
    const uint32_t signs = bits() == 4 ? 0x88888888u : 0x80808080u;
    return {.blockBits = std::min(scale_.bits, zero_.bits),
            .signs = isSigned(op_.input(1).type) ? signs : 0,
            .zeroAt = attributes_.hasZeroPoint ? kZeroGiven : 1u << (bits() - 1),
            .halfScales = halfScales()};
  }
  // Of an epilogue; what is bound in the place of an absent one is never read.
  BufferRange extra(size_t input) const {
    if (input != 0) return builder_.input(input);
    BufferRange unused = p_.from[2];
    unused.bytes = 4;
    return unused;
  }

  const Operation& op_;
  PlanBuilder& builder_;
  const WeightAttributes& attributes_;
  const size_t zeroIndex_;  // that of the scales if there are no zero points
  const size_t scaleIndex_;
  const size_t factorIndex_;  // 0: there is none
  const Blocks scale_, zero_;
  Product p_;
  FloatFinish finish_;
  uint32_t parameters_ = 0;
};

Status planWeightProduct(const Operation& op, PlanBuilder& builder) { return WeightProductPlan(op, builder).add(); }

constexpr OpSchema kWeightProduct = schemaOfPasses("PRODUCT_WITH_WEIGHTS", planWeightProduct);

bool takesFewRows(const Operation& op, const Target& target) {
  PlanBuilder builder(op, target);
  return WeightProductPlan(op, builder).takesFewRows();
}

bool hasKernel(const Operation& gemm, const Weights& weights) {
  const auto& desc = gemm.as<DML_GEMM_OPERATOR_DESC>();
  if (desc.TransA != DML_MATRIX_TRANSFORM_NONE || desc.TransB != DML_MATRIX_TRANSFORM_TRANSPOSE) return false;
  const DML_OPERATOR_TYPE fused = gemm.activation().type;
  if (fused == DML_OPERATOR_ACTIVATION_SOFTMAX || fused == DML_OPERATOR_ACTIVATION_SOFTMAX1) return false;
  if (!comesInVectors(weights.integers)) return false;
  if (!blocksOf(weights.scale, weights.integers)) return false;
  if (weights.zeroPoint.present() && !blocksOf(weights.zeroPoint, weights.integers)) return false;
  // A in vectors of 16 bytes.
  const Tensor& a = gemm.input(0);
  const uint32_t vector = 16 / byteWidth(a.type);
  if (a.strides[a.rank - 1] != 1) return false;
  for (uint32_t d = 0; d + 1 < a.rank; ++d)
    if (a.sizes[d] > 1 && a.strides[d] % vector != 0) return false;
  return true;
}

}  // namespace

std::optional<Operation> weightProduct(const Operation& gemm, const Weights& weights, const Target& target) {
  if (!hasKernel(gemm, weights)) return {};
  const auto& desc = gemm.as<DML_GEMM_OPERATOR_DESC>();
  std::vector<Tensor> inputs(gemm.inputs().begin(), gemm.inputs().end());
  TensorNames names;
  for (size_t i = 0; i < inputs.size(); ++i) names.inputs.push_back(gemm.inputName(i));
  names.outputs.push_back(gemm.outputName(0));
  inputs[1] = weights.integers;
  inputs.push_back(weights.scale);
  names.inputs.emplace_back("the scales of BTensor");
  const bool hasZeroPoint = weights.zeroPoint.present();
  if (hasZeroPoint) {
    inputs.push_back(weights.zeroPoint);
    names.inputs.emplace_back("the zero points of BTensor");
  }
  Operation op(kWeightProduct,
               std::make_shared<const WeightAttributes>(WeightAttributes{desc.Alpha, desc.Beta, hasZeroPoint}),
               std::move(inputs), {gemm.output()}, std::move(names));
  op.setActivations(gemm.activations());
  op.setEpilogue(gemm.epilogue());
  if (!planUnkept(op, target)) return {};
  return op;
}

std::optional<WeightInputs> weightInputsOf(const Operation& op) {
  if (&op.schema() != &kWeightProduct) return {};
  const size_t last = op.inputs().size() - 1;
  if (op.as<WeightAttributes>().hasZeroPoint) return WeightInputs{1, last - 1, last};
  return WeightInputs{1, last, 0};
}

bool onlyMultiplies(const Operation& op) {
  return weightInputsOf(op) && !op.input(kBiasOfGemm).present() && op.activation().type == DML_OPERATOR_INVALID &&
         op.epilogue().steps == 0 && op.as<WeightAttributes>().gates == Gates::None && !op.as<WeightAttributes>().rows;
}

bool multiplyAlike(const Operation& a, const Operation& b) {
  if (!onlyMultiplies(a) || !onlyMultiplies(b) || a.inputs().size() != b.inputs().size()) return false;
  const auto ofA = weightInputsOf(a);
  const auto ofB = weightInputsOf(b);
  if (ofA->zeroPoint != ofB->zeroPoint) return false;
  if (a.as<WeightAttributes>().alpha != b.as<WeightAttributes>().alpha) return false;
  if (!sameLayout(a.input(0), b.input(0)) || a.output().type != b.output().type) return false;
  // All but the number of columns.
  const auto alike = [&](size_t input) {
    const Tensor& x = a.input(input);
    const Tensor& y = b.input(input);
    return x.type == y.type && x.rank == y.rank && x.sizes[x.rank - 1] == y.sizes[y.rank - 1];
  };
  return alike(ofA->integers) && alike(ofA->scale) && (ofA->zeroPoint == 0 || alike(ofA->zeroPoint));
}

std::optional<Operation> withWeights(const Operation& product, const Weights& weights, const Tensor& output,
                                     const Target& target) {
  Operation op = product;
  const auto at = weightInputsOf(op);
  if (!at || !comesInVectors(weights.integers) || !blocksOf(weights.scale, weights.integers)) return {};
  op.setTensor(Role::Input, at->integers, weights.integers);
  op.setTensor(Role::Input, at->scale, weights.scale);
  if (at->zeroPoint != 0) {
    if (!weights.zeroPoint.present() || !blocksOf(weights.zeroPoint, weights.integers)) return {};
    op.setTensor(Role::Input, at->zeroPoint, weights.zeroPoint);
  }
  op.setTensor(Role::Output, 0, output);
  if (!planUnkept(op, target)) return {};
  return op;
}

std::optional<Operation> gatedProduct(const Operation& product, bool gatesLast, const Tensor& output,
                                      const Target& target) {
  if (!onlyMultiplies(product) || product.output().sizes[product.output().rank - 1] % 2 != 0) return {};
  WeightAttributes attributes = product.as<WeightAttributes>();
  attributes.gates = gatesLast ? Gates::Last : Gates::First;
  TensorNames names;
  for (size_t i = 0; i < product.inputs().size(); ++i) names.inputs.push_back(product.inputName(i));
  names.outputs.push_back(product.outputName(0));
  Operation op(kWeightProduct, std::make_shared<const WeightAttributes>(attributes),
               {product.inputs().begin(), product.inputs().end()}, {output}, std::move(names));
  if (!takesFewRows(op, target) || !planUnkept(op, target)) return {};
  return op;
}

std::optional<Operation> normalizedWeightProduct(const Operation& product, bool rowsOwnedByDml,
                                                 const RowNormalization& rows, const Target& target) {
  const auto at = weightInputsOf(product);
  if (!at || product.as<WeightAttributes>().rows) return {};
  {
    PlanBuilder builder(product, target);
    if (!WeightProductPlan(product, builder).mayNormalize()) return {};
  }
  WeightAttributes attributes = product.as<WeightAttributes>();
  attributes.rows = rows;
  std::vector<Tensor> inputs(product.inputs().begin(), product.inputs().end());
  inputs[0].ownedByDml = rowsOwnedByDml;
  TensorNames names;
  for (size_t i = 0; i < inputs.size(); ++i) names.inputs.push_back(product.inputName(i));
  names.outputs.push_back(product.outputName(0));
  if (rows.factor.present()) {
    inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(at->scale), rows.factor);
    names.inputs.insert(names.inputs.begin() + static_cast<std::ptrdiff_t>(at->scale), "the factor of ATensor");
  }
  Operation op(kWeightProduct, std::make_shared<const WeightAttributes>(attributes), std::move(inputs),
               {product.output()}, std::move(names));
  op.setActivations(product.activations());
  op.setEpilogue(product.epilogue());
  if (!planUnkept(op, target)) return {};
  return op;
}

}  // namespace dimple
