#include "core/graph/passes/matching.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/graph/passes/linear.h"
#include "core/ops/chain.h"
#include "core/text.h"

namespace dimple {
namespace {

bool seesAsMade(const Tensor& made, const Node& reader, uint32_t input) {
  return reader.inputs()[input].offset == 0 &&
         (sameLayout(made, reader.op->input(input)) || readsAsMade(made, *reader.op, input));
}

}  // namespace

DML_OPERATOR_TYPE typeOf(const Node& node) { return node.op ? node.op->schema().type : DML_OPERATOR_INVALID; }

bool isSum(const Node& node) {
  return (typeOf(node) == DML_OPERATOR_ELEMENT_WISE_ADD || typeOf(node) == DML_OPERATOR_ELEMENT_WISE_ADD1) &&
         node.op->activation().type == DML_OPERATOR_INVALID;
}

std::optional<float> floatAt(const Node& node, uint32_t input) {
  const Tensor& tensor = node.op->input(input);
  const auto number = isFloat(tensor.type) ? numberOf(node.inputs()[input], tensor) : std::nullopt;
  if (!number) return {};
  return std::bit_cast<float>(*number);
}

bool isNumber(const Node& node, uint32_t input, double expected) {
  const auto number = floatAt(node, input);
  // A number that FLOAT16 holds exactly has no neighbours.
  const bool isExact = std::ldexp(std::round(std::ldexp(expected, 9)), -9) == expected;
  const double unit = isExact ? 0 : node.op->input(input).type == DML_TENSOR_DATA_TYPE_FLOAT16 ? 0x1p-10 : 0x1p-22;
  return number && std::abs(static_cast<double>(*number) - expected) <= unit * std::abs(expected);
}

bool keepsPlaces(const Node& node) {
  Tensor made = node.op->output();
  made.type = node.op->input(0).type;
  return sameLayout(node.op->input(0), made);
}

bool isCast(const Node& node, DataType from, DataType to) {
  return typeOf(node) == DML_OPERATOR_CAST && node.op->input(0).type == from && node.op->output().type == to &&
         keepsPlaces(node);
}

Operation asClip(const Operation& op) {
  if (op.schema().type != DML_OPERATOR_ELEMENT_WISE_CLIP1 || !isFloat(op.output().type)) return op;
  const auto& given = op.as<DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC>();
  const auto number = [&](const DML_SCALAR_UNION& bound) {
    return std::bit_cast<float>(chainNumber(op.output().type, reinterpret_cast<const std::byte*>(bound.Bytes)));
  };
  auto clip = Operation::make(
      DML_OPERATOR_ELEMENT_WISE_CLIP,
      DML_ELEMENT_WISE_CLIP_OPERATOR_DESC{nullptr, nullptr, given.ScaleBias, number(given.Min), number(given.Max)},
      {op.input(0)}, {op.output()});
  if (!clip) return op;
  return std::move(*clip);
}

bool isByte(DataType type) { return type == DML_TENSOR_DATA_TYPE_INT8 || type == DML_TENSOR_DATA_TYPE_UINT8; }

bool quantizes(const Node& node) {
  return typeOf(node) == DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR || typeOf(node) == DML_OPERATOR_QUANTIZE;
}

bool dequantizes(const Node& node) {
  return typeOf(node) == DML_OPERATOR_ELEMENT_WISE_DEQUANTIZE_LINEAR || typeOf(node) == DML_OPERATOR_DEQUANTIZE;
}

Tensor ofTypeOf(Tensor tensor, const Tensor& cast) {
  tensor.type = cast.type;
  tensor.ownedByDml = cast.ownedByDml;
  return asGiven(tensor);
}

bool readSame(const Node& a, uint32_t inputOfA, const Node& b, uint32_t inputOfB) {
  return a.inputs()[inputOfA] == b.inputs()[inputOfB] && sameLayout(a.op->input(inputOfA), b.op->input(inputOfB));
}

size_t readersOf(const Node& node) {
  const Value& value = node.outputs()[0];
  return value.graphOutputs.empty() ? value.uses.size() : 0;
}

Node* producerAt(const Node& node, uint32_t input, DML_OPERATOR_TYPE type) {
  Node* producer = node.inputs()[input].producer();
  const bool fits = producer && node.inputs()[input].offset == 0 && typeOf(*producer) == type &&
                    !producer->runsAtInitialization && producer->op->activation().type == DML_OPERATOR_INVALID;
  return fits ? producer : nullptr;
}

Node* onlyProducerAt(const Node& node, uint32_t input, DML_OPERATOR_TYPE type) {
  Node* producer = producerAt(node, input, type);
  return producer && readersOf(*producer) == 1 && seesAsMade(producer->op->output(), node, input) ? producer : nullptr;
}

Reader readerOf(const Node& node) {
  Node* reader = onlyReader(node);
  if (!reader || !reader->op) return {};
  const uint32_t input = node.outputs()[0].uses[0].input;
  return seesAsMade(node.op->output(), *reader, input) ? Reader{reader, input} : Reader{};
}

std::vector<Tensor> tensorsOf(const std::vector<Taken>& inputs) {
  std::vector<Tensor> tensors;
  tensors.reserve(inputs.size());
  for (const auto& [node, input] : inputs) tensors.push_back(node ? node->op->input(input) : Tensor());
  return tensors;
}

void replaceNodes(Graph& graph, const std::vector<Node*>& nodes, Operation op, const std::vector<Taken>& inputs) {
  std::string name, label;
  for (const Node* node : nodes) {
    name += cat(name.empty() ? "" : " with ", node->name);
    label += cat(label.empty() ? "" : " with ", node->label);
  }
  Node& last = *nodes.back();
  Node& made = graph.add(std::move(name), std::move(label), std::make_shared<const Operation>(std::move(op)), &last);
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (const auto& [node, input] = inputs[i]; node) graph.connect(made, i, node->inputs()[input]);
  graph.replaceAllUses(last.outputs()[0], made.outputs()[0]);
  // Readers come before what they read.
  for (size_t n = nodes.size(); n-- > 0;) graph.erase(*nodes[n]);
}

}  // namespace dimple
