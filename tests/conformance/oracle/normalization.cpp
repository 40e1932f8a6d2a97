#include "tests/conformance/oracle/normalization.h"

#include <optional>
#include <stdexcept>

#include "tests/conformance/oracle/approx.h"
#include "tests/conformance/oracle/elements.h"
#include "tests/conformance/oracle/elementwise.h"

namespace oracle {
namespace {

// Rounding errors are in the slack, element by element; the class of normalizations comes on top of them.
Result normalized(const DML_TENSOR_DESC* tensor) {
  Result result = exactResult(tensor);
  result.tolerance = ulp(14, 4);
  result.slack.resize(result.value.count());
  return result;
}

void set(Result& result, size_t i, const Approx& x) {
  result.value.real.at(i) = x.value;
  result.slack.at(i) = x.error;
}

void activate(const DML_OPERATOR_DESC* activation, Result& result) {
  if (activation == nullptr) return;
  const std::vector<double> error = result.slack;
  applyActivation(*activation, error, result);
  result.slack.resize(error.size());
  // An activation may saturate, but not if its argument is a NaN.
  for (size_t i = 0; i < error.size(); ++i)
    if (std::isinf(error[i])) result.slack[i] = error[i];
}

// The element of something that is broadcast; `otherwise` if it is absent.
Approx broadcast(const Array& array, const Coordinates& at, double otherwise) {
  if (array.absent()) return otherwise;
  Coordinates place{};
  for (size_t d = 0; d < array.sizes.size(); ++d) place[d] = array.sizes[d] == 1 ? 0 : at[d];
  return Approx::element(array, static_cast<size_t>(indexOf(array.sizes, place)));
}

// The rows of a tensor: elements that differ in some dimensions only, which have size 1 in `sizes`.
struct Rows {
  std::vector<uint32_t> sizes;
  std::vector<size_t> rowOf;  // each element's row
  std::vector<double> counts;

  Rows(const Array& in, std::vector<uint32_t> rowSizes)
      : sizes(std::move(rowSizes)), rowOf(in.count()), counts(countOf(sizes)) {
    eachElement(in.sizes, [&](const Coordinates& at, int64_t index) {
      Coordinates row{};
      for (size_t d = 0; d < sizes.size(); ++d) row[d] = sizes[d] == 1 ? 0 : at[d];
      const auto r = static_cast<size_t>(indexOf(sizes, row));
      rowOf[static_cast<size_t>(index)] = r;
      ++counts[r];
    });
  }
};

std::vector<uint32_t> without(std::vector<uint32_t> sizes, std::span<const uint32_t> axes) {
  for (uint32_t axis : axes) sizes.at(axis) = 1;
  return sizes;
}

// Calls term(element) for all elements and sums by rows.
template <class Term>
std::vector<Approx> sumRows(const Rows& rows, bool average, Term term) {
  std::vector<ApproxSum> sums(rows.counts.size());
  for (size_t i = 0; i < rows.rowOf.size(); ++i) sums[rows.rowOf[i]].add(term(i));
  std::vector<Approx> results;
  for (size_t r = 0; r < sums.size(); ++r) results.push_back(average ? sums[r].mean(rows.counts[r]) : sums[r].sum());
  return results;
}

// The variances of rows. Their differences from the mean sum to 0, so that an error of the mean counts squared only.
std::vector<Approx> variances(const Rows& rows, const Array& in, const std::vector<Approx>& means) {
  auto results = sumRows(rows, true, [&](size_t i) {
    const Approx difference = Approx::element(in, i) - Approx(means[rows.rowOf[i]].value);
    return difference * difference;
  });
  for (size_t r = 0; r < results.size(); ++r) results[r].error += means[r].error * means[r].error;
  return results;
}

struct Formula {
  const Rows& rows;
  std::vector<Approx> means, variances;  // empty for none
  double epsilon;
};

void normalize(const Formula& formula, const Array& in, const Array& scale, const Array& bias, const Array& addend,
               Result& result) {
  eachElement(in.sizes, [&](const Coordinates& at, int64_t index) {
    const auto i = static_cast<size_t>(index);
    const size_t row = formula.rows.rowOf[i];
    Approx x = Approx::element(in, i);
    if (!formula.means.empty()) x = x - formula.means[row];
    if (!formula.variances.empty()) x = x / sqrt(formula.variances[row] + Approx(formula.epsilon));
    if (!scale.absent()) x = broadcast(scale, at, 1) * x;
    if (!bias.absent()) x = x + broadcast(bias, at, 0);
    if (!addend.absent()) x = x + Approx::element(addend, i);
    set(result, i, x);
  });
}

// Without the mean, the variance is the mean of squares.
Result meanVariance(const DML_TENSOR_DESC* output, std::span<const Array> inputs, std::span<const uint32_t> axes,
                    bool useMean, bool useVariance, double epsilon, const DML_OPERATOR_DESC* activation) {
  const Array& in = inputs[0];
  const Rows rows(in, without(in.sizes, axes));
  Formula formula{rows, {}, {}, epsilon};
  if (useMean) formula.means = sumRows(rows, true, [&](size_t i) { return Approx::element(in, i); });
  if (useVariance) {
    formula.variances =
        useMean ? variances(rows, in, formula.means)
                : sumRows(rows, true, [&](size_t i) { return Approx::element(in, i) * Approx::element(in, i); });
  }
  Result result = normalized(output);
  normalize(formula, in, inputs[1], inputs[2], {}, result);
  activate(activation, result);
  return result;
}

// The page's formula of the training gradient has mean(Input); DirectML 1.15.4 takes MeanTensor for it.
template <class Desc>
std::vector<Result> batchNormalizationGrad(const Desc& desc, std::span<const Array> inputs, bool training) {
  requireInputs(inputs, 5);
  const Array& in = inputs[0];
  const Array& gradient = inputs[1];
  const Rows rows(in, inputs[2].sizes);
  const Approx epsilon(static_cast<double>(desc.Epsilon));
  const auto atRow = [&](const Array& array, size_t row) { return Approx::element(array, row); };
  const auto centered = [&](size_t i) { return Approx::element(in, i) - atRow(inputs[2], rows.rowOf[i]); };
  const auto bias = sumRows(rows, false, [&](size_t i) { return Approx::element(gradient, i); });
  const auto products = sumRows(rows, false, [&](size_t i) { return Approx::element(gradient, i) * centered(i); });
  std::vector<Result> results{normalized(desc.OutputGradientTensor), normalized(desc.OutputScaleGradientTensor),
                              normalized(desc.OutputBiasGradientTensor)};
  for (size_t r = 0; r < rows.counts.size(); ++r) {
    set(results[1], r, products[r] / sqrt(atRow(inputs[3], r) + epsilon));
    set(results[2], r, bias[r]);
  }
  for (size_t i = 0; i < in.real.size(); ++i) {
    const size_t r = rows.rowOf[i];
    const Approx spread = atRow(inputs[3], r) + epsilon;
    Approx g = Approx::element(gradient, i);
    if (training) {
      const Approx count(rows.counts[r]);
      g = (g - bias[r] / count) - centered(i) * (products[r] / count) / spread;
    }
    set(results[0], i, atRow(inputs[4], r) * (g / sqrt(spread)));
  }
  return results;
}

// ---- local response -------------------------------------------------------------------------------------------------

// The elements that an element is normalized by: LocalSize along channels, or along both spatial dimensions. One page
// has channels beside those, another instead of them, and a third confuses the two; ONNX and DirectML 1.15.4 do this,
// and divide by LocalSize either way.
template <class Visit>
void eachInRegion(const Array& in, const Coordinates& at, bool crossChannel, int64_t size, Visit visit) {
  Coordinates first = at;
  Coordinates last = at;
  for (size_t d : crossChannel ? std::vector<size_t>{1} : std::vector<size_t>{2, 3}) {
    first[d] = std::max<int64_t>(0, at[d] - (size - 1) / 2);
    last[d] = std::min<int64_t>(in.sizes[d] - int64_t{1}, at[d] + size / 2);
  }
  Coordinates k = first;
  for (k[1] = first[1]; k[1] <= last[1]; ++k[1])
    for (k[2] = first[2]; k[2] <= last[2]; ++k[2])
      for (k[3] = first[3]; k[3] <= last[3]; ++k[3]) visit(static_cast<size_t>(indexOf(in.sizes, k)));
}

// Bias + Alpha / LocalSize * (sum of squares in the region), for each element.
template <class Desc>
std::vector<Approx> responses(const Desc& desc, const Array& in) {
  const Approx share = Approx(static_cast<double>(desc.Alpha)) / Approx(desc.LocalSize);
  std::vector<Approx> bases;
  eachElement(in.sizes, [&](const Coordinates& at, int64_t) {
    ApproxSum sum;
    eachInRegion(in, at, desc.CrossChannel != 0, desc.LocalSize, [&](size_t k) {
      const Approx x = Approx::element(in, k);
      sum.add(x * x);
    });
    bases.push_back(Approx(static_cast<double>(desc.Bias)) + share * sum.sum());
  });
  return bases;
}

}  // namespace

Result evaluateBatchNormalization(const DML_BATCH_NORMALIZATION_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 5);
  const Array& in = inputs[0];
  Result result = normalized(desc.OutputTensor);
  const Approx epsilon(static_cast<double>(desc.Epsilon));
  eachElement(in.sizes, [&](const Coordinates& at, int64_t index) {
    const auto i = static_cast<size_t>(index);
    const Approx x =
        (Approx::element(in, i) - broadcast(inputs[1], at, 0)) / sqrt(broadcast(inputs[2], at, 1) + epsilon);
    set(result, i, broadcast(inputs[3], at, 1) * x + broadcast(inputs[4], at, 0));
  });
  activate(desc.FusedActivation, result);
  return result;
}

std::vector<Result> evaluateBatchNormalizationTraining(const DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC& desc,
                                                       std::span<const Array> inputs) {
  const Array& in = inputs[0];
  const Rows rows(in, inputs[1].sizes);
  Formula formula{rows, {}, {}, static_cast<double>(desc.Epsilon)};
  formula.means = sumRows(rows, true, [&](size_t i) { return Approx::element(in, i); });
  formula.variances = variances(rows, in, formula.means);
  std::vector<Result> results{normalized(desc.OutputTensor), normalized(desc.OutputMeanTensor),
                              normalized(desc.OutputVarianceTensor)};
  normalize(formula, in, inputs[1], inputs[2], inputs[3], results[0]);
  activate(desc.FusedActivation, results[0]);
  for (size_t r = 0; r < rows.counts.size(); ++r) {
    set(results[1], r, formula.means[r]);
    set(results[2], r, formula.variances[r]);
  }
  return results;
}

std::vector<Result> evaluateBatchNormalizationGrad(const DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC& desc,
                                                   std::span<const Array> inputs) {
  return batchNormalizationGrad(desc, inputs, false);
}

std::vector<Result> evaluateBatchNormalizationTrainingGrad(
    const DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return batchNormalizationGrad(desc, inputs, true);
}

Result evaluateMeanVariance(const DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  const std::vector<uint32_t> axes = desc.CrossChannel ? std::vector<uint32_t>{1, 2, 3} : std::vector<uint32_t>{2, 3};
  return meanVariance(desc.OutputTensor, inputs, axes, true, desc.NormalizeVariance != 0,
                      static_cast<double>(desc.Epsilon), desc.FusedActivation);
}

Result evaluateMeanVariance1(const DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC& desc,
                             std::span<const Array> inputs) {
  return meanVariance(desc.OutputTensor, inputs, {desc.Axes, desc.AxisCount}, true, desc.NormalizeVariance != 0,
                      static_cast<double>(desc.Epsilon), desc.FusedActivation);
}

Result evaluateMeanVariance2(const DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC& desc,
                             std::span<const Array> inputs) {
  return meanVariance(desc.OutputTensor, inputs, {desc.Axes, desc.AxisCount}, desc.UseMean != 0, desc.UseVariance != 0,
                      static_cast<double>(desc.Epsilon), desc.FusedActivation);
}

Result evaluateLpNormalization(const DML_LP_NORMALIZATION_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const Array& in = inputs[0];
  const uint32_t axes[] = {desc.Axis};
  const Rows rows(in, without(in.sizes, axes));
  const auto norms = sumRows(rows, false, [&](size_t i) {
    const Approx x = Approx::element(in, i);
    return desc.P == 1 ? Approx(std::fabs(x.value), x.error) : x * x;
  });
  Result result = normalized(desc.OutputTensor);
  // Epsilon is added to the square of the norm, whatever P is: the page is silent, DirectML 1.15.4 does it.
  const Approx epsilon(static_cast<double>(desc.Epsilon));
  for (size_t i = 0; i < in.real.size(); ++i) {
    const Approx norm = norms[rows.rowOf[i]];
    set(result, i, Approx::element(in, i) / sqrt((desc.P == 1 ? norm * norm : norm) + epsilon));
  }
  return result;
}

Result evaluateLocalResponse(const DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC& desc,
                             std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const auto bases = responses(desc, inputs[0]);
  Result result = normalized(desc.OutputTensor);
  for (size_t i = 0; i < bases.size(); ++i) {
    set(result, i, Approx::element(inputs[0], i) * pow(bases[i], -static_cast<double>(desc.Beta)));
  }
  return result;
}

Result evaluateLocalResponseGrad(const DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC& desc,
                                 std::span<const Array> inputs) {
  requireInputs(inputs, 2);
  const Array& in = inputs[0];
  const auto bases = responses(desc, in);
  const double exponent = -static_cast<double>(desc.Beta);
  // What each element gets from those whose regions it lies in. DirectML 1.15.4 sums over its own region instead, which
  // is another one if LocalSize is even, and then not the gradient.
  std::vector<ApproxSum> shares(bases.size());
  eachElement(in.sizes, [&](const Coordinates& at, int64_t index) {
    const auto i = static_cast<size_t>(index);
    const Approx share = Approx::element(inputs[1], i) * Approx::element(in, i) * pow(bases[i], exponent - 1);
    eachInRegion(in, at, desc.CrossChannel != 0, desc.LocalSize, [&](size_t k) { shares[k].add(share); });
  });
  const Approx factor(2 * static_cast<double>(desc.Alpha) * static_cast<double>(desc.Beta) / desc.LocalSize);
  Result result = normalized(desc.OutputGradientTensor);
  for (size_t i = 0; i < bases.size(); ++i) {
    const Approx direct = Approx::element(inputs[1], i) * pow(bases[i], exponent);
    set(result, i, direct - factor * Approx::element(in, i) * shares[i].sum());
  }
  return result;
}

}  // namespace oracle
