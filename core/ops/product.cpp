#include "core/ops/product.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/checked.h"
#include "core/ops/copy.h"
#include "core/ops/product_kernels.h"
#include "core/text.h"

namespace dimple {
namespace {

// What kernels/matrix/*.glsl call them.
constexpr uint32_t kHasC = 1;
constexpr uint32_t kWide = 2;
constexpr uint32_t kHasZeroY = 2;
constexpr uint32_t kADepthFirst = 4;
constexpr uint32_t kBDepthFirst = 8;
constexpr uint32_t kHasZeroA = 16;
constexpr uint32_t kHasZeroB = 32;
constexpr uint32_t kToParts = 16;
constexpr uint32_t kVectors = 1;
constexpr uint32_t kAcross = 2;

// Dimensions of one element are stepped through by no stride.
void dropIdleStrides(Product& p) {
  if (p.rows == 1) p.a.row = p.c.row = p.y.row = 0;
  if (p.columns == 1) p.b.column = p.c.column = p.y.column = 0;
  if (p.depth == 1) p.a.column = p.b.row = 0;
}

// y = A B is also the transpose of B transposed times A transposed.
void transpose(Product& p) {
  std::swap(p.rows, p.columns);
  std::swap(p.a, p.b);
  for (Product::Strides* s : {&p.a, &p.b, &p.c, &p.y}) std::swap(s->row, s->column);
  std::swap(p.from[0], p.from[1]);
  std::swap(p.bytes[0], p.bytes[1]);
  for (uint32_t d = 0; d < p.matrices.rank; ++d) std::swap(p.matrices.strides[d][0], p.matrices.strides[d][1]);
  std::swap(p.matrices.base[0], p.matrices.base[1]);
}

std::vector<uint32_t> parameterWords(const Product& p, const std::vector<uint32_t>& quantization,
                                     const ConvolutionWindow* window) {
  std::vector<uint32_t> words{p.a.row, p.a.column, p.b.row, p.b.column, p.c.row, p.c.column, p.y.row, p.y.column};
  if (window) words = window->strides;
  words.insert(words.end(), quantization.begin(), quantization.end());
  words.resize(16);
  if (window) words.insert(words.end(), window->dimensions.begin(), window->dimensions.end());
  appendWalk(words, p.matrices);
  return words;
}

// Which dimension of A and of B neighbouring elements lie along.
uint32_t directions(const Product& p) {
  return (p.a.column == 1 ? kADepthFirst : 0) | (p.b.row == 1 && p.b.column != 1 ? kBDepthFirst : 0);
}

uint64_t groupsOf(const ProductKernel& kernel, const Product& p) {
  return kernel.tile.rows == 0 ? divideUp(p.elements(), kGroupSize) : tilesOf(p, kernel.tile);
}

// Invocations that share the sum of a place, a column or several, of which each takes `vector` steps at a time: enough
// to fill the device where they are few. Along the depth also so many that each has few steps; across it not so many
// that neighbours in a row, which are read together, are fewer than four.
uint32_t sliceBitsOf(const Product& p, uint64_t places, bool depthFirst, uint32_t vector, const Caps& caps) {
  const uint64_t invocations = uint64_t{caps.workgroups} * kGroupSize;
  constexpr uint32_t kMostSteps = 16;
  constexpr uint32_t kBitsOfNeighbours = 6;
  uint32_t bits = depthFirst ? 5 : 3;
  const auto wanted = [&] {
    const uint64_t all = (p.matrices.count() * places) << bits;
    if (bits == 8 || (p.depth >> bits) < 16) return false;
    if (depthFirst && bits < kBitsOfNeighbours && vector > 1 && (p.depth / vector) >> bits > kMostSteps) return true;
    return all < (depthFirst || vector == 1 || bits < kBitsOfNeighbours ? invocations : invocations / 2);
  };
  while (wanted()) ++bits;
  return bits;
}

// Elements of a vector along the depth, and across it, that the kernels of matrices read.
struct Vectors {
  uint32_t along;
  uint32_t across;
};
constexpr Vectors kHalfVectors{8, 8};
constexpr Vectors kIntegerVectors{16, 4};

// How these kernels read an operand: in vectors along the depth or across it, or in single elements.
uint32_t readsOf(const Walk& matrices, uint32_t operand, Dimension across, Dimension along, const Vectors& vectors) {
  if (comesInAlong(vectors.along, matrices, operand, along, across)) return kVectors;
  if (comesInAlong(vectors.across, matrices, operand, across, along)) return kVectors | kAcross;
  return across.stride == 1 && along.stride != 1 ? kAcross : 0;
}

// What they are specialized for: a tile, matrices of `size` rows and columns, what they read.
std::vector<Specialization> matrixSpecialization(const Product& p, const Caps& caps, const Tile& tile, bool window,
                                                 uint32_t size, const Vectors& vectors) {
  // A filter that is not packed has no one stride along the depth.
  const bool strided = !window || p.a.column == 1;
  const uint32_t readsA = strided ? readsOf(p.matrices, 0, rowsOfA(p), depthOfA(p), vectors) : 0;
  const uint32_t readsB = window ? 0 : readsOf(p.matrices, 1, columnsOfB(p), depthOfB(p), vectors);
  return {{3, tile.rows},         {4, tile.columns}, {5, tile.depth}, {6, subgroupsAcross(caps, tile, size)},
          {7, caps.subgroupSize}, {8, size},         {9, readsA},     {10, readsB}};
}

// Steps of the depth that a workgroup computes, so that there are enough workgroups where tiles are few.
uint32_t sliceDepthOf(const Product& p, const Tile& tile, const Caps& caps) {
  constexpr uint32_t kLeastSteps = 128;
  const uint64_t tiles = tilesOf(p, tile);
  uint64_t slices = std::min(caps.workgroups / tiles, uint64_t{p.depth / kLeastSteps});
  slices = std::min(slices, std::min(caps.maxBufferRange, uint64_t{256} << 20) / (p.elements() * 4));
  if (tiles > fewTiles(caps) || slices < 2) return p.depth;
  return static_cast<uint32_t>(alignUp(divideUp(p.depth, slices), tile.depth));
}

// The words that push blocks of floats end with.
std::vector<uint32_t> finishWords(const Product& p, const FloatFinish& finish, uint32_t flags) {
  return {p.matrices.rank,
          floatBits(finish.alpha),
          floatBits(finish.beta),
          floatBits(finish.activation.parameters[0]),
          floatBits(finish.activation.parameters[1]),
          flags};
}

template <class T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

// A dispatch of kernels/matrix/direct.comp. `push`: the first words of its push block.
struct Lines {
  uint64_t groups;
  std::vector<uint32_t> push;
  std::vector<Specialization> specialization;
};

Lines linesOf(const Product& p, const ConvolutionWindow& window, const Caps& caps) {
  const uint32_t filters = std::min(std::bit_ceil(p.rows), kMostFiltersOfLine);
  const auto lineBlocks = static_cast<uint32_t>(divideUp(window.places, kPlacesOfLine));
  const uint32_t blocks = p.columns / window.places * lineBlocks;
  const auto groups = static_cast<uint32_t>(p.matrices.count());
  const uint64_t items = divideUp(p.rows, filters) * blocks * groups;
  const uint32_t channels = p.depth == 0 ? 0 : p.depth / window.taps;
  const uint32_t alongLine = window.dimensions[ConvolutionWindow::kInputStride];
  const bool groupsFirst = p.matrices.rank == 1 && p.matrices.strides[0][1] < alongLine;
  const bool contiguous = window.stride == 1 && window.dilation == 1;
  // Slices of the channels fill a device that has little to do otherwise.
  constexpr uint32_t kMostSliceBits = 5;
  constexpr uint32_t kLeastChannels = 4;
  uint32_t sliceBits = 0;
  while (sliceBits < kMostSliceBits && channels >> (sliceBits + 1) >= kLeastChannels &&
         items << sliceBits < uint64_t{caps.workgroups} * kGroupSize)
    ++sliceBits;
  const bool unrolled = window.dilation == 1 && (window.stride == 1 || window.stride == 2) &&
                        (window.line == 3 || window.line == 5 || window.line == 7);
  return {
      divideUp(items, kGroupSize >> sliceBits),
      {p.rows, channels, static_cast<uint32_t>(items), lineBlocks, blocks, groups, groupsFirst, contiguous, sliceBits},
      {{3, filters}, {4, unrolled ? window.line : 0}, {5, unrolled ? window.stride : 1}}};
}

// One dispatch; or, where the depth is sliced or the kernel cannot store what is wanted, one of sums and one that
// combines them.
Status addTiles(PlanBuilder& builder, const Product& p, const FloatFinish& finish, const ConvolutionWindow* window,
                const ProductKernel& algorithm, const std::vector<Specialization>& specialization) {
  const Caps& caps = builder.caps();
  const Tile& tile = algorithm.tile;
  const bool matrices = algorithm.kind == ProductKind::Matrices;
  const uint32_t sliceDepth = sliceDepthOf(p, tile, caps);
  const uint32_t slices = static_cast<uint32_t>(divideUp(p.depth, sliceDepth));
  const bool toParts = slices > 1 || (matrices && finish.wide);
  const uint32_t own = (p.hasC ? kHasC : 0) | (finish.wide ? kWide : 0);
  const uint32_t flags = (toParts ? kToParts : own) | (window || matrices ? 0 : directions(p));
  const uint32_t parameters = builder.parameters(parameterWords(p, {}, window));
  BufferRange to = toParts ? builder.allocateTemporary(p.elements() * slices * 4) : p.to;
  std::array<BufferRange, 2> from{p.from[0], p.from[1]};
  for (const uint32_t operand : {0u, 1u})
    if (!window && !matrices && comesInPadded(kTileVector, p, operand))
      from[operand].bytes = std::max(from[operand].bytes, bytesInVectors(kTileVector, p, operand));

  std::vector<Specialization> tiled = specialization;
  if (matrices) {
    const auto more = matrixSpecialization(p, caps, tile, window, caps.matrixSize, kHalfVectors);
    tiled.insert(tiled.end(), more.begin(), more.end());
    tiled.push_back({11, tile.stages});
  }
  const auto onWords = [&](std::string_view family) { return cat(family, ".", shortTypeName(p.type)); };
  // Only the kernels on 32-bit words, and those of matrices, store FLOAT32 for FLOAT16 operands.
  const bool needsWords = !matrices && (toParts || finish.wide);
  if (auto error =
          builder.add(needsWords ? onWords(algorithm.kernel) : typedKernel(algorithm.kernel, p.type, caps),
                      tilesOf(p, tile) * slices,
                      joined<uint32_t>({p.rows, p.columns, p.depth, sliceDepth, slices}, finishWords(p, finish, flags)),
                      {from[0], from[1], p.from[2], to}, parameters, tiled, p.multiplyAdds()))
    return error;
  if (!toParts) return {};
  const std::string_view combine = window ? "convolution_combine" : "gemm_combine";
  to.writes = false;
  return builder.addItems(
      finish.wide ? onWords(combine) : typedKernel(combine, p.type, caps), p.elements(),
      joined<uint32_t>({p.rows, p.columns, static_cast<uint32_t>(p.elements()), slices}, finishWords(p, finish, own)),
      {to, p.from[2], p.to}, parameters, specialization);
}

}  // namespace

uint64_t Product::multiplyAdds() const {
  uint64_t all = 0;
  return checkedMultiply(elements(), std::max(depth, 1u), all) ? all : std::numeric_limits<uint64_t>::max();
}

Status packOwnedB(PlanBuilder& builder, size_t input, Product& p, const Quantization* integers) {
  const DataType type = integers ? integers->b : p.type;
  const Vectors vectors = integers ? kIntegerVectors : Vectors{16 / byteWidth(type), 16 / byteWidth(type)};
  if (!builder.view().input(input).ownedByDml) return {};
  // Other kernels for integers read single ones.
  if (integers && (builder.caps().integerMatrixSize == 0 || byteWidth(type) != 1)) return {};
  if (comesInAlong(vectors.across, p.matrices, 1, columnsOfB(p), depthOfB(p)) ||
      comesInAlong(vectors.along, p.matrices, 1, depthOfB(p), columnsOfB(p)))
    return {};
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
  if (elements > std::numeric_limits<uint32_t>::max()) return {};
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

Status addFloatProduct(PlanBuilder& builder, Product p, const FloatFinish& finish, const ConvolutionWindow* window) {
  if (!window) {
    dropIdleStrides(p);
    // Rows are the few, or else those that neighbouring stores do not go along.
    const bool fewColumns = p.columns <= kMostFewRows && p.rows > kMostFewRows;
    const bool fewRows = p.rows <= kMostFewRows;
    if (fewColumns || (!fewRows && p.y.row == 1 && p.y.column != 1)) transpose(p);
  }
  const Request request{p, builder.caps(), window};
  const ProductKernel& algorithm = chooseKernel(builder, request);
  std::vector<Specialization> specialization{{1, static_cast<uint32_t>(finish.activation.type)}};
  if (window) specialization.push_back({2, window->backward});
  if (algorithm.tile.rows != 0) return addTiles(builder, p, finish, window, algorithm, specialization);

  const uint32_t flags = (p.hasC ? kHasC : 0) | (finish.wide ? kWide : 0) | (window ? 0 : directions(p));
  uint64_t groups = divideUp(p.elements(), kGroupSize);
  std::vector<uint32_t> push = joined<uint32_t>({p.rows, p.columns, p.depth, static_cast<uint32_t>(p.elements())},
                                                finishWords(p, finish, flags));
  if (algorithm.kind == ProductKind::Lines) {
    const Lines lines = linesOf(p, *window, builder.caps());
    groups = lines.groups;
    push = joined(lines.push, finishWords(p, finish, flags));
    specialization = joined(specialization, lines.specialization);
  } else if (algorithm.kind != ProductKind::Elements) {
    const bool depthFirst = (flags & kBDepthFirst) != 0;
    const uint32_t vector = std::max(1u, algorithm.tile.depth);
    const uint64_t places = depthFirst ? p.columns : p.columns / vector;
    const uint32_t sliceBits = sliceBitsOf(p, places, depthFirst, vector, builder.caps());
    const uint64_t columnGroups = divideUp(places, uint64_t{kGroupSize} >> sliceBits);
    groups = p.matrices.count() * columnGroups;
    push[3] = static_cast<uint32_t>(columnGroups);
    push.push_back(sliceBits);
  }
  if (algorithm.kind == ProductKind::FewRowsInVectors) specialization.push_back({3, std::bit_ceil(p.rows)});
  // Only the kernels on 32-bit words store FLOAT32 for FLOAT16 operands.
  const std::string kernel = finish.wide ? cat(algorithm.kernel, ".", shortTypeName(p.type))
                                         : typedKernel(algorithm.kernel, p.type, builder.caps());
  return builder.add(kernel, groups, push, {p.from[0], p.from[1], p.from[2], p.to},
                     builder.parameters(parameterWords(p, {}, window)), specialization, p.multiplyAdds());
}

Status addIntegerProduct(PlanBuilder& builder, const Product& p, const Quantization& q,
                         const ConvolutionWindow* window) {
  const Caps& caps = builder.caps();
  const Request request{p, caps, window, &q};
  const ProductKernel& algorithm = chooseKernel(builder, request);
  const auto kindOf = [](DataType type) -> uint32_t {
    if (type == DML_TENSOR_DATA_TYPE_UNKNOWN) return 0;
    return static_cast<uint32_t>(std::countr_zero(byteWidth(type))) | (isSigned(type) ? 4u : 0u);
  };
  const uint32_t kinds = kindOf(q.a) | kindOf(q.b) << 4 | kindOf(q.c) << 8 | kindOf(q.scale) << 12;
  const uint32_t flags = (p.hasC ? kHasC : 0) | (q.zeroA.range ? kHasZeroA : 0) | (q.zeroB.range ? kHasZeroB : 0) |
                         (q.zeroY.range ? kHasZeroY : 0) | directions(p);
  // What is absent is not read, but something has to be bound.
  const auto range = [&](const Quantization::Parameter& parameter) { return parameter.range.value_or(p.from[0]); };
  std::vector<Specialization> specialization;
  if (window) specialization.push_back({2, window->backward});
  if (algorithm.kind == ProductKind::Matrices) {
    const auto more = matrixSpecialization(p, caps, algorithm.tile, window, caps.integerMatrixSize, kIntegerVectors);
    specialization.insert(specialization.end(), more.begin(), more.end());
    specialization.push_back({12, caps.integerMatrixDepth});
  }
  uint64_t groups = groupsOf(algorithm, p);
  std::vector<uint32_t> push{p.rows, p.columns, p.depth, static_cast<uint32_t>(p.elements())};
  if (algorithm.kind == ProductKind::Lines) {
    const Lines lines = linesOf(p, *window, caps);
    groups = lines.groups;
    push = lines.push;
    specialization = joined(specialization, lines.specialization);
  }
  return builder.add(
      cat(algorithm.kernel, ".", shortTypeName(p.type)), groups, joined(push, {p.matrices.rank, kinds, flags}),
      {p.from[0], p.from[1], p.from[2], range(q.zeroA), range(q.zeroB), range(q.scaleA), range(q.scaleB),
       range(q.scaleY), range(q.zeroY), p.to},
      builder.parameters(parameterWords(
          p, {q.scaleA.stride, q.zeroA.stride, q.scaleB.stride, q.zeroB.stride, q.scaleY.stride, q.zeroY.stride},
          window)),
      specialization, p.multiplyAdds());
}

}  // namespace dimple
