#include "core/ops/winograd.h"

#include <algorithm>

#include "core/checked.h"
#include "core/ops/shared_kernels.h"
#include "core/ops/tile_refusals.h"
#include "kernels/interfaces/winograd_filter.h"
#include "kernels/interfaces/winograd_fused.h"
#include "kernels/interfaces/winograd_input.h"
#include "kernels/interfaces/winograd_output.h"
#include "kernels/interfaces/winograd_product.h"

namespace dimple {
namespace {

using Desc = DML_CONVOLUTION_OPERATOR_DESC;

constexpr uint32_t kWindow = 3;
constexpr uint32_t kRowsOfBlock = 8;   // ROWS of kernels/winograd/product.comp
constexpr uint32_t kStepsOfBlock = 4;  // kSteps there
constexpr uint64_t kLongSums = 128;    // channels beyond which tiles of a product's sums in shared memory pay
constexpr uint32_t kTransform = 256;   // multiply-adds of transforming a tile, at most

// The sizes of what is transformed, for tiles of the output with a given number of rows and columns.
struct Tiling {
  uint32_t tile;
  uint32_t across, down;  // tiles of an image
  uint64_t columns;       // tiles of all
  uint64_t channels, filters;
  uint64_t columnPitch, channelPitch, filterPitch;  // filled up

  uint64_t points() const { return uint64_t{tile + kWindow - 1} * (tile + kWindow - 1); }
  uint64_t filterBytes() const { return points() * channelPitch * filterPitch * 4; }
  // A workgroup that does all steps loads filters one channel ahead, even beyond the last channel.
  uint64_t fusedFilterBytes() const { return filterBytes() + filterPitch * 4; }
  uint64_t inputBytes() const { return points() * channelPitch * columnPitch * 4; }
  uint64_t sumBytes() const { return points() * filterPitch * columnPitch * 4; }
};

// The block that a workgroup computes if it does all steps, and the limits within which that pays.
struct Block {
  kernels::WinogradFused::Form form{};
  uint32_t tiles = 0;
  uint32_t filters = 0;
  uint32_t channels = 0;  // at a time
  uint64_t most = 0;      // of them in all
  // Limits in eighths of the workgroups that keep a device busy. Fewer workgroups leave much of it idle, and with more,
  // smaller blocks are slower than larger tiles.
  uint64_t fewestEighths = 0;
  uint64_t mostEighths = 0;
};

struct Algorithm {
  std::string_view name;  // of its last kernel, for people
  uint32_t tile;          // a form of each of its kernels
  uint64_t fewestTiles;
  Block block;  // none: a dispatch for each of its steps
};

Tiling workOf(const Operation& op, const Algorithm& algorithm) {
  const Tensor& y = op.output();
  const Block& block = algorithm.block;
  Tiling tiling{};
  tiling.tile = algorithm.tile;
  tiling.across = static_cast<uint32_t>(divideUp(y.sizes[3], algorithm.tile));
  tiling.down = static_cast<uint32_t>(divideUp(y.sizes[2], algorithm.tile));
  tiling.columns = uint64_t{tiling.across} * tiling.down * y.sizes[0];
  tiling.columnPitch = alignUp(tiling.columns, std::max(block.tiles, 4u));
  tiling.filters = y.sizes[1];
  tiling.channels = op.input(0).sizes[1];
  tiling.filterPitch = alignUp(tiling.filters, std::max(block.filters, kRowsOfBlock));
  tiling.channelPitch = alignUp(tiling.channels, std::max(block.channels, kStepsOfBlock));
  return tiling;
}

const char* refusesWindow(const Operation& op) {
  if (op.epilogue().channels != 0) return "Its channels are normalized.";
  const auto& desc = op.as<Desc>();
  const Tensor& filter = op.input(1);
  if (desc.DimensionCount != 2 || filter.sizes[2] != kWindow || filter.sizes[3] != kWindow)
    return "Its window is not 3 x 3.";
  if (desc.Direction == DML_CONVOLUTION_DIRECTION_BACKWARD) return "It is a backward convolution.";
  if (desc.GroupCount != 1) return "It has groups.";
  constexpr UINT kMaxPadding = 1u << 30;  // so that offsets before the first element wrap to large ones
  for (uint32_t d = 0; d < 2; ++d) {
    if (desc.Strides[d] != 1 || desc.Dilations[d] != 1) return "Its windows or their elements lie apart.";
    if (desc.OutputPadding[d] != 0 || desc.StartPadding[d] > kMaxPadding || op.output().sizes[d + 2] > kMaxPadding)
      return "It has much padding, or OutputPadding.";
  }
  return nullptr;
}

const char* refusesBlock(const Block& block, const Target& target, const Tiling& tiling, bool shares) {
  constexpr uint32_t kShared = 32 * 1024;
  if (target.caps.sharedBytes < kShared) return "The device has too little shared memory.";
  if (tiling.channels > block.most) return "Its sums are long.";
  // Most of a block would be idle.
  if (tiling.filters <= block.filters / 2) return "It has few filters.";
  if (tiling.fusedFilterBytes() > target.caps.maxBufferRange) return "Its filters are larger than a kernel may bind.";
  const uint64_t eighths = 8 * (tiling.columnPitch / block.tiles) * (tiling.filterPitch / block.filters);
  if (shares) return nullptr;
  if (eighths < block.fewestEighths * target.caps.workgroups) return "It has few tiles.";
  return eighths > block.mostEighths * target.caps.workgroups ? "It has many tiles." : nullptr;
}

const char* refuses(const Algorithm& algorithm, const Request& request, const Tiling& tiling) {
  const Target& target = request.target;
  const bool shares = sharesKernels(target, request.product.multiplyAdds());
  if (!refusesBlocks(request, {})) return kSharesKernels;
  if (shares && algorithm.block.form != kernels::WinogradFused::Form::Small) return kSharesKernels;
  if (tiling.channels < 16 || tiling.filters < 16) return "It has few channels or filters.";
  if (target.halfPrecision && target.caps.matrices) return "FLOAT32 may be rounded for matrices of subgroups.";
  if (algorithm.block.tiles != 0) return refusesBlock(algorithm.block, target, tiling, shares);
  const uint64_t most = std::min(target.caps.maxBufferRange, uint64_t{1} << 30);
  for (const uint64_t bytes : {tiling.filterBytes(), tiling.inputBytes(), tiling.sumBytes()})
    if (bytes > most) return "Its transforms are larger than a kernel may bind.";
  // Products of long sums fill the device with fewer.
  constexpr uint64_t kFewestOfLongSums = 192;
  const bool fills = algorithm.tile == 2 && tiling.channels > kLongSums && tiling.columns >= kFewestOfLongSums;
  if (tiling.columns < algorithm.fewestTiles && !fills) return "It has few tiles.";
  // One dispatch takes less time than three where none of them fills the device for long.
  return refusesSplitWindows(request) ? nullptr : "Few tiles share the depth in one dispatch.";
}

// In order of preference. The sums of tiles of 4 x 4 are not exact for small integers, so that they are for large
// pictures and batches only; fewer tiles than the last takes do not fill a device so long that three dispatches pay.
using Fused = kernels::WinogradFused;
constexpr Algorithm kAlgorithms[] = {
    {"winograd_fused_large", 2, 0, {Fused::Form::Large, 32, 64, 8, kLongSums, 3, UINT32_MAX}},
    {"winograd_fused_small", 2, 0, {Fused::Form::Small, 16, 32, 16, kLongSums / 2, 2, 16}},
    {"winograd_fused_narrow", 2, 0, {Fused::Form::Narrow, 32, 16, 8, kLongSums / 2, 2, 64}},
    {"winograd_output_4", 4, 768, {}},
    {"winograd_output_2", 2, 512, {}},
};

std::vector<uint32_t> parameterWords(const Operation& op, const Tiling& tiling) {
  const auto& desc = op.as<Desc>();
  const Tensor& x = op.input(0);
  const Tensor& filter = op.input(1);
  const Tensor& bias = op.input(2);
  const Tensor& y = op.output();
  std::vector<uint32_t> words(x.strides.begin(), x.strides.begin() + 4);
  words.insert(words.end(), {x.sizes[2], x.sizes[3], desc.StartPadding[0], desc.StartPadding[1]});
  // A reversed window begins at its end.
  const bool flipped = desc.Mode == DML_CONVOLUTION_MODE_CONVOLUTION;
  const uint32_t down = filter.strides[2];
  const uint32_t across = filter.strides[3];
  const uint32_t first = flipped ? (kWindow - 1) * (down + across) : 0;
  words.insert(words.end(),
               {filter.strides[0], filter.strides[1], flipped ? 0 - down : down, flipped ? 0 - across : across});
  words.insert(words.end(), y.strides.begin(), y.strides.begin() + 4);
  words.insert(words.end(), {y.sizes[2], y.sizes[3], bias.present() ? bias.strides[1] : 0, first});
  words.insert(words.end(), {static_cast<uint32_t>(tiling.channels), static_cast<uint32_t>(tiling.filters),
                             static_cast<uint32_t>(tiling.columns), 0});
  for (const uint64_t size : {uint64_t{tiling.across}, uint64_t{tiling.down}, tiling.columnPitch, tiling.filterPitch})
    appendDivisor(words, static_cast<uint32_t>(size));
  return words;
}

// At each point, a matrix of filters by channels is multiplied by one of channels by columns.
Product productOf(const Tiling& tiling, const BufferRange& filters, const BufferRange& input, const BufferRange& sums) {
  const auto rows = static_cast<uint32_t>(tiling.filterPitch);
  const auto columns = static_cast<uint32_t>(tiling.columnPitch);
  Product product{.type = DML_TENSOR_DATA_TYPE_FLOAT32,
                  .rows = rows,
                  .columns = columns,
                  .depth = static_cast<uint32_t>(tiling.channelPitch),
                  .a = {1, rows},
                  .b = {columns, 1},
                  .y = {columns, 1},
                  .from = {filters, input, filters},
                  .to = sums};
  product.matrices.addDimension(static_cast<uint32_t>(tiling.points()),
                                {product.depth * rows, product.depth * columns, 0, rows * columns});
  return product;
}

Status addProducts(PlanBuilder& builder, const Tiling& tiling, const BufferRange& filters, const BufferRange& input,
                   const BufferRange& sums) {
  const Product product = productOf(tiling, filters, input, sums);
  if (tiling.channels > kLongSums) return addFloatProduct(builder, product, FloatFinish{});
  const uint64_t rowBlocks = tiling.filterPitch / kRowsOfBlock;
  const uint64_t columnQuads = tiling.columnPitch / 4;
  const uint64_t columnBlocks = divideUp(columnQuads, kGroupSize);
  return builder.add(kernels::WinogradProduct{.type = KernelType::F32,
                                              .push = {.rowQuads = static_cast<uint32_t>(tiling.filterPitch / 4),
                                                       .columnQuads = static_cast<uint32_t>(columnQuads),
                                                       .depth = static_cast<uint32_t>(tiling.channelPitch),
                                                       .rowBlocks = static_cast<uint32_t>(rowBlocks),
                                                       .columnBlocks = static_cast<uint32_t>(columnBlocks)},
                                              .a = filters,
                                              .b = input,
                                              .y = sums},
                     tiling.points() * rowBlocks * columnBlocks, 0, product.multiplyAdds());
}

template <class Kernel>
typename Kernel::Form formOf(const Tiling& tiling) {
  return tiling.tile == 2 ? Kernel::Form::Two : Kernel::Form::Four;
}

// The filter's transform.
Result<BufferRange> addFilters(PlanBuilder& builder, const Tiling& tiling, uint32_t parameters, uint64_t bytes) {
  const uint64_t items = tiling.channelPitch * tiling.filterPitch;
  return builder.prepare(1, bytes, [&](const BufferRange& from, const BufferRange& to) {
    return builder.addItems(kernels::WinogradFilter{.form = formOf<kernels::WinogradFilter>(tiling),
                                                    .type = KernelType::F32,
                                                    .push = {.count = static_cast<uint32_t>(items)},
                                                    .w = from,
                                                    .transformed = to},
                            items, parameters, kTransform);
  });
}

BufferRange addendOf(PlanBuilder& builder, const FloatFinish& finish) {
  BufferRange addend = builder.input(finish.epilogue.addend);
  if (finish.epilogue.addend == 0) addend.bytes = 4;  // never read
  return addend;
}

Status addFused(PlanBuilder& builder, const Block& block, const Tiling& tiling, const FloatFinish& finish) {
  const bool hasBias = builder.op().input(2).present();
  const uint32_t parameters = builder.parameters(parameterWords(builder.op(), tiling));
  const auto filters = addFilters(builder, tiling, parameters, tiling.fusedFilterBytes());
  if (!filters) return filters.error();
  const auto filterBlocks = static_cast<uint32_t>(tiling.filterPitch / block.filters);
  const uint64_t multiplyAdds = tiling.points() * tiling.channelPitch * tiling.filterPitch * tiling.columnPitch;
  return builder.add(Fused{.form = block.form,
                           .type = KernelType::F32,
                           .push = {.filterBlocks = filterBlocks,
                                    .filterFours = static_cast<uint32_t>(tiling.filterPitch / 4),
                                    .depth = static_cast<uint32_t>(tiling.channelPitch),
                                    .hasBias = hasBias,
                                    .hasAddend = finish.epilogue.addend != 0,
                                    .activationLow = floatBits(finish.activation.parameters[0]),
                                    .activationHigh = floatBits(finish.activation.parameters[1])},
                           .spec = {.fused = finish.activation.type},
                           .x = builder.input(0),
                           .filters = *filters,
                           .w = builder.input(1),
                           .bias = builder.input(hasBias ? 2 : 0),
                           .y = builder.output(),
                           .addend = addendOf(builder, finish)},
                     tiling.columnPitch / block.tiles * filterBlocks, parameters, multiplyAdds);
}

Status addDispatches(PlanBuilder& builder, const Tiling& tiling, const FloatFinish& finish) {
  const bool hasBias = builder.op().input(2).present();
  const uint32_t parameters = builder.parameters(parameterWords(builder.op(), tiling));
  const auto filters = addFilters(builder, tiling, parameters, tiling.filterBytes());
  if (!filters) return filters.error();
  const BufferRange input = builder.allocateTemporary(tiling.inputBytes());
  const uint64_t inputItems = tiling.channelPitch * tiling.columnPitch;
  TRY(builder.addItems(kernels::WinogradInput{.form = formOf<kernels::WinogradInput>(tiling),
                                              .type = KernelType::F32,
                                              .push = {.count = static_cast<uint32_t>(inputItems)},
                                              .x = builder.input(0),
                                              .transformed = input},
                       inputItems, parameters, kTransform));
  const BufferRange sums = builder.allocateTemporary(tiling.sumBytes());
  TRY(addProducts(builder, tiling, *filters, input, sums));
  const uint64_t items = tiling.filterPitch * tiling.columnPitch;
  return builder.addItems(
      kernels::WinogradOutput{.form = formOf<kernels::WinogradOutput>(tiling),
                              .type = KernelType::F32,
                              .push = {.count = static_cast<uint32_t>(items),
                                       .hasBias = hasBias,
                                       .hasAddend = finish.epilogue.addend != 0,
                                       .activationLow = floatBits(finish.activation.parameters[0]),
                                       .activationHigh = floatBits(finish.activation.parameters[1])},
                              .spec = {.fused = finish.activation.type},
                              .sums = sums,
                              .x = builder.input(0),
                              .w = builder.input(1),
                              .bias = builder.input(hasBias ? 2 : 0),
                              .y = builder.output(),
                              .addend = addendOf(builder, finish)},
      items, parameters, kTransform);
}

}  // namespace

Result<bool> addWinograd(PlanBuilder& builder, const Request& request, const FloatFinish& finish) {
  const Operation& op = builder.op();
  const char* const wrongKind =
      op.output().type != DML_TENSOR_DATA_TYPE_FLOAT32 ? "Its elements are not FLOAT32." : refusesWindow(op);
  for (const Algorithm& algorithm : kAlgorithms) {
    Tiling tiling{};
    const char* reason = wrongKind;
    if (!reason) {
      tiling = workOf(op, algorithm);
      reason = refuses(algorithm, request, tiling);
    }
    if (reason) {
      builder.passOver({algorithm.name, reason});
      continue;
    }
    if (algorithm.block.tiles != 0)
      TRY(addFused(builder, algorithm.block, tiling, finish));
    else
      TRY(addDispatches(builder, tiling, finish));
    return true;
  }
  return false;
}

}  // namespace dimple
