#include "core/ops/product.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/checked.h"
#include "core/ops/copy.h"
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
constexpr uint32_t kPlacesOfLine = 4;  // kPlaces, and kMostFilters, of kernels/matrix/direct.comp
constexpr uint32_t kMostFiltersOfLine = 4;

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

// ---- which kernel ---------------------------------------------------------------------------------------------------

// What a product is planned for.
struct Request {
  const Product& product;
  const Caps& caps;
  const ConvolutionWindow* window = nullptr;  // null: of matrices
  const Quantization* integers = nullptr;     // null: of floats
};

// Rows, columns and steps of the depth that a workgroup works on at a time. No rows: an invocation an element, or few
// rows, of which an invocation takes so many steps at a time, or an invocation so many columns.
struct Tile {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t depth = 0;
  uint32_t stages = 2;  // parts of A and B in shared memory at once
};

enum class Kind { Elements, Lines, FewRows, FewRowsInVectors, Tiles, Matrices };

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

// A dimension of an operand.
struct Dimension {
  uint32_t stride;
  uint32_t size;
};

// Whether so many elements along a dimension always lie side by side, at a multiple of their number.
bool comesInAlong(uint32_t number, const Walk& matrices, uint32_t operand, Dimension along, Dimension across) {
  if (along.stride != 1 || along.size % number != 0 || across.stride % number != 0) return false;
  for (uint32_t d = 0; d < matrices.rank; ++d)
    if (matrices.strides[d][operand] % number != 0) return false;
  return matrices.base[operand] % number == 0;
}

// The same along one of the two.
bool comesIn(uint32_t number, const Walk& matrices, uint32_t operand, Dimension a, Dimension b) {
  return comesInAlong(number, matrices, operand, a, b) || comesInAlong(number, matrices, operand, b, a);
}

Dimension rowsOfA(const Product& p) { return {p.a.row, p.rows}; }
Dimension depthOfA(const Product& p) { return {p.a.column, p.depth}; }
Dimension columnsOfB(const Product& p) { return {p.b.column, p.columns}; }
Dimension depthOfB(const Product& p) { return {p.b.row, p.depth}; }

// Elements that kernels of tiles read at once.
constexpr uint32_t kTileVector = 4;

// What is read of A or B in vectors along its rows or columns, the last of which may reach over the end: what lies
// there makes only sums that are not stored.
uint64_t bytesInVectors(uint32_t number, const Product& p, uint32_t operand) {
  const Dimension along = operand == 0 ? rowsOfA(p) : columnsOfB(p);
  const Dimension across = operand == 0 ? depthOfA(p) : depthOfB(p);
  uint64_t elements =
      p.matrices.base[operand] + uint64_t{across.size - 1} * across.stride + alignUp(along.size, number);
  for (uint32_t d = 0; d < p.matrices.rank; ++d)
    elements += uint64_t{p.matrices.sizes[d] - 1} * p.matrices.strides[d][operand];
  return elements * byteWidth(p.type);
}

// Whether A or B comes in vectors that may reach over the end of its rows or columns.
bool comesInPadded(uint32_t number, const Product& p, uint32_t operand) {
  Dimension along = operand == 0 ? rowsOfA(p) : columnsOfB(p);
  const Dimension across = operand == 0 ? depthOfA(p) : depthOfB(p);
  along.size = static_cast<uint32_t>(alignUp(along.size, number));
  return comesInAlong(number, p.matrices, operand, along, across) &&
         bytesInVectors(number, p, operand) <= p.bytes[operand];
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
  if (!comesIn(kTileVector, p.matrices, 0, rowsOfA(p), depthOfA(p)) && !comesInPadded(kTileVector, p, 0))
    return "A is not in vectors of four.";
  if (!comesIn(kTileVector, p.matrices, 1, columnsOfB(p), depthOfB(p)) && !comesInPadded(kTileVector, p, 1))
    return "B is not in vectors of four.";
  return nullptr;
}

const char* refusesLargeTile(const Request& request, const Tile& tile) {
  if (const char* reason = refusesVector(request, tile)) return reason;
  const Product& p = request.product;
  if (p.rows <= tile.rows / 2 || p.columns <= tile.columns / 2) return "Most of a tile would be idle.";
  // Fewer leave a large part of the device idle.
  return tilesOf(p, tile) < request.caps.workgroups / 4 ? "Its tiles are few." : nullptr;
}

// How a tile's subgroups lie side by side, so that each has the same number of matrices of `size` rows and columns and
// reads few of them; 0: they do not.
uint32_t subgroupsAcross(const Caps& caps, const Tile& tile, uint32_t size) {
  const uint32_t subgroups = kGroupSize / caps.subgroupSize;
  uint32_t best = 0;
  uint32_t least = UINT32_MAX;
  for (uint32_t across = 1; across <= std::min(subgroups, 8u); across *= 2) {
    const uint32_t rows = tile.rows / (subgroups / across);
    const uint32_t columns = tile.columns / across;
    if (rows == 0 || columns == 0 || rows % size != 0 || columns % size != 0) continue;
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

// That leave a part of the device idle.
uint64_t fewTiles(const Caps& caps) { return uint64_t{caps.workgroups} * 3 / 8; }

const char* refusesMatrices(const Request& request, const Tile& tile) {
  if (const char* reason = refusesTile(request, tile)) return reason;
  const auto& [p, caps, window, integers] = request;
  if (caps.matrixSize == 0) return "The device's subgroups do not multiply matrices.";
  if (p.type == DML_TENSOR_DATA_TYPE_FLOAT32 && !caps.halfPrecision) return "FLOAT32 is not to be rounded.";
  if (subgroupsAcross(caps, tile, caps.matrixSize) == 0) return "The device's subgroups cannot share a tile.";
  if (sharedBytes(tile) > caps.sharedBytes) return "The device has too little shared memory for a tile.";
  return nullptr;
}

const char* refusesIntegerMatrices(const Request& request, const Tile& tile) {
  if (const char* reason = refusesTile(request, tile)) return reason;
  const auto& [p, caps, window, integers] = request;
  if (caps.integerMatrixSize == 0) return "The device's subgroups do not multiply matrices of integers.";
  if (byteWidth(integers->a) != 1 || byteWidth(integers->b) != 1) return "Its operands are not of 8 bits.";
  // Products of differences of two bytes, 255 * 255 at most, are summed in 32 bits.
  constexpr uint32_t kMostExact = 32768;
  if (isFloat(p.type) && p.depth > kMostExact) return "Its sums may exceed 32 bits.";
  if (subgroupsAcross(caps, tile, caps.integerMatrixSize) == 0) return "The device's subgroups cannot share a tile.";
  // A tile's parts, their sums, and a convolution's steps.
  if ((tile.rows + tile.columns) * (tile.depth + 16 + 4) + 2 * tile.depth * 16 > caps.sharedBytes)
    return "The device has too little shared memory for a tile.";
  return nullptr;
}

// Where smaller tiles would do more at a time.
const char* refusesFewTiles(const Request& request, const Tile& tile) {
  const Product& p = request.product;
  if (p.rows <= tile.rows / 2 || p.columns <= tile.columns / 2) return "Most of a tile would be idle.";
  return tilesOf(p, tile) < fewTiles(request.caps) ? "Its tiles are few." : nullptr;
}

const char* refusesManyIntegerMatrices(const Request& request, const Tile& tile) {
  if (const char* reason = refusesIntegerMatrices(request, tile)) return reason;
  return refusesFewTiles(request, tile);
}

const char* refusesManyMatrices(const Request& request, const Tile& tile) {
  if (const char* reason = refusesMatrices(request, tile)) return reason;
  return refusesFewTiles(request, tile);
}

// Gathering windows costs more than slicing the depth.
const char* refusesManyWindows(const Request& request, const Tile& tile) {
  if (const char* reason = refusesMatrices(request, tile)) return reason;
  const Product& p = request.product;
  if (p.rows <= tile.rows / 2 || p.columns <= tile.columns / 2) return "Most of a tile would be idle.";
  constexpr uint32_t kLeastDepth = 256;  // of a slice
  return tilesOf(p, tile) * std::max(1u, p.depth / kLeastDepth) < fewTiles(request.caps) ? "Its tiles are few."
                                                                                         : nullptr;
}

constexpr uint32_t kMostFewRows = 8;
const char* refusesFewRows(const Request& request, const Tile&) {
  const Product& p = request.product;
  if (p.rows > kMostFewRows) return "It has many rows.";
  if (p.depth < 32) return "Its sums are short.";
  return nullptr;
}

bool fewRowsComeIn(uint32_t number, const Product& p) {
  return comesInAlong(number, p.matrices, 0, depthOfA(p), rowsOfA(p)) &&
         comesIn(number, p.matrices, 1, columnsOfB(p), depthOfB(p));
}

const char* refusesFewRowsVector(const Request& request, const Tile& tile) {
  if (const char* reason = refusesFewRows(request, tile)) return reason;
  return fewRowsComeIn(tile.depth, request.product) ? nullptr : "A along the depth or B is not in vectors of four.";
}

const char* refusesFewRowsWide(const Request& request, const Tile& tile) {
  if (const char* reason = refusesFewRows(request, tile)) return reason;
  const Product& p = request.product;
  if (p.type != DML_TENSOR_DATA_TYPE_FLOAT16) return "Its elements are not FLOAT16.";
  return fewRowsComeIn(tile.depth, p) ? nullptr : "A along the depth or B is not in vectors of eight.";
}

const char* refusesLines(const Request& request, const Tile&) {
  const ConvolutionWindow& window = *request.window;
  if (window.backward) return "It is a backward one.";
  if (window.places == 1) return "Its lines have one place.";
  return window.distant ? "It has much padding." : nullptr;
}

const char* refusesWindowTile(const Request& request, const Tile& tile) {
  if (const char* reason = refusesTile(request, tile)) return reason;
  constexpr uint32_t kFewFilters = 32;
  return request.product.rows < kFewFilters && !refusesLines(request, tile) ? "It has few filters." : nullptr;
}

const char* refusesNothing(const Request&, const Tile&) { return nullptr; }

// In order of preference.
constexpr Algorithm kMatrixAlgorithms[] = {
    {"gemm_few_rows_wide", Kind::FewRowsInVectors, {0, 0, 8}, refusesFewRowsWide},
    {"gemm_few_rows_vector", Kind::FewRowsInVectors, {0, 0, 4}, refusesFewRowsVector},
    {"gemm_few_rows", Kind::FewRows, {}, refusesFewRows},
    {"gemm_cooperative", Kind::Matrices, {128, 128, 32, 1}, refusesManyMatrices},
    {"gemm_cooperative", Kind::Matrices, {128, 64, 64, 1}, refusesManyMatrices},
    {"gemm_cooperative", Kind::Matrices, {64, 64, 64, 1}, refusesMatrices},
    {"gemm_large_tile", Kind::Tiles, {128, 128, 32}, refusesLargeTile},
    {"gemm_vector_tile", Kind::Tiles, {64, 64, 32}, refusesVector},
    {"gemm_tile", Kind::Tiles, {64, 64, 32}, refusesTile},
    {"gemm", Kind::Elements, {}, refusesNothing},
};
constexpr Algorithm kConvolutionAlgorithms[] = {
    {"convolution_cooperative", Kind::Matrices, {128, 128, 32, 1}, refusesManyWindows},
    {"convolution_cooperative", Kind::Matrices, {64, 64, 32, 1}, refusesMatrices},
    {"convolution_tile", Kind::Tiles, {64, 64, 32}, refusesWindowTile},
    {"convolution_direct", Kind::Lines, {0, kPlacesOfLine, 0}, refusesLines},
    {"convolution", Kind::Elements, {}, refusesNothing},
};
constexpr Algorithm kIntegerMatrixAlgorithms[] = {
    {"integer_gemm_cooperative", Kind::Matrices, {128, 128, 64, 1}, refusesManyIntegerMatrices},
    {"integer_gemm_cooperative", Kind::Matrices, {64, 64, 64, 1}, refusesIntegerMatrices},
    {"integer_gemm_tile", Kind::Tiles, {64, 64, 32}, refusesTile},
    {"integer_gemm", Kind::Elements, {}, refusesNothing},
};
constexpr Algorithm kIntegerConvolutionAlgorithms[] = {
    {"integer_convolution_cooperative", Kind::Matrices, {128, 128, 64, 1}, refusesManyIntegerMatrices},
    {"integer_convolution_cooperative", Kind::Matrices, {64, 64, 64, 1}, refusesIntegerMatrices},
    {"integer_convolution_tile", Kind::Tiles, {64, 64, 32}, refusesWindowTile},
    {"integer_convolution_direct", Kind::Lines, {0, kPlacesOfLine, 0}, refusesLines},
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
  const uint32_t alongLine = window.dimensions[16];  // stride of the input
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
  if (auto error = builder.add(needsWords ? onWords(algorithm.kernel) : typedKernel(algorithm.kernel, p.type, caps),
                               tilesOf(p, tile) * slices,
                               joined({p.rows, p.columns, p.depth, sliceDepth, slices}, finishWords(p, finish, flags)),
                               {from[0], from[1], p.from[2], to}, parameters, tiled, p.multiplyAdds()))
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
  const Algorithm& algorithm =
      choose(builder, window ? std::span<const Algorithm>(kConvolutionAlgorithms) : kMatrixAlgorithms, request);
  std::vector<Specialization> specialization{{1, static_cast<uint32_t>(finish.activation.type)}};
  if (window) specialization.push_back({2, window->backward});
  if (algorithm.tile.rows != 0) return addTiles(builder, p, finish, window, algorithm, specialization);

  const uint32_t flags = (p.hasC ? kHasC : 0) | (finish.wide ? kWide : 0) | (window ? 0 : directions(p));
  uint64_t groups = divideUp(p.elements(), kGroupSize);
  std::vector<uint32_t> push =
      joined({p.rows, p.columns, p.depth, static_cast<uint32_t>(p.elements())}, finishWords(p, finish, flags));
  if (algorithm.kind == Kind::Lines) {
    const Lines lines = linesOf(p, *window, builder.caps());
    groups = lines.groups;
    push = joined(lines.push, finishWords(p, finish, flags));
    specialization.insert(specialization.end(), lines.specialization.begin(), lines.specialization.end());
  } else if (algorithm.kind != Kind::Elements) {
    const bool depthFirst = (flags & kBDepthFirst) != 0;
    const uint32_t vector = std::max(1u, algorithm.tile.depth);
    const uint64_t places = depthFirst ? p.columns : p.columns / vector;
    const uint32_t sliceBits = sliceBitsOf(p, places, depthFirst, vector, builder.caps());
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
                     builder.parameters(parameterWords(p, {}, window)), specialization, p.multiplyAdds());
}

Status addIntegerProduct(PlanBuilder& builder, const Product& p, const Quantization& q,
                         const ConvolutionWindow* window) {
  const Caps& caps = builder.caps();
  const Request request{p, caps, window, &q};
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
  if (algorithm.kind == Kind::Matrices) {
    const auto more = matrixSpecialization(p, caps, algorithm.tile, window, caps.integerMatrixSize, kIntegerVectors);
    specialization.insert(specialization.end(), more.begin(), more.end());
    specialization.push_back({12, caps.integerMatrixDepth});
  }
  uint64_t groups = groupsOf(algorithm, p);
  std::vector<uint32_t> push{p.rows, p.columns, p.depth, static_cast<uint32_t>(p.elements())};
  if (algorithm.kind == Kind::Lines) {
    const Lines lines = linesOf(p, *window, caps);
    groups = lines.groups;
    push = lines.push;
    specialization.insert(specialization.end(), lines.specialization.begin(), lines.specialization.end());
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
