// Products of integers.
#include <bit>
#include <optional>

#include "core/checked.h"
#include "core/ops/product.h"
#include "core/ops/product_words.h"
#include "kernels/interfaces/integer_convolution_direct.h"
#include "kernels/interfaces/integer_product.h"

namespace dimple {
namespace {

// The names are those in kernels/matrix/*.glsl.
constexpr uint32_t kHasZeroY = 2;
constexpr uint32_t kHasZeroA = 16;
constexpr uint32_t kHasZeroB = 32;
constexpr uint32_t kIntegersStoreFours = 64;
constexpr uint32_t kAddsFloats = 128;
constexpr uint32_t kPositive = 256;
constexpr uint32_t kClips = 512;

uint32_t kindsOf(const Quantization& q) {
  const auto kindOf = [](DataType type) -> uint32_t {
    if (type == DML_TENSOR_DATA_TYPE_UNKNOWN) return 0;
    return static_cast<uint32_t>(std::countr_zero(byteWidth(type))) | (isSigned(type) ? 4u : 0u);
  };
  return kindOf(q.a) | kindOf(q.b) << 4 | kindOf(q.c) << 8 | kindOf(q.scale) << 12;
}

// Whether four places that follow each other always lie side by side in y, at a multiple of four.
bool storesFours(const Product& p, const ConvolutionWindow& window) {
  uint32_t places = 1;
  for (const ConvolutionWindow::Dimension& s : window.dimensions) {
    if (s.size != 1 && s.outputStride != places) return false;
    places *= s.size;
  }
  constexpr uint32_t kY = 3;
  uint32_t all = places | window.strides.outputChannel | window.strides.outputBatch | p.matrices.base[kY];
  for (uint32_t d = 0; d < p.matrices.rank; ++d) all |= p.matrices.strides[d][kY];
  return all % 4 == 0;
}

uint32_t flagsOf(const Request& request) {
  const Product& p = request.product;
  const Quantization& q = *request.integers;
  return (p.hasC ? kHasC : 0) | (q.zeroA.range ? kHasZeroA : 0) | (q.zeroB.range ? kHasZeroB : 0) |
         (q.zeroY.range ? kHasZeroY : 0) | directionsOf(p) |
         ((q.epilogue.steps & kEpilogueAddsFloats) ? kAddsFloats : 0) |
         ((q.epilogue.steps & kEpiloguePositive) ? kPositive : 0) | ((q.epilogue.steps & kEpilogueClips) ? kClips : 0) |
         (request.window && storesFours(p, *request.window) ? kIntegersStoreFours : 0);
}

template <class Kernel>
KernelCall callOf(const Request& request, const ProductKernel& kernel, const typename Kernel::Push& push,
                  const typename Kernel::Spec& spec) {
  const Product& p = request.product;
  const Quantization& q = *request.integers;
  // An absent tensor is not read, but something has to be bound in its place.
  const auto orA = [&](const Quantization::Parameter& parameter) { return parameter.range.value_or(p.from[0]); };
  return Kernel{.form = kernel.form<Kernel>(),
                .type = kernelType(p.type),
                .push = push,
                .spec = spec,
                .a = p.from[0],
                .b = p.from[1],
                .c = p.from[2],
                .zeroA = orA(q.zeroA),
                .zeroB = orA(q.zeroB),
                .scaleA = orA(q.scaleA),
                .scaleB = orA(q.scaleB),
                .scaleY = orA(q.scaleY),
                .zeroY = orA(q.zeroY),
                .y = p.to};
}

// Which sums over the depth the kernels of matrices ahead need: what they call kSumColumns and kSumRows. Unsigned
// elements are taken less 128, which is a zero point.
uint32_t sumsOf(const Quantization& q) {
  return (q.zeroA.range || !isSigned(q.a) ? 1u : 0u) | (q.zeroB.range || !isSigned(q.b) ? 2u : 0u);
}

KernelCall linesCall(const Request& request, const ProductKernel& kernel, const Lines& lines) {
  const Product& p = request.product;
  return callOf<kernels::IntegerConvolutionDirect>(request, kernel,
                                                   {.rows = p.rows,
                                                    .lines = lines.words,
                                                    .matrixRank = p.matrices.rank,
                                                    .kinds = kindsOf(*request.integers),
                                                    .flags = flagsOf(request),
                                                    .least = floatBits(request.integers->epilogue.least),
                                                    .most = floatBits(request.integers->epilogue.most)},
                                                   {.backward = request.window->backward, .lines = lines.specs});
}

// The kernels: one invocation per element, tiles, or tiles of matrices.
KernelCall productCall(const Request& request, const ProductKernel& kernel) {
  using Form = kernels::IntegerProduct::Form;
  const auto& [p, target, window, integers] = request;
  const auto& [name, id, tile, refuses] = kernel;
  const auto form = kernel.form<kernels::IntegerProduct>();
  const bool matrices = form == Form::Matrices || form == Form::MatricesAhead || form == Form::ConvolutionMatrices ||
                        form == Form::WindowsAhead;
  std::optional<kernels::TilingSpecs> tiling;
  if (matrices) tiling = matrixTilingOf(request, tile, target.caps.integerMatrices, kIntegerVectors);
  return callOf<kernels::IntegerProduct>(
      request, kernel,
      {.rows = p.rows,
       .columns = p.columns,
       .depth = p.depth,
       .count = static_cast<uint32_t>(p.elements()),
       .matrixRank = p.matrices.rank,
       .kinds = kindsOf(*integers),
       .flags = flagsOf(request),
       .least = floatBits(integers->epilogue.least),
       .most = floatBits(integers->epilogue.most)},
      {.backward = window && window->backward, .tiling = tiling, .tileDepth = tile.depth, .sums = sumsOf(*integers)});
}

}  // namespace

Status addIntegerProduct(PlanBuilder& builder, const Product& p, const Quantization& q,
                         const ConvolutionWindow* window) {
  const Request request{p, builder.target(), window, &q};
  const ProductKernel& kernel = chooseKernel(builder, request);
  std::vector<uint32_t> words{q.scaleA.stride, q.zeroA.stride, q.scaleB.stride, q.zeroB.stride};
  // The scale of y is the same for all filters of a convolution.
  if (window && window->channelsLast != 0)
    appendDivisor(words, window->channelsLast);
  else
    words.insert(words.end(), {q.scaleY.stride, q.zeroY.stride});
  const uint32_t parameters = builder.parameters(parameterWords(p, words, window));
  if (kernel.id.family == kernels::IntegerConvolutionDirect::kFamily) {
    const Lines lines = linesOf(request);
    return builder.add(linesCall(request, kernel, lines), lines.workgroups, parameters, p.multiplyAdds());
  }
  const uint64_t groups = kernel.tile.rows != 0 ? tilesOf(p, kernel.tile) : divideUp(p.elements(), kGroupSize);
  return builder.add(productCall(request, kernel), groups, parameters, p.multiplyAdds());
}

}  // namespace dimple
