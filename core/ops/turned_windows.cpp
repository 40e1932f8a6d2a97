#include "core/ops/turned_windows.h"

#include <algorithm>

#include "core/checked.h"
#include "core/ops/copy.h"
#include "core/ops/shared_kernels.h"
#include "core/ops/tile_refusals.h"
#include "kernels/interfaces/float_tiles.h"

namespace dimple {
namespace {

using Tiles = kernels::FloatTiles;

constexpr KernelId idOf(Tiles::Form form) { return {Tiles::kFamily, static_cast<uint8_t>(form)}; }

constexpr Tile kLarge{128, 128, 8};
constexpr Tile kNarrow{64, 128, 8, 2, 128};

// Returns what tiles compute, including rows and columns that do not exist.
uint64_t computed(const Product& p, const Tile& tile) { return tilesOf(p, tile) * tile.rows * tile.columns; }

// The refusal of tiles if narrow ones compute a quarter less.
const char* refusesIdleRows(const Request& request, const Tile& tile) {
  const Product& p = request.product;
  return computed(p, tile) * 3 >= computed(p, kNarrow) * 4 ? "Most of a tile would be idle." : nullptr;
}

const char* refusesNothing(const Request&, const Tile&) { return nullptr; }

constexpr ProductKernel kKernels[] = {
    {"convolution_large_tile", idOf(Tiles::Form::ConvolutionLarge), kLarge, refusesIdleRows},
    {"convolution_narrow_tile", idOf(Tiles::Form::ConvolutionNarrow), kNarrow, refusesNothing},
};

const char* refusesShape(const ConvolutionWindow& window) {
  if (window.backward || window.distant) return "It is a backward convolution, or has much padding.";
  constexpr uint32_t kMaxTaps = 128;     // of kernels/matrix/tile_windows.glsl
  constexpr uint32_t kMaxElements = 31;  // of all dimensions there
  uint64_t elements = 0;
  for (const ConvolutionWindow::Dimension& dimension : window.dimensions) elements += dimension.window;
  return window.taps > kMaxTaps || elements > kMaxElements ? "Its window has many elements." : nullptr;
}

uint32_t pitchOf(const Product& p) { return static_cast<uint32_t>(alignUp(p.rows, kTileVector)); }
uint64_t filterBytes(const Product& p) { return p.matrices.count() * pitchOf(p) * p.depth * byteWidth(p.type); }

// The filters as they lie in the copy.
void takeFilters(ConvolutionPart& part, const BufferRange& filters) {
  auto& [p, window] = part;
  const uint32_t pitch = pitchOf(p);
  p.from[0] = filters;
  p.a = {1, pitch};
  p.matrices.base[0] = 0;
  p.matrices.strides[0][0] = p.depth * pitch;
  window.strides.filter = 1;
  uint32_t stride = pitch;
  for (ConvolutionWindow::Dimension& s : window.dimensions) {
    s.filterStride = stride;
    stride *= s.window;
  }
  window.strides.filterChannel = stride;
  window.turned = true;
}

Result<BufferRange> copyFilters(PlanBuilder& builder, size_t filterInput, const ConvolutionPart& part) {
  const Product& p = part.product;
  const ConvolutionWindow& window = part.window;
  const uint32_t pitch = pitchOf(p);
  Walk walk;
  walk.base[0] = p.matrices.base[0];
  walk.addDimension(static_cast<uint32_t>(p.matrices.count()), {p.matrices.strides[0][0], p.depth * pitch});
  walk.addDimension(p.depth / window.taps, {window.strides.filterChannel, window.taps * pitch});
  uint32_t packed = window.taps * pitch;
  for (size_t d = window.dimensions.size(); d-- > 0;) {
    const ConvolutionWindow::Dimension& s = window.dimensions[d];
    packed /= s.window;
    walk.addDimension(s.window, {s.filterStride, packed});
  }
  walk.addDimension(p.rows, {p.a.row, 1});
  return builder.prepare(filterInput, filterBytes(p), [&](const BufferRange& from, const BufferRange& to) {
    return addCopy(builder, p.type, walk, from, to);
  });
}

}  // namespace

const char* refusesTurnedWindows(const Request& request) {
  const auto& [p, target, window, integers] = request;
  if (integers || p.type != DML_TENSOR_DATA_TYPE_FLOAT32) return "Its elements are not FLOAT32.";
  if (target.halfPrecision && target.caps.matrices) return "FLOAT32 may be rounded for matrices of subgroups.";
  if (!refusesBlocks(request, {}) || sharesKernels(target, p.multiplyAdds())) return kSharesKernels;
  constexpr uint32_t kShared = 20 * 1024;
  if (target.caps.sharedBytes < kShared) return kSharedTooLittle;
  if (const char* reason = refusesShape(*window)) return reason;
  if (p.rows <= kNarrow.rows / 2) return "It has few filters.";
  if (p.columns <= kNarrow.columns / 2) return "It has few places.";
  if (p.depth < kLarge.depth) return "Its sums are short.";
  if (filterBytes(p) > std::min(target.caps.maxBufferRange, uint64_t{1} << 30))
    return "Its copies are larger than a kernel may bind.";
  if (!refusesSplitWindows(request)) return "Few tiles share the depth in one dispatch.";
  // The least depth of slices, if there are any.
  constexpr uint32_t kMinDepth = 128;
  if (tilesOf(p, kNarrow) * std::max(1u, p.depth / kMinDepth) < target.caps.workgroups / 8) return "It has few tiles.";
  return nullptr;
}

const char* refusesTurnedFilters(const Tensor& filters, const Product& product) {
  constexpr uint32_t kManyColumns = 512;
  if (filters.ownedByDml || product.columns >= kManyColumns) return nullptr;
  return "DML does not own its filters, and they serve few places.";
}

Result<bool> turnFilters(PlanBuilder& builder, size_t filterInput, ConvolutionPart& part) {
  const Product& p = part.product;
  const char* reason = refusesTurnedWindows({p, builder.target(), &part.window});
  if (!reason) reason = refusesTurnedFilters(builder.op().input(filterInput), p);
  if (reason) {
    builder.passOver({"convolution_large_tile", reason});
    return false;
  }
  const auto filters = copyFilters(builder, filterInput, part);
  if (!filters) return filters.error();
  takeFilters(part, *filters);
  return true;
}

std::span<const ProductKernel> turnedWindowKernels() { return kKernels; }

}  // namespace dimple
