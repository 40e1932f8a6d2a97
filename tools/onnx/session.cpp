#include "tools/onnx/session.h"

#include <algorithm>
#include <set>

#include "tools/onnx/failure.h"
#include "tools/onnx/mapper.h"
#include "tools/onnx/segment.h"
#include "tools/onnx/text.h"

namespace dimple::onnx {
namespace {

std::string dimensionsText(const std::vector<Dimension>& dimensions) {
  std::vector<std::string> texts;
  for (const Dimension& dimension : dimensions)
    texts.push_back(dimension.size >= 0 ? cat(dimension.size) : dimension.name.empty() ? "?" : dimension.name);
  return listText(texts);
}

bool hasSubgraph(const Node& node) {
  if (!node.proto) return false;
  for (const auto& attribute : node.proto->attribute())
    if (attribute.has_g()) return true;
  return false;
}

}  // namespace

// A model that became one graph, for inputs like those it was planned for.
struct Session::Kept {
  struct Output {
    std::string name;
    Type type;
    Sizes sizes;
    SharedTensor constant;  // null: output `index` of the segment
    size_t index = 0;
  };
  std::map<std::string, Sizes> sizes;                     // of the inputs
  std::map<std::string, SharedTensor> values;             // of the inputs whose values shapes depend on
  std::map<std::string, ComPtr<ID3D12Resource>> buffers;  // of the inputs
  std::vector<Output> outputs;
  std::unique_ptr<Segment> segment;  // null: all outputs are constants

  bool fits(const std::map<std::string, HostTensor>& inputs) const {
    for (const auto& [name, tensor] : inputs) {
      const auto expected = sizes.find(name);
      if (expected == sizes.end() || expected->second != tensor.sizes) return false;
      const auto value = values.find(name);
      if (value != values.end() && value->second->bytes != tensor.bytes) return false;
    }
    return true;
  }
};

// Maps nodes until one needs to know what others compute, runs these, and goes on.
class Session::Planner {
 public:
  Planner(Session& session, const std::map<std::string, HostTensor>& inputs) : session_(session), inputs_(inputs) {}

  std::vector<NamedTensor> run();

 private:
  struct Live {
    ComPtr<ID3D12Resource> buffer;
    Type type;
    Sizes sizes;
  };

  void checkMappings() const;
  void addInputs();
  // Maps what can be mapped; the nodes that have to wait remain in pending_.
  void mapNodes();
  void mapNode(const Node& node);
  void chooseBranch(const Node& node, size_t position);
  void refuse(const Node& node, const std::string& reason);
  bool isAvailable(const Node& node) const;
  std::vector<std::string> namesNeeded() const;
  void runSegment(bool last);
  std::vector<NamedTensor> collect();

  Session& session_;
  const std::map<std::string, HostTensor>& inputs_;
  std::unique_ptr<GraphBuilder> graph_;
  std::map<std::string, Value> values_;
  std::map<std::string, Live> live_;  // on the device between graphs
  std::vector<Node> pending_;
  std::set<std::string> wanted_;   // what is to be known before the next graph is planned
  std::set<std::string> blocked_;  // what waits for the next graph, or is refused
  std::vector<std::string> refusals_;
  std::map<std::string, SharedTensor> read_;  // inputs whose values matter
  std::unique_ptr<Segment> segment_;
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
  for (const auto& [name, tensor] : inputs)
    if (std::ranges::none_of(model_.inputs(), [&](const ModelInput& input) { return input.name == name; }))
      throw ModelError(cat("The model has no input \"", name, "\"."));
}

std::vector<NamedTensor> Session::run(const std::map<std::string, HostTensor>& inputs) {
  checkInputs(inputs);
  if (!kept_ || !kept_->fits(inputs)) {
    kept_ = nullptr;
    statistics_ = {};
    return Planner(*this, inputs).run();
  }
  for (const auto& [name, buffer] : kept_->buffers) upload(context_, buffer.Get(), inputs.at(name));
  if (kept_->segment) kept_->segment->run();
  std::vector<NamedTensor> results;
  for (const Kept::Output& output : kept_->outputs)
    results.push_back({output.name, output.constant ? *output.constant
                                                    : download(context_, kept_->segment->output(output.index).Get(),
                                                               output.type, output.sizes)});
  return results;
}

void Session::Planner::checkMappings() const {
  std::string missing;
  for (const Node& node : session_.model_.nodes())
    if (!findMapping(node) && node.opType != "If")
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
    ComPtr<ID3D12Resource> buffer =
        createBuffer(session_.context_, (tensor.elements() * traits(tensor.type).deviceBytes + 3) / 4 * 4);
    upload(session_.context_, buffer.Get(), tensor);
    live_[name] = {std::move(buffer), tensor.type, tensor.sizes};
  }
}

std::vector<NamedTensor> Session::Planner::run() {
  checkMappings();
  addInputs();
  pending_ = session_.model_.nodes();
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
    if (last) return collect();
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
  std::vector<Node> later;
  for (size_t n = 0; n < pending_.size(); ++n) {
    const Node node = pending_[n];
    bool mapped = false;
    if (isAvailable(node)) {
      try {
        if (node.opType == "If" && node.domain.empty())
          chooseBranch(node, n);
        else
          mapNode(node);
        mapped = true;
      } catch (const NeedsHost& needed) {
        wanted_.insert(needed.name);
      } catch (const ModelError& error) {
        refuse(node, error.what());
        continue;
      }
    }
    if (mapped) continue;
    blocked_.insert(node.outputs.begin(), node.outputs.end());
    later.push_back(node);
  }
  pending_ = std::move(later);
}

void Session::Planner::mapNode(const Node& node) {
  while (true) {
    try {
      const Mapping* mapping = findMapping(node);
      if (!mapping) throw ModelError(cat(node.opType, " is not mapped to DirectML."));
      NodeContext context(node, values_, *graph_);
      graph_->setName(node.proto && !node.proto->name().empty() ? node.proto->name() : node.opType);
      if (!foldNode(context)) mapping->map(context);
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (!node.outputs[i].empty() && !context.outputs().contains(node.outputs[i]))
          throw ModelError(cat("Output ", i, " is wanted, which is not mapped."));
      for (const auto& [name, value] : context.outputs()) values_[name] = value;
      return;
    } catch (const NeedsHost& needed) {
      // What the caller gave is known.
      const auto given = inputs_.find(needed.name);
      if (given == inputs_.end() || read_.contains(needed.name)) throw;
      read_[needed.name] = std::make_shared<const HostTensor>(given->second);
      values_[needed.name].constant = read_[needed.name];
    }
  }
}

void Session::Planner::chooseBranch(const Node& node, size_t position) {
  const auto found = values_.find(node.inputs.empty() ? "" : node.inputs[0]);
  if (found == values_.end()) throw ModelError("Its condition has no value.");
  if (!found->second.constant) {
    const auto given = inputs_.find(node.inputs[0]);
    if (given == inputs_.end()) throw NeedsHost{node.inputs[0]};
    read_[node.inputs[0]] = std::make_shared<const HostTensor>(given->second);
    found->second.constant = read_[node.inputs[0]];
  }
  const HostTensor& condition = *found->second.constant;
  if (condition.elements() != 1) throw ModelError("Its condition has several elements, expected one.");
  const char* branch = condition.integer(0) ? "then_branch" : "else_branch";
  const ::onnx::GraphProto* graph = Attributes(node).graph(branch);
  if (!graph) throw ModelError(cat("Attribute ", branch, " is absent, expected a graph."));
  std::vector<std::string> outputs;
  std::map<std::string, SharedTensor> initializers;
  std::vector<Node> nodes = session_.model_.subgraph(
      node, *graph, cat(node.outputs.empty() ? "" : node.outputs[0], "/"), outputs, initializers);
  if (outputs.size() < node.outputs.size())
    throw ModelError(cat(branch, " has ", outputs.size(), " outputs, expected ", node.outputs.size(), "."));
  for (auto& [name, tensor] : initializers) values_[name] = hostValue(std::move(tensor));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Node alias;
    alias.opType = "Identity";
    alias.opset = node.opset;
    alias.inputs = {outputs[i]};
    alias.outputs = {node.outputs[i]};
    nodes.push_back(std::move(alias));
  }
  pending_.insert(pending_.begin() + static_cast<std::ptrdiff_t>(position) + 1, nodes.begin(), nodes.end());
}

std::vector<std::string> Session::Planner::namesNeeded() const {
  std::set<std::string> needed(session_.model_.outputs().begin(), session_.model_.outputs().end());
  needed.insert(wanted_.begin(), wanted_.end());
  for (const Node& node : pending_) {
    needed.insert(node.inputs.begin(), node.inputs.end());
    // A subgraph may read anything.
    if (hasSubgraph(node))
      for (const auto& [name, value] : values_) needed.insert(name);
  }
  std::vector<std::string> names;
  for (const std::string& name : needed) {
    const auto found = values_.find(name);
    if (found != values_.end() && found->second.place != Value::Place::Host &&
        (!live_.contains(name) || wanted_.contains(name) || pending_.empty()))
      names.push_back(name);
  }
  return names;
}

void Session::Planner::runSegment(bool last) {
  segmentOutputs_ = namesNeeded();
  std::vector<Value> outputs;
  for (const std::string& name : segmentOutputs_) {
    Value value = graph_->packed(values_.at(name));
    if (value.place != Value::Place::Node) value = graph_->copied(value);
    outputs.push_back(value);
  }
  segment_ = nullptr;
  if (outputs.empty()) return;
  segment_ =
      std::make_unique<Segment>(session_.context_, *session_.device_.Get(), *graph_, outputs, session_.options_.flags);
  segment_->run();
  ++session_.statistics_.graphs;
  session_.statistics_.operators += graph_->operatorCount();
  if (last) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = segmentOutputs_[i];
    live_[name] = {segment_->output(i), outputs[i].type, outputs[i].sizes};
  }
  // The rest belongs to a graph that is gone.
  std::erase_if(values_, [&](const auto& entry) { return entry.second.place != Value::Place::Host; });
  for (const std::string& name : wanted_) {
    const auto found = live_.find(name);
    if (found == live_.end()) continue;
    values_[name] =
        hostValue(download(session_.context_, found->second.buffer.Get(), found->second.type, found->second.sizes));
    live_.erase(found);
  }
}

std::vector<NamedTensor> Session::Planner::collect() {
  auto kept = std::make_unique<Kept>();
  std::vector<NamedTensor> results;
  for (const std::string& name : session_.model_.outputs()) {
    const Value& value = values_.at(name);
    const auto found = std::ranges::find(segmentOutputs_, name);
    Kept::Output output{name, value.type, value.sizes, nullptr, 0};
    if (value.place == Value::Place::Host)
      output.constant = value.constant;
    else
      output.index = static_cast<size_t>(found - segmentOutputs_.begin());
    results.push_back({name, output.constant ? *output.constant
                                             : download(session_.context_, segment_->output(output.index).Get(),
                                                        value.type, value.sizes)});
    kept->outputs.push_back(std::move(output));
  }
  if (session_.statistics_.graphs > 1) return results;
  for (const auto& [name, tensor] : inputs_) kept->sizes[name] = tensor.sizes;
  for (const auto& [name, live] : live_) kept->buffers[name] = live.buffer;
  kept->values = read_;
  kept->segment = std::move(segment_);
  session_.kept_ = std::move(kept);
  return results;
}

}  // namespace dimple::onnx
