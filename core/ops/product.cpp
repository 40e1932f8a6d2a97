#include "core/ops/product.h"

#include <limits>

#include "core/checked.h"
#include "core/ops/copy.h"
#include "core/ops/product_words.h"

namespace dimple {

uint64_t Product::multiplyAdds() const {
  uint64_t all = 0;
  return checkedMultiply(elements(), std::max(depth, 1u), all) ? all : std::numeric_limits<uint64_t>::max();
}

Quantization quantizationOf(const PlanBuilder& builder, size_t a, const IntegerPlaces& at,
                            uint32_t (*ofRows)(const Tensor&), uint32_t (*ofColumns)(const Tensor&)) {
  const Operation& op = builder.op();
  const auto parameter = [&](size_t input, uint32_t (*stride)(const Tensor&)) -> Quantization::Parameter {
    if (input == 0 || !op.input(input).present()) return {};
    return {builder.input(input), stride(op.input(input))};
  };
  return {.scaleA = parameter(at.scaleA, ofRows),
          .zeroA = parameter(at.zeroA, ofRows),
          .scaleB = parameter(at.scaleB, ofColumns),
          .zeroB = parameter(at.zeroB, ofColumns),
          .scaleY = parameter(at.scaleY, ofRows),
          .zeroY = parameter(at.zeroY, ofRows),
          .a = op.input(a).type,
          .b = op.input(at.b).type,
          .c = at.c ? op.input(at.c).type : DataType{},
          .scale = at.scaleA ? op.input(at.scaleA).type : DataType{},
          .epilogue = op.epilogue()};
}

namespace {

// Large tiles of FLOAT32 take a fifth longer where B lies along the depth, unless pipelines are made for what tiles
// know of it. A copy takes less than that where many rows read each element, and where tiles keep the device busy.
bool gainsByCopy(const Product& p, const Target& target) {
  constexpr uint64_t kTile = 128;
  constexpr uint32_t kManyRows = 8 * kTile;
  const Caps& caps = target.caps;
  if (caps.fixesParameters || (caps.isProcessor && target.options.estimates)) return false;
  const bool isTransposed = p.b.row == 1 && p.b.column != 1 && p.y.column == 1;
  return p.type == DML_TENSOR_DATA_TYPE_FLOAT32 && isTransposed && p.columns % 4 == 0 && p.rows >= kManyRows &&
         p.rows / kTile * (p.columns / kTile) >= caps.workgroups / 2;
}

}  // namespace

Status packB(PlanBuilder& builder, size_t input, Product& p, const Quantization* integers) {
  const DataType type = integers ? integers->b : p.type;
  const Vectors vectors = integers ? kIntegerVectors : Vectors{16 / byteWidth(type), 16 / byteWidth(type)};
  const bool gains = !integers && gainsByCopy(p, builder.target());
  if (!gains && !builder.op().input(input).ownedByDml) return {};
  // Other kernels for integers read single elements.
  if (integers && (!builder.target().caps.integerMatrices || byteWidth(type) != 1)) return {};
  const bool liesInVectors = isVectorizable(vectors.across, p.matrices, 1, columnsOfB(p), depthOfB(p)) ||
                             isVectorizable(vectors.along, p.matrices, 1, depthOfB(p), columnsOfB(p));
  if (!gains && liesInVectors) return {};
  const bool alongRows = p.columns % vectors.across == 0;
  if (!alongRows && p.depth % vectors.along != 0) return {};
  const Product::Strides packed = alongRows ? Product::Strides{p.columns, 1} : Product::Strides{1, p.depth};

  // Matrices that several products share are kept once.
  Walk matrices = p.matrices;
  uint64_t elements = uint64_t{p.depth} * p.columns;
  for (uint32_t d = matrices.rank; d-- > 0;) {
    if (matrices.strides[d][1] == 0) continue;
    matrices.strides[d][1] = static_cast<uint32_t>(elements);
    elements *= matrices.sizes[d];
  }
  if (elements > builder.maxBoundElements(type)) return {};
  matrices.base[1] = 0;
  Walk walk;
  walk.base[0] = p.matrices.base[1];
  for (uint32_t d = 0; d < matrices.rank; ++d)
    if (matrices.strides[d][1] != 0)
      walk.addDimension(matrices.sizes[d], {p.matrices.strides[d][1], matrices.strides[d][1]});
  walk.addDimension(p.depth, {p.b.row, packed.row});
  walk.addDimension(p.columns, {p.b.column, packed.column});
  const auto range = builder.prepare(
      input, elements * byteWidth(type),
      [&](const BufferRange& from, const BufferRange& to) { return addCopy(builder, type, walk, from, to); });
  if (!range) return range.error();
  p.from[1] = *range;
  p.b = packed;
  p.matrices = matrices;
  return {};
}

void joinMatrices(Product& p) {
  if (p.matrices.rank != 1 || p.matrices.strides[0][1] != 0) return;
  const auto follows = [&](uint32_t operand, const Product::Strides& strides) {
    const uint32_t step = p.matrices.strides[0][operand];
    return p.rows == 1 || strides.row * p.rows == step;
  };
  const bool sameC = !p.hasC || follows(2, p.c);
  if (!follows(0, p.a) || !follows(3, p.y) || !sameC) return;
  if (p.rows == 1) {
    p.a.row = p.matrices.strides[0][0];
    p.c.row = p.matrices.strides[0][2];
    p.y.row = p.matrices.strides[0][3];
  }
  p.rows *= p.matrices.sizes[0];
  p.matrices.rank = 0;
}

}  // namespace dimple
