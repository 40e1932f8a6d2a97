// FOLD and UNFOLD: sliding windows as columns, and back.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/shared_kernels.h"
#include "core/ops/sliding_window.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/fold.h"
#include "kernels/interfaces/fold_lines.h"
#include "kernels/interfaces/unfold.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

template <class S>
SlidingWindow windowOf(const S& desc) {
  return {"WindowSizes",  desc.DimensionCount, desc.WindowSizes, desc.Strides,
          desc.Dilations, desc.StartPadding,   desc.EndPadding};
}

// DirectML ignores dimensions of the image after DimensionCount spatial ones, which leaves their elements undefined.
// `columns` has the batch, a value for each channel and element of the window, and the positions of the window.
template <class S>
Status checkWindow(const Operation& op, std::string_view imageName, const Tensor& image, std::string_view columnsName,
                   const Tensor& columns) {
  const SlidingWindow window = windowOf(op.as<S>());
  TRY(checkSpatialRank(window.dimensionCount, imageName, image));
  TRY(checkNoZeros(window));
  // The pages do not name this limit of DirectML 1.15.4. A Dilations of 0 is taken.
  const std::pair<std::string_view, const UINT*> limited[] = {{"Strides", window.strides},
                                                              {"Dilations", window.dilations},
                                                              {"StartPadding", window.startPadding},
                                                              {"EndPadding", window.endPadding}};
  for (const auto& [name, values] : limited)
    for (uint32_t d = 0; d < window.dimensionCount; ++d)
      TRY(checkAtMost(cat(name, "[", d, "]"), values[d], UINT16_MAX));
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
                         "), but WindowSizes and padding imply more elements than 64 bits can count."));
  }
  TRY(checkSize(columnsName, columns, 0, image.sizes[0]));
  TRY(checkSize(columnsName, columns, 1, values));
  return checkSize(columnsName, columns, 2, positions);
}

Status checkFold(const Operation& op) {
  return checkWindow<DML_FOLD_OPERATOR_DESC>(op, "OutputTensor", op.output(), "InputTensor", op.input(0));
}

Status checkUnfold(const Operation& op) {
  return checkWindow<DML_UNFOLD_OPERATOR_DESC>(op, "InputTensor", op.input(0), "OutputTensor", op.output());
}

// ---- plans ----------------------------------------------------------------------------------------------------------

constexpr uint32_t kNoDimension = 6;

// Coordinates in a window that an invocation of kernels/window/unfold.comp takes all values of, and their steps.
struct Repeated {
  uint32_t size = 1;
  std::array<uint32_t, 4> steps{0, 0, 0, kNoDimension};
};

// Small windows, or rows of them, are taken whole where enough invocations are left to keep the device busy.
bool repeats(uint64_t elements, uint64_t together) {
  constexpr uint64_t kMost = 32;
  constexpr uint64_t kInvocations = 1 << 16;
  return together <= kMost && elements / together >= kInvocations;
}

// Whether positions that follow one another on a line lie in vectors of the output.
bool unfoldsInRuns(const Target& target, const SlidingWindow& window, const Tensor& x, const Tensor& y) {
  const uint32_t number = vectorElements(x.type);
  const uint32_t last = window.dimensionCount - 1;
  return byteWidth(x.type) <= 4 && areManyRuns(target, y.elements, number) &&
         window.positions(last, x.sizes[last + 2]) % number == 0 && y.strides[2] == 1 &&
         (y.strides[0] | y.strides[1]) % number == 0;
}

// Parameters of the digits that an index of kernels/window/unfold.comp has. Those of one value stay out.
struct UnfoldDigits {
  std::vector<uint32_t> words;
  uint32_t count = 0;

  void add(uint64_t size, uint32_t outputStride, uint32_t inputStride, uint32_t step, uint32_t dimension) {
    if (size == 1) return;
    appendDivisor(words, static_cast<uint32_t>(size));
    words.insert(words.end(), {outputStride, inputStride, step, dimension});
    ++count;
  }
};

Status planUnfold(const Operation& op, PlanBuilder& builder) {
  const SlidingWindow window = windowOf(op.as<DML_UNFOLD_OPERATOR_DESC>());
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  UnfoldDigits digits;
  uint32_t base = 0;
  const uint32_t along = window.dimensionCount - 1;
  const uint32_t number = unfoldsInRuns(builder.target(), window, x, y) ? vectorElements(x.type) : 1;
  uint32_t column = y.strides[2];
  for (uint32_t d = window.dimensionCount; d-- > 0;) {
    const auto positions = static_cast<uint32_t>(window.positions(d, x.sizes[d + 2]));
    const uint32_t together = d == along ? number : 1;  // on a line
    const uint32_t step = window.strides[d] * together;
    digits.add(positions / together, column * together / number, step * x.strides[d + 2], step, d);
    column *= positions;
  }
  std::array<Repeated, 2> repeated;  // the outer one, and the inner
  uint64_t together = 1;
  size_t taken = 0;
  uint32_t row = y.strides[1] / number;
  for (uint32_t d = window.dimensionCount; d-- > 0;) {
    const uint32_t size = window.sizes[d];
    const std::array steps{row, window.dilations[d] * x.strides[d + 2], window.dilations[d], d};
    if (taken < repeated.size() && repeats(y.elements / number, together * size)) {
      repeated[1 - taken++] = {size, steps};
      together *= size;
    } else {
      digits.add(size, steps[0], steps[1], steps[2], d);
    }
    row *= size;
    base -= window.startPadding[d] * x.strides[d + 2];
  }
  digits.add(x.sizes[1], row, x.strides[1], 0, kNoDimension);
  digits.add(x.sizes[0], y.strides[0] / number, x.strides[0], 0, kNoDimension);
  std::vector<uint32_t>& words = digits.words;
  const auto imageAt = static_cast<uint32_t>(words.size() / 4);
  for (uint32_t d = 0; d < window.dimensionCount; ++d)
    words.insert(words.end(), {x.sizes[d + 2], window.startPadding[d], 0, 0});
  const auto repeatAt = static_cast<uint32_t>(words.size() / 4);
  for (const Repeated& digit : repeated) words.insert(words.end(), digit.steps.begin(), digit.steps.end());
  const uint64_t items = y.elements / number / together;
  using Form = kernels::Unfold::Form;
  const bool runs = number != 1;
  return builder.addItems(
      kernels::Unfold{.form = runs ? Form::Runs : Form::Strided,
                      .type = runs ? builder.sizedElement(x.type).type : builder.sizedElement(x.type),
                      .push = {.count = static_cast<uint32_t>(items),
                               .digits = digits.count,
                               .imageAt = imageAt,
                               .imageRank = window.dimensionCount,
                               .base = base,
                               .repeatAt = repeatAt,
                               .outer = repeated[0].size,
                               .inner = repeated[1].size,
                               .along = along,
                               .alongStride = window.strides[along] * x.strides[along + 2],
                               .alongStep = window.strides[along]},
                      .spec = {.digits = constantOnGpus(builder.target(), digits.count),
                               .imageRank = constantOnGpus(builder.target(), window.dimensionCount)},
                      .x = builder.input(0),
                      .y = builder.output()},
      items, builder.parameters(words), together);
}

// Returns the number whose product with `value` is 1 modulo `modulus`. The two have no common divisor. Returns 0 if the
// modulus is 1.
uint32_t inverseOf(uint32_t value, uint32_t modulus) {
  int64_t inverse = 0;
  int64_t next = 1;
  int64_t a = modulus;
  int64_t b = value % modulus;
  while (b != 0) {
    const int64_t quotient = a / b;
    inverse = std::exchange(next, inverse - quotient * next);
    a = std::exchange(b, a - quotient * b);
  }
  return static_cast<uint32_t>((inverse % modulus + modulus) % modulus);
}

// Sums wrap alike whether integers are signed or not, and FLOAT64 is added by integers.
DataType foldType(DataType type) {
  if (type == DML_TENSOR_DATA_TYPE_FLOAT16 || type == DML_TENSOR_DATA_TYPE_FLOAT32) return type;
  return unsignedType(std::min(byteWidth(type), 4u));
}

// The walk of kernels/window/fold_lines.comp, of vectors of the image.
std::optional<Walk> foldedLines(const SlidingWindow& window, const Tensor& x, const Tensor& y) {
  constexpr uint32_t kMostElements = 64;
  if (!isFloat(y.type) || byteWidth(y.type) > 4 || window.dimensionCount != 2) return {};
  for (uint32_t d = 0; d < window.dimensionCount; ++d)
    if (window.strides[d] != 1 || window.dilations[d] != 1 || window.sizes[d] > kMostElements) return {};
  const uint32_t elements = window.sizes[0] * window.sizes[1];
  if (elements > kMostElements) return {};
  Walk walk;
  walk.addDimension(y.sizes[0], {x.strides[0], y.strides[0]});
  walk.addDimension(y.sizes[1], {elements * x.strides[1], y.strides[1]});
  walk.addDimension(y.sizes[2], {0, y.strides[2], 0, 1});
  walk.addDimension(y.sizes[3], {0, y.strides[3], 1});
  return walk.inVectors(vectorElements(y.type), 0b0110);
}

Status addFoldedLines(PlanBuilder& builder, const SlidingWindow& window, const Walk& walk) {
  const Tensor& x = builder.op().input(0);
  const Tensor& y = builder.op().output();
  const auto positionsOf = [&](uint32_t d) { return static_cast<uint32_t>(window.positions(d, y.sizes[d + 2])); };
  return builder.addItems(kernels::FoldLines{.type = kernelType(y.type),
                                             .push = {.walk = walkWords(walk),
                                                      .positions = positionsOf(1),
                                                      .lines = positionsOf(0),
                                                      .windowWidth = window.sizes[1],
                                                      .windowHeight = window.sizes[0],
                                                      .padLine = window.startPadding[1],
                                                      .padLines = window.startPadding[0],
                                                      .rowStep = x.strides[1],
                                                      .columnStep = x.strides[2]},
                                             .x = builder.input(0),
                                             .y = builder.output()},
                          walk.count(), builder.parameters(walk),
                          kLookup * vectorElements(y.type) * window.sizes[0] * window.sizes[1]);
}

Status planFold(const Operation& op, PlanBuilder& builder) {
  const SlidingWindow window = windowOf(op.as<DML_FOLD_OPERATOR_DESC>());
  const Tensor& x = op.input(0);
  const Tensor& y = op.output();
  if (const auto lines = foldedLines(window, x, y)) return addFoldedLines(builder, window, *lines);
  builder.passOver({"fold_lines", "It takes only lines in vectors under small dense windows."});
  std::vector<uint32_t> words;
  uint32_t elements = 1;  // of the window
  for (uint32_t d = 0; d < window.dimensionCount; ++d) elements *= window.sizes[d];
  for (uint32_t d = y.rank; d-- > 0;) {
    appendDivisor(words, y.sizes[d]);
    words.insert(words.end(), {y.strides[d], d == 0 ? x.strides[0] : d == 1 ? elements * x.strides[1] : 0, 0, 0});
  }
  const auto windowAt = static_cast<uint32_t>(words.size() / 4);
  uint32_t row = x.strides[1];
  uint32_t column = x.strides[2];
  double overlaps = 1;  // elements over one of the image, at most
  for (uint32_t d = window.dimensionCount; d-- > 0;) {
    const auto positions = static_cast<uint32_t>(window.positions(d, y.sizes[d + 2]));
    const uint32_t stride = window.strides[d];
    const uint32_t dilation = window.dilations[d];
    const uint32_t common = std::gcd(stride, dilation);
    words.insert(words.end(), {stride, dilation, window.sizes[d], window.startPadding[d]});
    words.insert(words.end(), {positions, stride / common, inverseOf(dilation / common, stride / common), common});
    words.insert(words.end(), {row, column, dilation / common, 0});
    row *= window.sizes[d];
    column *= positions;
    const uint32_t hits = dilation == 0 ? window.sizes[d] : (window.sizes[d] - 1) / (stride / common) + 1;
    overlaps *= dilation == 0 ? hits : std::min(hits, positions);
  }
  const bool longSum = overlaps >= 64;  // worth a workgroup's reduction tree
  const bool wide = byteWidth(x.type) == 8;
  return builder.add(kernels::Fold{.type = wide ? KernelType::B64 : builder.typedElement(foldType(x.type)),
                                   .push = {.count = static_cast<uint32_t>(y.elements),
                                            .rank = y.rank,
                                            .spatial = window.dimensionCount,
                                            .windowAt = windowAt},
                                   .spec = {.row = longSum, .real = x.type == DML_TENSOR_DATA_TYPE_FLOAT64},
                                   .x = builder.input(0),
                                   .y = builder.output()},
                     taskGroups(y.elements, longSum), builder.parameters(words), kLookup * y.elements * overlaps);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

DIMPLE_FIELDS(kFoldFields, DIMPLE_IN_AND_OUT, DIMPLE_UINT(DimensionCount),
              DIMPLE_UINT_ARRAY(2, WindowSizes, Strides, Dilations, StartPadding, EndPadding));

// The pages list no types, and say that both tensors have the same DimensionCount; DirectML 1.15.4 takes columns of 3
// dimensions.
constexpr TypeHistory kWindowImageTypes{{k6_4, kAllTypes, 3, 8}};
constexpr TypeHistory kWindowColumnTypes{{k6_4, kAllTypes, 3, 3}};

constexpr TensorRule kFoldRules[] = {{kWindowColumnTypes}, {kWindowImageTypes, sameType(0)}};
constexpr TensorRule kUnfoldRules[] = {{kWindowImageTypes}, {kWindowColumnTypes, sameType(0)}};

constexpr OpSchema kWindowSchemas[] = {
    DIMPLE_ROW(FOLD, kFoldFields, .rules = kFoldRules, .check = checkFold, .plan = planFold),
    DIMPLE_ROW(UNFOLD, kFoldFields, .rules = kUnfoldRules, .check = checkUnfold, .plan = planUnfold),
};

}  // namespace

std::span<const OpSchema> windowSchemas() { return kWindowSchemas; }

}  // namespace dimple
