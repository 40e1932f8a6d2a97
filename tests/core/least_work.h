// What operators do at least, counted from what their pages say and from nothing of their plans.
#pragma once

#include <algorithm>
#include <string_view>

#include "core/operation.h"

namespace dimple::testing {

namespace detail {

// Attributes and tensors by their names.
class Named {
 public:
  explicit Named(const Operation& op) : op_(op), name_(op.schema().name) {}

  bool is(std::string_view part) const { return name_.find(part) != name_.npos; }

  uint64_t number(std::string_view field) const { return op_.field<UINT>(*findField(op_.schema(), field)); }
  const UINT* array(std::string_view field) const {
    const Field* found = findField(op_.schema(), field);
    return found ? op_.field<const UINT*>(*found) : nullptr;
  }
  uint32_t countOf(std::string_view field) const {
    return fieldValue<UINT>(&op_.as<std::byte>(),
                            op_.schema().fields[static_cast<size_t>(findField(op_.schema(), field)->countField)]);
  }
  // Absent: not present().
  Tensor tensor(std::string_view field) const {
    for (size_t i = 0; i < op_.inputs().size(); ++i)
      if (op_.inputName(i) == field) return op_.input(i);
    for (size_t i = 0; i < op_.outputs().size(); ++i)
      if (op_.outputName(i) == field) return op_.output(i);
    return {};
  }

 private:
  const Operation& op_;
  std::string_view name_;
};

inline double elements(const Tensor& tensor) { return tensor.present() ? static_cast<double>(tensor.elements) : 0; }

// Elements of `size` under all windows of a dimension, of the first thousands of windows at least.
inline double covered(uint64_t windows, int64_t stride, int64_t dilation, int64_t window, int64_t padding,
                      int64_t size) {
  constexpr uint64_t kCounted = 4096;
  if (window == 0) return 0;
  double sum = 0;
  for (uint64_t p = 0; p < std::min(windows, kCounted); ++p) {
    const int64_t start = static_cast<int64_t>(p) * stride - padding;
    if (dilation == 0) {
      sum += start >= 0 && start < size;
      continue;
    }
    const int64_t first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    const int64_t last = start >= size ? -1 : std::min(window - 1, (size - 1 - start) / dilation);
    sum += static_cast<double>(std::max<int64_t>(0, last - first + 1));
  }
  return sum;
}

// `pooled` has an element for each window over `whole`.
inline double windowWork(const Named& op, const Tensor& whole, const Tensor& pooled) {
  double work = static_cast<double>(pooled.sizes[0]) * pooled.sizes[1];
  const UINT* dilations = op.array("Dilations");
  for (uint32_t d = 0; d + 2 < pooled.rank; ++d)
    work *= covered(pooled.sizes[d + 2], op.array("Strides")[d], dilations ? dilations[d] : 1,
                    op.array("WindowSize")[d], op.array("StartPadding")[d], whole.sizes[d + 2]);
  return work;
}

inline double poolingWork(const Named& op) {
  if (op.is("MAX_POOLING_GRAD")) return windowWork(op, op.tensor("InputTensor"), op.tensor("InputGradientTensor"));
  if (op.is("GRAD")) return windowWork(op, op.tensor("OutputGradientTensor"), op.tensor("InputGradientTensor"));
  return windowWork(op, op.tensor("InputTensor"), op.tensor("OutputTensor"));
}

// Of a convolution, in which a window meets an element where it lies in the input; of a transposed one, all elements of
// the input with all of their filters, as far as the output keeps them.
inline double convolutionWork(const Named& op, const Operation& operation) {
  const Tensor x = op.tensor("InputTensor"), f = op.tensor("FilterTensor"), y = op.tensor("OutputTensor");
  const Field* direction = findField(operation.schema(), "Direction");
  const bool backward = direction && operation.field<UINT>(*direction) != 0;
  const Tensor& whole = backward ? y : x;
  const Tensor& windows = backward ? x : y;
  // Transformed tiles take a quarter of the multiplications, or a little less.
  constexpr double kSaved = 8;
  double work = static_cast<double>(x.sizes[0]) * f.sizes[0] * f.sizes[1] / kSaved;
  for (uint32_t d = 2; d < x.rank; ++d)
    work *= covered(windows.sizes[d], op.array("Strides")[d - 2], op.array("Dilations")[d - 2], f.sizes[d],
                    op.array("StartPadding")[d - 2], whole.sizes[d]);
  return work;
}

inline double productWork(const Named& op, const Operation& operation) {
  const Tensor a = op.tensor("ATensor");
  const Field* transposes = findField(operation.schema(), "TransA");
  const bool transposed = transposes && operation.field<UINT>(*transposes) != 0;
  return elements(operation.output()) * a.sizes[a.rank - (transposed ? 2 : 1)];
}

inline double recurrentWork(const Named& op) {
  const Tensor x = op.tensor("InputTensor"), w = op.tensor("WeightTensor"), r = op.tensor("RecurrenceTensor");
  return static_cast<double>(x.sizes[1]) * x.sizes[2] * (elements(w) + elements(r));
}

inline double attentionWork(const Named& op) {
  const Tensor q = op.tensor("QueryTensor"), k = op.tensor("KeyTensor"), v = op.tensor("ValueTensor");
  if (!q.present() || !k.present() || !v.present()) return elements(op.tensor("OutputTensor"));
  const uint32_t d = q.rank - 3;
  return static_cast<double>(q.sizes[d]) * q.sizes[d + 1] * k.sizes[d + 1] *
         (q.sizes[d + 2] + double{1} * v.sizes[d + 2]);
}

inline double regionWork(const Named& op, const Operation& operation) {
  if (op.is("ROI_POOLING")) {
    const Tensor x = op.tensor("InputTensor"), y = op.tensor("OutputTensor");
    return std::max(elements(y), elements(x) / x.sizes[0] * y.sizes[0]);
  }
  // More samples than these are not distinguished.
  constexpr double kSamples = 16384;
  const double samples =
      std::min(kSamples, static_cast<double>(std::max<uint64_t>(
                             1, std::min(op.number("MinimumSamplesPerOutput"), op.number("MaximumSamplesPerOutput")))));
  return elements(op.is("GRAD") ? op.tensor("InputGradientTensor") : operation.output()) * samples * samples;
}

inline double responseWork(const Named& op, const Operation& operation) {
  const Tensor x = op.tensor("InputTensor");
  const auto size = static_cast<double>(op.number("LocalSize"));
  const bool channels = op.number("CrossChannel") != 0;
  double window = std::min(size, static_cast<double>(x.sizes[channels ? 1 : 2]));
  // Sums along one axis may be summed along the other.
  if (!channels) window += std::min(size, static_cast<double>(x.sizes[3]));
  // At an edge half a window of a dimension lies in the tensor.
  return std::max(elements(operation.output()), elements(x) * window / 4);
}

inline double allInputs(const Operation& op) {
  double sum = 0;
  for (const Tensor& tensor : op.inputs()) sum = std::max(sum, elements(tensor));
  return sum;
}

inline double movedWork(const Operation& op) {
  double bytes = 0;
  for (const Tensor& tensor : op.outputs())
    if (tensor.present()) bytes = std::max(bytes, elements(tensor) * bitWidth(tensor.type) / 8);
  return bytes / 16;
}

}  // namespace detail

// Multiply-adds, elements that are read or written by themselves, or 16 bytes of elements that are moved.
inline double leastWork(const Operation& operation) {
  using namespace detail;
  const Named op(operation);
  if (op.is("UNPOOLING")) return movedWork(operation);
  if (op.is("ROI_")) return regionWork(op, operation);
  if (op.is("POOLING")) return poolingWork(op);
  if (op.is("CONVOLUTION")) return convolutionWork(op, operation);
  if (op.is("GEMM") || op.is("MATRIX_MULTIPLY")) return productWork(op, operation);
  if (operation.schema().name == "RNN" || operation.schema().name == "LSTM" || operation.schema().name == "GRU")
    return recurrentWork(op);
  if (op.is("ATTENTION")) return attentionWork(op);
  if (op.is("LOCAL_RESPONSE")) return responseWork(op, operation);
  for (const std::string_view part : {"REDUCE", "ARGM", "CUMULATIVE", "SOFTMAX", "HARDMAX", "NORMALIZATION", "NONZERO",
                                      "TOP_K", "RESAMPLE_GRAD", "FOLD"})
    if (op.is(part)) return std::max(allInputs(operation), movedWork(operation));
  return movedWork(operation);
}

}  // namespace dimple::testing
