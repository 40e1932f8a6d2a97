#include "clients/onnx/session.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

#include "clients/onnx/control_flow.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/mapper.h"
#include "clients/onnx/segment.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

std::string dimensionsText(const std::vector<Dimension>& dimensions) {
  std::vector<std::string> texts;
  for (const Dimension& dimension : dimensions)
    texts.push_back(dimension.size >= 0 ? cat(dimension.size) : dimension.name.empty() ? "?" : dimension.name);
  return listText(texts);
}

}  // namespace

// What a name stands for between two graphs.
struct Session::Live {
  ComPtr<ID3D12Resource> buffer;
  Type type;
  Sizes sizes;
};

// The graphs of a model for inputs like those it was planned for. Each holds as long as those before compute what was
// read to plan it.
struct Session::Kept {
  struct Output {
    std::string name;
    Type type;
    Sizes sizes;
    SharedTensor constant;  // null: output `index` of the last graph
    size_t index = 0;
  };
  struct Stage {
    std::unique_ptr<Segment> segment;  // null: there was nothing to run
    size_t operators = 0;
    // What is left to plan after it.
    std::deque<Node> pending;
    std::map<std::string, Value> values;
    std::map<std::string, Live> live;
    std::map<std::string, Live> wanted;         // to be read,
    std::map<std::string, HostTensor> results;  // and what that gave

    // Whether a result is another than before.
    bool readWanted(IDimpleContext& context) {
      bool changed = false;
      for (const auto& [name, from] : wanted) {
        HostTensor result = download(context, from.buffer.Get(), from.type, from.sizes);
        HostTensor& before = results[name];
        changed = changed || result.bytes != before.bytes;
        before = std::move(result);
      }
      return changed;
    }
  };
  std::map<std::string, Sizes> sizes;                     // of the inputs
  std::map<std::string, SharedTensor> values;             // of the inputs whose values shapes depend on
  std::map<std::string, ComPtr<ID3D12Resource>> buffers;  // of the inputs
  std::vector<Stage> stages;
  SessionStatistics dropped;  // of stages that were too many to be kept
  std::vector<Output> outputs;

  bool fits(const std::map<std::string, HostTensor>& inputs) const {
    if (dropped.graphs > 0) return false;
    for (const auto& [name, tensor] : inputs) {
      const auto expected = sizes.find(name);
      if (expected == sizes.end() || expected->second != tensor.sizes) return false;
      const auto value = values.find(name);
      if (value != values.end() && value->second->bytes != tensor.bytes) return false;
    }
    return true;
  }

  // Runs the stages up to one that gives other results than those for which the next was planned. Returns its index, or
  // the number of stages.
  size_t run(IDimpleContext& context) {
    for (size_t i = 0; i < stages.size(); ++i) {
      if (stages[i].segment) stages[i].segment->run();
      if (stages[i].readWanted(context)) return i;
    }
    return stages.size();
  }

  SessionStatistics statistics() const {
    SessionStatistics sum = dropped;
    for (const Stage& stage : stages) {
      sum.graphs += stage.segment ? 1 : 0;
      sum.operators += stage.operators;
    }
    return sum;
  }
};

// Maps nodes until one needs to know what others compute, runs these, and goes on.
class Session::Planner {
 public:
  Planner(Session& session, const std::map<std::string, HostTensor>& inputs) : session_(session), inputs_(inputs) {}

  // From the first node on.
  void plan();
  // Behind the last of the stages, which has run.
  void planRest(std::unique_ptr<Kept> kept);

 private:
  void checkMappings() const;
  void addInputs();
  // Maps what can be mapped; the nodes that have to wait remain in pending_.
  void mapNodes();
  // False: the node has to wait for what is in wanted_.
  bool mapNode(const Node& node);
  bool expand(Node&& node);
  std::optional<int64_t> decide(const Node& node, size_t index, int64_t otherwise);
  // What the caller gave is known. False: a graph has to compute it, and it is in wanted_.
  bool know(const std::string& name);
  void refuse(const Node& node, const std::string& reason);
  bool isAvailable(const Node& node) const;
  // What is read behind the graph that is being made.
  std::set<std::string> namesNeeded() const;
  void planStages();
  void runSegment(bool last);
  void finish();

  Session& session_;
  const std::map<std::string, HostTensor>& inputs_;
  std::unique_ptr<GraphBuilder> graph_;
  std::map<std::string, Value> values_;
  std::map<std::string, Live> live_;  // on the device between graphs
  std::deque<Node> pending_;
  size_t added_ = 0;               // nodes, by loops and branches
  std::set<std::string> wanted_;   // what is to be known before the next graph is planned
  std::set<std::string> blocked_;  // what waits for the next graph, or is refused
  std::vector<std::string> refusals_;
  std::map<std::string, SharedTensor> read_;  // inputs whose values matter
  std::unique_ptr<Kept> kept_ = std::make_unique<Kept>();
  std::vector<std::string> segmentOutputs_;
};

Session::Session(IDimpleContext& context, const Model& model, const SessionOptions& options)
    : context_(context), model_(model), options_(options) {
  if (FAILED(context.GetDevice(IID_PPV_ARGS(&device_)))) throw DeviceError(dimpleGetLastMessage());
}

Session::~Session() = default;

void Session::checkInputs(const std::map<std::string, HostTensor>& inputs) const {
  std::map<std::string, int64_t> symbols;
  for (const ModelInput& input : model_.inputs()) {
    const auto found = inputs.find(input.name);
    if (found == inputs.end())
      throw ModelError(cat("Input \"", input.name, "\" is not given, expected ", typeName(input.type),
                           input.dimensions ? dimensionsText(*input.dimensions) : "", "."));
    const HostTensor& tensor = found->second;
    if (tensor.type != input.type)
      throw ModelError(
          cat("Input \"", input.name, "\" is of ", typeName(tensor.type), ", expected ", typeName(input.type), "."));
    if (!input.dimensions) continue;
    bool matches = tensor.sizes.size() == input.dimensions->size();
    for (size_t i = 0; matches && i < tensor.sizes.size(); ++i) {
      const Dimension& dimension = (*input.dimensions)[i];
      if (dimension.size >= 0) {
        matches = dimension.size == tensor.sizes[i];
      } else if (!dimension.name.empty()) {
        const auto [symbol, isNew] = symbols.emplace(dimension.name, tensor.sizes[i]);
        if (!isNew && symbol->second != tensor.sizes[i])
          throw ModelError(cat("Input \"", input.name, "\" has sizes ", listText(tensor.sizes), " where ",
                               dimension.name, " is ", symbol->second, " already."));
      }
    }
    if (!matches)
      throw ModelError(cat("Input \"", input.name, "\" has sizes ", listText(tensor.sizes), ", expected ",
                           dimensionsText(*input.dimensions), "."));
  }
  for (const auto& given : inputs)
    if (std::ranges::none_of(model_.inputs(), [&](const ModelInput& input) { return input.name == given.first; }))
      throw ModelError(cat("The model has no input \"", given.first, "\"."));
}

std::vector<NamedTensor> Session::run(const std::map<std::string, HostTensor>& inputs) {
  checkInputs(inputs);
  statistics_ = {};
  std::unique_ptr<Kept> kept = std::move(kept_);
  if (!kept || !kept->fits(inputs)) {
    kept = nullptr;
    Planner(*this, inputs).plan();
  } else {
    for (const auto& [name, buffer] : kept->buffers) upload(context_, buffer.Get(), inputs.at(name));
    const size_t same = kept->run(context_);
    if (same == kept->stages.size()) {
      kept_ = std::move(kept);
    } else {
      kept->stages.resize(same + 1);
      Planner(*this, inputs).planRest(std::move(kept));
    }
  }
  statistics_ = kept_->statistics();
  std::vector<NamedTensor> results;
  for (const Kept::Output& output : kept_->outputs)
    results.push_back({output.name, output.constant
                                        ? *output.constant
                                        : download(context_, kept_->stages.back().segment->output(output.index).Get(),
                                                   output.type, output.sizes)});
  return results;
}

void Session::Planner::checkMappings() const {
  std::string missing;
  for (const Node& node : session_.model_.nodes())
    if (!findMapping(node) && !isControlFlow(node))
      missing += cat(missing.empty() ? "" : "\n", "The ", node.text(), " cannot run: ", node.opType,
                     " is not mapped to DirectML for version ", node.opset, " of its operator set.");
  if (!missing.empty()) throw ModelError(missing);
}

void Session::Planner::addInputs() {
  for (const auto& [name, tensor] : session_.model_.initializers()) values_[name] = hostValue(tensor);
  for (const auto& [name, tensor] : inputs_) {
    // Tensors without elements exist on the host only.
    if (tensor.elements() == 0) {
      read_[name] = std::make_shared<const HostTensor>(tensor);
      values_[name] = hostValue(read_[name]);
      continue;
    }
    ComPtr<ID3D12Resource> buffer = createBuffer(
        session_.context_, (static_cast<uint64_t>(tensor.elements()) * traits(tensor.type).deviceBytes + 3) / 4 * 4);
    upload(session_.context_, buffer.Get(), tensor);
    kept_->buffers[name] = buffer;
    live_[name] = {std::move(buffer), tensor.type, tensor.sizes};
  }
}

void Session::Planner::plan() {
  checkMappings();
  addInputs();
  pending_.assign(session_.model_.nodes().begin(), session_.model_.nodes().end());
  planStages();
}

void Session::Planner::planRest(std::unique_ptr<Kept> kept) {
  kept_ = std::move(kept);
  read_ = kept_->values;
  const Kept::Stage& stage = kept_->stages.back();
  pending_ = stage.pending;
  values_ = stage.values;
  live_ = stage.live;
  for (const auto& [name, result] : stage.results) values_[name] = hostValue(result);
  planStages();
}

void Session::Planner::planStages() {
  while (true) {
    graph_ = std::make_unique<GraphBuilder>(*session_.device_.Get());
    for (const auto& [name, live] : live_) {
      values_[name] = graph_->addInput(live.buffer, live.type, live.sizes);
      if (const auto known = read_.find(name); known != read_.end()) values_[name].constant = known->second;
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
    runSegment(last);
    if (last) return finish();
  }
}

bool Session::Planner::isAvailable(const Node& node) const {
  return std::ranges::none_of(node.inputs, [&](const std::string& name) { return blocked_.contains(name); });
}

void Session::Planner::refuse(const Node& node, const std::string& reason) {
  refusals_.push_back(cat("The ", node.text(), " cannot run: ", reason));
  blocked_.insert(node.outputs.begin(), node.outputs.end());
}

void Session::Planner::mapNodes() {
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
        refuse(node, "There is no memory for it.");
        continue;
      }
    }
    blocked_.insert(node.outputs.begin(), node.outputs.end());
    later.push_back(std::move(node));
  }
  pending_ = std::move(later);
}

bool Session::Planner::mapNode(const Node& node) {
  while (true) {
    const Mapping* mapping = findMapping(node);
    if (!mapping) throw ModelError(cat(node.opType, " is not mapped to DirectML."));
    NodeContext context(node, values_, *graph_);
    graph_->setName(node.proto && !node.proto->name().empty() ? node.proto->name() : node.opType);
    if (!foldNode(context)) mapping->map(context);
    if (const std::string* unknown = context.unknown()) {
      if (know(*unknown)) continue;
      return false;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (!node.outputs[i].empty() && !context.outputs().contains(node.outputs[i]))
        throw ModelError(cat("Output ", i, " is wanted, which is not mapped."));
    for (const auto& [name, value] : context.outputs()) values_[name] = value;
    return true;
  }
}

bool Session::Planner::know(const std::string& name) {
  const auto given = inputs_.find(name);
  if (given == inputs_.end() || read_.contains(name)) {
    wanted_.insert(name);
    return false;
  }
  read_[name] = std::make_shared<const HostTensor>(given->second);
  values_[name].constant = read_[name];
  return true;
}

// A scalar that decides what is mapped; absent: `otherwise`. No value: it is not known.
std::optional<int64_t> Session::Planner::decide(const Node& node, size_t index, int64_t otherwise) {
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
bool Session::Planner::expand(Node&& node) {
  const size_t most = session_.options_.maxAddedNodes;
  if (added_ >= most)
    throw ModelError(
        cat("Loops and branches have added ", added_, " nodes to the model, expected at most ", most, "."));
  Initializers initializers;
  std::vector<Node> nodes;
  if (node.opType == "If") {
    if (node.inputs.empty()) throw ModelError("It has no condition.");
    const auto condition = decide(node, 0, 0);
    if (!condition) return false;
    nodes = expandIf(session_.model_, node, *condition != 0, initializers);
  } else {
    const int64_t iteration = node.loop ? node.loop->iteration : 0;
    const auto iterations = decide(node, 0, std::numeric_limits<int64_t>::max());
    if (!iterations) return false;
    const auto condition = iteration < *iterations ? decide(node, 1, 1) : std::optional<int64_t>(0);
    if (!condition) return false;
    nodes = expandLoop(session_.model_, std::move(node), *condition != 0, initializers);
  }
  for (auto& [name, tensor] : initializers) values_[name] = hostValue(std::move(tensor));
  added_ += nodes.size();
  pending_.insert(pending_.begin(), std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
  return true;
}

std::set<std::string> Session::Planner::namesNeeded() const {
  std::set<std::string> needed(session_.model_.outputs().begin(), session_.model_.outputs().end());
  needed.insert(wanted_.begin(), wanted_.end());
  for (const Node& node : pending_) addNamesRead(node, needed);
  return needed;
}

void Session::Planner::runSegment(bool last) {
  const std::set<std::string> needed = namesNeeded();
  segmentOutputs_.clear();
  std::vector<Value> outputs;
  for (const std::string& name : needed) {
    const auto found = values_.find(name);
    if (found == values_.end() || found->second.place == Value::Place::Host ||
        (live_.contains(name) && !wanted_.contains(name) && !pending_.empty()))
      continue;
    segmentOutputs_.push_back(name);
    Value value = graph_->packed(found->second);
    if (value.place != Value::Place::Node) value = graph_->copied(value);
    outputs.push_back(value);
  }
  // A loop may be long.
  constexpr size_t kMaxStages = 64;
  if (kept_->stages.size() == kMaxStages) {
    kept_->dropped = kept_->statistics();
    kept_->stages.clear();
  }
  Kept::Stage& stage = kept_->stages.emplace_back();
  if (outputs.empty()) return;
  stage.segment =
      std::make_unique<Segment>(session_.context_, *session_.device_.Get(), *graph_, outputs, session_.options_.flags);
  stage.segment->run();
  stage.operators = graph_->operatorCount();
  if (last) return;
  for (size_t i = 0; i < outputs.size(); ++i)
    live_[segmentOutputs_[i]] = {stage.segment->output(i), outputs[i].type, outputs[i].sizes};
  // What is not on the host belongs to a graph that is gone.
  std::erase_if(values_, [&](const auto& entry) {
    return entry.second.place != Value::Place::Host || !needed.contains(entry.first);
  });
  std::erase_if(live_, [&](const auto& entry) { return !needed.contains(entry.first); });
  for (const std::string& name : wanted_)
    if (auto found = live_.extract(name)) stage.wanted.insert(std::move(found));
  stage.pending = pending_;
  stage.values = values_;
  stage.live = live_;
  stage.readWanted(session_.context_);
  for (const auto& [name, result] : stage.results) values_[name] = hostValue(result);
}

void Session::Planner::finish() {
  kept_->outputs.clear();
  for (const std::string& name : session_.model_.outputs()) {
    const Value& value = values_.at(name);
    const auto found = std::ranges::find(segmentOutputs_, name);
    Kept::Output output{name, value.type, value.sizes, nullptr, 0};
    if (value.place == Value::Place::Host)
      output.constant = value.constant;
    else
      output.index = static_cast<size_t>(found - segmentOutputs_.begin());
    kept_->outputs.push_back(std::move(output));
  }
  for (const auto& [name, tensor] : inputs_) kept_->sizes[name] = tensor.sizes;
  kept_->values = read_;
  session_.kept_ = std::move(kept_);
}

}  // namespace dimple::onnx
