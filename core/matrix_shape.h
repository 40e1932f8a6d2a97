// Shapes of the matrices whose products a subgroup computes together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dimple {

// Rows and columns of a product, and the depth of its factors. All 0: there is none.
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

// Whether kernels are made for it, and for subgroups of so many invocations.
bool isUsable(const MatrixShape& shape);
bool isUsableSubgroup(uint32_t invocations);

// The one with the most multiplications; of several the one with as many rows as columns, else the first. None if there
// is none.
MatrixShape bestShape(std::span<const MatrixShape> shapes);

}  // namespace dimple
