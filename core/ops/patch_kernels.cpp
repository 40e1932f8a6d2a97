#include "core/ops/patch_kernels.h"

#include <algorithm>

#include "core/checked.h"
#include "core/ops/tile_refusals.h"
#include "kernels/interfaces/float_tiles.h"

namespace dimple {

namespace {

// kChunk of kernels/matrix/cooperative_patch.comp, and kPlaces of windows of 3 x 3.
constexpr uint32_t kPatchChunk = 64;
constexpr uint32_t kSingleChunk = 128;  // of windows of one element
constexpr uint32_t kPatchPlaces = 176;

const char* refusesPatchTile(const Request& request, const Tile& tile) {
  const auto& [p, target, window, integers] = request;
  if (const char* reason = refusesSubgroups(request, tile)) return reason;
  const MatrixShape& shape = target.caps.matrices;
  if (target.caps.subgroupSize > kMaxSubgroupAhead) return kSubgroupTooLarge;
  const uint32_t rowGroups = tile.invocations / target.caps.subgroupSize / tile.shares;
  if (rowGroups == 0 || tile.rows / rowGroups % shape.rows != 0 || tile.rows < rowGroups || shape.columns > 16)
    return kNotShared;
  const uint32_t reach = window->dimensions[0].window - 1;
  const uint32_t chunk = reach == 0 ? kSingleChunk : kPatchChunk;
  const uint32_t places = reach == 0 ? tile.columns : kPatchPlaces;
  if (chunk / tile.shares % shape.depth != 0) return kPartOfMatrix;
  if (p.rows % tile.rows != 0) return "Its filters do not fill tiles.";
  const uint64_t line = uint64_t{window->dimensions[0].size} + reach;
  if (tile.columns + reach * (line + 1) > places) return "Its windows reach far.";
  const uint32_t sums = tile.shares * shape.columns * (tile.rows / 4 + 1);
  if (std::max(places * (chunk / 8 + 1), sums) * 16 > target.caps.sharedBytes) return kSharedTooLittle;
  const uint64_t tiles = patchesOf(request, tile);
  if (tiles < fewTiles(target)) return "It has few tiles.";
  // A workgroup fills a part of the device, and what it does first and last takes long: all should run at once.
  return !target.caps.isProcessor && tiles > target.caps.workgroups / 2 ? "It has many tiles." : nullptr;
}

// Large tiles are for pictures that fill them.
const char* refusesLargePatchTile(const Request& request, const Tile& tile) {
  if (const char* reason = refusesPatchTile(request, tile)) return reason;
  // A workgroup fills a part of the device.
  const uint64_t side = std::max(1u, request.target.caps.workgroups / 2);
  Tile small = tile;
  small.columns = 64;
  const auto columns = [&](const Tile& t) { return divideUp(patchesOf(request, t), side) * t.columns; };
  return columns(small) < columns(tile) ? "Most of a tile would be idle." : nullptr;
}

constexpr KernelId kPatchWindows{kernels::FloatTiles::kFamily,
                                 static_cast<uint8_t>(kernels::FloatTiles::Form::PatchWindows)};
constexpr KernelId kChunkWindows{kernels::FloatTiles::kFamily,
                                 static_cast<uint8_t>(kernels::FloatTiles::Form::ChunkWindows)};

// Windows of an input whose channels lie side by side, read from patches of it. The second is of pictures that fill
// the first badly.
constexpr ProductKernel kPatchKernels[] = {
    {"convolution_cooperative_patch", kPatchWindows, {64, 112, 64, 1, kGroupSize, 4}, refusesLargePatchTile},
    {"convolution_cooperative_patch", kPatchWindows, {64, 64, 64, 1, kGroupSize, 4}, refusesPatchTile},
};
constexpr ProductKernel kChunkKernels[] = {
    {"convolution_cooperative_chunks", kChunkWindows, {64, 112, 128, 1, kGroupSize, 4}, refusesLargePatchTile},
    {"convolution_cooperative_chunks", kChunkWindows, {64, 64, 128, 1, kGroupSize, 4}, refusesPatchTile},
};

}  // namespace

uint64_t patchesOf(const Request& request, const Tile& tile) {
  const auto& [p, target, window, integers] = request;
  const uint64_t line = uint64_t{window->dimensions[0].size} + window->dimensions[0].window - 1;
  const uint64_t down = window->dimensions[1].size;
  const uint64_t pictures = p.columns / (uint64_t{window->dimensions[0].size} * down);
  return p.rows / tile.rows * pictures * divideUp(line * down, tile.columns);
}

const char* refusesPatches(const Request& request) {
  const auto& [p, target, window, integers] = request;
  if (const char* reason = refusesChannelsAsTheyLie(request)) return reason;
  if (p.matrices.count() != 1) return "It has several groups.";
  if (window->dimensions[2].size != 1 || window->dimensions[2].window != 1) return "It has three dimensions.";
  const bool single = window->taps == 1;
  for (const uint32_t d : {0u, 1u}) {
    const ConvolutionWindow::Dimension& s = window->dimensions[d];
    const uint32_t size = single ? 1 : 3;
    if (s.window != size || s.elements != size) return "Its windows are not of 3 x 3 elements, or of one.";
    if (!single && (s.stride != 1 || s.dilation != 1)) return "Its windows, or their elements, lie apart.";
  }
  if (p.depth / window->taps % (single ? kSingleChunk : kPatchChunk) != 0) return "Its channels do not come in chunks.";
  constexpr uint32_t kShort = 2048;
  if (single && p.depth < kShort) return "Its sums are short.";
  constexpr uint32_t kVector = 8;
  const auto inVectors = [&](uint32_t stride) { return stride % kVector == 0; };
  if (window->strides.outputChannel != 1 ||
      !isVectorizable(kVector, p.matrices, 3, {1, p.rows}, {window->strides.outputBatch, 1}) ||
      !std::ranges::all_of(window->dimensions, inVectors, &ConvolutionWindow::Dimension::outputStride))
    return "Its results do not lie in vectors.";
  const auto& [large, small] = single ? kChunkKernels : kPatchKernels;
  const char* const reason = large.refuses(request, large.tile);
  return reason ? small.refuses(request, small.tile) : nullptr;
}

std::span<const ProductKernel> patchKernels(const ConvolutionWindow& window) {
  if (window.taps == 1) return kChunkKernels;
  return kPatchKernels;
}

}  // namespace dimple
