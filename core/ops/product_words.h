// What kernels of products of floats and of integers are given alike.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ops/product_kernels.h"

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

// Elements of a vector along the depth, and across it, that the kernels of matrices read.
struct Vectors {
  uint32_t along;
  uint32_t across;
};
constexpr Vectors kHalfVectors{8, 8};
constexpr Vectors kIntegerVectors{16, 4};

// What kernels of matrices are specialized for beside the tile: how subgroups share it, and how they read A and B.
struct MatrixTiling {
  uint32_t across;
  uint32_t size;  // rows and columns of a subgroup's matrices
  uint32_t readsA;
  uint32_t readsB;
};
MatrixTiling matrixTilingOf(const Request& request, const Tile& tile, uint32_t size, const Vectors& vectors);

// A dispatch of kernels/matrix/direct.comp: what it is given beside what others are.
struct Lines {
  uint64_t workgroups;
  uint32_t channels;
  uint32_t count;  // items of all groups
  uint32_t lineBlocks;
  uint32_t blocks;
  uint32_t groups;
  bool groupsFirst;
  bool contiguous;
  uint32_t sliceBits;
  uint32_t filters;  // of an invocation
  uint32_t window;   // elements along the innermost dimension, if their loop is unrolled; else 0
  uint32_t stride;
};
Lines linesOf(const Request& request);

}  // namespace dimple
