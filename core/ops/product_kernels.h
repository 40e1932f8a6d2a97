// Which kernel computes a product: ordered lists of kernels, each of which may refuse.
#pragma once

#include "core/ops/product.h"

namespace dimple {

// What a product is planned for.
struct Request {
  const Product& product;
  const Target& target;
  const ConvolutionWindow* window = nullptr;  // null: of matrices
  const Quantization* integers = nullptr;     // null: of floats
};

// Rows, columns and steps of the depth that a workgroup works on at a time. No rows: an invocation an element, or few
// rows, of which an invocation takes so many steps at a time, or an invocation so many columns.
struct Tile {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t depth = 0;
  uint32_t stages = 2;                // parts of A and B in shared memory at once
  uint32_t invocations = kGroupSize;  // of a workgroup
  uint32_t shares = 1;                // of the depth, which subgroups sum apart from each other
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

// Why a convolution's input is not to be copied so that its channels lie side by side, for kernels that read vectors of
// them: null if it is.
const char* refusesChannelsLast(const Request& request);
// Why the input's channels, as they lie, are not read in such vectors.
const char* refusesChannelsAsTheyLie(const Request& request);
// Why its filters alone are not to be copied, into the order in which windows of few places are gathered: null if they
// are.
const char* refusesGathering(const Request& request);
// Channels that they read at once: 16 bytes.
inline uint32_t channelsVector(DataType type) { return 16 / byteWidth(type); }

// Why the windows of a convolution are not for tiles whose depth the parts of a workgroup share: null if they are.
const char* refusesSplitWindows(const Request& request);

// The first that does. The builder notes those passed over.
const ProductKernel& chooseKernel(PlanBuilder& builder, const Request& request);

// Rows that kernels of few rows take, and the one of single elements (kMostRows of kernels/matrix/few_rows.comp), as
// many columns of which become rows.
constexpr uint32_t kMaxFewRows = 16;
constexpr uint32_t kMaxFewSingleRows = 8;
// Elements that kernels of tiles read at once.
constexpr uint32_t kTileVector = 4;
// kPlaces and kMaxFilters of kernels/matrix/direct.comp.
constexpr uint32_t kPlacesOfLine = 4;
constexpr uint32_t kMaxFiltersOfLine = 4;

uint64_t tilesOf(const Product& p, const Tile& tile);
// That leave a part of the device idle.
uint64_t fewTiles(const Target& target);

// How a tile's subgroups lie side by side, so that each has the same number of matrices and reads few of them; 0: they
// do not.
uint32_t subgroupsAcross(const Target& target, const Tile& tile, const MatrixShape& shape);

// A dimension of an operand.
struct Dimension {
  uint32_t stride;
  uint32_t size;
};

inline Dimension rowsOfA(const Product& p) { return {p.a.row, p.rows}; }
inline Dimension depthOfA(const Product& p) { return {p.a.column, p.depth}; }
inline Dimension columnsOfB(const Product& p) { return {p.b.column, p.columns}; }
inline Dimension depthOfB(const Product& p) { return {p.b.row, p.depth}; }

// Whether so many elements along a dimension always lie side by side, at a multiple of their number.
bool isVectorizable(uint32_t number, const Walk& matrices, uint32_t operand, Dimension along, Dimension across);
// Whether A or B comes in vectors that may reach over the end of its rows or columns.
bool comesInPadded(uint32_t number, const Product& p, uint32_t operand);
// What is read of A or B in vectors along its rows or columns, the last of which may reach over the end: what lies
// there makes only sums that are not stored.
uint64_t bytesInVectors(uint32_t number, const Product& p, uint32_t operand);

}  // namespace dimple
