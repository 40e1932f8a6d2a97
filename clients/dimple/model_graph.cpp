#include "clients/dimple/model_graph.h"

#include <algorithm>

#include "clients/files/failure.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

bool overlap(const BindingSource& a, uint64_t aBytes, const BindingSource& b, uint64_t bBytes) {
  return a.buffer == b.buffer && a.offset < b.offset + bBytes && b.offset < a.offset + aBytes;
}

bool same(const BindingSource& a, const BindingSource& b) { return a.buffer == b.buffer && a.offset == b.offset; }

bool isOwned(const DML_BUFFER_TENSOR_DESC& tensor) {
  return (static_cast<uint32_t>(tensor.Flags) & DML_TENSOR_FLAG_OWNED_BY_DML) != 0;
}

// Buffers that commands from `first` on read.
std::vector<bool> buffersNeeded(const Model& model, size_t first) {
  std::vector<bool> needed(model.buffers.size());
  for (size_t c = first; c < model.commands.size(); ++c) {
    if (const auto* print = std::get_if<PrintCommand>(&model.commands[c])) needed[print->buffer] = true;
    if (const auto* file = std::get_if<WriteFileCommand>(&model.commands[c])) needed[file->buffer] = true;
    if (const auto* dispatch = std::get_if<DispatchCommand>(&model.commands[c]))
      for (const auto& [name, sources] : dispatch->bindings)
        for (const BindingSource& source : sources) needed[source.buffer] = true;
  }
  return needed;
}

}  // namespace

std::vector<ModelGraph> ModelGraph::split(const Model& model) {
  std::vector<ModelGraph> graphs;
  for (size_t c = 0; c < model.commands.size(); ++c) {
    if (!std::holds_alternative<DispatchCommand>(model.commands[c])) continue;
    ModelGraph graph(model, c);
    for (; c < model.commands.size(); ++c) {
      const auto* dispatch = std::get_if<DispatchCommand>(&model.commands[c]);
      if (!dispatch) break;
      graph.add(*dispatch);
    }
    graph.finish(buffersNeeded(model, c));
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

void ModelGraph::add(const DispatchCommand& dispatch) {
  const auto node = static_cast<UINT>(dispatches_.size());
  const Dispatchable& dispatchable = model_->dispatchables[dispatch.dispatchable];
  if (node == 0) flags_ = dispatchable.flags;
  if (flags_ != dispatchable.flags)
    throw InputError(cat(dispatch.place,
                         " has other executionFlags than the dispatches before it, with which it is to be one graph."));
  dispatches_.push_back(&dispatch);
  const auto points = bindPoints(dispatchable.desc);
  const auto eachTensor = [&](Role role, const auto& visit) {
    UINT index = 0;
    for (const BindPoint& point : points) {
      if (point.role != role) continue;
      for (size_t i = 0; i < point.tensors.size(); ++i, ++index) {
        if (!point.tensors[i]) continue;
        const bool owned = isOwned(*point.tensors[i]);
        visit(index, *point.tensors[i],
              (owned ? dispatchable.ownedBindings : dispatch.bindings).at(std::string(point.name))[i], owned);
      }
    }
  };
  eachTensor(Role::Input, [&](UINT index, const auto& tensor, const BindingSource& source, bool owned) {
    connect(node, index, tensor, source, owned);
  });
  eachTensor(Role::Output, [&](UINT index, const auto& tensor, const BindingSource& source, bool) {
    write(node, index, tensor, source);
  });
}

UINT ModelGraph::inputOf(const BindingSource& source, uint64_t bytes, bool owned) {
  const auto found = std::ranges::find_if(
      inputs_, [&](const Input& input) { return same(input.source, source) && input.owned == owned; });
  if (found != inputs_.end()) {
    found->bytes = std::max(found->bytes, bytes);
    return static_cast<UINT>(found - inputs_.begin());
  }
  inputs_.push_back({source, bytes, owned});
  return static_cast<UINT>(inputs_.size() - 1);
}

void ModelGraph::connect(UINT node, UINT input, const DML_BUFFER_TENSOR_DESC& tensor, const BindingSource& source,
                         bool owned) {
  const char* name = model_->buffers[source.buffer].name.c_str();
  if (!owned)
    // The last to write there counts.
    for (auto written = written_.rbegin(); written != written_.rend(); ++written) {
      if (!overlap(written->source, written->bytes, source, tensor.TotalTensorSizeInBytes)) continue;
      if (!same(written->source, source) || written->bytes != tensor.TotalTensorSizeInBytes)
        throw InputError(cat(dispatches_[node]->place, " reads ", tensor.TotalTensorSizeInBytes, " bytes of ", name,
                             " where ", dispatches_[written->node]->place, " writes ", written->bytes,
                             ", which no edge of a graph can do."));
      written->read = true;
      intermediateEdges_.push_back({written->node, written->output, node, input, name});
      return;
    }
  inputEdges_.push_back({inputOf(source, tensor.TotalTensorSizeInBytes, owned), node, input, name});
}

void ModelGraph::write(UINT node, UINT output, const DML_BUFFER_TENSOR_DESC& tensor, const BindingSource& source) {
  std::erase_if(written_, [&](const Written& written) {
    // Only values that nothing needs any more may have been overwritten.
    return written.read && same(written.source, source) && written.bytes == tensor.TotalTensorSizeInBytes;
  });
  written_.push_back({source, tensor.TotalTensorSizeInBytes, node, output});
}

void ModelGraph::finish(const std::vector<bool>& neededLater) {
  for (const Written& written : written_) {
    const std::string& name = model_->buffers[written.source.buffer].name;
    if (written.read && !neededLater[written.source.buffer]) continue;
    for (const Input& input : inputs_)
      if (!input.owned && overlap(input.source, input.bytes, written.source, written.bytes))
        throw InputError(cat(dispatches_[written.node]->place, " writes to ", name,
                             " what the graph reads as it was before; with --graph, bind another resource."));
    outputEdges_.push_back({written.node, written.output, static_cast<UINT>(outputs_.size()), name.c_str()});
    outputs_.push_back(written.source);
  }
}

DML_GRAPH_DESC ModelGraph::desc(std::span<IDMLOperator* const> operators) {
  nodes_.clear();
  for (size_t n = 0; n < dispatches_.size(); ++n)
    nodes_.push_back({operators[n], model_->dispatchables[dispatches_[n]->dispatchable].name.c_str()});
  const auto wrap = [](auto& wrapped, const auto& items, auto type) {
    wrapped.clear();
    for (const auto& item : items) wrapped.push_back({type, &item});
    return static_cast<UINT>(wrapped.size());
  };
  DML_GRAPH_DESC desc{};
  desc.InputCount = static_cast<UINT>(inputs_.size());
  desc.OutputCount = static_cast<UINT>(outputs_.size());
  desc.NodeCount = wrap(nodeDescs_, nodes_, DML_GRAPH_NODE_TYPE_OPERATOR);
  desc.Nodes = nodeDescs_.data();
  desc.InputEdgeCount = wrap(inputDescs_, inputEdges_, DML_GRAPH_EDGE_TYPE_INPUT);
  desc.InputEdges = inputDescs_.data();
  desc.OutputEdgeCount = wrap(outputDescs_, outputEdges_, DML_GRAPH_EDGE_TYPE_OUTPUT);
  desc.OutputEdges = outputDescs_.data();
  desc.IntermediateEdgeCount = wrap(intermediateDescs_, intermediateEdges_, DML_GRAPH_EDGE_TYPE_INTERMEDIATE);
  desc.IntermediateEdges = intermediateDescs_.data();
  return desc;
}

std::vector<std::shared_ptr<const Operation>> operationsOf(const ModelGraph& graph, const Model& model) {
  std::vector<std::shared_ptr<const Operation>> operations;
  operations.reserve(graph.dispatches().size());
  for (const DispatchCommand* dispatch : graph.dispatches()) {
    const Dispatchable& dispatchable = model.dispatchables[dispatch->dispatchable];
    auto op = Operation::parse(dispatchable.desc.desc());
    if (!op) throw InputError(cat(dispatchable.place, " is refused: ", op.error().text));
    operations.push_back(std::make_shared<const Operation>(std::move(*op)));
  }
  return operations;
}

}  // namespace dimple::tool
