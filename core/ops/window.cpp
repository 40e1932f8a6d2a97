// FOLD and UNFOLD: sliding windows as columns, and back.
#include <string_view>
#include <utility>

#include "core/checked.h"
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/sliding_window.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

// DirectML ignores dimensions of the image after DimensionCount spatial ones, which leaves their elements undefined.
// `columns` has the batch, a value for each channel and element of the window, and the positions of the window.
template <class S>
Status checkWindow(const OpView& view, std::string_view imageName, const Tensor& image, std::string_view columnsName,
                   const Tensor& columns) {
  const auto& desc = view.as<S>();
  const SlidingWindow window{"WindowSizes",  desc.DimensionCount, desc.WindowSizes, desc.Strides,
                             desc.Dilations, desc.StartPadding,   desc.EndPadding};
  if (auto error = checkSpatialRank(desc.DimensionCount, imageName, image)) return error;
  if (auto error = checkNoZeros(window)) return error;
  // The pages do not name this limit of DirectML 1.15.4. A Dilations of 0 is taken.
  const std::pair<std::string_view, const UINT*> limited[] = {{"Strides", window.strides},
                                                              {"Dilations", window.dilations},
                                                              {"StartPadding", window.startPadding},
                                                              {"EndPadding", window.endPadding}};
  for (const auto& [name, values] : limited)
    for (uint32_t d = 0; d < window.dimensionCount; ++d)
      if (auto error = checkAtMost(cat(name, "[", d, "]"), values[d], UINT16_MAX)) return error;
  uint64_t values = image.sizes[1];
  uint64_t positions = 1;
  for (uint32_t d = 0; d < window.dimensionCount; ++d) {
    const uint32_t size = image.sizes[d + 2];
    if (window.span(d) > window.padded(d, size))
      return invalid(cat("WindowSizes[", d, "] has value (", window.sizes[d], "), a span of ", window.span(d),
                         " elements, expected one of at most ", window.padded(d, size), ", the padded size of ",
                         imageName, "."));
    if (!checkedMultiply(values, window.sizes[d], values) ||
        !checkedMultiply(positions, window.positions(d, size), positions))
      return invalid(cat(columnsName, " has Sizes (", listText(columns.sizeSpan()),
                         "), expected more elements than fit 64 bits, by WindowSizes and padding."));
  }
  if (auto error = checkSize(columnsName, columns, 0, image.sizes[0])) return error;
  if (auto error = checkSize(columnsName, columns, 1, values)) return error;
  return checkSize(columnsName, columns, 2, positions);
}

Status checkFold(const OpView& view) {
  return checkWindow<DML_FOLD_OPERATOR_DESC>(view, "OutputTensor", view.output(), "InputTensor", view.input(0));
}

Status checkUnfold(const OpView& view) {
  return checkWindow<DML_UNFOLD_OPERATOR_DESC>(view, "InputTensor", view.input(0), "OutputTensor", view.output());
}

// ---- tables ---------------------------------------------------------------------------------------------------------

template <class S>
constexpr Field kFoldFields[] = {DIMPLE_INPUT(S, InputTensor),
                                 DIMPLE_OUTPUT(S, OutputTensor),
                                 DIMPLE_ATTRIBUTE(S, DimensionCount, UInt),
                                 DIMPLE_ARRAY(S, WindowSizes, UIntArray, 2),
                                 DIMPLE_ARRAY(S, Strides, UIntArray, 2),
                                 DIMPLE_ARRAY(S, Dilations, UIntArray, 2),
                                 DIMPLE_ARRAY(S, StartPadding, UIntArray, 2),
                                 DIMPLE_ARRAY(S, EndPadding, UIntArray, 2)};

// The pages list no types, and say that both tensors have the same DimensionCount; DirectML 1.15.4 takes columns of 3
// dimensions.
constexpr TypeHistory kWindowImageTypes{{k6_4, kAllTypes, 3, 8}};
constexpr TypeHistory kWindowColumnTypes{{k6_4, kAllTypes, 3, 3}};

constexpr TensorRule kFoldRules[] = {{kWindowColumnTypes}, {kWindowImageTypes, sameType(0)}};
constexpr TensorRule kUnfoldRules[] = {{kWindowImageTypes}, {kWindowColumnTypes, sameType(0)}};

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(FOLD, kFoldFields, kFoldRules, false, false, checkFold, nullptr),
    DIMPLE_ROW(UNFOLD, kFoldFields, kUnfoldRules, false, false, checkUnfold, nullptr),
};

}  // namespace

std::span<const OpSchema> windowSchemas() { return kSchemas; }

}  // namespace dimple
