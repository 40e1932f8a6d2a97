// Why tiles, blocks and sums of few rows, which no matrices of subgroups compute, would not do for a product: null if
// they do.
#pragma once

#include "core/ops/product_kernels.h"

namespace dimple {

constexpr const char* kLongSums = "Its sums are long.";
constexpr const char* kSharedTooLittle = "The device has too little shared memory for a tile.";
// Of tiles of matrices that subgroups hold.
constexpr const char* kPartOfMatrix = "A part of the depth does not consist of whole matrices.";
constexpr const char* kNotShared = "The device's subgroups cannot share a tile.";
constexpr uint32_t kMaxSubgroupAhead = 32;
constexpr const char* kSubgroupTooLarge = "A subgroup's registers do not hold its share of a tile.";

// The blocks of teams (kernels/matrix/block.glsl).
const char* refusesBlocks(const Request& request, const Tile& tile);
const char* refusesTile(const Request& request, const Tile& tile);
const char* refusesVector(const Request& request, const Tile& tile);
const char* refusesLargeTile(const Request& request, const Tile& tile);
// Where smaller tiles would do more at a time: fewer than `fewest`, or slices of them, leave a large part of the device
// idle.
const char* refusesFewTiles(const Product& p, const Tile& tile, uint64_t fewest, uint32_t slices = 1);

// Tiles whose depth the parts of a workgroup share, and small ones for few products; of matrices, and of windows.
const char* refusesSplitTile(const Request& request, const Tile& tile);
const char* refusesSplitSmallTile(const Request& request, const Tile& tile);
const char* refusesSplitWindows(const Request& request, const Tile& tile);
const char* refusesSplitSmallWindows(const Request& request, const Tile& tile);

// Whether the time of few rows is latency, so that they take the kernel that compiles fast
// (kernels/matrix/few_rows_latency.comp): FLOAT32 with few weights, on Vulkan, where kernels leave the number of
// invocations open.
bool isBrief(const Request& request);

// Few rows, whose vectors are of tile.depth elements, or 0: single ones.
const char* refusesFewRows(const Request& request, const Tile& tile);
const char* refusesFewRowsVector(const Request& request, const Tile& tile);
const char* refusesFewRowsWide(const Request& request, const Tile& tile);

}  // namespace dimple
