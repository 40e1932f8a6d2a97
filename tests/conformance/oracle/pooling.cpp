#include "tests/conformance/oracle/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/conformance/oracle/elements.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargestFloat = static_cast<double>(std::numeric_limits<float>::max());
constexpr double kFloatEps = 0x1p-23;

bool isDenormal(DML_TENSOR_DATA_TYPE type, double x) { return x != 0 && std::fabs(x) < smallestNormal(type); }
double floatUlps(double ulps, double value) { return ulps * spacing(DML_TENSOR_DATA_TYPE_FLOAT32, value); }

struct Window {
  std::vector<uint32_t> sizes;
  std::vector<int64_t> strides, dilations, start;

  double elements() const {
    double count = 1;
    for (uint32_t size : sizes) count *= size;
    return count;
  }
};

template <class Desc>
Window windowOf(const Desc& desc) {
  Window window;
  for (UINT d = 0; d < desc.DimensionCount; ++d) {
    window.sizes.push_back(desc.WindowSize[d]);
    window.strides.push_back(desc.Strides[d]);
    window.start.push_back(desc.StartPadding[d]);
    if constexpr (requires { desc.Dilations; }) {
      window.dilations.push_back(desc.Dilations[d]);
    } else {
      window.dilations.push_back(1);
    }
  }
  return window;
}

// Calls visit(row-major index) for each element of a tensor under the window at a position, as often as the window
// meets it, in the order of the window.
template <class Visit>
void eachUnderWindow(const Window& window, std::span<const uint32_t> sizes, const Coordinates& position, Visit visit) {
  eachElement(window.sizes, [&](const Coordinates& k, int64_t) {
    Coordinates at = position;
    bool inside = true;
    for (size_t d = 0; d < window.sizes.size(); ++d) {
      at[d + 2] = position[d + 2] * window.strides[d] + k[d] * window.dilations[d] - window.start[d];
      inside = inside && at[d + 2] >= 0 && at[d + 2] < sizes[d + 2];
    }
    if (inside) visit(static_cast<size_t>(indexOf(sizes, at)));
  });
}

// A sum in FLOAT32, and what its error depends on.
struct Sum {
  double value = 0;
  double magnitude = 0;  // of finite terms
  double positive = 0;   // the finite positive terms' sum, and the negative ones' below
  double negative = 0;
  double flushed = 0;  // what flushing denormals may take from it
  uint64_t terms = 0;

  void add(double term, bool denormal) {
    value += term;
    ++terms;
    if (denormal || isDenormal(DML_TENSOR_DATA_TYPE_FLOAT32, term)) flushed += std::fabs(term);
    if (!std::isfinite(term)) return;
    magnitude += std::fabs(term);
    (term > 0 ? positive : negative) += std::fabs(term);
  }
  double largest() const { return std::max(positive, negative); }
  // Whether partial sums can overflow in one order of addition and not in another.
  bool mayOverflow() const { return largest() > kLargestFloat / 2 && std::min(positive, negative) > 0; }
};

Result sumResult(const DML_TENSOR_DESC* tensor) {
  Result result = exactResult(tensor);
  result.tolerance = Tolerance{Tolerance::Kind::Sum, 0, 0, 0, 0, 0, true};
  result.terms = 1;
  result.magnitude.resize(result.value.count());
  result.slack.resize(result.value.count());
  return result;
}

void requirePooled(const Array& whole, const Array& pooled, const Window& window) {
  if (whole.sizes.size() != window.sizes.size() + 2 || pooled.sizes.size() != whole.sizes.size() ||
      pooled.sizes[0] != whole.sizes[0] || pooled.sizes[1] != whole.sizes[1]) {
    throw std::invalid_argument("The pooled tensor does not fit.");
  }
}

// A window without any element of the input has no average unless the padding counts.
template <class Desc>
Result average(const Desc& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const Array& in = inputs[0];
  const Window window = windowOf(desc);
  Result result = sumResult(desc.OutputTensor);
  requirePooled(in, result.value, window);
  eachElement(result.value.sizes, [&](const Coordinates& at, int64_t index) {
    const auto i = static_cast<size_t>(index);
    Sum sum;
    eachUnderWindow(window, in.sizes, at, [&](size_t k) { sum.add(in.real[k], isDenormal(in.type, in.real[k])); });
    const double divisor = desc.IncludePadding ? window.elements() : static_cast<double>(sum.terms);
    if (divisor == 0) return makeFree(result, index);
    result.terms = std::max(result.terms, sum.terms);
    result.value.real[i] = sum.value / divisor;
    result.magnitude[i] = sum.magnitude / divisor;
    result.slack[i] =
        sum.largest() > kLargestFloat / 2 ? kInfinity : sum.flushed / divisor + floatUlps(3, result.value.real[i]);
  });
  return result;
}

struct Norm {
  double value = 0;
  double slack = 0;
};

// (sum of |x|^p)^(1/p). The page has no absolute values; ONNX and DirectML 1.15.4 take them.
Norm pNorm(const std::vector<double>& values, DML_TENSOR_DATA_TYPE type, UINT p) {
  double top = 0;
  for (double x : values) {
    if (std::isnan(x)) return {kNaN, 0};
    top = std::max(top, std::fabs(x));
  }
  if (std::isinf(top)) return {top, 0};
  if (top == 0) return {0, 0};
  double sum = 0;
  double flushed = 0;
  for (double x : values) {
    const double power = std::pow(std::fabs(x) / top, p);
    sum += power;
    const double term = p == 2 ? x * x : x;
    if (isDenormal(type, x) || isDenormal(DML_TENSOR_DATA_TYPE_FLOAT32, term)) flushed += power;
  }
  const double value = top * std::pow(sum, 1.0 / p);
  if (p == 2 && value * value > kLargestFloat / 2) return {value, kInfinity};
  if (p == 1 && value > kLargestFloat / 2) return {value, kInfinity};
  const double least = top * std::pow(std::max(0.0, sum - flushed), 1.0 / p);
  return {value, value - least + floatUlps(p > 2 ? 32 : 3, value)};
}

template <class Desc>
Result norm(const Desc& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const Array& in = inputs[0];
  const Window window = windowOf(desc);
  Result result = sumResult(desc.OutputTensor);
  requirePooled(in, result.value, window);
  std::vector<double> values;
  eachElement(result.value.sizes, [&](const Coordinates& at, int64_t index) {
    values.clear();
    eachUnderWindow(window, in.sizes, at, [&](size_t k) { values.push_back(in.real[k]); });
    if (desc.P == 0) return makeFree(result, index);
    const auto i = static_cast<size_t>(index);
    const Norm answer = pNorm(values, in.type, desc.P);
    result.terms = std::max<uint64_t>(result.terms, values.size());
    result.value.real[i] = answer.value;
    result.magnitude[i] = std::isfinite(answer.value) ? answer.value : 0;
    result.slack[i] = answer.slack;
  });
  return result;
}

// The element that a window chooses: the first of the largest, NaN only if nothing else is there.
struct Choice {
  size_t index = 0;
  bool empty = true;
  bool hasNaN = false;
};

Choice choose(const Window& window, const Array& in, const Coordinates& position) {
  Choice choice;
  eachUnderWindow(window, in.sizes, position, [&](size_t k) {
    bool better = choice.empty;
    if (!in.real.empty()) {
      choice.hasNaN = choice.hasNaN || std::isnan(in.real[k]);
      better = better || in.real[k] > in.real[choice.index] ||
               (std::isnan(in.real[choice.index]) && !std::isnan(in.real[k]));
    } else if (isSigned(in.type)) {
      better = better || in.whole[k] > in.whole[choice.index];
    } else {
      better = better || static_cast<uint64_t>(in.whole[k]) > static_cast<uint64_t>(in.whole[choice.index]);
    }
    if (better) choice.index = k;
    choice.empty = false;
  });
  return choice;
}

std::vector<Result> maximum(const DML_TENSOR_DESC* output, const DML_TENSOR_DESC* indices, const Window& window,
                            std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const Array& in = inputs[0];
  std::vector<Result> results{exactResult(output)};
  results[0].tolerance = exactButZeroSign();
  requirePooled(in, results[0].value, window);
  if (indices != nullptr) results.push_back(exactResult(indices));
  eachElement(results[0].value.sizes, [&](const Coordinates& at, int64_t index) {
    const Choice choice = choose(window, in, at);
    if (choice.empty) {
      for (Result& result : results) makeFree(result, index);
      return;
    }
    copyElement(in, static_cast<int64_t>(choice.index), results[0].value, index);
    if (!in.real.empty() && std::isnan(in.real[choice.index])) makeFree(results[0], index);
    if (indices == nullptr) return;
    results[1].value.whole[static_cast<size_t>(index)] = static_cast<int64_t>(choice.index);
    // What wins beside a NaN depends on the order of comparison.
    if (choice.hasNaN) makeFree(results[1], index);
  });
  // The place of an output that is absent.
  if (indices == nullptr) results.push_back({});
  return results;
}

}  // namespace

Result evaluateAveragePooling(const DML_AVERAGE_POOLING_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return average(desc, inputs);
}

Result evaluateAveragePooling1(const DML_AVERAGE_POOLING1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return average(desc, inputs);
}

Result evaluateLpPooling(const DML_LP_POOLING_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return norm(desc, inputs);
}

Result evaluateLpPooling1(const DML_LP_POOLING1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return norm(desc, inputs);
}

Result evaluateMaxPooling(const DML_MAX_POOLING_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return maximum(desc.OutputTensor, nullptr, windowOf(desc), inputs)[0];
}

std::vector<Result> evaluateMaxPooling1(const DML_MAX_POOLING1_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return maximum(desc.OutputTensor, desc.OutputIndicesTensor, windowOf(desc), inputs);
}

std::vector<Result> evaluateMaxPooling2(const DML_MAX_POOLING2_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  return maximum(desc.OutputTensor, desc.OutputIndicesTensor, windowOf(desc), inputs);
}

// Indices count the elements of the whole output; those beyond it are ignored.
Result evaluateMaxUnpooling(const DML_MAX_UNPOOLING_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 2);
  const Array& in = inputs[0];
  Result result = exactResult(desc.OutputTensor);
  std::vector<bool> written(result.value.count());
  for (size_t i = 0; i < in.count(); ++i) {
    const auto target = static_cast<uint64_t>(inputs[1].whole.at(i));
    if (target >= written.size()) continue;
    const auto at = static_cast<int64_t>(target);
    copyElement(in, static_cast<int64_t>(i), result.value, at);
    if (written[target]) makeFree(result, at);
    written[target] = true;
  }
  return result;
}

Result evaluateAveragePoolingGrad(const DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const Array& gradient = inputs[0];
  const Window window = windowOf(desc);
  Result result = sumResult(desc.OutputGradientTensor);
  requirePooled(result.value, gradient, window);
  std::vector<Sum> sums(result.value.count());
  std::vector<size_t> under;
  eachElement(gradient.sizes, [&](const Coordinates& at, int64_t index) {
    under.clear();
    eachUnderWindow(window, result.value.sizes, at, [&](size_t k) { under.push_back(k); });
    const double divisor = desc.IncludePadding ? window.elements() : static_cast<double>(under.size());
    const double g = gradient.real[static_cast<size_t>(index)];
    for (size_t k : under) sums[k].add(g / divisor, isDenormal(gradient.type, g));
  });
  for (size_t i = 0; i < sums.size(); ++i) {
    result.terms = std::max(result.terms, sums[i].terms);
    result.value.real[i] = sums[i].value;
    result.magnitude[i] = sums[i].magnitude;
    const bool overflow = sums[i].largest() * window.elements() > kLargestFloat / 2;
    result.slack[i] = overflow ? kInfinity : sums[i].flushed + floatUlps(3, sums[i].magnitude);
  }
  return result;
}

Result evaluateMaxPoolingGrad(const DML_MAX_POOLING_GRAD_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  requireInputs(inputs, 2);
  const Array& in = inputs[0];
  const Array& gradient = inputs[1];
  const Window window = windowOf(desc);
  Result result = sumResult(desc.OutputGradientTensor);
  requirePooled(in, gradient, window);
  if (result.value.sizes != in.sizes) throw std::invalid_argument("OutputGradientTensor has other sizes.");
  std::vector<Sum> sums(in.real.size());
  std::vector<bool> undecided(in.real.size());
  eachElement(gradient.sizes, [&](const Coordinates& at, int64_t index) {
    const Choice choice = choose(window, in, at);
    if (choice.empty) return;
    const double g = gradient.real[static_cast<size_t>(index)];
    sums[choice.index].add(g, isDenormal(gradient.type, g));
    // Any element beside a NaN may be the one.
    if (choice.hasNaN) eachUnderWindow(window, in.sizes, at, [&](size_t k) { undecided[k] = true; });
  });
  for (size_t i = 0; i < sums.size(); ++i) {
    result.terms = std::max(result.terms, sums[i].terms);
    result.value.real[i] = sums[i].value;
    result.magnitude[i] = sums[i].magnitude;
    result.slack[i] = undecided[i] || sums[i].mayOverflow() ? kInfinity : sums[i].flushed;
  }
  return result;
}

Result evaluateQuantizedAveragePooling(const DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC& desc,
                                       std::span<const Array> inputs) {
  const Array& in = inputs[0];
  const Window window = windowOf(desc);
  Result result = exactResult(desc.OutputTensor);
  requirePooled(in, result.value, window);
  result.slack.resize(result.value.count());
  // One value, or one for each channel.
  const auto place = [](const Array& array, int64_t channel) {
    return array.count() == 1 ? size_t{0} : static_cast<size_t>(channel);
  };
  const auto scaleAt = [&](const Array& array, int64_t channel) { return array.real.at(place(array, channel)); };
  const auto zeroAt = [&](const Array& array, int64_t channel) {
    return array.absent() ? int64_t{0} : array.whole.at(place(array, channel));
  };
  eachElement(result.value.sizes, [&](const Coordinates& at, int64_t index) {
    double sum = 0;
    uint64_t terms = 0;
    eachUnderWindow(window, in.sizes, at, [&](size_t k) {
      sum += static_cast<double>(in.whole[k] - zeroAt(inputs[2], at[1]));
      ++terms;
    });
    const double divisor = desc.IncludePadding ? window.elements() : static_cast<double>(terms);
    const double from = scaleAt(inputs[1], at[1]);
    const double to = scaleAt(inputs[3], at[1]);
    // A scale of 0 has no result, and extreme ones overflow or vanish on the way.
    const auto extreme = [](double scale) { return !(std::fabs(scale) > 0x1p-60 && std::fabs(scale) < 0x1p60); };
    if (divisor == 0 || extreme(from) || extreme(to)) return makeFree(result, index);
    const double quotient = sum * from / divisor / to;
    const double error = 8 * kFloatEps * std::fabs(quotient);
    const auto quantize = [&](double x) {
      return truncateTo(result.value.type, std::nearbyint(x) + static_cast<double>(zeroAt(inputs[4], at[1])));
    };
    const auto i = static_cast<size_t>(index);
    result.value.whole[i] = quantize(quotient);
    result.slack[i] = static_cast<double>(quantize(quotient + error) - quantize(quotient - error));
  });
  return result;
}

}  // namespace oracle
