#include "core/ops/winograd.h"

#include <algorithm>

#include "core/checked.h"
#include "core/text.h"

namespace dimple {
namespace {

using Desc = DML_CONVOLUTION_OPERATOR_DESC;

constexpr uint32_t kWindow = 3;
constexpr uint32_t kRowsOfBlock = 8;   // ROWS of kernels/winograd/product.comp
constexpr uint32_t kStepsOfBlock = 4;  // kSteps there

// What there is to transform, for tiles of the output of so many rows and columns.
struct Work {
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

Work workOf(const OpView& view, uint32_t tile) {
  const Tensor& y = view.output();
  Work work{};
  work.tile = tile;
  work.across = static_cast<uint32_t>(divideUp(y.sizes[3], tile));
  work.down = static_cast<uint32_t>(divideUp(y.sizes[2], tile));
  work.columns = uint64_t{work.across} * work.down * y.sizes[0];
  work.columnPitch = alignUp(work.columns, 4);
  work.filters = y.sizes[1];
  work.channels = view.input(0).sizes[1];
  work.filterPitch = alignUp(work.filters, kRowsOfBlock);
  work.channelPitch = alignUp(work.channels, kStepsOfBlock);
  return work;
}

struct Algorithm {
  std::string_view kernel;
  uint32_t tile;
  const char* (*refuses)(const Caps&, const Work&);
};

const char* refusesWindow(const OpView& view) {
  const auto& desc = view.as<Desc>();
  const Tensor& filter = view.input(1);
  if (desc.DimensionCount != 2 || filter.sizes[2] != kWindow || filter.sizes[3] != kWindow)
    return "Its window is not 3 x 3.";
  if (desc.Direction == DML_CONVOLUTION_DIRECTION_BACKWARD) return "It is a backward one.";
  if (desc.GroupCount != 1) return "It has groups.";
  constexpr UINT kMostPadding = 1u << 30;  // so that offsets before the first element wrap to large ones
  for (uint32_t d = 0; d < 2; ++d) {
    if (desc.Strides[d] != 1 || desc.Dilations[d] != 1) return "Its windows or their elements lie apart.";
    if (desc.OutputPadding[d] != 0 || desc.StartPadding[d] > kMostPadding || view.output().sizes[d + 2] > kMostPadding)
      return "It has much padding, or some behind its results.";
  }
  return nullptr;
}

const char* refusesAny(const Caps& caps, const Work& work) {
  if (work.channels < 16 || work.filters < 16) return "It has few channels or filters.";
  if (caps.halfPrecision && caps.matrixSize != 0) return "FLOAT32 may be rounded for matrices of subgroups.";
  const uint64_t most = std::min(caps.maxBufferRange, uint64_t{1} << 30);
  for (const uint64_t bytes : {work.filterBytes(), work.inputBytes(), work.sumBytes()})
    if (bytes > most) return "Its transforms are larger than what a kernel may bind.";
  return nullptr;
}

// Its sums are not exact for small integers, so that it is for large pictures and batches only.
const char* refusesLargeTile(const Caps& caps, const Work& work) {
  if (const char* reason = refusesAny(caps, work)) return reason;
  constexpr uint64_t kTiles = 768;
  return work.columns < kTiles ? "Its tiles are few." : nullptr;
}

// Fewer do not fill a device so long that the three dispatches pay.
const char* refusesSmallTile(const Caps& caps, const Work& work) {
  if (const char* reason = refusesAny(caps, work)) return reason;
  constexpr uint64_t kTiles = 512;
  return work.columns < kTiles ? "Its tiles are few." : nullptr;
}

// In order of preference.
constexpr Algorithm kAlgorithms[] = {
    {"winograd_output_4", 4, refusesLargeTile},
    {"winograd_output_2", 2, refusesSmallTile},
};

std::vector<uint32_t> parameterWords(const OpView& view, const Work& work) {
  const auto& desc = view.as<Desc>();
  const Tensor& x = view.input(0);
  const Tensor& filter = view.input(1);
  const Tensor& bias = view.input(2);
  const Tensor& y = view.output();
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
  words.insert(words.end(), {static_cast<uint32_t>(work.channels), static_cast<uint32_t>(work.filters),
                             static_cast<uint32_t>(work.columns), 0});
  for (const uint64_t size : {uint64_t{work.across}, uint64_t{work.down}, work.columnPitch, work.filterPitch})
    appendDivisor(words, static_cast<uint32_t>(size));
  return words;
}

// At each point filters by channels times channels by columns.
Product productOf(const Work& work, const BufferRange& filters, const BufferRange& input, const BufferRange& sums) {
  Product product;
  product.type = DML_TENSOR_DATA_TYPE_FLOAT32;
  const auto rows = static_cast<uint32_t>(work.filterPitch);
  const auto columns = static_cast<uint32_t>(work.columnPitch);
  product.rows = rows;
  product.columns = columns;
  product.depth = static_cast<uint32_t>(work.channelPitch);
  product.a = {1, rows};
  product.b = {columns, 1};
  product.y = {columns, 1};
  product.matrices.addDimension(static_cast<uint32_t>(work.points()),
                                {product.depth * rows, product.depth * columns, 0, rows * columns});
  product.from[0] = filters;
  product.from[1] = input;
  product.from[2] = filters;
  product.to = sums;
  return product;
}

// Tiles in shared memory pay where sums are long.
Status addProducts(PlanBuilder& builder, const Work& work, const BufferRange& filters, const BufferRange& input,
                   const BufferRange& sums) {
  constexpr uint64_t kLongSums = 128;
  const Product product = productOf(work, filters, input, sums);
  if (work.channels > kLongSums) return addFloatProduct(builder, product, FloatFinish{});
  const uint64_t rowBlocks = work.filterPitch / kRowsOfBlock;
  const uint64_t columnQuads = work.columnPitch / 4;
  const uint64_t columnBlocks = divideUp(columnQuads, kGroupSize);
  return builder.add(
      "winograd_product.f32", work.points() * rowBlocks * columnBlocks,
      {static_cast<uint32_t>(work.filterPitch / 4), static_cast<uint32_t>(columnQuads),
       static_cast<uint32_t>(work.channelPitch), static_cast<uint32_t>(rowBlocks), static_cast<uint32_t>(columnBlocks)},
      {filters, input, sums}, 0, {}, product.multiplyAdds());
}

Status addDispatches(PlanBuilder& builder, const Work& work, const FloatFinish& finish) {
  const auto kernel = [&](std::string_view part) { return cat("winograd_", part, "_", work.tile, ".f32"); };
  const bool hasBias = builder.view().input(2).present();
  const uint32_t parameters = builder.parameters(parameterWords(builder.view(), work));
  const uint64_t filterItems = work.channelPitch * work.filterPitch;
  const auto filters = builder.prepare(1, work.filterBytes(), [&](const BufferRange& from, const BufferRange& to) {
    return builder.addItems(kernel("filter"), filterItems, {static_cast<uint32_t>(filterItems)}, {from, to},
                            parameters);
  });
  if (!filters) return filters.error();
  BufferRange input = builder.allocateTemporary(work.inputBytes());
  const uint64_t inputItems = work.channelPitch * work.columnPitch;
  if (auto error = builder.addItems(kernel("input"), inputItems, {static_cast<uint32_t>(inputItems)},
                                    {builder.input(0), input}, parameters))
    return error;
  input.writes = false;
  BufferRange sums = builder.allocateTemporary(work.sumBytes());
  if (auto error = addProducts(builder, work, *filters, input, sums)) return error;
  sums.writes = false;
  const uint64_t items = work.filterPitch * work.columnPitch;
  return builder.addItems(kernel("output"), items,
                          {static_cast<uint32_t>(items), hasBias ? 1u : 0u, floatBits(finish.activation.parameters[0]),
                           floatBits(finish.activation.parameters[1])},
                          {sums, builder.input(0), builder.input(1), builder.input(hasBias ? 2 : 0), builder.output()},
                          parameters, {{1, static_cast<uint32_t>(finish.activation.type)}});
}

}  // namespace

Result<bool> addWinograd(PlanBuilder& builder, const FloatFinish& finish) {
  const OpView& view = builder.view();
  const char* const wrongKind =
      view.output().type != DML_TENSOR_DATA_TYPE_FLOAT32 ? "Its elements are not FLOAT32." : refusesWindow(view);
  for (const Algorithm& algorithm : kAlgorithms) {
    Work work{};
    const char* reason = wrongKind;
    if (!reason) {
      work = workOf(view, algorithm.tile);
      reason = algorithm.refuses(builder.caps(), work);
    }
    if (reason) {
      builder.passOver({algorithm.kernel, reason});
      continue;
    }
    if (auto error = addDispatches(builder, work, finish)) return *error;
    return true;
  }
  return false;
}

}  // namespace dimple
