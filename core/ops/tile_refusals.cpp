#include "core/ops/tile_refusals.h"

#include "core/checked.h"
#include "core/ops/shared_kernels.h"

namespace dimple {
namespace {

constexpr const char* kIdle = "Most of a tile would be idle.";

// The refusals of small tiles whose depth the parts of a workgroup share. If there are more than `most` tiles, larger
// ones keep the device as busy.
const char* refusesSharedDepth(const Request& request, const Tile& tile, uint64_t most) {
  const auto& [p, target, window, integers] = request;
  if (sharesKernels(target)) return kSharesKernels;
  if (p.type != DML_TENSOR_DATA_TYPE_FLOAT32) return "Its elements are not FLOAT32.";
  constexpr uint32_t kShared = 30 * 1024;
  if (target.caps.sharedBytes < kShared) return kSharedTooLittle;
  if (p.rows <= tile.rows / 2 || p.columns <= tile.columns / 2) return kIdle;
  if (p.depth < tile.depth) return "Some parts would be idle.";
  return tilesOf(p, tile) > most ? "It has many tiles." : nullptr;
}

// The refusals of small tiles for few products, for which larger tiles would leave most of the device idle.
const char* refusesSmallTile(const Request& request, const Tile& tile) {
  const auto& [p, target, window, integers] = request;
  if (const char* reason = refusesSharedDepth(request, tile, uint64_t{target.caps.workgroups} * 3 / 4)) return reason;
  constexpr uint32_t kLong = 1024;
  return p.depth >= kLong ? kLongSums : nullptr;
}

const char* refusesSharedWindows(const Request& request, const Tile& tile) {
  if (const char* reason = refusesTile(request, tile)) return reason;
  const auto& [p, target, window, integers] = request;
  if (window->backward || window->distant) return "It is a backward convolution, or has much padding.";
  constexpr uint32_t kMaxTaps = 32;  // of kernels/matrix/split_windows.glsl
  if (window->taps > kMaxTaps) return "Its window has more than 32 elements.";
  if (!isVectorizable(kTileVector, p.matrices, 0, depthOfA(p), rowsOfA(p)))
    return "Its filters are not in vectors of four.";
  return nullptr;
}

bool fewRowsComeIn(uint32_t number, const Product& p) {
  return isVectorizable(number, p.matrices, 0, depthOfA(p), rowsOfA(p)) &&
         comesIn(number, p.matrices, 1, columnsOfB(p), depthOfB(p));
}

}  // namespace

const char* refusesTile(const Request& request, const Tile&) {
  const Product& p = request.product;
  // Most of a tile would be idle.
  if (p.rows < 16 || p.columns < 16) return "It has few rows or columns.";
  if (p.depth < 8) return "Its sums are short.";
  constexpr uint32_t kShared = 20 * 1024;
  if (request.target.caps.sharedBytes < kShared) return kSharedTooLittle;
  return nullptr;
}

const char* refusesBlocks(const Request& request, const Tile&) {
  const auto& [p, target, window, integers] = request;
  if (!sharesKernels(target)) return "They are for software drivers.";
  if (!target.caps.has(Feature::SubgroupShuffle)) return "The device has no subgroup shuffles.";
  if (p.type != DML_TENSOR_DATA_TYPE_FLOAT32 || integers) return "Its elements are not FLOAT32.";
  if (window && (window->backward || window->distant)) return "It is a backward convolution, or has much padding.";
  return nullptr;
}

const char* refusesVector(const Request& request, const Tile& tile) {
  if (sharesKernels(request.target)) return kSharesKernels;
  if (const char* reason = refusesTile(request, tile)) return reason;
  const Product& p = request.product;
  if (!comesIn(kTileVector, p.matrices, 0, rowsOfA(p), depthOfA(p)) && !comesInPadded(kTileVector, p, 0))
    return "A is not in vectors of four.";
  if (!comesIn(kTileVector, p.matrices, 1, columnsOfB(p), depthOfB(p)) && !comesInPadded(kTileVector, p, 1))
    return "B is not in vectors of four.";
  return nullptr;
}

const char* refusesFewTiles(const Product& p, const Tile& tile, uint64_t fewest, uint32_t slices) {
  if (p.rows <= tile.rows / 2 || p.columns <= tile.columns / 2) return kIdle;
  return tilesOf(p, tile) * slices < fewest ? "It has few tiles." : nullptr;
}

const char* refusesLargeTile(const Request& request, const Tile& tile) {
  if (const char* reason = refusesVector(request, tile)) return reason;
  // For short sums, which memory limits, long code costs more than a few workgroups gain.
  constexpr uint32_t kShort = 32;
  const uint32_t workgroups = request.target.caps.workgroups;
  return refusesFewTiles(request.product, tile, request.product.depth < kShort ? workgroups / 2 : workgroups / 4);
}

const char* refusesSplitTile(const Request& request, const Tile& tile) {
  if (const char* reason = refusesVector(request, tile)) return reason;
  const auto& [p, target, window, integers] = request;
  const uint64_t workgroups = target.caps.workgroups;
  if (const char* reason = refusesSharedDepth(request, tile, workgroups * 9 / 8)) return reason;
  // Slices of larger tiles keep more of the device busy where sums are long, above all where tiles are very few.
  const uint32_t longest = tilesOf(p, tile) < workgroups / 4 ? 256 : 2048;
  return p.depth > longest ? kLongSums : nullptr;
}

const char* refusesSplitSmallTile(const Request& request, const Tile& tile) {
  if (const char* reason = refusesVector(request, tile)) return reason;
  return refusesSmallTile(request, tile);
}

const char* refusesSplitWindows(const Request& request, const Tile& tile) {
  if (const char* reason = refusesSharedWindows(request, tile)) return reason;
  const auto& [p, target, window, integers] = request;
  // About one workgroup on each part of the device: with four, Winograd's dispatches and large tiles are faster.
  if (const char* reason = refusesSharedDepth(request, tile, uint64_t{target.caps.workgroups} * 5 / 8)) return reason;
  // More tiles than that are not in slices.
  constexpr uint32_t kLongest = 1536;
  return p.depth > kLongest && tilesOf(p, tile) > fewTiles(target) ? kLongSums : nullptr;
}

const char* refusesSplitSmallWindows(const Request& request, const Tile& tile) {
  if (const char* reason = refusesSharedWindows(request, tile)) return reason;
  return refusesSmallTile(request, tile);
}

bool isBrief(const Request& request) {
  const Product& p = request.product;
  constexpr uint32_t kFewestRows = 3;
  constexpr uint64_t kFewWeights = uint64_t{1} << 18;
  return p.type == DML_TENSOR_DATA_TYPE_FLOAT32 && p.rows >= kFewestRows && p.rows <= kMaxFewRows &&
         uint64_t{p.columns} * p.depth <= kFewWeights && request.target.caps.maxInvocations != 0;
}

const char* refusesFewRows(const Request& request, const Tile& tile) {
  const Product& p = request.product;
  if (p.rows > (tile.depth == 0 ? kMaxFewSingleRows : kMaxFewRows)) return "It has many rows.";
  // Few short sums take as long as many, and need no other pipeline.
  const bool areFew = tile.depth == kTileVector && isBrief(request) &&
                      p.matrices.count() * divideUp(p.rows, kBriefRows) <= request.target.caps.workgroups;
  if (p.depth < (areFew ? 16u : 32u)) return "Its sums are short.";
  if (sharesKernels(request.target)) return kSharesKernels;
  return nullptr;
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

}  // namespace dimple
