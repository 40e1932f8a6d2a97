#include "core/ops/product_kernels.h"

#include <algorithm>
#include <span>

#include "core/checked.h"
#include "core/ops/patch_kernels.h"
#include "core/ops/product_words.h"
#include "core/ops/tile_refusals.h"
#include "core/ops/turned_windows.h"
#include "kernels/interfaces/convolution_direct.h"
#include "kernels/interfaces/few_rows.h"
#include "kernels/interfaces/float_blocks.h"
#include "kernels/interfaces/float_product.h"
#include "kernels/interfaces/float_tiles.h"
#include "kernels/interfaces/integer_convolution_direct.h"
#include "kernels/interfaces/integer_product.h"

namespace dimple {

namespace {

// Bytes of A's or B's part of a tile in shared memory, lines of vectors of eight and one more.
uint32_t partBytes(uint32_t across, uint32_t depth, bool depthFirst) {
  return (depthFirst ? (depth + 8) * across : (across + 8) * depth) * 2;
}

// Returns the bytes of the sums that take the place of a tile's parts at the end: so many for each subgroup.
uint32_t bytesOfSums(const Tile& tile, const Caps& caps, uint32_t each) {
  return tile.invocations / caps.subgroupSize * each;
}

// Returns the bytes of a tile's parts, whichever way the operands are read, or of the sums, and of a convolution's
// steps.
uint32_t sharedBytes(const Tile& tile, const Caps& caps) {
  uint32_t parts = 0;
  for (const uint32_t across : {tile.rows, tile.columns})
    parts += tile.stages * std::max(partBytes(across, tile.depth, true), partBytes(across, tile.depth, false));
  return std::max(parts, bytesOfSums(tile, caps, caps.matrices.elements() * 4)) + 2 * tile.depth * 16;
}

// Returns the bytes of the parts that cooperative_ahead.comp makes of these operands, and of the sums that take their
// place.
uint32_t sharedBytesAhead(const Product& p, const Tile& tile, const Caps& caps) {
  const uint32_t parts =
      partBytes(tile.rows, tile.depth, p.a.column == 1) + partBytes(tile.columns, tile.depth, p.b.row == 1);
  const auto& [rows, columns, depth] = caps.matrices;
  const uint32_t strip = std::max(rows * (columns / 2 + 1), 2 * columns * (rows / 4 + 1));  // along rows, and columns
  return std::max(tile.stages * parts, bytesOfSums(tile, caps, strip * 16));
}

const char* refusesMatrices(const Request& request, const Tile& tile) {
  if (const char* reason = refusesTile(request, tile)) return reason;
  if (const char* reason = refusesSubgroups(request, tile)) return reason;
  const Caps& caps = request.target.caps;
  return sharedBytes(tile, caps) > caps.sharedBytes ? kSharedTooLittle : nullptr;
}

const char* refusesFewRowsMatrices(const Request& request, const Tile& tile) {
  const Product& p = request.product;
  if (p.rows > tile.rows) return "It has many rows.";
  if (p.rows == 1 || p.columns < 64) return "Most of a tile would be idle.";
  if (p.depth < 64) return "Its sums are short.";
  if (const char* reason = refusesSubgroups(request, tile)) return reason;
  const Caps& caps = request.target.caps;
  return sharedBytes(tile, caps) > caps.sharedBytes ? kSharedTooLittle : nullptr;
}

// Checks what cooperative_ahead.comp requires of a tile.
const char* refusesAhead(const Request& request, const Tile& tile) {
  const auto& [p, target, window, integers] = request;
  const Caps& caps = target.caps;
  if (caps.subgroupSize > kMaxSubgroupAhead) return kSubgroupTooLarge;
  if (!caps.has(Feature::SubgroupShuffle)) return "The device's subgroups cannot exchange numbers.";
  constexpr uint32_t kMostMatrices = 4;
  if (tile.depth > kMostMatrices * caps.matrices.depth) return "A part of the depth has more than four matrices.";
  if (tile.columns / subgroupsAcross(target, tile, caps.matrices) / caps.matrices.columns % 2 != 0)
    return "A subgroup's matrices do not come in pairs.";
  return sharedBytesAhead(p, tile, caps) > caps.sharedBytes ? kSharedTooLittle : nullptr;
}

// Tiles half as wide take a quarter longer for the same sums, and win where they have a fifth less to compute.
bool wastesColumns(const Product& p, const Tile& tile) {
  constexpr uint32_t kWide = 256;  // narrower tiles win even where half of one is idle
  return tile.columns >= kWide && alignUp(p.columns, tile.columns) * 4 > alignUp(p.columns, tile.columns / 2) * 5;
}

// Returns how many tiles are enough for several workgroups on each part of the device, so that one computes while
// another waits.
uint64_t manyTiles(const Target& target) { return uint64_t{target.caps.workgroups} * 3 / 2; }

const char* refusesVectorsOfEight(const Product& p) {
  constexpr uint32_t kVector = kHalfVectors.along;
  if (!comesIn(kVector, p.matrices, 0, rowsOfA(p), depthOfA(p))) return "A is not in vectors of eight.";
  if (!comesIn(kVector, p.matrices, 1, columnsOfB(p), depthOfB(p))) return "B is not in vectors of eight.";
  return nullptr;
}

const char* refusesVectorsAhead(const Request& request, const Tile& tile) {
  if (const char* reason = refusesTile(request, tile)) return reason;
  if (const char* reason = refusesSubgroups(request, tile)) return reason;
  const auto& [p, target, window, integers] = request;
  if (p.type != DML_TENSOR_DATA_TYPE_FLOAT16) return "Its elements are not FLOAT16.";
  if (const char* reason = refusesVectorsOfEight(p)) return reason;
  if (const char* reason = refusesAhead(request, tile)) return reason;
  return wastesColumns(p, tile) ? "Most of a tile would be idle." : nullptr;
}

// The refusals of tiles of which each multiprocessor of a device holds one at a time.
const char* refusesMatricesAhead(const Request& request, const Tile& tile) {
  if (const char* reason = refusesVectorsAhead(request, tile)) return reason;
  const auto& [p, target, window, integers] = request;
  constexpr uint32_t kMinDepth = 2048;  // of a slice
  return refusesFewTiles(p, tile, fewTiles(target), std::max(1u, p.depth / kMinDepth));
}

// Returns the bytes that each subgroup keeps for itself in cooperative_split.comp: a pair of parts, or a row of
// matrices of sums.
uint32_t sharedBytesSplit(const Request& request, const Tile& tile) {
  const auto& [p, target, window, integers] = request;
  const MatrixShape& shape = target.caps.matrices;
  const uint32_t subgroups = tile.invocations / target.caps.subgroupSize;
  const uint32_t across = subgroupsAcross(target, tile, shape);
  const uint32_t rows = tile.rows * across * tile.shares / subgroups;
  const uint32_t columns = tile.columns / across;
  const auto part = [&](uint32_t lines, bool depthFirst) {
    return depthFirst ? (tile.depth / 8 | 1) * lines : (lines / 8 | 1) * tile.depth;
  };
  const uint32_t parts = part(rows, window || p.a.column == 1) + part(columns, window || p.b.row == 1);
  // The sums lie in lines of rows. Those of windows also lie in lines of columns.
  const uint32_t sums = std::max(shape.rows * (columns / 4 + 1), window ? columns * (shape.rows / 4 + 1) : 0);
  return subgroups * std::max(parts, sums) * 16;
}

constexpr const char* kSeveralElements = "A part of the depth spans several elements of the window.";

// Checks what cooperative_split.comp requires of a tile that the device's subgroups can share.
const char* refusesSharedDepth(const Request& request, const Tile& tile) {
  const Caps& caps = request.target.caps;
  if (caps.subgroupSize > kMaxSubgroupAhead) return kSubgroupTooLarge;
  if (request.product.depth < tile.shares * tile.depth) return "Its sums are short.";
  return sharedBytesSplit(request, tile) > caps.sharedBytes ? kSharedTooLittle : nullptr;
}

// The refusals of tiles whose depth the subgroups share.
const char* refusesShares(const Request& request, const Tile& tile) {
  if (const char* reason = refusesTile(request, tile)) return reason;
  const auto& [p, target, window, integers] = request;
  if (target.caps.subgroupSize * tile.shares > tile.invocations) return "A workgroup has too few subgroups.";
  if (const char* reason = refusesSubgroups(request, tile)) return reason;
  if (p.type != DML_TENSOR_DATA_TYPE_FLOAT16) return "Its elements are not FLOAT16.";
  // One workgroup fills a part of the device, and all workgroups should run at once.
  if (tilesOf(p, tile) > target.caps.workgroups / 2) return "It has many tiles.";
  return refusesSharedDepth(request, tile);
}

const char* refusesSplit(const Request& request, const Tile& tile) {
  if (const char* reason = refusesShares(request, tile)) return reason;
  return refusesVectorsOfEight(request.product);
}

// The refusals of tiles as high as a matrix, for long sums whose depth other tiles slice: those add the slices in a
// dispatch of its own.
const char* refusesFewRowsSplit(const Request& request, const Tile& tile) {
  const auto& [p, target, window, integers] = request;
  if (p.rows > tile.rows) return "It has many rows.";
  constexpr uint32_t kLong = 1024;
  if (p.depth < kLong) return "Its sums are short.";
  if (tilesOf(p, tile) < target.caps.workgroups / 8) return "It has few tiles.";
  return refusesSplit(request, tile);
}

const char* refusesGathered(const Request& request, const Tile& tile) {
  if (const char* reason = refusesShares(request, tile)) return reason;
  const uint32_t channels = request.product.depth / std::max(1u, request.window->taps);
  return channels % tile.depth != 0 ? kSeveralElements : nullptr;
}

// Checks what all products by matrices of integers have in common, whatever their tiles hold.
const char* refusesIntegers(const Request& request, const Tile& tile) {
  if (const char* reason = refusesTile(request, tile)) return reason;
  const auto& [p, target, window, integers] = request;
  const MatrixShape& shape = target.caps.integerMatrices;
  if (!shape) return "The device's subgroups do not multiply matrices of integers.";
  if (byteWidth(integers->a) != 1 || byteWidth(integers->b) != 1) return "Its operands do not have 8 bits.";
  // Products of differences of two bytes, 255 * 255 at most, are summed in 32 bits.
  constexpr uint32_t kMaxExact = 32768;
  if (isFloat(p.type) && p.depth > kMaxExact) return "Its sums may exceed 32 bits.";
  if (tile.depth % shape.depth != 0) return kPartOfMatrix;
  return subgroupsAcross(target, tile, shape) == 0 ? kNotShared : nullptr;
}

// Returns the bytes of a tile's parts, or of the sums that take their place, of a sum of each row and column, and of a
// convolution's steps.
uint32_t integerBytes(const Tile& tile, const Caps& caps) {
  const uint32_t lines = tile.rows + tile.columns;
  return std::max(lines * (tile.depth + 16), bytesOfSums(tile, caps, caps.integerMatrices.elements() * 4)) + lines * 4 +
         2 * tile.depth * 16;
}

const char* refusesIntegerMatrices(const Request& request, const Tile& tile) {
  if (const char* reason = refusesIntegers(request, tile)) return reason;
  const Caps& caps = request.target.caps;
  return integerBytes(tile, caps) > caps.sharedBytes ? kSharedTooLittle : nullptr;
}

// Returns the bytes of the parts that integer_cooperative_ahead.comp keeps, or of the sums that take their place, and
// of a sum and a zero point of each row and column.
uint32_t integerBytesAhead(const Target& target, const Tile& tile) {
  const auto& [rows, columns, depth] = target.caps.integerMatrices;
  const uint32_t line = (tile.depth / std::min(depth, 16u) + 1) * 16;
  const uint32_t matrices = tile.columns / subgroupsAcross(target, tile, target.caps.integerMatrices) / columns;
  const uint32_t strip = rows * (std::min(matrices, columns / 4) * columns + 4) * 4;
  const uint32_t lines = tile.rows + tile.columns;
  return std::max(tile.stages * lines * line, bytesOfSums(tile, target.caps, strip)) + lines * 8;
}

const char* refusesIntegerTilesAhead(const Request& request, const Tile& tile) {
  if (const char* reason = refusesIntegers(request, tile)) return reason;
  const Target& target = request.target;
  if (!target.caps.has(Feature::DotProduct)) return "The device has no integer dot products.";
  if (target.caps.subgroupSize > kMaxSubgroupAhead) return kSubgroupTooLarge;
  return integerBytesAhead(target, tile) > target.caps.sharedBytes ? kSharedTooLittle : nullptr;
}

const char* refusesIntegerVectorsAhead(const Request& request, const Tile& tile) {
  if (const char* reason = refusesIntegerTilesAhead(request, tile)) return reason;
  const Product& p = request.product;
  const auto& [along, across] = kIntegerVectors;
  if (!isVectorizable(along, p.matrices, 0, depthOfA(p), rowsOfA(p))) return "A is not in vectors along the depth.";
  if (!isVectorizable(along, p.matrices, 1, depthOfB(p), columnsOfB(p)) &&
      !isVectorizable(across, p.matrices, 1, columnsOfB(p), depthOfB(p)))
    return "B is not in vectors.";
  return wastesColumns(p, tile) ? "Most of a tile would be idle." : nullptr;
}

const char* refusesIntegersAhead(const Request& request, const Tile& tile) {
  if (const char* reason = refusesIntegerVectorsAhead(request, tile)) return reason;
  return refusesFewTiles(request.product, tile, fewTiles(request.target));
}

const char* refusesIntegerWindowsAhead(const Request& request, const Tile& tile) {
  if (const char* reason = refusesIntegerTilesAhead(request, tile)) return reason;
  return refusesFewTiles(request.product, tile, fewTiles(request.target));
}

template <const char* (*refuses)(const Request&, const Tile&)>
const char* refusesFew(const Request& request, const Tile& tile) {
  if (const char* reason = refuses(request, tile)) return reason;
  return refusesFewTiles(request.product, tile, fewTiles(request.target));
}

// If B lies along the depth, its lines in shared memory are as long as a part is deep. Deeper parts take less time.
const char* refusesTurnedAhead(const Request& request, const Tile& tile) {
  const Product& p = request.product;
  if (!isVectorizable(kHalfVectors.along, p.matrices, 1, depthOfB(p), columnsOfB(p)))
    return "B is not in vectors along the depth.";
  return refusesFew<refusesVectorsAhead>(request, tile);
}

// The refusals of tiles for sums so short that storing takes as long as multiplying. Several of their workgroups run on
// each part of the device.
const char* refusesShortAhead(const Request& request, const Tile& tile) {
  const Product& p = request.product;
  constexpr uint32_t kShort = 256;
  if (p.depth > kShort) return kLongSums;
  if (p.matrices.count() != 1) return "It has several matrices.";
  // Where sums are very short, or columns few, tiles of more rows than columns are faster.
  constexpr uint32_t kVeryShort = 64;
  const bool tall = p.depth <= kVeryShort || p.columns <= tile.columns;
  if (tile.columns < tile.rows && !tall) return "Its sums are not very short.";
  if (const char* reason = refusesVectorsAhead(request, tile)) return reason;
  return refusesFewTiles(p, tile, manyTiles(request.target));
}

// The refusals of tiles for few rows, for which fewer tiles read A anew.
const char* refusesFlatMatrices(const Request& request, const Tile& tile) {
  const Product& p = request.product;
  if (p.type != DML_TENSOR_DATA_TYPE_FLOAT16) return "Its elements are not FLOAT16.";
  if (p.rows > tile.rows) return "It has many rows.";
  return refusesFew<refusesMatrices>(request, tile);
}

// Gathering windows costs more than slicing the depth.
const char* refusesManyWindows(const Request& request, const Tile& tile) {
  if (const char* reason = refusesMatrices(request, tile)) return reason;
  constexpr uint32_t kMinDepth = 256;  // of a slice
  const Product& p = request.product;
  return refusesFewTiles(p, tile, fewTiles(request.target), std::max(1u, p.depth / kMinDepth));
}

const char* refusesWindowsAhead(const Request& request, const Tile& tile) {
  if (const char* reason = refusesMatrices(request, tile)) return reason;
  if (request.window->channelsLast % tile.depth != 0) return kSeveralElements;
  return refusesAhead(request, tile);
}

const char* refusesNarrowWindowsAhead(const Request& request, const Tile& tile) {
  if (const char* reason = refusesWindowsAhead(request, tile)) return reason;
  if (request.product.rows > tile.rows) return "It has many filters.";
  return refusesFewTiles(request.product, tile, manyTiles(request.target) / 2);
}

const char* refusesShortWindowsAhead(const Request& request, const Tile& tile) {
  if (const char* reason = refusesWindowsAhead(request, tile)) return reason;
  constexpr uint32_t kShort = 512;
  if (request.product.depth > kShort) return kLongSums;
  return refusesFewTiles(request.product, tile, manyTiles(request.target));
}

// The refusals of small tiles that need no slices of the depth.
const char* refusesFewWindowsAhead(const Request& request, const Tile& tile) {
  if (!request.window->edges) return "Its input is copied.";
  if (const char* reason = refusesWindowsAhead(request, tile)) return reason;
  if (tilesOf(request.product, tile) >= fewTiles(request.target)) return "It has many tiles.";
  constexpr uint32_t kLongest = 640;
  return request.product.depth > kLongest ? kLongSums : nullptr;
}

const char* refusesLargeWindowsAhead(const Request& request, const Tile& tile) {
  if (const char* reason = refusesWindowsAhead(request, tile)) return reason;
  constexpr uint32_t kMinDepth = 256;  // of a slice
  const Product& p = request.product;
  return refusesFewTiles(p, tile, fewTiles(request.target), std::max(1u, p.depth / kMinDepth));
}

// If a copy is made anyway, larger tiles read from it.
const char* refusesVectorWindowsSplit(const Request& request, const Tile& tile) {
  if (!request.window->edges) return "Its input is copied.";
  return refusesGathered(request, tile);
}

const char* refusesLines(const Request& request, const Tile&) {
  const ConvolutionWindow& window = *request.window;
  if (window.backward) return "It is a backward convolution.";
  if (window.dimensions[0].size == 1) return "Its lines have one place.";
  return window.distant ? "It has much padding." : nullptr;
}

const char* refusesWindowTile(const Request& request, const Tile& tile) {
  if (const char* reason = refusesTile(request, tile)) return reason;
  constexpr uint32_t kFewFilters = 32;
  return request.product.rows < kFewFilters && !refusesLines(request, tile) ? "It has few filters." : nullptr;
}

const char* refusesNothing(const Request&, const Tile&) { return nullptr; }

template <class Kernel>
constexpr KernelId idOf(typename Kernel::Form form) {
  return {Kernel::kFamily, static_cast<uint8_t>(form)};
}

using Floats = kernels::FloatProduct;
using Tiles = kernels::FloatTiles;
using FewRows = kernels::FewRows;
using FloatLines = kernels::ConvolutionDirect;
using Integers = kernels::IntegerProduct;
using IntegerLines = kernels::IntegerConvolutionDirect;
constexpr KernelId kMatrices = idOf<Tiles>(Tiles::Form::Matrices);
constexpr KernelId kMatricesAhead = idOf<Tiles>(Tiles::Form::MatricesAhead);
constexpr KernelId kMatricesSplit = idOf<Tiles>(Tiles::Form::MatricesSplit);
constexpr KernelId kVectorWindowsSplit = idOf<Tiles>(Tiles::Form::VectorWindowsSplit);
constexpr KernelId kGathered = idOf<Tiles>(Tiles::Form::WindowsSplit);
constexpr KernelId kWindowMatrices = idOf<Tiles>(Tiles::Form::ConvolutionMatrices);
constexpr KernelId kVectorWindows = idOf<Tiles>(Tiles::Form::VectorMatrices);
constexpr KernelId kWindowsAhead = idOf<Tiles>(Tiles::Form::VectorMatricesAhead);
constexpr KernelId kIntegerMatrices = idOf<Integers>(Integers::Form::Matrices);
constexpr KernelId kIntegerMatricesAhead = idOf<Integers>(Integers::Form::MatricesAhead);
constexpr KernelId kIntegerWindowMatrices = idOf<Integers>(Integers::Form::ConvolutionMatrices);
constexpr KernelId kIntegerWindowsAhead = idOf<Integers>(Integers::Form::WindowsAhead);
constexpr KernelId kIntegerWindowTile = idOf<Integers>(Integers::Form::ConvolutionTile);
constexpr KernelId kIntegerLines = idOf<IntegerLines>(IntegerLines::Form::Lines);

// Tiles with half as many invocations, so that two run side by side on each part of the device.
constexpr Tile kPairedAhead{128, 128, 32, 1, 128};

// Of matrices and of windows.
constexpr ProductKernel kBlocks{"product_block", idOf<kernels::FloatBlocks>(kernels::FloatBlocks::Form::Block),
                                kBlockOfTeam, refusesBlocks};

// In order of preference.
constexpr ProductKernel kMatrixKernels[] = {
    {"gemm_cooperative_split", kMatricesSplit, {16, 16, 32, 1, kGroupSize, 8}, refusesFewRowsSplit},
    {"gemm_cooperative", kMatrices, {16, 128, 64, 1}, refusesFewRowsMatrices},
    {"gemm_few_rows_wide", idOf<FewRows>(FewRows::Form::Wide), {0, 0, 8}, refusesFewRowsWide},
    {"gemm_few_rows_vector", idOf<FewRows>(FewRows::Form::Vector), {0, 0, 4}, refusesFewRowsVector},
    {"gemm_few_rows", idOf<FewRows>(FewRows::Form::Scalar), {}, refusesFewRows},
    {"gemm_cooperative_ahead", kMatricesAhead, {128, 64, 32, 1, 128}, refusesShortAhead},
    {"gemm_cooperative_ahead", kMatricesAhead, {64, 128, 32, 1, 128}, refusesShortAhead},
    {"gemm_cooperative_ahead", kMatricesAhead, kPairedAhead, refusesTurnedAhead},
    {"gemm_cooperative_ahead", kMatricesAhead, {128, 256, 16}, refusesMatricesAhead},
    {"gemm_cooperative_ahead", kMatricesAhead, kPairedAhead, refusesFew<refusesVectorsAhead>},
    {"gemm_cooperative", kMatrices, {128, 128, 32, 1}, refusesFew<refusesMatrices>},
    {"gemm_cooperative_split", kMatricesSplit, {32, 64, 16, 1, kGroupSize, 8}, refusesFew<refusesSplit>},
    {"gemm_cooperative_split", kMatricesSplit, {16, 64, 32, 1, kGroupSize, 8}, refusesFew<refusesSplit>},
    {"gemm_cooperative_split", kMatricesSplit, {16, 32, 32, 1, kGroupSize, 8}, refusesFew<refusesSplit>},
    {"gemm_cooperative_split", kMatricesSplit, {16, 16, 32, 1, kGroupSize, 8}, refusesSplit},
    {"gemm_cooperative_split", kMatricesSplit, {16, 32, 32, 1, kGroupSize, 8}, refusesSplit},
    {"gemm_cooperative_split", kMatricesSplit, {32, 64, 16, 1, kGroupSize, 8}, refusesSplit},
    {"gemm_cooperative_split", kMatricesSplit, {32, 64, 8, 1, kGroupSize, 8}, refusesSplit},
    {"gemm_cooperative", kMatrices, {128, 64, 64, 1}, refusesFew<refusesMatrices>},
    {"gemm_cooperative", kMatrices, {64, 256, 32, 1}, refusesFlatMatrices},
    {"gemm_cooperative_ahead", kMatricesAhead, {64, 64, 64, 1, 128}, refusesFew<refusesVectorsAhead>},
    {"gemm_cooperative", kMatrices, {64, 64, 64, 1}, refusesMatrices},
    {"gemm_split_small_tile", idOf<Tiles>(Tiles::Form::SplitSmall), {16, 16, 128}, refusesSplitSmallTile},
    {"gemm_split_tile", idOf<Tiles>(Tiles::Form::Split), {64, 32, 64}, refusesSplitTile},
    {"gemm_large_tile", idOf<Tiles>(Tiles::Form::Large), {128, 128, 32}, refusesLargeTile},
    {"gemm_vector_tile", idOf<Tiles>(Tiles::Form::Vector), {64, 64, 32}, refusesVector},
    {"gemm_tile", idOf<Tiles>(Tiles::Form::Scalar), {64, 64, 32}, refusesTile},
    {"gemm", idOf<Floats>(Floats::Form::Gemm), {}, refusesNothing},
};
constexpr ProductKernel kSplitWindows{
    "convolution_split_tile", idOf<Tiles>(Tiles::Form::ConvolutionSplit), {64, 24, 64}, refusesSplitWindows};
constexpr ProductKernel kSplitSmallWindows{"convolution_split_small_tile",
                                           idOf<Tiles>(Tiles::Form::ConvolutionSplitSmall),
                                           {16, 16, 128},
                                           refusesSplitSmallWindows};
constexpr ProductKernel kConvolutionKernels[] = {
    {"convolution_cooperative", kWindowMatrices, {128, 128, 32, 1}, refusesManyWindows},
    {"convolution_cooperative", kWindowMatrices, {64, 64, 32, 1}, refusesMatrices},
    kSplitSmallWindows,
    kSplitWindows,
    {"convolution_tile", idOf<Tiles>(Tiles::Form::Convolution), {64, 64, 32}, refusesWindowTile},
    {"convolution_direct", idOf<FloatLines>(FloatLines::Form::Lines), {0, kPlacesOfLine, 0}, refusesLines},
    {"convolution", idOf<Floats>(Floats::Form::Convolution), {}, refusesNothing},
};
// Of an input whose channels lie side by side.
constexpr ProductKernel kVectorWindowKernels[] = {
    {"convolution_cooperative_split",
     kVectorWindowsSplit,
     {32, 32, 32, 1, kGroupSize, 8},
     refusesFew<refusesVectorWindowsSplit>},
    {"convolution_cooperative_split",
     kVectorWindowsSplit,
     {16, 32, 32, 1, kGroupSize, 8},
     refusesFew<refusesVectorWindowsSplit>},
    {"convolution_cooperative_split", kVectorWindowsSplit, {16, 16, 32, 1, kGroupSize, 8}, refusesVectorWindowsSplit},
    {"convolution_cooperative_split", kVectorWindowsSplit, {16, 32, 32, 1, kGroupSize, 8}, refusesVectorWindowsSplit},
    {"convolution_cooperative_split", kVectorWindowsSplit, {16, 32, 8, 1, kGroupSize, 8}, refusesVectorWindowsSplit},
    {"convolution_cooperative_ahead", kWindowsAhead, {64, 128, 32, 1, 128}, refusesNarrowWindowsAhead},
    {"convolution_cooperative_ahead", kWindowsAhead, {128, 64, 32, 1, 128}, refusesShortWindowsAhead},
    {"convolution_cooperative_ahead", kWindowsAhead, {128, 128, 64, 1}, refusesFew<refusesWindowsAhead>},
    {"convolution_cooperative_ahead", kWindowsAhead, {128, 64, 64, 1}, refusesFew<refusesWindowsAhead>},
    {"convolution_cooperative_ahead", kWindowsAhead, {64, 64, 64, 1, 128}, refusesFewWindowsAhead},
    {"convolution_cooperative_ahead", kWindowsAhead, {128, 128, 64, 1}, refusesLargeWindowsAhead},
    {"convolution_cooperative_ahead", kWindowsAhead, {128, 128, 32}, refusesLargeWindowsAhead},
    {"convolution_cooperative_ahead", kWindowsAhead, {64, 64, 32}, refusesWindowsAhead},
    {"convolution_cooperative_vectors", kVectorWindows, {64, 64, 32}, refusesNothing},
};
// Of few places, whose filters lie in the order of the channels. The second is for matrices of a depth of 8, where
// subgroups are small and many.
constexpr ProductKernel kGatheredKernels[] = {
    {"convolution_cooperative_gathered", kGathered, {16, 32, 32, 1, kGroupSize, 8}, refusesGathered},
    {"convolution_cooperative_gathered", kGathered, {16, 32, 8, 1, kGroupSize, 8}, refusesNothing},
};
constexpr ProductKernel kIntegerMatrixKernels[] = {
    {"integer_gemm_cooperative_ahead", kIntegerMatricesAhead, {128, 256, 32}, refusesIntegersAhead},
    {"integer_gemm_cooperative_ahead", kIntegerMatricesAhead, {64, 64, 64}, refusesIntegersAhead},
    {"integer_gemm_cooperative_ahead", kIntegerMatricesAhead, {64, 128, 32}, refusesIntegersAhead},
    {"integer_gemm_cooperative", kIntegerMatrices, {128, 128, 64, 1}, refusesFew<refusesIntegerMatrices>},
    {"integer_gemm_cooperative_ahead", kIntegerMatricesAhead, {32, 64, 64}, refusesIntegerVectorsAhead},
    {"integer_gemm_cooperative", kIntegerMatrices, {64, 64, 64, 1}, refusesIntegerMatrices},
    {"integer_gemm_tile", idOf<Integers>(Integers::Form::Tile), {64, 64, 32}, refusesTile},
    {"integer_gemm", idOf<Integers>(Integers::Form::Element), {}, refusesNothing},
};
constexpr ProductKernel kIntegerConvolutionKernels[] = {
    {"integer_convolution_cooperative", kIntegerWindowMatrices, {128, 128, 64, 1}, refusesFew<refusesIntegerMatrices>},
    {"integer_convolution_cooperative", kIntegerWindowMatrices, {64, 64, 64, 1}, refusesIntegerMatrices},
    {"integer_convolution_tile", kIntegerWindowTile, {64, 64, 32}, refusesWindowTile},
    {"integer_convolution_direct", kIntegerLines, {0, kPlacesOfLine, 0}, refusesLines},
    {"integer_convolution", idOf<Integers>(Integers::Form::Convolution), {}, refusesNothing},
};
// Of an input whose channels lie side by side.
constexpr ProductKernel kIntegerVectorWindowKernels[] = {
    {"integer_convolution_cooperative_ahead", kIntegerWindowsAhead, {64, 128, 64}, refusesIntegerWindowsAhead},
    {"integer_convolution_cooperative_ahead", kIntegerWindowsAhead, {64, 64, 64}, refusesIntegerWindowsAhead},
    {"integer_convolution_cooperative_ahead", kIntegerWindowsAhead, {32, 64, 64}, refusesNothing},
};

// Whatever the elements are.
const char* refusesVectorsOfChannels(const Request& request, DataType type, const Tile& least) {
  const Product& p = request.product;
  const ConvolutionWindow& window = *request.window;
  if (window.backward || window.distant) return "It is a backward convolution, or has much padding.";
  if (p.depth / std::max(1u, window.taps) % channelsVector(type) != 0)
    return "Its channels are not in vectors of 16 bytes.";
  if (p.rows <= least.rows / 2 || window.taps == 1) return "It has few filters, or a window of one element.";
  return nullptr;
}

}  // namespace

const char* refusesSubgroups(const Request& request, const Tile& tile) {
  const auto& [p, target, window, integers] = request;
  const MatrixShape& shape = target.caps.matrices;
  if (!shape) return "The device's subgroups do not multiply matrices.";
  if (p.type == DML_TENSOR_DATA_TYPE_FLOAT32 && !target.halfPrecision) return "FLOAT32 must not be rounded.";
  if (tile.depth % shape.depth != 0) return kPartOfMatrix;
  return subgroupsAcross(target, tile, shape) == 0 ? kNotShared : nullptr;
}

const char* refusesChannelsLast(const Request& request) {
  const auto& [p, target, window, integers] = request;
  if (integers) {
    const Tile& least = std::end(kIntegerVectorWindowKernels)[-1].tile;
    if (const char* reason = refusesIntegerTilesAhead(request, least)) return reason;
    return refusesVectorsOfChannels(request, integers->b, least);
  }
  if (p.type != DML_TENSOR_DATA_TYPE_FLOAT16) return "Its elements are not FLOAT16.";
  const Tile& least = std::end(kVectorWindowKernels)[-1].tile;
  if (const char* reason = refusesVectorsOfChannels(request, p.type, least)) return reason;
  if (const char* reason = refusesMatrices(request, least)) return reason;
  // Then the product waits for the copy longer than it takes to gather windows.
  return tilesOf(p, least) < fewTiles(target) ? "It has few tiles." : nullptr;
}

const char* refusesFewChannels(const Request& request) {
  const auto& [p, target, window, integers] = request;
  if (p.type != DML_TENSOR_DATA_TYPE_FLOAT16) return "Its elements are not FLOAT16.";
  if (window->backward || window->distant) return "It is a backward convolution, or has much padding.";
  constexpr uint32_t kFewChannels = 8;
  if (p.depth / std::max(1u, window->taps) >= kFewChannels) return "It has many channels.";
  if (p.matrices.count() != 1) return "It has several groups.";
  constexpr uint32_t kSmall = 64;
  if (p.depth < kSmall) return "Its windows are small.";
  const ConvolutionWindow::Dimension& line = window->dimensions[0];
  if (line.window > 1 && line.dilation != 1) return "Its windows have gaps.";
  const Tile& least = std::end(kVectorWindowKernels)[-1].tile;
  if (const char* reason = refusesMatrices(request, least)) return reason;
  return tilesOf(p, least) < fewTiles(target) ? "It has few tiles." : nullptr;
}

const char* refusesChannelsAsTheyLie(const Request& request) {
  const auto& [p, target, window, integers] = request;
  const Tile& least = std::end(kVectorWindowKernels)[-1].tile;
  if (integers || p.type != DML_TENSOR_DATA_TYPE_FLOAT16) return "Its elements are not FLOAT16.";
  if (window->backward || window->distant) return "It is a backward convolution, or has much padding.";
  constexpr uint32_t kMaxTaps = 32;  // of kernels/matrix/channels_last.glsl
  if (window->taps > kMaxTaps) return "Its window has more than 32 elements.";
  const uint32_t vector = channelsVector(p.type);
  const uint32_t channels = p.depth / std::max(1u, window->taps);
  const auto inVectors = [&](uint32_t stride) { return stride % vector == 0; };
  const bool lies = isVectorizable(vector, p.matrices, 1, {window->strides.inputChannel, channels},
                                   {window->strides.inputBatch, 1}) &&
                    std::ranges::all_of(window->dimensions, inVectors, &ConvolutionWindow::Dimension::inputStride);
  if (!lies) return "Its channels do not lie in vectors.";
  if (p.rows <= least.rows / 2) return "It has few filters.";
  return refusesMatrices(request, least);
}

const char* refusesWeightTiles(const Request& request, const Tile& tile) {
  const Product& p = request.product;
  if (const char* reason = refusesSubgroups(request, tile)) return reason;
  if (p.type != DML_TENSOR_DATA_TYPE_FLOAT16) return "Its elements are not FLOAT16.";
  if (!isVectorizable(kHalfVectors.along, p.matrices, 0, depthOfA(p), rowsOfA(p)))
    return "A is not in vectors along the depth.";
  if (tile.shares > 1) return refusesSharedDepth(request, tile);
  if (const char* reason = refusesFewTiles(p, tile, fewTiles(request.target))) return reason;
  return refusesAhead(request, tile);
}

const char* refusesGathering(const Request& request) {
  if (request.window->backward) return "It is a backward convolution.";
  const auto& [first, second] = kGatheredKernels;
  const char* const reason = refusesGathered(request, first.tile);
  return reason && refusesGathered(request, second.tile) ? reason : nullptr;
}

const char* refusesSplitWindows(const Request& request) {
  const char* const reason = kSplitWindows.refuses(request, kSplitWindows.tile);
  return reason && kSplitSmallWindows.refuses(request, kSplitSmallWindows.tile) ? reason : nullptr;
}

const ProductKernel& chooseKernel(PlanBuilder& builder, const Request& request) {
  if (!refusesBlocks(request, kBlocks.tile)) return kBlocks;
  using Kernels = std::span<const ProductKernel>;
  const ConvolutionWindow* const window = request.window;
  const Kernels inVectors = window && window->patches ? patchKernels(*window) : kVectorWindowKernels;
  const Kernels copied = window && window->gathered ? Kernels(kGatheredKernels) : inVectors;
  const Kernels asTheyLie = window && window->turned ? turnedWindowKernels() : kConvolutionKernels;
  const Kernels windows = window && window->channelsLast != 0 ? copied : asTheyLie;
  const Kernels floats = window ? windows : kMatrixKernels;
  const Kernels integerWindows =
      window && window->channelsLast != 0 ? Kernels(kIntegerVectorWindowKernels) : kIntegerConvolutionKernels;
  const Kernels integers = window ? integerWindows : kIntegerMatrixKernels;
  const Kernels kernels = request.integers ? integers : floats;
  // The last of a list refuses nothing.
  for (const ProductKernel& k : kernels.first(kernels.size() - 1)) {
    const char* const reason = k.refuses(request, k.tile);
    if (!reason) return k;
    builder.passOver({k.name, reason, {k.tile.rows, k.tile.columns}});
  }
  return kernels.back();
}

}  // namespace dimple
