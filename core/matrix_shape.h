// Shapes of the matrices whose products a subgroup computes together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dimple {

// Rows and columns of a product, and the depth of its factors. All 0: there is no shape.
struct MatrixShape {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t depth = 0;

  explicit operator bool() const { return rows != 0; }
  uint32_t elements() const { return rows * columns; }  // of a product
  uint32_t multiplyAdds() const { return elements() * depth; }
  bool operator==(const MatrixShape&) const = default;
};

// "16x8x16": rows, columns and depth.
std::string shapeText(const MatrixShape& shape);
std::optional<MatrixShape> parseShape(std::string_view text);

// The greatest depth that kernels are made for, by the type of factors.
constexpr uint32_t kMaxHalfDepth = 16;
constexpr uint32_t kMaxIntegerDepth = 32;

// Whether kernels are made for it: 8 or 16 rows and columns, and a depth of 8, 16 or 32 up to `maxDepth`.
bool isUsable(const MatrixShape& shape, uint32_t maxDepth);
// Whether they are for subgroups of so many invocations.
bool isUsableSubgroup(uint32_t invocations);

// The first of those that rank highest: by whether they are among the `preferred`, then by multiplications, then by
// whether they have as many rows as columns. None if there is none.
MatrixShape bestShape(std::span<const MatrixShape> shapes, std::span<const MatrixShape> preferred = {});

}  // namespace dimple
