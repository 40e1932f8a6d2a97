// What the check functions of the families have in common. The rule of a refusal is the line that calls one of these.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "core/result.h"
#include "core/tensor.h"
#include "core/text.h"

namespace dimple {

inline Status checkAtMost(std::string_view name, uint64_t value, uint64_t most,
                          SourceLine rule = SourceLine::current()) {
  if (value <= most) return {};
  return invalid(cat(name, " has value (", value, "), expected at most ", most, "."), rule);
}

inline Status checkAtLeast(std::string_view name, uint64_t value, uint64_t least,
                           SourceLine rule = SourceLine::current()) {
  if (value >= least) return {};
  return invalid(cat(name, " has value (", value, "), expected at least ", least, "."), rule);
}

inline Status checkSizes(std::string_view name, const Tensor& tensor, std::span<const uint32_t> expected,
                         SourceLine rule = SourceLine::current()) {
  if (std::ranges::equal(tensor.sizeSpan(), expected)) return {};
  return invalid(cat(name, " has Sizes (", listText(tensor.sizeSpan()), "), expected ", listText(expected), "."), rule);
}

// The sizes of `like`, but for another one on the axis.
inline Status checkSizesBut(std::string_view name, const Tensor& tensor, const Tensor& like, uint32_t axis,
                            uint32_t onAxis, SourceLine rule = SourceLine::current()) {
  auto expected = like.sizes;
  expected[axis] = onAxis;
  return checkSizes(name, tensor, std::span(expected).first(like.rank), rule);
}

// "ATensor has Sizes[1] (3), expected "
inline std::string wrongSize(std::string_view name, const Tensor& tensor, uint32_t dimension) {
  return cat(name, " has Sizes[", dimension, "] (", tensor.sizes[dimension], "), expected ");
}

// `why` ends the sentence: ", the sum of those of InputTensors".
inline Status checkSize(std::string_view name, const Tensor& tensor, uint32_t dimension, uint64_t expected,
                        std::string_view why = "", SourceLine rule = SourceLine::current()) {
  if (tensor.sizes[dimension] == expected) return {};
  return invalid(cat(wrongSize(name, tensor, dimension), expected, why, "."), rule);
}

inline Status checkSizeAtMost(std::string_view name, const Tensor& tensor, uint32_t dimension, uint64_t most,
                              std::string_view why, SourceLine rule = SourceLine::current()) {
  if (tensor.sizes[dimension] <= most) return {};
  return invalid(cat(wrongSize(name, tensor, dimension), "at most ", most, why, "."), rule);
}

// `as` names what the type is expected of.
inline Status checkType(std::string_view name, const Tensor& tensor, DataType expected, std::string_view as,
                        SourceLine rule = SourceLine::current()) {
  if (tensor.type == expected) return {};
  return invalid(cat(name, " has DataType (", dataTypeName(tensor.type), "), expected that of ", as, " (",
                     dataTypeName(expected), ")."),
                 rule);
}

inline Status checkOneElement(std::string_view name, const Tensor& tensor, SourceLine rule = SourceLine::current()) {
  if (tensor.elements == 1) return {};
  return invalid(cat(name, " has Sizes (", listText(tensor.sizeSpan()), "), expected 1 element."), rule);
}

// Each size is that of `target` or 1. Absent tensors pass.
inline Status checkBroadcast(std::string_view name, const Tensor& tensor, std::string_view targetName,
                             const Tensor& target, SourceLine rule = SourceLine::current()) {
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (tensor.sizes[d] != 1 && tensor.sizes[d] != target.sizes[d])
      return invalid(cat(wrongSize(name, tensor, d), "1 or that of ", targetName, " (", target.sizes[d], ")."), rule);
  return {};
}

// `tensor` has only sizes of 1 before its last `count` dimensions; `countName` is the attribute that says how many.
inline Status checkLeadingOnes(std::string_view name, const Tensor& tensor, uint32_t count,
                               std::string_view countName = "", SourceLine rule = SourceLine::current()) {
  for (uint32_t d = 0; d + uint64_t{count} < tensor.rank; ++d) {
    if (tensor.sizes[d] == 1) continue;
    std::string where = count ? cat(" before its last ", count, " dimensions") : "";
    if (!countName.empty()) where += cat(" (", countName, ")");
    return invalid(cat(wrongSize(name, tensor, d), "1", where, "."), rule);
  }
  return {};
}

// A count of attribute values, one for each dimension of the tensor.
inline Status checkDimensionCount(std::string_view name, uint32_t count, std::string_view tensorName,
                                  const Tensor& tensor, SourceLine rule = SourceLine::current()) {
  if (count == tensor.rank) return {};
  return invalid(
      cat(name, " has value (", count, "), expected ", name == "DimensionCount" ? "that of " : "the DimensionCount of ",
          tensorName, " (", tensor.rank, ")."),
      rule);
}

inline Status checkAxes(std::span<const uint32_t> axes, uint32_t rank, std::string_view name = "Axes",
                        SourceLine rule = SourceLine::current()) {
  for (size_t i = 0; i < axes.size(); ++i) TRY(checkAtMost(cat(name, "[", i, "]"), axes[i], rank - 1, rule));
  return {};
}

// The field that names the data type of a scalar union.
inline Status checkValueType(std::string_view name, DataType type, std::string_view tensorName, const Tensor& tensor,
                             SourceLine rule = SourceLine::current()) {
  if (type == tensor.type) return {};
  return invalid(cat(name, " has value (", dataTypeName(type), "), expected that of ", tensorName, " (",
                     dataTypeName(tensor.type), ")."),
                 rule);
}

}  // namespace dimple
