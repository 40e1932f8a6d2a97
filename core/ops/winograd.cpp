#include "core/ops/winograd.h"

#include <algorithm>

#include "core/checked.h"
#include "kernels/interfaces/winograd_filter.h"
#include "kernels/interfaces/winograd_input.h"
#include "kernels/interfaces/winograd_output.h"
#include "kernels/interfaces/winograd_product.h"

namespace dimple {
namespace {

using Desc = DML_CONVOLUTION_OPERATOR_DESC;

constexpr uint32_t kWindow = 3;
constexpr uint32_t kRowsOfBlock = 8;   // ROWS of kernels/winograd/product.comp
constexpr uint32_t kStepsOfBlock = 4;  // kSteps there
constexpr uint32_t kTransform = 256;   // multiply-adds of transforming a tile, at most

// What there is to transform, for tiles of the output of so many rows and columns.
struct Tiling {
  uint32_t tile;
  uint32_t across, down;  // tiles of an image
  uint64_t columns;       // tiles of all
  uint64_t channels, filters;
  uint64_t columnPitch, channelPitch, filterPitch;  // filled up

  uint64_t points() const { return uint64_t{tile + kWindow - 1} * (tile + kWindow - 1); }
  uint64_t filterBytes() const { return points() * channelPitch * filterPitch * 4; }
  uint64_t inputBytes() const { return points() * channelPitch * columnPitch * 4; }
  uint64_t sumBytes() const { return points() * filterPitch * columnPitch * 4; }
};

Tiling workOf(const Operation& op, uint32_t tile) {
  const Tensor& y = op.output();
  Tiling tiling{};
  tiling.tile = tile;
  tiling.across = static_cast<uint32_t>(divideUp(y.sizes[3], tile));
  tiling.down = static_cast<uint32_t>(divideUp(y.sizes[2], tile));
  tiling.columns = uint64_t{tiling.across} * tiling.down * y.sizes[0];
  tiling.columnPitch = alignUp(tiling.columns, 4);
  tiling.filters = y.sizes[1];
  tiling.channels = op.input(0).sizes[1];
  tiling.filterPitch = alignUp(tiling.filters, kRowsOfBlock);
  tiling.channelPitch = alignUp(tiling.channels, kStepsOfBlock);
  return tiling;
}

struct Algorithm {
  std::string_view name;  // of its last kernel, for people
  uint32_t tile;          // a form of each of its kernels
  uint64_t fewestTiles;
};

const char* refusesWindow(const Operation& op) {
  if (op.epilogue().channels != 0) return "Its channels are normalized.";
  const auto& desc = op.as<Desc>();
  const Tensor& filter = op.input(1);
  if (desc.DimensionCount != 2 || filter.sizes[2] != kWindow || filter.sizes[3] != kWindow)
    return "Its window is not 3 x 3.";
  if (desc.Direction == DML_CONVOLUTION_DIRECTION_BACKWARD) return "It is a backward one.";
  if (desc.GroupCount != 1) return "It has groups.";
  constexpr UINT kMaxPadding = 1u << 30;  // so that offsets before the first element wrap to large ones
  for (uint32_t d = 0; d < 2; ++d) {
    if (desc.Strides[d] != 1 || desc.Dilations[d] != 1) return "Its windows or their elements lie apart.";
    if (desc.OutputPadding[d] != 0 || desc.StartPadding[d] > kMaxPadding || op.output().sizes[d + 2] > kMaxPadding)
      return "It has much padding, or some behind its results.";
  }
  return nullptr;
}

const char* refuses(const Algorithm& algorithm, const Target& target, const Tiling& tiling) {
  if (tiling.channels < 16 || tiling.filters < 16) return "It has few channels or filters.";
  if (target.halfPrecision && target.caps.matrices) return "FLOAT32 may be rounded for matrices of subgroups.";
  const uint64_t most = std::min(target.caps.maxBufferRange, uint64_t{1} << 30);
  for (const uint64_t bytes : {tiling.filterBytes(), tiling.inputBytes(), tiling.sumBytes()})
    if (bytes > most) return "Its transforms are larger than what a kernel may bind.";
  return tiling.columns < algorithm.fewestTiles ? "Its tiles are few." : nullptr;
}

// In order of preference. The sums of the first are not exact for small integers, so that it is for large pictures and
// batches only; fewer tiles than the second takes do not fill a device so long that the three dispatches pay.
constexpr Algorithm kAlgorithms[] = {{"winograd_output_4", 4, 768}, {"winograd_output_2", 2, 512}};

std::vector<uint32_t> parameterWords(const Operation& op, const Tiling& tiling) {
  const auto& desc = op.as<Desc>();
  const Tensor& x = op.input(0);
  const Tensor& filter = op.input(1);
  const Tensor& bias = op.input(2);
  const Tensor& y = op.output();
  std::vector<uint32_t> words(x.strides.begin(), x.strides.begin() + 4);
  words.insert(words.end(), {x.sizes[2], x.sizes[3], desc.StartPadding[0], desc.StartPadding[1]});
  // Turned around, a window begins at its end.
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

// At each point filters by channels times channels by columns.
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

// Tiles in shared memory pay where sums are long.
Status addProducts(PlanBuilder& builder, const Tiling& tiling, const BufferRange& filters, const BufferRange& input,
                   const BufferRange& sums) {
  constexpr uint64_t kLongSums = 128;
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

Status addDispatches(PlanBuilder& builder, const Tiling& tiling, const FloatFinish& finish) {
  const bool hasBias = builder.op().input(2).present();
  const uint32_t parameters = builder.parameters(parameterWords(builder.op(), tiling));
  const uint64_t filterItems = tiling.channelPitch * tiling.filterPitch;
  const auto filters = builder.prepare(1, tiling.filterBytes(), [&](const BufferRange& from, const BufferRange& to) {
    return builder.addItems(kernels::WinogradFilter{.form = formOf<kernels::WinogradFilter>(tiling),
                                                    .type = KernelType::F32,
                                                    .push = {.count = static_cast<uint32_t>(filterItems)},
                                                    .w = from,
                                                    .transformed = to},
                            filterItems, parameters, kTransform);
  });
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
  BufferRange addend = builder.input(finish.epilogue.addend);
  if (finish.epilogue.addend == 0) addend.bytes = 4;  // never read
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
                              .addend = addend},
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
      tiling = workOf(op, algorithm.tile);
      reason = refuses(algorithm, builder.target(), tiling);
      // One dispatch takes less time than three where none of them fills the device for long.
      if (!reason && !refusesSplitWindows(request)) reason = "Few tiles share the depth in one dispatch.";
    }
    if (reason) {
      builder.passOver({algorithm.name, reason});
      continue;
    }
    TRY(addDispatches(builder, tiling, finish));
    return true;
  }
  return false;
}

}  // namespace dimple
