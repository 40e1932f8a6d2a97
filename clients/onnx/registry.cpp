#include <set>

#include "clients/onnx/control_flow.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/mapper.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

using Table = std::span<const Mapping> (*)();

constexpr Table kFamilies[] = {
    activationMappings, attentionMappings,        convolutionMappings, einsumMappings,       elementwiseMappings,
    generatorMappings,  groupedAttentionMappings, indexingMappings,    matrixMappings,       movementMappings,
    multiHeadMappings,  normalizationMappings,    poolingMappings,     quantizationMappings, recurrentMappings,
    reductionMappings,  resizeMappings,           viewMappings,        weightMappings,
};

}  // namespace

const Mapping* findMapping(const Node& node) {
  // Operators of other domains are not versioned with ai.onnx.
  const Mapping* best = nullptr;
  for (const Table family : kFamilies)
    for (const Mapping& mapping : family())
      if (node.opType == mapping.opType && node.domain == mapping.domain && mapping.since <= node.opset &&
          (!best || mapping.since > best->since))
        best = &mapping;
  return best;
}

bool canRun(const Node& node) {
  return findMapping(node) || isControlFlow(node) || (node.opType == "NonZero" && node.domain.empty());
}

std::vector<std::string> mappedOperators() {
  std::set<std::string> names;
  for (const Table family : kFamilies)
    for (const Mapping& mapping : family())
      if (mapping.domain != kInternalDomain)
        names.insert(*mapping.domain ? cat(mapping.domain, ".", mapping.opType) : mapping.opType);
  return {names.begin(), names.end()};
}

NodeContext::NodeContext(const Node& node, const std::map<std::string, Value>& values, GraphBuilder& graph,
                         Surroundings* surroundings)
    : node_(node), graph_(graph), attributes_(node), surroundings_(surroundings) {
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      inputs_.push_back(nullptr);
      continue;
    }
    const auto found = values.find(name);
    if (found == values.end()) throw ModelError(cat("Input \"", name, "\" has no value."));
    inputs_.push_back(&found->second);
  }
}

const Value& NodeContext::input(size_t index) const {
  if (!has(index)) throw ModelError(cat("Input ", index, " is absent, expected a tensor."));
  return *inputs_[index];
}

bool NodeContext::knows(size_t index) {
  if (!has(index) || inputs_[index]->constant) return true;
  if (!unknown_) unknown_ = &node_.inputs[index];
  return false;
}

bool NodeContext::knows(const std::string& attribute, size_t index) {
  return attributes_.integers(attribute) || knows(index);
}

std::optional<int64_t> NodeContext::ask(size_t index, const Question& question) {
  const Value& value = input(index);
  if (value.constant) return question(*value.constant);
  if (surroundings_)
    if (const auto answer = surroundings_->ask(node_.inputs[index], question)) return answer;
  static_cast<void>(knows(index));
  return {};
}

bool NodeContext::isResult(size_t index) const {
  return wants(index) && surroundings_ && surroundings_->isResult(node_.outputs[index]);
}

const HostTensor& NodeContext::constant(size_t index) const {
  const Value& value = input(index);
  if (!value.constant) throw ModelError(cat("Input ", index, " is not known before the graph runs."));
  return *value.constant;
}

const HostTensor& NodeContext::scalarConstant(size_t index) const {
  const HostTensor& tensor = constant(index);
  if (tensor.elements() != 1)
    throw ModelError(cat("Input ", index, " has sizes ", listText(tensor.sizes), ", expected one element."));
  return tensor;
}

std::optional<std::vector<int64_t>> NodeContext::integers(const std::string& attribute, size_t index) const {
  if (auto values = attributes_.integers(attribute)) return values;
  if (has(index)) return constant(index).integers();
  return {};
}

void NodeContext::setOutput(size_t index, Value value) {
  if (wants(index)) outputs_[node_.outputs[index]] = std::move(value);
}

}  // namespace dimple::onnx
