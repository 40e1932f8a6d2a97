// A window that slides over the padded spatial dimensions of a tensor: pooling, FOLD and UNFOLD.
#pragma once

#include <string_view>

#include "core/ops/checks.h"

namespace dimple {

struct SlidingWindow {
  std::string_view sizesName;  // of the field
  UINT dimensionCount;
  const UINT* sizes;
  const UINT* strides;
  const UINT* dilations;  // null: all 1
  const UINT* startPadding;
  const UINT* endPadding;

  // Elements from the first to the last one under the window, both included.
  uint64_t span(uint32_t d) const { return uint64_t{sizes[d] - 1} * (dilations ? dilations[d] : 1) + 1; }

  uint64_t padded(uint32_t d, uint32_t size) const { return uint64_t{size} + startPadding[d] + endPadding[d]; }

  // How often the window fits into `size` padded elements, of which the last may remain uncovered.
  uint64_t positions(uint32_t d, uint32_t size) const {
    return padded(d, size) < span(d) ? 0 : (padded(d, size) - span(d)) / strides[d] + 1;
  }
};

// Batch and channel are the two dimensions before the spatial ones.
inline Status checkSpatialRank(UINT dimensionCount, std::string_view name, const Tensor& tensor,
                               SourceLine rule = SourceLine::current()) {
  if (uint64_t{dimensionCount} + 2 == tensor.rank) return {};
  return invalid(cat("DimensionCount has value (", dimensionCount, "), expected ", tensor.rank - 2,
                     ", the spatial dimensions of ", name, "."),
                 rule);
}

// What positions() wants.
inline Status checkNoZeros(const SlidingWindow& window, SourceLine rule = SourceLine::current()) {
  for (uint32_t d = 0; d < window.dimensionCount; ++d) {
    TRY(checkAtLeast(cat(window.sizesName, "[", d, "]"), window.sizes[d], 1, rule));
    TRY(checkAtLeast(cat("Strides[", d, "]"), window.strides[d], 1, rule));
  }
  return {};
}

}  // namespace dimple
