#include "core/ops/product.h"

#include <algorithm>
#include <bit>

#include "core/checked.h"
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
  for (uint32_t d = 0; d < p.matrices.rank; ++d) std::swap(p.matrices.strides[d][0], p.matrices.strides[d][1]);
  std::swap(p.matrices.base[0], p.matrices.base[1]);
}

// ---- which kernel ---------------------------------------------------------------------------------------------------

// What a product is planned for.
struct Request {
  const Product& product;
  const Caps& caps;
};

// Rows, columns and steps of the depth that a workgroup works on at a time. No rows: an invocation an element.
struct Tile {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t depth = 0;
  uint32_t stages = 2;  // parts of A and B in shared memory at once
};

enum class Kind { Elements, FewRows, FewRowsInVectors, Tiles, Matrices };

// A kernel for products, and why it would not do for one: null if it does.
struct Algorithm {
  std::string_view kernel;
  Kind kind;
  Tile tile;
  const char* (*refuses)(const Request&, const Tile&);
};

uint64_t tilesOf(const Product& p, const Tile& tile) {
  return p.matrices.count() * divideUp(p.rows, tile.rows) * divideUp(p.columns, tile.columns);
}

// Whether so many elements always lie side by side, at a multiple of their number: the depth's, or else those across
// it.
bool comesIn(uint32_t number, const Walk& matrices, uint32_t operand, uint32_t across, uint32_t acrossSize,
             uint32_t along, uint32_t alongSize) {
  const bool alongFirst = along == 1 && alongSize % number == 0 && across % number == 0;
  const bool acrossFirst = across == 1 && acrossSize % number == 0 && along % number == 0;
  if (!alongFirst && !acrossFirst) return false;
  for (uint32_t d = 0; d < matrices.rank; ++d)
    if (matrices.strides[d][operand] % number != 0) return false;
  return matrices.base[operand] % number == 0;
}

const char* refusesTile(const Request& request, const Tile&) {
  const Product& p = request.product;
  // Most of a tile would be idle.
  if (p.rows < 16 || p.columns < 16) return "It has few rows or columns.";
  if (p.depth < 8) return "Its sums are short.";
  constexpr uint32_t kShared = 20 * 1024;
  if (request.caps.sharedBytes < kShared) return "The device has too little shared memory for a tile.";
  return nullptr;
}

const char* refusesVector(const Request& request, const Tile& tile) {
  if (const char* reason = refusesTile(request, tile)) return reason;
  const Product& p = request.product;
  if (!comesIn(4, p.matrices, 0, p.a.row, p.rows, p.a.column, p.depth)) return "A is not in vectors of four.";
  if (!comesIn(4, p.matrices, 1, p.b.column, p.columns, p.b.row, p.depth)) return "B is not in vectors of four.";
  return nullptr;
}

const char* refusesLargeTile(const Request& request, const Tile& tile) {
  if (const char* reason = refusesVector(request, tile)) return reason;
  constexpr uint64_t kWorkgroups = 64;  // that leave no large part of a device idle
  return tilesOf(request.product, tile) < kWorkgroups ? "Its tiles are few." : nullptr;
}

// How a tile's subgroups lie side by side, so that each has the same number of matrices and reads few of them; 0: they
// do not.
uint32_t subgroupsAcross(const Caps& caps, const Tile& tile) {
  const uint32_t subgroups = kGroupSize / caps.subgroupSize;
  uint32_t best = 0;
  uint32_t least = UINT32_MAX;
  for (uint32_t across = 1; across <= std::min(subgroups, 8u); across *= 2) {
    const uint32_t rows = tile.rows / (subgroups / across);
    const uint32_t columns = tile.columns / across;
    if (rows == 0 || columns == 0 || rows % caps.matrixSize != 0 || columns % caps.matrixSize != 0) continue;
    if (rows + columns >= least) continue;
    best = across;
    least = rows + columns;
  }
  return best;
}

// Bytes of a tile's parts in shared memory at most, and of a convolution's steps.
uint32_t sharedBytes(const Tile& tile) {
  const auto part = [&](uint32_t across) { return std::max((across + 8) * tile.depth, (tile.depth + 8) * across) * 2; };
  return tile.stages * (part(tile.rows) + part(tile.columns)) + 2 * tile.depth * 16;
}

constexpr uint64_t kFewTiles = 96;  // that leave a part of a large device idle

const char* refusesMatrices(const Request& request, const Tile& tile) {
  if (const char* reason = refusesTile(request, tile)) return reason;
  const auto& [p, caps] = request;
  if (caps.matrixSize == 0) return "The device's subgroups do not multiply matrices.";
  if (p.type == DML_TENSOR_DATA_TYPE_FLOAT32 && !caps.halfPrecision) return "FLOAT32 is not to be rounded.";
  if (subgroupsAcross(caps, tile) == 0) return "The device's subgroups cannot share a tile.";
  if (sharedBytes(tile) > caps.sharedBytes) return "The device has too little shared memory for a tile.";
  return nullptr;
}

const char* refusesManyMatrices(const Request& request, const Tile& tile) {
  if (const char* reason = refusesMatrices(request, tile)) return reason;
  const Product& p = request.product;
  if (p.rows <= tile.rows / 2 || p.columns <= tile.columns / 2) return "Most of a tile would be idle.";
  return tilesOf(p, tile) < kFewTiles ? "Its tiles are few." : nullptr;
}

// Gathering windows costs more than slicing the depth.
const char* refusesManyWindows(const Request& request, const Tile& tile) {
  if (const char* reason = refusesMatrices(request, tile)) return reason;
  const Product& p = request.product;
  if (p.rows <= tile.rows / 2 || p.columns <= tile.columns / 2) return "Most of a tile would be idle.";
  constexpr uint32_t kLeastDepth = 256;  // of a slice
  return tilesOf(p, tile) * std::max(1u, p.depth / kLeastDepth) < kFewTiles ? "Its tiles are few." : nullptr;
}

constexpr uint32_t kMostFewRows = 8;
const char* refusesFewRows(const Request& request, const Tile&) {
  const Product& p = request.product;
  if (p.rows > kMostFewRows) return "It has many rows.";
  if (p.depth < 32) return "Its sums are short.";
  return nullptr;
}

const char* refusesFewRowsVector(const Request& request, const Tile& tile) {
  if (const char* reason = refusesFewRows(request, tile)) return reason;
  const Product& p = request.product;
  const bool aFits =
      p.a.column == 1 && p.depth % 4 == 0 && comesIn(4, p.matrices, 0, p.a.row, p.rows, p.a.column, p.depth);
  if (!aFits) return "A is not in vectors of four along the depth.";
  if (!comesIn(4, p.matrices, 1, p.b.column, p.columns, p.b.row, p.depth)) return "B is not in vectors of four.";
  return nullptr;
}

const char* refusesNothing(const Request&, const Tile&) { return nullptr; }

// In order of preference.
constexpr Algorithm kMatrixAlgorithms[] = {
    {"gemm_few_rows_vector", Kind::FewRowsInVectors, {}, refusesFewRowsVector},
    {"gemm_few_rows", Kind::FewRows, {}, refusesFewRows},
    {"gemm_cooperative", Kind::Matrices, {128, 128, 32, 1}, refusesManyMatrices},
    {"gemm_cooperative", Kind::Matrices, {64, 64, 64, 1}, refusesMatrices},
    {"gemm_large_tile", Kind::Tiles, {128, 128, 32}, refusesLargeTile},
    {"gemm_vector_tile", Kind::Tiles, {64, 64, 32}, refusesVector},
    {"gemm_tile", Kind::Tiles, {64, 64, 32}, refusesTile},
    {"gemm", Kind::Elements, {}, refusesNothing},
};
constexpr Algorithm kConvolutionAlgorithms[] = {
    {"convolution_cooperative", Kind::Matrices, {128, 128, 32, 1}, refusesManyWindows},
    {"convolution_cooperative", Kind::Matrices, {64, 64, 32, 1}, refusesMatrices},
    {"convolution_tile", Kind::Tiles, {64, 64, 32}, refusesTile},
    {"convolution", Kind::Elements, {}, refusesNothing},
};
constexpr Algorithm kIntegerMatrixAlgorithms[] = {
    {"integer_gemm_tile", Kind::Tiles, {64, 64, 32}, refusesTile},
    {"integer_gemm", Kind::Elements, {}, refusesNothing},
};
constexpr Algorithm kIntegerConvolutionAlgorithms[] = {
    {"integer_convolution_tile", Kind::Tiles, {64, 64, 32}, refusesTile},
    {"integer_convolution", Kind::Elements, {}, refusesNothing},
};

// The last algorithm of a list refuses nothing.
const Algorithm& choose(PlanBuilder& builder, std::span<const Algorithm> algorithms, const Request& request) {
  for (const Algorithm& a : algorithms.first(algorithms.size() - 1)) {
    const char* const reason = a.refuses(request, a.tile);
    if (!reason) return a;
    builder.passOver({a.kernel, reason, {a.tile.rows, a.tile.columns}});
  }
  return algorithms.back();
}

// ---- dispatches -----------------------------------------------------------------------------------------------------

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

uint64_t groupsOf(const Algorithm& algorithm, const Product& p) {
  return algorithm.tile.rows == 0 ? divideUp(p.elements(), kGroupSize) : tilesOf(p, algorithm.tile);
}

// Invocations that share the sum of a place, a column or several: enough to fill the device where they are few.
uint32_t sliceBitsOf(const Product& p, uint64_t places, bool depthFirst) {
  constexpr uint64_t kInvocations = 64 * 1024;  // that fill a device
  uint32_t bits = depthFirst ? 5 : 3;
  const auto wanted = [&] {
    return bits < 8 && (p.depth >> bits) >= 16 && ((p.matrices.count() * places) << bits) < kInvocations;
  };
  while (wanted()) ++bits;
  return bits;
}

// How the cooperative kernel reads an operand.
uint32_t readsOf(const Walk& matrices, uint32_t operand, uint32_t across, uint32_t acrossSize, uint32_t along,
                 uint32_t alongSize) {
  const bool vectors = comesIn(8, matrices, operand, across, acrossSize, along, alongSize);
  const bool alongVectors = vectors && along == 1 && alongSize % 8 == 0 && across % 8 == 0;
  const bool isAcross = vectors ? !alongVectors : across == 1 && along != 1;
  return (vectors ? kVectors : 0) | (isAcross ? kAcross : 0);
}

// Steps of the depth that a workgroup computes, so that there are enough workgroups where tiles are few.
uint32_t sliceDepthOf(const Product& p, const Tile& tile, const Caps& caps) {
  constexpr uint64_t kWorkgroups = 256;
  constexpr uint32_t kLeastSteps = 128;
  const uint64_t tiles = tilesOf(p, tile);
  uint64_t slices = std::min(kWorkgroups / tiles, uint64_t{p.depth / kLeastSteps});
  slices = std::min(slices, std::min(caps.maxBufferRange, uint64_t{256} << 20) / (p.elements() * 4));
  if (tiles > kFewTiles || slices < 2) return p.depth;
  return static_cast<uint32_t>(alignUp(divideUp(p.depth, slices), tile.depth));
}

// The words that push blocks of floats end with.
std::vector<uint32_t> finishWords(const Product& p, const FloatFinish& finish, uint32_t flags) {
  return {p.matrices.rank,
          std::bit_cast<uint32_t>(finish.alpha),
          std::bit_cast<uint32_t>(finish.beta),
          std::bit_cast<uint32_t>(finish.activation.parameters[0]),
          std::bit_cast<uint32_t>(finish.activation.parameters[1]),
          flags};
}

std::vector<uint32_t> joined(std::vector<uint32_t> words, const std::vector<uint32_t>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// One dispatch; or, where the depth is sliced or the kernel cannot store what is wanted, one of sums and one that
// combines them.
Status addTiles(PlanBuilder& builder, const Product& p, const FloatFinish& finish, const ConvolutionWindow* window,
                const Algorithm& algorithm, const std::vector<Specialization>& specialization) {
  const Caps& caps = builder.caps();
  const Tile& tile = algorithm.tile;
  const bool matrices = algorithm.kind == Kind::Matrices;
  const uint32_t sliceDepth = sliceDepthOf(p, tile, caps);
  const uint32_t slices = static_cast<uint32_t>(divideUp(p.depth, sliceDepth));
  const bool toParts = slices > 1 || (matrices && finish.wide);
  const uint32_t own = (p.hasC ? kHasC : 0) | (finish.wide ? kWide : 0);
  const uint32_t flags = (toParts ? kToParts : own) | (window || matrices ? 0 : directions(p));
  const uint32_t parameters = builder.parameters(parameterWords(p, {}, window));
  BufferRange to = toParts ? builder.allocateTemporary(p.elements() * slices * 4) : p.to;

  std::vector<Specialization> tiled = specialization;
  if (matrices) {
    // A filter that is not packed has no one stride along the depth.
    const bool strided = !window || p.a.column == 1;
    const uint32_t readsA = strided ? readsOf(p.matrices, 0, p.a.row, p.rows, p.a.column, p.depth) : 0;
    const uint32_t readsB = window ? 0 : readsOf(p.matrices, 1, p.b.column, p.columns, p.b.row, p.depth);
    const std::pair<uint32_t, uint32_t> specifics[] = {
        {3, tile.rows},         {4, tile.columns},    {5, tile.depth}, {6, subgroupsAcross(caps, tile)},
        {7, caps.subgroupSize}, {8, caps.matrixSize}, {9, readsA},     {10, readsB},
        {11, tile.stages}};
    for (const auto& [id, value] : specifics) tiled.push_back({id, value});
  }
  const auto onWords = [&](std::string_view family) { return cat(family, ".", shortTypeName(p.type)); };
  // Only the kernels on 32-bit words, and those of matrices, store FLOAT32 for FLOAT16 operands.
  const bool needsWords = !matrices && (toParts || finish.wide);
  if (auto error = builder.add(needsWords ? onWords(algorithm.kernel) : typedKernel(algorithm.kernel, p.type, caps),
                               tilesOf(p, tile) * slices,
                               joined({p.rows, p.columns, p.depth, sliceDepth, slices}, finishWords(p, finish, flags)),
                               {p.from[0], p.from[1], p.from[2], to}, parameters, tiled))
    return error;
  if (!toParts) return {};
  const std::string_view combine = window ? "convolution_combine" : "gemm_combine";
  to.writes = false;
  return builder.addItems(
      finish.wide ? onWords(combine) : typedKernel(combine, p.type, caps), p.elements(),
      joined({p.rows, p.columns, static_cast<uint32_t>(p.elements()), slices}, finishWords(p, finish, own)),
      {to, p.from[2], p.to}, parameters, specialization);
}

}  // namespace

Status addFloatProduct(PlanBuilder& builder, Product p, const FloatFinish& finish, const ConvolutionWindow* window) {
  if (!window) {
    dropIdleStrides(p);
    // Rows are the few, or else those that neighbouring stores do not go along.
    const bool fewColumns = p.columns <= kMostFewRows && p.rows > kMostFewRows;
    const bool fewRows = p.rows <= kMostFewRows;
    if (fewColumns || (!fewRows && p.y.row == 1 && p.y.column != 1)) transpose(p);
  }
  const Request request{p, builder.caps()};
  const Algorithm& algorithm =
      choose(builder, window ? std::span<const Algorithm>(kConvolutionAlgorithms) : kMatrixAlgorithms, request);
  std::vector<Specialization> specialization{{1, static_cast<uint32_t>(finish.activation.type)}};
  if (window) specialization.push_back({2, window->backward});
  if (algorithm.tile.rows != 0) return addTiles(builder, p, finish, window, algorithm, specialization);

  const uint32_t flags = (p.hasC ? kHasC : 0) | (finish.wide ? kWide : 0) | (window ? 0 : directions(p));
  uint64_t groups = divideUp(p.elements(), kGroupSize);
  std::vector<uint32_t> push =
      joined({p.rows, p.columns, p.depth, static_cast<uint32_t>(p.elements())}, finishWords(p, finish, flags));
  if (algorithm.kind != Kind::Elements) {
    const bool depthFirst = (flags & kBDepthFirst) != 0;
    const uint64_t places = algorithm.kind == Kind::FewRowsInVectors && !depthFirst ? p.columns / 4 : p.columns;
    const uint32_t sliceBits = sliceBitsOf(p, places, depthFirst);
    const uint64_t columnGroups = divideUp(places, uint64_t{kGroupSize} >> sliceBits);
    groups = p.matrices.count() * columnGroups;
    push[3] = static_cast<uint32_t>(columnGroups);
    push.push_back(sliceBits);
  }
  if (algorithm.kind == Kind::FewRowsInVectors) specialization.push_back({3, std::bit_ceil(p.rows)});
  // Only the kernels on 32-bit words store FLOAT32 for FLOAT16 operands.
  const std::string kernel = finish.wide ? cat(algorithm.kernel, ".", shortTypeName(p.type))
                                         : typedKernel(algorithm.kernel, p.type, builder.caps());
  return builder.add(kernel, groups, push, {p.from[0], p.from[1], p.from[2], p.to},
                     builder.parameters(parameterWords(p, {}, window)), specialization);
}

Status addIntegerProduct(PlanBuilder& builder, const Product& p, const Quantization& q,
                         const ConvolutionWindow* window) {
  const Request request{p, builder.caps()};
  const Algorithm& algorithm = choose(
      builder, window ? std::span<const Algorithm>(kIntegerConvolutionAlgorithms) : kIntegerMatrixAlgorithms, request);
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
  return builder.add(
      cat(algorithm.kernel, ".", shortTypeName(p.type)), groupsOf(algorithm, p),
      {p.rows, p.columns, p.depth, static_cast<uint32_t>(p.elements()), p.matrices.rank, kinds, flags},
      {p.from[0], p.from[1], p.from[2], range(q.zeroA), range(q.zeroB), range(q.scaleA), range(q.scaleB),
       range(q.scaleY), range(q.zeroY), p.to},
      builder.parameters(parameterWords(
          p, {q.scaleA.stride, q.zeroA.stride, q.scaleB.stride, q.zeroB.stride, q.scaleY.stride, q.zeroY.stride},
          window)),
      specialization);
}

}  // namespace dimple
