// Which kernel computes a product: ordered lists of kernels, each of which may refuse.
#pragma once

#include "core/ops/product_tiles.h"

namespace dimple {

// What a product is planned for.
struct Request {
  const Product& product;
  const Target& target;
  const ConvolutionWindow* window = nullptr;  // null: of matrices
  const Quantization* integers = nullptr;     // null: of floats
};

// A kernel for products, and why it would not do for one: null if it does.
struct ProductKernel {
  std::string_view name;  // for people
  KernelId id;            // its family and form
  Tile tile;
  const char* (*refuses)(const Request&, const Tile&);

  template <class Kernel>
  typename Kernel::Form form() const {
    return static_cast<typename Kernel::Form>(id.form);
  }
};

// Why subgroups of matrices do not share a tile.
const char* refusesSubgroups(const Request& request, const Tile& tile);
// Why a convolution's input is not to be copied so that its channels lie side by side, for kernels that read vectors of
// them: null if it is.
const char* refusesChannelsLast(const Request& request);
// Why they are not to be copied with zeros that make more of few channels.
const char* refusesFewChannels(const Request& request);
// Why the input's channels, as they lie, are not read in such vectors.
const char* refusesChannelsAsTheyLie(const Request& request);
// Why its filters alone are not to be copied, into the order in which windows of few places are gathered: null if they
// are.
const char* refusesGathering(const Request& request);
// Channels that they read at once: 16 bytes.
inline uint32_t channelsVector(DataType type) { return 16 / byteWidth(type); }

// Why a product with weights that are dequantized on the way does not go to such tiles of matrices of subgroups.
const char* refusesWeightTiles(const Request& request, const Tile& tile);

// Why the windows of a convolution are not for tiles whose depth the parts of a workgroup share: null if they are.
const char* refusesSplitWindows(const Request& request);

// The first that does. The builder notes those passed over.
const ProductKernel& chooseKernel(PlanBuilder& builder, const Request& request);

// Rows that kernels of few rows take, and the one of single elements (kMostRows of kernels/matrix/few_rows.comp), as
// many columns of which become rows.
constexpr uint32_t kMaxFewRows = 16;
constexpr uint32_t kMaxFewSingleRows = 8;
// Rows of a workgroup in kernels/matrix/few_rows_latency.comp.
constexpr uint32_t kBriefRows = 4;
// Elements that kernels of tiles read at once.
constexpr uint32_t kTileVector = 4;
// kDown and kTeam * kAcross of kernels/matrix/block.glsl.
constexpr Tile kBlockOfTeam{16, 32, 0};
constexpr uint32_t kTeam = 8;
// kPlaces and kMaxFilters of kernels/matrix/direct.comp.
constexpr uint32_t kPlacesOfLine = 4;
constexpr uint32_t kMaxFiltersOfLine = 4;

}  // namespace dimple
