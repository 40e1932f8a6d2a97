#include "clients/onnx/planner.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "clients/onnx/constants.h"
#include "clients/onnx/control_flow.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {

void Planner::checkMappings() const {
  std::string missing;
  for (const Node& node : program_.model_.nodes())
    if (!canRun(node))
      missing += cat(missing.empty() ? "" : "\n", "The ", node.text(), " cannot run: ", node.opType,
                     " is not mapped to DirectML for version ", node.opset, " of its operator set.");
  if (!missing.empty()) throw ModelError(missing);
}

void Planner::addInputs() {
  for (const auto& [name, tensor] : program_.model_.initializers()) values_[name] = hostValue(tensor);
  for (const auto& [name, info] : program_.inputs_) {
    // Tensors without elements exist on the host only.
    if (elementCount(info.sizes) == 0)
      values_[name] = hostValue(HostTensor(info.type, info.sizes));
    else
      live_[name] = {info, nullptr};
  }
  if (!program_.constants_) return;
  for (const auto& [name, constant] : program_.constants_->all()) {
    // A number is part of each graph.
    const bool isNumber = constant.value && elementCount(constant.info.sizes) == 1;
    if (!isNumber && Constants::fitsDevice(constant.info))
      live_[name] = {constant.info, nullptr};
    else
      values_[name] = hostValue(constant.value);
  }
}

SharedTensor Planner::knownValue(const std::string& name) const {
  if (const auto known = program_.read_.find(name); known != program_.read_.end()) return known->second;
  return program_.constants_ ? program_.constants_->known(name) : nullptr;
}

void Planner::plan() {
  checkMappings();
  addInputs();
  pending_.assign(program_.model_.nodes().begin(), program_.model_.nodes().end());
  planStages();
}

void Planner::planRest() {
  const Program::Stage& stage = program_.stages_.back();
  pending_ = stage.pending;
  values_ = stage.values;
  live_ = stage.live;
  for (const auto& [name, result] : stage.results) values_[name] = hostValue(result);
  planStages();
}

void Planner::planStages() {
  while (true) {
    graph_ = std::make_unique<GraphBuilder>(program_.device_, program_.options_.observer);
    for (const auto& [name, live] : live_) {
      values_[name] = graph_->addInput(name, live.info.type, live.info.sizes);
      values_[name].constant = knownValue(name);
    }
    mapNodes();
    if (!refusals_.empty()) {
      std::string all;
      for (const std::string& refusal : refusals_) all += cat(all.empty() ? "" : "\n", refusal);
      throw ModelError(all);
    }
    const bool last = pending_.empty();
    if (!last && wanted_.empty())
      throw ModelError(cat("The ", pending_[0].text(), " reads what nothing has computed."));
    addStage(last);
    if (last) return;
  }
}

bool Planner::isAvailable(const Node& node) const {
  return std::ranges::none_of(node.inputs, [&](const std::string& name) { return blocked_.contains(name); });
}

void Planner::refuse(const Node& node, const std::string& reason) {
  refusals_.push_back(cat("The ", node.text(), " cannot run: ", reason));
  blocked_.insert(node.outputs.begin(), node.outputs.end());
}

void Planner::mapNodes() {
  wanted_.clear();
  blocked_.clear();
  std::deque<Node> later;
  while (!pending_.empty()) {
    Node node = std::move(pending_.front());
    pending_.pop_front();
    // The iterations of a model that is refused would all say the same.
    const bool ends = node.loop && !refusals_.empty();
    if (!ends && isAvailable(node)) {
      try {
        if (isControlFlow(node) ? expand(std::move(node)) : mapNode(node)) continue;
      } catch (const ModelError& error) {
        refuse(node, error.what());
        continue;
      } catch (const std::bad_alloc&) {
        refuse(node, "There is not enough memory for it.");
        continue;
      }
    }
    blocked_.insert(node.outputs.begin(), node.outputs.end());
    later.push_back(std::move(node));
  }
  pending_ = std::move(later);
}

bool Planner::mapNode(const Node& node) {
  while (true) {
    const Mapping* mapping = findMapping(node);
    if (!mapping) throw ModelError(cat(node.opType, " is not mapped to DirectML."));
    NodeContext context(node, values_, *graph_, this);
    graph_->setName(node.description && !node.description->name.empty() ? node.description->name : node.opType);
    if (!foldNode(context)) mapping->map(context);
    if (const std::string* unknown = context.unknown()) {
      if (know(*unknown)) continue;
      return false;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (!node.outputs[i].empty() && !context.outputs().contains(node.outputs[i]))
        throw ModelError(cat("Output ", i, " is used, which is not mapped."));
    for (const auto& [name, value] : context.outputs()) values_[name] = value;
    return true;
  }
}

bool Planner::isResult(const std::string& name) const {
  return std::ranges::find(program_.model_.outputs(), name) != program_.model_.outputs().end();
}

std::optional<int64_t> Planner::ask(const std::string& name, const Question& question) {
  const auto live = live_.find(name);
  if (live == live_.end() || live->second.buffer || !program_.inputs_.contains(name)) return {};
  const int64_t answer = question(*caller_.read(name));
  program_.answers_.push_back({name, question, answer, program_.stages_.size()});
  return answer;
}

bool Planner::know(const std::string& name) {
  if (SharedTensor constant = program_.constants_ ? program_.constants_->read(name) : nullptr) {
    values_[name].constant = std::move(constant);
    return true;
  }
  const auto live = live_.find(name);
  const bool given = live != live_.end() && !live->second.buffer && program_.inputs_.contains(name);
  if (!given || program_.read_.contains(name)) {
    wanted_.insert(name);
    return false;
  }
  values_[name].constant = program_.read_[name] = caller_.read(name);
  return true;
}

// A scalar that decides what is mapped; absent: `otherwise`. No value: it is not known.
std::optional<int64_t> Planner::decide(const Node& node, size_t index, int64_t otherwise) {
  if (index >= node.inputs.size() || node.inputs[index].empty()) return otherwise;
  const std::string& name = node.inputs[index];
  const auto found = values_.find(name);
  if (found == values_.end()) throw ModelError(cat("Input \"", name, "\" has no value."));
  if (!found->second.constant && !know(name)) return {};
  const HostTensor& value = *found->second.constant;
  if (value.elements() != 1)
    throw ModelError(cat("Input ", index, " has sizes ", listText(value.sizes), ", expected one element."));
  return value.integer(0);
}

// The nodes it stands for come next. `node` is left as it was if that fails, or what decides is not known.
bool Planner::expand(Node&& node) {
  const size_t most = program_.options_.maxAddedNodes;
  if (added_ >= most)
    throw ModelError(
        cat("Loops and branches have added ", added_, " nodes to the model, expected at most ", most, "."));
  Initializers initializers;
  std::vector<Node> nodes;
  if (node.opType == "If") {
    if (node.inputs.empty()) throw ModelError("It has no condition.");
    const auto condition = decide(node, 0, 0);
    if (!condition) return false;
    nodes = expandIf(program_.model_, node, *condition != 0, initializers);
  } else {
    const int64_t iteration = node.loop ? node.loop->iteration : 0;
    const auto iterations = decide(node, 0, std::numeric_limits<int64_t>::max());
    if (!iterations) return false;
    const auto condition = iteration < *iterations ? decide(node, 1, 1) : std::optional<int64_t>(0);
    if (!condition) return false;
    nodes = expandLoop(program_.model_, std::move(node), *condition != 0, initializers);
  }
  for (auto& [name, tensor] : initializers) values_[name] = hostValue(std::move(tensor));
  added_ += nodes.size();
  pending_.insert(pending_.begin(), std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
  return true;
}

std::set<std::string> Planner::namesNeeded() const {
  std::set<std::string> needed(program_.model_.outputs().begin(), program_.model_.outputs().end());
  needed.insert(wanted_.begin(), wanted_.end());
  for (const Node& node : pending_) addNamesRead(node, needed);
  return needed;
}

void Planner::addStage(bool last) {
  // A loop may be long.
  constexpr size_t kMaxStages = 64;
  const std::set<std::string> needed = namesNeeded();
  if (program_.stages_.size() == kMaxStages) {
    program_.dropped_ = program_.statistics();
    program_.stages_.clear();
  }
  Program::Stage& stage = program_.stages_.emplace_back();
  std::vector<Value> outputs;
  for (const std::string& name : needed) {
    const auto found = values_.find(name);
    if (found == values_.end() || found->second.place == Value::Place::Host ||
        (!last && live_.contains(name) && !wanted_.contains(name)))
      continue;
    Value value = graph_->packed(found->second);
    if (value.place != Value::Place::Node) value = graph_->copied(value);
    outputs.push_back(value);
    stage.outputs.push_back(
        {name, {value.type, value.sizes}, last ? nullptr : createBuffer(program_.context_, value.bufferBytes)});
    if (const std::string* before = graph_->continued(value)) {
      stage.outputs.back().continues = *before;
      Live& read = stage.reads[*before] = live_.at(*before);
      if (program_.constants_ && !read.buffer) read.buffer = program_.constants_->buffer(*before);
    }
  }
  if (!outputs.empty()) {
    stage.segment =
        std::make_unique<Segment>(program_.context_, program_.device_, *graph_, outputs, program_.options_.flags);
    stage.operators = graph_->operatorCount();
    for (const std::string& name : stage.segment->reads()) {
      Live& read = stage.reads[name] = live_.at(name);
      if (program_.constants_ && !read.buffer) read.buffer = program_.constants_->buffer(name);
    }
  }
  if (last) {
    program_.constantOutputs_.clear();
    for (const std::string& name : program_.model_.outputs())
      if (values_.at(name).place == Value::Place::Host) program_.constantOutputs_[name] = values_.at(name).constant;
  } else {
    keepRest(stage, needed);
  }
  program_.runStage(stage, caller_);
  for (const auto& [name, result] : stage.results) values_[name] = hostValue(result);
}

void Planner::keepRest(Program::Stage& stage, const std::set<std::string>& needed) {
  for (const Program::Stage::Output& output : stage.outputs) live_[output.name] = {output.info, output.buffer};
  // A value that is not on the host belongs to a graph that no longer exists.
  std::erase_if(values_, [&](const auto& entry) {
    return entry.second.place != Value::Place::Host || !needed.contains(entry.first);
  });
  std::erase_if(live_, [&](const auto& entry) { return !needed.contains(entry.first); });
  for (const std::string& name : wanted_)
    if (auto found = live_.extract(name)) stage.wanted.insert(std::move(found));
  stage.pending = pending_;
  stage.values = values_;
  stage.live = live_;
}

}  // namespace dimple::onnx
