// Convolutions of FLOAT16 that read windows from patches of the input in shared memory, each element of it once.
#pragma once

#include <span>

#include "core/ops/product_kernels.h"

namespace dimple {

// Why its windows, whose channels lie side by side, are not read from patches.
const char* refusesPatches(const Request& request);

// How many workgroups a tile of such windows takes.
uint64_t patchesOf(const Request& request, const Tile& tile);

// Their kernels.
std::span<const ProductKernel> patchKernels(const ConvolutionWindow& window);

}  // namespace dimple
