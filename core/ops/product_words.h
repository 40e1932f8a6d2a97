// What kernels of products of floats and of integers are given alike.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ops/product_kernels.h"
#include "kernels/interfaces/groups.h"

namespace dimple {

// Flags of push words, as kernels/matrix/*.glsl call them.
constexpr uint32_t kHasC = 1;
constexpr uint32_t kADepthFirst = 4;
constexpr uint32_t kBDepthFirst = 8;

// Which dimension of A and of B neighbouring elements lie along: the flags.
uint32_t directionsOf(const Product& p);

// Parameters, with at most eight words of quantization.
std::vector<uint32_t> parameterWords(const Product& p, const std::vector<uint32_t>& quantization,
                                     const ConvolutionWindow* window);

// What becomes of the sums of a product of floats.
kernels::FloatFinishWords finishWords(const Product& p, const FloatFinish& finish, uint32_t flags);

// Elements of a vector along the depth, and across it, that the kernels of matrices read.
struct Vectors {
  uint32_t along;
  uint32_t across;
};
constexpr Vectors kHalfVectors{8, 8};
constexpr Vectors kIntegerVectors{16, 4};

kernels::TilingSpecs matrixTilingOf(const Request& request, const Tile& tile, const MatrixShape& shape,
                                    const Vectors& vectors);

// A dispatch of kernels/matrix/direct.comp: what it is given beside what others are.
struct Lines {
  uint64_t workgroups;
  kernels::LinesWords words;
  kernels::LinesSpecs specs;
};
Lines linesOf(const Request& request);

}  // namespace dimple
