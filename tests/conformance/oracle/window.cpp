#include "tests/conformance/oracle/window.h"

#include <algorithm>
#include <cmath>

#include "tests/conformance/oracle/elements.h"

namespace oracle {
namespace {

// Calls visit(row-major index in the columns, row-major index in the image) for each element of the columns; the second
// is -1 in the padding. Columns have, for each batch, a row for each channel and element of the window, in which the
// positions of the window stand one after the other.
template <class Desc, class Visit>
void eachColumnElement(const Desc& desc, std::span<const uint32_t> image, Visit visit) {
  std::vector<uint32_t> window, positions;
  for (UINT d = 0; d < desc.DimensionCount; ++d) {
    const uint64_t padded = uint64_t{image[d + 2]} + desc.StartPadding[d] + desc.EndPadding[d];
    const uint64_t span = uint64_t{desc.Dilations[d]} * (desc.WindowSizes[d] - 1) + 1;
    window.push_back(desc.WindowSizes[d]);
    positions.push_back(static_cast<uint32_t>((padded - span) / desc.Strides[d] + 1));
  }
  int64_t index = 0;
  Coordinates at{};
  for (at[0] = 0; at[0] < image[0]; ++at[0])
    for (at[1] = 0; at[1] < image[1]; ++at[1])
      eachElement(window, [&](const Coordinates& k, int64_t) {
        eachElement(positions, [&](const Coordinates& o, int64_t) {
          bool inside = true;
          for (UINT d = 0; d < desc.DimensionCount; ++d) {
            at[d + 2] = o[d] * desc.Strides[d] + k[d] * desc.Dilations[d] - desc.StartPadding[d];
            inside = inside && at[d + 2] >= 0 && at[d + 2] < image[d + 2];
          }
          visit(index++, inside ? indexOf(image, at) : -1);
        });
      });
}

}  // namespace

Result evaluateUnfold(const DML_UNFOLD_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  Result result = exactResult(desc.OutputTensor);
  eachColumnElement(desc, inputs[0].sizes, [&](int64_t column, int64_t element) {
    if (element >= 0) copyElement(inputs[0], element, result.value, column);
  });
  return result;
}

Result evaluateFold(const DML_FOLD_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const Array& in = inputs[0];
  Result result = exactResult(desc.OutputTensor);
  const bool real = isReal(in.type);
  std::vector<uint64_t> terms(real ? result.value.count() : 0);
  std::vector<double> positive(terms.size()), negative(terms.size());
  if (real) {
    result.tolerance = Tolerance{Tolerance::Kind::Sum, 0, 0, 0, 0, 0, true};
    result.slack.resize(terms.size());
    result.magnitude.resize(terms.size());
  }
  eachColumnElement(desc, result.value.sizes, [&](int64_t column, int64_t element) {
    if (element < 0) return;
    const auto from = static_cast<size_t>(column);
    const auto to = static_cast<size_t>(element);
    if (!real) {
      const uint64_t sum = static_cast<uint64_t>(result.value.whole[to]) + static_cast<uint64_t>(in.whole.at(from));
      result.value.whole[to] = wrapTo(in.type, static_cast<int64_t>(sum));
      return;
    }
    const double x = in.real.at(from);
    result.value.real[to] += x;
    ++terms[to];
    if (x != 0 && std::fabs(x) < smallestNormal(in.type)) result.slack[to] += std::fabs(x);
    if (std::isfinite(x)) (x > 0 ? positive : negative)[to] += std::fabs(x);
  });
  // FLOAT64 is no wider here than there: sums of two are the same, longer ones differ by the order of addition.
  const bool wide = in.type == DML_TENSOR_DATA_TYPE_FLOAT64;
  if (wide) result.tolerance = exactButZeroSign();
  const double largest =
      wide ? std::numeric_limits<double>::max() : static_cast<double>(std::numeric_limits<float>::max());
  for (size_t i = 0; i < terms.size(); ++i) {
    result.terms = std::max(result.terms, terms[i]);
    result.magnitude[i] = positive[i] + negative[i];
    if (wide) result.slack[i] = terms[i] > 2 ? 0x1p-52 * static_cast<double>(terms[i]) * result.magnitude[i] : 0;
    // Partial sums may overflow in one order of addition and not in another.
    const bool mayOverflow = std::max(positive[i], negative[i]) > largest / 2 && std::min(positive[i], negative[i]) > 0;
    if (mayOverflow) result.slack[i] = std::numeric_limits<double>::infinity();
  }
  return result;
}

}  // namespace oracle
