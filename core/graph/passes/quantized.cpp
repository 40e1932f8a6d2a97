// Products and convolutions of integers that are dequantized multiply the integers, where matrices of subgroups do
// that, and averages add them; what they make is quantized where it is stored.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/ops/product.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "core/text.h"
#include "kernels/interfaces/integer_convolution_direct.h"
#include "kernels/interfaces/integer_product.h"

namespace dimple {
namespace {

constexpr DataType kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;
constexpr uint32_t kNone = UINT32_MAX;
constexpr std::array<UINT, DML_TENSOR_DIMENSION_COUNT_MAX1> kOnes{1, 1, 1, 1, 1, 1, 1, 1};
// Sums of more products of two differences of bytes may exceed INT32.
constexpr uint64_t kMostTerms = 32768;

// A tensor of an operation that is made, and where it is read. An optional tensor that is absent is not present().
struct Operand {
  Tensor tensor{};
  Place place{};
};

// The scale and zero point by which FLOAT32 is quantized or dequantized. They are the same for all elements, or vary
// along one dimension.
struct Parameters {
  Operand scale, zero;
};

struct Dequantized {
  Operand integers;  // as the reader sees them
  Parameters by;
  Node* node = nullptr;
};

// Returns the only dimension along which an operand of a quantization varies, or kNone if it is the same for all
// elements. Returns no value if it varies along several dimensions, or serves blocks of elements.
std::optional<uint32_t> dimensionOf(const Tensor& parameter, const Tensor& x) {
  uint32_t found = kNone;
  for (uint32_t d = 0; d < parameter.rank; ++d) {
    if (parameter.sizes[d] == 1 || parameter.strides[d] == 0) continue;
    if (found != kNone || parameter.sizes[d] != x.sizes[d]) return {};
    found = d;
  }
  return found;
}

// Whether an element's place in dimension `d` of a packed tensor is its place in dimension `channel` of one that reads
// it.
bool countsAlong(const Tensor& made, uint32_t d, const Tensor& read, uint32_t channel) {
  const uint64_t step = made.strides[d];
  const uint64_t size = made.sizes[d];
  if (!isPacked(made) || read.sizes[channel] != size || read.strides[channel] != step) return false;
  uint64_t inner = 0;  // of places within a step
  for (uint32_t e = 0; e < read.rank; ++e)
    if (e != channel && read.sizes[e] > 1 && read.strides[e] % (step * size) != 0)
      inner += uint64_t{read.sizes[e] - 1} * read.strides[e];
  return inner < step;
}

// Describes a parameter for a tensor of `rank` dimensions: one element, or `count` elements along `channel`.
Operand parameterFor(const Operand& given, uint32_t dimension, uint32_t rank, uint32_t channel, uint32_t count) {
  Tensor tensor;
  tensor.type = given.tensor.type;
  tensor.rank = rank;
  tensor.ownedByDml = given.tensor.ownedByDml;
  std::fill_n(tensor.sizes.begin(), rank, 1u);
  if (count != 1) tensor.sizes[channel] = count;
  if (dimension != kNone && count != 1) tensor.strides[channel] = given.tensor.strides[dimension];
  return {asGiven(tensor), given.place};
}

Operand operandOf(const Node& node, uint32_t input) {
  if (input >= node.op->inputs().size() || !node.op->input(input).present()) return {};
  return {node.op->input(input), node.inputs()[input]};
}

// Returns the parameters of a quantization for the elements that `read` sees. They may vary along `channel`, unless
// that is kNone.
std::optional<Parameters> parametersOf(const Node& node, const Tensor& made, const Tensor& read, uint32_t channel) {
  const Operand scale = operandOf(node, 1);
  const Operand zero = operandOf(node, 2);
  const Tensor& integers = isFloat(made.type) ? node.op->input(0) : node.op->output();
  // If the zero point of an unsigned type is absent, these operators use 128.
  const bool hasMiddle = typeOf(node) == DML_OPERATOR_QUANTIZE || typeOf(node) == DML_OPERATOR_DEQUANTIZE;
  if (hasMiddle && !zero.tensor.present() && integers.type == DML_TENSOR_DATA_TYPE_UINT8) return {};
  if (scale.tensor.type != kFloat) return {};
  const auto ofScale = dimensionOf(scale.tensor, made);
  const auto ofZero = dimensionOf(zero.tensor, made);
  if (!ofScale || !ofZero) return {};
  uint32_t count = 1;
  for (const uint32_t d : {*ofScale, *ofZero}) {
    if (d == kNone) continue;
    if (channel == kNone || !countsAlong(made, d, read, channel)) return {};
    count = made.sizes[d];
  }
  Parameters found{parameterFor(scale, *ofScale, read.rank, channel, count), {}};
  if (zero.tensor.present()) found.zero = parameterFor(zero, *ofZero, read.rank, channel, count);
  return found;
}

// Returns the integers that an input of a node reads through a dequantization whose parameters are the same for all
// elements or vary along `channel`.
std::optional<Dequantized> dequantizedAt(const Node& reader, uint32_t input, uint32_t channel) {
  const Place& from = reader.inputs()[input];
  Node* node = from.producer();
  if (!node || from.offset != 0 || !dequantizes(*node)) return {};
  const Tensor& integers = node->op->input(0);
  const Tensor& made = node->op->output();
  if (!isByte(integers.type) || made.type != kFloat || !sameSizes(integers, made) ||
      !std::ranges::equal(integers.strideSpan(), made.strideSpan()))
    return {};
  Tensor read = reader.op->input(input);
  read.type = integers.type;
  read.ownedByDml = integers.ownedByDml;
  const auto by = parametersOf(*node, made, read, channel);
  if (!by) return {};
  return Dequantized{{asGiven(read), node->inputs()[0]}, *by, node};
}

// Exchanges the last two dimensions if the operator reads them so.
Tensor turnedIf(bool turned, Tensor tensor) {
  if (!turned) return tensor;
  std::swap(tensor.sizes[tensor.rank - 1], tensor.sizes[tensor.rank - 2]);
  std::swap(tensor.strides[tensor.rank - 1], tensor.strides[tensor.rank - 2]);
  return tensor;
}

// A product, convolution or average, what it takes and what follows it.
class Quantized {
 public:
  explicit Quantized(Node& product) : product_(product), op_(*product.op) {}

  // Puts a node of integers in the place of all that it finds, or does nothing.
  void replace(Graph& graph, const Target& target) {
    const DML_OPERATOR_TYPE activation = op_.activation().type;
    if (op_.output().type != kFloat || op_.epilogue().steps != 0 ||
        (activation != DML_OPERATOR_INVALID && activation != DML_OPERATOR_ACTIVATION_RELU))
      return;
    findResult();
    auto made = this->made();
    if (!made || !gains(*made, target)) return;
    std::string name, label;
    for (const Node* node : nodes_) {
      name += cat(name.empty() ? "" : " with ", node->name);
      label += cat(label.empty() ? "" : " with ", node->label);
    }
    Node& last = *nodes_.back();
    Node& node =
        graph.add(std::move(name), std::move(label), std::make_shared<const Operation>(std::move(*made)), &last);
    for (uint32_t i = 0; i < operands_.size(); ++i)
      if (operands_[i].tensor.present()) graph.connect(node, i, operands_[i].place);
    graph.replaceAllUses(last.outputs()[0], node.outputs()[0]);
    // Readers come before what they read.
    for (size_t n = nodes_.size(); n-- > 0;) graph.erase(*nodes_[n]);
    for (Node* dequantizer : dequantizers_)
      if (!isRead(*dequantizer)) graph.erase(*dequantizer);
  }

 private:
  // Finds a RELU or CLIP, and a quantization whose parameters are the same for all elements, if they follow.
  void findResult() {
    nodes_ = {&product_};
    output_ = op_.output();
    if (op_.activation().type == DML_OPERATOR_ACTIVATION_RELU) epilogue_.steps = kEpiloguePositive;
    Node* activation = readerOf(product_).node;
    if (const auto clip = activation ? clipOf(*activation->op) : std::nullopt;
        clip && setOutput(activation->op->output())) {
      const uint32_t steps = epilogue_.steps | clip->steps;
      epilogue_ = *clip;
      epilogue_.steps = steps;
      nodes_.push_back(activation);
    }
    Node* quantizer = quantizerOf(*nodes_.back());
    if (!quantizer) return;
    const auto by = parametersOf(*quantizer, quantizer->op->input(0), op_.output(), kNone);
    if (!by || !setOutput(quantizer->op->output())) return;
    by_ = *by;
    nodes_.push_back(quantizer);
  }

  // Returns the step that a RELU or CLIP is, and no value for other operators.
  static std::optional<Epilogue> clipOf(const Operation& activation) {
    if (activation.schema().type == DML_OPERATOR_ACTIVATION_RELU) return Epilogue{.steps = kEpiloguePositive};
    const Operation clip = asClip(activation);
    if (clip.schema().type != DML_OPERATOR_ELEMENT_WISE_CLIP) return {};
    const auto& desc = clip.as<DML_ELEMENT_WISE_CLIP_OPERATOR_DESC>();
    if (desc.ScaleBias) return {};
    return Epilogue{.steps = kEpilogueClips, .least = desc.Min, .most = desc.Max};
  }

  // Views the output with the sizes of the results. Returns false if it has other sizes and no layout with these.
  bool setOutput(Tensor output) {
    output.ownedByDml = false;
    if (!sameSizes(output, op_.output())) {
      if (!isPacked(output) || !isPacked(op_.output())) return false;
      output = packedTensor(output.type, op_.output().sizeSpan());
    }
    output_ = asGiven(output);
    return true;
  }

  // Returns the only reader of a node if it quantizes the node's output with the layout in which it is made, or packed.
  static Node* quantizerOf(const Node& node) {
    Node* reader = onlyReader(node);
    if (!reader || !quantizes(*reader) || node.outputs()[0].uses[0].input != 0) return nullptr;
    const Tensor& made = node.op->output();
    const Tensor& read = reader->op->input(0);
    const bool sees = sameLayout(made, read) ||
                      (read.type == made.type && read.elements == made.elements && isPacked(made) && isPacked(read));
    return sees && reader->inputs()[0].offset == 0 && isByte(reader->op->output().type) ? reader : nullptr;
  }

  void setDequantizers(const Dequantized& a, const Dequantized& b) {
    dequantizers_ = {a.node};
    if (b.node != a.node) dequantizers_.push_back(b.node);
  }

  bool isQuantized() const { return !isFloat(output_.type); }

  std::vector<Tensor> operandTensors() const {
    std::vector<Tensor> tensors;
    tensors.reserve(operands_.size());
    for (const Operand& operand : operands_) tensors.push_back(operand.tensor);
    return tensors;
  }

  // The operation whose inputs are `operands_`, of which `bias` is added as it is.
  template <class Desc>
  std::optional<Operation> made(DML_OPERATOR_TYPE type, const Desc& desc, const Operand& bias) {
    std::vector<Tensor> tensors = operandTensors();
    auto op = Operation::make(type, desc, std::move(tensors), {output_});
    if (!op) return {};
    Epilogue epilogue = epilogue_;
    if (bias.tensor.present()) {
      epilogue.steps |= kEpilogueAddsFloats;
      epilogue.addend = op->addInput(bias.tensor, "bias");
      operands_.push_back(bias);
    }
    op->setEpilogue(epilogue);
    if (!op->check()) return {};
    return std::move(*op);
  }

  std::optional<Operation> made() {
    switch (op_.schema().type) {
      case DML_OPERATOR_GEMM:
        return product();
      case DML_OPERATOR_CONVOLUTION:
        return convolution();
      case DML_OPERATOR_AVERAGE_POOLING:
        return average(op_.as<DML_AVERAGE_POOLING_OPERATOR_DESC>(), kOnes.data());
      default: {
        const auto& desc = op_.as<DML_AVERAGE_POOLING1_OPERATOR_DESC>();
        return average(desc, desc.Dilations);
      }
    }
  }

  template <class Desc>
  std::optional<Operation> average(const Desc& desc, const UINT* dilations) {
    const auto x = dequantizedAt(product_, 0, kNone);
    if (!x || !isQuantized() || epilogue_.steps != 0) return {};
    setDequantizers(*x, *x);
    operands_ = {x->integers, x->by.scale, x->by.zero, by_.scale, by_.zero};
    DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC made{};
    made.DimensionCount = desc.DimensionCount;
    made.Strides = desc.Strides;
    made.WindowSize = desc.WindowSize;
    made.StartPadding = desc.StartPadding;
    made.EndPadding = desc.EndPadding;
    made.Dilations = dilations;
    made.IncludePadding = desc.IncludePadding;
    return this->made(DML_OPERATOR_QUANTIZED_LINEAR_AVERAGE_POOLING, made, {});
  }

  std::optional<Operation> convolution() {
    const auto& desc = op_.as<DML_CONVOLUTION_OPERATOR_DESC>();
    const auto isZero = [](UINT padding) { return padding == 0; };
    if (desc.Mode != DML_CONVOLUTION_MODE_CROSS_CORRELATION || desc.Direction != DML_CONVOLUTION_DIRECTION_FORWARD ||
        !std::ranges::all_of(std::span(desc.OutputPadding, desc.DimensionCount), isZero))
      return {};
    const auto x = dequantizedAt(product_, 0, kNone);
    const auto filter = dequantizedAt(product_, kWeightsInput, 0);
    if (!x || !filter || op_.input(kWeightsInput).elements > kMostTerms * op_.input(kWeightsInput).sizes[0]) return {};
    setDequantizers(*x, *filter);
    // Each channel of the results has one filter.
    const auto ofChannels = [](const Operand& parameter) {
      Operand moved = parameter;
      if (!moved.tensor.present()) return moved;
      std::swap(moved.tensor.sizes[0], moved.tensor.sizes[1]);
      std::swap(moved.tensor.strides[0], moved.tensor.strides[1]);
      moved.tensor = asGiven(moved.tensor);
      return moved;
    };
    operands_ = {x->integers,
                 x->by.scale,
                 x->by.zero,
                 filter->integers,
                 ofChannels(filter->by.scale),
                 ofChannels(filter->by.zero)};
    DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC made{};
    made.DimensionCount = desc.DimensionCount;
    made.Strides = desc.Strides;
    made.Dilations = desc.Dilations;
    made.StartPadding = desc.StartPadding;
    made.EndPadding = desc.EndPadding;
    made.GroupCount = desc.GroupCount;
    const Operand bias = operandOf(product_, kBiasInput);
    if (!isQuantized()) {
      operands_.push_back(bias);
      Operation op = convolutionToFloats(made, operandTensors(), output_);
      op.setEpilogue(epilogue_);
      return op;
    }
    for (const Operand& operand : {Operand(), by_.scale, by_.zero}) operands_.push_back(operand);
    return this->made(DML_OPERATOR_QUANTIZED_LINEAR_CONVOLUTION, made, bias);
  }

  std::optional<Operation> product() {
    const auto& desc = op_.as<DML_GEMM_OPERATOR_DESC>();
    const bool turnsA = desc.TransA == DML_MATRIX_TRANSFORM_TRANSPOSE;
    const bool turnsB = desc.TransB == DML_MATRIX_TRANSFORM_TRANSPOSE;
    const Operand bias = operandOf(product_, kBiasInput);
    const uint32_t rank = op_.output().rank;
    if (desc.Alpha != 1 || (bias.tensor.present() && desc.Beta != 1) || op_.input(0).rank != rank ||
        op_.input(1).rank != rank)
      return {};
    auto a = dequantizedAt(product_, 0, kNone);
    auto b = dequantizedAt(product_, kWeightsInput, turnsB ? rank - 2 : rank - 1);
    if (!a || !b || op_.input(0).sizes[turnsA ? rank - 2 : rank - 1] > kMostTerms) return {};
    setDequantizers(*a, *b);
    a->integers.tensor = turnedIf(turnsA, a->integers.tensor);
    b->integers.tensor = turnedIf(turnsB, b->integers.tensor);
    for (Operand* parameter : {&b->by.scale, &b->by.zero})
      if (parameter->tensor.present()) parameter->tensor = turnedIf(turnsB, parameter->tensor);
    operands_ = {a->integers, a->by.scale, a->by.zero, b->integers, b->by.scale, b->by.zero};
    if (!isQuantized()) {
      operands_.push_back(bias);
      return made(DML_OPERATOR_MATRIX_MULTIPLY_INTEGER_TO_FLOAT, DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC{},
                  {});
    }
    operands_.push_back(by_.scale);
    operands_.push_back(by_.zero);
    return made(DML_OPERATOR_QUANTIZED_LINEAR_MATRIX_MULTIPLY, DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC{},
                bias);
  }

  // Whether a kernel is found that takes less time than a kernel of FLOAT32.
  static bool gains(const Operation& op, const Target& target) {
    if (op.schema().type == DML_OPERATOR_QUANTIZED_LINEAR_AVERAGE_POOLING) return bool(planUnkept(op, target));
    if (!target.options.estimates) return bool(planUnkept(op, target));
    if (!target.caps.integerMatrices) return false;
    using Integers = kernels::IntegerProduct;
    const auto plan = planUnkept(op, target);
    return plan && std::ranges::any_of(plan->execution, [](const Dispatch& dispatch) {
             if (dispatch.kernel.family == kernels::IntegerConvolutionDirect::kFamily) return true;
             const auto form = static_cast<Integers::Form>(dispatch.kernel.form);
             return dispatch.kernel.family == Integers::kFamily &&
                    (form == Integers::Form::Matrices || form == Integers::Form::MatricesAhead ||
                     form == Integers::Form::ConvolutionMatrices || form == Integers::Form::WindowsAhead);
           });
  }

  Node& product_;
  const Operation op_;
  std::vector<Node*> nodes_, dequantizers_;
  std::vector<Operand> operands_;
  Tensor output_;
  Parameters by_;      // of the output, if it is quantized
  Epilogue epilogue_;  // what is done before results are stored
};

}  // namespace

void passes::multiplyIntegers(Graph& graph, const Target& target) {
  const bool multiplies = target.caps.integerMatrices || !target.options.estimates;
  const auto isTaken = [&](DML_OPERATOR_TYPE type) {
    if (type == DML_OPERATOR_AVERAGE_POOLING || type == DML_OPERATOR_AVERAGE_POOLING1) return true;
    return multiplies && (type == DML_OPERATOR_CONVOLUTION || type == DML_OPERATOR_GEMM);
  };
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (!node.runsAtInitialization && isTaken(typeOf(node))) found.push_back(&node);
  for (Node* node : found) Quantized(*node).replace(graph, target);
}

}  // namespace dimple
