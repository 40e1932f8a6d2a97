#include "core/matrix_shape.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <tuple>

#include "core/text.h"

namespace dimple {

std::string shapeText(const MatrixShape& shape) { return cat(shape.rows, "x", shape.columns, "x", shape.depth); }

std::optional<MatrixShape> parseShape(std::string_view text) {
  std::array<uint32_t, 3> numbers{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0 && (at == end || *at++ != 'x')) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || numbers[i] == 0) return std::nullopt;
    at = next;
  }
  if (at != end) return std::nullopt;
  return MatrixShape{numbers[0], numbers[1], numbers[2]};
}

bool isUsable(const MatrixShape& shape, uint32_t maxDepth) {
  const auto is8Or16 = [](uint32_t size) { return size == 8 || size == 16; };
  return is8Or16(shape.rows) && is8Or16(shape.columns) && (is8Or16(shape.depth) || shape.depth == 32) &&
         shape.depth <= maxDepth;
}

bool isUsableSubgroup(uint32_t invocations) {
  return std::has_single_bit(invocations) && invocations >= 8 && invocations <= 64;
}

MatrixShape bestShape(std::span<const MatrixShape> shapes, std::span<const MatrixShape> preferred) {
  const auto worth = [&](const MatrixShape& shape) {
    const bool isPreferred = std::ranges::find(preferred, shape) != preferred.end();
    return std::tuple(isPreferred, shape.multiplyAdds(), shape.rows == shape.columns);
  };
  MatrixShape best;
  for (const MatrixShape& shape : shapes)
    if (!best || worth(shape) > worth(best)) best = shape;
  return best;
}

}  // namespace dimple
