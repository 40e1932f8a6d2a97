// Products of integers.
#include <bit>

#include "core/checked.h"
#include "core/ops/product.h"
#include "core/ops/product_words.h"
#include "kernels/interfaces/integer_convolution.h"
#include "kernels/interfaces/integer_convolution_cooperative.h"
#include "kernels/interfaces/integer_convolution_direct.h"
#include "kernels/interfaces/integer_gemm.h"
#include "kernels/interfaces/integer_gemm_cooperative.h"

namespace dimple {
namespace {

// What kernels/matrix/*.glsl call them.
constexpr uint32_t kHasZeroY = 2;
constexpr uint32_t kHasZeroA = 16;
constexpr uint32_t kHasZeroB = 32;

// The call of the chosen kernel.
class IntegerCall {
 public:
  IntegerCall(const Request& request, const ProductKernel& kernel)
      : request_(request), p_(request.product), q_(*request.integers), kernel_(kernel) {}

  KernelCall elements() const;
  KernelCall lines(const Lines& lines) const;
  KernelCall matrices() const;

 private:
  KernelType type() const { return kernelType(p_.type); }

  uint32_t kinds() const {
    const auto kindOf = [](DataType type) -> uint32_t {
      if (type == DML_TENSOR_DATA_TYPE_UNKNOWN) return 0;
      return static_cast<uint32_t>(std::countr_zero(byteWidth(type))) | (isSigned(type) ? 4u : 0u);
    };
    return kindOf(q_.a) | kindOf(q_.b) << 4 | kindOf(q_.c) << 8 | kindOf(q_.scale) << 12;
  }
  uint32_t flags() const {
    return (p_.hasC ? kHasC : 0) | (q_.zeroA.range ? kHasZeroA : 0) | (q_.zeroB.range ? kHasZeroB : 0) |
           (q_.zeroY.range ? kHasZeroY : 0) | directionsOf(p_);
  }

  // What is absent is not read, but something has to be bound.
  BufferRange orA(const Quantization::Parameter& parameter) const { return parameter.range.value_or(p_.from[0]); }

  template <class Kernel>
  typename Kernel::Push push() const {
    return {.rows = p_.rows,
            .columns = p_.columns,
            .depth = p_.depth,
            .count = static_cast<uint32_t>(p_.elements()),
            .matrixRank = p_.matrices.rank,
            .kinds = kinds(),
            .flags = flags()};
  }

  template <class Kernel>
  KernelCall matricesOf(const typename Kernel::Spec& spec) const {
    return Kernel{.type = type(),
                  .push = push<Kernel>(),
                  .spec = spec,
                  .a = p_.from[0],
                  .b = p_.from[1],
                  .c = p_.from[2],
                  .zeroA = orA(q_.zeroA),
                  .zeroB = orA(q_.zeroB),
                  .scaleA = orA(q_.scaleA),
                  .scaleB = orA(q_.scaleB),
                  .scaleY = orA(q_.scaleY),
                  .zeroY = orA(q_.zeroY),
                  .y = p_.to};
  }

  const Request& request_;
  const Product& p_;
  const Quantization& q_;
  const ProductKernel& kernel_;
};

// An invocation an element, or tiles.
KernelCall IntegerCall::elements() const {
  if (request_.window)
    return kernels::IntegerConvolution{.form = static_cast<kernels::IntegerConvolution::Form>(kernel_.id.form),
                                       .type = type(),
                                       .push = push<kernels::IntegerConvolution>(),
                                       .spec = {.backward = request_.window->backward},
                                       .a = p_.from[0],
                                       .b = p_.from[1],
                                       .c = p_.from[2],
                                       .zeroA = orA(q_.zeroA),
                                       .zeroB = orA(q_.zeroB),
                                       .scaleA = orA(q_.scaleA),
                                       .scaleB = orA(q_.scaleB),
                                       .scaleY = orA(q_.scaleY),
                                       .zeroY = orA(q_.zeroY),
                                       .y = p_.to};
  return kernels::IntegerGemm{.form = static_cast<kernels::IntegerGemm::Form>(kernel_.id.form),
                              .type = type(),
                              .push = push<kernels::IntegerGemm>(),
                              .a = p_.from[0],
                              .b = p_.from[1],
                              .c = p_.from[2],
                              .zeroA = orA(q_.zeroA),
                              .zeroB = orA(q_.zeroB),
                              .scaleA = orA(q_.scaleA),
                              .scaleB = orA(q_.scaleB),
                              .scaleY = orA(q_.scaleY),
                              .zeroY = orA(q_.zeroY),
                              .y = p_.to};
}

KernelCall IntegerCall::lines(const Lines& lines) const {
  return kernels::IntegerConvolutionDirect{.type = type(),
                                           .push = {.rows = p_.rows,
                                                    .channels = lines.channels,
                                                    .count = lines.count,
                                                    .lineBlocks = lines.lineBlocks,
                                                    .blocks = lines.blocks,
                                                    .pairs = lines.groups,
                                                    .pairsFirst = lines.groupsFirst,
                                                    .contiguous = lines.contiguous,
                                                    .sliceBits = lines.sliceBits,
                                                    .matrixRank = p_.matrices.rank,
                                                    .kinds = kinds(),
                                                    .flags = flags()},
                                           .spec = {.backward = request_.window->backward,
                                                    .filters = lines.filters,
                                                    .window = lines.window,
                                                    .stride = lines.stride},
                                           .a = p_.from[0],
                                           .b = p_.from[1],
                                           .c = p_.from[2],
                                           .zeroA = orA(q_.zeroA),
                                           .zeroB = orA(q_.zeroB),
                                           .scaleA = orA(q_.scaleA),
                                           .scaleB = orA(q_.scaleB),
                                           .scaleY = orA(q_.scaleY),
                                           .zeroY = orA(q_.zeroY),
                                           .y = p_.to};
}

KernelCall IntegerCall::matrices() const {
  const Caps& caps = request_.target.caps;
  const Tile& tile = kernel_.tile;
  const MatrixTiling tiling = matrixTilingOf(request_, tile, caps.integerMatrixSize, kIntegerVectors);
  if (request_.window)
    return matricesOf<kernels::IntegerConvolutionCooperative>({.backward = request_.window->backward,
                                                               .tileRows = tile.rows,
                                                               .tileColumns = tile.columns,
                                                               .tileDepth = tile.depth,
                                                               .across = tiling.across,
                                                               .subgroup = caps.subgroupSize,
                                                               .size = tiling.size,
                                                               .aReads = tiling.readsA,
                                                               .bReads = tiling.readsB,
                                                               .sizeDepth = caps.integerMatrixDepth});
  return matricesOf<kernels::IntegerGemmCooperative>({.tileRows = tile.rows,
                                                      .tileColumns = tile.columns,
                                                      .tileDepth = tile.depth,
                                                      .across = tiling.across,
                                                      .subgroup = caps.subgroupSize,
                                                      .size = tiling.size,
                                                      .aReads = tiling.readsA,
                                                      .bReads = tiling.readsB,
                                                      .sizeDepth = caps.integerMatrixDepth});
}

}  // namespace

Status addIntegerProduct(PlanBuilder& builder, const Product& p, const Quantization& q,
                         const ConvolutionWindow* window) {
  const Request request{p, builder.target(), window, &q};
  const ProductKernel& kernel = chooseKernel(builder, request);
  const IntegerCall call(request, kernel);
  const uint32_t parameters = builder.parameters(parameterWords(
      p, {q.scaleA.stride, q.zeroA.stride, q.scaleB.stride, q.zeroB.stride, q.scaleY.stride, q.zeroY.stride}, window));
  switch (kernel.id.family) {
    case kernels::IntegerConvolutionDirect::kFamily: {
      const Lines lines = linesOf(request);
      return builder.add(call.lines(lines), lines.workgroups, parameters, p.multiplyAdds());
    }
    case kernels::IntegerGemmCooperative::kFamily:
    case kernels::IntegerConvolutionCooperative::kFamily:
      return builder.add(call.matrices(), tilesOf(p, kernel.tile), parameters, p.multiplyAdds());
    default: {
      const bool tiles = kernel.tile.rows != 0;
      return builder.add(call.elements(), tiles ? tilesOf(p, kernel.tile) : divideUp(p.elements(), kGroupSize),
                         parameters, p.multiplyAdds());
    }
  }
}

}  // namespace dimple
