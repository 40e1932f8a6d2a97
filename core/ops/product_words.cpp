#include "core/ops/product_words.h"

#include <algorithm>
#include <bit>

#include "core/checked.h"
#include "core/ops/shared_kernels.h"

namespace dimple {
namespace {

constexpr uint32_t kVectors = 1;
constexpr uint32_t kAcross = 2;
constexpr uint32_t kEdges = 4;
constexpr uint32_t kLines = 8;

// How the kernels of matrices read an operand: in vectors along the depth or across it, or in single elements.
uint32_t readsOf(const Walk& matrices, uint32_t operand, Dimension across, Dimension along, const Vectors& vectors) {
  if (isVectorizable(vectors.along, matrices, operand, along, across)) return kVectors;
  if (isVectorizable(vectors.across, matrices, operand, across, along)) return kVectors | kAcross;
  return across.stride == 1 && along.stride != 1 ? kAcross : 0;
}

void appendStrides(std::vector<uint32_t>& words, const Product& p) {
  words.insert(words.end(), {p.a.row, p.a.column, p.b.row, p.b.column, p.c.row, p.c.column, p.y.row, p.y.column});
}

void appendStrides(std::vector<uint32_t>& words, const ConvolutionWindow::Strides& s) {
  words.insert(words.end(), {s.filter, s.filterChannel, s.inputChannel, s.inputBatch, s.bias, s.biasPlace,
                             s.outputChannel, s.outputBatch});
}

void appendDimension(std::vector<uint32_t>& words, const ConvolutionWindow::Dimension& d) {
  appendDivisor(words, d.size);
  appendDivisor(words, d.window);
  words.insert(words.end(), {d.input, d.stride, d.dilation, d.padding});
  appendDivisor(words, d.outputs, d.stride);
  words.insert(words.end(), {d.inputStride, d.filterStride, d.outputStride, d.results});
}

}  // namespace

uint32_t directionsOf(const Product& p) {
  return (p.a.column == 1 ? kADepthFirst : 0) | (p.b.row == 1 && p.b.column != 1 ? kBDepthFirst : 0);
}

std::vector<uint32_t> parameterWords(const Product& p, const std::vector<uint32_t>& quantization,
                                     const ConvolutionWindow* window) {
  std::vector<uint32_t> words;
  if (window)
    appendStrides(words, window->strides);
  else
    appendStrides(words, p);
  words.insert(words.end(), quantization.begin(), quantization.end());
  words.resize(16);
  if (window)
    for (const ConvolutionWindow::Dimension& dimension : window->dimensions) appendDimension(words, dimension);
  appendWalk(words, p.matrices);
  return words;
}

kernels::FloatFinishWords finishWords(const Product& p, const FloatFinish& finish, uint32_t flags) {
  return {.matrixRank = p.matrices.rank,
          .alpha = floatBits(finish.alpha),
          .beta = floatBits(finish.beta),
          .activationLow = floatBits(finish.activation.parameters[0]),
          .activationHigh = floatBits(finish.activation.parameters[1]),
          .flags = flags,
          .epsilon = floatBits(finish.epilogue.epsilon)};
}

kernels::TilingSpecs matrixTilingOf(const Request& request, const Tile& tile, const MatrixShape& shape,
                                    const Vectors& vectors) {
  const auto& [p, target, window, integers] = request;
  // A filter that is not packed has no single stride along the depth.
  const bool strided = !window || p.a.column == 1;
  const uint32_t lineReads = window && window->channelsOfLine != 0 ? kLines : 0;
  const uint32_t windowReads =
      window && window->channelsLast != 0 ? kVectors | lineReads | (window->edges ? kEdges : 0) : 0;
  return {.tileRows = tile.rows,
          .tileColumns = tile.columns,
          .across = subgroupsAcross(target, tile, shape),
          .subgroup = target.caps.subgroupSize,
          .sizeRows = shape.rows,
          .sizeColumns = shape.columns,
          .sizeDepth = shape.depth,
          .aReads = strided ? readsOf(p.matrices, 0, rowsOfA(p), depthOfA(p), vectors) : 0,
          .bReads = window ? windowReads : readsOf(p.matrices, 1, columnsOfB(p), depthOfB(p), vectors)};
}

Lines linesOf(const Request& request) {
  const auto& [p, target, window, integers] = request;
  const ConvolutionWindow::Dimension& line = window->dimensions[0];
  // Those of one filter are what depthwise convolutions take, and compile twice as fast.
  const uint32_t filters = sharesKernels(target) ? 1 : std::min(std::bit_ceil(p.rows), kMaxFiltersOfLine);
  const auto lineBlocks = static_cast<uint32_t>(divideUp(line.size, kPlacesOfLine));
  const uint32_t blocks = p.columns / line.size * lineBlocks;
  const uint64_t items = divideUp(p.rows, filters) * blocks * p.matrices.count();
  const uint32_t channels = p.depth == 0 ? 0 : p.depth / window->taps;
  // Slices of the channels fill a device that would otherwise have little to do.
  constexpr uint32_t kMaxSliceBits = 5;
  constexpr uint32_t kMinChannels = 4;
  uint32_t sliceBits = 0;
  while (sliceBits < kMaxSliceBits && channels >> (sliceBits + 1) >= kMinChannels &&
         items << sliceBits < uint64_t{target.caps.workgroups} * kGroupSize)
    ++sliceBits;
  // The loop over a window's elements along the innermost dimension.
  const bool unrolled = line.dilation == 1 && (line.stride == 1 || line.stride == 2) &&
                        (line.elements == 3 || line.elements == 5 || line.elements == 7);
  return {.workgroups = divideUp(items, kGroupSize >> sliceBits),
          .words = {.channels = channels,
                    .count = static_cast<uint32_t>(items),
                    .lineBlocks = lineBlocks,
                    .blocks = blocks,
                    .pairs = static_cast<uint32_t>(p.matrices.count()),
                    .pairsFirst = p.matrices.rank == 1 && p.matrices.strides[0][1] < line.inputStride,
                    .contiguous = line.stride == 1 && line.dilation == 1,
                    .sliceBits = sliceBits},
          .specs = {.filters = filters, .window = unrolled ? line.elements : 0, .stride = unrolled ? line.stride : 1}};
}

}  // namespace dimple
